from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np

from voros.guarantee.next_cases.needed import highest_path


def counted_out(values: np.ndarray) -> float:
    steps, places = values.shape
    return max(
        sum(values[step, place] for step, place in enumerate(path))
        for path in combinations_with_replacement(range(places), steps)
    )


def test_the_highest_path_is_the_best_of_all_that_never_step_back() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        steps, places = rng.integers(1, 6, size=2)
        values = rng.normal(size=(steps, places))
        before = values.copy()
        assert np.isclose(highest_path(values), counted_out(values))
        assert np.array_equal(values, before)


def test_several_sets_of_places_are_apart() -> None:
    values = np.random.default_rng(1).normal(size=(4, 3, 5))
    expected = [counted_out(values[:, i]) for i in range(3)]
    assert np.allclose(highest_path(values), expected)


def test_a_path_adds_up_the_best_of_each_step_where_these_rise() -> None:
    values = np.array([[3.0, 1.0, 0.0], [0.0, 2.0, 1.0], [0.0, 1.0, 4.0]])
    assert highest_path(values) == 3 + 2 + 4
    assert highest_path(values[::-1]) < 3 + 2 + 4
