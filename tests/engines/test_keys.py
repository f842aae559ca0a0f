"""The float key keeps the order of floats."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from voros.engines.keys import bucket_end, bucket_of, bucket_start, from_key, to_key

floats = st.floats(allow_nan=False)


@given(floats, floats)
def test_keys_compare_as_the_floats_do(one, other):
    first, second = to_key([one, other])
    assert (first < second) == (one < other)
    assert (first == second) == (one == other)


@given(floats)
def test_a_key_leads_back_to_its_float(score):
    assert from_key(to_key([score]))[0] == score


@given(floats, st.integers(0, 52))
def test_a_score_lies_within_its_bucket(score, level):
    bucket = bucket_of([score], level)
    assert bucket_start(bucket, level)[0] <= score
    assert score <= bucket_end(bucket, level)[0] or math.isinf(score)


@given(floats, floats, st.integers(0, 60), st.integers(0, 60))
def test_buckets_of_one_level_nest_in_those_of_a_higher(one, other, level, higher):
    level, higher = sorted((level, higher))
    fine, coarse = bucket_of([one, other], level), bucket_of([one, other], higher)
    assert fine[0] != fine[1] or coarse[0] == coarse[1]


def test_an_octave_holds_sixteen_buckets_of_level_48():
    scores = np.linspace(1.0, 2.0, 10_000, endpoint=False)
    assert len(np.unique(bucket_of(scores, 48))) == 16
