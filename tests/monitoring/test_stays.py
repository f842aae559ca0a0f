"""A monitor over stays counts as a plain loop over its rows does, and judges by stay."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from slower import slow_after

import voros

HOUR = np.timedelta64(1, "h")
BEGIN = np.datetime64("2026-01-01T00", "h")


def make_policy(
    rule: voros.AlarmRule, floor: float = 0.3, rate: float = 2.0, recall: float | None = None
) -> Any:
    """Alarm at a score of 0.5 or more."""
    scenario = voros.Scenario(
        min_precision=floor,
        capacity=rate,
        per="patient-day",
        cost_ratio=0.05,
        min_recall=recall,
    )
    points = voros.alarm_points(
        stay=[1, 1, 2, 2],
        time=[0, 5, 0, 5],
        score=[0.1, 0.5, 0.1, 0.1],
        events=([1], [8]),
        rule=rule,
    )
    policy = voros.ThresholdPolicy.from_points(points, scenario)
    assert policy.threshold() == 0.5
    return policy


Ward = dict[int, tuple[np.ndarray, np.ndarray, list[int]]]
"""Hours, scores and hours of events of each stay, counted from the first hour of the ward."""


def random_ward(seed: int, n_stays: int = 40) -> Ward:
    rng, ward = np.random.default_rng(seed), {}
    for stay in range(n_stays):
        hours = int(rng.integers(0, 20 * 24)) + np.flatnonzero(rng.random(90) < 0.8)
        scores = rng.random(len(hours)).round(2)
        events = sorted(rng.choice(hours, rng.integers(0, 3), replace=False).tolist())
        ward[stay] = hours, scores, events
    return {stay: rows for stay, rows in ward.items() if len(rows[0])}


def feed(monitor: voros.Monitor, ward: Ward, n_parts: int = 7) -> dict[tuple[int, int], bool]:
    """Feed rows part by part, each event when it happens, and the ends; return the alarms."""
    rows = sorted(
        (h, s, v)
        for s, (hours, scores, _) in ward.items()
        for h, v in zip(hours, scores, strict=True)
    )
    events = sorted((event, stay) for stay, (*_, times) in ward.items() for event in times)
    sounded, last = {}, -1
    for part in np.array_split(np.arange(rows[-1][0] + 1), n_parts):
        come = [row for row in rows if part[0] <= row[0] <= part[-1]]
        told = [event for event in events if last < event[0] <= part[-1]]
        if told:
            when = [BEGIN + event * HOUR for event, _ in told]
            monitor.label([1] * len(told), cases=[s for _, s in told], times=when)
        if come:
            when = [BEGIN + h * HOUR for h, *_ in come]
            alarms = monitor.update(
                [v for *_, v in come], cases=[s for _, s, _ in come], times=when
            )
            sounded |= {
                (s, h): a for (h, s, _), a in zip(come, alarms.alarms.tolist(), strict=True)
            }
        last = int(part[-1])
    ends = [
        BEGIN + int(max(hours[-1], *times, 0)) * HOUR + HOUR for hours, _, times in ward.values()
    ]
    monitor.label([0] * len(ward), cases=list(ward), times=ends)
    monitor.advance("2026-06-01")
    return sounded


def by_hand(
    hours: Any, scores: Any, events: list[int], rule: voros.AlarmRule
) -> tuple[dict, int, int]:
    """Follow one stay row by row: its alarms, true ones and false ones; hours, threshold .5."""
    snooze, horizon, lead = (x // 3_600_000_000 for x in (rule.snooze, rule.horizon, rule.lead))
    reset = None if rule.reset is None else rule.reset // 3_600_000_000
    counted: list[int] = []
    for event in events:
        if not counted or (reset is not None and event - counted[-1] >= reset):
            counted.append(event)
    sounds, silent_until, caught, tp, fp = {}, -1, set(), 0, 0
    for hour, score in zip(hours.tolist(), scores.tolist(), strict=True):
        before = [e for e in counted if e < hour]
        over = bool(before) and (reset is None or hour - before[-1] < reset)
        sounds[hour] = score >= 0.5 and not over and hour >= silent_until
        if not sounds[hour]:
            continue
        silent_until = hour + max(snooze, 1)
        following = [e for e in counted if e >= hour]
        if following and lead <= following[0] - hour <= horizon:
            if following[0] in caught:
                fp += rule.repeats == "false_alarm"
            else:
                tp += 1
                caught.add(following[0])
        else:
            fp += 1
    return sounds, tp, fp


RULES = (
    voros.AlarmRule(snooze="12h", horizon="12h", lead="1h"),
    voros.AlarmRule(snooze="3h", horizon="8h", repeats="capacity_only", reset="24h"),
    voros.AlarmRule(snooze=0, horizon="6h", lead="2h"),
)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("seed", slow_after(1, range(3)))
def test_alarms_and_events_are_those_of_a_loop_over_the_rows(
    rule: voros.AlarmRule, seed: int, tmp_path: Path
) -> None:
    ward = random_ward(seed)
    with voros.Monitor(make_policy(rule), tmp_path / "ward.voros", window=30) as monitor:
        sounded = feed(monitor, ward)
    with voros.Monitor.open(tmp_path / "ward.voros") as monitor:
        status = monitor.status()
    true = n = 0
    for stay, (hours, scores, events) in ward.items():
        sounds, tp, fp = by_hand(hours, scores, events, rule)
        assert {hour: sounded[stay, hour] for hour in sounds} == sounds
        true, n = true + tp, n + tp + fp
    assert f"{true} of {n} alarms were true" in status["precision"].words
    # The same stays counted at once, by the function that the policy was chosen with.
    rows = {
        "stay": np.concatenate([np.full(len(h), s) for s, (h, *_) in ward.items()]),
        "time": np.concatenate([h for h, *_ in ward.values()]),
        "score": np.concatenate([v for _, v, _ in ward.values()]),
    }
    events = [(s, e) for s, (*_, times) in ward.items() for e in times]
    points = voros.alarm_points(
        **rows, events=([s for s, _ in events], [e for _, e in events]), rule=rule
    )
    days = points.stays.patient_days
    assert status["capacity"].estimate == pytest.approx(sum(sounded.values()) / days)
    assert status.cases == len(ward)
    assert status["scores"].unit == "stay"


@pytest.mark.parametrize("rule", RULES)
def test_a_recall_floor_is_a_share_of_the_events(rule: voros.AlarmRule) -> None:
    ward, monitor = random_ward(4), voros.Monitor(make_policy(rule, recall=0.4), window=30)
    feed(monitor, ward)
    status, caught, n_events = monitor.status(), 0, 0
    for hours, scores, events in ward.values():
        caught += by_hand(hours, scores, events, rule)[1]
        # Without a reset the first event ends a stay; those here are a day apart or not.
        counted: list[int] = []
        for event in events:
            if not counted or (rule.reset is not None and event - counted[-1] >= 24):
                counted.append(event)
        n_events += len(counted)
    assert f"{caught} of {n_events} events were caught" in status["recall"].words
    assert status["recall"].estimate == pytest.approx(caught / n_events)
    assert "of the stays that count were caught" not in status.words


def all_missed(n_known: int, n_stays: int = 60) -> Any:
    """Stays with an event that no alarm precedes; of the others the outcome is not known."""
    monitor = voros.Monitor(make_policy(RULES[0], recall=0.4), window=5)
    names = [f"stay {i:02}" for i in range(n_stays)]
    times = BEGIN + np.arange(n_stays) * 24 * HOUR
    monitor.update(np.full(n_stays, 0.1), cases=names, times=times)
    monitor.label([1] * n_known, cases=names[:n_known], times=times[:n_known] + 5 * HOUR)
    monitor.advance("2026-06-01")
    return monitor


def test_missed_events_break_the_floor_and_unknown_outcomes_keep_it_from_being_kept() -> None:
    assert all_missed(60).status()["recall"].verdict == "broken"
    some = all_missed(30).status()["recall"]
    assert some.verdict == "broken"
    assert some.words.endswith("the outcome of 30 stays is not known, so recall may be lower")
    nothing = all_missed(0).status()["recall"]
    assert nothing.verdict == "unknown"
    with pytest.raises(ValueError, match="the outcome of 30 recent stays is not known"):
        all_missed(30).renew()


def test_an_alarm_of_a_stay_without_an_outcome_may_have_caught_an_event() -> None:
    monitor = voros.Monitor(make_policy(RULES[0], recall=0.4), window=2)
    monitor.update([0.9], cases=["a"], times=[BEGIN])
    monitor.advance("2026-02-01")
    watch = monitor.status()["recall"]
    assert watch.verdict == "unknown"
    assert "recall: unknown; 1 alarm has no label (interval" in watch.words


def one_stay(window: float = 2, rule: voros.AlarmRule = RULES[0], **label: Any) -> voros.Monitor:
    monitor = voros.Monitor(make_policy(rule), window=window)
    when = BEGIN + np.array([0, 1, 13, 60]) * HOUR
    monitor.update([0.9, 0.9, 0.9, 0.9], cases=["a"] * 4, times=when)
    if label:
        monitor.label(label["y"], cases=["a"] * len(label["y"]), times=label["times"])
    monitor.advance("2026-02-01")
    return monitor


def test_a_stay_without_an_outcome_counts_against_either_verdict() -> None:
    words = one_stay().status()["precision"].words
    assert "; 2 alarms have no label (interval" in words
    ended = one_stay(y=[0], times=["2026-01-04"])
    assert "0 of 2 alarms were true" in ended.status()["precision"].words
    event = one_stay(y=[1], times=["2026-01-01T20:00"])
    # The event at hour 20 is caught from hour 13, and ends the stay.
    assert "1 of 2 alarms were true" in event.status()["precision"].words
    assert "recall: 1 of 1 events of the stays that count were caught (1)" in event.status().words


def test_the_end_of_a_stay_is_not_an_event() -> None:
    """An event at this hour would be caught by the alarm of hour 13."""
    ended = one_stay(y=[0], times=["2026-01-01T20:00"])
    assert "0 of 2 alarms were true" in ended.status()["precision"].words


def test_an_event_that_others_may_follow_does_not_end_a_stay() -> None:
    label: Any = {"y": [1], "times": ["2026-01-01T20:00"]}
    assert "2 alarms have no label" in one_stay(rule=RULES[1], **label).status()["precision"].words
    label = {"y": [1, 0], "times": [*label["times"], "2026-01-04"]}
    assert "1 of 2 alarms were true" in one_stay(rule=RULES[1], **label).status().words


def test_of_a_stay_without_an_outcome_one_alarm_at_most_can_be_true() -> None:
    """Four alarms each: at best 20 of 180 are true, and 80 of 240 would keep the floor of .3."""
    monitor = voros.Monitor(make_policy(RULES[0]), window=7)
    for stay in range(60):
        when = BEGIN + (24 * stay + np.arange(48)) * HOUR
        monitor.update(np.full(48, 0.9), cases=[stay] * 48, times=when)
        if stay % 3:
            monitor.label([0], cases=[stay], times=[when[-1]])
    monitor.advance("2026-06-01")
    assert monitor.status()["precision"].verdict == "broken"


@pytest.mark.parametrize(("ended", "verdict"), [(True, "broken"), (False, "too early to tell")])
def test_stays_without_an_outcome_break_nothing(ended: bool, verdict: str) -> None:
    """Four alarms each. An event right after the first would end the stay: one of one is true."""
    monitor = voros.Monitor(make_policy(RULES[0]), window=7)
    for stay in range(60):
        begin = BEGIN + 24 * stay * HOUR
        when = begin + np.arange(48) * HOUR
        monitor.update(np.full(48, 0.9), cases=[stay] * 48, times=when)
        if ended:
            monitor.label([0], cases=[stay], times=[when[-1]])
    monitor.advance("2026-06-01")
    watch = monitor.status()["precision"]
    assert (watch.verdict, watch.n) == (verdict, 60)
    assert (watch.low == 0, watch.high == 1) == (True, not ended)
    assert monitor.status().as_of == "2026-06-01"
    if ended:
        # Shown when the window of a stay has closed.
        assert np.datetime64(watch.noticed) - np.datetime64(watch.since) >= np.timedelta64(7, "D")


def test_of_a_stay_that_goes_on_every_alarm_is_without_a_label() -> None:
    """Two alarms before one event: the second counts for the capacity alone, once it is known."""
    monitor = voros.Monitor(make_policy(RULES[1]), window=7)
    monitor.update([0.9, 0.9], cases=["a", "a"], times=BEGIN + np.array([13, 17]) * HOUR)
    monitor.label([1], cases=["a"], times=[BEGIN + 20 * HOUR])
    monitor.advance("2026-02-01")
    assert "; 2 alarms have no label (interval" in monitor.status()["precision"].words
    monitor.label([0], cases=["a"], times=[BEGIN + 60 * HOUR])
    assert "1 of 1 alarms were true" in monitor.status()["precision"].words


def test_rows_beyond_the_window_do_not_count_and_are_said() -> None:
    status = one_stay(y=[0], times=["2026-01-04"]).status()
    assert any(
        "not counted: 1 alarm more than 2 days after the first row" in note for note in status.notes
    )
    assert "0 of 3 alarms were true" in one_stay(3, y=[0], times=["2026-01-04"]).status().words


def test_a_stay_counts_when_window_and_horizon_have_passed() -> None:
    monitor = voros.Monitor(make_policy(RULES[0]), window=2)
    monitor.update([0.9], cases=["a"], times=["2026-01-01"])
    monitor.label([0], cases=["a"], times=["2026-01-01T05:00"])
    monitor.advance("2026-01-03T12:00")
    assert monitor.status()["precision"].n == 0
    assert any("1 stay that began in the last 2.5 days" in n for n in monitor.status().notes)
    monitor.advance("2026-01-03T13:00")
    assert monitor.status()["precision"].n == 1


def test_rows_come_once_and_in_order() -> None:
    monitor = voros.Monitor(make_policy(RULES[0]))
    times = ["2026-01-01T00:00", "2026-01-01T05:00"]
    first = monitor.update([0.9, 0.9], cases=["a", "a"], times=times)
    assert first.alarms.tolist() == [True, False]
    again = monitor.update([0.9, 0.9, 0.1], cases=["a", "a", "b"], times=[*times, times[0]])
    assert (again.alarms.tolist(), again.new, again.repeated) == ([True, False, False], 1, 2)
    again = monitor.update([0.9], cases=["a"], times=times[:1])
    assert (again.alarms.tolist(), again.new, again.repeated) == ([True], 0, 1)
    with pytest.raises(ValueError, match=r"'a' with score 0.8 at 2026-01-01, which is stored with"):
        monitor.update([0.8], cases=["a"], times=times[:1])
    with pytest.raises(ValueError, match="rows must come in order"):
        monitor.update([0.8], cases=["a"], times=["2026-01-01T03:00"])
    monitor.withdraw(["a"])
    assert monitor.status().cases == 1
    with pytest.raises(ValueError, match="'a' cannot be withdrawn"):
        monitor.withdraw(["a"])
    assert monitor.update([0.8], cases=["a"], times=["2026-01-01T03:00"]).alarms.tolist() == [True]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda m: m.update([0.9], cases=["a"], times=["2026-01-01"], groups=["p"]),
            "groups is not accepted with",
        ),
        (
            lambda m: m.update([0.9], cases=["a"], times=["2026-01-01"], periods=["p"]),
            "periods is not",
        ),
        (lambda m: m.label([1], cases=["a"]), "times is needed: the time of each event"),
        (lambda m: m.renew(), "no recent stay whose window has closed has an event"),
        (
            lambda m: voros.Monitor(m.policy, max_cost=3),
            "max_cost is not accepted with a policy over stays",
        ),
    ],
)
def test_what_is_of_cases_is_refused(call: Any, message: str) -> None:
    monitor = voros.Monitor(make_policy(RULES[0]))
    monitor.update([0.9], cases=["a"], times=["2026-01-01"])
    with pytest.raises(ValueError, match=message):
        call(monitor)


def test_a_policy_over_stays_is_followed_by_another() -> None:
    monitor = one_stay(y=[0], times=["2026-01-04"])
    monitor.adopt(make_policy(RULES[1]))
    assert monitor.status()["precision"].n == 0
    cases = voros.ThresholdPolicy.from_validation([0, 1], [0.1, 0.9], voros.Scenario(cost_ratio=1))
    with pytest.raises(
        ValueError,
        match="is a ThresholdPolicy of one stream, and what is deployed a policy over stays",
    ):
        monitor.adopt(cases)


def renewed_by_points(ward: Ward, policy: Any, guarantee: Any = None, known: Any = None) -> Any:
    """Choose again on the rows themselves, stays in the order in which they begin."""
    begun = sorted(ward, key=lambda s: (ward[s][0][0], str(s)))
    known = None if known is None else {begun.index(s) for s in known}
    ward = {number: ward[s] for number, s in enumerate(begun)}
    stay = np.concatenate([[s] * len(hours) for s, (hours, *_) in ward.items()])
    hour = np.concatenate([hours for hours, *_ in ward.values()])
    score = np.concatenate([scores for _, scores, _ in ward.values()])
    told = [(s, event) for s, (*_, events) in ward.items() for event in events]
    events = [pair for pair in told if known is None or pair[0] in known]
    points = voros.alarm_points(
        stay=stay, time=hour, score=score, events=tuple(zip(*events, strict=True)), rule=policy.rule
    )
    how = {"guarantee": guarantee, "n_models": None if guarantee is None else 1}
    return points, voros.ThresholdPolicy.from_points(points, policy.scenario, **how)


@pytest.mark.parametrize("rule", RULES)
def test_a_proposal_is_what_the_stays_choose(rule: voros.AlarmRule) -> None:
    policy = make_policy(rule, floor=0.1)
    ward, monitor = random_ward(3), voros.Monitor(policy)
    feed(monitor, ward)
    points, expected = renewed_by_points(ward, policy)
    proposal = monitor.renew(since="2025-12-31")
    assert proposal.new_threshold == expected.threshold()
    assert proposal.policy.rule == rule
    assert proposal.n_cases == len(ward)
    at_old = np.flatnonzero(points.thresholds <= proposal.old_threshold)[0]
    assert points.thresholds[at_old - 1] > proposal.old_threshold
    assert "recent stays" in proposal.words
    monitor.adopt(proposal.policy)
    assert monitor.policy.threshold() == expected.threshold()


@pytest.mark.slow
def test_proposals_spend_the_error_of_the_guarantee() -> None:
    ward = random_ward(5, n_stays=500)
    policy = make_policy(RULES[0], floor=0.05)
    policy = replace(policy, guarantee=voros.Guarantee(0.9))
    monitor = voros.Monitor(policy)
    feed(monitor, ward, n_parts=2)
    first = 0.1 * 6 / np.pi**2
    _, expected = renewed_by_points(ward, policy, voros.Guarantee(1 - first))
    proposal = monitor.renew(since="2025-12-31")
    assert proposal.number == monitor.renew(since="2025-12-31").number == 1
    assert proposal.new_threshold == expected.threshold()
    assert proposal.policy.guarantee == policy.guarantee
    begin = BEGIN + 100 * HOUR
    assert monitor.renew(since=str(begin)).number == 2


def test_stays_without_an_outcome_have_no_event_in_a_proposal() -> None:
    ward = random_ward(4)
    policy, known = make_policy(RULES[0], floor=0.05), {s for s in ward if s % 2}
    monitor = voros.Monitor(policy)
    for stay, (hours, scores, _) in ward.items():
        when = [BEGIN + int(h) * HOUR for h in hours]
        monitor.update(scores, cases=[stay] * len(hours), times=when)
    told = [(s, e) for s, (*_, events) in ward.items() if s in known for e in events]
    monitor.label(
        [1] * len(told), cases=[s for s, _ in told], times=[BEGIN + e * HOUR for _, e in told]
    )
    monitor.advance("2026-06-01")
    proposal = monitor.renew(since="2025-12-31")
    _, expected = renewed_by_points(ward, policy, known=known)
    assert proposal.new_threshold == expected.threshold()
    assert not proposal.recall_known
    assert "count as if they had no event" in proposal.words
    by_patient = replace(policy, guarantee=voros.Guarantee(0.9))
    by_patient = replace(by_patient, origin=replace(policy.origin, n_groups=1))
    monitor = voros.Monitor(by_patient)
    feed(monitor, ward)
    with pytest.raises(ValueError, match="certified by patient"):
        monitor.renew()
