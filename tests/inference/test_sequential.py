import numpy as np
import pytest
from scipy.stats import binomtest

from voros.inference.sequential import certified, first_rank, precision_risk, starts


def walked(labels: list[bool], floor: float, level: float, most: int) -> set[int]:
    """The rule case by case, for scores without ties: ranks that are certified."""
    ranks, shares = starts(floor, level, most)
    alive, passed = 0.0, set()
    for rank in range(1, len(labels) + 1):
        share = dict(zip(ranks.tolist(), shares.tolist(), strict=True)).get(rank, 0.0)
        if share and not alive:
            right = sum(labels[: rank - 1])
            if binomtest(right, rank - 1, floor, "greater").pvalue <= share:
                alive, share = share, 0.0
        if alive:
            here = binomtest(sum(labels[:rank]), rank, floor, "greater").pvalue
            alive = alive if here <= alive else 0.0
        if alive:
            passed.add(rank)
            alive += share
    return passed


@pytest.mark.parametrize("seed", range(12))
def test_the_walk_is_the_rule_case_by_case(seed: int) -> None:
    rng = np.random.default_rng(seed)
    chance = np.linspace(0.95, 0.3, 150)
    labels = (rng.random(150) < chance).tolist()
    tp, alarms = np.append(0, np.cumsum(labels)), np.arange(151)
    risk = precision_risk(tp, alarms, 0.5)
    found = certified(tp, alarms, risk, 0.5, 0.1, 150)
    assert set(alarms[found].tolist()) == walked(labels, 0.5, 0.1, 150)


def test_the_shares_of_the_error_add_up() -> None:
    for most in (10, 100, 5000):
        ranks, shares = starts(0.4, 0.05, most)
        assert shares.sum() == pytest.approx(0.05)
        assert (np.diff(ranks) > 0).all()
        assert len(ranks) == 1 or ranks[-1] <= most


def test_ties_at_the_start_are_tested_with_the_negatives_first() -> None:
    """One score for all cases: the start sees the negatives before any positive."""
    first = first_rank(0.5, 0.05)
    tp, alarms = np.array([0, 60 * first]), np.array([0, 61 * first])
    risk = precision_risk(tp, alarms, 0.5)
    assert risk[1] < 1e-12
    assert not certified(tp, alarms, risk, 0.5, 0.05, 100).any()
    all_right = np.array([0, 61 * first])
    risk = precision_risk(all_right, alarms, 0.5)
    assert certified(all_right, alarms, risk, 0.5, 0.05, 100).tolist() == [False, True]


def test_walks_err_no_more_often_than_promised_when_every_threshold_is_bad() -> None:
    """Labels that ignore the scores, at a precision just below the floor: each walk is an error."""
    rng, errors, runs = np.random.default_rng(5), 0, 1500
    alarms = np.arange(401)
    for _ in range(runs):
        tp = np.append(0, np.cumsum(rng.random(400) < 0.4999))
        errors += certified(tp, alarms, precision_risk(tp, alarms, 0.5), 0.5, 0.1, 400).any()
    assert errors / runs <= 0.1 + 3 * np.sqrt(0.1 * 0.9 / runs)


def test_no_floor_leaves_the_capacity_alone_to_decide() -> None:
    tp, alarms = np.array([0, 1, 1]), np.array([0, 1, 5])
    risk = np.array([0.0, 0.01, 0.2])
    assert certified(tp, alarms, risk, 0.0, 0.05, 5).tolist() == [False, True, False]
