"""``voros select``: choose a model and its thresholds on validation data, and test the choice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from voros.blending import Blend, blend
from voros.cli import LIMITS_NOT_MET, options
from voros.cli.intervals import Intervals
from voros.cli.loading import BLEND, Engine, count_points, load, load_test, open_input
from voros.cli.stays import NOT_WITH_STAYS, StayInput, StayOptions, TestEvents
from voros.cli.terminal import Sheet, check_output, say_lines, show, show_progress
from voros.core.decision import RANKED_BY
from voros.core.scenario import Scenario
from voros.core.worth import compared_scores
from voros.exceptions import IncompleteCountsError
from voros.policy.policy_evaluation import PolicyEvaluation
from voros.present.report.values import evaluation_values, scenario_values
from voros.present.report.wording import limits_verdict, policy_in_words
from voros.selection.ranking import rank_deployable
from voros.selection.result import Selection

if TYPE_CHECKING:
    from voros.core.operating_points import OperatingPoints
    from voros.io import Predictions
    from voros.policy import StayEvaluation, ThresholdPolicy
    from voros.sites import SiteCounts

NOTES = ("intervals take ", "guarantee: ")
"""How lines begin that the policy and both tables of its test may have."""


@dataclass(frozen=True, kw_only=True)
class ChoiceOptions(options.GuaranteeOptions):
    """How a model is chosen."""

    strategy: str = options.in_choice(
        f"Rank by {', '.join(RANKED_BY)}.", metavar="NAME", default="partial_voros"
    )

    def read(self, *, over_stays: bool = False) -> dict[str, Any]:
        """Return the arguments of `voros.select_model`; over stays the horizon is the rule's."""
        guarantee = self.guarantee(over_stays=over_stays)
        return {"strategy": self.strategy, "guarantee": guarantee}


@dataclass(frozen=True, kw_only=True)
class SelectOptions(ChoiceOptions):
    """How a model and its thresholds are chosen."""

    threshold_on: str = options.in_choice(
        "With --miss-value: compare the threshold with the score, or with score times value.",
        metavar="score|value",
        default="score",
    )
    blend: Path | None = options.in_choice(
        "Add a blend of the models, fitted by log loss; its weights are saved in FILE, for voros "
        "apply.",
        metavar="FILE",
    )

    def scenarios(self, scenario: Scenario) -> list[Scenario]:
        """Return the scenarios to count for; none where every distinct score is needed."""
        if self.confidence is not None or self.strategy in ("partial_auroc", "recall"):
            return []
        unlimited = [scenario.without_limits()] if self.strategy == "voros" else []
        return [scenario, *unlimited]


@options.bundled_with(
    requires={
        "test": ["check", "by", "test_events"],
        "confidence": ["development"],
        "confidence|test": ["group"],
        "miss_value": ["threshold_on"],
        "miss_value|test": ["false_alarm_cost"],
        "stay": ["test_events"],
    },
    excludes={
        "miss_value": ["development", "by", "engine"],
        "blend": ["engine"],
        "stay": [*NOT_WITH_STAYS, "engine", "false_alarm_cost", "miss_value", "blend"],
    },
)
def select(
    columns: options.CaseOptions,
    limits: options.LimitOptions,
    choice: SelectOptions,
    stays: StayOptions,
    worth: options.WorthOptions,
    show_options: options.OutputOptions,
    by: options.By = None,
    test_events: TestEvents = None,
    group: options.Group = None,
    development: Path | None = options.in_choice(
        "With --confidence: cases on which model and thresholds are fixed, such as out-of-fold "
        "scores of the training cases. The cases in FILE then certify them.",
        metavar="FILE",
    ),
    test: options.TestFile = None,
    output: options.SavedTo = None,
    check: options.Check = False,
    engine: Engine = None,
) -> None:
    """Choose a model and its thresholds on the validation cases in FILE; save the policy."""
    price = None if worth.given else options.read_price(worth.false_alarm_cost)
    how, scenario = choice.read(over_stays=stays.given), limits.read()
    check_output(output, show_options)
    check_output(choice.blend, show_options, output)
    new_blend = None if choice.blend is None else _make_blend(choice, columns, development)
    whose: Any = {"group": group, "worth": worth, "blend": new_blend}
    if stays.given:
        rows = stays.open(columns, choice, group, by)
        validation = Validation(rows.name, rows.points(), columns, stays=rows)
    else:
        validation = _validation(columns, scenario, choice, engine, aside=by, **whose)
    developed = None if development is None else validation.developed(development, new_blend)
    with show_progress("choosing"):
        selection = rank_deployable(validation.points, scenario, developed, **how)
        on: Any = choice.threshold_on
        named = replace(selection, pos_label=validation.columns.pos_label, threshold_on=on)
        policy = named.policy()
    tested = None
    if test is not None and validation.stays is not None:
        later = validation.stays.with_file(test, [selection.winner], test_events, by)
        tested = Tested({"test_default": later.evaluate(policy)})
    elif test is not None:
        cases = load_test(test, validation.columns, selection.winner, scenario, by=by, **whose)
        tested = Tested.from_policy(policy, cases, price)
    if new_blend is not None:
        new_blend.to_json(choice.blend, force=show_options.force)
        say_lines(repr(new_blend))
    show(_sheet(selection, policy, tested, validation), show_options, output, policy.to_json())
    if check and tested is not None and not tested.satisfied:
        raise typer.Exit(LIMITS_NOT_MET)


