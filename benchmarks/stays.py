"""Alarms over stays with a guarantee: how often limits break, and how many events are caught.

In *blocks*, rows a day apart are each followed by an event or not, so that a patient has as many
possible alarms as days and the truth is a formula; a share of the variance of score and label is
the patient's. In *hours*, hourly scores rise before an event and an alarm silences twelve hours, so
that an early false alarm can silence the useful one; the truth is counted on 100,000 others.
Run with a number of validations, and names of settings if only some are wanted.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import ndtr

import voros
from voros.core.decision import solve
from voros.typing import BoolArray, FloatArray

GUARANTEE = voros.Guarantee(0.95)
TRUTH = 100_000
"""Patients on whom the truth of hours is counted."""


@dataclass(frozen=True)
class Blocks:
    """Patients whose rows are a day apart; an event follows a row within the hour, or none."""

    name: str
    n_patients: int
    n_rows: int
    shared: float
    prevalence: float
    separation: float
    scenario: voros.Scenario

    def draw(self, rng: np.random.Generator) -> voros.OperatingPoints:
        """Draw a ward."""
        patient = np.repeat(np.arange(self.n_patients), self.n_rows)
        day = np.tile(np.arange(self.n_rows), self.n_patients)
        event = ndtr(self._normal(patient, rng)) < self.prevalence
        score = self.separation * event + self._normal(patient, rng)
        rule = voros.AlarmRule(snooze="12h", horizon="2h", reset="2h")
        when = patient[event], 24.0 * day[event] + 1
        return _points(stay=patient, time=24.0 * day, score=score, events=when, rule=rule)

    def _normal(self, patient: np.ndarray, rng: np.random.Generator) -> FloatArray:
        common, own = rng.normal(size=self.n_patients)[patient], rng.normal(size=len(patient))
        return np.asarray(np.sqrt(self.shared) * common + np.sqrt(1 - self.shared) * own)

    def judge(self, thresholds: FloatArray) -> tuple[bool, float]:
        """Whether some threshold breaks a limit, and the largest share of events caught."""
        caught = self.prevalence * ndtr(self.separation - thresholds)
        alarms = caught + (1 - self.prevalence) * ndtr(-thresholds)
        kept = caught >= self.scenario.min_precision * alarms
        if self.scenario.per is not None:
            kept &= alarms <= self.scenario.capacity
        return not kept.all(), float(caught.max(initial=0.0) / self.prevalence)


@dataclass(frozen=True)
class Hours:
    """Hourly rows of stays of one to five days; a tenth has an event that scores foretell."""

    name: str
    n_patients: int
    shared: float
    scenario: voros.Scenario

    def draw(self, rng: np.random.Generator, n_patients: int | None = None) -> Any:
        """Draw a ward."""
        n = n_patients or self.n_patients
        lengths = rng.integers(24, 121, n)
        stay = np.repeat(np.arange(n), lengths)
        hour = np.arange(len(stay)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        ill = np.flatnonzero(rng.random(n) < 0.1)
        onset = np.full(n, np.inf)
        onset[ill] = rng.integers(6, lengths[ill])
        near = np.clip(1 - (onset[stay] - hour) / 24, 0, 1) * (hour <= onset[stay])
        common = np.sqrt(self.shared) * rng.normal(size=n)[stay]
        score = 2.5 * near + common + np.sqrt(1 - self.shared) * rng.normal(size=len(stay))
        rule = voros.AlarmRule(snooze="12h", horizon="12h", lead="1h")
        return _points(stay=stay, time=hour, score=score, events=(ill, onset[ill]), rule=rule)

    @cached_property
    def truth(self) -> voros.OperatingPoints:
        """Counts on many other patients."""
        points: voros.OperatingPoints = self.draw(np.random.default_rng(2**32), TRUTH)
        return points

    def judge(self, thresholds: FloatArray) -> tuple[bool, float]:
        """Whether some threshold breaks a limit, and the largest share of events caught."""
        order = np.argsort(-self.truth.thresholds)
        falling = -self.truth.thresholds[order]
        rows = order[np.searchsorted(falling, -thresholds, side="right") - 1]
        kept = self.truth.feasible(self.scenario)[rows]
        return not kept.all(), float(self.truth.tpr[rows].max(initial=0.0))


def _points(**columns: Any) -> voros.OperatingPoints:
    points = voros.alarm_points(**columns)
    assert isinstance(points, voros.OperatingPoints)
    return points


FLOOR = voros.Scenario(0.3, cost_ratio=0.05)
RATE = voros.Scenario(0.0, 0.2, 0.05, per="patient-day")
BOTH = voros.Scenario(0.3, 0.2, 0.05, per="patient-day")
HOURLY = voros.Scenario(0.2, 0.15, 0.05, per="patient-day")
SETTINGS: tuple[Blocks | Hours, ...] = (
    Blocks("null, 1 alarm each", 2000, 1, 0.0, 0.2999, 0.0, FLOOR),
    Blocks("null, 3 each, .5", 700, 3, 0.5, 0.2999, 0.0, FLOOR),
    Blocks("null, 10 each, .5", 200, 10, 0.5, 0.2999, 0.0, FLOOR),
    Blocks("null, 10 each, .9", 200, 10, 0.9, 0.2999, 0.0, FLOOR),
    Blocks("rate binds, 10 each, .9", 300, 10, 0.9, 0.3, 1.0, RATE),
    Blocks("rate binds, 3 each, .5", 700, 3, 0.5, 0.3, 1.0, RATE),
    Blocks("both limits, 5 each, .5", 600, 5, 0.5, 0.1, 1.5, BOTH),
    Hours("hours, 300 patients, .3", 300, 0.3, HOURLY),
    Hours("hours, 1,500 patients, .3", 1500, 0.3, HOURLY),
)


def validate(setting: Blocks | Hours, seed: int) -> tuple[tuple[bool, float], tuple[bool, float]]:
    """Judge what is feasible on one ward with the largest recall, and what is certified on it."""
    points = setting.draw(np.random.default_rng(seed))
    plain = solve(points, setting.scenario)
    best = points.thresholds[[plain.highest_recall]]
    certified: BoolArray = GUARANTEE.certified(points, setting.scenario)
    certified[0] = False
    passed = points.thresholds[certified]
    return setting.judge(best[np.isfinite(best)]), setting.judge(passed)


def main() -> None:
    """Print a row for each setting."""
    n_runs = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    wanted = set(sys.argv[2:])
    print("setting | plain: broken, recall | certified: broken, recall")
    for setting in SETTINGS:
        if wanted and setting.name not in wanted:
            continue
        found = np.array([validate(setting, seed) for seed in range(n_runs)])
        cells = [f"{100 * b:.2f} %, {r:.3f}" for b, r in found.mean(axis=0)]
        print(" | ".join([setting.name, *cells]), flush=True)


if __name__ == "__main__":
    main()
