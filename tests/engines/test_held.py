"""Rows held in this process are counted as an engine counts them, range by range."""

import numpy as np
import pytest

from voros.engines.bins import Bins
from voros.engines.held import HeldRows, read_rows
from voros.engines.plan import PassPlan, Wanted
from voros.engines.scales import BITS, Scale

SCALE = Scale(0, 10, 0.0, 1.0)
RANGES = ((0.25, 0.375), (0.5, 0.75))


def draw(weighted):
    rng = np.random.default_rng(5)
    # Multiples of 1/64: the ends of both ranges occur.
    scores = rng.integers(0, 64, 3000) / 64
    columns = [scores, rng.random(3000) < scores]
    return [*columns, rng.integers(1, 9, 3000).astype(np.float64)] if weighted else columns


def one_bin(scores):
    counts = (np.array([n]) for n in (len(scores), 1, len(scores) - 1))
    return Bins(scores[:1] * 0, scores[:1] * 0 + 1, *counts, np.array([False]))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("cells", [(SCALE, 4, 0, 64), (BITS, 0)], ids=["table", "sorted"])
def test_ranges_are_counted_with_both_ends(weighted, cells):
    scores, positive, *weights = columns = draw(weighted)
    held = HeldRows({"model": columns}, {"model": one_bin(scores)})
    want = Wanted(*cells, low=0.25, high=0.7, ranges=RANGES)
    found = held.count(PassPlan({"model": want}))["model"]

    inside = sum((scores >= low) & (scores <= high) for low, high in RANGES).astype(bool)
    inside &= scores <= 0.7
    mass = weights[0] if weighted else np.ones(len(scores))
    falling = np.unique(scores[inside])[::-1]
    assert found.least.tolist() == found.greatest.tolist() == falling.tolist()
    assert found.rows.tolist() == [np.sum(scores == each) for each in falling]
    for counts, of_class in ((found.positive, positive), (found.negative, ~positive)):
        assert counts.tolist() == [np.sum(mass[(scores == each) & of_class]) for each in falling]


def test_bins_of_a_model_without_rows_are_not_covered():
    scores = np.array([0.5])
    held = HeldRows({"model": [scores, scores > 0]}, {"model": one_bin(scores)})
    assert held.covered("other", one_bin(scores)).tolist() == [False]
    assert held.covered("model", one_bin(scores)).tolist() == [True]


def test_no_batches_are_no_rows():
    scores, positive = read_rows([], Wanted(BITS, 0), at_most=5)
    assert (len(scores), len(positive), positive.dtype) == (0, 0, np.bool_)
