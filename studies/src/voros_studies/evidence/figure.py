"""The figure: every paired difference with its interval, taken in at a glance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from voros.present.report.figures import figure_bytes, headless_pyplot
from voros_studies.evidence.summary import ASKED, EVERY, OTHERS, STRATEGY_NAMES, Difference

DEARER, CHEAPER, UNCLEAR = "#b2182b", "#2166ac", "0.45"
SHORT = {"guaranteed": "guaranteed 95%"}


def draw_evidence(differences: Sequence[Difference], file_format: str = "png") -> bytes:
    """Draw a panel for each scenario and strategy, a line for each data set.

    Right of the line the strategy was dearer than partial VOROS. Red is clearly dearer, blue
    clearly cheaper; the thin line is the interval corrected for the cases that splits share.
    """
    pyplot = headless_pyplot()
    names = list(dict.fromkeys(one.data for one in differences))
    figure, axes = pyplot.subplots(
        *(len(ASKED), len(OTHERS)),
        figsize=(2.3 * len(OTHERS) + 2, (0.26 * len(names) + 0.9) * len(ASKED)),
        sharex="row",
        sharey=True,
        layout="constrained",
        squeeze=False,
    )
    for row, number in zip(axes, ASKED, strict=True):
        for ax, strategy in zip(row, OTHERS, strict=True):
            held = [d for d in differences if (d.scenario, d.strategy) == (number, strategy)]
            _draw_panel(ax, held, names)
            ax.set_title(f"{number}: {SHORT.get(strategy, STRATEGY_NAMES[strategy])}", fontsize=9)
    figure.supxlabel("test cost above max partial VOROS (right: dearer)", fontsize=9)
    return figure_bytes(figure, file_format)


def _draw_panel(ax: Any, held: Sequence[Difference], names: Sequence[str]) -> None:
    for one in held:
        height, colour = -names.index(one.data), _colour(one)
        whole = one.data == EVERY
        if one.corrected is not None:
            ax.plot([one.corrected.low, one.corrected.high], [height] * 2, color=colour, lw=0.7)
        ax.plot([one.interval.low, one.interval.high], [height] * 2, color=colour, lw=2.5)
        mark = "D" if whole else "o"
        ax.plot(one.interval.estimate, height, mark, color=colour, ms=6 if whole else 4)
    ax.axvline(0, color="0.7", lw=0.8, zorder=0)
    ax.set_yticks([-place for place in range(len(names))], names, fontsize=8)
    ax.tick_params(axis="x", labelsize=7)
    ax.spines[["top", "right"]].set_visible(False)


def _colour(one: Difference) -> str:
    bounds = one.corrected or one.interval
    if bounds.low > 0:
        return DEARER
    return CHEAPER if bounds.high < 0 else UNCLEAR