def _make_blend(
    choice: SelectOptions, columns: options.InputOptions, development: Path | None
) -> Blend:
    """Combine the models on development cases, or without a guarantee on those of FILE."""
    if choice.confidence is not None and development is None:
        raise ValueError(
            "--blend with --confidence requires --development FILE: weights that are fitted to the "
            "cases in FILE cannot be certified on them"
        )
    cases = load(replace(columns, file=development or columns.file))
    return blend(cases.labels, dict(cases.scores))


@dataclass(frozen=True)
class Validation:
    """Operating points of every model on validation cases, counts or stays.

    ``columns`` name the label that was found.
    """

    source: str
    points: Mapping[str, OperatingPoints]
    columns: options.CaseOptions
    stays: StayInput | None = None
    intervals: Intervals | None = None

    def developed(self, path: Path, blend: Blend | None) -> dict[str, OperatingPoints]:
        """Count development cases, from columns named as in the validation file."""
        if self.stays is not None:
            return self.stays.with_file(path, self.points).points()
        own = [model for model in self.points if blend is None or model != BLEND]
        scores = self.columns.score if self.columns.model else own
        return count_points(load(replace(self.columns, file=path, score=scores), blend=blend))


def _validation(
    columns: options.CaseOptions,
    scenario: Scenario,
    choice: SelectOptions,
    engine: str | None,
    **whose: Any,
) -> Validation:
    """Count validation cases in memory or by an engine, or read counts."""
    opened = open_input(columns, engine, scenario)
    if opened.source is not None:
        cases = load(columns, scenario, source=opened.source, **whose)
        on: Any = choice.threshold_on
        scores = {
            model: compared_scores(column, cases.miss_value, on)
            for model, column in cases.scores.items()
        }
        points = count_points(replace(cases, scores=scores))
        return Validation(opened.name, points, replace(columns, label=cases.label))
    of_cases = {"group": whose["group"], "miss_value": whose["worth"].miss_value}
    options.refuse(of_cases, f"is for a file of cases in memory; {opened.name} is counted")
    if opened.counts is None:
        points = opened.count(columns, choice.scenarios(scenario), whose["aside"] or ())
        return Validation(opened.name, points, columns)
    if choice.confidence is not None:
        raise ValueError(
            f"--confidence needs every threshold, and {opened.name} holds counts by ranges of "
            "scores; name the file of cases"
        )
    return _of_sites(opened.name, opened.counts, columns, scenario)


