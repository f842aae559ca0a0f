"""Which thresholds keep a capacity per period beyond the validation periods.

Periods, or blocks of neighbouring periods, are exchangeable units; nothing is assumed about the
cases within one. Let B be the highest score at which a period exceeds its capacity. A threshold t
makes the period exceed it exactly when t <= B. So periods above the capacity are counted as cases
above a threshold are, with B in place of a score: one tail probability, that of the strictest
threshold that breaks the rule, covers all thresholds (`voros.guarantee.binomial_tests`). Bets on
sums (`voros.guarantee.cluster_tests`) test the mean over periods, the floors, and the periods above
the capacity where blocks are the units. The proof is in the documentation
(theory/guarantee-units.md).
"""

from __future__ import annotations

import numpy as np

from voros.core.grouped_cases import GroupedCases, counts_by_group
from voros.core.operating_points import OperatingPoints
from voros.core.periods import PeriodCases, most_above
from voros.core.scenario import Scenario
from voros.exceptions import ArgumentError
from voros.guarantee.binomial_tests import alpha_shares, most_counted
from voros.guarantee.cluster_tests import (
    ClusterTests,
    bet_tests,
    chosen_thresholds,
    floor_sums,
    has_floor,
)
from voros.typing import AnyArray, BoolArray, FloatArray


def certified_periods(
    points: OperatingPoints, scenario: Scenario, alpha: float, block: int = 1
) -> BoolArray:
    """Mark the thresholds that keep the limits in future periods, but for ``alpha``."""
    cases = _check(points, scenario, block)
    for_sums, for_count = _shares(cases, scenario, alpha, block)
    passed = _sum_tests(cases, scenario, for_sums, block).certified(points.thresholds)
    if for_count > 0:
        above = n_above(points.thresholds, cases, int(scenario.capacity))
        passed &= above <= _most_periods(cases, scenario, for_count)
    return passed


def why_none_certified(
    points: OperatingPoints, scenario: Scenario, alpha: float, block: int = 1
) -> str:
    """Say which threshold came closest, where none is certified."""
    cases = _check(points, scenario, block)
    for_sums, for_count = _shares(cases, scenario, alpha, block)
    if for_count > 0:
        n_periods, most = cases.n_periods, _most_periods(cases, scenario, for_count)
        fewest = int(n_above(points.thresholds, cases, int(scenario.capacity))[1:].min())
        if most < 0:
            return (
                f"{n_periods:,} validation periods are too few, even if none exceeded the capacity."
            )
        if fewest > most:
            return (
                f"At every threshold {fewest:,} or more of {n_periods:,} validation periods exceed "
                f"the capacity; at most {most:,} may."
            )
    units = "periods" if block == 1 else f"blocks of {block} periods"
    return _sum_tests(cases, scenario, for_sums, block).sentence(units)


def _shares(
    cases: PeriodCases, scenario: Scenario, alpha: float, block: int
) -> tuple[float, float]:
    """Return the error of the tests on sums, and that of the count of periods above the capacity.

    All thresholds below some score break the mean, and all below another score let too many periods
    exceed the capacity. A threshold below both scores breaks both rules, so each rule is tested
    with the whole error. Floors, which stricter thresholds may break, have a part of it.
    """
    if scenario.exceed is None or block > 1:
        return alpha, 0.0
    if not has_floor(scenario):
        return alpha, alpha
    most = max(float(most_above(scenario, cases.n_periods)), 1.0)
    return alpha_shares(alpha, 1.0, most, cases.n_periods)


def _most_periods(cases: PeriodCases, scenario: Scenario, alpha: float) -> int:
    """Return how many validation periods may exceed the capacity; -1 where the test cannot pass."""
    most = float(scenario.exceed or 0.0) * cases.n_periods
    return most_counted(cases.n_periods, most, None, alpha)


def _sum_tests(cases: PeriodCases, scenario: Scenario, alpha: float, block: int) -> ClusterTests:
    """Test the limits on the sums of each block of periods."""
    blocks = cases.in_blocks(block)
    n_cases, n_periods = len(blocks.scores), blocks.n_periods * block
    share = scenario.max_alarms(n_cases, n_periods=n_periods) / n_cases
    tested, order, n_learning = chosen_thresholds(_as_groups(blocks), share)
    limits = _limit_sums(cases, blocks, scenario, block, tested)
    free = not has_floor(scenario)
    return bet_tests(tested, limits, order, n_learning, alpha, stricter_too=free)


def _limit_sums(
    cases: PeriodCases, blocks: PeriodCases, scenario: Scenario, block: int, tested: FloatArray
) -> list[tuple[FloatArray, float]]:
    """Return the sums of each block at each threshold that `bet_tests` takes, and their bounds."""
    n_periods, capacity = cases.n_periods, scenario.capacity
    counts = counts_by_group(cases.periods.codes, n_periods, cases.scores, tested)
    in_blocks = counts[n_periods % block :].reshape(-1, block, len(tested))
    groups, alarms = _as_groups(blocks), in_blocks.sum(axis=1).astype(np.float64)
    limits = floor_sums(groups, alarms, scenario, tested)
    beyond = int(groups.sizes.max()) - block * capacity
    if beyond > 0:
        limits.append((block * capacity - alarms, beyond))
    if scenario.exceed is not None and block > 1:
        above = np.count_nonzero(in_blocks > capacity, axis=1)
        limits.append((block * scenario.exceed - above, block * (1 - scenario.exceed)))
    return limits


def _as_groups(cases: PeriodCases) -> GroupedCases:
    """Take each period as one group."""
    scores = np.asarray(cases.scores, dtype=np.float64)
    return GroupedCases(cases.positive, scores, cases.periods.codes)


def n_above(thresholds: FloatArray, cases: PeriodCases, capacity: int) -> AnyArray:
    """Count the periods above a capacity at each threshold."""
    scores = cases.breaking_scores(capacity)
    broken = np.sort(scores[~np.isnan(scores)])
    return len(broken) - np.searchsorted(broken, thresholds, side="left")


def _check(points: OperatingPoints, scenario: Scenario, block: int) -> PeriodCases:
    if points.by_period is None:
        points.max_alarms(scenario)  # raises, and says what is missing
    cases = points.by_period
    assert cases is not None
    cases.check_unit(scenario)
    if points.grouped is not None:
        raise ArgumentError(
            "groups",
            " and a guarantee per period are mutually exclusive: periods are taken as "
            "exchangeable, and a patient in two of them would make them depend on each other",
        )
    if cases.n_periods < 2 * block:
        units = "one period" if block == 1 else f"fewer than two blocks of {block} periods"
        raise ArgumentError("periods", f" hold {units} only; a guarantee needs at least two")
    if scenario.exceed == 0:
        raise ArgumentError(
            "exceed",
            "=0.0: no number of periods can show that no later one exceeds the capacity. Allow a "
            "small share, such as exceed=0.01",
        )
    return cases
