"""The summary of a run: pictures, and one HTML page with what was asked, found and drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from voros.core.decision import solve
from voros.plotting import AreaCurveDisplay, RocDisplay, WinnerMapDisplay
from voros.present.document import Picture, render_document
from voros.present.report.figures import figure_bytes, headless_pyplot
from voros.studies.experiments.labels import LABELS, scenario_in_words
from voros.studies.experiments.results import StudyResult
from voros.studies.experiments.study import SAME_CHOICE, Scored
from voros.studies.paper.cells import SCENARIOS
from voros.studies.paper.paper_tables import STRATEGY_LABELS
from voros.winners import score_grid

MAP_FLOORS = np.linspace(0.02, 0.9, 45)
MAP_CAPACITIES = np.linspace(0.02, 0.6, 30)

CAPTIONS = {
    "roc": "ROC curves of the selected models on the test set, and the region the limits leave.",
    "area": "Share of the feasible region that is costlier than each model, by cost, on the test "
    "set.",
    "winners": "Which of the selected models, and the best of each family, wins at other limits, "
    "on validation.",
}


def draw_study(result: StudyResult, valid: Scored, test: Scored) -> dict[str, bytes]:
    """Draw every figure of a study, and return the images by file name.

    ROC curves and area curves are those of the selected models on the test set; the winner map
    compares them, and the best of each family, on validation, where the choice is made.
    """
    headless_pyplot()
    drawn = {}
    for number in result.scenarios:
        models = dict.fromkeys(one.model for one in result.of(number))
        points = {result.label(model): test.points[model] for model in models}
        axes = {
            "roc": RocDisplay(points, SCENARIOS[number]).plot().ax_,
            "area": AreaCurveDisplay(points, SCENARIOS[number]).plot().ax_,
            "winners": _winners(result, valid, number).plot().ax_,
        }
        for kind, ax in axes.items():
            drawn[f"scenario_{number}_{kind}.png"] = figure_bytes(ax.figure, "png")
    return drawn


def _winners(result: StudyResult, valid: Scored, number: int) -> WinnerMapDisplay:
    named = {
        model: f"best {family}" for family, model in best_of_each_family(result, valid, number)
    }
    for one in result.of(number):
        chosen = [other.strategy for other in result.of(number) if other.model == one.model]
        named[one.model] = "by " + ", ".join(
            STRATEGY_LABELS[s].removeprefix("max ") for s in chosen if s in STRATEGY_LABELS
        )
    points = {name: valid.points[model] for model, name in named.items()}
    costs = SCENARIOS[number].without_limits()
    admitting = MAP_CAPACITIES[MAP_CAPACITIES * len(valid) >= 1]
    return WinnerMapDisplay(score_grid(points, costs, MAP_FLOORS, admitting))


def best_of_each_family(result: StudyResult, valid: Scored, number: int) -> list[tuple[str, str]]:
    """Return each family with its model of highest partial VOROS."""
    best: dict[str, tuple[float, str]] = {}
    for model, points in valid.points.items():
        family = result.records[model]["family"]
        score = solve(points, SCENARIOS[number]).partial_voros
        best[family] = max(best.get(family, (-1.0, "")), (score, model))
    return [(family, model) for family, (_, model) in best.items()]


def answers(result: StudyResult) -> list[str]:
    """Say for each scenario whether choosing by partial VOROS cost less on test."""
    said = []
    for number in result.scenarios:
        parts = []
        for strategy, found in result.intervals[number].items():
            if strategy == "partial_voros":
                continue
            more = found.excess
            excess = f"{more.estimate:+.3f} ({more.low:+.3f} to {more.high:+.3f})"
            by = "" if found.verdict == SAME_CHOICE else f" {excess}"
            parts.append(f"{LABELS[strategy]}{by}: {found.verdict}")
        said.append(
            f"Scenario {number} ({scenario_in_words(number)}). Test cost beside max partial VOROS, "
            f"with 95 % intervals: {'; '.join(parts)}."
        )
    return said


def render_summary(
    result: StudyResult, facts: Sequence[tuple[str, str]], images: Mapping[str, bytes]
) -> str:
    """Lay a study out as one HTML document that needs no other file."""
    return render_document(
        "voros.studies.experiments",
        "summary.html",
        title=result.title,
        answers=answers(result),
        ran=facts,
        tables=result.tables,
        pictures=[_picture(name, png) for name, png in images.items()],
    )


def _picture(name: str, png: bytes) -> Picture:
    _, number, kind = name.removesuffix(".png").split("_")
    caption = f"Scenario {number}. {CAPTIONS[kind]}"
    return Picture(png, caption, caption)
