"""Find the columns of label and scores, which are named or guessed.

A column is guessed only if there is one candidate, and a note states every guess.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice, pairwise
from typing import Any

from voros.exceptions import Argument, Message, NoSuchColumnError, PredictionFileError
from voros.io.bad_rows import NO_VALUE, almost_a_number, is_number
from voros.io.tables import is_numeric
from voros.text.table import shortened

LABEL_NAMES = frozenset({"label", "labels", "y_true", "y", "target", "outcome", "truth"})
"""Names that mean the label."""

MOSTLY = 0.5
"""A text column with at least this share of numbers counts as numbers with bad cells."""

SHOWN_COLUMNS = 12

SURE_IDENTIFIERS = frozenset({"id", "ids", "identifier", "idx", "index", "mrn", "unnamed"})
"""A column whose name has one of these words is an identifier."""

IDENTIFIERS = SURE_IDENTIFIERS | {
    *("admission", "case", "encounter", "key", "no", "nr", "number", "patient", "person", "row"),
    *("stay", "subject", "visit"),
}
"""A column whose name has only these words is an identifier."""

PROPERTIES = frozenset(
    {*("age", "bmi", "date", "day", "gender", "height", "hour", "month", "sex", "time"), "year"}
)
"""Words for properties of a case; a column with only these words has no scores."""

FEWEST_NUMBERED = 10
"""Fewest rows from which a column that counts up by one looks like a row number."""


@dataclass(frozen=True, kw_only=True)
class ColumnNames:
    """Columns as the caller names them; see `read_predictions`.

    Label and scores that are None or empty are guessed.
    """

    label: str | None = None
    scores: Sequence[str] = ()
    model: str | None = None
    case: str | None = None
    stay: str | None = None
    weight: str | None = None
    group: str | None = None
    time: str | None = None
    period: str | None = None
    by: Sequence[str] = ()
    aside: Sequence[str] = ()
    miss_value: str | None = None
    false_alarm_cost: str | None = None

    @property
    def taken(self) -> set[str]:
        """The columns that are neither label nor score."""
        return {*self.apart.values(), *self.by, *self.aside}

    @property
    def apart(self) -> dict[str, str]:
        """The columns that are neither label nor score, by the argument that names them."""
        roles = ("model", "case", "stay", "weight", "group", "time", "period")
        named = {role: getattr(self, role) for role in (*roles, "miss_value", "false_alarm_cost")}
        return {role: name for role, name in named.items() if name is not None}

    @property
    def columns(self) -> list[str]:
        """Every column to read, with label and scores known."""
        named = (self.label, *self.apart.values(), *self.by, *self.scores)
        return list(dict.fromkeys(name for name in named if name is not None))

    @property
    def numeric(self) -> list[str]:
        """The columns that must hold numbers."""
        numbers = self.weight, self.miss_value, self.false_alarm_cost
        return [*self.scores, *(name for name in numbers if name is not None)]


@dataclass(frozen=True)
class Roles(ColumnNames):
    """Columns with label and scores known, and notes on what was guessed or left out."""

    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Peeked:
    """The first rows of a file, with its columns by name: a file may have thousands."""

    file: str
    columns: Mapping[str, Any]
    counts: Counter[str]

    @classmethod
    def from_table(cls, table: Any, file: str) -> _Peeked:
        """Keep the first of several columns of one name."""
        columns: dict[str, Any] = {}
        for name, column in zip(table.column_names, table.columns, strict=True):
            columns.setdefault(name, column)
        return cls(file, columns, Counter(table.column_names))

    def check_single(self, name: str) -> None:
        if self.counts[name] > 1:
            raise PredictionFileError(f"{self.file} has more than one column {name!r}; rename them")


def assign_roles(first_rows: Any, names: ColumnNames, file: str, *, labelled: bool = True) -> Roles:
    """Assign a role to every needed column, by its name or by the first rows of the file."""
    peeked = check_names(first_rows, names, file)
    notes: list[str] = []
    label = names.label
    if label is None and labelled:
        label = _find_label(peeked, names)
        notes.append(_naming(f"taking column {label!r} as the label (another one: ", "label", ")"))
    scores = tuple(names.scores)
    if not scores:
        scores, left_out = _find_scores(peeked, names, label)
        what = "score column" if names.model else "models"
        taken = f"taking as {what}: {_listed(scores)} (others: "
        notes += [_naming(taken, "scores", ")"), *left_out]
    if names.model is not None and len(scores) != 1:
        several = f"and {len(scores)} are possible ({_listed(scores)})"
        long = f"a long file (model column {names.model!r}) has one column of scores, {several}"
        raise PredictionFileError(_naming(f"{file}: {long}; name it with ", "scores"))
    assigned = {"label": label, "scores": scores, "by": tuple(dict.fromkeys(names.by))}
    return Roles(**(vars(names) | assigned), notes=tuple(notes))


def check_names(first_rows: Any, names: ColumnNames, file: str) -> _Peeked:
    """Raise unless the file has each named column once, and each has one role."""
    peeked = _Peeked.from_table(first_rows, file)
    requested = [*names.apart.items(), *(("scores", name) for name in names.scores)]
    requested += [("by", name) for name in names.by]
    if names.label is not None:
        requested.insert(0, ("label", names.label))
    roles: dict[str, str] = {}
    for role, name in requested:
        if name not in peeked.columns:
            raise NoSuchColumnError(_missing(name, peeked, role))
        peeked.check_single(name)
        if roles.setdefault(name, role) != role:
            both = (Argument(roles[name]), " and ", Argument(role))
            raise PredictionFileError(
                Message(f"column {name!r} is named as both ", *both, "; it can be one only")
            )
    return peeked


def _naming(before: str, role: str, after: str = "") -> Message:
    return Message(before, Argument(role), after)


def _missing(name: str, peeked: _Peeked, role: str) -> Message:
    """Return an error on a missing column, with a similar name and the columns of the file."""
    close = get_close_matches(name, list(peeked.columns), n=1)
    meant = f"; did you mean {close[0]!r}?" if close else ";"
    rest = f"){meant} it has {_listed(peeked.columns)}"
    return _naming(f"{peeked.file} has no column {name!r} (", role, rest)


def _find_label(peeked: _Peeked, names: ColumnNames) -> str:
    taken = names.taken.union(names.scores)
    free = [name for name in peeked.columns if name not in taken]
    candidates = [name for name in free if name.lower() in LABEL_NAMES]
    if not candidates:
        candidates = [name for name in free if _is_binary(peeked.columns[name])]
    if len(candidates) == 1:
        peeked.check_single(candidates[0])
    if len(candidates) != 1:
        several = f"{_listed(candidates)} could all be" if candidates else "no column is clearly"
        opening, rest = (
            f"{peeked.file}: {several} the label; name it with ",
            _listed(peeked.columns),
        )
        raise PredictionFileError(_naming(opening, "label", f" (columns: {rest})"))
    return str(candidates[0])


def _find_scores(
    peeked: _Peeked, names: ColumnNames, label: str | None
) -> tuple[tuple[str, ...], list[str]]:
    """Return the columns that look like scores, and a note on the others."""
    taken = {label, *names.taken}
    free = [name for name in peeked.columns if name not in taken]
    reasons = {name: why_no_score(name, peeked.columns[name]) for name in free}
    scores = tuple(name for name, reason in reasons.items() if reason is None)
    for name in scores:
        peeked.check_single(name)
    listed = _first_few([f"{name!r} ({reason})" for name, reason in reasons.items() if reason])
    left_out = [f"left out: {listed}"] if listed else []
    if not scores:
        opening = f"{peeked.file}: no column looks like scores; name them with "
        rest = "; ".join([f" (columns: {_listed(peeked.columns)})", *left_out])
        raise PredictionFileError(_naming(opening, "scores", rest))
    return scores, left_out


def _is_binary(column: Any) -> bool:
    if not is_numeric(column.type):
        return False
    values = set(column.drop_null().unique().to_pylist())
    return len(values) == 2 and (values <= {0, 1} or values <= {-1, 1})


def _kind_in_words(kind: Any) -> str:
    """Name a type that is neither numbers nor text."""
    import pyarrow as pa

    types = pa.types
    named = {
        "text that is not UTF-8": types.is_binary(kind),
        "times of day": types.is_time(kind),
        "dates": types.is_date(kind) or types.is_timestamp(kind),
        "lists": types.is_nested(kind),
    }
    return next((words for words, holds in named.items() if holds), "values that are not numbers")


def why_no_score(name: str, column: Any) -> str | None:
    """Say why a column does not hold scores; None if it may.

    Text of mostly numbers counts as scores with a bad cell: leaving it out would hide a model.

    Examples
    --------
    >>> import pyarrow as pa
    >>> why_no_score("risk", pa.chunked_array([["12.3%", "4%"]]))
    "text such as '12.3%', a percentage; write 12.3% as 0.123"
    >>> why_no_score("patient_id", pa.chunked_array([[7, 3]]))
    'looks like an identifier'
    >>> why_no_score("risk", pa.chunked_array([[0.5, 0.25]])) is None
    True
    """
    import pyarrow as pa

    kind = column.type
    if is_numeric(kind) or pa.types.is_decimal(kind):
        words = _words(name)
        if names_identifier(name) or _numbered(column):
            return "looks like an identifier"
        return "looks like a property of the case" if words and words <= PROPERTIES else None
    values = column.drop_null().to_pylist()
    if not all(isinstance(value, str) for value in values):
        return _kind_in_words(kind)
    values = [value for value in values if value not in NO_VALUE]
    if not values:
        return f"no value in the first {len(column):,} rows"
    if sum(map(is_number, values)) >= MOSTLY * len(values):
        return None
    almost = almost_a_number(values[0])
    return "text" if almost is None else f"text such as {shortened(values[0])!r}, {almost}"


def names_identifier(name: str) -> bool:
    """Whether a column has the name of an identifier.

    Examples
    --------
    >>> names_identifier("patient_id"), names_identifier("riskOfPatient")
    (True, False)
    """
    words = _words(name)
    return bool(words & SURE_IDENTIFIERS) or (bool(words) and words <= IDENTIFIERS)


def _words(name: str) -> set[str]:
    return set(re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()))


def _numbered(column: Any) -> bool:
    """Whether a column counts its rows, up or down by one."""
    import pyarrow as pa

    if not pa.types.is_integer(column.type) or len(column) < FEWEST_NUMBERED:
        return False
    steps = {after - before for before, after in pairwise(column.drop_null().to_pylist())}
    return steps in ({1}, {-1})


def _listed(names: Iterable[str]) -> str:
    return _first_few(list(map(repr, islice(names, SHOWN_COLUMNS + 1))))


def _first_few(parts: Sequence[str]) -> str:
    return ", ".join(parts[:SHOWN_COLUMNS]) + (", ..." if len(parts) > SHOWN_COLUMNS else "")
