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
from voros.monitoring.database import Database
from voros.monitoring.settings import day_of
from voros.typing import AnyArray, BoolArray, FloatArray

RECENT_LABELS = 1_000
"""Labels that are looked at to see whose they are."""

LOOKED_UP = 500
"""Case ids in one query."""

STORE_SCHEMA = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE cases (
  position INTEGER PRIMARY KEY, id TEXT NOT NULL, time REAL NOT NULL, period TEXT NOT NULL,
  score REAL NOT NULL, alarm INTEGER NOT NULL, patient TEXT, counted INTEGER, latest INTEGER,
  outcome TEXT NOT NULL, stream TEXT NOT NULL,
  UNIQUE (id, outcome),
  CHECK (typeof(time) = 'real' AND typeof(score) = 'real' AND alarm IN (0, 1)),
  CHECK (coalesce(counted, 0) IN (0, 1) AND coalesce(latest, 0) IN (0, 1))
);
CREATE INDEX alarms ON cases (stream, time, id, patient, counted, latest) WHERE alarm = 1;
CREATE INDEX times ON cases (time);
CREATE TABLE labels (
  entry INTEGER PRIMARY KEY, id TEXT NOT NULL, time REAL NOT NULL, value INTEGER NOT NULL,
  outcome TEXT NOT NULL,
  CHECK (typeof(time) = 'real' AND value IN (0, 1))
);
CREATE INDEX labels_of ON labels (id, outcome, time, entry);
CREATE TABLE periods (
  period TEXT NOT NULL, stream TEXT NOT NULL, start REAL NOT NULL, cases INTEGER NOT NULL,
  alarms INTEGER NOT NULL, total REAL NOT NULL, squares REAL NOT NULL, last REAL NOT NULL,
  false_alarms INTEGER NOT NULL DEFAULT 0, misses INTEGER NOT NULL DEFAULT 0,
  labelled INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (period, stream),
  CHECK (cases > 0 AND alarms BETWEEN 0 AND cases AND squares >= 0 AND misses >= 0),
  CHECK (false_alarms BETWEEN 0 AND alarms AND labelled BETWEEN 0 AND cases)
);
CREATE TABLE settled (
  stream TEXT NOT NULL, until REAL NOT NULL, state TEXT NOT NULL, PRIMARY KEY (stream, until)
);
CREATE TRIGGER came AFTER INSERT ON cases WHEN NEW.alarm = 1 BEGIN
  DELETE FROM settled WHERE stream = NEW.stream AND until > NEW.time;
END;
CREATE TRIGGER went AFTER DELETE ON cases WHEN OLD.alarm = 1 BEGIN
  DELETE FROM settled WHERE stream = OLD.stream AND until > OLD.time;
END;
CREATE TRIGGER changed AFTER UPDATE OF counted, latest ON cases
WHEN NEW.alarm = 1 AND (NEW.counted IS NOT OLD.counted OR NEW.latest IS NOT OLD.latest) BEGIN
  DELETE FROM settled WHERE stream = NEW.stream AND until > NEW.time;
END;
CREATE TRIGGER labelled AFTER UPDATE OF latest ON cases WHEN NEW.latest IS NOT OLD.latest BEGIN
  UPDATE periods SET
    false_alarms = false_alarms + (NEW.alarm = 1) * ((NEW.latest IS 0) - (OLD.latest IS 0)),
    misses = misses + (NEW.alarm = 0) * ((NEW.latest IS 1) - (OLD.latest IS 1)),
    labelled = labelled + (NEW.latest IS NOT NULL) - (OLD.latest IS NOT NULL)
  WHERE period = NEW.period AND stream = NEW.stream;
END;
"""
"""The database itself takes back what was settled when an alarm comes or changes before it."""

ADD_LABEL = """
INSERT INTO labels (id, time, value, outcome) SELECT ?1, ?2, ?3, ?4 WHERE ?3 IS NOT (
  SELECT value FROM labels WHERE id = ?1 AND outcome = ?4 AND time <= ?2
  ORDER BY time DESC, entry DESC LIMIT 1
)
"""

ADD_PERIOD = """
INSERT INTO periods (period, stream, start, last, cases, alarms, total, squares)
VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (period, stream) DO UPDATE SET
  start = min(start, excluded.start), last = max(last, excluded.last),
  cases = cases + excluded.cases, alarms = alarms + excluded.alarms,
  total = total + excluded.total, squares = squares + excluded.squares
