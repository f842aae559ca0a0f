"""A file or standard input, in whatever format its bytes are, becomes an Arrow table.

Of the columns only those are read that are asked for.
"""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias

from voros.core.arrays import check_choice
from voros.exceptions import PredictionFileError
from voros.installing import missing_package
from voros.io.bad_rows import NO_VALUE, check_text_numbers, explain_bad_row, no_rows
from voros.text.messages import Argument, Message

Format: TypeAlias = Literal["csv", "tsv", "parquet", "arrow", "jsonl", "document"]

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
ARROW_STREAM_END = ARROW_STREAM_MAGIC + bytes(4)

DOCUMENT = re.compile(rb'\s*\{\s*"format"\s*:\s*"voros ')
"""How a document that voros has written begins, such as one of counts."""

SNIFFED_BYTES = 65_536
"""Bytes of the beginning that show the format and the delimiter."""

DELIMITED, DELIMITERS = ("csv", "tsv"), (",", "\t", ";")
"""Formats of delimited text, and what may stand between their columns."""

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
        if DOCUMENT.match(self.head):
            return "document"
        return self.declared or self._named_format() or self._sniffed_format()

    @property
    def notes(self) -> tuple[str, ...]:
        """What was found from the bytes, in words."""
        notes: list[str] = []
        if self.declared is None and self._named_format() is None:
            read = f"reading {self.name} as {self.format} (another format: "
            notes.append(Message(read, Argument("file_format"), ")"))
        if self.format == "csv" and self.delimiter != ",":
            notes.append(f"{self.name} is separated by {self.delimiter!r}")
        return tuple(notes)

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
        if self.content is not None:
            raw = pa.BufferReader(self.content)
        else:
            raw = pa.OSFile(str(_existing(self)), "rb")
        return pa.CompressedInputStream(raw, "gzip") if self.zipped else raw

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
    r"""Find a file, or take in standard input where the path is ``-``.

    Raises
    ------
    PredictionFileError
        When there is no such file, it is empty, or the format is not known.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp(), "cases.csv")
    >>> _ = file.write_text("died,risk\n1,0.9\n0,0.2\n")
    >>> open_source(file).format
    'csv'
    """
    if file_format is not None:
        check_choice(file_format, "file_format", tuple(dict.fromkeys(FORMATS.values())))
    declared: Format | None = file_format  # type: ignore[assignment]
    if str(path) == "-":
        if sys.stdin is None:
            raise PredictionFileError("standard input is closed; name a file of predictions")
        source = Source("standard input", None, sys.stdin.buffer.read(), declared)
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
    if path is not None and path.is_file():
        return path
    name, what, elsewhere = source.name, "does not exist", ""
    if path is not None and path.is_dir():
        what, elsewhere = "is a folder, not a file", ELSEWHERE
    elif ADDRESS.match(name):
        # A path has lost one of its slashes.
        name = ADDRESS.sub(r"\1://", name)
        what, elsewhere = "is an address, not a file on this machine", ELSEWHERE
    raise PredictionFileError(f"{name} {what}; name a file of predictions{elsewhere}")


ADDRESS = re.compile(r"^([a-z][a-z0-9+]+):/+(?=[^/])")
"""How an address of an object store begins."""

ELSEWHERE = ". Parquet there is read by voros score, select, map and count"

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
            elif closed_at == at - 1 or (chunk[at - 1] if at else self.before) in self.starts:
                self.opened = self.line
        self.line += chunk.count(b"\n", last)


PEEKED_ROWS = 1000
"""Number of rows that show what a column holds."""

BLOCK_BYTES = (1 << 20, 1 << 30)
"""Bytes read at a time; the second where some row is longer than the first."""

NO_OBJECT = re.compile(rb"(?:\A(?:\xef\xbb\xbf)?|\n)[ \t\r]*(?!\xef\xbb\xbf)[^{\s]")
"""A line that begins with anything but the brace of an object."""

