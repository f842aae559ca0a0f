"""Counts of true and false positives at every threshold, and which of them limits admit.

Everything is decided on counts, never on rounded rates. Points are ordered by alarms, and the
first is always *never alarm*, which breaks no promise and so is always feasible.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from importlib import import_module
from numbers import Integral
from typing import Any, ClassVar, Literal, Self

import numpy as np

from voros.core.alignment import check_aligned
from voros.core.arrays import (
    LARGEST_COUNT,
    WEIGHT_SUMS,
    AnyArray,
    BoolArray,
    FloatArray,
    as_floats,
    as_vector,
    check_cases,
    check_class_sizes,
    check_same_length,
    check_scores,
    check_type,
)
from voros.core.grouped_cases import GroupedCases, group_codes
from voros.core.periods import PeriodCases, Periods
from voros.core.scenario import Scenario, as_fraction, check_scenario
from voros.devices.libraries import blocks_of, on_device, refuse_on_device

SUMMED_AT_ONCE = 2**16
"""Weights added up at once."""

WEIGHT_ROUNDING = 1e-12
"""Relative slack when limits are compared with sums of weights, which carry rounding; whole
counts are compared exactly."""


LARGEST_PRODUCT = 2.0**62
"""Beyond it counts are compared as Python's unbounded integers."""

SAME_TOTAL = 1e-9
"""Relative difference of class sizes that sums of weights in another order may have."""


