"""Sharing one capacity: how long it takes, whether the joint guarantee holds, what it catches.

Run ``python benchmarks/allocation.py speed``, ``search``, ``guarantee [runs]``, ``support2`` or
``physionet`` (with VOROS_PHYSIONET2012 naming the archive of the PhysioNet 2012 challenge, sets a
and b); docs/theory/allocation.md has the results.
"""

from __future__ import annotations

import csv
import io
import os
import sys
import tarfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import binom, norm

import voros
from voros.core.operating_points import OperatingPoints
from voros.core.shared_capacity import Stream, share_capacity
from voros.datasets import load_support2
from voros.typing import AnyArray, BoolArray, FloatArray

RESAMPLES = 1000
"""Of the patients, for intervals."""


@dataclass(frozen=True)
class Population:
    """Three streams with normal scores, correlated within a case, a patient or a day.

    ``kind`` says what shares the common part of the scores, and how the limits are meant: "cases",
    "groups", "visits" (a case counts once), "patients" (each case up to five times) or "days" (the
    mean, or with ``exceed`` a share of the days).
    """

    name: str
    kind: str
    prevalence: tuple[float, ...]
    separation: tuple[float, ...]
    floors: tuple[float, ...]
    capacity: float
    n_cases: int = 3000
    exceed: float | None = None

    def draw(self, rng: np.random.Generator, n: int) -> tuple[Any, Any, Any]:
        """Draw labels, scores, and the group, patient or day of each case."""
        prevalence, shift = np.array(self.prevalence), np.array(self.separation)
        if self.kind == "groups":
            group = rng.integers(0, len(prevalence), n)
            y = rng.random(n) < prevalence[group]
            return y, rng.normal(size=n) + shift[group] * y, group
        unit = np.arange(n) // DAY if self.kind == "days" else np.arange(n)
        y = rng.random((n, len(prevalence))) < prevalence
        common = rng.normal(size=(n, 1))[unit]
        scores = 0.8 * rng.normal(size=y.shape) + 0.6 * common + shift * y
        if self.kind == "patients":
            unit = np.repeat(unit, rng.integers(1, 6, n))[:n]
            y, scores = y[unit], scores[unit]
        return y, scores, unit

    def policy(self, seed: int) -> voros.JointPolicy:
        """Draw a validation, and allocate with a guarantee."""
        y, scores, unit = self.draw(np.random.default_rng(seed), self.n_cases)
        scenarios = {
            str(i): voros.Scenario(floor, cost_ratio=0.1) for i, floor in enumerate(self.floors)
        }
        how: dict[str, Any] = {"guarantee": voros.Guarantee(0.95), "capacity": self.capacity}
        how |= {
            "groups": {"by": unit},
            "visits": {"overlap": "once"},
            "patients": {"groups": unit},
            "days": {"per": "day", "periods": unit, "exceed": self.exceed},
        }.get(self.kind, {})
        return voros.allocate(y, scores, scenarios, **how)

    def truth(self, policy: voros.JointPolicy) -> tuple[bool, bool, float]:
        """Say whether a floor and the capacity are broken, and the share of it that is used."""
        at = np.array(policy.default.thresholds)
        prevalence, shift = np.array(self.prevalence), np.array(self.separation)
        tp, fp = prevalence * norm.sf(at - shift), (1 - prevalence) * norm.sf(at)
        broken = np.isfinite(at) & (tp < np.array(self.floors) * (tp + fp))
        alarms, most = self._alarms(at, tp + fp)
        return bool(broken.any()), alarms > most, alarms / most

    def _alarms(self, at: FloatArray, per_stream: FloatArray) -> tuple[float, float]:
        """What the capacity limits in the population, and the limit."""
        if self.kind == "groups":
            return float(per_stream.mean()), self.capacity
        if self.kind == "visits":
            return 1 - float(NODE_WEIGHTS @ np.prod(1 - self._chances(at), axis=1)), self.capacity
        if self.exceed is not None:
            return self._above(at), self.exceed
        return float(per_stream.sum()) * (DAY if self.kind == "days" else 1), self.capacity

    def _chances(self, at: FloatArray) -> FloatArray:
        """Chances of an alarm of each stream, given the common part of the scores."""
        prevalence, shift = np.array(self.prevalence), np.array(self.separation)
        rest = (at - 0.6 * NODES[:, None]) / 0.8
        return prevalence * norm.sf(rest - shift / 0.8) + (1 - prevalence) * norm.sf(rest)

    def _above(self, at: FloatArray) -> float:
        """The share of the days with more alarms than the capacity."""
        chances = self._chances(at)
        above = 0.0
        for weight, chance in zip(NODE_WEIGHTS, chances, strict=True):
            total = np.ones(1)
            for p in chance:
                total = np.convolve(total, binom.pmf(np.arange(DAY + 1), DAY, p))
            above += weight * total[int(self.capacity) + 1 :].sum()
        return above


