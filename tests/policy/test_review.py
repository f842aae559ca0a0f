"""A review band against every pair of thresholds, and what it does with other cases."""

from __future__ import annotations

import json
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import voros
from voros.exceptions import ArgumentError
from voros.policy import review_band


def drawn(seed: int, n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    return y, (rng.normal(size=n) + y).round(1)


def cost_of(y: np.ndarray, alarm: np.ndarray, reviewed: np.ndarray, c: float, k: float) -> float:
    return c * (alarm & ~y).sum() + k * (reviewed & ~alarm).sum() + (y & ~alarm & ~reviewed).sum()


def least_cost(
    y: np.ndarray, score: np.ndarray, limits: voros.Scenario, most: int, k: float
) -> Any:
    """Try all pairs of thresholds, never included."""
    lowest, thresholds = np.inf, [*np.unique(score), np.inf]
    for low, high in combinations_with_replacement(thresholds, 2):
        alarm, reviewed = score >= high, (score >= low) & (score < high)
        n = alarm.sum()
        kept = n <= limits.capacity * len(y) and (not n or y[alarm].mean() >= limits.min_precision)
        enough = y[alarm | reviewed].sum() >= (limits.min_recall or 0) * y.sum()
        if kept and enough and reviewed.sum() <= most:
            lowest = min(lowest, cost_of(y, alarm, reviewed, 0.3, k))
    return lowest


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(("most", "k"), [(3, 0.05), (20, 0.1), (60, 0.25), (10, 0.4), (30, 0.0)])
def test_no_pair_of_thresholds_is_better(seed: int, most: int, k: float) -> None:
    y, score = drawn(seed)
    limits = voros.Scenario(min_precision=0.6, capacity=0.2, cost_ratio=(0.2, 0.4))
    band = review_band(y, score, limits, review_capacity=most, review_cost=k)
    assert band.validation.cost == pytest.approx(least_cost(y, score, limits, most, k))
    decided = band.predict(score)
    alarm, reviewed = decided == "alarm", decided == "review"
    assert cost_of(y, alarm, reviewed, 0.3, k) == pytest.approx(band.validation.cost)
    assert reviewed.sum() <= most
    assert alarm.sum() <= 12
    assert not alarm.any() or y[alarm].mean() >= 0.6


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(("most", "recall"), [(10, 0.5), (20, 0.75), (30, 0.9), (60, 1.0)])
def test_a_recall_floor_counts_reviews_too(seed: int, most: int, recall: float) -> None:
    y, score = drawn(seed)
    limits = voros.Scenario(0.6, 0.2, cost_ratio=(0.2, 0.4), min_recall=recall)
    lowest = least_cost(y, score, limits, most, 0.25)
    if np.isinf(lowest):
        with pytest.raises(voros.InfeasibleError, match=f"two thresholds meet .*{recall:g}") as no:
            review_band(y, score, limits, review_capacity=most, review_cost=0.25)
        reached = float(str(no.value).split("a recall of ")[1].split()[0])
        lower = limits.changed(min_recall=reached - 1e-3)
        assert review_band(y, score, lower, review_capacity=most, review_cost=0.25)
        assert np.isinf(least_cost(y, score, limits.changed(min_recall=reached + 1e-3), most, 1))
        return
    band = review_band(y, score, limits, review_capacity=most, review_cost=0.25)
    assert band.validation.cost == pytest.approx(lowest)
    band_recall = band.validation.recall
    assert band_recall >= recall
    assert band.validation.meets_floors(limits.changed(min_recall=band_recall))
    if band_recall < 1:
        assert not band.validation.meets_floors(limits.changed(min_recall=band_recall + 1e-9))


def test_counts_are_those_of_the_cases() -> None:
    limits = voros.Scenario(min_precision=0.5, capacity=0.3, cost_ratio=0.3)
    band = review_band(*drawn(0, 500), limits, review_capacity=0.1, review_cost=0.1)
    y, score = drawn(1, 800)
    counts, decided = band.evaluate(y, score), band.predict(score)
    for i, level in enumerate(("alarm", "review", "nothing")):
        assert counts.cases[i] == (decided == level).sum()
        assert counts.positive[i] == y[decided == level].sum()
    assert counts.precision == pytest.approx(y[decided == "alarm"].mean())
    assert counts.recall == pytest.approx((decided[y] != "nothing").mean())
    assert (counts.max_alarms, counts.max_reviews) == (240, 80)
    alarm, reviewed = decided == "alarm", decided == "review"
    assert counts.cost_per_1000 == pytest.approx(cost_of(y, alarm, reviewed, 0.3, 0.1) / 0.8)
    assert sum(counts.positive) == y.sum()
    assert sum(band.validation.cases) == 500


def test_weights_and_another_prevalence_are_repeated_cases() -> None:
    y, score = drawn(2, 100)
    limits = voros.Scenario(min_precision=0.4, capacity=0.4, cost_ratio=0.3)
    how = {"review_capacity": 0.2, "review_cost": 0.1}
    twice = np.where(y, 1, 2)
    repeated = review_band(np.repeat(y, twice), np.repeat(score, twice), limits, **how)
    weighted = review_band(y, score, limits, sample_weight=twice, **how)
    rare = voros.Scenario(0.4, 0.4, cost_ratio=0.3, prevalence=y.sum() / twice.sum())
    stated = review_band(y, score, rare, **how)
    for band in (weighted, stated):
        assert band.alarm_threshold == repeated.alarm_threshold
        assert band.review_threshold == repeated.review_threshold
        assert band.validation.cost_per_1000 == pytest.approx(repeated.validation.cost_per_1000)


def test_reviews_that_cost_a_miss_are_not_taken() -> None:
    y, score = drawn(3)
    limits = voros.Scenario(min_precision=0.5, capacity=0.5, cost_ratio=0.3)
    band = review_band(y, score, limits, review_capacity=1.0, review_cost=1.5)
    assert band.alarm_threshold == band.review_threshold
    policy = voros.ThresholdPolicy.from_validation(y, score, limits)
    assert cost_of(y, score >= policy.threshold(), score < -9, 0.3, 0) == band.validation.cost


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"review_capacity": 0}, "review_capacity"),
        ({"review_capacity": 0.001}, "review_capacity"),
        ({"review_cost": -1}, "review_cost=-1; accepted is a cost in misses, from 0"),
        ({"review_cost": "x"}, "review_cost"),
        ({"scenario": voros.Scenario(capacity=3, per="day", cost_ratio=1)}, "capacity per day is"),
    ],
)
def test_what_is_not_kept_is_refused(changed: dict[str, Any], message: str) -> None:
    y, score = drawn(4)
    arguments: dict[str, Any] = {"scenario": voros.Scenario(cost_ratio=1), "review_capacity": 0.1}
    with pytest.raises(ArgumentError, match=message):
        review_band(y, score, **{**arguments, "review_cost": 0.1, **changed})


