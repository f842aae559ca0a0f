"""Scales keep the order of scores, their buckets nest, and every engine numbers them alike."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voros.engines.backends import as_lazy, collect
from voros.engines.scales import ROOTS, Scale, scale_for

floats = st.floats(allow_nan=False)
levels = st.integers(0, 55)

SCALES = {
    "linear": Scale(50),
    "tiny": Scale.up_to(3e-40),
    "smallest": Scale.up_to(5e-324),
    "largest": Scale.up_to(1.7e308),
    "roots": Scale.up_to(3.0, ROOTS),
    "smallest roots": Scale.up_to(5e-324, ROOTS),
    "largest roots": Scale.up_to(1.7e308, ROOTS),
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


@pytest.mark.parametrize("level", [0, 17, 48, 55])
def test_every_engine_numbers_buckets_as_numpy_does(make_frame, scale, level):
    frame = as_lazy(make_frame({"score": AWKWARD, "row": np.arange(len(AWKWARD))}))
    table = collect(scale.with_buckets(frame, "score", "bucket", level))
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


def test_scores_beyond_the_largest_share_the_last_bucket():
    numbers = SCALES["linear"].buckets([-1.1, 3.1, -17.0, 17.0, -math.inf, math.inf, 0.0], 50)
    assert numbers.tolist() == [-2, 3, -16, 16, -16, 16, 0]


@given(st.floats(1e-323, 1.79e308), st.booleans())
def test_the_largest_scores_never_share_a_key(largest, negative):
    """So that a count of a single bin always splits it."""
    ends = [largest, np.nextafter(largest, 0), 0.0]
    keys = Scale.up_to(largest).buckets([-end for end in ends] if negative else ends)
    assert len(set(keys.tolist())) == 3


@pytest.mark.parametrize(
    ("draw", "linear"),
    [
        (lambda rng: rng.random(5000), True),
        (lambda rng: rng.normal(0, 3, 5000), True),
        (lambda rng: np.exp(rng.normal(-20, 8, 5000)), False),
        (lambda rng: -np.exp(rng.normal(-20, 8, 5000)), False),
        (lambda rng: rng.normal(size=5000) * 1e250, True),
    ],
)
def test_a_scale_is_chosen_on_which_the_scores_lie_evenly(draw, linear):
    scores = draw(np.random.default_rng(5))
    scale = scale_for(scores, np.arange(5000) % 3 == 0, scores.min(), scores.max())
    assert (scale.roots == 0) == linear
    fullest = np.unique(scale.buckets(scores, 42), return_counts=True)[1].max()
    assert not linear or fullest < 0.05 * len(scores)
