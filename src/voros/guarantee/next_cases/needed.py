"""The true positives a fixed-sequence test needs so that the next cases keep a precision floor.

Thresholds are tested from strict to lenient, from a fixed rank on, and the first failure ends the
sequence. The next cases are independent of which threshold is deployed. So the risk is the mean,
over chances b, of the probability that the next cases break the floor at the deployed threshold
with a chance above b. Then the first such threshold has passed, which is a single test. Every
number here is an upper bound: over shares between the computed ones, over places of the start, over
precisions and over chances. The proof is in the documentation (guarantees.md).

The needed true positives are the floor plus a margin, in standard deviations. Margins are solved
for at a few numbers of alarms, as if counts were normal, and then moved together until the bound is
within alpha. Validity depends on this last step alone.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache
from itertools import chain, repeat

import numpy as np
from scipy.special import betainc, ndtr, ndtri, xlogy

from voros.core.exact_limits import as_fraction
from voros.guarantee.binomial_tests import at_least
from voros.guarantee.next_cases.closed_bounds import ManyCounts, tail_bound
from voros.guarantee.next_cases.fixed_sequence import FixedSequence, exact_up_to
from voros.guarantee.next_cases.grid_bounds import bend
from voros.guarantee.next_cases.tail_bounds import (
    LEAST,
    BinomialCounts,
    TailTable,
    finite_logs,
    windows,
)
from voros.guarantee.tuning import TUNING
from voros.typing import AnyArray, BoolArray, FloatArray

MARGIN_HALVINGS, WIDEST_MARGIN, SMALL, TINY = 16, 64.0, 0.05, 1e-12
"""Halvings of the interval in which a margin is sought, the largest one, and a small change."""


@lru_cache(maxsize=256)
def requirement(sequence: FixedSequence) -> AnyArray:
    """Return about the fewest true positives that a sequence needs to keep its alpha.

    The first number is for the cases above the start; then there is one for each number of alarms
    from the start to the most. They rise by 0 or 1. Where not even true positives alone are safe,
    each is more than can be reached.

    All margins are moved together. Risks are compared as normal deviates, which rise by about as
    much as the margins; whole numbers make them jump, so a safe and a risky shift are kept.
    """
    alpha, least_used = sequence.alpha, TUNING.least_used
    at_start, margins, bound = sequence.needed_at_start(), Margins(sequence), RiskBound(sequence)
    solved, rates = margins.solved(sequence)
    aim = _deviate(TUNING.aimed_at * alpha)
    shift, risky, safe, smallest = margins.first_shift, -np.inf, np.inf, TUNING.smallest_step
    kept = np.zeros(0, dtype=np.int64)
    # Less of alpha is enough with every step.
    for enough in chain(least_used, repeat(least_used[-1])):
        needed = np.maximum(margins.needed(solved + shift * rates), at_start)
        needed[0] = max(at_start, needed[1] - 1)
        risk = bound.risk(needed)
        move = aim - _deviate(min(risk, 0.5))
        if risk <= alpha:
            kept, safe = needed, shift
        elif needed[-1] > sequence.most:
            return needed
        else:
            risky, smallest = shift, 2 * smallest
            move = max(move, smallest)
        if len(kept) and (enough * alpha <= risk <= alpha or safe - risky < TUNING.smallest_step):
            break
        shift = shift + move
        if np.isfinite(safe - risky):
            inside = TUNING.inside * (safe - risky)
            shift = min(max(shift, risky + inside), safe - inside)
    return kept


def _deviate(risk: float) -> float:
    return -float(ndtri(risk))


class Margins:
    """True positives above the floor, in standard deviations, at a few numbers of alarms."""

    def __init__(self, sequence: FixedSequence) -> None:
        start, most = sequence.start, sequence.most
        self.alpha, self.floor = sequence.alpha, float(as_fraction(sequence.min_precision))
        self.nodes = np.geomspace(start, max(most, start + 1), TUNING.margin_nodes)
        self.unit = sequence.deviation(self.nodes)
        self._alarms = np.arange(start - 1, most + 1)
        self._deviation = sequence.deviation(self._alarms)
        self._exact = exact_up_to(sequence.min_precision)
        # By how much all margins are raised first.
        shift = TUNING.first_shift * (_deviate(self.alpha) - _deviate(0.04)) / float(self.unit[0])
        self.first_shift = shift + TUNING.many_shift * (most > self._exact)

    def needed(self, margins: FloatArray) -> AnyArray:
        """Round the true positives; one more alarm never needs more than one more of them."""
        alarms = self._alarms
        margin = np.interp(np.log(np.maximum(alarms, 1)), np.log(self.nodes), margins)
        # Closed bounds count half a true positive less than there is.
        half = np.where(alarms < self._exact, 0.0, 0.5)
        wanted = np.rint(self.floor * alarms + margin * self._deviation + half).astype(np.int64)
        rising = np.maximum.accumulate(np.maximum(wanted, 1))
        # From the right: what is needed later less the alarms until then.
        return np.asarray(np.maximum.accumulate((rising - alarms)[::-1])[::-1] + alarms)

    def solved(self, sequence: FixedSequence) -> tuple[FloatArray, FloatArray]:
        """Margins with which the risk at each node is alpha, as if there were as many alarms.

        And how much more is needed for a normal deviate of the risk that is higher by 1.
        """
        nodes, unit, floor = self.nodes, self.unit, self.floor
        risk = _risk_at(sequence, nodes)
        low, high = np.full(len(nodes), -1.0), np.minimum((1 - floor) * nodes / unit, WIDEST_MARGIN)
        for _ in range(MARGIN_HALVINGS):
            middle = (low + high) / 2
            too_risky = risk(floor * nodes + middle * unit) > self.alpha
            low, high = np.where(too_risky, middle, low), np.where(too_risky, high, middle)
        after = np.maximum(risk(floor * nodes + (high + SMALL) * unit), LEAST)
        gained = -_deviate(self.alpha) - ndtri(after)
        rates = SMALL / np.clip(gained, TUNING.slopes[0] * SMALL, TUNING.slopes[1] * SMALL)
        early = TUNING.early_margin / unit[0] * (nodes[0] / nodes) ** TUNING.early_power
        return high + early, rates


def _risk_at(sequence: FixedSequence, alarms: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """Return about the risk of needed true positives, as a function of these.

    The mean over places of the start and over chances of a broken floor, every few of them; tails
    by the root of the relative entropy.
    """
    below = (alarms - sequence.start) / (sequence.n_cases - sequence.start)
    places, place_weights, risky = sequence.places, sequence.place_weights, sequence.risky
    firsts = np.arange(0, len(risky.weights), TUNING.chances_taken)
    weights = np.add.reduceat(risky.weights, firsts)
    middle = np.minimum(firsts + TUNING.chances_taken // 2, len(risky.weights) - 1)
    precision = risky.at(places[:, None] + (1 - places[:, None]) * below)[..., middle]
    logs = finite_logs(precision)

    def risk(needed: FloatArray) -> FloatArray:
        x = np.clip((needed - 0.5) / alarms, 0.0, 1.0)[:, None]
        entropy = xlogy(x, x) + xlogy(1 - x, 1 - x) - x * logs[0] - (1 - x) * logs[1]
        root = np.sqrt(2 * alarms[:, None] * np.maximum(entropy, 0.0))
        passing = ndtr(np.where(x > precision, -root, root))
        return np.asarray(place_weights @ (passing @ weights))

    return risk


class Passing:
    """Chances to pass a fixed-sequence test, for each part of the thresholds and each precision.

    Given where the sequence starts, the validation alarms at a threshold are the start plus a
    binomial count. Over that count the chance of enough true positives is averaged: exactly with
    few alarms, in closed form with many. Parts that do not depend on the needed true positives are
    computed once.

    Parameters
    ----------
    start, below : int
        The rank at which the sequence starts, and the validation cases below it.
    chances : tuple of ndarray
        Of a case below the start to lie above a threshold, rising: with few alarms and with many,
        which begin where few end. Parts are between neighbours, `TUNING.parts` of them with few
        alarms and one with many.
    edges : ndarray
        Where parts begin, and the end of the last.
    precision : ndarray
        Rising, the first of them 0.
    columns : ndarray of int
        How many of the precisions matter, from each part on; it does not rise. The chance to pass
        at all others is set to 1.
    """

    def __init__(
        self,
        start: int,
        below: int,
        chances: tuple[FloatArray, FloatArray],
        edges: FloatArray,
        precision: FloatArray,
        columns: AnyArray,
    ) -> None:
        few, many = chances
        self.start, self.precision = start, precision
        # A line from one chance to the next is of the part before.
        self._columns_few = np.append(
            columns[0], columns[: TUNING.parts * (len(few) - 1) : TUNING.parts]
        )
        self._columns_many = int(columns[-len(many) + 1]) if len(many) > 1 else 0
        self._few = BinomialCounts(below, few)
        self._many = ManyCounts(below, many, start) if len(many) > 1 else None
        self._windows = windows(below, edges)
        # With more trials a tail may lie further above a line.
        most = start + self._windows[1][1:, None].astype(np.float64)
        self._bends = np.pad(bend(most, precision), ((0, 0), (1, 0)))

    def bounds(self, needed: AnyArray) -> tuple[FloatArray, FloatArray]:
        """Bound the chance to pass within each part, and how much it drops, for each precision.

        The drop is to the precision before, along a line. Where the chance is not known to be
        convex it is raised by as much as it may lie above that line, if that is less than half of
        the drop; otherwise the drop is 0.
        """
        table = TailTable(self.start, needed, self.precision)
        few = self._few.means(table, self.start, self._columns_few).within_parts()
        both = np.concatenate([few, self._with_many(needed)])
        passing = np.maximum.accumulate(both, axis=1, out=both)
        passing[:, 0] = 0.0
        drop = np.diff(passing, axis=1, prepend=0.0)
        convex = self.precision <= self._convex_up_to(needed)[:, None]
        bends = np.where(convex, 0.0, self._bends)
        flat = 2 * bends > drop
        drop[flat] = bends[flat] = 0.0
        passing += bends
        return passing, drop

    def _with_many(self, needed: AnyArray) -> FloatArray:
        """Bound the chance to pass from the least (needed - 1) / alarms of each range."""
        if self._many is None:
            return np.ones((0, len(self.precision)))
        begins, ends = self._many.begins - self.start, self._many.ends
        tails = np.zeros((len(begins), self._columns_many))
        inside = begins < len(needed)
        shares = (needed - 1) / np.arange(self.start, self.start + len(needed))
        share = np.minimum.reduceat(shares, begins[inside])
        alarms = (self._many.begins[inside], ends[inside])
        tails[inside] = tail_bound(alarms, share, self.precision[: self._columns_many])
        bounds = np.ones((len(self._many), len(self.precision)))
        bounds[:, : self._columns_many] = self._many.mean_bounds(tails)
        return bounds

    def _convex_up_to(self, needed: AnyArray) -> FloatArray:
        """Return, for each part, the precision up to which the chance to pass is convex in it.

        With *a* alarms it is, where (a - 1) times the precision is at most one less than needed.
        """
        low, high = self._windows
        alarms = np.arange(self.start, self.start + len(needed))
        up_to = (needed - 1) / np.maximum(alarms - 1, 1)
        last = len(needed) - 1
        ends = np.minimum([low[:-1], high[1:] + 1], [[last], [last + 1]])
        # Of each second pair the minimum is not of interest; the last end may be the end of all.
        return np.asarray(np.minimum.reduceat(np.append(up_to, np.inf), ends.T.ravel())[::2])


class RiskBound:
    """Bound on the risk of a sequence, for any true positives that it needs.

    Parameters
    ----------
    sequence : FixedSequence
    """

    def __init__(self, sequence: FixedSequence) -> None:
        self.start, self._risky = sequence.start, sequence.risky
        self._risky_at_start, self._place_weights = sequence.risky_at_start, sequence.place_weights
        self._set_aside = sequence.set_aside
        begins, places = sequence.edges[:-1], sequence.places[:, None]
        # Which risky precisions hold at each place of the start and each part.
        shares = places + (1 - places) * begins
        self._rows = self._risky.rows(shares)
        self._firsts = np.arange(0, len(begins), TUNING.path_parts)
        # Within each group of parts the least and the greatest risky precisions.
        last = np.append(self._firsts[1:], len(begins)) - 1
        self._between = self._risky.at(shares[-1, last]), self._risky.at(shares[0, self._firsts])
        self._floor = float(as_fraction(sequence.min_precision))
        below, spread, firsts = sequence.n_cases - sequence.start, TUNING.line_spread, self._firsts
        first, end, least = begins[firsts], sequence.edges[last + 1], shares[0, firsts]
        low, high = windows(below, first, spread)[0], windows(below, end, spread)[1]
        next_low = windows(sequence.horizon, least, spread)[0]
        self._counts = np.stack([low, high + 1, next_low], axis=1).tolist()
        # Chances that counts lie outside these.
        outside = 2 - at_least(low, below, first) - at_least(next_low, sequence.horizon, least)
        self._set_aside += float((outside + at_least(high + 1, below, end)).max())
        grid, edges = self._risky.precision, sequence.edges
        self._passing = Passing(self.start, below, sequence.chances, edges, grid, self._columns())

    def _columns(self) -> AnyArray:
        """Return how many precisions matter from each part on; at the last everything passes."""
        index, last = self._risky.index[self._rows[0]], len(self._risky.precision) - 1
        columns = np.where(index < last, index + 1, 0).max(axis=1)
        return np.asarray(np.maximum.accumulate(columns[::-1])[::-1])

    @cached_property
    def _risky_entries(self) -> list[tuple[AnyArray, FloatArray]]:
        """For each place of the start, `index` and `back` of the risky precisions.

        As in `RiskyPrecisions`, for all parts and chances; the index counts on from part to part.
        """
        risky = self._risky
        before = len(risky.precision) * np.arange(self._rows.shape[1])[:, None]
        return [(risky.index[rows] + before, risky.back[rows]) for rows in self._rows]

    def _passing_later(self, needed: AnyArray) -> FloatArray:
        """Bound the chance to pass at the risky precisions of every few neighbouring parts.

        The shape is (n_places, n_groups_of_parts, n_chances).
        """
        chance, drop = (table.ravel() for table in self._passing.bounds(needed[1:]))
        return np.array(
            [
                np.maximum.reduceat(chance.take(index) - back * drop.take(index), self._firsts)
                for index, back in self._risky_entries
            ]
        )

    def risk(self, needed: AnyArray) -> float:
        """Bound the probability that the deployed threshold breaks the floor in the next cases.

        ``needed`` are the true positives that the tests need: of the cases above the start, and
        then for each number of alarms from the start to the most. At least 1, rising by 0 or 1.
        """
        first, at_start = int(needed[0]), np.zeros_like(self._risky_at_start)
        if first < self.start:
            at_start = betainc(first, self.start - first, self._risky_at_start)
        # Over chances of a broken floor: the greater, the later the first risky share.
        ends = np.concatenate([at_start[:, None], self._passing_later(needed)], axis=1)
        begins = ends.copy()
        # At the greater of the two chances, where the chance to pass lies below a line.
        np.copyto(begins[:, 1:, 1:], ends[:, 1:, :-1], where=self._lines(needed))
        worst = (self._highest(begins) + self._highest(ends)) / 2
        return float(self._place_weights @ worst) + self._set_aside

    def _highest(self, chances: FloatArray) -> FloatArray:
        weighted = chances * self._risky.weights
        return highest_path(np.ascontiguousarray(np.moveaxis(weighted[..., ::-1], -1, 0)))

    def _lines(self, needed: AnyArray) -> BoolArray:
        """Return between which chances of a broken floor the chance to pass lies below a line.

        For each group of parts and each two neighbouring chances. It does from the floor up to a
        precision rho, if a - b times rho is at most what is needed of a validation alarms less
        what is needed of b next ones.
        """
        (lowest, highest), floor = self._between, self._floor
        alarms = np.arange(self.start, self.start + len(needed) - 1)
        above = needed[1:] - floor * alarms - 1
        up_to = [
            (above[low:high] / np.maximum(alarms[low:high] - next_low, TINY)).min(initial=1.0)
            for low, high, next_low in self._counts
        ]
        below_line = highest[:, 1:] - floor <= np.array(up_to)[:, None]
        return np.asarray((lowest[:, :-1] >= floor) & below_line)


def highest_path(values: FloatArray) -> FloatArray:
    """Pick one place at each step, never an earlier one than before, for the largest sum.

    Parameters
    ----------
    values : ndarray of shape (n_steps, ..., n_places)
        What each place adds at each step.

    Returns
    -------
    ndarray of shape (...)
        The largest sums.

    Examples
    --------
    The best of each step would be 5 and 4, but the second lies before the first:

    >>> highest_path(np.array([[1.0, 5.0], [4.0, 2.0]])).item()
    7.0
    """
    best = values[0].copy()
    for step in values[1:]:
        np.maximum.accumulate(best, axis=-1, out=best)
        best += step
    return np.asarray(best.max(axis=-1))
