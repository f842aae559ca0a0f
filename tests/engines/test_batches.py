"""Rows counted in this process, and those that are held, against plain counting."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import voros
from voros.engines import BinnedCounts, count_frame
from voros.engines.batches import CellTable, IncompleteRowsError, count_batches
from voros.engines.bins import Bins
from voros.engines.held import HeldRows, read_rows
from voros.engines.plan import Named, PassPlan, Wanted
from voros.engines.scales import BITS, Scale
from voros.exceptions import IncompleteCountsError

pl = pytest.importorskip("polars")

EDGED = {
    "linear": Scale(0, 50, -1.0, 3.0),
    "whole": Scale(0, 12, 0.0, 1.0),
    "bits": BITS,
    "bits in a range": Scale(None, lowest=-2.5, highest=1e-3),
}


@given(
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(list(EDGED)),
    st.integers(0, 48),
)
def test_edges_of_a_cell_are_in_it_and_their_neighbours_are_not(score, name, level):
    scale = EDGED[name]
    if not (scale.has_edges(level) and scale.lowest <= score <= scale.highest):
        return
    cells = scale.cells([score], level)
    low, high = scale.edges(cells, level)
    assert low[0] <= score <= high[0]
    assert scale.cells([low[0], high[0]], level).tolist() == [*cells, *cells]
    with np.errstate(over="ignore"):
        outside = np.nextafter([low[0], high[0]], [-math.inf, math.inf])
    beyond = scale.cells(outside[np.isfinite(outside)], level)
    assert cells[0] not in beyond.tolist()


def test_edges_are_not_known_where_a_product_may_round():
    assert not Scale(3, 51, 0.0, 4.0).has_edges(0)
    assert not Scale(0, 10, 0.0, 2.0**40).has_edges(11)


def draw(n_cases, random_state):
    rng = np.random.default_rng(random_state)
    scores = rng.normal(size=n_cases)
    return scores, rng.random(n_cases) < 1 / (1 + np.exp(2 - scores)), rng.random(n_cases)


@pytest.mark.parametrize("small_counts", [2**30, 1000])
@pytest.mark.parametrize("by_edges", [True, False])
def test_counts_are_those_of_the_rows(monkeypatch, small_counts, by_edges):
    """Scores beyond the ends included; counts of 32 bits are emptied before they overflow."""
    monkeypatch.setattr("voros.engines.batches.SMALL_COUNTS", small_counts)
    monkeypatch.setattr("voros.engines.batches.BLOCK", 300)
    scores, labels, _ = draw(10_000, 1)
    want = Wanted(Scale(0, 5, -2.0, 2.5), 0, -64, 80, by_edges=by_edges)
    bins = Bins.of(count_batches([(scores, labels)], want, weighted=False), weighted=False)
    assert bins.rows.sum() == len(scores)
    for least, greatest, rows, positive in zip(
        bins.least, bins.greatest, bins.rows, bins.positive, strict=True
    ):
        inside = (scores >= least) & (scores <= greatest)
        assert (np.count_nonzero(inside), np.count_nonzero(labels[inside])) == (rows, positive)
    assert (bins.least[-1], bins.greatest[0]) == (scores.min(), scores.max())
    assert np.isin(bins.least[bins.occurs], scores).all()
    assert bins.occurs.all() != by_edges


def test_a_label_that_is_missing_is_found():
    want = Wanted(Scale(0, 2, 0.0, 1.0), 0, 0, 4)
    with pytest.raises(IncompleteRowsError):
        count_batches([(np.array([0.5]), np.array([None]))], want, weighted=False)


@pytest.mark.parametrize("level", [0, 6, 9])
def test_held_rows_are_counted_as_an_engine_counts(level):
    """By a table, and by sorting where cells are many; with weights too."""
    scores, labels, weights = draw(3000, 2)
    scale = Scale(0, 20, -4.0, 4.0)
    named = Named(16, -64, np.random.default_rng(2).random(128) < 0.5)
    want = Wanted(scale, level, low=-1.0, high=2.0, named=named)
    columns = read_rows([(scores, labels, weights)], want, len(scores))
    assert read_rows([(scores, labels, weights)], want, len(columns[0])) is not None
    assert read_rows([(scores, labels, weights)], want, len(columns[0]) - 1) is None
    found = HeldRows({"s": columns}, {}).count(PassPlan({"s": want}))["s"]
    cells = scale.cells(scores, 16) + 64
    kept = named.wanted[cells] & (scores >= -1.0) & (scores <= 2.0)
    keys = -scale.cells(scores, level)
    _, first, home = np.unique(keys[kept], return_index=True, return_inverse=True)
    assert found.rows.tolist() == np.bincount(home).tolist()
    assert found.positive == pytest.approx(np.bincount(home, (weights * labels)[kept]))
    assert found.negative == pytest.approx(np.bincount(home, (weights * ~labels)[kept]))
    assert np.all((found.least <= scores[kept][first]) & (scores[kept][first] <= found.greatest))


def as_frame(scores, labels):
    return pl.LazyFrame({"y": labels, "s": scores})


def test_rows_that_can_matter_are_read_once():
    scores, labels, _ = draw(300_000, 3)
    scenario = voros.Scenario(cost_ratio=(0.1, 0.3))
    options = {"label": "y", "scores": ["s"], "scenarios": [scenario]}
    points = count_frame(as_frame(scores, labels), largest_answer=2**16, **options)["s"]
    truth = voros.evaluate(labels, scores, scenario).score
    assert points.covers.interval == pytest.approx((truth, truth), abs=1e-12)
    assert points.covers.usage.passes == 2
    assert points.covers.usage.rows_counted < 1.1 * 300_000


def test_what_is_open_everywhere_is_read_by_parts(monkeypatch):
    """Labels that alternate leave every bin open, and no finer count closes any."""
    monkeypatch.setattr("voros.engines.refinement.MOST_PARENTS", 50)
    scores, labels = np.arange(20_000) / 20_000, np.arange(20_000) % 2 == 0
    scenario = voros.Scenario(cost_ratio=(0.01, 1.0))
    points = count_frame(
        as_frame(scores, labels),
        label="y",
        scores=["s"],
        scenarios=[scenario],
        largest_answer=500,
        tolerance=0,
    )["s"]
    truth = voros.evaluate(labels, scores, scenario).score
    assert points.covers.interval == pytest.approx((truth, truth), abs=1e-12)
    # One count, and 20,000 rows by 8 * 500 of them.
    assert points.covers.usage.passes <= 1 + 5 + 1


def test_bins_are_merged_from_the_highest_down():
    ends = np.arange(5.0)[::-1]
    bins = Bins(ends, ends + 0.5, *([np.arange(1, 6)] * 3), ends > 1)
    found = bins.merged(2)
    assert found.least.tolist() == [3.0, 1.0, 0.0]
    assert found.greatest.tolist() == [4.5, 2.5, 0.5]
    assert found.rows.tolist() == [3, 7, 5]
    assert found.occurs.tolist() == [True, False, False]
    assert found.hold(bins).all()
    assert bins.hold(found).tolist() == [False, False, True]


def test_a_threshold_inside_a_bin_of_one_row_is_unknown():
    points = BinnedCounts.from_scores([1, 0], [0.9, 0.3], bits=12).points
    points.covers.check_thresholds(points.thresholds, np.array([0.5]))
    with pytest.raises(IncompleteCountsError, match=r"the threshold 0\.95 raises"):
        points.covers.check_thresholds(points.thresholds, np.array([0.95]))


def test_a_table_of_nothing_is_empty():
    table = CellTable(Wanted(Scale(0, 2, 0.0, 1.0), 0, 0, 4), weighted=False)
    table.add(np.zeros(0), np.zeros(0, dtype=bool))
    assert len(table.answer()["rows"]) == 0


@pytest.mark.parametrize("ascending", [False, True])
def test_rows_above_a_cut_are_read_at_once_unless_they_turn_out_to_be_many(ascending):
    scores, labels, _ = draw(200_000, 4)
    # The first of rows that rise are the lowest, and nearly all others lie above a cut there.
    order = np.argsort(scores) if ascending else np.arange(len(scores))
    scenario = voros.Scenario(0.3, 0.02, (0.05, 0.3))
    options = {"label": "y", "scores": ["s"], "scenarios": [scenario], "largest_answer": 2**12}
    points = count_frame(as_frame(scores[order], labels[order]), **options)["s"]
    truth = voros.evaluate(labels, scores, scenario)
    found = voros.evaluate(points, scenario=scenario)
    assert found.score == pytest.approx(truth.score, abs=1e-12)
    assert repr(found.choices) == repr(truth.choices)
    assert (points.covers.usage.passes == 2) != ascending
    assert points.covers.usage.rows_counted < (2.1 if ascending else 0.05) * 200_000
