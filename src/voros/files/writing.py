"""Files that are written whole or not at all, and never over another one unless asked."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

DEFAULT_MODE = 0o666
"""Permissions of a new file before the process's own mask is taken off, as `open` has it."""


def check_writable(paths: Iterable[str | Path], *, force: bool = False) -> None:
    """Raise unless each path could be written: ask this before a long computation, not after.

    Raises
    ------
    FileExistsError
        When there is a file already and ``force`` is not set.
    FileNotFoundError
        When the folder is missing.
    """
    for path in map(Path, paths):
        if path.is_dir():
            raise IsADirectoryError(f"{path} is a folder; name a file to write")
        if path.exists() and not force:
            raise FileExistsError(
                f"{path} exists already; choose another name, or pass force to overwrite it"
            )
        if not path.parent.is_dir():
            raise FileNotFoundError(f"there is no folder {path.parent} to write {path.name} in")


def write_whole(path: str | Path, data: str | bytes, force: bool = False) -> Path:
    """Write a file completely or not at all.

    Parameters
    ----------
    path : path-like
    data : str or bytes
        Text is written as UTF-8.
    force : bool, default False
        Whether to replace a file that is there already.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(folder + "/note.txt", "all of it").read_text()
    'all of it'
    """
    write_together({path: data}, force=force)
    return Path(path)


def write_together(files: Mapping[str | Path, str | bytes], *, force: bool = False) -> None:
    """Write several files that belong together: should one fail, none is left behind."""
    check_writable(files, force=force)
    ready: dict[Path, Path] = {}
    try:
        for path, data in files.items():
            ready[Path(path)] = _write_beside(Path(path), data)
        for path, finished in ready.items():
            finished.replace(path)
    finally:
        for leftover in ready.values():
            leftover.unlink(missing_ok=True)


def _write_beside(path: Path, data: str | bytes) -> Path:
    """Write into a temporary file of the same folder, from where a rename is atomic."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    beside = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data.encode("utf-8") if isinstance(data, str) else data)
            file.flush()
            os.fsync(file.fileno())
        beside.chmod(path.stat().st_mode if path.exists() else DEFAULT_MODE & ~_mask())
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    return beside


def _mask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
