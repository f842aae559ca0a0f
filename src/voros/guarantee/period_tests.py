"""Which thresholds keep a capacity per period beyond the validation periods.

Periods, or blocks of neighbouring ones, are the exchangeable units; what happens within one is left
open. Let B be the highest score at which a period passes its capacity. A threshold t takes the
period past it exactly when t <= B, so the periods above the capacity are counted as cases above a
threshold are, with B in place of a score: one tail probability, of the strictest threshold that
breaks the rule, covers all thresholds (`voros.guarantee.binomial_tests`). The mean over periods,
the precision floor, and periods above the capacity where blocks are the units, are tested with bets
on sums (`voros.guarantee.cluster_tests`). The argument is in the documentation (periods.md).
"""

from __future__ import annotations

from functools import partial

import numpy as np

from voros.core.grouped_cases import GroupedCases, counts_by_group
from voros.core.operating_points import OperatingPoints
from voros.core.periods import PeriodCases, most_above
from voros.core.scenario import Scenario
from voros.exceptions import ArgumentError
from voros.guarantee.binomial_tests import alpha_shares, most_counted, share_risk
from voros.guarantee.cluster_tests import ClusterTests, covered, floor_sums, has_floor, sum_tests
from voros.typing import AnyArray, BoolArray, FloatArray


def certified_periods(
    points: OperatingPoints, scenario: Scenario, horizon: int | None, alpha: float, block: int = 1
) -> BoolArray:
    """Mark the thresholds that keep the limits in future periods, but for ``alpha``."""
    cases = _check(points, scenario, horizon, block)
    if horizon is not None:
        return _certified_next(points.thresholds, cases, scenario, horizon, alpha)
    for_sums, for_count = _shares(cases, scenario, alpha, block)
    tests = _sum_tests(cases, scenario, for_sums, block)
    passed = covered(points.thresholds, tests, scenario)
    if for_count > 0:
        above = n_above(points.thresholds, cases, int(scenario.capacity))
        n_periods, most = cases.periods.n_periods, _share_above(cases, scenario)
        passed &= share_risk(above, n_periods, most, None) <= for_count
    return passed


def _shares(
    cases: PeriodCases, scenario: Scenario, alpha: float, block: int
) -> tuple[float, float]:
    """Return the error of the tests on sums, and that of the count of periods above.

    Thresholds that break the mean, and those that too many periods pass the capacity at, are all
    those below some score: what lies below both breaks the rule of the lower one. So both are
    tested with the whole error; floors, which stricter thresholds may break, have a part of it.
    """
    if scenario.exceed is None or block > 1:
        return alpha, 0.0
    if not has_floor(scenario):
        return alpha, alpha
    n_periods = cases.periods.n_periods
    most = max(float(most_above(scenario, n_periods)), 1.0)
    return alpha_shares(alpha, 1.0, most, n_periods)


def _share_above(cases: PeriodCases, scenario: Scenario) -> float:
    return float(scenario.exceed or 0.0) * cases.periods.n_periods


def _sum_tests(cases: PeriodCases, scenario: Scenario, alpha: float, block: int) -> ClusterTests:
    """Test the limits on the sums of each block of periods."""
    blocks = cases.in_blocks(block)
    n_cases, n_periods = len(blocks.scores), blocks.n_periods * block
    share = scenario.max_alarms(n_cases, n_periods=n_periods) / n_cases
    sums = partial(_limit_sums, cases, blocks, scenario, block)
    return sum_tests(as_groups(blocks), sums, share, alpha)


def _limit_sums(
    cases: PeriodCases, blocks: PeriodCases, scenario: Scenario, block: int, tested: FloatArray
) -> list[tuple[FloatArray, float]]:
    """Sums of each block at each threshold whose mean a limit wants at least 0, and their bound."""
    n_periods, capacity = cases.periods.n_periods, scenario.capacity
    counts = counts_by_group(cases.periods.codes, n_periods, cases.scores, tested)
    in_blocks = counts[n_periods % block :].reshape(-1, block, len(tested))
    groups, alarms = as_groups(blocks), in_blocks.sum(axis=1).astype(np.float64)
    limits = floor_sums(groups, alarms, scenario, tested)
    beyond = int(groups.sizes.max()) - block * capacity
    if beyond > 0:
        limits.append((block * capacity - alarms, beyond))
    if scenario.exceed is not None and block > 1:
        above = np.count_nonzero(in_blocks > capacity, axis=1)
        limits.append((block * scenario.exceed - above, block * (1 - scenario.exceed)))
    return limits


