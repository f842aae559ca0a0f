"""Precision against its floor: alarms in their order, each counted when its window closes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from voros.core.arrays import AnyArray, BoolArray, FloatArray
from voros.monitoring.bets import PRECISION_WEIGHTS, precision_bets
from voros.monitoring.calibration import start_bounds
from voros.monitoring.confidence import cluster_interval, mean_interval
from voros.monitoring.evidence import START_SHARE, Evidence, weigh
from voros.monitoring.settings import Settings
from voros.monitoring.status import Judgement, Watch, judge

RECENT = 100
"""Units of the curve that shows how it is now."""

CURVE_POINTS = 400
"""At most this many points of a curve are computed."""


@dataclass(frozen=True, eq=False)
class Alarms:
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


def read_alarms(rows: Sequence[tuple[Any, ...]], window: float, clock: float) -> Alarms:
    """Read rows of the store; a window closes when the clock has passed its end."""
    if not rows:
        empty = np.zeros(0)
        return Alarms(empty, (), empty.astype(bool), empty, empty)
    time, patients, counted, latest = zip(*rows, strict=True)
    times = np.array(time)
    labels, now = (np.array(values, dtype=float) for values in (counted, latest))
    return Alarms(times, patients, times + window < clock, labels, now)


@dataclass(frozen=True, eq=False)
class Units:
    """Closed alarms, or closed clusters of a patient's alarms: how many, and how many true."""

    begins: FloatArray
    ends: FloatArray
    alarms: FloatArray
    true: FloatArray


def read_units(alarms: Alarms, settings: Settings, clock: float) -> Units:
    """Make units of alarms: each alone, or the first few of each patient's episode together."""
    window = settings.window_seconds
    if settings.most_per_patient == 1:
        counted = alarms.closed & ~np.isnan(alarms.labels)
        times, true = alarms.times[counted], alarms.labels[counted]
        return Units(times, times + window, np.ones(len(times)), true)
    begins, codes = _episodes(alarms, settings)
    ends = begins + settings.episode_seconds + window
    labels = alarms.labels[codes >= 0]
    known, of = ~np.isnan(labels), codes[codes >= 0]
    n = np.bincount(of[known], minlength=len(begins)).astype(float)
    true = np.bincount(of[known], labels[known], minlength=len(begins)).astype(float)
    counted = (ends < clock) & (n > 0)
    return Units(begins[counted], ends[counted], n[counted], true[counted])


def _episodes(alarms: Alarms, settings: Settings) -> tuple[FloatArray, AnyArray]:
    """Return when each episode began, and the episode of each alarm; -1 beyond the first few."""
    begins: list[float] = []
    sizes: list[int] = []
    current: dict[str, int] = {}
    codes = np.full(len(alarms.times), -1)
    for row, (time, patient) in enumerate(zip(alarms.times.tolist(), alarms.patients, strict=True)):
        episode = -1 if patient is None else current.get(patient, -1)
        if episode < 0 or time > begins[episode] + settings.episode_seconds:
            episode = len(begins)
            begins.append(time)
            sizes.append(0)
        if patient is not None:
            current[patient] = episode
        if sizes[episode] < settings.most_per_patient:
            codes[row] = episode
            sizes[episode] += 1
    return np.array(begins), codes


def precision_evidence(units: Units, floor: float, settings: Settings) -> Evidence:
    """Weigh units against the floor; the bound is exact where each is one alarm."""
    most, alpha = settings.most_per_patient, settings.alpha
    exact = start_bounds(len(units.alarms), floor, START_SHARE * alpha) if most == 1 else None
    factors = precision_bets(units.alarms, units.true, floor, most)
    return weigh(factors, PRECISION_WEIGHTS, alpha, settings.run_length, exact)


def precision_watch(alarms: Alarms, floor: float, settings: Settings, clock: float) -> Watch:
    """Judge the precision of the alarms whose windows have closed."""
    units = read_units(alarms, settings, clock)
    evidence = precision_evidence(units, floor, settings)
    points = _points(len(units.alarms))
    low, high = _intervals(units, points, settings)
    tp, n = float(units.true.sum()), float(units.alarms.sum())
    found = judge(evidence, units.begins, units.ends, bool(n and low[-1] >= floor))
    cumulative = np.cumsum(units.true), np.cumsum(units.alarms)
    return Watch(
        "precision",
        found.verdict,
        _words(found, tp, n, floor, (low[-1], high[-1]) if n else (0.0, 1.0)),
        floor,
        tp / n if n else None,
        float(low[-1]) if n else 0.0,
        float(high[-1]) if n else 1.0,
        len(units.alarms),
        evidence.ratio,
        found.since,
        found.noticed,
        {
            "time": units.ends[points],
            "estimate": (cumulative[0] / np.maximum(cumulative[1], 1))[points],
            "recent": _recent(*cumulative)[points],
            "low": low,
            "high": high,
            "evidence": np.maximum(
                evidence.start - evidence.start_bounds, evidence.late - evidence.late_bound
            )[points],
            "detector": (evidence.detector - evidence.detector_bound)[points],
        },
    )


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


def _intervals(units: Units, points: AnyArray, settings: Settings) -> tuple[FloatArray, FloatArray]:
    true, n = np.cumsum(units.true)[points], np.cumsum(units.alarms)[points]
    if settings.most_per_patient == 1:
        return mean_interval(true, n, settings.alpha)
    return cluster_interval(true, n, points + 1.0, settings.most_per_patient, settings.alpha)


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
