"""Values printed in the papers, or worked out on paper."""

from __future__ import annotations

import math
import os
from pathlib import Path

import numpy as np
import pytest

import voros
from voros import costs

EXACT = 1e-9
FOLDER = os.environ.get("VOROS_PAPER_PREDICTIONS")
needs_predictions = pytest.mark.skipif(
    FOLDER is None, reason="VOROS_PAPER_PREDICTIONS does not name the folder of predictions"
)
SCENARIO_1 = voros.Scenario(min_precision=0.15, capacity=0.5, cost_ratio=(1 / 9, 1 / 6))
SCENARIO_2 = voros.Scenario(min_precision=0.5, capacity=0.1, cost_ratio=(1 / 40, 1 / 20))


def predictions(name: str) -> tuple[np.ndarray, np.ndarray]:
    table = np.genfromtxt(Path(str(FOLDER)) / f"{name}.csv", delimiter=",", names=True)
    return table["y_true"].astype(int), table["proba_y_eq_1"]


def curve_score(fpr, tpr, cost_ratio) -> float:
    points = voros.OperatingPoints.from_points(fpr, tpr, n_positive=1, n_negative=1)
    return voros.evaluate(points, scenario=voros.Scenario(cost_ratio=cost_ratio)).score


def test_voros_of_the_chance_line() -> None:
    assert curve_score([1.0], [1.0], costs.uniform_t(0, 1)) == pytest.approx(
        1.5 - math.log(2), abs=1e-14
    )


def test_voros_of_a_single_good_point() -> None:
    assert curve_score([0.2, 1], [0.8, 1], costs.uniform_t(0, 1)) == pytest.approx(
        0.9214046742, abs=1e-10
    )
    assert curve_score([0.2, 1], [0.8, 1], costs.uniform_t(0.2, 0.5)) == pytest.approx(
        0.9075803759, abs=1e-10
    )


@needs_predictions
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("scenario1_pvoros_valid", (0.5220415830, 0.0957881547, 0.8565034791, 0.8938462771)),
        ("scenario2_valid", (0.4987114201, 0.1462356126, 0.8488517507, 0.8977749564)),
    ],
)
def test_mimic_validation_files(name: str, expected: tuple[float, ...]) -> None:
    y_true, y_score = predictions(name)
    scores = [voros.evaluate(y_true, y_score, s).score for s in (SCENARIO_1, SCENARIO_2)]
    scores += [
        voros.voros_score(y_true, y_score, cost_ratio=s.costs) for s in (SCENARIO_1, SCENARIO_2)
    ]
    assert scores == pytest.approx(expected, abs=EXACT)


@needs_predictions
def test_mimic_ranges_of_t_and_capacity_as_the_paper_states_them() -> None:
    y_true, _ = predictions("scenario2_valid")
    n_positive, n_negative = y_true.sum(), (1 - y_true).sum()
    assert (len(y_true), round(y_true.mean(), 3)) == (7802, 0.103)
    ends = [c * n_negative / (c * n_negative + n_positive) for c in (1 / 40, 1 / 20)]
    assert [round(t, 2) for t in ends] == [0.18, 0.30]
    assert SCENARIO_2.max_alarms(len(y_true)) == 780.2
    assert SCENARIO_1.max_alarms(len(y_true)) == 3901


@pytest.mark.parametrize(
    ("min_precision", "max_alarms", "formula"),
    [
        (0.15, 900, lambda a, k, p, n: (1 - a) * k**2 / (2 * n * p)),
        (0.15, 3000, lambda a, k, p, n: (2 * k * p - a * k**2 - p**2) / (2 * n * p)),
        # The paper prints twice the area of this triangle.
        (0.15, 9100, lambda a, _, p, n: (1 - a) * p / (a * n) / 2),
    ],
)
def test_areas_of_the_three_regions_of_figure_2(min_precision, max_alarms, formula) -> None:
    region = voros.feasible_region(1000, 9000, min_precision, max_alarms)
    assert region.area == pytest.approx(formula(min_precision, max_alarms, 1000, 9000), rel=1e-12)
