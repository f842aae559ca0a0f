"""Rules for subgroups against every choice of thresholds, one by one."""

from __future__ import annotations

import warnings
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

import voros
from voros import NeverAlarmWarning, Scenario, compare_subgroup_thresholds
from voros.allocation.subgroup_rules import SubgroupRule

RATIO = Fraction(1, 8)
GROUP_RULES: tuple[SubgroupRule, ...] = ("one", "one_with_floors", "per_subgroup", "equal_recall")


def small_problem(seed: int) -> tuple[Any, Any, Any, float, float]:
    """Two or three subgroups of a few cases with tied scores."""
    rng = np.random.default_rng(seed)
    n_subgroups = int(rng.integers(2, 4))
    subgroup = np.repeat(np.arange(n_subgroups), rng.integers(4, 8, n_subgroups))
    y = rng.random(len(subgroup)) < 0.4
    for g in range(n_subgroups):
        y[np.flatnonzero(subgroup == g)[:2]] = [True, False]
    scores = np.round(
        y * rng.random() * 2 + rng.normal(size=len(subgroup)), int(rng.integers(0, 3))
    )
    return (
        y,
        scores,
        subgroup,
        float(rng.choice([0.0, 0.3, 0.5, 0.75])),
        float(rng.choice([0.3, 0.6])),
    )


def brute_force(
    y: Any, s: Any, subgroup: Any, floor: float, most: float, gap: float
) -> dict[SubgroupRule, Fraction]:
    """Return the least cost of each rule over every combination of thresholds."""
    names, a = np.unique(subgroup), Fraction(floor).limit_denominator(1000)

    def counts(thresholds: tuple[float, ...]) -> list[tuple[int, int, int]]:
        found = []
        for g, t in zip(names, thresholds, strict=True):
            alarm, member = (s >= t) & (subgroup == g), subgroup == g
            found.append((int((alarm & y).sum()), int((alarm & ~y).sum()), int((y & member).sum())))
        return found

    def cost(found: list[tuple[int, int, int]]) -> Fraction:
        return sum((RATIO * fp + p - tp for tp, fp, p in found), Fraction(0))

    def precise(tp: int, fp: int) -> bool:
        return tp >= a * (tp + fp)

    best: dict[SubgroupRule, Fraction] = {}
    every = [*np.unique(s).tolist(), np.inf]
    own = [[*np.unique(s[subgroup == g]).tolist(), np.inf] for g in names]
    for separate, thresholds in [(False, (t,) * len(names)) for t in every] + [
        (True, t) for t in product(*own)
    ]:
        found = counts(thresholds)
        if sum(tp + fp for tp, fp, _ in found) > most:
            continue
        each = all(precise(tp, fp) for tp, fp, _ in found)
        recalls = [Fraction(tp, p) for tp, _, p in found]
        equal = max(recalls) - min(recalls) <= Fraction(gap).limit_denominator(1000)
        kept: dict[SubgroupRule, bool] = {
            "one": not separate and precise(sum(f[0] for f in found), sum(f[1] for f in found)),
            "per_subgroup": separate and each,
            "equal_recall": separate and each and equal,
        }
        kept["one_with_floors"] = kept["one"] and each
        for rule in GROUP_RULES:
            if kept[rule]:
                best[rule] = min(best.get(rule, cost(found)), cost(found))
    return best


@pytest.mark.filterwarnings("ignore::voros.NeverAlarmWarning")
@pytest.mark.parametrize(
    "block", [0, *(pytest.param(i, marks=pytest.mark.slow) for i in (1, 2, 3))]
)
def test_every_rule_costs_what_trying_all_thresholds_gives(block: int) -> None:
    for seed in range(50 * block, 50 * block + 50):
        y, s, subgroup, floor, share = small_problem(seed)
        scenario = Scenario(min_precision=floor, capacity=share, cost_ratio=float(RATIO))
        gap = float(np.random.default_rng(seed).choice([0.0, 0.05, 0.25]))
        found = compare_subgroup_thresholds(
            y, s, scenario, by=subgroup, recall_gap=gap, min_cases=1
        )
        most = float(Fraction(share).limit_denominator(1000) * len(y))
        expected = brute_force(y, s, subgroup, floor, most, gap)
        for rule in GROUP_RULES:
            policy = found.policy(rule)
            assert policy.default.cost == pytest.approx(float(expected[rule])), (seed, rule)
            # What predict raises is what the rule counted.
            alarm = policy.predict(s, by=subgroup)
            assert isinstance(alarm, np.ndarray)
            assert int((alarm & y).sum()) == sum(policy.default.tp)
            assert int((alarm & ~y).sum()) == sum(policy.default.fp)


