"""The bound on the risk part by part, from the chances to pass and the risky precisions.

What the bound does fast, with many numbers at once, is done here one number after another. Whether
the chances to pass and the risky precisions are right themselves is tested elsewhere.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cache
from itertools import pairwise
from math import ceil, log, sqrt

import numpy as np
import pytest
from fixed_sequences import sequence
from scipy.stats import binom

from voros.guarantee.next_cases.fixed_sequence import FixedSequence
from voros.guarantee.next_cases.needed import RiskBound
from voros.guarantee.next_cases.tail_bounds import windows
from voros.guarantee.tuning import TUNING

WALKS = [
    sequence(120, 100, 0.4, 0.1, 6, 90),
    sequence(150, 25, 0.1, 0.1, 40, 120, 20),
    sequence(100, 150, 0.6, 0.2, 10, 100),
    sequence(700, 200, 0.5, 0.05, 40, 660),
]


def needed_by(walk: FixedSequence, margin: float) -> np.ndarray:
    """True positives by a margin in standard deviations, rising by 0 or 1."""
    alarms = np.arange(walk.start - 1, walk.most + 1)
    spread = walk.min_precision * (1 - walk.min_precision) * (1 + walk.n_cases / walk.horizon)
    wanted = np.ceil(walk.min_precision * alarms + margin * np.sqrt(spread * alarms)).astype(int)
    rising = np.maximum.accumulate(np.maximum(wanted, 1))
    return np.maximum.accumulate((rising - alarms)[::-1])[::-1] + alarms


def groups(walk: FixedSequence) -> list[range]:
    """Neighbouring parts that are taken together."""
    every, size = range(len(walk.edges) - 1), TUNING.path_parts
    return [every[i : i + size] for i in range(0, len(every), size)]


@cache
def shares(walk: FixedSequence) -> list[float]:
    return walk.risky.shares.tolist()


def row_at(walk: FixedSequence, place: float, chance: float) -> int:
    """The row of risky precisions where a case below the start is an alarm by a chance."""
    row = bisect_right(shares(walk), place + (1 - place) * chance) - 1
    return min(max(row, 0), len(walk.risky.index) - 1)


def at_risky(walk: FixedSequence, needed: np.ndarray, place: int) -> np.ndarray:
    """Chance to pass at risky precisions; one row for each part."""
    passing, drop = passing_by(walk, tuple(needed[1:].tolist()))
    chances = []
    for part, chance in enumerate(walk.edges[:-1]):
        row = row_at(walk, walk.places[place], chance)
        index, back = walk.risky.index[row], walk.risky.back[row]
        chances.append(passing[part, index] - back * drop[part, index])
    return np.array(chances)


@cache
def passing_by(walk: FixedSequence, needed: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    return RiskBound(walk)._passing.bounds(np.array(needed))


def at_start(walk: FixedSequence, needed: int, place: int) -> np.ndarray:
    """Chance that the cases above the start have enough positives, at risky precisions."""
    row = row_at(walk, walk.places[place], 0.0)
    index, back, grid = walk.risky.index[row], walk.risky.back[row], walk.risky.precision
    risky = [grid[i] - b * (grid[i] - grid[i - 1]) for i, b in zip(index, back, strict=True)]
    # No precision is so bad, where the index is 0.
    return np.where(index == 0, 0.0, binom.sf(needed - 1, walk.start - 1, risky))


def risk_by_definition(walk: FixedSequence, needed: np.ndarray) -> float:
    """For the largest chance of a broken floor the first risky threshold lies latest."""
    total = RiskBound(walk)._set_aside
    # Counts are looked at within five standard deviations; what lies outside is added.
    assert 0 <= total - TUNING.far_off * walk.alpha - walk.risky.ignored < 1e-4
    lines = lines_by_definition(walk, needed)
    for place, weight in enumerate(walk.place_weights):
        passing = at_risky(walk, needed, place)
        steps = [at_start(walk, int(needed[0]), place)]
        steps += [passing[group].max(axis=0) for group in groups(walk)]
        ends = np.array(steps)
        begins = np.array(
            [[ends[i, j - line] for j, line in enumerate(row)] for i, row in enumerate(lines)]
        )
        for values in (begins, ends):
            best = np.zeros(len(steps))
            for of_chance, added in zip(walk.risky.weights, values.T, strict=True):
                at_this_or_later = np.maximum.accumulate(best[::-1])[::-1]
                best = at_this_or_later + of_chance * added
            total += weight * max(best) / 2
    return float(total)


def lines_by_definition(walk: FixedSequence, needed: np.ndarray) -> np.ndarray:
    """Whether the chance to pass is convex between a chance of a broken floor and the greater one.

    It is where no validation count a and next count b have N(a) - phi b - 1 < (a - b) rho: checked
    at every a within five standard deviations and the least b, with the greatest rho.
    """
    begins, spread = walk.edges[:-1], TUNING.line_spread
    lines = np.zeros((len(groups(walk)) + 1, len(walk.risky.weights)), dtype=int)
    below, floor = walk.n_cases - walk.start, walk.min_precision
    for i, group in enumerate(groups(walk), 1):
        shares = [p + (1 - p) * begins[part] for p in walk.places[[0, -1]] for part in group]
        risky = walk.risky.at(np.array(shares))
        low = windows(below, walk.edges[[group[0]]], spread)[0][0]
        high = windows(below, walk.edges[[group[-1] + 1]], spread)[1][0]
        next_low = windows(walk.horizon, np.array([min(shares)]), spread)[0][0]
        for j in range(1, lines.shape[1]):
            rho = max(risky[:, j])
            counts = [a for a in range(walk.start + low, walk.start + high + 1) if a <= walk.most]
            convex = all(
                needed[a - walk.start + 1] - floor * next_low - 1 >= (a - next_low) * rho - 1e-9
                and needed[a - walk.start + 1] >= floor * a + 1 - 1e-9
                for a in counts
            )
            lines[i, j] = convex and min(risky[:, j - 1]) >= floor
    return lines


@pytest.mark.parametrize("walk", WALKS)
@pytest.mark.parametrize("margin", [0.5, 1.5])
def test_the_bound_is_the_mean_over_places_of_the_worst_path(
    walk: FixedSequence, margin: float
) -> None:
    needed = needed_by(walk, margin)
    assert RiskBound(walk).risk(needed) == pytest.approx(risk_by_definition(walk, needed), rel=1e-9)


@pytest.mark.parametrize("walk", WALKS[:3])
def test_a_start_that_is_too_easy_is_part_of_the_path(walk: FixedSequence) -> None:
    """It adds to the risk; one that cannot pass adds none."""
    needed = needed_by(walk, 1.5)
    risks = []
    for first in (int(0.9 * walk.min_precision * walk.start), walk.start):
        needed[0] = first
        risks.append(RiskBound(walk).risk(needed))
        assert risks[-1] == pytest.approx(risk_by_definition(walk, needed), rel=1e-9)
    assert risks[0] > risks[1]


@pytest.mark.parametrize("walk", [*WALKS, sequence(400, 6, 0.3, 0.1, 30, 60)])
def test_the_risk_of_the_start_alone_is_the_mean_over_places_and_chances(
    walk: FixedSequence,
) -> None:
    """With six next cases, often none is an alarm: then no precision is bad enough."""
    for first in (1, 2, walk.start // 2, walk.start - 1, walk.start):
        starts = [at_start(walk, first, place) for place in range(len(walk.places))]
        alone = walk.place_weights @ np.array(starts) @ walk.risky.weights
        assert walk.start_risk(first) == pytest.approx(alone, rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("walk", WALKS)
def test_every_precision_that_matters_is_computed_and_no_other(walk: FixedSequence) -> None:
    """The last precision is 1, where everything passes; the others by every place of the start."""
    risky, n_parts = walk.risky, len(walk.edges) - 1
    last = len(risky.precision) - 1
    expected, most = [], 0
    for part in reversed(range(n_parts)):
        for place in walk.places.tolist():
            index = risky.index[row_at(walk, place, walk.edges[part])]
            most = max(most, 1 + max(index[index < last], default=-1))
        expected.append(most)
    assert RiskBound(walk)._columns().tolist() == expected[::-1]


def chances_by_the_rule(walk: FixedSequence) -> list[float]:
    """Where parts begin: by standard deviations of few alarms, by ratios of many."""
    below, near = walk.n_cases - walk.start, TUNING.near
    spread = walk.min_precision * (1 - walk.min_precision)
    exact = max(TUNING.many_alarms, min(TUNING.many_variance / spread, TUNING.most_exact))
    least = TUNING.least_step / below
    split = min(max((exact - walk.start) / below, 2 * least), walk.last_share)
    few, n = [0.0, least], TUNING.parts
    while few[-1] < split:
        variance = below * few[-1] * (1 - few[-1])
        step = TUNING.step * sqrt(variance) * max(1.0, variance / near) ** TUNING.near_power
        few.append(min(few[-1] + max(step, TUNING.least_step) / below, split))
    chances = [a + (b - a) * i / n for a, b in pairwise(few) for i in range(n)]
    begin, end = walk.start + below * split, walk.start + below * walk.last_share
    steps = ceil(log(end / begin) / log(TUNING.ratio))
    many = [begin * (end / begin) ** (i / steps) for i in range(steps)] if steps else []
    return [*chances, *((alarms - walk.start) / below for alarms in many), walk.last_share]


@pytest.mark.parametrize(
    "walk",
    [
        *WALKS,
        sequence(9000, 2000, 0.5, 0.05, 1000, 2000),
        sequence(30_000, 2000, 0.5, 0.05, 3_800, 5_000),
        sequence(30_000, 2000, 0.9, 0.05, 4_300, 4_400),
        # All of it with many alarms.
        sequence(30_000, 2000, 0.5, 0.05, 6_000, 7_000),
        sequence(30_000, 2000, 0.5, 0.05, 3_000, 30_000),
    ],
)
def test_parts_begin_where_the_rule_says(walk: FixedSequence) -> None:
    np.testing.assert_allclose(walk.edges, chances_by_the_rule(walk), rtol=1e-9)
