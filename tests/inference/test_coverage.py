"""Intervals hold the population's score as often as they say, and equal models rarely differ."""

import numpy as np
import pytest
from scipy.special import ndtr

import voros

DATA_SETS = 200
SCENARIO = voros.Scenario(0.6, 0.25, (0.1, 0.3))
PREVALENCE, SEPARATION, N_CASES = 0.25, 1.5, 800


def true_score():
    """Score a dense curve of exact rates."""
    thresholds = np.linspace(9.0, -8.0, 20_001)
    points = voros.OperatingPoints.from_points(
        ndtr(-thresholds), ndtr(SEPARATION - thresholds), 1e9 * PREVALENCE, 1e9 * (1 - PREVALENCE)
    )
    return voros.evaluate(points, scenario=SCENARIO).score


@pytest.mark.slow
def test_intervals_hold_and_equal_models_are_told_apart_at_the_nominal_rates():
    """Compare two models that differ by chance alone, on one data set after another.

    One test, so that no second worker draws the same data sets.
    """
    comparisons = []
    for rng in map(np.random.default_rng, range(DATA_SETS)):
        positive = rng.random(N_CASES) < PREVALENCE
        scores = {m: SEPARATION * positive + rng.normal(size=N_CASES) for m in ("one", "other")}
        result = voros.compare(positive, scores, SCENARIO, n_resamples=300, random_state=rng)
        comparisons.append(result)
    truth = true_score()
    held = [
        result.models["one"].low <= truth <= result.models["one"].high for result in comparisons
    ]
    error = 3 * np.sqrt(0.95 * 0.05 / DATA_SETS)
    assert np.mean(held) == pytest.approx(0.95, abs=error)
    told_apart = [result.pairs[0].p_value <= 0.05 for result in comparisons]
    assert np.mean(told_apart) == pytest.approx(0.05, abs=error)
