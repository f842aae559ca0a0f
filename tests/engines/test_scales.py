"""Scales keep the order of scores, their buckets nest, and every engine numbers them alike."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voros.engines.backends import adapter_of, as_lazy
from voros.engines.keys import BITS, Scale, scale_for

# A subnormal score times a factor below 1 is rounded: the one product that is not exact.
floats = st.floats(allow_nan=False, allow_subnormal=False)
levels = st.integers(0, 60)

SCALES = {
    "linear": Scale(50, -1.0, 3.0),
    "tiny": Scale(180, 1e-40, 3e-40),
    "bits": BITS,
}
AWKWARD = np.array(
    [
        *(-math.inf, -1e308, -1.5, -1.0, -5e-324, -0.0, 0.0, 5e-324, 1e-300, 1.5e-40, 2e-40, 0.1),
        *(0.3, 1.0, 2.999999, 3.0, np.nextafter(3, 4), 1e308, math.inf, *np.linspace(-1, 3, 31)),
    ]
)


@pytest.fixture(params=list(SCALES))
def scale(request):
    return SCALES[request.param]


@pytest.mark.parametrize("level", [0, 17, 48, 60])
def test_every_engine_numbers_buckets_as_numpy_does(make_frame, scale, level):
    frame = as_lazy(make_frame({"score": AWKWARD, "row": np.arange(len(AWKWARD))}))
    adapter = adapter_of(frame)
    table = adapter.collect(adapter.with_bucket(frame, "score", "bucket", scale, level))
    buckets = dict(zip(table["row"].to_list(), table["bucket"].to_list(), strict=True))
    assert [buckets[row] for row in range(len(AWKWARD))] == scale.buckets(AWKWARD, level).tolist()


@given(floats, floats, st.sampled_from(list(SCALES.values())), levels)
def test_buckets_keep_the_order(one, other, scale, level):
    first, second = scale.buckets(sorted([one, other]), level)
    assert first <= second


@given(floats, floats, st.sampled_from(list(SCALES.values())), levels, levels)
def test_buckets_of_one_level_nest_in_those_of_a_higher(one, other, scale, level, higher):
    level, higher = sorted((level, higher))
    fine, coarse = scale.buckets([one, other], level), scale.buckets([one, other], higher)
    assert np.array_equal(fine >> (higher - level), coarse)


def test_what_is_beyond_the_ends_is_in_the_last_bucket():
    numbers = SCALES["linear"].buckets([-1.1, 3.1, -math.inf, math.inf, 0.0], 50)
    assert numbers.tolist() == [-1, 3, -1, 3, 0]


@pytest.mark.parametrize(
    ("draw", "linear"),
    [
        (lambda rng: rng.random(5000), True),
        (lambda rng: rng.normal(0, 3, 5000), True),
        (lambda rng: np.exp(rng.normal(-20, 8, 5000)), False),
        (lambda rng: -np.exp(rng.normal(-20, 8, 5000)), False),
        (lambda rng: rng.normal(size=5000) * 1e250, False),
    ],
)
def test_a_scale_is_chosen_on_which_the_scores_lie_evenly(draw, linear):
    scores = draw(np.random.default_rng(5))
    scale = scale_for(scores, np.arange(5000) % 3 == 0, scores.min(), scores.max())
    assert (scale != BITS) == linear
    fullest = np.unique(scale.buckets(scores, 42), return_counts=True)[1].max()
    assert not linear or fullest < 0.05 * len(scores)
