"""Geometry of ROC space: the region that limits leave, and the hull of the points within it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from itertools import pairwise

import numpy as np

from voros.core.arguments import as_number, check_number
from voros.core.cases import check_class_sizes
from voros.core.operating_points import OperatingPoints
from voros.typing import AnyArray, BoolArray, FloatArray

__all__ = ["Choice", "Region", "RegionCase", "feasible_region"]

ON_THE_LINE = 8 * np.finfo(np.float64).eps
"""A corner this near to a limit, against the limit's terms, lies on it: rounding put it aside."""

FEW_POINTS = 64
"""Up to this number, walking the points one by one is as fast as all at once."""

WORTHWHILE, IDLE_ROUNDS = 0.8, 8
"""After this number of rounds that keep more than this share of the points, the rest is walked."""


class RegionCase(Enum):
    """Which shape the limits leave of ROC space.

    The paper counts thirteen: five where both limits cut the square, and eight degenerate ones.
    The thirteenth, a capacity of nothing, is refused before any region is drawn; the whole square,
    with no limits at all, is not one of them and stands first here.

    Examples
    --------
    >>> import voros
    >>> scenario = voros.Scenario(min_precision=0.5, capacity=0.5, cost_ratio=0.2)
    >>> region = voros.evaluate([0, 1, 0, 1], [0.1, 0.9, 0.8, 0.7], scenario).region
    >>> region.case.name
    'QUADRILATERAL_WITH_PERFECT'
    >>> len(RegionCase)
    13
    """

    WHOLE_SQUARE = "the whole square: no limit cuts it"
    TRIANGLE_BELOW_PERFECT = (
        "triangle without (0, 1): precision and capacity cross inside the square, "
        "and the capacity is below the number of positives"
    )
    QUADRILATERAL_WITH_PERFECT = (
        "quadrilateral with (0, 1): precision and capacity cross inside the square, "
        "and the capacity allows every positive"
    )
    TRIANGLE_PRECISION_ALONE = (
        "triangle with (0, 1): precision alone shapes it; the capacity is never reached"
    )
    PENTAGON_TO_THE_RIGHT = (
        "pentagon with (0, 1): the floor is below the prevalence, the limits would cross to the "
        "right of the square, and the capacity allows every positive"
    )
    TRAPEZOID_TO_THE_RIGHT = (
        "trapezoid without (0, 1): the floor is below the prevalence, the limits would cross to "
        "the right of the square, and the capacity is below the number of positives"
    )
    PRECISION_ONLY_TO_TOP = "triangle with (0, 1): a precision floor above the prevalence, alone"
    PRECISION_ONLY_TO_RIGHT = (
        "quadrilateral with (0, 1): a precision floor of at most the prevalence, alone"
    )
    CAPACITY_ONLY_LEFT_TO_BOTTOM = "triangle: a capacity above neither class size, alone"
    CAPACITY_ONLY_LEFT_TO_RIGHT = (
        "trapezoid along the bottom: a capacity between the negatives and the more numerous "
        "positives, alone"
    )
    CAPACITY_ONLY_TOP_TO_BOTTOM = (
        "trapezoid along the left: a capacity between the positives and the more numerous "
        "negatives, alone"
    )
    CAPACITY_ONLY_TOP_TO_RIGHT = "pentagon: a capacity above both class sizes, alone"
    SEGMENT_OF_NO_FALSE_ALARM = "the segment of no false alarms: every alarm must be right"


