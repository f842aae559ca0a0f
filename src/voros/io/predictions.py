"""Labels and the scores of one or more models, read from the columns of a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from voros.core.cases import check_labels, read_labels
from voros.exceptions import ArgumentError, PredictionFileError
from voros.io.columns import ColumnNames, assign_roles
from voros.io.long_form import align_models, column_values
from voros.io.rows import read_rows
from voros.io.source import Source, open_source
from voros.io.tables import is_numeric, peek
from voros.text.signatures import takes
from voros.typing import AnyArray, BoolArray, FloatArray

PER_CASE = ("groups", "periods", "miss_value", "false_alarm_cost")
"""Attributes of `Predictions` that functions take by the same name."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Predictions:
    r"""Cases, with the scores that each model gives them.

    Attributes
    ----------
    source : str
        The file's name.
    scores : mapping of str to ndarray of shape (n_cases,)
        Scores by model, in the order of the file.
    positive : ndarray of bool, shape (n_cases,), or None
        The labels; None if read without labels.
    weights : ndarray of shape (n_cases,) or None
    label : str or None
        The label's column.
    notes : tuple of str
        What was guessed or left out, in words.
    groups : ndarray of shape (n_cases,) or None
        The patient of each case.
    kept : ndarray of bool, shape (n_rows,), or None
        Which rows of the file are cases here; None for all.
    times, periods : column of shape (n_cases,) or None
        The time or the period of each case.
    by : mapping of str to ndarray of shape (n_cases,)
        Subgroups to report on, by column.
    n_rows : int or None
        Number of rows read; in a long file a case has several.
    missing : mapping of str to int
        Rows that were left out because a value is missing, by column; a row may count in several.
    miss_value, false_alarm_cost : ndarray of shape (n_cases,), float or None
        The cost of errors on each case.

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
        """The labels; an error if read without them."""
        if self.positive is None:
            raise PredictionFileError(f"{self.source} was read without labels")
        return self.positive

    @property
    def n_cases(self) -> int:
        """Number of cases."""
        return len(next(iter(self.scores.values())))

    @property
    def per_case(self) -> dict[str, Any]:
        """Values of each case besides label and score, by the names of arguments."""
        known = {name: getattr(self, name) for name in PER_CASE}
        known["sample_weight"] = self.weights
        return {name: values for name, values in known.items() if values is not None}

    def scores_of(self, model: str) -> AnyArray:
        """Return the scores of a model."""
        if model not in self.scores:
            listed = ", ".join(map(repr, self.scores))
            raise PredictionFileError(f"{self.source} has no model {model!r}; it has {listed}")
        return self.scores[model]


@takes(ColumnNames, leave_out=("stay",))
def read_predictions(
    path: str | Path | Source,
    *,
    pos_label: Any = None,
    labelled: bool = True,
    both_classes: bool = True,
    drop_missing: bool = False,
    **columns: Any,
) -> Predictions:
    r"""Read labels and scores from a file.

    Parameters
    ----------
    path : path-like or Source
        CSV or TSV (which may be gzipped), Parquet or Arrow; the content decides, not the name.
        ``-`` is standard input.
    pos_label : label, optional
        The positive class, if not 1 or True; text is compared as text.
    labelled : bool, default True
        Whether labels are needed; new cases to decide on have none.
    both_classes : bool, default True
        Whether to refuse labels of one class only.
    drop_missing : bool, default False
        Whether to leave out cases with a missing value, rather than to refuse the file.
    label : str, optional
        Column of labels. Without it, the column of a name such as ``label``, or else the
        only one that holds 0 and 1.
    scores : sequence of str, optional
        Columns of scores, one per model. Without it, every other numeric column that does not look
        like an identifier or a property of the case, such as age.
    model : str, optional
        Column that names the model, for a file with one row per case and model.
    case : str, optional
        Column that identifies a case; a file with a `model` column is aligned by it.
    weight : str, optional
        Column of the number of cases that a row stands for.
    group : str, optional
        Column of the patient, if patients have several cases.
    time, period : str, optional
        Column of the time or the period of a case.
    by : sequence of str, optional
        Columns of subgroups to report on, such as sex and site.
    aside : sequence of str, optional
        Columns that are not read, and never guessed to be label or scores.
    miss_value, false_alarm_cost : str, optional
        Columns of the cost of errors on each case.

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
    roles = assign_roles(peek(source), ColumnNames(**columns), source.name, labelled=labelled)
    texts = () if roles.time is None else (roles.time,)
    rows = read_rows(source, roles, texts=texts, drop_missing=drop_missing)
    table, models, notes = rows.table, {name: name for name in roles.scores}, rows.notes
    if roles.model is not None:
        table, models = align_models(table, roles, source.name)
    elif roles.case is not None:
        notes += _repeated(table.column(roles.case), roles.case)

    def values(name: str | None) -> AnyArray | None:
        return None if name is None else column_values(table, name)

    def numbers(name: str | None) -> AnyArray | None:
        return None if name is None else _numbers(table.column(name))

    return Predictions(
        source=source.name,
        scores={name: _numbers(table.column(column)) for name, column in models.items()},
        positive=_positive(table, roles.label, pos_label, both_classes),
        weights=numbers(roles.weight),
        label=roles.label,
        notes=notes,
        groups=values(roles.group),
        kept=rows.kept,
        times=None if roles.time is None else table.column(roles.time),
        periods=values(roles.period),
        by={name: column_values(table, name) for name in roles.by},
        n_rows=rows.n_rows,
        missing=rows.missing,
        miss_value=numbers(roles.miss_value),
        false_alarm_cost=numbers(roles.false_alarm_cost),
    )


def _repeated(column: Any, name: str) -> tuple[str, ...]:
    """Return a note if several rows have the same identifier."""
    identifiers, counts = column.value_counts().flatten()
    several = np.flatnonzero(counts.to_numpy() > 1)
    if len(several) == 0:
        return ()
    first = identifiers[int(several[0])].as_py()
    return (
        f"column {name!r} repeats {len(several):,} of its {len(counts):,} values, such as "
        f"{first!r}; every row counts as a case",
    )


def _numbers(column: Any) -> AnyArray:
    """Return a column of numbers without missing values; a single chunk is not copied."""
    pieces = [_view(chunk) for chunk in column.chunks]
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)


def _view(chunk: Any) -> AnyArray:
    """View an Arrow array as numpy; its own `to_numpy` would load pandas."""
    import pyarrow as pa

    if pa.types.is_boolean(chunk.type):
        return _view(chunk.cast(pa.uint8())).view(np.bool_)
    return np.from_dlpack(chunk)


def _positive(
    table: Any, label: str | None, pos_label: Any, both_classes: bool
) -> BoolArray | None:
    """Mark the positive cases; of text only the two distinct values are checked."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if label is None:
        return None
    check, title = check_labels if both_classes else read_labels, f"column {label!r}"
    column = table.column(label)
    if is_numeric(column.type):
        return check(_numbers(column), typed_label(pos_label, title), name=title)
    text = column.cast(pa.string())
    wanted = None if pos_label is None else str(pos_label)
    check(np.asarray(text.unique().to_pylist(), dtype=object), wanted, name=title)
    return np.asarray(pc.equal(text, wanted).to_numpy(), dtype=np.bool_)


def typed_label(pos_label: Any, title: str) -> Any:
    """Convert a positive label typed as text, for a column of numbers."""
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
