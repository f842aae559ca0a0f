"""The figures: differences in cost by data set, and regret by limits and method of choice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from voros.present.report.figures import figure_bytes, headless_pyplot
from voros_studies.evidence.mean_regret import MeanRegret, way_label
from voros_studies.evidence.regret import CAPACITIES, LIFTS
from voros_studies.evidence.summary import EVERY, OTHERS, Difference
from voros_studies.experiments.labels import LABELS
from voros_studies.experiments.study import GUARANTEED_BY

MORE, LESS, UNCLEAR = "#b2182b", "#2166ac", "0.45"
SHORT = {"guaranteed": "guaranteed 95%", "margin": "limits 10% tighter"}
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
    scenarios = list(dict.fromkeys(one.scenario for one in differences))
    figure, axes = pyplot.subplots(
        *(len(scenarios), len(OTHERS)),
        figsize=(2.3 * len(OTHERS) + 2, (0.26 * len(names) + 0.9) * len(scenarios)),
        sharex="row",
        sharey=True,
        layout="constrained",
        squeeze=False,
    )
    for row, number in zip(axes, scenarios, strict=True):
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
    # More labels than these overlap in a panel of this width.
    ax.locator_params(axis="x", nbins=4)
    ax.spines[["top", "right"]].set_visible(False)


def _colour(one: Difference) -> str:
    bounds = one.corrected or one.interval
    if bounds.low > 0:
        return MORE
    return LESS if bounds.high < 0 else UNCLEAR


def draw_regrets(regrets: Sequence[MeanRegret], file_format: str = "png") -> bytes:
    """Draw regrets less that of partial VOROS: AUROC and VOROS by cell, all methods overall."""
    pyplot = headless_pyplot()
    figure, axes = pyplot.subplots(
        1, 3, figsize=(11.5, 4.2), layout="constrained", width_ratios=(1, 1, 1.6)
    )
    by_way = {
        way: [one for one in regrets if one.way == way and not np.isnan(one.lift)]
        for way in ("auroc", "voros")
    }
    largest = max(abs(one.above.estimate) for cells in by_way.values() for one in cells)
    for ax, (way, cells) in zip(axes, by_way.items(), strict=False):
        draw_cells(ax, cells, max(largest, 1e-6))
        ax.set_title(f"{way_label(way)}, by limits: ranking only", fontsize=9)
    draw_ways(axes[2], [one for one in regrets if np.isnan(one.lift) and one.way != GUARANTEED_BY])
    figure.supxlabel("test cost above that of choosing by partial VOROS", fontsize=9)
    return figure_bytes(figure, file_format)


def draw_ways(ax: Any, ways: Sequence[MeanRegret]) -> None:
    """Draw each method's cost less that of partial VOROS, by test and by validation thresholds."""
    for height, one in enumerate(reversed(ways)):
        for shift, mark, interval in ((0.14, "o", one.above), (-0.14, "s", one.deployed)):
            colour = MORE if interval.low > 0 else LESS if interval.high < 0 else UNCLEAR
            face = colour if mark == "o" else "white"
            ax.plot([interval.low, interval.high], [height + shift] * 2, color=colour, lw=1.5)
            ax.plot(interval.estimate, height + shift, mark, color=colour, mfc=face, ms=4.5)
    ax.set_yticks(range(len(ways)), [way_label(one.way) for one in reversed(ways)], fontsize=7)
    ax.axvline(0, color="0.7", lw=0.8, zorder=0)
    ax.set_title("mean of all limits: ● ranking only, □ deployed", fontsize=9)
    ax.tick_params(axis="x", labelsize=7)
    ax.spines[["top", "right"]].set_visible(False)


def draw_cells(ax: Any, regrets: Sequence[MeanRegret], largest: float) -> None:
    """Draw the grid of limits with the regret of each cell; bold where its interval excludes 0."""
    table = np.array([one.above.estimate for one in regrets]).reshape(len(LIFTS), len(CAPACITIES))
    ax.imshow(table, cmap="RdBu_r", vmin=-largest, vmax=largest, aspect="auto", alpha=0.6)
    for place, one in enumerate(regrets):
        row, column = divmod(place, len(CAPACITIES))
        sure = one.above.low > 0 or one.above.high < 0
        weight = "bold" if sure else "normal"
        text = f"{one.above.estimate:+.3f}".replace("-0.000", "0.000").replace("+0.000", "0.000")
        ax.text(column, row, text, ha="center", va="center", fontsize=8, weight=weight)
    ax.set_xticks(range(len(CAPACITIES)), [f"{share:.0%}" for share in CAPACITIES], fontsize=8)
    ax.set_yticks(range(len(LIFTS)), [f"{lift:g}" for lift in LIFTS], fontsize=8)
    ax.set_xlabel("capacity", fontsize=8)
    ax.set_ylabel("floor, in prevalences", fontsize=8)
