"""The martingale property and the bounds, by enumeration and by other formulas."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.special import betainc, betaln
from scipy.stats import binom

from voros.monitoring.bounds import COUNTED, start_bounds
from voros.monitoring.evidence import (
    LATE_BEGIN,
    PRECISION_WEIGHTS,
    STAKE_WEIGHTS,
    START_SHARE,
    START_WEIGHTS,
    late_weights,
    precision_bets,
    ratio_bets,
    weigh,
)
from voros.monitoring.precision import Units
from voros.monitoring.settings import Settings

FLOOR = 0.25


def every_stream(n: int) -> np.ndarray:
    return np.array(list(product([0.0, 1.0], repeat=n)))


def probability(streams: np.ndarray, chance: float) -> np.ndarray:
    true = streams.sum(axis=1)
    return np.asarray(chance**true * (1 - chance) ** (streams.shape[1] - true))


def weighed(labels: np.ndarray, floor: float = FLOOR, **options: float):
    options = {"alpha": 0.05, "run_length": 100.0} | options
    factors = precision_bets(labels, floor)
    return weigh(factors, PRECISION_WEIGHTS, **options)


@pytest.mark.parametrize("floor", [0.05, 0.25, 0.8])
def test_at_the_floor_the_evidence_is_fair(floor: float) -> None:
    streams = every_stream(9)
    chance = probability(streams, floor)
    ends = [weighed(stream, floor) for stream in streams]
    start = np.array([np.exp(e.start[-1]) for e in ends])
    late = np.array([np.exp(e.late[-1]) for e in ends])
    detector = np.array([np.exp(e.detector[-1]) for e in ends])
    assert chance @ start == pytest.approx(1.0)
    assert chance @ late == pytest.approx(np.exp(late_weights(9)).sum())
    assert chance @ detector == pytest.approx(9.0)


def test_above_the_floor_the_evidence_falls() -> None:
    streams = every_stream(8)
    chance = probability(streams, 0.35)
    means = [chance @ [np.exp(weighed(s).start[n]) for s in streams] for n in (0, 3, 7)]
    assert 1 > means[0] > means[1] > means[2]


def test_recursions_agree_with_sums_over_every_start() -> None:
    rng = np.random.default_rng(0)
    labels = (rng.random(30) < 0.3).astype(float)
    evidence = weighed(labels)
    factors = np.exp(precision_bets(labels, FLOOR))
    weights = np.exp(late_weights(30))
    for n in (1, 7, 30):
        products = [factors[j:n].prod(axis=0) @ PRECISION_WEIGHTS for j in range(n)]
        assert np.exp(evidence.detector[n - 1]) == pytest.approx(sum(products))
        assert np.exp(evidence.late[n - 1]) == pytest.approx(weights[:n] @ products)
        assert np.exp(evidence.start[n - 1]) == pytest.approx(products[0])


def test_weights_of_starts_never_exceed_one() -> None:
    left = np.log(LATE_BEGIN) / np.log(LATE_BEGIN + 10**6)
    assert np.exp(late_weights(10**6)).sum() == pytest.approx(1 - left)


def test_no_more_than_alpha_of_all_streams_ever_cross() -> None:
    """Every stream of 16 alarms at the floor, in place of a simulation; alpha made large."""
    n, alpha = 16, 0.4
    streams = every_stream(n)
    chance = probability(streams, FLOOR)
    bounds = start_bounds(n, FLOOR, START_SHARE * alpha)
    true = np.cumsum(streams, axis=1)
    wrong, right = precision_bets(np.array([0.0, 1.0]), FLOOR)
    parts = true[..., None] * right + (np.arange(1, n + 1) - true)[..., None] * wrong
    evidence = np.log(np.exp(parts) @ START_WEIGHTS)
    crossed = (evidence >= bounds).any(axis=1)
    assert 0.2 * alpha < chance @ crossed <= START_SHARE * alpha


@pytest.mark.parametrize(("floor", "alpha"), [(0.25, 0.047), (0.1, 0.05), (0.6, 0.01)])
def test_the_exact_bound_spends_alpha_and_no_more(floor: float, alpha: float) -> None:
    """Counted again with a boundary found by SciPy's binomial, one count at a time."""
    bounds = start_bounds(COUNTED, floor, alpha)
    wrong, right = precision_bets(np.array([0.0, 1.0]), floor)
    alive, crossed = {0: 1.0}, 0.0
    for n in range(1, 400):
        moved: dict[int, float] = {}
        for k, mass in alive.items():
            moved[k] = moved.get(k, 0.0) + mass * (1 - floor)
            moved[k + 1] = moved.get(k + 1, 0.0) + mass * floor
        alive = {}
        for k, mass in moved.items():
            evidence = np.log(np.exp(k * right + (n - k) * wrong) @ START_WEIGHTS)
            if evidence >= bounds[n - 1]:
                crossed += mass
            elif mass > 1e-15:
                alive[k] = mass
    assert 0.85 * alpha < crossed <= alpha


