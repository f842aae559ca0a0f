import numpy as np
import pytest

from voros import OperatingPoints
from voros.core.grouped_cases import group_codes

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

LABELS = np.array([True, False, True])


@pytest.mark.parametrize(
    "groups",
    [
        ["a", "b", "a"],
        np.array([7.0, 8.5, 7.0]),
        pd.Series(["a", "b", "a"], dtype="category"),
        pd.Series([1, 2, 1], dtype="Int64"),
        pl.Series(["a", "b", "a"]),
        np.array(["2020-01-01", "2021-01-01", "2020-01-01"], dtype="datetime64[D]"),
        np.array([1, "1", 1], dtype=object),
    ],
)
def test_any_kind_of_name_is_a_group(groups: object) -> None:
    codes = group_codes(groups, LABELS)
    assert codes[0] == codes[2] != codes[1]
    assert sorted(set(codes.tolist())) == [0, 1]


@pytest.mark.parametrize(
    "groups",
    [
        ["a", None, "a"],
        np.array([1.0, np.nan, 1.0]),
        pd.Series([1, None, 1], dtype="Int64"),
        pd.Series(["a", None, "a"], dtype="string"),
        np.array(["2020-01-01", "NaT", "2020-01-01"], dtype="datetime64[D]"),
    ],
)
def test_a_case_without_a_group_is_refused(groups: object) -> None:
    with pytest.raises(ValueError, match=r"groups is missing in 1 of 3 cases \(first at index 1\)"):
        group_codes(groups, LABELS)


def test_another_length_or_shape_is_refused() -> None:
    with pytest.raises(ValueError, match="y_true has 3, groups has 2"):
        group_codes(["a", "b"], LABELS)
    with pytest.raises(ValueError, match="groups must be one-dimensional"):
        group_codes(np.ones((3, 2)), LABELS)


def test_cases_know_whether_a_group_repeats() -> None:
    for groups, repeated in ((["a", "b", "a"], True), (["a", "b", "c"], False)):
        cases = OperatingPoints.from_scores(LABELS, [1, 2, 3], groups=groups).grouped
        assert cases is not None
        assert cases.repeated == repeated
    assert OperatingPoints.from_scores(LABELS, [1, 2, 3]).grouped is None


def test_weights_and_groups_exclude_one_another() -> None:
    with pytest.raises(ValueError, match="sample_weight and groups are mutually exclusive"):
        OperatingPoints.from_scores(
            LABELS, [1, 2, 3], sample_weight=[1, 2, 1], groups=["a", "b", "a"]
        )
