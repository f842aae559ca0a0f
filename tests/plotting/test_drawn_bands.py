"""Bands are drawn where they were computed, and the legend says which kind they are."""

from dataclasses import replace

import numpy as np
import pytest

import voros
from voros.inference import roc_band

pytest.importorskip("matplotlib")

from voros.plotting import RocDisplay, draw_bands

SCENARIO = voros.Scenario(0.3, 0.3, (1 / 20, 1 / 8))


@pytest.fixture(scope="module")
def cases():
    rng = np.random.default_rng(2)
    positive = rng.random(400) < 0.2
    return positive, {"a": positive + rng.normal(size=400), "b": rng.normal(size=400)}


def legend_texts(display):
    (legend,) = filter(None, (ax.get_legend() for ax in display.ax_.figure.axes))
    return [text.get_text() for text in legend.get_texts()]


def drawn_span(collection):
    return collection.get_paths()[0].get_extents()


def test_the_legend_says_which_kind_of_band_it_is(cases):
    positive, scores = cases
    display = RocDisplay.from_predictions(positive, scores, SCENARIO)
    draw_bands(display, roc_band(positive, scores, n_resamples=100, random_state=0))
    assert legend_texts(display)[-1] == "95 % band, simultaneous"
    assert {"a", "b"} <= set(legend_texts(display))


def test_a_roc_band_spans_its_positions_and_ends(cases):
    positive, scores = cases
    display = RocDisplay.from_predictions(positive, scores["a"])
    band = roc_band(positive, scores["a"], n_resamples=100, random_state=0)
    (drawn,) = draw_bands(display, band).values()
    span = drawn_span(drawn)
    assert (span.x0, span.x1) == pytest.approx((band.positions[0], 1.0))
    assert (span.y0, span.y1) == pytest.approx((band.low.min(), band.high.max()))


def test_bands_of_another_picture_or_model_are_refused(cases):
    positive, scores = cases
    display = RocDisplay.from_predictions(positive, {"a": scores["a"]})
    drawn = roc_band(positive, scores["a"], n_resamples=100, random_state=0)
    band = replace(drawn, over="threshold_probability")
    with pytest.raises(ValueError, match="RocDisplay takes bands over fpr; use roc_band"):
        draw_bands(display, band)
    with pytest.raises(ValueError, match="bands are of b; the picture shows a"):
        draw_bands(display, {"b": band})
