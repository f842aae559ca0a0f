"""A recall floor over stays is a share of the events that are caught, against counting by rows."""

from __future__ import annotations

import numpy as np
import pytest
from alarms.test_points import large_ward
from alarms.ward_by_rows import Ward, counted_events, follow, random_rule, random_ward

import voros

pytestmark = pytest.mark.filterwarnings("ignore::voros.exceptions.VorosWarning")

RULE = voros.AlarmRule(snooze=3, horizon=5, lead=1)
FLOOR = 0.6
SCENARIO = voros.Scenario(0.05, cost_ratio=0.5, min_recall=FLOOR)


def columns_of(ward: Ward) -> dict[str, object]:
    return {"stay": ward.stay, "time": ward.hour, "score": ward.score, "events": ward.events}


@pytest.mark.parametrize("seed", range(25))
def test_the_threshold_is_the_cheapest_that_catches_enough(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ward, rule = random_ward(rng), random_rule(rng)
    stays = sorted(set(ward.stay))
    n_events = sum(len(counted_events(ward, stay, rule)) for stay in stays)
    if not n_events:
        pytest.skip("a ward without an event has no recall")
    points = voros.alarm_points(**columns_of(ward), rule=rule)
    counted = {t: follow(ward, rule, t)[:2] for t in sorted({s for s in ward.score if s == s})}
    enough = {
        t: 0.5 * fp - tp
        for t, (tp, fp) in counted.items()
        if tp >= FLOOR * n_events - 1e-9 and tp >= 0.05 * (tp + fp)
    }
    policy = voros.ThresholdPolicy.from_points(points, SCENARIO, strategy="single")
    if not enough:
        assert policy.threshold() == np.inf
        assert voros.evaluate(points, scenario=SCENARIO).score == 0.0
        return
    assert enough[policy.threshold()] == min(enough.values())


def ward(seed: int, n_stays: int = 240):
    stay, time, score, events = large_ward(seed, n_stays)
    return {"stay": stay, "time": time, "score": score, "events": events}


def test_an_evaluation_and_its_subgroups_judge_the_floor() -> None:
    lenient = voros.Scenario(cost_ratio=0.5, min_recall=FLOOR)
    policy = voros.ThresholdPolicy.from_points(voros.alarm_points(**ward(0), rule=RULE), lenient)
    again = policy.evaluate_stays(**ward(0))
    assert again.satisfied
    assert again.recall >= FLOOR
    worse = ward(1) | {"score": np.random.default_rng(0).normal(size=240 * 40) - 1}
    half = {"half": np.where(worse["stay"] < 40, "first", "second")}
    tested = policy.evaluate_stays(**worse, by=half)
    (violation,) = tested.violations
    assert violation.limit == "recall"
    assert violation.worst == tested.tp / tested.n_events
    assert "at least 0.6" in repr(tested)
    low, high = tested.by_subgroup["half", "first"].intervals["recall"]
    verdict = tested.by_subgroup["half", "first"].recall_floor
    assert (verdict == "broken", verdict == "kept") == (high < FLOOR, low >= FLOOR)
    assert "recall floor 0.6" in repr(tested.by_subgroup)


def test_a_guarantee_allows_thresholds_that_catch_enough() -> None:
    points = voros.alarm_points(**ward(3, 900), rule=RULE)
    for floor, may_pass in ((0.3, True), (0.999, False)):
        scenario = voros.Scenario(cost_ratio=0.5, min_recall=floor)
        passed = voros.Guarantee(0.9).allowed(points, scenario)
        assert passed.any() == may_pass
        assert points.recalls_enough(floor)[passed].all()


def test_maps_keep_the_floor() -> None:
    points = {
        name: voros.alarm_points(**ward(seed), rule=RULE) for name, seed in (("a", 0), ("b", 1))
    }
    grid = {"min_precisions": [0.05, 0.3], "capacities": [0.5, 4.0], "per": "patient-day"}
    result = voros.winner_map(points, **grid, cost_ratio=(0.1, 0.5), min_recall=FLOOR)
    for i, floor in enumerate(grid["min_precisions"]):
        for j, rate in enumerate(grid["capacities"]):
            limits = voros.Scenario(
                floor, rate, cost_ratio=(0.1, 0.5), per="patient-day", min_recall=FLOOR
            )
            for k, name in enumerate(points):
                one = voros.evaluate(points[name], scenario=limits)
                assert result.feasible[i, j, k] == one.feasible
                assert result.scores[i, j, k] == pytest.approx(one.score, abs=1e-12)
