"""Which column is the label, and which ones are models.

Columns are named by the caller. What is left open is guessed only where there is one way to read
it, and every guess is put into words so that it can be shown.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import pairwise
from typing import Any

from voros.exceptions import NoSuchColumnError, PredictionFileError
from voros.io.bad_rows import almost_a_number, is_number
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
    time, period : str, optional
        When a case falls, or in which period.
    by : sequence of str
        Groups to report on.
    aside : sequence of str
        Columns that are no models, if the file has them; they are not read.
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
    doubts: tuple[str, ...] = field(default=())
    time: str | None = None
    period: str | None = None
    by: tuple[str, ...] = ()

    @property
    def columns(self) -> list[str]:
        """Every column that has to be read."""
        apart = (self.model, self.case, self.weight, self.group, self.time, self.period)
        named = (self.label, *apart, *self.by, *self.scores)
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
        notes.append(_guess(f"taking column {label!r} as the label (another one: ", "label"))
    scores = tuple(names.scores)
    doubts: tuple[str, ...] = ()
    if not scores:
        scores, left_out = _find_scores(first_rows, names, label, file)
        what = "score column" if names.model else "models"
        listed = ", ".join(map(repr, scores))
        notes += [_guess(f"taking as {what}: {listed} (others: ", "scores"), *left_out]
        doubts = tuple(said for name in scores if (said := doubt(name, first_rows.column(name))))
    if names.model is not None and len(scores) != 1:
        raise PredictionFileError(
            Message(
                f"{file}: a long file (model column {names.model!r}) has one column of scores, and "
                f"{len(scores)} are possible ({_listed(scores)}); name it with ",
                Argument("scores"),
            )
        )
    return Roles(
        label,
        scores,
        names.model,
        names.case,
        names.weight,
        names.group,
        tuple(notes),
        doubts,
        names.time,
        names.period,
        tuple(dict.fromkeys(names.by)),
    )


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


def _guess(taken: str, role: str) -> Message:
    return Message(taken, Argument(role), ")")


def _missing(name: str, columns: Sequence[str], file: str, role: str) -> Message:
    """Say that there is no such column, which one may be meant, and which there are."""
    close = get_close_matches(name, columns, n=1)
    meant = f"; did you mean {close[0]!r}?" if close else ";"
    rest = f"){meant} it has {_listed(columns)}"
    return Message(f"{file} has no column {name!r} (", Argument(role), rest)


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
        raise PredictionFileError(
            Message(
                f"{file}: {several} the label; name it with ",
                Argument("label"),
                f" (columns: {_listed(columns)})",
            )
        )
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
        raise PredictionFileError(
            Message(
                f"{file}: no column but the label holds numbers; name the scores with ",
                Argument("scores"),
                f" (columns: {_listed(columns)}){why}",
            )
        )
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


def is_numeric(kind: Any) -> bool:
    """Whether an Arrow type is of plain numbers that numpy can take as they are."""
    import pyarrow as pa

    types = pa.types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind))


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
    return Message(
        f"column {name!r} is taken as a model and looks like {looks}; if it is none, name the "
        "models with ",
        Argument("scores"),
    )


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
