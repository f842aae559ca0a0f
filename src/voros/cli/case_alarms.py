"""``voros apply`` with a threshold policy or a worklist: alarms on cases, and a verdict."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from voros.cli.loading import load, periods_of
from voros.cli.options import InputOptions, OutputOptions, PeriodOptions, SubgroupOptions
from voros.cli.terminal import Sheet, deliver_cases, say, say_lines, show, show_progress
from voros.core.periods import PeriodCases, Periods
from voros.core.scenario import Scenario
from voros.io import Predictions, append_columns, open_source
from voros.io.source import Source
from voros.policy.by_period import PeriodEvaluation
from voros.policy.by_subgroup import SubgroupEvaluation
from voros.policy.policy_evaluation import PolicyEvaluation
from voros.policy.threshold_policy import ThresholdPolicy
from voros.policy.worklists import Worklist
from voros.present.report.content import subgroup_values
from voros.present.report.wording import exact, number
from voros.typing import BoolArray


@dataclass(frozen=True, eq=False, kw_only=True)
class CaseAlarms:
    """Cases of a file on which a policy with one score decides.

    Attributes
    ----------
    policy : ThresholdPolicy or Worklist
    columns : InputOptions
        With one column of scores.
    when : PeriodOptions
    subgroups : SubgroupOptions
        Subgroups to report on, where there are labels.
    cost_ratio : float or None
    """

    policy: ThresholdPolicy | Worklist
    columns: InputOptions
    when: PeriodOptions
    subgroups: SubgroupOptions
    cost_ratio: float | None

    def __post_init__(self) -> None:
        """Refuse what nothing would look at, before anything is read."""
        self.when.check(self.policy.scenario)
        if self.subgroups.by and not self.columns.label:
            raise ValueError("--by reports precision and recall; name the true labels with --label")
        if self.subgroups.by and isinstance(self.policy, Worklist):
            raise ValueError("--by is for threshold policies; a worklist is evaluated as a whole")

    def write(self, output: Path | None, show_options: OutputOptions) -> bool:
        """Write the cases with their alarms, and return whether no limit is broken."""
        source = open_source(self.columns.file, self.columns.file_format)
        cases = self._load(source)
        periods = periods_of(cases, self.policy.scenario, self.when)
        alarms = self._decide(cases, periods)
        if output is not None or not show_options.for_programs:
            with show_progress("writing the cases"):
                decided = append_columns(source, {"alarm": alarms.astype(np.int8)}, cases.kept)
                deliver_cases(decided, output, show_options)
        tested = self._evaluate(cases, periods)
        verdict = AlarmVerdict.from_alarms(self.policy.scenario, alarms, tested, periods)
        by_subgroup = None if tested is None else tested.by_subgroup
        self._announce(verdict, by_subgroup, cases.source, output, show_options)
        broken = by_subgroup is not None and bool(by_subgroup.with_floor("broken"))
        return verdict.kept and not broken

    @property
    def _column(self) -> str:
        assert self.columns.score is not None
        return self.columns.score[0]

    @property
    def _threshold(self) -> float:
        if isinstance(self.policy, Worklist):
            return self.policy.threshold
        return float(self.policy.threshold(self.cost_ratio))

    def _load(self, source: Source) -> Predictions:
        stated, columns = self.columns.pos_label, self.columns
        positive = self.policy.pos_label if stated is None else stated
        return load(
            replace(columns, pos_label=positive),
            source=source,
            when=self.when,
            by=self.subgroups.columns,
            labelled=bool(columns.label),
            both_classes=False,
        )

    def _decide(self, cases: Predictions, periods: Periods | None) -> BoolArray:
        scores = cases.scores_of(self._column)
        if isinstance(self.policy, Worklist):
            return self.policy.predict(scores, periods=periods)
        return self.policy.predict(scores, self.cost_ratio)

    def _evaluate(self, cases: Predictions, periods: Periods | None) -> PolicyEvaluation | None:
        """Evaluate what was deployed; None without labels of what the policy's prevalence needs."""
        if cases.positive is None:
            return None
        labels, scores, by = cases.labels, cases.scores_of(self._column), self.subgroups.read(cases)
        if isinstance(self.policy, Worklist):
            return self.policy.evaluate(labels, scores, periods=periods).worklist
        both = bool(cases.positive.any() and not cases.positive.all())
        if by is None and not both and self.policy.scenario.prevalence is not None:
            return None
        ratio = self.cost_ratio
        return self.policy.evaluate(labels, scores, cost_ratio=ratio, periods=periods, by=by)

    def _announce(
        self,
        verdict: AlarmVerdict,
        by_subgroup: SubgroupEvaluation | None,
        source: str,
        output: Path | None,
        show_options: OutputOptions,
    ) -> None:
        say(f"{self._column!r} at threshold {exact(self._threshold)}: {verdict.words}")
        if by_subgroup is not None and not show_options.for_programs:
            say_lines(repr(by_subgroup))
        if show_options.for_programs:
            written = None if output is None else str(output)
            sheet = _sheet(verdict, source, self._column, self._threshold, by_subgroup)
            show(sheet.beside(written=written), show_options)


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
        by_period = None if tested is None else tested.by_period
        if by_period is None and periods is not None:
            by_period = _alarms_by_period(alarms, scenario, periods)
        if tested is None or tested.by_period is not by_period:
            n_periods = None if by_period is None else by_period.n_periods
            most = scenario.max_alarms(n_cases, 0.0, n_periods)
            within = raised <= most if by_period is None else not bool(by_period.broken[0])
        else:
            most, within = tested.max_alarms, "capacity" not in _broken(tested)
        judged = {} if tested is None else _judged(tested, raised)
        return cls(
            cases=n_cases,
            alarms=raised,
            max_alarms=most,
            within_capacity=within,
            min_precision=floor,
            judged_alarms=raised if tested is None else tested.mean_alarms,
            **judged,
            **_by_period(by_period),
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


def _broken(tested: PolicyEvaluation) -> set[str]:
    return {violation.limit for violation in tested.violations}


def _judged(tested: PolicyEvaluation, raised: int) -> dict[str, Any]:
    """Return what only labels say."""
    return {
        "precision": _known(tested.mean_precision),
        "recall": _known(tested.mean_recall),
        "precise_enough": "precision" not in _broken(tested) if raised else None,
    }
