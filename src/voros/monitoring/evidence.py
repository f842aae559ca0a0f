r"""Evidence against a limit: bets, from the start and since a later change, and a detector.

A unit is an alarm, a patient's alarms, or a period. Each is a bet on every alternative: a factor
whose mean is at most 1, given the units before, while the limit is kept.

- precision: :math:`1 + \lambda (f n - s)` for a unit of :math:`n` alarms of which :math:`s` are
  true. The floor says :math:`E[s - f n] \ge 0`. With b alarms in the largest unit before, a unit of
  more than :math:`1.5 b` counts as one of that size, so :math:`\lambda \le 0.6/((1-f) b)` keeps the
  factor positive. With one alarm it is the likelihood ratio of the precision
  :math:`q = f (1 - \lambda (1-f))` against the floor :math:`f`.
- a ratio of sums: :math:`1 + \lambda (a/m - n) / b` for a period of size :math:`n` with the sum
  :math:`a \ge 0`, where the sums are at most :math:`m` times the sizes. The limit is on
  :math:`\sum a / \sum n`, not on the mean of :math:`a/n`. The scale :math:`b` is the largest size
  before this period, and a period of more than :math:`3b` counts as one of :math:`3b`, so
  :math:`0 \le \lambda < 1/3` keeps the factor positive. With :math:`n = 1` throughout it is a bet
  on a mean.

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

from voros.typing import FloatArray

PRECISION_RATIOS = np.array([0.4, 0.6, 0.8])
"""Alternatives: the precision has fallen to these parts of the floor."""

PRECISION_WEIGHTS = np.array([0.6, 0.3, 0.1])

START_WEIGHTS = np.array([0.75, 0.2, 0.05])
"""Of the evidence from the start for single alarms, whose bound is exact."""

STAKES = np.array([0.01, 0.03, 0.1, 0.3])
"""Alternatives of a ratio: the part of the evidence that is put on the next period.

Below 1 / `LARGEST_STEP`, so that no period ruins a bet.
"""

STAKE_WEIGHTS = np.full(4, 0.25)

LARGEST_STEP = 3.0
"""A period of more than this multiple of the largest before it counts as one of that size."""

LARGEST_EPISODE = 1.5
"""An episode of more than this multiple of the largest before it counts as one of that size."""

HIGHEST_FLOOR = 1.0 - 1e-9
"""A floor of 1 is read as this: one false alarm is then decisive, and the logarithm finite."""


def precision_bets(
    alarms: FloatArray, true: FloatArray, floor: float, most: float | FloatArray = 1
) -> FloatArray:
    """Return the log factors for units of alarms, true ones of them.

    ``most`` is the largest number of alarms that a unit had before, or is known to have.

    Examples
    --------
    >>> factors = np.exp(precision_bets(np.ones(2), np.array([1.0, 0.0]), 0.25))
    >>> factors.round(3).tolist()
    [[0.4, 0.6, 0.8], [1.2, 1.133, 1.067]]
    """
    floor = min(floor, HIGHEST_FLOOR)
    parts = np.minimum(1.0 / np.asarray(most), LARGEST_EPISODE / alarms)
    stakes = (1.0 - PRECISION_RATIOS) / (1.0 - floor)
    return np.asarray(np.log1p(((floor * alarms - true) * parts)[:, None] * stakes))


def ratio_bets(sums: FloatArray, most: float, sizes: FloatArray | None = None) -> FloatArray:
    """Return the log factors for sums of at least 0 that should be at most `most` times the sizes.

    Without sizes each is 1: the mean of the sums should be at most `most`.

    Examples
    --------
    >>> np.exp(ratio_bets(np.array([20.0, 40.0]), 20.0)).round(2).tolist()
    [[1.0, 1.0, 1.0, 1.0], [1.01, 1.03, 1.1, 1.3]]
    """
    return np.asarray(np.log1p(relative_excess(sums, most, sizes)[:, None] * STAKES))


def relative_excess(sums: FloatArray, most: float, sizes: FloatArray | None) -> FloatArray:
    """Return what each period has above its limit, in limits of the largest period before it.

    The first period of a size that was not known beforehand only sets the scale.

    Examples
    --------
    >>> relative_excess(np.array([9.0, 12.0, 2.0]), 0.1, np.array([100.0, 100.0, 10.0])).round(3)
    array([0. , 0.2, 0.1])
    """
    if sizes is None:
        return np.asarray(sums / most - 1.0)
    return np.asarray((sums / most - sizes) * size_factors(sizes))


def size_factors(sizes: FloatArray) -> FloatArray:
    """Return one over the scale of each period, known before its size is."""
    largest = np.maximum.accumulate(sizes)
    factors = np.zeros(len(sizes))
    factors[1:] = np.minimum(1.0 / largest[:-1], LARGEST_STEP / sizes[1:])
    return factors


START_SHARE = 0.96
"""Part of alpha for a limit broken from the start, unless another is given."""

LATE_BEGIN = 50
"""Changes within about this number of units are left to the evidence from the start."""


@dataclass(frozen=True, eq=False, kw_only=True)
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
        return cls(
            n=0,
            sums=np.zeros(alternatives),
            late=nothing,
            every=nothing,
            lowest=-nothing,
            began=nothing,
        )


@dataclass(frozen=True, kw_only=True)
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
        start=_mixed(sums[1:] + first),
        late=_mixed(sums[1:] + late[1:] + logs),
        detector=_mixed(sums[1:] + every[1:] + logs),
        start_bounds=ville if start_bounds is None else start_bounds,
        late_bound=float(-np.log((1.0 - start_share) * alpha)),
        detector_bound=float(np.log(run_length)),
        changes=np.take_along_axis(began[1:], risen[:, None], axis=1)[:, 0],
        fold=Fold(
            n=before.n + n,
            sums=sums[-1],
            late=late[-1],
            every=every[-1],
            lowest=lowest[-1],
            began=began[-1],
        ),
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
