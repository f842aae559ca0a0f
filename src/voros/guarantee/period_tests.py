"""Which thresholds keep a capacity per period beyond the validation periods.

Periods are the exchangeable units; what happens within one is left open. Let B be the highest score
at which a period passes its capacity. A threshold t takes the period past it just if t <= B, so the
periods above the capacity are counted as cases above a threshold are, with B in place of a score:
one tail probability, of the strictest threshold that breaks the rule, covers all thresholds
(`voros.guarantee.binomial_tests`). The mean over periods, and the precision floor, are tested with
bets on the sums of each period (`voros.guarantee.cluster_tests`). The argument is in the
documentation (periods.md).
"""

from __future__ import annotations

import numpy as np

from voros.core.arrays import AnyArray, BoolArray
from voros.core.grouped_cases import GroupedCases
from voros.core.operating_points import OperatingPoints
from voros.core.periods import PeriodCases, most_above
from voros.core.scenario import Scenario
from voros.exceptions import ArgumentError
from voros.guarantee.binomial_tests import alpha_shares, most_counted, share_risk
from voros.guarantee.cluster_tests import certified_groups, cluster_tests


def certified_periods(
    points: OperatingPoints, scenario: Scenario, horizon: int | None, alpha: float
) -> BoolArray:
    """Mark the thresholds that keep the limits in future periods, but for ``alpha``."""
    cases = _check(points, scenario, horizon)
    if scenario.exceed is None:
        return certified_groups(points.thresholds, as_groups(cases), scenario, alpha)
    for_floor, for_capacity = _shares(cases, scenario, horizon, alpha)
    n_periods = cases.periods.n_periods
    most, above = _most_above(scenario, n_periods, horizon), n_above(points, cases, scenario)
    passed = share_risk(above, n_periods, most, horizon) <= for_capacity
    if scenario.min_precision == 0:
        return np.asarray(passed)
    return passed & certified_groups(points.thresholds, as_groups(cases), scenario, for_floor)


def as_groups(cases: PeriodCases) -> GroupedCases:
    """Take each period as one group."""
    scores = np.asarray(cases.scores, dtype=np.float64)
    return GroupedCases(cases.positive, scores, cases.periods.codes)


def n_above(points: OperatingPoints, cases: PeriodCases, scenario: Scenario) -> AnyArray:
    """Count the periods above the capacity at each threshold."""
    scores = cases.breaking_scores(int(scenario.capacity))
    broken = np.sort(scores[~np.isnan(scores)])
    return len(broken) - np.searchsorted(broken, points.thresholds, side="left")


def _check(points: OperatingPoints, scenario: Scenario, horizon: int | None) -> PeriodCases:
    if points.by_period is None:
        points.max_alarms(scenario)  # raises, and says what is missing
    cases = points.by_period
    assert cases is not None
    cases.check_unit(scenario)
    if points.grouped is not None:
        raise ArgumentError(
            "groups",
            " and a guarantee per period exclude one another: periods are taken as exchangeable, "
            "and a patient in two of them would make them depend on each other",
        )
    if cases.periods.n_periods < 2:
        raise ArgumentError("periods", " hold one period only; a guarantee needs at least two")
    if horizon is not None and (scenario.exceed is None or scenario.min_precision > 0):
        raise ArgumentError(
            "horizon",
            f"={horizon} periods: a guarantee of the next periods is there for exceed=... without "
            "a precision floor; leave out the horizon for the population of periods",
        )
    if scenario.exceed == 0 and horizon is None:
        raise ArgumentError(
            "exceed",
            "=0.0: no number of periods shows that no later one will pass the capacity. Allow a "
            "small share, such as exceed=0.01, or give the guarantee a horizon, the number of "
            "periods that it is for",
        )
    return cases


def _shares(
    cases: PeriodCases, scenario: Scenario, horizon: int | None, alpha: float
) -> tuple[float, float]:
    """Share alpha between the precision floor and the capacity."""
    n_periods = cases.periods.n_periods if horizon is None else horizon
    most = max(float(most_above(scenario, n_periods)), 1.0)
    return alpha_shares(alpha, scenario.min_precision, most, n_periods)


def _most_above(scenario: Scenario, n_periods: int, horizon: int | None) -> float:
    """How many periods may pass the capacity: of the next ones, or as a share of these."""
    if horizon is not None:
        return float(most_above(scenario, horizon))
    return float(scenario.exceed or 0.0) * n_periods


def why_none_certified(
    points: OperatingPoints, scenario: Scenario, horizon: int | None, alpha: float
) -> str:
    """Say what came closest where no threshold is certified."""
    cases = _check(points, scenario, horizon)
    if scenario.exceed is None:
        return cluster_tests(as_groups(cases), scenario, alpha).sentence()
    for_floor, for_capacity = _shares(cases, scenario, horizon, alpha)
    n_periods = cases.periods.n_periods
    most = _most_above(scenario, n_periods, horizon)
    admitted = most_counted(n_periods, most, horizon, for_capacity)
    fewest = int(n_above(points, cases, scenario)[1:].min())
    if admitted < 0:
        return f"{n_periods:,} validation periods are too few, even if none passed the capacity."
    if fewest > admitted:
        return (
            f"At every threshold {fewest:,} or more of {n_periods:,} validation periods pass the "
            f"capacity, and at most {admitted:,} may."
        )
    return cluster_tests(as_groups(cases), scenario, for_floor).sentence()
