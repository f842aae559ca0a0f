"""Everything a user may pass as labels, scores and weights, and everything that is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import voros

Y = [0, 1, 0, 1, 1, 0]
S = [0.1, 0.9, 0.8, 0.7, 0.3, 0.2]
LIMITS = {"min_precision": 0.5, "capacity": 0.7, "cost_ratio": (0.1, 0.2)}
EXPECTED = voros.partial_voros_score(Y, S, **LIMITS)


def score(y_true, y_score, **more) -> float:
    return voros.partial_voros_score(y_true, y_score, **LIMITS, **more)


@pytest.mark.parametrize("dtype", [bool, int, float, np.int8, np.uint8, np.float32, object])
def test_labels_of_any_binary_dtype(dtype) -> None:
    assert score(np.array(Y).astype(dtype), S) == EXPECTED


@pytest.mark.parametrize(
    ("labels", "pos_label"),
    [
        ([-1, 1, -1, 1, 1, -1], None),
        (["a", "b", "a", "b", "b", "a"], "b"),
        (np.array(["a", "b", "a", "b", "b", "a"]), "b"),
        ([1, 2, 1, 2, 2, 1], 2),
        ([2, 1, 2, 1, 1, 2], 1),
        ([True, False, True, False, False, True], False),
    ],
)
def test_other_labels(labels, pos_label) -> None:
    assert score(labels, S, pos_label=pos_label) == EXPECTED


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.float64, np.longdouble])
def test_scores_of_any_float_dtype(dtype) -> None:
    assert score(Y, np.array(S, dtype=dtype)) == EXPECTED


def test_whole_number_and_bool_scores() -> None:
    ranks = np.argsort(np.argsort(S))
    for dtype in (int, np.uint8, np.int16):
        assert score(Y, ranks.astype(dtype)) == EXPECTED
    assert score(Y, np.array(S) > 0.5) == score(Y, (np.array(S) > 0.5).astype(int))


def test_negative_strides_and_read_only_arrays() -> None:
    backwards = np.array(S[::-1])[::-1]
    backwards.flags.writeable = False
    assert score(np.array(Y), backwards) == EXPECTED
    assert backwards.tolist() == S


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_columns_of_data_frames(library) -> None:
    module = pytest.importorskip(library)
    make = {"pandas": "Series", "polars": "Series", "pyarrow": "array"}[library]
    y_true, y_score, weight = (getattr(module, make)(v) for v in (Y, S, [1.0] * 6))
    assert score(y_true, y_score) == EXPECTED
    assert score(y_true, y_score, sample_weight=weight) == pytest.approx(EXPECTED, abs=1e-12)
    names = getattr(module, make)(["no", "yes", "no", "yes", "yes", "no"])
    assert score(names, y_score, pos_label="yes") == EXPECTED


def test_pyarrow_chunks_and_pandas_odd_index() -> None:
    pa, pd = pytest.importorskip("pyarrow"), pytest.importorskip("pandas")
    assert score(pa.chunked_array([Y[:2], Y[2:]]), pa.chunked_array([S[:3], S[3:]])) == EXPECTED
    assert score(pd.Series(Y, index=list("fedcba")), pd.Series(S, index=range(6))) == EXPECTED
    assert score(pd.Series(Y, dtype="Int64"), pd.Series(S, dtype="Float64")) == EXPECTED
    assert score(pd.Series(Y).astype("category"), S, pos_label=1) == EXPECTED


def test_infinite_scores_are_extreme_scores() -> None:
    top = [0.1, np.inf, 0.8, 0.7, 0.3, -np.inf]
    assert score(Y, top) == score(Y, [0.1, 9, 0.8, 0.7, 0.3, -9])
    points = voros.OperatingPoints.from_scores(Y, top)
    # +inf stays never alarm; the case scored +inf is flagged by the largest finite threshold.
    assert points.thresholds[:2].tolist() == [np.inf, np.finfo(float).max]
    assert (points.tp[0], points.tp[1], points.thresholds[-1]) == (0, 1, -np.inf)


NAN = float("nan")
REFUSED = {
    "NaN score": ((Y, [NAN, *S[1:]]), {}, r"y_score holds NaN in 1 of 6 cases \(first at index 0"),
    "NaN label": (([NAN, 1, 0, 1, 1, 0], S), {}, "y_true holds NaN"),
    "missing label": (
        (np.array([None, 1, 0, 1, 1, 0]), S),
        {},
        "y_true holds (missing values|NaN)",
    ),
    "lengths": ((Y, S[:-1]), {}, "y_true has 6, y_score has 5"),
    "weight length": ((Y, S), {"sample_weight": [1]}, "y_true has 6, sample_weight has 1"),
    "only negatives": (([0] * 6, S), {}, "y_true holds negative cases only"),
    "only positives": (([1] * 6, S), {}, "y_true holds positive cases only"),
    "three classes": (([0, 1, 2, 1, 1, 0], S), {}, r"3 distinct labels \(0, 1, 2\); two"),
    "three words": ((list("abcaab"), S), {"pos_label": "a"}, "3 distinct labels"),
    "fractions": (([0.5, 1, 0, 1, 1, 0], S), {}, "3 distinct labels"),
    "ambiguous words": ((list("abaabb"), S), {}, "'a', 'b'.*pass pos_label"),
    "ambiguous numbers": (([1, 2, 1, 2, 2, 1], S), {}, "1, 2.*pass pos_label"),
    "absent pos_label": ((Y, S), {"pos_label": 7}, r"pos_label=7 is not one of .* \(0, 1\)"),
    "absent word": ((list("abaabb"), S), {"pos_label": "x"}, "pos_label='x' is not one of"),
    "negative weight": ((Y, S), {"sample_weight": [1, 1, -1, 1, 1, 1]}, "it holds -1.0 .*index 2"),
    "infinite weight": ((Y, S), {"sample_weight": [1, 1, 1, 1, 1, np.inf]}, "it holds inf"),
    "weights of one class": (
        (Y, S),
        {"sample_weight": Y},
        "sample_weight is 0 for every case of a",
    ),
    "words as scores": ((Y, list("abcdef")), {}, "y_score must be numbers"),
    "complex scores": ((Y, np.array(S) * 1j), {}, "y_score must be real numbers"),
    "table of scores": ((Y, np.ones((6, 2))), {}, r"y_score must be one-dimensional.*\(6, 2\)"),
    "nothing": (([], []), {}, "y_true is empty"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_input_is_refused_with_what_is_wrong(name) -> None:
    data, more, message = REFUSED[name]
    with pytest.raises(ValueError, match=message):
        score(*data, **more)
    with pytest.raises(ValueError, match=message):
        voros.evaluate(*data, voros.Scenario(**LIMITS), **more)


def test_unknown_keyword_is_refused() -> None:
    with pytest.raises(TypeError, match="alpha"):
        score(Y, S, alpha=0.5)


def test_rows_of_weight_zero_are_left_out_even_if_their_label_or_score_is_odd() -> None:
    weights = [1, 1, 1, 1, 1, 1, 0]
    assert score([*Y, 1], [*S, NAN], sample_weight=weights) == pytest.approx(EXPECTED, abs=1e-12)


class TestOneValuePerCase:
    """Arrays that hold something else are refused, whoever made them."""

    labels = (0, 1, 0, 1)
    scores = (0.1, 0.9, 0.8, 0.7)

    def score(self, labels: Any, scores: Any, **more: Any) -> float:
        return voros.partial_voros_score(labels, scores, cost_ratio=0.1, **more)

    def test_masked_values_are_refused_and_an_empty_mask_is_none(self) -> None:
        masked = np.ma.masked_array(self.scores, mask=[False, True, False, False])
        labels = np.ma.masked_array(self.labels, mask=[False, False, True, False])
        weights = np.ma.masked_array([1.0, 1, 1, 1], mask=[True, False, False, False])
        with pytest.raises(ValueError, match="y_score is a masked array with 1 of 4 values masked"):
            self.score(self.labels, masked)
        with pytest.raises(ValueError, match="y_true is a masked array"):
            self.score(labels, self.scores)
        with pytest.raises(ValueError, match="sample_weight is a masked array"):
            self.score(self.labels, self.scores, sample_weight=weights)
        whole = np.ma.masked_array(self.scores, mask=False)
        assert self.score(self.labels, whole) == self.score(self.labels, self.scores)

    def test_a_column_is_one_value_per_case(self) -> None:
        column = np.array(self.scores)[:, None]
        assert self.score(self.labels, column) == self.score(self.labels, self.scores)
        assert self.score(np.array(self.labels)[:, None], column) == (
            self.score(self.labels, self.scores)
        )

    def test_two_columns_are_answered_with_what_to_pass(self) -> None:
        both = np.column_stack([np.array(self.scores), self.scores])
        with pytest.raises(ValueError, match=r"shape is \(4, 2\).*pass \[:, 1\]"):
            self.score(self.labels, both)

    def test_missing_values_of_pandas_are_named(self) -> None:
        pd = pytest.importorskip("pandas")
        with pytest.raises(ValueError, match=r"y_true holds (missing values|NaN)"):
            self.score(pd.Series([0, 1, None, 1], dtype="Int64"), self.scores)
        with pytest.raises(ValueError, match="y_score"):
            self.score(self.labels, pd.Series([0.1, 0.2, None, 0.4], dtype="Float64"))

    @pytest.mark.parametrize("text", ["0.9", b"0.9"])
    def test_text_is_no_score(self, text: Any) -> None:
        with pytest.raises(ValueError, match="y_score must be numbers; it holds the text"):
            self.score(self.labels, [text] * 4)
        with pytest.raises(ValueError, match="y_score must be numbers; it holds the text"):
            self.score(self.labels, np.array([0.1, text, 0.3, 0.4], dtype=object))

    @pytest.mark.extras
    def test_tensors(self) -> None:
        torch = pytest.importorskip("torch")
        expected = self.score(self.labels, self.scores)
        tensor = torch.tensor(self.scores, requires_grad=True)
        assert self.score(torch.tensor(self.labels), tensor) == expected
        assert self.score(self.labels, tensor[:, None]) == expected
        assert self.score(self.labels, tensor.to(torch.bfloat16)) == expected
        with pytest.raises(ValueError, match=r"pass \[:, 1\]"):
            self.score(self.labels, torch.stack([1 - tensor, tensor], dim=1))
