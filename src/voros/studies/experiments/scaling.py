"""Missing values filled and features brought to 0-1, both learnt on the training cases alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voros.core.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class Scaling:
    """What the training cases say about each feature.

    Examples
    --------
    >>> train = np.array([[1.0, np.nan], [3.0, np.nan], [np.nan, np.nan]])
    >>> scaling = Scaling.fit(train)
    >>> scaling.apply(np.array([[1.0, 7.0], [np.nan, np.nan], [4.0, 0.0]])).tolist()
    [[0.0, 7.0], [0.5, 0.0], [1.5, 0.0]]
    """

    mean: FloatArray
    low: FloatArray
    high: FloatArray

    @classmethod
    def fit(cls, X: FloatArray) -> Scaling:
        """Learn from the training cases; a feature nobody has is taken as 0."""
        measured = ~np.isnan(X)
        n_measured = measured.sum(axis=0)
        any_measured = n_measured > 0
        mean = np.where(measured, X, 0.0).sum(axis=0) / np.maximum(n_measured, 1)
        low = np.where(measured, X, np.inf).min(axis=0)
        high = np.where(measured, X, -np.inf).max(axis=0)
        return cls(mean, np.where(any_measured, low, 0.0), np.where(any_measured, high, 0.0))

    def apply(self, X: FloatArray) -> FloatArray:
        """Fill with the training mean, then map the training range to 0-1.

        A new case beyond the training range lands beyond 0-1; a feature that was constant in
        training keeps its unit.
        """
        filled = np.where(np.isnan(X), self.mean, X)
        width = self.high - self.low
        return np.asarray((filled - self.low) / np.where(width > 0, width, 1.0))
