"""FIDDLE's eICU release: its files, and the features of the paper's two tables."""

from __future__ import annotations

import json
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

from voros.typing import AnyArray
from voros_studies.experiments.errors import ExperimentError
from voros_studies.hospital.features import HOURS

PIECE = 1 << 20
"""Entries read at a time."""

RELOAD = "Download it again from PhysioNet (mimic-eicu-fiddle-feature 1.0.0)"


UNREADABLE = (
    *(OSError, KeyError, TypeError, ValueError, EOFError, zipfile.BadZipFile, zlib.error),
    RuntimeError,  # zipfile raises these for passwords and unknown compression.
)


@contextmanager
def _reading(path: Path, kind: str = "") -> Iterator[None]:
    """Turn errors of a damaged file into one that names the file and the remedy."""
    try:
        yield
    except UNREADABLE as error:
        raise ExperimentError(f"{path}: not readable{kind} ({error}). {RELOAD}") from error


@dataclass(frozen=True)
class SparseFile:
    """A sparse array in a file of the ``sparse`` package, read a piece at a time.

    The file is an archive of ``coords`` (one row of positions per dimension), ``data`` and
    ``shape``. The positions do not fit in memory, so they are unpacked as they are read, and only
    wanted entries are kept. ``coords`` may be stored by rows, each with its own reader, or by
    columns, as after selecting features with a mask.
    """

    path: Path
    shape: tuple[int, ...]

    @classmethod
    def open(cls, path: Path) -> SparseFile:
        """Read the shape of the array, and check that it is one."""
        with _reading(path, " as a sparse array"), zipfile.ZipFile(path) as archive:
            return cls(path, tuple(np.load(archive.open("shape.npy")).tolist()))

    def pieces(self) -> Iterator[tuple[AnyArray, AnyArray]]:
        """Yield positions, of shape (n_dimensions, n), and values, of shape (n,)."""
        with _reading(self.path), zipfile.ZipFile(self.path) as archive:
            for coords, values in _pieces(archive, len(self.shape)):
                self._check_inside(coords)
                yield coords, values

    def _check_inside(self, coords: AnyArray) -> None:
        outside = (coords < 0) | (coords >= np.array(self.shape)[:, None])
        if outside.any():
            first = coords[:, outside.any(axis=0).argmax()].tolist()
            raise ValueError(f"a value at {first}, outside its shape {self.shape}")


def _pieces(archive: zipfile.ZipFile, n_dimensions: int) -> Iterator[tuple[AnyArray, AnyArray]]:
    _check_zero_elsewhere(archive)
    first = _opened(archive, "coords.npy")
    if first.shape[0] != n_dimensions:
        raise ValueError(f"coords has {first.shape[0]} rows for {n_dimensions} dimensions")
    rows = [first]
    if not first.by_columns:
        rows += [_opened(archive, "coords.npy") for _ in range(1, n_dimensions)]
        for number, row in enumerate(rows):
            row.data.seek(number * first.shape[1] * row.kind.itemsize, 1)
    values = _opened(archive, "data.npy")
    for start in range(0, values.shape[0], PIECE):
        size = min(PIECE, values.shape[0] - start)
        n_each = size * n_dimensions // len(rows)
        pieces = np.concatenate([_read(row, n_each) for row in rows])
        shape = (size, n_dimensions) if first.by_columns else (n_dimensions, size)
        coords = pieces.reshape(shape)
        yield coords.T if first.by_columns else coords, _read(values, size)


def _check_zero_elsewhere(archive: zipfile.ZipFile) -> None:
    if "fill_value.npy" in archive.namelist():
        with archive.open("fill_value.npy") as member:
            filled = np.load(member)
        if filled != 0:
            raise ValueError(f"it holds {filled} where nothing is stored, in place of 0")


@dataclass(frozen=True)
class _Member:
    """An array of the archive, with its header."""

    data: IO[bytes]
    shape: tuple[int, ...]
    kind: Any
    by_columns: bool


def _opened(archive: zipfile.ZipFile, name: str) -> _Member:
    data = archive.open(name)
    version = npy.read_magic(data)
    read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, by_columns, kind = read_header(data)
    return _Member(data, shape, kind, by_columns and len(shape) > 1)


def _read(member: _Member, size: int) -> AnyArray:
    data = member.data.read(size * member.kind.itemsize)
    if len(data) != size * member.kind.itemsize:
        raise EOFError("it ends too early")
    return np.frombuffer(data, dtype=member.kind)


