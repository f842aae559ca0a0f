"""``voros select``: choose a model and its thresholds on validation data, and test the choice."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from voros.cli.bundles import bundled
from voros.cli.failures import LIMITS_NOT_MET
from voros.cli.loading import count_points, load
from voros.cli.options import (
    Check,
    ColumnOptions,
    Force,
    GuaranteeOptions,
    LimitOptions,
    PredictionFile,
    ShowOptions,
)
from voros.cli.show import Sheet, number, show, span
from voros.cli.wording import limits_in_words, scenario_fields
from voros.deployment import PolicyEvaluation
from voros.exceptions import InfeasibleError
from voros.files import Predictions, check_writable
from voros.limits import limits_message
from voros.policy import ThresholdPolicy
from voros.policy_json import policy_fields
from voros.roc import OperatingPoints
from voros.scenario import Scenario
from voros.selection import PAPER_TOLERANCE, STRATEGIES, Selection, select_points


@bundled
def select(
    file: PredictionFile,
    columns: ColumnOptions,
    limits: LimitOptions,
    guarantees: GuaranteeOptions,
    show_options: ShowOptions,
    test: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Test cases, to account for the choice on.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Save the policy, as JSON."),
    ] = None,
    strategy: Annotated[
        str, typer.Option(metavar="NAME", help=f"Rank by {', '.join(STRATEGIES)}.")
    ] = "partial_voros",
    tolerance: Annotated[
        float, typer.Option(help="Scores this close to the best are marked with a star.")
    ] = PAPER_TOLERANCE,
    check: Check = False,
    force: Force = False,
) -> None:
    """Choose a model and its thresholds on the validation cases in FILE; save the policy."""
    scenario, guarantee = limits.read(), guarantees.read()
    check_writable([] if output is None else [output], force=force)
    validation = load(file, columns)
    points = count_points(validation)
    selection = select_points(
        points,
        scenario,
        strategy=strategy,  # type: ignore[arg-type]
        tolerance=tolerance,
        guarantee=guarantee,
    )
    policy = decide(selection, points, scenario, guarantee)
    tested = None if test is None else _test(policy, test, columns, validation)
    if output is not None:
        policy.to_json(output, force=force)
    show(_sheet(selection, policy, tested, validation, points), show_options)
    if check and tested is not None and not tested.satisfied:
        raise typer.Exit(LIMITS_NOT_MET)


def decide(
    selection: Selection,
    points: dict[str, OperatingPoints],
    scenario: Scenario,
    guarantee: Any = None,
) -> ThresholdPolicy:
    """Return the winner's policy, under its name; a winner that must stay silent is refused."""
    winner = selection.winner
    if not selection.ranking[0].feasible:
        cases = points[winner].at_prevalence(scenario.prevalence)
        if cases.feasible(scenario)[1:].any():
            raise InfeasibleError(
                f"model {winner!r}: no threshold keeps the limits with the confidence asked for; "
                "ask for less confidence, or validate on more cases"
            )
        raise InfeasibleError(f"model {winner!r}: {limits_message(cases, scenario)}")
    policy = ThresholdPolicy.from_points(
        points[winner], scenario, strategy=selection.strategy, guarantee=guarantee
    )
    return replace(policy, model=winner)


def _test(
    policy: ThresholdPolicy, path: Path, columns: ColumnOptions, validation: Predictions
) -> PolicyEvaluation:
    """Account for the policy on test cases, whose columns are those of the validation."""
    winner = str(policy.model)
    scores = columns.score if columns.model else [winner]
    test = load(path, replace(columns, label=validation.label, score=scores))
    return policy.evaluate(test.labels, test.of(winner), sample_weight=test.weights)


def _sheet(
    selection: Selection,
    policy: ThresholdPolicy,
    tested: PolicyEvaluation | None,
    validation: Predictions,
    points: dict[str, OperatingPoints],
) -> Sheet:
    columns = {"model": [row.model for row in selection.ranking]}
    for name in STRATEGIES:
        columns[name.replace("_", " ")] = [
            f"{getattr(row, name):.4f}"
            + ("*" if selection.behind(row, name) < selection.tolerance else " ")
            for row in selection.ranking
        ]
    columns["feasible"] = ["yes" if row.feasible else "no" for row in selection.ranking]
    return Sheet(
        title=f"Winner by {selection.strategy.replace('_', ' ')}: {selection.winner}",
        columns=columns,
        rows=[asdict(row) for row in selection.ranking],
        document=_document(selection, policy, tested, validation),
        notes=(
            f"* within {selection.tolerance:g} of the best",
            limits_in_words(policy.scenario, points[selection.winner]),
            _policy_in_words(policy),
            *(() if tested is None else account_in_words(tested)),
        ),
    )


def _document(
    selection: Selection,
    policy: ThresholdPolicy,
    tested: PolicyEvaluation | None,
    validation: Predictions,
) -> dict[str, Any]:
    return {
        "file": validation.source,
        "scenario": scenario_fields(policy.scenario),
        "strategy": selection.strategy,
        "winner": selection.winner,
        "ranking": [asdict(row) for row in selection.ranking],
        "policy": policy_fields(policy),
        "test": None if tested is None else account_fields(tested),
    }


def _policy_in_words(policy: ThresholdPolicy) -> str:
    used = [c for c, p in zip(policy.choices, policy.probabilities, strict=True) if p > 0]
    thresholds = [choice.threshold for choice in used]
    return (
        f"policy: alarm at a score of at least {span(min(thresholds), max(thresholds))} as the "
        f"costs vary; {number(policy.default.threshold)} where they are not known"
    )


def account_in_words(tested: PolicyEvaluation) -> tuple[str, ...]:
    """Say what the policy did on the test cases."""
    kept = "limits kept" if tested.satisfied else "limits broken"
    account = (
        f"test: {kept}; expected cost {tested.expected_cost:.4f}, mean precision "
        f"{number(tested.mean_precision)}, mean alarms {number(tested.mean_alarms)} of at most "
        f"{number(tested.max_alarms)}"
    )
    return (account, *(f"test: {violation}" for violation in tested.violations))


def account_fields(tested: PolicyEvaluation) -> dict[str, Any]:
    """Return the test account as plain values."""
    return {
        "expected_cost": tested.expected_cost,
        "mean_precision": tested.mean_precision,
        "mean_alarms": tested.mean_alarms,
        "max_alarms": tested.max_alarms,
        "satisfied": tested.satisfied,
        "violations": [asdict(violation) for violation in tested.violations],
        "choices": [asdict(choice) for choice in tested.choices],
    }