DAY = 15
"""Cases of a day."""

NODES, NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(80)
NODE_WEIGHTS = NODE_WEIGHTS / NODE_WEIGHTS.sum()

COMMON = (0.15, 0.25, 0.1), (1.6, 1.3, 2.0), (0.4, 0.5, 0.3)
NO_FLOOR = (0.3, 0.3, 0.3), (1, 1, 1), (0.0, 0.0, 0.0)
USELESS = (0.3, 0.3, 0.3), (0, 0, 0), (0.3001,) * 3
POPULATIONS = (
    Population("outcomes", "cases", *COMMON, 0.3),
    Population("groups", "groups", *COMMON, 0.12),
    Population("floors that no alarm keeps", "cases", *USELESS, 1.0),
    Population("capacity alone", "groups", *NO_FLOOR, 0.1),
    Population("visits", "visits", *COMMON, 0.2, 1500),
    Population("patients", "patients", *COMMON, 0.3),
    Population("patients, floors that no alarm keeps", "patients", *USELESS, 1.0),
    Population("mean of days", "days", *NO_FLOOR, 6, 9000),
    Population("share of days", "days", (0.3, 0.3), (1, 1), (0.0, 0.0), 3, 1500, 0.2),
)


def speed() -> None:
    """Time the sharing after counting, for growing numbers of cases and streams."""
    for n_streams, n_cases in ((10, 10_000), (10, 100_000), (10, 1_000_000), (100, 10_000)):
        rng = np.random.default_rng(0)
        streams = [_stream(rng, n_cases) for _ in range(n_streams)]
        for share in (0.02, 0.05, 0.2):
            start = time.perf_counter()
            choice = share_capacity(streams, int(share * n_streams * n_cases))
            took = time.perf_counter() - start
            states = choice.certificate.n_states
            print(f"{n_streams} x {n_cases:,} {share:.0%}: {took:.3f} s, {states:,} states")


def _stream(rng: np.random.Generator, n_cases: int) -> Stream:
    y = rng.random(n_cases) < rng.uniform(0.05, 0.3)
    points = OperatingPoints.from_scores(y, rng.normal(size=n_cases) + rng.uniform(0.5, 2) * y)
    miss, ratio, floor = rng.uniform(0.5, 3), rng.uniform(0.02, 0.3), rng.choice([0.0, 0.3])
    return Stream.within(points, false_alarm=miss * ratio, miss=miss, min_precision=float(floor))


def _days(capacity: int, n_days: int, exceed: float) -> dict[str, Any]:
    return {"capacity": capacity, "per": "day", "exceed": exceed, "periods": n_days}


VISITS: dict[str, Any] = {"capacity": 0.1, "overlap": "once"}

