"""Weights of any size: the score depends on their ratios, and sums in any order agree."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import voros
from voros.plotting import AreaCurveDisplay, RocDisplay
from voros.present.explorer import write_page

plt = pytest.importorskip("matplotlib.pyplot")

RNG = np.random.default_rng(0)
LABELS = RNG.random(500) < 0.3
MODELS = {"a": LABELS + RNG.normal(size=500), "b": 2 * LABELS + RNG.normal(size=500)}
WEIGHTS = RNG.random(500).round(1) + 0.1
SCENARIO = voros.Scenario(0.3, 0.4, (0.1, 0.2))
ROUNDING = 1e-13


def test_models_ranked_differently_are_of_the_same_cases(tmp_path: Path) -> None:
    """Fractional weights sum up to slightly different totals in the order of each model."""
    write_page(LABELS, MODELS, SCENARIO, tmp_path / "page.html", sample_weight=WEIGHTS)
    for display in (RocDisplay, AreaCurveDisplay):
        display.from_predictions(LABELS, MODELS, SCENARIO, sample_weight=WEIGHTS)
    plt.close("all")
    one, other = (
        voros.OperatingPoints.from_scores(LABELS, scores, sample_weight=WEIGHTS)
        for scores in MODELS.values()
    )
    assert (one.n_positive, one.n_negative) == (other.n_positive, other.n_negative)


def test_sums_in_another_order_are_of_the_same_cases(tmp_path: Path) -> None:
    """Counts that another program made round in their own way."""
    points = voros.OperatingPoints.from_counts([8.0], [9.0], n_positive=80.6, n_negative=90.2)
    nearly = voros.OperatingPoints.from_counts(
        [7.0], [6.0], n_positive=np.nextafter(80.6, 81), n_negative=np.nextafter(90.2, 90)
    )
    other = voros.OperatingPoints.from_counts([7.0], [6.0], n_positive=80.7, n_negative=90.2)
    RocDisplay.from_points({"a": points, "b": nearly}, SCENARIO)
    with pytest.raises(ValueError, match="counted on different cases"):
        RocDisplay.from_points({"a": points, "b": other}, SCENARIO)
    plt.close("all")
    voros.present.explorer.write_page(
        {"a": points, "b": nearly}, scenario=SCENARIO, path=tmp_path / "page.html"
    )


@pytest.mark.parametrize("scores", MODELS.values(), ids=MODELS)
def test_all_cases_together_make_the_total(scores: Any) -> None:
    points = voros.OperatingPoints.from_scores(LABELS, scores, sample_weight=WEIGHTS)
    assert (points.tpr[-1], points.fpr[-1]) == (1.0, 1.0)
    assert np.all(np.diff(points.tp) >= 0)
    assert np.all(np.diff(points.fp) >= 0)
    lowest_positive = scores[LABELS].min()
    assert np.all(points.tpr[points.thresholds <= lowest_positive] == 1.0)


@pytest.mark.parametrize("scale", [2.0**-700, 1e-200, 1e-40, 1e40, 1e200, 2.0**700])
def test_only_ratios_of_weights_matter(scale: float) -> None:
    def scored(weights: Any) -> list[float]:
        selection = voros.select_model(LABELS, MODELS, SCENARIO, sample_weight=weights)
        policy = voros.ThresholdPolicy.from_validation(
            LABELS, MODELS["a"], SCENARIO, sample_weight=weights
        )
        winners = voros.winner_map(
            LABELS,
            MODELS,
            min_precisions=[0.3],
            capacities=[0.4],
            cost_ratio=0.1,
            sample_weight=weights,
        )
        return [
            voros.partial_voros_score(LABELS, MODELS["a"], SCENARIO, sample_weight=weights),
            voros.voros_score(LABELS, MODELS["a"], SCENARIO, sample_weight=weights),
            *(row.partial_voros for row in selection.ranking),
            *(row.partial_auroc for row in selection.ranking),
            policy.threshold(),
            *winners.scores.ravel(),
        ]

    assert scored(WEIGHTS * scale) == pytest.approx(scored(WEIGHTS), rel=ROUNDING)


@pytest.mark.parametrize("scale", [1e-300, 5e-324, 1e290, 1e308])
def test_what_cannot_be_reckoned_with_is_refused(scale: float) -> None:
    with pytest.raises(ValueError, match=r"sum\(sample_weight of positives\)=.*accepted is"):
        voros.partial_voros_score(LABELS, MODELS["a"], SCENARIO, sample_weight=WEIGHTS * scale)
    lopsided = np.where(LABELS, 1e-60, 1e60)
    with pytest.raises(ValueError, match=r"accepted is a ratio of at most 1e\+100 between them"):
        voros.partial_voros_score(LABELS, MODELS["a"], SCENARIO, sample_weight=lopsided)


@pytest.mark.parametrize(
    "cost_ratio", [1e308, 1e-308, 5e-324, 10**400, (1e-300, 1e300), (1e300, 1e308), float("inf")]
)
def test_costs_that_overflow_are_refused(cost_ratio: Any) -> None:
    with pytest.raises(ValueError, match=r"cost_ratio (holds|is beyond)"):
        voros.Scenario(cost_ratio=cost_ratio)


@pytest.mark.filterwarnings("ignore::voros.exceptions.InvertedCostsWarning")
@pytest.mark.parametrize("over", ["ratio", "miss"])
@pytest.mark.parametrize("value", [1e-100, 1e-50, 1e50, 1e100])
def test_the_dearest_costs_that_are_accepted_have_a_score(value: float, over: Any) -> None:
    """At one end false alarms cost nothing, at the other they cost everything."""
    scenario = voros.Scenario(cost_ratio=voros.costs.known(value, over=over))
    assert voros.partial_voros_score(LABELS, MODELS["a"], scenario) == pytest.approx(1.0)
    policy = voros.ThresholdPolicy.from_validation(LABELS, MODELS["a"], scenario)
    assert policy.evaluate(LABELS, MODELS["a"]).expected_cost == pytest.approx(0.0, abs=1e-40)


def test_a_tail_without_end_is_refused() -> None:
    stats = pytest.importorskip("scipy.stats")
    with pytest.raises(ValueError, match="tail that reaches"):
        voros.costs.from_scipy(stats.lomax(0.01))
    voros.costs.from_scipy(stats.halfcauchy(scale=0.1))


@pytest.mark.parametrize("capacity", [10**400, 10**20])
def test_a_capacity_beyond_all_cases_is_no_limit(capacity: int) -> None:
    unlimited = voros.Scenario(0.3, 1.0, 0.1)
    vast = voros.Scenario(0.3, capacity, 0.1)
    score = voros.partial_voros_score(LABELS, MODELS["a"], vast)
    assert score == voros.partial_voros_score(LABELS, MODELS["a"], unlimited)


@pytest.mark.parametrize("capacity", [float("inf"), float("nan"), 1e308, -1, 0, "10", True, None])
def test_what_is_no_capacity_is_refused(capacity: Any) -> None:
    with pytest.raises(ValueError, match="capacity="):
        voros.Scenario(capacity=capacity, cost_ratio=0.1)
