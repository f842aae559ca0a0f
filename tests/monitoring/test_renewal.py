"""Proposals: every case counts, the error is spent over all of them, patients stay together."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from monitoring_streams import FIRST_DAY, days, make_policy
from scipy.stats import norm

import voros
from voros.monitoring.renewal import propose


def certified(floor: float, capacity: float, **options: Any) -> voros.ThresholdPolicy:
    """Certify a policy on 4,000 cases whose chance of being positive rises with the score."""
    rng = np.random.default_rng(1)
    scores = rng.normal(0.36, 0.5, 4000)
    scenario = voros.Scenario(min_precision=floor, capacity=capacity, cost_ratio=(1 / 30, 1 / 10))
    return voros.ThresholdPolicy.from_validation(
        rng.random(4000) < norm.cdf(scores),
        scores,
        scenario,
        guarantee=voros.Guarantee(0.95),
        n_models=1,
        **options,
    )


def watch(
    policy: voros.ThresholdPolicy, seed: int, labelled: float, groups: Any = None, path: Any = None
) -> voros.Monitor:
    """Feed 2,000 cases whose scores have risen; part of the alarms get a label."""
    rng = np.random.default_rng(seed)
    monitor = voros.Monitor(policy, path, window=1)
    scores = rng.normal(0.55, 0.5, 2000)
    when = FIRST_DAY + np.sort(rng.integers(0, 60, 2000))
    alarms = monitor.update(scores, cases=np.arange(2000), times=when, groups=groups).alarms
    known = np.flatnonzero(alarms & (rng.random(2000) < labelled))
    labels = rng.random(len(known)) < norm.cdf(scores[known])
    monitor.label(labels, cases=known, times=when[known])
    monitor.advance("2026-06-01")
    return monitor


def test_alarms_without_a_label_count_for_the_capacity() -> None:
    """Left out, half of the alarms would make room for as many again: broken every time."""
    policy = certified(0.1, 0.10)
    shares = []
    for seed in range(4):
        monitor = watch(policy, seed, labelled=0.5)
        renewal = monitor.renew()
        shares.append(norm.sf((renewal.new_threshold - 0.55) / 0.5))
        assert f"{renewal.n_unlabelled:,} alarms without a label counted as false" in renewal.words
    assert max(shares) <= 0.10
    assert np.mean(shares) > 0.06


def test_the_error_is_spent_over_all_proposals(tmp_path: Path) -> None:
    path = tmp_path / "ward.voros"
    with watch(certified(0.1, 0.10), 1, 1.0, path=path) as monitor:
        first = monitor.renew()
        assert "proposal 1 from this file, and is tested with an error of 0.0304," in first.words
        assert monitor.renew().number == 1  # the same cases again
        monitor.label([0], cases=[1900], times=["2026-05-01"])
        assert monitor.renew().number == 2
    with voros.Monitor.open(path) as monitor:
        third = monitor.renew(since="2026-01-05")
        assert "proposal 3" in third.words
        assert "all proposals together have at most 0.05" in third.words
        assert third.policy.guarantee == voros.Guarantee(0.95)
        monitor.adopt(third.policy)
        scores, when = np.random.default_rng(2).normal(0.55, 0.5, 1000), days(1000, 10) + 200
        monitor.update(scores, cases=np.arange(1000) + 5000, times=when)
        monitor.label(scores > 0.5, cases=np.arange(1000) + 5000, times=when)
        monitor.advance("2026-12-01")
        assert monitor.renew().number == 4


def test_a_policy_certified_by_patient_is_not_renewed_from_single_cases() -> None:
    patients = np.arange(4000) // 3
    policy = certified(0.1, 0.10, groups=patients)
    with pytest.raises(ValueError, match=r"certified by patient.*2,000 of 2,000 recent cases came"):
        watch(policy, 1, 1.0).renew(since="2026-01-01")
    renewed = watch(policy, 1, 1.0, groups=np.arange(2000) // 3).renew(since="2026-01-01")
    assert renewed.policy.origin.n_groups == 667


def test_a_refused_proposal_spends_nothing() -> None:
    monitor = voros.Monitor(certified(0.1, 0.10), window=1)
    with pytest.raises(ValueError, match="no cases whose windows"):
        monitor.renew()
    assert monitor._store.metadata("proposals") is None


def test_a_proposal_that_switches_the_alarm_off_says_so() -> None:
    monitor = watch(certified(0.1, 0.10), 1, labelled=0.05)
    with pytest.warns(voros.exceptions.NeverAlarmWarning):
        renewal = monitor.renew()
    assert np.isinf(renewal.new_threshold)
    assert "the alarm would be switched off (the old threshold is" in renewal.words


def test_a_capacity_of_whole_alarms_is_a_share_of_any_number_of_cases() -> None:
    """Forty of 100 validation cases are 800 of 2,000 recent ones, not 40."""
    monitor = voros.Monitor(make_policy(floor=0.0, capacity=40), window=1)
    rng = np.random.default_rng(0)
    scores, when = rng.random(2000).round(3), days(2000, 50)
    monitor.update(scores, cases=np.arange(2000), times=when)
    monitor.label(rng.random(2000) < scores, cases=np.arange(2000), times=when)
    monitor.advance("2026-06-01")
    renewal = monitor.renew()
    assert (scores >= renewal.new_threshold).mean() == pytest.approx(0.4, abs=0.01)


def recent(n: int = 3000, labelled_without_alarm: float = 0.0) -> list[tuple[Any, ...]]:
    """Rows of the store: alarms from a score of 0.5, all with a label, and some others."""
    rng = np.random.default_rng(3)
    scores = rng.normal(0.36, 0.5, n)
    alarms, positive = scores >= 0.5, rng.random(n) < norm.cdf(scores)
    known = alarms | (positive & (rng.random(n) < labelled_without_alarm))
    return [
        ("", i, scores[i], alarms[i], None, int(positive[i]) if known[i] else None)
        for i in range(n)
    ]


def test_cases_without_an_alarm_count_as_negatives_at_the_lowest_score() -> None:
    """Those that were labelled although they raised none are no fair sample."""
    policy = make_policy(floor=0.0, capacity=1.0)
    plain, some = (
        propose(recent(labelled_without_alarm=share), policy, None) for share in (0, 0.3)
    )
    assert (plain.recall_known, some.recall_known) == (False, False)
    assert some.new_threshold == plain.new_threshold
    assert some.policy.n_positive == sum(bool(row[3] and row[5]) for row in recent())
    lowest = min(row[2] for row in recent())
    assert some.new_threshold == lowest or some.new_threshold >= 0.5
    assert "recall is unknown" in some.words


def test_a_later_proposal_is_tested_more_strictly() -> None:
    policy, rows = certified(0.72, 1.0), recent()
    first, later = (propose(rows, policy, None, number).new_threshold for number in (1, 300))
    assert first < later


def test_one_patient_that_is_not_known_is_enough_to_refuse() -> None:
    policy = certified(0.1, 0.10, groups=np.arange(4000) // 3)
    rows = [(*row[:4], f"p{row[1] // 3}", row[5]) for row in recent()]
    rows[7] = (*rows[7][:4], None, rows[7][5])
    with pytest.raises(ValueError, match="and 1 of 3,000 recent cases came without one"):
        propose(rows, policy, None, 1)


@pytest.mark.parametrize(("horizon", "share"), [(None, 0.1), (2000, 0.2)])
def test_whole_alarms_are_a_share_of_what_they_were_promised_for(
    horizon: int | None, share: float
) -> None:
    """Four hundred of 4,000 validation cases, or of the next 2,000."""
    policy = certified(0.3, 400)
    policy = replace(policy, guarantee=voros.Guarantee(0.95, horizon=horizon))
    assert propose(recent(), policy, None, 1).policy.scenario.capacity == share


def test_a_policy_per_day_is_renewed_though_patients_are_known() -> None:
    rng = np.random.default_rng(2)
    scores, day = rng.random(4000), np.repeat(np.arange(200), 20)
    policy = voros.ThresholdPolicy.from_validation(
        rng.random(4000) < scores,
        scores,
        voros.Scenario(capacity=6, per="day", cost_ratio=0.05),
        guarantee=voros.Guarantee(0.9),
        periods=day,
        n_models=1,
    )
    rows = [(f"{i // 20}", i, s, s > 0.6, f"p{i}", int(s > 0.8)) for i, s in enumerate(scores)]
    renewed = propose(rows, policy, None, 1)
    assert 0 < (scores >= renewed.new_threshold).mean() < 0.3


@pytest.mark.parametrize("label", [0, 1])
def test_recent_cases_of_one_class_are_refused(label: int) -> None:
    rows = [("", i, i / 100, True, None, label) for i in range(100)]
    with pytest.raises(ValueError, match="are all of one class"):
        propose(rows, make_policy(), None)
