"""The test of one rank against its definition, and against drawn validations and futures."""

from __future__ import annotations

import numpy as np
import pytest
from fixed_sequences import sequence
from scipy.stats import beta, binom

from voros.guarantee.next_cases.fixed_sequence import FixedSequence, needed_to_keep
from voros.guarantee.next_cases.rank_test import (
    RankRisk,
    needed_above,
    precision_above,
)

PLANS = [
    sequence(1000, 2000, 0.5, 0.03, 34, 68),
    sequence(1000, 2000, 0.5, 0.03, 34, 68),
    sequence(2000, 200, 0.3, 0.02, 130, 260),
    sequence(500, 500, 0.8, 0.035, 55, 110),
    sequence(3000, 9000, 0.05, 0.01, 200, 400),
]


def by_definition(plan: FixedSequence, needed: int, tied: float = 0.0) -> float:
    """The mean over places of the rank of the largest product, on a grid: below the risk.

    ``tied`` negatives are expected between the rank and its threshold, and none is there.
    """
    products, below = [], plan.n_cases - plan.start
    for level in (np.arange(40) + 0.5) / 40:
        place = beta.ppf(level, plan.start, plan.n_cases - plan.start + 1)
        share = place + tied / below * (1 - place)
        above = np.linspace(plan.min_precision / 2, 1, 400)
        passing = binom.sf(needed - 1, plan.start - 1, above) * (1 - tied / below) ** below
        precision = above * place / share
        low, high = binom.ppf([1e-9, 1 - 1e-9], plan.horizon, share).astype(int)
        alarms = np.arange(low, high + 1)
        mass = binom.pmf(alarms, plan.horizon, share)
        needed_later = needed_to_keep(alarms, plan.min_precision)
        breaking = binom.cdf(needed_later[:, None] - 1, alarms[:, None], precision)
        products.append((mass @ breaking * passing).max())
    return float(np.mean(products))


@pytest.mark.parametrize("plan", [*PLANS[:-1], pytest.param(PLANS[-1], marks=pytest.mark.slow)])
def test_the_risk_is_at_least_the_definition_and_not_much_more(plan: FixedSequence) -> None:
    needed = needed_above(plan)
    exact = by_definition(plan, needed)
    assert exact <= RankRisk(plan).risk(needed) <= plan.alpha
    assert RankRisk(plan).risk(needed) <= 1.35 * exact + 1e-4
    # One true positive less would be too risky, by the bound; a few less, by definition too.
    assert RankRisk(plan).risk(needed - 1) > plan.alpha
    assert by_definition(plan, needed - 2 - plan.start // 60) > plan.alpha


@pytest.mark.slow
def test_ties_between_the_rank_and_its_threshold_are_counted_in() -> None:
    """With few alarms a negative more or less changes the precision."""
    plan = sequence(60, 600, 0.2, 0.03, 4, 12)
    for needed in (1, 2, 3):
        worst = max(by_definition(plan, needed, tied) for tied in (0.0, 0.3, 1.0))
        assert worst <= RankRisk(plan).risk(needed) <= 2.5 * worst + 1e-3


@pytest.mark.parametrize("plan", PLANS)
def test_what_is_set_aside_counts_where_nothing_passes(plan: FixedSequence) -> None:
    # Nothing passes: what is left are places, ties and chances too far off to be looked at.
    nothing = 2e-3 * plan.alpha + plan.risky.ignored
    assert RankRisk(plan).risk(plan.start) == pytest.approx(nothing, rel=1e-9)


def test_of_a_threshold_below_the_rank_all_positives_lie_above_the_rank() -> None:
    """A precision at the threshold is a higher one above the rank, as the cases are fewer."""
    plan = PLANS[3]
    shares = 1.1 * plan.places
    expected = np.minimum(1.1 * plan.risky.at(shares), 1.0)
    assert expected.max() == 1
    np.testing.assert_allclose(precision_above(plan, shares), expected, rtol=1e-9)


def test_where_risky_precisions_are_not_known_everything_passes() -> None:
    plan = PLANS[0]
    shares = np.full(len(plan.places), 1.01 * plan.risky.shares[-1])
    assert (precision_above(plan, shares) == 1).all()


@pytest.mark.parametrize("plan", PLANS)
def test_the_risk_falls_with_what_is_needed(plan: FixedSequence) -> None:
    needed = needed_above(plan)
    risks = [RankRisk(plan).risk(needed + i) for i in (-3, -2, -1, 0, 1)]
    assert (np.diff(risks) < 0).all()


def test_where_nothing_can_pass_more_is_needed_than_there_is() -> None:
    plan = sequence(1000, 1000, 0.9, 0.02, 10, 20)
    assert needed_above(plan) == plan.start
    assert RankRisk(plan).risk(plan.start - 1) > plan.alpha


def broken(plan: FixedSequence, precision: float, rng: np.random.Generator, runs: int) -> float:
    """How often validation passes at the rank and the next cases break the floor there."""
    share = rng.beta(plan.start, plan.n_cases - plan.start + 1, size=runs)
    passes = rng.binomial(plan.start - 1, precision, size=runs) >= needed_above(plan)
    alarms = rng.binomial(plan.horizon, share)
    tp = rng.binomial(alarms, precision)
    return float(np.mean(passes & (tp < needed_to_keep(alarms, plan.min_precision))))


@pytest.mark.parametrize("plan", PLANS)
def test_at_no_precision_does_it_err_more_often_than_promised(plan: FixedSequence) -> None:
    rng, runs = np.random.default_rng(1), 20_000
    highest = min(1.0, 1.2 * needed_above(plan) / plan.start)
    shares = [
        broken(plan, precision, rng, runs)
        for precision in np.linspace(plan.min_precision, highest, 25).tolist()
    ]
    assert max(shares) <= plan.alpha + 3 * np.sqrt(plan.alpha / runs)
    assert max(shares) > plan.alpha / 2


def test_ties_below_the_rank_do_not_break_it() -> None:
    """The ties of a threshold extend beyond the rank with negatives only, few to many."""
    plan, rng, runs = PLANS[0], np.random.default_rng(2), 40_000
    below = plan.n_cases - plan.start
    for expected in (0.1, 0.5, 1.0, 2.0, 5.0):
        for precision in (0.52, 0.56, 0.6):
            place = rng.beta(plan.start, below + 1, size=runs)
            share = place + expected / below * (1 - place)
            alone = rng.binomial(below, expected / below, size=runs) == 0
            passes = rng.binomial(plan.start - 1, precision, size=runs) >= needed_above(plan)
            alarms = rng.binomial(plan.horizon, share)
            tp = rng.binomial(alarms, precision * place / share)
            breaks = tp < needed_to_keep(alarms, plan.min_precision)
            assert np.mean(alone & passes & breaks) <= plan.alpha + 3 * np.sqrt(plan.alpha / runs)
