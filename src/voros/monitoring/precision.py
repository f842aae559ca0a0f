"""Precision against its floor: alarms in their order, each counted when its window closes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from voros.monitoring.bounds import cluster_interval, mean_interval, start_bounds
from voros.monitoring.evidence import (
    PRECISION_WEIGHTS,
    START_SHARE,
    START_WEIGHTS,
    Evidence,
    Fold,
    precision_bets,
    weigh,
)
from voros.monitoring.settings import Settings
from voros.monitoring.status import Judgement, Seen, Watch
from voros.typing import AnyArray, BoolArray, FloatArray

RECENT = 100
"""Units of the curve that shows how it is now."""

CURVE_POINTS = 400
"""At most this many points of a curve are computed."""


class Alarms(NamedTuple):
    """Alarms in the order of time.

    Attributes
    ----------
    times : ndarray of float
    patients : sequence of str or None
    closed : ndarray of bool
        Whether the window has closed.
    labels : ndarray of float
        As they are known now: 1, 0, or NaN where none has come.
    at_close : ndarray of float
        The same when the window closed.
    """

    times: FloatArray
    patients: Sequence[str | None]
    closed: BoolArray
    labels: FloatArray
    at_close: FloatArray

    def part(self, first: int, last: int) -> Alarms:
        """Return some alarms, from the first to the one before the last."""
        return Alarms._make(column[first:last] for column in self)


def read_alarms(rows: Sequence[tuple[Any, ...]], window: float, clock: float) -> Alarms:
    """Read rows of the store; a window closes when the clock has passed its end."""
    if not rows:
        empty = np.zeros(0)
        return Alarms(empty, (), empty.astype(bool), empty, empty)
    time, patients, at_close, now = zip(*rows, strict=True)
    times = np.array(time)
    labels, before = (np.array(values, dtype=float) for values in (now, at_close))
    return Alarms(times, patients, times + window < clock, labels, before)


class Units(NamedTuple):
    """Closed alarms, or a patient's closed episodes: alarms, true ones, and those unlabelled."""

    begins: FloatArray
    ends: FloatArray
    alarms: FloatArray
    true: FloatArray
    unlabelled: FloatArray

    def part(self, first: int, last: int) -> Units:
        """Return some units, from the first to the one before the last."""
        return Units._make(column[first:last] for column in self)


def read_units(
    alarms: Alarms, settings: Settings, clock: float, folded: Mapping[str, float] | None = None
) -> Units:
    """Make units of alarms: each alone, or those of each patient's episode together.

    ``folded`` has the patients whose latest episode was a unit before these alarms, and its begin.
    """
    window, missing = settings.window_seconds, np.isnan(alarms.labels)
    if settings.most_per_patient == 1:
        rows = np.flatnonzero(alarms.closed)
        times, unknown = alarms.times[rows], missing[rows]
        true = np.where(unknown, 0.0, alarms.labels[rows])
        return Units(times, times + window, np.ones(len(rows)), true, unknown.astype(float))
    begins, _, codes = _episodes(alarms, settings, folded or {})
    ends, of = begins + settings.episode_seconds + window, codes[codes >= 0]
    n, true, unknown = (
        np.bincount(of, weights[codes >= 0], minlength=len(begins)).astype(float)
        for weights in (np.ones(len(codes)), np.nan_to_num(alarms.labels), missing)
    )
    closed = (ends < clock) & (n > 0)
    return Units(*(column[closed] for column in (begins, ends, n, true, unknown)))


def _episodes(
    alarms: Alarms, settings: Settings, folded: Mapping[str, float]
) -> tuple[FloatArray, list[str | None], AnyArray]:
    """Return when each episode began, whose it is, and the episode of each alarm.

    An alarm of an episode that is folded has -1.
    """
    begins, owners = list(folded.values()), list[str | None](folded)
    current = {patient: episode for episode, patient in enumerate(folded)}
    codes = np.full(len(alarms.times), -1)
    for row, (time, patient) in enumerate(zip(alarms.times.tolist(), alarms.patients, strict=True)):
        episode = -1 if patient is None else current.get(patient, -1)
        if episode < 0 or time > begins[episode] + settings.episode_seconds:
            episode = len(begins)
            begins.append(time)
            owners.append(patient)
        if patient is not None:
            current[patient] = episode
        if episode >= len(folded):
            codes[row] = episode
    return np.array(begins, dtype=float), owners, codes


