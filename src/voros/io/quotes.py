"""Quotes in delimited text: whether every one that opens is closed."""

from __future__ import annotations

import re
from typing import Any

CHUNK_BYTES = 1 << 20

QUOTE = ord('"')

LITERAL = re.compile(rb'[^",;\t\r\n]"[^",;\t\r\n]')
"""A quote between other characters, which opens and closes nothing, or is a slip."""


def unclosed_quote(stream: Any, delimiter: str) -> int | None:
    r"""Return the line of a quote that is never closed; None where all are.

    A reader takes everything after such a quote as one cell, and says nothing.

    Examples
    --------
    >>> import io
    >>> unclosed_quote(io.BytesIO(b'a,b\n1,"x\ny"\n'), ",") is None
    True
    >>> unclosed_quote(io.BytesIO(b'a,b\n1,"x\n2,y\n'), ",")
    2
    """
    scan = _Scan(f"{delimiter}\r\n".encode())
    while chunk := stream.read(CHUNK_BYTES):
        scan.take(bytes(chunk))
    return scan.opened


class _Scan:
    """Where in a text we are: within quotes that opened in some line, or not."""

    def __init__(self, starts: bytes) -> None:
        self.starts = starts  # after which a quote opens a cell
        self.opened: int | None = None
        self.line = 1
        self.before = starts[-1]
        self.just_closed = False

    def take(self, chunk: bytes) -> None:
        """Go through more of the text; a chunk that cannot change the state is only counted."""
        if self.opened is None and not self.just_closed and self._is_balanced(chunk):
            self.line += chunk.count(b"\n")
        else:
            self._step_through(chunk)
        self.before = chunk[-1]
        self.just_closed = self.before == QUOTE and self.opened is None

    def _is_balanced(self, chunk: bytes) -> bool:
        if b'"' not in chunk:
            return True
        ends_outside = chunk.endswith(b"\n")
        return ends_outside and chunk.count(b'"') % 2 == 0 and not LITERAL.search(chunk)

    def _step_through(self, chunk: bytes) -> None:
        last, closed_at = 0, -1 if self.just_closed else -2
        for found in re.finditer(rb'"', chunk):
            at = found.start()
            self.line += chunk.count(b"\n", last, at)
            last = at
            if self.opened is not None:
                self.opened, closed_at = None, at
            elif closed_at == at - 1 or self._previous(chunk, at) in self.starts:
                self.opened = self.line
        self.line += chunk.count(b"\n", last)

    def _previous(self, chunk: bytes, at: int) -> int:
        return chunk[at - 1] if at else self.before
