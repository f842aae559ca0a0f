"""Policies over stays: the rule is part of them, streams equal counts, evaluations are by hand."""

from __future__ import annotations

import numpy as np
import pytest
from alarms.test_points import large_ward
from alarms.ward_by_rows import follow, random_rule, random_ward

import voros
from voros.alarms import AlarmState
from voros.alarms.points import StayRows, read_stays
from voros.alarms.stream import sound
from voros.evaluation import evaluation_of
from voros.exceptions import ArgumentError

RULE = voros.AlarmRule(snooze=3, horizon=5, lead=1)
SCENARIO = voros.Scenario(0.2, 1.5, (0.02, 0.2), per="patient-day")


def policy_of(rule=RULE, scenario=SCENARIO, seed=0):
    stay, hour, score, events = large_ward(seed)
    points = voros.alarm_points(stay=stay, time=hour, score=score, events=events, rule=rule)
    return voros.ThresholdPolicy.from_points(points, scenario)


@pytest.mark.parametrize("seed", range(30))
def test_a_stream_in_any_parts_sounds_what_is_counted(seed):
    rng = np.random.default_rng(seed)
    ward, rule = random_ward(rng), random_rule(rng)
    threshold = int(rng.integers(0, 8))
    *_, expected = follow(ward, rule, threshold)
    cuts = np.sort(rng.integers(0, 31, 3))
    part = np.searchsorted(cuts, ward.hour, side="right")
    state, sounded = AlarmState(), []
    for number in range(4):
        rows = np.flatnonzero(part == number)
        if len(rows) == 0:
            continue
        stay, hour = np.array(ward.stay)[rows], np.array(ward.hour)[rows]
        known = np.array(ward.event_hour) < hour.max()
        events = np.array(ward.event_stay)[known], np.array(ward.event_hour)[known]
        stays = read_stays(None, stay, hour, events)
        scores = stays.highest(np.array(ward.score)[rows])
        alarms, state = sound(stays, scores, threshold, rule, state)
        at = stays.to_inputs(alarms, np.array(ward.score)[rows])
        assert np.all(np.array(ward.score)[rows][at] >= threshold)
        sounded += list(zip(stay[at].tolist(), hour[at].tolist(), strict=True))
        state = AlarmState.from_json(state.to_json())
    assert sorted(sounded) == sorted(expected)


def test_the_rule_is_saved_and_read_with_the_policy(tmp_path):
    for repeats in ("false_alarm", "capacity_only", "ignored"):
        rule = voros.AlarmRule(snooze="90min", horizon=8, lead="5min", repeats=repeats, reset=12)
        policy = policy_of(rule)
        policy.to_json(tmp_path / f"{repeats}.json")
        loaded = voros.ThresholdPolicy.from_json(tmp_path / f"{repeats}.json")
        assert loaded == policy
        assert loaded.rule == rule
        assert loaded.origin.patient_days == policy.origin.patient_days


def test_a_policy_of_stays_takes_no_cases_and_the_other_way_round():
    policy = policy_of()
    with pytest.raises(ValueError, match="the policy is for alarms over stays"):
        policy.predict(0.3)
    with pytest.raises(ValueError, match="the policy is for alarms over stays"):
        policy.evaluate([0, 1], [0.1, 0.9])
    of_cases = voros.ThresholdPolicy.from_validation(
        [0, 1], [0.1, 0.9], voros.Scenario(0.1, 1.0, 0.1)
    )
    with pytest.raises(ArgumentError, match="stay is for a policy that was made from"):
        of_cases.alarms(stay=[1], time=[0], score=[0.3])


def test_rows_that_come_late_are_refused():
    policy = policy_of()
    _, state = policy.alarms(stay=[1, 2], time=[3, 0], score=[0, 0])
    policy.alarms(stay=[2], time=[1], score=[0], state=state)
    with pytest.raises(ArgumentError, match="time of stay 1 is not after its last row"):
        policy.alarms(stay=[1], time=[3], score=[0], state=state.to_json())
    policy.alarms(stay=[1], time=[3], score=[0], state=state.without([1]))
    with pytest.raises(ArgumentError, match="state has times by hours, and the rows by"):
        policy.alarms(stay=[1], time=["2024-01-01"], score=[0], state=state)


