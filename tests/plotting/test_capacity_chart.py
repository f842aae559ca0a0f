"""The picture of a growing capacity: what is drawn is what was computed."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("matplotlib")

import voros
from voros.allocation import capacity_growth
from voros.plotting import CapacityDisplay

SCENARIO = voros.Scenario(cost_ratio=0.2)


@pytest.fixture
def cases():
    rng = np.random.default_rng(0)
    ward = rng.choice(["a", "b", "c"], 300)
    y = rng.random(300) < 0.3
    return y, rng.normal(size=300) + 1.5 * y, ward


def test_alarms_are_stacked_and_add_up_to_the_capacity(cases):
    y, s, ward = cases
    policy = voros.allocate(y, s, SCENARIO, capacity=60, by=ward)
    display = CapacityDisplay.from_predictions(y, s, SCENARIO, by=ward, policy=policy)
    growth = capacity_growth(y, s, SCENARIO, by=ward)
    top = display.areas_["c"].get_paths()[0].vertices
    assert top[:, 1].max() == growth.capacity[-1] == top[:, 0].max()
    assert list(display.areas_) == ["a", "b", "c"]
    assert [mark.get_xdata()[0] for mark in display.marks_] == [60, 60]
    assert np.array_equal(display.price_.get_ydata(), growth.shadow_price)
    assert len(display.frame()) == len(growth.capacity)


def test_the_price_is_the_fall_of_the_cost(cases):
    y, s, ward = cases
    growth = capacity_growth(y, s, SCENARIO, by=ward)
    fall = -np.diff(growth.cost) / np.diff(growth.capacity)
    assert fall == pytest.approx(growth.shadow_price[:-1])
    step = np.diff(growth.alarms, axis=0)
    owner = np.array(growth.names)[step.argmax(axis=1)]
    assert owner.tolist() == growth.stream[:-1].tolist()
    assert np.count_nonzero(step, axis=1).tolist() == [1] * len(step)


def test_it_is_drawn_where_axes_are_given(cases):
    from matplotlib.figure import Figure

    y, s, ward = cases
    axes = Figure().subplots(2, 1)
    display = CapacityDisplay.from_predictions(y, s, SCENARIO, by=ward, ax=axes, color={"a": "red"})
    assert display.axes_ == tuple(axes)
    assert display.marks_ == ()
    with pytest.raises(ValueError, match="ax holds 1 axes; this picture needs 2"):
        display.plot(axes[0])


def test_a_growth_is_asked_for():
    with pytest.raises(TypeError, match="growth is a list; accepted is what"):
        CapacityDisplay([1])