"""

SET_LABELS = """
UPDATE cases SET counted = (
  SELECT value FROM labels l
  WHERE l.id = cases.id AND l.outcome = cases.outcome AND l.time <= cases.time + ?2
  ORDER BY l.time DESC, l.entry DESC LIMIT 1
), latest = (
  SELECT value FROM labels l WHERE l.id = cases.id AND l.outcome = cases.outcome
  ORDER BY l.time DESC, l.entry DESC LIMIT 1
) WHERE id = ?1 AND outcome = coalesce(?3, outcome)
"""
"""A case carries the label known when its window closes, and the one known now."""

ALARMS = """
SELECT time, patient, counted, latest FROM cases
WHERE alarm = 1 AND stream = ? AND time >= ? ORDER BY time, id
"""

LATEST = """
SELECT period, time, score, alarm, patient, latest, outcome, stream FROM cases
WHERE time >= ? AND time < ? ORDER BY time, id
"""

WHOSE_LABELS = """
SELECT coalesce(sum(c.id IS NULL), 0), coalesce(sum(c.alarm IS 0), 0)
FROM labels l LEFT JOIN cases c ON c.id = l.id AND c.outcome = l.outcome
WHERE l.entry > (SELECT max(entry) FROM labels) - ?
"""

COUNT_PERIOD = """
INSERT INTO periods
SELECT period, stream, min(time), count(*), sum(alarm), sum(score), sum(score * score), max(time),
  sum(alarm = 1 AND latest IS 0), sum(alarm = 0 AND latest IS 1), sum(latest IS NOT NULL)