def test_an_evaluation_by_hand():
    """Three stays, hourly; silence 4 h, an alarm counts from 6 h to 1 h before an event.

    Stay 1, event at 9: alarms at 1 (false, 8 h before) and 5 (caught, 4 h before). Stay 2, event at
    6: alarm at 4 (caught, 2 h before). Stay 3: alarms at 0 and 7, false.
    """
    rule = voros.AlarmRule(snooze=4, horizon=6, lead=1)
    alarmed = {1: (1, 2, 5), 2: (4,), 3: (0, 3, 7)}
    rows = [(stay, hour) for stay in alarmed for hour in range(10)]
    score = [float(hour in alarmed[stay]) for stay, hour in rows]
    stay, hour = zip(*rows, strict=True)
    columns = {"stay": stay, "time": hour, "score": score, "events": ([1, 2], [9, 6])}
    scenario = voros.Scenario(0.5, 3.0, cost_ratio=0.1, per="patient-day")
    policy = voros.ThresholdPolicy.from_points(
        voros.alarm_points(**columns, rule=rule), scenario.changed(min_precision=0.2, capacity=9.0)
    )
    evaluation = policy.evaluate_stays(**columns)
    assert evaluation.threshold == 1.0
    assert (evaluation.tp, evaluation.fp, evaluation.alarms, evaluation.n_events) == (2, 3, 5, 2)
    assert evaluation.precision == 0.4
    assert evaluation.number_needed_to_evaluate == 2.5
    assert evaluation.patient_days == pytest.approx((10 + 7 + 10) / 24)
    assert evaluation.alarms_per_patient_day == pytest.approx(5 / (27 / 24))
    assert sorted(evaluation.lead_times.tolist()) == [2.0, 4.0]
    assert evaluation.lead_time_quartiles == (2.5, 3.0, 3.5)
    assert (evaluation.n_stays_alarmed, evaluation.n_first_useful) == (3, 1)
    assert evaluation.satisfied
    assert "2 of 2" in repr(evaluation)


def test_new_stays_can_break_limits_and_have_no_event():
    policy = policy_of()
    n_hours = 24
    columns = {"stay": [1] * n_hours, "time": range(n_hours), "score": [99.0] * n_hours}
    evaluation = policy.evaluate_stays(**columns, events=([], []))
    assert (evaluation.tp, evaluation.fp, evaluation.n_events) == (0, 8, 0)
    assert np.isnan(evaluation.recall)
    assert [violation.limit for violation in evaluation.violations] == ["precision", "capacity"]
    assert evaluation.violations[1].worst == 8
    assert evaluation.violations[1].bound == 1.5


def test_the_interval_of_the_rate_holds_for_patients_with_several_stays():
    """Student's interval of a ratio: of 400 wards of 60 patients, 95 % hold the true rate."""
    rng = np.random.default_rng(0)
    from voros.policy.over_stays import _rate_limits

    held = 0
    for _ in range(400):
        days = rng.integers(1, 10, 60).astype(float)
        alarms = rng.poisson(days * rng.gamma(0.5, 0.2, 60)).astype(float)
        low, high = _rate_limits(alarms, days, 0.95)
        held += low <= 0.1 <= high
    assert held >= 0.9 * 400


def test_select_model_ranks_models_by_their_points():
    stay, hour, score, events = large_ward(3)
    noise = np.random.default_rng(0).normal(size=len(score))
    models = voros.alarm_points(
        stay=stay, time=hour, score={"noise": noise, "good": score}, events=events, rule=RULE
    )
    chosen = voros.select_model(models, scenario=SCENARIO)
    assert chosen.winner == "good"
    policy = chosen.policy()
    assert policy.rule == RULE
    assert "patient-days" in policy._repr_html_()
    assert isinstance(models["good"].stays, StayRows)