def _of_sites(
    name: str, counts: SiteCounts, columns: options.CaseOptions, scenario: Scenario
) -> Validation:
    """Return the points of counted ranges, as wide as the intervals of the score allow."""
    from voros.sites import label_text

    intervals = Intervals.from_counts(counts, scenario)
    if not any(low > 0 for low, _ in intervals.bounds.values()) and intervals.may_be_met:
        raise IncompleteCountsError(
            f"{name}: no boundary between ranges meets the limits, but a threshold inside "
            "a range may; count finer ranges, with a smaller --min-rows"
        )
    width = max(high - low for low, high in intervals.bounds.values())
    points = {model: scores.binned.within(width).points for model, scores in counts.models.items()}
    stated = None if counts.pos_label == label_text(None) else counts.pos_label
    named = replace(columns, label=counts.outcome, pos_label=stated)
    return Validation(name, points, named, intervals=intervals)


@dataclass(frozen=True)
class Tested:
    """Evaluations of a policy on test cases, by a threshold for each cost and by the default one.

    Over stays there is only the default threshold.
    """

    ways: dict[str, PolicyEvaluation | StayEvaluation]
    price: float | None = None

    @classmethod
    def from_policy(
        cls, policy: ThresholdPolicy, cases: Predictions, price: float | None = None
    ) -> Tested:
        """Evaluate with a threshold for each cost, and with the default one."""
        data = cases.labels, cases.scores_of(policy.model or "")
        of_cases = cases.per_case | {"by": cases.by or None}
        by_cost = policy.evaluate(*data, by_cost=True, **of_cases)
        return cls({"test": by_cost, "test_default": policy.evaluate(*data, **of_cases)}, price)

    @property
    def satisfied(self) -> bool:
        """Whether all limits hold in both evaluations, in subgroups as well."""
        return not any(
            not way.satisfied or (way.by_subgroup and way.by_subgroup.with_floor("broken"))
            for way in self.ways.values()
        )

    @property
    def tables(self) -> list[str]:
        """A table of each evaluation; one where both are equal."""
        openings: dict[str, str] = {}
        for way in self.ways.values():
            verdict, money = "default threshold", ""
            if isinstance(way, PolicyEvaluation):
                verdict = limits_verdict(way)
                priced = self.price is not None or way.values is not None
                money = f"\n{way.in_money(self.price)!r}" if priced else ""
            opening, _, table = repr(way).partition("\n")
            openings.setdefault(table + money, f"\ntest, {verdict}\n{opening}")
        return [f"{opening}\n{table}" for table, opening in openings.items()]

    def values(self) -> dict[str, Any]:
        """Return the evaluations for the JSON document."""
        return {
            name: evaluation_values(way, self.price)
            if isinstance(way, PolicyEvaluation)
            else way.values()
            for name, way in self.ways.items()
        }


def _sheet(
    selection: Selection,
    policy: ThresholdPolicy,
    tested: Tested | None,
    validation: Validation,
) -> Sheet:
    plan, intervals = selection.allowed[selection.winner].origin.plan, validation.intervals
    lines = [
        repr(selection),
        *(() if intervals is None else (intervals.text,)),
        f"policy: {policy_in_words(policy)}",
    ]
    if policy.guarantee is not None:
        lines.append("; ".join(filter(None, (f"guarantee: {policy.guarantee.words}", plan))))
    if policy.curve:
        lines.append(f"\nwhat each confidence costs:\n{policy.confidence_curve()!r}")
    rows = [
        row.record()
        | ({"expected_cost": row.expected_cost} if selection.strategy == "expected_cost" else {})
        | ({} if intervals is None else intervals.row(row.model))
        for row in selection.ranking
    ]
    document = {
        "file": validation.source,
        "scenario": scenario_values(policy.scenario),
        "strategy": selection.strategy,
        "winner": selection.winner,
        "policy": policy.fields(),
        "test": None,
        "test_default": None,
        **({} if tested is None else tested.values()),
        "ranking": rows,
    }
    text = "\n".join([*lines, *(() if tested is None else tested.tables)])
    return Sheet(text=_notes_once(text), rows=rows, document=document)


def _notes_once(text: str) -> str:
    """Leave out notes of the test that repeat an earlier line."""
    lines = text.split("\n")
    first = {line: row for row, line in reversed([*enumerate(lines)])}
    kept = (first[line] == row or not line.startswith(NOTES) for row, line in enumerate(lines))
    return "\n".join(compress(lines, kept))
