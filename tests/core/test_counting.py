"""Counting at every distinct score, with and without ties."""

import time
import warnings

import numpy as np
import pytest

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
    for threshold, right, false in zip(thresholds, tp, fp, strict=True):
        alarms = scores >= threshold
        assert (right, false) == ((alarms & positive).sum(), (alarms & ~positive).sum())
    assert (n_positive, n_negative) == (positive.sum(), 400 - positive.sum())


def fastest(call, repeats=5):
    times = []
    for _ in range(repeats):
        began = time.process_time()
        call()
        times.append(time.process_time() - began)
    return min(times)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64, np.bool_])
@pytest.mark.parametrize("n_distinct", [2, 3, 100])
def test_ties_cost_less_than_a_sort_of_distinct_scores(kind, n_distinct):
    rng = np.random.default_rng(0)
    distinct = rng.random(1_000_000)
    positive = rng.random(1_000_000) < 0.1 + 0.2 * distinct
    scores = np.floor(distinct * n_distinct).astype(kind)
    # With AVX-512 numpy sorts several times as fast as elsewhere, and a hundred values take 1.7 of
    # such sorts; a busy machine adds to that.
    sort = fastest(lambda: np.sort(distinct)) * (4 if n_distinct == 100 else 1)
    for scenario in (voros.Scenario(0.3, 0.1, (0.1, 0.3)), voros.Scenario(0.0, 1.0, (0.1, 0.3))):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", voros.VorosWarning)
            score = fastest(lambda s=scenario: voros.partial_voros_score(positive, scores, s))
        assert score < sort
