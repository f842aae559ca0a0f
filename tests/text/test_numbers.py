"""Numbers for people: what is written must be true of the number."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voros.text.numbers import count, percent, percent_of, rounded_up, short, threshold_text, typed

SIZES = st.floats(1e-12, 1e12)


def number_in(text: str) -> float:
    return float(text.removesuffix(" %").replace(",", ""))


@given(SIZES)
def test_a_measurement_is_off_by_half_of_its_third_digit_at_most(value: float) -> None:
    assert number_in(short(value)) == pytest.approx(value, rel=0.005 + 1e-9)


@given(st.floats(0, 1, exclude_max=True), st.floats(0.001, 0.999))
def test_rounding_reaches_neither_one_nor_a_limit(value: float, limit: float) -> None:
    # What differs by less than a billionth is a matter of rounding in the arithmetic before.
    if value < 1 - 1e-8:
        assert number_in(short(value)) < 1
        assert number_in(percent(value)) < 100
    if abs(value - limit) > 1e-8:
        assert (number_in(short(value, limit)) < limit) == (value < limit)


@given(st.integers(0, 10**12))
def test_counts_are_in_full(value: int) -> None:
    assert number_in(count(value)) == value


@given(st.floats(100, 1e9))
def test_a_sum_of_weights_keeps_its_whole_part(value: float) -> None:
    assert number_in(count(value)) == pytest.approx(value, abs=0.501)


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e12, max_value=1e12))
def test_a_threshold_is_exact_or_no_number_at_all(threshold: float) -> None:
    text = threshold_text(threshold)
    if text.endswith("..."):
        with pytest.raises(ValueError, match="could not convert"):
            float(text)
        # Cut, not rounded: never further from zero than the threshold is.
        assert abs(float(text[:-3])) <= abs(threshold)
        assert float(text[:-3]) == pytest.approx(threshold, rel=0.01)
    else:
        assert float(text) == threshold


@given(st.floats(1e-9, 1e3))
def test_a_bound_is_never_rounded_down(value: float) -> None:
    assert value <= rounded_up(value) <= value * 1.01001


@pytest.mark.parametrize("value", [0.15, 0.05, 2000.0, 0.9999, 1 / 8])
def test_what_was_typed_stands_as_typed(value: float) -> None:
    assert float(typed(value)) == value


def test_what_is_not_finite_has_words() -> None:
    assert [short(math.nan), short(math.inf), count(-math.inf)] == ["-", "infinity", "-infinity"]


@pytest.mark.parametrize("n", [7, 70, 143, 2000])
def test_a_share_of_few_is_never_written_as_none_or_all(n: int) -> None:
    for wins in range(1, 2 * n):
        written = percent_of(wins / (2 * n), n)
        assert 0 < float(written.removesuffix(" %")) < 100
