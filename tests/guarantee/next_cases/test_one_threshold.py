"""One threshold fixed before validation: the bound on its risk, against sums by definition."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from voros.core.exact_limits import as_fraction
from voros.guarantee.next_cases.grid_bounds import GridBound, largest_product
from voros.guarantee.next_cases.one_threshold import (
    OneTest,
    ProductRisk,
    most_once,
    needed_once,
    normal_margin,
)

TESTS = {
    "ordinary": OneTest(
        n_cases=300, horizon=600, min_precision=0.5, capacity=60, alpha=0.05, least=4, most=24
    ),
    "no capacity": OneTest(
        n_cases=200, horizon=200, min_precision=0.5, capacity=200, alpha=0.05, least=20, most=60
    ),
    "low floor": OneTest(
        n_cases=400, horizon=300, min_precision=0.05, capacity=300, alpha=0.05, least=40, most=120
    ),
    "high floor": OneTest(
        n_cases=150, horizon=300, min_precision=0.9, capacity=300, alpha=0.05, least=30, most=90
    ),
    "short horizon": OneTest(
        n_cases=200, horizon=20, min_precision=0.4, capacity=20, alpha=0.1, least=20, most=60
    ),
    "long horizon": OneTest(
        n_cases=100, horizon=1000, min_precision=0.3, capacity=400, alpha=0.05, least=10, most=30
    ),
    "most of alpha": OneTest(
        n_cases=200, horizon=200, min_precision=0.5, capacity=200, alpha=0.5, least=20, most=60
    ),
}


def by_definition(test: OneTest, needed: np.ndarray, n_shares: int = 60):
    """The chances to pass and to break a limit, at many shares and precisions."""
    low, high = 0.5 * test.least / test.n_cases, min(1.5 * test.most / test.n_cases, 0.999)
    shares, precision = np.linspace(low, high, n_shares)[:, None], np.linspace(0.0, 1.0, 301)
    alarms, later = test.alarms, np.arange(test.capacity + 1)
    floor = as_fraction(test.min_precision)
    to_keep = -(-floor.numerator * later // floor.denominator)
    enough = [
        stats.binom.sf(count[:, None] - 1, trials[:, None], precision)
        for count, trials in ((needed, alarms), (to_keep, later))
    ]
    passing = stats.binom.pmf(alarms, test.n_cases, shares) @ enough[0]
    return passing, 1 - stats.binom.pmf(later, test.horizon, shares) @ enough[1]


@pytest.mark.parametrize("name", TESTS)
def test_the_bound_lies_just_above_the_largest_product(name):
    test = TESTS[name]
    needed = needed_once(test)
    passing, breaking = by_definition(test, needed)
    largest = (passing * breaking).max()
    bound = ProductRisk(test).risk(needed)
    assert largest <= bound <= test.alpha
    assert bound <= 1.03 * largest + 1e-6


@pytest.mark.parametrize("name", ["ordinary", "no capacity", "long horizon"])
def test_fewer_true_positives_would_break_the_promise(name):
    test = TESTS[name]
    fewer = np.maximum(needed_once(test) - 1, 1)
    passing, breaking = by_definition(test, fewer)
    assert (passing * breaking).max() > test.alpha


@pytest.mark.parametrize("n_thresholds", [2, 3])
@pytest.mark.parametrize("name", ["ordinary", "high floor"])
def test_the_bound_on_a_sequence_lies_above_every_sequence(name, n_thresholds):
    """Of thresholds with rising chances to break, the first that is as bad must have passed."""
    base = TESTS[name]
    test = replace(base, n_thresholds=n_thresholds)
    needed = needed_once(test)
    passing, breaking = (chance.ravel() for chance in by_definition(test, needed))
    order = np.argsort(breaking)
    level = breaking[order]
    highest = np.maximum.accumulate(passing[order][::-1])[::-1]
    few = np.unique(np.linspace(0, len(level) - 1, 600).astype(int))
    level, highest = level[few], highest[few]
    best = level * highest
    for _ in range(n_thresholds - 1):
        best = np.array(
            [
                (best[: i + 1] + (b - level[: i + 1]) * p).max()
                for i, (b, p) in enumerate(zip(level, highest, strict=True))
            ]
        )
    bound = ProductRisk(test).risk(needed)
    assert best.max() <= bound <= test.alpha
    assert bound <= 1.13 * best.max()


def test_a_sequence_needs_more_than_one_threshold():
    base = TESTS["ordinary"]
    one, two, three = (needed_once(replace(base, n_thresholds=n)).sum() for n in (1, 2, 3))
    assert one < two <= three


def test_one_threshold_needs_less_than_a_sequence_from_a_rank_on():
    # Two tails of .2236 each: 1.52 standard deviations, where endless sequences need 2.33.
    assert normal_margin(0.05, 1.0) == pytest.approx(2 * stats.norm.isf(0.05**0.5), abs=0.01)


@pytest.mark.parametrize(("n", "m", "capacity"), [(200, 200, 20), (300, 3000, 300), (400, 40, 8)])
def test_most_alarms_keep_the_capacity(n, m, capacity):
    most = most_once(n, m, capacity, 0.05)
    shares = np.linspace(0.001, 0.4, 4000)
    risks = [
        (stats.binom.cdf(a, n, shares) * stats.binom.sf(capacity, m, shares)).max()
        for a in (most, most + 1)
    ]
    assert risks[0] <= 0.05 < 1.03 * risks[1]


def test_whatever_the_alarms_a_capacity_of_all_cases_is_kept():
    assert most_once(100, 50, 50, 0.05) == 100


def test_a_floor_of_one_passes_only_without_a_false_alarm():
    test = OneTest(
        n_cases=2000, horizon=20, min_precision=1.0, capacity=20, alpha=0.05, least=1500, most=1700
    )
    assert needed_once(test).tolist() == test.alarms.tolist()
    shorter = OneTest(
        n_cases=100, horizon=1000, min_precision=1.0, capacity=1000, alpha=0.05, least=20, most=40
    )
    assert (needed_once(shorter) > shorter.alarms).all()


def test_without_a_floor_the_capacity_alone_decides():
    most = most_once(500, 500, 50, 0.05)
    assert needed_once(
        OneTest(
            n_cases=500,
            horizon=500,
            min_precision=0.0,
            capacity=50,
            alpha=0.05,
            least=10,
            most=most,
        )
    ).tolist() == [0] * (most - 9)


def test_a_product_of_bilinear_functions_is_bounded_within_a_cell():
    rng = np.random.default_rng(0)
    for _ in range(50):
        a, b = np.sort(rng.random((2, 2, 2)), axis=-1)
        b = b[:, ::-1]
        one = GridBound(a, np.zeros((1, 1)), np.zeros(1), rises=True)
        other = GridBound(b, np.zeros((1, 1)), np.zeros(1), rises=False)
        x, y = rng.random((2, 1000))
        weights = np.stack([(1 - x) * (1 - y), (1 - x) * y, x * (1 - y), x * y])
        inside = (a.ravel() @ weights) * (b.ravel() @ weights)
        assert inside.max() <= largest_product(one, other)
