"""Counts of a few thresholds are those of all, and none that matters is left out."""

import numpy as np
import pytest

from voros import OperatingPoints
from voros.core.counting import adds_recall
from voros.core.pruning import leading_counts


@pytest.mark.parametrize("at_most", [1, 7, 50, 123.4, 499, 500])
def test_leading_points_are_the_thresholds_at_positives_within_reach(at_most) -> None:
    rng = np.random.default_rng(7)
    y_true, y_score = rng.integers(0, 2, 500), rng.normal(size=500).round(1)
    everything = OperatingPoints.from_scores(y_true, y_score)
    wanted = {
        (t, tp, fp)
        for t, tp, fp in zip(everything.thresholds, everything.tp, everything.fp, strict=True)
        if tp + fp <= at_most and (np.isinf(t) or t in y_score[y_true == 1])
    }
    got = leading_counts(y_true == 1, y_score, at_most)
    assert set(zip(got.thresholds, got.tp, got.fp, strict=True)) == wanted


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
    y_true = rng.random(100_000) < 0.1
    for at_most in (1, 500, 30_000, 99_999):
        got = leading_counts(y_true, y_score, at_most)
        cutoff = np.sort(y_score)[::-1][at_most]
        assert len(got.tp) - 1 == np.count_nonzero(y_true & (y_score > cutoff))


def test_a_threshold_adds_recall_where_none_before_caught_as_much():
    rng = np.random.default_rng(1)
    for length in (0, 1, 2, 50):
        tp = rng.integers(0, 9, length)
        expected = [all(tp[i] > tp[j] for j in range(i)) for i in range(length)]
        assert adds_recall(tp).tolist() == expected
