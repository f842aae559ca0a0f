from __future__ import annotations

import numpy as np
import pytest
from fixed_sequences import sequence
from scipy.stats import norm

from voros.guarantee.next_cases.fixed_sequence import FixedSequence
from voros.guarantee.next_cases.needed import RiskBound, requirement

WALKS = [
    sequence(2000, 2000, 0.4, 0.04, 40, 400),
    sequence(2000, 2000, 0.4, 0.0002, 40, 400),
    sequence(2000, 500, 0.4, 0.04, 80, 400),
    sequence(2000, 2000, 0.8, 0.04, 60, 2000),
    sequence(2000, 40, 0.02, 0.04, 200, 2000),
    sequence(1000, 20_000, 0.003, 0.04, 200, 900),
]


@pytest.mark.parametrize("walk", WALKS)
def test_the_risk_is_kept_and_used_up(walk: FixedSequence) -> None:
    risk = RiskBound(walk).risk(requirement(walk))
    assert 0.6 * walk.alpha < risk <= walk.alpha


@pytest.mark.parametrize("walk", WALKS)
def test_one_more_alarm_needs_none_or_one_more_right_one(walk: FixedSequence) -> None:
    """Ties are tested at their end only, which the proof allows for such requirements."""
    needed = requirement(walk)
    assert len(needed) == walk.most - walk.start + 2
    assert set(np.unique(np.diff(needed)).tolist()) <= {0, 1}
    assert (needed >= 1).all()


def test_less_risk_and_a_shorter_horizon_need_more_right_alarms() -> None:
    usual, strict, short = (requirement(walk)[61:] for walk in WALKS[:3])
    assert (strict > usual).all()
    assert (short[: len(usual) - 40] > usual[40:]).all()


def test_right_alarms_needed_are_above_the_floor() -> None:
    walk = WALKS[0]
    assert (requirement(walk) > 0.4 * np.arange(39, 401)).all()


LOW_FLOOR = [
    sequence(20_000, 20_000, 0.05, 0.0464, 36, 1820, 36),
    sequence(20_000, 20_000, 0.05, 0.00147, 255, 1820, 36),
    sequence(20_000, 20_000, 0.05, 0.000122, 84, 1820, 36),
    sequence(20_000, 20_000, 0.2, 0.04704, 60, 1818, 60),
    sequence(20_000, 20_000, 0.2, 0.00147, 330, 1818, 60),
    sequence(20_000, 20_000, 0.2, 0.00006125, 168, 1818, 60),
]
"""The sequences of floors of .05 and .2 with 20,000 validation and next cases."""


@pytest.mark.parametrize("walk", LOW_FLOOR)
def test_a_low_floor_needs_few_evaluations_of_the_risk(
    walk: FixedSequence, monkeypatch: pytest.MonkeyPatch
) -> None:
    risks: list[float] = []
    computed = RiskBound.risk

    def counted(self: RiskBound, needed: np.ndarray) -> float:
        risks.append(computed(self, needed))
        return risks[-1]

    monkeypatch.setattr(RiskBound, "risk", counted)
    requirement.__wrapped__(walk)
    assert len(risks) <= 4
    assert max(risk for risk in risks if risk <= walk.alpha) >= 0.93 * walk.alpha


def test_an_early_start_does_not_make_later_tests_harder() -> None:
    """Where the start needs much, the alarms ten times later need about what one test needs."""
    walk = LOW_FLOOR[2]
    alarms = np.array([400, 800, 1600])
    margin = (requirement(walk)[alarms - walk.start + 1] - 0.05 * alarms) / walk.deviation(alarms)
    assert (margin < norm.isf(walk.alpha) + 1.4).all()