@dataclass(frozen=True, eq=False)
class OperatingPoints:
    """Counts of true and false positives at every threshold of a classifier.

    Make one with `from_scores`, `from_points` or `from_counts`; `voros.engines.count_frame` counts
    where the rows lie.

    Attributes
    ----------
    thresholds : ndarray of shape (n_points,)
        An alarm is ``score >= threshold``; the first, +inf, is never alarm. NaN where the source
        did not say.
    tp, fp : ndarray of shape (n_points,)
        True and false positives; whole numbers unless cases carry weights.
    n_positive, n_negative : int or float
        Cases of each class, or the sum of their weights.
    grouped : GroupedCases or None
        The cases and whose they are, where that was said.
    by_period : PeriodCases or None
        The cases and their periods, where those were given.
    alarms : ndarray of shape (n_points,)
        True and false positives together.
    n_cases : int or float
        All cases, or the sum of their weights.
    whole : bool
        Whether cases are counted, and not weighted.
    complete : bool
        Whether no threshold is left out: false only where ranges of scores were counted.

    Examples
    --------
    >>> import voros
    >>> points = OperatingPoints.from_scores([1, 0, 1, 0], [0.9, 0.8, 0.8, 0.1])
    >>> points.alarms.tolist(), points.tpr.tolist(), points.fpr.tolist()
    ([0, 1, 3, 4], [0.0, 0.5, 1.0, 1.0], [0.0, 0.0, 0.5, 1.0])
    >>> voros.evaluate_points(points, voros.Scenario(0.5, 0.75, cost_ratio=(0.1, 0.2))).score
    0.9571
    """

    holds_counts: ClassVar[bool] = True
    """What keeps counts apart from cases, where those are needed."""

    counted: ClassVar[bool] = True
    """Whether the columns are there; `DevicePoints` count them when asked."""

    thresholds: FloatArray
    tp: AnyArray
    fp: AnyArray
    n_positive: float
    n_negative: float
    one_case: float = 1.0
    grouped: GroupedCases | None = None
    by_period: PeriodCases | None = None
    alarms: AnyArray = field(init=False)
    n_cases: float = field(init=False)
    whole: bool = field(init=False)
    complete: bool = field(init=False, default=True)

    def __post_init__(self) -> None:
        """Derive once what every limit is compared with."""
        object.__setattr__(self, "alarms", np.asarray(self.tp + self.fp))
        object.__setattr__(self, "n_cases", self.n_positive + self.n_negative)
        object.__setattr__(self, "whole", is_whole(self.tp))

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
    ) -> OperatingPoints:
        """Count alarms at every distinct score.

        Arrays on a device (torch, CuPy, JAX) stay there: functions that decide in a scenario count
        the few thresholds that matter in it, and every distinct score is counted and brought to the
        host when its columns are asked for. Until then nothing may be written to the arrays. With
        weights every distinct score is counted at once.

        Parameters
        ----------
        y_true : array-like of shape (n_cases,)
            Labels; see ``pos_label``.
        y_score : array-like of shape (n_cases,)
            Higher means more likely positive. Infinities are allowed, NaN is not.
        pos_label : label, optional
            The positive class; needed unless the labels are bool, {0, 1} or {-1, 1}.
        sample_weight : array-like of shape (n_cases,), optional
            How many cases each row stands for.
        groups : array-like of shape (n_cases,), optional
            Whose case it is, where one patient has several. The counts are the same; a `Guarantee`
            takes all cases as independent without them.
        periods : Periods, optional
            The period of each case, for a scenario whose capacity is one per period.

        Examples
        --------
        >>> points = OperatingPoints.from_scores([1, 0, 1, 0], [0.9, 0.8, 0.8, 0.1])
        >>> points.thresholds.tolist(), points.tp.tolist(), points.fp.tolist()
        ([inf, 0.9, 0.8, 0.1], [0, 1, 2, 2], [0, 0, 1, 2])
        """
        if on_device(y_true, y_score, sample_weight):
            refuse_on_device(groups=groups, periods=periods)
            # Asked for by name, because its points are a kind of these.
            curves: Any = import_module("voros.core.device_curve")
            found: OperatingPoints = curves.read_curve(y_true, y_score, pos_label, sample_weight)
            return found
        per_case = {"sample_weight": sample_weight, "groups": groups, "periods": periods}
        check_aligned(y_true=y_true, y_score=y_score, **per_case)
        checked = check_cases(y_true, y_score, pos_label, sample_weight)
        return cls.from_cases(*checked, groups=groups, periods=periods)

    @classmethod
    def from_cases(
        cls,
        positive: BoolArray,
        scores: AnyArray,
        weights: FloatArray | None = None,
        *,
        groups: Any = None,
        periods: Periods | None = None,
    ) -> OperatingPoints:
        """Count cases that `check_cases` has passed, as `from_scores` does."""
        if weights is None:
            points = count_cases(positive, scores)
        elif groups is None:
            points = sum_weights(positive, scores, weights)
        else:
            raise ValueError(
                "sample_weight and groups exclude one another: groups are for a guarantee, and "
                "that needs cases of weight one"
            )
        if periods is not None:
            accepted = "Periods.from_times(...) or Periods.from_column(...)"
            check_type(periods, "periods", Periods, accepted)
            check_same_length(y_true=positive, periods=periods.codes)
            finest = np.result_type(scores.dtype, np.float64)
            by_period = PeriodCases(periods, positive, scores.astype(finest), weights)
            points = replace(points, by_period=by_period)
        if groups is None:
            return points
        codes = group_codes(groups, positive)
        cases = GroupedCases(positive, np.asarray(scores, dtype=np.float64), codes)
        return replace(points, grouped=cases)

    @classmethod
    def below(
        cls,
        thresholds: AnyArray,
        tp: AnyArray,
        fp: AnyArray,
        n_positive: float,
        n_negative: float,
        one_case: float = 1.0,
        **more: Any,
    ) -> Self:
        """Put never alarm before the counts at falling thresholds."""
        finest = np.result_type(thresholds.dtype, np.float64)
        # -0.0 equals 0.0, and which of them a sort or an engine leaves first is chance.
        levels = _settable(thresholds) + 0.0
        columns = _led(np.inf, levels, finest), _led(0, tp), _led(0, fp)
        return cls(*columns, n_positive, n_negative, one_case, **more)

    @classmethod
    def from_points(
        cls,
        fpr: Any,
        tpr: Any,
        n_positive: float,
        n_negative: float,
        thresholds: Any = None,
    ) -> OperatingPoints:
        """Take the points of a published ROC curve, with the sizes of its classes.

        Only the points given are operating points: a line drawn between two of them is not a
        threshold anybody can set.

        Examples
        --------
        >>> curve = OperatingPoints.from_points([0.1, 0.3], [0.5, 0.8], 1000, 9000)
        >>> curve.alarms.tolist()
        [0.0, 1400.0, 3500.0]
        """
        rates = {"fpr": _as_counts(fpr, "fpr"), "tpr": _as_counts(tpr, "tpr")}
        check_same_length(**rates)
        check_class_sizes(n_positive, n_negative)
        for name, rate in rates.items():
            if not np.all((rate >= 0) & (rate <= 1)):
                raise ValueError(f"{name} must lie within [0, 1]; it spans {_span(rate)}")
        return cls.from_counts(
            rates["tpr"] * float(n_positive),
            rates["fpr"] * float(n_negative),
            n_positive,
            n_negative,
            thresholds,
        )

    @classmethod
    def from_counts(
        cls, tp: Any, fp: Any, n_positive: float, n_negative: float, thresholds: Any = None
    ) -> OperatingPoints:
        """Take counts of true and false positives, in any order; never alarm is added.

        Examples
        --------
        >>> OperatingPoints.from_counts([8, 5], [30, 10], 10, 90).precision.round(3).tolist()
        [nan, 0.333, 0.211]
        """
        right, false = _as_counts(tp, "tp"), _as_counts(fp, "fp")
        given = np.full(len(right), np.nan)
        if thresholds is not None:
            given = as_floats(as_vector(thresholds, "thresholds"), "thresholds")
        check_same_length(tp=right, fp=false, thresholds=given)
        check_class_sizes(n_positive, n_negative)
        n_positive, n_negative = _plain(n_positive), _plain(n_negative)
        for name, count, most in (("tp", right, n_positive), ("fp", false, n_negative)):
            if not np.all((count >= 0) & (count <= most)):
                size = "n_positive" if name == "tp" else "n_negative"
                raise ValueError(
                    f"{name} must lie within [0, {most:g}], {size}; it spans {_span(count)}"
                )
        order = np.lexsort((right, right + false))
        order = order[(right + false)[order] > 0]
        return cls.below(given[order], right[order], false[order], n_positive, n_negative)

    @property
    def fpr(self) -> FloatArray:
        """False positives as a share of the negatives."""
        return np.asarray(self.fp / self.n_negative)

    @property
    def tpr(self) -> FloatArray:
        """True positives as a share of the positives: recall."""
        return np.asarray(self.tp / self.n_positive)

    @property
    def precision(self) -> FloatArray:
        """Share of the alarms that are true positives; NaN where there are none."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.tp / self.alarms)

    @property
    def prevalence(self) -> float:
        """Share of the cases that are positive."""
        return float(self.n_positive / self.n_cases)

    @property
    def negatives_per_positive(self) -> float:
        """N / P."""
        return float(self.n_negative / self.n_positive)

    def in_memory(self) -> OperatingPoints:
        """Return points whose columns are all in memory; see `DevicePoints`."""
        return self

    def check_settles(self, scenario: Scenario) -> None:
        """Raise where these points leave the score in a scenario open; see `CertifiedPoints`."""

    def check_thresholds(self, thresholds: FloatArray) -> None:
        """Raise where the alarms at some threshold are not known; see `CertifiedPoints`."""

    def __len__(self) -> int:
        """Return the number of thresholds, never alarm included."""
        return len(self.thresholds)

    def at_prevalence(self, prevalence: float | None) -> OperatingPoints:
        """Reweight the classes to another prevalence, keeping the number of cases.

        Examples
        --------
        >>> points = OperatingPoints.from_counts([8], [10], n_positive=10, n_negative=90)
        >>> rare = points.at_prevalence(0.05)
        >>> rare.n_positive, rare.n_negative, rare.tp.tolist()
        (5.0, 95.0, [0.0, 4.0])
        """
        if prevalence is None:
            return self
        points = self.reweighted(prevalence)
        # Points of a traced curve need not be nested: their order by alarms may change.
        return points.take(np.lexsort((points.tp, points.alarms)))

    def reweighted(self, prevalence: float) -> OperatingPoints:
        """Reweight the classes as `at_prevalence` does, and keep the order of the points."""
        n_positive = prevalence * self.n_cases
        n_negative = self.n_cases - n_positive
        lightest = min(n_positive / self.n_positive, n_negative / self.n_negative)
        return OperatingPoints(
            self.thresholds,
            # By the rates: those of 1 stay 1, whatever is rounded.
            self.tpr * n_positive,
            self.fpr * n_negative,
            n_positive,
            n_negative,
            self.one_case * lightest,
        )

    def take(self, rows: AnyArray) -> OperatingPoints:
        """Return some of the points, as counts alone: without the cases behind them."""
        sizes = self.n_positive, self.n_negative, self.one_case
        return OperatingPoints(self.thresholds[rows], self.tp[rows], self.fp[rows], *sizes)

    def precise_enough(self, min_precision: float | Fraction) -> BoolArray:
        """Mark the thresholds that keep a precision floor: TP >= alpha (TP + FP)."""
        if min_precision == 0:
            return np.ones(len(self), dtype=np.bool_)
        floor = min_precision if isinstance(min_precision, Fraction) else as_fraction(min_precision)
        tp, alarms = self.tp, self.alarms
        if not self.whole:
            needed = alarms * floor.numerator * (1.0 - WEIGHT_ROUNDING)
            return np.asarray(tp * floor.denominator >= needed)
        if float(alarms.max()) * floor.denominator >= LARGEST_PRODUCT:
            tp, alarms = tp.astype(object), alarms.astype(object)
        return np.asarray(tp * floor.denominator >= alarms * floor.numerator, dtype=np.bool_)

    def within_capacity(self, max_alarms: float) -> BoolArray:
        """Mark the thresholds that raise at most ``max_alarms``."""
        slack = 0.0 if self.whole else WEIGHT_ROUNDING * max_alarms
        return np.asarray(self.alarms <= max_alarms + slack)

    def max_alarms(self, scenario: Scenario) -> float:
        """Return the capacity of a scenario as a number of these cases."""
        n_periods = None if self.by_period is None else self.by_period.n_periods
        return scenario.max_alarms(self.n_cases, self.one_case, n_periods)

    def feasible(self, scenario: Scenario) -> BoolArray:
        """Mark the thresholds that meet both limits of a scenario, at these points' prevalence."""
        within = self.within_limits(
            check_scenario(scenario).min_precision, self.max_alarms(scenario)
        )
        if self.by_period is not None and scenario.per is not None:
            within &= ~(self.thresholds <= self.by_period.cut(scenario))
        return within

    def within_limits(self, min_precision: float | Fraction, max_alarms: float) -> BoolArray:
        """Mark the thresholds that keep a precision floor and raise at most ``max_alarms``."""
        return np.asarray(self.within_capacity(max_alarms) & self.precise_enough(min_precision))

    def columns(self) -> dict[str, AnyArray]:
        """Return the points column by column, as any data-frame library takes them."""
        names = ("tp", "fp", "fpr", "tpr", "precision", "alarms")
        return {"threshold": self.thresholds} | {name: getattr(self, name) for name in names}

    def __repr__(self) -> str:
        """Summarise the curve."""
        return (
            f"OperatingPoints({len(self):,} thresholds, n_positive={self.n_positive:g}, "
            f"n_negative={self.n_negative:g})"
        )


