"""Labels and the scores of one or more models, found in the columns of a file.

Columns are named by the caller. What is left open is guessed only where there is one way to read
it, and every guess is put into words so that it can be shown.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from voros.core.arrays import AnyArray, BoolArray, FloatArray, check_labels, read_labels
from voros.exceptions import (
    ArgumentError,
    DoubtfulColumnWarning,
    NoSuchColumnError,
    PredictionFileError,
)
from voros.io.bad_rows import almost_a_number, is_number
from voros.io.long_form import align_models, column_values
from voros.io.tables import Source, is_numeric, open_source, peek, read_columns
from voros.text.messages import Argument, Message

LABEL_NAMES = frozenset({"label", "labels", "y_true", "y", "target", "outcome", "truth"})
"""Names that can only mean the label."""

MOSTLY = 0.5
"""A text column with at least this share of numbers is a column of numbers with bad cells."""

SHOWN_COLUMNS = 12

SURE_IDENTIFIERS = frozenset({"id", "ids", "identifier", "idx", "index", "mrn", "unnamed"})
"""Words that make the name of a column that of an identifier, beside whatever other words."""

IDENTIFIERS = SURE_IDENTIFIERS | {
    *("admission", "case", "encounter", "key", "no", "nr", "number", "patient", "person", "row"),
    *("stay", "subject", "visit"),
}
"""Words that do so where the name has no others."""

PROPERTIES = frozenset(
    {*("age", "bmi", "date", "day", "gender", "height", "hour", "month", "sex", "time"), "year"}
)
"""Words that name what is known of a case, and no model's score."""

FEWEST_NUMBERED = 10
"""Rows that must count up one by one for a column to look like their number."""


@dataclass(frozen=True, eq=False)
class Predictions:
    r"""Cases, with the scores that each model gives them.

    Attributes
    ----------
    source : str
        The file's name.
    scores : mapping of str to ndarray of shape (n_cases,)
        By model, in the order of the file.
    positive : ndarray of bool, shape (n_cases,), or None
        The labels; None where they were not asked for.
    weights : ndarray of shape (n_cases,) or None
    label : str or None
        The label's column.
    notes : tuple of str
        What was guessed or left out, in words.
    groups : ndarray of shape (n_cases,) or None
        Whose case each is.
    kept : ndarray of bool, shape (n_rows,), or None
        Which rows of the file are cases here; None where all are.
    times, periods : column of shape (n_cases,) or None
        When each case falls, or in which period.
    by : mapping of str to ndarray of shape (n_cases,)
        Groups to report on, by column.
    n_rows : int or None
        Rows that were read; in a long file several make a case.
    missing : mapping of str to int
        Rows that were left out for want of a value, by column; a row may count in several.

    Examples
    --------
    >>> import pathlib, tempfile, voros
    >>> file = pathlib.Path(tempfile.mkdtemp(), "cases.csv")
    >>> _ = file.write_text("died,risk\n1,0.9\n0,0.2\n0,0.4\n")
    >>> cases = voros.io.read_predictions(file, label="died")
    >>> cases.n_cases, cases.models, cases.labels.tolist()
    (3, ['risk'], [True, False, False])
    """

    source: str
    scores: Mapping[str, AnyArray]
    positive: BoolArray | None = None
    weights: FloatArray | None = None
    label: str | None = None
    notes: tuple[str, ...] = field(default=())
    groups: AnyArray | None = None
    kept: BoolArray | None = None
    times: Any = None
    periods: Any = None
    by: Mapping[str, AnyArray] = field(default_factory=dict)
    n_rows: int | None = None
    missing: Mapping[str, int] = field(default_factory=dict)

    @property
    def models(self) -> list[str]:
        """Names of the models."""
        return list(self.scores)

    @property
    def labels(self) -> BoolArray:
        """The labels, where they were asked for."""
        if self.positive is None:
            raise PredictionFileError(f"{self.source} was read without labels")
        return self.positive

    @property
    def n_cases(self) -> int:
        """Number of cases."""
        return len(next(iter(self.scores.values())))

    def of(self, model: str) -> AnyArray:
        """Return the scores of a model."""
        if model not in self.scores:
            listed = ", ".join(map(repr, self.scores))
            raise PredictionFileError(f"{self.source} has no model {model!r}; it has {listed}")
        return self.scores[model]


