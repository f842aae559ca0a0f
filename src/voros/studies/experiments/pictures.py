"""The pictures of a study: ROC and area curves of what was selected, and the winner map."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

import numpy as np

from voros.core.operating_points import OperatingPoints
from voros.exceptions import VorosWarning
from voros.present.report.figures import figure_bytes, headless_pyplot
from voros.selection import score_model
from voros.studies.experiments.results import StudyResult
from voros.studies.experiments.study import Scored
from voros.studies.paper.cells import SCENARIOS
from voros.studies.paper.paper_tables import STRATEGY_LABELS

MAP_FLOORS = np.linspace(0.02, 0.9, 45)
MAP_CAPACITIES = np.linspace(0.02, 0.6, 30)


def draw_study(result: StudyResult, valid: Scored, test: Scored) -> dict[str, bytes]:
    """Draw every figure of a study, and return the images by file name.

    ROC curves and area curves are those of the selected models on the test set; the winner map
    compares them, and the best of each family, on validation, where the choice is made.
    """
    headless_pyplot()
    drawn = {}
    with warnings.catch_warnings():
        # A selected model without a feasible test threshold is a result, shown as such.
        warnings.simplefilter("ignore", VorosWarning)
        for number in sorted({one.scenario for one in result.deployed}):
            models = dict.fromkeys(one.model for one in result.of(number))
            points = {result.label(model): test.points[model] for model in models}
            drawn[f"scenario_{number}_roc.png"] = _roc(points, number)
            drawn[f"scenario_{number}_area.png"] = _area(points, number)
            drawn[f"scenario_{number}_winners.png"] = _winners(result, valid, number)
    return drawn


def _roc(points: Mapping[str, OperatingPoints], number: int) -> bytes:
    from voros.plotting import RocDisplay

    return figure_bytes(RocDisplay.from_points(points, SCENARIOS[number]).ax_.figure, "png")


def _area(points: Mapping[str, OperatingPoints], number: int) -> bytes:
    from voros.plotting import AreaCurveDisplay

    return figure_bytes(AreaCurveDisplay.from_points(points, SCENARIOS[number]).ax_.figure, "png")


def _winners(result: StudyResult, valid: Scored, number: int) -> bytes:
    from voros.plotting import WinnerMapDisplay

    named = {
        model: f"best {family}" for family, model in best_of_each_family(result, valid, number)
    }
    for one in result.of(number):
        chosen = [other.strategy for other in result.of(number) if other.model == one.model]
        named[one.model] = "by " + ", ".join(
            STRATEGY_LABELS[s].removeprefix("max ") for s in chosen if s in STRATEGY_LABELS
        )
    display = WinnerMapDisplay.from_points(
        {name: valid.points[model] for model, name in named.items()},
        min_precisions=MAP_FLOORS,
        capacities=MAP_CAPACITIES,
        cost_ratio=SCENARIOS[number].costs,
    )
    return figure_bytes(display.ax_.figure, "png")


def best_of_each_family(result: StudyResult, valid: Scored, number: int) -> list[tuple[str, str]]:
    """Return each family with its model of highest partial VOROS."""
    best: dict[str, tuple[float, str]] = {}
    for model, points in valid.points.items():
        family = result.records[model]["family"]
        score = score_model(model, points, SCENARIOS[number]).partial_voros
        best[family] = max(best.get(family, (-1.0, "")), (score, model))
    return [(family, model) for family, (_, model) in best.items()]
