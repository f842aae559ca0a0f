"""Write strict JSON, and files that appear whole or not at all.

JSON cannot hold numbers that are not finite: they become the strings ``"Infinity"``,
``"-Infinity"`` and ``"NaN"``, as in the JSON of Protocol Buffers; JavaScript's ``Number`` and
Python's ``float`` both read them. ``null`` stands for a missing value, never for a number. Existing
files are overwritten only with ``force``.
"""

from __future__ import annotations

import errno
import hashlib
import json
import math
import os
import secrets
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from voros.core.arguments import check_flag
from voros.exceptions import Argument, Message

NOT_FINITE = {"Infinity": math.inf, "-Infinity": -math.inf, "NaN": math.nan}
"""Strings for numbers that JSON cannot hold."""

REMEDIES = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), "free some space, or choose another folder"),
    **dict.fromkeys((errno.EACCES, errno.EPERM), "choose a folder where you may write"),
    errno.EROFS: "choose another folder",
    errno.ENAMETOOLONG: "choose a shorter name",
}
"""What to do about an error of the system."""


def json_text(document: Any, *, indent: int | None = 2) -> str:
    """Write a document as strict JSON, the same text for the same values.

    With ``indent=None`` it is one line.

    Examples
    --------
    >>> print(json_text({"threshold": math.inf, "precision": math.nan, "model": None}), end="")
    {
      "threshold": "Infinity",
      "precision": "NaN",
      "model": null
    }
    """
    separators = None if indent is not None else (",", ":")
    return json.dumps(plain(document), allow_nan=False, indent=indent, separators=separators) + "\n"


def saved(text: str, path: str | Path | None, *, force: bool) -> str:
    """Return the text of a document; with a path, write it to that file too."""
    if path is not None:
        write_whole(path, text, force=force)
    return text


def plain(value: Any) -> Any:
    """Convert a document to values that strict JSON can hold.

    Examples
    --------
    >>> plain({"tp": np.array([1, 2]), "threshold": (np.float64(0.5), -math.inf)})
    {'tp': [1, 2], 'threshold': [0.5, '-Infinity']}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (np.generic, np.ndarray)):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    if is_dataclass(value) and not isinstance(value, type):
        return {name: plain(getattr(value, name)) for name in value.__dataclass_fields__}
    return value


def with_checksum(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document in plain values, with their checksum as its last key.

    Examples
    --------
    >>> with_checksum({"format": "note", "n": 1})["checksum"][:8]
    'dc88868d'
    """
    document: dict[str, Any] = plain(fields)
    return document | {"checksum": checksum(document)}


