"""The martingale property and the bounds, by enumeration and by other formulas."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.special import betainc, betaln
from scipy.stats import binom

from voros.monitoring.evidence import (
    LATE_BEGIN,
    PRECISION_WEIGHTS,
    Evidence,
    late_weights,
    ratio_bets,
)
from voros.monitoring.precision import Units, precision_watch
from voros.monitoring.ratios import CapacityLimit, Counts, capacity_watch, cost_watch
from voros.monitoring.settings import Settings

FLOOR = 0.25


def every_stream(n: int) -> np.ndarray:
    return np.array(list(product([0.0, 1.0], repeat=n)))


def probability(streams: np.ndarray, chance: float) -> np.ndarray:
    true = streams.sum(axis=1)
    return np.asarray(chance**true * (1 - chance) ** (streams.shape[1] - true))


def weighed(labels: np.ndarray, floor: float = FLOOR, **options: float) -> Evidence:
    times, ones = np.arange(len(labels), dtype=float), np.ones(len(labels))
    units = Units(times, times, ones, labels, 0 * ones, one_true=True)
    return units.evidence(floor, Settings(**{"window": 1, "run_length": 100.0} | options))


def fired_at(evidence: Evidence, never: int = 0) -> int:
    """Return the first unit at which the detector reaches its bound."""
    fired = np.flatnonzero(evidence.detector >= evidence.detector_bound)
    return int(fired[0]) if len(fired) else never


def factors_by_hand(labels: np.ndarray, floor: float = FLOOR) -> np.ndarray:
    """Likelihood ratios of .4, .6 and .8 of the floor against it."""
    parts = np.array([0.4, 0.6, 0.8])
    return np.where(labels[:, None] == 1, parts, (1 - parts * floor) / (1 - floor))


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
    factors = factors_by_hand(labels)
    weights = np.exp(late_weights(30))
    for n in (1, 7, 30):
        products = [factors[j:n].prod(axis=0) @ PRECISION_WEIGHTS for j in range(n)]
        assert np.exp(evidence.detector[n - 1]) == pytest.approx(sum(products))
        assert np.exp(evidence.late[n - 1]) == pytest.approx(weights[:n] @ products)
        assert np.exp(evidence.start[n - 1]) == pytest.approx(products[0])


def test_weights_of_starts_never_exceed_one() -> None:
    left = np.log(LATE_BEGIN) / np.log(LATE_BEGIN + 10**6)
    assert np.exp(late_weights(10**6)).sum() == pytest.approx(1 - left)


@pytest.mark.parametrize(("precision", "allowed"), [(FLOOR, 0.4), (0.3, 0.4)])
def test_no_more_than_alpha_of_all_streams_are_ever_broken(
    precision: float, allowed: float
) -> None:
    """Every stream of 12 alarms, in place of a simulation; alpha made large."""
    streams = every_stream(12)
    broken = [weighed(stream, alpha=allowed).broken_at is not None for stream in streams]
    share = probability(streams, precision) @ np.array(broken)
    assert 0.1 * allowed < share <= allowed


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
            units = Units(two, two, two, np.array([1.0, true]), np.zeros(2), one_true=False)
            evidence = units.evidence(FLOOR, Settings(window=1))
            by_hand = 1 + stakes * (FLOOR * n - true) / (1 - FLOOR) / 2
            assert np.exp(evidence.start[1]) == pytest.approx(PRECISION_WEIGHTS @ by_hand)
            mean += chance * weight * by_hand
    assert mean == pytest.approx(np.ones(3))


def test_a_stay_of_many_alarms_loses_no_more_than_one_true_alarm() -> None:
    alarms, true = np.array([1.0, 9.0, 4.0]), np.array([0.0, 1.0, 0.0])
    times = np.arange(3.0)
    units = Units(times, times, alarms, true, np.zeros(3), one_true=True)
    stakes = np.array([0.6, 0.4, 0.2])
    factors = 1 + stakes * ((FLOOR * alarms - true) / (1 - FLOOR))[:, None]
    by_hand = np.log(factors.cumprod(axis=0) @ PRECISION_WEIGHTS)
    assert units.evidence(FLOOR, Settings(window=1)).start == pytest.approx(by_hand)


def test_bets_on_a_mean_are_fair_at_it() -> None:
    counts = np.arange(0, 200)
    chance = binom.pmf(counts, 199, 20 / 199)
    assert chance @ np.exp(ratio_bets(counts.astype(float), 20.0)) == pytest.approx(np.ones(4))
    assert PRECISION_WEIGHTS.sum() == pytest.approx(1)


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
    assert 200 < fired_at(evidence) <= evidence.broken_at


def test_the_errors_of_both_parts_sum_to_alpha() -> None:
    evidence = weighed(np.zeros(3), alpha=0.1)
    errors = np.exp([-evidence.start_bound, -evidence.late_bound])
    assert errors == pytest.approx([0.096, 0.004])


def test_nothing_is_nothing() -> None:
    evidence = weighed(np.zeros(0))
    assert evidence.broken_at is None
    assert not evidence.watching
    assert evidence.ratio == 0


def test_the_detector_watches_while_it_is_above_its_bound() -> None:
    bad, good = np.zeros(60), np.ones(300)
    now, later = weighed(bad), weighed(np.r_[bad, good])
    assert now.watching
    assert not later.watching
    assert fired_at(later) == fired_at(now)


def test_the_strongest_evidence_is_a_finite_share_of_what_is_needed() -> None:
    few = weighed(np.zeros(5))
    assert few.ratio == pytest.approx(np.exp(few.start[-1] - few.start_bound))
    assert weighed(np.zeros(9000)).ratio == np.exp(700.0)


def test_curves_show_the_last_hundred_alarms_and_all() -> None:
    labels = (np.random.default_rng(4).random(250) < 0.4).astype(float)
    times, ones = np.arange(250.0), np.ones(250)
    units = Units(times, times, ones, labels, 0 * ones, one_true=True)
    curves = precision_watch(units, FLOOR, Settings(window=1)).history
    places = curves["time"].astype(int)
    assert (places[0], places[-1], len(places)) == (0, 249, 100)
    for place, recent, share in zip(places, curves["recent"], curves["estimate"], strict=True):
        seen = labels[: place + 1]
        assert share == pytest.approx(seen.mean())
        assert recent == pytest.approx(seen[-100:].mean() if place >= 100 else np.nan, nan_ok=True)
    few = precision_watch(units.only(np.arange(30)), FLOOR, Settings(window=1))
    assert few.history["time"].tolist() == list(range(30))


def test_the_share_of_periods_above_has_two_ends() -> None:
    """Eight of 400 days are above, and one in ten may be."""
    alarms = np.full(400, 5.0)
    alarms[::50] = 30.0
    counts = Counts(np.arange(400.0) * 86_400, np.full(400, 60.0), alarms)
    watch = capacity_watch(counts, CapacityLimit(20.0, "period", 0.1), Settings(window=0))
    assert watch.verdict == "kept"
    assert watch.low < 0.02 < watch.high < 0.1


def test_costs_are_shown_for_a_thousand_cases() -> None:
    rows = [(0.0, 10.0, 2.0, 1.0, 0.0), (86_400.0, 20.0, 4.0, 0.0, 0.0)]
    watch = cost_watch(rows, 0.5, 0.1, Settings(window=0))
    assert watch.history["cost"].tolist() == [200.0, 100.0]
    assert watch.estimate == pytest.approx(4 / 30)


@pytest.mark.slow
def test_the_detector_keeps_its_run_length() -> None:
    rng = np.random.default_rng(3)
    lengths = []
    for _ in range(1500):
        labels = (rng.random(1500) < FLOOR).astype(float)
        lengths.append(1 + fired_at(weighed(labels, run_length=100.0), never=1499))
    assert np.mean(lengths) - 2 * np.std(lengths) / np.sqrt(1500) > 100


@pytest.mark.parametrize(("precision", "most"), [(0.10, 37), (0.15, 83), (0.20, 522)])
def test_half_of_the_bad_streams_are_broken_soon(precision: float, most: int) -> None:
    """Exact medians; MAPIE's on 600 streams each were 102, 264 and about 1,200."""
    true, wrong = np.log(factors_by_hand(np.array([1.0, 0.0])))
    left, crossed = np.array([1.0]), 0.0
    for n in range(1, most + 1):
        left = np.r_[left * (1 - precision), 0.0] + np.r_[0.0, left * precision]
        k = np.arange(n + 1)[:, None]
        reached = np.exp(k * true + (n - k) * wrong) @ PRECISION_WEIGHTS >= 1 / (0.96 * 0.05)
        crossed += left[reached].sum()
        left = np.where(reached, 0.0, left)
    assert crossed >= 0.5


@pytest.mark.slow
@pytest.mark.parametrize("precision", [0.25, 0.3])
def test_at_most_alpha_of_the_good_streams_are_ever_broken(precision: float) -> None:
    """A long simulation of the whole rule, the late part included."""
    rng, broken, streams = np.random.default_rng(11), 0, 3000
    for _ in range(streams):
        labels = (rng.random(800) < precision).astype(float)
        broken += weighed(labels, run_length=10_000.0).broken_at is not None
    share = broken / streams
    assert share - 2 * np.sqrt(share * (1 - share) / streams) <= 0.05


@pytest.mark.parametrize("floor", [0.002, 0.02, 0.97, 1.0])
def test_extreme_floors_are_judged(floor: float) -> None:
    labels = np.r_[np.ones(5), np.zeros(1)] if floor == 1 else np.ones(200)
    assert (weighed(labels, floor).broken_at == 5) == (floor == 1)
