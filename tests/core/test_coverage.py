"""Operating points know which thresholds they leave out, and what needs those is refused."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest

import voros
from voros.core.cases import check_cases
from voros.core.pruning import CasesInMemory, pruned_points
from voros.policy.allowed import allowed_thresholds

SCENARIO = voros.Scenario(0.4, 0.2, cost_ratio=voros.costs.miss_costs(9, 40))


@pytest.fixture(scope="module")
def cases() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    ill = rng.random(2000) < 0.2
    return ill, 1.5 * ill + rng.normal(size=2000)


@pytest.fixture(scope="module")
def selection(cases: Any) -> voros.selection.Selection:
    ill, score = cases
    return voros.select_model(ill, {"a": score}, SCENARIO)


def test_what_a_selection_keeps_has_the_scores_of_the_ranking(
    selection: voros.selection.Selection,
) -> None:
    kept, row = selection.allowed["a"].decision, selection.ranking[0]
    assert len(kept.points) < 40
    assert kept.voros == row.voros
    assert kept.partial_voros == row.partial_voros
    assert (kept.partial_auroc, kept.recall) == (row.partial_auroc, row.recall)


def test_what_a_selection_keeps_knows_that_it_is_a_subset(
    selection: voros.selection.Selection,
) -> None:
    points = selection.allowed["a"].decision.points
    calls = {
        "evaluate(points)": lambda: voros.evaluate(points, scenario=SCENARIO),
        "select_model": lambda: voros.select_model({"a": points}, scenario=SCENARIO),
        "from_points": lambda: voros.ThresholdPolicy.from_points(points, SCENARIO),
        "allowed": lambda: voros.Guarantee(0.9).allowed(points, SCENARIO),
        "guaranteed": lambda: voros.ThresholdPolicy.from_points(
            points, SCENARIO, guarantee=voros.Guarantee(0.9), n_models=1
        ),
        "evaluate": lambda: selection.policy().fixed().evaluate(points.take(np.array([0]))),
    }
    for call in calls.values():
        with pytest.raises(voros.exceptions.IncompleteCountsError, match="from_scores"):
            call()


def test_scores_of_all_thresholds_are_not_made_of_those_kept(cases: Any) -> None:
    kept = allowed_thresholds(voros.OperatingPoints.from_scores(*cases), SCENARIO).decision
    for name in ("voros", "partial_auroc"):
        with pytest.raises(voros.exceptions.IncompleteCountsError):
            getattr(kept, name)


def test_points_counted_for_a_scenario_answer_no_other(cases: Any) -> None:
    points = pruned_points(CasesInMemory(*check_cases(*cases)), SCENARIO)
    whole = voros.OperatingPoints.from_scores(*cases)
    result, expected = (voros.evaluate(curve, scenario=SCENARIO) for curve in (points, whole))
    assert result.score == expected.score
    assert result.normalised_area(0.05) == expected.normalised_area(0.05)
    for asked in (
        lambda: voros.evaluate(points, scenario=SCENARIO.without_capacity()),
        lambda: result.binding,
        lambda: result.normalised_area(0.5),
        lambda: result.decision.voros,
        lambda: result.decision.recall,
        lambda: voros.Guarantee(0.9).allowed(points, SCENARIO),
        lambda: voros.evaluate(points.at_prevalence(0.5), scenario=SCENARIO),
    ):
        with pytest.raises(voros.exceptions.IncompleteCountsError):
            asked()


class TestStatedPoints:
    """Points of a published curve are the curve; a guarantee needs every distinct score."""

    counts: ClassVar[Any] = ([30, 60, 100], [5, 20, 900], 100, 900)
    thresholds = (0.9, 0.7, 0.1)
    promise: ClassVar[Any] = {"guarantee": voros.Guarantee(0.9), "n_models": 1}
    limits = voros.Scenario(0.5, 0.2, cost_ratio=0.1)

    def policy(self, points: voros.OperatingPoints, **promise: Any) -> voros.ThresholdPolicy:
        return voros.ThresholdPolicy.from_points(points, self.limits, **promise)

    def test_picked_thresholds_with_a_guarantee_are_refused(self) -> None:
        points = voros.OperatingPoints.from_counts(*self.counts, self.thresholds)
        assert self.policy(points).threshold() == 0.7
        with pytest.raises(voros.exceptions.IncompleteCountsError, match="every_score=True"):
            self.policy(points, **self.promise)

    def test_all_distinct_scores_may_be_stated(self) -> None:
        points = voros.OperatingPoints.from_counts(*self.counts, self.thresholds, every_score=True)
        assert self.policy(points, **self.promise).threshold() == 0.7

    def test_the_statement_must_be_possible(self) -> None:
        with pytest.raises(ValueError, match=r"every_score=True.* flag at most 80 of 1,000 cases"):
            voros.OperatingPoints.from_counts([30, 60], [5, 20], 100, 900, every_score=True)

    def test_steps_of_one_case_leave_no_score_out(self, cases: Any) -> None:
        whole = voros.OperatingPoints.from_scores(*cases)
        stated = voros.OperatingPoints.from_counts(
            whole.tp, whole.fp, whole.n_positive, whole.n_negative, whole.thresholds
        )
        result, expected = (self.policy(curve, **self.promise) for curve in (stated, whole))
        assert result == expected

    def test_a_threshold_between_two_points_is_not_looked_up(self, cases: Any) -> None:
        policy = voros.ThresholdPolicy.from_validation(*cases, SCENARIO)
        points = voros.OperatingPoints.from_counts(*self.counts, self.thresholds)
        with pytest.raises(voros.exceptions.IncompleteCountsError, match="were not counted"):
            policy.evaluate(points)
