"""Region display and gallery: the paper's second figure, and every other shape."""

from __future__ import annotations

import numpy as np
import pytest

from voros import Scenario
from voros.core.geometry import RegionCase

pytest.importorskip("matplotlib")

from voros.plotting import RegionDisplay, region_gallery
from voros.plotting.region_shape import FIGURE_2

PAPER_CORNERS = [
    ["$v_{00}$", r"$v_{\alpha\kappa}$", r"$v_{0\kappa}$"],
    ["$v_{00}$", r"$v_{\alpha\kappa}$", r"$v_{\kappa 1}$", "$v_{01}$"],
    ["$v_{00}$", r"$v_{\alpha 1}$", "$v_{01}$"],
]
"""Figure 2 of the paper, counter-clockwise."""


def test_figure_2_has_the_papers_polygons_and_names() -> None:
    displays = region_gallery(FIGURE_2)
    for display, names in zip(displays, PAPER_CORNERS, strict=True):
        assert [text.get_text() for text in display.names_] == names
    # Case 2 by hand: the precision line meets the capacity line where 15% of 3,000 are right.
    corners = displays[1].region.vertices
    assert corners[1] == pytest.approx([0.85 * 3000 / 9000, 0.15 * 3000 / 1000])
    assert corners[2] == pytest.approx([2000 / 9000, 1.0])


def test_the_gallery_shows_every_shape() -> None:
    shown = {display.region.case for display in region_gallery()}
    assert shown == set(RegionCase) - {RegionCase.WHOLE_SQUARE, RegionCase.ABOVE_RECALL_FLOOR}


def test_names_stand_at_their_corners() -> None:
    display = RegionDisplay(1000, 9000, 0.15, 3000).plot()
    anchors = np.array([text.xy for text in display.names_])
    assert np.array_equal(anchors, display.region.vertices)
    outline = display.corners_.get_xydata()
    assert np.array_equal(outline[:-1], display.region.vertices)
    assert np.array_equal(outline[0], outline[-1])


def test_a_limit_that_cuts_nothing_has_no_line() -> None:
    whole = RegionDisplay(10, 90).plot()
    assert whole.limits_.precision is None
    assert whole.limits_.capacity is None
    assert whole.region.case is RegionCase.WHOLE_SQUARE
    assert RegionDisplay(10, 90, 0.3).plot().limits_.capacity is None
    assert RegionDisplay(10, 90, 0.0, 30).plot().limits_.precision is None


@pytest.mark.parametrize(("width", "columns"), [(3.3, 2), (12.0, 4)])
@pytest.mark.slow
def test_the_gallery_fits_its_width(width: float, columns: int) -> None:
    displays = region_gallery(width=width)
    figure = displays[0].ax_.figure
    assert figure.get_figwidth() == width
    assert displays[0].ax_.get_subplotspec().get_gridspec().ncols == columns


def test_frame_lists_the_corners() -> None:
    pytest.importorskip("pandas")
    table = RegionDisplay(1000, 9000, 0.15, 900).frame("pandas")
    assert table["corner"].tolist() == ["v00", "vak", "v0k"]
    assert table["tpr"].tolist() == pytest.approx([0.0, 0.135, 0.9])


def test_a_scenario_is_read_at_its_own_prevalence() -> None:
    scenario = Scenario(0.15, 0.3, 0.05, prevalence=0.1)
    display = RegionDisplay.from_scenario(scenario, n_positive=5000, n_negative=5000)
    expected = RegionDisplay(1000, 9000, 0.15, 3000)
    assert display.region.vertices == pytest.approx(expected.region.vertices)
