"""Costs in money: quadrature over every case's cost, by hand, refused where there is no mean."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, stats

import voros
from voros import Scenario, ThresholdPolicy, costs
from voros.core.money import money_cost
from voros.core.volume import ratio_moments
from voros.exceptions import ArgumentError

PRICE = 35.0


def drawn(seed: int, n: int = 300) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.25
    return y, (rng.normal(size=n) + 1.2 * y).round(1)


def by_quadrature(costs_: costs.CostDistribution, cost_at, breaks, odds: float) -> float:
    """Mean of a function of the cost ratio, piece by piece, by SciPy's adaptive rule."""
    low, high = costs_.support

    def density(value: float) -> float:
        if isinstance(costs_, costs.Density):
            return float(costs_.distribution.pdf(value))
        return 1 / (high - low)

    inner = [b for b in sorted(float(v) for v in breaks) if low < b < high]
    ends = [low, *inner, high]
    total = 0.0
    for a, b in pairwise(ends):
        total += integrate.quad(
            lambda v: cost_at(float(costs_.to_ratio(np.array([v]), odds)[0])) * density(v),
            a,
            b,
            epsabs=0,
            epsrel=1e-10,
            limit=400,
        )[0]
    return total


@pytest.mark.parametrize(
    "cost_ratio",
    [
        costs.uniform(0.02, 0.9),
        costs.miss_costs(2, 40),
        costs.uniform_t(0.05, 0.7),
        costs.from_scipy(stats.lognorm(0.6, scale=0.1)),
    ],
    ids=repr,
)
@pytest.mark.parametrize("by_cost", [True, False])
def test_the_mean_over_costs_is_that_of_every_case_priced(cost_ratio, by_cost):
    y, scores = drawn(0)
    policy = ThresholdPolicy.from_validation(y, scores, Scenario(0.3, 0.6, cost_ratio))
    new_y, new_scores = drawn(1, 240)
    odds = (~new_y).sum() / new_y.sum()

    def cost_at(ratio: float) -> float:
        alarm = new_scores >= policy.threshold(ratio if by_cost else None)
        fp, missed = (alarm & ~new_y).sum(), (~alarm & new_y).sum()
        return 1000 * PRICE * (fp + missed / ratio) / len(new_y)

    ends = np.array([c.cost_ratio_high for c in policy.choices])
    ends = ends[np.isfinite(ends)]
    with np.errstate(divide="ignore"):
        breaks = {
            "ratio": ends,
            "miss": 1 / ends,
            "t": ends * odds / (1 + ends * odds),
        }[cost_ratio.over]
    expected = by_quadrature(cost_ratio, cost_at, breaks, odds)
    cost = policy.evaluate(new_y, new_scores, by_cost=by_cost).in_money(PRICE)
    assert cost.per_1000 == pytest.approx(expected, rel=1e-7)
    nothing = by_quadrature(
        cost_ratio, lambda c: 1000 * PRICE * new_y.sum() / c / len(new_y), [], odds
    )
    assert cost.never_alarm == pytest.approx(nothing, rel=1e-7)
    assert cost.saved == cost.never_alarm - cost.per_1000
    low, high = cost.interval
    assert low < cost.per_1000 < high


def test_samples_of_the_cost_are_averaged():
    y, scores = drawn(2)
    known = costs.from_samples([0.05, 0.2, 0.4], weights=[1, 2, 1])
    cost = voros.evaluate(y, scores, Scenario(0.3, 0.4, known)).in_money(PRICE)
    expected = [
        voros.evaluate(y, scores, Scenario(0.3, 0.4, c)).in_money(PRICE) for c in (0.05, 0.2, 0.4)
    ]
    for name in ("per_1000", "never_alarm", "miss"):
        parts = [getattr(evaluation, name) for evaluation in expected]
        assert getattr(cost, name) == pytest.approx(np.average(parts, weights=[1, 2, 1]))


def test_what_is_saved_is_net_benefit_in_money():
    y, scores = drawn(3)
    p = 0.1
    scenario = Scenario(0.3, 0.3, p / (1 - p))
    benefit = float(voros.net_benefit(y, scores, scenario, threshold_probability=p))
    cost = voros.evaluate(y, scores, scenario).in_money(PRICE)
    assert cost.miss == pytest.approx(PRICE * 9)
    assert cost.saved == pytest.approx(1000 * benefit * PRICE * 9)


