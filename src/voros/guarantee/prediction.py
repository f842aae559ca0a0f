"""The true positives a fixed-sequence test needs so that the next cases keep a precision floor.

The risk of a sequence (`voros.guarantee.walk_risk`) depends on the true positives it needs at each
number of alarms. These are the floor plus a margin, in standard deviations. Margins are solved
for at a few numbers of alarms, in a normal form of the risk there, and then moved together until
the bound is within alpha. Only the last step matters to validity.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri, xlogy

from voros.core.scenario import as_fraction
from voros.guarantee.binomial_bounds import LEAST, finite_logs
from voros.guarantee.future_floor import exact_up_to
from voros.guarantee.tuning import TUNING
from voros.guarantee.walk_risk import RiskBound, Walk, start_risk
from voros.typing import AnyArray, FloatArray

MARGIN_HALVINGS, WIDEST_MARGIN, SMALL = 16, 64.0, 0.05
"""Halvings of the interval in which a margin is sought, the largest one, and a small change."""


def rough_requirement(walk: Walk) -> AnyArray:
    """Return about what a sequence needs, at once: good enough to plan by, not to promise."""
    return _needed(walk, np.full(TUNING.margin_nodes, _deviate(walk.alpha)))


@lru_cache(maxsize=256)
def requirement(walk: Walk) -> AnyArray:
    """Return about the fewest true positives that a sequence needs to keep its alpha.

    The first number is for the cases above the start; then there is one for each number of alarms
    from the start to the most. They rise by 0 or 1.
    """
    bound, search = RiskBound(walk), Search(walk.alpha, walk.coarse, _first_shift(walk))
    margins, rates = _solved_margins(walk)
    kept, at_start = np.zeros(0, dtype=np.int64), _needed_at_start(walk)
    while not search.ended:
        shift = search.proposed()
        needed = np.maximum(_needed(walk, margins + shift * rates), at_start)
        needed[0] = max(at_start, needed[1] - 1)
        if search.add(shift, bound.risk(needed)):
            kept = needed
    return kept


def _needed_at_start(walk: Walk) -> int:
    """Return the fewest true positives with which the start alone leaves a little of alpha."""
    low, high = int(walk.min_precision * walk.start), walk.start
    while high - low > 1:
        middle = (low + high) // 2
        too_risky = start_risk(walk, middle) > TUNING.start_part * walk.alpha
        low, high = (middle, high) if too_risky else (low, middle)
    return high


class Tried(NamedTuple):
    """A shift of the margins and the normal deviate of its risk."""

    shift: float
    deviate: float

    def rate_to(self, other: Tried) -> float:
        """How fast the deviate follows the shift."""
        return (other.deviate - self.deviate) / (other.shift - self.shift)


@dataclass
class Search:
    """The search for the least shift of the margins with which the risk is within alpha.

    Risks are compared as normal deviates, which follow the shift almost along a line. Whole
    numbers make it jump, so the search keeps the best shift on either side.

    Attributes
    ----------
    alpha : float
    coarse : bool
        Whether to end with less of alpha, and sooner.
    first : float
        The shift that is tried first.
    risky, safe : Tried or None
        The last shift with too much risk, and the one that uses most of alpha.
    used : float
        The part of alpha that the safe one uses.
    steps : int
        Risks that were computed.
    rate : float
        How fast the deviate follows the shift, at a guess.
    """

    alpha: float
    coarse: bool = False
    first: float = 0.0
    risky: Tried | None = None
    safe: Tried | None = None
    used: float = 0.0
    steps: int = 0
    rate: float = 1.0

    @property
    def ended(self) -> bool:
        """Whether enough of alpha is used: less is enough with every step."""
        enough = TUNING.coarse_least_used if self.coarse else TUNING.least_used
        least = enough[min(self.steps, len(enough)) - 1]
        return self.safe is not None and (self.used >= least or self._is_narrow())

    def _is_narrow(self) -> bool:
        if self.risky is None or self.safe is None:
            return False
        return abs(self.safe.shift - self.risky.shift) < TUNING.smallest_step

    def proposed(self) -> float:
        """Return the shift to be tried next."""
        aimed_at = TUNING.coarse_aimed_at if self.coarse else TUNING.aimed_at
        aim = _deviate(aimed_at * self.alpha)
        if self.risky is not None and self.safe is not None:
            part = (aim - self.risky.deviate) / (self.safe.deviate - self.risky.deviate)
            part = min(max(part, TUNING.inside), 1 - TUNING.inside)
            return self.risky.shift + part * (self.safe.shift - self.risky.shift)
        known = self.risky or self.safe
        if known is None:
            return self.first
        move = (aim - known.deviate) / self.rate
        least = TUNING.smallest_step * 2.0**self.steps
        return known.shift + (max(move, least) if known is self.risky else min(move, 0.0))

    def add(self, shift: float, risk: float) -> bool:
        """Take note of a risk, and return whether it is the best that is safe."""
        now, is_safe = Tried(shift, _deviate(min(risk, 0.5))), risk <= self.alpha
        before = self.safe if is_safe else self.risky
        if before is not None and before.shift != shift:
            self.rate = min(max(before.rate_to(now), TUNING.slopes[0]), TUNING.slopes[1])
        self.steps += 1
        if not is_safe:
            self.risky = now
        elif risk / self.alpha > self.used:
            self.safe, self.used = now, risk / self.alpha
            return True
        return False


def _deviate(risk: float) -> float:
    return -float(ndtri(risk))


def _first_shift(walk: Walk) -> float:
    shift = TUNING.coarse_first_shift if walk.coarse else TUNING.first_shift
    many = TUNING.many_shift * (walk.most > exact_up_to(walk.min_precision))
    return float(shift / walk.deviation(walk.start)) + many


def _nodes(walk: Walk) -> FloatArray:
    return np.geomspace(walk.start, max(walk.most, walk.start + 1), TUNING.margin_nodes)


def _needed(walk: Walk, margins: FloatArray) -> AnyArray:
    """Round the true positives; one more alarm never needs more than one more of them."""
    alarms = np.arange(walk.start - 1, walk.most + 1)
    margin = np.interp(np.log(np.maximum(alarms, 1)), np.log(_nodes(walk)), margins)
    floor = float(as_fraction(walk.min_precision))
    # Closed bounds count half a true positive less than there is.
    half = np.where(alarms < exact_up_to(walk.min_precision), 0.0, 0.5)
    wanted = np.rint(floor * alarms + margin * walk.deviation(alarms) + half).astype(np.int64)
    rising = np.maximum.accumulate(np.maximum(wanted, 1))
    # From the right: what is needed later less the alarms until then.
    return np.asarray(np.maximum.accumulate((rising - alarms)[::-1])[::-1] + alarms)


def _solved_margins(walk: Walk) -> tuple[FloatArray, FloatArray]:
    """Margins with which the risk at each node is alpha, as if there were as many alarms.

    And how much more is needed for a normal deviate of the risk that is higher by 1.
    """
    nodes = _nodes(walk)
    risk = _risk_at(walk, nodes)
    unit, floor = walk.deviation(nodes), float(as_fraction(walk.min_precision))
    low, high = np.full(len(nodes), -1.0), np.minimum((1 - floor) * nodes / unit, WIDEST_MARGIN)
    for _ in range(MARGIN_HALVINGS):
        middle = (low + high) / 2
        too_risky = risk(floor * nodes + middle * unit) > walk.alpha
        low, high = np.where(too_risky, middle, low), np.where(too_risky, high, middle)
    less = _deviate(walk.alpha) + ndtri(
        np.maximum(risk(floor * nodes + (high + SMALL) * unit), LEAST)
    )
    rates = SMALL / np.clip(-less, TUNING.slopes[0] * SMALL, TUNING.slopes[1] * SMALL)
    early = TUNING.early_margin / unit[0] * (walk.start / nodes) ** TUNING.early_power
    return high + early, rates


def _risk_at(walk: Walk, alarms: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """Return about the risk of needed true positives, as a function of these.

    The mean over places of the start and over chances of a broken floor, every few of them; tails
    by the root of the relative entropy.
    """
    below = (alarms - walk.start) / (walk.n_cases - walk.start)
    shares = walk.places[:, None] + (1 - walk.places[:, None]) * below
    groups = np.arange(0, len(walk.risky.weights), TUNING.chances_taken)
    weights = np.add.reduceat(walk.risky.weights, groups)
    middle = np.minimum(groups + TUNING.chances_taken // 2, len(walk.risky.weights) - 1)
    precision = walk.risky.at(shares.ravel())[:, middle].reshape(*shares.shape, -1)
    logs = finite_logs(precision)

    def risk(needed: FloatArray) -> FloatArray:
        x = np.clip((needed - 0.5) / alarms, 0.0, 1.0)[:, None]
        entropy = xlogy(x, x) + xlogy(1 - x, 1 - x) - x * logs[0] - (1 - x) * logs[1]
        root = np.sqrt(2 * alarms[:, None] * np.maximum(entropy, 0.0))
        passing = ndtr(np.where(x > precision, -root, root))
        return np.asarray(walk.place_weights @ (passing @ weights))

    return risk
