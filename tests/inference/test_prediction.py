from __future__ import annotations

import numpy as np
import pytest

from voros.inference.next_cases import starting_ranks
from voros.inference.prediction import requirement, rough_requirement
from voros.inference.walk_risk import Walk


def walk(level: float = 0.04, horizon: int = 2000, floor: float = 0.4) -> Walk:
    ranks = starting_ranks(2000, horizon, floor, 0.05, 400)
    return Walk(2000, horizon, floor, level, ranks, 400)


@pytest.mark.parametrize("plan", [walk(), walk(0.0004), walk(horizon=500), walk(floor=0.8)])
def test_the_risk_is_kept_from_every_start(plan: Walk) -> None:
    needs = requirement(plan)
    tests = plan.tests(needs.right)
    risks = [plan.risk(needs.right, tests, start) for start in needs.starts.tolist()]
    assert max(risks) <= plan.level
    # And hardly anything of it is left.
    assert max(risks) > 0.85 * plan.level


def test_less_risk_and_a_shorter_horizon_need_more_right_alarms() -> None:
    usual = requirement(walk()).right[100:]
    assert (requirement(walk(0.004)).right[100:] > usual).all()
    assert (requirement(walk(horizon=500)).right[100:] > usual).all()


def test_right_alarms_needed_are_above_the_floor_and_never_fall() -> None:
    right = requirement(walk()).right
    assert (np.diff(right) >= 0).all()
    assert (right[20:] > 0.4 * np.arange(401)[20:]).all()


def test_a_rough_guess_is_near() -> None:
    right, rough = requirement(walk()).right[60:], rough_requirement(walk()).right[60:]
    assert np.abs(right - rough).max() <= 4


def test_starts_stay_near_where_they_were() -> None:
    plan = walk()
    starts = requirement(plan).starts
    assert (np.diff(starts) > 0).all()
    assert all(np.abs(starts - rank).min() <= 3 for rank in plan.starts)
