"""Calibration as drawn: the counts of each group of risk, and refusals that name the model."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import voros

pytest.importorskip("matplotlib")

import matplotlib.pyplot as plt

from voros.plotting import CalibrationDisplay


@pytest.fixture
def cases():
    rng = np.random.default_rng(0)
    risk = np.repeat([0.1, 0.3, 0.5, 0.8], 50)
    return rng.random(200) < risk, risk


def test_points_and_bars_are_the_counts_of_each_group(cases):
    y, risk = cases
    display = CalibrationDisplay.from_predictions(y, risk, n_bins=4, confidence_level=0.9)
    line, _, (bars,) = display.curves_["model"].lines
    observed = [y[risk == value].mean() for value in np.unique(risk)]
    np.testing.assert_allclose(line.get_xdata(), np.unique(risk))
    np.testing.assert_allclose(line.get_ydata(), observed)
    for value, segment in zip(np.unique(risk), bars.get_segments(), strict=True):
        interval = stats.binomtest(int(y[risk == value].sum()), 50).proportion_ci(0.9)
        assert segment[:, 1] == pytest.approx([interval.low, interval.high], abs=1e-6)
    frame = display.frame("pyarrow").to_pydict()
    assert frame["cases"] == [50] * 4
    assert frame["observed"] == pytest.approx(observed)


def test_several_models_have_a_legend_and_one_has_none(cases):
    y, risk = cases
    models = {"right": risk, "too sure": np.clip(1.2 * risk, 0, 1)}
    display = CalibrationDisplay.from_predictions(y, models)
    said = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert said == list(models)
    assert CalibrationDisplay.from_predictions(y, risk).ax_.get_legend() is None
    assert list(display.curves_) == list(models)


def test_risks_far_above_what_is_observed_stay_in_the_picture(cases):
    y, _ = cases
    rare = np.arange(len(y)) < 5
    display = CalibrationDisplay.from_predictions(rare, np.linspace(0.9, 0.5, len(y)))
    assert display.ax_.get_xlim()[1] > 0.87
    assert display.ax_.get_xlim() == display.ax_.get_ylim()


def test_it_draws_on_given_axes(cases):
    _, ax = plt.subplots()
    points = {"risk": voros.OperatingPoints.from_scores(*cases)}
    display = CalibrationDisplay(points).plot(ax)
    assert display.ax_ is ax
    assert ax.get_xlabel() == "mean risk"


def test_what_is_no_risk_is_refused_by_name(cases):
    y, risk = cases
    with pytest.raises(ValueError, match=r"model 'margin': y_score runs from 1 to 8"):
        CalibrationDisplay.from_predictions(y, {"risk": risk, "margin": 10 * risk})
    with pytest.raises(ValueError, match="n_bins=0"):
        CalibrationDisplay.from_predictions(y, risk, n_bins=0)
    curve = voros.OperatingPoints.from_points([0.1], [0.5], 10, 90, thresholds=[0.5])
    with pytest.raises(ValueError, match="points leave out thresholds"):
        CalibrationDisplay.from_points(curve)