def precision_evidence(
    units: Units, floor: float, settings: Settings, after: Settled | None = None
) -> Evidence:
    """Weigh units against the floor, unlabelled alarms as true ones.

    So the evidence is at most what all labels would give. The bound is exact where each unit is one
    alarm.
    """
    before = Settled() if after is None else after
    single, alpha = settings.most_per_patient == 1, settings.alpha
    most = 1 if single else _largest_before(units, settings, before)
    factors = precision_bets(units.alarms, units.true + units.unlabelled, floor, most)
    options: dict[str, Any] = {"begins": units.begins, "after": before.fold}
    if single and floor > 0:
        n = before.fold.n
        exact = start_bounds(n + len(units.alarms), floor, START_SHARE * alpha)[n:]
        options |= {"start_bounds": exact, "start_weights": START_WEIGHTS}
    return weigh(factors, PRECISION_WEIGHTS, alpha, settings.run_length, **options)


def _largest_before(units: Units, settings: Settings, before: Settled) -> FloatArray:
    """Return the most alarms that an episode before each had, or was said to have at most."""
    least = max(float(settings.most_per_patient), before.tallies.largest)
    return np.asarray(np.maximum.accumulate(np.append(least, units.alarms))[:-1])


class Tallies(NamedTuple):
    """Alarms whose windows have closed, by their labels.

    Attributes
    ----------
    alarms, true, unlabelled : float
        Those that count, and of them true ones and ones without a label, as it is known now.
    largest : float
        The most alarms of an episode.
    late, changed : int
        Alarms whose label came, or was corrected, after the window had closed.
    labelled_at_close, true_at_close : int
        What was known when the windows closed.
    """

    alarms: float = 0.0
    true: float = 0.0
    unlabelled: float = 0.0
    largest: float = 1.0
    late: int = 0
    changed: int = 0
    labelled_at_close: int = 0
    true_at_close: int = 0

    def then(self, units: Units, alarms: Alarms) -> Tallies:
        """Add units, and closed alarms."""
        now, before = alarms.labels[alarms.closed], alarms.at_close[alarms.closed]
        missing = np.isnan(before)
        return Tallies(
            self.alarms + float(units.alarms.sum()),
            self.true + float(units.true.sum()),
            self.unlabelled + float(units.unlabelled.sum()),
            max(self.largest, float(units.alarms.max(initial=1.0))),
            self.late + int((missing & ~np.isnan(now)).sum()),
            self.changed + int((~missing & (before != now)).sum()),
            self.labelled_at_close + int((~missing).sum()),
            self.true_at_close + int((before == 1).sum()),
        )

    def labelled_only(self) -> Tallies:
        """Leave out the alarms without a label."""
        return self._replace(alarms=self.alarms - self.unlabelled, unlabelled=0.0)

    def as_at_close(self) -> Tallies:
        """Take the labels that were known when the windows closed, and those alarms alone."""
        then = float(self.labelled_at_close), float(self.true_at_close)
        return self._replace(alarms=then[0], true=then[1], unlabelled=0.0)

    def interval(self, n_units: int, settings: Settings) -> tuple[float, float]:
        """Return both ends of the precision, whatever the alarms without a label are."""
        if not self.alarms:
            return 0.0, 1.0
        n, units = np.array([self.alarms]), np.array([float(n_units)])
        low, high = (
            _ends(np.array([true]), n, units, settings, self.largest)
            for true in (self.true, self.true + self.unlabelled)
        )
        return float(low[0][0]), float(high[1][0])


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
        evidence = precision_evidence(block, floor, settings, state)
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
    state: Settled,
    alarms: Alarms,
    floor: float,
    settings: Settings,
    clock: float,
    *,
    curves: bool,
    name: str = "precision",
) -> tuple[Watch, Tallies]:
    """Judge the precision of the alarms whose windows have closed: those settled, and the rest.

    Curves are of the rest; give a state that has settled nothing for those of all alarms.
    """
    units = read_units(alarms, settings, clock, state.patients)
    evidence = precision_evidence(units, floor, settings, state)
    now = state.then(units, alarms, evidence)
    seen = now.tallies
    low, high = seen.interval(now.fold.n, settings)
    judgement = now.seen.judge(kept=bool(seen.alarms and low >= floor))
    if judgement.verdict == "too early to tell" and seen.unlabelled:
        ends = seen.labelled_only().interval(now.fold.n, settings)
        judgement = Judgement("unknown") if ends[0] >= floor or ends[1] < floor else judgement
    labelled = seen.alarms - seen.unlabelled
    watch = Watch(
        name=name,
        verdict=judgement.verdict,
        words=f"{name}: {_words(judgement, seen, floor, (low, high))}",
        limit=floor,
        estimate=seen.true / labelled if labelled else None,
        low=low,
        high=high,
        n=now.fold.n,
        evidence=now.seen.evidence,
        since=judgement.since,
        noticed=judgement.noticed,
        history=_curves(units, evidence, settings) if curves else {},
    )
    return watch, seen