@dataclass(frozen=True, eq=False)
class Region:
    """The part of ROC space that the limits leave.

    Attributes
    ----------
    ring : ndarray of shape (2, n_vertices + 1)
        Rows fpr and tpr of the corners, counter-clockwise from the origin and back to it.
    names : tuple of str
        The paper's names of the corners: v and the two lines that meet there, ``a`` for the
        minimum precision line, ``k`` for the maximum capacity line, 0 and 1 for the sides.
    area : float
    case : RegionCase

    Examples
    --------
    >>> import voros
    >>> scenario = voros.Scenario(min_precision=0.5, capacity=0.5, cost_ratio=0.2)
    >>> region = voros.evaluate([0, 1, 0, 0], [0.1, 0.9, 0.8, 0.7], scenario).region
    >>> region.names, region.area, region.highest_recall
    (('v00', 'va1', 'v01'), 0.1667, 1.0)
    >>> region.vertices.tolist()
    [[0.0, 0.0], [0.3333, 1.0], [0.0, 1.0]]
    """

    ring: FloatArray
    names: tuple[str, ...]
    area: float
    case: RegionCase

    @property
    def vertices(self) -> FloatArray:
        """The corners (fpr, tpr), one per row."""
        return self.ring[:, :-1].T

    @property
    def highest_recall(self) -> float:
        """The greatest recall any feasible classifier could have."""
        return float(self.vertices[:, 1].max())

    def __repr__(self) -> str:
        """Name the shape."""
        return f"Region(area={self.area:.6g}, {'-'.join(self.names)}: {self.case.value})"


@dataclass(frozen=True)
class _Corner:
    x: float
    y: float
    side: str
    """The line that runs from this corner to the next one."""


def feasible_region(
    n_positive: float, n_negative: float, min_precision: float = 0.0, max_alarms: float = np.inf
) -> Region:
    """Cut the unit square by the minimum precision and the maximum capacity line.

    Examples
    --------
    >>> feasible_region(1000, 9000, min_precision=0.15, max_alarms=900).names
    ('v00', 'vak', 'v0k')
    >>> feasible_region(1000, 9000).area
    1.0
    """
    check_class_sizes(n_positive, n_negative)
    check_number(min_precision, "min_precision")
    if not as_number(max_alarms, "max_alarms") > 0:
        raise ValueError(f"max_alarms={max_alarms!r}; accepted is a number of alarms above 0")
    return cut_square(n_positive, n_negative, min_precision, max_alarms)


def cut_square(
    n_positive: float, n_negative: float, min_precision: float, max_alarms: float
) -> Region:
    """Cut the unit square as `feasible_region` does, by limits that are checked already."""
    # Sums of numpy's small integers would overflow.
    n_positive, n_negative, max_alarms = float(n_positive), float(n_negative), float(max_alarms)
    corners = [
        _Corner(0.0, 0.0, "y0"),
        _Corner(1.0, 0.0, "x1"),
        _Corner(1.0, 1.0, "y1"),
        _Corner(0.0, 1.0, "x0"),
    ]
    if min_precision > 0:
        corners = _cut(
            corners, "a", -min_precision * n_negative, (1 - min_precision) * n_positive, 0.0
        )
    if max_alarms < n_positive + n_negative:
        corners = _cut(corners, "k", -n_negative, -n_positive, max_alarms)
    closed = [*corners, corners[0]]
    return Region(
        np.array([[corner.x for corner in closed], [corner.y for corner in closed]]),
        tuple(_name(corners[i - 1].side, corners[i]) for i in range(len(corners))),
        sum(a.x * b.y - b.x * a.y for a, b in pairwise(closed)) / 2,
        _case(n_positive, n_negative, min_precision, max_alarms),
    )


def _cut(
    corners: list[_Corner], line: str, on_x: float, on_y: float, constant: float
) -> list[_Corner]:
    """Keep the part of a convex polygon where ``on_x * x + on_y * y + constant >= 0``."""
    height = [on_x * corner.x + on_y * corner.y + constant for corner in corners]
    rounding = ON_THE_LINE * (abs(on_x) + abs(on_y) + abs(constant))
    height = [0.0 if abs(each) <= rounding else each for each in height]
    kept: list[_Corner] = []
    for i, corner in enumerate(corners):
        j = (i + 1) % len(corners)
        here, there = height[i], height[j]
        leaving = here >= 0 > there
        if here > 0 or (here == 0 and not leaving):
            kept.append(corner)
        elif leaving:
            kept.append(_Corner(corner.x, corner.y, line))
        if min(here, there) < 0 < max(here, there):
            share = here / (here - there)
            x = corner.x + share * (corners[j].x - corner.x)
            y = corner.y + share * (corners[j].y - corner.y)
            kept.append(_Corner(x, y, line if here > 0 else corner.side))
    return kept


