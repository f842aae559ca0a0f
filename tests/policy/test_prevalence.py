"""Fixed thresholds at other prevalences: by resampled counts, closed forms and coverage."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.stats import binom

from voros import Scenario, ThresholdPolicy


@pytest.fixture(scope="module")
def cases():
    rng = np.random.default_rng(0)
    y = rng.random(3000) < 0.25
    return y, 1.4 * y + rng.normal(size=3000)


SCENARIO = Scenario(0.4, 0.3, cost_ratio=(0.1, 0.4))


def test_a_band_is_refused_with_a_share_of_periods(cases) -> None:
    y, scores = cases
    days = np.arange(3000) % 60
    seldom = Scenario(0.3, 15, cost_ratio=0.2, per="day", exceed=0.1)
    policy = ThresholdPolicy.from_validation(y, scores, seldom, periods=days)
    with pytest.raises(ValueError, match=r"exceed=0\.1"):
        policy.evaluate(y, scores, periods=days).over_prevalences()


def test_the_band_is_what_reweighted_cases_show(cases) -> None:
    y, scores = cases
    policy = ThresholdPolicy.from_validation(y, scores, SCENARIO)
    grid = np.array([0.02, 0.1, 0.25, 0.6])
    band = policy.evaluate(y, scores).over_prevalences(grid)
    for i, prevalence in enumerate(grid):
        weights = np.where(y, prevalence / y.mean(), (1 - prevalence) / (1 - y.mean()))
        alarms = scores >= policy.threshold()
        assert band.alarms[i] == pytest.approx(np.average(alarms, weights=weights))
        assert band.precision[i] == pytest.approx(np.average(y[alarms], weights=weights[alarms]))
        cost = 1000 * np.average(
            np.where(y, ~alarms, 0.25 * alarms), weights=weights
        )  # the mean of the cost ratio is 0.25
        assert band.cost_per_1000[i] == pytest.approx(cost)
        tested = policy.evaluate(y, scores, sample_weight=weights)
        assert band.kept[i] == tested.satisfied
    assert np.all(band.precision_low < band.precision)
    assert np.all(band.alarms < band.alarms_high)
    assert np.all(band.kept | ~band.surely_kept)
    pytest.importorskip("pandas")
    assert band.frame("pandas")["prevalence"].tolist() == grid.tolist()


@pytest.mark.slow
def test_the_band_holds_at_all_prevalences_together() -> None:
    """Coverage by summation over all counts; the grid of prevalences is inside each outcome."""
    n_positive, n_negative, tpr, fpr, confidence = 12, 15, 0.7, 0.2, 0.8
    grid = np.linspace(0.05, 0.95, 19)
    scenario = Scenario(cost_ratio=0.1)
    right, false = grid * tpr, (1 - grid) * fpr
    covered = 0.0
    for tp in range(n_positive + 1):
        for fp in range(n_negative + 1):
            y = [1] * n_positive + [0] * n_negative
            scores = [1.0] * tp + [0.0] * (n_positive - tp) + [1.0] * fp + [0.0] * (n_negative - fp)
            policy = fixed_policy(scenario)
            band = policy.evaluate(y, scores, confidence_level=confidence).over_prevalences(grid)
            # With no alarm the precision is not known; it is then left out of what is promised.
            inside = (band.alarms_low <= right + false) & (right + false <= band.alarms_high)
            precision = right / (right + false)
            low = np.nan_to_num(band.precision_low, nan=0.0) <= precision + 1e-12
            high = precision <= np.nan_to_num(band.precision_high, nan=1.0) + 1e-12
            chance = binom.pmf(tp, n_positive, tpr) * binom.pmf(fp, n_negative, fpr)
            covered += chance * bool(np.all(inside & low & high))
    assert covered >= confidence
    assert covered < 0.99


def fixed_policy(scenario):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ThresholdPolicy.from_validation([1, 0], [1.0, 0.0], scenario)


@pytest.mark.parametrize(
    ("prevalences", "message"),
    [([0.5, 0.2], "rising"), ([0.0, 0.2], "strictly within"), ([], "prevalences"), ([1.0], "1.0")],
)
def test_prevalences_that_are_none_are_refused(cases, prevalences, message) -> None:
    y, scores = cases
    tested = ThresholdPolicy.from_validation(y, scores, SCENARIO).evaluate(y, scores)
    with pytest.raises(ValueError, match=message):
        tested.over_prevalences(prevalences)


def test_a_band_is_that_of_one_threshold_and_whole_cases(cases) -> None:
    y, scores = cases
    policy = ThresholdPolicy.from_validation(y, scores, SCENARIO)
    several = policy.evaluate(y, scores, by_cost=True)
    assert len(several.choices) > 1
    with pytest.raises(ValueError, match="thresholds were evaluated"):
        several.over_prevalences()
    with pytest.raises(ValueError, match="weighted"):
        policy.evaluate(y, scores, sample_weight=np.full(3000, 1.5)).over_prevalences()
