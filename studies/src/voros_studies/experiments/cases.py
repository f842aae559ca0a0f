"""The cases of a study: features, outcomes, patients, description, split and scaling."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from sklearn.model_selection import train_test_split

from voros.typing import AnyArray, BoolArray, FloatArray
from voros_studies.experiments.errors import ExperimentError
from voros_studies.flow import FlowStep

TRAIN_SHARE = 0.5
"""Share of the patients for training; validation and test have half of the rest each."""

FEWEST_PATIENTS = 4
"""Fewest patients with the outcome, and fewest without it, that a split needs."""


@dataclass(frozen=True, eq=False)
class LabelledCases:
    """Features, outcome and patient of every case.

    Parameters
    ----------
    X : ndarray of shape (n_cases, n_features)
        NaN where nothing was measured.
    y : ndarray of bool, shape (n_cases,)
        The outcome.
    patient : ndarray of int, shape (n_cases,)
        Patient of each case; the cases of one patient stay in one part of the split.
    feature_names : tuple of str

    Examples
    --------
    >>> X, y = np.array([[70.0, 1.2], [64.0, np.nan], [81.0, 3.4]]), np.array([False, False, True])
    >>> cases = LabelledCases(X, y, np.array([1, 1, 2]), ("age", "lactate"))
    >>> cases
    3 cases of 2 patients, 2 features, 0.333 positive
    >>> cases.feature("age").tolist()
    [70.0, 64.0, 81.0]
    """

    X: FloatArray
    y: BoolArray
    patient: AnyArray
    feature_names: tuple[str, ...]

    def __post_init__(self) -> None:
        expected = (len(self.y), len(self.feature_names))
        if self.X.shape != expected or len(self.patient) != len(self.y):
            raise ValueError(
                f"X has shape {self.X.shape} and patient length {len(self.patient)}; with "
                f"{len(self.y)} outcomes and {len(self.feature_names)} names, {expected} is needed"
            )

    def __len__(self) -> int:
        """Count the cases."""
        return len(self.y)

    def __repr__(self) -> str:
        return (
            f"{len(self)} cases of {len(np.unique(self.patient))} patients, "
            f"{len(self.feature_names)} features, {self.y.mean():.3f} positive"
        )

    def feature(self, name: str) -> FloatArray:
        """Return one feature of every case."""
        return self.X[:, self.feature_names.index(name)]

    @property
    def fingerprint(self) -> str:
        """A digest of every number; a run compares it to recognise its data."""
        digest = hashlib.sha256("\n".join(self.feature_names).encode())
        for array in (self.X, self.y, self.patient):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    def check_both_outcomes(self, source: str, remedy: str) -> None:
        """Raise where there is nothing to learn from."""
        if len(self) == 0:
            raise ExperimentError(f"{source}: the cohort is empty. {remedy}")
        if self.y.all() or not self.y.any():
            met = "all" if self.y.all() else "none"
            raise ExperimentError(
                f"{source}: {met} of the {len(self)} cases met the outcome, so there is nothing to "
                f"learn. {remedy}"
            )


@dataclass(frozen=True, eq=False)
class StudyContext:
    """A description of the cases for tables and page.

    Attributes
    ----------
    notes : tuple of str
        Sentences about the data.
    flow : tuple of FlowStep
        Where the cases come from.
    characteristics : mapping of str to ndarray
        For table 1: numbers, NaN where missing, or words, "" where missing; one per case.
    """

    notes: tuple[str, ...] = ()
    flow: tuple[FlowStep, ...] = ()
    characteristics: Mapping[str, AnyArray] = field(default_factory=dict)


NO_CONTEXT = StudyContext()


def words_of(cases: LabelledCases, name: str, separator: str = "=") -> AnyArray:
    """Return the word for which a case has the feature ``name=word``, or "".

    Examples
    --------
    >>> X = np.array([[1.0, 0.0], [0.0, 0.0]])
    >>> cases = LabelledCases(X, X[:, 0] > 0, np.arange(2), ("sex=F", "sex=M"))
    >>> words_of(cases, "sex").tolist()
    ['F', '']
    """
    words = np.full(len(cases), "", dtype=object)
    for position, feature in enumerate(cases.feature_names):
        if feature.startswith(name + separator):
            word = feature.removeprefix(name + separator)
            words = np.where(cases.X[:, position] == 1, word, words)
    return words.astype(str)


@dataclass(frozen=True, eq=False)
class Split:
    """Positions of the cases to train, select (valid) and test on, in ascending order.

    ``how`` describes the method.
    """

    train: AnyArray
    valid: AnyArray
    test: AnyArray
    how: str = "split as handed over by the author"

    @property
    def parts(self) -> dict[str, AnyArray]:
        """The positions by part."""
        return {"train": self.train, "valid": self.valid, "test": self.test}

    def check_both_outcomes(self, cases: LabelledCases) -> None:
        """Raise, before anything is fitted, where a part has cases of one outcome only."""
        for part, rows in self.parts.items():
            if cases.y[rows].all() or not cases.y[rows].any():
                lacking = "without" if cases.y[rows].any() else "with"
                raise ExperimentError(
                    f"split: the {part} part has {len(rows)} cases, none {lacking} the outcome; "
                    "models are fitted, chosen and tested on cases of both kinds"
                )


AT_RANDOM = "random split of the same source, by patient"


def split_patients(cases: LabelledCases, random_state: int = 0) -> Split:
    """Split 50/25/25 by patient, so that each part has its share of patients with the outcome.

    A patient with several cases counts as having the outcome when any case has it.

    Examples
    --------
    >>> cases = LabelledCases(np.zeros((8, 0)), np.arange(8) % 2 == 0, np.arange(8), ())
    >>> split = split_patients(cases)
    >>> [int(cases.y[rows].sum()) for rows in (split.train, split.valid, split.test)]
    [2, 1, 1]
    """
    codes, ever = _patients(cases.patient, cases.y)
    train, rest = train_test_split(
        np.arange(len(ever)), train_size=TRAIN_SHARE, stratify=ever, random_state=random_state
    )
    valid, test = train_test_split(
        rest, train_size=0.5, stratify=ever[rest], random_state=random_state
    )
    return _by_patient(codes, train, valid, test)


def split_in_quarters(cases: LabelledCases, random_state: int = 0) -> Split:
    """Split 50/25/25 by patient as the authors did for eICU: a quarter, then a third, at random.

    Examples
    --------
    >>> n = 77_066
    >>> cases = LabelledCases(np.zeros((n, 0)), np.arange(n) % 9 == 0, np.arange(n), ())
    >>> [len(rows) for rows in split_in_quarters(cases).parts.values()]
    [38532, 19267, 19267]
    """
    codes, ever = _patients(cases.patient, cases.y)
    rest, test = train_test_split(np.arange(len(ever)), test_size=0.25, random_state=random_state)
    train, valid = train_test_split(rest, test_size=1 / 3, random_state=random_state)
    return _by_patient(codes, train, valid, test)


def split_around_test(cases: LabelledCases, test: BoolArray, random_state: int = 0) -> Split:
    """Keep the cases of ``test`` as the test part, and split the other patients two to one.

    Examples
    --------
    >>> cases = LabelledCases(np.zeros((20, 0)), np.arange(20) % 2 == 0, np.arange(20), ())
    >>> split = split_around_test(cases, np.arange(20) >= 14)
    >>> len(split.train), len(split.valid), split.test.tolist()
    (9, 5, [14, 15, 16, 17, 18, 19])
    """
    shared = np.intersect1d(cases.patient[test], cases.patient[~test])
    if len(shared):
        raise ExperimentError(
            f"{len(shared)} patients, {shared[0]} the first, have cases in the test set and "
            "elsewhere. Each patient's cases must be in one set"
        )
    rest = np.flatnonzero(~test)
    codes, ever = _patients(cases.patient[rest], cases.y[rest])
    train, valid = train_test_split(
        np.arange(len(ever)), train_size=2 / 3, stratify=ever, random_state=random_state
    )
    kept = [rest[np.isin(codes, part)] for part in (train, valid)]
    how = "test cases of their own; the other patients split at random"
    return Split(kept[0], kept[1], np.flatnonzero(test), how)


def _by_patient(codes: AnyArray, train: AnyArray, valid: AnyArray, test: AnyArray) -> Split:
    """Return the split of the cases whose patients were split at random."""
    rows = [np.flatnonzero(np.isin(codes, part)) for part in (train, valid, test)]
    return Split(rows[0], rows[1], rows[2], AT_RANDOM)


def _patients(patient: AnyArray, y: BoolArray) -> tuple[AnyArray, BoolArray]:
    """Return the number of each case's patient, and which patients ever had the outcome."""
    codes = np.unique(patient, return_inverse=True)[1]
    ever = np.bincount(codes, weights=y) > 0
    for which, count in {"with": ever.sum(), "without": (~ever).sum()}.items():
        if count < FEWEST_PATIENTS:
            raise ExperimentError(
                f"the cohort has {count} patients {which} the outcome; a split in three needs at "
                f"least {FEWEST_PATIENTS}. Take the whole release, not an extract of it"
            )
    return codes, ever


def fill_and_scale(train: FloatArray, *others: FloatArray) -> list[FloatArray]:
    """Fill with the training mean, then map the training range to 0-1: train and others.

    A new case beyond the training range lands beyond 0-1. A feature that was constant in training
    keeps its unit; one that was never measured is taken as 0.

    Examples
    --------
    >>> train = np.array([[1.0, np.nan], [3.0, np.nan], [np.nan, np.nan]])
    >>> fill_and_scale(train, np.array([[1.0, 7.0], [np.nan, np.nan], [4.0, 0.0]]))[1].tolist()
    [[0.0, 7.0], [0.5, 0.0], [1.5, 0.0]]
    """
    known = np.where(np.isnan(train).all(axis=0), 0.0, train)
    mean, low, high = (f(known, axis=0) for f in (np.nanmean, np.nanmin, np.nanmax))
    width = np.where(high > low, high - low, 1.0)
    return [(np.where(np.isnan(X), mean, X) - low) / width for X in (train, *others)]
