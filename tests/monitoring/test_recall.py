"""Recall is watched where cases without an alarm have labels, and said not to be elsewhere."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import voros
from voros import Scenario, ThresholdPolicy
from voros.monitoring.evidence import PRECISION_STAKES, PRECISION_WEIGHTS

FLOOR = 0.8
DAY = np.datetime64("2026-01-01")


def make_policy() -> ThresholdPolicy:
    scenario = Scenario(cost_ratio=0.2, min_recall=FLOOR)
    return ThresholdPolicy.from_validation([0, 0, 1, 1] * 5, [0.1, 0.2, 0.8, 0.9] * 5, scenario)


def fed(alarmed, *, silent_labels: float = 1.0, n_negative: int = 1, seed: int = 0):
    """Feed one positive a day, with an alarm or without, and negatives; return the monitor."""
    monitor = voros.Monitor(make_policy(), window=3)
    alarmed = np.asarray(alarmed, dtype=bool)
    n = len(alarmed)
    scores = np.concatenate([np.where(alarmed, 0.9, 0.1), np.full(n * n_negative, 0.1)])
    labels = np.concatenate([np.ones(n, int), np.zeros(n * n_negative, int)])
    times = DAY + np.concatenate([np.arange(n), np.repeat(np.arange(n), n_negative)])
    ids = np.arange(len(scores)).astype(str)
    monitor.update(scores, cases=ids, times=times)
    drawn = np.random.default_rng(seed).random(len(scores)) < silent_labels
    kept = (scores >= 0.8) | drawn
    monitor.label(labels[kept], cases=ids[kept])
    monitor.advance(str(DAY + n + 10))
    return monitor


def watched(alarmed, **how):
    return fed(alarmed, **how).status()


def test_without_labels_of_silent_cases_it_is_not_watched() -> None:
    status = watched([True] * 50, silent_labels=0.0)
    assert status["recall"].verdict == "unknown"
    assert status["recall"].words.startswith("recall: not watched: no case without an alarm has a")
    assert status.verdict == "unknown"


def test_a_recall_well_above_the_floor_is_kept() -> None:
    status = watched([True] * 300 + [False] * 3)
    watch = status["recall"]
    assert watch.verdict == "kept"
    assert watch.estimate == pytest.approx(300 / 303)
    assert "300 of 303 positives raised an alarm" in watch.words


def test_with_some_labels_missing_it_is_never_said_to_be_kept() -> None:
    watch = watched([True] * 300 + [False] * 3, silent_labels=0.5)["recall"]
    assert watch.verdict == "unknown"
    assert watch.words.startswith("recall: unknown; 300 of ")
    assert "cases without an alarm have no label, so recall may be lower" in watch.words


def test_unlabelled_alarms_are_not_counted_as_missed() -> None:
    monitor = voros.Monitor(make_policy(), window=3)
    monitor.update([0.9] * 20 + [0.1] * 4, cases=np.arange(24), times=[DAY] * 24)
    monitor.label([1] * 12 + [1, 0, 0, 0], cases=[*range(12), *range(20, 24)])
    monitor.advance(str(DAY + 10))
    words = monitor.status()["recall"].words
    assert "12 of 13 positives raised an alarm and 8 alarms have no label (0.923" in words


@pytest.mark.parametrize("silent_labels", [1.0, 0.5])
def test_the_page_draws_recall_over_time(silent_labels: float, tmp_path: Path) -> None:
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")
    alarmed = np.tile([True, True, True, False], 25)
    monitor = fed(alarmed, silent_labels=silent_labels)
    page = monitor.report(tmp_path / "ward.html").read_text(encoding="utf-8")
    assert "Recall so far. Share of positives with an alarm since the policy" in page
    assert "Evidence that recall is below its floor" in page
    past = monitor.status()["recall"].history
    if silent_labels == 1:
        np.testing.assert_allclose(past["estimate"], np.cumsum(alarmed) / np.arange(1, 101))
        assert (past["low"] > 0).any()
    else:
        # More may have been missed than is known.
        assert not past["low"].any()


def test_a_recall_below_the_floor_is_broken_by_the_bets() -> None:
    alarmed = np.tile([True, False], 60)
    watch = watched(alarmed)["recall"]
    assert watch.verdict == "broken"
    # The evidence of the first 120 positives by hand: factors 1 - lambda with an alarm,
    # and 1 + lambda (1 / (1 - floor) - 1) for one that was missed.
    factors = np.where(alarmed[:, None], 1 - PRECISION_STAKES, 1 + PRECISION_STAKES * (1 / 0.2 - 1))
    wealth = np.cumprod(factors, axis=0) @ PRECISION_WEIGHTS
    assert (wealth >= 1 / 0.05).any()
    assert watch.noticed is not None
    # Half of the labels of silent cases are enough to show it, if later.
    assert watched(np.tile(alarmed, 4), silent_labels=0.5)["recall"].verdict == "broken"


@pytest.mark.slow
def test_a_recall_at_the_floor_is_seldom_called_broken() -> None:
    rng = np.random.default_rng(34)
    runs = [watched(rng.random(150) < FLOOR, n_negative=0)["recall"].verdict for _ in range(40)]
    # At most 5 % of all streams; 7 of 40 would be an accident of one in a thousand.
    assert runs.count("broken") < 7


def test_a_threshold_is_renewed_only_where_all_have_labels() -> None:
    monitor = voros.Monitor(make_policy(), window=1)
    scores = np.tile([0.9, 0.7, 0.2, 0.1], 20)
    ids, times = np.arange(80).astype(str), DAY + np.arange(80)
    monitor.update(scores, cases=ids, times=times)
    labels = np.tile([1, 1, 0, 0], 20)
    monitor.label(labels[:78], cases=ids[:78])
    monitor.advance(str(DAY + 100))
    with pytest.raises(ValueError, match="2 recent cases without an alarm have no label"):
        monitor.renew()
    monitor.label(labels[78:], cases=ids[78:])
    renewed = monitor.renew().policy
    assert renewed.scenario.min_recall == FLOOR
    assert renewed.threshold() == 0.7


def test_before_a_window_has_closed_it_is_too_early_to_tell() -> None:
    monitor = voros.Monitor(make_policy(), window=3)
    monitor.update([0.9, 0.1], cases=["a", "b"], times=[DAY] * 2)
    monitor.label([1, 1], cases=["a", "b"])
    watch = monitor.status()["recall"]
    assert watch.verdict == "too early to tell"
    assert watch.words.endswith("no positive has a closed window (floor 0.8)")
