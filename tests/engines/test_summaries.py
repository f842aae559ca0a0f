"""Summaries of parts add up to the summary of the whole, and say what binning lost."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import voros
from voros.engines import BinnedCounts, ChangedDataError, count_frame
from voros.exceptions import IncompleteCountsError
from voros.io.documents import DocumentError
from voros.winners import winner_map

SCENARIO = voros.Scenario(0.3, 0.2, (0.1, 0.4))


def draw(n_cases, random_state):
    rng = np.random.default_rng(random_state)
    scores = rng.normal(size=n_cases)
    return rng.random(n_cases) < 1 / (1 + np.exp(2 - 2 * scores)), scores, rng.random(n_cases) + 0.5


def fields(counts):
    names = ("buckets", "rows", "positive", "negative")
    return [getattr(counts, name).tolist() for name in names]


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**6), st.integers(20, 180), st.sampled_from([12, 16, 20]))
def test_parts_add_up_to_the_whole(random_state, cut, bits):
    labels, scores, _ = draw(200, random_state)
    labels[[0, 1, -2, -1]] = True, False, True, False
    one = BinnedCounts.from_scores(labels[:cut], scores[:cut], bits=bits)
    other = BinnedCounts.from_scores(labels[cut:], scores[cut:], bits=bits)
    whole = BinnedCounts.from_scores(labels, scores, bits=bits)
    assert fields(one + other) == fields(whole) == fields(other + one)


def test_counts_are_those_of_numpy_histogram():
    """Buckets of 12 bits are octaves, so their edges are powers of two."""
    labels, scores, _ = draw(5000, 1)
    counts = BinnedCounts.from_scores(labels, np.exp(scores), bits=12)
    edges = 2.0 ** np.arange(-8, 8)
    expected, _ = np.histogram(np.exp(scores)[labels], edges)
    positives, _ = np.histogram(counts.bins.least, edges, weights=counts.positive)
    assert positives.tolist() == expected.tolist()


def test_the_interval_holds_the_score_and_narrows_with_bits():
    labels, scores, _ = draw(20_000, 2)
    truth = voros.evaluate(labels, scores, SCENARIO).score
    widths = []
    for bits in (12, 16, 20, 24):
        low, high = BinnedCounts.from_scores(labels, scores, bits=bits).bounds(SCENARIO)
        assert low <= truth <= high
        widths.append(high - low)
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] < 1e-3 < widths[0]


def test_thresholds_at_edges_raise_the_alarms_they_say():
    labels, scores, _ = draw(1000, 3)
    points = BinnedCounts.from_scores(labels, scores, bits=14).points
    for threshold, tp, fp in zip(points.thresholds, points.tp, points.fp, strict=True):
        assert tp == np.sum(labels & (scores >= threshold))
        assert fp == np.sum(~labels & (scores >= threshold))


ASKED = {
    "evaluate": lambda points, scenario: voros.evaluate(points, scenario=scenario),
    "from_points": voros.ThresholdPolicy.from_points,
    "select_model": lambda points, scenario: voros.select_model({"a": points}, scenario=scenario),
    "winner_map": lambda points, scenario: winner_map(
        {"a": points, "b": points},
        min_precisions=[scenario.min_precision],
        capacities=[scenario.capacity],
        cost_ratio=scenario.costs,
    ),
}


@pytest.mark.parametrize("asked", ASKED)
def test_points_refuse_a_scenario_that_their_bins_leave_open(asked):
    labels, scores, _ = draw(20_000, 2)
    counts = BinnedCounts.from_scores(labels, scores, bits=14)
    with pytest.raises(IncompleteCountsError, match="count with more bits") as no:
        ASKED[asked](counts.points, SCENARIO)
    low, high = map(float, str(no.value).split("between ")[1].split(";")[0].split(" and "))
    assert low <= voros.evaluate(labels, scores, SCENARIO).score <= high
    ASKED[asked](counts.binned.within(high - low + 1e-5).points, SCENARIO)


def test_points_with_a_case_to_a_bin_answer_as_in_memory():
    labels, _, _ = draw(2000, 3)
    scores = 1.0 + np.arange(2000) / 2048
    points = BinnedCounts.from_scores(labels, scores, bits=24).points
    for ask in ASKED.values():
        ask(points, SCENARIO)
    score = voros.evaluate(points, scenario=SCENARIO).score
    assert score == pytest.approx(voros.evaluate(labels, scores, SCENARIO).score, abs=1e-12)


def test_different_bits_add_at_the_wider_bins():
    labels, scores, _ = draw(400, 4)
    fine, coarse = (BinnedCounts.from_scores(labels, scores, bits=bits) for bits in (20, 14))
    assert (fine + coarse).bits == 14
    assert fields(fine.coarser(14)) == fields(coarse)


def test_weights_are_summed_by_class():
    labels, scores, weights = draw(300, 5)
    counts = BinnedCounts.from_scores(labels, scores, sample_weight=weights)
    assert counts.n_positive == pytest.approx(weights[labels].sum(), rel=1e-12)
    assert counts.one_case == weights.min()
    truth = voros.evaluate(labels, scores, SCENARIO, sample_weight=weights).score
    low, high = counts.bounds(SCENARIO)
    assert low - 1e-12 <= truth <= high + 1e-12


def saved(labels=(1, 0), scores=(0.9, 0.1), **options):
    """The document of a site's counts, in which one model is called "m"."""
    counts = voros.SiteCounts.from_scores(
        list(labels), {"m": list(scores)}, site="north", min_rows=1, **options
    )
    return json.loads(counts.to_json())


