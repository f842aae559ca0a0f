"""Where a table comes from, and which format its bytes are in."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias

from voros.exceptions import Argument, ArgumentError, Message, PredictionFileError
from voros.installing import missing_package

Format: TypeAlias = Literal["csv", "tsv", "parquet", "arrow", "jsonl"]

FORMATS: dict[str, Format] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".arrows": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}
"""What the end of a file's name says about its format, once ``.gz`` is taken off."""

GZIP_MAGIC = b"\x1f\x8b"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
PARQUET_MAGIC = b"PAR1"
ARROW_FILE_MAGIC = b"ARROW1"
ARROW_STREAM_MAGIC = b"\xff\xff\xff\xff"

SNIFFED_BYTES = 65_536
"""Bytes of the beginning that show the format and the delimiter."""

DELIMITERS = (",", "\t", ";")

NOT_TABLES = {
    b"PK\x03\x04": "is a zip archive or an Excel workbook; save the sheet as CSV",
    b"\xd0\xcf\x11\xe0": "is an old Excel workbook; save the sheet as CSV",
    b"%PDF": "is a PDF document; name a table",
    b"SQLite format 3": "is a database; export the table as CSV",
    b"\xff\xfe": "is UTF-16 text; save it as UTF-8",
    b"\xfe\xff": "is UTF-16 text; save it as UTF-8",
}
"""What some files are by their first bytes, and what to do instead."""


@dataclass(frozen=True)
class Source:
    """A file, or standard input kept in memory so that it can be read more than once."""

    name: str
    path: Path | None
    content: bytes | None
    declared: Format | None = None

    @cached_property
    def head(self) -> bytes:
        """The first bytes, unpacked."""
        try:
            with self.open() as stream:
                start: bytes = stream.read(SNIFFED_BYTES)
        except OSError as error:
            raise PredictionFileError(f"{self.name} cannot be read: {error}") from None
        return start

    @cached_property
    def zipped(self) -> bool:
        """Whether the bytes are packed by gzip."""
        if self.content is not None:
            return self.content.startswith(GZIP_MAGIC)
        with _existing(self).open("rb") as file:
            return file.read(len(GZIP_MAGIC)) == GZIP_MAGIC

    @cached_property
    def format(self) -> Format:
        """The format: as declared, else by the name, else by the first bytes."""
        return self.declared or self._named_format() or self._sniffed_format()

    @property
    def format_is_guessed(self) -> bool:
        """Whether the format was found from the bytes alone."""
        return self.declared is None and self._named_format() is None

    @cached_property
    def delimiter(self) -> str:
        """What stands between the columns of delimited text, judged by the header line."""
        if self.format == "tsv":
            return "\t"
        header = header_of(self.head)
        return max(DELIMITERS, key=lambda mark: (header.count(mark), -DELIMITERS.index(mark)))

    def open(self) -> Any:
        """Open the bytes afresh, unpacked."""
        pa = load_pyarrow()
        raw = pa.BufferReader(self.content) if self.content is not None else self._open_path()
        return pa.CompressedInputStream(raw, "gzip") if self.zipped else raw

    def _open_path(self) -> Any:
        return load_pyarrow().OSFile(str(_existing(self)), "rb")

    def _named_format(self) -> Format | None:
        if self.path is None:
            return None
        name = self.path.name.lower().removesuffix(".gz")
        return FORMATS.get(Path(name).suffix)

    def _sniffed_format(self) -> Format:
        head = self.head.removeprefix(BYTE_ORDER_MARK)
        if head.startswith(PARQUET_MAGIC):
            return "parquet"
        if head.startswith((ARROW_FILE_MAGIC, ARROW_STREAM_MAGIC)):
            return "arrow"
        if head.lstrip().startswith(b"{"):
            return "jsonl"
        header = header_of(head)
        return "tsv" if "\t" in header and "," not in header else "csv"


def open_source(path: str | Path, file_format: str | None = None) -> Source:
    """Find a file, or take in standard input where the path is ``-``.

    Raises
    ------
    PredictionFileError
        When there is no such file, it is empty, or the format is not known.
    """
    if file_format is not None and file_format not in FORMATS.values():
        accepted = ", ".join(dict.fromkeys(FORMATS.values()))
        raise ArgumentError("file_format", f"={file_format!r} is not one of {accepted}")
    declared: Format | None = file_format  # type: ignore[assignment]
    if str(path) == "-":
        source = Source("standard input", None, _standard_input(), declared)
    else:
        source = Source(str(path), Path(path), _streamed(Path(path)), declared)
    _check_bytes(source)
    return source


def header_of(head: bytes) -> str:
    r"""Return the first line that is not empty, without what stands in quotes.

    Examples
    --------
    >>> header_of(b'label,"a;b;\nc",score\n1,2,3\n')
    'label,,score'
    """
    text = head.removeprefix(BYTE_ORDER_MARK).decode("utf-8", errors="replace").lstrip("\r\n")
    outside = "".join(text.split('"')[::2])
    return outside.splitlines()[0] if outside else ""


def _check_bytes(source: Source) -> None:
    """Refuse what is clearly no table, or one of another format than its name says."""
    name, head = source.name, source.head
    if not head.strip():
        raise PredictionFileError(f"{name} is empty; it needs a header and rows")
    for magic, problem in NOT_TABLES.items():
        if head.startswith(magic):
            raise PredictionFileError(f"{name} {problem}")
    magics = {"parquet": (PARQUET_MAGIC,), "arrow": (ARROW_FILE_MAGIC, ARROW_STREAM_MAGIC)}
    for kind, starts in magics.items():
        if source.format in ("csv", "tsv", "jsonl") and head.startswith(starts):
            raise PredictionFileError(
                Message(
                    f"{name} is read as {source.format}, and begins as {kind} does; give ",
                    Argument(f"file_format={kind!r}", "file_format", kind),
                )
            )


def _standard_input() -> bytes:
    if sys.stdin is None:
        raise PredictionFileError("standard input is closed; name a file of predictions")
    return sys.stdin.buffer.read()


def _streamed(path: Path) -> bytes | None:
    """Take in what can be read once only, such as a pipe; None for a file."""
    if path.is_fifo() or (path.is_char_device() and _is_terminal(path)):
        return path.read_bytes()
    if path.exists() and not path.is_file() and not path.is_dir():
        raise PredictionFileError(f"{path} is a device or socket; name a file or a pipe")
    return None


def _is_terminal(path: Path) -> bool:
    with path.open("rb", buffering=0) as device:
        return device.isatty()


def load_pyarrow() -> Any:
    """Import pyarrow, or say how to get it."""
    try:
        import pyarrow as pa
    except ImportError as error:
        raise missing_package("reading prediction files", "pyarrow") from error
    return pa


def _existing(source: Source) -> Path:
    path = source.path
    if path is None or not path.is_file():
        what = "is a folder, not a file" if path is not None and path.is_dir() else "does not exist"
        raise PredictionFileError(f"{source.name} {what}; name a file of predictions")
    return path
