"""Who is learnt from, who is chosen on, and who is tested on: whole patients, by outcome."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.model_selection import train_test_split

from voros.studies.experiments.cases import Cases, IntArray
from voros.studies.experiments.errors import ExperimentError

TRAIN_SHARE = 0.5
"""Share of the patients that models learn from; the rest is halved."""

FEWEST_PATIENTS = 4
"""Patients with and without the outcome that the smallest split needs, each."""


@dataclass(frozen=True, eq=False)
class Split:
    """Positions of the cases to train, choose (valid) and test on, in ascending order."""

    train: IntArray
    valid: IntArray
    test: IntArray


def split_patients(cases: Cases, random_state: int = 0) -> Split:
    """Split 50/25/25 by patient, so that each part has its share of patients with the outcome.

    A patient with several cases counts as having the outcome when any case has it.

    Examples
    --------
    >>> cases = Cases(np.zeros((8, 0)), np.arange(8) % 2 == 0, np.arange(8), ())
    >>> split = split_patients(cases)
    >>> [int(cases.y[rows].sum()) for rows in (split.train, split.valid, split.test)]
    [2, 1, 1]
    """
    patients, codes = np.unique(cases.patient, return_inverse=True)
    ever = np.bincount(codes, weights=cases.y) > 0
    _check_enough(ever)
    everyone = np.arange(len(patients))
    train, rest = train_test_split(
        everyone, train_size=TRAIN_SHARE, stratify=ever, random_state=random_state
    )
    valid, test = train_test_split(
        rest, train_size=0.5, stratify=ever[rest], random_state=random_state
    )
    return Split(*(np.flatnonzero(np.isin(codes, part)) for part in (train, valid, test)))


def _check_enough(ever: np.ndarray) -> None:
    with_outcome = int(ever.sum())
    counts = {"with": with_outcome, "without": len(ever) - with_outcome}
    for which, count in counts.items():
        if count < FEWEST_PATIENTS:
            raise ExperimentError(
                f"the cohort has {count} patients {which} the outcome; a split in three needs at "
                f"least {FEWEST_PATIENTS}. Take the whole release, not an extract of it"
            )
