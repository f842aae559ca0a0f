"""``voros select``: choose a model and its thresholds on validation data, and test the choice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from voros.blending import Blend, blend
from voros.cli import LIMITS_NOT_MET, options
from voros.cli.intervals import Intervals
from voros.cli.loading import (
    BLEND,
    Engine,
    count_by_engine,
    count_points,
    load,
    open_input,
    periods_of,
)
from voros.cli.stays import StayOptions, TestEvents, refuse_with_stays
from voros.cli.terminal import Sheet, check_output, say_lines, show, show_progress
from voros.core.arguments import check_choice
from voros.core.decision import RANKED_BY
from voros.core.scenario import Scenario
from voros.core.worth import THRESHOLDS_ON, ThresholdOn
from voros.exceptions import IncompleteCountsError
from voros.io import open_source
from voros.io.tables import peek
from voros.policy.policy_evaluation import PolicyEvaluation
from voros.present.report.values import evaluation_values, scenario_values
from voros.present.report.wording import limits_verdict, policy_in_words
from voros.selection.ranking import PAPER_TOLERANCE, rank_deployable
from voros.selection.result import Selection

if TYPE_CHECKING:
    from voros.core.operating_points import OperatingPoints
    from voros.core.periods import Periods
    from voros.core.subgroups import Subgroups
    from voros.io import Predictions
    from voros.policy import StayEvaluation, ThresholdPolicy
    from voros.sites import SiteCounts


@dataclass(frozen=True, kw_only=True)
class ChoiceOptions:
    """How a model and its thresholds are chosen."""

    strategy: str = options.in_choice(
        f"Rank by {', '.join(RANKED_BY)}.", metavar="NAME", default="partial_voros"
    )
    tolerance: float = options.in_choice(
        "Scores this close to the best are marked as no worse.", default=PAPER_TOLERANCE
    )
    confidence: str | None = options.in_choice(
        "Use only thresholds that keep the limits on future cases with this confidence, "
        "such as 0.95; of several, such as 0.95,0.9,0.8, the highest that any threshold passes.",
        metavar="SHARE[,...]",
    )
    threshold_on: str = options.in_choice(
        "With --miss-value: what the threshold is compared with, the score or score times value.",
        metavar="score|value",
        default="score",
    )
    horizon: options.Horizon = None
    block: options.Block = None
    blend: Path | None = options.in_choice(
        "Also combine the models by log loss, as one more model; its weights are saved in "
        "FILE, for voros apply.",
        metavar="FILE",
    )

    def read(self, *, over_stays: bool = False) -> dict[str, Any]:
        """Return the arguments of `voros.select_model`; over stays the horizon is the rule's."""
        if self.strategy not in RANKED_BY:
            accepted = ", ".join(map(repr, RANKED_BY))
            raise ValueError(f"--strategy={self.strategy!r}; accepted are {accepted}")
        return {
            "strategy": self.strategy,
            "tolerance": self.tolerance,
            "guarantee": options.read_guarantee(
                self.confidence, None if over_stays else self.horizon, self.block
            ),
        }


