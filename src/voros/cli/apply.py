"""``voros apply``: a saved policy decides on new cases, and a verdict on its alarms."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from voros.cli import LIMITS_NOT_MET
from voros.cli.loading import load, periods_of
from voros.cli.options import (
    FileFormat,
    InputOptions,
    OutputOptions,
    PeriodOptions,
    PredictionFile,
    SubgroupOptions,
    bundled,
    option,
    output_to,
)
from voros.cli.stay_alarms import StayAlarms
from voros.cli.stays import StayColumns, StayInput, in_stays, refuse_with_stays
from voros.cli.terminal import (
    Sheet,
    cases_format,
    check_output,
    deliver_cases,
    say,
    say_lines,
    show,
    show_progress,
)
from voros.core.periods import PeriodCases, Periods
from voros.core.scenario import Scenario
from voros.core.subgroups import Subgroups
from voros.exceptions import Message, NoSuchColumnError, PredictionFileError
from voros.io import Predictions, append_column, open_source
from voros.io.scenario_text import read_number
from voros.policy.by_period import PeriodEvaluation
from voros.policy.by_subgroup import SubgroupEvaluation
from voros.policy.policy_evaluation import PolicyEvaluation
from voros.policy.threshold_policy import ThresholdPolicy
from voros.present.report.content import subgroup_values
from voros.present.report.wording import exact, number
from voros.typing import BoolArray


@bundled
def apply(
    policy_file: Annotated[
        Path, typer.Argument(metavar="POLICY", help="A policy saved by voros select.")
    ],
    file: PredictionFile,
    show_options: OutputOptions,
    when: PeriodOptions,
    stays: StayColumns,
    subgroups: SubgroupOptions,
    state: Annotated[
        Path | None,
        in_stays(
            "Where alarms of stays that go on are kept from one call to the next; written again.",
            "FILE",
        ),
    ] = None,
    score: Annotated[
        str | None,
        option("The column of scores, if not named as the policy's model.", metavar="COLUMN"),
    ] = None,
    cost_ratio: Annotated[
        str | None,
        option("Cost of a false alarm against a miss now, if it is known.", metavar="RATIO"),
    ] = None,
    label: Annotated[
        str | None, option("True labels, to check precision by.", metavar="COLUMN")
    ] = None,
    pos_label: Annotated[
        str | None, option("The positive label, if not that of the policy.", metavar="LABEL")
    ] = None,
    drop_missing: Annotated[
        bool,
        option(
            "Leave out cases with a missing value; nothing is decided on them.", "--drop-missing"
        ),
    ] = False,
    file_format: FileFormat = None,
    output: Annotated[
        Path | None,
        output_to(
            "Where to write the cases with their alarms: .csv, .tsv, .parquet, .arrow or "
            ".jsonl. Without it, or with -, CSV on the standard output."
        ),
    ] = None,
    check: Annotated[
        bool,
        option(
            "Exit with 1 where a limit is not kept, or a floor broken in a subgroup.", "--check"
        ),
    ] = False,
) -> None:
    """Decide on the cases in FILE: all their columns, and whether each raises an alarm.

    With --json or --csv the verdict (how many alarms, which limits are kept) is printed in place of
    the cases, which are then written with -o only.
    """
    policy = _read_policy(policy_file)
    _check_stays(policy, policy_file, stays, state, when)
    if subgroups.by and not label:
        raise ValueError("--by reports precision and recall; name the true labels with --label")
    cases_format(output)
    check_output(output, show_options)
    ratio = None if cost_ratio is None else read_number(cost_ratio, "cost_ratio")
    column = score or _policy_column(policy, policy_file)
    if policy.rule is not None:
        refuse_with_stays(label=label, pos_label=pos_label, by=subgroups.by)
        named = InputOptions(
            file=file, score=[column], drop_missing=drop_missing, file_format=file_format
        )
        rows = StayInput(named, stays, when, policy.rule)
        deciding = StayAlarms(policy=policy, rows=rows, cost_ratio=ratio, state=state, check=check)
        with _naming_the_policy(policy, policy_file, named=score is not None):
            deciding.write(output, show_options)
        return
    source = open_source(file, file_format)
    positive = policy.pos_label if pos_label is None else pos_label
    columns = InputOptions(
        file=file, label=label, score=[column], pos_label=positive, drop_missing=drop_missing
    )
    by, labelled = subgroups.columns, bool(label)
    with _naming_the_policy(policy, policy_file, named=score is not None):
        cases = load(
            columns, source=source, when=when, by=by, labelled=labelled, both_classes=False
        )
    alarms = policy.predict(cases.scores_of(column), ratio)
    if output is not None or not show_options.for_programs:
        with show_progress("writing the cases"):
            decided = append_column(source, "alarm", alarms.astype(np.int8), cases.kept)
            deliver_cases(decided, output, show_options)
    periods = periods_of(cases, policy.scenario, when)
    tested = _evaluated(policy, cases, column, ratio, periods, subgroups.read(cases))
    verdict = AlarmVerdict.from_alarms(policy.scenario, alarms, tested, periods)
    by_subgroup = None if tested is None else tested.by_subgroup
    _announce(
        verdict, by_subgroup, cases.source, column, policy.threshold(ratio), output, show_options
    )
    broken = by_subgroup is not None and bool(by_subgroup.with_floor("broken"))
    if check and (broken or not verdict.kept):
        raise typer.Exit(LIMITS_NOT_MET)


def _announce(
    verdict: AlarmVerdict,
    by_subgroup: SubgroupEvaluation | None,
    source: str,
    column: str,
    threshold: float,
    output: Path | None,
    show_options: OutputOptions,
) -> None:
    say(f"{column!r} at threshold {exact(threshold)}: {verdict.words}")
    if by_subgroup is not None and not show_options.for_programs:
        say_lines(repr(by_subgroup))
    if show_options.for_programs:
        written = None if output is None else str(output)
        sheet = _sheet(verdict, source, column, threshold, by_subgroup)
        show(sheet.beside(written=written), show_options)


def _check_stays(
    policy: ThresholdPolicy,
    path: Path,
    stays: StayColumns,
    state: Path | None,
    when: PeriodOptions,
) -> None:
    """Raise unless policy and options agree on whether alarms are over stays."""
    if policy.rule is not None and not stays.given:
        raise ValueError(
            f"{path} is for alarms over stays, by {policy.rule!r}; name their columns with --stay "
            "and --time"
        )
    if policy.rule is None and (stays.given or state is not None):
        option = "--stay" if stays.given else "--state"
        raise ValueError(f"{option} is for alarms over stays, and {path} is for cases")
    if policy.rule is None:
        when.check(policy.scenario)


def _read_policy(path: Path) -> ThresholdPolicy:
    try:
        return ThresholdPolicy.from_json(path)
    except ValueError as error:
        raise ValueError(f"{error}; a policy saved by voros select comes first") from None


@contextmanager
def _naming_the_policy(policy: ThresholdPolicy, path: Path, *, named: bool) -> Iterator[None]:
    """Say which policy named a column that is missing, unless the column was named by hand."""
    try:
        yield
    except NoSuchColumnError as error:
        if named:
            raise
        raise PredictionFileError(
            Message(
                f"{path} was made for the scores of {policy.model!r}, and ",
                *error.args,
                "; if those scores have another name here, give it with --score",
            )
        ) from None


def _sheet(
    verdict: AlarmVerdict,
    source: str,
    column: str,
    threshold: float,
    by_subgroup: SubgroupEvaluation | None,
) -> Sheet:
    values = {"file": source, "score": column, "threshold": threshold, "kept": verdict.kept}
    values |= asdict(verdict)
    if by_subgroup is None:
        return Sheet(title="", columns={}, rows=lambda: [values], document=lambda: values)
    rows = [result.values() for result in by_subgroup]
    return Sheet(
        title="",
        columns={},
        rows=lambda: rows,
        document=lambda: values | {"by_subgroup": subgroup_values(by_subgroup)},
    )


def _evaluated(
    policy: ThresholdPolicy,
    cases: Predictions,
    column: str,
    cost_ratio: float | None,
    periods: Periods | None,
    by: Subgroups | None,
) -> PolicyEvaluation | None:
    """Evaluate what was deployed; None without labels of what the policy's prevalence needs."""
    if cases.positive is None:
        return None
    both = bool(cases.positive.any() and not cases.positive.all())
    if by is None and not both and policy.scenario.prevalence is not None:
        return None
    scores = cases.scores_of(column)
    return policy.evaluate(cases.labels, scores, cost_ratio=cost_ratio, periods=periods, by=by)