FROM cases WHERE period = ? GROUP BY stream
"""

COSTS = """
SELECT start, cases, false_alarms, misses, cases - labelled FROM periods
WHERE start >= ?1 AND last < ?2 AND start < (SELECT max(start) FROM periods WHERE start < ?2)
ORDER BY start
"""
"""Periods that began at a time or later and had ended before another."""


class Cases(NamedTuple):
    """New cases, one entry for each."""

    ids: AnyArray
    seconds: FloatArray
    periods: AnyArray
    scores: FloatArray
    alarms: BoolArray
    patients: AnyArray | None
    outcomes: AnyArray
    streams: AnyArray

    def take(self, rows: AnyArray) -> Cases:
        """Return the cases that a mask marks, or those at the given positions."""
        return Cases._make(None if column is None else column[rows] for column in self)


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

    format = 4
    schema = STORE_SCHEMA

    @property
    def clock(self) -> float | None:
        """The latest time that the file knows of."""
        text = self.fact("clock")
        return None if text is None else float(text)

    @property
    def first(self) -> float | None:
        """The time of the first case."""
        first = self.rows("SELECT min(time) FROM cases")[0][0]
        return None if first is None else float(first)

    def advance(self, seconds: float) -> None:
        """Set the clock forward, inside a transaction; it never goes back."""
        clock = self.clock
        if clock is None or seconds > clock:
            self.keep("clock", repr(float(seconds)))

    def set_back(self) -> None:
        """Set the clock to the latest time that is left, inside a transaction; unsettle all."""
        query = "SELECT max(time) FROM cases UNION ALL SELECT max(time) FROM labels"
        times = [row[0] for row in self.rows(query)] + [self.fact("advanced")]
        clock = max((float(time) for time in times if time is not None), default=-np.inf)
        self.keep("clock", repr(clock))
        self.rows("DELETE FROM settled")

    def use_unit(self, unit: str) -> None:
        """Refuse periods of two kinds, inside a transaction."""
        stored = self.fact("periods")
        if stored not in (None, unit):
            raise ArgumentError(
                "periods", f" are of another kind than before ({stored}, not {unit}); keep to one"
            )
        self.keep("periods", unit)

    def add_cases(self, cases: Cases, window: float) -> BoolArray:
        """Add cases inside a transaction, with their periods' totals, and return which were new.

        Raises
        ------
        ArgumentError
            When a case came before with another score, time or patient.
        """
        n = len(cases.ids)
        self.rows("SAVEPOINT batch")
        new = np.ones(n, dtype=np.bool_)
        if self._insert(cases, np.arange(n)) < n:
            # Rarely: some came before, or twice in this batch.
            self.rows("ROLLBACK TO batch")
            new = self._new_ones(cases)
            self._insert(cases, np.flatnonzero(new))
        self.rows("RELEASE batch")
        self._add_totals(cases.take(new))
        if self.fact("early labels") is not None:
            self._set_labels(cases.ids[new], window)
        return new

    def _set_labels(self, ids: AnyArray, window: float, outcome: str | None = None) -> int:
        """Write labels to the cases they belong to, and return how many of those are stored."""
        return self.run_each(SET_LABELS, ((case, window, outcome) for case in ids.tolist()))

    def _insert(self, cases: Cases, rows: AnyArray) -> int:
        patients = [None] * len(rows) if cases.patients is None else cases.patients[rows].tolist()
        columns = (cases.ids, cases.seconds, cases.periods, cases.scores, cases.alarms)
        lists = [c[rows].tolist() for c in (*columns, cases.outcomes, cases.streams)]
        return self.run_each(
            "INSERT OR IGNORE INTO cases (id, time, period, score, alarm, outcome, stream, patient)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            zip(*lists, patients, strict=True),
        )

    def _new_ones(self, cases: Cases) -> BoolArray:
        """Mark the first coming of each case; every other must say the same."""
        known = self._known(cases.ids.tolist(), "outcome, score, time, stream, patient")
        seen = {(case, outcome): tuple(said) for case, outcome, *said in known}
        new = np.zeros(len(cases.ids), dtype=np.bool_)
        patients = [None] * len(new) if cases.patients is None else cases.patients.tolist()
        columns = (cases.ids, cases.outcomes, cases.scores, cases.seconds, cases.streams)
        lists = [column.tolist() for column in columns]
        for row, (case, outcome, *said) in enumerate(zip(*lists, patients, strict=True)):
            new[row] = (case, outcome) not in seen
            before = seen.setdefault((case, outcome), tuple(said))
            if before[:3] != tuple(said[:3]) or _differ(before[3], said[3]):
                raise ArgumentError("cases", _differs(case, before, tuple(said)))
        return new

    def check_unseen(self, periods: AnyArray) -> None:
        """Raise where a period has cases already: its list is made."""
        for period in dict.fromkeys(periods.tolist()):
            if self.rows("SELECT 1 FROM periods WHERE period = ?", (period,)):
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

    def _add_totals(self, cases: Cases) -> None:
        """Add new cases to the totals of their periods, inside a transaction."""
        for stream in dict.fromkeys(cases.streams.tolist()):
            self._add_stream(stream, cases.take(cases.streams == stream))

    def _add_stream(self, stream: str, cases: Cases) -> None:
        names, codes = np.unique(cases.periods, return_inverse=True)
        starts, lasts = np.full(len(names), np.inf), np.full(len(names), -np.inf)
        np.minimum.at(starts, codes, cases.seconds)
        np.maximum.at(lasts, codes, cases.seconds)
        sums = [
            np.bincount(codes, weights, len(names)).tolist()
            for weights in (None, cases.alarms, cases.scores, cases.scores**2)
        ]
        ends = starts.tolist(), lasts.tolist()
        streams = [stream] * len(names)
        self.run_each(ADD_PERIOD, zip(names.tolist(), streams, *ends, *sums, strict=True))

    def add_labels(
        self,
        ids: AnyArray,
        seconds: FloatArray,
        values: BoolArray,
        window: float,
        outcome: str = "",
    ) -> int:
        """Add labels inside a transaction; one that says nothing new is left out."""
        rows = zip(ids.tolist(), seconds.tolist(), values.astype(int).tolist(), strict=True)
        new = self.run_each(ADD_LABEL, ((*row, outcome) for row in rows))
        if self._set_labels(ids, window, outcome) < len(ids):
            # From now on cases are asked for labels that came before them.
            self.keep("early labels", "yes")
        return new

    def alarms(self, stream: str, since: float) -> list[tuple[Any, ...]]:
        """Return time, patient, label at the end of the window and label now of each alarm."""
        return self.rows(ALARMS, (stream, since))

    def n_alarms(self, stream: str, since: float, until: float) -> int:
        """Count the alarms of a stream between two times."""
        query = (
            "SELECT count(*) FROM cases WHERE alarm = 1 AND stream = ? AND time >= ? AND time < ?"
        )
        return int(self.rows(query, (stream, since, until))[0][0])

    def flagged(self) -> dict[str, int]:
        """Count the cases with an alarm of any outcome in each period."""
        query = "SELECT period, count(DISTINCT id) FROM cases WHERE alarm = 1 GROUP BY period"
        return {period: int(count) for period, count in self.rows(query)}

    def settled(self, stream: str = "") -> str | None:
        """Return the latest state of a stream that was settled."""
        query = "SELECT state FROM settled WHERE stream = ? ORDER BY until DESC LIMIT 1"
        rows = self.rows(query, (stream,))
        return str(rows[0][0]) if rows else None

    def settle(self, stream: str, until: float, state: str) -> None:
        """Keep a state that holds as long as no alarm before a time comes or changes."""
        self.rows("INSERT INTO settled VALUES (?, ?, ?)", (stream, until, state))

    def withdraw(self, ids: AnyArray) -> None:
        """Take cases out with their labels, inside a transaction."""
        periods = self._periods_of(ids)
        for table in ("cases", "labels"):
            self.run_each(f"DELETE FROM {table} WHERE id = ?", ((case,) for case in ids.tolist()))
        self._count_again(periods)
        self.set_back()

    def move(self, ids: AnyArray, seconds: FloatArray, periods: AnyArray, window: float) -> None:
        """Give cases other times and periods, inside a transaction."""
        before = self._periods_of(ids)
        rows = zip(seconds.tolist(), periods.tolist(), ids.tolist(), strict=True)
        self.run_each("UPDATE cases SET time = ?, period = ? WHERE id = ?", rows)
        self._set_labels(ids, window)
        self._count_again(before | self._periods_of(ids))
        self.set_back()

    def _periods_of(self, ids: AnyArray) -> set[str]:
        """Return the periods of stored cases.

        Raises
        ------
        ArgumentError
            When one has not come.
        """
        periods = set()
        for case in ids.tolist():
            rows = self.rows("SELECT period FROM cases WHERE id = ?", (case,))
            if not rows:
                raise ArgumentError("cases", f" holds {case!r}, which has not come")
            periods.add(str(rows[0][0]))
        return periods

    def _count_again(self, periods: set[str]) -> None:
        """Count the totals of periods from their cases."""
        for period in sorted(periods):
            self.rows("DELETE FROM periods WHERE period = ?", (period,))
            self.rows(COUNT_PERIOD, (period,))

    def latest(self, since: float, until: float) -> list[tuple[Any, ...]]:
        """Return period, time, score, alarm, patient and latest label of the cases between."""
        return self.rows(LATEST, (since, until))

    def sizes(self) -> tuple[int, int, int]:
        """Return how many cases, alarms and labels are stored, without counting them one by one."""
        query = "SELECT coalesce(sum(cases), 0), coalesce(sum(alarms), 0) FROM periods"
        cases, alarms = self.rows(query)[0]
        return int(cases), int(alarms), int(self.rows("SELECT count(*) FROM labels")[0][0])

    def recent_labels(self) -> tuple[int, int]:
        """Return how many of the last labels are of no stored case, and of cases without alarm."""
        unknown, others = self.rows(WHOSE_LABELS, (RECENT_LABELS,))[0]
        return unknown, others

    def costs(self, since: float, until: float) -> list[tuple[Any, ...]]:
        """Return of each period its start, cases, false alarms, misses, and cases without label."""
        return self.rows(COSTS, (since, until))

    def periods(self, since: float, streams: Sequence[str] = ("",)) -> PeriodTotals:
        """Return the totals of some streams in every period that began at a time or later."""
        marks = ",".join("?" * len(streams))
        query = (
            "SELECT period, min(start), sum(cases), sum(alarms), sum(total), sum(squares) "
            f"FROM periods WHERE stream IN ({marks}) GROUP BY period HAVING min(start) >= ? "
            "ORDER BY min(start), period"
        )
        rows = self.rows(query, (*streams, since))
        columns = list(zip(*rows, strict=True)) if rows else [()] * 6
        starts, cases, alarms, totals, squares = (np.array(c, dtype=float) for c in columns[1:])
        return PeriodTotals(
            names=np.array(columns[0], dtype=str),
            starts=starts,
            cases=cases,
            alarms=alarms,
            totals=totals,
            squares=squares,
        )


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