@options.bundled
def select(
    columns: options.InputOptions,
    limits: options.LimitOptions,
    choice: ChoiceOptions,
    when: options.PeriodOptions,
    stays: StayOptions,
    subgroups: options.SubgroupOptions,
    show_options: options.OutputOptions,
    test_events: TestEvents = None,
    group: str | None = options.in_choice(
        "The patient of each case, where patients have several, for --confidence and the "
        "intervals of --test. Without it all cases are taken as independent.",
        metavar="COLUMN",
    ),
    development: Path | None = options.in_choice(
        "With --confidence: cases on which model and thresholds are fixed, such as out-of-fold "
        "scores of the training cases. The cases in FILE then certify them.",
        metavar="FILE",
    ),
    test: options.TestFile = None,
    output: Path | None = options.output_to("Save the policy, as JSON; - is standard output."),
    false_alarm_cost: options.FalseAlarmCost = None,
    miss_value: options.MissValue = None,
    check: options.Check = False,
    engine: Engine = None,
) -> None:
    """Choose a model and its thresholds on the validation cases in FILE; save the policy."""
    worth, price = _read_worth(
        *(miss_value, false_alarm_cost, choice.threshold_on),
        development=development,
        by=subgroups.by,
        engine=engine,
    )
    if test is None:
        of_test = {"check": check, "by": subgroups.by, "false_alarm_cost": price}
        options.refuse(of_test | {"test_events": test_events}, "requires --test FILE")
    if choice.confidence is None:
        options.refuse({"development": development}, options.REQUIRES_CONFIDENCE)
        if test is None:
            options.refuse({"group": group}, "requires --confidence 0.95 or --test FILE")
    over_stays = stays.given
    combination = (
        None if choice.blend is None else _make_blend(choice, columns, development, engine)
    )
    how, scenario = choice.read(over_stays=over_stays), limits.read(by_period=True)
    check_output(output, show_options)
    if over_stays:
        refuse_with_stays(engine=engine, false_alarm_cost=price, miss_value=miss_value)
        rows = stays.open(columns, when, choice, group, subgroups)
        validation = Validation(source=rows.name, points=rows.points())
        developed = (
            None if development is None else rows.with_file(development, validation.points).points()
        )
    else:
        when.check(scenario)
        validation = _validation(
            columns, when, scenario, how, group, subgroups.columns, engine, combination, worth
        )
        developed = load_development(development, columns, validation, combination)
    with show_progress("choosing"):
        selection = rank_deployable(validation.points, scenario, developed, **how)
        policy = replace(
            selection, pos_label=validation.pos_label, threshold_on=validation.threshold_on
        ).policy()
    tested: Tested | None = None
    if test is not None and over_stays:
        test_rows = rows.with_file(test, [selection.winner], test_events)
        evaluation = replace(test_rows, by=rows.aside, aside=()).evaluate(policy)
        tested = Tested({"test_default": evaluation})
    elif test is not None:
        cases = load_test(
            test,
            replace(columns, label=validation.label, pos_label=validation.pos_label),
            selection.winner,
            group=group,
            blend=combination,
            when=when,
            by=subgroups.columns,
            worth=worth,
        )
        periods, by = periods_of(cases, scenario, when), subgroups.read(cases)
        tested = Tested.from_policy(policy, cases, periods, by, price)
    _save_blend(combination, choice.blend, show_options)
    show(_sheet(selection, policy, tested, validation), show_options, output, policy.to_json())
    if check and tested is not None and not tested.satisfied:
        raise typer.Exit(LIMITS_NOT_MET)


def _make_blend(
    choice: ChoiceOptions,
    columns: options.InputOptions,
    development: Path | None,
    engine: str | None,
) -> Blend:
    """Combine the models on development cases, or without a guarantee on those of FILE."""
    if engine is not None:
        raise ValueError("--blend needs cases in memory; leave --engine out")
    if choice.confidence is not None and development is None:
        raise ValueError(
            "--blend with --confidence requires --development FILE: weights that are fitted to the "
            "cases in FILE cannot be certified on them"
        )
    cases = load(replace(columns, file=development or columns.file))
    return blend(cases.labels, dict(cases.scores))


def _save_blend(
    combination: Blend | None, path: Path | None, show_options: options.OutputOptions
) -> None:
    if combination is not None:
        combination.to_json(path, force=show_options.force)
        say_lines(repr(combination))


def _read_worth(
    miss_value: str | None, false_alarm_cost: str | None, threshold_on: str, **others: object
) -> tuple[options.Worth | None, float | None]:
    """Return values of cases, or a price of false alarms; values refuse what counts cases."""
    worth = options.Worth.read(miss_value, false_alarm_cost)
    check_choice(threshold_on, "threshold_on", THRESHOLDS_ON)
    if worth is None:
        if threshold_on != "score":
            raise ValueError("--threshold-on=value requires --miss-value, the column of values")
        return None, options.read_price(false_alarm_cost)
    options.refuse(others, "and --miss-value exclude one another")
    return replace(worth, threshold_on="value" if threshold_on == "value" else "score"), None


@dataclass(frozen=True, kw_only=True)
class Validation:
    """What the choice rests on: the points of every model, of cases or of counts."""

    source: str
    points: Mapping[str, OperatingPoints]
    label: str | None = None
    pos_label: str | None = None
    intervals: Intervals | None = None
    threshold_on: ThresholdOn = "score"


def _validation(
    columns: options.InputOptions,
    when: options.PeriodOptions,
    scenario: Scenario,
    how: Mapping[str, Any],
    group: str | None,
    aside: Sequence[str],
    engine: str | None,
    combination: Blend | None = None,
    worth: options.Worth | None = None,
) -> Validation:
    """Count validation cases in memory or by an engine, or read counts."""
    opened = open_input(columns, engine, by_period=scenario.per is not None)
    if opened.lazy is None and opened.counts is None:
        whose: Any = {"group": group, "when": when, "aside": aside, "worth": worth}
        cases = load(columns, source=opened.source, blend=combination, **whose)
        if worth is not None:
            cases = worth.compared(cases)
        points = count_points(cases, periods_of(cases, scenario, when))
        on = "score" if worth is None else worth.threshold_on
        return Validation(
            source=cases.source,
            points=points,
            label=cases.label,
            pos_label=columns.pos_label,
            threshold_on=on,
        )
    of_cases = {"group": group, "miss_value": worth}
    options.refuse(of_cases, f"is for a file of cases in memory; {opened.name} is counted")
    if opened.lazy is not None:
        lazy = opened.lazy.without(aside)
        points = count_by_engine(lazy, columns, scenarios_for(scenario, how))
        return Validation(
            source=opened.name, points=points, label=columns.label, pos_label=columns.pos_label
        )
    assert opened.counts is not None
    if how["guarantee"] is not None:
        raise ValueError(
            f"--confidence needs every threshold, and {opened.name} holds counts by ranges of "
            "scores; name the file of cases"
        )
    return _of_sites(opened.name, opened.counts, scenario)


