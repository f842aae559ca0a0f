r"""Evidence against a limit: bets, from the start and since a later change, and a detector.

A unit is an alarm, a patient's alarms, a stay or a period. Every limit is on a ratio of sums over
units: false alarms among alarms, alarms per case, per period or per patient-day, cost per case.
Each unit is a bet on each alternative: a factor whose mean, given the units before, is at most 1
while the limit is kept. It is :math:`1 + \lambda (a/m - n) / b` for a unit of size :math:`n` with
the sum :math:`a \ge 0`, where the sums are at most :math:`m` times the sizes. The limit is on
:math:`\sum a / \sum n`, not on the mean of :math:`a/n`. The scale :math:`b` is the largest size
before this unit. A unit larger than :math:`0.9 b/\lambda`, with the largest :math:`\lambda` in use,
counts as one of that size, which keeps the factor positive. For single alarms and a precision floor
f it is the likelihood ratio of the precision :math:`f (1 - \lambda)` against f.

With the product :math:`L_j^n` of the factors of one alternative from unit j to unit n, averaged
over alternatives,

- from the start: :math:`M_n = L_1^n`;
- since a later change: :math:`V_n = \sum_{j \le n} w_j L_j^n` with :math:`\sum_j w_j = 1`;
- the detector (e-Shiryaev-Roberts): :math:`R_n = \sum_{j \le n} L_j^n`.

While the limit is kept, nonnegative martingales that begin at 1 bound M and V, so each ever reaches
:math:`1/\alpha` with probability at most :math:`\alpha` (Ville, 1939); and :math:`R_n - n` is a
supermartingale, so R needs on average at least A units to reach A (Shin, Ramdas and Rinaldo, 2024).
docs/theory/monitoring.md has the proofs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voros.monitoring.settings import Settings
from voros.typing import FloatArray

PRECISION_STAKES = np.array([0.6, 0.4, 0.2])
"""Alternatives for a precision: it has fallen to .4, .6 or .8 of its floor."""

PRECISION_WEIGHTS = np.array([0.6, 0.3, 0.1])

STAKES = np.array([0.01, 0.03, 0.1, 0.3])
"""Alternatives for a ratio: the part of the evidence that is bet on the next period."""

LARGEST_LOSS = 0.9
"""Largest part of its evidence that a bet can lose on one unit; larger units are cut to that size.

