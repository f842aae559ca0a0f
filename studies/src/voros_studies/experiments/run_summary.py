"""The summary of a run: pictures, and one HTML page with settings, results and pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from voros import OperatingPoints, Scenario
from voros.plotting import AreaCurveDisplay, CalibrationDisplay, RocDisplay, WinnerMapDisplay
from voros.policy import PolicyEvaluation
from voros.present.document import Picture, render_document
from voros.present.report.figures import figure_bytes, headless_pyplot
from voros.winners import score_grid
from voros_studies.experiments.labels import LABELS, scenario_in_words
from voros_studies.experiments.results import StudyResult
from voros_studies.experiments.study import (
    GUARANTEED_BY,
    Scored,
)
from voros_studies.flow import FlowStep
from voros_studies.paper.cells import ScenarioName
from voros_studies.tables import Table

DEPLOYED_MARK: dict[str, Any] = {
    "color": "black",
    "markerfacecolor": "none",
    "markersize": 8,
    "zorder": 5,
}
MAP_FLOORS = np.linspace(0.02, 0.9, 45)
MAP_CAPACITIES = np.linspace(0.02, 0.6, 30)

STRATEGY_MARKERS = {
    "voros": "s",
    "partial_auroc": "^",
    "recall": "v",
    "partial_voros": "o",
    "auroc": "X",
    "log_loss": "*",
    "margin": "P",
    "guaranteed": "D",
}
"""Markers of the thresholds of each strategy."""

SHORT_NAMES = {
    "voros": "VOROS",
    "partial_auroc": "pAUROC",
    "recall": "recall",
    "partial_voros": "partial VOROS",
    "auroc": "AUROC",
    "log_loss": "log loss",
    "margin": "tightened limits",
    "guaranteed": "guarantee",
}
"""Name of a model in the winner map: the first strategy that chose it."""

SHAPES = {"s": "square", "^": "triangle up", "v": "triangle down", "o": "circle", "P": "plus"}
SHAPES |= {"D": "diamond", "X": "cross", "*": "star"}

CAPTIONS = {
    "roc": "ROC curves of the selected models on the test set, and the region the limits leave. "
    "Marked are the thresholds that validation deployed: "
    + ", ".join(f"{SHAPES[mark]} {LABELS[name]}" for name, mark in STRATEGY_MARKERS.items())
    + ".",
    "area": "Share of the feasible region that is costlier than each model, by cost, on the test "
    "set.",
    "calibration": "Risk and observed share in tenths of the test set, with exact 95 % intervals. "
    "Models with class weights are not meant to be calibrated.",
    "winners": "Which of the selected models wins at other limits, on validation.",
}


def draw_study(result: StudyResult, valid: Scored, test: Scored) -> dict[str, bytes]:
    """Draw every figure of a study, and return the images by file name.

    ROC curves and area curves are those of the selected models on the test set; the winner map
    compares them on validation, where the choice is made.
    """
    headless_pyplot()
    drawn = {}
    for number, scenario in result.scenarios.items():
        models = dict.fromkeys(one.model for one in result.deployed_in(number))
        points = {result.label(model): test.points[model] for model in models}
        axes = {
            "roc": draw_roc(result, test, number).ax_,
            "area": AreaCurveDisplay(points, scenario).plot().ax_,
            "calibration": CalibrationDisplay(points).plot().ax_,
        }
        compared = _compared(result, valid, number)
        if len(compared) > 1:
            axes["winners"] = _winners(compared, scenario, len(valid)).plot().ax_
        for kind, ax in axes.items():
            drawn[f"scenario_{number}_{kind}.png"] = figure_bytes(ax.figure, "png")
    return drawn


def draw_roc(result: StudyResult, test: Scored, number: ScenarioName) -> RocDisplay:
    """Draw curves, and the thresholds as deployed: not those that would be best on test."""
    points = {result.label(one.model): test.points[one.model] for one in result.deployed_in(number)}
    display = RocDisplay(points, result.scenarios[number]).plot(choices=False)
    for one in result.deployed_in(number):
        for choice in one.test.choices:
            display.ax_.plot(
                choice.fp / one.test.n_negative,
                choice.tp / one.test.n_positive,
                STRATEGY_MARKERS[one.strategy],
                **DEPLOYED_MARK,
                gid=f"deployed {one.strategy}",
            )
    return display


def _compared(
    result: StudyResult, valid: Scored, number: ScenarioName
) -> dict[str, OperatingPoints]:
    """Return the models of the winner map by name."""
    chosen_by: dict[str, list[str]] = {}
    for one in result.deployed_in(number):
        chosen_by.setdefault(one.model, []).append(SHORT_NAMES[one.strategy])
    return {
        f"by {by[0]}{' and others' * (len(by) > 1)}": valid.points[model]
        for model, by in chosen_by.items()
    }


def _winners(
    compared: Mapping[str, OperatingPoints], scenario: Scenario, n_cases: int
) -> WinnerMapDisplay:
    admitting = MAP_CAPACITIES[MAP_CAPACITIES * n_cases >= 1]
    return WinnerMapDisplay(score_grid(compared, scenario.without_limits(), MAP_FLOORS, admitting))


def answers(result: StudyResult) -> list[str]:
    """Return a sentence for each scenario: test costs, and which strategies kept the limits."""
    return [_answer(result, number) for number in result.scenarios]


def _answer(result: StudyResult, number: ScenarioName) -> str:
    intervals = result.intervals[number]
    asked = scenario_in_words(result.scenarios[number])
    limits = {one.strategy: limits_in_words(one.test) for one in result.deployed_in(number)}
    beside: dict[str, list[str]] = {}
    for strategy in intervals:
        if strategy != GUARANTEED_BY:
            said = f"{intervals[strategy].verdict}, {limits[strategy]}"
            beside.setdefault(said, []).append(LABELS[strategy])
    others = "; ".join(f"{said}: {', '.join(names)}" for said, names in beside.items())
    return (
        f"Scenario {number} ({asked}). On test, {LABELS[GUARANTEED_BY]} {limits[GUARANTEED_BY]}. "
        f"The others beside it: {others}. The table of differences has the intervals."
    )


def limits_in_words(evaluation: PolicyEvaluation) -> str:
    """Return whether a policy kept both limits, or which ones it broke."""
    broken = " and ".join(violation.limit for violation in evaluation.violations)
    return f"broke the {broken} limit" if broken else "kept the limits"


LONG = 60
"""Tables with more rows than this are folded."""


def render_summary(
    result: StudyResult,
    metadata: Sequence[tuple[str, str]],
    images: Mapping[str, bytes],
    reviewer: Sequence[Table] = (),
    steps: Sequence[FlowStep] = (),
) -> str:
    """Lay a study out as one HTML document that needs no other file."""
    return render_document(
        "voros_studies.experiments",
        "summary.html",
        title=result.title,
        answers=answers(result),
        ran=metadata,
        tables=result.tables,
        pictures=[_picture(name, png) for name, png in images.items()],
        steps=steps,
        reviewer=[table for table in reviewer if len(table.rows) < LONG and table.name != "flow"],
        long_tables=[table for table in reviewer if len(table.rows) >= LONG],
    )


def _picture(name: str, png: bytes) -> Picture:
    number, kind = name.removeprefix("scenario_").removesuffix(".png").rsplit("_", 1)
    caption = f"Scenario {number}: {CAPTIONS[kind]}"
    return Picture(png, caption)