SEARCHES: tuple[tuple[int, int, str, dict[str, Any]], ...] = (
    (10, 50_000, "apart", VISITS),
    (10, 50_000, "apart", _days(250, 20, 0.05)),
    (10, 50_000, "apart", _days(250, 20, 0.05) | {"overlap": "once"}),
    (10, 50_000, "apart", _days(50, 100, 0.0)),
    (10, 50_000, "apart", _days(50, 100, 0.05)),
    (5, 5000, "apart", _days(25, 20, 0.05)),
    (5, 5000, "apart", _days(5, 100, 0.05)),
    (10, 5000, "together", VISITS),
    (10, 50_000, "together", VISITS),
)
"""Streams, cases, whether their scores share a part, and the limit of each search."""


def search() -> None:
    """Time searches where alarms are no plain sum: visits, and a capacity of each day."""
    for n_streams, n_cases, kind, limit in SEARCHES:
        drawn = [_search(n_streams, n_cases, kind, limit, seed) for seed in range(3)]
        words = "; ".join(f"{gap:.2%} in {seconds:.1f} s" for seconds, gap in drawn)
        print(f"{n_streams} x {n_cases:,} {kind}, {limit}: {words}", flush=True)


def _search(
    n_streams: int, n_cases: int, kind: str, limit: dict[str, Any], seed: int
) -> tuple[float, float]:
    """Return seconds of one core, and the gap that was certified."""
    rng = np.random.default_rng(seed)
    prevalence, shift, ratio = 0.02 * np.arange(1, n_streams + 1), np.ones(n_streams), 0.05
    if kind == "together":
        prevalence, shift = rng.uniform(0.03, 0.3, n_streams), rng.uniform(0.7, 2, n_streams)
        ratio = 0.1
    y = rng.random((n_cases, n_streams)) < prevalence
    scores = rng.normal(size=y.shape)
    if kind == "together":
        scores = 0.8 * scores + 0.6 * rng.normal(size=(n_cases, 1))
    scores += shift * y
    how = {"max_gap": 0.001, "max_seconds": 5.0} | limit
    if "periods" in how:
        how["periods"] = np.arange(n_cases) % how["periods"]
    start = time.process_time()
    policy = voros.allocate(y, scores, voros.Scenario(0.2, cost_ratio=ratio), **how)
    return time.process_time() - start, policy.certificate.gap


def guarantee(runs: int, part: str = "") -> None:
    """Count how often the population breaks a limit; 5 % are allowed."""
    for population in POPULATIONS:
        if part not in population.name:
            continue
        truths = np.array([population.truth(population.policy(seed)) for seed in range(runs)])
        floors, capacity, used = truths.mean(axis=0)
        either = np.mean((truths[:, 0] + truths[:, 1]) > 0)
        error = np.sqrt(either * (1 - either) / runs)
        print(
            f"{population.name}: broken {either:.2%} (+- {error:.2%}), floors {floors:.2%}, "
            f"capacity {capacity:.2%}, used {used:.1%} of the capacity",
            flush=True,
        )


Read = tuple[dict[str, FloatArray], dict[str, BoolArray], dict[str, AnyArray]]


def _fixed(ward: AnyArray, share: float) -> dict[str, voros.Scenario]:
    own = voros.Scenario(capacity=share, cost_ratio=1 / 100)
    return dict.fromkeys(np.unique(ward).tolist(), own)


@dataclass(frozen=True)
class Cases:
    """Labels, scores and wards of patients."""

    died: BoolArray
    scores: FloatArray
    ward: AnyArray

    def take(self, rows: AnyArray) -> Cases:
        """Return some of the patients."""
        return Cases(self.died[rows], self.scores[rows], self.ward[rows])


