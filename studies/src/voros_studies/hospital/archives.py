"""Read the files of a tar or zip archive one after the other."""

from __future__ import annotations

import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Self

from voros_studies.experiments.errors import ExperimentError

PIECE = 1 << 20
"""Bytes read at a time."""

DAMAGED = (OSError, EOFError, tarfile.TarError, zipfile.BadZipFile, lzma.LZMAError, zlib.error)
"""Errors of reading a damaged archive."""


def archived_files(
    path: Path, matters: Callable[[str], object], remedy: str
) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of the wanted files of a tar or zip archive.

    Raises
    ------
    ExperimentError
        When there is no such archive, or it is damaged; ``remedy`` says what to do then.
    """
    try:
        yield from _members(path, matters)
    except FileNotFoundError as error:
        raise ExperimentError(f"{path}: there is no such folder or archive") from error
    except DAMAGED as error:
        raise ExperimentError(f"{path}: not readable as an archive ({error}). {remedy}") from error
    except RuntimeError as error:
        # zipfile raises these for passwords and unknown compression.
        raise ExperimentError(
            f"{path}: cannot be unpacked ({error}). Unpack it and name the folder"
        ) from error


class _CheckedMember(tarfile.TarInfo):
    """A member of a tar archive; a damaged header is an error, not the end of the archive."""

    @classmethod
    def fromtarfile(cls, archive: tarfile.TarFile) -> Self:
        """Read the next header; the only proper end are blocks of zeros."""
        try:
            return super().fromtarfile(archive)
        except tarfile.EOFHeaderError:  # type: ignore[attr-defined]
            raise
        except tarfile.HeaderError as error:
            raise tarfile.ReadError(f"{error} at byte {archive.offset}") from error


def _members(path: Path, matters: Callable[[str], object]) -> Iterator[tuple[str, bytes]]:
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as packed:
            for name in packed.namelist():
                if matters(name):
                    yield name, packed.read(name)
        return
    with tarfile.open(path, tarinfo=_CheckedMember) as archive:
        for member in archive:
            if member.isfile() and matters(member.name):
                content = archive.extractfile(member)
                yield member.name, content.read() if content else b""
        # The checksum of the compressed bytes comes last.
        while archive.fileobj is not None and archive.fileobj.read(PIECE):
            pass
