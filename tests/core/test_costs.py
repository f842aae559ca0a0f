from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from voros import costs
from voros.core.volume import in_unit_of, line_weights

ODDS = 9.0


def mean(distribution, function) -> float:
    values, weights = distribution.nodes(np.array([]))
    return float(np.dot(weights, function(values)))


def test_a_number_a_pair_and_a_distribution_are_understood() -> None:
    assert costs.as_costs(0.1) == costs.known(0.1)
    assert costs.as_costs((0.1, 0.2)) == costs.uniform(0.1, 0.2)
    assert costs.as_costs([0.1, 0.2]) == costs.uniform(0.1, 0.2)
    assert costs.as_costs((0.1, 0.1)) == costs.known(0.1)
    distribution = costs.miss_costs(20, 40)
    assert costs.as_costs(distribution) is distribution


def test_uniform_in_one_unit_is_not_uniform_in_another() -> None:
    # Mean of 1/r for r uniform on [20, 40] is ln(2)/20.
    misses = costs.miss_costs(20, 40)
    as_ratio = mean(misses, lambda r: misses.to_ratio(r, ODDS))
    assert as_ratio == pytest.approx(math.log(2) / 20, abs=1e-15)
    assert mean(costs.uniform(1 / 40, 1 / 20), lambda c: c) == pytest.approx(0.0375)


@pytest.mark.parametrize("over", costs.COST_UNITS)
def test_units_convert_there_and_back(over) -> None:
    distribution = costs.known(0.3, over=over)
    ratios = np.array([0.0, 0.01, 0.5, 3.0])
    own = in_unit_of(distribution, ratios, ODDS)
    assert distribution.to_ratio(own, ODDS) == pytest.approx(ratios)


def test_t_is_the_papers_fractional_cost() -> None:
    t = in_unit_of(costs.uniform_t(0, 1), np.array([1 / 6]), 900 / 100)
    assert t == pytest.approx(((1 / 6) * 900) / ((1 / 6) * 900 + 100))
    assert in_unit_of(costs.uniform_t(0, 1), np.array([np.inf]), ODDS) == 1.0


@pytest.mark.parametrize("over", costs.COST_UNITS)
def test_line_weights_have_the_slope_of_equal_cost(over) -> None:
    distribution = costs.known(0.3, over=over)
    on_tpr, on_fpr = line_weights(distribution, np.array([0.3]), ODDS)
    ratio = distribution.to_ratio(np.array([0.3]), ODDS)
    assert on_fpr / on_tpr == pytest.approx(ratio * ODDS)


@pytest.mark.parametrize(
    "frozen",
    [
        stats.lognorm(0.8, scale=0.05),
        stats.gamma(0.3, scale=0.1),  # a density with a pole at 0
        stats.beta(0.5, 0.5),  # poles at both ends
        stats.beta(400, 9000),  # a narrow peak
        stats.uniform(0.1, 0.2),
    ],
    ids=lambda frozen: frozen.dist.name,
)
def test_quadrature_reproduces_moments_of_scipy(frozen) -> None:
    distribution = costs.from_scipy(frozen)
    values, weights = distribution.nodes(np.array([0.03, 0.2]))
    assert weights.sum() == pytest.approx(1.0, abs=1e-14)
    assert np.dot(weights, values) == pytest.approx(frozen.mean(), rel=1e-9)
    # A kink at a break costs no accuracy: E max(X - 0.2, 0) = integral of sf beyond 0.2.
    beyond = np.dot(weights, np.maximum(values - 0.2, 0))
    expected = frozen.expect(lambda x: x - 0.2, lb=0.2, ub=frozen.isf(1e-15), epsabs=1e-13)
    assert beyond == pytest.approx(expected, abs=2e-9)


def test_samples_are_sorted_and_normalised() -> None:
    samples = costs.from_samples([0.3, 0.1], weights=[1, 3])
    assert samples.values.tolist() == [0.1, 0.3]
    assert samples.weights.tolist() == [0.75, 0.25]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: costs.uniform(0.2, 0.1), "is reversed; the smaller value comes first"),
        (lambda: costs.uniform(0, 0.1), "cost_ratio holds 0; accepted are finite numbers above 0"),
        (lambda: costs.uniform_t(-0.1, 0.5), r"t holds -0.1; accepted are numbers within \[0, 1\]"),
        (lambda: costs.uniform_t(0.5, 1.5), "t holds 1.5"),
        (lambda: costs.miss_costs(0, 4), "miss_costs holds 0"),
        (lambda: costs.known(float("nan")), "cost_ratio holds nan"),
        (lambda: costs.from_samples([]), "is empty; accepted is at least one"),
        (
            lambda: costs.from_samples([0.1], weights=[-1]),
            "weights must be finite and not negative",
        ),
        (lambda: costs.from_samples([0.1, 0.2], weights=[1]), "values has 2, weights has 1"),
        (lambda: costs.from_samples([0.1], weights=[0]), "weights are all zero"),
        (lambda: costs.from_samples([0.1], over="odds"), "over='odds'; accepted are 'ratio', 't'"),
        (lambda: costs.from_scipy(stats.norm(0.1, 0.01)), "lognorm"),
        (lambda: costs.from_scipy(stats.expon(), over="t"), r"accepts values within \[0, 1\]"),
        (lambda: costs.from_scipy(stats.poisson(3)), "for a discrete one use from_samples"),
        (lambda: costs.from_scipy("lognorm"), "is not a frozen continuous SciPy distribution"),
    ],
)
def test_costs_that_make_no_sense_are_refused(make, message) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_distributions_show_how_to_make_them() -> None:
    assert repr(costs.miss_costs(20, 40)) == "miss_costs(20, 40)"
    assert repr(costs.uniform_t(0, 1)) == "uniform_t(0, 1)"
    assert repr(costs.from_samples([0.1, 0.2])) == "from_samples(<2 values in [0.1, 0.2]>)"


def test_equal_distributions_are_equal_and_hash_alike() -> None:
    for make in (
        lambda: costs.from_scipy(stats.lognorm(0.5, scale=0.1)),
        lambda: costs.from_samples([0.1, 0.2]),
        lambda: costs.miss_costs(3, 5),
    ):
        assert make() == make()
        assert hash(make()) == hash(make())
    assert costs.from_scipy(stats.lognorm(0.5)) != costs.from_scipy(stats.lognorm(0.6))
    assert costs.known(0.1) != costs.known(0.1, over="t")
