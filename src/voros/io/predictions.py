"""Labels and the scores of one or more models, read from the columns of a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from voros.core.cases import check_labels, read_labels
from voros.exceptions import (
    Argument,
    ArgumentError,
    Message,
    PredictionFileError,
)
from voros.io.columns import ColumnNames, assign_roles
from voros.io.long_form import align_models, column_values
from voros.io.source import Source, open_source
from voros.io.tables import is_numeric, peek, read_columns
from voros.typing import AnyArray, BoolArray, FloatArray


@dataclass(frozen=True, eq=False, kw_only=True)
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
        Rows that were left out because a value is missing, by column; a row may count in several.
    miss_value, false_alarm_cost : ndarray of shape (n_cases,), float or None
        What errors on each case cost, where that was asked for.

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
    miss_value: AnyArray | None = None
    false_alarm_cost: AnyArray | float | None = None

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

    def scores_of(self, model: str) -> AnyArray:
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
    miss_value: str | None = None,
    false_alarm_cost: str | None = None,
) -> Predictions:
    r"""Read labels and scores from a file, and nothing that is not needed.

    Parameters
    ----------
    path : path-like or Source
        CSV or TSV (which may be gzipped), Parquet or Arrow, as its bytes say;
        ``-`` is standard input.
    label : str, optional
        Column of labels. Without it, the column of a name such as ``label``, or else the
        only one that holds 0 and 1.
    scores : sequence of str, optional
        Columns of scores, one per model. Without it, every other numeric column that does not look
        like an identifier or a property of the case, such as age.
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
    miss_value, false_alarm_cost : str, optional
        Columns that say what errors on each case cost.

    Returns
    -------
    Predictions
        Labels, and the scores of each model by name.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp(), "cases.csv")
    >>> _ = file.write_text("died,ward,risk\n1,A,0.9\n0,B,0.2\n0,A,0.4\n")
    >>> cases = read_predictions(file, label="died")
    >>> cases.models, cases.labels.tolist(), cases.scores_of("risk").tolist()
    (['risk'], [True, False, False], [0.9, 0.2, 0.4])
    """
    source = path if isinstance(path, Source) else open_source(path)
    names = ColumnNames(
        label=label,
        scores=scores,
        model=model,
        case=case,
        weight=weight,
        group=group,
        time=time,
        period=period,
        by=by,
        aside=aside,
        miss_value=miss_value,
        false_alarm_cost=false_alarm_cost,
    )
    roles = assign_roles(peek(source), names, source.name, labelled=labelled)
    columns = roles.columns
    times = () if time is None else (time,)
    table, notes = read_columns(source, columns, roles.numeric, times), source.notes
    numbered = roles.label is not None and is_numeric(table.column(roles.label).type)
    n_rows = table.num_rows
    table, kept, missing = without_missing(table, columns, source, drop_missing)
    notes += roles.notes
    if kept is not None:
        dropped = int((~kept).sum())
        notes += (f"leaving out {dropped} of {len(kept)} rows with a missing value",)
    models: Mapping[str, str] = {name: name for name in roles.scores}
    if roles.model is not None:
        table, models = align_models(table, roles, source.name)
    elif roles.case is not None:
        notes += _repeated(table.column(roles.case), roles.case)
    values = {name: _numbers(table.column(column)) for name, column in models.items()}
    positive = None
    if roles.label is not None:
        column, title = table.column(roles.label), f"column {roles.label!r}"
        positive = _positive(column, numbered, pos_label, both_classes, title)
    return Predictions(
        source=source.name,
        scores=values,
        positive=positive,
        weights=None if roles.weight is None else _numbers(table.column(roles.weight)),
        label=roles.label,
        notes=notes,
        groups=None if roles.group is None else column_values(table, roles.group),
        kept=kept,
        times=None if time is None else table.column(time),
        periods=None if period is None else column_values(table, period),
        by={name: column_values(table, name) for name in roles.by} if roles.by else {},
        n_rows=n_rows,
        missing=missing,
        miss_value=None if miss_value is None else _numbers(table.column(miss_value)),
        false_alarm_cost=None
        if false_alarm_cost is None
        else _numbers(table.column(false_alarm_cost)),
    )


def _repeated(column: Any, name: str) -> tuple[str, ...]:
    """Say where one identifier stands for several rows."""
    identifiers, counts = column.value_counts().flatten()
    several = np.flatnonzero(counts.to_numpy() > 1)
    if len(several) == 0:
        return ()
    first = identifiers[int(several[0])].as_py()
    return (
        f"column {name!r} repeats {len(several):,} of its {len(counts):,} values, such as "
        f"{first!r}; every row counts as a case",
    )


def without_missing(
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
                    f"{table.num_rows} rows, first in row {first}; fix them, or leave those rows "
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
