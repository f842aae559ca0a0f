from __future__ import annotations

import numpy as np
import pytest

from voros.guarantee.prediction import requirement, rough_requirement
from voros.guarantee.walk_risk import Walk

WALKS = [
    Walk(2000, 2000, 0.4, 0.04, 40, 400),
    Walk(2000, 2000, 0.4, 0.0002, 40, 400),
    Walk(2000, 500, 0.4, 0.04, 80, 400),
    Walk(2000, 2000, 0.8, 0.04, 60, 2000),
    Walk(2000, 40, 0.02, 0.04, 200, 2000),
    Walk(1000, 20_000, 0.003, 0.04, 200, 900),
]


@pytest.mark.parametrize("walk", WALKS)
def test_the_risk_is_kept_and_used_up(walk: Walk) -> None:
    risk = walk.risk(requirement(walk))
    assert 0.6 * walk.alpha < risk <= walk.alpha


@pytest.mark.parametrize("walk", WALKS)
def test_one_more_alarm_needs_none_or_one_more_right_one(walk: Walk) -> None:
    """Ties are tested at their end only, which the proof allows for such requirements."""
    for needed in (requirement(walk), rough_requirement(walk)):
        assert len(needed) == walk.most - walk.start + 1
        assert set(np.unique(np.diff(needed)).tolist()) <= {0, 1}
        assert (needed >= 1).all()


def test_less_risk_and_a_shorter_horizon_need_more_right_alarms() -> None:
    usual, strict, short = (requirement(walk)[60:] for walk in WALKS[:3])
    assert (strict > usual).all()
    assert (short[: len(usual) - 40] > usual[40:]).all()


def test_right_alarms_needed_are_above_the_floor() -> None:
    walk = WALKS[0]
    assert (requirement(walk) > 0.4 * np.arange(40, 401)).all()


def test_a_rough_guess_is_near() -> None:
    walk = WALKS[0]
    assert np.abs(requirement(walk) - rough_requirement(walk)).max() <= 4