def compare_wards(known: Cases, new: Cases, share: float) -> None:
    """Choose on known cases, and count on new ones the deaths that one capacity catches more."""
    apart = voros.allocate(
        known.died, known.scores, _fixed(known.ward, share), capacity=1.0, by=known.ward
    )
    most = int(sum(apart.default.alarms))
    plain = voros.Scenario(cost_ratio=1 / 100)
    shared = voros.allocate(known.died, known.scores, plain, capacity=most, by=known.ward)
    by_shared, by_fixed = (np.asarray(p.predict(new.scores, by=new.ward)) for p in (shared, apart))
    price = shared.certificate.shadow_price or 0.0
    # Additional alarms on the new cases are charged at the shadow price of the capacity.
    gain = (by_shared.astype(float) - by_fixed) * (new.died - price)
    rng = np.random.default_rng(0)
    draws = [gain[rng.integers(0, len(gain), len(gain))].sum() for _ in range(RESAMPLES)]
    low, high = np.quantile(draws, [0.025, 0.975])
    print(
        f"{share:.0%}: chosen with {most} alarms, deaths {int(sum(shared.default.tp))} shared, "
        f"{int(sum(apart.default.tp))} fixed; on {len(gain)} new patients "
        f"{int(np.sum(by_shared & new.died))} of {int(by_shared.sum())} alarms shared, "
        f"{int(np.sum(by_fixed & new.died))} of {int(by_fixed.sum())} fixed: "
        f"{gain.sum():.1f} deaths more for as many alarms (95 % {low:.1f} to {high:.1f})",
        flush=True,
    )


OUTCOMES: dict[str, tuple[Any, float]] = {
    "7 days": ("hospital_death_within_7_days", 8.0),
    "hospital": ("hospital_death", 4.0),
    "2 months": ("death_within_2_months", 2.0),
    "6 months": ("death_within_6_months", 1.0),
}
"""Deaths of SUPPORT2 as streams, and what a miss of each weighs."""


def support2() -> None:
    """Outcomes as streams, and diagnosis groups as wards, chosen and tested on halves."""
    data = load_support2().with_all_prognoses()
    risk = data.prognoses
    died = {name: data.outcome(column) for name, (column, _) in OUTCOMES.items()}
    scores = {
        "7 days": risk["physicians"],
        "hospital": risk["APACHE III"],
        "2 months": risk["SUPPORT model"],
        "6 months": data.six_month_prognoses["SUPPORT model"],
    }
    order = np.random.default_rng(0).permutation(len(died["hospital"]))
    halves = np.array_split(order, 2)
    for share in (0.05, 0.1, 0.2):
        parts = [[_rows(part, half) for part in (died, scores)] for half in halves]
        _compare_outcomes(parts[0], parts[1], share)
    patients = Cases(died["hospital"], risk["SUPPORT model"], data.features["dzgroup"])
    wards = [patients.take(half) for half in halves]
    for share in (0.05, 0.1, 0.2):
        compare_wards(wards[0], wards[1], share)


def _rows(columns: dict[str, Any], rows: AnyArray) -> dict[str, Any]:
    return {name: column[rows] for name, column in columns.items()}


def _worth(
    policy: voros.JointPolicy, new: list[Any], weight: dict[str, float], price: float
) -> FloatArray:
    """Misses of weight 1 that a policy avoids for each patient, less the price of its alarms."""
    raised: Any = policy.predict(new[1])
    worth = [raised[name] * (own * new[0][name] - price) for name, own in weight.items()]
    return np.asarray(np.sum(worth, axis=0))


