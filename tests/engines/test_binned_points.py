"""The bounds contain the true score, whatever the order inside the bins."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import voros
from voros.engines import BinnedCounts
from voros.exceptions import IncompleteCountsError

pytestmark = pytest.mark.filterwarnings("ignore::voros.VorosWarning")

ROUNDING = 1e-12


@st.composite
def cases(draw):
    """Labels and scores with ties, and weights half of the time."""
    n_cases = draw(st.integers(2, 60))
    labels = np.array(draw(st.lists(st.booleans(), min_size=n_cases, max_size=n_cases)))
    labels[:2] = True, False
    grain = draw(st.sampled_from([3, 20, 1000]))
    ranks = draw(st.lists(st.integers(0, grain), min_size=n_cases, max_size=n_cases))
    weights = None
    if draw(st.booleans()):
        weights = np.array(draw(st.lists(st.floats(0.1, 9), min_size=n_cases, max_size=n_cases)))
    return labels, np.array(ranks) / grain - 0.3, weights


@st.composite
def scenarios(draw):
    """Limits and costs of every kind, loose and tight."""
    low = draw(st.floats(0.01, 2.0))
    costs = draw(
        st.sampled_from(
            [low, (low, 3 * low), voros.costs.uniform_t(0.1, 0.8), voros.costs.miss_costs(2, 30)]
        )
    )
    return voros.Scenario(
        draw(st.sampled_from([0.0, 0.15, 0.5, 0.9, 1.0])),
        draw(st.sampled_from([1.0, 0.5, 0.2, 1, 3])),
        costs,
        draw(st.sampled_from([None, None, 0.1, 0.6])),
    )


def score(labels, scores, weights, scenario):
    return voros.evaluate(labels, scores, scenario, sample_weight=weights).score


def bounded(labels, scores, weights, scenario, bits):
    counts = BinnedCounts.from_scores(labels, scores, sample_weight=weights, bits=bits)
    return counts.binned.score_bounds(scenario)


@settings(max_examples=400, deadline=None)
@given(cases(), scenarios(), st.integers(12, 20))
@pytest.mark.slow
def test_bounds_contain_the_score(data, scenario, bits):
    labels, scores, weights = data
    try:
        truth = score(labels, scores, weights, scenario)
    except voros.InfeasibleError:
        return
    bounds = bounded(labels, scores, weights, scenario, bits)
    assert bounds.lower - ROUNDING <= truth <= bounds.upper + ROUNDING
    if not bounds.undecided.any():
        assert bounds.lower == pytest.approx(truth, abs=ROUNDING)


@settings(max_examples=100, deadline=None)
@given(cases(), scenarios(), st.randoms(use_true_random=False))
@pytest.mark.slow
def test_bounds_contain_every_order_inside_the_bins(data, scenario, random):
    """Scores moved about within their bins leave the bounds as they are, and stay inside."""
    labels, scores, weights = data
    counts = BinnedCounts.from_scores(labels, scores, sample_weight=weights, bits=12)
    edges = np.append(counts.bins.least, np.inf)
    moved = scores.copy()
    for i, value in enumerate(scores):
        low = edges[:-1][edges[:-1] <= value].max()
        high = counts.bins.greatest[counts.bins.least == low][0]
        moved[i] = low + (high - low) * random.random()
    try:
        low, high = counts.bounds(scenario)
    except voros.InfeasibleError:
        return
    assert low - ROUNDING <= score(labels, moved, weights, scenario) <= high + ROUNDING


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(cases(), scenarios())
def test_finer_bins_never_widen_the_bounds(data, scenario):
    labels, scores, weights = data
    try:
        coarse = bounded(labels, scores, weights, scenario, 12)
    except voros.InfeasibleError:
        return
    fine = bounded(labels, scores, weights, scenario, 18)
    assert coarse.lower <= fine.lower + ROUNDING
    assert fine.upper <= coarse.upper + ROUNDING


def test_the_upper_bound_is_reached_by_the_favourable_order():
    """One bin of two positives and two negatives: positives first is a perfect ranking."""
    counts = BinnedCounts.from_scores([1, 1, 0, 0], [1.1, 1.2, 1.3, 1.4], bits=12)
    scenario = voros.Scenario(cost_ratio=(0.5, 2.0))
    perfect = score(np.array([1, 1, 0, 0]), np.array([4, 3, 2, 1]), None, scenario)
    useless = score(np.array([1, 1, 0, 0]), np.array([1, 1, 1, 1]), None, scenario)
    assert counts.bounds(scenario) == pytest.approx((useless, perfect), abs=ROUNDING)


def test_bins_out_of_reach_of_the_capacity_are_decided():
    rng = np.random.default_rng(3)
    labels, scores = rng.random(4000) < 0.2, rng.random(4000) + 1
    bounds = bounded(labels, scores, None, voros.Scenario(0.1, 0.05, (0.1, 0.2)), 20)
    counts = BinnedCounts.from_scores(labels, scores)
    beyond = np.cumsum(counts.rows) > 0.05 * 4000 + counts.rows.max()
    assert not bounds.undecided[beyond].any()


def test_a_threshold_inside_a_bin_of_one_row_is_unknown():
    points = BinnedCounts.from_scores([1, 0], [0.9, 0.3], bits=12).points
    points.covers.check_thresholds(points.thresholds, np.array([0.5]))
    with pytest.raises(IncompleteCountsError, match=r"the threshold 0\.95 raises"):
        points.covers.check_thresholds(points.thresholds, np.array([0.95]))
