r"""Evidence against a limit: bets, from the start and since a later change, and a detector.

A unit is an alarm, a patient's alarms, a stay or a period. Each is a bet on every alternative: a
factor whose mean is at most 1, given the units before, while the limit is kept.

- an alarm: :math:`1 + \lambda (f - y)`, y = 1 if it is true and 0 if not. The floor says
  :math:`E[y] \ge f`. The factor is the likelihood ratio of the precision
  :math:`q = f (1 - \lambda (1-f))` against the floor :math:`f`.
- a ratio of sums: :math:`1 + \lambda (a/m - n) / b` for a unit of size :math:`n` with the sum
  :math:`a \ge 0`, where the sums are at most :math:`m` times the sizes. The limit is on
  :math:`\sum a / \sum n`, not on the mean of :math:`a/n`. The scale :math:`b` is the largest size
  before this unit, and a unit of more than :math:`0.9 b/\lambda` counts as one of that size, with
  the largest :math:`\lambda` that is tried, which keeps the factor positive. With :math:`n = 1`
  throughout it is a bet on a mean. Alarms per case, per period or per patient-day, the cost per
  case, and false alarms among the alarms of patients (:math:`m = 1 - f`) are such ratios.

With the product :math:`L_j^n` of the factors of one alternative from unit j to unit n, averaged
over alternatives,

- from the start: :math:`M_n = L_1^n`;
- since a later change: :math:`V_n = \sum_{j \le n} w_j L_j^n` with :math:`\sum_j w_j = 1`;
- the detector (e-Shiryaev-Roberts): :math:`R_n = \sum_{j \le n} L_j^n`.

While the limit is kept M and V are bounded by nonnegative martingales that begin at 1, so each ever
reaches :math:`1/\alpha` with probability at most :math:`\alpha` (Ville, 1939); and :math:`R_n - n`
is a supermartingale, so R takes on average at least A units to reach A (Shin, Ramdas and Rinaldo,
2024). docs/theory/monitoring.md has the proofs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voros.typing import FloatArray

PRECISION_RATIOS = np.array([0.4, 0.6, 0.8])
"""Alternatives: the precision has fallen to these parts of the floor."""

PRECISION_WEIGHTS = np.array([0.6, 0.3, 0.1])

START_WEIGHTS = np.array([0.75, 0.2, 0.05])
"""Of the evidence from the start for single alarms, whose bound is exact."""

STAKES = np.array([0.01, 0.03, 0.1, 0.3])
"""Alternatives of a ratio: the part of the evidence that is put on the next period."""

STAKE_WEIGHTS = np.full(4, 0.25)

LARGEST_LOSS = 0.9
"""No unit costs a bet more than this part of its evidence: larger units count as smaller ones.