def read_predictions(
    path: str | Path | Source,
    *,
    label: str | None = None,
    scores: Sequence[str] = (),
    model: str | None = None,
    case: str | None = None,
    weight: str | None = None,
    group: str | None = None,
    time: str | None = None,
    period: str | None = None,
    by: Sequence[str] = (),
    aside: Sequence[str] = (),
    pos_label: Any = None,
    labelled: bool = True,
    both_classes: bool = True,
    drop_missing: bool = False,
    file_format: str | None = None,
) -> Predictions:
    r"""Read labels and scores from a file, and nothing that is not needed.

    Parameters
    ----------
    path : path-like or Source
        CSV, TSV or JSON lines (each may be gzipped), Parquet or Arrow; ``-`` is standard input.
    label : str, optional
        Column of labels. Without it, the column of a name such as ``label``, or else the
        only one that holds 0 and 1.
    scores : sequence of str, optional
        Columns of scores, one per model. Without it, every other numeric column.
    model : str, optional
        Column that names the model, for a file with one row per case and model.
    case : str, optional
        Column that identifies a case: never taken as a model, and in a file with a `model` column
        what the models are lined up by.
    weight : str, optional
        Column that says how many cases a row stands for.
    group : str, optional
        Column that says whose case it is, where one patient has several.
    time, period : str, optional
        Column that says when a case falls, or in which period.
    by : sequence of str, optional
        Columns of groups to report on, such as sex and site.
    aside : sequence of str, optional
        Columns that are never guessed to be label or scores, and not read.
    pos_label : label, optional
        The positive class, where it is not clear from the labels; text is compared as text.
    labelled : bool, default True
        Whether labels are needed; new cases to decide on have none.
    both_classes : bool, default True
        Whether labels of one class only are refused.
    drop_missing : bool, default False
        Whether to leave out cases with a missing value, rather than to refuse the file.
    file_format : {"csv", "tsv", "parquet", "arrow", "jsonl"}, optional
        Where the name does not say.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp(), "cases.csv")
    >>> _ = file.write_text("died,ward,risk\n1,A,0.9\n0,B,0.2\n0,A,0.4\n")
    >>> cases = read_predictions(file, label="died")
    >>> cases.models, cases.labels.tolist(), cases.of("risk").tolist()
    (['risk'], [True, False, False], [0.9, 0.2, 0.4])
    """
    source = path if isinstance(path, Source) else open_source(path, file_format)
    names = ColumnNames(label, scores, model, case, weight, group, time, period, by, aside)
    roles = assign_roles(peek(source), names, source.name, labelled=labelled)
    for said in roles.doubts:
        warnings.warn(said, DoubtfulColumnWarning, stacklevel=2)
    columns = roles.columns
    times = () if time is None else (time,)
    table, notes = read_columns(source, columns, roles.numeric, times), source.notes
    numbered = roles.label is not None and is_numeric(table.column(roles.label).type)
    n_rows = table.num_rows
    table, kept, missing = _without_missing(table, columns, source, drop_missing)
    notes += roles.notes
    if kept is not None:
        dropped = int((~kept).sum())
        notes += (f"leaving out {dropped} of {len(kept)} rows with a missing value",)
    models: Mapping[str, str] = {name: name for name in roles.scores}
    if roles.model is not None:
        table, models = align_models(table, roles, source.name)
    values = {name: _numbers(table.column(column)) for name, column in models.items()}
    positive = None
    if roles.label is not None:
        column, title = table.column(roles.label), f"column {roles.label!r}"
        positive = _positive(column, numbered, pos_label, both_classes, title)
    return Predictions(
        source.name,
        values,
        positive,
        None if roles.weight is None else _numbers(table.column(roles.weight)),
        roles.label,
        notes,
        None if roles.group is None else column_values(table, roles.group),
        kept,
        None if time is None else table.column(time),
        None if period is None else column_values(table, period),
        {name: column_values(table, name) for name in roles.by} if roles.by else {},
        n_rows,
        missing,
    )


