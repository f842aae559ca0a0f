r"""Exact means of the area of lesser classifiers, and of the cost, over the cost distribution.

**Area.** The line of equal cost through a ROC point p cuts the feasible polygon in two. Join p to
every corner: the polygon falls into one triangle per side, and since p lies on the cutting line,
the line takes from each triangle the same share as it takes from that side. So

.. math:: A = \sum_{\text{sides } i} T_i \, f_i,

with T_i the fixed area of the triangle over side i and f_i the share of side i that lies on the
costlier side. One formula serves every shape of the region, and nothing cancels.

**Mean.** With :math:`D_i = a (k - y_i) - b (h - x_i)`, positive where corner i is costlier than
p = (h, k), a side that is cut has the share :math:`D_{below} / (D_{below} - D_{above})`. In each
unit of cost a and b are linear, so the share is a quotient u/v of linear functions. On an interval
where u and v have means :math:`\bar u, \bar v` and half-ranges :math:`\eta, \bar v \delta`,

.. math::

    \text{mean}(u/v) = \frac{\bar u - \delta\,\varphi(\delta)\,(\eta - \delta \bar u)}{\bar v},
    \qquad \varphi(\delta) = \frac{\operatorname{artanh}(\delta)/\delta - 1}{\delta^2}.

The only logarithm is in artanh, and :math:`\varphi` is smooth at 0, so an interval of width 1e-9 is
as exact as any other. A new piece starts where the best threshold changes and where the line passes
a corner of the region.

**Cost.** A threshold at the ROC point (h, k) has the normalised cost

.. math:: \text{cost} = t\,h + (1 - t)\,(1 - k), \qquad t = \frac{cN}{cN + P},

the total cost divided by the worst possible one. It is linear in t, so it depends on the costs only
through the probability of each interval and the mean of t on it, a quotient u/v as above.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from voros.core.costs import CostDistribution, Uniform
from voros.typing import AnyArray, FloatArray

if TYPE_CHECKING:
    from voros.core.geometry import Region
    from voros.core.hull import CostHull, StackedHulls
    from voros.core.operating_points import OperatingPoints

Odds: TypeAlias = float | FloatArray
"""Negatives per positive: one number, or one for each point."""

SERIES_BELOW = 0.1
"""Below it phi is computed by its power series, because its closed form cancels near 0."""

SERIES_TERMS = 9
"""Terms of that series: the next one is below 1e-19."""

TINY = np.finfo(np.float64).tiny
"""Keeps the logarithm finite where u and v are both 0 at one end; its factor is 0 there."""

NO_SWITCH: FloatArray = np.empty(0)


def in_unit_of(costs: CostDistribution, ratio: FloatArray, odds: Odds) -> FloatArray:
    """Express cost ratios C_FP / C_FN in the unit of a distribution."""
    if costs.over == "ratio":
        return ratio
    with np.errstate(divide="ignore", invalid="ignore"):
        if costs.over == "miss":
            return np.asarray(1.0 / ratio)
        # In this form an infinite ratio gives t = 1.
        return np.asarray(1.0 / (1.0 + 1.0 / (ratio * odds)))


def line_weights(
    costs: CostDistribution, values: FloatArray, odds: Odds
) -> tuple[FloatArray, FloatArray]:
    """Return a, b such that a ROC point's cost falls with ``a * tpr - b * fpr``.

    Both are linear in the value, and b/a is the slope of the line of equal cost.
    """
    if costs.over == "ratio":
        return np.ones_like(values), values * odds
    if costs.over == "miss":
        return values, np.full_like(values, odds)
    return 1.0 - values, values


def mean_quotient(u0: FloatArray, u1: FloatArray, v0: FloatArray, v1: FloatArray) -> FloatArray:
    """Mean of u/v over an interval, for u and v linear with the given end values, v not negative.

    Examples
    --------
    The mean of 1/x over [1, e] is 1/(e - 1):

    >>> one = np.array([1.0])
    >>> mean_quotient(one, one, one, one * np.e) * (np.e - 1)
    array([1.])
    """
    v_sum, u_sum = v0 + v1, u0 + u1
    with np.errstate(invalid="ignore"):
        delta = (v1 - v0) / v_sum
        # This is artanh(delta) from the ends, because delta near 1 is not precise enough.
        half_log = 0.5 * (np.log(np.maximum(v1, TINY)) - np.log(np.maximum(v0, TINY)))
        mean = (u_sum - delta * _phi(delta, half_log) * ((u1 - u0) - delta * u_sum)) / v_sum
    # Where v is 0 everywhere, the side lies on the line and its triangle has no area.
    return np.where(v_sum > 0, mean, 0.0)


def _phi(delta: FloatArray, artanh: FloatArray) -> FloatArray:
    square = delta * delta
    series = np.full_like(delta, 1.0 / (2 * SERIES_TERMS + 1))
    for term in range(SERIES_TERMS - 1, 0, -1):
        series = series * square + 1.0 / (2 * term + 1)
    return np.where(square < SERIES_BELOW**2, series, (artanh / delta - 1.0) / square)


def dominated_area(
    region: Region, fpr: FloatArray, tpr: FloatArray, on_tpr: FloatArray, on_fpr: FloatArray
) -> FloatArray:
    """Share of the region that is costlier than each point, at line weights ``on_tpr, on_fpr``.

    This is the paper's normalised partial area of lesser classifiers.
    """
    if region.area == 0:
        return region.shares_without_area(fpr, tpr)
    dx, dy = np.subtract.outer(fpr, region.ring[0]), np.subtract.outer(tpr, region.ring[1])
    excess = on_tpr[..., None] * dy - on_fpr[..., None] * dx
    here, there = excess[..., :-1], excess[..., 1:]
    most, least = np.maximum(here, there), np.minimum(here, there)
    with np.errstate(divide="ignore", invalid="ignore"):
        cut = most / (most - least)
    share = np.where(least >= 0, 1.0, np.where(most <= 0, 0.0, cut))
    return np.asarray((_fan(dx, dy) * share).sum(axis=-1) / region.area)


def partial_volume(
    points: OperatingPoints, hull: CostHull, region: Region, costs: CostDistribution
) -> float:
    """Mean over the costs of the best normalised area: partial VOROS of a feasible hull."""
    fpr, tpr = _rates(points, hull.index)
    if region.area == 0:
        # The last threshold, which has the greatest recall, is best at every cost.
        return float(region.shares_without_area(fpr[-1:], tpr[-1:])[0])
    odds = float(points.n_negative / points.n_positive)
    if isinstance(costs, Uniform):
        # The closed form, for costs uniform in their own unit.
        low, high = _spans(hull.enter, hull.leave, costs, odds)
        used = high > low
        spans = fpr[used], tpr[used], low[used], high[used]
        areas = _uniform_areas(region.ring, *spans, costs, odds)
        return min(max(float(areas.sum()) / region.area, 0.0), 1.0)
    x, y = region.ring
    breaks = _corner_ratios(np.subtract.outer(fpr, x), np.subtract.outer(tpr, y), odds)
    ratios = np.unique(np.append(hull.enter, breaks[np.isfinite(breaks) & (breaks > 0)]))
    values, weights = costs.nodes(in_unit_of(costs, ratios, odds))
    best = hull.best(costs.to_ratio(values, odds))
    shares = dominated_area(region, fpr[best], tpr[best], *line_weights(costs, values, odds))
    return float(np.clip(np.dot(weights, shares), 0.0, 1.0))


def partial_volumes(
    points: Sequence[OperatingPoints],
    hulls: Sequence[CostHull],
    regions: Sequence[Region],
    costs: CostDistribution,
) -> FloatArray:
    """Return the `partial_volume` of several points, hulls and regions.

    Where the closed form applies, one pass over all of them saves most of the time.
    """
    triples = list(zip(points, hulls, regions, strict=True))
    if not isinstance(costs, Uniform) or any(region.area == 0 for region in regions):
        return np.array([partial_volume(*triple, costs) for triple in triples])
    owner = np.repeat(np.arange(len(hulls)), [len(hull.index) for hull in hulls])
    odds = np.array([one.negatives_per_positive for one in points])[owner]
    enter = np.concatenate([hull.enter for hull in hulls])
    leave = np.concatenate([hull.leave for hull in hulls])
    low, high = _spans(enter, leave, costs, odds)
    used = high > low
    rates = [_rates(one, hull.index) for one, hull, _ in triples]
    fpr, tpr = np.concatenate(rates, axis=1)[:, used]
    owner, low, high, odds = owner[used], low[used], high[used], odds[used][:, None]
    areas = _uniform_areas(_stack_rings(regions)[:, owner], fpr, tpr, low, high, costs, odds)
    totals = np.bincount(owner, areas, minlength=len(hulls))
    return np.clip(totals / [region.area for region in regions], 0.0, 1.0)


def volumes_on_grid(
    points: OperatingPoints,
    hulls: StackedHulls,
    n_cells: AnyArray,
    rings: FloatArray,
    areas: FloatArray,
    costs: Uniform,
) -> FloatArray:
    """Return the `partial_volume` of hulls of the same points, each in its next regions.

    Hull j has ``n_cells[j]`` regions. Only thresholds that are best at some of the costs are copied
    for every region of their hull.
    """
    odds = points.negatives_per_positive
    low, high = _spans(hulls.enter, hulls.leave, costs, odds)
    used = np.flatnonzero(high > low)
    # Each corner is repeated for the regions of its hull, which are consecutive.
    copies = n_cells[hulls.owner[used]]
    corner = np.repeat(used, copies)
    first = (np.cumsum(n_cells) - n_cells)[hulls.owner[used]]
    cell = np.arange(len(corner)) + np.repeat(first - (np.cumsum(copies) - copies), copies)
    rates = _rates(points, hulls.index[corner])
    spans = low[corner], high[corner]
    parts = _uniform_areas(rings[:, cell], *rates, *spans, costs, odds)
    return np.clip(np.bincount(cell, parts, minlength=len(areas)) / areas, 0.0, 1.0)


def _rates(points: OperatingPoints, index: AnyArray) -> tuple[FloatArray, FloatArray]:
    """Return false and true positive rates of rows."""
    return points.fp[index] / points.n_negative, points.tp[index] / points.n_positive


def _stack_rings(regions: Sequence[Region]) -> FloatArray:
    """Return the corners of each region; shorter rings repeat their last corner."""
    longest = max(region.ring.shape[1] for region in regions)
    stacked = np.empty((2, len(regions), longest))
    for i, region in enumerate(regions):
        stacked[:, i] = region.ring[:, -1:]
        stacked[:, i, : region.ring.shape[1]] = region.ring
    return stacked


def _spans(
    enter: FloatArray, leave: FloatArray, costs: Uniform, odds: Odds
) -> tuple[FloatArray, FloatArray]:
    """Return the range of possible costs, in their own unit, in which each threshold is best."""
    low, high = (
        np.minimum(np.maximum(in_unit_of(costs, ratio, odds), costs.low), costs.high)
        for ratio in (enter, leave)
    )
    return np.minimum(low, high), np.maximum(low, high)


def _uniform_areas(
    ring: FloatArray,
    fpr: FloatArray,
    tpr: FloatArray,
    low: FloatArray,
    high: FloatArray,
    costs: Uniform,
    odds: Odds,
) -> FloatArray:
    """Integrate the area on the costlier side of each point over its costs, by probability.

    ``ring`` holds the corners of one region, or of one region per point along its middle axis.
    """
    dx, dy = fpr[:, None] - ring[0], tpr[:, None] - ring[1]
    low, high = low[:, None], high[:, None]
    turns = in_unit_of(costs, _corner_ratios(dx, dy, odds), odds)
    # fmax ignores NaN: a line that passes a corner at every cost (0/0) has no turn.
    turns = np.minimum(np.fmax(turns, low), high)
    edges = np.concatenate([low, turns, high], axis=1)
    edges.sort(axis=1)
    on_tpr, on_fpr = line_weights(costs, edges, odds)
    excess = on_tpr[..., None] * dy[:, None] - on_fpr[..., None] * dx[:, None]
    shares = _mean_shares(excess[:, :-1], excess[:, 1:])
    width = (edges[:, 1:] - edges[:, :-1]) / (costs.high - costs.low)
    return np.asarray((_fan(dx, dy) * (shares * width[..., None]).sum(axis=1)).sum(axis=1))


def _mean_shares(start: FloatArray, end: FloatArray) -> FloatArray:
    """Mean share of each side on the costlier side of the line, over pieces without a turn."""
    below = start + end > 0
    here, there = below[..., :-1], below[..., 1:]
    cut = mean_quotient(
        np.where(here, start[..., :-1], start[..., 1:]),
        np.where(here, end[..., :-1], end[..., 1:]),
        np.abs(start[..., :-1] - start[..., 1:]),
        np.abs(end[..., :-1] - end[..., 1:]),
    )
    return np.where(here == there, here, cut)


def _fan(dx: FloatArray, dy: FloatArray) -> FloatArray:
    """Areas of the triangles between a point and the sides, from its offsets to the corners."""
    return np.asarray((dx[..., :-1] * dy[..., 1:] - dy[..., :-1] * dx[..., 1:]) / 2)


def _corner_ratios(dx: FloatArray, dy: FloatArray, odds: Odds) -> FloatArray:
    """Cost ratios at which the line through each point passes each corner of the region."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(dy[..., :-1] / dx[..., :-1] / odds)


