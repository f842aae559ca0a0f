"""Decide which thresholds a scenario allows, and which of them are best.

A decision applies the prevalence, marks the feasible thresholds, and finds hull and region, in this
order. Scores, evaluations, selections, policies, resamples and bounds all start from a `Decision`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Literal, TypeAlias, get_args

import numpy as np

from voros.core.costs import LARGEST_RATIO, CostDistribution
from voros.core.exact_limits import LARGEST_PRODUCT, WEIGHT_ROUNDING
from voros.core.geometry import Region, contradiction, cut_square
from voros.core.hull import CostHull, cost_hull
from voros.core.operating_points import OperatingPoints
from voros.core.places import UncountedCases
from voros.core.scenario import Scenario
from voros.core.volume import cost_moments, partial_volume, partial_volumes
from voros.exceptions import (
    Argument,
    IncompleteCountsError,
    InfeasibleError,
    UndefinedScoreError,
)
from voros.text.numbers import short, typed
from voros.typing import AnyArray, BoolArray, FloatArray

Strategy: TypeAlias = Literal["partial_voros", "voros", "partial_auroc", "recall", "expected_cost"]
"""Criteria for ranking models: each is a property of a `Decision`."""

RANKED_BY: tuple[Strategy, ...] = get_args(Strategy)

STRATEGIES: tuple[Strategy, ...] = RANKED_BY[:-1]
"""The strategies whose scores are higher for better models."""

STRATEGY_TITLES: dict[Strategy, str] = {
    "partial_voros": "partial VOROS",
    "voros": "VOROS",
    "partial_auroc": "partial AUROC",
    "recall": "recall",
    "expected_cost": "expected cost",
}
"""Names of the strategies in text."""

region_of = lru_cache(maxsize=4096)(cut_square)
"""Resamples and grid cells of a map share class sizes and limits, and therefore their region."""

NOTED_SCORE = 0.01
"""Raising no alarm leads to a warning if it scores at least this."""

NO_LIMITS = Scenario(cost_ratio=1.0)
"""The scenario for results that depend on neither limits nor costs."""


NO_REGION = (
    "partial VOROS is not defined where cases have values: limits cut a region out of the rates of "
    "cases, and costs compare shares of value. Accepted are expected_cost, and without limits VOROS"
)


@dataclass(frozen=True, eq=False, kw_only=True)
class Decision:
    """Operating points within a scenario.

    Attributes
    ----------
    points : OperatingPoints
        Points at the prevalence of the scenario. Some thresholds may be missing: results that need
        them raise IncompleteCountsError.
    scenario : Scenario
    feasible : ndarray of bool
        Which thresholds meet the limits and are allowed. Raising no alarm always is, except with a
        recall floor: then it is marked only where no threshold meets the limits.
    max_alarms : float
        The capacity as a number of alarms.
    period_cut : float
        The highest threshold at which too many periods exceed a capacity per period, or NaN.
    observed : OperatingPoints or None
        The points as they were counted, where these are known.
    """

    points: OperatingPoints
    scenario: Scenario
    feasible: BoolArray
    max_alarms: float
    period_cut: float = float("nan")
    observed: OperatingPoints | None = None

    @property
    def counted_points(self) -> OperatingPoints:
        """The points as they were counted or, where these are not known, those of the scenario."""
        return self.points if self.observed is None else self.observed

    @property
    def uncounted(self) -> UncountedCases | None:
        """The cases, where only the thresholds that the scenario can choose were counted."""
        if self.observed is None or self.points.covers.whole_curve:
            return None
        return self.observed.cases

    @cached_property
    def can_alarm(self) -> bool:
        """Whether any threshold that raises an alarm is feasible."""
        return bool(self.feasible[1:].any())

    @cached_property
    def capable(self) -> BoolArray:
        """Which thresholds keep the capacity, and a capacity per period in the periods."""
        capable = self.points.within_capacity(self.max_alarms)
        return capable & ~(self.points.thresholds <= self.period_cut)

    @property
    def scores_nothing(self) -> bool:
        """Whether no threshold meets a recall floor, so that there is nothing to score."""
        return self.scenario.min_recall is not None and not self.can_alarm

    @cached_property
    def hull(self) -> CostHull:
        """The feasible thresholds that are best at some cost."""
        return cost_hull(self.points, self.feasible)

    @property
    def used_vertices(self) -> AnyArray:
        """Positions in the hull of the thresholds that are best somewhere in the range of costs."""
        hull = self.hull
        low, high = self.scenario.costs.ratio_range(self.points.costed.negatives_per_positive)
        first, last = hull.best(np.array([high, low]))
        if low < high and hull.enter[last] == low and last > first:
            last -= 1
        return np.arange(first, last + 1)

    @property
    def chosen_rows(self) -> AnyArray:
        """Rows of the thresholds that are best somewhere in the range of costs."""
        return np.asarray(self.hull.index[self.used_vertices])

    @cached_property
    def region(self) -> Region:
        """The part of ROC space within the limits."""
        sizes = self.points.n_positive, self.points.n_negative
        limits = self.scenario.min_precision, self.max_alarms, self.scenario.min_recall or 0.0
        return region_of(*sizes, *limits)

    @cached_property
    def partial_voros(self) -> float:
        """The score: mean share of the region that is costlier than the best threshold.

        0 where no threshold meets the limits.
        """
        if self.points.worth is not None:
            # VOROS, of shares of value in place of rates, has no limits.
            if self.scenario.without_limits() == self.scenario:
                return self.voros
            raise UndefinedScoreError(NO_REGION)
        if self.scores_nothing:
            return 0.0
        return partial_volume(self.points, self.hull, self.region, self.scenario.costs)

    @cached_property
    def expected_cost(self) -> float:
        """Expected normalised cost of the best feasible threshold at each cost; lower is better."""
        cases, hull = self.points.costed, self.hull
        chosen, switches = hull.index[::-1], hull.enter[:0:-1]
        moments = cost_moments(self.scenario.costs, switches, cases.negatives_per_positive)
        probability, t_integral = moments
        missed = (probability - t_integral) @ (1.0 - cases.tpr[chosen])
        return float(t_integral @ cases.fpr[chosen] + missed)

    @cached_property
    def never_alarm_score(self) -> float:
        """The score of raising no alarm: 0 unless costs exceed the odds of the precision floor."""
        nothing = CostHull(np.array([0]), np.array([np.inf]))
        return partial_volume(self.points, nothing, self.region, self.scenario.costs)

    @cached_property
    def voros(self) -> float:
        """The score without limits, at the same costs."""
        if self.points.covers.whole_curve:
            points, costs = self.points.costed, self.scenario.costs
            square = region_of(points.n_positive, points.n_negative, 0.0, points.n_cases)
            hull = cost_hull(points, np.ones(len(points.tp), dtype=np.bool_))
            return partial_volume(points, hull, square, costs)
        limits = self.scenario.without_limits()
        if limits == self.scenario:
            return self.partial_voros
        return decide(self.counted_points, limits, every_cost=False).partial_voros

    @cached_property
    def partial_auroc(self) -> float:
        """Trapezoid area under the feasible thresholds, over their range of FPR."""
        if self.uncounted is not None:
            return solve(self.uncounted.curve(self.scenario), self.scenario).partial_auroc
        if not self.points.covers.whole_curve:
            raise IncompleteCountsError(
                "these points do not hold every threshold, and a partial AUROC needs all of them; "
                "count every threshold with OperatingPoints.from_scores"
            )
        return trapezoid(self.points, self.feasible)

    @cached_property
    def highest_recall(self) -> int:
        """Feasible row with the greatest recall; of equals, the one with fewest alarms."""
        if not self.points.covers.whole_curve:
            # If false alarms are nearly free, the threshold of least cost has the greatest recall.
            free = max(0.5 / self.points.n_negative, 1 / LARGEST_RATIO)
            self.counted_points.covers.check_scenario(self.scenario.changed(cost_ratio=free))
        rows = np.flatnonzero(self.feasible)
        return int(rows[np.argmax(self.points.tp[rows])])

    @property
    def recall(self) -> float:
        """Greatest recall of a feasible threshold."""
        return float(self.points.tp[self.highest_recall] / self.points.n_positive)

    def score(self, strategy: Strategy) -> float:
        """Return the score by a strategy."""
        value: float = getattr(self, strategy)
        return value


def solve(
    points: OperatingPoints, scenario: Scenario, allowed: BoolArray | None = None
) -> Decision:
    """Decide which thresholds a scenario allows, and which of them are best.

    Parameters
    ----------
    points : OperatingPoints
        Points as observed.
    scenario : Scenario
    allowed : ndarray of bool, optional
        Which points may be deployed, in the order of the points at the prevalence of the scenario;
        by default all.

    Examples
    --------
    >>> points = OperatingPoints.from_counts([4, 6, 9], [1, 6, 41], n_positive=10, n_negative=90)
    >>> result = solve(points, Scenario(min_precision=0.5, capacity=0.2, cost_ratio=(0.1, 0.2)))
    >>> result.feasible.tolist(), result.hull.index.tolist(), round(result.partial_voros, 4)
    ([True, True, True, False], [0, 1, 2], 0.306)
    """
    deployed = at_deployment(points, scenario)
    if deployed.stays is not None:
        deployed = deployed.stays.within_reach(deployed, scenario)
    # A capacity per period applies to the cases as observed, whose periods are known.
    max_alarms = (points if scenario.per_period else deployed).max_alarms(scenario)
    feasible, cut = deployed.within_limits(scenario, max_alarms), float("nan")
    if points.by_period is not None and scenario.per_period:
        per_positive = float(deployed.n_positive / points.n_positive)
        per_negative = float(deployed.n_negative / points.n_negative)
        cut = points.by_period.cut(scenario, per_positive, per_negative)
        feasible &= ~(deployed.thresholds <= cut)
    if allowed is not None:
        feasible &= allowed
    feasible[0] = scenario.min_recall is None or not feasible[1:].any()
    return Decision(
        points=deployed,
        scenario=scenario,
        feasible=feasible,
        max_alarms=max_alarms,
        period_cut=cut,
        observed=points,
    )


def decide(points: OperatingPoints, scenario: Scenario, *, every_cost: bool = True) -> Decision:
    """Decide as `solve` does; of uncounted cases, count only the thresholds that matter.

    Parameters
    ----------
    points, scenario
        As in `solve`.
    every_cost : bool, default True
        Whether the hull is needed at other costs than those of the scenario.

    Raises
    ------
    IncompleteCountsError
        Where the points do not cover the scenario.
    InfeasibleError
        Where no classifier could keep the recall floor within the capacity.
    """
    points.covers.check_scenario(scenario)
    if points.cases is not None:
        counted = points.cases.choosable(scenario, every_cost=every_cost)
        decision = solve(counted, scenario)
        if decision.can_alarm or points.on_device or counted.covers.whole_curve:
            return reachable(replace(decision, observed=points))
    # Thresholds with false alarms only may be feasible, and messages name others.
    return reachable(solve(points, scenario))


def reachable(decision: Decision) -> Decision:
    """Return a decision, or raise where no classifier could keep its limits together.

    Only a recall floor can contradict another limit: the perfect classifier is always precise
    enough, and raising no alarm is within every capacity.
    """
    if decision.scores_nothing and decision.points.stays is None:
        recall, n_positive = decision.scenario.recall_floor, decision.points.n_positive
        if decision.max_alarms < recall * n_positive * (1 - WEIGHT_ROUNDING):
            stated = Argument("capacity"), f"={decision.scenario.capacity!r}"
            limits = float(recall), n_positive, decision.max_alarms
            raise InfeasibleError(contradiction(*limits, *stated))
    return decision


def trapezoid(points: OperatingPoints, kept: BoolArray | slice = slice(None)) -> float:
    """Area of the trapezoids under the points in ``kept``, over their range of FPR."""
    tp, fp = points.tp[kept], points.fp[kept]
    pairs = points.n_positive * points.n_negative
    if points.whole and 2 * pairs < LARGEST_PRODUCT:
        # Whole numbers are rounded by the division only.
        return int(np.dot(np.diff(fp), tp[1:] + tp[:-1])) / (2 * pairs)
    fpr, tpr = fp / points.n_negative, tp / points.n_positive
    return float(np.dot(np.diff(fpr), tpr[1:] + tpr[:-1]) / 2)


def at_deployment(points: OperatingPoints, scenario: Scenario) -> OperatingPoints:
    """Return the points at the scenario's prevalence."""
    return points if scenario.prevalence is None else points.at_prevalence(scenario.prevalence)


