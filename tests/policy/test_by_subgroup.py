"""A policy in each subgroup of cases: counted case by case, with SciPy's exact intervals."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

import voros
from voros import Scenario, ThresholdPolicy
from voros.core.exact_intervals import ThresholdCounts

SCENARIO = Scenario(min_precision=0.5, capacity=0.3, cost_ratio=(0.05, 0.1))


def cases(n: int = 1500, seed: int = 0) -> tuple[Any, Any, dict[str, Any]]:
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.2
    sex = np.where(rng.random(n) < 0.4, "f", "m")
    site = rng.choice(list("ABC"), n, p=[0.6, 0.3, 0.1])
    site[:3] = "D"
    # The scores are worse in site B, so that its floor is broken.
    scores = y * np.where(site == "B", 0.3, 2.0) + rng.normal(size=n)
    return y, scores, {"sex": sex, "site": site}


def policy() -> ThresholdPolicy:
    y, scores, _ = cases(seed=1)
    return ThresholdPolicy.from_validation(y, scores, SCENARIO)


def test_every_group_is_what_counting_its_cases_gives() -> None:
    y, scores, by = cases()
    deployed = policy()
    subgroups = deployed.evaluate(y, scores, by=by, confidence_level=0.9).by_subgroup
    assert subgroups is not None
    alarm, ratio = scores >= deployed.default.threshold, 0.075
    confidence_level = 1 - 0.1 / len(subgroups)
    assert len(subgroups) == 2 + 4
    for result in subgroups:
        member = by[result.column] == result.subgroup.replace("other", "D")
        tp, fp = int((alarm & y & member).sum()), int((alarm & ~y & member).sum())
        n, positives = int(member.sum()), int((y & member).sum())
        assert (result.cases, result.positives, result.alarms) == (n, positives, tp + fp)
        assert result.cost_per_1000 == pytest.approx(1000 * (ratio * fp + positives - tp) / n)
        for name, hits, of in (("precision", tp, tp + fp), ("recall", tp, positives)):
            estimate, interval = getattr(result, name), getattr(result.intervals, name)
            if of == 0:
                assert math.isnan(estimate)
                assert interval == (0, 1)
                continue
            exact = binomtest(hits, of).proportion_ci(confidence_level, "exact")
            assert estimate == pytest.approx(hits / of)
            assert interval == pytest.approx((exact.low, exact.high))
        exact = binomtest(tp + fp, n).proportion_ci(confidence_level, "exact")
        assert result.intervals.alarms == pytest.approx((n * exact.low, n * exact.high))


def test_the_floor_is_kept_or_broken_where_the_interval_says_so() -> None:
    y, scores, by = cases(6000)
    subgroups = policy().evaluate(y, scores, by=by).by_subgroup
    assert subgroups is not None
    said = {result.name: result.floor for result in subgroups}
    assert said["site: B"] == "broken"
    assert said["site: A"] == "kept"
    for result in subgroups:
        low, high = result.intervals.precision
        expected = "kept" if low >= 0.5 else "broken" if high < 0.5 else "too few to say"
        assert result.floor == expected
    assert subgroups.with_floor("broken") == (("site", "B"),)
    assert "precision floor 0.5 broken in: site: B" in repr(subgroups)


def test_without_a_floor_no_verdict_on_one_is_printed() -> None:
    y, scores, by = cases()
    deployed = ThresholdPolicy.from_validation(y, scores, Scenario(cost_ratio=0.1))
    subgroups = deployed.evaluate(y, scores, by=by).by_subgroup
    assert subgroups is not None
    assert "floor" not in repr(subgroups)
    recall = Scenario(min_recall=0.5, cost_ratio=0.1)
    deployed = ThresholdPolicy.from_validation(y, scores, recall)
    shown = repr(deployed.evaluate(y, scores, by=by).by_subgroup)
    assert "recall floor 0.5" in shown
    assert "precision floor" not in shown


def test_a_group_without_alarms_is_open_and_no_floor_is_kept_everywhere() -> None:
    y, scores, _ = cases()
    quiet = np.where(scores < np.median(scores), "low", "high")
    subgroups = policy().evaluate(y, scores, by=quiet).by_subgroup
    assert subgroups is not None
    assert subgroups["subgroup", "low"].floor == "too few to say"
    lenient = SCENARIO.changed(min_precision=0.0)
    deployed = ThresholdPolicy.from_validation(y, scores, lenient)
    subgroups = deployed.evaluate(y, scores, by=quiet).by_subgroup
    assert subgroups is not None
    assert {result.floor for result in subgroups} == {"kept"}


def test_a_threshold_without_an_alarm_in_the_group_leaves_its_floor_open() -> None:
    """Level 3 is imprecise in subgroup a, and rare: what was not seen there says nothing."""
    level = np.repeat([0, 1, 2, 3], [600, 200, 100, 100])
    y = np.arange(1000) % 100 < np.repeat([0, 20, 30, 95], [600, 200, 100, 100])
    deployed = ThresholdPolicy.from_validation(
        y, level.astype(float), Scenario(0.4, 1.0, cost_ratio=(0.02, 0.6))
    )
    assert len({choice.threshold for choice in deployed.choices if choice.cost_ratio_low < 0.6}) > 1
    test_level, subgroup = np.tile(np.repeat([0.0, 2.0], [300, 200]), 2), np.repeat(["a", "b"], 500)
    test_level[600:700] = 3.0
    y = np.where(test_level > 0, np.arange(1000) % 5 > 0, False)
    subgroups = deployed.evaluate(y, test_level, by=subgroup, by_cost=True).by_subgroup
    assert subgroups is not None
    assert [result.floor for result in subgroups] == ["too few to say", "kept"]
    # The threshold for all costs raised alarms in both.
    subgroups = deployed.evaluate(y, test_level, by=subgroup).by_subgroup
    assert [result.floor for result in subgroups] == ["kept", "kept"]


def verdict(tp, alarms, thresholds) -> str:
    """Return the verdict on the floor 0.5 of one of ten subgroups, by counts per threshold."""
    part = np.full(len(tp), 1 / len(tp))
    counts = ThresholdCounts(
        tp=tp,
        fp=alarms - tp,
        n_positive=1000,
        n_negative=1000,
        prevalence=None,
        probability=part,
        t_integral=part,
        ratio_integral=part,
    )
    thresholds = np.asarray(thresholds, dtype=float)
    confidence_level = 1 - 0.05 / 10
    name = "ward", "A"
    result = voros.policy.SubgroupResult.from_counts(
        name, counts, thresholds, SCENARIO, confidence_level
    )
    return result.floor


@pytest.mark.slow
def test_the_error_is_split_over_groups_and_thresholds() -> None:
    """Of 100 alarms at each of twelve thresholds, 26 to 34 or 66 to 74 are true."""
    alarms, said = np.full(12, 100), []
    for tp in (*range(26, 35), *range(66, 75)):
        low, high = binomtest(tp, 100).proportion_ci(1 - 0.05 / (10 * 12), "exact")
        expected = "kept" if low >= 0.5 else "broken" if high < 0.5 else "too few to say"
        assert verdict(np.full(12, tp), alarms, np.arange(12)) == expected
        said.append(expected)
        # The never-alarm threshold is not tested and takes no share of the error.
        quiet = verdict(np.array([tp, 0]), np.array([100, 0]), [1.0, np.inf])
        low, high = binomtest(tp, 100).proportion_ci(1 - 0.05 / 10, "exact")
        alone = "kept" if low >= 0.5 else "broken" if high < 0.5 else "too few to say"
        assert quiet == alone
    assert len(set(said)) == 3


def test_a_floor_is_kept_at_all_thresholds_and_broken_at_one() -> None:
    for tp, expected in (
        ([90, 90], "kept"),
        ([90, 52], "too few to say"),
        ([90, 10], "broken"),
        ([52, 10], "broken"),
    ):
        assert verdict(np.array(tp), np.full(2, 100), [2.0, 1.0]) == expected
    assert verdict(np.zeros(1, int), np.zeros(1, int), [np.inf]) == "kept"


@pytest.mark.parametrize("by_cost", [False, True])
def test_one_group_is_the_plain_evaluation(by_cost: bool) -> None:
    y, scores, _ = cases()
    plain = policy().evaluate(y, scores, by_cost=by_cost)
    whole = policy().evaluate(y, scores, by_cost=by_cost, by=["all"] * len(y)).by_subgroup
    assert whole is not None
    assert plain.by_subgroup is None
    (result,) = whole
    assert result.intervals == plain.intervals
    assert (result.precision, result.recall, result.alarms, result.cost_per_1000) == pytest.approx(
        (plain.mean_precision, plain.mean_recall, plain.mean_alarms, plain.cost_per_1000)
    )


@pytest.mark.parametrize("by_cost", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_the_groups_of_a_column_add_up_to_all_cases(seed: int, by_cost: bool) -> None:
    y, scores, by = cases(seed=seed)
    plain = policy().evaluate(y, scores, by_cost=by_cost, by=by)
    assert plain.by_subgroup is not None
    for column in ("sex", "site"):
        parts = [result for result in plain.by_subgroup if result.column == column]
        assert sum(part.cases for part in parts) == len(y)
        assert sum(part.positives for part in parts) == y.sum()
        assert sum(part.alarms for part in parts) == pytest.approx(plain.mean_alarms)
        caught = sum(part.recall * part.positives for part in parts if part.positives)
        assert caught == pytest.approx(plain.mean_recall * y.sum())
        cost = sum(part.cost_per_1000 * part.cases for part in parts)
        assert cost == pytest.approx(plain.cost_per_1000 * len(y))


def test_frame_and_views_show_every_group() -> None:
    pytest.importorskip("pandas")
    y, scores, by = cases()
    tested = policy().evaluate(y, scores, by=by)
    subgroups = tested.by_subgroup
    assert subgroups is not None
    frame = subgroups.frame("pandas")
    assert frame["subgroup"].tolist() == ["f", "m", "A", "B", "C", "other"]
    assert frame["precision_low"].tolist() == [r.intervals.precision[0] for r in subgroups]
    for shown in (repr(tested), tested._repr_html_()):
        assert all(result.name in shown for result in subgroups)
        assert "Bonferroni: 99.2 % each" in shown
        assert "pooled as other: D" in shown


def test_names_of_groups_are_escaped() -> None:
    y, scores, _ = cases()
    by = np.where(scores > 0, "<b>", "&")
    shown = policy().evaluate(y, scores, by=by)._repr_html_()
    assert "subgroup: &lt;b&gt;" in shown
    assert "<b>" not in shown


def test_what_would_not_be_exact_is_refused() -> None:
    y, scores, by = cases()
    with pytest.raises(ValueError, match="by cannot be combined with sample_weight"):
        policy().evaluate(y, scores, by=by, sample_weight=np.ones(len(y)))
    elsewhere = ThresholdPolicy.from_validation(y, scores, SCENARIO.changed(prevalence=0.1))
    with pytest.raises(ValueError, match=r"by cannot .* prevalence \(0.1\)"):
        elsewhere.evaluate(y, scores, by=by)
    subgroups = policy().evaluate(y, scores, by=by).by_subgroup
    assert subgroups is not None
    with pytest.raises(KeyError, match="no subgroup"):
        subgroups["sex", "x"]


def test_costs_without_a_mean_leave_the_interval_open() -> None:
    y, scores, by = cases()
    endless = SCENARIO.changed(cost_ratio=voros.costs.uniform_t(0.0, 1.0))
    deployed = ThresholdPolicy.from_validation(y, scores, endless)
    tested = deployed.evaluate(y, scores, by_cost=True, by=by["sex"])
    assert tested.by_subgroup is not None
    assert tested.intervals is not None
    for intervals in (tested.intervals, *(result.intervals for result in tested.by_subgroup)):
        low, high = intervals.cost_per_1000
        assert 0 <= low < tested.cost_per_1000 * 2
        assert high == math.inf


@pytest.mark.slow
def test_a_false_statement_about_any_floor_is_rare() -> None:
    # Six subgroups whose precision above the threshold is known; floor .5, 2,000 test samples.
    rng, precision = np.random.default_rng(3), np.array([0.5, 0.5, 0.5, 0.49, 0.5, 0.51])
    deployed = voros.ThresholdPolicy.from_validation(
        [1, 1, 0, 0], [1.0, 1.0, 0.0, 0.0], SCENARIO.changed(capacity=1.0)
    )
    assert deployed.default.threshold == 1.0
    subgroup = np.repeat(np.arange(6), 60)
    wrong = 0
    for _ in range(2000):
        y = np.append(rng.random(len(subgroup)) < precision[subgroup], [False] * 60)
        scores = np.append(np.ones(len(subgroup)), np.zeros(60))
        by = np.append(subgroup, np.arange(60) % 6)
        subgroups = deployed.evaluate(y, scores, by=by).by_subgroup
        assert subgroups is not None
        verdicts = [result.floor for result in subgroups]
        said = zip(verdicts, precision, strict=True)
        wrong += any((v == "kept" and p < 0.5) or (v == "broken" and p >= 0.5) for v, p in said)
    # 5 % and three standard errors.
    assert wrong / 2000 <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 2000)