def _name(side_before: str, corner: _Corner) -> str:
    if corner.x == 0 and corner.y == 0:
        return "v00"
    sides = (side_before, corner.side)
    limits = [side for side in sides if side in ("a", "k")]
    if len(limits) == 2:
        return "vak"
    if limits:
        edge = corner.side if side_before in limits else side_before
        return f"v{limits[0]}{edge[1]}" if edge[0] == "y" else f"v{edge[1]}{limits[0]}"
    return f"v{corner.x:g}{corner.y:g}"


def _case(
    n_positive: float, n_negative: float, min_precision: float, max_alarms: float
) -> RegionCase:
    limited, floor = max_alarms < n_positive + n_negative, min_precision > 0
    perfect = max_alarms >= n_positive
    right = (1 - min_precision) * max_alarms > n_negative
    steep = min_precision * n_negative > (1 - min_precision) * n_positive
    cases = (
        (min_precision == 1, RegionCase.SEGMENT_OF_NO_FALSE_ALARM),
        (not limited and not floor, RegionCase.WHOLE_SQUARE),
        (not limited and steep, RegionCase.PRECISION_ONLY_TO_TOP),
        (not limited, RegionCase.PRECISION_ONLY_TO_RIGHT),
        (
            not floor and max_alarms <= min(n_positive, n_negative),
            RegionCase.CAPACITY_ONLY_LEFT_TO_BOTTOM,
        ),
        (not floor and max_alarms <= n_positive, RegionCase.CAPACITY_ONLY_LEFT_TO_RIGHT),
        (not floor and max_alarms <= n_negative, RegionCase.CAPACITY_ONLY_TOP_TO_BOTTOM),
        (not floor, RegionCase.CAPACITY_ONLY_TOP_TO_RIGHT),
        (min_precision * max_alarms >= n_positive, RegionCase.TRIANGLE_PRECISION_ALONE),
        (right and perfect, RegionCase.PENTAGON_TO_THE_RIGHT),
        (right, RegionCase.TRAPEZOID_TO_THE_RIGHT),
        (perfect, RegionCase.QUADRILATERAL_WITH_PERFECT),
    )
    return next((case for holds, case in cases if holds), RegionCase.TRIANGLE_BELOW_PERFECT)


