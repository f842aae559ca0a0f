"""eICU as cases, from the features that FIDDLE's authors released."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from voros.core.arrays import BoolArray, FloatArray
from voros.studies.experiments.cases import Cases, IntArray
from voros.studies.experiments.errors import ExperimentError
from voros.studies.experiments.fiddle_features import (
    DYNAMIC,
    STATIC,
    ChosenFeatures,
    choose_features,
)
from voros.studies.experiments.sparse_files import REMEDY, SparseFile
from voros.studies.experiments.summaries import (
    BUCKET_HOURS,
    HOURS,
    N_BUCKETS,
    VALUE_SUMMARIES,
    stack,
    summarise,
)

TASK = "mortality_48h"
LABEL = "mortality_LABEL"
STAY_COLUMN = "ID"
PATIENT_COLUMNS = ("PatientID", "uniquepid", "SUBJECT_ID")
"""Names under which a population file may tell patients apart; the release's own does not."""


@dataclass(frozen=True)
class FiddleRelease:
    """The files of FIDDLE's eICU release that are needed.

    Attributes
    ----------
    population : Path
        One row per stay, with its outcome.
    static, dynamic : SparseFile
        Shapes (N, d) and (N, 48, D).
    static_features, dynamic_features : ChosenFeatures
    """

    population: Path
    static: SparseFile
    dynamic: SparseFile
    static_features: ChosenFeatures
    dynamic_features: ChosenFeatures


def find_fiddle(folder: Path) -> FiddleRelease:
    """Find the files of the release, in the folder itself or as PhysioNet lays them out.

    Raises
    ------
    ExperimentError
        When one is missing or damaged, or they do not belong together.
    """
    features, population = _locate(folder)
    static, dynamic = (SparseFile.open(features / f"{name}.npz") for name in ("s", "X"))
    chosen = [
        choose_features(_names(features / f"{name}.feature_names.json", array), wanted, array.path)
        for name, array, wanted in (("s", static, STATIC), ("X", dynamic, DYNAMIC))
    ]
    _check_shapes(static, dynamic)
    return FiddleRelease(population, static, dynamic, *chosen)


def _locate(folder: Path) -> tuple[Path, Path]:
    layouts = [
        (root / "features" / TASK, root / "population" / f"{TASK}.csv")
        for root in (folder, folder / "FIDDLE_eicu")
    ]
    layouts.append((folder, folder / f"{TASK}.csv"))
    needed = ("s.npz", "X.npz", "s.feature_names.json", "X.feature_names.json")
    missing: list[list[Path]] = []
    for features, population in layouts:
        paths = [*(features / name for name in needed), population]
        absent = [path for path in paths if not path.is_file()]
        if not absent:
            return features, population
        missing.append(absent)
    fewest = min(map(len, missing))
    told = ", ".join(str(path) for path in next(m for m in missing if len(m) == fewest))
    raise ExperimentError(
        f"{told}: not there. Name the folder FIDDLE_eicu of PhysioNet's mimic-eicu-fiddle-feature, "
        f"with features/{TASK}/ and population/{TASK}.csv in it"
    )


def _names(path: Path, array: SparseFile) -> list[str]:
    try:
        names = list(map(str, json.loads(path.read_text(encoding="utf-8"))))
    except (json.JSONDecodeError, UnicodeDecodeError, TypeError) as error:
        raise ExperimentError(f"{path}: not readable ({error}). {REMEDY}") from error
    if len(names) != array.shape[-1]:
        raise ExperimentError(
            f"{path}: {len(names)} names for the {array.shape[-1]} features of {array.path}, so "
            f"they are of different releases. {REMEDY}"
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


def eicu_cases(release: FiddleRelease) -> Cases:
    """Return the stays with the paper's features: 6 summaries over 3 windows of each dynamic one.

    An hour's 0 or 1 becomes the mean of its 2-hour bucket. Memory is that of the wanted features
    alone: a byte for each stay, bucket and feature.
    """
    died, patient = _population(release.population, release.static.shape[0])
    columns: dict[str, FloatArray] = dict(
        zip(release.static_features.names, _static(release).T, strict=True)
    )
    halves = _hours_in_buckets(release)
    for position, name in enumerate(release.dynamic_features.names):
        buckets = halves[position].astype(np.float64) / BUCKET_HOURS
        columns |= summarise(buckets, name, VALUE_SUMMARIES)
    X, names = stack(columns)
    cases = Cases(X, died, patient, names)
    cases.check_both_outcomes(str(release.population), REMEDY)
    return cases


def _static(release: FiddleRelease) -> FloatArray:
    found = release.static_features
    place = _places(found, release.static.shape[-1])
    dense = np.zeros((release.static.shape[0], len(found.positions)))
    for (rows, features), values in release.static.pieces():
        wanted = place[features] >= 0
        dense[rows[wanted], place[features[wanted]]] = values[wanted]
    return dense


def _hours_in_buckets(release: FiddleRelease) -> np.ndarray:
    """Count the hours of each bucket with the feature: shape (features, stays, buckets)."""
    found = release.dynamic_features
    n_stays, _, n_features = release.dynamic.shape
    place = _places(found, n_features)
    counts = np.zeros((len(found.positions), n_stays, N_BUCKETS), dtype=np.uint8)
    for (rows, hours, features), values in release.dynamic.pieces():
        wanted = (place[features] >= 0) & (values != 0)
        at = (place[features[wanted]], rows[wanted], hours[wanted] // BUCKET_HOURS)
        np.add.at(counts, at, 1)
    return counts


def _places(found: ChosenFeatures, n_features: int) -> IntArray:
    place = np.full(n_features, -1, dtype=np.int64)
    place[list(found.positions)] = np.arange(len(found.positions))
    return place


def _population(path: Path, n_stays: int) -> tuple[BoolArray, IntArray]:
    rows = list(_population_rows(path))
    if len(rows) != n_stays:
        raise ExperimentError(
            f"{path}: {len(rows)} stays, where the features have {n_stays}. Take both from the "
            "same release"
        )
    try:
        died = np.array([float(row[LABEL]) == 1.0 for row in rows])
    except ValueError as error:
        raise ExperimentError(f"{path}: a {LABEL} is no number ({error}). {REMEDY}") from error
    known = [name for name in PATIENT_COLUMNS if rows and name in rows[0]]
    whose = [row[known[0] if known else STAY_COLUMN] for row in rows]
    return died, np.unique(whose, return_inverse=True)[1].astype(np.int64)


def _population_rows(path: Path) -> Iterator[Mapping[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as text:
        rows = csv.DictReader(text)
        missing = [name for name in (STAY_COLUMN, LABEL) if name not in (rows.fieldnames or ())]
        if missing:
            raise ExperimentError(
                f"{path}: the table has no column {', '.join(missing)}; it has "
                f"{', '.join(rows.fieldnames or ())}. {REMEDY}"
            )
        yield from rows
