r"""The exact bound for evidence from single alarms: the error of a monitor, counted out.

Ville's bound wastes what the evidence overshoots it by, and says nothing about when alpha is spent.
For single alarms the evidence :math:`M_n(k)` depends on the number k of true ones alone, and falls
with it. So of all streams whose precision is at least the floor, independent alarms right at the
floor are the worst: each true positive of theirs can be matched by one of the other stream. There
the probability of ever reaching a bound c is a sum over (n, k), and beyond the last n counted
Ville's inequality adds :math:`E[M_n]/c`.

The bound is not flat: where each alternative is about to be found it is lower, and between them
higher. Any bounds have the same proof; these need the fewest alarms for the same alpha.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from voros.core.arrays import AnyArray, FloatArray
from voros.monitoring.bets import HIGHEST_FLOOR, PRECISION_RATIOS, START_WEIGHTS, precision_bets

COUNTED = 1500
"""Alarms for which the error is counted out."""

FACTORS = (
    (0.3, 0.64, 0.9, 1.4, 2.0, 5.0, 14.0, 36.0),
    (1.3, 0.2, 0.6, 0.7, 0.3, 2.0, 0.2, 1.0),
)
"""Multiples of the alarms that the strongest alternative needs on average, and the part of the
bound that holds there; log-linear between them, and 1 beyond the alarms that are counted.

Found by a search, so that half of the streams at .4, .6 and .8 of a floor of .25 are called broken
soon: after 26, 76 and 563 alarms, where a flat bound needs 36, 77 and 580.
"""

BOUND_HALVINGS = 14
"""Of the range in which the bound is searched."""


def start_bounds(n: int, floor: float, alpha: float) -> FloatArray:
    """Return the log of what the evidence from the start has to reach after each of n alarms.

    Examples
    --------
    >>> np.exp(start_bounds(100, 0.25, 0.05))[[0, 99]].round(1).tolist()
    [60.7, 20.8]
    """
    bound = _bound(min(floor, HIGHEST_FLOOR), alpha)
    return np.asarray(np.log(bound * _factors(n, floor, alpha)))


def crossing_probability(bound: float, floor: float, alpha: float) -> float:
    """Bound the probability that alarms right at the floor ever reach the bounds."""
    table, factors = _log_evidence(floor), _factors(COUNTED, floor, alpha)
    limits = np.log(bound * factors)
    boundary = np.sum(table >= limits[:, None], axis=1)
    crossed, left = _walk(boundary, floor)
    size = min(len(left), table.shape[1])
    rest = np.minimum(np.exp(np.minimum(table[-1, :size], 0.0)) / bound, 1.0)
    return float(crossed + left[:size] @ rest + left[size:].sum() * rest[-1])


def _factors(n: int, floor: float, alpha: float) -> FloatArray:
    needed = np.log(1 / alpha) / _divergence(floor)
    alarms = np.arange(1, n + 1)
    knots, parts = np.log(FACTORS)
    parts = np.exp(np.interp(np.log(alarms / needed), knots, parts))
    return np.where(alarms < COUNTED, parts, 1.0)


def _divergence(floor: float) -> float:
    """Return the mean log factor under the strongest alternative."""
    floor = min(floor, HIGHEST_FLOOR)
    wrong, right = precision_bets(np.ones(2), np.array([0.0, 1.0]), floor)[:, 0]
    share = floor * PRECISION_RATIOS[0]
    return float(share * right + (1 - share) * wrong)


@lru_cache(maxsize=64)
def _bound(floor: float, alpha: float) -> float:
    low, high = 1.0 / alpha / 4, 4.0 / alpha
    for _ in range(BOUND_HALVINGS):
        middle = (low + high) / 2
        kept = crossing_probability(middle, floor, alpha) <= alpha
        low, high = (low, middle) if kept else (middle, high)
    return high


@lru_cache(maxsize=4)
def _log_evidence(floor: float) -> FloatArray:
    """Return the log evidence after n alarms (rows, from 1) with k true ones (columns, from 0)."""
    wrong, right = precision_bets(np.ones(2), np.array([0.0, 1.0]), floor)
    n = np.arange(1, COUNTED + 1)[:, None]
    # With more true positives than at the floor there is no evidence against it.
    k = np.arange(int(COUNTED * floor) + 2)[None, :]
    evidence = np.full((COUNTED, k.shape[1]), -np.inf)
    for column, weight in enumerate(START_WEIGHTS):
        part = k * right[column] + (n - k) * wrong[column] + np.log(weight)
        evidence = np.logaddexp(evidence, part)
    return np.where(k <= n, evidence, -np.inf)


def _walk(boundary: AnyArray, floor: float) -> tuple[float, FloatArray]:
    """Return the probability of ever having fewer than `boundary` true ones, and what is left."""
    left = np.zeros(COUNTED + 1)
    left[0], crossed = 1.0, 0.0
    for edge in boundary.tolist():
        left[1:] = left[1:] * (1 - floor) + left[:-1] * floor
        left[0] *= 1 - floor
        if edge:
            crossed += left[:edge].sum()
            left[:edge] = 0.0
    return float(crossed), left
