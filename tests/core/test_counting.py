"""Counting at every distinct score, with and without ties."""

import warnings
from functools import partial

import numpy as np
import pytest
from slower import takes_less_than

import voros
from voros.core.counting import count_cases


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64, np.uint8, np.bool_])
@pytest.mark.parametrize("n_distinct", [1, 2, 7, 400])
def test_counts_are_those_of_a_loop(kind, n_distinct):
    rng = np.random.default_rng(n_distinct)
    scores = rng.integers(0, n_distinct, 400).astype(kind)
    positive = rng.random(400) < 0.3
    thresholds, tp, fp, n_positive, n_negative, _ = count_cases(positive, scores)
    assert thresholds.tolist() == sorted(set(scores.tolist()), reverse=True)
    assert thresholds.dtype == scores.dtype
    for threshold, n_tp, n_fp in zip(thresholds, tp, fp, strict=True):
        alarms = scores >= threshold
        assert (n_tp, n_fp) == ((alarms & positive).sum(), (alarms & ~positive).sum())
    assert (n_positive, n_negative) == (positive.sum(), 400 - positive.sum())


SCALES = (
    lambda values: values,
    lambda values: values.astype(np.float32),
    lambda values: np.exp(3 * values),
    lambda values: np.round(1e15 * values).astype(np.int64),
    lambda values: 0.5 + 1e-16 * np.round(10 * values),
    lambda values: 1e-310 * values,
    lambda values: 1.7e308 * np.sign(values),
    lambda values: np.where(values > 1, -np.inf, values),
    lambda values: np.where(values > 1, -0.0, 0.0),
)


@pytest.mark.parametrize("scale", SCALES, ids=range(len(SCALES)))
@pytest.mark.parametrize("n_distinct", [1, 3, 5, 100, 1000])
def test_ties_of_many_cases_are_counted_as_by_numpy(scale, n_distinct):
    rng = np.random.default_rng(n_distinct)
    common, rare = scale(rng.normal(size=n_distinct)), scale(rng.normal(size=20))
    scores = rng.choice(common, 40_000)
    # Values that few cases have, and a sample may not show.
    scores[rng.integers(0, 40_000, 30)] = rng.choice(rare, 30)
    positive = rng.random(40_000) < 0.3
    thresholds, tp, fp, *_ = count_cases(positive, scores)
    values, place = np.unique(scores, return_inverse=True)
    assert thresholds.tolist() == values[::-1].tolist()
    for counts, members in ((tp, positive), (fp, ~positive)):
        of_values = np.bincount(place[members], minlength=len(values))
        assert counts.tolist() == np.cumsum(of_values[::-1]).tolist()


@pytest.mark.slow
@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64, np.bool_])
@pytest.mark.parametrize("n_distinct", [2, 3, 5, 100, 1000])
def test_ties_cost_less_than_a_sort_of_distinct_scores(kind, n_distinct):
    rng = np.random.default_rng(0)
    distinct = rng.random(1_000_000)
    positive = rng.random(1_000_000) < 0.1 + 0.2 * distinct
    scores = np.floor(distinct * n_distinct).astype(kind)
    for scenario in (voros.Scenario(0.3, 0.1, (0.1, 0.3)), voros.Scenario(0.0, 1.0, (0.1, 0.3))):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", voros.VorosWarning)
            score = partial(voros.partial_voros_score, positive, scores, scenario)
            # Measured .8 to .95 of a vectorised sort; the rest is for noise.
            assert takes_less_than(1.2, score, lambda: np.sort(distinct))
