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

from dataclasses import dataclass, field

import numpy as np

from voros.core.arrays import FloatArray

START_SHARE = 0.96
"""Part of alpha for a limit broken from the start, unless another is given."""

LATE_BEGIN = 50
"""Changes within about this number of units are left to the evidence from the start."""


@dataclass(frozen=True, eq=False)
class Fold:
    """What has to be known of earlier units to go on: a few numbers for each alternative.

    Attributes
    ----------
    n : int
        Units so far.
    sums : ndarray of shape (n_alternatives,)
        Logarithms of the products from the first unit on.
    late, every : ndarray of shape (n_alternatives,)
        Logarithms of the sums over starts of 1 / (product up to the start), with the weights of
        late changes and with weight 1.
    lowest : ndarray of shape (n_alternatives,)
        The least of `sums`.
    began : ndarray of shape (n_alternatives,)
        When the unit after that least began.
    """

    n: int
    sums: FloatArray
    late: FloatArray
    every: FloatArray
    lowest: FloatArray
    began: FloatArray

    @classmethod
    def empty(cls, alternatives: int) -> Fold:
        """Return the state before the first unit."""
        nothing = np.full(alternatives, -np.inf)
        return cls(0, np.zeros(alternatives), nothing, nothing, -nothing, nothing)


@dataclass(frozen=True)
class Evidence:
    """What units say about a limit: all of them, or those after an earlier fold.

    Attributes
    ----------
    start, late, detector : ndarray of shape (n_units,)
        Logarithms of M, V and R after each unit.
    start_bounds : ndarray of shape (n_units,)
        What `start` has to reach.
    late_bound, detector_bound : float
    changes : ndarray of shape (n_units,)
        After each unit, when the most likely change for the worse began: the begin of that unit.
    fold : Fold
        The state after the last unit.
    """

    start: FloatArray
    late: FloatArray
    detector: FloatArray
    start_bounds: FloatArray
    late_bound: float
    detector_bound: float
    changes: FloatArray
    fold: Fold = field(repr=False)

    @property
    def broken_at(self) -> int | None:
        """The first of these units at which the limit is shown to be broken."""
        crossed = self.gaps >= 0
        return int(np.argmax(crossed)) if crossed.any() else None

    @property
    def fired_at(self) -> int | None:
        """The first of these units at which the detector fires."""
        fired = self.detector >= self.detector_bound
        return int(np.argmax(fired)) if fired.any() else None

    @property
    def watching(self) -> bool:
        """Whether the detector is above its bound now."""
        return bool(len(self.detector) and self.detector[-1] >= self.detector_bound)

    @property
    def gaps(self) -> FloatArray:
        """Logarithm of the strongest evidence after each unit, against its bound."""
        return np.maximum(self.start - self.start_bounds, self.late - self.late_bound)

    @property
    def ratio(self) -> float:
        """The strongest evidence now, as a share of what would show the limit to be broken."""
        return float(np.exp(min(self.gaps[-1], 700.0))) if len(self.start) else 0.0


def weigh(
    factors: FloatArray,
    weights: FloatArray,
    alpha: float,
    run_length: float,
    start_bounds: FloatArray | None = None,
    *,
    start_weights: FloatArray | None = None,
    begins: FloatArray | None = None,
    after: Fold | None = None,
    start_share: float = START_SHARE,
) -> Evidence:
    """Fold log factors, one row per unit and one column per alternative.

    Parameters
    ----------
    start_bounds, start_weights : ndarray, optional
        Replace Ville's bound for the evidence from the start, and its weights, where an exact bound
        is known.
    begins : ndarray of shape (n_units,), optional
        When each unit begins; by default its number, from 0.
    after : Fold, optional
        What earlier units left. Going on from it gives what folding all at once would, to the bit.
    start_share : float
        Part of alpha for a limit broken from the start; the rest is for later changes.

    Examples
    --------
    >>> bad = weigh(np.full((40, 1), np.log(1.2)), np.ones(1), alpha=0.05, run_length=1000)
    >>> bad.broken_at, bad.fired_at, int(bad.changes[-1])
    (16, 28, 0)
    """
    n, alternatives = factors.shape
    before = Fold.empty(alternatives) if after is None else after
    begins = before.n + np.arange(n, dtype=float) if begins is None else begins
    sums = np.cumsum(np.vstack([before.sums, factors]), axis=0)
    logs = np.log(weights)
    ville = np.full(n, -np.log(start_share * alpha))
    first = logs if start_weights is None else np.log(start_weights)
    late = _begun(before.late, late_weights(n, before.n)[:, None] - sums[:-1])
    every = _begun(before.every, -sums[:-1])
    lowest, began = _lowest(before, sums, begins)
    # After each unit, the alternative that has risen most.
    risen = np.argmax(sums[1:] - lowest[1:], axis=1) if n else np.zeros(0, dtype=int)
    return Evidence(
        _mixed(sums[1:] + first),
        _mixed(sums[1:] + late[1:] + logs),
        _mixed(sums[1:] + every[1:] + logs),
        ville if start_bounds is None else start_bounds,
        float(-np.log((1.0 - start_share) * alpha)),
        float(np.log(run_length)),
        np.take_along_axis(began[1:], risen[:, None], axis=1)[:, 0],
        Fold(before.n + n, sums[-1], late[-1], every[-1], lowest[-1], began[-1]),
    )


def late_weights(n: int, after: int = 0) -> FloatArray:
    r"""Return the logs of :math:`w_j = \ln b\,(1/\ln(b + j - 1) - 1/\ln(b + j))`; their sum is 1.

    b is `LATE_BEGIN`, and j counts from ``after + 1``.

    Examples
    --------
    >>> float(np.exp(late_weights(10**6)).sum().round(3))
    0.717
    """
    inverse = np.log(LATE_BEGIN) / np.log(LATE_BEGIN + after + np.arange(n + 1.0))
    return np.asarray(np.log(inverse[:-1] - inverse[1:]))


def _begun(before: FloatArray, parts: FloatArray) -> FloatArray:
    return np.asarray(np.logaddexp.accumulate(np.vstack([before, parts]), axis=0))


def _mixed(parts: FloatArray) -> FloatArray:
    return np.asarray(np.logaddexp.reduce(parts, axis=1))


def _lowest(before: Fold, sums: FloatArray, begins: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the least sum before each unit, and when the unit after it began."""
    lowest = np.minimum.accumulate(np.vstack([before.lowest, sums[:-1]]), axis=0)
    rows = np.arange(len(sums))[:, None]
    new = np.vstack([np.zeros_like(before.sums, dtype=bool), sums[:-1] <= lowest[1:]])
    began = np.maximum.accumulate(np.where(new, rows, 0), axis=0)
    times = np.vstack([before.began, np.repeat(begins[:, None], len(before.sums), axis=1)])
    return lowest, np.take_along_axis(times, began, axis=0)
