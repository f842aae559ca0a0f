"""The Challenge's score, by hand and by a plain loop over its published definition."""

from __future__ import annotations

import numpy as np
import pytest

from voros_studies.sepsis.utility import HourlyUtility


def published(onset, n_hours, alarms):
    """The utility of one stay, hour by hour, as the definition says it."""
    total = 0.0
    for hour in range(n_hours):
        if onset is None:
            total += -0.05 if alarms[hour] else 0.0
            continue
        if hour > onset + 3:
            continue
        if alarms[hour]:
            if hour <= onset - 6:
                total += max((hour - onset + 12) / 6, -0.05)
            else:
                total += -(hour - onset) / 9 + 3 / 9
        elif hour > onset - 6:
            total += -2 * (hour - onset) / 9 - 12 / 9
    return total


def test_a_stay_by_hand():
    # Onset at hour 12 of 20. With an alarm the hours 1 to 6 earn 1/6 to 1, and those from 7 to 15
    # earn 8/9 to 0 where silence costs 2/9 to 2: together 3.5 + 14. Alarms from hour 6 on miss 2.5.
    hour = np.arange(20)
    utility = HourlyUtility.from_hours(np.full(20, 12.0), hour * 1.0)
    assert utility.normalised(hour * 1.0, 0.0) == pytest.approx(1)
    assert utility.normalised(hour * 1.0, 6.0) == pytest.approx(15 / 17.5)
    assert utility.normalised(hour * 1.0, np.inf) == 0


def test_alarms_of_a_stay_without_sepsis_cost_a_twentieth_each():
    utility = HourlyUtility.from_hours(np.array([np.inf] * 4 + [12.0]), np.array([0, 1, 2, 3, 6.0]))
    scores = np.array([0.9, 0.9, 0.9, 0.1, 0.5])
    assert utility.normalised(scores, 0.5) == pytest.approx(1 - 3 * 0.05)
    assert utility.normalised(scores, 0.9) == pytest.approx(-3 * 0.05)


def test_random_stays_agree_with_the_loop():
    rng = np.random.default_rng(0)
    for _ in range(50):
        sizes = rng.integers(1, 40, 5)
        onsets = [int(rng.integers(6, n + 6)) if rng.random() < 0.6 else None for n in sizes]
        onsets[0] = 8
        scores = [rng.integers(0, 6, n) / 5 for n in sizes]
        columns = [
            np.full(n, np.inf if o is None else o) for n, o in zip(sizes, onsets, strict=True)
        ]
        hour = np.concatenate([np.arange(n) for n in sizes]).astype(float)
        utility = HourlyUtility.from_hours(np.concatenate(columns).astype(float), hour)
        none = sum(published(o, n, [False] * n) for o, n in zip(onsets, sizes, strict=True))
        best = sum(
            published(o, n, [o is not None and o - 12 <= h <= o + 3 for h in range(n)])
            for o, n in zip(onsets, sizes, strict=True)
        )
        if best == none:
            continue
        expected = {}
        for threshold in (0, 0.2, 0.4, 0.6, 0.8, 1.0):
            total = sum(
                published(o, n, s >= threshold)
                for o, n, s in zip(onsets, sizes, scores, strict=True)
            )
            expected[threshold] = (total - none) / (best - none)
            measured = utility.normalised(np.concatenate(scores), threshold)
            assert measured == pytest.approx(expected[threshold])
        chosen = utility.best_threshold(np.concatenate(scores))
        reached = utility.normalised(np.concatenate(scores), chosen)
        assert reached == pytest.approx(max(0, *expected.values()))
