"""Errors of experiments: they name the file, the fault and the remedy."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class ExperimentError(ValueError):
    """An experiment cannot go on; the message names the file and the remedy.

    Finished work stays in the run's folder, and the same command resumes it.

    Examples
    --------
    >>> import voros_studies
    >>> voros_studies.hospital.run_mimic("no-such-folder", "out")
    Traceback (most recent call last):
    voros_studies.experiments.errors.ExperimentError: no-such-folder: there is no such folder.
    Name the one with hosp/ and icu/
    """


DISK_FULL_REMEDY = (
    "Free some space, or copy the folder to a larger disk and name that one as the output: what is "
    "finished is kept, and the same command goes on from there"
)

DISK_FULL = (errno.ENOSPC, errno.EDQUOT)
"""Error numbers of a full disk and of an exhausted quota."""


@contextmanager
def explaining_full_disk(path: Path) -> Iterator[None]:
    """Turn a full disk into an `ExperimentError` that names the file and the remedy.

    Examples
    --------
    >>> import errno
    >>> with explaining_full_disk(Path("run/fits/a.json")):
    ...     raise OSError(errno.ENOSPC, "No space left on device")
    Traceback (most recent call last):
    ...
    voros_studies.experiments.errors.ExperimentError: run/fits/a.json: the disk is full...
    """
    try:
        yield
    except OSError as error:
        if error.errno not in DISK_FULL:
            raise
        raise ExperimentError(f"{path}: the disk is full. {DISK_FULL_REMEDY}") from error
