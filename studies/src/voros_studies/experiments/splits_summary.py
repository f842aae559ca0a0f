"""The summary of many splits: mean differences in one figure, and its tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from voros.present.document import Picture, render_document
from voros.present.report.figures import figure_bytes, headless_pyplot
from voros.text.numbers import signed
from voros_studies.experiments.folder import save
from voros_studies.experiments.labels import LABELS, scenario_in_words
from voros_studies.experiments.splits import SplitsResult
from voros_studies.experiments.study import GUARANTEED_BY
from voros_studies.paper.cells import ScenarioName
from voros_studies.paper.paper_tables import table_files

FIGURE = "differences.png"
CAPTION = (
    "Mean test cost above that of max partial VOROS, and its 95 % interval, {}; beside it, on how "
    "many splits both limits were kept. Right of the line is more costly."
)


def write_splits(root: Path, result: SplitsResult, metadata: Sequence[tuple[str, str]]) -> None:
    """Write tables and figure over all splits, and a page with them."""
    for name, content in table_files(result.tables).items():
        save(root / "tables" / name, content)
    drawn = draw_differences(result)
    save(root / "figures" / FIGURE, drawn)
    caption = CAPTION.format(result.interval_method)
    page = render_document(
        "voros_studies.experiments",
        "summary.html",
        title=f"{result.title}: {result.n_splits_in_words}",
        answers=splits_answers(result),
        ran=[
            *metadata,
            ("splits", f"{len(result.splits)}, each with a page of its own in split-*/"),
        ],
        tables=result.tables,
        pictures=[Picture(drawn, caption)],
        steps=[],
        reviewer=[],
        long_tables=[],
    )
    save(root / "summary.html", page)


def splits_answers(result: SplitsResult) -> list[str]:
    """Return a sentence for each scenario: mean costs, and how often limits were kept."""
    return [_answer(result, number) for number in result.scenarios]


def _answer(result: SplitsResult, number: ScenarioName) -> str:
    n, parts = len(result.splits), []
    kept = {
        strategy: f"kept the limits on {sum(not one.broken for one in costs)} of {n}"
        for strategy, costs in result.deployed_in(GUARANTEED_BY, number).items()
    }
    for strategy in kept:
        more = result.excess(GUARANTEED_BY, number, strategy)
        if strategy != GUARANTEED_BY:
            parts.append(f"{LABELS[strategy]} {signed(more.estimate)}, {kept[strategy]}")
    asked = scenario_in_words(result.scenarios[number])
    return (
        f"Scenario {number} ({asked}), {result.n_splits_in_words}. {LABELS[GUARANTEED_BY]} "
        f"{kept[GUARANTEED_BY]}. Mean test cost of the others above it: {'; '.join(parts)}. "
        "The table has the intervals."
    )


def draw_differences(result: SplitsResult) -> bytes:
    """Draw the mean differences of every strategy, a panel for each scenario."""
    pyplot = headless_pyplot()
    figure, axes = pyplot.subplots(
        *(1, len(result.scenarios)),
        figsize=(11, 4),
        sharey=True,
        squeeze=False,
        layout="constrained",
    )
    for ax, number in zip(axes[0], result.scenarios, strict=True):
        _draw_panel(ax, result, number)
    return figure_bytes(figure, "png")


def _draw_panel(ax: Any, result: SplitsResult, number: ScenarioName) -> None:
    by_strategy = result.deployed_in(GUARANTEED_BY, number)
    for height, (strategy, costs) in enumerate(by_strategy.items()):
        more = result.excess(GUARANTEED_BY, number, strategy)
        ax.plot([more.low, more.high], [height, height], color="black", linewidth=1.5)
        ax.plot(more.estimate, height, "o", color="black")
        kept = sum(not one.broken for one in costs)
        ax.annotate(
            f"kept {kept}/{len(costs)}",
            (1.02, height),
            xycoords=("axes fraction", "data"),
            va="center",
        )
    ax.axvline(0, color="0.7", zorder=0)
    ax.set_yticks(range(len(by_strategy)), [LABELS[strategy] for strategy in by_strategy])
    ax.set(title=f"scenario {number}", xlabel="mean test cost above max partial VOROS")
    if not ax.yaxis_inverted():
        ax.invert_yaxis()
    ax.spines[["top", "right"]].set_visible(False)
