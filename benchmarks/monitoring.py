"""What a monitor promises, and how soon it notices, beside MAPIE; and how long ten years take.

Run ``python benchmarks/monitoring.py PART [n]``, the parts being named at the end of this file;
docs/theory/monitoring.md has the results. Streams of alarms have a precision floor of .25 unless
a part states another.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.signal import lfilter
from scipy.special import ndtr

import voros
from voros.alarms.stay_rows import rows_in_memory
from voros.monitoring.evidence import Evidence
from voros.monitoring.precision import Alarms, Units, closed_units, precision_watch
from voros.monitoring.ratios import CapacityLimit, Counts, capacity_watch
from voros.monitoring.renewal import propose, spend
from voros.monitoring.settings import Settings
from voros.monitoring.store import PeriodTotals
from voros.monitoring.unlabelled import by_unit, change_watch, prevalence_interval
from voros.typing import AnyArray, FloatArray

FLOOR = 0.25
FIRST_DAY = np.datetime64("2026-01-01")
NEVER = 10**9


def policy(capacity: float = 0.5) -> voros.ThresholdPolicy:
    """Alarm at a score of 0.5 or more."""
    scenario = voros.Scenario(min_precision=FLOOR, capacity=capacity, cost_ratio=0.05)
    labels, scores = np.array([1, 0] * 20 + [0] * 60), np.where(np.arange(100) < 40, 0.5, 0.1)
    return voros.ThresholdPolicy.from_validation(labels, scores, scenario)


def evidence_of(monitor: voros.Monitor) -> Evidence:
    """Weigh every alarm that the file of a monitor holds."""
    store, window = monitor._store, monitor.settings.window_seconds
    alarms = Alarms.from_rows(store.alarms("", -np.inf, window))
    return closed_units(alarms, window, store.clock or 0.0)[0].evidence(FLOOR, monitor.settings)


def through_the_file(rng: np.random.Generator, n: int, clustered: bool) -> Evidence:
    """Feed labels that come late, true ones sooner, in any order, and patients with several."""
    monitor = voros.Monitor(policy(), window=30)
    patients, labels = _patients(rng, n) if clustered else (np.arange(n), rng.random(n) < FLOOR)
    when = FIRST_DAY + np.arange(n) // 4
    monitor.update(
        np.full(n, 0.9), cases=np.arange(n), times=when, groups=patients if clustered else None
    )
    delay = np.where(labels, rng.integers(0, 5, n), rng.integers(10, 31, n))
    order = rng.permutation(n)
    monitor.label(labels[order], cases=order, times=(when + delay)[order])
    monitor.advance(str(when[-1] + 100))
    evidence = evidence_of(monitor)
    monitor.close()
    return evidence


def _patients(rng: np.random.Generator, n: int) -> tuple[AnyArray, AnyArray]:
    """One to four alarms of a patient, one after the other, which all have the same label."""
    sizes = rng.integers(1, 5, n)
    patients = np.repeat(np.arange(n), sizes)[:n]
    return patients, (rng.random(n) < FLOOR)[patients]


def null_streams(streams: int, n: int = 400) -> None:
    """Count the streams right at the floor that are ever called broken."""
    for clustered in (False, True):
        rng = np.random.default_rng(1)
        outcomes = [through_the_file(rng, n, clustered) for _ in range(streams)]
        broken = sum(evidence.broken_at is not None for evidence in outcomes)
        share, kind = broken / streams, "clustered" if clustered else "single"
        error = np.sqrt(share * (1 - share) / streams)
        print(f"{kind} alarms: {broken:,} of {streams:,} streams of {n} ever broken, ", end="")
        print(f"{share:.4f} +- {error:.4f}", flush=True)


def ratio_streams(streams: int, days: int = 364) -> None:
    """Count verdicts about alarms, or costs, per case where days differ in size and in share.

    With the limit at the true ratio of the sums, neither verdict may come in more than 5 %.
    """
    settings = Settings(window=0)
    begins = np.arange(days, dtype=np.float64) * 86_400
    for name, draw in DAYS.items():
        rng, (sizes, shares) = np.random.default_rng(5), draw(np.random.default_rng(6), 10**6)
        true = float((sizes * shares).sum() / sizes.sum())
        for part in (0.8, 1.0, 1.2):
            verdicts = []
            for _ in range(streams if part == 1 else streams // 5):
                cases, chance = draw(rng, days)
                alarms = rng.binomial(cases, chance).astype(np.float64)
                counts = Counts(begins, cases.astype(np.float64), alarms)
                limit = CapacityLimit(true / part, "case")
                verdicts.append(capacity_watch(counts, limit, settings).verdict)
            print(f"{name}, ratio {part} of the limit: {_shares(verdicts)}", flush=True)


def _weekends(rng: np.random.Generator, n: int) -> tuple[AnyArray, FloatArray]:
    """Many cases on weekdays, few with a larger share on weekends; the first day is any."""
    weekend = (np.arange(n) + rng.integers(7)) % 7 >= 5
    return np.where(weekend, 10, 100), np.where(weekend, 0.20, 0.09)


def _alternating(rng: np.random.Generator, n: int) -> tuple[AnyArray, FloatArray]:
    """Days of 38 and of 2 cases, at random; the small ones cost three times as much."""
    small = rng.random(n) < 0.5
    return np.where(small, 2, 38), np.where(small, 0.14, 0.04)


def _busy_alarm_more(rng: np.random.Generator, n: int) -> tuple[AnyArray, FloatArray]:
    busy = rng.random(n) < 0.5
    return np.where(busy, 100, 10), np.where(busy, 0.13, 0.01)


def _long_tail(rng: np.random.Generator, n: int) -> tuple[AnyArray, FloatArray]:
    """Sizes with a long tail; the busier the day, the smaller the share."""
    sizes = np.ceil(20 * np.exp(rng.normal(size=n))).astype(int)
    return sizes, np.minimum(0.5, 0.4 / np.sqrt(sizes))


def _bursts(rng: np.random.Generator, n: int) -> tuple[AnyArray, FloatArray]:
    """One day in fifty raises six times as many alarms."""
    return np.full(n, 60), np.where(rng.random(n) < 0.02, 0.48, 0.08)


DAYS: dict[str, Callable[[np.random.Generator, int], tuple[AnyArray, FloatArray]]] = {
    "weekends": _weekends,
    "days of 38 and 2": _alternating,
    "busy days alarm more": _busy_alarm_more,
    "long-tailed days": _long_tail,
    "bursts": _bursts,
}


def _shares(verdicts: Sequence[str]) -> str:
    """Say in how many streams each verdict was given, with standard errors."""
    parts = []
    for verdict in ("broken", "kept"):
        share = verdicts.count(verdict) / len(verdicts)
        error = np.sqrt(share * (1 - share) / len(verdicts))
        parts.append(f"{verdict} {share:.4f} +- {error:.4f}")
    return ", ".join(parts)


def label_streams(streams: int, days: int = 200, window: int = 30) -> None:
    """Count streams that are ever wrongly called kept or broken where labels depend on outcomes.

    Four alarms a day, a floor of .3, and a look every 40 days.
    """
    settings = Settings(window=window)
    for name, (precision, delays) in LABELS.items():
        rng, ever = np.random.default_rng(7), []
        for _ in range(streams):
            labels = rng.random(4 * days) < precision
            said = _looks(labels, delays(rng, labels), days, settings)
            ever.append("kept" if precision < 0.3 and "kept" in said else "")
            if precision >= 0.3 and "broken" in said:
                ever[-1] = "broken"
        print(f"{name}, precision {precision}: {_shares(ever)}", flush=True)


def _looks(labels: AnyArray, delays: FloatArray, days: int, settings: Settings) -> set[str]:
    """Return every verdict on the precision; labels count from the look after they came."""
    times = np.repeat(np.arange(days) * 86_400.0, 4)
    verdicts: set[str] = set()
    came = times + 86_400.0 * delays
    for look in np.arange(40, days + 120, 40) * 86_400.0:
        known = np.where(came <= look, labels.astype(float), np.nan)
        rows = times <= look
        alarms = Alarms(times[rows], [None] * rows.sum(), known[rows], known[rows], known[rows])
        units = closed_units(alarms, settings.window_seconds, look)[0]
        verdicts.add(precision_watch(units, 0.3, settings).verdict)
    return verdicts


def _late(which: bool) -> Callable[[np.random.Generator, AnyArray], FloatArray]:
    """One class an hour after the window has closed, the other within five days."""
    return lambda rng, y: np.where(y == which, 30 + 1 / 24, rng.integers(0, 5, len(y)))


def _slow(which: bool) -> Callable[[np.random.Generator, AnyArray], FloatArray]:
    return lambda rng, y: np.where(y == which, rng.exponential(30, len(y)), 3.0)


def _never(which: bool, share: float) -> Callable[[np.random.Generator, AnyArray], FloatArray]:
    return lambda rng, y: np.where((y == which) & (rng.random(len(y)) < share), np.inf, 10.0)


LABELS: dict[str, tuple[float, Callable[[np.random.Generator, AnyArray], FloatArray]]] = {
    "all within five days": (0.3, lambda rng, y: rng.integers(0, 5, len(y)).astype(np.float64)),
    "negatives an hour late": (0.2, _late(False)),
    "positives an hour late": (0.3, _late(True)),
    "negatives exponential, mean 30 days": (0.299, _slow(False)),
    "positives exponential, mean 30 days": (0.3, _slow(True)),
    "60 % of the negatives never": (0.2, _never(False, 0.6)),
    "30 % of the positives never": (0.3, _never(True, 0.3)),
}


def patient_streams(streams: int, n: int = 400) -> None:
    """Count verdicts about patients whose alarms share their label, and differ in number.

    Some patients have eight alarms and the others one; at the floor, or below.
    """
    settings, begins = Settings(window=7), np.arange(n, dtype=np.float64) * 86_400
    for many, few in ((0.05, 0.9357), (0.2, 0.4214), (0.05, 0.6)):
        rng, verdicts = np.random.default_rng(8), []
        for _ in range(streams):
            sizes = np.where(rng.random(n) < 0.3, 8.0, 1.0)
            true = sizes * (rng.random(n) < np.where(sizes == 8, many, few))
            units = Units(begins, begins, sizes, true, np.zeros(n), one_true=False)
            verdicts.append(precision_watch(units, FLOOR, settings).verdict)
        precision = (2.4 * many + 0.7 * few) / 3.1
        print(f"eight alarms, precision {precision:.3f}: {_shares(verdicts)}", flush=True)


class Pool(NamedTuple):
    """Stays of a simulated ward, from which streams draw: true alarms, alarms, days and hours."""

    tp: FloatArray
    alarms: FloatArray
    days: FloatArray
    length: FloatArray

    @property
    def precision(self) -> float:
        """True alarms of all alarms."""
        return float(self.tp.sum() / self.alarms.sum())

    def units(self, rows: AnyArray) -> Units:
        """Return some of the stays, those with alarms, in their order."""
        times, n = np.arange(len(rows), dtype=np.float64) * 3600, len(rows)
        columns = self.alarms[rows], self.tp[rows], np.zeros(n)
        return Units(times, times, *columns, one_true=True).only(columns[0] > 0)


def stay_pool(ramp: float, n: int = 20_000) -> Pool:
    """Hours of stays: a wandering score that rises before events by `ramp`, up to ten alarms."""
    rng, rule = np.random.default_rng(0), voros.AlarmRule(snooze="6h", horizon="12h", lead="1h")
    length = np.clip(rng.lognormal(3.7, 0.7, n), 4, 168).astype(int)
    stay = np.repeat(np.arange(n), length)
    hour = np.arange(len(stay)) - np.repeat(np.cumsum(length) - length, length)
    # Long stays have an event more often, so those that end early are not like the others.
    event = rng.random(n) < np.where(length > 48, 0.5, 0.1)
    wander = lfilter([0.3], [1.0, -0.95], rng.normal(size=len(stay)))
    left = np.where(event[stay], length[stay] - hour, np.inf)
    score = wander + 0.7 * rng.normal(size=n)[stay] + ramp * np.maximum(1 - left / 12, 0.0)
    events = np.flatnonzero(event), length[event].astype(float)
    columns: Any = {"stay": stay, "time": hour.astype(float), "score": score}
    points = voros.alarm_points(**columns, events=events, rule=rule)
    assert isinstance(points, voros.OperatingPoints)
    assert points.stays is not None
    stays = rows_in_memory(points.stays)
    counts = stays.scored.counts_by_stay(2.0)
    tp, _, alarms = (np.asarray(column, dtype=float) for column in counts)
    return Pool(tp, alarms, stays.rows.days, length.astype(float))


def stay_streams(streams: int, n: int = 600) -> None:
    """Count verdicts on stays drawn from a ward whose limits are exactly its ratios, and a drop."""
    settings, ward, worse = Settings(window=30), stay_pool(3.0), stay_pool(1.0)
    rate = float(ward.alarms.sum() / ward.days.sum())
    print(f"precision {ward.precision:.3f}, {rate:.3f} alarms per patient-day, ", end="")
    print(f"up to {ward.alarms.max():.0f} alarms of a stay; worse: {worse.precision:.3f}")
    rng, begins = np.random.default_rng(11), np.arange(n, dtype=np.float64) * 3600
    said: dict[str, list[str]] = {"precision": [], "capacity": [], "in the order of ends": []}
    for _ in range(streams):
        rows = rng.integers(0, len(ward.tp), n)
        watch = precision_watch(ward.units(rows), ward.precision, settings)
        said["precision"].append(watch.verdict)
        counts = Counts(begins, ward.days[rows], ward.alarms[rows])
        said["capacity"].append(
            capacity_watch(counts, CapacityLimit(rate, "patient-day"), settings).verdict
        )
        # Ten begin every hour, and the first ones to end are short.
        ends = np.arange(n) / 10 + ward.length[rows]
        ended = rows[np.argsort(ends)][: int((ends < n / 10).sum())]
        watch = precision_watch(ward.units(ended), ward.precision, settings)
        said["in the order of ends"].append(watch.verdict)
    for name, verdicts in said.items():
        print(f"{name}: {_shares(verdicts)}", flush=True)
    for part in (0.9, 0.7):
        _drop(ward, worse, part * ward.precision, streams // 10)


def _drop(ward: Pool, worse: Pool, floor: float, streams: int) -> None:
    """Print how many stays a drop takes to be found, after 300 stays without it."""
    rng, waits = np.random.default_rng(12), []
    both = Pool(*(np.append(one, other) for one, other in zip(ward, worse, strict=True)))
    for _ in range(streams):
        rows = np.append(rng.integers(0, 20_000, 300), rng.integers(20_000, 40_000, 3000))
        units = both.units(rows)
        at = units.evidence(floor, Settings(window=30)).broken_at
        waits.append(NEVER if at is None else int(units.begins[at] / 3600) - 299)
    print(f"floor {floor:.3f}: broken {_median(waits)} stays after the drop", flush=True)


def renewals(streams: int, looks: int = 50) -> None:
    """Count files from which some proposal breaks a limit, of an allowed 5 %.

    First a precision just below the floor at every threshold, asked for every 100 labelled alarms,
    all from the start or only the new ones. Then a capacity, with a label for half of the alarms.
    """
    rng, promised = np.random.default_rng(9), voros.Guarantee(0.95)
    scenario = voros.Scenario(min_precision=0.3, capacity=1.0, cost_ratio=(1 / 30, 1 / 10))
    for name, first in (("all alarms", 0), ("new alarms", 1)):
        certified = np.zeros((streams, 2), dtype=bool)
        for stream in range(streams):
            labels, scores = rng.random(100 * looks) < 0.2999, rng.random(100 * looks)
            for look in range(1, looks + 1):
                rows = slice(first * 100 * (look - 1), 100 * look)
                points = voros.OperatingPoints.from_scores(labels[rows], scores[rows])
                for column, asked in enumerate((promised, spend(promised, look))):
                    certified[stream, column] |= asked.allowed(points, scenario)[1:].any()
        for column, how in enumerate(("without spending", "as proposed")):
            share = certified[:, column].mean()
            error = np.sqrt(share * (1 - share) / streams)
            print(f"{looks} looks at {name}, {how}: {share:.4f} +- {error:.4f}", flush=True)
    _capacity_renewals(streams, rng)


def _capacity_renewals(streams: int, rng: np.random.Generator, n: int = 2000) -> None:
    scenario = voros.Scenario(min_precision=0.1, capacity=0.1, cost_ratio=(1 / 30, 1 / 10))
    valid = rng.normal(0.36, 0.5, 20_000)
    labels = rng.random(20_000) < ndtr(valid)
    promised: Any = {"guarantee": voros.Guarantee(0.95), "n_models": 1}
    old = voros.ThresholdPolicy.from_validation(labels, valid, scenario, **promised)
    broken = 0
    for _ in range(streams):
        scores = rng.normal(0.55, 0.5, n)
        alarms = scores >= old.threshold()
        known = alarms & (rng.random(n) < 0.5)
        positive = rng.random(n) < ndtr(scores)
        rows = [
            ("", i, scores[i], alarms[i], None, positive[i] if known[i] else None) for i in range(n)
        ]
        threshold = propose(rows, old, None, 1).new_threshold
        broken += int(ndtr((0.55 - threshold) / 0.5) > 0.1)
    share = broken / streams
    error = np.sqrt(share * (1 - share) / streams)
    print(f"capacity, half of the alarms labelled: {share:.4f} +- {error:.4f}", flush=True)


def score_streams(streams: int, days: int = 365) -> None:
    """Count years in which scores are ever said to have changed; a look every week."""
    settings = Settings(window=0)
    for name, (volume, effect, unit) in SCORES.items():
        rng, changed, unknown = np.random.default_rng(10), 0, 0
        for _ in range(streams):
            periods = _score_days(rng, np.maximum(volume(rng, days), 1), effect(rng, days))
            periods = periods if unit == "day" else by_unit(periods, "day", unit)
            verdicts = {
                change_watch(periods.part(slice(None, last - 1)), settings).verdict
                for last in {len(periods.names), *range(30, len(periods.names), 14)}
            }
            changed, unknown = changed + ("watch" in verdicts), unknown + ("unknown" in verdicts)
        error = np.sqrt(changed / streams * (1 - changed / streams) / streams)
        print(f"{name}: changed {changed / streams:.4f} +- {error:.4f}, ", end="")
        print(f"unknown {unknown / streams:.3f}", flush=True)


def _score_days(rng: np.random.Generator, cases: AnyArray, effect: FloatArray) -> PeriodTotals:
    day = np.repeat(np.arange(len(cases)), cases)
    scores = rng.normal(size=len(day)) + 1.3 * (rng.random(len(day)) < 0.1) + effect[day]
    alarms, totals, squares = (
        np.bincount(day, w, len(cases)).astype(np.float64)
        for w in (scores > 1.5, scores, scores**2)
    )
    names = (FIRST_DAY + np.arange(len(cases))).astype(str)
    return PeriodTotals(
        names=names,
        starts=np.arange(len(cases), dtype=np.float64) * 86_400,
        cases=cases.astype(np.float64),
        alarms=alarms,
        totals=totals,
        squares=squares,
    )


def _volume(*levels: float) -> Callable[[np.random.Generator, int], AnyArray]:
    """Poisson numbers of cases with these means, from the first day to the last."""
    places = np.linspace(0, 1, len(levels))
    return lambda rng, n: rng.poisson(np.interp(np.linspace(0, 1, n), places, levels))


def _wave(correlation: float, spread: float) -> Callable[[np.random.Generator, int], FloatArray]:
    """Effects of days that are correlated with those of the day before."""

    def effects(rng: np.random.Generator, n: int) -> FloatArray:
        first = np.array([rng.normal() * spread / np.sqrt(1 - correlation**2)])
        noise = np.append(first, spread * rng.normal(size=n - 1))
        return np.asarray(lfilter([1.0], [1.0, -correlation], noise))

    return effects


def _step(size: float) -> Callable[[np.random.Generator, int], FloatArray]:
    return lambda _, n: np.where(np.arange(n) < n / 2, 0.0, size)


SCORES: dict[str, tuple[Callable[..., AnyArray], Callable[..., FloatArray], str]] = {
    "40 cases a day": (_volume(40, 40), _step(0.0), "day"),
    "40, then 5": (_volume(40, 40, 5, 5, 5, 5), _step(0.0), "day"),
    "slowly from 60 to 6": (_volume(60, 6), _step(0.0), "day"),
    "38, then 26: ends of a class": (
        lambda _, n: np.where(np.arange(n) < n / 4, 38, 26),
        _step(0.0),
        "day",
    ),
    "AR .5, sd .2": (_volume(30, 30), _wave(0.5, 0.2), "day"),
    "AR .8, sd .2": (_volume(30, 30), _wave(0.8, 0.2), "day"),
    "AR .8, sd .2, by week": (_volume(30, 30), _wave(0.8, 0.2), "week"),
    "AR .8, sd .2, by month": (_volume(30, 30), _wave(0.8, 0.2), "month"),
    "power: a step of .3": (_volume(13, 13), _step(0.3), "day"),
}


PREVALENCES = (
    # At validation: prevalence, cases; separation; at deployment: prevalence, cases, spread of days
    (0.1, 1000, 1.3, 0.1, 390, 0.0),
    (0.05, 400, 2.0, 0.15, 3000, 0.0),
    (0.05, 200, 2.0, 0.3, 6000, 0.0),
    (0.1, 1000, 1.3, 0.1, 3000, 0.5),
)


def prevalence_streams(streams: int) -> None:
    """Count months whose interval of the suggested prevalence misses it."""
    scenario = voros.Scenario(min_precision=0.25, capacity=0.3, cost_ratio=(1 / 20, 1 / 10))
    for before, n, separation, now, n_new, spread in PREVALENCES:
        rng, missed = np.random.default_rng(5), 0
        for _ in range(streams):
            labels = rng.random(n) < before
            if not labels.any():
                continue
            valid = voros.ThresholdPolicy.from_validation(
                labels, separation * labels + rng.normal(size=n), scenario
            )
            choice, fpr = valid.default, valid.default.fp / valid.n_negative
            cases = rng.multinomial(n_new, np.full(30, 1 / 30))
            day = np.repeat(np.arange(30), cases)
            level = now * np.exp(spread * rng.normal(size=30) - spread**2 / 2)
            scores = separation * (rng.random(n_new) < level[day]) + rng.normal(size=n_new)
            alarms = np.bincount(day, scores >= choice.threshold, 30).astype(float)
            rates, sizes = (choice.recall, fpr), (int(valid.n_positive), int(valid.n_negative))
            if choice.recall > fpr:
                ends = prevalence_interval(alarms, cases.astype(float), rates, sizes, 0.95)
                missed += ends is None or not ends[0] <= now <= ends[1]
        share = missed / streams
        error = np.sqrt(share * (1 - share) / streams)
        print(f"{before} of {n} to {now} of {n_new}: missed {share:.4f} +- {error:.4f}", flush=True)


def run_lengths(streams: int) -> None:
    """Mean number of alarms right at the floor until the detector fires."""
    for promised in (100, 1000):
        rng, settings = np.random.default_rng(2), Settings(window=0, run_length=promised)
        lengths = [_length(rng, settings, 12 * promised) for _ in range(streams)]
        error = np.std(lengths) / np.sqrt(streams)
        print(f"promised {promised}: {np.mean(lengths):.0f} +- {error:.0f} alarms", flush=True)


def _length(rng: np.random.Generator, settings: Settings, n: int) -> int:
    return _fired(weighed((rng.random(n) < FLOOR).astype(float), settings), never=n - 1) + 1


def _fired(evidence: Evidence, never: int) -> int:
    """Return the first unit at which the detector reaches its bound."""
    fired = np.flatnonzero(evidence.detector >= evidence.detector_bound)
    return int(fired[0]) if len(fired) else never


def weighed(labels: FloatArray, settings: Settings) -> Evidence:
    """Weigh single alarms in their order."""
    times = np.arange(len(labels), dtype=float)
    ones = np.ones(len(labels))
    units = Units(times, times, ones, labels, 0 * ones, one_true=True)
    return units.evidence(FLOOR, settings)


def mapie_detection(labels: FloatArray) -> int:
    """Alarms until MAPIE's monitor of the same level finds the precision below the floor."""
    from mapie.exchangeability_testing import RiskMonitoring

    rival = RiskMonitoring("precision", test_level=0.05, threshold=1 - FLOOR, warn=False)
    rival.update(labels.astype(int), np.ones(len(labels), dtype=int))
    return first(rival.online_risk_lower_bound_sequence_history > 1 - FLOOR)


