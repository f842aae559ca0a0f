"""The winner map against one call of the metric per cell, and its edges."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import lognorm

import voros
from voros.datasets import load_support2
from voros.exceptions import CostRangeWarning, NeverAlarmWarning
from voros.winners import NOBODY, winner_map

ROUNDING = 1e-12
"""The same thresholds go through the same formula; only the order of sums may differ."""

SECONDS_ALLOWED = 10.0


@pytest.fixture(scope="module")
def cases() -> tuple[Any, dict[str, Any]]:
    rng = np.random.default_rng(7)
    y = rng.random(600) < 0.2
    sharp = rng.normal(size=600) + 1.5 * y
    scores = {
        "sharp": sharp.round(1),
        "coarse": np.clip((sharp * 2 + rng.normal(size=600)).round(), 0, 5),
        "early": np.where(sharp > 2, sharp, rng.normal(size=600)),
    }
    return y, scores


def points_of(y: Any, scores: dict[str, Any], **options: Any) -> dict[str, voros.OperatingPoints]:
    return {m: voros.OperatingPoints.from_scores(y, s, **options) for m, s in scores.items()}


def score_cell(y: Any, scores: dict[str, Any], **limits: Any) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NeverAlarmWarning)
        warnings.simplefilter("ignore", CostRangeWarning)
        return np.array([voros.partial_voros_score(y, s, **limits) for s in scores.values()])


COSTS = {
    "uniform": (1 / 40, 1 / 10),
    "known": 0.05,
    "misses": voros.costs.miss_costs(5, 30),
    "fractional": voros.costs.uniform_t(0.1, 0.4),
    "samples": voros.costs.from_samples([0.02, 0.05, 0.1], weights=[1, 2, 1]),
    "density": voros.costs.from_scipy(lognorm(0.3, scale=0.04)),
}


@pytest.mark.parametrize("cost_ratio", COSTS.values(), ids=COSTS)
def test_every_cell_is_the_metric(cases: Any, cost_ratio: Any) -> None:
    y, scores = cases
    floors, capacities = [0.2, 0.45, 0.8, 1.0], [0.01, 0.1, 0.4, 1.0]
    winners = winner_map(
        points_of(y, scores), min_precisions=floors, capacities=capacities, cost_ratio=cost_ratio
    )
    for i, floor in enumerate(floors):
        for j, capacity in enumerate(capacities):
            limits = {"min_precision": floor, "capacity": capacity, "cost_ratio": cost_ratio}
            expected = score_cell(y, scores, **limits)
            assert winners.scores[i, j] == pytest.approx(expected, abs=ROUNDING)


def test_prevalence_weights_and_counted_capacities(cases: Any) -> None:
    y, scores = cases
    weights = np.random.default_rng(0).integers(1, 4, size=len(y)).astype(float)
    capacities = np.array([20, 75, 400])
    winners = winner_map(
        points_of(y, scores, sample_weight=weights),
        min_precisions=[0.3, 0.5],
        capacities=capacities,
        cost_ratio=(1 / 40, 1 / 10),
        prevalence=0.1,
    )
    for i, floor in enumerate(winners.min_precisions):
        for j, capacity in enumerate(capacities.tolist()):
            expected = score_cell(
                y,
                scores,
                min_precision=floor,
                capacity=capacity,
                cost_ratio=(1 / 40, 1 / 10),
                prevalence=0.1,
                sample_weight=weights,
            )
            assert winners.scores[i, j] == pytest.approx(expected, abs=ROUNDING)


rates = st.lists(
    st.tuples(st.floats(0, 1, width=16), st.floats(0, 1, width=16)), min_size=1, max_size=8
)


@settings(max_examples=60, deadline=None)
@given(first=rates, second=rates, floor=st.floats(0, 0.95), capacity=st.floats(0.02, 1.0))
def test_published_points_in_any_order(
    first: Any, second: Any, floor: float, capacity: float
) -> None:
    """Points that lie under others are left out of the work, never out of the answer."""
    models = {
        name: voros.OperatingPoints.from_points(*np.transpose(points), 100, 900)
        for name, points in (("first", first), ("second", second))
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CostRangeWarning)
        warnings.simplefilter("ignore", NeverAlarmWarning)
        winners = winner_map(
            models, min_precisions=[floor], capacities=[capacity], cost_ratio=(0.02, 0.3)
        )
        scenario = voros.Scenario(floor, capacity, (0.02, 0.3))
        evaluations = [voros.evaluate(points, scenario=scenario) for points in models.values()]
    assert winners.scores[0, 0] == pytest.approx(
        [evaluation.score for evaluation in evaluations], abs=ROUNDING
    )
    assert winners.feasible[0, 0].tolist() == [evaluation.feasible for evaluation in evaluations]


def test_winner_margin_and_close_calls() -> None:
    sizes = {"n_positive": 100, "n_negative": 900}
    good = voros.OperatingPoints.from_points([0.01], [0.6], **sizes)
    almost = voros.OperatingPoints.from_points([0.01], [0.599], **sizes)
    poor = voros.OperatingPoints.from_points([0.02], [0.2], **sizes)
    models = {"poor": poor, "almost": almost, "good": good}
    winners = winner_map(models, min_precisions=[0.3, 0.95], capacities=[0.3], cost_ratio=0.05)
    best, second = np.sort(winners.scores[0, 0])[::-1][:2]
    assert winners.winner.tolist() == [[2], [NOBODY]]
    assert winners.margin[0, 0] == pytest.approx(best - second)
    assert 0 < winners.margin[0, 0] < 0.01
    assert np.isnan(winners.margin[1, 0])
    assert winners.close_call.tolist() == [[True], [False]]
    assert winners.shares_won() == {"poor": 0.0, "almost": 0.0, "good": 1.0}
    tight = winner_map(
        models, min_precisions=[0.3], capacities=[0.3], cost_ratio=0.05, tolerance=0.0
    )
    assert not tight.close_call.any()


def test_a_threshold_of_false_alarms_alone_is_still_feasible() -> None:
    """With no floor, raising nothing but false alarms breaks no limit."""
    y = [0, 1, 0, 0, 0, 0, 0, 0, 0, 0]
    scores = {"a": [9, 1, 2, 2, 2, 2, 2, 2, 2, 2], "b": [9, 0, 8, 7, 6, 5, 4, 3, 2, 1]}
    winners = winner_map(
        points_of(y, scores), min_precisions=[0.0], capacities=[0.1], cost_ratio=0.1
    )
    assert winners.feasible.tolist() == [[[True, True]]]
    assert winners.winner.tolist() == [[0]]


def test_frame_has_a_row_per_cell(cases: Any) -> None:
    pytest.importorskip("pandas")
    y, scores = cases
    winners = winner_map(
        points_of(y, scores),
        min_precisions=[0.3, 0.99],
        capacities=[0.002, 0.2],
        cost_ratio=(1 / 40, 1 / 10),
    )
    table = winners.frame("pandas")
    assert len(table) == 4
    for row, (i, j) in enumerate(np.ndindex(2, 2)):
        cell = table.iloc[row]
        assert cell["min_precision"] == winners.min_precisions[i]
        assert cell["capacity"] == winners.capacities[j]
        assert cell["score of coarse"] == winners.scores[i, j, 1]
        expected = None if winners.winner[i, j] == NOBODY else winners.models[winners.winner[i, j]]
        assert cell["winner"] == expected or (expected is None and cell["winner"] is None)


def test_progress_bar_ends_full(cases: Any, capsys: pytest.CaptureFixture[str]) -> None:
    y, scores = cases
    grid = {"min_precisions": [0.2, 0.3, 0.4], "capacities": [0.1], "cost_ratio": 0.05}
    winner_map(points_of(y, scores), **grid)
    assert capsys.readouterr().err == ""
    winner_map(points_of(y, scores), **grid, progress=True)
    drawn = capsys.readouterr().err
    assert drawn.endswith("3/3\n")
    assert drawn.count("\n") == 1
    told: list[tuple[int, int]] = []
    winner_map(points_of(y, scores), **grid, progress=lambda *done: told.append(done))
    assert told == [(1, 3), (2, 3), (3, 3)]
    assert capsys.readouterr().err == ""


def test_costs_beyond_the_lowest_floor_are_warned_of_once(cases: Any) -> None:
    y, scores = cases
    with pytest.warns(CostRangeWarning, match=r"a precision floor of 0\.1") as caught:
        winner_map(
            points_of(y, scores),
            min_precisions=[0.0, 0.1, 0.5],
            capacities=[0.1, 0.2],
            cost_ratio=(0.05, 0.2),
        )
    assert len(caught) == 1


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"min_precisions": [0.5, 0.2]}, "min_precisions must be a list of rising"),
        ({"capacities": []}, "capacities must be a list of rising"),
        ({"capacities": [0.1, 5]}, "mixes whole numbers"),
        ({"capacities": [0.5, 1.5]}, r"capacities=1\.5; accepted is a float within"),
        ({"min_precisions": [0.5, 1.2]}, r"min_precisions=1\.2; accepted is a number within"),
        ({"tolerance": -0.1}, "tolerance=-0.1"),
        ({"capacities": [1e-5, 0.5]}, "fewer than one case"),
    ],
)
def test_arguments_are_checked(cases: Any, changed: dict[str, Any], message: str) -> None:
    y, scores = cases
    grid = {"min_precisions": [0.2], "capacities": [0.1], "cost_ratio": 0.05} | changed
    with pytest.raises(ValueError, match=message):
        winner_map(points_of(y, scores), **grid)


def test_one_model_has_nobody_to_win_against(cases: Any) -> None:
    y, scores = cases
    alone = points_of(y, {"sharp": scores["sharp"]})
    with pytest.raises(ValueError, match="at least two"):
        winner_map(alone, min_precisions=[0.2], capacities=[0.1], cost_ratio=0.05)


@pytest.mark.slow
def test_four_prognoses_on_a_hundred_by_a_hundred() -> None:
    """SUPPORT2: in time, and with the metric's own winner in 300 cells drawn at random."""
    data = load_support2().with_all_prognoses()
    died = data.outcome("hospital_death_within_7_days")
    prognoses = dict(data.prognoses)
    floors, capacities = np.linspace(0.1, 0.6, 100), np.geomspace(0.005, 0.7, 100)
    costs = (1 / 40, 1 / 10)
    start = time.process_time()
    winners = winner_map(
        points_of(died, prognoses), min_precisions=floors, capacities=capacities, cost_ratio=costs
    )
    # Processor time of one process: at most what two cores would take by the clock.
    assert time.process_time() - start <= SECONDS_ALLOWED
    rng = np.random.default_rng(300)
    for cell in rng.choice(100 * 100, size=300, replace=False):
        i, j = divmod(int(cell), 100)
        expected = score_cell(
            died,
            prognoses,
            min_precision=floors[i],
            capacity=float(capacities[j]),
            cost_ratio=costs,
        )
        assert winners.scores[i, j] == pytest.approx(expected, abs=ROUNDING)
        if winners.winner[i, j] != NOBODY:
            assert winners.winner[i, j] == expected.argmax()
        else:
            assert expected.max() == 0