With stakes of up to 0.3 that is a unit of more than three times the largest before it.
"""

HIGHEST_FLOOR = 1.0 - 1e-9
"""A floor of 1 is read as this: one false alarm is then decisive, and the logarithm finite."""


def precision_bets(labels: FloatArray, floor: float) -> FloatArray:
    """Return the log factors for single alarms: 1 for a true one, 0 for a false one.

    Examples
    --------
    >>> np.exp(precision_bets(np.array([1.0, 0.0]), 0.25)).round(3).tolist()
    [[0.4, 0.6, 0.8], [1.2, 1.133, 1.067]]
    """
    floor = min(floor, HIGHEST_FLOOR)
    stakes = (1.0 - PRECISION_RATIOS) / (1.0 - floor)
    return np.asarray(np.log1p((floor - labels)[:, None] * stakes))


def ratio_bets(
    sums: FloatArray,
    most: float,
    sizes: FloatArray | None = None,
    stakes: FloatArray = STAKES,
    losses: FloatArray | None = None,
) -> FloatArray:
    """Return the log factors for sums of at least 0 that should be at most `most` times the sizes.

    Without sizes each is 1: the mean of the sums should be at most `most`. ``losses`` are the most
    that each unit can be below its limit, by default its size. The first unit of a loss that was
    not known beforehand only sets the scale.

    Examples
    --------
    >>> np.exp(ratio_bets(np.array([20.0, 40.0]), 20.0)).round(2).tolist()
    [[1.0, 1.0, 1.0, 1.0], [1.01, 1.03, 1.1, 1.3]]
    >>> shares = ratio_bets(np.array([9.0, 12.0, 2.0]), 0.1, np.array([100.0, 100.0, 10.0]))
    >>> np.exp(shares[:, 2]).round(3).tolist()
    [1.0, 1.02, 1.01]
    """
    if sizes is None:
        excess = sums / most - 1.0
    else:
        excess = (sums / most - sizes) * size_factors(sizes if losses is None else losses, stakes)
    return np.asarray(np.log1p(excess[:, None] * stakes))


def size_factors(sizes: FloatArray, stakes: FloatArray = STAKES) -> FloatArray:
    """Return one over the scale of each unit, known before its size is but for the cut."""
    largest = np.maximum.accumulate(sizes)
    factors = np.zeros(len(sizes))
    factors[1:] = np.minimum(1.0 / largest[:-1], LARGEST_LOSS / stakes.max() / sizes[1:])
    return factors


START_SHARE = 0.96
"""Part of alpha for a limit broken from the start, unless another is given."""

LATE_BEGIN = 50
"""Changes within about this number of units are left to the evidence from the start."""


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What units say about a limit.

    Attributes
    ----------
    start, late, detector : ndarray of shape (n_units,)
        Logarithms of M, V and R after each unit.
    start_bounds : ndarray of shape (n_units,)
        What `start` has to reach.
    late_bound, detector_bound : float
    changes : ndarray of shape (n_units,)
        After each unit, when the most likely change for the worse began: the begin of that unit.
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
    start_share: float = START_SHARE,
) -> Evidence:
    """Add up log factors, one row per unit and one column per alternative.

    Parameters
    ----------
    start_bounds, start_weights : ndarray, optional
        Replace Ville's bound for the evidence from the start, and its weights, where an exact bound
        is known.
    begins : ndarray of shape (n_units,), optional
        When each unit begins; by default its number, from 0.
    start_share : float
        Part of alpha for a limit broken from the start; the rest is for later changes.

    Examples
    --------
    >>> bad = weigh(np.full((40, 1), np.log(1.2)), np.ones(1), alpha=0.05, run_length=1000)
    >>> bad.broken_at, bad.fired_at, int(bad.changes[-1])
    (16, 28, 0)
    """
    n = len(factors)
    begins = np.arange(n, dtype=float) if begins is None else begins
    # Before each unit, and after it.
    sums = np.cumsum(factors, axis=0)
    before = np.vstack([np.zeros(factors.shape[1]), sums])[:n]
    logs = np.log(weights)
    late = np.logaddexp.accumulate(late_weights(n)[:, None] - before, axis=0)
    every = np.logaddexp.accumulate(-before, axis=0)
    return Evidence(
        start=_mixed(sums + (logs if start_weights is None else np.log(start_weights))),
        late=_mixed(sums + late + logs),
        detector=_mixed(sums + every + logs),
        start_bounds=np.full(n, -np.log(start_share * alpha))
        if start_bounds is None
        else start_bounds,
        late_bound=float(-np.log((1.0 - start_share) * alpha)),
        detector_bound=float(np.log(run_length)),
        changes=_changes(before, sums, begins),
    )


def _changes(before: FloatArray, sums: FloatArray, begins: FloatArray) -> FloatArray:
    """Return, after each unit, when the unit began from which one alternative has risen most."""
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


def _mixed(parts: FloatArray) -> FloatArray:
    return np.asarray(np.logaddexp.reduce(parts, axis=1))
