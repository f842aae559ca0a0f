"""A file or standard input, and its format by the first bytes."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias

from voros.exceptions import PredictionFileError
from voros.installing import missing_package

Format: TypeAlias = Literal["csv", "parquet", "arrow", "document"]
"""Format of a file; ``csv`` is delimited text with any delimiter."""

GZIP_MAGIC = b"\x1f\x8b"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
PARQUET_MAGIC = b"PAR1"
ARROW_MAGIC = b"ARROW1"

DOCUMENT = re.compile(rb'\s*\{\s*"format"\s*:\s*"voros ')
"""Beginning of a document that voros has written, such as one of counts."""

JSON = re.compile(rb"\s*(\{|\[\s*[\[{])")
"""Beginning of JSON records, in lines or in a list."""

SNIFFED_BYTES = 65_536
"""Bytes of the beginning that show the format and the delimiter."""

BLOCK_BYTES = 1 << 22
"""Size of a block of the reader; no row may be longer."""

PEEKED_ROWS = 1000
"""Number of rows that decide the type of a column."""

COMMA_NUMBER = re.compile(rb"[+-]?\d*,\d+(e[+-]?\d+)?", re.IGNORECASE)
POINT_NUMBER = re.compile(rb"[+-]?\d*\.\d+(e[+-]?\d+)?", re.IGNORECASE)
"""Decimal numbers with a comma and with a point."""

DELIMITERS = (",", "\t", ";")
"""Delimiters of text that are recognised."""

NOT_TABLES = {
    b"PK\x03\x04": "is a zip archive or an Excel workbook; save the sheet as CSV",
    b"\xd0\xcf\x11\xe0": "is an old Excel workbook; save the sheet as CSV",
    b"%PDF": "is a PDF document; name a table",
    b"SQLite format 3": "is a database; export the table as CSV",
    b"BZh": "is compressed with bzip2; decompress it, or use gzip",
    b"\xfd7zXZ\x00": "is compressed with xz; decompress it, or use gzip",
    b"\x28\xb5\x2f\xfd": "is compressed with zstd; decompress it, or use gzip",
    b"\xff\xff\xff\xff": "is an Arrow stream; save a table as an Arrow file or Parquet",
    b"\x93NUMPY": "is a NumPy array without column names; save a table as CSV or Parquet",
    b"\xff\xfe\x00\x00": "is UTF-32 text; save it as UTF-8",
    b"\x00\x00\xfe\xff": "is UTF-32 text; save it as UTF-8",
    b"\xff\xfe": "is UTF-16 text; save it as UTF-8",
    b"\xfe\xff": "is UTF-16 text; save it as UTF-8",
}
"""Formats that are refused, by their first bytes; the first match counts."""

ZEROS = 0.2
"""Text with a larger share of zero bytes counts as UTF-16 or UTF-32."""


@dataclass(frozen=True)
class Source:
    """A file, or standard input, which is kept in memory to be read more than once."""

    name: str
    path: Path | None
    content: bytes | None

    @cached_property
    def head(self) -> bytes:
        """The first bytes, decompressed."""
        try:
            with self.open() as stream:
                start: bytes = stream.read(SNIFFED_BYTES)
        except OSError as error:
            raise PredictionFileError(f"{self.name} cannot be read: {error}") from None
        return start

    @cached_property
    def zipped(self) -> bool:
        """Whether the bytes are compressed by gzip."""
        if self.content is not None:
            return self.content.startswith(GZIP_MAGIC)
        with _existing(self).open("rb") as file:
            return file.read(len(GZIP_MAGIC)) == GZIP_MAGIC

    @cached_property
    def format(self) -> Format:
        """The format by the content; the name does not matter."""
        head = self._text_head
        if DOCUMENT.match(head):
            return "document"
        if head.startswith(PARQUET_MAGIC):
            return "parquet"
        return "arrow" if head.startswith(ARROW_MAGIC) else "csv"

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the delimiter and the decimal mark."""
        notes = []
        if self.format == "csv" and self.delimiter == ";":
            notes.append(f"{self.name} is separated by {self.delimiter!r}")
        if self.format == "csv" and self.decimal == ",":
            notes.append(f"numbers in {self.name} are read with decimal commas")
        return tuple(notes)

    @cached_property
    def delimiter(self) -> str:
        """The delimiter of text, from the header line."""
        header = header_of(self.head)
        return max(DELIMITERS, key=lambda mark: (header.count(mark), -DELIMITERS.index(mark)))

    @cached_property
    def decimal(self) -> str:
        """The decimal mark of text: a comma if no number of the first rows has a point."""
        if self.delimiter == ",":
            return "."
        cells = re.split(rb"[\r\n" + re.escape(self.delimiter.encode()) + rb"]", self._text_head)
        plain = {cell.strip(b'" \t') for cell in cells}
        with_comma = any(map(COMMA_NUMBER.fullmatch, plain))
        return "," if with_comma and not any(map(POINT_NUMBER.fullmatch, plain)) else "."

    def open(self) -> Any:
        """Open the file from its start, decompressed."""
        pa = load_pyarrow()
        if self.content is not None:
            raw = pa.BufferReader(self.content)
        else:
            raw = pa.OSFile(str(_existing(self)), "rb")
        return pa.CompressedInputStream(raw, "gzip") if self.zipped else raw

    @property
    def _text_head(self) -> bytes:
        return self.head.removeprefix(BYTE_ORDER_MARK)


