"""``voros score``: partial VOROS of every model in a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import typer

from voros.cli import LIMITS_NOT_MET
from voros.cli.intervals import Intervals
from voros.cli.loading import (
    Engine,
    count_by_engine,
    count_points,
    load,
    open_input,
    periods_of,
)
from voros.cli.options import (
    Check,
    InputOptions,
    LimitOptions,
    PeriodOptions,
    ShowOptions,
    bundled,
)
from voros.cli.terminal import Sheet, show, tracked
from voros.core.arrays import check_cases
from voros.core.decision import solve
from voros.core.limits import limits_message
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario
from voros.evaluation import Evaluation
from voros.exceptions import InfeasibleError
from voros.io import Predictions
from voros.metrics import deciding_points
from voros.notices import warn_about_costs
from voros.present.report.content import scenario_values
from voros.present.report.wording import exact, limits_in_words, span


@bundled
def score(
    columns: InputOptions,
    limits: LimitOptions,
    when: PeriodOptions,
    output: ShowOptions,
    check: Check = False,
    engine: Engine = None,
) -> None:
    """Score every model in FILE by partial VOROS, and show the thresholds behind it."""
    scenario = limits.read(by_period=True)
    when.check(scenario)
    # Opened once, for a pipe cannot be read again.
    given = open_input(columns, engine, by_period=scenario.per is not None)
    counts = given.counts
    intervals = None if counts is None else Intervals.of(counts, scenario)
    if counts is not None:
        results = evaluate_all(counts.points, scenario)
    elif given.lazy is not None:
        results = evaluate_all(count_by_engine(given.lazy, columns, [scenario]), scenario)
    else:
        cases = load(columns, source=given.cases, when=when)
        results = _evaluate_in_memory(cases, scenario, when)
    reachable = any(result.feasible for result in results.values())
    if not check and not (intervals is not None and intervals.may_be_met):
        check_reachable(results)
    show(score_sheet(results, given.name, scenario, intervals), output)
    if check and not reachable:
        raise typer.Exit(LIMITS_NOT_MET)


def _evaluate_in_memory(
    predictions: Predictions, scenario: Scenario, when: PeriodOptions
) -> dict[str, Evaluation]:
    if scenario.per is not None:
        periods = periods_of(predictions, scenario.per, when)
        return evaluate_all(count_points(predictions, periods), scenario)
    return {
        model: evaluate_model(predictions, model, scenario)
        for model in tracked(predictions.models, "scoring")
    }


def evaluate_model(predictions: Predictions, model: str, scenario: Scenario) -> Evaluation:
    """Evaluate a model on the thresholds that can matter, which saves sorting all cases."""
    positive, scores, weights = check_cases(
        predictions.labels, predictions.of(model), sample_weight=predictions.weights
    )
    points = deciding_points(positive, scores, weights, scenario)
    if not solve(points, scenario).can_alarm:
        # What could be met instead may lie beyond the capacity.
        points = OperatingPoints.from_scores(positive, scores, sample_weight=weights)
    return _evaluate(points, scenario)


def _evaluate(points: OperatingPoints, scenario: Scenario) -> Evaluation:
    points.check_settles(scenario)
    found = Evaluation(solve(points, scenario), points)
    # That a model has no feasible threshold stands in its row.
    warn_about_costs(scenario, found.points)
    return found


def evaluate_all(
    points: Mapping[str, OperatingPoints], scenario: Scenario
) -> dict[str, Evaluation]:
    """Evaluate every model on points that are counted already."""
    return {model: _evaluate(counted, scenario) for model, counted in points.items()}


def check_reachable(results: dict[str, Evaluation]) -> None:
    """Raise where no model can meet the limits, with what the closest one could do."""
    if any(result.feasible for result in results.values()):
        return
    model, closest = max(results.items(), key=lambda item: item[1].most_precise.precision)
    raise InfeasibleError(f"model {model!r}: {limits_message(closest.decision)}")


def score_sheet(
    results: dict[str, Evaluation],
    source: str,
    scenario: Scenario,
    intervals: Intervals | None = None,
) -> Sheet:
    """Arrange scores and choices, best model first; with the intervals of counted ranges."""
    ranked = sorted(results.items(), key=lambda item: -item[1].score)
    best = ranked[0][1].score
    rows = [_row(model, result, best) for model, result in ranked]
    columns: Mapping[str, Sequence[str]] = _columns(ranked, best)
    if intervals is not None:
        rows = [row | intervals.row(row["model"]) for row in rows]
        columns = intervals.between(columns)
    points = ranked[0][1].points
    return Sheet(
        title="Partial VOROS: 1 is the best any classifier could do within the limits",
        columns=columns,
        rows=lambda: rows,
        document=lambda: {
            "file": source,
            "cases": points.n_cases,
            "positives": points.n_positive,
            "scenario": scenario_values(scenario),
            "models": [
                row | {"choices": [asdict(choice) for choice in result.choices]}
                for row, (_, result) in zip(rows, ranked, strict=True)
            ],
        },
        notes=(
            limits_in_words(scenario, points, ranked[0][1].max_alarms),
            *(() if intervals is None else intervals.notes),
        ),
    )


def _ends(result: Evaluation, name: str) -> tuple[float, float]:
    values = [getattr(choice, name) for choice in result.choices]
    return min(values), max(values)


def _row(model: str, result: Evaluation, best: float) -> dict[str, Any]:
    row = {
        "model": model,
        "partial_voros": result.score,
        "behind": best - result.score,
        "feasible": result.feasible,
    }
    for name in ("threshold", "alarms", "precision", "recall"):
        row[f"{name}_min"], row[f"{name}_max"] = _ends(result, name)
    return row


def _columns(ranked: Sequence[tuple[str, Evaluation]], best: float) -> dict[str, list[str]]:
    columns = {
        "model": [model for model, _ in ranked],
        "partial VOROS": [f"{result.score:.4f}" for _, result in ranked],
        "behind": [f"{best - result.score:.4f}" for _, result in ranked],
    }
    columns["threshold"] = [_thresholds(result) for _, result in ranked]
    for name in ("alarms", "precision", "recall"):
        columns[name] = [span(*_ends(result, name)) for _, result in ranked]
    return columns


def _thresholds(result: Evaluation) -> str:
    if not result.feasible:
        return "none meets the limits"
    low, high = _ends(result, "threshold")
    return exact(low) if low == high else f"{exact(low)} to {exact(high)}"
