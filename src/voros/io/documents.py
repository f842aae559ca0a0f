"""Documents of JSON, read strictly and key by key: policies, counts, settings.

Text that is not strict JSON is refused, and so are duplicate keys, numbers beyond a float, and text
that is not Unicode. `Entry` then reads a document key by key and names the path of a key that it
refuses. A checksum over all values finds every other change.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from voros.io.writing import NOT_FINITE, checksum
from voros.text.table import shortened

Read = TypeVar("Read")

LARGEST_INT64 = 2**63 - 1
"""The largest count that numpy holds."""


class DocumentError(ValueError):
    """A document is not valid; the message names the key."""


def read_document(source: str | Path, kind: str) -> Entry:
    """Read JSON text, or the file at a path, as a document.

    Parameters
    ----------
    source : str or path-like
        Text that begins with a brace or bracket is JSON itself.
    kind : str
        The kind of document, for messages.

    Raises
    ------
    DocumentError
        When it is not strict JSON.
    """
    if isinstance(source, str) and source.lstrip()[:1] in ("{", "["):
        text, origin = source, "the text"
    else:
        text, origin = _file_text(Path(source)), str(source)
    return Entry(_parsed(text, origin, kind), "", origin)


def _file_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise DocumentError(f"{path} is not JSON: it is not UTF-8 text ({error})") from None


def _parsed(text: str, origin: str, kind: str) -> Any:
    try:
        value = json.loads(
            text,
            object_pairs_hook=_once,
            parse_constant=_refuse_constant,
            parse_int=_whole,
            parse_float=_finite,
        )
        # Lone surrogates, written directly or as an escape, cannot be encoded.
        (text + json.dumps(value, ensure_ascii=False)).encode("utf-8")
        return value
    except json.JSONDecodeError as error:
        reason = f"it is not JSON ({error})"
    except RecursionError:
        reason = "it is nested too deep"
    except UnicodeEncodeError:
        reason = "it holds half a character"
    except DocumentError as error:
        reason = str(error)
    raise DocumentError(f"{origin} is not a valid {kind}: {reason}")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for key, value in pairs:
        if key in fields:
            raise DocumentError(f"the key {_shown(key)} is given twice")
        fields[key] = value
    return fields


def _refuse_constant(constant: str) -> NoReturn:
    raise DocumentError(f'{constant} is not strict JSON; write "{constant}" in quotation marks')


def _whole(digits: str) -> int:
    if len(digits) > len(str(LARGEST_INT64)) + 1 or abs(int(digits)) > LARGEST_INT64:
        raise DocumentError(f"the number {shortened(digits)} has too many digits")
    return int(digits)


def _finite(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise DocumentError(f"the number {shortened(digits)} is too large")
    return value


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    return shortened(json.dumps(value))


@dataclass(frozen=True)
class Entry:
    """A value of a document, with the path that leads to it.

    Attributes
    ----------
    value : object
        As JSON holds it.
    path : str
        Such as ``choices[2].threshold``; empty for the document itself.
    origin : str
        The file, or "the text".
    """

    value: Any
    path: str
    origin: str

    def refuse(self, accepted: str) -> NoReturn:
        """Raise, naming the key, its value and what would be accepted."""
        name = self.path or "the document"
        raise DocumentError(
            f"{self.origin}: {name} is {_shown(self.value)}; accepted is {accepted}"
        )

    def contradict(self, message: str) -> NoReturn:
        """Raise because of what the document says elsewhere."""
        where = f"{self.path} " if self.path else ""
        raise DocumentError(f"{self.origin} contradicts itself: {where}{message}")

    def check_format(self, name: str, schema: int) -> None:
        """Raise unless the document says that it is of this format and schema."""
        fields = self.value if isinstance(self.value, dict) else {}
        if fields.get("format") != name:
            other = "is not a saved document"
            if "format" in fields:
                other = f"has the format {_shown(fields['format'])}"
            raise DocumentError(f"{self.origin} {other}; accepted is the format {name!r}")
        stated = fields.get("schema")
        newer = isinstance(stated, int) and stated > schema
        if newer or stated != schema or isinstance(stated, bool):
            reason = "written by a newer voros: upgrade it" if newer else "save it again with voros"
            raise DocumentError(
                f"{self.origin} has the schema {_shown(stated)}; accepted is {schema}; {reason}"
            )

    def keys(self, *required: str) -> dict[str, Entry]:
        """Return the entries of an object that has exactly these keys."""
        if not isinstance(self.value, dict):
            self.refuse("an object")
        lacking = [key for key in required if key not in self.value]
        unknown = [key for key in self.value if key not in required]
        name = self.path or "the document"
        if lacking:
            raise DocumentError(f"{self.origin}: {name} lacks {', '.join(map(_shown, lacking))}")
        if unknown:
            raise DocumentError(
                f"{self.origin}: {name} has the unknown key {', '.join(map(_shown, unknown))}; "
                f"accepted are {', '.join(required)}"
            )
        return {key: self._at(f".{key}", item) for key, item in self.value.items()}

    def named(self) -> dict[str, Entry]:
        """Return the entries of an object with any keys."""
        if not isinstance(self.value, dict):
            self.refuse("an object")
        return self.keys(*self.value)

    def items(self) -> list[Entry]:
        """Return the entries of a list."""
        if not isinstance(self.value, list):
            self.refuse("a list")
        return [self._at(f"[{position}]", item) for position, item in enumerate(self.value)]

    def number(
        self, low: float = -math.inf, high: float = math.inf, *, finite: bool = True
    ) -> float:
        """Return a number within [low, high]; whole ones stay whole."""
        value = self.value
        if isinstance(value, str) and not finite:
            value = NOT_FINITE.get(value, value)
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not is_number or not low <= value <= high:
            self.refuse(_range_in_words(low, high, finite))
        number: float = value
        return number

    def whole(self, low: int = 0, high: int = LARGEST_INT64) -> int:
        """Return a whole number within [low, high]."""
        value = self.value
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            self.refuse(f"a whole number within [{low}, {high}]")
        return value

    def text(self) -> str:
        """Return text that is not empty."""
        if not isinstance(self.value, str) or not self.value:
            self.refuse("text")
        return self.value

    def optional(self, parse: Callable[[Entry], Read]) -> Read | None:
        """Return None for null, and parse anything else."""
        return None if self.value is None else parse(self)

    def wholes(self, low: int, high: int = LARGEST_INT64) -> list[int]:
        """Return a list of whole numbers."""
        return [item.whole(low, high) for item in self.items()]

    def numbers(self, low: float = -math.inf) -> list[float]:
        """Return a list of finite numbers."""
        return [item.number(low) for item in self.items()]

    def saved(self, name: str, schema: int) -> dict[str, Entry]:
        """Return the entries of a document of this format that was not changed."""
        self.check_format(name, schema)
        self.check_unchanged()
        return self.named()

    def check_unchanged(self) -> None:
        """Raise unless the document's values match its checksum."""
        if self.value.get("checksum") != checksum(self.value):
            raise DocumentError(
                f"{self.origin} was changed after it was saved: its checksum does not match; save "
                "it again with voros"
            )

    def made(self, make: Callable[..., Read], *arguments: Any, **named: Any) -> Read:
        """Call a constructor with values of the right type; its error names the file and path."""
        try:
            return make(*arguments, **named)
        except (TypeError, ValueError, ArithmeticError) as error:
            where = f"{self.path}: " if self.path else ""
            raise DocumentError(f"{self.origin}: {where}{error}") from None

    def record(self, kind: Callable[..., Read]) -> Read:
        """Make a dataclass of an object with its fields; lists become tuples."""
        if not isinstance(self.value, dict):
            self.refuse("an object")
        types = {name: str(f.type) for name, f in getattr(kind, "__dataclass_fields__", {}).items()}
        values = {
            name: _restored(value, spelled="float" in types.get(name, ""))
            for name, value in self.value.items()
        }
        for name, value in values.items():
            if types.get(name) == "float" and not isinstance(value, int | float):
                self._at(f".{name}", value).refuse("a number")
        return self.made(kind, **values)

    def _at(self, step: str, value: Any) -> Entry:
        return Entry(value, (self.path + step).lstrip("."), self.origin)


def _restored(value: Any, *, spelled: bool) -> Any:
    """Return tuples for lists and numbers for "Infinity" and "NaN"."""
    if isinstance(value, list):
        return tuple(_restored(item, spelled=spelled) for item in value)
    return NOT_FINITE.get(value, value) if spelled and isinstance(value, str) else value


def _range_in_words(low: float, high: float, finite: bool) -> str:
    ends = "" if math.isinf(low) and math.isinf(high) else f" within [{low:g}, {high:g}]"
    spelled = [word for word, value in NOT_FINITE.items() if low <= value <= high and not finite]
    return " or ".join([f"a number{ends}", *map(_shown, spelled)])
