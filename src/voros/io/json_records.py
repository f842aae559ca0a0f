"""Records of JSON, one in each line."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any

from voros.exceptions import PredictionFileError
from voros.io.memory import check_fits_rows
from voros.io.source import BLOCK_BYTES, PEEKED_ROWS, SNIFFED_BYTES, Source

NO_OBJECT = re.compile(rb"(?:\A(?:\xef\xbb\xbf)?|\n)[ \t\r]*(?!\xef\xbb\xbf)[^{\s]")
"""A line that begins with anything but the brace of an object."""

MOST_BRACKETS = 1000
"""Brackets in a row; pyarrow crashes on values that are nested some thousands deep."""


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
    check_fits_rows(n_rows, source.head.partition(b"\n")[0].count(b":"))
    options = arrow_json.ReadOptions(block_size=BLOCK_BYTES)
    return arrow_json.read_json(source.open(), options)


def _check_lines(stream: Any) -> int:
    """Return the number of lines; raise where pyarrow would crash.

    It does on a block that begins with null, and on values that are nested thousands deep.
    """
    import pyarrow as pa

    n_lines = 0
    for lines in _whole_lines(stream):
        if NO_OBJECT.search(lines):
            raise pa.ArrowInvalid("a line is not a JSON object")
        for row, line in enumerate(lines.split(b"\n"), start=n_lines + 1):
            if line.count(b"{") + line.count(b"[") > MOST_BRACKETS:
                raise PredictionFileError(f"row {row} has more than {MOST_BRACKETS} brackets")
        n_lines += lines.count(b"\n")
    return n_lines


def _whole_lines(stream: Any) -> Iterator[bytes]:
    """Read a stream in pieces that end with a line."""
    rest = b""
    while chunk := stream.read(BLOCK_BYTES):
        whole, line_end, rest = (rest + bytes(chunk)).rpartition(b"\n")
        if len(rest) > BLOCK_BYTES:
            raise PredictionFileError(f"a row has more than {BLOCK_BYTES >> 20} MB")
        yield whole + line_end
    yield rest
