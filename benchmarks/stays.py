"""Alarms over stays with a guarantee: how often limits break, and how many events are caught.

In *blocks*, rows a day apart are each followed by an event or not, so that a patient has as many
possible alarms as days and the truth is a formula; a share of the variance of score and label is
the patient's. In *hours*, hourly scores rise before an event and an alarm silences twelve hours, so
that an early false alarm can silence the useful one; the truth is counted on 20,000 others.
Run with a number of validations, and names of settings if only some are wanted.
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import ndtr

import voros
from voros.core.decision import solve
from voros.policy.allowed import allowed_thresholds
from voros.typing import BoolArray, FloatArray

GUARANTEE = voros.Guarantee(0.95)
RULE = voros.AlarmRule(snooze="12h", horizon="12h", lead="1h")
TRUTH = 20_000
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
    per_day: float | None = None
    """Patients admitted on a day, on average; without it times are hours of no date."""
    constant: bool = False
    """Whether all scores are 0: one threshold, at which every row sounds."""

    def draw(self, rng: np.random.Generator) -> voros.OperatingPoints:
        """Draw a ward."""
        return _points(**self.columns(rng), rule=self.rule(12))

    @staticmethod
    def rule(snooze: int) -> voros.AlarmRule:
        """Return a rule with this snooze, in hours."""
        return voros.AlarmRule(snooze=snooze, horizon="2h", reset="2h")

    def columns(self, rng: np.random.Generator) -> dict[str, Any]:
        """Draw rows and events."""
        admitted = np.zeros(self.n_patients, dtype=np.intp)
        if self.per_day is not None:
            n_days = round(self.n_patients / self.per_day)
            admitted = np.repeat(np.arange(n_days), rng.poisson(self.per_day, n_days))
        patient = np.repeat(np.arange(len(admitted)), self.n_rows)
        day = admitted[patient] + np.tile(np.arange(self.n_rows), len(admitted))
        event = ndtr(self._normal(patient, rng)) < self.prevalence
        score = self.separation * event + self._normal(patient, rng)
        score = 0.0 * score if self.constant else score
        times: Any = 24.0 * day
        soon: Any = times[event] + 1
        if self.per_day is not None:
            times = np.datetime64("2024-01-01", "us") + day.astype("timedelta64[D]")
            soon = times[event] + np.timedelta64(1, "h")
        return {"stay": patient, "time": times, "score": score, "events": (patient[event], soon)}

    def _normal(self, patient: np.ndarray, rng: np.random.Generator) -> FloatArray:
        common, own = rng.normal(size=patient.max() + 1)[patient], rng.normal(size=len(patient))
        return np.asarray(np.sqrt(self.shared) * common + np.sqrt(1 - self.shared) * own)

    @property
    def limits(self) -> voros.Scenario:
        """The scenario."""
        return self.scenario

    def judge(self, thresholds: FloatArray) -> tuple[bool, float]:
        """Whether some threshold breaks a limit, and the largest share of events caught."""
        caught = self.prevalence * ndtr(self.separation - thresholds)
        alarms = caught + (1 - self.prevalence) * ndtr(-thresholds)
        if self.constant:
            alarms = np.where(thresholds <= 0, 1.0, 0.0)
            caught = self.prevalence * alarms
        kept = caught >= self.scenario.min_precision * alarms
        if self.scenario.per is not None:
            rows_a_day = 1.0 if self.per_day is None else self.per_day * self.n_rows
            kept &= alarms * rows_a_day <= self.scenario.capacity
        return not kept.all(), float(caught.max(initial=0.0) / self.prevalence)


@dataclass(frozen=True, kw_only=True)
class Hours:
    """Hourly rows of stays; some have an event that scores foretell, up to a day ahead.

    A patient has at most as many alarms as twelve hours fit into the stay. Where ``null``, the
    precision floor is a little above the precision of every threshold.
    """

    name: str
    n_patients: int
    shared: float
    scenario: voros.Scenario
    hours: tuple[int, int] = (24, 120)
    ill: float = 0.1
    signal: float = 2.5
    null: bool = False

    def rows(self, rng: np.random.Generator, n_patients: int) -> dict[str, Any]:
        """Draw hourly rows and events."""
        lengths = rng.integers(self.hours[0], self.hours[1] + 1, n_patients)
        stay = np.repeat(np.arange(n_patients), lengths)
        hour = np.arange(len(stay)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        ill = np.flatnonzero(rng.random(n_patients) < self.ill)
        onset = np.full(n_patients, np.inf)
        onset[ill] = rng.integers(6, lengths[ill])
        near = np.clip(1 - (onset[stay] - hour) / 24, 0, 1) * (hour <= onset[stay])
        common = np.sqrt(self.shared) * rng.normal(size=n_patients)[stay]
        own = np.sqrt(1 - self.shared) * rng.normal(size=len(stay))
        score = self.signal * near + common + own
        return {"stay": stay, "time": hour, "score": score, "events": (ill, onset[ill])}

    def draw(self, rng: np.random.Generator) -> voros.OperatingPoints:
        """Draw a ward."""
        return _points(**self.rows(rng, self.n_patients), rule=RULE)

    @cached_property
    def truth(self) -> voros.OperatingPoints:
        """Counts on many other patients."""
        return _points(**self.rows(np.random.default_rng(2**32), TRUTH), rule=RULE)

    @cached_property
    def limits(self) -> voros.Scenario:
        """The scenario, with the floor that no threshold keeps where there is none."""
        if not self.null:
            return self.scenario
        enough = self.truth.alarms >= self.truth.alarms.max() / 20
        floor = 1.002 * float(self.truth.precision[enough].max())
        return self.scenario.changed(min_precision=floor)

    def judge(self, thresholds: FloatArray) -> tuple[bool, float]:
        """Whether some threshold breaks a limit, and the largest share of events caught."""
        rows = self._truth_rows(thresholds)
        if self.null:
            return len(rows) > 0, float(self.truth.tpr[rows].max(initial=0.0))
        kept = self._kept[rows]
        return not kept.all(), float(self.truth.tpr[rows].max(initial=0.0))

    def _truth_rows(self, thresholds: FloatArray) -> Any:
        order, falling = self._falling
        return order[np.searchsorted(falling, -thresholds, side="right") - 1]

    @cached_property
    def _falling(self) -> tuple[Any, FloatArray]:
        order = np.argsort(-self.truth.thresholds)
        return order, -self.truth.thresholds[order]

    @cached_property
    def _kept(self) -> BoolArray:
        return self.truth.feasible(self.limits)

    def per_day(self, threshold: float) -> float:
        """Alarms per patient-day of a threshold."""
        row, stays = self._truth_rows(np.array([threshold]))[0], self.truth.stays
        assert stays is not None
        return float(self.truth.alarms[row] / stays.patient_days)


def _points(**columns: Any) -> voros.OperatingPoints:
    points = voros.alarm_points(**columns)
    assert isinstance(points, voros.OperatingPoints)
    return points


FLOOR = voros.Scenario(0.3, cost_ratio=0.05)
RATE = voros.Scenario(0.0, 0.2, 0.05, per="patient-day")
PER_DAY = voros.Scenario(0.0, 4, 0.05, per="day")
BOTH = voros.Scenario(0.3, 0.2, 0.05, per="patient-day")
HOURLY = voros.Scenario(0.2, 0.15, 0.05, per="patient-day")
HOURLY_RATE = HOURLY.changed(min_precision=0.0)
HOURLY_FLOOR = voros.Scenario(0.2, cost_ratio=0.05)
LEVELS = voros.Scenario(0.2, 0.1, 0.05, per="patient-day")
HOURS = (
    Hours(
        name="hours, null, 1 alarm each, shared .5",
        n_patients=1000,
        shared=0.5,
        hours=(12, 12),
        ill=0.3,
        signal=0.0,
        scenario=HOURLY_FLOOR,
        null=True,
    ),
    Hours(
        name="hours, null, 10 each, shared .5",
        n_patients=100,
        shared=0.5,
        hours=(120, 120),
        ill=0.9,
        signal=0.0,
        scenario=HOURLY_FLOOR,
        null=True,
    ),
    Hours(
        name="hours, null, 10 each, shared .9",
        n_patients=100,
        shared=0.9,
        hours=(120, 120),
        ill=0.9,
        signal=0.0,
        scenario=HOURLY_FLOOR,
        null=True,
    ),
    Hours(
        name="hours, rate binds, 10 each, shared .9",
        n_patients=100,
        shared=0.9,
        hours=(120, 120),
        scenario=HOURLY_RATE,
    ),
    Hours(
        name="hours, rate binds, 2 to 10 each, shared .3",
        n_patients=100,
        shared=0.3,
        scenario=HOURLY_RATE,
    ),
    Hours(name="hours, both limits, 100, .3", n_patients=100, shared=0.3, scenario=HOURLY),
    Hours(name="hours, both limits, 1,500, .3", n_patients=1500, shared=0.3, scenario=HOURLY),
)
SETTINGS: tuple[Blocks | Hours, ...] = (
    Blocks("null, 1 alarm each", 2000, 1, 0.0, 0.2999, 0.0, FLOOR),
    Blocks("null, 3 each, .5", 700, 3, 0.5, 0.2999, 0.0, FLOOR),
    Blocks("null, 10 each, .5", 200, 10, 0.5, 0.2999, 0.0, FLOOR),
    Blocks("null, 10 each, .9", 200, 10, 0.9, 0.2999, 0.0, FLOOR),
    Blocks("rate binds, 10 each, .9", 300, 10, 0.9, 0.3, 1.0, RATE),
    Blocks("rate binds, 3 each, .5", 700, 3, 0.5, 0.3, 1.0, RATE),
    Blocks("both limits, 5 each, .5", 600, 5, 0.5, 0.1, 1.5, BOTH),
    Blocks("4.02 a day, 1 each", 1608, 1, 0.0, 0.3, 0.0, PER_DAY, 4.02, constant=True),
    Blocks("4.02 a day, 10 each", 161, 10, 0.0, 0.3, 0.0, PER_DAY, 0.402, constant=True),
    Blocks("4 a day, 1 each", 4000, 1, 0.0, 0.3, 1.0, PER_DAY, per_day=20),
    Blocks("4 a day, 3 each, .5", 2000, 3, 0.5, 0.3, 1.0, PER_DAY, per_day=7),
    Blocks("4 a day, 10 each, .9", 800, 10, 0.9, 0.3, 1.0, PER_DAY, per_day=2),
    *HOURS,
)


def validate(setting: Blocks | Hours, seed: int) -> tuple[tuple[bool, float], tuple[bool, float]]:
    """Judge what is feasible on one ward with the largest recall, and what is certified on it."""
    points = setting.draw(np.random.default_rng(seed))
    plain = solve(points, setting.limits)
    best = points.thresholds[[plain.highest_recall]]
    certified: BoolArray = GUARANTEE.certified(points, setting.limits)
    certified[0] = False
    passed = points.thresholds[certified]
    return setting.judge(best[np.isfinite(best)]), setting.judge(passed)


def by_rows(columns: dict[str, Any], limits: voros.Scenario, guarantee: Any) -> float:
    """Choose a threshold on rows: each counts as an alarm, true where an event is due."""
    until = _onset(columns)[columns["stay"]] - columns["time"]
    before = until >= 0
    due = (until >= 1) & (until <= 12)
    per_row = limits.changed(capacity=float(limits.capacity) / 24, per=None)
    points = voros.OperatingPoints.from_scores(
        due[before], columns["score"][before], groups=columns["stay"][before]
    )
    return _threshold(points, per_row, guarantee)


def by_stays(columns: dict[str, Any], limits: voros.Scenario, guarantee: Any) -> float:
    """Choose a threshold on the highest score of each stay, before its event."""
    onset = _onset(columns)
    before = columns["time"] <= onset[columns["stay"]]
    highest = np.full(len(onset), -np.inf)
    np.maximum.at(highest, columns["stay"][before], columns["score"][before])
    share = float(limits.capacity) * np.count_nonzero(before) / 24 / len(onset)
    per_stay = limits.changed(capacity=min(share, 1.0), per=None)
    points = voros.OperatingPoints.from_scores(np.isfinite(onset), highest)
    return _threshold(points, per_stay, guarantee)


def by_events(columns: dict[str, Any], limits: voros.Scenario, guarantee: Any) -> float:
    """Choose a threshold on alarms and events, as they are counted in use."""
    return _threshold(_points(**columns, rule=RULE), limits, guarantee)


def _onset(columns: dict[str, Any]) -> FloatArray:
    onset = np.full(int(columns["stay"].max()) + 1, np.inf)
    onset[columns["events"][0]] = columns["events"][1]
    return onset


def _threshold(points: voros.OperatingPoints, limits: voros.Scenario, guarantee: Any) -> float:
    """Choose as a policy does, without its search for a message where nothing is certified."""
    allowed = allowed_thresholds(points, limits, guarantee)
    return float(voros.ThresholdPolicy.from_allowed(allowed, strategy="recall").threshold())


BY_LEVEL = {"events": by_events, "stays": by_stays, "rows": by_rows}


def compare_levels(n_runs: int, wanted: set[str]) -> None:
    """Print what thresholds chosen on rows, stays and events do on other patients.

    Of what is wanted, names are levels and a number is how many stays validate.
    """
    levels = wanted & set(BY_LEVEL)
    n_patients = next((int(word) for word in wanted if word.isdecimal()), 300)
    ward = Hours(name="levels", n_patients=n_patients, shared=0.0, scenario=LEVELS)
    print("chosen on | guarantee | broken | alarms per patient-day | events caught")
    for name, choose in BY_LEVEL.items():
        if levels and name not in levels:
            continue
        for guarantee in (None, GUARANTEE):
            results = []
            for seed in range(n_runs):
                columns = ward.rows(np.random.default_rng(seed), ward.n_patients)
                chosen = choose(columns, ward.limits, guarantee)
                broken, recall = ward.judge(np.array([chosen])) if chosen < np.inf else (False, 0.0)
                results.append((broken, ward.per_day(chosen), recall))
            broken, rate, recall = np.mean(results, axis=0)
            sure = "no" if guarantee is None else "yes"
            print(f"{name} | {sure} | {100 * broken:.2f} % | {rate:.4f} | {recall:.3f}", flush=True)


def cover(n_runs: int) -> None:
    """Print how often an interval misses the score on other patients, and equal models differ."""
    print("patients | score | missed | equal models differ")
    for n_patients in (300, 1000):
        ward = Hours(name="intervals", n_patients=n_patients, shared=0.3, scenario=HOURLY)
        truth = voros.evaluate(ward.truth, scenario=HOURLY).score
        missed, differ = np.mean([_misses(ward, truth, seed) for seed in range(n_runs)], axis=0)
        shares = f"{100 * missed:.2f} % | {100 * differ:.2f} %"
        print(f"{n_patients} | {truth:.3f} | {shares}", flush=True)


def _misses(ward: Hours, truth: float, seed: int) -> tuple[bool, bool]:
    rng = np.random.default_rng(seed)
    columns = ward.rows(rng, ward.n_patients)
    # Twins: the same signal, each with noise of its own in each row.
    noise = 0.5 * rng.normal(size=(2, len(columns["score"])))
    twins = voros.alarm_points(
        **columns | {"score": dict(zip("ab", columns["score"] + noise, strict=True))}, rule=RULE
    )
    how: Any = {"scenario": HOURLY, "n_resamples": 400, "random_state": seed}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", voros.VorosWarning)
        interval = voros.bootstrap(_points(**columns, rule=RULE), **how)
        compared = voros.compare(twins, **how)
    return not interval.low <= truth <= interval.high, compared.differs(compared.pairs[0])


def choose_rules(n_runs: int) -> None:
    """Print how often the winner of several rules breaks a limit, where no threshold keeps it."""
    print("alarms each | rules | winner breaks the floor")
    for n_rows, n_patients, shared in ((3, 700, 0.0), (10, 200, 0.0), (10, 200, 0.9)):
        ward = Blocks("", n_patients, n_rows, shared, 0.2999, 0.0, FLOOR)
        days = (1, 2, 3, 4)
        rules = {f"{n} d": ward.rule(24 * n - 12) for n in days}
        broken = np.mean([_deploys(ward, rules, seed) for seed in range(n_runs)])
        print(f"{n_rows}, shared {shared} | {len(rules)} | {100 * broken:.2f} %", flush=True)


def _deploys(ward: Blocks, rules: dict[str, voros.AlarmRule], seed: int) -> bool:
    points = voros.alarm_points(**ward.columns(np.random.default_rng(seed)), rule=rules)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", voros.VorosWarning)
        selection = voros.select_model(points, scenario=ward.limits, guarantee=GUARANTEE)
        return bool(np.isfinite(selection.policy().threshold()))


def main() -> None:
    """Print a row for each setting, or compare levels of choice, intervals or rules."""
    n_runs = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    wanted = set(sys.argv[2:])
    if "levels" in wanted:
        compare_levels(n_runs, wanted - {"levels"})
        return
    if wanted == {"intervals"}:
        cover(n_runs)
        return
    if wanted == {"rules"}:
        choose_rules(n_runs)
        return
    print("setting | plain: broken, recall | certified: broken, recall")
    for setting in SETTINGS:
        if wanted and setting.name not in wanted:
            continue
        outcomes = np.array([validate(setting, seed) for seed in range(n_runs)])
        cells = [f"{100 * b:.2f} %, {r:.3f}" for b, r in outcomes.mean(axis=0)]
        print(" | ".join([setting.name, *cells]), flush=True)


if __name__ == "__main__":
    main()
