r"""Evidence against a limit: from the start, since a later change, and a detector.

With the product :math:`L_j^n` of the factors of one alternative from unit j to unit n, averaged
over alternatives,

- from the start: :math:`M_n = L_1^n`;
- since a later change: :math:`V_n = \sum_{j \le n} w_j L_j^n` with :math:`\sum_j w_j = 1`;
- the detector (e-Shiryaev-Roberts): :math:`R_n = \sum_{j \le n} L_j^n`.

While the limit is kept M and V are bounded by nonnegative martingales that begin at 1, so each ever
reaches :math:`1/\alpha` with probability at most :math:`\alpha` (Ville, 1939); and :math:`R_n - n`
is a supermartingale, so R takes on average at least A units to reach A (Shin, Ramdas and Rinaldo,
2024). docs/monitoring.md has the proofs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from voros.core.arrays import FloatArray

START_SHARE = 0.94
"""Part of alpha for a limit broken from the start; the rest is for later changes."""


@dataclass(frozen=True)
class Evidence:
    """What the units say about a limit.

    Attributes
    ----------
    start, late, detector : ndarray of shape (n_units,)
        Logarithms of M, V and R after each unit.
    start_bounds : ndarray of shape (n_units,)
        What `start` has to reach.
    late_bound, detector_bound : float
    changes : ndarray of int, shape (n_units,)
        After each unit, the first unit of the most likely change for the worse.
    """

    start: FloatArray
    late: FloatArray
    detector: FloatArray
    start_bounds: FloatArray
    late_bound: float
    detector_bound: float
    changes: FloatArray

    @property
    def broken_at(self) -> int | None:
        """The first unit at which the limit is shown to be broken."""
        crossed = (self.start >= self.start_bounds) | (self.late >= self.late_bound)
        return int(np.argmax(crossed)) if crossed.any() else None

    @property
    def fired_at(self) -> int | None:
        """The first unit at which the detector fires."""
        fired = self.detector >= self.detector_bound
        return int(np.argmax(fired)) if fired.any() else None

    @property
    def watching(self) -> bool:
        """Whether the detector is above its bound now."""
        return bool(len(self.detector) and self.detector[-1] >= self.detector_bound)

    @property
    def ratio(self) -> float:
        """The strongest evidence now, as a share of what would show the limit to be broken."""
        if not len(self.start):
            return 0.0
        gap = max(self.start[-1] - self.start_bounds[-1], self.late[-1] - self.late_bound)
        return float(np.exp(min(gap, 700.0)))


def weigh(
    factors: FloatArray,
    weights: FloatArray,
    alpha: float,
    run_length: float,
    start_bounds: FloatArray | None = None,
) -> Evidence:
    """Fold log factors, one row per unit and one column per alternative.

    ``start_bounds`` replaces Ville's bound where an exact one is known.

    Examples
    --------
    >>> bad = weigh(np.full((40, 1), np.log(1.2)), np.ones(1), alpha=0.05, run_length=1000)
    >>> bad.broken_at, bad.fired_at, int(bad.changes[-1])
    (16, 28, 0)
    """
    sums = np.vstack([np.zeros(factors.shape[1]), np.cumsum(factors, axis=0)])
    logs = np.log(weights)
    ville = np.full(len(factors), -np.log(START_SHARE * alpha))
    return Evidence(
        logsumexp(sums[1:] + logs, axis=1) if len(factors) else np.zeros(0),
        _from_every_start(sums, late_weights(len(factors)), logs),
        _from_every_start(sums, np.zeros(len(factors)), logs),
        ville if start_bounds is None else start_bounds,
        float(-np.log((1.0 - START_SHARE) * alpha)),
        float(np.log(run_length)),
        _changes(sums),
    )


def late_weights(n: int) -> FloatArray:
    r"""Return the logs of :math:`w_j = 1/\ln(e + j - 1) - 1/\ln(e + j)`, whose sum telescopes to 1.

    Examples
    --------
    >>> float(np.exp(late_weights(10**6)).sum().round(3))
    0.928
    """
    inverse = 1.0 / np.log(math.e + np.arange(n + 1))
    return np.asarray(np.log(inverse[:-1] - inverse[1:]))


def _from_every_start(sums: FloatArray, log_weights: FloatArray, logs: FloatArray) -> FloatArray:
    """Sum over starts j of weight times product since j, in logarithms."""
    if not len(log_weights):
        return np.zeros(0)
    begun = np.logaddexp.accumulate(log_weights[:, None] - sums[:-1], axis=0)
    return np.asarray(logsumexp(sums[1:] + begun + logs, axis=1))


def _changes(sums: FloatArray) -> FloatArray:
    """Return, after each unit, where the alternative that has risen most began to rise."""
    lowest = np.minimum.accumulate(sums[:-1], axis=0)
    rows = np.arange(len(sums) - 1)[:, None]
    began = np.maximum.accumulate(np.where(sums[:-1] <= lowest, rows, 0), axis=0)
    best = np.argmax(sums[1:] - lowest, axis=1)
    return np.asarray(np.take_along_axis(began, best[:, None], axis=1)[:, 0])
