"""``voros score``: partial VOROS of every model in a file."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import typer

from voros.cli import LIMITS_NOT_MET, options
from voros.cli.intervals import Intervals
from voros.cli.loading import Engine, load, open_input
from voros.cli.stays import NOT_WITH_STAYS, RuleHorizon, StayInput, StayOptions
from voros.cli.terminal import Sheet, columns_text, show, tracked
from voros.core.limits import limits_message
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario
from voros.evaluation import Evaluation, evaluate
from voros.exceptions import InfeasibleError, NeverAlarmWarning
from voros.io import Predictions
from voros.present.report.values import case_counts, scenario_values
from voros.text.numbers import count, count_within, percent, short, threshold_text


@options.bundled_with(
    requires={"stay": ["horizon"]},
    excludes={"stay": [*NOT_WITH_STAYS, "engine"]},
)
def score(
    columns: options.CaseOptions,
    limits: options.LimitOptions,
    stays: StayOptions,
    output: options.ShowOptions,
    horizon: RuleHorizon = None,
    check: options.Check = False,
    engine: Engine = None,
) -> None:
    """Score every model in FILE by partial VOROS, and show the thresholds behind it."""
    scenario = limits.read()
    intervals = None
    if stays.given:
        rows = StayInput(columns=columns, stays=stays, rule=stays.rule(horizon))
        name, results = rows.name, evaluate_points(rows.points(), scenario)
    else:
        # Opened once: a pipe cannot be read twice.
        opened = open_input(columns, engine, scenario)
        name = opened.name
        if opened.source is not None:
            results = evaluate_cases(load(columns, scenario, source=opened.source), scenario)
        elif opened.counts is not None:
            results = evaluate_points(opened.counts.points, scenario)
            intervals = Intervals.from_counts(opened.counts, scenario)
        else:
            results = evaluate_points(opened.count(columns, [scenario]), scenario)
    sheet = score_sheet(results, name, scenario, intervals)
    reachable = any(row["feasible"] for row in sheet.rows)
    if not (reachable or check or (intervals is not None and intervals.may_be_met)):
        check_reachable(results)
    show(sheet, output)
    if check and not reachable:
        raise typer.Exit(LIMITS_NOT_MET)


def evaluate_cases(cases: Predictions, scenario: Scenario) -> dict[str, Evaluation]:
    """Evaluate every model; a model without a feasible threshold has a row that says so."""
    of_cases = cases.per_case
    of_cases.pop("groups", None)  # groups change intervals alone
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NeverAlarmWarning)
        return {
            model: evaluate(cases.labels, scores, scenario, **of_cases)
            for model, scores in tracked(cases.scores.items(), "scoring")
        }


def evaluate_points(
    points: Mapping[str, OperatingPoints], scenario: Scenario
) -> dict[str, Evaluation]:
    """Evaluate every model on its operating points."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NeverAlarmWarning)
        return {model: evaluate(one, scenario=scenario) for model, one in points.items()}


def check_reachable(results: Mapping[str, Evaluation]) -> None:
    """Raise if no model can meet the limits; the message names the closest one."""
    if any(result.feasible for result in results.values()):
        return
    model, closest = max(results.items(), key=lambda item: item[1].most_precise.precision)
    raise InfeasibleError(f"model {model!r}: {limits_message(closest.decision)}")


def score_sheet(
    results: Mapping[str, Evaluation],
    source: str,
    scenario: Scenario,
    intervals: Intervals | None = None,
) -> Sheet:
    """Arrange scores and choices, best model first, with intervals where counts have ranges."""
    rows = [_row(model, result) for model, result in results.items()]
    rows.sort(key=lambda row: -row["partial_voros"])
    for row in rows:
        row["behind"] = rows[0]["partial_voros"] - row["partial_voros"]
    table = columns_text(_columns(rows))
    if intervals is not None:
        rows = [row | intervals.row(row["model"]) for row in rows]
    decision = results[rows[0]["model"]].decision
    points = decision.points
    lines = [
        "Partial VOROS: 1 is the best any classifier could do within the limits",
        table,
        _limits_in_words(scenario, points, decision.max_alarms),
        *(() if intervals is None else (intervals.text,)),
    ]
    return Sheet(
        text="\n".join(lines),
        rows=rows,
        document={
            "file": source,
            **case_counts(points),
            "scenario": scenario_values(scenario),
            "models": [
                row | {"choices": [choice.fields() for choice in results[row["model"]].choices]}
                for row in rows
            ],
        },
    )


def _limits_in_words(scenario: Scenario, cases: OperatingPoints, max_alarms: float) -> str:
    """Return the cases at deployment, limits and costs of a result in words."""
    if cases.stays is not None:
        of_cases = f"{cases.stays.words} ({cases.stays.rule.words})"
    else:
        share = percent(cases.n_positive / cases.n_cases)
        of_cases = f"{count(cases.n_cases)} cases, {share} positive"
    if max_alarms < cases.n_cases:
        most = count_within(max_alarms, cases.n_positive, cases.n_negative)
        of_cases += f", at most {most} alarms"
    return "; ".join([of_cases, *(f"{name}: {text}" for name, text in scenario.summary())])


def _row(model: str, result: Evaluation) -> dict[str, Any]:
    choices, score, feasible = result.choices, result.score, result.feasible
    row = {"model": model, "partial_voros": score, "behind": 0.0, "feasible": feasible}
    for name in ("threshold", "alarms", "precision", "recall"):
        values = [getattr(choice, name) for choice in choices]
        row[f"{name}_min"], row[f"{name}_max"] = min(values), max(values)
    return row


def _columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    columns = {
        "model": [row["model"] for row in rows],
        "partial VOROS": [short(row["partial_voros"]) for row in rows],
        "behind": [short(row["behind"]) for row in rows],
        "threshold": [_thresholds(row) for row in rows],
    }
    for name, write in {"alarms": count, "precision": short, "recall": short}.items():
        columns[name] = [_between(row[f"{name}_min"], row[f"{name}_max"], write) for row in rows]
    return columns


def _thresholds(row: Mapping[str, Any]) -> str:
    if not row["feasible"]:
        return "none meets the limits"
    return _between(row["threshold_min"], row["threshold_max"], threshold_text)


def _between(low: float, high: float, write: Callable[[float], str]) -> str:
    first, last = write(low), write(high)
    return first if first == last else f"{first} to {last}"