def larger(n: int = 4000, seed: int = 0) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    subgroup = rng.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1])
    y = rng.random(n) < 0.15
    shift = np.select([subgroup == "a", subgroup == "b"], [2.0, 1.2], 0.8)
    return y, y * shift + rng.normal(size=n), subgroup


def test_costs_rise_with_every_demand_and_limits_hold() -> None:
    y, s, subgroup = larger()
    scenario = Scenario(min_precision=0.3, capacity=0.15, cost_ratio=(0.05, 0.1))
    found = compare_subgroup_thresholds(y, s, scenario, by=subgroup, recall_gap=0.02)
    cost = {rule: found.policy(rule).default.cost for rule in GROUP_RULES}
    assert cost["one"] <= cost["one_with_floors"]
    assert cost["per_subgroup"] <= cost["one_with_floors"]
    assert cost["per_subgroup"] <= cost["equal_recall"]
    for rule in GROUP_RULES:
        tested = found.policy(rule).evaluate(y, s, by=subgroup)
        assert tested.capacity_kept
        assert tested.feasible or rule == "one"
        assert tested.cost == pytest.approx(cost[rule])
    recalls = [
        stream.recall for stream in found.policy("equal_recall").evaluate(y, s, by=subgroup).streams
    ]
    assert min(recalls) > 0
    assert max(recalls) - min(recalls) <= 0.02
    assert found.extra_cost("per_subgroup") == pytest.approx(cost["per_subgroup"] - cost["one"])


def test_one_group_has_one_threshold_by_every_rule() -> None:
    y, s, _ = larger(800)
    scenario = Scenario(min_precision=0.3, capacity=0.15, cost_ratio=0.1)
    found = compare_subgroup_thresholds(y, s, scenario, by=["all"] * len(y))
    alone = voros.ThresholdPolicy.from_validation(y, s, scenario)
    named = compare_subgroup_thresholds(y, s, scenario, by={"who": ["all"] * len(y)})
    assert named.policies == found.policies
    chosen = {rule: found.policy(rule).thresholds()["all"] for rule in GROUP_RULES}
    assert set(chosen.values()) == {alone.threshold(0.1)}


def test_frame_table_and_files() -> None:
    pytest.importorskip("pandas")
    y, s, subgroup = larger(2000)
    scenario = Scenario(min_precision=0.3, capacity=300, cost_ratio=0.1)
    found = compare_subgroup_thresholds(y, s, scenario, by=subgroup)
    assert len(found.frame("pandas")) == 4 * 3
    for shown in (repr(found), found._repr_html_()):
        assert "one threshold, floor in each subgroup" in shown
    for rule in GROUP_RULES:
        policy = found.policy(rule)
        again = voros.JointPolicy.from_json(policy.to_json())
        assert again.thresholds() == policy.thresholds()


def test_what_cannot_be_compared_is_refused() -> None:
    y, s, subgroup = larger(2000)
    scenario = Scenario(min_precision=0.3, capacity=0.2, cost_ratio=0.1)
    with pytest.raises(ValueError, match="recall_gap=2"):
        compare_subgroup_thresholds(y, s, scenario, by=subgroup, recall_gap=2)
    daily = Scenario(min_precision=0.3, capacity=20, per="day", cost_ratio=0.1)
    with pytest.raises(ValueError, match="per='day'"):
        compare_subgroup_thresholds(y, s, daily, by=subgroup)
    with pytest.raises(ValueError, match="by has the columns 'sex', 'site'"):
        compare_subgroup_thresholds(y, s, scenario, by={"sex": subgroup, "site": subgroup})
    few = np.where(np.arange(2000) < 4, "few", subgroup)
    with pytest.raises(ValueError, match=r"fewer than 10 cases: few \(4\)"):
        compare_subgroup_thresholds(y, s, scenario, by=few)
    found = compare_subgroup_thresholds(y, s, scenario, by=subgroup)
    with pytest.raises(ValueError, match="rule='both'"):
        found.policy("both")  # type: ignore[arg-type]
    with pytest.warns(NeverAlarmWarning) as warned:
        compare_subgroup_thresholds(y, -s, scenario.changed(min_precision=0.999), by=subgroup)
    assert [str(each.message).partition(":")[0] for each in warned] == [
        *("stream 'a'", "stream 'b'", "stream 'c'")
    ]
    with pytest.raises(ValueError, match="horizon=100"):
        compare_subgroup_thresholds(
            y, s, scenario, by=subgroup, guarantee=voros.Guarantee(0.95, horizon=100)
        )
    with pytest.raises(ValueError, match="rule='guaranteed'"):
        found.policy("guaranteed")


