"""Folders that a study writes to: checked before the work, removed after an error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from voros.io import check_writable


@contextmanager
def folder_for(folder: str | Path) -> Iterator[Path]:
    """Create a folder to write into; after an error, remove the folders created if empty.

    Yields
    ------
    pathlib.Path
        The folder.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as home, folder_for(home + "/a/b") as folder:
    ...     folder.is_dir()
    True
    """
    wanted = Path(folder)
    created = [path for path in (wanted, *wanted.parents) if not path.exists()]
    try:
        check_folder(wanted)
        wanted.mkdir(parents=True, exist_ok=True)
        yield wanted
    except BaseException:
        for path in created:
            if path.is_dir() and not any(path.iterdir()):
                path.rmdir()
        raise


def check_folder(folder: str | Path) -> None:
    """Raise unless files can be created in a folder or, if it is missing, in its parent.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as home:
    ...     check_folder(home + "/run/of/today")
    """
    wanted = Path(folder)
    there = next(path for path in (wanted, *wanted.absolute().parents) if path.exists())
    if not there.is_dir():
        raise FileExistsError(f"{there} is a file; name a folder")
    check_writable([there / ".voros"])
