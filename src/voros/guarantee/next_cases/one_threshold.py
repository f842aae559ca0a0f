"""One threshold, fixed before validation: what it needs to pass for the next cases.

At a fixed threshold that flags a share u of all cases with a precision of rho, the validation
cases and the next ones are independent. So the probability that the threshold passes and the next
cases then break a limit is the product F(u, rho) f(u, rho) of the chance to pass and the chance to
break, and the promise holds if the largest product over all u and rho is at most alpha. Both
chances are smooth: within a cell of a grid each is below the bilinear interpolation of its corners
plus a bound on its second derivatives, and the product of two bilinear functions is below the
largest of its Bernstein coefficients. The argument is in the documentation (guarantees.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from scipy.special import betainccinv, betaincinv, gammaln, ndtr, ndtri, xlogy

from voros.core.exact_limits import as_fraction
from voros.guarantee.binomial_tests import at_least
from voros.guarantee.next_cases.closed_bounds import count_ranges, tail_bound
from voros.guarantee.next_cases.fixed_sequence import needed_to_keep
from voros.guarantee.next_cases.grid_bounds import (
    GridBound,
    bend,
    chance_levels,
    largest_path,
    largest_product,
    largest_sum,
)
from voros.guarantee.next_cases.needed import MARGIN_HALVINGS, WIDEST_MARGIN
from voros.guarantee.next_cases.tail_bounds import LEAST, TailTable, finite_logs, windows
from voros.guarantee.tuning import TUNING
from voros.typing import AnyArray, FloatArray


@dataclass(frozen=True, kw_only=True)
class OneTest:
    """The test of thresholds fixed on development cases, as fixed before validation.

    Attributes
    ----------
    n_cases, horizon : int
        Validation and next cases.
    min_precision : float
    capacity : int
        Most alarms in the next cases.
    alpha : float
    least, most : int
        Validation alarms with which a threshold may pass; more or fewer fail.
    n_thresholds : int
        How many are tested in a fixed sequence, of which the last that passes is deployed.
    """

    n_cases: int
    horizon: int
    min_precision: float
    capacity: int
    alpha: float
    least: int
    most: int
    n_thresholds: int = 1

    @property
    def alarms(self) -> AnyArray:
        """Validation alarms with which the threshold may pass."""
        return np.arange(self.least, self.most + 1)

    @property
    def beyond(self) -> float:
        """The chance to pass at shares that are not looked at.

        For one threshold alpha is small enough; for several it is added to the risk.
        """
        return self.alpha if self.n_thresholds == 1 else TUNING.ignored_part * self.alpha

    def needed(self, margins: FloatArray) -> AnyArray:
        """True positives above the floor by margins in standard deviations, for each of `alarms`.

        One more alarm needs one more of them at most.
        """
        floor, alarms = float(as_fraction(self.min_precision)), self.alarms
        wanted = np.ceil(floor * alarms + margins * np.sqrt(floor * (1 - floor) * alarms))
        rising = np.maximum.accumulate(np.minimum(wanted, alarms + 1).astype(np.int64))
        return np.asarray(np.maximum.accumulate((rising - alarms)[::-1])[::-1] + alarms)


class ProductRisk:
    """Bound on the risk of the test, for any true positives that it needs."""

    def __init__(self, test: OneTest) -> None:
        self.test = test
        self.shares, self.precision = _share_grid(test), _precision_grid(test)
        self._mass = _binomial_mass(test.n_cases, test.alarms, self.shares)

    @cached_property
    def breaking(self) -> GridBound:
        """The chance that the next cases break a limit."""
        test = self.test
        if test.min_precision == 0:
            few = 1 - at_least(test.capacity + 1, test.horizon, self.shares)
            return self._broken(np.repeat(few[:, None], len(self.precision), axis=1), 1)
        low = int(windows(test.horizon, self.shares[:1])[0][0])
        high = min(test.capacity, int(windows(test.horizon, self.shares[-1:])[1][0]))
        kept = np.zeros((len(self.shares), len(self.precision)))
        split = min(max(low, TUNING.exact_rows), high + 1)
        if low < split:
            kept += self._kept_exactly(low, split - 1)
        if split <= high:
            kept += self._kept_with_many(split, high)
        return self._broken(kept, max(high, 1))

    def _broken(self, kept: FloatArray, most: int) -> GridBound:
        along_shares = bend(self.test.horizon, self.shares)[:, None]
        along_precisions = bend(most, self.precision)
        broken = np.clip(1 - kept, 0.0, 1.0)
        return GridBound(broken, along_shares, along_precisions, rises=False)

    def _kept_exactly(self, low: int, high: int) -> FloatArray:
        counts = np.arange(low, high + 1)
        needed = needed_to_keep(counts, self.test.min_precision)
        rows = TailTable(low, needed, self.precision).rows(low, high)
        return np.asarray(_binomial_mass(self.test.horizon, counts, self.shares) @ rows)

    def _kept_with_many(self, low: int, high: int) -> FloatArray:
        begins = count_ranges(low, high)
        ends = np.append(begins[1:] - 1, high)
        # Fewer than ceil(phi a) are true: more than a - ceil(phi a) are false.
        share = 1 - float(as_fraction(self.test.min_precision)) - 1 / begins
        broken = tail_bound((begins, ends), share, 1 - self.precision)
        edges = at_least(np.append(begins, high + 1), self.test.horizon, self.shares[:, None])
        return np.asarray((edges[:, :-1] - edges[:, 1:]) @ (1 - broken))

    def passing(self, needed: AnyArray) -> GridBound:
        """The chance to pass."""
        test = self.test
        rows = TailTable(test.least, needed, self.precision).rows(test.least, test.most)
        # Where few pass whatever the alarms, the mean over the alarms cannot bend much.
        highest = rows.max(axis=0)[1:]
        slack = bend(test.n_cases, self.shares)[:, None] * highest
        along = bend(test.most, self.precision)
        return GridBound(self._mass @ rows, slack, along, rises=True)

    def risk(self, needed: AnyArray) -> float:
        """Bound the probability that the deployed threshold breaks a limit in the next cases."""
        passing = self.passing(needed)
        if self.test.n_thresholds == 1:
            return largest_product(passing, self.breaking)
        beyond = self.test.beyond
        return largest_sum(passing, self.breaking, self.test.n_thresholds, beyond) + beyond


def _binomial_mass(trials: int, counts: AnyArray, chances: FloatArray) -> FloatArray:
    """Probabilities of counts, one row for each chance; for chances strictly within (0, 1)."""
    ways = gammaln(trials + 1.0) - gammaln(counts + 1.0) - gammaln(trials - counts + 1.0)
    logs = np.stack([np.log(chances), np.log1p(-chances)], axis=1)
    return np.asarray(np.exp(logs @ np.stack([counts, trials - counts]) + ways))


def _share_grid(test: OneTest) -> FloatArray:
    """Return shares outside of which the chance to pass is at most `OneTest.beyond`."""
    low = float(betaincinv(test.least, test.n_cases - test.least + 1, test.beyond))
    high = 1.0
    if test.most < test.n_cases:
        high = float(betainccinv(test.most + 1, test.n_cases - test.most, test.beyond))
    ends = np.arcsin(np.sqrt([low, min(high, 1 - 1e-12)]))
    finest = max(test.n_cases, test.horizon / TUNING.horizon_steps)
    steps = int(np.ceil((ends[1] - ends[0]) * 2 * np.sqrt(finest) / TUNING.share_step))
    return np.asarray(np.sin(np.linspace(ends[0], ends[1], max(steps, 2) + 1)) ** 2)


def _precision_grid(test: OneTest) -> FloatArray:
    """Return precisions from 0 to 1, close together where either chance changes.

    On the scale of the arc sine a share of *a* cases has a standard deviation of 1 / (2 sqrt(a)).
    At a distance from the floor only chances with a comparable one still change.
    """
    if test.min_precision == 0:
        return np.array([0.0, 1.0])
    alarms = np.array([test.least, test.most]) * np.array([[1.0], [test.horizon / test.n_cases]])
    deviations = 0.5 / np.sqrt(np.maximum(alarms, 0.1))
    reach, nearest = TUNING.precision_reach, TUNING.precision_cell * float(deviations.min())
    near = np.arange(0.0, reach * float(deviations.min()), nearest)
    ratio = 1 + TUNING.precision_cell / reach
    steps = int(np.ceil(np.log(float(deviations.max() / deviations.min())) / np.log(ratio)))
    away = np.append(near, reach * float(deviations.min()) * ratio ** np.arange(steps + 1))
    floor = np.arcsin(np.sqrt(float(as_fraction(test.min_precision))))
    angles = np.clip(np.concatenate([floor - away, floor + away]), 0.0, np.pi / 2)
    return np.unique(np.append(np.sin(angles) ** 2, [0.0, 1.0]))


@lru_cache(maxsize=256)
def normal_margin(alpha: float, ratio: float, n_thresholds: int = 1) -> float:
    """Return the margin with which the risk is alpha if all counts are normal.

    Parameters
    ----------
    alpha : float
    ratio : float
        Next cases over validation cases.
    n_thresholds : int
        Tested in a fixed sequence.

    Examples
    --------
    >>> [round(normal_margin(0.05, 1.0, n), 2) for n in (1, 2, 3)]
    [1.52, 1.81, 1.94]
    """
    breaking = chance_levels(TUNING.ignored_part * alpha)[:: TUNING.deviate_part]
    known = ndtri(breaking) / np.sqrt(ratio)
    low, high = 0.0, WIDEST_MARGIN
    for _ in range(MARGIN_HALVINGS):
        middle = (low + high) / 2
        risky = largest_path(breaking, ndtr(-known - middle), n_thresholds) > alpha
        low, high = (middle, high) if risky else (low, middle)
    return high


@lru_cache(maxsize=256)
def most_once(
    n_cases: int, horizon: int, capacity: int, alpha: float, n_thresholds: int = 1
) -> int:
    """Return about the most validation alarms that keep a capacity in the next cases.

    What passes with them is bounded again together with the floor.
    """
    if capacity >= horizon:
        return n_cases

    def safe(most: int) -> bool:
        least = max(1, int(most - TUNING.capacity_reach * np.sqrt(most)))
        test = OneTest(
            n_cases=n_cases,
            horizon=horizon,
            min_precision=0.0,
            capacity=capacity,
            alpha=alpha,
            least=least,
            most=most,
            n_thresholds=n_thresholds,
        )
        return ProductRisk(test).risk(np.zeros_like(test.alarms)) <= TUNING.capacity_part * alpha

    mean = n_cases * (capacity + 0.5) / horizon
    margin = normal_margin(alpha, horizon / n_cases, n_thresholds)
    low = max(int(mean - margin * np.sqrt(mean * (1 - mean / n_cases))), 0)
    step = max(int(TUNING.first_step * np.sqrt(mean)), 1)
    while low > 0 and not safe(low):
        low, step = max(low - step, 0), 2 * step
    high = low + step
    while high < n_cases and safe(high):
        low, step, high = high, 2 * step, high + 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if safe(middle) else (low, middle)
    return low


@lru_cache(maxsize=64)
def needed_once(test: OneTest) -> AnyArray:
    """Return about the fewest true positives with which the risk is within alpha.

    One number for each of the alarms of the test; where it is more than the alarms, nothing passes.
    """
    bound = ProductRisk(test)
    if test.min_precision in (0, 1):
        needed = test.alarms * int(test.min_precision)
        return needed if bound.risk(needed) <= test.alpha else test.alarms + 1
    # Margins are moved together; a standard deviation less is not tried.
    margins, shift, tried = _solved_margins(bound), 0.0, list[tuple[float, float]]()
    risky, safe = -1.0, np.inf
    wanted = float(ndtri((1 + TUNING.used_part) / 2 * test.alpha))
    while safe - risky > TUNING.last_step:
        counts = test.needed(margins + shift)
        risk = bound.risk(counts)
        if risk <= test.alpha:
            needed, safe = counts, shift
            if risk > TUNING.used_part * test.alpha:
                break
        else:
            risky = shift
        tried.append((shift, float(ndtri(min(risk, 0.5))) - wanted))
        shift = _next_shift(tried, risky, safe)
    return needed


def _next_shift(tried: list[tuple[float, float]], risky: float, safe: float) -> float:
    """Return the next shift of the margins, from those tried and the excess of their risks."""
    (shift, excess), fall = tried[-1], 1.0
    if len(tried) > 1:
        # Risks fall by nearly as much as margins rise, and by less where the capacity breaks.
        before, other = tried[-2]
        fall = min(max((other - excess) / (shift - before), TUNING.least_fall), 1.0)
    step = max(abs(excess) / fall, TUNING.last_step)
    following = shift + step if excess > 0 else shift - step
    return following if risky < following < safe else (risky + safe) / 2


def _solved_margins(bound: ProductRisk) -> FloatArray:
    """Return about the margins with which the risk is alpha, for each of the alarms.

    At some numbers of alarms, as if there were as many for certain; tails by the root of the
    relative entropy.
    """
    test = bound.test
    nodes = np.unique(np.geomspace(test.least, test.most, TUNING.margin_nodes).round())
    rows = np.clip(np.searchsorted(bound.shares, nodes / test.n_cases), 0, len(bound.shares) - 1)
    breaking, logs = bound.breaking.values[rows], finite_logs(bound.precision)
    within, kept = (
        1 - at_least(most + 1, trials, bound.shares[rows])[:, None]
        for most, trials in ((test.most, test.n_cases), (test.capacity, test.horizon))
    )
    # As large as if there were no capacity, and as it takes where the capacity may break as well.
    breaking = np.maximum(1 - (1 - breaking) / np.maximum(kept, LEAST), within * breaking)
    floor, low = float(as_fraction(test.min_precision)), np.full(len(nodes), -1.0)
    unit = np.sqrt(floor * (1 - floor) / nodes)
    high = np.minimum((1 - floor) / unit, WIDEST_MARGIN)
    alpha = _alpha_of_one(test)
    for _ in range(MARGIN_HALVINGS):
        middle = (low + high) / 2
        x = np.clip(floor + middle * unit, 0.0, 1.0)[:, None]
        entropy = xlogy(x, x) + xlogy(1 - x, 1 - x) - x * logs[0] - (1 - x) * logs[1]
        root = np.sqrt(2 * nodes[:, None] * np.maximum(entropy, 0.0))
        passing = ndtr(np.where(x > bound.precision, -root, root))
        risky = (passing * breaking).max(axis=1) > alpha
        low, high = np.where(risky, middle, low), np.where(risky, high, middle)
    high += TUNING.few_margin / np.sqrt(nodes)
    return np.interp(np.log(test.alarms), np.log(nodes), high)


def _alpha_of_one(test: OneTest) -> float:
    """Return with which alpha one threshold would need the margin of a sequence."""
    ratio = test.horizon / test.n_cases
    margin = normal_margin(test.alpha, ratio, test.n_thresholds)
    levels = chance_levels(TUNING.ignored_part * test.alpha)
    return largest_path(levels, ndtr(-ndtri(levels) / np.sqrt(ratio) - margin), 1)
