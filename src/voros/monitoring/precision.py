"""Precision against its floor: alarms in their order, each counted when its window closes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from voros.core.arrays import AnyArray, BoolArray, FloatArray
from voros.monitoring.bets import PRECISION_WEIGHTS, START_WEIGHTS, precision_bets
from voros.monitoring.confidence import cluster_interval, mean_interval
from voros.monitoring.evidence import START_SHARE, Evidence, Fold, weigh
from voros.monitoring.exact_bound import start_bounds
from voros.monitoring.settings import Settings
from voros.monitoring.status import Judgement, Seen, Watch

RECENT = 100
"""Units of the curve that shows how it is now."""

CURVE_POINTS = 400
"""At most this many points of a curve are computed."""


class Alarms(NamedTuple):
    """Alarms in the order of time, with the label known when the window closed.

    Attributes
    ----------
    times : ndarray of float
    patients : sequence of str or None
    closed : ndarray of bool
        Whether the window has closed.
    labels : ndarray of float
        1, 0, or NaN where no label had come by then.
    latest : ndarray of float
        The label as it is now.
    """

    times: FloatArray
    patients: Sequence[str | None]
    closed: BoolArray
    labels: FloatArray
    latest: FloatArray

    def part(self, first: int, last: int) -> Alarms:
        """Return some alarms, from the first to the one before the last."""
        return Alarms._make(column[first:last] for column in self)


def read_alarms(rows: Sequence[tuple[Any, ...]], window: float, clock: float) -> Alarms:
    """Read rows of the store; a window closes when the clock has passed its end."""
    if not rows:
        empty = np.zeros(0)
        return Alarms(empty, (), empty.astype(bool), empty, empty)
    time, patients, counted, latest = zip(*rows, strict=True)
    times = np.array(time)
    labels, now = (np.array(values, dtype=float) for values in (counted, latest))
    return Alarms(times, patients, times + window < clock, labels, now)


class Units(NamedTuple):
    """Closed alarms, or closed clusters of a patient's alarms: how many, and how many true."""

    begins: FloatArray
    ends: FloatArray
    alarms: FloatArray
    true: FloatArray

    def part(self, first: int, last: int) -> Units:
        """Return some units, from the first to the one before the last."""
        return Units._make(column[first:last] for column in self)


def read_units(
    alarms: Alarms, settings: Settings, clock: float, folded: Mapping[str, float] | None = None
) -> Units:
    """Make units of alarms: each alone, or the first few of each patient's episode together.

    ``folded`` has the patients whose latest episode was a unit before these alarms, and its begin.
    """
    window = settings.window_seconds
    if settings.most_per_patient == 1:
        counted = alarms.closed & ~np.isnan(alarms.labels)
        times, true = alarms.times[counted], alarms.labels[counted]
        return Units(times, times + window, np.ones(len(times)), true)
    begins, _, codes = _episodes(alarms, settings, folded or {})
    ends = begins + settings.episode_seconds + window
    labels = alarms.labels[codes >= 0]
    known, of = ~np.isnan(labels), codes[codes >= 0]
    n = np.bincount(of[known], minlength=len(begins)).astype(float)
    true = np.bincount(of[known], labels[known], minlength=len(begins)).astype(float)
    counted = (ends < clock) & (n > 0)
    return Units(begins[counted], ends[counted], n[counted], true[counted])


def _episodes(
    alarms: Alarms, settings: Settings, folded: Mapping[str, float]
) -> tuple[FloatArray, list[str | None], AnyArray]:
    """Return when each episode began, whose it is, and the episode of each alarm, or -1.

    -1 is an alarm beyond the first few of its episode, or one of an episode that is folded.
    """
    begins, owners = list(folded.values()), list[str | None](folded)
    sizes = [settings.most_per_patient] * len(begins)
    current = {patient: episode for episode, patient in enumerate(folded)}
    codes = np.full(len(alarms.times), -1)
    for row, (time, patient) in enumerate(zip(alarms.times.tolist(), alarms.patients, strict=True)):
        episode = -1 if patient is None else current.get(patient, -1)
        if episode < 0 or time > begins[episode] + settings.episode_seconds:
            episode = len(begins)
            begins.append(time)
            owners.append(patient)
            sizes.append(0)
        if patient is not None:
            current[patient] = episode
        if sizes[episode] < settings.most_per_patient:
            codes[row] = episode
            sizes[episode] += 1
    return np.array(begins, dtype=float), owners, codes