def first(crossed: AnyArray) -> int:
    """Return how many alarms it took."""
    return int(np.argmax(crossed)) + 1 if crossed.any() else NEVER


def power(streams: int) -> None:
    """Median alarms to detection on the same streams, with 95 % limits of the median."""
    settings, rng = Settings(window=0), np.random.default_rng(3)
    for good, precision, n in ((0, 0.10, 400), (0, 0.15, 900), (0, 0.20, 4000), (500, 0.10, 2500)):
        ours, watched, theirs = [], [], []
        for _ in range(streams if n < 2000 else max(streams // 4, 20)):
            labels = np.r_[rng.random(good) < 0.5, rng.random(n) < precision].astype(float)
            evidence = weighed(labels, settings)
            ours.append(NEVER if evidence.broken_at is None else evidence.broken_at + 1 - good)
            watched.append(_fired(evidence, never=NEVER) + 1 - good)
            theirs.append(mapie_detection(labels) - good)
        after = f" after {good} at .50" if good else ""
        print(f"precision {precision}{after}: {_median(ours)} alarms to broken, ", end="")
        print(f"{_median(watched)} to the detector; MAPIE {_median(theirs)}", flush=True)


def _median(values: list[int]) -> str:
    ordered, n = np.sort(values), len(values)
    reach = 0.98 * np.sqrt(n)
    low, high = ordered[int(n / 2 - reach)], ordered[min(int(n / 2 + reach), n - 1)]
    return f"{np.median(values):.0f} ({low} to {high})"


def speed(years: int) -> None:
    """Feed years of a thousand cases a day to a file: at once, then a day more; processor time."""
    n, rng = 365_000 * years, np.random.default_rng(4)
    scores, when = rng.random(n) * 0.526, FIRST_DAY + np.arange(n) // 1000
    labels = rng.random(n) < 0.4
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ward.voros"
        monitor = voros.Monitor(policy(), path, window=30)
        begun = time.process_time()
        alarms = np.asarray(monitor.update(scores, cases=np.arange(n), times=when).alarms)
        fed = time.process_time()
        rows = np.flatnonzero(alarms)
        monitor.label(labels[rows], cases=rows, times=when[rows] + 30)
        labelled = time.process_time()
        monitor.status()
        judged = time.process_time()
        print(
            f"{n:,} cases {fed - begun:.1f} s, {len(rows):,} labels {labelled - fed:.1f} s, ",
            end="",
        )
        print(
            f"status {judged - labelled:.2f} s; {path.stat().st_size / 2**20:.0f} MiB", flush=True
        )
        _one_more_day(monitor, rng, n, when[-1] + 1)


def _one_more_day(monitor: voros.Monitor, rng: np.random.Generator, n: int, day: AnyArray) -> None:
    begun = time.process_time()
    cases = n + np.arange(1000)
    update = monitor.update(rng.random(1000) * 0.526, cases=cases, times=[str(day)] * 1000)
    alarms = np.asarray(update.alarms)
    monitor.label(rng.random(alarms.sum()) < 0.4, cases=cases[alarms])
    monitor.status()
    print(f"one more day, with status: {time.process_time() - begun:.2f} s", flush=True)


if __name__ == "__main__":
    parts = {
        "null": (null_streams, 10_000),
        "length": (run_lengths, 500),
        "ratios": (ratio_streams, 2_000),
        "labels": (label_streams, 2_000),
        "patients": (patient_streams, 2_000),
        "stays": (stay_streams, 2_000),
        "renewals": (renewals, 2_000),
        "scores": (score_streams, 2_000),
        "prevalence": (prevalence_streams, 2_000),
        "power": (power, 400),
        "speed": (speed, 10),
    }
    run, n = parts[sys.argv[1] if len(sys.argv) > 1 else "power"]
    run(int(sys.argv[2]) if len(sys.argv) > 2 else n)