def cost_moments(
    costs: CostDistribution, switches: FloatArray, negatives_per_positive: float
) -> tuple[FloatArray, FloatArray]:
    """Integrate 1 and t over the intervals between cost ratios.

    Parameters
    ----------
    costs : CostDistribution
    switches : ndarray of shape (n_intervals - 1,)
        Ends of the intervals, rising cost ratios; each belongs to the interval above it.
    negatives_per_positive : float
        N / P of the cases.

    Returns
    -------
    probability, t_integral : ndarray of shape (n_intervals,)
        Probability of each interval, and the integral of t over it; the mean of t on an interval
        is their quotient.

    Examples
    --------
    With t uniform on [0, 1], half of it lies below c = P/N and has the mean 1/4:

    >>> from voros.core.costs import uniform_t
    >>> cost_moments(uniform_t(0, 1), np.array([1 / 9]), negatives_per_positive=9.0)
    (array([0.5, 0.5]), array([0.125, 0.375]))
    """
    return _quotients(costs, switches, negatives_per_positive, lambda a, b: (b, a + b))


def _quotients(
    costs: CostDistribution,
    switches: FloatArray,
    odds: float,
    parts: Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]],
) -> tuple[FloatArray, FloatArray]:
    """Return the probability of each interval, and the integral of a quotient over it.

    ``parts`` computes numerator and denominator, both linear in the value, from the line weights.
    """
    if isinstance(costs, Uniform):
        ratios = np.concatenate([[0.0], switches, [np.inf]])
        ends = np.clip(in_unit_of(costs, ratios, odds), costs.low, costs.high)
        probability = np.abs(np.diff(ends)) / (costs.high - costs.low)
        above, below = parts(*line_weights(costs, ends, odds))
        integral = np.where(probability > 0, np.inf, 0.0)
        at = np.flatnonzero((probability > 0) & (below[:-1] > 0) & (below[1:] > 0))
        means = mean_quotient(above[at], above[at + 1], below[at], below[at + 1])
        integral[at] = probability[at] * means
        return probability, integral
    values, weights = costs.nodes(in_unit_of(costs, switches, odds))
    above, below = parts(*line_weights(costs, values, odds))
    interval = np.searchsorted(switches, costs.to_ratio(values, odds), side="right")
    with np.errstate(divide="ignore"):
        masses = weights, weights * (above / below)
    sums = np.stack([np.bincount(interval, mass, len(switches) + 1) for mass in masses])
    return sums[0], sums[1]