def saved_band() -> voros.policy.ReviewBand:
    limits = voros.Scenario(0.4, 0.3, cost_ratio=(0.1, 0.4), prevalence=0.2)
    return review_band(*drawn(3, 200), limits, review_capacity=20, review_cost=0.1, model="risk")


def test_a_band_is_read_back_exactly(tmp_path: Path) -> None:
    band, file = saved_band(), tmp_path / "band.json"
    band.to_json(file)
    loaded = voros.policy.ReviewBand.from_json(file)
    assert loaded.to_json() == band.to_json()
    assert repr(loaded) == repr(band)
    assert (loaded.scenario, loaded.review_capacity, loaded.model) == (band.scenario, 20, "risk")
    assert isinstance(loaded.review_capacity, int)
    with pytest.raises(FileExistsError):
        band.to_json(file)
    nothing = review_band(
        *drawn(3, 200),
        voros.Scenario(1.0, 0.3, cost_ratio=0.1),
        review_capacity=20,
        review_cost=2.0,
    )
    assert voros.policy.ReviewBand.from_json(nothing.to_json()).to_json() == nothing.to_json()


def test_sums_of_weights_keep_a_floor_but_for_rounding() -> None:
    eight_tenths = sum([0.1] * 8)
    assert eight_tenths < 0.8
    counts = voros.policy.ReviewCounts(
        cases=(1.0, 1.9, 2.1),
        positive=(eight_tenths, 0.0, 0.2),
        max_alarms=2.5,
        max_reviews=1.92,
        cost=1.0,
    )
    assert counts.meets_floors(voros.Scenario(0.8, cost_ratio=1.0, min_recall=0.8))
    assert not counts.meets_floors(voros.Scenario(0.81, cost_ratio=1.0))
    assert not counts.meets_floors(voros.Scenario(cost_ratio=1.0, min_recall=0.81))
    assert "at most 2.50 alarms and 1.92 reviews" in repr(counts)


def test_a_level_that_no_case_has_is_said_so() -> None:
    limits = voros.Scenario(0.8, 0.05, cost_ratio=0.1, min_recall=0.5)
    free = review_band(*drawn(4), limits, review_capacity=1.0, review_cost=0)
    assert repr(free).startswith("no alarm, review from ")
    limits = voros.Scenario(0.5, cost_ratio=0.1)
    tied = review_band([0, 1, 0, 1], [1, 1, 1, 1], limits, review_capacity=2, review_cost=0)
    assert repr(tied).startswith("alarm from 1 on, no review\n")


def test_points_without_thresholds_are_refused() -> None:
    points = voros.OperatingPoints.from_counts([5, 9], [5, 9], 10, 20)
    limits = voros.Scenario(cost_ratio=0.1)
    with pytest.raises(ValueError, match="no thresholds, so none can be deployed"):
        review_band(points, scenario=limits, review_capacity=5, review_cost=0.01)
    with pytest.raises(ValueError, match="no thresholds, so none can be deployed"):
        saved_band().evaluate(points)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("review_threshold", 99.0, "checksum"),
        ("review_cost", 0.2, "checksum"),
        ("alarm_threshold", 9.0, "checksum"),
        ("format", "voros threshold policy", "voros review band"),
        ("validation", {"cases": [1, 2]}, "checksum"),
    ],
)
def test_a_changed_file_is_refused(key: str, value: Any, message: str) -> None:
    document = json.loads(saved_band().to_json()) | {key: value}
    with pytest.raises(ValueError, match=message):
        voros.policy.ReviewBand.from_json(json.dumps(document))