def test_at_a_known_cost_money_is_misses_at_their_price():
    y, scores = drawn(4)
    policy = ThresholdPolicy.from_validation(y, scores, Scenario(0.2, 0.5, 0.1))
    evaluation = policy.evaluate(y, scores)
    money = evaluation.in_money(PRICE)
    assert money.per_1000 == pytest.approx(evaluation.cost_per_1000 * PRICE * 10)
    assert money.interval == pytest.approx(
        tuple(end * PRICE * 10 for end in evaluation.intervals.cost_per_1000)
    )


def test_another_prevalence_is_that_of_repeated_cases():
    y, scores = drawn(5)
    rare = y.sum() / (y.sum() + 3 * (~y).sum())
    policy = ThresholdPolicy.from_validation(y, scores, Scenario(0.1, 0.5, (0.1, 0.3), rare))
    repeated = np.concatenate([y, y[~y], y[~y]]), np.concatenate([scores, *[scores[~y]] * 2])
    plain = ThresholdPolicy.from_validation(*repeated, Scenario(0.1, 0.5, (0.1, 0.3)))
    assert policy.evaluate(y, scores).in_money(PRICE).per_1000 == pytest.approx(
        plain.evaluate(*repeated).in_money(PRICE).per_1000
    )


def test_weighted_cases_have_no_interval():
    y, scores = drawn(6)
    policy = ThresholdPolicy.from_validation(y, scores, Scenario(0.2, 0.5, 0.1))
    weighted = policy.evaluate(y, scores, sample_weight=np.full(len(y), 2.0)).in_money(PRICE)
    plain = policy.evaluate(y, scores).in_money(PRICE)
    assert weighted.interval is None
    assert weighted.per_1000 == pytest.approx(plain.per_1000)


@pytest.mark.parametrize(
    ("distribution", "mean"),
    [
        (stats.gamma(2.0, scale=0.1), 10.0),  # the mean of 1/c is 1 / (scale (a - 1))
        (stats.gamma(1.5, scale=0.1), 20.0),
        (stats.gamma(1.0, scale=0.1), None),
        (stats.gamma(0.5, scale=0.1), None),
        (stats.lognorm(1.0, scale=0.1), 10 * np.exp(0.5)),
    ],
)
def test_a_miss_without_a_mean_price_is_refused(distribution, mean):
    known = costs.from_scipy(distribution)
    y, scores = drawn(7)
    result = voros.evaluate(y, scores, Scenario(cost_ratio=known))
    if mean is None:
        with pytest.raises(ArgumentError, match="the mean of C_FN / C_FP is infinite, or"):
            result.in_money(PRICE)
    else:
        assert result.in_money(PRICE).miss == pytest.approx(PRICE * mean, rel=1e-4)


def test_t_from_zero_is_refused_and_above_it_is_not():
    y, scores = drawn(8)
    with pytest.raises(ArgumentError, match=r"false_alarm_cost with cost_ratio=uniform_t\(0, 1\)"):
        voros.evaluate(y, scores, Scenario(cost_ratio=costs.uniform_t(0, 1))).in_money(PRICE)
    samples = costs.from_samples([0.0, 0.5], over="t")
    assert ratio_moments(samples, np.empty(0), 3.0, power=-1)[0] == np.inf


@pytest.mark.parametrize("price", [0, -1, np.nan, np.inf, "35", True])
def test_what_is_no_price_is_refused(price):
    with pytest.raises(ArgumentError, match=r"false_alarm_cost=.*; accepted is a finite number"):
        money_cost((), costs.known(0.1), 1, 1, price)


@pytest.mark.parametrize("label", [0, 1])
def test_cases_of_one_class_are_priced(label):
    y, scores = drawn(9)
    policy = ThresholdPolicy.from_validation(y, scores, Scenario(0.2, 0.5, 0.1))
    at = policy.threshold()
    cost = policy.evaluate([label] * 4, [at, at - 1, at - 1, at + 1]).in_money(PRICE)
    assert cost.per_1000 == pytest.approx(1000 * PRICE / 2 * (10 if label else 1))