def checksum(document: Mapping[str, Any]) -> str:
    """Return the checksum of a document's values; the order of keys does not matter."""
    rest = {key: value for key, value in document.items() if key != "checksum"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def check_writable(paths: Iterable[str | Path], *, force: bool = False) -> None:
    """Raise unless each path can be written; call this before a long computation.

    It creates a file in the folder and removes it again: no other test is reliable.

    Raises
    ------
    FileExistsError
        If the file exists and ``force`` is not set, or the path is not a regular file.
    FileNotFoundError
        If the folder is missing.
    PermissionError
        If the file or its folder is read-only.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as home:
    ...     check_writable([home + "/report.html", home + "/report.json"])
    >>> check_writable(["no-such-folder/report.html"])
    Traceback (most recent call last):
    FileNotFoundError: there is no folder no-such-folder to write report.html in
    """
    for path in paths:
        target = _followed(Path(path))
        _check_target(target, Path(path), force)
        _write_beside(target, b"", Path(path)).unlink()


def write_whole(path: str | Path, data: str | bytes, *, force: bool = False) -> Path:
    """Write a file completely or not at all.

    Parameters
    ----------
    path : path-like
        A symbolic link is followed; pipes and devices are refused.
    data : str or bytes
        Text is written as UTF-8.
    force : bool, default False
        Whether to replace an existing file. Without it the file is created exclusively: of two
        writers one succeeds.

    Returns
    -------
    pathlib.Path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(folder + "/note.txt", "all of it").read_text()
    'all of it'
    """
    write_together({path: data}, force=check_flag(force, "force"))
    return Path(path)


def write_together(files: Mapping[str | Path, str | bytes], *, force: bool = False) -> None:
    """Write several files that belong together: all of them or none.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as home:
    ...     write_together({home + "/a.txt": "one", home + "/b.txt": "two"})
    ...     sorted(path.name for path in Path(home).iterdir())
    ['a.txt', 'b.txt']
    """
    targets = {Path(path): _followed(Path(path)) for path in files}
    for path, target in targets.items():
        _check_target(target, path, force)
    ready: dict[Path, Path] = {}
    try:
        for name, data in files.items():
            ready[Path(name)] = _write_beside(targets[Path(name)], data, Path(name))
        _place(ready, targets, force)
    finally:
        for leftover in ready.values():
            leftover.unlink(missing_ok=True)


def _followed(path: Path) -> Path:
    """Return the target of a symbolic link, so that the link stays when the target is replaced."""
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def _check_target(target: Path, path: Path, force: bool) -> None:
    if target.is_symlink():
        raise FileExistsError(f"{path} is a symbolic link that leads to itself; remove it")
    if target.is_dir():
        raise IsADirectoryError(f"{path} is a folder; name a file to write")
    if target.exists() and not target.is_file():
        kind = "a pipe" if target.is_fifo() else "a socket" if target.is_socket() else "a device"
        raise FileExistsError(
            f"{path} is {kind}, not a file, and is left alone; write to the standard "
            "output (-) and redirect that"
        )
    if target.exists() and not force:
        raise FileExistsError(_exists(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {target.parent} to write {target.name} in")
    if target.exists() and not target.stat().st_mode & stat.S_IWUSR:
        raise PermissionError(f"{path} is read-only; choose another name, or make it writable")


def _exists(path: Path) -> Message:
    refused = f"{path} exists already; choose another name, or pass "
    return Message(refused, Argument("force"), " to overwrite it")


def _write_beside(target: Path, data: str | bytes, path: Path) -> Path:
    """Write into a new file of the same folder, to be renamed in one step."""
    # A short name, which is allowed wherever the target's name is.
    beside = target.with_name(f".voros-{secrets.token_hex(8)}.part")
    try:
        with beside.open("xb") as file:
            if target.exists():
                beside.chmod(target.stat().st_mode)
            file.write(data.encode("utf-8") if isinstance(data, str) else data)
            file.flush()
            os.fsync(file.fileno())
    except BaseException as error:
        with suppress(OSError):
            beside.unlink()
        if isinstance(error, OSError):
            raise _explained(error, path) from None
        raise
    return beside


def _place(ready: Mapping[Path, Path], targets: Mapping[Path, Path], force: bool) -> None:
    """Give every finished file its name; of new files all appear, or none."""
    placed: list[Path] = []
    try:
        for path, beside in ready.items():
            if force:
                beside.replace(targets[path])
            else:
                _create(beside, targets[path])
                placed.append(targets[path])
    except BaseException as error:
        for target in placed:
            target.unlink(missing_ok=True)
        if isinstance(error, FileExistsError):
            raise FileExistsError(_exists(path)) from None
        if isinstance(error, OSError):
            raise _explained(error, path) from None
        raise


def _create(beside: Path, target: Path) -> None:
    """Give a finished file its name, unless the target exists."""
    try:
        os.link(beside, target)
    except FileExistsError:
        raise
    except OSError:
        # A file system without hard links: create an empty file, then replace it.
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        try:
            beside.replace(target)
        except BaseException:
            target.unlink()
            raise


def _explained(error: OSError, path: Path) -> OSError:
    """Return an error that names the file, and what to do about it."""
    reason = error.strerror or str(error)
    remedy = REMEDIES.get(error.errno or 0, "choose another name")
    explained = type(error)(f"{path} cannot be written: {reason}; {remedy}")
    explained.errno = error.errno
    return explained