TOO_LONG = "straddling"
"""How pyarrow says that a row does not fit into a block."""


def peek(source: Source) -> Any:
    """Return the first rows, all columns, with the types that these rows suggest."""
    if source.format == "document":
        raise PredictionFileError(
            f"{source.name} was written by voros and holds no cases, which are needed here; counts "
            "are read by voros score, select and map"
        )
    first = {"parquet": _peek_parquet, "arrow": _open_arrow, "jsonl": _peek_json}
    with _naming_bad_rows(source):
        rows = first.get(source.format, _peek_text)(source).slice(0, PEEKED_ROWS)
        names = rows.column_names
    if rows.num_rows == 0:
        raise PredictionFileError(f"{source.name}: {no_rows(names)}")
    return rows


def read_columns(
    source: Source, columns: Sequence[str], numeric: Collection[str], times: Collection[str] = ()
) -> Any:
    """Return the named columns of all rows; those in ``numeric`` must be numbers throughout.

    Those in ``times`` stay text where the file is text: converted, they would lose their offset.
    """
    import pyarrow as pa

    texts = [name for name in columns if name not in numeric]
    with _naming_bad_rows(source, numeric, texts):
        if source.format not in DELIMITED:
            table = _as_numbers(_select(source, columns), numeric)
        else:
            kinds = dict.fromkeys(numeric, pa.float64()) | dict.fromkeys(times, pa.string())
            missing = {"strings_can_be_null": True, "null_values": sorted(NO_VALUE)}
            table = _read_csv(source, include_columns=columns, column_types=kinds, **missing)
    if any(pa.types.is_binary(table.column(name).type) for name in texts):
        raise explain_bad_row(source, numeric, texts, "the bytes are not UTF-8 text")
    return table


def read_as_written(source: Source) -> Any:
    """Return all columns of all rows, those of delimited text as text."""
    import pyarrow as pa

    names = peek(source).column_names
    with _naming_bad_rows(source, (), names):
        if source.format not in DELIMITED:
            return _select(source, names)
        return _read_csv(source, column_types=dict.fromkeys(names, pa.string()))


@contextmanager
def _naming_bad_rows(
    source: Source, numeric: Collection[str] = (), texts: Collection[str] = ()
) -> Iterator[None]:
    """Turn what a reader raises into an error that names file and row."""
    import pyarrow as pa

    try:
        yield
    except PredictionFileError as error:
        raise PredictionFileError(f"{source.name}: {error}") from None
    except (pa.ArrowException, OSError, UnicodeDecodeError, OverflowError, KeyError) as error:
        raise explain_bad_row(source, numeric, texts, str(error)) from None


def _with_longer_blocks(read: Callable[[int], Any]) -> Any:
    """Read with blocks of the usual size, and with longer ones where a row needs them."""
    import pyarrow as pa

    usual, longer = BLOCK_BYTES
    try:
        return read(usual)
    except pa.ArrowInvalid as error:
        if TOO_LONG not in str(error):
            raise
        return read(longer)


def _parse_options(source: Source) -> Any:
    from pyarrow import csv

    # Without this, a line break within quotes ends a row wherever blocks happen to meet.
    return csv.ParseOptions(delimiter=source.delimiter, newlines_in_values=True)


def _peek_text(source: Source) -> Any:
    import pyarrow as pa
    from pyarrow import csv

    def first(block: int) -> Any:
        options = {
            "read_options": csv.ReadOptions(block_size=block),
            "parse_options": _parse_options(source),
            "convert_options": csv.ConvertOptions(null_values=sorted(NO_VALUE)),
        }
        with csv.open_csv(source.open(), **options) as reader:
            rows = next(iter(reader), None)
            return pa.Table.from_batches([] if rows is None else [rows], reader.schema)

    return _with_longer_blocks(first)


