"""Share one capacity between several alarms or several groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any

import numpy as np

from voros.allocation.certified import certify
from voros.allocation.joint_policy import JointPolicy
from voros.allocation.problem import (
    OVERLAPS,
    JointChoice,
    Overlap,
    mean_ratio,
    most_alarms,
    period_limit,
    shared_limit,
)
from voros.allocation.search import Effort, share_within
from voros.allocation.search_space import PeriodLimit
from voros.allocation.streams import StreamCases, by_stream, read_streams
from voros.core.alignment import check_aligned
from voros.core.arguments import check_choice
from voros.core.decision import Decision, solve
from voros.core.limits import limits_message
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario, check_scenario
from voros.core.shared_capacity import Certificate, SharedChoice, Stream, as_cost, share_capacity
from voros.core.worth import refuse_values
from voros.exceptions import ArgumentError, NeverAlarmWarning, warn_caller
from voros.guarantee import Guarantee
from voros.models import points_by_name, refuse_stays
from voros.policy.allowed import check_guarantee
from voros.progress import Progress

LIGHTEST, HEAVIEST = 1e-9, 1e9
"""Weights of a miss that are accepted."""

Scenarios = Scenario | Mapping[str, Scenario]


def allocate(
    y_true: Any,
    scores: Any = None,
    scenario: Scenarios | None = None,
    *,
    capacity: float,
    miss_weight: Any = 1.0,
    by: Any = None,
    overlap: Overlap = "each",
    per: str | None = None,
    exceed: float | None = None,
    times: Any = None,
    periods: Any = None,
    guarantee: Guarantee | None = None,
    groups: Any = None,
    max_seconds: float = 60.0,
    max_gap: float = 0.0,
    progress: Progress = False,
    miss_value: Any = None,
    false_alarm_cost: Any = None,
) -> JointPolicy:
    """Find one threshold for each stream: least total cost within all floors and one capacity.

    A stream is one of several outcomes of the same cases, or a group of cases. Its cost is
    ``miss_weight * (cost_ratio * FP + FN)``, and the costs of the streams add up. The choice is
    exact: no other thresholds within the limits cost less, and of equally good choices the one with
    fewest alarms is taken. A search that ends early states how far its choice may be from the best.

    Parameters
    ----------
    y_true : matrix, mapping, data frame, or array-like of shape (n_cases,)
        Labels of each stream: an indicator matrix of shape (n_cases, n_streams), or columns by
        name; one column with `by`. Instead of labels and scores, a mapping of str to
        `OperatingPoints` gives the counts of disjoint groups.
    scores : matrix, mapping, data frame, or array-like of shape (n_cases,)
        Scores in the same form; also the list of arrays that ``predict_proba`` returns for several
        labels.
    scenario : Scenario or mapping of str to Scenario
        Precision floor and cost ratio, for all streams or for each. Its capacity limits each stream
        alone, besides the shared capacity.
    capacity : float or int
        The most alarms of all streams together: a float is a share of the cases, an int a number.
    miss_weight : float or mapping of str to float, default 1.0
        What a miss costs in each stream.
    by : array-like of shape (n_cases,), optional
        The group of each case, such as its ward: every group is a stream.
    overlap : {"each", "once"}, default "each"
        Whether a case with alarms of several streams counts each of them, or once.
    per, exceed : str and float, optional
        With `per` a whole `capacity` holds for each period, such as a "day", as in
        `voros.Scenario`. By default it limits the mean over the periods. With ``exceed=0.05`` it
        limits the mean and all periods but 5 %, with ``exceed=0.0`` every period.
    times, periods : array-like of shape (n_cases,), optional
        With `per`: the time of each case, or the name of its period.
    guarantee : Guarantee, optional
        Keep all floors and the shared capacity in the population, with confidence. Thresholds are
        chosen on a third of the cases, always the same ones, and tested on the others. With `per`
        the split is by whole periods or blocks of them, which are taken as independent.
    groups : array-like of shape (n_cases,), optional
        With a guarantee: the patient of each case, where patients have several.
    max_seconds, max_gap : float, default 60 and 0
        With `exceed` or ``overlap="once"`` a search finds the thresholds. It ends after this time,
        or when the least cost is at most this share lower; ``certificate.gap`` states the share
        reached. A guarantee takes several searches, each of up to this time.
    progress : bool or callable, default False
        Draw a bar of each search, or call a function with the steps done and their number.
    miss_value, false_alarm_cost : array-like of shape (n_cases,), number, or mapping of such
        The cost of missing each case and of a false alarm on it, as in `voros.evaluate`: for all
        streams, or by stream. Capacity and floors count cases, costs add up values. Not with a
        guarantee.

    Returns
    -------
    JointPolicy

    Warns
    -----
    NeverAlarmWarning
        If no threshold of a stream meets its floor within the capacity.
    DependentPeriodsWarning
        If a guarantee takes periods as independent and their alarms are correlated.

    Examples
    --------
    >>> import voros
    >>> y = {"sepsis": [1, 0, 1, 0, 0, 0, 1, 0], "kidney": [0, 0, 1, 1, 0, 0, 0, 0]}
    >>> s = {"sepsis": [9, 8, 7, 6, 5, 4, 3, 2], "kidney": [1, 2, 8, 7, 6, 5, 4, 3]}
    >>> scenario = voros.Scenario(min_precision=0.5, cost_ratio=0.2)
    >>> policy = voros.allocate(y, s, scenario, capacity=0.5)
    >>> policy.thresholds()
    {'sepsis': 9.0, 'kidney': 7.0}
    >>> print(policy.table().text())
    stream    threshold  alarms  precision  recall  misses
    sepsis            9       1          1   0.333       2
    kidney            7       2          1       1       0
    together             3 of 4                          2

    Counts of disjoint groups:

    >>> ward = voros.OperatingPoints.from_counts([4, 6], [1, 6], 10, 90, thresholds=[0.9, 0.5])
    >>> icu = voros.OperatingPoints.from_counts([5, 9], [5, 9], 10, 20, thresholds=[0.8, 0.4])
    >>> scenario = voros.Scenario(cost_ratio=0.1)
    >>> voros.allocate({"ward": ward, "icu": icu}, scenario=scenario, capacity=23)
    JointPolicy(2 streams, 23 of 23 alarms, cost 8 misses, one more alarm saves 0.214 misses)
    """
    check_choice(overlap, "overlap", OVERLAPS)
    per_case = {"by": by, "times": times, "periods": periods, "groups": groups}
    limit = shared_limit(capacity, per, exceed)
    points = points_by_name(
        y_true,
        scores=scores,
        **per_case,
        overlap=None if overlap == "each" else overlap,
        per=per,
        guarantee=guarantee,
        miss_value=miss_value,
        false_alarm_cost=false_alarm_cost,
        worth=True,
    )
    refuse_stays(points, "a shared capacity")
    if points is not None:
        names = tuple(points)
        maker = JointMaker(_scenarios(scenario, names), _weights(miss_weight, names), limit)
        return maker.from_points(points, sum(curve.n_cases for curve in points.values()))
    check_aligned(y_true=y_true, scores=scores, **per_case)
    cases = read_streams(y_true, scores, by=by)
    cases = cases.in_periods(limit, periods, times)
    cases = cases.with_values(miss_value, false_alarm_cost)
    if overlap == "once" and cases.arrangement != "outcomes":
        raise ArgumentError(
            "overlap", "='once' is for streams that share cases; here a case is in one stream only"
        )
    names = tuple(cases.scores)
    effort = Effort.from_arguments(max_seconds, max_gap, progress)
    maker = JointMaker(
        _scenarios(scenario, names), _weights(miss_weight, names), limit, overlap, effort
    )
    if guarantee is None:
        if groups is not None:
            raise ArgumentError(
                "groups",
                " names the patient of each case, which only a guarantee uses; by= makes streams",
            )
        return maker.make(cases)
    refuse_values("guarantee", {"miss_value": miss_value, "false_alarm_cost": false_alarm_cost})
    return certify(maker, cases.of_patients(groups), check_guarantee(guarantee))


@dataclass(frozen=True)
class JointMaker:
    """Make a joint policy under given limits, costs and weights of the streams."""

    scenarios: dict[str, Scenario]
    weights: dict[str, float]
    limit: Scenario
    overlap: Overlap = "each"
    effort: Effort = field(default_factory=Effort)

    def make(self, cases: StreamCases) -> JointPolicy:
        """Choose thresholds on labelled cases."""
        points = {name: cases.points(name) for name in self.scenarios}
        return self.from_points(points, cases.n_cases, cases)

    def from_points(
        self, points: dict[str, OperatingPoints], n_cases: float, cases: StreamCases | None = None
    ) -> JointPolicy:
        """Choose among operating points, and warn of streams that cannot raise an alarm."""
        n_periods = None if cases is None else cases.n_periods
        most = most_alarms(self.limit, n_cases, n_periods)
        decisions = self.decisions(points)
        for name, decision in decisions.items():
            self._warn(name, decision, most, cases)
        choice, certificate = self.choose(decisions, most, cases)
        return JointPolicy(
            names=tuple(decisions),
            scenarios=tuple(self.scenarios.values()),
            miss_weights=tuple(self.weights.values()),
            limit=self.limit,
            n_periods=n_periods,
            arrangement="groups" if cases is None else cases.arrangement,
            overlap=self.overlap,
            sizes=tuple((d.points.n_positive, d.points.n_negative) for d in decisions.values()),
            n_cases=n_cases,
            default=choice if cases is None else self.counted(choice, cases),
            certificate=certificate,
            values=_value_sums(decisions),
        )

    def decisions(self, points: Mapping[str, OperatingPoints]) -> dict[str, Decision]:
        """Apply each stream's own limits to its points."""
        return {name: solve(points[name], limits) for name, limits in self.scenarios.items()}

    def choose(
        self,
        decisions: Mapping[str, Decision],
        max_alarms: float,
        cases: StreamCases | None,
        n_above: int | None = None,
    ) -> tuple[JointChoice, Certificate]:
        """Find the thresholds of least cost, and the proof that no others cost less.

        ``n_above`` is how many periods may have more alarms, if not the limit's share of them.
        """
        streams = [_stream(decision, self.weights[name]) for name, decision in decisions.items()]
        if cases is None or (self.overlap == "each" and self.limit.exceed is None):
            chosen = share_capacity(streams, max_alarms)
        else:
            chosen = self._search(streams, max_alarms, cases, n_above)
        at = [(d.points, row) for d, row in zip(decisions.values(), chosen.rows, strict=True)]
        values = [(points.worth, row) for points, row in at if points.worth is not None]
        choice = JointChoice(
            thresholds=tuple(points.thresholds[row].item() for points, row in at),
            tp=tuple(points.tp[row].item() for points, row in at),
            fp=tuple(points.fp[row].item() for points, row in at),
            cost=float(chosen.cost),
            value_caught=tuple(sums.tp[row].item() for sums, row in values) or None,
            false_alarm_cost=tuple(sums.fp[row].item() for sums, row in values) or None,
        )
        return choice, chosen.certificate

    def _search(
        self, streams: list[Stream], max_alarms: float, cases: StreamCases, n_above: int | None
    ) -> SharedChoice:
        """Search where alarms do not add up, or are limited in each period."""
        codes, limit = np.zeros(cases.n_cases, np.int64), PeriodLimit(int(max_alarms), 0, 1)
        if self.limit.exceed is not None and cases.periods is not None:
            codes = cases.periods.codes
            limit = replace(period_limit(self.limit, cases.periods), total=max_alarms)
            limit = limit if n_above is None else replace(limit, n_above=n_above)
        scores = [cases.reaching(name) for name in cases.scores]
        once = self.overlap == "once"
        return share_within(streams, scores, limit, codes, once=once, effort=self.effort)

    def counted(self, choice: JointChoice, cases: StreamCases) -> JointChoice:
        """Count the cases with an alarm and the periods above the capacity, where limited."""
        once, visits, above = self.overlap == "once", None, None
        if once:
            visits = int(np.count_nonzero(cases.raised(choice.thresholds)))
        if cases.periods is not None:
            counts = cases.period_alarms(choice.thresholds, once=once)
            above = int(np.count_nonzero(counts > self.limit.capacity))
        return replace(choice, n_above=above, n_flagged_cases=visits)

    def _warn(self, name: str, decision: Decision, most: float, cases: StreamCases | None) -> None:
        """Warn of a stream whose limits and the shared capacity allow no alarm."""
        within = decision.feasible & (decision.points.alarms <= most)
        rows = np.flatnonzero(within[1:]) + 1
        if len(rows) and (cases is None or self._keeps(cases, name, decision, int(rows[0]))):
            return
        if most < decision.max_alarms:
            shared = decision.scenario.changed(capacity=self.limit.capacity)
            decision = replace(decision, scenario=shared, max_alarms=most)
        warn_caller(f"stream {name!r}: {limits_message(decision)}", NeverAlarmWarning)

    def _keeps(self, cases: StreamCases, name: str, decision: Decision, row: int) -> bool:
        """Return whether the alarms of one stream alone are within the limit of each period."""
        if self.limit.exceed is None or cases.periods is None:
            return True
        alarmed = cases.alarms(name, float(decision.points.thresholds[row]))
        counts = np.bincount(cases.periods.codes, alarmed, cases.periods.n_periods)
        return bool(period_limit(self.limit, cases.periods).holds(counts))