def test_the_least_favourable_stream_is_the_one_at_the_floor() -> None:
    bounds = start_bounds(12, FLOOR, 0.4)
    streams = every_stream(12)
    wrong, right = precision_bets(np.array([0.0, 1.0]), FLOOR)
    true = np.cumsum(streams, axis=1)
    parts = true[..., None] * right + (np.arange(1, 13) - true)[..., None] * wrong
    crossed = (np.log(np.exp(parts) @ START_WEIGHTS) >= bounds).any(axis=1)
    at_floor = probability(streams, FLOOR) @ crossed
    rng = np.random.default_rng(1)
    for _ in range(50):
        chances = FLOOR + (1 - FLOOR) * rng.random(12) * rng.random()
        other = np.prod(np.where(streams == 1, chances, 1 - chances), axis=1)
        assert other @ crossed <= at_floor


def test_a_fine_mixture_tends_to_the_beta_mixture() -> None:
    """The closed form of a uniform mixture below the floor, by the incomplete beta function."""
    n, k = 40, 6
    q = FLOOR * (np.arange(20_000) + 0.5) / 20_000
    fine = np.mean((q / FLOOR) ** k * ((1 - q) / (1 - FLOOR)) ** (n - k))
    incomplete = betainc(k + 1, n - k + 1, FLOOR) * np.exp(betaln(k + 1, n - k + 1))
    closed = incomplete / FLOOR / (FLOOR**k * (1 - FLOOR) ** (n - k))
    assert fine == pytest.approx(closed, rel=1e-6)
    ours = np.exp(weighed(np.r_[np.ones(k), np.zeros(n - k)]).start[-1])
    assert closed / 3 < ours < 3 * closed


def test_bets_on_the_alarms_of_patients_are_fair_at_the_floor() -> None:
    """Patients with one to three alarms that share their label: all of them, weighted."""
    sizes, chances = np.array([1.0, 2.0, 3.0]), np.array([0.5, 0.3, 0.2])
    share = chances * sizes / (chances @ sizes)
    positive = 0.25 * np.array([1.2, 1.0, 0.0])
    positive[2] = (FLOOR - share[:2] @ positive[:2]) / share[2]
    mean, stakes = np.zeros(3), np.array([0.6, 0.4, 0.2])
    for n, chance, p in zip(sizes, chances, positive, strict=True):
        for true, weight in ((n, p), (0.0, 1 - p)):
            # A patient before, of two alarms, has set the scale.
            two = np.array([2.0, n])
            units = Units(two, two, two, np.array([1.0, true]), np.zeros(2), two, single=False)
            evidence = units.evidence(FLOOR, Settings(window=1))
            by_hand = 1 + stakes * (FLOOR * n - true) / (1 - FLOOR) / 2
            assert np.exp(evidence.start[1]) == pytest.approx(PRECISION_WEIGHTS @ by_hand)
            mean += chance * weight * by_hand
    assert mean == pytest.approx(np.ones(3))


def test_single_alarms_have_the_exact_bound_and_its_weights() -> None:
    n, alpha = 7, 0.1
    times, ones = np.arange(7.0), np.ones(7)
    units = Units(times, times, ones, 0 * ones, 0 * ones, ones, single=True)
    evidence = units.evidence(FLOOR, Settings(window=1, alpha=alpha))
    false_alarm = 1 + np.array([0.6, 0.4, 0.2]) * FLOOR / (1 - FLOOR)
    by_hand = [START_WEIGHTS @ false_alarm**k for k in range(1, n + 1)]
    assert np.exp(evidence.start) == pytest.approx(by_hand)
    np.testing.assert_array_equal(evidence.start_bounds, start_bounds(n, FLOOR, 0.96 * alpha))


def test_a_stay_of_many_alarms_loses_no_more_than_one_true_alarm() -> None:
    alarms, true = np.array([1.0, 9.0, 4.0]), np.array([0.0, 1.0, 0.0])
    times = np.arange(3.0)
    units = Units(times, times, alarms, true, np.zeros(3), np.ones(3), single=False)
    stakes = np.array([0.6, 0.4, 0.2])
    factors = 1 + stakes * ((FLOOR * alarms - true) / (1 - FLOOR))[1:, None]
    by_hand = np.log(factors.cumprod(axis=0) @ PRECISION_WEIGHTS)
    assert units.evidence(FLOOR, Settings(window=1)).start[1:] == pytest.approx(by_hand)


def test_bets_on_a_mean_are_fair_at_it() -> None:
    counts = np.arange(0, 200)
    chance = binom.pmf(counts, 199, 20 / 199)
    assert chance @ np.exp(ratio_bets(counts.astype(float), 20.0)) == pytest.approx(np.ones(4))
    assert STAKE_WEIGHTS.sum() == pytest.approx(1)
    assert PRECISION_WEIGHTS.sum() == pytest.approx(1)
    assert START_WEIGHTS.sum() == pytest.approx(1)