@pytest.mark.parametrize("floor", [0.0, 0.3])
def test_with_one_group_the_guarantee_is_that_of_a_policy(floor: float) -> None:
    y, s, _ = larger(3000)
    scenario = Scenario(min_precision=floor, capacity=0.15, cost_ratio=0.1)
    sure = voros.Guarantee(0.9)
    found = compare_subgroup_thresholds(y, s, scenario, by=["all"] * len(y), guarantee=sure)
    alone = voros.ThresholdPolicy.from_validation(y, s, scenario, guarantee=sure, n_models=1)
    assert found.policy("guaranteed").thresholds() == {"all": alone.threshold(0.1)}


def test_guaranteed_thresholds_say_who_is_left_out() -> None:
    y, s, subgroup = larger(3000)
    scenario = Scenario(min_precision=0.3, capacity=0.15, cost_ratio=0.1)
    sure = voros.Guarantee(0.95)
    with pytest.warns(NeverAlarmWarning, match="limits of 'c', so never alarm"):
        found = compare_subgroup_thresholds(y, s, scenario, by=subgroup, guarantee=sure)
    policy = found.policy("guaranteed")
    assert policy.promise is not None
    assert policy.promise.uncertified == ("c",)
    assert voros.JointPolicy.from_json(policy.to_json()) == policy
    tested = policy.evaluate(y, s, by=subgroup)
    assert tested.feasible
    assert sum(stream.alarms > 0 for stream in tested.streams) == 2
    assert found.extra_cost("guaranteed") > found.extra_cost("per_subgroup")


LEVELS = np.arange(12)
GROUP_SHARES = np.array([0.5, 0.3, 0.2])


def level_chances(case: str) -> Any:
    """Chance of a positive at each level of the score, by subgroup, falling with the level."""
    if case == "floor":
        # At and below the fourth level the precision is just below .4 in every subgroup.
        return np.tile(np.r_[[0.39] * 4, [0.3] * 8], (3, 1))
    if case == "mixed":
        return np.array([np.linspace(top, 0.05, 12) for top in (0.9, 0.7, 0.5)])
    return np.full((3, 12), 0.8)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::voros.NeverAlarmWarning")
@pytest.mark.parametrize("case", ["floor", "mixed", "capacity"])
def test_all_limits_hold_in_the_population(case: str) -> None:
    chances, runs, n = level_chances(case), 700, 900
    # Just more than the capacity raise an alarm at the third level.
    capacity = 0.249
    scenario = Scenario(min_precision=0.4, capacity=capacity, cost_ratio=0.05)
    broken = 0
    for seed in range(runs):
        rng = np.random.default_rng([seed, len(case)])
        subgroup, level = rng.choice(3, n, p=GROUP_SHARES), rng.integers(0, 12, n)
        y = rng.random(n) < chances[subgroup, level]
        found = compare_subgroup_thresholds(
            y, 12.0 - level, scenario, by=subgroup, guarantee=voros.Guarantee(0.95)
        )
        broken += breaks(found.policy("guaranteed").thresholds(), chances, 0.4, capacity)
    assert broken / runs <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)


def breaks(thresholds: dict[str, float], chances: Any, floor: float, capacity: float) -> bool:
    raised = np.array([thresholds[str(g)] <= (12.0 - LEVELS) for g in range(3)])
    alarms = GROUP_SHARES @ raised.mean(axis=1)
    precisions = [chances[g, raised[g]].mean() for g in range(3) if raised[g].any()]
    return bool(alarms > capacity or any(precision < floor for precision in precisions))


def test_policies_of_every_rule_are_saved_and_read():
    """Under one threshold the second subgroup is far below the floor that all cases keep."""
    rng = np.random.default_rng(21)
    y = rng.random(400) < np.repeat([0.6, 0.1], 200)
    how = {"by": np.repeat(["x", "y"], 200), "guarantee": voros.Guarantee(0.8)}
    scenario = voros.Scenario(0.3, 0.5, cost_ratio=0.05)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", voros.NeverAlarmWarning)
        result = voros.compare_subgroup_thresholds(y, rng.random(400), scenario, **how)
    one = result.policy("one").default
    assert one.tp[1] < 0.3 * one.alarms[1]
    assert sum(one.tp) >= 0.3 * sum(one.alarms)
    for policy in result.policies.values():
        assert voros.JointPolicy.from_json(policy.to_json()) == policy
