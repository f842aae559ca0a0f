"""One pass over delimited text before it is read: quotes left open, its rows, and their length."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from voros.exceptions import PredictionFileError

CHUNK_BYTES = 1 << 20

LONGEST_ROW = 1 << 26
"""Bytes of a row; longer ones are no table's, and would be held in memory several times."""

TOO_LONG = "straddling"
"""How pyarrow says that a row does not fit into a block."""

QUOTE, NEWLINE = ord('"'), ord("\n")

LITERAL = re.compile(rb'[^",;\t\r\n]"[^",;\t\r\n]')
"""A quote between other characters, which opens and closes nothing, or is a slip."""


def count_lines(stream: Any, delimiter: str) -> int:
    r"""Return the number of lines of a text, which is at least that of its rows.

    Raises
    ------
    PredictionFileError
        Where a quote is never closed: a reader takes everything after it as one cell, and says
        nothing. Where a line is longer than any table's.

    Examples
    --------
    >>> import io
    >>> count_lines(io.BytesIO(b'a,b\n1,"x\ny"\n'), ",")
    3
    >>> count_lines(io.BytesIO(b'a,b\n1,"x\n2,y\n'), ",")
    Traceback (most recent call last):
    voros.exceptions.PredictionFileError: the quote that opens in line 2 is never closed; close or
    remove it, for all that follows would be one cell
    """
    scan = _Scan(f"{delimiter}\r\n".encode())
    while chunk := stream.read(CHUNK_BYTES):
        scan.take(bytes(chunk))
    if scan.opened is not None:
        raise PredictionFileError(
            f"the quote that opens in line {scan.opened} is never closed; close or remove "
            "it, for all that follows would be one cell"
        )
    return scan.line - (scan.before == NEWLINE)


class _Scan:
    """Where in a text we are: within quotes that opened in some line, or not."""

    def __init__(self, starts: bytes) -> None:
        self.starts = starts  # after which a quote opens a cell
        self.opened: int | None = None
        self.line = 1
        self.before = starts[-1]
        self.just_closed = False
        self.unbroken = 0  # bytes since the last line break

    def take(self, chunk: bytes) -> None:
        """Go through more of the text; a chunk that cannot change the state is only counted."""
        if self.opened is None and not self.just_closed and self._is_balanced(chunk):
            self.line += chunk.count(b"\n")
        else:
            self._step_through(chunk)
        self._measure(chunk)
        self.before = chunk[-1]
        self.just_closed = self.before == QUOTE and self.opened is None

    def _measure(self, chunk: bytes) -> None:
        last = chunk.rfind(b"\n")
        self.unbroken = self.unbroken + len(chunk) if last < 0 else len(chunk) - last - 1
        if self.unbroken > LONGEST_ROW:
            raise PredictionFileError(
                f"line {self.line} has more than {LONGEST_ROW >> 20} MB; see whether it is a table"
            )

    def _is_balanced(self, chunk: bytes) -> bool:
        if b'"' not in chunk:
            return True
        ends_outside = chunk.endswith(b"\n")
        return ends_outside and chunk.count(b'"') % 2 == 0 and not LITERAL.search(chunk)

    def _step_through(self, chunk: bytes) -> None:
        last, closed_at = 0, -1 if self.just_closed else -2
        for quote in re.finditer(rb'"', chunk):
            at = quote.start()
            self.line += chunk.count(b"\n", last, at)
            last = at
            if self.opened is not None:
                self.opened, closed_at = None, at
            elif closed_at == at - 1 or (chunk[at - 1] if at else self.before) in self.starts:
                self.opened = self.line
        self.line += chunk.count(b"\n", last)


def with_longer_blocks(read_blocks: Callable[[int], Any]) -> Any:
    """Read with blocks of the usual size, and with longer ones where a row needs them."""
    import pyarrow as pa

    try:
        return read_blocks(CHUNK_BYTES)
    except pa.ArrowInvalid as error:
        if TOO_LONG not in str(error):
            raise
    try:
        return read_blocks(LONGEST_ROW)
    except pa.ArrowInvalid as error:
        if TOO_LONG not in str(error):
            raise
        raise PredictionFileError(f"a row has more than {LONGEST_ROW >> 20} MB") from None