@dataclass(frozen=True)
class ColumnNames:
    """Columns as the caller names them, explained by `read_predictions`.

    None or empty is left to be found.
    """

    label: str | None = None
    scores: Sequence[str] = ()
    model: str | None = None
    case: str | None = None
    weight: str | None = None
    group: str | None = None
    time: str | None = None
    period: str | None = None
    by: Sequence[str] = ()
    aside: Sequence[str] = ()

    @property
    def taken(self) -> set[str]:
        """The columns that are neither label nor score."""
        return {*self.apart.values(), *self.by, *self.aside}

    @property
    def apart(self) -> dict[str, str]:
        """The columns that are neither label nor score, by the argument that names them."""
        roles = ("model", "case", "weight", "group", "time", "period")
        named = {role: getattr(self, role) for role in roles}
        return {role: name for role, name in named.items() if name is not None}

    @property
    def columns(self) -> list[str]:
        """Every column that has to be read, once label and scores are found."""
        named = (self.label, *self.apart.values(), *self.by, *self.scores)
        return list(dict.fromkeys(name for name in named if name is not None))

    @property
    def numeric(self) -> list[str]:
        """The columns that must hold numbers."""
        return [*self.scores, *([] if self.weight is None else [self.weight])]


@dataclass(frozen=True)
class Roles(ColumnNames):
    """The same with label and scores found: what was guessed, and what may be no model."""

    notes: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


def assign_roles(first_rows: Any, names: ColumnNames, file: str, *, labelled: bool = True) -> Roles:
    """Give every needed column a role, from the names given and the first rows of the file."""
    _check_names(first_rows.column_names, names, file)
    notes: list[str] = []
    label = names.label
    if label is None and labelled:
        label = _find_label(first_rows, names, file)
        notes.append(_naming(f"taking column {label!r} as the label (another one: ", "label", ")"))
    scores = tuple(names.scores)
    doubts: tuple[str, ...] = ()
    if not scores:
        scores, left_out = _find_scores(first_rows, names, label, file)
        doubts = tuple(said for name in scores if (said := doubt(name, first_rows.column(name))))
        what = "score column" if names.model else "models"
        listed = ", ".join(map(repr, scores))
        notes += [_naming(f"taking as {what}: {listed} (others: ", "scores", ")"), *left_out]
    if names.model is not None and len(scores) != 1:
        several = f"and {len(scores)} are possible ({_listed(scores)})"
        long = f"a long file (model column {names.model!r}) has one column of scores, {several}"
        raise PredictionFileError(_naming(f"{file}: {long}; name it with ", "scores"))
    found = {"label": label, "scores": scores, "by": tuple(dict.fromkeys(names.by))}
    return Roles(**(vars(names) | found), notes=tuple(notes), doubts=doubts)


def _check_names(columns: Sequence[str], names: ColumnNames, file: str) -> None:
    given = [*names.apart.items(), *(("scores", name) for name in names.scores)]
    given += [("by", name) for name in names.by]
    if names.label is not None:
        given.insert(0, ("label", names.label))
    roles: dict[str, str] = {}
    for role, name in given:
        if name not in columns:
            raise NoSuchColumnError(_missing(name, columns, file, role))
        _check_single(name, columns, file)
        if roles.setdefault(name, role) != role:
            both = (Argument(roles[name]), " and ", Argument(role))
            raise PredictionFileError(
                Message(f"column {name!r} is named as both ", *both, "; it can be one only")
            )


def _naming(before: str, role: str, after: str = "") -> Message:
    return Message(before, Argument(role), after)


def _missing(name: str, columns: Sequence[str], file: str, role: str) -> Message:
    """Say that there is no such column, which one may be meant, and which there are."""
    close = get_close_matches(name, columns, n=1)
    meant = f"; did you mean {close[0]!r}?" if close else ";"
    rest = f"){meant} it has {_listed(columns)}"
    return _naming(f"{file} has no column {name!r} (", role, rest)


