"""Precision and recall against their floors.

Units count in the order in which they began, once their windows have closed. For precision, a unit
has alarms, some of them true. For recall, it has positives, some of which raised an alarm; an alarm
without a label may be one of these, and a case with neither alarm nor label is left out, which can
only hide misses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from voros.monitoring.evidence import (
    PRECISION_STAKES,
    PRECISION_WEIGHTS,
    Evidence,
    ratio_bets,
    ratio_interval,
    weigh,
)
from voros.monitoring.settings import Settings
from voros.monitoring.status import Judgement, Watch, judge
from voros.text.numbers import count, counted, interval, short
from voros.typing import AnyArray, BoolArray, FloatArray

RECENT = 100
"""Number of latest units in the curve of the recent precision or recall."""

HIGHEST_FLOOR = 1.0 - 1e-9
"""Stands for a floor of 1, to keep logarithms finite; one false alarm is decisive."""

CURVE_POINTS = 100
"""Most points of a curve; each interval is computed from all units before it."""


class Alarms(NamedTuple):
    """Alarms in the order of time.

    Attributes
    ----------
    times : ndarray of float
    patients : sequence of str or None
    labels : ndarray of float
        The latest labels: 1, 0, or NaN where there is none.
    at_close : ndarray of float
        The labels when the window of the alarm closed.
    scores : ndarray of float
    """

    times: FloatArray
    patients: Sequence[str | None]
    labels: FloatArray
    at_close: FloatArray
    scores: FloatArray

    @classmethod
    def from_rows(cls, rows: Sequence[tuple[Any, ...]]) -> Alarms:
        """Build from rows of time, patient, label now, label when the window closed, and score."""
        times, patients, *columns = zip(*rows, strict=True) if rows else ((),) * 5
        return cls(np.array(times), patients, *(np.array(c, dtype=float) for c in columns))

    @property
    def with_patients(self) -> bool:
        """Whether alarms name patients, whose alarms belong together."""
        return any(patient is not None for patient in self.patients)


class Units(NamedTuple):
    """Independent units: alarms, patients or stays, in the order in which they begin.

    Attributes
    ----------
    begins, ends : ndarray of float
        When each began, and when it closed.
    alarms, true, unlabelled : ndarray of float
        Alarms of each, true ones, and ones without a label.
    one_true : bool
        Whether at most one alarm of each unit can be true.
    """

    begins: FloatArray
    ends: FloatArray
    alarms: FloatArray
    true: FloatArray
    unlabelled: FloatArray
    one_true: bool

    def at_best(self) -> Units:
        """Count as many unlabelled alarms as possible as true, and leave out the others."""
        true = self.true + self.unlabelled
        true = np.minimum(true, 1.0) if self.one_true else true
        alarms = self.alarms - self.unlabelled + true - self.true
        return self._replace(alarms=alarms, true=true, unlabelled=np.zeros(len(true)))

    @property
    def sums(self) -> tuple[float, float, float]:
        """Numbers of alarms, of true ones and of ones without a label."""
        return float(self.alarms.sum()), float(self.true.sum()), float(self.unlabelled.sum())

    def only(self, rows: AnyArray) -> Units:
        """Return some of the units."""
        *columns, one_true = self
        return Units._make([*(column[rows] for column in columns), one_true])

    def labelled_only(self) -> Units:
        """Leave out the alarms without a label."""
        labelled = self._replace(
            alarms=self.alarms - self.unlabelled, unlabelled=np.zeros(len(self.alarms))
        )
        return labelled.only(labelled.alarms > 0)

    def interval(self, alpha: float) -> tuple[float, float]:
        """Return both ends of the interval, whatever the missing labels are."""
        best = self.at_best()
        if not self.alarms.sum():
            return 0.0, 1.0
        low, _ = ratio_interval(self.true, alpha, self._sizes(self.alarms))
        most_false = ratio_interval(best.alarms - best.true, alpha, self._sizes(best.alarms))
        return low, 1.0 - most_false[0]

    @staticmethod
    def _sizes(alarms: FloatArray) -> FloatArray | None:
        """Return the sizes of units; None where each is one alarm."""
        return None if (alarms == 1).all() else alarms

    def evidence(self, floor: float, settings: Settings) -> Evidence:
        """Weigh the units against the floor; unlabelled alarms count as true ones.

        The evidence is at most that of all labels.
        """
        best, most_false = self.at_best(), 1.0 - min(floor, HIGHEST_FLOOR)
        bets = ratio_bets(
            best.alarms - best.true,
            most_false,
            best.alarms,
            PRECISION_STAKES,
            largest=1.0 if self.one_true else None,
        )
        return weigh(bets, settings, self.begins, PRECISION_WEIGHTS)


def closed_units(alarms: Alarms, window: float, clock: float) -> tuple[Units, BoolArray]:
    """Return the closed units, and which alarms belong to them."""
    units, codes = all_units(alarms, window)
    closed = units.ends < clock
    return units.only(closed), closed[codes]


def all_units(alarms: Alarms, window: float) -> tuple[Units, AnyArray]:
    """Return the units of alarms, including open ones, and the unit of each alarm.

    Without patients, each alarm is a unit, which closes a window later. With patients, alarms of a
    patient within a window of the first are one unit, which closes two windows after the first.
    """
    single = not alarms.with_patients
    codes = np.arange(len(alarms.times)) if single else _patient_units(alarms, window)
    begins = alarms.times[np.unique(codes, return_index=True)[1]]
    ends = begins + (window if single else 2 * window)
    missing = np.isnan(alarms.labels)
    n, true, unlabelled = (
        np.bincount(codes, weights, minlength=len(begins)).astype(float)
        for weights in (None, np.nan_to_num(alarms.labels), missing)
    )
    return Units(begins, ends, n, true, unlabelled, single), codes


def _patient_units(alarms: Alarms, window: float) -> AnyArray:
    """Return the unit of each alarm, numbered in the order in which they begin."""
    began: list[float] = []
    unit_of: dict[str, int] = {}
    codes = np.empty(len(alarms.times), dtype=int)
    for row, (time, patient) in enumerate(zip(alarms.times.tolist(), alarms.patients, strict=True)):
        unit = len(began) if patient is None else unit_of.get(patient, len(began))
        if unit == len(began) or time > began[unit] + window:
            unit = len(began)
            began.append(time)
        if patient is not None:
            unit_of[patient] = unit
        codes[row] = unit
    return codes


class Said(NamedTuple):
    """Words for the cases of a unit, and for what is counted of them."""

    of: str
    counted: str


PRECISION = Said("alarm", "were true")
RECALL = Said("positive", "raised an alarm")


def precision_watch(
    units: Units,
    floor: float,
    settings: Settings,
    name: str = "precision",
    said: Said = PRECISION,
    unknown_misses: str = "",
) -> Watch:
    """Judge the precision, or the recall, of closed units.

    ``unknown_misses`` says why there may be more misses than are known; then the floor may be
    shown broken, but not kept.
    """
    n, true, unlabelled = units.sums
    evidence = units.evidence(floor, settings)
    low, high = units.interval(settings.alpha)
    low = 0.0 if unknown_misses else low
    judgement = judge(evidence, units.ends, kept=bool(n and low >= floor))
    if judgement.verdict == "too early to tell" and (unlabelled or unknown_misses):
        ends = units.labelled_only().interval(settings.alpha)
        if unknown_misses or ends[0] >= floor or ends[1] < floor:
            judgement = Judgement("unknown")
    opening = judgement.words
    if opening == "unknown" and unlabelled and said == PRECISION:
        opening += _labels_in_words(units)
    more = f"; {unknown_misses}, so recall may be lower" if unknown_misses else ""
    return Watch(
        name=name,
        **vars(judgement),
        words=f"{name}: {opening}; {_counts_in_words(units, floor, (low, high), said)}{more}",
        limit=floor,
        estimate=true / (n - unlabelled) if n > unlabelled else None,
        low=low,
        high=high,
        n=len(units.alarms),
        evidence=evidence.ratio,
        curves=lambda: _curves(units, evidence, settings.alpha, low_is_known=not unknown_misses),
    )


def _curves(
    units: Units, evidence: Evidence, alpha: float, low_is_known: bool
) -> dict[str, FloatArray]:
    last = len(units.alarms) - 1
    points = np.unique(np.linspace(0, max(last, 0), min(last + 1, CURVE_POINTS)).astype(int))
    true, labelled = np.cumsum(units.true), np.cumsum(units.alarms - units.unlabelled)
    ends = [units.only(np.arange(point + 1)).interval(alpha) for point in points.tolist()]
    low, high = np.array(ends).reshape(-1, 2).T
    return {
        "time": units.ends[points],
        "estimate": (true / np.maximum(labelled, 1))[points],
        "recent": _recent(true, labelled)[points],
        "low": low * low_is_known,
        "high": high,
        "evidence": evidence.gaps[points],
        "detector": (evidence.detector - evidence.detector_bound)[points],
    }


def _recent(true: FloatArray, labelled: FloatArray) -> FloatArray:
    """Return the precision of the last `RECENT` units; NaN before there are that many."""
    recent = np.full(len(true), np.nan)
    if len(true) > RECENT:
        hits, n = true[RECENT:] - true[:-RECENT], labelled[RECENT:] - labelled[:-RECENT]
        recent[RECENT:] = np.where(n > 0, hits / np.maximum(n, 1.0), np.nan)
    return recent


def reversed_in_words(watch: Watch, alarms: Alarms, settings: Settings, now: float) -> str:
    """Return a note where labels that became known after the windows closed change a verdict."""
    window, floor = settings.window_seconds, watch.limit or 0.0
    _, closed = closed_units(alarms, window, now)
    labels, at_close = alarms.labels[closed], alarms.at_close[closed]
    units, _ = closed_units(alarms._replace(labels=alarms.at_close), window, now)
    low, high = units.labelled_only().interval(settings.alpha)
    was = "kept" if low >= floor else "broken" if high < floor else watch.verdict
    if was == watch.verdict or np.array_equal(labels, at_close, equal_nan=True):
        return ""
    n, true = len(at_close) - np.isnan(at_close).sum(), np.nansum(at_close)
    return (
        f"late or corrected labels have changed the verdict on {watch.name}: with those known when "
        f"the windows closed, {count(true)} of {count(n)} alarms were true, and it would be {was}"
    )


def recall_watch(
    rows: Sequence[tuple[Any, ...]], floor: float, settings: Settings, now: float
) -> Watch:
    """Judge the recall from the rows of every case, as `Store.latest` returns them.

    If some cases without an alarm have no label, there may be more misses than are known. If none
    has one, recall is not judged.
    """
    window = settings.window_seconds
    silent = [label for _, time, _, alarm, _, label in rows if not alarm and time + window < now]
    n_unlabelled = silent.count(None)
    if silent and n_unlabelled == len(silent):
        words = "recall: not watched: no case without an alarm has a label, which would show misses"
        return Watch(name="recall", verdict="unknown", words=words, limit=floor)
    positives = [
        (time, patient, *([None, None] if label is None else [alarm, alarm]), None)
        for _, time, _, alarm, patient, label in rows
        if label == 1 or (alarm and label is None)
    ]
    units, _ = closed_units(Alarms.from_rows(positives), window, now)
    unknown = f"{n_unlabelled:,} of {len(silent):,} cases without an alarm have no label"
    return precision_watch(units, floor, settings, "recall", RECALL, unknown * bool(n_unlabelled))


def _labels_in_words(units: Units) -> str:
    """Say which shares are possible with all labels."""
    n, true, _ = units.sums
    most, best, _ = units.at_best().sums
    return f"; with all labels precision would be from {short(true / n)} to {short(best / most)}"


def _counts_in_words(units: Units, floor: float, ends: tuple[float, float], said: Said) -> str:
    n, true, unlabelled = units.sums
    labelled = n - unlabelled
    if not n:
        return f"no {said.of} has a closed window (floor {floor:g})"
    known = f"{count(true)} of {count(labelled)} {said.of}s {said.counted}" if labelled else ""
    if unlabelled:
        have = "has" if unlabelled == 1 else "have"
        known += f"{' and ' * bool(known)}{counted(int(unlabelled), 'alarm')} {have} no label"
    share = f"{short(true / labelled, floor)}, " if labelled else ""
    return f"{known} ({share}interval {interval(*ends)}; floor {floor:g})"
