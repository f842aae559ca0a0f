"""The evaluation of a policy on new cases: expected cost, precision, alarms, with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from voros.core.exact_intervals import EvaluationIntervals, ThresholdCounts, binomial_limits
from voros.core.hull import Choice, choice_columns
from voros.core.money import MoneyCost, money_cost, money_of_values, refuse_price
from voros.io.frames import make_frame
from voros.policy.by_period import PeriodEvaluation
from voros.policy.by_subgroup import PER_1000, floors_of
from voros.policy.violations import CheckedEvaluation
from voros.text.numbers import (
    count,
    count_interval,
    count_within,
    interval,
    percent,
    positives_in_words,
    short,
)
from voros.text.table import Table
from voros.typing import FloatArray

if TYPE_CHECKING:
    from voros.policy.origin import PolicyValues


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PolicyEvaluation(CheckedEvaluation):
    """Measures of a policy on new cases, its thresholds fixed beforehand.

    Attributes
    ----------
    expected_cost : float
        Expected normalised cost over the cost distribution, in [0, 1]; lower is better. It depends
        on the class sizes of these cases.
    cost_per_1000 : float
        Expected cost of 1,000 such cases, where a miss costs 1 and a false alarm the cost ratio;
        with values, a miss costs its value and a false alarm the cost ratio times its cost.
    mean_precision : float
        Expected precision of the deployed threshold over the costs at which it raises an alarm;
        NaN where it never does.
    mean_recall : float
        Expected recall; NaN where no case is positive.
    mean_alarms : float
        Expected number of alarms on these cases.
    max_alarms : float
        The capacity as a number of alarms on these cases.
    choices : tuple of Choice
        The thresholds that are deployed at some possible cost, with their counts on these cases.
    probabilities : ndarray
        Probability of the costs at which each is deployed.
    violations : tuple of Violation
        One for each limit that some deployed threshold breaks. A capacity per period with
        ``exceed`` is two limits, on the mean and on the share of periods above.
    deployed : str
        Name of the thresholds, those of `ThresholdPolicy.predict` with the same arguments.
    scenario : Scenario
    guarantee : Guarantee or None
        The promise that the policy was made with.
    n_positive, n_negative : float
        Cases of each class, at the scenario's prevalence if it names one.
    confidence_level : float
        Of the intervals.
    counts : ThresholdCounts
        Counts as observed, from which the intervals are computed.
    by_period : PeriodEvaluation or None
        Alarms of each period, where the capacity is one per period.
    by_subgroup : SubgroupEvaluation or None
        The same measures in each subgroup, where ``by`` was given.
    validation_groups : int or None
        Number of groups of the validation cases, where some had several cases and no groups were
        given here.
    values : PolicyValues or None
        Sums of the values of these cases, where cases have values: costs are then sums of values.

    Examples
    --------
    >>> import voros
    >>> scenario = voros.Scenario(min_precision=0.6, capacity=0.5, cost_ratio=0.2)
    >>> policy = voros.ThresholdPolicy.from_validation([0, 1, 0, 1], [0.1, 0.9, 0.6, 0.7], scenario)
    >>> tested = policy.evaluate([0, 1, 0, 1, 0], [0.1, 0.9, 0.4, 0.7, 0.3])
    >>> tested.satisfied, tested.mean_precision, tested.mean_recall, tested.mean_alarms
    (True, 1.0, 1.0, 2.0)
    >>> tested.intervals.recall
    (0.1581, 1.0)
    """

    expected_cost: float
    cost_per_1000: float
    mean_precision: float
    mean_recall: float
    mean_alarms: float
    max_alarms: float
    choices: tuple[Choice, ...]
    probabilities: FloatArray
    deployed: str
    n_positive: float
    n_negative: float
    counts: ThresholdCounts
    by_period: PeriodEvaluation | None = None
    validation_groups: int | None = None
    values: PolicyValues | None = None

    @cached_property
    def intervals(self) -> EvaluationIntervals | None:
        """Intervals of the means in the population that the cases come from.

        They take groups as independent, or cases where no groups were given. None where cases are
        weighted.
        """
        return self.counts.intervals(self.confidence_level) if self.counts.whole else None

    def in_money(self, false_alarm_cost: float | None = None) -> MoneyCost:
        """Return the expected cost of 1,000 such cases in units of money, with its interval.

        Parameters
        ----------
        false_alarm_cost : float
            Cost of a false alarm; a miss then costs it divided by the cost ratio, on average over
            the cost distribution. Leave it out where cases have values, which state the cost of
            errors; there is no interval then (`voros.bootstrap` has one).

        Returns
        -------
        MoneyCost

        Raises
        ------
        ArgumentError
            If the mean price of a miss is infinite, as it is with ``uniform_t(0, 1)``.

        Examples
        --------
        >>> import voros
        >>> scenario = voros.Scenario(min_precision=0.5, capacity=0.5, cost_ratio=0.1)
        >>> y, scores = [0, 1, 0, 1, 1, 0] * 20, [0.1, 0.9, 0.8, 0.7, 0.3, 0.2] * 20
        >>> policy = voros.ThresholdPolicy.from_validation(y, scores, scenario)
        >>> round(policy.evaluate(y, scores).in_money(30).saved)  # 333 result, 167 false alarms
        95000
        """
        sizes, observed = (self.n_positive, self.n_negative), (self.counts, self.confidence_level)
        if self.values is not None:
            refuse_price(false_alarm_cost)
            of_values = self.values.miss_value, self.values.false_alarm_cost
            mean_ratio = float(self.counts.ratio_integral.sum())
            return money_of_values(self.cost_per_1000, *of_values, *sizes, mean_ratio)
        return money_cost(self.choices, self.scenario.costs, *sizes, false_alarm_cost, *observed)

    def frame(self, backend: str | None = None) -> Any:
        """Return a data frame with a row for each deployed threshold."""
        rows = choice_columns(self.choices)
        rows["probability"] = self.probabilities.tolist()
        for limit in self.scenario.limit_names:
            broken = {c for v in self.violations if v.limit == limit for c in v.where}
            rows[f"keeps_{limit}"] = [choice not in broken for choice in self.choices]
        return make_frame(rows, backend)

    def _parts(self) -> list[str | Table]:
        positive = positives_in_words(self.n_positive, self.scenario.prevalence)
        title = f"{self.deployed} on {count(self.n_positive + self.n_negative)} cases, {positive}"
        notes = []
        if self.values is not None:
            notes.append("costs add up the values of cases; voros.bootstrap has their intervals")
        if self.counts.whole:
            notes.append(self._independence)
        return self._in_words(title, self.table(), notes)

    @property
    def _independence(self) -> str:
        """What the intervals take as independent."""
        units, note, grouped = "cases", "", self.counts.grouped
        if grouped is not None:
            units = f"{grouped.n_groups:,} groups"
            if grouped.n_effective < grouped.n_groups:
                units += f", which count as {short(grouped.n_effective)} equal groups,"
        if self.validation_groups is not None:
            note = (
                f", although those of validation belonged to {self.validation_groups:,} groups; "
                "pass groups here too"
            )
        return f"intervals take {units} as independent{note}"

    def table(self, title: str = "") -> Table:
        """Return the means with intervals and limits."""
        intervals = self.intervals
        span = "" if intervals is None else f"{percent(intervals.confidence_level)} interval"
        scenario = self.scenario
        least = {name: f"at least {floor:g}" for name, floor in floors_of(scenario).items()}
        most = count_within(self.max_alarms, *(choice.alarms for choice in self.choices))
        per_1000 = PER_1000 if self.values is None else "cost of 1,000 cases, in values"
        rows = [
            ("expected cost", self.expected_cost, "cost", "", short),
            (per_1000, self.cost_per_1000, "cost_per_1000", "", short),
            ("precision", self.mean_precision, "precision", least.get("precision", ""), short),
            ("recall", self.mean_recall, "recall", least.get("recall", ""), short),
        ]
        if self.by_period is None:
            limit = f"at most {most}" if scenario.has_capacity else ""
            rows.append(("alarms", self.mean_alarms, "alarms", limit, count))
        cells = (
            (name, write(value), _ends(intervals, of), limit)
            for name, value, of, limit, write in rows
        )
        return Table.from_rows([("", "mean", span, "limit"), *cells, *self._period_rows()], title)

    def _period_rows(self) -> list[tuple[str, str, str, str]]:
        """Return rows of a capacity per period; the interval of the share above is exact."""
        by_period = self.by_period
        if by_period is None:
            return []
        capacity, per, exceed = self.scenario.capacity, self.scenario.per, self.scenario.exceed
        low, high = binomial_limits(by_period.n_above, by_period.n_periods, self.confidence_level)
        share = float(self.probabilities @ by_period.n_above) / by_period.n_periods
        mean, above = float(self.probabilities @ by_period.mean_alarms), f"share above {capacity:,}"
        limits = f"at most {capacity:,}", "" if exceed is None else f"at most {exceed:g}"
        span = interval(float(self.probabilities @ low), float(self.probabilities @ high))
        return [
            (f"alarms per {per}", count(mean, capacity), "", limits[0]),
            (above, short(share), span if self.counts.whole else "", limits[1]),
        ]


def _ends(intervals: EvaluationIntervals | None, name: str) -> str:
    if intervals is None:
        return ""
    low, high = getattr(intervals, name)
    if np.isnan(low):
        return ""
    return count_interval(low, high) if name == "alarms" else f"{short(low)} to {short(high)}"
