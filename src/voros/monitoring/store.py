"""Cases and labels of a deployment in one SQLite file: each once, whole batches or nothing.

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
  position INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, time REAL NOT NULL,
  period TEXT NOT NULL, score REAL NOT NULL, alarm INTEGER NOT NULL, patient TEXT,
  CHECK (typeof(time) = 'real' AND typeof(score) = 'real' AND alarm IN (0, 1))
);
CREATE INDEX alarms ON cases (time, id, patient, score) WHERE alarm = 1;
CREATE INDEX by_period ON cases (period, time, alarm, score);
CREATE INDEX times ON cases (time);
CREATE TABLE labels (
  entry INTEGER PRIMARY KEY, id TEXT NOT NULL, time REAL NOT NULL, value INTEGER NOT NULL,
  CHECK (typeof(time) = 'real' AND value IN (0, 1))
);
CREATE INDEX labels_of ON labels (id, time, entry, value);
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
INSERT INTO labels (id, time, value) SELECT :id, :time, :value
WHERE :value IS NOT (
  SELECT value FROM labels WHERE id = :id AND time <= :time
  ORDER BY time DESC, entry DESC LIMIT 1
)
"""

LABEL_NOW = """(
  SELECT value FROM labels l WHERE l.id = c.id ORDER BY l.time DESC, l.entry DESC LIMIT 1
)"""

ALARMS = f"""
SELECT time, patient, {LABEL_NOW}, score FROM cases c WHERE alarm = 1 AND time >= ?
ORDER BY time, id
"""

LABELLED = f"""
SELECT time, alarm, patient, {LABEL_NOW} FROM cases c WHERE time >= ? ORDER BY time, id
"""

PERIODS = """
SELECT period, min(time), count(*), sum(alarm), sum(score), sum(score * score) FROM cases
GROUP BY period HAVING min(time) >= ? ORDER BY min(time), period
"""

WHOSE_LABELS = """
SELECT coalesce(sum(c.id IS NULL), 0), coalesce(sum(c.alarm IS 0), 0)
FROM labels l LEFT JOIN cases c ON c.id = l.id
WHERE l.entry > (SELECT max(entry) FROM labels) - ?
"""


class Cases(NamedTuple):
    """New cases as the file has them, one entry for each."""

    id: AnyArray
    time: FloatArray
    period: AnyArray
    score: FloatArray
    alarm: BoolArray
    patient: AnyArray

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

    format = 6
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
        known = self._known(cases.id.tolist(), "score, time, patient")
        seen = {case: tuple(said) for case, *said in known}
        new = np.zeros(len(cases.id), dtype=np.bool_)
        columns = (cases.id, cases.score, cases.time, cases.patient)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        for row, (case, *said) in enumerate(rows):
            new[row] = case not in seen
            before = seen.setdefault(case, tuple(said))
            if before[:2] != tuple(said[:2]) or _differ(before[2], said[2]):
                raise ArgumentError("cases", _differs(case, before, tuple(said)))
        return new

    def _known(self, ids: Sequence[str], *columns: str) -> list[tuple[Any, ...]]:
        """Return the id and some columns of the cases that are stored."""
        selected = ", ".join(("id", *columns))
        rows: list[tuple[Any, ...]] = []
        for start in range(0, len(ids), LOOKED_UP):
            part = ids[start : start + LOOKED_UP]
            marks = ",".join("?" * len(part))
            rows += self.rows(f"SELECT {selected} FROM cases WHERE id IN ({marks})", part)
        return rows

    def add_labels(self, ids: AnyArray, seconds: FloatArray, values: BoolArray) -> int:
        """Add labels inside a transaction; one that says nothing new is left out."""
        rows = zip(ids.tolist(), seconds.tolist(), values.astype(int).tolist(), strict=True)
        return self.run_each(
            ADD_LABEL, ({"id": case, "time": time, "value": value} for case, time, value in rows)
        )

    def alarms(self, since: float) -> list[tuple[Any, ...]]:
        """Return time, patient, latest label and score of the alarms."""
        return self.rows(ALARMS, (since,))

    def labelled(self, since: float) -> list[tuple[Any, ...]]:
        """Return time, alarm, patient and latest label of the cases."""
        return self.rows(LABELLED, (since,))

    def withdraw(self, ids: AnyArray) -> None:
        """Take cases out with their labels, inside a transaction."""
        stored = {case for (case,) in self._known(ids.tolist())}
        for case in ids.tolist():
            if case not in stored:
                raise ArgumentError("cases", f" holds {case!r}, which has not come")
        for table in ("cases", "labels"):
            self.run_each(f"DELETE FROM {table} WHERE id = ?", ((case,) for case in ids.tolist()))
        self.set_back()

    def sizes(self) -> tuple[int, int, int]:
        """Return how many cases, alarms and labels are stored."""
        queries = ("FROM cases", "FROM cases WHERE alarm = 1", "FROM labels")
        cases, alarms, labels = (self.rows(f"SELECT count(*) {q}")[0][0] for q in queries)
        return cases, alarms, labels

    def recent_labels(self) -> tuple[int, int]:
        """Return how many of the last labels are of no stored case, and of cases without alarm."""
        unknown, others = self.rows(WHOSE_LABELS, (RECENT_LABELS,))[0]
        return unknown, others

    def periods(self, since: float) -> PeriodTotals:
        """Return the totals of every period that began at a time or later."""
        rows = self.rows(PERIODS, (since,))
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


def _said(score: float, time: float, patient: str | None) -> str:
    whose = "" if patient is None else f" of patient {patient!r}"
    return f"score {score!r} at {day_of(time)}{whose}"