def _of_sites(name: str, counts: SiteCounts, scenario: Scenario) -> Validation:
    """Take the points of counted ranges, as wide as they may be for the score."""
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
    return Validation(
        source=name, points=points, label=counts.outcome, pos_label=stated, intervals=intervals
    )


def scenarios_for(scenario: Scenario, how: Mapping[str, Any]) -> list[Scenario]:
    """Return what an engine must count for; none where every distinct score is needed."""
    if how["guarantee"] is not None or how["strategy"] in ("partial_auroc", "recall"):
        return []
    return [scenario, scenario.without_limits()] if how["strategy"] == "voros" else [scenario]


@dataclass(frozen=True)
class Tested:
    """What a policy does on test cases, by a threshold for each cost and by the default one.

    Over stays there is the default threshold alone.
    """

    ways: dict[str, PolicyEvaluation | StayEvaluation]
    price: float | None = None

    @classmethod
    def from_policy(
        cls,
        policy: ThresholdPolicy,
        cases: Predictions,
        periods: Periods | None = None,
        by: Subgroups | None = None,
        price: float | None = None,
    ) -> Tested:
        """Evaluate a threshold for each cost, and the default one as ``voros apply`` does."""
        how: Any = {"sample_weight": cases.weights, "groups": cases.groups}
        how |= {"miss_value": cases.miss_value, "false_alarm_cost": cases.false_alarm_cost}
        data = cases.labels, cases.scores_of(policy.model or "")
        ways = {
            name: policy.evaluate(*data, by_cost=by_cost, periods=periods, by=by, **how)
            for name, by_cost in (("test", True), ("test_default", False))
        }
        return cls(dict(ways), price)

    @property
    def satisfied(self) -> bool:
        """Whether all limits hold however the policy is deployed, in subgroups as well."""
        return not any(
            not way.satisfied or (way.by_subgroup and way.by_subgroup.with_floor("broken"))
            for way in self.ways.values()
        )

    @property
    def tables(self) -> list[str]:
        """A table of each way to deploy the policy; one where both do the same."""
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
        """Return what the document says of the test."""
        return {
            name: evaluation_values(way, self.price)
            if isinstance(way, PolicyEvaluation)
            else way.values()
            for name, way in self.ways.items()
        }


def load_development(
    path: Path | None,
    columns: options.InputOptions,
    validation: Validation,
    combination: Blend | None = None,
) -> dict[str, OperatingPoints] | None:
    """Count development cases, if any, from columns named as in the validation file."""
    if path is None:
        return None
    own = [model for model in validation.points if combination is None or model != BLEND]
    scores = columns.score if columns.model else own
    labels: Any = {"label": validation.label, "pos_label": validation.pos_label}
    return count_points(
        load(replace(columns, file=path, score=scores, **labels), blend=combination)
    )


def load_test(
    path: Path,
    columns: options.InputOptions,
    winner: str,
    *,
    group: str | None = None,
    blend: Blend | None = None,
    **how: Any,
) -> Predictions:
    """Read the winner's scores on test cases, from columns named as in the validation file.

    The column of patients may be missing there.
    """
    source = open_source(path)
    return load(
        replace(columns, file=path, score=columns.score if columns.model else [winner]),
        source=source,
        group=group if group in peek(source).column_names else None,
        blend=blend if winner == BLEND else None,
        **how,
    )


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
    document = _document(selection, policy, tested, validation.source) | {"ranking": rows}
    text = "\n".join([*lines, *(() if tested is None else tested.tables)])
    return Sheet(text=text, rows=rows, document=document)


def _document(
    selection: Selection, policy: ThresholdPolicy, tested: Tested | None, source: str
) -> dict[str, Any]:
    return {
        "file": source,
        "scenario": scenario_values(policy.scenario),
        "strategy": selection.strategy,
        "winner": selection.winner,
        "policy": policy.fields(),
        "test": None,
        "test_default": None,
        **({} if tested is None else tested.values()),
    }