def precision_evidence(
    units: Units, floor: float, settings: Settings, after: Fold | None = None
) -> Evidence:
    """Weigh units against the floor; the bound is exact where each is one alarm."""
    most, alpha = settings.most_per_patient, settings.alpha
    factors = precision_bets(units.alarms, units.true, floor, most)
    options: dict[str, Any] = {"begins": units.begins, "after": after}
    if most == 1 and floor > 0:
        before = 0 if after is None else after.n
        exact = start_bounds(before + len(units.alarms), floor, START_SHARE * alpha)[before:]
        options |= {"start_bounds": exact, "start_weights": START_WEIGHTS}
    return weigh(factors, PRECISION_WEIGHTS, alpha, settings.run_length, **options)


class Tallies(NamedTuple):
    """Alarms whose windows have closed, by their labels.

    Attributes
    ----------
    counted, true : float
        Alarms that count, and true ones.
    never, late, changed : int
        Alarms without a label, with one that came too late to count, and with one that was
        corrected after it had counted.
    """

    counted: float = 0.0
    true: float = 0.0
    never: int = 0
    late: int = 0
    changed: int = 0

    def then(self, units: Units, alarms: Alarms) -> Tallies:
        """Add units, and closed alarms."""
        missing, none = np.isnan(alarms.labels), np.isnan(alarms.latest)
        found = (
            missing & none,
            missing & ~none,
            ~missing & (alarms.labels != alarms.latest),
        )
        return Tallies(
            self.counted + float(units.alarms.sum()),
            self.true + float(units.true.sum()),
            *(
                before + int((alarms.closed & which).sum())
                for before, which in zip(self[2:], found, strict=True)
            ),
        )


@dataclass(frozen=True, eq=False)
class Settled:
    """Everything that the alarms before a time have shown, in a few numbers.

    Attributes
    ----------
    begin : float
        Alarms before it are in, and units that began before it.
    fold : Fold
    seen : Seen
    tallies : Tallies
    patients : dict of str to float
        Whose unit reaches beyond `begin`, and when it began.
    """

    begin: float = -np.inf
    fold: Fold = field(default_factory=lambda: Fold.empty(len(PRECISION_WEIGHTS)))
    seen: Seen = field(default_factory=Seen)
    tallies: Tallies = field(default_factory=Tallies)
    patients: dict[str, float] = field(default_factory=dict)

    def then(self, units: Units, alarms: Alarms, evidence: Evidence) -> Settled:
        """Go on with further units and closed alarms."""
        tallies = self.tallies.then(units, alarms)
        return replace(
            self, fold=evidence.fold, seen=self.seen.then(evidence, units.ends), tallies=tallies
        )

    def text(self) -> str:
        """Write the state as JSON; numbers come back to the bit."""
        values = asdict(self)
        values["fold"] = {k: v.tolist() if k != "n" else v for k, v in values["fold"].items()}
        return json.dumps(values)

    @classmethod
    def from_text(cls, text: str) -> Settled:
        """Read a state back."""
        values: dict[str, Any] = json.loads(text)
        fold: dict[str, Any] = {
            k: np.array(v) if k != "n" else v for k, v in values.pop("fold").items()
        }
        seen, tallies = Seen(**values.pop("seen")), Tallies(*values.pop("tallies"))
        return cls(fold=Fold(**fold), seen=seen, tallies=tallies, **values)


def settle(
    state: Settled, alarms: Alarms, floor: float, settings: Settings, clock: float, size: int
) -> Iterator[tuple[float, Settled]]:
    """Fold alarms that nothing can change but a correction, in blocks of at least `size`.

    Yields the time before which a change of an alarm makes a state untrue, and that state.
    """
    reach = settings.reach_seconds
    units = read_units(alarms, settings, clock, state.patients)
    # A block ends where time moves on, so that it is known by its time alone.
    last = int(np.searchsorted(alarms.times, clock - settings.window_seconds - reach))
    moves = np.flatnonzero(np.diff(alarms.times[:last]) > 0) + 1
    episodes = None
    if settings.most_per_patient > 1:
        episodes = _episodes(alarms, settings, state.patients)[:2]
    row, unit = 0, 0
    while len(ends := moves[moves >= row + size]):
        begin = float(alarms.times[ends[0]])
        upto = int(np.searchsorted(units.begins, begin))
        block = units.part(unit, upto)
        evidence = precision_evidence(block, floor, settings, state.fold)
        state = replace(
            state.then(block, alarms.part(row, int(ends[0])), evidence),
            begin=begin,
            patients=_reaching(episodes, begin, reach),
        )
        row, unit = int(ends[0]), upto
        yield begin + reach, state