def test_bets_on_a_ratio_of_sums_are_fair_where_sizes_and_shares_differ() -> None:
    """Busy days with a small share and quiet ones with a large one, at the ratio of their sums."""
    days = ((100, 0.09, 5 / 7), (10, 0.20, 2 / 7))
    ratio = sum(n * p * w for n, p, w in days) / sum(n * w for n, _, w in days)
    mean, weight = np.zeros(4), 0.0
    for n, p, w in days:
        counts = np.arange(n + 1.0)
        for first in (100.0, 40.0):  # the scale that an earlier day has set
            for alarms, chance in zip(counts, binom.pmf(counts, n, p), strict=True):
                sums, sizes = np.array([5.0, alarms]), np.array([first, n])
                mean += 0.5 * w * chance * np.exp(ratio_bets(sums, ratio, sizes)[1])
            weight += 0.5 * w
    assert weight == pytest.approx(1)
    assert mean == pytest.approx(np.ones(4))


def test_no_period_ruins_a_bet_however_large() -> None:
    factors = ratio_bets(np.zeros(3), 0.1, np.array([1.0, 1e6, 1e12]))
    assert np.isfinite(factors).all()
    np.testing.assert_array_equal(factors[0], 0.0)  # the first only sets the scale


def test_the_change_is_found_where_it_was_made() -> None:
    labels = np.r_[np.tile([1.0, 0.0], 100), np.tile(np.r_[1.0, np.zeros(9)], 20)]
    evidence = weighed(labels, run_length=10_000.0)
    assert evidence.broken_at is not None
    assert 195 <= evidence.changes[evidence.broken_at] <= 205
    assert evidence.fired_at is not None
    assert 200 < evidence.fired_at <= evidence.broken_at


def test_nothing_is_nothing() -> None:
    evidence = weighed(np.zeros(0))
    assert evidence.broken_at is None
    assert evidence.fired_at is None
    assert not evidence.watching
    assert evidence.ratio == 0


@pytest.mark.slow
def test_the_detector_keeps_its_run_length() -> None:
    rng = np.random.default_rng(3)
    lengths = []
    for _ in range(1500):
        labels = (rng.random(1500) < FLOOR).astype(float)
        fired = weighed(labels, run_length=100.0).fired_at
        lengths.append(1500 if fired is None else fired + 1)
    assert np.mean(lengths) - 2 * np.std(lengths) / np.sqrt(1500) > 100


@pytest.mark.parametrize(("precision", "most"), [(0.10, 26), (0.15, 76), (0.20, 564)])
def test_half_of_the_bad_streams_are_broken_soon(precision: float, most: int) -> None:
    """Exact medians; MAPIE's on 600 streams each were 102, 264 and about 1,200."""
    bounds = start_bounds(most, FLOOR, START_SHARE * 0.05)
    wrong, right = precision_bets(np.array([0.0, 1.0]), FLOOR)
    left, crossed = np.array([1.0]), 0.0
    for n in range(1, most + 1):
        left = np.r_[left * (1 - precision), 0.0] + np.r_[0.0, left * precision]
        k = np.arange(n + 1)[:, None]
        evidence = np.log(np.exp(k * right + (n - k) * wrong) @ START_WEIGHTS)
        crossed += left[evidence >= bounds[n - 1]].sum()
        left = np.where(evidence >= bounds[n - 1], 0.0, left)
    assert crossed >= 0.5


@pytest.mark.slow
@pytest.mark.parametrize("precision", [0.25, 0.3])
def test_at_most_alpha_of_the_good_streams_are_ever_broken(precision: float) -> None:
    """A long simulation of the whole rule, the late part included."""
    rng, broken, streams = np.random.default_rng(11), 0, 3000
    for _ in range(streams):
        labels = (rng.random(800) < precision).astype(float)
        factors = precision_bets(labels, FLOOR)
        bounds = start_bounds(800, FLOOR, START_SHARE * 0.05)
        found = weigh(
            factors, PRECISION_WEIGHTS, 0.05, 10_000.0, bounds, start_weights=START_WEIGHTS
        )
        broken += found.broken_at is not None
    share = broken / streams
    assert share - 2 * np.sqrt(share * (1 - share) / streams) <= 0.05


def test_other_bounds_end_with_the_alarms_that_are_counted() -> None:
    """Beyond them Ville's inequality holds for the full bound alone."""
    bounds = start_bounds(COUNTED + 1, 0.0005, 0.05)
    assert bounds[COUNTED - 1] == bounds[COUNTED]
    assert bounds[COUNTED - 2] != bounds[COUNTED - 1]


@pytest.mark.parametrize("floor", [0.002, 0.02, 0.97, 1.0])
@pytest.mark.slow
def test_extreme_floors_have_bounds(floor: float) -> None:
    bounds = np.exp(start_bounds(10, floor, 0.047))
    assert ((bounds > 1) & (bounds < 80)).all()
    labels = np.r_[np.ones(5), np.zeros(1)] if floor == 1 else np.ones(200)
    factors = precision_bets(labels, floor)
    bounds = start_bounds(len(labels), floor, 0.047)
    options = {"start_weights": START_WEIGHTS}
    found = weigh(factors, PRECISION_WEIGHTS, 0.05, 1000.0, bounds, **options)
    assert (found.broken_at == 5) == (floor == 1)