def test_a_guarantee_takes_patients_as_units():
    stay, hour, score, events = large_ward(5, n_stays=600)
    columns = {"stay": stay, "time": hour, "score": score, "events": events}
    points = voros.alarm_points(**columns, rule=RULE)
    by_recall = {"scenario": SCENARIO, "strategy": "recall"}
    plain = voros.ThresholdPolicy.from_points(points, **by_recall)
    sure = voros.ThresholdPolicy.from_points(points, **by_recall, guarantee=0.95, n_models=1)
    assert plain.threshold() < sure.threshold() < np.inf
    pairs = voros.alarm_points(**columns, groups=stay // 2, rule=RULE)
    paired = voros.ThresholdPolicy.from_points(pairs, SCENARIO, guarantee=0.95, n_models=1)
    assert paired.origin.n_groups == 300
    with pytest.raises(ArgumentError, match="horizon=30 with stays"):
        voros.Guarantee(horizon=30).certified(points, SCENARIO)
    with pytest.raises(ArgumentError, match="block=7 needs periods of cases; over stays there"):
        voros.Guarantee(block=7).certified(points, SCENARIO.changed(capacity=50, per="day"))
    with pytest.raises(ArgumentError, match="capacity=30 is a number of alarms on these stays"):
        voros.Guarantee().certified(points, SCENARIO.changed(capacity=30, per=None))


def test_why_nothing_is_certified_is_said_of_patients():
    stay, hour, score, events = large_ward(5)
    points = voros.alarm_points(stay=stay, time=hour, score=score, events=events, rule=RULE)
    with pytest.warns(voros.NeverAlarmWarning, match="from 60 independent patients"):
        voros.ThresholdPolicy.from_points(points, SCENARIO, guarantee=0.99, n_models=1)


def test_development_stays_choose_the_model_and_a_ladder_its_confidence():
    def models(seed):
        stay, hour, score, events = large_ward(seed, n_stays=600)
        noise = np.random.default_rng(seed).normal(size=len(score))
        return voros.alarm_points(
            stay=stay, time=hour, score={"noise": noise, "good": score}, events=events, rule=RULE
        )

    validation = models(6)
    chosen = voros.select_model(
        validation, scenario=SCENARIO, guarantee=0.95, development=models(7)
    )
    alone = voros.ThresholdPolicy.from_points(
        validation["good"], SCENARIO, guarantee=0.95, n_models=1
    )
    assert chosen.winner == "good"
    assert chosen.policy().threshold() == alone.threshold()
    ladder = voros.ThresholdPolicy.from_points(
        validation["good"], SCENARIO, guarantee=(0.95, 0.8), n_models=1
    )
    assert len(ladder.confidence_curve().steps) == 3
    with pytest.raises(ArgumentError, match="development over stays chooses a model"):
        voros.ThresholdPolicy.from_points(
            validation["good"], SCENARIO, guarantee=0.95, development=models(7)["good"]
        )


def test_a_score_that_alarms_too_often_at_its_highest_value_certifies_nothing():
    # A bedside score of few points: at its highest value the alarms exceed the limit.
    stay, hour = np.repeat(np.arange(40), 24), np.tile(np.arange(24), 40)
    points = voros.alarm_points(
        stay=stay,
        time=hour,
        score=np.ones(len(stay)),
        events=([0, 1], [12, 12]),
        rule=voros.AlarmRule(snooze=6, horizon=6),
    )
    scenario = voros.Scenario(0.1, 0.1, cost_ratio=0.05, per="patient-day")
    with pytest.warns(voros.exceptions.NeverAlarmWarning):
        policy = voros.ThresholdPolicy.from_points(points, scenario, guarantee=0.95, n_models=1)
    assert policy.threshold() == np.inf


def test_subgroups_are_evaluated_as_stays_of_their_own():
    policy = policy_of()
    stay, hour, score, events = large_ward(1, n_stays=120)
    sex, site = np.array(["f", "m"])[stay % 2], np.where(stay < 115, "A", "B")
    columns = {"stay": stay, "time": hour, "score": score, "events": events}
    subgroups = policy.evaluate_stays(**columns, by={"sex": sex, "site": site}).by_subgroup
    assert subgroups.names == (("sex", "f"), ("sex", "m"), ("site", "A"), ("site", "other"))
    for name, kept in (("f", stay % 2 == 0), ("m", stay % 2 == 1)):
        of = np.isin(events[0], stay[kept])
        alone = policy.evaluate_stays(
            stay=stay[kept],
            time=hour[kept],
            score=score[kept],
            events=(events[0][of], events[1][of]),
            confidence_level=1 - 0.05 / 4,
        )
        part = subgroups["sex", name]
        for figure in ("tp", "fp", "alarms", "n_events", "patient_days", "intervals"):
            assert getattr(part, figure) == getattr(alone, figure)
    assert "site: subgroups with fewer than 10 cases are pooled" in repr(subgroups)
    rows = {"id": stay, "at": hour, "risk": score, "sex": sex}
    named = policy.evaluate_stays(
        rows,
        stay="id",
        time="at",
        score="risk",
        events={"id": events[0], "at": events[1]},
        by="sex",
    )
    assert named.by_subgroup["sex", "f"].tp == subgroups["sex", "f"].tp
    with pytest.raises(ArgumentError, match="by gives the stay 0 to more than one subgroup"):
        policy.evaluate_stays(**columns, by=hour % 2)


def test_the_floor_of_a_subgroup_is_judged_by_its_interval():
    pytest.importorskip("pandas")
    policy = policy_of(scenario=SCENARIO.changed(min_precision=0.4))
    stay, hour, score, events = large_ward(3, n_stays=600)
    ill = np.isin(stay, events[0])
    columns = {"stay": stay, "time": hour, "score": score, "events": events}
    subgroups = policy.evaluate_stays(**columns, by=np.where(ill, "ill", "well")).by_subgroup
    assert subgroups["subgroup", "ill"].floor == "kept"
    assert subgroups["subgroup", "well"].floor == "broken"
    assert subgroups.with_floor("broken") == (("subgroup", "well"),)
    assert list(subgroups.frame()["floor"]) == ["kept", "broken"]


def test_rules_compete_as_models_do_and_share_the_error_of_the_guarantee():
    stay, hour, score, events = large_ward(5, n_stays=600)
    columns = {"stay": stay, "time": hour, "score": score, "events": events}
    rules = {f"{n}h": voros.AlarmRule(snooze=n, horizon=5, lead=1) for n in (3, 6, 12)}
    points = {name: voros.alarm_points(**columns, rule=rule) for name, rule in rules.items()}
    chosen = voros.select_model(points, scenario=SCENARIO, guarantee=0.95)
    policy = chosen.policy()
    assert policy.rule == rules[chosen.winner]
    assert f"600 stays, {len(events[0])} events, " in str(chosen)
    alone = voros.ThresholdPolicy.from_points(
        points[chosen.winner], SCENARIO, guarantee=0.95, n_models=3
    )
    assert policy.threshold() == alone.threshold()


@pytest.mark.parametrize("prevalence", [None, 0.2])
@pytest.mark.parametrize(
    "rule",
    [
        RULE,
        voros.AlarmRule(snooze=3, horizon=12, unfinished="capacity_only"),
        voros.AlarmRule(snooze=1, horizon=8, repeats="capacity_only", reset=12),
    ],
)
def test_a_winner_map_of_stays_scores_as_each_scenario_does(rule, prevalence):
    pytest.importorskip("pandas")
    stay, hour, score, events = large_ward(0, n_stays=120)
    noisy = score + np.random.default_rng(0).normal(size=len(score))
    models = voros.alarm_points(
        stay=stay, time=hour, score={"good": score, "noisy": noisy}, events=events, rule=rule
    )
    floors, rates = [0.0, 0.2, 0.4], [0.5, 1.5, 20.0]
    grid = {"min_precisions": floors, "capacities": rates, "cost_ratio": (0.02, 0.2)}
    winner_map = voros.winner_map(models, **grid, per="patient-day", prevalence=prevalence)
    for i, floor in enumerate(floors):
        for j, rate in enumerate(rates):
            limits = SCENARIO.changed(min_precision=floor, capacity=rate, prevalence=prevalence)
            for k, points in enumerate(models.values()):
                expected = evaluation_of(points, limits)
                assert winner_map.scores[i, j, k] == pytest.approx(expected.score, abs=1e-12)
                assert winner_map.feasible[i, j, k] == (
                    len(expected.decision.feasible.nonzero()[0]) > 1
                )
    assert winner_map.frame()["capacity"].tolist()[:3] == rates
    with pytest.raises(ArgumentError, match=r"capacity=0\.5 is a share of cases, which stays"):
        voros.winner_map(models, **(grid | {"capacities": [0.5, 1.0]}))
    with pytest.raises(ArgumentError, match="per='day'; accepted is 'patient-day'"):
        voros.winner_map(models, **grid, per="day")