def load(document):
    return voros.SiteCounts.from_json(json.dumps(document)).models["m"]


@pytest.mark.parametrize("bits", [12, 20])
def test_a_file_is_read_back_as_it_was(bits):
    labels, scores, weights = draw(300, 6)
    restored = load(saved(labels, scores, sample_weight=weights, bits=bits))
    counts = BinnedCounts.from_scores(labels, scores, sample_weight=weights, bits=bits)
    assert fields(restored) == fields(counts)
    # The smallest weight is one patient's: its power of two is saved.
    assert (restored.bits, restored.one_case) == (counts.bits, 0.5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rows": [1]}, "rows has another length than buckets, 2"),
        ({"rows": [1, 5]}, r"rows\[1\] is 5; positive and negative add up to 1"),
        ({"rows": [0, 1]}, r"rows\[0\] is 0; accepted is a whole number within \[1,"),
        ({"rows": [True, 1]}, r"rows\[0\] is true"),
        (
            {"buckets": [1, 2]},
            r"buckets\[1\] is 2; accepted is a bucket below the one before it, 1",
        ),
        ({"buckets": [2**40, 2]}, r"buckets\[0\] is 1099511627776; accepted is a whole number"),
        ({"buckets": None}, "buckets is null; accepted is a list"),
        ({"positive": [1, -1]}, r"positive\[1\] is -1; accepted is a number"),
        ({"positive": [1, "Infinity"]}, r'positive\[1\] is "Infinity"; accepted is a number'),
        ({"positive": [0.5, 0]}, "positive and negative: one is whole numbers"),
        ({"bits": 40}, r"bits is 40; accepted is a whole number within \[12, 24\]"),
        ({"bits": True}, "bits is true; accepted is a whole number"),
        ({"one_case": 0.25}, "one_case is 0.25; accepted is 1 where the counts are whole"),
        ({"extra": 1}, 'unknown key "extra"'),
        ({"bits": 19}, "was changed after it was saved"),
    ],
)
def test_damaged_files_are_refused_by_name(change, message):
    document = saved()
    document["models"]["m"] |= change
    with pytest.raises(DocumentError, match=message):
        load(document)


def test_missing_keys_are_named():
    for key in saved()["models"]["m"]:
        document = saved()
        del document["models"]["m"][key]
        with pytest.raises(DocumentError, match=f'lacks "{key}"'):
            load(document)


def test_rows_of_weighted_counts_cannot_be_set_to_one():
    """One row to a bin would mean that nothing inside it is open: a falsely exact score."""
    labels, scores, weights = draw(300, 6)
    document = saved(labels, scores, sample_weight=weights, bits=12)
    rows = document["models"]["m"]["rows"]
    document["sites"][0]["cases"], document["models"]["m"]["rows"] = len(rows), [1] * len(rows)
    with pytest.raises(DocumentError, match="was changed after it was saved"):
        load(document)


def test_several_sites_are_summed():
    labels, scores, _ = draw(300, 9)
    parts = [BinnedCounts.from_scores(labels[i::3], scores[i::3], pos_label=True) for i in range(3)]
    assert fields(sum(parts)) == fields(BinnedCounts.from_scores(labels, scores))
    assert fields(sum(parts[:1])) == fields(parts[0])


def test_a_site_may_hold_one_class_whatever_its_labels():
    ill = BinnedCounts.from_scores(["ill", "ill"], [0.9, 0.4], pos_label="ill")
    well = BinnedCounts.from_scores(["well"], [0.2], pos_label="ill")
    both = BinnedCounts.from_scores(["ill", "ill", "well"], [0.9, 0.4, 0.2], pos_label="ill")
    assert fields(ill + well) == fields(both)
    with pytest.raises(ValueError, match="positive class is not clear; pass pos_label"):
        BinnedCounts.from_scores(["ill", "ill"], [0.9, 0.4])


def test_other_things_do_not_add():
    with pytest.raises(TypeError):
        BinnedCounts.from_scores([1, 0], [0.9, 0.1]) + 1


def test_finer_bins_cannot_be_made_up():
    with pytest.raises(ValueError, match="bits=20 is finer than these counts, which have 14"):
        BinnedCounts.from_scores([1, 0], [0.9, 0.1], bits=14).coarser(20)


def test_a_site_without_one_class_still_counts():
    """A quiet day has no positive case; its negatives belong to the sum all the same."""
    quiet = BinnedCounts.from_scores(np.zeros(3, dtype=bool), [0.2, 0.5, 0.6])
    busy = BinnedCounts.from_scores(np.array([True, False]), [0.7, 0.1])
    assert (quiet + busy).n_negative == 4
    with pytest.raises(ValueError, match="no positive case"):
        quiet.bounds(SCENARIO)


def test_a_frame_that_loses_rows_between_passes_is_an_error():
    pl = pytest.importorskip("polars")
    labels, scores, _ = draw(5000, 8)
    rng = np.random.default_rng(8)
    some = pl.col("s").map_batches(
        lambda s: pl.Series(rng.random(len(s)) < 0.5), return_dtype=pl.Boolean
    )
    frame = pl.LazyFrame({"y": labels, "s": scores}).filter(some)
    with pytest.raises(ChangedDataError, match="between passes"):
        count_frame(frame, label="y", scores=["s"], largest_answer=5000)