def _reaching(
    episodes: tuple[FloatArray, list[str | None]] | None, begin: float, reach: float
) -> dict[str, float]:
    """Return the patients whose episode began before a time and may go on at it."""
    if episodes is None:
        return {}
    begins, owners = episodes
    rows = np.flatnonzero((begins < begin) & (begins + reach >= begin)).tolist()
    return {owner: float(begins[row]) for row in rows if (owner := owners[row]) is not None}


def precision_watch(
    state: Settled, alarms: Alarms, floor: float, settings: Settings, clock: float
) -> tuple[Watch, Tallies]:
    """Judge the precision of the alarms whose windows have closed: those settled, and the rest.

    Curves are of the rest; give a state that has settled nothing for those of all alarms.
    """
    units = read_units(alarms, settings, clock, state.patients)
    evidence = precision_evidence(units, floor, settings, state.fold)
    now = state.then(units, alarms, evidence)
    tp, n, n_units = now.tallies.true, now.tallies.counted, now.fold.n
    ends = _ends(np.array([tp]), np.array([n]), np.array([float(n_units)]), settings)
    low, high = (float(end[0]) for end in ends) if n else (0.0, 1.0)
    found = now.seen.judge(kept=bool(n and low >= floor))
    watch = Watch(
        "precision",
        found.verdict,
        _words(found, tp, n, floor, (low, high)),
        floor,
        tp / n if n else None,
        low,
        high,
        n_units,
        now.seen.evidence,
        found.since,
        found.noticed,
        _curves(units, evidence, settings) if state.fold.n == 0 else {},
    )
    return watch, now.tallies


def _curves(units: Units, evidence: Evidence, settings: Settings) -> dict[str, FloatArray]:
    points = _points(len(units.alarms))
    true, n = np.cumsum(units.true), np.cumsum(units.alarms)
    low, high = _ends(true[points], n[points], points + 1.0, settings)
    return {
        "time": units.ends[points],
        "estimate": (true / np.maximum(n, 1))[points],
        "recent": _recent(true, n)[points],
        "low": low,
        "high": high,
        "evidence": evidence.gaps[points],
        "detector": (evidence.detector - evidence.detector_bound)[points],
    }


def _recent(true: FloatArray, alarms: FloatArray) -> FloatArray:
    """Return the precision of the last units; NaN before there are as many."""
    recent = np.full(len(true), np.nan)
    if len(true) > RECENT:
        hits, n = true[RECENT:] - true[:-RECENT], alarms[RECENT:] - alarms[:-RECENT]
        recent[RECENT:] = hits / n
    return recent


def _points(n: int) -> AnyArray:
    """Choose units to compute a curve at, the last one included."""
    return np.unique(np.linspace(0, n - 1, min(n, CURVE_POINTS)).astype(int)) if n else np.arange(0)


def _ends(
    true: FloatArray, n: FloatArray, units: FloatArray, settings: Settings
) -> tuple[FloatArray, FloatArray]:
    if settings.most_per_patient == 1:
        return mean_interval(true, n, settings.alpha)
    return cluster_interval(true, n, units, settings.most_per_patient, settings.alpha)


def _words(found: Judgement, tp: float, n: float, floor: float, ends: tuple[float, float]) -> str:
    if not n:
        return f"precision: too early to tell; no labelled alarm is old enough (floor {floor:g})"
    seen = (
        f"{tp:,.0f} of {n:,.0f} alarms were true ({tp / n:.3f}, interval {ends[0]:.3f} to "
        f"{ends[1]:.3f}; floor {floor:g})"
    )
    if found.verdict == "broken":
        return (
            f"precision: broken since about {found.since}, shown on {found.noticed}; in all {seen}"
        )
    if found.verdict == "watch":
        return (
            f"precision: watch; the detector has been above its bound since {found.noticed}, as if "
            f"precision had fallen about {found.since}; in all {seen}"
        )
    return f"precision: {found.verdict}; {seen}"
