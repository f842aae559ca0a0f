r"""Have the scores changed? A conformal test without labels: it says change, not harm.

If periods are exchangeable, the rank of a period's statistic within those so far is uniform, ties
broken at random, and independent of the ranks before (Vovk, Gammerman and Shafer, 2005). So a
density of the rank, such as :math:`\kappa p^{\kappa - 1}`, is a bet with mean 1. Statistics are the
share of alarms, the mean score and its standard deviation within the period.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort

import numpy as np

from voros.core.arrays import AnyArray, FloatArray
from voros.monitoring.evidence import weigh
from voros.monitoring.settings import Settings
from voros.monitoring.status import Judgement, Seen, Watch
from voros.monitoring.store import PeriodTotals

POWERS = (0.2, 0.5)
"""Values of kappa, for ranks near 0 and near 1."""

MULTIPLIERS = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
"""Of the generator splitmix64, which gives number n without those before."""


def uniform_numbers(n: int, seed: int) -> FloatArray:
    """Return n random numbers between 0 and 1 that depend on their place and the seed alone.

    Examples
    --------
    >>> numbers = uniform_numbers(10_000, seed=1)
    >>> bool(abs(numbers.mean() - 0.5) < 0.01 and numbers.min() > 0)
    True
    """
    golden, first, second = (np.uint64(value) for value in MULTIPLIERS)
    with np.errstate(over="ignore"):
        state = (np.arange(1, n + 1, dtype=np.uint64) + np.uint64(seed << 32)) * golden
        state = (state ^ (state >> np.uint64(30))) * first
        state = (state ^ (state >> np.uint64(27))) * second
    return np.asarray((((state ^ (state >> np.uint64(31))) >> np.uint64(11)) + 0.5) / 2.0**53)


def conformal_ranks(values: FloatArray, seed: int = 0) -> FloatArray:
    """Return the rank of each value within itself and those before, as a share, ties at random.

    Examples
    --------
    >>> ranks = conformal_ranks(np.array([3.0, 1.0, 9.0]))
    >>> bool(ranks[1] < 0.5 and ranks[2] > 2 / 3)
    True
    """
    seen: list[float] = []
    draws, ranks = uniform_numbers(len(values), seed), np.empty(len(values))
    for place, value in enumerate(values.tolist()):
        below, upto = bisect_left(seen, value), bisect_right(seen, value)
        ranks[place] = (below + draws[place] * (upto - below + 1)) / (place + 1)
        insort(seen, value)
    return ranks


def rank_bets(ranks: FloatArray) -> FloatArray:
    """Return log factors of bets that ranks are near 0, or near 1."""
    columns = [
        np.log(power) + (power - 1) * np.log(side)
        for power in POWERS
        for side in (ranks, 1.0 - ranks)
    ]
    return np.column_stack(columns)


def statistics_of(periods: PeriodTotals) -> AnyArray:
    """Return share of alarms, mean score and its standard deviation of each ended period."""
    n = periods.cases[:-1]
    mean = periods.totals[:-1] / n
    spread = np.sqrt(np.maximum(periods.squares[:-1] / n - mean**2, 0.0))
    return np.column_stack([periods.alarms[:-1] / n, mean, spread])


def change_watch(periods: PeriodTotals, settings: Settings) -> Watch:
    """Judge whether the periods that have ended are like those before them."""
    statistics = statistics_of(periods)
    finite = statistics[np.isfinite(statistics).all(axis=1)]
    factors = np.hstack(
        [rank_bets(conformal_ranks(column, seed)) for seed, column in enumerate(finite.T)]
    )
    weights = np.full(factors.shape[1], 1.0 / factors.shape[1])
    begins = periods.starts[:-1][np.isfinite(statistics).all(axis=1)]
    evidence = weigh(factors, weights, settings.alpha, settings.run_length, begins=begins)
    found = Seen().then(evidence, begins).judge(kept=False)
    changed = found.verdict in ("broken", "watch")
    return Watch(
        "scores",
        "watch" if changed else "kept",
        _words(found, len(begins)),
        n=len(begins),
        evidence=evidence.ratio,
        since=found.since,
        noticed=found.noticed,
        history={
            "time": begins,
            "mean": finite[:, 1],
            "evidence": evidence.gaps,
        },
    )


def _words(found: Judgement, n: int) -> str:
    if found.verdict in ("broken", "watch"):
        return (
            f"scores: watch; they have changed since about {found.since}, noticed on "
            f"{found.noticed}. That is a change, not harm: labels say whether the limits still hold"
        )
    return f"scores: no change seen over {n:,} periods"
