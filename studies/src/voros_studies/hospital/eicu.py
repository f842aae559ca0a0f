"""eICU: the study, from the features that FIDDLE's authors released."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from voros.typing import AnyArray, FloatArray
from voros_studies.experiments.cases import LabelledCases, StudyContext, split_in_quarters, words_of
from voros_studies.experiments.errors import ExperimentError
from voros_studies.experiments.experiment import (
    AS_PUBLISHED,
    RunOptions,
    file_found,
    run_experiment,
)
from voros_studies.experiments.results import StudyResult
from voros_studies.flow import FlowStep
from voros_studies.hospital.features import (
    BUCKET_HOURS,
    N_BUCKETS,
    VALUE_SUMMARIES,
    stack,
    summarise,
)
from voros_studies.hospital.fiddle import RELOAD, STATIC, ChosenFeatures, FiddleRelease, find_fiddle
from voros_studies.hospital.layout import check_columns, check_few_left_out

DEATH = "mortality_LABEL"
STAY_COLUMN = "ID"
PATIENT_NAMES = ("PatientID", "uniquepid", "SUBJECT_ID")
"""Columns in which a population file may identify patients; the release's own has none."""


def run_eicu(data: str | Path, out: str | Path, options: RunOptions = AS_PUBLISHED) -> StudyResult:
    """Run the study on FIDDLE's eICU release; see `voros_studies.hospital.run_mimic`.

    Parameters
    ----------
    data : path-like
        The folder ``FIDDLE_eicu`` of PhysioNet's mimic-eicu-fiddle-feature.
    out : path-like
    options : RunOptions, optional

    Returns
    -------
    StudyResult

    Examples
    --------
    >>> run_eicu("FIDDLE_eicu", "study", RunOptions(quick=True))  # doctest: +SKIP

    What is named is looked at first:

    >>> run_eicu("no-such-folder", "study")
    Traceback (most recent call last):
    voros_studies.experiments.errors.ExperimentError: ...: not there. Name the folder FIDDLE_eicu of
    PhysioNet's mimic-eicu-fiddle-feature, ...
    """
    release = find_fiddle(Path(data))
    static, dynamic = release.static_features, release.dynamic_features
    files, lacking = _files_of(release), static.lacking + dynamic.lacking
    added = static.added + dynamic.added
    said = [*files, *_counted("features beyond the paper's tables", added)]
    missing = _counted("features of the paper's tables", lacking)
    options.brief(said, missing)
    cases = eicu_cases(release)
    options.announce(repr(cases))
    return run_experiment(
        "eICU, death after the first 48 hours",
        cases,
        Path(out),
        options,
        description={"experiment": "eicu", "split": "quarters"},
        split=split_in_quarters(cases, options.random_state),
        context=StudyContext(
            (
                *files,
                *(f"not in the paper's table, taken too: {text}" for text in added),
                *(f"lacking: {text}" for text in lacking),
            ),
            _flow(release, cases),
            {name: words_of(cases, name, " ") for name in STATIC},
        ),
    )


def _flow(release: FiddleRelease, cases: LabelledCases) -> tuple[FlowStep, ...]:
    n_stays = release.static.shape[0]
    steps = (FlowStep("stays of the release", n_stays),)
    if n_stays == len(cases):
        return steps
    left_out = n_stays - len(cases), "without a readable label in the population file"
    return (*steps, FlowStep("with a label", len(cases), *left_out))


def _files_of(release: FiddleRelease) -> list[str]:
    static, dynamic = release.static_features, release.dynamic_features
    return [
        file_found("population", release.population),
        file_found(f"static features, {len(static.names)} of them used", release.static.path),
        file_found(f"dynamic features, {len(dynamic.names)} of them used", release.dynamic.path),
    ]


def _counted(what: str, names: Sequence[str]) -> list[str]:
    """Return one line with their number; the summary page lists them all."""
    return [f"{len(names)} {what}, {names[0]} the first"] if names else []


def eicu_cases(release: FiddleRelease) -> LabelledCases:
    """Return the stays with the paper's features: 6 summaries over 3 windows of each dynamic one.

    An hour's 0 or 1 becomes the mean of its 2-hour bucket. Memory is that of the wanted features
    alone: a byte for each stay, bucket and feature. Stays without a readable label are left out.
    """
    label, patient = _population(release)
    columns: dict[str, FloatArray] = dict(
        zip(release.static_features.names, _static(release).T, strict=True)
    )
    halves = _hours_in_buckets(release)
    for position, name in enumerate(release.dynamic_features.names):
        buckets = halves[position].astype(np.float64) / BUCKET_HOURS
        columns |= summarise(buckets, name, VALUE_SUMMARIES)
    X, names = stack(columns)
    known = ~np.isnan(label)
    if not known.all():
        X, label, patient = X[known], label[known], patient[known]
    cases = LabelledCases(X, label == 1, patient, names)
    cases.check_both_outcomes(str(release.population), RELOAD)
    return cases