def _policy_column(policy: ThresholdPolicy, path: Path) -> str:
    if policy.model is None:
        raise PredictionFileError(
            f"{path} does not say which scores it is for; name their column with --score"
        )
    return policy.model


@dataclass(frozen=True, kw_only=True)
class AlarmVerdict:
    """Alarms on new cases, against the capacity and, where labels are known, the floor.

    What needs labels is None where there are none, and what needs periods where the capacity is not
    one per period. With labels, everything but `cases` and
    `alarms` is what `ThresholdPolicy.evaluate` finds, at the prevalence that the policy names.
    """

    cases: int
    alarms: int
    max_alarms: float
    within_capacity: bool
    min_precision: float
    judged_alarms: float
    precision: float | None = None
    recall: float | None = None
    precise_enough: bool | None = None
    rule: str | None = None
    periods: int | None = None
    periods_above: int | None = None

    @classmethod
    def from_alarms(
        cls,
        scenario: Scenario,
        alarms: BoolArray,
        tested: PolicyEvaluation | None,
        periods: Periods | None,
    ) -> AlarmVerdict:
        """Judge what was deployed, by its evaluation where there is one."""
        n_cases, raised, floor = len(alarms), int(alarms.sum()), scenario.min_precision
        if tested is None:
            by_period = None if periods is None else _alarms_by_period(alarms, scenario, periods)
            most = scenario.max_alarms(
                n_cases, 0.0, None if by_period is None else by_period.n_periods
            )
            within = raised <= most if by_period is None else not bool(by_period.broken[0])
            return cls(
                cases=n_cases,
                alarms=raised,
                max_alarms=most,
                within_capacity=within,
                min_precision=floor,
                judged_alarms=raised,
                **_by_period(by_period),
            )
        broken = {violation.limit for violation in tested.violations}
        return cls(
            cases=n_cases,
            alarms=raised,
            max_alarms=tested.max_alarms,
            within_capacity="capacity" not in broken,
            min_precision=floor,
            judged_alarms=tested.mean_alarms,
            precision=_known(tested.mean_precision),
            recall=_known(tested.mean_recall),
            precise_enough="precision" not in broken if raised else None,
            **_by_period(tested.by_period),
        )

    @property
    def kept(self) -> bool:
        """Whether no limit is known to be broken."""
        return self.within_capacity and self.precise_enough is not False

    @property
    def _capacity_in_words(self) -> str:
        if self.rule is None or self.periods is None:
            return f"capacity {number(self.max_alarms)}"
        mean = number(self.judged_alarms / self.periods)
        return (
            f"{mean} in each of {self.periods:,} periods on average and more than the capacity in "
            f"{self.periods_above:,}, capacity {self.rule}"
        )

    @property
    def words(self) -> str:
        """The verdict in one line."""
        judged = (
            ""
            if math.isclose(self.judged_alarms, self.alarms)
            else f", {number(self.judged_alarms)} at the prevalence of the policy"
        )
        line = (
            f"{self.alarms:,} alarms in {self.cases:,} cases ({self.alarms / self.cases:.2%})"
            f"{judged}, {self._capacity_in_words}: "
            f"{'kept' if self.within_capacity else 'exceeded'}"
        )
        if self.precision is None:
            return line
        return (
            f"{line}; precision {self.precision:.4f}, floor {self.min_precision:g}: "
            f"{'kept' if self.precise_enough else 'broken'}; recall {number(self.recall or 0.0)}"
        )


def _alarms_by_period(alarms: BoolArray, scenario: Scenario, periods: Periods) -> PeriodEvaluation:
    # Which alarms are true does not matter to the capacity.
    cases = PeriodCases(
        periods=periods, positive=np.zeros(len(alarms), dtype=np.bool_), scores=alarms.astype(float)
    )
    return PeriodEvaluation.from_cases(cases, np.array([1.0]), scenario)


def _by_period(by_period: PeriodEvaluation | None) -> dict[str, Any]:
    if by_period is None:
        return {}
    rule = f"{by_period.scenario.capacity:,} {by_period.scenario.rule}"
    return {
        "rule": rule,
        "periods": by_period.n_periods,
        "periods_above": int(by_period.n_above[0]),
    }


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value
