"""Cost along thresholds: by counting cases and by quadrature over the costs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad

import voros

pytest.importorskip("matplotlib")

from voros.plotting import ThresholdCostDisplay


@pytest.fixture(scope="module")
def cases() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(9)
    y = rng.random(300) < 0.2
    return y, (rng.normal(size=300) + 1.3 * y).round(1)


@pytest.fixture(scope="module")
def scenario() -> voros.Scenario:
    return voros.Scenario(min_precision=0.35, capacity=0.25, cost_ratio=(1 / 20, 1 / 4))


def mean_cost(y: Any, scores: Any, threshold: float) -> float:
    """Expected cost as a share of the worst, by quadrature over the cost ratio."""
    fp, missed = (scores[~y] >= threshold).sum(), (scores[y] < threshold).sum()

    def normalised(c: float) -> float:
        return float((c * fp + missed) / (c * (~y).sum() + y.sum()))

    return quad(normalised, 1 / 20, 1 / 4, epsabs=1e-13)[0] / (1 / 4 - 1 / 20)


def test_all_three_lines_by_counting(cases: Any, scenario: Any) -> None:
    y, scores = cases
    display = ThresholdCostDisplay.from_predictions(y, scores, scenario)
    thresholds = np.unique(scores)[::-1]
    drawn = {name: line.get_data() for name, line in display.faded_.items()}
    for name in drawn:
        assert drawn[name][0][1:] == pytest.approx(thresholds)
    alarms = [(scores >= c).sum() for c in thresholds]
    precision = [y[scores >= c].mean() for c in thresholds]
    cost = [mean_cost(y, scores, c) for c in thresholds]
    assert drawn["alarms"][1][1:] == pytest.approx(alarms)
    assert drawn["precision"][1][1:] == pytest.approx(precision)
    assert drawn["expected_cost"][1][1:] == pytest.approx(cost, abs=1e-10)


def test_solid_and_golden_where_both_limits_hold(cases: Any, scenario: Any) -> None:
    y, scores = cases
    display = ThresholdCostDisplay.from_predictions(y, scores, scenario)
    thresholds = np.unique(scores)[::-1]
    held = [
        y[scores >= c].mean() >= 0.35 and (scores >= c).sum() <= 0.25 * len(y) for c in thresholds
    ]
    solid = ~np.isnan(display.lines_["expected_cost"].get_ydata()[1:])
    assert solid.tolist() == held
    spans = [patch.get_extents() for patch in display.axes_[0].patches]
    pixels = display.axes_[0].transData.transform([(c, 0.0) for c in thresholds])[:, 0]
    covered = [any(s.x0 - 1e-6 <= p <= s.x1 + 1e-6 for s in spans) for p in pixels]
    assert covered == held


def test_best_is_the_cheapest_that_holds(cases: Any, scenario: Any) -> None:
    y, scores = cases
    display = ThresholdCostDisplay.from_predictions(y, scores, scenario)
    allowed = [
        c
        for c in np.unique(scores)
        if y[scores >= c].mean() >= 0.35 and (scores >= c).sum() <= 0.25 * len(y)
    ]
    best = min(allowed, key=lambda c: mean_cost(y, scores, c))
    assert display.best_threshold == best
    assert [mark.get_xdata()[0] for mark in display.best_] == [best] * 3
    alarms = int((scores >= best).sum())
    assert f"{alarms} alarms" in display.note_.get_text()
    assert f"{100 * y[scores >= best].mean():.3g} % of them correct" in display.note_.get_text()


def test_limits_are_drawn_at_their_levels(cases: Any, scenario: Any) -> None:
    display = ThresholdCostDisplay.from_predictions(*cases, scenario)
    assert display.limit_lines_["precision"].get_ydata()[0] == 0.35
    assert display.limit_lines_["alarms"].get_ydata()[0] == 75


def test_published_points_are_drawn_against_alarms() -> None:
    curve = voros.OperatingPoints.from_points([0.02, 0.1], [0.4, 0.7], 100, 900)
    scenario = voros.Scenario(0.3, 0.3, 0.05)
    display = ThresholdCostDisplay.from_points(curve, scenario)
    assert display.axes_[-1].get_xlabel() == "alarms"
    assert display.lines_["precision"].get_xdata() == pytest.approx([0, 58, 160])


def test_arguments_are_checked(cases: Any, scenario: Any) -> None:
    import matplotlib.pyplot as plt

    y, scores = cases
    with pytest.raises(ValueError, match="this picture shows one"):
        ThresholdCostDisplay.from_predictions(y, {"a": scores, "b": scores}, scenario)
    with pytest.raises(ValueError, match="needs 3"):
        ThresholdCostDisplay.from_predictions(y, scores, scenario, ax=plt.subplots()[1])


def test_frame_holds_every_threshold(cases: Any, scenario: Any) -> None:
    pytest.importorskip("pandas")
    y, scores = cases
    table = ThresholdCostDisplay.from_predictions(y, scores, scenario).frame("pandas")
    assert len(table) == len(np.unique(scores)) + 1
    row = table.iloc[5]
    assert row["expected_cost"] == pytest.approx(mean_cost(y, scores, row["threshold"]))
    assert row["recall"] == pytest.approx((scores[y] >= row["threshold"]).mean())


def test_infinite_scores_are_drawn_beyond_the_finite_ones():
    scores = [np.inf, 3.0, 2.0, 1.0, -np.inf]
    scenario = voros.Scenario(cost_ratio=(0.1, 0.2))
    display = ThresholdCostDisplay.from_predictions([1, 0, 1, 0, 1], scores, scenario)
    drawn = display.axes_[0].lines[0].get_xdata()
    # Never alarm, +inf, the three finite scores, -inf: evenly apart by a fiftieth of their span.
    np.testing.assert_allclose(drawn, [3.08, 3.04, 3.0, 2.0, 1.0, 0.96])


def test_a_recall_floor_has_a_panel_and_a_line() -> None:
    rng = np.random.default_rng(0)
    y = rng.random(400) < 0.2
    scenario = voros.Scenario(0.2, 0.6, cost_ratio=(0.05, 0.2), min_recall=0.7)
    display = ThresholdCostDisplay.from_predictions(y, rng.normal(size=400) + 1.5 * y, scenario)
    assert [panel.get_ylabel() for panel in display.axes_] == [
        "expected cost",
        "precision",
        "recall",
        "alarms",
    ]
    assert set(display.limit_lines_) == {"precision", "recall", "alarms"}
    assert list(display.limit_lines_["recall"].get_ydata()) == [0.7, 0.7]
    recall = display.lines_["recall"].get_ydata()
    assert np.nanmin(recall) >= 0.7