def ratio_moments(
    costs: CostDistribution, switches: FloatArray, negatives_per_positive: float, power: int = 1
) -> FloatArray:
    """Integrate the cost ratio over the intervals between ``switches``; see `cost_moments`.

    A power of -1 integrates C_FN / C_FP, the number of false alarms that a miss is worth. The
    integral is infinite on an interval that includes an infinite value, as t does at 1.

    Examples
    --------
    >>> from voros.core.costs import miss_costs, uniform
    >>> ratio_moments(uniform(0.2, 0.4), np.array([0.3]), negatives_per_positive=9.0)
    array([0.125, 0.175])
    >>> ratio_moments(miss_costs(20, 40), np.array([1 / 30]), negatives_per_positive=9.0, power=-1)
    array([17.5, 12.5])
    """
    odds = negatives_per_positive
    if power > 0:
        return _quotients(costs, switches, odds, lambda a, b: (b, a))[1] / odds
    return _quotients(costs, switches, odds, lambda a, b: (a, b))[1] * odds


def mean_t(costs: CostDistribution, negatives_per_positive: float) -> float:
    """Mean of the fractional cost t = cN/(cN + P).

    Examples
    --------
    >>> from voros.core.costs import known
    >>> mean_t(known(1 / 9), negatives_per_positive=9.0)
    0.5
    """
    return float(cost_moments(costs, NO_SWITCH, negatives_per_positive)[1][0])


def expected_costs(points: OperatingPoints, costs: CostDistribution) -> FloatArray:
    """Expected normalised cost of deploying each threshold at every cost.

    Examples
    --------
    >>> from voros.core.costs import known
    >>> from voros.core.operating_points import OperatingPoints
    >>> points = OperatingPoints.from_counts([8], [9], n_positive=10, n_negative=90)
    >>> expected_costs(points, known(1 / 9)).round(6).tolist()
    [0.5, 0.15]
    """
    t = mean_t(costs, points.negatives_per_positive)
    return t * points.fpr + (1.0 - t) * (1.0 - points.tpr)