def _find_label(first_rows: Any, names: ColumnNames, file: str) -> str:
    columns = first_rows.column_names
    taken = names.taken.union(names.scores)
    free = [name for name in columns if name not in taken]
    found = [name for name in free if name.lower() in LABEL_NAMES]
    if not found:
        found = [name for name in free if _is_binary(_first_named(first_rows, name))]
    if len(found) == 2 and found[0] == found[1]:
        _check_single(found[0], columns, file)
    if len(found) != 1:
        several = f"{_listed(found)} could all be" if found else "no column is clearly"
        opening, rest = f"{file}: {several} the label; name it with ", _listed(columns)
        raise PredictionFileError(_naming(opening, "label", f" (columns: {rest})"))
    return str(found[0])


def _find_scores(
    first_rows: Any, names: ColumnNames, label: str | None, file: str
) -> tuple[tuple[str, ...], list[str]]:
    """Return the columns of numbers, and what there is to say of the others."""
    columns, taken = first_rows.column_names, {label, *names.taken}
    free = [name for name in dict.fromkeys(columns) if name not in taken]
    reasons = {name: why_no_score(_first_named(first_rows, name)) for name in free}
    numbers = tuple(name for name, reason in reasons.items() if reason is None)
    for name in numbers:
        _check_single(name, columns, file)
    left_out = [f"{name!r} ({reason})" for name, reason in reasons.items() if reason]
    if not numbers:
        why = f"; no numbers in {_shortened(left_out)}" if left_out else ""
        opening = f"{file}: no column but the label holds numbers; name the scores with "
        rest = f" (columns: {_listed(columns)}){why}"
        raise PredictionFileError(_naming(opening, "scores", rest))
    said = [f"left out, for want of numbers: {_shortened(left_out)}"] if left_out else []
    return numbers, said


def _check_single(name: str, columns: Sequence[str], file: str) -> None:
    if columns.count(name) > 1:
        raise PredictionFileError(f"{file} has more than one column {name!r}; rename them")


def _first_named(table: Any, name: str) -> Any:
    """Return the first column of a name, of which there may be several."""
    return table.column(table.column_names.index(name))


def _is_binary(column: Any) -> bool:
    values = set(column.drop_null().unique().to_pylist())
    return len(values) == 2 and (values <= {0, 1} or values <= {-1, 1})


def why_no_score(column: Any) -> str | None:
    """Say why a column cannot hold scores; None where it can.

    Text that is numbers for the most part can: it is a column of scores with a bad cell, and to
    pass over it would drop a model unseen.

    Examples
    --------
    >>> import pyarrow as pa
    >>> why_no_score(pa.chunked_array([["12.3%", "4%"]]))
    "text such as '12.3%', a percentage; write 12.3% as 0.123"
    """
    import pyarrow as pa

    types, kind = pa.types, column.type
    if is_numeric(kind) or types.is_decimal(kind):
        return None
    values = column.drop_null().to_pylist()
    if not values:
        return f"no value in the first {len(column):,} rows"
    if not all(isinstance(value, str) for value in values):
        return "text that is not UTF-8" if types.is_binary(kind) else f"values of type {kind}"
    if sum(map(is_number, values)) >= MOSTLY * len(values):
        return None
    almost = almost_a_number(values[0])
    return "text" if almost is None else f"text such as {values[0]!r}, {almost}"


def doubt(name: str, column: Any) -> str | None:
    """Say why a column of numbers may be no model; None where nothing says so.

    Examples
    --------
    >>> import pyarrow as pa
    >>> doubt("risk", pa.chunked_array([[0.5, 0.25]])) is None
    True
    >>> doubt("patient_id", pa.chunked_array([[7, 3]]))
    "column 'patient_id' is taken as a model and looks like an identifier; if it is none, name ..."
    """
    words = set(re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()))
    if words & SURE_IDENTIFIERS or (words and words <= IDENTIFIERS) or _numbered(column):
        looks = "an identifier"
    elif words and words <= PROPERTIES:
        looks = "a property of the case"
    else:
        return None
    taken = f"column {name!r} is taken as a model and looks like {looks}"
    return _naming(f"{taken}; if it is none, name the models with ", "scores")