def equal_models(
    seed: int, n: int = 600, gain: float = 0.0
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    rng = np.random.default_rng(seed)
    y, shared = rng.random(n) < 0.2, rng.normal(size=n)
    return y, {
        name: 1.5 * y + shared + rng.normal(size=n) + (gain * y if name == "a" else 0)
        for name in "abc"
    }


RESAMPLED = {
    "min_precisions": [0.3, 0.4],
    "capacities": [0.1, 0.2, 0.3],
    "cost_ratio": (1 / 20, 1 / 10),
    "n_resamples": 100,
    "random_state": 0,
}


@pytest.mark.slow
def test_of_equal_models_most_cells_are_close_calls_by_resamples() -> None:
    by_test, by_tolerance = [], []
    for seed in range(3):
        tested = winner_map(*equal_models(seed), **RESAMPLED)
        by_test.append(tested.close_call.mean())
        by_tolerance.append((tested.margin <= tested.tolerance).mean())
        assert "significant" in tested.close_call_in_words
    assert np.mean(by_test) > 0.9 > np.mean(by_tolerance) + 0.4


def test_a_much_better_model_wins_clearly() -> None:
    tested = winner_map(*equal_models(1, gain=3.0), **RESAMPLED)
    assert (tested.winner == 0).all()
    assert not tested.close_call.any()


@pytest.mark.slow
def test_a_close_call_is_one_that_a_comparison_does_not_find() -> None:
    """Cell by cell as `voros.compare` of two models, whose intervals are quantiles."""
    many = 200
    y, scores = equal_models(4, gain=0.5)
    two = {name: scores[name] for name in "ab"}
    tested = winner_map(y, two, **RESAMPLED | {"n_resamples": many})
    for i, j in np.ndindex(tested.winner.shape):
        scenario = voros.Scenario(
            tested.min_precisions[i], tested.capacities[j], RESAMPLED["cost_ratio"]
        )
        pair = voros.compare(y, two, scenario, n_resamples=many, random_state=0).pairs[0]
        if not 0.02 < pair.p_value < 0.1:
            assert tested.close_call[i, j] == (pair.p_value > 0.05)


def test_resamples_need_cases() -> None:
    y, scores = equal_models(0)
    grid = {name: RESAMPLED[name] for name in ("min_precisions", "capacities", "cost_ratio")}
    with pytest.raises(voros.exceptions.ArgumentError, match="labels and scores"):
        winner_map(points_of(y, scores), **grid, n_resamples=100)
    with pytest.raises(voros.exceptions.ArgumentError, match="weights"):
        winner_map(y, scores, **grid, n_resamples=100, sample_weight=np.ones(len(y)))
    with pytest.raises(voros.exceptions.ArgumentError, match="needs n_resamples"):
        winner_map(y, scores, **grid, groups=np.arange(len(y)))
