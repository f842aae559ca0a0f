"""Scored rows of stays in memory, and the alarms of each stay and patient."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from voros.alarms.rule import MICROSECONDS
from voros.alarms.stays import HOURS, NO_EVENT, CountedRows
from voros.alarms.sweep import AlarmCounts, ScoredRows, StayChanges
from voros.alarms.totals import StaySums, StayTotals
from voros.core.calendar import CALENDAR, Calendar
from voros.core.scenario import PATIENT_DAY, Scenario
from voros.exceptions import ArgumentError
from voros.typing import AnyArray, BoolArray, FloatArray


@dataclass(frozen=True, eq=False, kw_only=True)
class StayRows(StayTotals):
    """The scored rows of stays behind operating points.

    Attributes
    ----------
    scored : ScoredRows
    unit : ndarray of int, shape (n_stays,)
        The patient of each stay, from 0.
    drawn : ndarray of int, shape (n_stays,), or None
        How often a resample of the patients draws each stay.

    Examples
    --------
    >>> import voros
    >>> points = voros.alarm_points(
    ...     stay=[1, 1, 2],
    ...     time=[0, 5, 0],
    ...     score=[0.2, 0.9, 0.4],
    ...     events=([1], [8]),
    ...     rule=voros.AlarmRule(snooze=2, horizon=6),
    ... )
    >>> points.stays.n_stays, points.stays.n_events, points.stays.lead_times(0.5).tolist()
    (2, 1, [3.0])
    """

    scored: ScoredRows
    unit: AnyArray
    drawn: AnyArray | None = None

    @classmethod
    def from_scored(
        cls,
        scored: ScoredRows,
        unit: AnyArray,
        drawn: AnyArray | None = None,
        changes: StayChanges | None = None,
    ) -> StayRows:
        """Add up the stays, each drawn a number of times.

        ``changes`` are the counts that each stay adds at each threshold, where they are known; the
        highest thresholds may suffice.

        Returns
        -------
        StayRows
        """
        rows, times = scored.rows, np.ones(len(unit), dtype=np.int64) if drawn is None else drawn
        which = np.stack([rows.has_event, ~rows.has_event])
        return cls(
            rule=rows.rule,
            sums=StaySums(
                which @ times, which @ (times * rows.days), which @ (times * scored.slots)
            ),
            n_events=int(times[rows.event_stay].sum()),
            n_events_elsewhere=rows.stays.n_events_elsewhere,
            count=lambda: (changes or StayChanges.from_rows(scored)).curve(drawn),
            scored=scored,
            unit=unit,
            drawn=drawn,
        )

    @property
    def rows(self) -> CountedRows:
        """The rows that count."""
        return self.scored.rows

    @property
    def n_units(self) -> int:
        """Number of patients, who are independent of each other."""
        return int(self.unit.max()) + 1

    @property
    def n_events_without_row(self) -> int:
        """Number of events that no scored row can catch; they count as missed."""
        return self.scored.n_without_row

    @property
    def slots(self) -> AnyArray:
        """Alarms of each stay if every row sounded one."""
        return self.scored.slots

    @property
    def one_stay(self) -> float:
        """The fewest stays that one stay stands for; a resample may leave out any."""
        return super().one_stay if self.drawn is None else 0.0

    @property
    def events(self) -> AnyArray:
        """Events of each patient."""
        return self.by_unit(np.bincount(self.rows.event_stay, minlength=len(self.unit)))

    def counts(self, thresholds: FloatArray) -> AlarmCounts:
        """Count alarms of each patient at each threshold: arrays (n_units, n_thresholds).

        Returns
        -------
        AlarmCounts
        """
        n_stays, n_thresholds = len(self.unit), len(thresholds)
        stay = np.repeat(np.arange(n_stays), n_thresholds)
        counts = self.scored.count(stay, np.tile(thresholds, n_stays))
        return AlarmCounts(*(self.by_unit(count.reshape(n_stays, -1)) for count in counts))

    def only(self, kept: BoolArray) -> StayRows:
        """Return some of the stays."""
        scores = np.full(len(self.rows.stays.times), np.nan)
        scores[self.rows.rows[self.scored.kept]] = self.scored.scores
        rows = CountedRows.from_stays(self.rows.stays.only(kept), self.rule)
        scored = ScoredRows.from_scores(rows, scores[kept[self.rows.stays.stay]])
        return StayRows.from_scored(scored, np.unique(self.unit[kept], return_inverse=True)[1])

    def in_resample(self, times: AnyArray, changes: StayChanges) -> StayRows:
        """Return the stays with each patient drawn a number of times."""
        drawn = StayRows.from_scored(self.scored, self.unit, times[self.unit], changes)
        return replace(drawn, weights=self.weights)

    def by_admission(self, scenario: Scenario) -> StayRows:
        """Take the period of the first row, the admission, as the unit of each stay.

        Patients admitted in different periods are independent. Alarms of neighbouring days are not,
        because they may be of one patient. Days of times with a zone are those of UTC.

        Returns
        -------
        StayRows
        """
        calendar = Calendar.from_name(scenario.per or "")
        if calendar is None:
            accepted = ", ".join(map(repr, (PATIENT_DAY, *CALENDAR)))
            raise ArgumentError("per", f"={scenario.per!r}; accepted over stays are {accepted}")
        if scenario.exceed is not None:
            raise ArgumentError(
                "exceed",
                f"={scenario.exceed!r}: alarms of neighbouring periods may be of one patient; "
                "accepted over stays is a mean, without exceed",
            )
        if self.rows.stays.clock == HOURS:
            raise ArgumentError("per", f"={scenario.per!r} needs times that are dates, not hours")
        if self.n_units < len(self.unit):
            raise ArgumentError(
                "groups",
                f" and a capacity per {scenario.per} are mutually exclusive: a patient may be "
                "admitted in several periods",
            )
        numbers = calendar.numbers(self.rows.stays.first_times.astype("datetime64[us]"))
        return replace(self, unit=numbers - numbers.min())

    def n_periods(self, scenario: Scenario) -> int:
        """Return the number of periods, from the first admission to the last."""
        return self.by_admission(scenario).n_units

    def by_unit(self, per_stay: AnyArray) -> AnyArray:
        """Add up numbers of each stay by patient.

        Returns
        -------
        ndarray
        """
        sums = np.zeros((self.n_units, *per_stay.shape[1:]), dtype=per_stay.dtype)
        np.add.at(sums, self.unit, per_stay)
        return sums

    def lead_times(self, threshold: float) -> FloatArray:
        """Return the hours from the first useful alarm to each event that is caught."""
        sounded = self.scored.alarm_rows(threshold)
        event, first = np.unique(self.scored.event[sounded], return_index=True)
        caught = event != NO_EVENT
        times = self.rows.times[self.scored.kept][sounded[first[caught]]]
        return np.asarray((self.rows.event_times[event[caught]] - times) / MICROSECONDS["h"])

    def first_alarms(self, threshold: float) -> tuple[BoolArray, BoolArray]:
        """Return which stays alarm at all, and in which of them the first alarm is useful."""
        sounded = self.scored.alarm_rows(threshold)
        stay, first = np.unique(self.scored.stay[sounded], return_index=True)
        alarmed, useful = (np.zeros(len(self.unit), dtype=np.bool_) for _ in range(2))
        alarmed[stay] = True
        useful[stay] = self.scored.event[sounded[first]] != NO_EVENT
        return alarmed, useful


def rows_in_memory(stays: StayTotals) -> StayRows:
    """Return the rows of stays, or raise where they were counted in batches."""
    if not isinstance(stays, StayRows):
        raise ArgumentError(
            "rows",
            " were counted in batches and not kept; accepted are rows in memory",
        )
    return stays
