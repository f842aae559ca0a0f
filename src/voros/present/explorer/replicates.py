"""Counts in resamples of the cases, with which a page shows how sure its scores are.

A page has no cases, so the resamples are drawn when it is made. Of each it holds counts at some
thresholds of every model: enough to score each model within any limits, all models on the same
resamples. The draws come from a counter and a hash of 32 bits, which the page's own script
computes alike: the same cases make the same counts in Python and in a browser.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from voros.core.cases import check_scores
from voros.core.operating_points import OperatingPoints
from voros.present.explorer.clusters import cluster_sizes, cluster_spread
from voros.typing import AnyArray, BoolArray

RESAMPLES = 200
"""Resamples that a page holds by default."""

MOST_RESAMPLES = 10_000
"""More would make the page too large to mail."""

MOST_THRESHOLDS = 150
"""Thresholds of each model at which resamples are counted: fewer widen intervals where misses are
costly or alarms are few."""

STEP = 0x6D2B79F5
"""Factor of the counter of the draws."""


def resampled_counts(
    positive: BoolArray,
    scores: Mapping[str, Any],
    held: Mapping[str, OperatingPoints],
    n_resamples: int = RESAMPLES,
    units: Units | None = None,
) -> dict[str, Any]:
    """Return counts of every model in the same resamples, ready for JSON.

    ``held`` are the points that the page holds, as `held_points` returns them. With ``units``,
    whole patients or periods are drawn, and the sums that intervals of them need are added.

    Examples
    --------
    >>> from voros.present.explorer.thinning import useful_points
    >>> positive = np.array([True, False, True, False])
    >>> points = OperatingPoints.from_scores(positive, [0.9, 0.8, 0.7, 0.1])
    >>> held = {"a": useful_points(points)}
    >>> result = resampled_counts(positive, {"a": [0.9, 0.8, 0.7, 0.1]}, held, 2)
    >>> result["models"][0]["kept"], len(base64.b64decode(result["models"][0]["counts"]))
    ([0, 1], 12)
    """
    kept = {name: spread_positions(points) for name, points in held.items()}
    codes = {
        name: _codes(positive, scores[name], held[name].thresholds[1:][rows])
        for name, rows in kept.items()
    }
    sizes = {name: 2 * (len(rows) + 1) for name, rows in kept.items()}
    counts = {name: np.zeros((n_resamples, size), np.uint32) for name, size in sizes.items()}
    for resample in range(n_resamples):
        drawn = _drawn_cases(resample, len(positive), units)
        for name, code in codes.items():
            counts[name][resample] = np.bincount(code[drawn], minlength=sizes[name])
    models = {name: {"kept": rows.tolist(), **packed(counts[name])} for name, rows in kept.items()}
    result: dict[str, Any] = {"resamples": n_resamples, "models": list(models.values())}
    if units is not None:
        for name, model in models.items():
            values = check_scores(scores[name])
            model["spread"] = cluster_spread(positive, values, units.codes, held[name])
        result["clusters"] = cluster_sizes(positive, units.codes)
    return result


@dataclass(frozen=True, eq=False)
class Units:
    """Units that are drawn whole: the number, from 0, of the patient or period of each case."""

    codes: AnyArray
    n_units: int

    @classmethod
    def from_points(cls, points: OperatingPoints) -> Units | None:
        """Return the periods of the cases, or their patients; None where cases are drawn singly."""
        if points.by_period is not None:
            return cls(points.by_period.periods.codes, points.by_period.n_periods)
        if points.grouped is not None and points.grouped.repeated:
            return cls(points.grouped.codes, points.grouped.n_groups)
        return None

    def times_drawn(self, resample: int) -> AnyArray:
        """Return how often each unit is drawn."""
        return np.bincount(draws(resample, self.n_units), minlength=self.n_units)


def _drawn_cases(resample: int, n_cases: int, units: Units | None) -> AnyArray:
    if units is None:
        return draws(resample, n_cases)
    return np.repeat(np.arange(n_cases), units.times_drawn(resample)[units.codes])


def draws(resample: int, n_cases: int) -> AnyArray:
    """Return the cases of a resample, with repetitions.

    Examples
    --------
    >>> draws(0, 10).tolist()
    [2, 0, 2, 1, 4, 5, 6, 6, 4, 5]
    """
    first = resample * n_cases
    state = np.arange(first + 1, first + n_cases + 1, dtype=np.uint64) * STEP % 2**32
    mixed = state.astype(np.uint32)
    mixed = (mixed ^ (mixed >> np.uint32(15))) * (mixed | np.uint32(1))
    mixed ^= mixed + (mixed ^ (mixed >> np.uint32(7))) * (mixed | np.uint32(61))
    mixed ^= mixed >> np.uint32(14)
    return np.asarray((mixed * (n_cases / 2**32)).astype(np.int64))


def spread_positions(points: OperatingPoints) -> AnyArray:
    """Return positions, no alarm left out, evenly spaced in the log-odds of both rates.

    They are close together where few alarms are admitted, and where few cases are missed.

    Examples
    --------
    >>> counts = range(1, 1000)
    >>> positions = spread_positions(OperatingPoints.from_counts(counts, counts, 1000, 1000))
    >>> positions[:3].tolist(), len(positions) <= MOST_THRESHOLDS
    ([0, 1, 2], True)
    """
    tp, fp = points.tp[1:], points.fp[1:]
    if len(tp) <= MOST_THRESHOLDS:
        return np.arange(len(tp))
    place = _log_odds(tp, points.n_positive) + _log_odds(fp, points.n_negative)
    steps = np.floor((place - place[0]) / (place[-1] - place[0]) * (MOST_THRESHOLDS - 1))
    inner = np.flatnonzero(steps[1:-1] > steps[:-2]) + 1
    return np.concatenate([[0], inner, [len(tp) - 1]])


def _log_odds(counts: AnyArray, n_cases: float) -> AnyArray:
    return np.asarray(np.log((counts + 0.5) / (n_cases - counts + 0.5)))


def _codes(positive: BoolArray, scores: Any, thresholds: AnyArray) -> AnyArray:
    """Return twice the position of the strictest threshold that a case reaches, plus its label.

    The position after the last stands for none.
    """
    rising = thresholds[::-1]
    reached = np.searchsorted(rising, check_scores(scores), side="right")
    return np.asarray(2 * (len(rising) - reached) + positive)


def packed(counts: AnyArray) -> dict[str, Any]:
    """Write counts as text, in the fewest bytes that hold them all."""
    kind = next(kind for kind in ("u1", "<u2", "<u4") if counts.max() <= np.iinfo(kind).max)
    packed = base64.b64encode(counts.astype(kind).tobytes()).decode()
    return {"bytes": np.dtype(kind).itemsize, "counts": packed}