With stakes of up to 0.3 that cuts units of more than three times the largest before them.
"""

HALVINGS = 40
"""Bisection steps in the search for an end of an interval."""

MOST_PARTS = 1000.0
"""An upper end beyond this multiple of the estimate is reported as infinite."""


def ratio_bets(
    sums: FloatArray,
    most: float,
    sizes: FloatArray | None = None,
    stakes: FloatArray = STAKES,
    largest: float | None = None,
) -> FloatArray:
    """Return the log factors of bets that nonnegative sums exceed `most` times the sizes.

    Without sizes, each size is 1 and the limit is on the mean of the sums. ``largest`` is the most
    by which a unit can be below its limit, where it is known beforehand; otherwise that is its
    size, and the first unit only sets the scale.

    Examples
    --------
    >>> np.exp(ratio_bets(np.array([20.0, 40.0]), 20.0)).round(2).tolist()
    [[1.0, 1.0, 1.0, 1.0], [1.01, 1.03, 1.1, 1.3]]
    >>> shares = ratio_bets(np.array([9.0, 12.0, 2.0]), 0.1, np.array([100.0, 100.0, 10.0]))
    >>> np.exp(shares[:, 2]).round(3).tolist()
    [1.0, 1.02, 1.01]
    """
    if sizes is None:
        sizes, largest = np.ones(len(sums)), 1.0
    parts = 1.0 / largest if largest else size_factors(sizes, stakes)
    return np.asarray(np.log1p(((sums / most - sizes) * parts)[:, None] * stakes))


def size_factors(sizes: FloatArray, stakes: FloatArray = STAKES) -> FloatArray:
    """Return one over the scale of each unit, which depends on earlier units except for the cut."""
    largest = np.maximum.accumulate(sizes)
    factors = np.zeros(len(sizes))
    factors[1:] = np.minimum(1.0 / largest[:-1], LARGEST_LOSS / stakes.max() / sizes[1:])
    return factors


def ratio_interval(
    sums: FloatArray, alpha: float, sizes: FloatArray | None = None
) -> tuple[float, float]:
    """Return both ends of a confidence sequence for a ratio of nonnegative sums to sizes.

    The ends are the outermost ratios that bets do not refute, each with an error of alpha / 2, and
    hold at all times at once. Without sizes, each size is 1 and the ratio is the mean. The upper
    end is infinite as long as no ratio is refuted; it assumes that no sum exceeds four times what
    it allows a unit of the largest size.

    Examples
    --------
    >>> low, high = ratio_interval(np.full(300, 20.0), 0.05)
    >>> round(low, 1), round(high, 1)
    (18.9, 21.2)
    """
    every = np.ones(len(sums)) if sizes is None else sizes
    parts = np.ones(len(sums)) if sizes is None else size_factors(sizes)
    pairs = np.stack([sums * parts, every * parts])
    (scaled, of), counts = np.unique(pairs, axis=1, return_counts=True)

    def is_refuted(ratio: float, side: int) -> bool:
        totals = counts @ np.log1p((side * (scaled / ratio - of))[:, None] * STAKES)
        evidence = np.logaddexp.reduce(totals) - np.log(len(STAKES))
        return bool(evidence >= -np.log(alpha / 2))

    def edge(outer: float, inner: float, side: int) -> float:
        for _ in range(HALVINGS):
            middle = (inner + outer) / 2
            if is_refuted(middle, side):
                outer = middle
            else:
                inner = middle
        return outer

    ratio = float(sums.sum() / every.sum())
    least = max(ratio, float(np.max(scaled / (LARGEST_LOSS / STAKES.max() + of))))
    most = MOST_PARTS * max(least, 1e-12)
    low = edge(0.0, ratio, side=1) if ratio else 0.0
    return low, edge(most, least, side=-1) if is_refuted(most, -1) else np.inf


START_SHARE = 0.96
"""Default part of alpha for a limit that is broken from the start."""

LATE_BEGIN = 50
"""Changes within about this number of units are mostly found by the evidence from the start."""


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """Evidence of units against a limit.

    Attributes
    ----------
    start, late, detector : ndarray of shape (n_units,)
        Logarithms of M, V and R after each unit.
    start_bound, late_bound, detector_bound : float
        The bound of each.
    changes : ndarray of shape (n_units,)
        After each unit, when the most likely change for the worse began.
    """

    start: FloatArray
    late: FloatArray
    detector: FloatArray
    start_bound: float
    late_bound: float
    detector_bound: float
    changes: FloatArray

    @property
    def broken_at(self) -> int | None:
        """The first unit at which the limit is shown to be broken."""
        crossed = self.gaps >= 0
        return int(np.argmax(crossed)) if crossed.any() else None

    @property
    def watching(self) -> bool:
        """Whether the detector is above its bound now."""
        return bool(len(self.detector) and self.detector[-1] >= self.detector_bound)

    @property
    def gaps(self) -> FloatArray:
        """Logarithm of the strongest evidence after each unit, against its bound."""
        return np.maximum(self.start - self.start_bound, self.late - self.late_bound)

    @property
    def ratio(self) -> float:
        """The strongest evidence now, as a share of the evidence that shows the limit broken."""
        return float(np.exp(min(self.gaps[-1], 700.0))) if len(self.start) else 0.0


def weigh(
    factors: FloatArray,
    settings: Settings,
    begins: FloatArray,
    weights: FloatArray | None = None,
    start_share: float = START_SHARE,
) -> Evidence:
    """Add up log factors, one row per unit and one column per alternative.

    Parameters
    ----------
    begins : ndarray of shape (n_units,)
        Start of each unit.
    weights : ndarray of shape (n_alternatives,), optional
        Weights of the alternatives; equal by default.
    start_share : float
        Part of alpha for a limit broken from the start; the rest is for later changes.

    Examples
    --------
    >>> bad = weigh(np.full((40, 1), np.log(1.2)), Settings(window=0), np.arange(40.0))
    >>> bad.broken_at, bad.watching, float(bad.changes[-1])
    (16, False, 0.0)
    """
    n, n_alternatives = factors.shape
    logs = np.log(np.full(n_alternatives, 1 / n_alternatives) if weights is None else weights)
    # Before each unit, and after it.
    sums = np.cumsum(factors, axis=0)
    before = np.vstack([np.zeros(n_alternatives), sums])[:n]
    late = np.logaddexp.accumulate(late_weights(n)[:, None] - before, axis=0)
    every = np.logaddexp.accumulate(-before, axis=0)
    return Evidence(
        start=np.logaddexp.reduce(sums + logs, axis=1),
        late=np.logaddexp.reduce(sums + late + logs, axis=1),
        detector=np.logaddexp.reduce(sums + every + logs, axis=1),
        start_bound=float(-np.log(start_share * settings.alpha)),
        late_bound=float(-np.log((1.0 - start_share) * settings.alpha)),
        detector_bound=float(np.log(settings.run_length)),
        changes=_changes(before, sums, begins),
    )


def _changes(before: FloatArray, sums: FloatArray, begins: FloatArray) -> FloatArray:
    """Return, after each unit, the start of the unit since which an alternative has risen most."""
    lowest = np.minimum.accumulate(before, axis=0)
    rows = np.arange(len(sums))[:, None]
    since = np.maximum.accumulate(np.where(before <= lowest, rows, 0), axis=0)
    risen = np.argmax(sums - lowest, axis=1) if len(sums) else np.zeros(0, dtype=int)
    return np.asarray(begins[np.take_along_axis(since, risen[:, None], axis=1)[:, 0]])


def late_weights(n: int) -> FloatArray:
    r"""Return the logs of :math:`w_j = \ln b\,(1/\ln(b + j - 1) - 1/\ln(b + j))`; their sum is 1.

    b is `LATE_BEGIN`, and j counts from 1.

    Examples
    --------
    >>> float(np.exp(late_weights(10**6)).sum().round(3))
    0.717
    """
    inverse = np.log(LATE_BEGIN) / np.log(LATE_BEGIN + np.arange(n + 1.0))
    return np.asarray(np.log(inverse[:-1] - inverse[1:]))