def _stream(decision: Decision, weight: float) -> Stream:
    """Return the points of a stream at its mean cost ratio."""
    points, miss = decision.points, as_cost(weight)
    ratio = mean_ratio(decision.scenario.costs, points.costed.negatives_per_positive)
    return Stream(points, decision.feasible, miss * as_cost(ratio), miss)


def _value_sums(decisions: Mapping[str, Decision]) -> tuple[tuple[float, float], ...] | None:
    """Return each stream's sums of miss values and false alarm costs; None without values."""
    sums = [decision.points.worth for decision in decisions.values()]
    worth = [(float(s.n_positive), float(s.n_negative)) for s in sums if s is not None]
    if worth and len(worth) < len(sums):
        raise ArgumentError("y_true", " holds points with and without values; give one kind")
    return tuple(worth) or None


def _scenarios(scenario: Any, names: Sequence[str]) -> dict[str, Scenario]:
    scenarios = by_stream(scenario, names, "scenario")
    for name, limits in scenarios.items():
        check_scenario(limits).refuse_recall_floor("allocations of a capacity")
        if limits.per is not None:
            raise ArgumentError(
                "per",
                f"={limits.per!r} of stream {name!r}: a capacity for each period is the shared "
                "one; state per beside capacity, and leave it out of the streams",
            )
        if limits.prevalence is not None:
            raise ArgumentError(
                "prevalence",
                f"={limits.prevalence!r} of stream {name!r}: a shared capacity counts the alarms "
                "of these cases, which cannot be reweighted stream by stream; leave it out",
            )
    return scenarios


def _weights(weights: Any, names: Sequence[str]) -> dict[str, float]:
    by_name = by_stream(weights, names, "miss_weight")
    for name, weight in by_name.items():
        real = isinstance(weight, Real) and not isinstance(weight, bool)
        if not real or not LIGHTEST <= weight <= HEAVIEST:
            raise ArgumentError(
                "miss_weight",
                f"={weight!r} of stream {name!r}; accepted is a number above 0, from {LIGHTEST:g} "
                f"to {HEAVIEST:g}",
            )
    return {name: float(weight) for name, weight in by_name.items()}
