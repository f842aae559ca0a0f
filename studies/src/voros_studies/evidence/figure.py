"""The figure: every paired difference with its interval, taken in at a glance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from voros.present.report.figures import figure_bytes, headless_pyplot
from voros_studies.evidence.summary import ASKED, EVERY, OTHERS, Difference
from voros_studies.experiments.labels import LABELS

MORE, LESS, UNCLEAR = "#b2182b", "#2166ac", "0.45"
SHORT = {"guaranteed": "guaranteed 95%"}
LABEL = (
    "test cost above max partial VOROS; at the right, % of splits on which the strategy and "
    "max partial VOROS broke a limit"
)


def draw_evidence(differences: Sequence[Difference], file_format: str = "png") -> bytes:
    """Draw a panel for each scenario and strategy, a line for each data set.

    Right of the line the strategy cost more than partial VOROS. Red is clearly more, blue clearly
    less; the thin line is the interval corrected for the cases that splits share. The numbers are
    the percentages of splits on which the strategy, and partial VOROS, broke a limit.
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
            draw_panel(ax, held, names)
            ax.set_title(f"{number}: {SHORT.get(strategy, LABELS[strategy])}", fontsize=9)
    figure.supxlabel(LABEL, fontsize=9)
    return figure_bytes(figure, file_format)


def draw_panel(ax: Any, held: Sequence[Difference], names: Sequence[str]) -> None:
    """Draw one strategy in one scenario: a line for each data set."""
    for one in held:
        height, colour = -names.index(one.data), _colour(one)
        whole = one.data == EVERY
        if one.corrected is not None:
            ax.plot([one.corrected.low, one.corrected.high], [height] * 2, color=colour, lw=0.7)
        ax.plot([one.interval.low, one.interval.high], [height] * 2, color=colour, lw=2.5)
        mark = "D" if whole else "o"
        ax.plot(one.interval.estimate, height, mark, color=colour, ms=6 if whole else 4)
        ax.annotate(
            f"{100 * one.broken:.0f} {100 * one.broken_beside:.0f}",
            (1.02, height),
            xycoords=("axes fraction", "data"),
            va="center",
            fontsize=6,
        )
    ax.axvline(0, color="0.7", lw=0.8, zorder=0)
    ax.set_yticks([-place for place in range(len(names))], names, fontsize=8)
    ax.tick_params(axis="x", labelsize=7)
    ax.spines[["top", "right"]].set_visible(False)


def _colour(one: Difference) -> str:
    bounds = one.corrected or one.interval
    if bounds.low > 0:
        return MORE
    return LESS if bounds.high < 0 else UNCLEAR
