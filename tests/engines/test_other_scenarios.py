"""Points counted for one scenario can be used for another only if their counts suffice."""

import numpy as np
import pytest

import voros
from voros.engines import count_frame
from voros.exceptions import IncompleteCountsError
from voros.policy import ThresholdPolicy
from voros.present.explorer.payload import page_payload
from voros.selection import select_model
from voros.winners import winner_map

pl = pytest.importorskip("polars")

pytestmark = pytest.mark.filterwarnings("ignore::voros.VorosWarning")

COUNTED = voros.Scenario(0.5, 0.02, (0.05, 0.1))
OTHER = voros.Scenario(0.1, 0.6, (0.05, 0.1))
N_CASES = 40_000


@pytest.fixture(scope="module")
def cases():
    rng = np.random.default_rng(2)
    truth = rng.normal(size=N_CASES)
    labels = rng.random(N_CASES) < 1 / (1 + np.exp(3 - 2 * truth))
    return labels, {
        "a": truth + rng.normal(0, 0.9, N_CASES),
        "b": truth + rng.normal(0, 1, N_CASES),
    }


def counted(cases, scenarios, largest_answer=200):
    labels, scores = cases
    return count_frame(
        pl.LazyFrame({"y": labels, **scores}),
        label="y",
        scores=list(scores),
        scenarios=scenarios,
        largest_answer=largest_answer,
    )


@pytest.fixture(scope="module")
def points(cases):
    return counted(cases, [COUNTED])


def test_the_scenario_counted_for_is_answered_as_in_memory(cases, points):
    labels, scores = cases
    for name, column in scores.items():
        truth = voros.evaluate(labels, column, COUNTED)
        assert voros.evaluate(points[name], scenario=COUNTED).score == pytest.approx(truth.score)
    chosen, truth = (
        select_model(points, scenario=COUNTED),
        voros.select_model(labels, scores, COUNTED),
    )
    assert chosen.winner == truth.winner
    assert [row.partial_voros for row in chosen.ranking] == pytest.approx(
        [row.partial_voros for row in truth.ranking]
    )


def test_another_scenario_is_refused_with_the_interval(cases, points):
    labels, scores = cases
    for ask in (
        lambda: voros.evaluate(points["a"], scenario=OTHER),
        lambda: ThresholdPolicy.from_points(points["a"], OTHER),
        lambda: select_model(points, scenario=OTHER),
    ):
        with pytest.raises(IncompleteCountsError, match="the score lies between") as refused:
            ask()
        low, high = map(float, str(refused.value).split("between ")[1].split(";")[0].split(" and "))
        assert low <= voros.evaluate(labels, scores["a"], OTHER).score <= high


def test_a_map_is_refused_unless_every_cell_was_counted_for(cases, points):
    grid = {"min_precisions": [0.2, 0.5], "capacities": [0.02, 0.3, 0.6], "cost_ratio": (0.05, 0.1)}
    with pytest.raises(IncompleteCountsError, match="count them for this scenario too"):
        winner_map(points, **grid)
    cells = [
        voros.Scenario(a, k, (0.05, 0.1))
        for a in grid["min_precisions"]
        for k in grid["capacities"]
    ]
    result = winner_map(counted(cases, cells), **grid)
    labels, scores = cases
    assert result.winner.tolist() == winner_map(labels, scores, **grid).winner.tolist()


def test_scores_that_the_counts_leave_open_are_not_shown(cases, points):
    row = select_model(points, scenario=COUNTED).ranking[0]
    assert np.isnan([row.voros, row.partial_auroc]).all()
    for strategy in ("voros", "partial_auroc"):
        with pytest.raises(IncompleteCountsError, match=f"by '{strategy}': "):
            select_model(points, scenario=COUNTED, strategy=strategy)


@pytest.mark.slow
def test_voros_is_ranked_where_it_was_counted_for(cases):
    labels, scores = cases
    both = counted(cases, [COUNTED, voros.Scenario(cost_ratio=(0.05, 0.1))])
    chosen = select_model(both, scenario=COUNTED, strategy="voros")
    truth = voros.select_model(labels, scores, COUNTED, strategy="voros")
    assert chosen.winner == truth.winner
    assert chosen.ranking[0].voros == pytest.approx(truth.ranking[0].voros, abs=1e-12)


def test_recall_is_given_only_where_it_is_known(cases, points):
    labels, scores = cases
    truth = voros.select_model(labels, scores, COUNTED, strategy="recall")
    recalls = {row.model: row.recall for row in truth.ranking}
    for row in select_model(points, scenario=COUNTED).ranking:
        assert np.isnan(row.recall) or row.recall == recalls[row.model]


def test_thresholds_inside_a_range_are_not_evaluated(cases, points):
    labels, scores = cases
    policy = ThresholdPolicy.from_validation(labels, scores["a"], OTHER)
    with pytest.raises(
        IncompleteCountsError, match="too coarse to say how many alarms the threshold"
    ):
        policy.evaluate(points["a"], by_cost=True)
    own = ThresholdPolicy.from_points(points["a"], COUNTED).evaluate(points["a"], by_cost=True)
    truth = ThresholdPolicy.from_validation(labels, scores["a"], COUNTED)
    assert own.expected_cost == pytest.approx(
        truth.evaluate(labels, scores["a"], by_cost=True).expected_cost, abs=1e-12
    )


def test_a_page_and_a_guarantee_need_every_threshold(points):
    with pytest.raises(ValueError, match="a page moves through all of them"):
        page_payload(points, COUNTED)
    with pytest.raises(ValueError, match="a guarantee tests every distinct score"):
        ThresholdPolicy.from_points(
            points["a"], COUNTED, guarantee=voros.Guarantee(0.9), n_models=1
        )


def test_complete_counts_answer_everything(cases):
    labels, scores = cases
    tied = {name: column.round(1) for name, column in scores.items()}
    every = counted((labels, tied), [], largest_answer=10_000)
    assert all(points.covers.every_score for points in every.values())
    assert voros.evaluate(every["a"], scenario=OTHER).score == pytest.approx(
        voros.evaluate(labels, tied["a"], OTHER).score, abs=1e-12
    )
    assert select_model(every, scenario=OTHER) is not None


@pytest.mark.parametrize("prevalence", [None, pytest.param(0.1, marks=pytest.mark.slow)])
def test_which_limit_binds_is_told_only_where_the_counts_settle_it(cases, prevalence):
    labels, scores = cases
    scenario = voros.Scenario(0.5, 0.02, (0.05, 0.1), prevalence)
    alone = voros.evaluate(counted(cases, [scenario])["a"], scenario=scenario)
    with pytest.raises(IncompleteCountsError, match="count them for this scenario too"):
        _ = alone.binding
    assert "not known from these counts" in repr(alone)
    lifted = [
        voros.Scenario(a, k, (0.05, 0.1), prevalence) for a in (0.0, 0.5) for k in (0.02, 1.0)
    ]
    result = voros.evaluate(counted(cases, [scenario, *lifted])["a"], scenario=scenario)
    assert result.binding == voros.evaluate(labels, scores["a"], scenario).binding
