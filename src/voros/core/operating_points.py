"""Operating points of a classifier: its counts at every threshold, and the cases behind them.

Points are ordered by alarms. The first raises no alarm; without a recall floor it keeps every
limit.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from voros.core.alignment import check_aligned
from voros.core.cases import check_cases
from voros.core.counting import count_cases, sum_weights, with_never_alarm
from voros.core.coverage import EVERY_SCORE, SOME_THRESHOLDS, Coverage
from voros.core.grouped_cases import GroupedCases, group_codes
from voros.core.periods import PeriodCases, Periods
from voros.core.places import UncountedCases, on_device, read_elsewhere, refuse_on_device
from voros.core.scenario import Scenario, check_scenario
from voros.core.stated_points import counts_of_rates, read_counts
from voros.core.threshold_counts import ThresholdCounts
from voros.core.worth import VALUE_SUMS, CaseValues
from voros.text.numbers import count
from voros.typing import AnyArray, BoolArray, FloatArray

if TYPE_CHECKING:
    from voros.alarms.totals import StayTotals

COLUMNS = ("thresholds", "tp", "fp", "alarms")
"""Attributes with a row for every threshold."""


@dataclass(frozen=True, eq=False)
class OperatingPoints(ThresholdCounts):
    """Counts of true and false positives at every threshold of a classifier.

    Make one with `from_scores`, `from_points` or `from_counts`; `voros.engines.count_frame` counts
    rows of a file or a database.

    Attributes
    ----------
    thresholds : ndarray of shape (n_points,)
        An alarm is ``score >= threshold``; the first threshold, +inf, raises no alarm. NaN where
        thresholds are not known.
    tp, fp : ndarray of shape (n_points,)
        True and false positives; whole numbers unless cases carry weights.
    n_positive, n_negative : int or float
        Cases of each class, or the sum of their weights.
    grouped : GroupedCases or None
        The cases and their groups, where ``groups`` were given.
    by_period : PeriodCases or None
        The cases and their periods, where ``periods`` were given.
    alarms : ndarray of shape (n_points,)
        Sum of true and false positives.
    n_cases : int or float
        Number of cases, or the sum of their weights.
    whole : bool
        Whether no case is weighted.
    covers : Coverage
        Which thresholds these are: every distinct score, the points of a published curve, those
        that can be chosen within given limits, or the ends of ranges of scores, with bounds.
    cases : UncountedCases or None
        The cases, where the columns are counted on first use.
    stays : StayTotals or None
        The stays, where `voros.alarm_points` counted alarms over them; `StayRows` with their rows.
    capacity_alarms : ndarray of shape (n_points,) or None
        Alarms that count for the capacity, where they are more than `alarms`.
    worth : OperatingPoints or None
        The value of the true positives (`tp`) and the cost of the false positives (`fp`) at the
        same thresholds, where cases have values. Limits count cases, costs add up these values.

    Examples
    --------
    >>> import voros
    >>> points = OperatingPoints.from_scores([1, 0, 1, 0], [0.9, 0.8, 0.8, 0.1])
    >>> points.alarms.tolist(), points.tpr.tolist(), points.fpr.tolist()
    ([0, 1, 3, 4], [0.0, 0.5, 1.0, 1.0], [0.0, 0.0, 0.5, 1.0])
    >>> voros.evaluate(points, scenario=voros.Scenario(0.5, 0.75, cost_ratio=(0.1, 0.2))).score
    0.9571
    """

    holds_counts: ClassVar[bool] = True
    """Distinguishes counts from cases."""

    _: KW_ONLY
    grouped: GroupedCases | None = None
    by_period: PeriodCases | None = None
    covers: Coverage = EVERY_SCORE
    cases: UncountedCases | None = None
    stays: StayTotals | None = None
    worth: OperatingPoints | None = None

    @classmethod
    def from_scores(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        pos_label: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
        periods: Periods | None = None,
        miss_value: Any = None,
        false_alarm_cost: Any = None,
    ) -> OperatingPoints:
        """Count alarms at every distinct score.

        Arrays on a device (torch, CuPy) stay there: functions that decide in a scenario count
        only the thresholds that matter in it. Reading a column counts every distinct score and
        copies the counts to the host. Until then nothing may be written to the arrays.

        Parameters
        ----------
        y_true : array-like of shape (n_cases,)
            Labels; see ``pos_label``.
        y_score : array-like of shape (n_cases,)
            Higher means more likely positive. Infinities are allowed, NaN is not.
        pos_label : label, optional
            The positive class; needed unless the labels are bool, {0, 1} or {-1, 1}.
        sample_weight : array-like of shape (n_cases,), optional
            Number of cases that each row stands for.
        groups : array-like of shape (n_cases,), optional
            The patient of each case, where patients have several. The counts are the same; without
            groups, a `Guarantee` takes all cases as independent.
        periods : Periods, optional
            The period of each case, for a scenario with a capacity per period.
        miss_value, false_alarm_cost : array-like of shape (n_cases,) or number, optional
            The cost of missing each case, and of a false alarm on it; 1 where only the other is
            given. The cost ratio of a scenario multiplies the cost of false alarms.

        Returns
        -------
        OperatingPoints

        Examples
        --------
        >>> points = OperatingPoints.from_scores([1, 0, 1, 0], [0.9, 0.8, 0.8, 0.1])
        >>> points.thresholds.tolist(), points.tp.tolist(), points.fp.tolist()
        ([inf, 0.9, 0.8, 0.1], [0, 1, 2, 2], [0, 0, 1, 2])
        """
        if on_device(y_true, y_score, sample_weight):
            refuse_on_device(sample_weight=sample_weight, groups=groups, periods=periods)
            refuse_on_device(miss_value=miss_value, false_alarm_cost=false_alarm_cost)
            return cls.from_uncounted(read_elsewhere(y_true, y_score, pos_label))
        values = CaseValues.read(y_true, miss_value, false_alarm_cost, sample_weight)
        per_case = {"sample_weight": sample_weight, "groups": groups, "periods": periods}
        check_aligned(y_true=y_true, y_score=y_score, **per_case, miss_value=miss_value)
        checked = check_cases(y_true, y_score, pos_label, sample_weight)
        return cls.from_cases(*checked, groups=groups, periods=periods, values=values)

    @classmethod
    def from_cases(
        cls,
        positive: BoolArray,
        scores: AnyArray,
        weights: FloatArray | None = None,
        *,
        groups: Any = None,
        periods: Periods | None = None,
        values: CaseValues | None = None,
    ) -> OperatingPoints:
        """Return points of cases that `check_cases` has passed, counted as `from_scores` does."""
        if weights is not None and groups is not None:
            raise ValueError(
                "sample_weight and groups are mutually exclusive: groups are for a guarantee, and "
                "that needs cases of weight one"
            )
        worth = by_period = grouped = None
        if values is not None:
            per_case = values.of_class(positive) * (1.0 if weights is None else weights)
            worth = cls.with_never_alarm(*sum_weights(positive, scores, per_case, VALUE_SUMS))
        if periods is not None:
            by_period = PeriodCases.from_cases(periods, positive, scores, weights)
        if groups is not None:
            codes = group_codes(groups, positive)
            grouped = GroupedCases(positive, np.asarray(scores, dtype=np.float64), codes)
        points = cls.with_never_alarm(*count_cases(positive, scores, weights))
        return replace(points, worth=worth, by_period=by_period, grouped=grouped)

    @classmethod
    def from_uncounted(cls, cases: UncountedCases) -> OperatingPoints:
        """Return points of cases whose columns are counted on first use."""
        sizes = dict(zip(("n_positive", "n_negative", "one_case"), cases.totals, strict=True))
        n_cases, whole = sum(cases.totals[:2]), isinstance(cases.totals[0], int)
        points = object.__new__(cls)
        vars(points).update(sizes, n_cases=n_cases, whole=whole, cases=cases)
        return points

    # With __getattr__, type checkers would accept any name.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Count every threshold when a column is first used."""
            if name not in COLUMNS or vars(self).get("cases") is None:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            counted = self.with_never_alarm(*self.cases.every_threshold())
            vars(self).update({column: getattr(counted, column) for column in COLUMNS})
            return vars(self)[name]

    def __getstate__(self) -> dict[str, Any]:
        """Copy and pickle as points in memory."""
        return vars(self.in_memory())

    def in_memory(self) -> OperatingPoints:
        """Return the points with every threshold counted, in the memory of the host."""
        return self if self.cases is None else replace(self, cases=None)

    @property
    def on_device(self) -> bool:
        """Whether the cases lie on a device, where few thresholds should be counted."""
        return self.cases is not None and self.cases.place is not None

    @classmethod
    def with_never_alarm(
        cls,
        thresholds: AnyArray,
        tp: AnyArray,
        fp: AnyArray,
        n_positive: float,
        n_negative: float,
        one_case: float = 1.0,
        covers: Coverage = EVERY_SCORE,
    ) -> OperatingPoints:
        """Put the threshold +inf, no alarm, before the counts at falling thresholds.

        Returns
        -------
        OperatingPoints
        """
        columns = with_never_alarm(thresholds, tp, fp)
        return cls(*columns, n_positive, n_negative, one_case=one_case, covers=covers)

    @classmethod
    def from_points(
        cls,
        fpr: Any,
        tpr: Any,
        n_positive: float,
        n_negative: float,
        thresholds: Any = None,
        *,
        every_score: bool = False,
    ) -> OperatingPoints:
        """Take the points of a published ROC curve, with the sizes of its classes.

        Only these points are operating points: no threshold can be set on the line between two of
        them. The parameters are those of `from_counts`, with rates.

        Returns
        -------
        OperatingPoints

        Examples
        --------
        >>> curve = OperatingPoints.from_points([0.1, 0.3], [0.5, 0.8], 1000, 9000)
        >>> curve.alarms.tolist()
        [0.0, 1400.0, 3500.0]
        """
        tp, fp = counts_of_rates(fpr, tpr, n_positive, n_negative)
        return cls.from_counts(tp, fp, n_positive, n_negative, thresholds, every_score=every_score)

    @classmethod
    def from_counts(
        cls,
        tp: Any,
        fp: Any,
        n_positive: float,
        n_negative: float,
        thresholds: Any = None,
        *,
        every_score: bool = False,
    ) -> OperatingPoints:
        """Take counts of true and false positives, in any order; the threshold +inf is added.

        Parameters
        ----------
        tp, fp : array-like of shape (n_points,)
        n_positive, n_negative : number
            Cases of each class.
        thresholds : array-like of shape (n_points,), optional
            The lowest score of the alarms at each point; a policy needs them.
        every_score : bool, default False
            Whether every distinct score of the cases is among the points. A guarantee needs this:
            its proof does not hold for thresholds that were picked by their results.

        Returns
        -------
        OperatingPoints

        Examples
        --------
        >>> OperatingPoints.from_counts([8, 5], [30, 10], 10, 90).precision.round(3).tolist()
        [nan, 0.333, 0.211]
        """
        stated = read_counts(tp, fp, n_positive, n_negative, thresholds, every_score)
        return cls.with_never_alarm(*stated)

    def __len__(self) -> int:
        """Return the number of thresholds, including the one without alarms."""
        return len(self.thresholds)

    def at_prevalence(self, prevalence: float | None) -> OperatingPoints:
        """Reweight the classes to another prevalence, keeping the number of cases.

        Returns
        -------
        OperatingPoints

        Examples
        --------
        >>> points = OperatingPoints.from_counts([8], [10], n_positive=10, n_negative=90)
        >>> rare = points.at_prevalence(0.05)
        >>> rare.n_positive, rare.n_negative, rare.tp.tolist()
        (5.0, 95.0, [0.0, 4.0])
        """
        if prevalence is None:
            return self
        if self.stays is not None:
            return self.stays.at_prevalence(prevalence).points()
        weighted = reweighted(self, prevalence)
        # Points of a traced curve need not be nested: their order by alarms may change.
        rows = np.lexsort((weighted.tp, weighted.alarms))
        return weighted.take(rows, covers=weighted.covers)

    def take(self, rows: AnyArray, covers: Coverage = SOME_THRESHOLDS) -> OperatingPoints:
        """Return some of the points, without the cases."""
        return OperatingPoints(
            *(self.thresholds[rows], self.tp[rows], self.fp[rows]),
            *(self.n_positive, self.n_negative),
            one_case=self.one_case,
            covers=covers,
            capacity_alarms=None if self.capacity_alarms is None else self.capacity_alarms[rows],
            worth=None if self.worth is None else self.worth.take(rows),
        )

    @property
    def costed(self) -> OperatingPoints:
        """The points that costs are computed from: sums of values, or without values the counts."""
        return self if self.worth is None else self.worth

    def max_alarms(self, scenario: Scenario) -> float:
        """Return the capacity of a scenario as a number of these cases."""
        if self.stays is not None:
            return self.stays.max_alarms(scenario, self.n_cases)
        n_periods = None if self.by_period is None else self.by_period.n_periods
        return scenario.max_alarms(self.n_cases, self.one_case, n_periods)

    def feasible(self, scenario: Scenario) -> BoolArray:
        """Mark the thresholds that meet the limits of a scenario, at these points' prevalence.

        Returns
        -------
        ndarray of bool
        """
        within = self.within_limits(check_scenario(scenario), self.max_alarms(scenario))
        if self.by_period is not None and scenario.per_period:
            within &= ~(self.thresholds <= self.by_period.cut(scenario))
        return within

    def __repr__(self) -> str:
        """Summarise the curve, without counting cases on a device."""
        place = None if self.cases is None else self.cases.place
        held = f"{len(self):,} thresholds" if place is None else f"thresholds on {place}"
        if self.stays is not None:
            return f"OperatingPoints({held} of {self.stays.words})"
        return (
            f"OperatingPoints({held}, n_positive={count(self.n_positive)}, "
            f"n_negative={count(self.n_negative)})"
        )


def reweighted(points: OperatingPoints, prevalence: float) -> OperatingPoints:
    """Reweight the classes as `OperatingPoints.at_prevalence` does, with points in their order."""
    n_positive = prevalence * points.n_cases
    return _resized(points, n_positive, points.n_cases - n_positive)


def _resized(points: OperatingPoints, n_positive: float, n_negative: float) -> OperatingPoints:
    """Return points of the same rates in classes of other sizes."""
    per_positive, per_negative = n_positive / points.n_positive, n_negative / points.n_negative
    worth = points.worth
    if worth is not None:
        worth = _resized(worth, worth.n_positive * per_positive, worth.n_negative * per_negative)
    return OperatingPoints(
        points.thresholds,
        # Computed from the rates, so that rates of 1 stay exactly 1.
        points.tpr * n_positive,
        points.fpr * n_negative,
        n_positive,
        n_negative,
        one_case=points.one_case * min(per_positive, per_negative),
        # Points for one scenario were counted at the prevalence of the cases.
        covers=points.covers if points.covers.whole_curve else SOME_THRESHOLDS,
        worth=worth,
    )