def _numbered(column: Any) -> bool:
    """Whether a column counts its rows, one up or down at each."""
    import pyarrow as pa

    if not pa.types.is_integer(column.type) or len(column) < FEWEST_NUMBERED:
        return False
    steps = {after - before for before, after in pairwise(column.drop_null().to_pylist())}
    return steps in ({1}, {-1})


def _listed(names: Sequence[str]) -> str:
    return _shortened([repr(name) for name in names])


def _shortened(parts: Sequence[str]) -> str:
    return ", ".join(parts[:SHOWN_COLUMNS]) + (", ..." if len(parts) > SHOWN_COLUMNS else "")


def _without_missing(
    table: Any, columns: Sequence[str], source: Source, drop: bool
) -> tuple[Any, BoolArray | None, dict[str, int]]:
    """Refuse missing values, naming the first, or leave out their rows and mark those kept."""
    import pyarrow as pa

    missing, counts = np.zeros(table.num_rows, dtype=np.bool_), {}
    for name in columns:
        absent = _absent(table.column(name))
        if absent is None:
            continue
        counts[name] = int(absent.sum())
        if not drop:
            first = int(np.flatnonzero(absent)[0]) + 1
            raise PredictionFileError(
                Message(
                    f"{source.name}: column {name!r} has no value in {counts[name]} of "
                    f"{table.num_rows} rows, first in row {first}; mend them, or leave those rows "
                    "out with ",
                    Argument("drop_missing"),
                )
            )
        missing |= absent
    if not missing.any():
        return table, None, {}
    if missing.all():
        raise PredictionFileError(f"{source.name}: every row has a missing value")
    return table.filter(pa.array(~missing)), ~missing, counts


def _absent(column: Any) -> BoolArray | None:
    """Mark the rows without a value; None where there are none, which is found without copies."""
    import pyarrow as pa

    if not column.null_count:
        floating, chunks = pa.types.is_floating(column.type), filter(len, column.chunks)
        # A minimum by numpy carries NaN along and needs no temporary.
        if not floating or not any(np.isnan(np.min(_view(chunk))) for chunk in chunks):
            return None
    return np.asarray(column.is_null(nan_is_null=True).to_numpy(), dtype=np.bool_)


def _numbers(column: Any) -> AnyArray:
    """Return a column of numbers without gaps, not copied where it lies in one piece."""
    pieces = [_view(chunk) for chunk in column.chunks]
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)


def _view(chunk: Any) -> AnyArray:
    """Look at the memory of an Arrow array; its own `to_numpy` would load pandas, and be slow."""
    import pyarrow as pa

    if pa.types.is_boolean(chunk.type):
        return _view(chunk.cast(pa.uint8())).view(np.bool_)
    kind = np.dtype(chunk.type.to_pandas_dtype())
    return np.frombuffer(chunk.buffers()[1], kind, len(chunk), chunk.offset * kind.itemsize)


def _positive(
    column: Any, numbered: bool, pos_label: Any, both_classes: bool, title: str
) -> BoolArray:
    """Mark the positive cases; text is judged on its distinct values, of which there are two."""
    import pyarrow as pa

    check = check_labels if both_classes else read_labels
    if numbered:
        return check(_numbers(column), typed_label(pos_label, title), name=title)
    import pyarrow.compute as pc

    text = column.cast(pa.string())
    wanted = None if pos_label is None else str(pos_label)
    check(np.asarray(text.unique().to_pylist(), dtype=object), wanted, name=title)
    return np.asarray(pc.equal(text, wanted).to_numpy(), dtype=np.bool_)


def typed_label(pos_label: Any, title: str) -> Any:
    """Read a positive label that was typed as text, for a column of numbers."""
    if not isinstance(pos_label, str):
        return pos_label
    if pos_label.lower() in ("true", "false"):
        return pos_label.lower() == "true"
    try:
        return float(pos_label)
    except ValueError:
        raise ArgumentError(
            "pos_label", f"={pos_label!r} is not a number, and {title} holds numbers"
        ) from None
