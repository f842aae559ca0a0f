"""Bands hold the population's curve, and say which kind they are."""

from inspect import signature

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

import voros
from voros.inference import roc_band
from voros.inference.roc_bands import recall_at, simultaneous_ends


@pytest.fixture(scope="module")
def cases():
    rng = np.random.default_rng(2)
    positive = rng.random(600) < 0.2
    return positive, 1.5 * positive + rng.normal(size=600)


def test_a_roc_band_is_around_the_curve(cases):
    band = roc_band(*cases, n_resamples=200, random_state=0)
    points = voros.OperatingPoints.from_scores(*cases)
    # Where it starts, ten false alarms have been raised.
    assert band.positions[0] == pytest.approx(10 / points.n_negative)
    reached = [points.tpr[points.fpr <= x + 1e-12].max() for x in band.positions]
    assert np.all(np.abs(band.estimate - reached) <= 5 / points.n_positive)
    assert np.all((band.low <= band.estimate) & (band.estimate <= band.high))
    assert band.low.min() >= 0
    assert band.high.max() <= 1


def test_a_simultaneous_band_of_independent_normals_has_sidaks_width():
    drawn = np.random.default_rng(0).normal(size=(20_000, 1, 10)) * 0.01 + 0.5
    low, high = simultaneous_ends(0.95, drawn.mean(axis=0), drawn, np.zeros((1, 10)))
    sidak = ndtri((1 + 0.95 ** (1 / 10)) / 2)
    assert (high - low) / 2 / 0.01 == pytest.approx(np.full((1, 10), sidak), rel=0.02)


def test_bands_of_several_models_share_their_resamples(cases):
    positive, scores = cases
    both = roc_band(positive, {"a": scores, "b": scores * 2}, n_resamples=100, random_state=0)
    assert np.array_equal(both["a"].low, both["b"].low)
    pandas = pytest.importorskip("pandas")
    frame = both["a"].frame("pandas")
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame) == ["fpr", "estimate", "low", "high"]


def test_recall_is_read_on_the_line_between_highest_points():
    points = voros.OperatingPoints.from_scores([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.5, 0.4])
    recall = recall_at(points, np.array([0.0, 1 / 6, 1 / 3, 1.0]))
    assert recall == pytest.approx([2 / 3, 5 / 6, 1.0, 1.0])


def test_every_argument_in_the_signature_is_accepted(cases):
    options = {p.name: p.default for p in signature(roc_band).parameters.values() if p.kind == 3}
    assert "n_resamples" in options
    roc_band(*cases, **options | {"n_resamples": 100, "random_state": 0})


def test_bad_arguments_are_refused(cases):
    with pytest.raises(TypeError, match="kind"):
        roc_band(*cases, kind="pointwise")


@pytest.mark.slow
def test_simultaneous_roc_bands_hold_the_whole_curve_of_the_population():
    held = 0
    for rng in map(np.random.default_rng, range(200)):
        positive = rng.random(1000) < 0.3
        scores = 1.2 * positive + rng.normal(size=1000)
        band = roc_band(positive, scores, n_resamples=300, random_state=rng)
        true = ndtr(1.2 + ndtri(band.positions))
        held += bool(np.all((band.low <= true) & (true <= band.high)))
    # Within three standard errors of 95 %, or above.
    assert held >= 200 * 0.95 - 3 * np.sqrt(200 * 0.95 * 0.05)
