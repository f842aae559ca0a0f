"""Which column is the label, and which ones are models.

Columns are named by the caller. What is left open is guessed only where there is one way to read
it, and every guess is put into words so that it can be shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from voros.exceptions import PredictionFileError
from voros.files.bad_rows import is_number
from voros.files.tables import is_numeric

LABEL_NAMES = frozenset({"label", "labels", "y_true", "y", "target", "outcome", "truth"})
"""Names that can only mean the label."""

MOSTLY = 0.5
"""A text column with at least this share of numbers is a column of numbers with bad cells."""

SHOWN_COLUMNS = 12


@dataclass(frozen=True)
class ColumnNames:
    """Columns as the caller names them; None or empty is left to be found.

    Attributes
    ----------
    label : str, optional
        The column of true labels.
    scores : sequence of str
        One column per model; where `model` is given, the one column of scores.
    model : str, optional
        For long files: the column that says which model a row's score is of.
    case : str, optional
        The column that identifies a case.
    weight : str, optional
        How many cases a row stands for.
    group : str, optional
        Whose case it is, where one patient has several.
    """

    label: str | None = None
    scores: Sequence[str] = ()
    model: str | None = None
    case: str | None = None
    weight: str | None = None
    group: str | None = None

    @property
    def apart(self) -> dict[str, str]:
        """The columns that are neither label nor score, by the option that names them."""
        named = {"--model": self.model, "--id": self.case, "--weight": self.weight}
        named["--group"] = self.group
        return {option: name for option, name in named.items() if name is not None}


@dataclass(frozen=True)
class Roles:
    """What each column read is for."""

    label: str | None
    scores: tuple[str, ...]
    model: str | None
    case: str | None
    weight: str | None
    group: str | None
    notes: tuple[str, ...] = field(default=())

    @property
    def columns(self) -> list[str]:
        """Every column that has to be read."""
        named = (self.label, self.model, self.case, self.weight, self.group, *self.scores)
        return list(dict.fromkeys(name for name in named if name is not None))

    @property
    def numeric(self) -> list[str]:
        """The columns that must hold numbers."""
        return [*self.scores, *([] if self.weight is None else [self.weight])]


def assign_roles(first_rows: Any, names: ColumnNames, file: str, *, labelled: bool = True) -> Roles:
    """Give every needed column a role, from the names given and the first rows of the file."""
    _check_names(first_rows.column_names, names, file)
    notes: list[str] = []
    label = names.label
    if label is None and labelled:
        label = _find_label(first_rows, names, file)
        notes.append(f"taking column {label!r} as the label (another one: --label)")
    scores = tuple(names.scores)
    if not scores:
        scores = _find_scores(first_rows, names, label, file)
        what = "score column" if names.model else "models"
        listed = ", ".join(map(repr, scores))
        notes.append(f"taking as {what}: {listed} (others: --score)")
    if names.model is not None and len(scores) != 1:
        raise PredictionFileError(
            f"{file}: a long file (model column {names.model!r}) has one column of scores, and "
            f"{len(scores)} are possible ({_listed(scores)}); name it with --score"
        )
    return Roles(label, scores, names.model, names.case, names.weight, names.group, tuple(notes))


def _check_names(columns: Sequence[str], names: ColumnNames, file: str) -> None:
    given = [*names.apart.items(), *(("--score", name) for name in names.scores)]
    if names.label is not None:
        given.insert(0, ("--label", names.label))
    for option, name in given:
        if name not in columns:
            raise PredictionFileError(missing_column(name, columns, file, option))
        if columns.count(name) > 1:
            raise PredictionFileError(f"{file} has more than one column {name!r}; rename them")
    roles: dict[str, str] = {}
    for option, name in given:
        if roles.setdefault(name, option) != option:
            raise PredictionFileError(
                f"column {name!r} is named as both {roles[name]} and {option}; it can be one only"
            )


def missing_column(name: str, columns: Sequence[str], file: str, option: str) -> str:
    """Say that there is no such column, which one may be meant, and which there are."""
    close = get_close_matches(name, columns, n=1)
    meant = f"; did you mean {close[0]!r}?" if close else ";"
    return f"{file} has no column {name!r} ({option}){meant} it has {_listed(columns)}"


def _find_label(first_rows: Any, names: ColumnNames, file: str) -> str:
    columns = first_rows.column_names
    taken = {*names.apart.values(), *names.scores}
    free = [name for name in columns if name not in taken]
    found = [name for name in free if name.lower() in LABEL_NAMES]
    if not found:
        found = [name for name in free if _is_binary(first_rows.column(name))]
    if len(found) != 1:
        several = f"{_listed(found)} could all be" if found else "no column is clearly"
        raise PredictionFileError(
            f"{file}: {several} the label; name it with --label (columns: {_listed(columns)})"
        )
    return str(found[0])


def _find_scores(
    first_rows: Any, names: ColumnNames, label: str | None, file: str
) -> tuple[str, ...]:
    taken = {label, *names.apart.values()}
    free = [name for name in first_rows.column_names if name not in taken]
    numbers = tuple(name for name in free if _holds_numbers(first_rows.column(name)))
    if not numbers:
        raise PredictionFileError(
            f"{file}: no column but the label holds numbers; name the scores with --score "
            f"(columns: {_listed(first_rows.column_names)})"
        )
    return numbers


def _is_binary(column: Any) -> bool:
    values = set(column.drop_null().unique().to_pylist())
    return len(values) == 2 and (values <= {0, 1} or values <= {-1, 1})


def _holds_numbers(column: Any) -> bool:
    """Whether a column is of numbers, or of text that is so for the most part.

    The second is a column of scores with a bad cell: to pass over it would drop a model unseen.
    """
    if is_numeric(column.type):
        return True
    values = column.drop_null().to_pylist()
    numbers = sum(isinstance(value, str) and is_number(value) for value in values)
    return bool(values) and numbers >= MOSTLY * len(values)


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:SHOWN_COLUMNS]))
    return shown + (", ..." if len(names) > SHOWN_COLUMNS else "")
