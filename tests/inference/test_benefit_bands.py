"""Bands of decision curves: exact limits where they are known, coverage, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import voros
from voros.core.decision import NO_LIMITS
from voros.exceptions import ArgumentError
from voros.inference import net_benefit_band
from voros.inference.benefit_bands import fixed_threshold_interval

WARD = voros.Scenario(min_precision=0.3, capacity=0.1, cost_ratio=1.0)


def drawn(seed: int, n: int = 400) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.1
    return y, 1 / (1 + np.exp(3 - 2 * y - rng.normal(size=n)))


def test_of_free_false_positives_the_band_is_that_of_the_prevalence() -> None:
    # At p = 0 everybody has an alarm, and the net benefit is the share of positives.
    y, risk = drawn(0)
    band = net_benefit_band(y, risk, threshold_probability=0.0)
    exact = stats.binomtest(int(y.sum()), len(y)).proportion_ci()
    assert band.estimate[0] == pytest.approx(y.mean())
    assert band.high[0] == pytest.approx(exact.high, rel=1e-6)
    # Below, it also allows for positives of a score lower than any seen.
    assert y.mean() - 1.1 * (y.mean() - exact.low) < band.low[0] <= exact.low


def test_with_a_known_prevalence_the_two_exact_distances_add_as_deviations_do() -> None:
    y, risk = drawn(1)
    share, p, at = 0.05, 0.2, 0.3
    points = voros.OperatingPoints.from_scores(y, risk)
    scenario = voros.Scenario(cost_ratio=1.0, prevalence=share)
    low, high = fixed_threshold_interval(points, at, p, scenario, 0.9)
    tpr, fpr = ((risk >= at)[which] for which in (y, ~y))
    tpr_ends, fpr_ends = (
        stats.binomtest(int(hits.sum()), len(hits)).proportion_ci(0.9) for hits in (tpr, fpr)
    )
    ratio = p / (1 - p)
    value = share * tpr.mean() - ratio * (1 - share) * fpr.mean()
    down = share * (tpr.mean() - tpr_ends.low), ratio * (1 - share) * (fpr_ends.high - fpr.mean())
    up = share * (tpr_ends.high - tpr.mean()), ratio * (1 - share) * (fpr.mean() - fpr_ends.low)
    assert low == pytest.approx(value - np.hypot(*down), abs=1e-9)
    assert high == pytest.approx(value + np.hypot(*up), abs=1e-9)


@pytest.mark.parametrize("scenario", [None, WARD, NO_LIMITS])
def test_the_band_is_around_the_curve_and_has_width(scenario: voros.Scenario | None) -> None:
    y, risk = drawn(2)
    at = [0.05, 0.3, 0.9]
    band = net_benefit_band(y, risk, scenario, threshold_probability=at)
    expected = voros.net_benefit(y, risk, scenario, threshold_probability=at)
    np.testing.assert_allclose(band.estimate, expected)
    assert np.all(band.low <= expected)
    assert np.all(expected < band.high)
    if scenario is not None:
        assert np.all(band.low >= 0)


def test_alike_cases_of_a_patient_widen_it() -> None:
    y, risk = (np.repeat(values, 5) for values in drawn(3, 200))
    whose = np.repeat(np.arange(200), 5)
    how = {"threshold_probability": [0.1]}
    for scenario in (None, WARD):
        alone, together = (
            net_benefit_band(y, risk, scenario, groups=groups, **how) for groups in (None, whose)
        )
        ratio = (together.high - together.low) / (alone.high - alone.low)
        assert 1.7 < ratio[0] < 3.0  # about the root of five


def test_points_and_models_by_name() -> None:
    y, risk = drawn(4)
    points = voros.OperatingPoints.from_scores(y, risk)
    how = {"scenario": WARD, "threshold_probability": 0.1}
    one, same = net_benefit_band(y, risk, **how), net_benefit_band(points, **how)
    by_name = net_benefit_band({"a": points, "b": points}, **how)
    named = net_benefit_band(y, {"a": risk}, **how)
    assert one.low == same.low == by_name["b"].low == named["a"].low


def test_what_has_no_exact_limits_is_refused() -> None:
    y, risk = drawn(5)
    weighted = voros.OperatingPoints.from_scores(y, risk, sample_weight=np.full(len(y), 1.5))
    with pytest.raises(ArgumentError, match="weighted"):
        net_benefit_band(weighted, threshold_probability=0.1)
    daily = voros.Scenario(capacity=3, cost_ratio=0.1, per="day")
    with pytest.raises(ArgumentError, match="per day"):
        net_benefit_band(y, risk, daily, threshold_probability=0.1)


@pytest.mark.slow
@pytest.mark.parametrize(("prevalence", "n", "p"), [(0.05, 200, 0.1), (0.02, 1000, 0.6)])
def test_the_population_is_within(prevalence: float, n: int, p: float) -> None:
    separation, threshold = 2.0, 1.5
    ratio = p / (1 - p)
    tpr, fpr = stats.norm.sf(threshold - separation), stats.norm.sf(threshold)
    true = prevalence * tpr - ratio * (1 - prevalence) * fpr
    rng, missed, runs = np.random.default_rng(0), 0, 2000
    for _ in range(runs):
        y = rng.random(n) < prevalence
        if y.any():
            score = separation * y + rng.normal(size=n)
            points = voros.OperatingPoints.from_scores(y, score)
            low, high = fixed_threshold_interval(points, threshold, p, NO_LIMITS, 0.95)
            missed += not low <= true <= high
    assert missed <= 0.05 * runs + 2 * np.sqrt(0.05 * 0.95 * runs)