def partial_voros_of(decisions: Sequence[Decision], costs: CostDistribution) -> FloatArray:
    """Return the score of each decision, computed together; all have the same costs."""
    if any(decision.points.worth is not None for decision in decisions):
        return np.array([decision.partial_voros for decision in decisions])
    scores = np.zeros(len(decisions))
    scored = [row for row, decision in enumerate(decisions) if not decision.scores_nothing]
    points = [decisions[row].points for row in scored]
    # The part of a hull outside the range of these costs takes time and is not needed.
    hulls = [
        cost_hull(one, decisions[row].feasible, costs.ratio_range(one.negatives_per_positive))
        for row, one in zip(scored, points, strict=True)
    ]
    regions = [decisions[row].region for row in scored]
    if scored:
        scores[scored] = partial_volumes(points, hulls, regions, costs)
    return scores


def cost_range_note(decision: Decision) -> str | None:
    """Say where raising no alarm scores noticeably above 0; None elsewhere.

    At cost ratios up to alpha / (1 - alpha), raising no alarm is the costliest choice within the
    limits, and scores 0.
    """
    floor, costs = decision.scenario.min_precision, decision.scenario.costs
    without_score = decision.scenario.min_recall is not None or decision.points.worth is not None
    if floor in (0, 1) or without_score:
        return None
    _, highest = costs.ratio_range(decision.points.negatives_per_positive)
    break_even = floor / (1 - floor)
    if highest <= break_even or decision.never_alarm_score < NOTED_SCORE:
        return None
    return (
        f"with a precision floor of {floor:g}, raising no alarm is not the worst choice at cost "
        f'ratios above {typed(break_even)}, so a score of 0 no longer means "no better than '
        f'no alarms": raising none scores {short(decision.never_alarm_score)} here'
    )
