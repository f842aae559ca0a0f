"""Read a table as cases: columns of numbers and of words are features."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from voros.io.source import Source
from voros.typing import AnyArray, BoolArray
from voros_studies.experiments.cases import LabelledCases, Split
from voros_studies.experiments.errors import ExperimentError
from voros_studies.experiments.table_encoder import MOST_WORDS, TableEncoder
from voros_studies.flow import FlowStep

if TYPE_CHECKING:
    import pandas as pd

ID_NAME = re.compile(r"(.*_)?(id|index|rownames|row)|unnamed: 0|.*[a-z]I[dD]|ID", re.IGNORECASE)

POSITIVES = ("1", "1.0", "true", "yes")
NEGATIVES = ("0", "0.0", "false", "no")

PARTS: Mapping[str, str] = {
    **dict.fromkeys(("train", "training"), "train"),
    **dict.fromkeys(("valid", "validation"), "valid"),
    **dict.fromkeys(("test", "testing"), "test"),
}
"""Words that a column with the split may use."""


@dataclass(frozen=True, kw_only=True)
class TableColumns:
    """Roles of the columns of a table.

    Attributes
    ----------
    label : str
        The outcome.
    positive : str, optional
        The value of the outcome that is predicted; by default 1, true or yes.
    group : str, optional
        Patient of each case; cases of one patient stay in one part of a split.
    split : str, optional
        Part of the split of each case: train, valid or test.
    ignore : tuple of str
        Columns to leave out of the features.

    Examples
    --------
    >>> columns = TableColumns(label="died", group="patient", ignore=("ward",))
    >>> columns.named
    ('died', 'patient', 'ward')
    """

    label: str
    positive: str | None = None
    group: str | None = None
    split: str | None = None
    ignore: tuple[str, ...] = ()

    @property
    def named(self) -> tuple[str, ...]:
        """All named columns, which are not features."""
        return tuple(c for c in (self.label, self.group, self.split, *self.ignore) if c is not None)


@dataclass(frozen=True, eq=False, kw_only=True)
class TableCases:
    """The cases of a table, the encoder of its features, and what was left out of it."""

    cases: LabelledCases
    encoder: TableEncoder
    frame: pd.DataFrame
    flow: tuple[FlowStep, ...]
    notes: tuple[str, ...]
    split: Split | None


def read_frame(source: Source) -> pd.DataFrame:
    """Read delimited text or Parquet."""
    import pandas as pd

    try:
        with source.open() as stream:
            if source.format == "parquet":
                return pd.read_parquet(stream)
            if source.format != "csv":
                raise ValueError(f"its format is {source.format}")
            kind: dict[str, Any] = {"sep": source.delimiter, "decimal": source.decimal}
            frame: pd.DataFrame = pd.read_csv(stream, low_memory=False, **kind)
            return frame
    except (OSError, ValueError) as error:
        reason = " ".join(str(error).split())[:200]
        raise ExperimentError(
            f"{source.name} cannot be read ({reason}); accepted are CSV and Parquet files"
        ) from error


def table_cases(frame: pd.DataFrame, columns: TableColumns) -> TableCases:
    """Return the cases of a table.

    Numbers are features as they are; where some are missing, another feature says whether the
    number was recorded. Each word of a column of words is a feature. Cases without an outcome
    are left out and counted; so are ids.

    Raises
    ------
    ExperimentError
        When a column that is named is missing, the outcome has more than two values, a column is
        neither numbers nor a few words (dates are refused by name), or an id repeats and no column
        names the patients.

    Examples
    --------
    >>> import pandas as pd
    >>> ward = pd.DataFrame({"stay_id": [11, 12, 13], "age": [70, 64, None], "died": [0, 1, 0]})
    >>> result = table_cases(ward, TableColumns(label="died"))
    >>> result.cases.feature_names, result.notes
    (('age', 'age recorded'), ('column stay_id is an id: left out',))
    """
    _check_columns(frame, columns)
    known = frame[columns.label].notna().to_numpy()
    kept = frame[known].reset_index(drop=True)
    y = _outcome(kept[columns.label], columns)
    candidates = [c for c in kept.columns if c not in columns.named]
    ids = [c for c in candidates if _is_id(kept[c], columns)]
    encoder = TableEncoder().fit(kept[[c for c in candidates if c not in ids]])
    names = tuple(encoder.get_feature_names_out())
    patient = _codes(kept[columns.group]) if columns.group else np.arange(len(kept))
    steps = [FlowStep("rows of the table", len(frame))]
    if not known.all():
        steps.append(FlowStep("with an outcome", len(kept), int((~known).sum()), "no outcome"))
    return TableCases(
        cases=LabelledCases(encoder.transform(kept), y, patient, names),
        encoder=encoder,
        frame=kept,
        flow=tuple(steps),
        notes=tuple(f"column {c} is an id: left out" for c in ids),
        split=None if columns.split is None else _named_split(kept, patient, columns.split),
    )


def _check_columns(frame: pd.DataFrame, columns: TableColumns) -> None:
    if len(frame) == 0:
        raise ExperimentError("the table has no rows")
    for name in columns.named:
        if name not in frame.columns:
            there = ", ".join(map(str, frame.columns[:12]))
            raise ExperimentError(f"there is no column {name!r}; the first columns are {there}")


def _outcome(values: pd.Series, columns: TableColumns) -> BoolArray:
    words = values.astype(str).str.strip()
    there = sorted(words.unique())
    shown = ", ".join(repr(word) for word in there[:5])
    if columns.positive is not None:
        if columns.positive not in there:
            raise ExperimentError(
                f"positive={columns.positive!r} is not a value of {columns.label!r}; it has {shown}"
            )
        return np.asarray(words == columns.positive)
    low = words.str.lower()
    if not low.isin([*POSITIVES, *NEGATIVES]).all():
        raise ExperimentError(
            f"the outcome {columns.label!r} has the values {shown}; name the one to predict with "
            "positive (--positive)"
        )
    return np.asarray(low.isin(POSITIVES))


def _is_id(values: pd.Series, columns: TableColumns) -> bool:
    """Whether a column is called an id and has a different value in many rows."""
    n_ids = values.nunique(dropna=False)
    if not ID_NAME.fullmatch(str(values.name)) or n_ids <= min(MOST_WORDS, len(values) - 1):
        return False
    if n_ids < len(values) and columns.group is None:
        raise ExperimentError(
            f"column {values.name!r} is called an id and has {n_ids} values in {len(values)} rows. "
            "If it tells patients apart, name it as group (--group); otherwise leave it out with "
            "ignore (--ignore)"
        )
    return True


def _codes(values: pd.Series[Any]) -> AnyArray:
    """Return a whole number for each patient."""
    if values.isna().any():
        raise ExperimentError(
            f"column {values.name!r} names no patient in {int(values.isna().sum())} rows; accepted "
            "is one in each"
        )
    return np.asarray(np.unique(values.astype(str), return_inverse=True)[1])


def _named_split(frame: pd.DataFrame, patient: AnyArray, column: str) -> Split:
    """Return the split that a column names."""
    part = frame[column].astype(str).str.strip().str.lower().map(PARTS)
    unknown = frame[column][part.isna()]
    if len(unknown):
        raise ExperimentError(
            f"split: column {column!r} holds {str(unknown.iloc[0])!r}; accepted are train, valid "
            "and test"
        )
    rows = {name: np.flatnonzero(part == name) for name in ("train", "valid", "test")}
    for name, held in rows.items():
        if len(held) == 0:
            raise ExperimentError(f"split: column {column!r} gives no case to {name}")
    parts_of = part.groupby(patient).nunique()
    if (parts_of > 1).any():
        raise ExperimentError(
            f"split: {int((parts_of > 1).sum())} patients have cases in more than one part of "
            f"{column!r}; each patient's cases must be in one"
        )
    return Split(rows["train"], rows["valid"], rows["test"], f"split by the column {column}")
