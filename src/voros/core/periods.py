"""Periods of cases, and the thresholds at which a period exceeds its capacity."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from voros.core.alignment import check_aligned, index_of
from voros.core.arguments import check_type
from voros.core.arrays import as_vector, check_same_length
from voros.core.calendar import CALENDAR, Calendar
from voros.core.exact_limits import as_fraction
from voros.core.grouped_cases import group_codes, group_names
from voros.exceptions import ArgumentError
from voros.typing import AnyArray, BoolArray, FloatArray

if TYPE_CHECKING:
    from voros.core.scenario import Scenario

MOST_PERIODS = 10_000_000
"""Most periods between the first and last time; more are usually the result of a misread date."""

SUM_ROUNDING = 1e-12
"""Slack when sums of weights are compared with a capacity, relative to the sum of all."""


@dataclass(frozen=True, eq=False)
class Periods:
    """The period of each case, and all periods, including those without cases.

    Make one with `from_times` or `from_column`, as functions with ``times`` or ``periods`` do.

    Attributes
    ----------
    codes : ndarray of int, shape (n_cases,)
        The period of each case, from 0.
    names : ndarray of str, shape (n_periods,)
    unit : str or None
        The unit of the calendar; None for periods of a column.
    note : str
        How the periods were counted.
    index_of_cases : pandas.Index or None
        The index of the column of times or periods.

    Examples
    --------
    >>> stays = Periods.from_times(["2024-02-28", "2024-03-01", "2024-03-01"], "day")
    >>> stays.names.tolist(), stays.codes.tolist()
    (['2024-02-28', '2024-02-29', '2024-03-01'], [0, 2, 2])
    >>> stays.n_periods, stays.sizes.tolist()
    (3, [1, 0, 2])
    """

    codes: AnyArray
    names: AnyArray
    unit: str | None
    note: str
    index_of_cases: Any = field(default=None, repr=False)

    @property
    def n_periods(self) -> int:
        """Number of periods, including those without cases."""
        return len(self.names)

    @property
    def sizes(self) -> AnyArray:
        """Number of cases in each period."""
        return np.bincount(self.codes, minlength=self.n_periods)

    def of_cases(self, rows: AnyArray) -> Periods:
        """Return the periods of some cases, without the periods that contain none of them.

        Periods without cases are kept only if all cases are.
        """
        if len(np.unique(rows)) == len(self.codes):
            return Periods(self.codes[rows], self.names, self.unit, self.note)
        kept, codes = np.unique(self.codes[rows], return_inverse=True)
        return Periods(codes, self.names[kept], self.unit, self.note)

    @classmethod
    def from_column(cls, column: Any) -> Periods:
        """Take any grouping of the cases as periods; periods without cases are not counted.

        Returns
        -------
        Periods
        """
        names = as_vector(column, "periods")
        codes = group_codes(names, np.zeros(len(names), dtype=np.bool_), "periods")
        distinct = group_names(names, codes)
        note = f"{len(distinct):,} periods of a column; those without a case are not counted"
        return cls(codes, distinct, None, note, index_of(column))

    @classmethod
    def from_times(cls, times: Any, per: str, *, time_zone: str | None = None) -> Periods:
        """Count all periods of the calendar from the first case to the last.

        Parameters
        ----------
        times : array-like of shape (n_cases,)
            Datetimes of numpy, pandas, polars or Python, or ISO 8601 text.
        per : {"hour", "shift", "day", "week", "month", "year"}
            Weeks begin on Mondays, shifts at 07:00, 15:00 and 23:00 or at the times in `per`, as in
            "shift 06:00,18:00". A day or shift in which clocks change is one period. Hours of times
            with a time zone are those of UTC, in which no hour is missing or repeated.
        time_zone : str, optional
            The place of the clock, such as "Europe/Berlin", for times with a time zone. By default
            the clock is that of their own zone or offset.

        Returns
        -------
        Periods
        """
        calendar = Calendar.from_name(per)
        if calendar is None:
            accepted = ", ".join(map(repr, CALENDAR))
            raise ArgumentError(
                "per",
                f"={per!r} is not a calendar period, and times are counted by {accepted}; name "
                "the period of each case with periods",
            )
        # Imported lazily: periods of a column do not need it.
        from voros.core.clock import read_clock

        clock = read_clock(times, time_zone, elapsed=calendar.unit == "hour")
        if len(clock.times) == 0:
            raise ArgumentError("times", " hold no case; at least one is needed")
        numbers = calendar.numbers(clock.times)
        first, last = int(numbers.min()), int(numbers.max())
        if last - first >= MOST_PERIODS:
            raise ArgumentError(
                "times",
                f" reach from {clock.times.min()} to {clock.times.max()}, {last - first + 1:,} "
                f"periods of a {per}; accepted are at most {MOST_PERIODS:,}",
            )
        names = calendar.names(np.arange(first, last + 1))
        empty = int(np.count_nonzero(np.bincount(numbers - first) == 0))
        units = f"{len(names):,} {calendar.unit}{'s' if len(names) > 1 else ''}"
        note = (
            f"{units} from {names[0]} to {names[-1]}, {empty:,} of them without a case, by "
            f"{clock.words}"
        )
        within_days = calendar.unit in ("hour", "shift")
        if within_days and np.all(clock.times == clock.times.astype("datetime64[D]")):
            note += "; all times are midnight, as those of dates without an hour are"
        return cls(numbers - first, names, calendar.name, note, index_of(times))


def read_periods(
    scenario: Scenario, y_true: Any, periods: Any = None, times: Any = None
) -> Periods | None:
    """Read the period of each case for a capacity per period; refuse periods without one.

    Raises
    ------
    ArgumentError
        Names the missing or unused argument.
    """
    named = [name for name, value in (("periods", periods), ("times", times)) if value is not None]
    if scenario.per is not None and not scenario.per_period:
        raise ArgumentError("per", f"={scenario.per!r} {scenario.needed_for_periods}")
    if scenario.per is None:
        if named:
            raise ArgumentError(
                named[0],
                " needs a capacity per period, such as Scenario(capacity=20, per='day', ...): "
                "without it periods are not used",
            )
        return None
    if len(named) != 1:
        stated = "both" if named else "neither"
        raise ArgumentError(
            "per",
            f"={scenario.per!r} needs the period of each case, as times or as periods; {stated} "
            "is given",
        )
    check_aligned(y_true=y_true, periods=periods, times=times)
    if periods is None:
        in_periods = Periods.from_times(times, scenario.per)
    else:
        in_periods = periods if isinstance(periods, Periods) else Periods.from_column(periods)
    check_same_length(**{"y_true": as_vector(y_true, "y_true"), named[0]: in_periods.codes})
    return in_periods


@dataclass(frozen=True, eq=False, kw_only=True)
class PeriodCases:
    """Cases and their periods.

    Attributes
    ----------
    periods : Periods
    positive : ndarray of bool
    scores : ndarray of float
    weights : ndarray of float, or None
    drawn : ndarray of int, shape (n_periods,), or None
        How often a resample of whole periods contains each period; by default once.
    """

    periods: Periods
    positive: BoolArray
    scores: FloatArray
    weights: FloatArray | None = None
    drawn: AnyArray | None = None
    # Resamples share the breaking scores, which do not depend on how often a period is drawn.
    _breaking: dict[tuple[float, ...], FloatArray] = field(default_factory=dict, repr=False)

    @classmethod
    def from_cases(
        cls, periods: Any, positive: BoolArray, scores: AnyArray, weights: FloatArray | None = None
    ) -> PeriodCases:
        """Check the periods of cases that `check_cases` has passed."""
        accepted = "Periods.from_times(...) or Periods.from_column(...)"
        check_type(periods, "periods", Periods, accepted)
        check_same_length(y_true=positive, periods=periods.codes)
        scores = scores.astype(np.result_type(scores.dtype, np.float64))
        return cls(periods=periods, positive=positive, scores=scores, weights=weights)

    @property
    def n_periods(self) -> int:
        """Number of periods, each counted as often as it is drawn."""
        return self.periods.n_periods if self.drawn is None else int(self.drawn.sum())

    def in_blocks(self, length: int) -> PeriodCases:
        """Combine neighbouring periods into blocks, without the first ones that fill no block.

        Examples
        --------
        >>> days = Periods.from_column([1, 2, 3, 4, 5])
        >>> ill, risk = np.ones(5, dtype=bool), np.arange(5.0)
        >>> PeriodCases(periods=days, positive=ill, scores=risk).in_blocks(2).periods.codes
        array([0, 0, 1, 1])
        """
        periods = self.periods
        n_blocks, codes = periods.n_periods // length, periods.codes - periods.n_periods % length
        rows = codes >= 0
        blocks = Periods(
            codes[rows] // length,
            periods.names[::-1][::length][:n_blocks][::-1],
            None,
            periods.note,
        )
        weights = None if self.weights is None else self.weights[rows]
        return PeriodCases(
            periods=blocks, positive=self.positive[rows], scores=self.scores[rows], weights=weights
        )

    def correlation(self, threshold: float, block: int = 1) -> float:
        """Return the rank correlation of the alarms of neighbouring periods, or blocks of them.

        Examples
        --------
        >>> days, nobody = Periods.from_column([1, 2, 3, 3, 4, 4]), np.zeros(6, dtype=bool)
        >>> PeriodCases(periods=days, positive=nobody, scores=np.ones(6)).correlation(1.0)
        0.25
        """
        blocks = self.in_blocks(block)
        flagged = blocks.periods.codes[blocks.scores >= threshold]
        return neighbour_correlation(np.bincount(flagged, minlength=blocks.n_periods))

    def check_unit(self, scenario: Scenario) -> None:
        """Refuse periods of another unit than the scenario's."""
        unit = self.periods.unit
        if unit is not None and unit != scenario.per:
            raise ArgumentError(
                "periods", f" are counted by the {unit}; the capacity is one per {scenario.per}"
            )

    def breaking_scores(
        self, capacity: int, per_positive: float = 1.0, per_negative: float = 1.0
    ) -> FloatArray:
        """Return the highest score of each period at which its alarms exceed the capacity.

        A period exceeds the capacity at a threshold t exactly when ``t <= score``; the score is NaN
        where no threshold does that. ``per_positive`` and ``per_negative`` weight the classes.

        Examples
        --------
        >>> days = Periods.from_column(["mon", "mon", "mon", "tue"])
        >>> ill, risk = np.zeros(4, dtype=bool), np.array([0.3, 0.9, 0.5, 0.7])
        >>> cases = PeriodCases(periods=days, positive=ill, scores=risk)
        >>> cases.breaking_scores(1).tolist()
        [0.5, nan]
        """
        codes, sizes = self.periods.codes, self.periods.sizes
        order = np.lexsort((-self.scores, codes))
        starts = np.cumsum(sizes) - sizes
        within = np.full(len(sizes), capacity)
        if self.weights is not None or (per_positive, per_negative) != (1.0, 1.0):
            weights = np.where(self.positive, per_positive, per_negative)
            weights = weights if self.weights is None else weights * self.weights
            within = _within(weights[order], codes[order], starts, capacity)
        broken = np.flatnonzero(within < sizes)
        breaking = np.full(len(sizes), np.nan)
        breaking[broken] = self.scores[order][starts[broken] + within[broken]]
        return breaking

    def cut(
        self, scenario: Scenario, per_positive: float = 1.0, per_negative: float = 1.0
    ) -> float:
        """Return the highest threshold at which too many periods exceed the capacity.

        As the threshold falls, each breaking score adds a period above the capacity. NaN where no
        threshold has too many, or where only the mean over periods is limited.
        """
        self.check_unit(scenario)
        if scenario.exceed is None:
            return float("nan")
        how = int(scenario.capacity), per_positive, per_negative
        if how not in self._breaking:
            self._breaking[how] = self.breaking_scores(*how)
        scores = self._breaking[how]
        rows = np.argsort(-scores)[: np.count_nonzero(~np.isnan(scores))]
        drawn = np.ones(len(scores), dtype=np.intp) if self.drawn is None else self.drawn
        too_many = np.cumsum(drawn[rows]) > most_above(scenario, self.n_periods)
        return float(scores[rows[np.argmax(too_many)]]) if too_many.any() else float("nan")


