"""The largest sum along paths that never step back, by dynamic programming."""

from __future__ import annotations

import numpy as np

from voros.typing import FloatArray


def highest_path(values: FloatArray) -> FloatArray:
    """Pick one place at each step, never an earlier one than before, for the largest sum.

    Parameters
    ----------
    values : ndarray of shape (n_steps, ..., n_places)
        What each place adds at each step.

    Returns
    -------
    ndarray of shape (...)
        The largest sums.

    Examples
    --------
    The best of each step would be 5 and 4, but the second lies before the first:

    >>> highest_path(np.array([[1.0, 5.0], [4.0, 2.0]])).item()
    7.0
    """
    best = values[0].copy()
    for step in values[1:]:
        np.maximum.accumulate(best, axis=-1, out=best)
        best += step
    return np.asarray(best.max(axis=-1))
