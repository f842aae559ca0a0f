r"""Exact bounds for evidence from single alarms, and intervals that hold at all times at once.

Ville's bound wastes what the evidence overshoots it by, and says nothing about when alpha is spent.
For single alarms the evidence :math:`M_n(k)` depends on the number k of true ones alone, and falls
with it. So of all streams whose precision is at least the floor, independent alarms right at the
floor are the worst: each true positive of theirs can be matched by one of the other stream. There
the probability of ever reaching a bound c is a sum over (n, k), and beyond the last n counted
Ville's inequality adds :math:`E[M_n]/c`.

The bound is not flat: where each alternative is about to be found it is lower, and between them
higher. Any bounds have the same proof; these need the fewest alarms for the same alpha.

Confidence sequences. For labels :math:`Y_i` with chances :math:`p_i` given the past, and any fixed
:math:`\theta`, :math:`\exp(\theta Y_i) / (1 + p_i(e^\theta - 1))` has mean 1. By Jensen's
inequality the product is at least :math:`\exp(\theta k - n \ln(1 + \bar p\,(e^\theta - 1)))` with
the running mean :math:`\bar p` of the chances. So a mixture of these over :math:`\theta` reaches
:math:`2/\alpha` at the true running mean with probability at most :math:`\alpha/2`, whatever
drifts: the interval is of the mean of what the chances have been, on each side.

For ratios of sums, such as true alarms among those of patients, the bets of `evidence` on each
side.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TypeAlias

import numpy as np

from voros.monitoring.evidence import (
    HIGHEST_FLOOR,
    LARGEST_LOSS,
    PRECISION_RATIOS,
    STAKE_WEIGHTS,
    STAKES,
    START_WEIGHTS,
    precision_bets,
    size_factors,
)
from voros.typing import AnyArray, FloatArray

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
    of_fp, of_tp = precision_bets(np.array([0.0, 1.0]), floor)[:, 0]
    share = floor * PRECISION_RATIOS[0]
    return float(share * of_tp + (1 - share) * of_fp)


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
    of_fp, of_tp = precision_bets(np.array([0.0, 1.0]), floor)
    n = np.arange(1, COUNTED + 1)[:, None]
    # With more true positives than at the floor there is no evidence against it.
    k = np.arange(int(COUNTED * floor) + 2)[None, :]
    evidence = np.full((COUNTED, k.shape[1]), -np.inf)
    for column, weight in enumerate(START_WEIGHTS):
        part = k * of_tp[column] + (n - k) * of_fp[column] + np.log(weight)
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


Scaled: TypeAlias = tuple[FloatArray, FloatArray]
"""Sums and sizes of periods, each divided by the scale of its period."""

TILTS = np.geomspace(0.01, 4.0, 24)
"""Values of theta, on each side."""

HALVINGS = 40

MOST_PARTS = 1000.0
"""Upper ends beyond this multiple of the estimate are none."""


def mean_interval(hits: FloatArray, n: FloatArray, alpha: float) -> tuple[FloatArray, FloatArray]:
    """Return both ends for the running mean of chances, after n trials.

    Examples
    --------
    >>> low, high = mean_interval(np.array([0.0, 25.0]), np.array([0.0, 100.0]), 0.05)
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.0, 0.125], [1.0, 0.41])
    """
    hits, n = np.asarray(hits, float), np.asarray(n, float)
    low = _lower(hits, n, alpha / 2)
    return low, 1.0 - _lower(n - hits, n, alpha / 2)


def _lower(hits: FloatArray, n: FloatArray, alpha: float) -> FloatArray:
    """Return the least mean that hits do not contradict."""
    low, high = np.zeros(len(n)), np.where(n > 0, hits / np.maximum(n, 1.0), 0.0)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        growth = np.log1p(middle[:, None] * np.expm1(TILTS))
        evidence = np.logaddexp.reduce(TILTS * hits[:, None] - n[:, None] * growth, axis=1)
        refuted = evidence - np.log(len(TILTS)) >= -np.log(alpha)
        low, high = np.where(refuted, middle, low), np.where(refuted, high, middle)
    return low


def ratio_interval(
    sums: FloatArray, alpha: float, sizes: FloatArray | None = None
) -> tuple[float, float]:
    """Return both ends for the ratio of sums of at least 0 to sizes, by bets on it.

    Without sizes each is 1, and the ratio is the mean. The lower end asks nothing more of the sums.
    The upper end, infinite where there is none yet, holds if no sum is above four times what the
    end allows a period of the largest size.

    Examples
    --------
    >>> low, high = ratio_interval(np.full(300, 20.0), 0.05)
    >>> round(low, 1), round(high, 1)
    (18.9, 21.2)
    """
    parts = np.ones(len(sums)) if sizes is None else size_factors(sizes)
    sizes = np.ones(len(sums)) if sizes is None else sizes
    ratio = float(np.sum(sums) / np.sum(sizes))
    scaled = sums * parts, sizes * parts
    low = _edge(scaled, (0.0, ratio), alpha / 2, rising=True) if ratio else 0.0
    least = max(ratio, float(np.max(scaled[0] / (LARGEST_LOSS / STAKES.max() + scaled[1]))))
    widest = least, MOST_PARTS * max(least, 1e-12)
    return low, _edge(scaled, widest, alpha / 2, rising=False)


def _edge(scaled: Scaled, between: tuple[float, float], alpha: float, *, rising: bool) -> float:
    """Return where the evidence against a ratio, too low or too high, is just not enough."""
    inner, outer = between[::-1] if rising else between
    if not rising and not _refuted(scaled, outer, alpha, rising=rising):
        return np.inf
    for _ in range(HALVINGS):
        middle = (inner + outer) / 2
        if _refuted(scaled, middle, alpha, rising=rising):
            outer = middle
        else:
            inner = middle
    return outer


def _refuted(scaled: Scaled, ratio: float, alpha: float, *, rising: bool) -> bool:
    excess = (scaled[0] / ratio - scaled[1]) * (1 if rising else -1)
    totals = np.log1p(excess[:, None] * STAKES).sum(axis=0)
    return bool(np.logaddexp.reduce(totals + np.log(STAKE_WEIGHTS)) >= -np.log(alpha))
