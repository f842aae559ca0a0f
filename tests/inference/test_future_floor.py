from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.stats import norm

from voros.inference.future_floor import (
    CHANCES,
    broken_floor_chance,
    right_below,
    risky_precisions,
)


@pytest.mark.parametrize("floor", [0.15, 1 / 3, 0.5, 0.9])
def test_one_right_alarm_more_would_keep_the_floor(floor: float) -> None:
    exact = Fraction(floor).limit_denominator(100)
    for alarms in range(1, 60):
        most = int(right_below(np.array([alarms]), floor)[0])
        assert Fraction(most, alarms) < exact <= Fraction(most + 1, alarms)


@pytest.mark.parametrize(("floor", "share", "precision"), [(0.5, 0.4, 0.6), (0.3, 0.7, 0.2)])
def test_the_chance_of_a_broken_floor_counts_every_future(
    floor: float, share: float, precision: float
) -> None:
    """Six cases, each unflagged, rightly flagged or wrongly flagged: all 729 futures."""
    chances = (1 - share, share * precision, share * (1 - precision))
    broken = 0.0
    for future in product(range(3), repeat=6):
        right, wrong = future.count(1), future.count(2)
        if right + wrong and right / (right + wrong) < floor:
            broken += float(np.prod([chances[case] for case in future]))
    found = broken_floor_chance(share, np.array([precision]), 6, floor)
    assert found[0] == pytest.approx(broken, abs=1e-9)


@pytest.mark.parametrize(("share", "horizon"), [(0.1, 2000), (0.01, 500), (0.3, 10**7)])
def test_risky_precisions_break_the_floor_as_often_as_they_say(share: float, horizon: int) -> None:
    precision = risky_precisions(share, horizon, 0.4)
    reached = precision > 0
    chance = broken_floor_chance(share, precision[reached], horizon, 0.4)
    np.testing.assert_allclose(norm.isf(chance), CHANCES[reached], atol=0.02)
    assert (np.diff(precision) >= 0).all()


def test_no_precision_breaks_a_floor_where_alarms_are_too_rare() -> None:
    """One alarm in a hundred futures: a chance of a half is out of reach."""
    precision = risky_precisions(1e-4, 100, 0.4)
    assert (precision[norm.sf(CHANCES) > 0.01] == 0).all()
