"""Records of JSON: one in each line, or all in one list as pandas writes them."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

from voros.exceptions import PredictionFileError
from voros.io.memory import check_fits_bytes, check_fits_rows
from voros.io.source import PEEKED_ROWS, SNIFFED_BYTES, Source
from voros.io.text_scan import CHUNK_BYTES, LONGEST_ROW, with_longer_blocks

NO_OBJECT = re.compile(rb"(?:\A(?:\xef\xbb\xbf)?|\n)[ \t\r]*(?!\xef\xbb\xbf)[^{\s]")
"""A line that begins with anything but the brace of an object."""

DEEPEST = 100
"""Values within one another; pyarrow crashes on some thousands."""

PARSED = 20
"""Bytes that Python takes for each byte of a list of records, less than that in all trials."""


def peek_lines(source: Source) -> Any:
    """Return the first rows of JSON lines."""
    import pyarrow as pa
    from pyarrow import json as arrow_json

    lines = source.head.splitlines(keepends=True)
    # The last line may be cut off in the middle of a row.
    cut_off = len(source.head) == SNIFFED_BYTES
    if cut_off and len(lines) == 1:
        return read_lines(source)
    first = b"".join((lines[:-1] if cut_off else lines)[:PEEKED_ROWS])
    _check_lines(io.BytesIO(first))
    return arrow_json.read_json(pa.BufferReader(first))


def read_lines(source: Source) -> Any:
    """Return all rows of JSON lines."""
    from pyarrow import json as arrow_json

    n_rows = _check_lines(source.open())
    if len(source.head) == SNIFFED_BYTES:
        check_fits_rows(n_rows, source.head.partition(b"\n")[0].count(b":"))
    return with_longer_blocks(
        lambda block: arrow_json.read_json(source.open(), arrow_json.ReadOptions(block_size=block))
    )


def _check_lines(stream: Any) -> int:
    """Return the number of lines; raise where pyarrow would crash.

    It does on a block that begins with null, and on values that are nested thousands deep.
    """
    import pyarrow as pa

    n_lines = 0
    for lines in _whole_lines(stream):
        if NO_OBJECT.search(lines):
            raise pa.ArrowInvalid("a line is not a JSON object")
        _check_depth(lines, n_lines)
        n_lines += lines.count(b"\n")
    return n_lines


def _whole_lines(stream: Any) -> Iterator[bytes]:
    """Read a stream in pieces that end with a line."""
    parts: list[bytes] = []
    while chunk := stream.read(CHUNK_BYTES):
        end = chunk.rfind(b"\n") + 1
        parts.append(bytes(chunk[:end] or chunk))
        if end:
            yield b"".join(parts)
            parts = [bytes(chunk[end:])]
        elif sum(map(len, parts)) > LONGEST_ROW:
            raise PredictionFileError(f"a row has more than {LONGEST_ROW >> 20} MB")
    if any(parts):
        yield b"".join(parts) + b"\n"


def _check_depth(lines: bytes, n_before: int) -> None:
    # Flat rows have one bracket each, and are not looked at one by one.
    if lines.count(b"{") + lines.count(b"[") - lines.count(b"\n") < DEEPEST:
        return
    for number, line in enumerate(lines.split(b"\n"), start=n_before + 1):
        if line.count(b"{") + line.count(b"[") > DEEPEST and _depth(line) > DEEPEST:
            raise PredictionFileError(f"row {number} is nested more than {DEEPEST} deep")


def _depth(line: bytes) -> int:
    r"""Return how deep values are nested; brackets inside strings do not count.

    Examples
    --------
    >>> _depth(rb'{"a": [1, {"b": "[[[\"]["}]}')
    3
    """
    outside = line.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')[::2]
    steps = (1 if mark in b"{[" else -1 for part in outside for mark in part if mark in b"{[]}")
    return max(accumulate(steps), default=0)


def read_list(source: Source) -> Any:
    """Return the rows of a list of records.

    Raises
    ------
    PredictionFileError
        Where it is not one; no more of it is shown than the row's number.
    """
    import pyarrow as pa

    records = _parsed(source)
    wrong = next((n for n, row in enumerate(records, 1) if not isinstance(row, dict)), None)
    if wrong is not None:
        raise PredictionFileError(f"row {wrong} of the list is not an object of names and values")
    names = dict.fromkeys(name for row in records for name in row)
    columns = {}
    for name in names:
        try:
            columns[name] = pa.array([row.get(name) for row in records])
        except (pa.ArrowException, OverflowError):
            kinds = sorted({type(row[name]).__name__ for row in records if name in row})
            raise PredictionFileError(
                f"column {name!r} holds values of different types: {', '.join(kinds)}"
            ) from None
    return pa.table(columns)


def _parsed(source: Source) -> Sequence[Any]:
    check_fits_bytes(source.open(), PARSED)
    try:
        records = json.loads(source.open().read(), object_pairs_hook=_once)
    except RecursionError:
        raise PredictionFileError("values are nested too deep") from None
    except json.JSONDecodeError as error:
        raise PredictionFileError(f"the list of records is not JSON: {error}") from None
    if not isinstance(records, list):
        raise PredictionFileError("it is not a list of records")
    return records


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        raise PredictionFileError("a record has a name twice; rename one")
    return record
