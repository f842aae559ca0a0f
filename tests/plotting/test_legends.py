"""Legends cover no curve and leave the plot its size, whatever the names and their number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import voros

pytest.importorskip("matplotlib")

import matplotlib.pyplot as plt

from voros.inference import roc_band
from voros.plotting import AreaCurveDisplay, RocDisplay, WinnerMapDisplay, draw_bands

SCENARIO = voros.Scenario(0.3, 0.2, (1 / 20, 1 / 5))
LEAST_PLOT = 0.28
"""Share of the figure's height that the plot keeps, at least."""


def cases(n_models: int, length: int) -> tuple[Any, dict[str, Any]]:
    rng = np.random.default_rng(n_models)
    y = rng.random(600) < 0.15
    names = [f"{i:02d}".ljust(length, "x") for i in range(n_models)]
    return y, {name: rng.normal(size=600) + (0.5 + 0.1 * i) * y for i, name in enumerate(names)}


def legend_of(figure: Any) -> Any:
    legends = [ax.get_legend() for ax in figure.axes if ax.get_legend() is not None]
    (legend,) = [*legends, *figure.legends]
    return legend


@pytest.mark.parametrize(
    ("n_models", "length", "width"),
    [(2, 5, None), (2, 60, 3.3), (5, 5, 3.3), (12, 5, 12.0), (12, 60, None), (12, 60, 3.3)],
)
@pytest.mark.parametrize("kind", [RocDisplay, AreaCurveDisplay])
@pytest.mark.slow
def test_no_curve_is_covered_and_the_plot_stays(
    kind: Any, n_models: int, length: int, width: float | None
) -> None:
    ax = None
    if width is not None:
        ax = plt.figure(figsize=(width, width), layout="constrained").add_subplot()
    y, scores = cases(n_models, length)
    display = kind.from_predictions(y, scores, SCENARIO, ax=ax)
    figure = display.ax_.figure
    figure.canvas.draw()
    legend = legend_of(figure)
    assert not legend.get_window_extent().overlaps(display.ax_.get_window_extent())
    assert len(legend.get_texts()) >= n_models
    box, whole = legend.get_window_extent(), figure.bbox
    labels = [ax.xaxis.label for ax in figure.axes if ax.get_xlabel()]
    assert not any(box.overlaps(label.get_window_extent()) for label in labels)
    assert box.x0 >= -1
    assert box.x1 <= whole.width + 1
    assert box.y0 >= -1
    plot = display.ax_.get_window_extent().height / figure.dpi
    assert plot >= LEAST_PLOT * min(figure.get_size_inches())


def test_zoomed_curves_are_not_covered_either() -> None:
    y, scores = cases(6, 12)
    display = RocDisplay.from_predictions(y, scores, SCENARIO, zoom=True)
    display.ax_.figure.canvas.draw()
    legend = legend_of(display.ax_.figure)
    assert not legend.get_window_extent().overlaps(display.ax_.get_window_extent())


@pytest.mark.parametrize("length", [5, 60])
def test_the_legend_of_a_map_stays_within_the_figure(length: int) -> None:
    y, scores = cases(12, length)
    grid = {"min_precisions": np.linspace(0.2, 0.9, 6), "capacities": np.linspace(0.05, 0.5, 6)}
    winners = voros.winner_map(y, scores, **grid, cost_ratio=(1 / 20, 1 / 5))
    display = WinnerMapDisplay(winners).plot()
    figure = display.ax_.figure
    figure.canvas.draw()
    box = legend_of(figure).get_window_extent()
    assert box.x0 >= -1
    assert box.x1 <= figure.bbox.width + 1
    assert display.ax_.get_window_extent().height > 0.4 * 4.8 * figure.dpi


def test_a_second_picture_on_the_same_axes_adds_to_the_legend() -> None:
    y, scores = cases(2, 5)
    (first, one), (second, other) = scores.items()
    display = RocDisplay.from_predictions(y, {first: one})
    RocDisplay.from_predictions(y, {second: other}, color="crimson", ax=display.ax_)
    texts = [text.get_text() for text in legend_of(display.ax_.figure).get_texts()]
    assert texts == [first, second]
    draw_bands(display, roc_band(y, one, n_resamples=100, random_state=0))
    assert len(legend_of(display.ax_.figure).get_texts()) == 3


def test_without_a_layout_the_legend_stays_inside() -> None:
    y, scores = cases(12, 60)
    _, ax = plt.subplots()
    display = RocDisplay.from_predictions(y, scores, SCENARIO, ax=ax)
    display.ax_.figure.canvas.draw()
    assert len(ax.get_legend().get_texts()) == 12 + 3
