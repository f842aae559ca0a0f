"""Cases and labels of a deployment in one SQLite file: each once, whole batches or nothing.

A case has a row for each outcome of the policy; a single outcome has the empty name.
Rows of one stream, an outcome or a subgroup of cases, are judged by one precision floor. A stay has
a row for each of its scores, identified by its time (``part``); a label of a stay is an event, at
its time, or the end of the stay without one. A file holds single cases or stays.

A batch that is given again changes nothing, so after a crash the last batch can be repeated.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from voros.exceptions import ArgumentError
from voros.io.database import Database
from voros.monitoring.settings import day_of
from voros.typing import AnyArray, BoolArray, FloatArray

RECENT_LABELS = 1_000
"""Labels, the latest ones, that are checked for belonging to a case."""

STORE_SCHEMA = """
CREATE TABLE metadata (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE cases (
  position INTEGER PRIMARY KEY, id TEXT NOT NULL, part REAL NOT NULL, time REAL NOT NULL,
  period TEXT NOT NULL, score REAL NOT NULL, alarm INTEGER NOT NULL, patient TEXT,
  outcome TEXT NOT NULL, stream TEXT NOT NULL,
  UNIQUE (id, outcome, part),
  CHECK (typeof(time) = 'real' AND typeof(score) = 'real' AND alarm IN (0, 1))
);
CREATE INDEX alarms ON cases (stream, time, id, outcome, patient) WHERE alarm = 1;
CREATE INDEX by_period ON cases (period, stream, time, alarm, score);
CREATE INDEX times ON cases (time);
CREATE TABLE labels (
  entry INTEGER PRIMARY KEY, id TEXT NOT NULL, time REAL NOT NULL, value INTEGER NOT NULL,
  outcome TEXT NOT NULL,
  CHECK (typeof(time) = 'real' AND value IN (0, 1))
);
CREATE INDEX labels_of ON labels (id, outcome, time, entry, value)
"""

ADD_LABEL = """
INSERT INTO labels (id, time, value, outcome)
SELECT id, time, value, outcome
FROM (SELECT ? AS id, ? AS time, ? AS value, ? AS outcome, ? AS since) AS new
WHERE value IS NOT (
  SELECT value FROM labels l
  WHERE l.id = new.id AND l.outcome = new.outcome AND l.time BETWEEN new.since AND new.time
  ORDER BY time DESC, entry DESC LIMIT 1
)
"""

LAST_TIME = """
SELECT max(time) FROM (
  SELECT max(time) AS time FROM cases UNION ALL SELECT max(time) FROM labels
)
"""

LABEL_NOW = """(
  SELECT value FROM labels l WHERE l.id = c.id AND l.outcome = c.outcome
  ORDER BY l.time DESC, l.entry DESC LIMIT 1
)"""

ALARMS = f"""
SELECT time, patient, {LABEL_NOW}, (
  SELECT value FROM labels l
  WHERE l.id = c.id AND l.outcome = c.outcome AND l.time <= c.time + ?
  ORDER BY l.time DESC, l.entry DESC LIMIT 1
), score
FROM cases c WHERE alarm = 1 AND stream = ? AND time >= ? ORDER BY time, id
"""

LATEST = f"""
SELECT period, time, score, alarm, patient, {LABEL_NOW} FROM cases c
WHERE time >= ? AND time < ? ORDER BY time, id
"""

IN_JSON = "id IN (SELECT value FROM json_each(?))"

OUTCOMES = f"""
SELECT id, time, value FROM labels l WHERE {IN_JSON} AND entry = (
  SELECT max(entry) FROM labels o WHERE o.id = l.id AND o.outcome = '' AND o.time = l.time
) ORDER BY entry
"""

STAY_ROWS = """
SELECT id, begin, time, score, alarm
FROM cases JOIN (SELECT id, min(time) AS begin FROM cases GROUP BY id) USING (id)
WHERE begin >= ? ORDER BY begin, id, time
"""

LAST_ROWS = """
SELECT value, CAST(round(1e6 * (
  SELECT max(part) FROM cases WHERE id = value AND outcome = ''
)) AS INTEGER), CAST(round(1e6 * (
  SELECT part FROM cases WHERE id = value AND outcome = '' AND alarm ORDER BY part DESC LIMIT 1
)) AS INTEGER)
FROM (SELECT DISTINCT value FROM json_each(?))
"""
"""Last row and last alarm of stays, read from the ends of the index: stays may be long."""

SIZES = """
SELECT (SELECT count(*) FROM (SELECT 1 FROM cases GROUP BY id)),
  (SELECT count(*) FROM cases WHERE alarm = 1),
  (SELECT count(*) FROM labels)
"""

UNMATCHED_LABELS = """
SELECT count(*) FROM labels l
WHERE entry > (SELECT max(entry) FROM labels) - ?
  AND NOT EXISTS (SELECT * FROM cases c WHERE c.id = l.id AND c.outcome = l.outcome)
"""

COSTS = f"""
WITH labelled AS (SELECT period, time, alarm, {LABEL_NOW} AS label FROM cases c),
totals AS (
  SELECT min(time) AS start, max(time) AS last, count(*) AS cases,
    sum(alarm = 1 AND label IS 0) AS false_alarms, sum(alarm = 0 AND label IS 1) AS misses,
    sum(label IS NULL) AS unlabelled
  FROM labelled GROUP BY period
)
SELECT start, cases, false_alarms, misses, unlabelled FROM totals
WHERE start >= :since AND last < :until
  AND start < (SELECT max(start) FROM totals WHERE start < :until)
ORDER BY start
"""
"""Periods that began since one time and ended before another."""


class PeriodTotals(NamedTuple):
    """Totals of each period that has cases, in the order of time."""

    names: AnyArray
    starts: FloatArray
    cases: FloatArray
    alarms: FloatArray
    totals: FloatArray
    squares: FloatArray

    def part(self, rows: slice) -> PeriodTotals:
        """Return some of the periods."""
        return PeriodTotals._make(column[rows] for column in self)


class StayRow(NamedTuple):
    """A score of a stay, with the time of the first one."""

    stay: str
    begin: float
    time: float
    score: float
    alarm: int


class Store(Database):
    """Cases, labels and metadata of a monitor."""

    format = 6
    schema = STORE_SCHEMA

    @property
    def clock(self) -> float | None:
        """The latest time known."""
        text = self.metadata("clock")
        return None if text is None else float(text)

    @property
    def first(self) -> float | None:
        """The time of the first case, or of the first row of a stay."""
        time = self.rows("SELECT min(time) FROM cases")[0][0]
        return None if time is None else float(time)

    def advance(self, seconds: float) -> None:
        """Set the clock forward, inside a transaction; it never goes back."""
        clock = self.clock
        if clock is None or seconds > clock:
            self.keep("clock", repr(float(seconds)))

    def set_back(self) -> None:
        """Set the clock back to the latest remaining time, inside a transaction."""
        times = self.rows(LAST_TIME)[0][0], self.metadata("advanced")
        self.keep("clock", repr(max((float(t) for t in times if t is not None), default=-np.inf)))

    def use_unit(self, unit: str) -> None:
        """Store the unit of the periods, inside a transaction; refuse another one."""
        stored = self.metadata("periods")
        if stored not in (None, unit):
            raise ArgumentError(
                "periods", f" have the unit {unit!r}, and those before {stored!r}; keep to one"
            )
        self.keep("periods", unit)

    def add_cases(self, columns: Mapping[str, AnyArray]) -> int:
        """Add cases inside a transaction, and return how many were new.

        Raises
        ------
        ArgumentError
            When a case, or the row of a stay, is stored with another score, time or patient.
        """
        marks = ", ".join("?" * len(columns))
        query = f"INSERT OR IGNORE INTO cases ({', '.join(columns)}) VALUES ({marks})"
        lists = {name: column.tolist() for name, column in columns.items()}
        n_new = self.run_each(query, zip(*lists.values(), strict=True))
        if n_new < len(lists["id"]):
            self._check_same(lists)
        return n_new

    def _check_same(self, columns: Mapping[str, list[Any]]) -> None:
        """Raise where a case differs from the one that is stored."""
        names = ("id", "part", "outcome", "score", "time", "stream", "patient")
        known = self._known(columns["id"], columns["part"], ", ".join(names))
        stored = {(case, part, outcome): said for case, part, outcome, *said in known}
        for case, part, outcome, *now in zip(*(columns[name] for name in names), strict=True):
            before = stored[case, part, outcome]
            if now[:3] != before[:3] or (None not in (now[3], before[3]) and now != before):
                raise ArgumentError(
                    "cases",
                    f" holds {case!r} with {_said(*now)}, which is stored with {_said(*before)}; "
                    "a case is decided on once. Nothing of this batch was stored",
                )

    def check_unseen(self, periods: AnyArray) -> None:
        """Raise where a period has cases already: its list is complete."""
        for period in dict.fromkeys(periods.tolist()):
            if self.rows("SELECT 1 FROM cases WHERE period = ? LIMIT 1", (period,)):
                raise ArgumentError(
                    "cases",
                    f" holds new ones of {period}, whose list is complete; a worklist takes all "
                    "cases of a period at once. Nothing of this batch was stored",
                )

    def alarms_of(self, ids: AnyArray, parts: FloatArray) -> dict[tuple[str, float], bool]:
        """Return, by id and part, whether stored cases, or rows of stays, raised an alarm."""
        known = self._known(ids.tolist(), parts.tolist(), "id, part, alarm")
        return {(case, part): bool(alarm) for case, part, alarm in known}

    def _known(
        self, ids: Sequence[str], parts: Sequence[float], columns: str
    ) -> list[tuple[Any, ...]]:
        """Return some columns of the cases, or of the rows of stays, that are stored."""
        query = f"SELECT {columns} FROM cases WHERE {IN_JSON} AND part BETWEEN ? AND ?"
        return self.rows(query, (json.dumps(ids), min(parts, default=0), max(parts, default=0)))

    def last_rows(self, stays: Sequence[str]) -> list[tuple[str, int | None, int | None]]:
        """Return each stay with the times of its last row and last alarm, in microseconds."""
        return self.rows(LAST_ROWS, (json.dumps(stays),))

    def outcomes(self, stays: Sequence[str]) -> list[tuple[str, float, int]]:
        """Return events and ends of stays without one: stay, time, and 1 or 0."""
        return self.rows(OUTCOMES, (json.dumps(stays),))

    def stay_rows(self, since: float) -> list[StayRow]:
        """Return the rows of the stays that began from a time on, in the order of their begins."""
        return list(map(StayRow._make, self.rows(STAY_ROWS, (since,))))

    def add_labels(
        self,
        ids: AnyArray,
        seconds: FloatArray,
        values: BoolArray,
        outcome: str = "",
        *,
        of_stays: bool = False,
    ) -> int:
        """Add labels inside a transaction, except those that repeat the label before.

        Each time of a stay is another event, so its labels repeat only at the same time.
        """
        since = seconds if of_stays else np.full(len(ids), -np.inf)
        columns = (ids, seconds, values.astype(int), np.full(len(ids), outcome), since)
        return self.run_each(ADD_LABEL, zip(*(c.tolist() for c in columns), strict=True))

    def alarms(self, stream: str, since: float, window: float) -> list[tuple[Any, ...]]:
        """Return time, patient, label now, label when the window closed and score of alarms."""
        return self.rows(ALARMS, (window, stream, since))

    def flagged(self) -> dict[str, int]:
        """Count the cases with an alarm of any outcome in each period."""
        query = "SELECT period, count(DISTINCT id) FROM cases WHERE alarm = 1 GROUP BY period"
        return {period: int(count) for period, count in self.rows(query)}

    def withdraw(self, ids: Sequence[str]) -> None:
        """Remove cases, or stays, with their labels, inside a transaction."""
        for name in dict.fromkeys(ids):
            if not self.run_each("DELETE FROM cases WHERE id = ?", [(name,)]):
                raise ValueError(
                    f"{name!r} cannot be withdrawn, because the monitor has no such case. Nothing "
                    "was withdrawn"
                )
        self.run_each("DELETE FROM labels WHERE id = ?", zip(ids, strict=True))
        self.set_back()

    def latest(self, since: float, until: float) -> list[tuple[Any, ...]]:
        """Return period, time, score, alarm, patient and latest label of cases in a time span."""
        return self.rows(LATEST, (since, until))

    def sizes(self) -> tuple[int, int, int]:
        """Return the numbers of cases or stays, of alarms and of labels."""
        cases, alarms, labels = self.rows(SIZES)[0]
        return cases, alarms, labels

    def unmatched_labels(self) -> int:
        """Return how many of the latest labels belong to no stored case."""
        return int(self.rows(UNMATCHED_LABELS, (RECENT_LABELS,))[0][0])

    def costs(self, since: float, until: float) -> list[tuple[Any, ...]]:
        """Return start, cases, false alarms, misses and unlabelled cases of each period."""
        return self.rows(COSTS, {"since": since, "until": until})

    def periods(self, since: float, streams: Sequence[str] = ("",)) -> PeriodTotals:
        """Return the totals of some streams in each period since a time."""
        marks = ",".join("?" * len(streams))
        query = (
            "SELECT period, min(time), count(*), sum(alarm), sum(score), sum(score * score) "
            f"FROM cases WHERE stream IN ({marks}) GROUP BY period HAVING min(time) >= ? "
            "ORDER BY min(time), period"
        )
        rows = self.rows(query, (*streams, since))
        names, *sums = zip(*rows, strict=True) if rows else [()] * 6
        return PeriodTotals(np.array(names, dtype=str), *(np.array(c, dtype=float) for c in sums))


def _said(score: float, time: float, stream: str, patient: str | None) -> str:
    whose = "" if patient is None else f" of patient {patient!r}"
    return f"score {score!r}{stream and f' in {stream!r}'} at {day_of(time)}{whose}"