TASK = "mortality_48h"


def _ranges(*edges: float) -> tuple[str, ...]:
    return tuple(f"({low}, {high}]" for low, high in pairwise(edges))


STATIC: dict[str, tuple[str, ...]] = {
    "admissionheight": _ranges(-0.001, 160.0, 167.0, 172.7, 180.0, 612.6),
    "admissionweight": _ranges(-0.001, 63.5, 74.8, 86.2, 102.5, 953.0),
    "age": (*_ranges(-0.001, 51.0, 61.0, 69.0, 78.0, 89.0), "> 89"),
    "ethnicity": ("African American", "Asian", "Caucasian", "Hispanic", "Other/Unknown"),
    "gender": ("Female", "Male"),
}
"""The paper counts 24 and lists 23; other features of the same variables are used too."""

DYNAMIC: dict[str, tuple[str, ...]] = {
    "Vital Signs|Heart Rate|Heart Rate": _ranges(-0.001, 70.0, 80.0, 90.0, 102.0, 7734.0),
    "Vital Signs|O2 Saturation|O2 Saturation": _ranges(-0.001, 95.0, 96.0, 98.0, 100.0),
    "Vital Signs|Respiratory Rate|Respiratory Rate": _ranges(-0.001, 15.0, 18.0, 20.0, 24.0, 330.0),
    "cvp": _ranges(-95.001, 6.0, 10.0, 14.0, 21.0, 400.0),
    "heartrate": _ranges(-0.001, 70.0, 80.0, 90.0, 102.0, 300.0),
    "noninvasivediastolic": _ranges(-0.001, 53.0, 60.0, 67.0, 77.0, 263.0),
    "noninvasivemean": _ranges(-0.001, 67.0, 75.0, 84.0, 94.0, 285.0),
    "noninvasivesystolic": _ranges(-0.001, 101.0, 113.0, 125.0, 140.0, 287.0),
    "respiration": _ranges(-0.001, 15.0, 18.0, 21.0, 24.0, 194.0),
    "sao2": _ranges(-0.001, 94.0, 96.0, 98.0, 100.0),
    "st1": _ranges(-25.001, -0.2, -0.01, 0.0, 0.2, 1090.0),
    "st2": _ranges(-16.551, -0.4, -0.09, 0.1, 0.48, 1170.0),
    "st3": _ranges(-23.401, -0.3, -0.08, 0.1, 0.4, 1170.0),
    "systemicdiastolic": _ranges(-75.001, 48.0, 55.0, 62.0, 71.0, 395.0),
    "systemicmean": _ranges(-72.001, 66.0, 74.0, 81.0, 93.0, 397.0),
    "systemicsystolic": _ranges(-94.001, 98.0, 112.0, 124.0, 141.0, 398.0),
    "temperature": _ranges(-2622.401, 36.4, 37.0, 37.4, 37.8, 105.8),
}
"""The paper counts 85, five for each of 17 variables, and lists 83."""


@dataclass(frozen=True)
class ChosenFeatures:
    """The features of a release that are used: positions, variables and values.

    ``lacking`` are values of the paper's table that the release does not have, ``added`` values of
    the same variables that are not in the paper's table.
    """

    positions: tuple[int, ...]
    names: tuple[str, ...]
    lacking: tuple[str, ...]
    added: tuple[str, ...]


def choose_features(
    names: Sequence[str], wanted: Mapping[str, Sequence[str]], path: Path
) -> ChosenFeatures:
    """Find the values of the wanted variables in a release's features; each must have some.

    Examples
    --------
    >>> result = choose_features(
    ...     ["age_value:(51.0, 61.0]", "age_mask", "gender_value:Male"],
    ...     {"age": ("(51.0, 61.0]", "> 89")},
    ...     Path("s.feature_names.json"),
    ... )
    >>> result.positions, result.lacking
    ((0,), ('age > 89',))
    """
    parts = [re.fullmatch(r"(.+)_value[:_](.+)", name) for name in names]
    held = [(i, part[1], part[2]) for i, part in enumerate(parts) if part and part[1] in wanted]
    absent = [variable for variable in wanted if all(variable != other for _, other, _ in held)]
    if absent:
        raise ExperimentError(
            f"{path}: no feature of {', '.join(absent)}. Take the features of {TASK} of "
            "FIDDLE's eICU release (PhysioNet, mimic-eicu-fiddle-feature 1.0.0)"
        )
    listed = {(v, _plain(value)): f"{v} {value}" for v in wanted for value in wanted[v]}
    texts = {(variable, _plain(value)): f"{variable} {value}" for _, variable, value in held}
    return ChosenFeatures(
        tuple(i for i, _, _ in held),
        tuple(texts.values()),
        tuple(text for key, text in listed.items() if key not in texts),
        tuple(text for key, text in texts.items() if key not in listed),
    )