def _curves(units: Units, evidence: Evidence, settings: Settings) -> dict[str, FloatArray]:
    last = len(units.alarms) - 1
    points = np.unique(np.linspace(0, max(last, 0), min(last + 1, CURVE_POINTS)).astype(int))
    true, n = np.cumsum(units.true), np.cumsum(units.alarms)
    unlabelled, largest = np.cumsum(units.unlabelled), float(units.alarms.max(initial=1.0))
    count = n[points], points + 1.0
    low, _ = _ends(true[points], *count, settings, largest)
    _, high = _ends((true + unlabelled)[points], *count, settings, largest)
    return {
        "time": units.ends[points],
        "estimate": (true / np.maximum(n - unlabelled, 1))[points],
        "recent": _recent(true, n - unlabelled)[points],
        "low": low,
        "high": high,
        "evidence": evidence.gaps[points],
        "detector": (evidence.detector - evidence.detector_bound)[points],
    }


def _recent(true: FloatArray, labelled: FloatArray) -> FloatArray:
    """Return the precision of the last units; NaN before there are as many."""
    recent = np.full(len(true), np.nan)
    if len(true) > RECENT:
        hits, n = true[RECENT:] - true[:-RECENT], labelled[RECENT:] - labelled[:-RECENT]
        recent[RECENT:] = np.where(n > 0, hits / np.maximum(n, 1.0), np.nan)
    return recent


def _ends(
    true: FloatArray, n: FloatArray, units: FloatArray, settings: Settings, largest: float
) -> tuple[FloatArray, FloatArray]:
    if settings.most_per_patient == 1:
        return mean_interval(true, n, settings.alpha)
    most = max(float(settings.most_per_patient), largest)
    return cluster_interval(true, n, units, most, settings.alpha)


def _words(judgement: Judgement, seen: Tallies, floor: float, ends: tuple[float, float]) -> str:
    labelled = seen.alarms - seen.unlabelled
    if not seen.alarms:
        return f"too early to tell; no window of an alarm has closed (floor {floor:g})"
    known = f"{seen.true:,.0f} of {labelled:,.0f} alarms were true"
    share = f"{seen.true / labelled:.3f}, " if labelled else ""
    if seen.unlabelled:
        known += f" and {seen.unlabelled:,.0f} have no label"
    shown = f"{known} ({share}interval {ends[0]:.3f} to {ends[1]:.3f}; floor {floor:g})"
    return f"{_verdict_in_words(judgement, seen)}; {shown}"


def _verdict_in_words(judgement: Judgement, seen: Tallies) -> str:
    if judgement.verdict == "broken":
        return (
            f"broken since about {judgement.since}, shown by the alarms until {judgement.noticed}"
        )
    if judgement.verdict == "watch":
        return (
            f"watch; the detector has been above its bound since {judgement.noticed}, as if "
            f"precision had fallen about {judgement.since}"
        )
    if judgement.verdict == "unknown":
        n, least, most = seen.unlabelled, seen.true, seen.true + seen.unlabelled
        return (
            f"unknown, because {n:,.0f} of {seen.alarms:,.0f} alarms have no label: with them "
            f"precision is from {least / seen.alarms:.3f} to {most / seen.alarms:.3f}"
        )
    return judgement.verdict
