"""Area curve: heights by clipping polygons, density by calculus, switches by equal costs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import lognorm
from shapely.geometry import Polygon, box

import voros

pytest.importorskip("matplotlib")

from plotting.clipping import best_area

from voros.plotting import AreaCurveDisplay

EXACT = 1e-12
DRAWN = 2e-4
"""The curve is a polyline of some 400 pieces; its mean differs from the exact one by less."""


@pytest.fixture(scope="module")
def scenario() -> voros.Scenario:
    return voros.Scenario(min_precision=0.45, capacity=0.4, cost_ratio=(1 / 20, 1 / 2))


@pytest.mark.slow
def test_heights_are_the_best_area_by_clipping(cases: Any, scenario: Any) -> None:
    y, scores = cases
    display = AreaCurveDisplay.from_predictions(y, scores, scenario)
    region = Polygon(voros.evaluate(y, scores["sharp"], scenario).region.vertices)
    assert region.within(box(0, 0, 1, 1).buffer(1e-9))
    for model in scores:
        t, area = display.curves_[model].get_data()
        for k in np.linspace(0, len(t) - 1, 12).astype(int):
            assert area[k] == pytest.approx(
                best_area(y, scores[model], scenario, region, t[k]), abs=1e-9
            )


def test_mean_height_over_the_density_is_the_score(cases: Any, scenario: Any) -> None:
    y, scores = cases
    display = AreaCurveDisplay.from_predictions(y, scores, scenario)
    t, density = display.density()
    for model in scores:
        area = np.interp(t, *display.curves_[model].get_data())
        mean = np.average(area, weights=density)
        expected = voros.partial_voros_score(
            y, scores[model], min_precision=0.45, capacity=0.4, cost_ratio=(1 / 20, 1 / 2)
        )
        assert mean == pytest.approx(expected, abs=DRAWN)


def test_two_thresholds_cost_the_same_where_one_takes_over(cases: Any, scenario: Any) -> None:
    pytest.importorskip("pandas")
    y, scores = cases
    display = AreaCurveDisplay.from_predictions(y, scores["sharp"], scenario)
    table = display.frame("pandas")
    switches = display.switches("model")
    assert len(switches) >= 2
    assert display.switches_["model"].get_xdata() == pytest.approx(switches)
    for t in switches:
        before = table.loc[table["t"] < t, "threshold"].iloc[-1]
        after = table.loc[table["t"] > t, "threshold"].iloc[0]
        assert after > before
        costs = [
            t * (scores["sharp"][~y] >= c).mean() + (1 - t) * (scores["sharp"][y] < c).mean()
            for c in (before, after)
        ]
        assert costs[0] == pytest.approx(costs[1], abs=EXACT)


@pytest.mark.parametrize(
    ("costs", "density_of_t"),
    [
        # t = cr/(1 + cr) with r = N/P = 9: c = t/(9(1 - t)), dc/dt = 1/(9(1 - t)^2).
        ((0.05, 0.5), lambda t: 1 / 0.45 / (9 * (1 - t) ** 2)),
        # A miss worth m false alarms: m = 9(1 - t)/t, |dm/dt| = 9/t^2.
        (voros.costs.miss_costs(2, 20), lambda t: 1 / 18 * 9 / t**2),
        (voros.costs.uniform_t(0.2, 0.7), lambda t: 2.0 + 0 * t),
    ],
)
def test_density_in_t_by_calculus(costs: Any, density_of_t: Any) -> None:
    curve = voros.OperatingPoints.from_points([0.02, 0.1], [0.4, 0.7], 100, 900)
    display = AreaCurveDisplay.from_points(curve, voros.Scenario(0.0, 1.0, costs))
    t, height = display.density()
    assert height == pytest.approx([density_of_t(value) for value in t], rel=1e-3)
    low, high = display.t_range
    assert quad(density_of_t, low, high)[0] == pytest.approx(1.0)


def test_endless_costs_are_cut_at_their_tails() -> None:
    curve = voros.OperatingPoints.from_points([0.02, 0.1], [0.4, 0.7], 100, 900)
    costs = voros.costs.from_scipy(lognorm(0.5, scale=0.05))
    display = AreaCurveDisplay.from_points(curve, voros.Scenario(0.0, 1.0, costs))
    t, height = display.density()
    assert np.sum(height) * (t[1] - t[0]) == pytest.approx(0.998, abs=1e-6)


def test_a_known_cost_is_one_stem_in_the_middle() -> None:
    curve = voros.OperatingPoints.from_points([0.02, 0.1], [0.4, 0.7], 100, 900)
    display = AreaCurveDisplay.from_points(curve, voros.Scenario(0.0, 1.0, 1 / 9))
    assert display.t_range == pytest.approx((0.4, 0.6))
    assert display.density_.get_data()[0] == pytest.approx([0.5])
    said = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert said == ["probability of costs"]


def test_the_upper_axis_says_cost_ratios(cases: Any, scenario: Any) -> None:
    y, scores = cases
    display = AreaCurveDisplay.from_predictions(y, scores, scenario)
    odds = (~y).sum() / y.sum()
    for tick, label in zip(
        display.ratio_ax_.get_xticks(), display.ratio_ax_.get_xticklabels(), strict=True
    ):
        top, _, bottom = label.get_text().partition("/")
        ratio = float(top) / float(bottom or 1)
        assert tick == pytest.approx(ratio * odds / (1 + ratio * odds))


def test_the_density_is_behind_the_curves_on_the_axes_given(cases: Any, scenario: Any) -> None:
    import matplotlib.pyplot as plt

    y, scores = cases
    figure, ax = plt.subplots()
    display = AreaCurveDisplay.from_predictions(y, scores, scenario, ax=ax)
    assert display.ax_ is ax
    assert figure.axes == [ax, display.density_ax_]
    assert display.density_ax_.get_zorder() < ax.get_zorder()
    assert display.density_.get_ydata().max() < 0.5 * display.density_ax_.get_ylim()[1]