def _read_csv(source: Source, **convert: Any) -> Any:
    from pyarrow import csv

    line = unclosed_quote(source.open(), source.delimiter)
    if line is not None:
        raise PredictionFileError(
            f"the quote that opens in line {line} is never closed; close or remove "
            "it, for all that follows would be one cell"
        )
    return _with_longer_blocks(
        lambda block: csv.read_csv(
            source.open(),
            read_options=csv.ReadOptions(block_size=block),
            parse_options=_parse_options(source),
            convert_options=csv.ConvertOptions(**convert),
        )
    )


def _peek_parquet(source: Source) -> Any:
    import pyarrow as pa
    from pyarrow import parquet

    with parquet.ParquetFile(source.open()) as file:
        rows = next(file.iter_batches(PEEKED_ROWS), None)
        return pa.Table.from_batches([] if rows is None else [rows], file.schema_arrow)


def _select(source: Source, columns: Sequence[str]) -> Any:
    """Read some columns of a file that is no delimited text."""
    from pyarrow import parquet

    if source.format == "parquet":
        with parquet.ParquetFile(source.open()) as file:
            return file.read(list(columns))
    read = _open_arrow if source.format == "arrow" else _all_json
    return read(source).select(list(columns))


def _open_arrow(source: Source) -> Any:
    import pyarrow as pa

    if source.path is not None and not source.zipped and source.content is None:
        # Mapped, not read: columns that are not asked for are never touched.
        stream = pa.memory_map(str(source.path))
    else:
        stream = pa.BufferReader(source.open().read())
    if source.head.startswith(ARROW_FILE_MAGIC):
        return pa.ipc.open_file(stream).read_all()
    table = pa.ipc.open_stream(stream).read_all()
    _check_whole_stream(stream)
    return table


def _check_whole_stream(stream: Any) -> None:
    """Raise unless an Arrow stream ends with its marker and nothing follows."""
    end = stream.tell()
    if end < stream.size():
        raise PredictionFileError(
            "more bytes follow the end of the Arrow stream, such as a second stream; write one"
        )
    stream.seek(max(end - len(ARROW_STREAM_END), 0))
    if stream.read() != ARROW_STREAM_END:
        raise PredictionFileError(
            "the Arrow stream ends without its end marker, so rows may be missing; write it again"
        )


def _peek_json(source: Source) -> Any:
    import pyarrow as pa
    from pyarrow import json

    lines = source.head.splitlines(keepends=True)
    # The last line may be cut off in the middle of a row.
    cut_off = len(source.head) == SNIFFED_BYTES
    if cut_off and len(lines) == 1:
        return _all_json(source)
    first = b"".join((lines[:-1] if cut_off else lines)[:PEEKED_ROWS])
    _check_objects(io.BytesIO(first))
    return json.read_json(pa.BufferReader(first))


def _check_objects(stream: Any) -> None:
    """Raise where a line is no object: pyarrow crashes on a block that begins with null."""
    import pyarrow as pa

    rest = b""
    while chunk := stream.read(BLOCK_BYTES[0]):
        lines = rest + chunk
        if NO_OBJECT.search(lines):
            raise pa.ArrowInvalid("a line is not a JSON object")
        rest = lines[lines.rfind(b"\n") + 1 :]


def _all_json(source: Source) -> Any:
    from pyarrow import json

    _check_objects(source.open())
    return _with_longer_blocks(
        lambda block: json.read_json(source.open(), json.ReadOptions(block_size=block))
    )


def _as_numbers(table: Any, names: Collection[str]) -> Any:
    """Cast the columns that came as text; numbers of any width stay as they are."""
    import pyarrow as pa

    for position, name in enumerate(table.column_names):
        kind = table.schema.field(position).type
        if name in names and not is_numeric(kind):
            column = table.column(position)
            if not pa.types.is_decimal(kind):
                check_text_numbers(column, name)
            table = table.set_column(position, name, column.cast(pa.float64()))
    return table


def is_numeric(kind: Any) -> bool:
    """Whether an Arrow type is of plain numbers that numpy can take as they are."""
    import pyarrow as pa

    types = pa.types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind))
