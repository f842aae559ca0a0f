"""Scores of very different scales, in one file and in any order, are counted and come to an end."""

import numpy as np
import pytest

import voros
from voros.engines import count_frame
from voros.engines.bins import Bins
from voros.engines.plan import buckets_to_count
from voros.engines.scales import Scale

pl = pytest.importorskip("polars")

pytestmark = pytest.mark.filterwarnings("ignore::voros.VorosWarning")

N_CASES = 150_000
"""More than one pilot sample, so that sorted rows mislead the first cut."""


def narrow_beside_wide(rng):
    """A thousand neighbouring floats, and logits; sorted by the logits."""
    wide = np.sort(rng.normal(0, 8, N_CASES))[::-1]
    narrow = 0.5 + rng.integers(0, 1000, N_CASES) * 2.0**-53
    return {"wide": wide, "narrow": narrow}, wide / 8


def drifting(rng):
    """Probabilities that fall along the file, beside the logits of another model."""
    place = np.linspace(2, -6, N_CASES)
    logits = rng.normal(0, 3, N_CASES) + place
    return {"logit": rng.normal(0, 3, N_CASES) + logits, "p": 1 / (1 + np.exp(-logits))}, logits / 3


def nearly_constant(rng):
    """One score of a thousand neighbouring floats, sorted."""
    steps = np.sort(rng.integers(0, 1000, N_CASES))[::-1]
    return {"s": 0.7 + steps * 2.0**-53}, steps / 500 - 1


def two_sorted_by_one(rng):
    """Two models in a file sorted by one of them."""
    first = np.sort(rng.random(N_CASES))[::-1]
    return {"a": first, "b": rng.random(N_CASES) * 1e-12 + first * 1e-9}, 4 * first - 2


FILES = (narrow_beside_wide, drifting, nearly_constant, two_sorted_by_one)
SCENARIO = voros.Scenario(0.2, 0.05, (0.02, 0.3))


def check(draw, make_frame, largest_answer):
    rng = np.random.default_rng(13)
    columns, lean = draw(rng)
    labels = rng.random(N_CASES) < 1 / (1 + np.exp(2 - lean))
    counted = count_frame(
        make_frame({"y": labels, **columns}),
        label="y",
        scores=list(columns),
        scenarios=[SCENARIO],
        largest_answer=largest_answer,
    )
    for name, column in columns.items():
        truth = voros.evaluate(labels, column, SCENARIO)
        assert counted[name].covers.interval == pytest.approx((truth.score, truth.score), abs=1e-12)
        result = voros.evaluate(counted[name], scenario=SCENARIO)
        assert repr(result.choices) == repr(truth.choices)
    return counted[name].covers.usage.passes


@pytest.mark.parametrize("draw", FILES, ids=lambda draw: draw.__name__)
def test_mixed_scales_are_counted_exactly_in_a_few_passes(make_frame, draw):
    assert check(draw, make_frame, 60_000) <= 5


@pytest.mark.parametrize("draw", FILES, ids=lambda draw: draw.__name__)
def test_mixed_scales_come_to_an_end_with_small_answers(draw):
    assert check(draw, pl.LazyFrame, 500) <= 9


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_thousands_of_undecided_ranges_are_selected_by_their_buckets(engine):
    """Labels that alternate along the scores leave every range open at wide costs."""
    rng = np.random.default_rng(4)
    scores = rng.random(50_000) ** 3
    labels = np.zeros(50_000, dtype=bool)
    labels[np.argsort(scores)[::2]] = True
    scenario = voros.Scenario(cost_ratio=(0.01, 1.0))
    frame = pl.DataFrame({"y": labels, "s": scores})
    if engine == "duckdb":
        lazy = pytest.importorskip("duckdb").connect().from_arrow(frame.to_arrow())
    else:
        lazy = frame.lazy()
    points = count_frame(lazy, label="y", scores=["s"], scenarios=[scenario], largest_answer=2**14)[
        "s"
    ]
    truth = voros.evaluate(labels, scores, scenario).score
    assert points.covers.interval == pytest.approx((truth, truth), abs=1e-12)
    assert points.covers.usage.passes <= 20


def test_bins_that_no_bucket_tells_apart_are_counted_one_by_one():
    """A scale that puts two bins into one bucket must not count them together."""
    beside, counts = np.nextafter(0.3, 0), np.full(2, 10**6)
    least, greatest = np.array([0.3, -40.0]), np.array([40.0, beside])
    bins = Bins(least, greatest, counts, counts // 2, counts // 2)
    _, chosen = buckets_to_count(bins, np.ones(2, dtype=bool), Scale.up_to(40.0), 1000)
    assert chosen.sum() == 1


@pytest.mark.parametrize(
    ("least", "greatest"),
    [(-np.inf, -np.finfo(float).max), (-np.inf, 5.0), (0.0, 5e-324), (1.0, np.nextafter(1, 2))],
)
def test_a_single_bin_is_split_whatever_its_ends(least, greatest):
    """Or the search would count it forever."""
    counts = np.array([10**6])
    bins = Bins(np.array([least]), np.array([greatest]), counts, counts // 2, counts // 2)
    query, _ = buckets_to_count(bins, np.ones(1, dtype=bool), Scale(0), 1000)
    first, last = query.scale.buckets([least, greatest], query.level)
    assert first < last