@dataclass(frozen=True, kw_only=True)
class Choice:
    """A threshold, and the cost ratios on which it is the best feasible one.

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

    @classmethod
    def at(cls, points: OperatingPoints, index: int, low: float, high: float) -> Choice:
        """Describe one operating point as the choice between two cost ratios."""
        tp, fp = points.tp[index].item(), points.fp[index].item()
        alarms = tp + fp
        return cls(
            cost_ratio_low=low,
            cost_ratio_high=high,
            threshold=float(points.thresholds[index]),
            tp=tp,
            fp=fp,
            alarms=alarms,
            precision=tp / alarms if alarms else float("nan"),
            recall=float(tp / points.n_positive) if points.n_positive else float("nan"),
        )

    @property
    def never_alarm(self) -> bool:
        """Whether this choice raises no alarm."""
        return self.alarms == 0


@dataclass(frozen=True, eq=False)
class CostHull:
    """The thresholds that are best at some cost ratio, by rising alarms.

    Attributes
    ----------
    index : ndarray of int, shape (n_vertices,)
        Rows of the operating points.
    enter : ndarray of shape (n_vertices,)
        Cost ratio at which each takes over from the one before; the first enters at +inf. Each is
        best from its own down to that of the next.
    leave : ndarray of shape (n_vertices,)
        Cost ratio at which each gives way to the next; the last stays best down to 0.
    """

    index: AnyArray
    enter: FloatArray
    leave: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        """Derive once where each ends."""
        object.__setattr__(self, "leave", np.append(self.enter[1:], 0.0))

    def choices(self, points: OperatingPoints) -> tuple[Choice, ...]:
        """Describe the thresholds with the cost ratios at which each is best, from cheap to dear.

        Thresholds on one line leave an empty interval, and so does never alarm where some other
        threshold has true positives only; those are left out.
        """
        leave = self.leave
        used = np.flatnonzero(leave < self.enter)[::-1]
        described = partial(Choice.at, points)
        return tuple(
            map(described, self.index[used], leave[used].tolist(), self.enter[used].tolist())
        )

    def best(self, cost_ratio: FloatArray) -> AnyArray:
        """Position within the hull of the best threshold at each cost ratio.

        Where two are equally good the one with fewer alarms is taken.
        """
        later = np.searchsorted(-self.enter, -np.asarray(cost_ratio), side="left")
        return np.maximum(later - 1, 0)


def cost_hull(points: OperatingPoints, allowed: BoolArray) -> CostHull:
    """Find the upper hull of the allowed points.

    In coordinates (alarms, true positives), an affine image of ROC space, steps are never of zero
    width.
    """
    index = allowed.nonzero()[0]
    tp, fp = points.tp[index], points.fp[index]
    alarms = tp + fp
    if len(index) > 1:
        # Of points with equally many alarms only the one with most true positives counts.
        distinct = np.ones(len(alarms), dtype=np.bool_)
        np.greater(alarms[1:], alarms[:-1], out=distinct[:-1])
        if not distinct.all():
            index, tp, fp = index[distinct], tp[distinct], fp[distinct]
            alarms = alarms[distinct]
    vertices = upper_vertices(alarms, tp)
    right, false = tp[vertices], fp[vertices]
    gain, harm = right[1:] - right[:-1], false[1:] - false[:-1]
    useful = gain > 0
    if not useful.all():
        gain, harm = gain[useful], harm[useful]
        vertices = np.concatenate([vertices[:1], vertices[1:][useful]])
    # More true and no more false positives is better at every cost: the step enters at infinity.
    enter = np.full(len(vertices), np.inf)
    np.divide(gain, harm, out=enter[1:], where=harm > 0)
    # Slopes fall along a hull; rounding of weighted counts must not make them rise.
    return CostHull(index[vertices], np.minimum.accumulate(enter))


def upper_vertices(x: AnyArray, y: AnyArray) -> AnyArray:
    """Positions of the corners of the upper hull of points whose `x` rises strictly.

    A point on or below the line between its neighbours is no corner, whatever the others are. So
    all of those are dropped at once, again and again while that thins the points out, and what is
    left is walked one by one.

    Examples
    --------
    >>> upper_vertices(np.array([0, 1, 2, 3, 4]), np.array([0, 2, 3, 4, 4])).tolist()
    [0, 1, 3, 4]
    """
    x, y = x.astype(np.float64), y.astype(np.float64)
    # A power of two changes no digit, and keeps products of very small or large weights exact.
    size = float(np.ldexp(1.0, -int(np.frexp(x[-1])[1]))) if len(x) else 1.0
    x, y = x * size, y * size
    rising, idle = x, 0
    while len(x) > FEW_POINTS and idle < IDLE_ROUNDS:
        width, rise = x[1:] - x[:-1], y[1:] - y[:-1]
        above = np.ones(len(x), dtype=np.bool_)
        np.greater(rise[:-1] * width[1:], rise[1:] * width[:-1], out=above[1:-1])
        x, y = x[above], y[above]
        if len(x) == len(above):
            return rising.searchsorted(x)
        idle += len(x) > WORTHWHILE * len(above)
    return rising.searchsorted(x[_walk(x.tolist(), y.tolist())])


def _walk(x: list[float], y: list[float]) -> list[int]:
    """Walk along rising points, turning right only; the positions of the turns and the ends."""
    turns: list[int] = []
    for i in range(len(x)):
        while len(turns) > 1:
            a, b = turns[-2], turns[-1]
            if (y[b] - y[a]) * (x[i] - x[b]) > (y[i] - y[b]) * (x[b] - x[a]):
                break
            turns.pop()
        turns.append(i)
    return turns
