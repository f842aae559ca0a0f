"""Subgroups of cases to report on: what is read, pooled and refused."""

from __future__ import annotations

import numpy as np
import pytest

from voros import Subgroups
from voros.core.subgroups import read_subgroups

SEX = ["f", "m", "f", "f", "m", "f"]
SITE = ["A", "A", "B", "B", "A", "C"]


def names(subgroups: Subgroups) -> dict[str, dict[str, int]]:
    return {
        part.column: dict(zip(part.names, part.sizes.tolist(), strict=True))
        for part in subgroups.partitions
    }


def test_columns_in_every_form_are_the_same() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    columns = {"sex": SEX, "site": SITE}
    expected = {"sex": {"f": 4, "m": 2}, "site": {"A": 3, "B": 2, "C": 1}}
    for form in (columns, pandas.DataFrame(columns), polars.DataFrame(columns)):
        assert names(Subgroups.from_columns(form, min_cases=1)) == expected
    for column in (SEX, np.array(SEX), np.array(SEX, dtype=object)):
        assert names(Subgroups.from_columns(column, min_cases=1)) == {"subgroup": {"f": 4, "m": 2}}
    assert names(Subgroups.from_columns(pandas.Series(SEX, name="sex"), min_cases=1)) == {
        "sex": {"f": 4, "m": 2}
    }
    assert names(Subgroups.from_columns(pandas.Series(SEX), min_cases=1)) == {
        "subgroup": {"f": 4, "m": 2}
    }
    assert names(Subgroups.from_columns(polars.Series(SEX), min_cases=1)) == {
        "subgroup": {"f": 4, "m": 2}
    }


def test_small_groups_are_pooled_and_named() -> None:
    subgroups = Subgroups.from_columns({"site": SITE}, min_cases=3)
    assert names(subgroups) == {"site": {"A": 3, "other": 3}}
    assert subgroups.partitions[0].codes.tolist() == [0, 0, 1, 1, 0, 1]
    assert subgroups.notes == ("site: subgroups with fewer than 3 cases are pooled as other: B, C",)


def test_a_group_that_is_named_other_is_not_mixed_with_the_pooled() -> None:
    subgroups = Subgroups.from_columns(["other"] * 3 + ["B"], min_cases=2)
    assert names(subgroups) == {"subgroup": {"other": 3, "other subgroups": 1}}


def test_empty_text_has_a_name() -> None:
    race = ["", "a", "", "b"]
    assert names(Subgroups.from_columns({"race": race}, min_cases=1)) == {
        "race": {"(blank)": 2, "a": 1, "b": 1}
    }
    both = Subgroups.from_columns([*race, "(blank)"], min_cases=1)
    assert names(both) == {"subgroup": {"": 2, "(blank)": 1, "a": 1, "b": 1}}


@pytest.mark.parametrize(
    ("by", "options", "message"),
    [
        (SITE, {"min_cases": 0}, "min_cases=0; accepted is a whole number above 0"),
        ({}, {}, "by holds no column"),
        ({"sex": SEX, "site": SITE[:-1]}, {}, r"by\['site'\] has 5"),
        ({"site": [*SITE[:-1], None]}, {}, r"by\['site'\] is missing in 1 of 6 cases"),
    ],
)
def test_what_is_no_group_is_refused(by: object, options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Subgroups.from_columns(by, **options)  # type: ignore[arg-type]


def test_groups_of_other_cases_are_refused() -> None:
    with pytest.raises(ValueError, match="by has 6 cases and y_true 5"):
        read_subgroups(SITE, 5)
