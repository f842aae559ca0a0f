"""Cases and labels of a deployment in one SQLite file: each once, whole batches or nothing.

A case has a row for each outcome that the policy raises alarms of, mostly one, which has no name.
Rows of one stream, an outcome or a group of cases, are judged by one precision floor.

A batch that is given again changes nothing; that is how to go on after a kill.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from voros.exceptions import ArgumentError
from voros.io.database import Database
from voros.monitoring.settings import day_of
from voros.typing import AnyArray, BoolArray, FloatArray

RECENT_LABELS = 1_000
"""Labels that are looked at to see whose they are."""

LOOKED_UP = 500
"""Case ids in one query."""

STORE_SCHEMA = """
CREATE TABLE metadata (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE cases (
  position INTEGER PRIMARY KEY, id TEXT NOT NULL, time REAL NOT NULL, period TEXT NOT NULL,
  score REAL NOT NULL, alarm INTEGER NOT NULL, patient TEXT, outcome TEXT NOT NULL,
  stream TEXT NOT NULL,
  UNIQUE (id, outcome),
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
CREATE INDEX labels_of ON labels (id, outcome, time, entry, value);
CREATE TABLE stay_rows (
  stay TEXT NOT NULL, time REAL NOT NULL, score REAL NOT NULL, alarm INTEGER NOT NULL,
  PRIMARY KEY (stay, time),
  CHECK (typeof(time) = 'real' AND typeof(score) = 'real' AND alarm IN (0, 1))
) WITHOUT ROWID;
CREATE INDEX stay_times ON stay_rows (time);
CREATE TABLE stay_outcomes (
  stay TEXT NOT NULL, time REAL NOT NULL, value INTEGER NOT NULL, PRIMARY KEY (stay, time),
  CHECK (typeof(time) = 'real' AND value IN (0, 1))
) WITHOUT ROWID
"""

ADD_LABEL = """
INSERT INTO labels (id, time, value, outcome) SELECT :id, :time, :value, :outcome
WHERE :value IS NOT (
  SELECT value FROM labels WHERE id = :id AND outcome = :outcome AND time <= :time
  ORDER BY time DESC, entry DESC LIMIT 1
)
"""

LABEL_NOW = """(
  SELECT value FROM labels l WHERE l.id = c.id AND l.outcome = c.outcome
  ORDER BY l.time DESC, l.entry DESC LIMIT 1
)"""

ALARMS = f"""
SELECT time, patient, (
  SELECT value FROM labels l
  WHERE l.id = c.id AND l.outcome = c.outcome AND l.time <= c.time + ?
  ORDER BY l.time DESC, l.entry DESC LIMIT 1
), {LABEL_NOW}, score
FROM cases c WHERE alarm = 1 AND stream = ? AND time >= ? ORDER BY time, id
"""

LATEST = f"""
SELECT period, time, score, alarm, patient, {LABEL_NOW} FROM cases c
WHERE time >= ? AND time < ? ORDER BY time, id
"""

WHOSE_LABELS = """
SELECT coalesce(sum(c.id IS NULL), 0), coalesce(sum(c.alarm IS 0), 0)
FROM labels l LEFT JOIN cases c ON c.id = l.id AND c.outcome = l.outcome
WHERE l.entry > (SELECT max(entry) FROM labels) - ?
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
"""Periods that began at a time or later and had ended before another."""


class Cases(NamedTuple):
    """New cases as the file has them, one entry for each."""

    id: AnyArray
    time: FloatArray
    period: AnyArray
    score: FloatArray
    alarm: BoolArray
    patient: AnyArray
    outcome: AnyArray
    stream: AnyArray

    def take(self, rows: AnyArray) -> Cases:
        """Return the cases that a mask marks, or those at the given positions."""
        return Cases._make(column[rows] for column in self)


@dataclass(frozen=True, kw_only=True)
class PeriodTotals:
    """Totals of every period that has cases, in the order of time."""

    names: AnyArray
    starts: FloatArray
    cases: FloatArray
    alarms: FloatArray
    totals: FloatArray
    squares: FloatArray

    def part(self, rows: slice) -> PeriodTotals:
        """Return some of the periods."""
        return PeriodTotals(**{name: column[rows] for name, column in vars(self).items()})


class Store(Database):
    """The state of a monitor."""

    format = 5
    schema = STORE_SCHEMA

    @property
    def clock(self) -> float | None:
        """The latest time that the file knows of."""
        text = self.metadata("clock")
        return None if text is None else float(text)

    @property
    def first(self) -> float | None:
        """The time of the first case, or of the first row of a stay."""
        query = "SELECT min(time) FROM cases UNION ALL SELECT min(time) FROM stay_rows"
        return min((float(time) for (time,) in self.rows(query) if time is not None), default=None)

    def advance(self, seconds: float) -> None:
        """Set the clock forward, inside a transaction; it never goes back."""
        clock = self.clock
        if clock is None or seconds > clock:
            self.keep("clock", repr(float(seconds)))

    def set_back(self) -> None:
        """Set the clock to the latest time that is left, inside a transaction."""
        tables = ("cases", "labels", "stay_rows", "stay_outcomes")
        times = [self.rows(f"SELECT max(time) FROM {table}")[0][0] for table in tables]
        times.append(self.metadata("advanced"))
        clock = max((float(time) for time in times if time is not None), default=-np.inf)
        self.keep("clock", repr(clock))

    def use_unit(self, unit: str) -> None:
        """Refuse periods of two kinds, inside a transaction."""
        stored = self.metadata("periods")
        if stored not in (None, unit):
            raise ArgumentError(
                "periods", f" are of another kind than before ({stored}, not {unit}); keep to one"
            )
        self.keep("periods", unit)

    def add_cases(self, cases: Cases) -> BoolArray:
        """Add cases inside a transaction, and return which were new.

        Raises
        ------
        ArgumentError
            When a case came before with another score, time or patient.
        """
        n = len(cases.id)
        self.rows("SAVEPOINT batch")
        new = np.ones(n, dtype=np.bool_)
        if self._insert(cases) < n:
            # Rarely: some came before, or twice in this batch.
            self.rows("ROLLBACK TO batch")
            new = self._new_ones(cases)
            self._insert(cases.take(new))
        self.rows("RELEASE batch")
        return new

    def _insert(self, cases: Cases) -> int:
        marks = ", ".join("?" * len(Cases._fields))
        query = f"INSERT OR IGNORE INTO cases ({', '.join(Cases._fields)}) VALUES ({marks})"
        return self.run_each(query, zip(*(column.tolist() for column in cases), strict=True))

    def _new_ones(self, cases: Cases) -> BoolArray:
        """Mark the first coming of each case; every other must say the same."""
        known = self._known(cases.id.tolist(), "outcome, score, time, stream, patient")
        seen = {(case, outcome): tuple(said) for case, outcome, *said in known}
        new = np.zeros(len(cases.id), dtype=np.bool_)
        columns = (cases.id, cases.outcome, cases.score, cases.time, cases.stream, cases.patient)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        for row, (case, outcome, *said) in enumerate(rows):
            new[row] = (case, outcome) not in seen
            before = seen.setdefault((case, outcome), tuple(said))
            if before[:3] != tuple(said[:3]) or _differ(before[3], said[3]):
                raise ArgumentError("cases", _differs(case, before, tuple(said)))
        return new

    def check_unseen(self, periods: AnyArray) -> None:
        """Raise where a period has cases already: its list is made."""
        for period in dict.fromkeys(periods.tolist()):
            if self.rows("SELECT 1 FROM cases WHERE period = ? LIMIT 1", (period,)):
                raise ArgumentError(
                    "cases",
                    f" holds new ones of {period}, whose list was made before; a worklist is made "
                    "of all cases of a period at once. Nothing of this batch was stored",
                )

    def alarms_of(self, ids: AnyArray) -> dict[str, bool]:
        """Return what was decided on the cases that are stored."""
        return {case: bool(alarm) for case, alarm in self._known(ids.tolist(), "alarm")}

    def _known(self, ids: Sequence[str], columns: str) -> list[tuple[Any, ...]]:
        """Return the id and some columns of the cases that are stored."""
        rows: list[tuple[Any, ...]] = []
        for start in range(0, len(ids), LOOKED_UP):
            part = ids[start : start + LOOKED_UP]
            marks = ",".join("?" * len(part))
            rows += self.rows(f"SELECT id, {columns} FROM cases WHERE id IN ({marks})", part)
        return rows

    def add_labels(
        self, ids: AnyArray, seconds: FloatArray, values: BoolArray, outcome: str = ""
    ) -> int:
        """Add labels inside a transaction; one that says nothing new is left out."""
        rows = zip(ids.tolist(), seconds.tolist(), values.astype(int).tolist(), strict=True)
        named = (
            {"id": case, "time": time, "value": value, "outcome": outcome}
            for case, time, value in rows
        )
        return self.run_each(ADD_LABEL, named)

    def alarms(self, stream: str, since: float, window: float) -> list[tuple[Any, ...]]:
        """Return time, patient, label at the end of the window, label now and score of alarms."""
        return self.rows(ALARMS, (window, stream, since))

    def flagged(self) -> dict[str, int]:
        """Count the cases with an alarm of any outcome in each period."""
        query = "SELECT period, count(DISTINCT id) FROM cases WHERE alarm = 1 GROUP BY period"
        return {period: int(count) for period, count in self.rows(query)}

    def withdraw(self, ids: AnyArray) -> None:
        """Take cases out with their labels, inside a transaction."""
        self._check_stored(ids)
        for table in ("cases", "labels"):
            self.run_each(f"DELETE FROM {table} WHERE id = ?", ((case,) for case in ids.tolist()))
        self.set_back()

    def move(self, ids: AnyArray, seconds: FloatArray, periods: AnyArray) -> None:
        """Give cases other times and periods, inside a transaction."""
        self._check_stored(ids)
        rows = zip(seconds.tolist(), periods.tolist(), ids.tolist(), strict=True)
        self.run_each("UPDATE cases SET time = ?, period = ? WHERE id = ?", rows)
        self.set_back()

    def _check_stored(self, ids: AnyArray) -> None:
        stored = {case for case, _ in self._known(ids.tolist(), "outcome")}
        for case in ids.tolist():
            if case not in stored:
                raise ArgumentError("cases", f" holds {case!r}, which has not come")

    def latest(self, since: float, until: float) -> list[tuple[Any, ...]]:
        """Return period, time, score, alarm, patient and latest label of the cases between."""
        return self.rows(LATEST, (since, until))

    def sizes(self) -> tuple[int, int, int]:
        """Return how many cases, alarms and labels are stored."""
        queries = ("FROM cases", "FROM cases WHERE alarm = 1", "FROM labels")
        cases, alarms, labels = (self.rows(f"SELECT count(*) {q}")[0][0] for q in queries)
        return cases, alarms, labels

    def recent_labels(self) -> tuple[int, int]:
        """Return how many of the last labels are of no stored case, and of cases without alarm."""
        unknown, others = self.rows(WHOSE_LABELS, (RECENT_LABELS,))[0]
        return unknown, others

    def costs(self, since: float, until: float) -> list[tuple[Any, ...]]:
        """Return of each period its start, cases, false alarms, misses, and cases without label."""
        return self.rows(COSTS, {"since": since, "until": until})

    def periods(self, since: float, streams: Sequence[str] = ("",)) -> PeriodTotals:
        """Return the totals of some streams in every period that began at a time or later."""
        marks = ",".join("?" * len(streams))
        query = (
            "SELECT period, min(time), count(*), sum(alarm), sum(score), sum(score * score) "
            f"FROM cases WHERE stream IN ({marks}) GROUP BY period HAVING min(time) >= ? "
            "ORDER BY min(time), period"
        )
        rows = self.rows(query, (*streams, since))
        columns = list(zip(*rows, strict=True)) if rows else [()] * 6
        sums = [np.array(column, dtype=float) for column in columns[1:]]
        named = dict(zip(("starts", "cases", "alarms", "totals", "squares"), sums, strict=True))
        return PeriodTotals(names=np.array(columns[0], dtype=str), **named)


def _differ(one: str | None, other: str | None) -> bool:
    """Whether two patients are named and are not the same."""
    return None not in (one, other) and one != other


def _differs(case: str, before: tuple[Any, ...], now: tuple[Any, ...]) -> str:
    return (
        f" holds {case!r} with {_said(*now)}, which came before with {_said(*before)}; a case is "
        "decided on once. Nothing of this batch was stored"
    )


def _said(score: float, time: float, stream: str, patient: str | None) -> str:
    whose = "" if patient is None else f" of patient {patient!r}"
    return f"score {score!r}{stream and f' in {stream!r}'} at {day_of(time)}{whose}"
