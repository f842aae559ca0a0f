"""ROC surface: level lines of one cost, slices by clipping, and its volume."""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np
import pytest

import voros

pytest.importorskip("matplotlib")

from plotting.clipping import best_area, lesser_area
from scipy.integrate import trapezoid
from shapely.geometry import Polygon, box

from voros.plotting import RocSurfaceDisplay


@pytest.fixture(scope="module")
def cases() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    y = rng.random(300) < 0.3
    return y, (rng.normal(size=300) + 1.5 * y).round(1)


def test_the_coin_has_the_published_volume() -> None:
    """Never and always alarm: 3/2 - ln 2."""
    coin = voros.OperatingPoints.from_points([1.0], [1.0], 50, 50)
    display = RocSurfaceDisplay(coin)
    t = np.linspace(0, 1, 4001)
    areas = [display.slice_area(float(value)) for value in t]
    assert trapezoid(areas, t) == pytest.approx(1.5 - log(2), abs=1e-6)


@pytest.mark.parametrize("t", [0.0, 0.2, 0.5, 0.83, 1.0])
def test_slice_is_the_best_area_by_clipping(cases: Any, t: float) -> None:
    y, scores = cases
    display = RocSurfaceDisplay.from_predictions(y, scores, t=t)
    rates = [((scores[~y] >= c).mean(), (scores[y] >= c).mean()) for c in np.unique(scores)]
    expected = max(lesser_area(box(0, 0, 1, 1), *p, t) for p in [(0.0, 0.0), *rates])
    assert Polygon(display.slice_polygon(t)).area == pytest.approx(expected, abs=1e-12)
    assert display.slice_area(t) == pytest.approx(expected, abs=1e-12)
    assert display.slice_ is not None


def test_within_limits_it_stays_in_the_region(cases: Any) -> None:
    y, scores = cases
    scenario = voros.Scenario(0.45, 0.4, 0.2)
    display = RocSurfaceDisplay.from_predictions(y, scores, scenario, t=0.4)
    region = Polygon(voros.evaluate(y, scores, scenario).region.vertices)
    assert Polygon(display.slice_polygon(0.4)).within(region.buffer(1e-9))
    assert display.slice_area(0.4) / region.area == pytest.approx(
        best_area(y, scores, scenario, region, 0.4), abs=1e-9
    )


def test_level_lines_have_one_cost(cases: Any) -> None:
    pytest.importorskip("pandas")
    y, scores = cases
    table = RocSurfaceDisplay.from_predictions(y, scores).frame("pandas")

    def cost(prefix: str) -> Any:
        t = table["t"]
        return t * table[f"{prefix}fpr"] + (1 - t) * (1 - table[f"{prefix}tpr"])

    assert np.allclose(cost("start_"), cost(""), atol=1e-12)
    assert np.allclose(cost("end_"), cost(""), atol=1e-12)
    assert (
        np.hypot(table["end_fpr"] - table["start_fpr"], table["end_tpr"] - table["start_tpr"]) > 0
    ).any()


def test_flat_axes_and_costs_off_the_scale_are_refused(cases: Any) -> None:
    import matplotlib.pyplot as plt

    y, scores = cases
    with pytest.raises(ValueError, match="projection='3d'"):
        RocSurfaceDisplay.from_predictions(y, scores, ax=plt.subplots()[1])
    with pytest.raises(ValueError, match=r"t=1\.5"):
        RocSurfaceDisplay.from_predictions(y, scores, t=1.5)
