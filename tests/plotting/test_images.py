"""Each picture against a drawing that was looked at and kept.

Text is hidden before comparing, because its rendering differs from one version of matplotlib to
another; what it says is tested elsewhere. After a change that is meant, look at the new pictures
and keep them with ``python tests/plotting/test_images.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import voros

pytest.importorskip("matplotlib")

import matplotlib.pyplot as plt
from matplotlib.legend import Legend
from matplotlib.testing.compare import compare_images
from matplotlib.text import Text

from voros.plotting import (
    AreaCurveDisplay,
    RocDisplay,
    SubgroupDisplay,
    ThresholdCostDisplay,
    WinnerMapDisplay,
)

BASELINE = Path(__file__).with_name("baseline")
DPI = 72

TOLERANCE = 6.0
"""Root mean square difference of pixels (0 to 255) that passes: room for how edges are smoothed
in another version of matplotlib. Other limits, costs or models make 12 and more."""

SIZES = {"n_positive": 1000, "n_negative": 9000}
STEADY = voros.OperatingPoints.from_points(
    [0.005, 0.02, 0.05, 0.1, 0.2, 0.4, 1.0], [0.1, 0.3, 0.5, 0.65, 0.8, 0.92, 1.0], **SIZES
)
EARLY = voros.OperatingPoints.from_points(
    [0.005, 0.02, 0.05, 0.1, 0.2, 0.4, 1.0], [0.2, 0.38, 0.5, 0.58, 0.7, 0.85, 1.0], **SIZES
)
MODELS = {"steady": STEADY, "early": EARLY}
STRICT = voros.Scenario(0.5, 0.1, (1 / 40, 1 / 8))
HALF = voros.Scenario(0.5, 0.5, (1 / 40, 1 / 8))
LENIENT = voros.Scenario(0.25, 0.3, (1 / 40, 1 / 8))


def axes(rows: int = 1, columns: int = 1, **options: Any) -> Any:
    figure, panels = plt.subplots(rows, columns, figsize=(3.3, 3.0), dpi=DPI, **options)
    figure.subplots_adjust(0.1, 0.1, 0.95, 0.92)
    return panels


def roc() -> None:
    RocDisplay.from_points(MODELS, LENIENT, ax=axes(), cost_ratio=0.1, dominated_by="early")


def roc_two_limits() -> None:
    RocDisplay.from_points(MODELS, {"strict": STRICT, "lenient": LENIENT}, ax=axes())


def lesser_of_a_point() -> None:
    two = {
        "P": voros.OperatingPoints.from_points([0.12], [0.6], 1000, 3000),
        "Q": voros.OperatingPoints.from_points([0.22], [0.62], 1000, 3000),
    }
    shown = {"cost_ratio": 0.3, "dominated_by": "P", "choices": False}
    for ax, limits in zip(axes(1, 2), (None, voros.Scenario(0.35, 0.35, 0.3)), strict=True):
        RocDisplay.from_points(two, limits, ax=ax, **shown)


def area_curve() -> None:
    AreaCurveDisplay.from_points(MODELS, LENIENT, ax=axes())


def winner_map() -> None:
    winners = voros.winner_map(
        MODELS,
        min_precisions=np.linspace(0.2, 0.9, 30),
        capacities=np.geomspace(0.01, 0.6, 30),
        cost_ratio=(1 / 40, 1 / 8),
    )
    WinnerMapDisplay(winners).plot(axes(1, 2), log_capacity=True)


def threshold_cost() -> None:
    ThresholdCostDisplay.from_points(STEADY, LENIENT, ax=axes(3, 1, sharex=True))


def subgroup_measures() -> None:
    wards = np.repeat(["a", "b", "c", "d"], 40)
    alarm, tp = np.tile(np.arange(40) < 20, 4), np.array([18, 2, 11, 0]).repeat(40)
    truth = np.where(alarm, np.tile(np.arange(40), 4) < tp, np.tile(np.arange(40), 4) > 36)
    policy = voros.ThresholdPolicy.from_validation([1, 1, 0, 0], [1.0, 1.0, 0.0, 0.0], HALF)
    scores = (alarm & (wards != "d")).astype(float)
    SubgroupDisplay(policy.evaluate(truth, scores, by=wards).by_subgroup).plot(axes(1, 3))


PICTURES: tuple[Callable[[], None], ...] = (
    roc,
    roc_two_limits,
    lesser_of_a_point,
    area_curve,
    winner_map,
    threshold_cost,
    subgroup_measures,
)


def save(draw: Callable[[], None], folder: Path) -> Path:
    plt.switch_backend("Agg")
    draw()
    figure = plt.gcf()
    for words in [*figure.findobj(Text), *figure.findobj(Legend)]:
        words.set_visible(False)
    path = folder / f"{draw.__name__}.png"
    figure.savefig(path, dpi=DPI)
    plt.close(figure)
    return path


@pytest.mark.parametrize("draw", PICTURES, ids=lambda draw: draw.__name__)
def test_picture_is_as_it_was_looked_at(draw: Callable[[], None], tmp_path: Path) -> None:
    drawn = save(draw, tmp_path)
    difference = compare_images(BASELINE / drawn.name, drawn, tol=TOLERANCE)
    assert difference is None, difference


def other_limits() -> None:
    RocDisplay.from_points(MODELS, STRICT, ax=axes(), cost_ratio=0.1, dominated_by="early")


def other_model() -> None:
    AreaCurveDisplay.from_points({"steady": STEADY}, LENIENT, ax=axes())


@pytest.mark.parametrize(
    ("draw", "kept"),
    [(other_limits, "roc"), (other_model, "area_curve")],
)
def test_the_tolerance_notices_another_picture(
    draw: Callable[[], None], kept: str, tmp_path: Path
) -> None:
    drawn = save(draw, tmp_path)
    difference = compare_images(
        BASELINE / f"{kept}.png", drawn, tol=2 * TOLERANCE, in_decorator=True
    )
    assert difference is not None
    assert difference["rms"] > 2 * TOLERANCE


if __name__ == "__main__":
    BASELINE.mkdir(exist_ok=True)
    for picture in PICTURES:
        print(save(picture, BASELINE))
