"""What a monitor promises, and how soon it notices, beside MAPIE; and how long ten years take.

Run ``python benchmarks/monitoring.py null|length|power|speed [n]``; docs/monitoring.md has the
results. Streams of alarms have a precision floor of .25.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import voros
from voros.core.arrays import AnyArray, FloatArray
from voros.monitoring.evidence import Evidence
from voros.monitoring.precision import Units, precision_evidence, read_alarms, read_units
from voros.monitoring.settings import Settings

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
    store, settings = monitor._store, monitor.settings
    clock = store.clock or 0.0
    alarms = read_alarms(store.alarms(-np.inf), settings.window_seconds, clock)
    return precision_evidence(read_units(alarms, settings, clock), FLOOR, settings)


def through_the_file(rng: np.random.Generator, n: int, clustered: bool) -> Evidence:
    """Feed labels that come late, true ones sooner, in any order, and patients with several."""
    options = {"most_per_patient": 4, "episode": 10} if clustered else {}
    monitor = voros.Monitor(policy(), window=30, **options)  # type: ignore[arg-type]
    patients, labels = _patients(rng, n) if clustered else (np.arange(n), rng.random(n) < FLOOR)
    when = FIRST_DAY + np.arange(n) // 4
    monitor.update(np.full(n, 0.9), cases=np.arange(n), times=when, groups=patients)
    delay = np.where(labels, rng.integers(0, 5, n), rng.integers(10, 31, n))
    order = rng.permutation(n)
    monitor.label(labels[order], cases=order, times=(when + delay)[order])
    monitor.advance(str(when[-1] + 100))
    found = evidence_of(monitor)
    monitor.close()
    return found


def _patients(rng: np.random.Generator, n: int) -> tuple[AnyArray, AnyArray]:
    """One to four alarms of a patient, one after the other, which all have the same label."""
    sizes = rng.integers(1, 5, n)
    patients = np.repeat(np.arange(n), sizes)[:n]
    return patients, (rng.random(n) < FLOOR)[patients]


def null_streams(streams: int, n: int = 400) -> None:
    """Count the streams right at the floor that are ever called broken."""
    for clustered in (False, True):
        rng = np.random.default_rng(1)
        found = [through_the_file(rng, n, clustered) for _ in range(streams)]
        broken = sum(evidence.broken_at is not None for evidence in found)
        share, kind = broken / streams, "clustered" if clustered else "single"
        error = np.sqrt(share * (1 - share) / streams)
        print(f"{kind} alarms: {broken:,} of {streams:,} streams of {n} ever broken, ", end="")
        print(f"{share:.4f} +- {error:.4f}", flush=True)


def run_lengths(streams: int) -> None:
    """Mean number of alarms right at the floor until the detector fires."""
    for promised in (100, 1000):
        rng, settings = np.random.default_rng(2), Settings(window=0, run_length=promised)
        lengths = [_length(rng, settings, 12 * promised) for _ in range(streams)]
        error = np.std(lengths) / np.sqrt(streams)
        print(f"promised {promised}: {np.mean(lengths):.0f} +- {error:.0f} alarms", flush=True)


def _length(rng: np.random.Generator, settings: Settings, n: int) -> int:
    fired = weighed((rng.random(n) < FLOOR).astype(float), settings).fired_at
    return n if fired is None else fired + 1


def weighed(labels: FloatArray, settings: Settings) -> Evidence:
    """Weigh single alarms in their order."""
    times = np.arange(len(labels), dtype=float)
    return precision_evidence(Units(times, times, np.ones(len(labels)), labels), FLOOR, settings)


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
            found = weighed(labels, settings)
            ours.append(NEVER if found.broken_at is None else found.broken_at + 1 - good)
            watched.append(NEVER if found.fired_at is None else found.fired_at + 1 - good)
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
        alarms = monitor.update(scores, cases=np.arange(n), times=when).alarms
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
    alarms = monitor.update(rng.random(1000) * 0.526, cases=cases, times=[str(day)] * 1000).alarms
    monitor.label(rng.random(alarms.sum()) < 0.4, cases=cases[alarms])
    monitor.status()
    print(f"one more day, with status: {time.process_time() - begun:.2f} s", flush=True)


if __name__ == "__main__":
    parts = {"null": null_streams, "length": run_lengths, "power": power, "speed": speed}
    defaults = {"null": 10_000, "length": 500, "power": 400, "speed": 10}
    asked = sys.argv[1] if len(sys.argv) > 1 else "power"
    parts[asked](int(sys.argv[2]) if len(sys.argv) > 2 else defaults[asked])