def neighbour_correlation(alarms: AnyArray) -> float:
    """Return the rank correlation of each period's alarms with those of the next period.

    Examples
    --------
    >>> neighbour_correlation(np.array([1, 1, 2, 2]))
    0.25
    """
    _, place, ties = np.unique(alarms, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(ties) - ties / 2)[place]
    ranks -= ranks.mean()
    spread = float(ranks @ ranks)
    return float(ranks[1:] @ ranks[:-1]) / spread if spread > 0 else 0.0


def _within(weights: FloatArray, codes: AnyArray, starts: AnyArray, capacity: int) -> AnyArray:
    """Count the cases of each period, from its highest score down, within the capacity."""
    sums = np.cumsum(weights)
    before = np.append(0.0, sums)[starts]
    within = sums - before[codes] <= capacity + SUM_ROUNDING * sums[-1]
    return np.bincount(codes[within], minlength=len(starts))


def most_above(scenario: Scenario, n_periods: int) -> int:
    """Return how many of these periods may exceed the capacity.

    Examples
    --------
    >>> from voros import Scenario
    >>> most_above(Scenario(capacity=3, cost_ratio=0.1, per="day", exceed=0.15), 20)
    3
    """
    share = as_fraction(scenario.exceed or 0.0)
    return share.numerator * n_periods // share.denominator