def _compare_outcomes(known: list[Any], new: list[Any], share: float) -> None:
    """Share one capacity, of alarms or of visits, between the outcomes, or give each a quarter."""
    weight = {name: own for name, (_, own) in OUTCOMES.items()}
    y, scores = known
    n_new, scenario = len(new[0]["hospital"]), voros.Scenario(0.3, cost_ratio=1 / 10)
    start = time.perf_counter()
    shared = voros.allocate(y, scores, scenario, capacity=share, miss_weight=weight)
    took = time.perf_counter() - start
    own = voros.Scenario(0.3, int(shared.max_alarms) // len(OUTCOMES), cost_ratio=1 / 10)
    apart = voros.allocate(y, scores, own, capacity=share, miss_weight=weight)
    once = voros.allocate(y, scores, scenario, capacity=share, miss_weight=weight, overlap="once")
    price = shared.certificate.shadow_price or 0.0
    gain = _worth(shared, new, weight, price) - _worth(apart, new, weight, price)
    rng = np.random.default_rng(0)
    draws = [gain[rng.integers(0, n_new, n_new)].sum() for _ in range(RESAMPLES)]
    low, high = np.quantile(draws, [0.025, 0.975])
    print(f"{share:.0%} of {n_new} new patients, found in {took:.2f} s; {shared!r}")
    for words, policy in (("shared", shared), ("a quarter each", apart), ("visits", once)):
        print(f"{words}:\n{policy.evaluate(*new).table().text()}")
    print(
        f"misses of weight 1 avoided for as many alarms: {gain.sum():.1f} ({low:.1f} to {high:.1f})"
    )


def physionet() -> None:
    """Fit and choose on set a, with scores of held-out folds, and compare ICU types on set b."""
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    features, died, ward = _physionet(os.environ["VOROS_PHYSIONET2012"])
    steps = SimpleImputer(strategy="median"), StandardScaler(), LogisticRegression(C=0.01)
    model = make_pipeline(*steps)
    held_out = cross_val_predict(model, features["a"], died["a"], cv=5, method="predict_proba")
    fitted = model.fit(features["a"], died["a"])
    known = Cases(died["a"], held_out[:, 1], ward["a"])
    new = Cases(died["b"], fitted.predict_proba(features["b"])[:, 1], ward["b"])
    print(f"{len(new.died)} patients, {int(new.died.sum())} died in hospital")
    for share in (0.05, 0.1, 0.2):
        compare_wards(known, new, share)


def _physionet(
    path: str,
) -> tuple[dict[str, FloatArray], dict[str, BoolArray], dict[str, AnyArray]]:
    """Read first, last, mean, lowest and highest of every variable of each patient."""
    records: dict[str, dict[str, dict[str, list[float]]]] = {"a": {}, "b": {}}
    died: dict[str, dict[str, bool]] = {"a": {}, "b": {}}
    with tarfile.open(path) as archive:
        for member in archive:
            file = archive.extractfile(member) if member.isfile() else None
            if file is None:
                continue
            part = "a" if "-a" in member.name else "b"
            rows = csv.DictReader(io.TextIOWrapper(file, encoding="utf-8"))
            if "utcomes" in member.name:
                died[part] |= {r["RecordID"]: r["In-hospital_death"] == "1" for r in rows}
            elif member.name.endswith(".txt"):
                values = _measured(rows)
                records[part][str(int(values["RecordID"][0]))] = values
    names = sorted({name for part in records.values() for v in part.values() for name in v})
    names.remove("RecordID")
    features, labels, wards = {}, {}, {}
    for part, patients in records.items():
        known = [key for key in patients if key in died[part]]
        features[part] = np.array([_summary(patients[key], names) for key in known])
        labels[part] = np.array([died[part][key] for key in known])
        wards[part] = np.array([f"ICU {patients[key]['ICUType'][0]:.0f}" for key in known])
    return features, labels, wards


def _measured(rows: csv.DictReader[str]) -> dict[str, list[float]]:
    values: dict[str, list[float]] = {}
    for row in rows:
        if row["Parameter"] and float(row["Value"]) >= 0:
            values.setdefault(row["Parameter"], []).append(float(row["Value"]))
    return values


def _summary(values: dict[str, list[float]], names: list[str]) -> list[float]:
    summary: list[float] = []
    for name in names:
        seen = values.get(name)
        parts = [np.nan] * 5 if not seen else [seen[0], seen[-1], *map(float, _spread(seen))]
        summary += [*parts, float(len(seen or ()))]
    return summary


def _spread(seen: list[float]) -> tuple[float, float, float]:
    return sum(seen) / len(seen), min(seen), max(seen)


if __name__ == "__main__":
    warnings.simplefilter("ignore", voros.VorosWarning)
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 2000
    commands: dict[str, Callable[[], None]] = {
        "speed": speed,
        "search": search,
        "guarantee": lambda: guarantee(runs, *sys.argv[3:]),
        "support2": support2,
        "physionet": physionet,
    }
    commands[sys.argv[1]]()
