"""The convex hull of operating points: which threshold is best at which cost ratio."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from voros.typing import AnyArray, BoolArray, FloatArray

if TYPE_CHECKING:
    from voros.core.operating_points import OperatingPoints

__all__ = ["Choice"]

FEW_POINTS = 64
"""Up to this number, a loop over the points is as fast as array operations."""

WORTHWHILE, IDLE_ROUNDS = 0.8, 8
"""Array operations end after this number of rounds that keep more than this share of the points."""

WIDENED = 1 + 1e-9
"""Factor by which a range of cost ratios is widened before the hull is restricted to it."""


@dataclass(frozen=True, kw_only=True)
class Choice:
    """A threshold, and the cost ratios on which it is the best feasible one.

    `value_caught` and `false_alarm_cost` are sums over the true and the false positives, where
    cases have values.

    Examples
    --------
    >>> import voros
    >>> scenario = voros.Scenario(min_precision=0.5, capacity=0.5, cost_ratio=(0.1, 0.2))
    >>> result = voros.evaluate([0, 1, 0, 1, 1, 0], [0.1, 0.9, 0.8, 0.7, 0.3, 0.2], scenario)
    >>> result.choices[0]
    Choice(cost_ratio_low=0.1, cost_ratio_high=0.2, threshold=0.7, tp=2, fp=1, alarms=3,
    precision=0.6667, recall=0.6667)
    """

    cost_ratio_low: float
    cost_ratio_high: float
    threshold: float
    tp: float
    fp: float
    alarms: float
    precision: float
    recall: float
    value_caught: float | None = None
    false_alarm_cost: float | None = None

    @classmethod
    def at(cls, points: OperatingPoints, index: int, low: float, high: float) -> Choice:
        """Return an operating point as the choice between two cost ratios.

        Returns
        -------
        Choice
        """
        tp, fp = points.tp[index].item(), points.fp[index].item()
        alarms, worth = tp + fp, points.worth
        return cls(
            cost_ratio_low=low,
            cost_ratio_high=high,
            threshold=float(points.thresholds[index]),
            tp=tp,
            fp=fp,
            alarms=alarms,
            precision=tp / alarms if alarms else float("nan"),
            recall=float(tp / points.n_positive) if points.n_positive else float("nan"),
            value_caught=None if worth is None else worth.tp[index].item(),
            false_alarm_cost=None if worth is None else worth.fp[index].item(),
        )

    def __repr__(self) -> str:
        """Show the fields, without values where cases have none."""
        return f"Choice({', '.join(f'{name}={value!r}' for name, value in self.fields().items())})"

    def fields(self) -> dict[str, Any]:
        """Return the fields, without values where cases have none."""
        return {name: value for name, value in vars(self).items() if value is not None}

    @property
    def never_alarm(self) -> bool:
        """Whether this choice raises no alarm."""
        return self.alarms == 0


def choice_columns(choices: Sequence[Choice]) -> dict[str, list[Any]]:
    """Return choices column by column, as any data-frame library takes them."""
    names = choices[0].fields() if choices else Choice.__dataclass_fields__
    return {name: [getattr(choice, name) for choice in choices] for name in names}


@dataclass(frozen=True, eq=False)
class CostHull:
    """The thresholds that are best at some cost ratio, by rising alarms.

    Attributes
    ----------
    index : ndarray of int, shape (n_vertices,)
        Rows of the operating points.
    enter : ndarray of shape (n_vertices,)
        Cost ratio below which each is better than the one before; the first enters at +inf.
    leave : ndarray of shape (n_vertices,)
        Cost ratio below which the next is better; the last is best down to 0.
    """

    index: AnyArray
    enter: FloatArray
    leave: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        """Compute `leave` once."""
        object.__setattr__(self, "leave", np.append(self.enter[1:], 0.0))

    def choices(
        self,
        points: OperatingPoints,
        used: AnyArray | None = None,
        ratios: tuple[float, float] = (0.0, np.inf),
    ) -> tuple[Choice, ...]:
        """Return the thresholds by increasing cost ratio, with the ratios at which each is best.

        By default these are all with an interval that is not empty: not those on one line, nor
        raising no alarm where another threshold has true positives only.
        """
        if used is None:
            used = np.flatnonzero(self.leave < self.enter)
        starts = np.maximum(self.leave[used], ratios[0])[::-1].tolist()
        ends = np.minimum(self.enter[used], ratios[1])[::-1].tolist()
        rows = self.index[used][::-1]
        return tuple(Choice.at(points, *row) for row in zip(rows, starts, ends, strict=True))

    def best(self, cost_ratio: FloatArray) -> AnyArray:
        """Position within the hull of the best threshold at each cost ratio.

        Of two equally good thresholds, it is the one with fewer alarms.
        """
        later = np.searchsorted(-self.enter, -np.asarray(cost_ratio), side="left")
        return np.maximum(later - 1, 0)


def cost_hull(
    points: OperatingPoints, allowed: BoolArray, ratios: tuple[float, float] = (0.0, np.inf)
) -> CostHull:
    """Find the upper hull of the allowed points, or its part that is best at some ratios.

    In the coordinates (alarms, true positives), an affine image of ROC space, no step has zero
    width. Where cases have values, their sums replace the counts.
    """
    index, costed = allowed.nonzero()[0], points.costed
    if ratios != (0.0, np.inf):
        index = index[_between_best(costed.tp[index], costed.fp[index], *ratios)]
    if points.worth is not None:
        # Alarms on cases without value change no cost: the threshold with fewest is kept.
        total = costed.alarms[index]
        index = index[np.append(True, total[1:] > total[:-1])[: len(index)]]
    index = _distinct_alarms(costed, index)
    vertices = upper_vertices(costed.tp[index] + costed.fp[index], costed.tp[index])
    return _hull_at(costed, index[vertices])


@dataclass(frozen=True, eq=False)
class StackedHulls:
    """Several hulls of the same points, concatenated; the columns are those of `CostHull`."""

    index: AnyArray
    enter: FloatArray
    leave: FloatArray
    owner: AnyArray
    """Position of the hull of each corner."""

    def hull(self, position: int) -> CostHull:
        """Return one of the hulls."""
        own = self.owner == position
        return CostHull(self.index[own], np.minimum.accumulate(self.enter[own]))


def growing_hulls(points: OperatingPoints, index: AnyArray, ends: Sequence[int]) -> StackedHulls:
    """Find the hull of ``index[:end]`` for each of some rising ``ends``.

    True positives must not fall along the rows. One pass is enough, because a corner that a later
    point removes does not return.

    Examples
    --------
    >>> from voros import OperatingPoints
    >>> points = OperatingPoints.from_counts([1, 2, 4], [1, 2, 2], 4, 4)
    >>> hulls = growing_hulls(points, np.arange(4), [3, 4])
    >>> [hulls.hull(j).index.tolist() for j in range(2)]
    [[0, 2], [0, 3]]
    """
    tp = points.tp[index]
    x, y = _scaled(tp + points.fp[index], tp)
    rows = _possible_corners(x, y, ends)
    ahead = zip(x[rows].tolist(), y[rows].tolist(), index[rows].tolist(), strict=True)
    corners: list[tuple[float, float, int]] = []
    stacked: list[int] = []
    sizes, start = [], 0
    for stop in np.searchsorted(rows, ends).tolist():
        _turns(corners, islice(ahead, stop - start))
        stacked.extend([row for _, _, row in corners])
        sizes.append(len(corners))
        start = stop
    return _stacked(points, np.array(stacked), np.array(sizes))


def _stacked(points: OperatingPoints, index: AnyArray, sizes: AnyArray) -> StackedHulls:
    """Return the hulls with these rows as corners; see `_hull_at`."""
    gain, harm = (np.diff(column[index], prepend=0) for column in (points.tp, points.fp))
    enter = np.full(len(index), np.inf)
    np.divide(gain, harm, out=enter, where=harm > 0)
    first = np.cumsum(sizes) - sizes
    enter[first] = np.inf
    leave = np.append(enter[1:], 0.0)
    leave[first[1:] - 1] = 0.0
    return StackedHulls(index, enter, leave, np.repeat(np.arange(len(sizes)), sizes))


def _possible_corners(x: FloatArray, y: FloatArray, ends: Sequence[int]) -> AnyArray:
    """Drop points that are no corner of the hull between two ends, where there are many points."""
    if len(x) <= FEW_POINTS * len(ends):
        return np.arange(len(x))
    parts = []
    for start, end in pairwise([0, *ends]):
        rows = np.arange(start, end)
        rows = rows[np.append(x[rows][1:] > x[rows][:-1], True)]
        parts.append(rows[upper_vertices(x[rows], y[rows])])
    return np.concatenate(parts)


def _distinct_alarms(points: OperatingPoints, index: AnyArray) -> AnyArray:
    """Keep the last of the rows with the same alarms, which has the most true positives."""
    alarms = points.tp[index] + points.fp[index]
    return index[np.append(alarms[1:] > alarms[:-1], True)] if len(index) > 1 else index


def _hull_at(points: OperatingPoints, index: AnyArray) -> CostHull:
    """Return the hull with these rows as corners."""
    tp, fp = points.tp[index], points.fp[index]
    gain, harm = tp[1:] - tp[:-1], fp[1:] - fp[:-1]
    useful = gain > 0
    if not useful.all():
        gain, harm = gain[useful], harm[useful]
        index = np.concatenate([index[:1], index[1:][useful]])
    # More true and no more false positives is better at every cost: the step enters at infinity.
    enter = np.full(len(index), np.inf)
    np.divide(gain, harm, out=enter[1:], where=harm > 0)
    # Slopes fall along a hull; rounding of weighted counts must not make them rise.
    return CostHull(index, np.minimum.accumulate(enter))


def _between_best(tp: AnyArray, fp: AnyArray, low: float, high: float) -> slice:
    """Return the rows from the best one at the high cost ratio to the best one at the low ratio.

    Every vertex that is best at a ratio between the two lies between their rows.
    """
    # A wider range, so that rounding never drops the vertex at an end.
    low, high = low / WIDENED, high * WIDENED
    start = int(np.argmax(tp - high * fp)) if np.isfinite(high) else 0
    from_the_end = (tp[start:] - low * fp[start:])[::-1]
    return slice(start, len(tp) - int(np.argmax(from_the_end)))


def upper_vertices(x: AnyArray, y: AnyArray) -> AnyArray:
    """Positions of the corners of the upper hull of points whose `x` rises strictly.

    A point on or below the line between its neighbours is not a corner. All such points are dropped
    at once, repeatedly while this removes many points, and a loop visits the rest.

    Examples
    --------
    >>> upper_vertices(np.array([0, 1, 2, 3, 4]), np.array([0, 2, 3, 4, 4])).tolist()
    [0, 1, 3, 4]
    """
    x, y = _scaled(x, y)
    rising, idle = x, 0
    while len(x) > FEW_POINTS and idle < IDLE_ROUNDS:
        width, rise = x[1:] - x[:-1], y[1:] - y[:-1]
        above = np.ones(len(x), dtype=np.bool_)
        np.greater(rise[:-1] * width[1:], rise[1:] * width[:-1], out=above[1:-1])
        x, y = x[above], y[above]
        if len(x) == len(above):
            return rising.searchsorted(x)
        idle += len(x) > WORTHWHILE * len(above)
    corners = _turns([], zip(x.tolist(), y.tolist(), range(len(x)), strict=True))
    return rising.searchsorted([at for at, _, _ in corners])


def _scaled(x: AnyArray, y: AnyArray) -> tuple[FloatArray, FloatArray]:
    """Return floats whose products stay exact where weights are very small or large."""
    x, y = x.astype(np.float64), y.astype(np.float64)
    # A power of two changes no digit.
    size = float(np.ldexp(1.0, -int(np.frexp(x[-1])[1]))) if len(x) else 1.0
    return x * size, y * size


def _turns(
    corners: list[tuple[float, float, int]], points: Iterable[tuple[float, float, int]]
) -> list[tuple[float, float, int]]:
    """Extend the corners of an upper hull by points further right, each with its row."""
    for x, y, row in points:
        while len(corners) > 1:
            (x_a, y_a, _), (x_b, y_b, _) = corners[-2:]
            if (y_b - y_a) * (x - x_b) > (y - y_b) * (x_b - x_a):
                break
            corners.pop()
        corners.append((x, y, row))
    return corners
