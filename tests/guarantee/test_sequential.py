"""The walk against the rule, played case by case over random label sequences."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.special import gammaln
from scipy.stats import binom

from voros import OperatingPoints, Scenario
from voros.guarantee.binomial_tests import (
    alpha_shares,
    at_least,
    beta_binomial_cdf,
    certified,
    fewest_alarms,
    first_rank,
    level_at,
    most_counted,
    sequence_passed,
    share_risk,
    starts,
)


@cache
def tails(alarms: int, floor: float) -> np.ndarray:
    """Probability of at least 0, 1, ... of ``alarms``, grown by one alarm at a time."""
    if alarms == 0:
        return np.array([1.0, 0.0])
    fewer = tails(alarms - 1, floor)
    return np.concatenate([[1.0], floor * fewer[:-1] + (1 - floor) * fewer[1:], [0.0]])


def tail(tp: int, alarms: int, floor: float) -> float:
    """Probability of at least ``tp`` of ``alarms``."""
    return float(tails(alarms, floor)[tp])


def by_the_rule(groups: list[list[bool]], floor: float, alpha: float, most: int) -> set[int]:
    """Numbers of alarms that are certified; each group holds the labels of one score."""
    ranks, shares = (values.tolist() for values in starts(floor, alpha, most))
    alive, tp, alarms, passed = 0.0, 0, 0, set()
    for group in groups:
        for rank, share in zip(ranks, shares, strict=True):
            if alarms < rank <= alarms + len(group):
                before = sorted(group, reverse=True)[: rank - 1 - alarms]
                if alive or tail(tp + sum(before), rank - 1, floor) <= share:
                    alive += share
        tp, alarms = tp + sum(group), alarms + len(group)
        if alive and tail(tp, alarms, floor) <= alive:
            passed.add(alarms)
        else:
            alive = 0.0
    return passed


def random_groups(rng: np.random.Generator, tied: bool) -> list[list[bool]]:
    """Labels whose chance wanders about the floor, so that walks die and are born again."""
    n_cases = int(rng.integers(60, 400))
    chance = np.clip(0.55 + np.cumsum(rng.normal(scale=0.08, size=n_cases)), 0.2, 0.95)
    labels = rng.random(n_cases) < chance
    ends = np.sort(rng.choice(np.arange(1, n_cases), int(rng.integers(3, 40)), replace=False))
    cuts = ends if tied else np.arange(1, n_cases)
    return [part.tolist() for part in np.split(labels, cuts)]


@pytest.mark.parametrize("tied", [False, True])
def test_the_walk_is_the_rule_case_by_case(tied: bool) -> None:
    rng = np.random.default_rng(0)
    born_again = several = 0
    for _ in range(400):
        groups = random_groups(rng, tied)
        tp = np.append(0, np.cumsum([sum(group) for group in groups]))
        alarms = np.append(0, np.cumsum([len(group) for group in groups]))
        # Beyond the last case too: ranks at which nothing starts.
        most = int(rng.integers(alarms[-1] // 2, 2 * alarms[-1]))
        passed_alarms = alarms[sequence_passed(tp, alarms, 0.5, 0.2, most)].tolist()
        assert set(passed_alarms) == by_the_rule(groups, 0.5, 0.2, most)
        runs = (
            1 + np.count_nonzero(np.diff(np.searchsorted(alarms, passed_alarms)) > 1)
            if passed_alarms
            else 0
        )
        born_again, several = born_again + (runs > 1), several + bool(passed_alarms)
    assert several > 100
    assert born_again > 3


@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.2, 0.4])
def test_positives_first_end_every_sequence_somewhere(alpha: float) -> None:
    """A share that a sequence collects counts from the threshold of its own rank on."""
    alarms = np.arange(257)
    for n_positive in range(20, 200):
        labels = [[i < n_positive] for i in range(256)]
        passed = sequence_passed(np.minimum(alarms, n_positive), alarms, 0.5, alpha, 256)
        assert set(alarms[passed].tolist()) == by_the_rule(labels, 0.5, alpha, 256)


def test_the_shares_of_alpha_add_up() -> None:
    for most in (10, 100, 5000):
        ranks, shares = starts(0.4, 0.05, most)
        assert shares.sum() == pytest.approx(0.05)
        assert (np.diff(ranks) > 0).all()
        assert len(ranks) == 1 or ranks[-1] <= most


def test_one_group_of_ties_is_one_test() -> None:
    """With one score there is one threshold; its own test decides, wherever the start falls."""
    first = first_rank(0.5, 0.05)
    alarms = np.array([0, 2 * first])
    needed = next(tp for tp in range(2 * first) if tail(tp, 2 * first, 0.5) <= 0.05)
    for tp, passes in ((needed, True), (needed - 1, False)):
        assert sequence_passed(np.array([0, tp]), alarms, 0.5, 0.05, 10).tolist() == [False, passes]


def test_walks_err_no_more_often_than_promised_when_every_threshold_is_bad() -> None:
    """Labels that ignore the scores, at a precision just below the floor: each walk is an error."""
    rng, errors, runs = np.random.default_rng(5), 0, 1500
    alarms = np.arange(401)
    for _ in range(runs):
        tp = np.append(0, np.cumsum(rng.random(400) < 0.4999))
        errors += sequence_passed(tp, alarms, 0.5, 0.1, 400).any()
    assert errors / runs <= 0.1 + 3 * np.sqrt(0.1 * 0.9 / runs)


@pytest.mark.slow
@pytest.mark.parametrize("size", [3, 17, 60])
def test_tied_cases_err_no_more_often_either(size: int) -> None:
    """Groups of ties, bad ends before good ones: the precision hovers about the floor."""
    rng, errors, runs = np.random.default_rng(6), 0, 1500
    n_groups = 420 // size
    good = np.arange(n_groups) % 2 == 1
    # Over two groups the precision is just the floor; after the first of them it is below.
    chance = np.where(good, 0.65, 0.35)
    for _ in range(runs):
        sizes = rng.multinomial(420, np.full(n_groups, 1 / n_groups))
        tp = np.append(0, np.cumsum(rng.binomial(sizes, chance)))
        alarms = np.append(0, np.cumsum(sizes))
        distinct = np.append(True, np.diff(alarms) > 0)
        bad = np.append(False, ~good)[distinct]
        errors += (sequence_passed(tp[distinct], alarms[distinct], 0.5, 0.1, 420) & bad).any()
    assert errors / runs <= 0.1 + 3 * np.sqrt(0.1 * 0.9 / runs)


def separated(seed: int) -> OperatingPoints:
    rng = np.random.default_rng(seed)
    positive = rng.random(2000) < 0.2
    return OperatingPoints.from_scores(positive, rng.normal(size=2000) + 2.5 * positive)


def test_the_capacity_has_a_share_of_its_own() -> None:
    """Both limits: what is certified keeps the capacity at its share, the floor at the rest."""
    points = separated(0)
    passed = certified(points, 0.4, 200.0, 0.05)
    most = int(points.alarms[passed].max())
    risk = share_risk(np.array([most, most + 1]), 2000, 200.0, None)
    for_floor, for_capacity = alpha_shares(0.05, 0.4, 200.0, 2000)
    assert for_floor + for_capacity == pytest.approx(0.05)
    assert 0 < risk[0] <= for_capacity < risk[1]
    floor_alone = sequence_passed(points.tp, points.alarms, 0.4, for_floor, most)
    np.testing.assert_array_equal(passed, floor_alone & (points.alarms <= most))


def test_one_limit_alone_has_all_of_alpha() -> None:
    points = separated(1)
    passed = certified(points, 0.4, 2000.0, 0.05)
    np.testing.assert_array_equal(
        passed, sequence_passed(points.tp, points.alarms, 0.4, 0.05, 2000)
    )
    passed = certified(points, 0.0, 200.0, 0.05)
    risk = share_risk(points.alarms, 2000, 200.0, None)
    np.testing.assert_array_equal(passed, risk <= 0.05)


def test_a_tail_probability_counts_every_outcome() -> None:
    chances = at_least(np.array([0, 3, 9]), np.array([4, 7, 9]), 0.3)
    np.testing.assert_allclose(chances, [1.0, tail(3, 7, 0.3), 0.3**9], rtol=1e-12)


def test_degenerate_floors_have_one_start_with_all_of_alpha() -> None:
    for floor in (0.0, 1.0):
        ranks, shares = starts(floor, 0.05, 1000)
        assert (ranks.tolist(), shares.tolist()) == ([1], [0.05])
    # A floor of 1 cannot be certified, not even by a thousand true positives and no other.
    counts = np.arange(1001)
    assert not sequence_passed(counts, counts, 1.0, 0.05, 1000).any()


@pytest.mark.parametrize("floor", [0.01, 0.2, 0.5, 0.7, 0.9, 0.97])
@pytest.mark.parametrize("most", [20, 100, 700, 20_000])
def test_starts_double_from_the_smallest_rank_that_can_pass(floor: float, most: int) -> None:
    ranks, shares = starts(floor, 0.05, most)
    first = int(ranks[0])
    assert ranks.tolist() == [first * 2**i for i in range(len(ranks))]
    assert len(ranks) == 1 or ranks[-1] <= most < 2 * ranks[-1]
    assert shares.sum() == pytest.approx(0.05)
    # A perfect precision passes at the first rank, and not before it with so small a share.
    assert floor ** (first - 1) <= shares[0]
    main = int(np.argmax(shares))
    if main:
        assert floor ** (first - 2) > shares[0]
        np.testing.assert_allclose(shares[:main], 0.06 * 0.05)
        assert 3 * ranks[main] <= most
        assert ranks[main] <= 1.5 * first_rank(floor, 0.05)
    # Late starts share what is left, and the main sequence has more than half of alpha.
    np.testing.assert_allclose(shares[main + 1 :], 0.28 * 0.05 / max(len(ranks) - main - 1, 1))
    assert shares[main] > 0.5 * 0.05


def test_the_main_sequence_starts_as_late_as_it_may() -> None:
    for most in (60, 150, 400, 3000):
        ranks, shares = starts(0.5, 0.05, most)
        latest = min(most / 3, 1.5 * first_rank(0.5, 0.05))
        assert int(ranks[np.argmax(shares)]) == max(r for r in ranks.tolist() if r <= latest)


def test_a_perfect_alarm_is_certified_from_the_first_rank_on() -> None:
    """150 positives above all negatives, a floor of .9 and a capacity of a fifth."""
    tp, fp = np.minimum(np.arange(601), 150), np.maximum(np.arange(601) - 150, 0)
    points = OperatingPoints(-np.append(-np.inf, np.arange(600.0)), tp, fp, 150, 2850)
    passed_alarms = points.alarms[certified(points, 0.9, 600.0, 0.05)]
    for_floor, _ = alpha_shares(0.05, 0.9, 600.0, 3000)
    share = 0.06 * for_floor
    first = next(k for k in range(1, 99) if 0.9 ** (k - 1) <= share)
    # It ends where the first negatives make the record too likely at a precision of .9.
    last = next(a for a in range(150, 400) if binom.sf(149, a + 1, 0.9) > 0.72 * for_floor)
    assert passed_alarms.tolist() == list(range(first, last + 1))


def test_starts_within_one_group_of_ties_add_up() -> None:
    """A score of yes or no has one threshold: its test has the level of every start within it."""
    ranks, shares = starts(0.5, 0.05, 400)
    alarms = np.array([0, 100, 400])
    level = float(shares[ranks <= 100].sum())
    assert level > shares.max()
    needed = int(binom.isf(level, 100, 0.5)) + 1
    for tp, passes in ((needed, True), (needed - 1, False)):
        passed = sequence_passed(np.array([0, tp, tp]), alarms, 0.5, 0.05, 400)
        assert passed.tolist() == [False, passes, False]


def test_a_p_value_of_just_alpha_passes() -> None:
    """At the start, 16 of 16 above rank 17; at the end of one group of ties, 26 of 40."""
    near = 0.5**16 / 0.72 * (1 + np.arange(-8, 9) * 2.0**-53)
    alpha = next(a for a in near.tolist() if starts(0.5, a, 51)[1][0] == 0.5**16)
    assert starts(0.5, alpha, 51)[0].tolist() == [17, 34]
    counts = np.arange(18)
    assert sequence_passed(counts, counts, 0.5, alpha, 51).tolist() == [False] * 17 + [True]
    alpha = float(binom.sf(25, 40, 0.5))
    assert sequence_passed(np.array([0, 26]), np.array([0, 40]), 0.5, alpha, 1).tolist() == [
        False,
        True,
    ]


def test_before_the_first_start_nothing_is_tested() -> None:
    first = int(starts(0.5, 0.05, 1000)[0][0])
    counts = np.arange(first)
    assert not sequence_passed(counts, counts, 0.5, 0.05, 1000).any()
    counts = np.arange(first + 1)
    assert sequence_passed(counts, counts, 0.5, 0.05, 1000).tolist() == [False] * first + [True]


def test_the_level_is_that_of_every_start_up_to_there() -> None:
    """A threshold that passes all before it is certified at `level_at`, and not above it."""
    for alarms in (40, 57, 60, 115, 300, 500):
        level = level_at(0.9, 0.05, alarms, 600)
        tp = np.append(np.arange(alarms), alarms - 1)
        wrong = next((w for w in range(alarms) if tail(alarms - w, alarms, 0.9) > level), 0)
        for misses, passes in ((wrong - 1, True), (wrong, False)):
            # Positives first; the last few cases are all negative.
            labels = np.append(np.ones(alarms - max(misses, 0)), np.zeros(max(misses, 0)))
            tp = np.append(0, np.cumsum(labels)).astype(int)
            passed = sequence_passed(tp, np.arange(alarms + 1), 0.9, 0.05, 600)
            assert bool(passed[-1]) == (passes and wrong > 0)


def test_the_first_start_is_one_rank_after_the_fewest_alarms_that_pass() -> None:
    """At a floor of .5 with a precision of .75, four times of five; by tails grown case by case."""

    def power(alarms: int) -> float:
        needed = next(tp for tp in range(alarms + 2) if tail(tp, alarms, 0.5) <= 0.05)
        return tail(needed, alarms, 0.75)

    above = first_rank(0.5, 0.05) - 1
    assert power(above) >= 0.8
    assert all(power(alarms) < 0.8 for alarms in range(1, above))


@pytest.mark.parametrize(
    ("capacity", "n_cases", "horizon", "share"),
    [
        # One by twice the root of the alarms, from a fiftieth to a half.
        (400, 5000, None, 1 / 40),
        (0.08, 5000, None, 1 / 40),
        (0.08, 300, 5000, 1 / 40),
        (2, 5000, None, 2**-1.5),
        (4, 5000, None, 1 / 4),
        (9, 5000, None, 1 / 6),
        (2500, 5000, None, 1 / 50),
        (40_000, 50_000, None, 1 / 50),
        (1.0, 5000, None, 0.0),
        (5000, 5000, None, 0.0),
    ],
)
def test_alpha_is_shared_by_how_much_the_alarms_vary(
    capacity: float, n_cases: int, horizon: int | None, share: float
) -> None:
    scenario = Scenario(0.3, capacity, 0.1)
    cases = n_cases if horizon is None else horizon
    most = scenario.max_alarms(cases)
    shares = alpha_shares(0.05, 0.3, most, cases)
    assert shares == pytest.approx((0.05 * (1 - share), 0.05 * share), abs=1e-15)
    assert alpha_shares(0.05, 0.0, most, cases) == (0.0, 0.05)


@pytest.mark.parametrize(
    ("trials", "a", "b"), [(3, 1, 2), (2000, 41, 360), (2000, 2, 19), (60_000, 9001, 40_000)]
)
def test_a_beta_binomial_sums_over_every_count(trials: int, a: int, b: int) -> None:
    """Of all orders of cases, those with each count before the a-th of the others."""
    count = np.arange(trials + 1)
    ways = gammaln(a + count) - gammaln(count + 1) - gammaln(a)
    ways += gammaln(b + trials - count) - gammaln(trials - count + 1) - gammaln(b)
    total = gammaln(a + b + trials) - gammaln(trials + 1) - gammaln(a + b)
    expected = np.cumsum(np.exp(ways - total))
    asked = np.append(np.arange(-1, trials + 2, 1 + trials // 50), [trials, trials + 5])
    cdf = beta_binomial_cdf(asked, trials, a, b)
    below = np.append(0.0, expected)[np.clip(asked + 1, 0, trials + 1)]
    np.testing.assert_allclose(cdf, below, rtol=1e-7, atol=1e-300)
    assert (cdf <= 1).all()


def test_the_most_alarms_are_the_last_that_are_safe_or_none() -> None:
    """Every number of alarms tried; -1 where not even the absence of alarms is safe."""
    rng, most_alarms = np.random.default_rng(8), []
    for _ in range(60):
        n_cases, horizon = int(rng.integers(5, 90)), [None, int(rng.integers(5, 90))][_ % 2]
        alpha = float(rng.choice([1e-3, 0.05, 0.4]))
        scenario = Scenario(0.3, int(rng.integers(1, 30)), 0.1)
        capacity = scenario.max_alarms(n_cases if horizon is None else horizon)
        risk = share_risk(np.arange(n_cases + 1), n_cases, capacity, horizon)
        last = max((k for k in range(n_cases + 1) if risk[k] <= alpha), default=-1)
        most_alarms.append(most_counted(n_cases, capacity, horizon, alpha))
        assert most_alarms[-1] == last
    assert {-1, 0, 1} < set(most_alarms)


@pytest.mark.parametrize("floor", [0.05, 0.3, 0.5, 0.8])
@pytest.mark.parametrize("alpha", [0.01, 0.1, 0.3])
def test_the_fewest_alarms_are_the_first_with_the_power(floor: float, alpha: float) -> None:
    """Every number of alarms up to 120 tried, by tails grown case by case."""

    def power(alarms: int, truth: float) -> float:
        passing = np.flatnonzero(tails(alarms, floor) <= alpha)
        return tail(int(passing[0]), alarms, truth)

    for truth in floor + (1 - floor) * np.array([0.3, 0.6, 0.95]):
        powers = [power(alarms, float(truth)) for alarms in range(121)]
        for wanted in (0.3, 0.8, 0.95):
            first = next((n for n in range(1, 121) if powers[n] >= wanted), None)
            fewest = fewest_alarms(floor, float(truth), alpha, wanted)
            assert fewest == first or (first is None and fewest > 120)


def test_a_precision_too_close_to_the_floor_is_named() -> None:
    message = (
        r"^true_precision=0\.5000001 is too close to min_precision=0\.5: more than 1,000,000 "
        r"alarms would be needed$"
    )
    with pytest.raises(ValueError, match=message):
        fewest_alarms(0.5, 0.5000001, 0.05, 0.8)