def order_by_score(
    scores: AnyArray, kind: Literal["quicksort", "stable"] = "stable"
) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Order cases by falling score.

    Returns
    -------
    order : ndarray of int
    ranked : ndarray
        The scores in that order.
    last : ndarray of int
        Where the last case of each distinct score stands.
    """
    order = np.argsort(scores, kind=kind)[::-1]
    ranked = scores[order]
    return order, ranked, np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True))


def count_cases(positive: BoolArray, scores: AnyArray) -> OperatingPoints:
    """Count alarms at every distinct score."""
    order, ranked, last = order_by_score(scores, "quicksort")
    tp = np.cumsum(positive[order])[last]
    n_positive = int(tp[-1])
    sizes = n_positive, len(scores) - n_positive
    return OperatingPoints.below(ranked[last], tp, last + 1 - tp, *sizes)


def sum_weights(positive: BoolArray, scores: AnyArray, weights: FloatArray) -> OperatingPoints:
    """Add up the weights of the alarms at every distinct score."""
    order, ranked, last = order_by_score(scores)
    n_positive, n_negative = weight_sums(positive, weights)
    return OperatingPoints.below(
        ranked[last],
        _running_sums(positive[order], weights[order], n_positive)[last],
        _running_sums(~positive[order], weights[order], n_negative)[last],
        n_positive,
        n_negative,
        float(weights.min()),
    )


def _led(first: float, rest: AnyArray, dtype: Any = None) -> AnyArray:
    # A third of the time that `append` takes, which shows where cases are few.
    column = np.empty(len(rest) + 1, dtype or rest.dtype)
    column[0], column[1:] = first, rest
    return column


def _settable(thresholds: AnyArray) -> AnyArray:
    """Return thresholds, NaN where neighbouring whole numbers are equal as floats."""
    if thresholds.dtype.kind not in "iu" or not len(thresholds):
        return thresholds
    if max(abs(float(thresholds[0])), abs(float(thresholds[-1]))) < LARGEST_COUNT:
        return thresholds
    return np.where(np.abs(thresholds.astype(np.float64)) < LARGEST_COUNT, thresholds, np.nan)


def weight_sums(positive: BoolArray, weights: FloatArray) -> tuple[float, float]:
    """Add up the weights of each class; sums that leave the range of a float are refused."""
    with np.errstate(over="ignore"):
        n_positive, n_negative = sum_where(positive, weights), sum_where(~positive, weights)
    check_class_sizes(n_positive, n_negative, *WEIGHT_SUMS)
    return n_positive, n_negative


def sum_where(marks: BoolArray, weights: FloatArray) -> float:
    """Add up the marked weights, by blocks that stay in a fast cache and are not gathered."""
    blocks = blocks_of(len(marks), SUMMED_AT_ONCE)
    return sum(float(np.where(marks[block], weights[block], 0.0).sum()) for block in blocks)


def _running_sums(counted: BoolArray, weights: FloatArray, total: float) -> FloatArray:
    """Sum weights down a ranking; whoever comes last, all of them together make the total.

    Models rank the same cases in different orders, and sums in different orders round differently.
    """
    sums = np.minimum(np.cumsum(np.where(counted, weights, 0.0)), total)
    sums[np.flatnonzero(counted)[-1] :] = total
    return np.asarray(sums)


def adds_recall(tp: AnyArray) -> BoolArray:
    """Mark the thresholds, by rising alarms, that catch more than every one before them.

    Whatever limits another threshold meets, one of these meets too, at no higher cost.

    Examples
    --------
    >>> adds_recall(np.array([0, 3, 3, 2, 5])).tolist()
    [True, True, False, False, True]
    """
    marks = np.ones(len(tp), dtype=np.bool_)
    np.greater(tp[1:], np.maximum.accumulate(tp)[:-1], out=marks[1:])
    return marks


def is_whole(counts: AnyArray) -> bool:
    """Whether counts are whole numbers, which are compared exactly."""
    return counts.dtype.kind in "iu"


def _as_counts(values: Any, name: str) -> AnyArray:
    """Read numbers of cases; small integer types would overflow in sums."""
    counts = check_scores(values, name=name)
    return counts.astype(np.int64 if is_whole(counts) else np.float64)


def _plain(size: float) -> int | float:
    # numpy's numbers compare and print as Python's own do.
    return int(size) if isinstance(size, Integral) else float(size)


def _span(values: AnyArray) -> str:
    return f"[{values.min():g}, {values.max():g}]"


def check_same_cases(points_by_model: Mapping[str, OperatingPoints], remedy: str) -> None:
    """Refuse models whose classes differ in size: they were not counted on the same cases."""
    (first, expected), *rest = points_by_model.items()
    for name, found in rest:
        sizes = [(each.n_positive, each.n_negative) for each in (expected, found)]
        if not np.allclose(sizes[0], sizes[1], rtol=SAME_TOTAL, atol=0.0):
            said = " against ".join(f"{p:g} positive and {n:g} negative" for p, n in sizes)
            raise ValueError(
                f"models {first!r} and {name!r} were counted on different cases: {said}; {remedy}"
            )


def check_points(points: object, name: str = "points") -> OperatingPoints:
    """Return operating points, and refuse anything else by name."""
    example = "OperatingPoints.from_scores(y_true, y_score)"
    return check_type(points, name, OperatingPoints, f"a voros.OperatingPoints, such as {example}")


def check_points_by_model(points_by_model: object) -> dict[str, OperatingPoints]:
    """Return operating points by the name of the model, and refuse anything else."""
    accepted = "a mapping from model to voros.OperatingPoints"
    given: Any = check_type(points_by_model, "points_by_model", Mapping, accepted)  # type: ignore[type-abstract]
    return {
        str(name): check_points(each, f"points_by_model[{name!r}]") for name, each in given.items()
    }
