"""Counts of a few thresholds are those of all, and none that matters is left out."""

import numpy as np
import pytest

from voros import OperatingPoints, Scenario
from voros.core.counting import adds_recall
from voros.core.pruning import CasesInMemory, pruned_points, within_reach


@pytest.mark.parametrize("at_most", [2, 7, 50, 499, 500])
def test_few_points_are_the_thresholds_at_positives_within_reach(at_most) -> None:
    rng = np.random.default_rng(7)
    y_true, y_score = rng.integers(0, 2, 500), rng.normal(size=500).round(1)
    everything = OperatingPoints.from_scores(y_true, y_score)
    counted = zip(everything.thresholds, everything.tp, everything.fp, strict=True)
    of_positives = [row for row in counted if np.isinf(row[0]) or row[0] in y_score[y_true == 1]]
    got = pruned_points(
        CasesInMemory(y_true == 1, y_score), Scenario(capacity=at_most, cost_ratio=0.1)
    )
    rows = list(zip(got.thresholds, got.tp, got.fp, strict=True))
    assert rows == of_positives[: len(rows)]
    assert all(sum(row[1:]) > at_most for row in of_positives[len(rows) :])


@pytest.mark.parametrize("order", ["shuffled", "sorted", "reversed", "periodic"])
def test_the_cut_off_guessed_from_a_sample_never_changes_the_answer(order) -> None:
    rng = np.random.default_rng(0)
    y_score = rng.normal(size=100_000)
    if order != "shuffled":
        y_score = np.sort(y_score)
    if order == "reversed":
        y_score = y_score[::-1]
    if order == "periodic":
        # The strided sample sees only the lowest scores.
        y_score = y_score.reshape(5, -1).T.ravel()
    for at_most in (1, 500, 30_000, 99_999):
        marked = within_reach(y_score, at_most)
        assert np.count_nonzero(marked) > at_most
        assert np.array_equal(marked, y_score >= y_score[marked].min())


def test_a_threshold_adds_recall_where_none_before_caught_as_much():
    rng = np.random.default_rng(1)
    for length in (0, 1, 2, 50):
        tp = rng.integers(0, 9, length)
        expected = [all(tp[i] > tp[j] for j in range(i)) for i in range(length)]
        assert adds_recall(tp).tolist() == expected