def _static(release: FiddleRelease) -> FloatArray:
    chosen = release.static_features
    place = _places(chosen, release.static.shape[-1])
    dense = np.zeros((release.static.shape[0], len(chosen.positions)))
    for (rows, features), values in release.static.pieces():
        wanted = place[features] >= 0
        dense[rows[wanted], place[features[wanted]]] = values[wanted]
    return dense


def _hours_in_buckets(release: FiddleRelease) -> np.ndarray:
    """Count the hours of each bucket with the feature: shape (features, stays, buckets)."""
    chosen = release.dynamic_features
    n_stays, _, n_features = release.dynamic.shape
    place = _places(chosen, n_features)
    counts = np.zeros((len(chosen.positions), n_stays, N_BUCKETS), dtype=np.uint8)
    for (rows, hours, features), values in release.dynamic.pieces():
        wanted = (place[features] >= 0) & (values != 0)
        at = (place[features[wanted]], rows[wanted], hours[wanted] // BUCKET_HOURS)
        np.add.at(counts, at, 1)
    return counts


def _places(chosen: ChosenFeatures, n_features: int) -> AnyArray:
    place = np.full(n_features, -1, dtype=np.int64)
    place[list(chosen.positions)] = np.arange(len(chosen.positions))
    return place


def _population(release: FiddleRelease) -> tuple[FloatArray, AnyArray]:
    """Return outcome and patient of each stay, in the order of the features' rows.

    Labels that cannot be read, or contradict another of the same stay, are NaN.
    """
    path, n_stays = release.population, release.static.shape[0]
    rows = _csv_rows(path, (STAY_COLUMN, DEATH))
    patient_column = next((name for name in PATIENT_NAMES if rows and name in rows[0]), STAY_COLUMN)
    labels: defaultdict[str, set[str]] = defaultdict(set)
    patient: dict[str, str] = {}
    for row in rows:
        if stay := row[STAY_COLUMN]:
            labels[stay].add(row[DEATH])
            patient[stay] = row[patient_column] or stay
    # FIDDLE sorts the stays by ID, whatever the order of its population file.
    order = (
        sorted(labels, key=_id_order(labels, path))
        if release.ids is None
        else _listed_ids(release.ids)
    )
    if len(order) != n_stays:
        raise ExperimentError(
            f"{release.ids or path}: {len(order)} stays, where the features have {n_stays}. Take "
            "both from the same release"
        )
    label = np.array([_label(labels[stay]) for stay in order])
    n_unknown = int(np.isnan(label).sum())
    check_few_left_out(path, n_unknown, n_stays, f"stays have no readable {DEATH}", RELOAD)
    whose = [patient.get(stay, stay) for stay in order]
    return label, np.unique(whose, return_inverse=True)[1].astype(np.int64)


def _label(texts: Collection[str]) -> float:
    try:
        (number,) = map(float, texts)
    except (TypeError, ValueError):
        return np.nan
    return number if number in (0, 1) else np.nan


def _listed_ids(path: Path) -> list[str]:
    ids = [row[STAY_COLUMN] for row in _csv_rows(path, (STAY_COLUMN,))]
    if len(set(ids)) < len(ids):
        raise ExperimentError(f"{path}: an {STAY_COLUMN} is there twice. {RELOAD}")
    return ids


def _id_order(ids: Iterable[str], path: Path) -> Callable[[str], Any]:
    """Return the IDs as pandas sorts them: as numbers if all are numbers, else as words."""
    try:
        numbers = {text: int(text) for text in ids}
    except ValueError:
        return str
    if len(set(numbers.values())) < len(numbers):
        raise ExperimentError(f"{path}: an {STAY_COLUMN} is written in two ways. {RELOAD}")
    return numbers.__getitem__


def _csv_rows(path: Path, columns: Sequence[str]) -> list[Mapping[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as text:
        rows = csv.DictReader(text)
        check_columns(path, rows.fieldnames or (), columns, RELOAD)
        return list(rows)
