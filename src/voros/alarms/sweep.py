"""Alarms and caught events at every threshold.

A stay behaves differently only at thresholds that are scores of its own rows. For each of these
thresholds the alarms of the stay are followed from one to the next, for all stays and thresholds
at once: the next row that reaches a threshold is found by halving steps over running maxima.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from voros.alarms.stays import NO_EVENT, CountedRows
from voros.typing import AnyArray, BoolArray, FloatArray

ROWS_AT_ONCE = 2**17
"""Rows whose running maxima are kept at once; a longer stay is kept whole."""


class AlarmCounts(NamedTuple):
    """Counts of alarms, one for each threshold or for each stay.

    Attributes
    ----------
    tp : ndarray of int
        Events caught, by the first alarm that catches each.
    fp : ndarray of int
        False alarms.
    alarms : ndarray of int
        Alarms that count for the capacity.
    """

    tp: AnyArray
    fp: AnyArray
    alarms: AnyArray


class StayCurve(NamedTuple):
    """Alarms of all stays at each threshold.

    Attributes
    ----------
    thresholds : ndarray
        Distinct scores, falling.
    with_event, without_event : AlarmCounts
        Of the stays that have an event, and of those that have none.
    """

    thresholds: FloatArray
    with_event: AlarmCounts
    without_event: AlarmCounts

    @classmethod
    def from_steps(cls, thresholds: FloatArray, steps: Iterable[AnyArray]) -> StayCurve:
        """Add up the changes of the six counts at thresholds, which fall and may repeat."""
        ends = np.flatnonzero(np.diff(thresholds, append=-np.inf))
        sums = [np.cumsum(column)[ends] for column in steps]
        return cls(thresholds[ends], AlarmCounts(*sums[:3]), AlarmCounts(*sums[3:]))

    @classmethod
    def added_up(cls, curves: list[StayCurve]) -> StayCurve:
        """Add up the curves of different stays.

        Examples
        --------
        >>> three = np.array([[1, 2]] * 3)
        >>> one = StayCurve(np.array([0.9, 0.5]), AlarmCounts(*three), AlarmCounts(*three))
        >>> other = StayCurve(np.array([0.7, 0.5]), AlarmCounts(*three), AlarmCounts(*three))
        >>> both = StayCurve.added_up([one, other])
        >>> both.thresholds.tolist(), both.with_event.tp.tolist()
        ([0.9, 0.7, 0.5], [1, 2, 4])
        """
        thresholds = np.concatenate([curve.thresholds for curve in curves])
        order = np.argsort(-thresholds, kind="stable")
        counts = zip(*([*curve.with_event, *curve.without_event] for curve in curves), strict=True)
        steps = (
            np.concatenate([np.diff(part, prepend=0) for part in parts])[order] for parts in counts
        )
        return cls.from_steps(thresholds[order], steps)


@dataclass(frozen=True, eq=False)
class StayChanges:
    """What each stay adds to the counts at each of its own thresholds, by falling threshold.

    Attributes
    ----------
    stay, threshold : ndarray
    added : ndarray of int, shape (3, n_changes)
        True positives, false positives and alarms that count.
    has_event : ndarray of bool, shape (n_stays,)
    """

    stay: AnyArray
    threshold: FloatArray
    added: AnyArray
    has_event: BoolArray

    @classmethod
    def from_rows(
        cls, scored: ScoredRows, counted: BoolArray | None = None, lowest: float = -np.inf
    ) -> StayChanges:
        """Follow every stay, or those counted, at each of its own thresholds from the lowest on."""
        stay, threshold = scored.own_thresholds(lowest)
        if counted is not None:
            stay, threshold = stay[counted[stay]], threshold[counted[stay]]
        added = np.stack(scored.count(stay, threshold))
        # Counts at a threshold, less those at the next higher one of the same stay.
        added[:, 1:] -= np.where(np.diff(stay) == 0, added[:, :-1], 0)
        order = np.argsort(-threshold, kind="stable")
        return cls(stay[order], threshold[order], added[:, order], scored.rows.has_event)

    def down_to(self, lowest: float) -> StayChanges:
        """Return the changes at the thresholds from the lowest on."""
        n_changes = int(np.searchsorted(-self.threshold, -lowest, side="right"))
        return StayChanges(
            self.stay[:n_changes],
            self.threshold[:n_changes],
            self.added[:, :n_changes],
            self.has_event,
        )

    def curve(self, times: AnyArray | None = None) -> StayCurve:
        """Add up the changes of all stays, each counted a number of times."""
        has_event = self.has_event[self.stay]
        drawn = 1 if times is None else times[self.stay]
        steps = (
            column * weight
            for weight in (has_event * drawn, ~has_event * drawn)
            for column in self.added
        )
        return StayCurve.from_steps(self.threshold, steps)


def sweep(scored: ScoredRows, counted: BoolArray | None = None) -> StayCurve:
    """Count alarms and caught events at every distinct score, of all stays or of those counted."""
    return StayChanges.from_rows(scored, counted).curve()


@dataclass(frozen=True, eq=False, kw_only=True)
class ScoredRows:
    """Rows that count and have a score, and where the silence after an alarm at each ends.

    Attributes
    ----------
    rows : CountedRows
    kept : ndarray of bool
        Which rows that count have a score.
    stay, scores, event, unfinished : ndarray
        Of each kept row, in order of stay and time.
    resume : ndarray of int
        The first kept row at which an alarm may sound again, or the end of the stay.
    bounds : ndarray of int, shape (n_stays + 1,)
        Where each stay begins among the kept rows.
    """

    rows: CountedRows
    kept: BoolArray
    stay: AnyArray
    scores: FloatArray
    event: AnyArray
    unfinished: BoolArray
    resume: AnyArray
    bounds: AnyArray

    @classmethod
    def from_scores(cls, rows: CountedRows, scores: FloatArray) -> ScoredRows:
        """Keep the rows that have a score."""
        counted = scores[rows.rows]
        kept = ~np.isnan(counted)
        stay = rows.stay[kept]
        return cls(
            rows=rows,
            kept=kept,
            stay=stay,
            scores=counted[kept],
            event=rows.event[kept],
            unfinished=rows.unfinished[kept],
            resume=rows.next_rows(kept),
            bounds=np.searchsorted(stay, np.arange(rows.stays.n_stays + 1)),
        )

    @cached_property
    def slots(self) -> AnyArray:
        """Alarms of each stay if every row sounded one."""
        every = ScoredRows.from_scores(self.rows, np.zeros(len(self.rows.stays.times)))
        n_stays = self.rows.stays.n_stays
        return np.bincount(every.stay[every.alarm_rows(-np.inf)], minlength=n_stays)

    @property
    def n_without_row(self) -> int:
        """Number of events that no scored row can catch."""
        reached = np.unique(self.event)
        return self.rows.n_events - int(np.count_nonzero(reached != NO_EVENT))

    def own_thresholds(self, lowest: float = -np.inf) -> tuple[AnyArray, FloatArray]:
        """Return each stay with each of its distinct scores, falling within the stay."""
        high = np.flatnonzero(self.scores >= lowest)
        order = high[np.lexsort((-self.scores[high], self.stay[high]))]
        stay, scores = self.stay[order], self.scores[order]
        new = np.ones(len(order), dtype=np.bool_)
        new[1:] = (np.diff(stay) != 0) | (scores[1:] != scores[:-1])
        return stay[new], scores[new]

    def counts_by_stay(self, threshold: float) -> AlarmCounts:
        """Count the alarms of each stay at one threshold."""
        every = np.arange(self.rows.stays.n_stays)
        return self.count(every, np.full(len(every), threshold))

    def alarm_rows(self, threshold: float) -> AnyArray:
        """Return which of the kept rows sound an alarm, in order of stay and time."""
        every = np.arange(self.rows.stays.n_stays)
        sounded = [row for _, row in self.alarms(every, np.full(len(every), threshold))]
        return np.sort(np.concatenate([np.zeros(0, dtype=np.intp), *sounded]))

    def count(self, stay: AnyArray, threshold: FloatArray) -> AlarmCounts:
        """Count the alarms of a stay at a threshold, for many pairs of both; stays rise."""
        rule = self.rows.rule
        tp, fp, alarms = (np.zeros(len(stay), dtype=np.int64) for _ in range(3))
        caught = np.full(len(stay), NO_EVENT)
        for pairs, row in self.alarms(stay, threshold):
            event = self.event[row]
            catches = event != NO_EVENT
            repeat = catches & (event == caught[pairs])
            unfinished = ~catches & self.unfinished[row] & (rule.unfinished == "capacity_only")
            is_false = ~catches & ~unfinished | (repeat & (rule.repeats == "false_alarm"))
            tp[pairs] += catches & ~repeat
            fp[pairs] += is_false
            alarms[pairs] += ~(repeat & (rule.repeats == "ignored"))
            caught[pairs] = np.where(catches, event, caught[pairs])
        return AlarmCounts(tp, fp, alarms)

    def alarms(self, stay: AnyArray, threshold: FloatArray) -> Iterator[tuple[AnyArray, AnyArray]]:
        """Follow the alarms of stays at thresholds; yield the pairs that alarm, and their rows."""
        for first, last in self._pieces():
            pairs = np.arange(*np.searchsorted(stay, [first, last]))
            maxima = _RunningMaxima.from_rows(self.scores, self.bounds[first : last + 1])
            position = self.bounds[stay[pairs]]
            while len(pairs):
                owner = stay[pairs]
                position = maxima.first_reaching(position, owner - first, threshold[pairs])
                sounds = position < self.bounds[owner + 1]
                pairs, position = pairs[sounds], position[sounds]
                yield pairs, position
                position = self.resume[position]

    def _pieces(self) -> Iterator[tuple[int, int]]:
        """Cut the stays into runs of about `ROWS_AT_ONCE` rows."""
        first, n_stays = 0, len(self.bounds) - 1
        while first < n_stays:
            room = self.bounds[first] + ROWS_AT_ONCE
            last = max(first + 1, int(np.searchsorted(self.bounds, room, side="right")) - 1)
            yield first, last
            first = last


@dataclass(frozen=True, eq=False)
class _RunningMaxima:
    """Maxima over 1, 2, 4, ... rows of some stays, with a row of +inf after each stay."""

    levels: list[FloatArray]
    start: int

    @classmethod
    def from_rows(cls, scores: FloatArray, bounds: AnyArray) -> _RunningMaxima:
        ends = bounds[1:] - bounds[0]
        level = np.insert(scores[bounds[0] : bounds[-1]], ends, np.inf)
        levels, longest = [level], int(np.max(np.diff(bounds), initial=0)) + 1
        width = 1
        while 2 * width <= longest:
            reached = np.full(len(level), np.inf)
            np.maximum(level[:-width], level[width:], out=reached[:-width])
            levels.append(reached)
            level, width = reached, 2 * width
        return cls(levels, int(bounds[0]))

    def first_reaching(self, position: AnyArray, stay: AnyArray, threshold: FloatArray) -> AnyArray:
        """Return the first row from a position on that reaches a threshold, or the stay's end."""
        # One row of +inf stands behind each stay before.
        place = position - self.start + stay
        for power in reversed(range(len(self.levels))):
            place += (self.levels[power][place] < threshold) * 2**power
        return np.asarray(place + self.start - stay)
