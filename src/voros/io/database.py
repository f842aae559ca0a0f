"""One SQLite file: whole transactions, errors with a cause, metadata with a checksum.

Every change is one transaction that takes the write lock at its start. A killed process leaves the
state before or after it, and of two writers one waits. A new file appears whole, with its first
metadata, or not at all.
"""

from __future__ import annotations

import errno
import hashlib
import os
import sqlite3
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from voros.exceptions import MonitorFileError

WAIT_SECONDS = 30.0
"""Time that a writer waits for another."""

CACHE_KIB = 65_536
"""Cache for the index of case ids, which are not in the order of time."""

FAILURES = {
    sqlite3.SQLITE_BUSY: (
        errno.EBUSY,
        f"another process has locked it for more than {WAIT_SECONDS:.0f} s; try again later",
    ),
    sqlite3.SQLITE_READONLY: (errno.EROFS, "it is read-only; check its permissions and its disk"),
    sqlite3.SQLITE_CANTOPEN: (errno.EACCES, "it cannot be opened; check folder and permissions"),
    sqlite3.SQLITE_FULL: (errno.ENOSPC, "the disk is full, and nothing was changed"),
    sqlite3.SQLITE_IOERR: (errno.EIO, "the disk failed, and nothing was changed"),
}
"""Errors of SQLite about the file's surroundings; any other error means a damaged file."""

Values: TypeAlias = Sequence[Any] | Mapping[str, Any]
"""Values of the question marks or of the names in a query."""

DAMAGED = "it is damaged ({}); restore a copy, or make a new file and feed it again"


class Database:
    """A connection; ``None`` as path keeps everything in memory."""

    format: int
    """Version of the tables, which a subclass sets."""

    schema: str

    def __init__(self, path: str | Path | None, metadata: Mapping[str, str] | None = None) -> None:
        """Open a file, or create it with metadata if it is missing."""
        self.path = None if path is None else Path(path)
        if self.path is not None and metadata is not None and not self.path.exists():
            self._make_file(metadata)
        self._db = self._connect(self.path)
        # Newer versions of Python warn of connections that are not closed.
        weakref.finalize(self, self._db.close)
        try:
            if self.path is None:
                self._make_tables(metadata or {})
            else:
                self._check()
        except BaseException:
            self.close()
            raise

    def _connect(self, path: Path | None) -> sqlite3.Connection:
        # Opening does not create a missing file.
        target = ":memory:" if path is None else f"{path.absolute().as_uri()}?mode=rw"
        with self._named():
            connection = sqlite3.connect(
                target, timeout=WAIT_SECONDS, isolation_level=None, uri=True
            )
            connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        return connection

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def _make_file(self, metadata: Mapping[str, str]) -> None:
        """Write a file beside the path, and rename it when it is complete."""
        assert self.path is not None
        draft = self.path.with_name(f"{self.path.name}.{os.getpid()}.new")
        try:
            draft.touch(exist_ok=False)
        except OSError as error:
            reason = f"it cannot be created: {error.strerror}; choose another folder"
            raise self._failure(error.errno or errno.EIO, reason) from None
        try:
            with closing(self._connect(draft)) as self._db:
                self._make_tables(metadata)
            if not self.path.exists():
                draft.rename(self.path)
        finally:
            draft.unlink(missing_ok=True)

    def _make_tables(self, metadata: Mapping[str, str]) -> None:
        with self.transaction():
            for statement in self.schema.split(";\n"):
                self.rows(statement)
            self.rows(f"PRAGMA user_version = {self.format}")
            for name, value in metadata.items():
                self.keep(name, value)

    def _check(self) -> None:
        """Refuse a file of another kind or version, and a damaged one."""
        assert self.path is not None
        if not self.path.stat().st_size:
            raise ValueError(f"{self.path} is empty, and not a monitor file; name another file")
        version = self.rows("PRAGMA user_version")[0][0]
        tables = self.rows("SELECT count(*) FROM sqlite_master")[0][0]
        if not version or not tables:
            raise ValueError(f"{self.path} is a database of another kind; name another file")
        if version != self.format:
            age = "an earlier" if version < self.format else "a newer"
            remedy = "make a new file and feed it the cases and labels again"
            raise ValueError(
                f"{self.path} was written by {age} version of voros (format {version}, here "
                f"{self.format}); {remedy if version < self.format else 'install that version'}"
            )
        problem = self.rows("PRAGMA quick_check(1)")[0][0]
        if problem != "ok":
            raise self._failure(errno.EILSEQ, DAMAGED.format(problem.splitlines()[-1]))
        if self.metadata("checksum") != self._checksum():
            raise self._failure(
                errno.EILSEQ, DAMAGED.format("its settings do not match their checksum")
            )

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Apply all changes of the block, or none; other writers wait."""
        self.rows("BEGIN IMMEDIATE")
        try:
            yield
            self.rows("INSERT OR REPLACE INTO metadata VALUES ('checksum', ?)", (self._checksum(),))
            self.rows("COMMIT")
        except BaseException:
            self._db.rollback()
            raise

    def rows(self, query: str, values: Values = ()) -> list[tuple[Any, ...]]:
        """Run a query and return all of its rows."""
        with self._named():
            return self._db.execute(query, values).fetchall()

    def run_each(self, query: str, rows: Iterable[Values]) -> int:
        """Run a query for every row, and return how many rows it changed."""
        with self._named():
            return self._db.executemany(query, rows).rowcount

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Turn errors of SQLite into errors on the file's surroundings, content or kind."""
        try:
            yield
        except sqlite3.ProgrammingError:
            raise  # of the program
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code == sqlite3.SQLITE_NOTADB:
                raise ValueError(f"{self.path} is not a monitor file: {error}") from None
            raise self._failure(
                *FAILURES.get(code, (errno.EILSEQ, DAMAGED.format(error)))
            ) from None

    def _failure(self, number: int, message: str) -> MonitorFileError:
        return MonitorFileError(number, message, str(self.path))

    def metadata(self, name: str) -> str | None:
        """Return what is stored under a name."""
        rows = self.rows("SELECT value FROM metadata WHERE name = ?", (name,))
        return str(rows[0][0]) if rows else None

    def keep(self, name: str, value: str) -> None:
        """Store a value under a name, inside a transaction."""
        self.rows("INSERT OR REPLACE INTO metadata VALUES (?, ?)", (name, value))

    def _checksum(self) -> str:
        query = "SELECT name, value FROM metadata WHERE name <> 'checksum' ORDER BY name"
        return hashlib.sha256(repr(self.rows(query)).encode()).hexdigest()
