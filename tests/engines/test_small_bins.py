"""Small buckets are merged with neighbours, and the interval stays honest."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import voros
from voros.engines import BinnedCounts
from voros.engines.small_bins import Ranges, overlapping, without_small

SCENARIOS = [
    voros.Scenario(0.3, 0.2, (0.1, 0.4)),
    voros.Scenario(cost_ratio=(0.05, 0.3)),
    voros.Scenario(0.6, 40, 0.2),
]


def draw(random_state, n_cases=400):
    rng = np.random.default_rng(random_state)
    scores = rng.normal(size=n_cases).round(rng.integers(0, 17))
    labels = rng.random(n_cases) < 1 / (1 + np.exp(2 - 2 * scores))
    labels[:2] = True, False
    return labels, scores * 10.0 ** rng.integers(-3, 4)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([2, 10, 50, 400]))
def test_no_range_is_small_and_the_interval_holds_the_score(random_state, fewest):
    labels, scores = draw(random_state)
    fine = BinnedCounts.from_scores(labels, scores)
    merged = fine.merge_small_bins(fewest)
    assert merged.rows.min() >= fewest
    assert merged.rows.sum() == 400
    assert merged.n_positive == labels.sum()
    for scenario in SCENARIOS:
        truth = voros.evaluate(labels, scores, scenario).score
        low, high = merged.bounds(scenario)
        finer = fine.bounds(scenario)
        assert low <= finer[0] + 1e-12 <= truth + 2e-12
        assert truth <= finer[1] + 1e-12 <= high + 2e-12


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_thresholds_of_merged_sites_raise_the_alarms_they_say(random_state):
    labels, scores = draw(random_state)
    site = np.random.default_rng(random_state).integers(0, 3, 400)
    parts = [
        BinnedCounts.from_scores(labels[site == i], scores[site == i], pos_label=True)
        for i in range(3)
    ]
    parts = [part.merge_small_bins(fewest) for part, fewest in zip(parts, (1, 10, 30), strict=True)]
    total = parts[0] + parts[1] + parts[2]
    other = parts[2] + parts[0] + parts[1]
    for name in ("buckets", "widths", "rows", "positive", "negative"):
        assert getattr(total, name).tolist() == getattr(other, name).tolist()
    points = total.points
    for threshold, tp, fp in zip(points.thresholds, points.tp, points.fp, strict=True):
        assert tp == np.sum(labels & (scores >= threshold))
        assert fp == np.sum(~labels & (scores >= threshold))


def test_an_outlier_costs_one_boundary():
    """A single tiny score must not pull everything between 0 and 2 into one range."""
    labels, _ = draw(0, 5000)
    scores = np.random.default_rng(1).random(5000) / 2 + 0.5
    plain = BinnedCounts.from_scores(labels, scores).merge_small_bins(10)
    scores[17] = 1e-30
    outlier = BinnedCounts.from_scores(labels, scores).merge_small_bins(10)
    assert len(outlier.buckets) >= len(plain.buckets) - 2


def test_sites_keep_most_boundaries_in_common():
    """Boundaries kept at random places would leave next to none after ten sites."""
    rng = np.random.default_rng(3)
    parts = []
    for _ in range(10):
        scores = rng.random(2000) / 2 + 0.5
        counts = BinnedCounts.from_scores(rng.random(2000) < 0.5, scores, bits=24)
        parts.append(counts.merge_small_bins(10))
    assert np.median([len(part.buckets) for part in parts]) < 200
    assert len(sum(parts).buckets) > 40


def test_ranges_do_not_show_where_their_cases_lie():
    counts = BinnedCounts.from_scores([1, 0, 1, 0], [0.9, 0.8, 0.3, 0.26]).merge_small_bins(2)
    ends = counts.buckets + counts.widths
    assert counts.buckets[0] == ends[1]
    assert counts.bins.least[-1] == -np.inf
    assert counts.bins.greatest[0] == np.finfo(float).max


def test_merging_again_changes_nothing_less_small():
    labels, scores = draw(5)
    once = BinnedCounts.from_scores(labels, scores).merge_small_bins(10)
    assert once.merge_small_bins(10) is once
    twice = once.merge_small_bins(40)
    assert twice.rows.min() >= 40
    edges = set(once.bins.least.tolist())
    assert set(twice.bins.least.tolist()) <= edges


def test_counts_too_few_for_one_range_are_refused():
    counts = BinnedCounts.from_scores([1, 0], [0.9, 0.1])
    with pytest.raises(ValueError, match="min_rows=3, and there are 2 cases in all"):
        counts.merge_small_bins(3)
    with pytest.raises(ValueError, match="min_rows=0; accepted is a whole number"):
        counts.merge_small_bins(0)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(-30, 30), st.integers(1, 9)), min_size=1, max_size=12))
def test_overlaps_are_those_of_the_buckets_themselves(drawn):
    ranges = sorted((first, first + width - 1) for first, width in drawn)
    first, last = map(np.array, zip(*ranges, strict=True))
    home = overlapping(Ranges(first, last))
    for i, one in enumerate(ranges):
        for j in range(i):
            buckets = set(range(one[0], one[1] + 1)) & set(range(ranges[j][0], ranges[j][1] + 1))
            if buckets:
                assert home[i] == home[j]
    covered = sorted({bucket for low, high in ranges for bucket in range(low, high + 1)})
    # A group is a run of buckets, cut where a range begins and none reaches over.
    starts = {low for low, _ in ranges}
    cuts = [c for c in covered if c in starts and not any(lo < c <= hi for lo, hi in ranges)]
    assert home[-1] + 1 == len(cuts)


def test_the_finest_boundary_goes_first():
    buckets = np.arange(8)
    kept = without_small(Ranges(buckets, buckets), np.full(8, 3), min_rows=6)
    assert kept.tolist() == [2, 4, 6]
