"""Every picture in a journal column and on a slide: nothing cut off, too small or run together."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import voros
from voros import plotting

pytest.importorskip("matplotlib")

import matplotlib.pyplot as plt
from matplotlib.colors import to_rgb
from matplotlib.text import Text

from voros.plotting.model_styles import model_styles
from voros.styles import HUES

SMALLEST_TYPE = 5.0
"""Points; smaller than this is not read in print."""
CUT = 0.01
"""Share of the width or height of a figure that may stick out: a line's own thickness."""

SIZES = {"n_positive": 600, "n_negative": 6400}
MODELS = {
    "SUPPORT model": voros.OperatingPoints.from_points(
        [0.005, 0.02, 0.05, 0.1, 0.2, 0.4], [0.1, 0.3, 0.5, 0.65, 0.8, 0.92], **SIZES
    ),
    "physicians": voros.OperatingPoints.from_points(
        [0.01, 0.04, 0.11, 0.25], [0.22, 0.45, 0.68, 0.85], **SIZES
    ),
    "APACHE III": voros.OperatingPoints.from_points(
        [0.01, 0.05, 0.12, 0.3], [0.12, 0.3, 0.5, 0.7], **SIZES
    ),
}
ONE = MODELS["SUPPORT model"]
SCENARIO = voros.Scenario(0.25, 0.2, (1 / 40, 1 / 9))
WINNERS = voros.winner_map(
    MODELS,
    min_precisions=np.linspace(0.12, 0.9, 12),
    capacities=np.geomspace(0.005, 0.5, 12),
    cost_ratio=(1 / 40, 1 / 9),
)


def axes(width: float, rows: int = 1, columns: int = 1, **options: Any) -> Any:
    size = (width, 0.9 * width * rows**0.5 / columns**0.5)
    return plt.subplots(rows, columns, figsize=size, layout="constrained", **options)[1]


DRAW: dict[str, Callable[[float], Any]] = {
    "roc": lambda w: plotting.RocDisplay.from_points(MODELS, SCENARIO, ax=axes(w)),
    "area_curve": lambda w: plotting.AreaCurveDisplay.from_points(MODELS, SCENARIO, ax=axes(w)),
    "winner_map": lambda w: plotting.WinnerMapDisplay(WINNERS).plot(axes(w), log_capacity=True),
    "winner_map_and_margin": lambda w: plotting.WinnerMapDisplay(WINNERS).plot(
        axes(w, 1, 2), log_capacity=True
    ),
    "threshold_cost": lambda w: plotting.ThresholdCostDisplay.from_points(
        ONE, SCENARIO, ax=axes(w, 3, 1, sharex=True)
    ),
}


WIDTHS = [3.3, pytest.param(12.0, marks=pytest.mark.slow)]
"""Inches; what fits into a column of a journal mostly fits on a slide."""


@pytest.fixture(scope="module", params=WIDTHS, ids=["column", "slide"])
def width(request: pytest.FixtureRequest) -> float:
    return float(request.param)


@pytest.fixture(scope="module", params=DRAW)
def figure(request: pytest.FixtureRequest, width: float) -> Any:
    DRAW[request.param](width)
    drawn = plt.gcf()
    drawn.canvas.draw()
    return drawn


def words(figure: Any) -> list[Text]:
    return [t for t in figure.findobj(Text) if t.get_visible() and t.get_text().strip()]


def test_nothing_is_cut_off(figure: Any) -> None:
    whole = figure.get_tightbbox()
    across, up = figure.get_size_inches()
    assert whole.x0 >= -CUT * across
    assert whole.y0 >= -CUT * up
    assert whole.x1 <= (1 + CUT) * across
    assert whole.y1 <= (1 + CUT) * up


def test_type_can_be_read(figure: Any, width: float) -> None:
    sizes = [text.get_fontsize() for text in words(figure)]
    assert min(sizes) >= SMALLEST_TYPE
    assert max(sizes) <= (9 if width < 4 else 15)


def test_ticks_do_not_run_together(figure: Any) -> None:
    for ax in figure.axes:
        if ax.name == "3d":
            continue
        for axis, side in ((ax.xaxis, 0), (ax.yaxis, 1)):
            boxes = sorted(
                tuple(box.intervalx if side == 0 else box.intervaly)
                for label in axis.get_ticklabels()
                if label.get_visible() and label.get_text()
                for box in [label.get_window_extent()]
            )
            for before, after in pairwise(boxes):
                assert before[1] <= after[0] + 1.0


def brightness(colour: str) -> float:
    """How light a colour prints in grey (ITU-R BT.601)."""
    return float(np.dot(to_rgb(colour), (0.299, 0.587, 0.114)))


def test_areas_differ_in_grey_and_lines_in_dashes_or_markers() -> None:
    greys = sorted(brightness(colour) for _, _, colour in HUES[:4])
    assert min(np.diff(greys)) > 0.12
    styles = list(model_styles(plt.gca(), list("abcdefghijkl")).values())
    assert len({(str(one.line["linestyle"]), one.marks["marker"]) for one in styles}) == len(HUES)


def test_no_two_of_many_models_look_alike() -> None:
    styles = list(model_styles(plt.gca(), [str(i) for i in range(144)]).values())
    assert len({(one.color, str(one.line["linestyle"])) for one in styles[:48]}) == 48
    assert len({(one.color, one.marks["marker"]) for one in styles}) == 144
    assert len({one.letter for one in styles}) == 144


BLINDNESS = {
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
}
"""Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB."""

APART = 11.0
"""CIELAB distance that is seen at a glance; 2.3 is just noticeable."""


def seen(colour: str, matrix: Any) -> np.ndarray:
    """CIELAB coordinates of a colour as somebody colour-blind sees it."""
    coded = np.array(to_rgb(colour))
    linear = np.where(coded <= 0.04045, coded / 12.92, ((coded + 0.055) / 1.055) ** 2.4)
    shown = np.clip(np.array(matrix) @ linear, 0, 1)
    to_xyz = np.array(
        [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    )
    scaled = to_xyz @ shown / np.array([0.9505, 1.0, 1.089])
    root = np.where(scaled > 0.008856, np.cbrt(scaled), 7.787 * scaled + 16 / 116)
    return np.array([116 * root[1] - 16, 500 * (root[0] - root[1]), 200 * (root[1] - root[2])])


@pytest.mark.parametrize("kind", BLINDNESS)
@pytest.mark.parametrize("palette", list(zip(*HUES[:4], strict=True))[::2], ids=["lines", "fills"])
def test_colours_differ_for_the_colour_blind(kind: str, palette: tuple[str, ...]) -> None:
    places = [seen(colour, BLINDNESS[kind]) for colour in palette]
    for i, one in enumerate(places):
        for other in places[i + 1 :]:
            assert np.linalg.norm(one - other) > APART
