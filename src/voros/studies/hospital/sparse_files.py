"""Sparse arrays as FIDDLE saves them, read a piece at a time.

A file of the ``sparse`` package is an archive of ``coords`` (one row of positions per dimension),
``data`` and ``shape``. The positions of a hospital's hours outgrow memory, so each row of them is
unpacked by a reader of its own, side by side, and only wanted entries are kept.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

from voros.core.arrays import AnyArray
from voros.studies.experiments.errors import ExperimentError

PIECE = 1 << 20
"""Entries read at a time."""

REMEDY = "Download it again from PhysioNet (mimic-eicu-fiddle-feature 1.0.0)"


@dataclass(frozen=True)
class SparseFile:
    """A sparse array in a file.

    Attributes
    ----------
    path : Path
    shape : tuple of int
    """

    path: Path
    shape: tuple[int, ...]

    @classmethod
    def open(cls, path: Path) -> SparseFile:
        """Read the shape of the array, and check that it is one."""
        try:
            with zipfile.ZipFile(path) as archive, archive.open("shape.npy") as member:
                shape = tuple(int(length) for length in np.load(member))
        except (OSError, KeyError, ValueError, zipfile.BadZipFile, EOFError) as error:
            raise ExperimentError(
                f"{path}: not readable as a sparse array ({error}). {REMEDY}"
            ) from error
        return cls(path, shape)

    def pieces(self) -> Iterator[tuple[AnyArray, AnyArray]]:
        """Yield positions, of shape (n_dimensions, n), and values, of shape (n,)."""
        try:
            with zipfile.ZipFile(self.path) as archive:
                yield from _pieces(archive, len(self.shape))
        except (OSError, KeyError, ValueError, zipfile.BadZipFile, EOFError) as error:
            raise ExperimentError(f"{self.path}: not readable ({error}). {REMEDY}") from error


def _pieces(archive: zipfile.ZipFile, n_dimensions: int) -> Iterator[tuple[AnyArray, AnyArray]]:
    readers = []
    for row in range(n_dimensions):
        member, (dimensions, entries), kind = _opened(archive, "coords.npy")
        if dimensions != n_dimensions:
            raise ValueError(f"coords has {dimensions} rows for {n_dimensions} dimensions")
        member.seek(row * entries * kind.itemsize, 1)
        readers.append((member, kind))
    values, (count,), value_kind = _opened(archive, "data.npy")
    for start in range(0, count, PIECE):
        size = min(PIECE, count - start)
        coords = np.stack([_read(member, kind, size) for member, kind in readers])
        yield coords, _read(values, value_kind, size)


def _opened(archive: zipfile.ZipFile, name: str) -> tuple[IO[bytes], tuple[int, ...], Any]:
    member = archive.open(name)
    version = npy.read_magic(member)
    read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, by_columns, kind = read_header(member)
    if by_columns and len(shape) > 1:
        raise ValueError(f"{name} is stored by columns")
    return member, shape, kind


def _read(member: IO[bytes], kind: Any, size: int) -> AnyArray:
    data = member.read(size * kind.itemsize)
    if len(data) != size * kind.itemsize:
        raise EOFError("it ends too early")
    return np.frombuffer(data, dtype=kind)
