"""The table an experiment learns from: one row per case, before anything is fitted."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voros.core.arrays import BoolArray, FloatArray
from voros.studies.experiments.errors import ExperimentError

IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Cases:
    """Features, outcome and patient of every case.

    Parameters
    ----------
    X : ndarray of shape (n_cases, n_features)
        NaN where nothing was measured.
    y : ndarray of bool, shape (n_cases,)
        The outcome.
    patient : ndarray of int, shape (n_cases,)
        Whose case it is; the cases of one patient are never parted.
    feature_names : tuple of str
    """

    X: FloatArray
    y: BoolArray
    patient: IntArray
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
            f"Cases({len(self)} cases of {len(np.unique(self.patient))} patients, "
            f"{len(self.feature_names)} features, {self.y.mean():.3f} positive)"
        )

    @property
    def fingerprint(self) -> str:
        """A digest of every number, by which a run recognises its own data."""
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
                f"tell apart. {remedy}"
            )
