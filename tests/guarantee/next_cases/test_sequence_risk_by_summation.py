"""The bound between two sums over all outcomes: no less than the risk, and little more.

The sums follow the definitions: of the next cases, at which precision a share of alarms breaks the
floor with a chance above b; of a fixed-sequence test, how likely it passes there. No grid is shared
with the code.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import pytest
from fixed_sequences import sequence
from scipy.special import bdtr, bdtrc
from scipy.stats import beta, binom

from voros.guarantee.next_cases.fixed_sequence import FixedSequence
from voros.guarantee.next_cases.needed import RiskBound, requirement
from voros.guarantee.next_cases.tail_bounds import windows

N_PLACES = 32
LEVELS = np.concatenate([np.linspace(0.98, 0.02, 241), np.geomspace(0.0196, 1e-6, 100)])
PRECISION = np.linspace(0.0, 1.0, 1001)


@dataclass(frozen=True)
class Summed:
    """Risks of one walk, by sums over alarms and true positives."""

    walk: FixedSequence
    n_shares: int = 50
    least: int = 0
    """Expected alarms from which on shares are looked at."""

    @cached_property
    def places(self) -> np.ndarray:
        """Shares that the start flags: middles of intervals of equal probability."""
        n_below = self.walk.n_cases - self.walk.start
        middles = (np.arange(N_PLACES) + 0.5) / N_PLACES
        return np.asarray(beta.ppf(middles, self.walk.start, n_below + 1))

    @cached_property
    def shares(self) -> np.ndarray:
        last = beta.isf(1e-6, self.walk.most + 1, max(self.walk.n_cases - self.walk.most, 1))
        first = max(self.places[0], self.least / self.walk.n_cases)
        return np.geomspace(first, last, self.n_shares)

    def risky(self, shares: np.ndarray) -> np.ndarray:
        """Precisions that break the floor with a chance above each level, rounded down.

        At this share or a greater one; -1 where none does.
        """
        alarms = np.arange(self.walk.horizon + 1)
        fewest = np.ceil(self.walk.min_precision * alarms - 1e-9)
        short = np.where(
            fewest[:, None] > 0, bdtr(fewest[:, None] - 1, alarms[:, None], PRECISION), 0
        )
        every = np.concatenate([shares, self.shares])
        order = np.argsort(every)
        chance = binom.pmf(alarms, self.walk.horizon, every[order][:, None]) @ short
        falling = np.maximum.accumulate(chance[::-1], axis=0)[::-1]
        precisions = np.empty((len(every), len(LEVELS)))
        for row, one in zip(order, falling, strict=True):
            last = np.searchsorted(-one, -LEVELS, side="left") - 1
            precisions[row] = np.where(last < 0, -1.0, PRECISION[last])
        return precisions[: len(shares)]

    @cached_property
    def risky_at_places(self) -> np.ndarray:
        return self.risky(self.places)

    @cached_property
    def risky_at_shares(self) -> np.ndarray:
        return self.risky(self.shares)

    def at_once(self, needed: np.ndarray) -> np.ndarray:
        """Chance to start, where the start itself is risky; for places and levels."""
        risky, above = self.risky_at_places, self.walk.start - 1
        if needed[0] > above:
            return np.zeros_like(risky)
        return np.where(risky < 0, 0.0, bdtrc(needed[0] - 1.0, above, np.maximum(risky, 0)))

    def passing(self, needed: np.ndarray) -> np.ndarray:
        """Chance to pass at each share, for shares, places and levels; 0 above the place."""
        below, needed = self.walk.n_cases - self.walk.start, needed[1:]
        chances = np.zeros((len(self.shares), len(self.places), len(LEVELS)))
        for i, (share, risky) in enumerate(zip(self.shares, self.risky_at_shares, strict=True)):
            within = share >= self.places
            chance = ((share - self.places[within]) / (1 - self.places[within]))[:, None]
            low, high = binom.ppf([1e-12, 1 - 1e-12], below, chance[[-1, 0], 0]).astype(int)
            more = np.arange(low, min(high + 1, len(needed)))
            alarms, enough = (self.walk.start + more)[:, None], needed[more][:, None]
            tails = bdtrc(enough - 1.0, alarms, np.maximum(risky, 0))
            tails = np.where((enough > alarms) | (risky < 0), 0.0, tails)
            chances[i, within] = binom.pmf(more, below, chance) @ tails
        return chances

    def risk(self, needed: np.ndarray) -> float:
        """Bad shares are fewer at a greater level: the first of them lies no earlier.

        From the greatest level down: the best at this share or any later one.
        """
        passing = np.concatenate([self.at_once(needed)[None], self.passing(needed)])
        best = np.zeros(passing.shape[:2])
        for level, weight in enumerate(-np.diff(LEVELS, prepend=1.0)):
            later = np.array([best[share:].max(axis=0) for share in range(len(best))])
            best = later + weight * passing[:, :, level]
        return float(best.max(axis=0).mean())


summed = cache(Summed)


def needed_by(walk: FixedSequence, margin: float, first: int | None = None) -> np.ndarray:
    """True positives by a margin in standard deviations, and other ones at the start."""
    alarms = np.arange(walk.start - 1, walk.most + 1)
    both = alarms * (1 + walk.n_cases / walk.horizon)
    deviation = np.sqrt(walk.min_precision * (1 - walk.min_precision) * both)
    wanted = np.maximum(np.ceil(walk.min_precision * alarms + margin * deviation).astype(int), 1)
    if first is not None:
        wanted = np.minimum(wanted, first + np.arange(len(wanted)))
    rising = np.maximum.accumulate(wanted)
    return np.maximum.accumulate((rising - alarms)[::-1])[::-1] + alarms


SLOW = pytest.mark.slow
WALKS = [
    sequence(120, 100, 0.4, 0.1, 20, 90),
    sequence(150, 25, 0.1, 0.1, 40, 120),
    sequence(100, 150, 0.6, 0.2, 30, 100),
    sequence(200, 60, 0.5, 0.1, 90, 110),
]


@pytest.mark.parametrize("walk", WALKS)
@pytest.mark.parametrize(
    ("margin", "first", "slack"),
    [
        (1.6, None, 1.25),
        (2.4, 0.9, 1.15),
        pytest.param(0.8, None, 1.15, marks=SLOW),
        pytest.param(2.4, None, 1.7, marks=SLOW),
        pytest.param(1.6, 1.1, 1.2, marks=SLOW),
    ],
)
def test_the_bound_is_no_less_than_the_risk_and_little_more(
    walk: FixedSequence, margin: float, first: float | None, slack: float
) -> None:
    """With margins throughout, and with a start that takes a part of the floor alone."""
    few = None if first is None else int(np.ceil(first * walk.min_precision * walk.start))
    needed = needed_by(walk, margin, few)
    exact, bound = summed(walk).risk(needed), RiskBound(walk).risk(needed)
    assert exact <= bound <= slack * exact


@pytest.mark.parametrize("margin", [0.0, 0.8])
def test_so_few_next_cases_that_none_may_be_an_alarm(margin: float) -> None:
    """Then no precision breaks the floor with a large chance, and nothing is at risk there."""
    walk = sequence(400, 6, 0.3, 0.1, 30, 60)
    needed = needed_by(walk, margin)
    assert (summed(walk).risky_at_places[:, 0] < 0).all()
    exact, bound = summed(walk).risk(needed), RiskBound(walk).risk(needed)
    assert exact <= bound <= 1.15 * exact


def lenient_from(walk: FixedSequence, alarms: int, margin: float) -> np.ndarray:
    """Hardly anything passes before a number of alarms, so that what passes later decides."""
    strict, lenient = needed_by(walk, 3.0), needed_by(walk, margin)
    at = alarms - walk.start + 1
    return np.concatenate([strict[:at], np.maximum(lenient[at:], strict[at - 1])])


@pytest.mark.parametrize(
    ("walk", "alarms", "n_shares"),
    [
        (sequence(300, 60, 0.4, 0.1, 20, 280), 120, 40),
        # Far from the start, and where tails are bounded in closed form.
        pytest.param(sequence(30_000, 300, 0.5, 0.1, 1200, 8_000), 5000, 10, marks=SLOW),
    ],
)
@pytest.mark.parametrize(("margin", "slack"), [(0.8, 1.15), (1.6, 1.25)])
def test_the_bound_holds_far_from_the_start(
    walk: FixedSequence, alarms: int, n_shares: int, margin: float, slack: float
) -> None:
    needed = lenient_from(walk, alarms, margin)
    exact, bound = summed(walk, n_shares, alarms).risk(needed), RiskBound(walk).risk(needed)
    assert exact <= bound <= slack * exact


@pytest.mark.parametrize(
    ("walk", "n_shares", "least"),
    [
        pytest.param(sequence(30_000, 300, 0.5, 0.1, 3000, 8_000), 12, 7000, marks=SLOW),
        # All cases may be alarms: the most lenient threshold of all is the worst.
        (sequence(100, 150, 0.6, 0.2, 30, 100), 40, 80),
    ],
)
def test_the_bound_holds_where_the_requirement_stays_the_same(
    walk: FixedSequence, n_shares: int, least: int
) -> None:
    """Each more alarm passes more easily, within a range of counts bounded together as well."""
    needed = np.minimum(needed_by(walk, 3.0), needed_by(walk, 1.0)[-1])
    exact, bound = summed(walk, n_shares, least).risk(needed), RiskBound(walk).risk(needed)
    assert exact <= bound <= 1.3 * exact


@pytest.mark.parametrize("flat", [True, pytest.param(False, marks=SLOW)])
def test_closed_bounds_are_above_the_chance_to_pass_at_every_precision(flat: bool) -> None:
    walk = sequence(30_000, 30_000, 0.9, 0.1, 3000, 8_000)
    needed = needed_by(walk, 1.6)[1:]
    if flat:
        needed = np.minimum(needed_by(walk, 3.0)[1:], needed_by(walk, 1.0)[-1])
    bounds = RiskBound(walk)._passing.bounds(needed)[0]
    precision = walk.risky.precision
    columns = np.flatnonzero((precision > 0.89) & (precision < 0.93))[::2]
    n_few, below = len(bounds) - len(walk.chances[1]) + 1, walk.n_cases - walk.start
    n_checked = 0
    for part in range(n_few, len(bounds), 4):
        for chance in walk.edges[part : part + 2]:
            low, high = binom.ppf([1e-12, 1 - 1e-12], below, chance).astype(int)
            more = np.arange(low, min(high + 1, len(needed)))
            tails = bdtrc(
                needed[more][:, None] - 1.0, (walk.start + more)[:, None], precision[columns]
            )
            exact = binom.pmf(more, below, chance) @ tails
            assert (exact <= bounds[part, columns] + 1e-12).all()
            n_checked += np.count_nonzero(exact > 1e-4)
    assert n_checked > 100


@pytest.mark.parametrize("walk", [*WALKS, sequence(2000, 500, 0.2, 0.1, 40, 900)])
def test_no_part_is_left_out_for_any_place_of_the_start(walk: FixedSequence) -> None:
    """One part changes the bound by less than the sums can see."""
    entries = RiskBound(walk)._risky_entries
    assert len(entries) == len(walk.places)
    for index, back in entries:
        assert index.shape == back.shape == (len(walk.edges) - 1, len(walk.risky.weights))


@pytest.mark.parametrize("walk", WALKS)
def test_lines_between_precisions_are_drawn_where_the_chance_to_pass_is_convex(
    walk: FixedSequence,
) -> None:
    needed = needed_by(walk, 1.2)[1:]
    # The same for the last few alarms, so that each of them counts.
    needed = np.minimum(needed, needed[-6])
    bound = RiskBound(walk)._passing
    # Without lines that are raised.
    bound._bends = np.full_like(bound._bends, np.inf)
    convex_up_to, (passing, drop) = bound._convex_up_to(needed), bound.bounds(needed)
    convex = walk.risky.precision <= convex_up_to[:, None]
    between = passing - np.concatenate([np.zeros((len(passing), 1)), passing[:, :-1]], axis=1)
    np.testing.assert_array_equal(drop, np.where(convex, between, 0.0))
    assert (between >= 0).all()
    assert (passing[:, 0] == 0).all()
    below = walk.n_cases - walk.start
    assert walk.edges[0] == 0
    assert walk.edges[-1] <= 1
    lows, highs = windows(below, walk.edges)
    for i in range(0, len(convex_up_to), 7):
        more = np.arange(lows[i], min(highs[i + 1], len(needed) - 1) + 1)
        if len(more) == 0:
            continue
        enough, alarms = needed[more], walk.start + more
        precision = np.linspace(0, convex_up_to[i], 60)
        tails = bdtrc(enough[:, None] - 1.0, alarms[:, None], precision)
        tails[enough > alarms] = 0.0
        assert (np.diff(tails, 2, axis=1) >= -1e-12).all()
        # Up to the first inflection of any: of P(X >= k) at (k - 1) / (a - 1).
        assert convex_up_to[i] == pytest.approx(min((enough - 1) / (alarms - 1)))


@pytest.mark.parametrize("walk", [*WALKS, sequence(5000, 900, 0.3, 1e-6, 200, 1500, 150)])
def test_places_and_ends_leave_out_what_is_set_aside(walk: FixedSequence) -> None:
    """The start flags at most a share u when `start` cases or more lie among the share u."""
    n, far = walk.n_cases, 0.001 * walk.alpha / 2
    before = binom.sf(walk.start - 1, n, walk.places)
    weights = walk.place_weights
    np.testing.assert_allclose(before, [far, *np.cumsum(weights)[:-1]], rtol=1e-6)
    assert weights.sum() == pytest.approx(1, abs=1e-15)
    assert (weights > 0).all()
    beyond = binom.cdf(walk.most, n, walk.last_share) if walk.most < n else 0.0
    assert beyond == pytest.approx(far if walk.most < n else 0.0, rel=1e-6)
    assert walk.most < n or walk.last_share == 1
    set_aside = walk.set_aside - walk.risky.ignored
    assert before[0] + beyond <= set_aside * (1 + 1e-9) == pytest.approx(2 * far)
    # Risky precisions are known as far as the smallest alpha reaches, and for all sequences.
    first, last = walk.risky.shares[[0, -1]]
    assert binom.sf((walk.ranks[0] if walk.ranks else walk.start) - 1, n, first) == pytest.approx(
        5e-11, rel=1e-4
    )
    assert walk.most == n or binom.cdf(walk.most, n, last) == pytest.approx(5e-11, rel=1e-4)
    assert first <= walk.places[0]
    assert walk.last_share <= last


@pytest.mark.slow
@pytest.mark.parametrize(
    "walk", [sequence(400, 400, 0.02, 0.002, 60, 200), sequence(400, 400, 0.1, 0.0005, 60, 200)]
)
def test_with_low_floors_and_small_alphas_the_risk_is_most_of_alpha(walk: FixedSequence) -> None:
    assert 0.75 * walk.alpha < summed(walk).risk(requirement(walk)) <= walk.alpha
