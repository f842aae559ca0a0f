"""Scales keep the order of scores, their cells nest, and every engine numbers them alike."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voros.engines.backends import adapter_of, as_lazy
from voros.engines.scales import ABOVE, BELOW, BITS, MISSING, Scale, scale_for

floats = st.floats(allow_nan=False)
levels = st.integers(0, 60)

SCALES = {
    "linear": Scale(0, 50, -1.0, 3.0),
    "tiny": Scale(0, 180, 1e-40, 3e-40),
    "eighth root": Scale(3, 51, 0.0, 4.0),
    "many roots": Scale(6, 40, 0.0, 1e300),
    "bits": BITS,
    "bits in a range": Scale(None, lowest=-2.5, highest=1e-3),
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


@pytest.mark.parametrize("level", [0, 17, 45])
def test_every_engine_numbers_cells_as_numpy_does(make_frame, scale, level):
    frame = as_lazy(make_frame({"score": AWKWARD, "row": np.arange(len(AWKWARD))}))
    adapter = adapter_of(frame)
    table = adapter.collect(adapter.with_cell(frame, "score", "cell", scale, level))
    cells = dict(zip(table["row"].to_list(), table["cell"].to_list(), strict=True))
    assert [cells[row] for row in range(len(AWKWARD))] == scale.cells(AWKWARD, level).tolist()


@given(floats, floats, st.sampled_from(list(SCALES.values())), levels)
def test_cells_keep_the_order(one, other, scale, level):
    first, second = scale.cells(sorted([one, other]), level)
    assert first <= second


@given(floats, floats, st.sampled_from(list(SCALES.values())), levels, levels)
def test_cells_of_one_level_nest_in_those_of_a_higher(one, other, scale, level, higher):
    level, higher = sorted((level, higher))
    fine, coarse = scale.cells([one, other], level), scale.cells([one, other], higher)
    inside = (fine > BELOW) & (fine < ABOVE)
    assert np.array_equal(fine[inside] >> (higher - level), coarse[inside])


def test_what_is_beyond_the_ends_or_no_number_has_a_cell_of_its_own():
    found = SCALES["linear"].cells([-1.1, 3.1, math.nan, 0.0], 50)
    assert found.tolist() == [BELOW, ABOVE, MISSING, 0]


@pytest.mark.parametrize(
    ("draw", "roots"),
    [
        (lambda rng: rng.random(5000), 0),
        (lambda rng: rng.normal(0, 3, 5000), 0),
        (lambda rng: np.exp(rng.normal(-20, 8, 5000)), 3),
        (lambda rng: -np.exp(rng.normal(-20, 8, 5000)), None),
        (lambda rng: rng.normal(size=5000) * 1e250, None),
    ],
)
def test_a_scale_is_chosen_on_which_the_scores_lie_evenly(draw, roots):
    scores = draw(np.random.default_rng(5))
    scale = scale_for(scores, np.arange(5000) % 3 == 0, scores.min(), scores.max())
    assert scale.roots == roots
    fullest = np.unique(scale.cells(scores, 41), return_counts=True)[1].max()
    assert roots is None or fullest < 0.05 * len(scores)
