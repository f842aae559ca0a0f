"""Resamples of patients: what copying their rows gives, in intervals and comparisons."""

from __future__ import annotations

import numpy as np
import pytest
from alarms.test_points import large_ward

import voros
from voros.exceptions import ArgumentError
from voros.inference.drawn_stays import DrawnStays

RULE = voros.AlarmRule(snooze=3, horizon=5, lead=1)
SCENARIO = voros.Scenario(0.2, 1.5, (0.02, 0.2), per="patient-day")
FEW = pytest.mark.filterwarnings("ignore::voros.exceptions.FewCasesWarning")


def copied(stay, hour, score, events, patient, times):
    """Copy the rows of each patient a number of times, each copy a stay of its own."""
    rows, names, event_stays, event_hours = [], [], [], []
    for copy in range(int(times.max())):
        there = times[patient] > copy
        rows.append(np.flatnonzero(there))
        names += [f"{s}-{copy}" for s in stay[there]]
        kept = times[patient[np.searchsorted(stay, events[0])]] > copy
        event_stays += [f"{s}-{copy}" for s in events[0][kept]]
        event_hours += events[1][kept].tolist()
    at = np.concatenate(rows)
    columns = {"stay": names, "time": hour[at], "score": score[at]}
    return voros.alarm_points(**columns, events=(event_stays, event_hours), rule=RULE)


@pytest.mark.parametrize("prevalence", [None, 0.2, 0.02])
@pytest.mark.parametrize("seed", range(4))
def test_a_resample_is_what_copying_the_rows_gives(seed, prevalence):
    stay, hour, score, events = large_ward(seed)
    patient = stay // 2
    columns = {"stay": stay, "time": hour, "score": score, "events": events}
    points = voros.alarm_points(**columns, groups=patient, rule=RULE)
    rng = np.random.default_rng(seed)
    times = np.bincount(rng.integers(0, 30, 30), minlength=30)
    scenario = SCENARIO.changed(prevalence=prevalence)
    expected = voros.evaluate(copied(stay, hour, score, events, patient, times), scenario=scenario)
    for limits in (None, scenario):
        drawn = DrawnStays(points.stays, limits).points(times)
        evaluation = voros.evaluate(drawn, scenario=scenario)
        assert evaluation.score == pytest.approx(expected.score, rel=1e-12)
        assert evaluation.max_alarms == pytest.approx(expected.max_alarms, rel=1e-12)
        assert [choice.threshold for choice in evaluation.choices] == [
            choice.threshold for choice in expected.choices
        ]


@pytest.mark.slow
@FEW
def test_intervals_and_comparisons_draw_patients():
    stay, hour, score, events = large_ward(n_stays=240)
    noise = np.random.default_rng(1).normal(size=len(score))
    models = voros.alarm_points(
        stay=stay, time=hour, score={"good": score, "noise": noise}, events=events, rule=RULE
    )
    how = {"scenario": SCENARIO, "n_resamples": 100, "random_state": 0}
    alone = voros.bootstrap(models["good"], **how)
    assert alone.low < alone.estimate < alone.high
    assert alone.estimate == voros.evaluate(models["good"], scenario=SCENARIO).score
    assert (alone.method, alone.drawn) == ("bca", "patients")
    both = voros.bootstrap(models, **how)
    assert both["good"].low == alone.low
    compared = voros.compare(models, **how)
    assert compared.ranking == ("good", "noise")
    assert compared.differs(compared.pairs[0])
    paired = voros.alarm_points(
        stay=stay, time=hour, score=score, groups=stay // 2, events=events, rule=RULE
    )
    assert voros.bootstrap(paired, **how).low != alone.low


@FEW
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"groups": [1, 2]}, "groups describes cases, but y_true holds operating points"),
    ],
)
def test_what_is_for_cases_is_refused(options, message):
    stay, hour, score, events = large_ward()
    points = voros.alarm_points(stay=stay, time=hour, score=score, events=events, rule=RULE)
    with pytest.raises(ArgumentError, match=message):
        voros.bootstrap(points, scenario=SCENARIO, n_resamples=100, **options)


def test_counts_without_rows_cannot_be_drawn():
    counts = voros.OperatingPoints.from_counts([4], [6], n_positive=10, n_negative=90)
    with pytest.raises(ArgumentError, match="holds counts, of which nothing can be drawn"):
        voros.bootstrap(counts, scenario=voros.Scenario(0.1, cost_ratio=0.1))


@FEW
def test_policies_are_compared_by_their_cost_per_event():
    rules = {name: voros.AlarmRule(snooze=n, horizon=5, lead=1) for name, n in (("a", 3), ("b", 9))}

    def points(seed):
        stay, hour, score, events = large_ward(seed, n_stays=240)
        columns = {"stay": stay, "time": hour, "score": score, "events": events}
        return {name: voros.alarm_points(**columns, rule=rule) for name, rule in rules.items()}

    policies = {
        name: voros.ThresholdPolicy.from_points(one, SCENARIO) for name, one in points(0).items()
    }
    test = points(1)
    comparison = voros.compare_policies(test, policies=policies, n_resamples=200, random_state=0)
    for name, policy in policies.items():
        tested = policy.evaluate_stays(test[name])
        by_hand = (0.11 * tested.fp + tested.n_events - tested.tp) / tested.n_events
        assert comparison.models[name].estimate == pytest.approx(by_hand, rel=1e-12)
        assert tested.cost_per_event == pytest.approx(by_hand, rel=1e-12)
        assert comparison.violations[name] == tested.violations
    drawn = comparison.models["a"].distribution
    assert 0.5 < drawn.std() / _spread_over_patients(policies["a"], test["a"]) < 2
    with pytest.raises(ArgumentError, match="holds points of another kind; accepted are those"):
        voros.compare_policies({"a": test["b"], "b": test["b"]}, policies=policies)
    with pytest.raises(ArgumentError, match="scores describes cases"):
        voros.compare_policies(test, {"a": [1], "b": [2]}, policies)


def _spread_over_patients(policy, points):
    """Standard error of the cost per event by the delta method, patients independent."""
    counts = points.stays.counts(np.array([policy.threshold()]))
    events = np.bincount(points.stays.rows.event_stay, minlength=points.stays.n_stays)
    cost = 0.11 * counts.fp[:, 0] + events - counts.tp[:, 0]
    off = cost - cost.sum() / events.sum() * events
    return np.sqrt(np.sum(off**2)) / events.sum()