def _certified_next(
    thresholds: FloatArray, cases: PeriodCases, scenario: Scenario, horizon: int, alpha: float
) -> BoolArray:
    """Mark the thresholds that keep the rule in the next periods: how many pass, and the mean.

    Where none may pass the capacity the mean is within it, and where the mean alone counts any
    number may pass.
    """
    passed = np.ones(len(thresholds), dtype=np.bool_)
    part = alpha / 2 if scenario.exceed else alpha
    if scenario.exceed is not None:
        above, n_periods = n_above(thresholds, cases, int(scenario.capacity)), cases.n_periods
        most = float(most_above(scenario, horizon))
        passed &= share_risk(above, n_periods, most, horizon) <= part
    if scenario.exceed != 0:
        # The next periods are one more block: no mean of as many is above, but for one in n + 1.
        blocks = cases.in_blocks(horizon)
        broken = n_above(thresholds, blocks, horizon * int(scenario.capacity))
        passed &= broken + 1 <= part * (blocks.n_periods + 1)
    return passed


def as_groups(cases: PeriodCases) -> GroupedCases:
    """Take each period as one group."""
    scores = np.asarray(cases.scores, dtype=np.float64)
    return GroupedCases(cases.positive, scores, cases.periods.codes)


def n_above(thresholds: FloatArray, cases: PeriodCases, capacity: int) -> AnyArray:
    """Count the periods above a capacity at each threshold."""
    scores = cases.breaking_scores(capacity)
    broken = np.sort(scores[~np.isnan(scores)])
    return len(broken) - np.searchsorted(broken, thresholds, side="left")


def _check(
    points: OperatingPoints, scenario: Scenario, horizon: int | None, block: int
) -> PeriodCases:
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
    if cases.periods.n_periods < 2 * block:
        units = "one period" if block == 1 else f"fewer than two blocks of {block} periods"
        raise ArgumentError("periods", f" hold {units} only; a guarantee needs at least two")
    if horizon is not None and has_floor(scenario):
        floor = "precision" if scenario.min_precision > 0 else "recall"
        raise ArgumentError(
            "horizon",
            f"={horizon} periods: a guarantee for the next periods exists only without a "
            f"{floor} floor; leave out the horizon for the population of periods",
        )
    if scenario.exceed == 0 and horizon is None:
        raise ArgumentError(
            "exceed",
            "=0.0: no number of periods shows that no later one will pass the capacity. Allow a "
            "small share, such as exceed=0.01, or give the guarantee a horizon, the number of "
            "periods that it is for",
        )
    return cases


def why_none_certified(
    points: OperatingPoints, scenario: Scenario, horizon: int | None, alpha: float, block: int = 1
) -> str:
    """Say what came closest where no threshold is certified."""
    cases = _check(points, scenario, horizon, block)
    if horizon is not None:
        return _why_not_next(points, cases, scenario, horizon, alpha)
    for_sums, for_count = _shares(cases, scenario, alpha, block)
    if for_count > 0:
        most = most_counted(cases.periods.n_periods, _share_above(cases, scenario), None, for_count)
        reason = _too_many_above(points, cases, scenario, most)
        if reason:
            return reason
    return _sum_tests(cases, scenario, for_sums, block).sentence()


def _why_not_next(
    points: OperatingPoints, cases: PeriodCases, scenario: Scenario, horizon: int, alpha: float
) -> str:
    part = alpha / 2 if scenario.exceed else alpha
    if scenario.exceed is not None:
        most = float(most_above(scenario, horizon))
        admitted = most_counted(cases.n_periods, most, horizon, part)
        reason = _too_many_above(points, cases, scenario, admitted)
        if reason:
            return reason
    n_blocks = cases.n_periods // horizon
    return (
        f"The mean over the next {horizon:,} periods is compared with {n_blocks:,} blocks of as "
        f"many validation periods; {int(np.ceil(1 / part)) - 1:,} blocks, all of them within the "
        "capacity, are needed."
    )


def _too_many_above(
    points: OperatingPoints, cases: PeriodCases, scenario: Scenario, admitted: int
) -> str:
    n_periods = cases.periods.n_periods
    if admitted < 0:
        return f"{n_periods:,} validation periods are too few, even if none passed the capacity."
    fewest = int(n_above(points.thresholds, cases, int(scenario.capacity))[1:].min())
    if fewest <= admitted:
        return ""
    return (
        f"At every threshold {fewest:,} or more of {n_periods:,} validation periods pass the "
        f"capacity, and at most {admitted:,} may."
    )