def _plain(value: str) -> str:
    return value.replace(" ", "").lower()


@dataclass(frozen=True, kw_only=True)
class FiddleRelease:
    """The files of FIDDLE's eICU release that are needed, and what is used of them.

    ``population`` has a row per stay, with its outcome; the arrays have shapes (N, d) and (N, 48,
    D). ``ids``, where FIDDLE wrote it, has the stay of each row of the arrays.
    """

    population: Path
    ids: Path | None
    static: SparseFile
    dynamic: SparseFile
    static_features: ChosenFeatures
    dynamic_features: ChosenFeatures


def find_fiddle(folder: Path) -> FiddleRelease:
    """Find the files of the release, in the folder itself or as PhysioNet lays them out."""
    features, population = _locate(folder)
    ids = features / IDS
    arrays, chosen = [], []
    for name, wanted in (("s", STATIC), ("X", DYNAMIC)):
        arrays.append(SparseFile.open(_named(features, f"{name}.npz")))
        names = _names(_named(features, f"{name}.feature_names.json"), arrays[-1])
        chosen.append(choose_features(names, wanted, arrays[-1].path))
    static, dynamic = arrays
    _check_shapes(static, dynamic)
    return FiddleRelease(
        population=population,
        ids=ids if ids.is_file() else None,
        static=static,
        dynamic=dynamic,
        static_features=chosen[0],
        dynamic_features=chosen[1],
    )


IDS = "IDs.csv"
"""FIDDLE writes the order of its rows to this file; PhysioNet's release lacks it."""

NEEDED_FILES = ("s.npz", "X.npz", "s.feature_names.json", "X.feature_names.json")


def _named(features: Path, name: str) -> Path:
    """Return a file's path; FIDDLE spells the static features ``s`` or ``S``."""
    other = features / f"{name[0].swapcase()}{name[1:]}"
    path = features / name
    if name[0] != "s" or not other.is_file():
        return path
    if path.is_file() and not path.samefile(other):
        raise ExperimentError(
            f"{path} and {other}: the same file twice, and they may be of two releases. Remove one "
            "of them"
        )
    return other


def _locate(folder: Path) -> tuple[Path, Path]:
    layouts = [
        (root / "features" / TASK, root / "population" / f"{TASK}.csv")
        for root in (folder, folder / "FIDDLE_eicu")
    ]
    layouts.append((folder, folder / f"{TASK}.csv"))
    missing = [
        [
            path
            for path in (*(_named(features, name) for name in NEEDED_FILES), population)
            if not path.is_file()
        ]
        for features, population in layouts
    ]
    fewest = min(missing, key=len)
    if not fewest:
        return layouts[missing.index(fewest)]
    raise ExperimentError(
        f"{', '.join(map(str, fewest))}: not there. Name the folder FIDDLE_eicu of PhysioNet's "
        f"mimic-eicu-fiddle-feature, with features/{TASK}/ and population/{TASK}.csv in it"
    )


def _names(path: Path, array: SparseFile) -> list[str]:
    with _reading(path):
        names = list(map(str, json.loads(path.read_text(encoding="utf-8"))))
    if len(names) != array.shape[-1]:
        raise ExperimentError(
            f"{path}: {len(names)} names for the {array.shape[-1]} features of {array.path}, so "
            f"they are of different releases. {RELOAD}"
        )
    return names


def _check_shapes(static: SparseFile, dynamic: SparseFile) -> None:
    if len(dynamic.shape) != 3 or dynamic.shape[1] != HOURS:
        raise ExperimentError(
            f"{dynamic.path}: its shape is {dynamic.shape}, where (stays, {HOURS}, features) is "
            f"needed. Take the features of {TASK}"
        )
    if len(static.shape) != 2 or static.shape[0] != dynamic.shape[0]:
        raise ExperimentError(
            f"{static.path}: its shape {static.shape} does not go with {dynamic.shape} of "
            f"{dynamic.path}. Take both from the same release"
        )