def open_source(path: str | Path) -> Source:
    r"""Open a file, or read standard input if the path is ``-``.

    Returns
    -------
    Source

    Raises
    ------
    PredictionFileError
        When there is no such file, or it is empty or not a table.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp(), "cases.csv")
    >>> _ = file.write_text("died,risk\n1,0.9\n0,0.2\n")
    >>> open_source(file).format
    'csv'
    """
    if str(path) == "-":
        if sys.stdin is None:
            raise PredictionFileError("standard input is closed; name a file of predictions")
        source = Source("standard input", None, sys.stdin.buffer.read())
    else:
        source = Source(str(path), Path(path), _streamed(Path(path)))
    _check_bytes(source)
    return source


def header_of(head: bytes) -> str:
    r"""Return the first line that is not empty, without quoted text.

    Examples
    --------
    >>> header_of(b'label,"a;b;\nc",score\n1,2,3\n')
    'label,,score'
    """
    text = head.removeprefix(BYTE_ORDER_MARK).decode("utf-8", errors="replace").lstrip("\r\n")
    outside = "".join(text.split('"')[::2])
    return outside.splitlines()[0] if outside else ""


def _check_bytes(source: Source) -> None:
    """Refuse a file that is not a table, or a table of another format."""
    name, head = source.name, source.head
    if not head.strip():
        raise PredictionFileError(f"{name} is empty; it needs a header and rows")
    for magic, problem in NOT_TABLES.items():
        if head.startswith(magic):
            raise PredictionFileError(f"{name} {problem}")
    if source.format != "document" and JSON.match(head.removeprefix(BYTE_ORDER_MARK)):
        raise PredictionFileError(f"{name} is JSON; save it as CSV or Parquet")
    if source.format in ("parquet", "arrow"):
        if source.zipped:
            raise PredictionFileError(f"{name} is {source.format} within gzip; decompress it")
    elif head.count(0) > ZEROS * len(head):
        raise PredictionFileError(f"{name} is UTF-16 or UTF-32 text, or no text; save it as UTF-8")


def _streamed(path: Path) -> bytes | None:
    """Return the content of a pipe, which can be read only once; None for a file."""
    if path.is_fifo():
        return path.read_bytes()
    if path.exists() and not path.is_file() and not path.is_dir():
        raise PredictionFileError(f"{path} is a device or socket; name a file or a pipe")
    return None


def load_pyarrow() -> Any:
    """Import pyarrow, or raise an error that says how to install it."""
    try:
        import pyarrow as pa
    except ImportError as error:
        raise missing_package("reading prediction files", "pyarrow") from error
    return pa


def _existing(source: Source) -> Path:
    path = source.path
    if path is not None and path.is_file():
        return path
    name, what, elsewhere = source.name, "does not exist", ""
    if path is not None and path.is_dir():
        what, elsewhere = "is a folder, not a file", ELSEWHERE
    elif ADDRESS.match(name):
        # A path has lost one of its slashes.
        name = ADDRESS.sub(r"\1://", name)
        what = "is an address, not a file on this machine"
    raise PredictionFileError(f"{name} {what}; name a file of predictions{elsewhere}")


ADDRESS = re.compile(r"^([a-z][a-z0-9+]+):/+(?=[^/])")
"""Beginning of an address of an object store."""

ELSEWHERE = ". Parquet there is read by voros score, select and map"
