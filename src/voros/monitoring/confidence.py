r"""Confidence sequences: intervals that hold at all times at once.

For labels :math:`Y_i` with chances :math:`p_i` given the past, and any fixed :math:`\theta`,
:math:`\exp(\theta Y_i) / (1 + p_i(e^\theta - 1))` has mean 1. By Jensen's inequality the product is
at least :math:`\exp(\theta k - n \ln(1 + \bar p\,(e^\theta - 1)))` with the running mean
:math:`\bar p` of the chances. So a mixture of these over :math:`\theta` reaches
:math:`2/\alpha` at the true running mean with probability at most :math:`\alpha/2`, whatever
drifts: the interval is of the mean of what the chances have been, on each side.

For the sums of clusters, in a range of width b, Hoeffding's lemma and Robbins' normal mixture.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from voros.core.arrays import FloatArray
from voros.monitoring.bets import LARGEST_STEP, STAKE_WEIGHTS, STAKES, size_factors

Scaled: TypeAlias = tuple[FloatArray, FloatArray]
"""Sums and sizes of periods, each divided by the scale of its period."""

TILTS = np.geomspace(0.01, 4.0, 24)
"""Values of theta, on each side."""

HALVINGS = 40

MOST_PARTS = 1000.0
"""Upper ends beyond this multiple of the estimate are none."""

BEST_AT = 100.0
"""Clusters after which the intervals of clusters are narrowest for their size."""


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


def cluster_interval(
    hits: FloatArray, n: FloatArray, clusters: FloatArray, most: float, alpha: float
) -> tuple[FloatArray, FloatArray]:
    """Return both ends for hits per trial, where trials come in clusters of at most `most`.

    Examples
    --------
    >>> low, high = cluster_interval(np.array([90.0]), np.array([300.0]), np.array([200.0]), 3, 0.1)
    >>> bool(low[0] < 0.3 < high[0])
    True
    """
    variance, prior = clusters * most**2 / 4.0, BEST_AT * most**2 / 4.0
    log_term = np.log((variance + prior) / prior) + 2 * np.log(2 / alpha)
    reach = np.sqrt((variance + prior) * log_term) / np.maximum(n, 1.0)
    share = np.where(n > 0, hits / np.maximum(n, 1.0), 0.5)
    reach = np.where(n > 0, reach, 1.0)
    return np.clip(share - reach, 0.0, 1.0), np.clip(share + reach, 0.0, 1.0)


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
    least = max(ratio, float(np.max(scaled[0] / (LARGEST_STEP + scaled[1]))))
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
