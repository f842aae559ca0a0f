"""Net benefit: true positives per case, minus false positives multiplied by the cost ratio."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from voros.core.alignment import check_aligned
from voros.core.arguments import as_number
from voros.core.arrays import as_floats, as_vector, check_same_length
from voros.core.calibration import holds_risks
from voros.core.cases import check_cases, check_risks
from voros.core.costs import as_numbers
from voros.core.decision import NO_LIMITS, at_deployment, decide
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario, check_scenario
from voros.exceptions import ArgumentError
from voros.models import points_of_one, refuse_stays
from voros.typing import BoolArray, FloatArray

__all__ = ["DecisionCurve", "net_benefit"]


def net_benefit(
    y_true: Any,
    y_score: Any = None,
    scenario: Scenario | None = None,
    *,
    threshold_probability: Any,
    follow_up: Any = None,
    time_horizon: float | None = None,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> FloatArray:
    r"""Net benefit of a model at threshold probabilities, as in decision curves.

    At a threshold probability p a false positive is worth p/(1 - p) true positives, which is the
    cost ratio. Without a scenario the model raises an alarm where its score, a probability, is at
    least p (Vickers and Elkin). With a scenario it uses the best threshold within the limits at
    this cost ratio, and scores may be on any scale. Treating nobody has a net benefit of 0.

    Parameters
    ----------
    y_true, y_score, pos_label, sample_weight
        As in `partial_voros_score`, `OperatingPoints` in place of `y_true` and `y_score` too.
    scenario : Scenario, optional
        Limits and prevalence; its costs are ignored, because p determines them.
    threshold_probability : float or array-like
        Numbers from 0 to below 1.
    follow_up : array-like of shape (n_cases,), optional
        Time of the event, or end of follow-up for a case without one. The positive label then means
        an observed event. True positives are the events by `time_horizon` among the alarms, by the
        estimate of Kaplan and Meier. Not with a scenario or weights.
    time_horizon : float, optional
        A time in the unit of `follow_up`.

    Returns
    -------
    ndarray
        An array of the shape of `threshold_probability`. NaN where no case above the threshold was
        followed until the horizon.

    See Also
    --------
    voros.inference.net_benefit_band : Intervals of the net benefit.

    Examples
    --------
    >>> import voros
    >>> died, risk = [0, 0, 0, 1, 0, 1], [0.1, 0.2, 0.6, 0.4, 0.1, 0.9]
    >>> voros.net_benefit(died, risk, threshold_probability=[0.2, 0.5]).round(4).tolist()
    [0.25, 0.0]
    >>> one_alarm = voros.Scenario(capacity=1 / 6, cost_ratio=1)
    >>> float(voros.net_benefit(died, risk, one_alarm, threshold_probability=0.2)) * 6
    1.0

    Deaths within six months, where not all patients were followed for that long:

    >>> months = [9, 14, 3, 2, 11, 5]
    >>> by_six = {"follow_up": months, "time_horizon": 6, "threshold_probability": 0.2}
    >>> round(float(voros.net_benefit(died, risk, **by_six)), 4)
    0.3542
    """
    how = {"pos_label": pos_label, "sample_weight": sample_weight}
    points = points_of_one(y_true, y_score=y_score, **how)
    if follow_up is not None or time_horizon is not None:
        if points is not None or scenario is not None:
            other = "operating points" if points is not None else "a scenario"
            raise ArgumentError(
                "follow_up", f" is of single cases; {other} cannot be given with it"
            )
        cases = CensoredCases.read(y_true, y_score, follow_up, time_horizon, **how)
        return cases.net_benefit(check_probabilities(threshold_probability))[0]
    refuse_stays(None if points is None else {"": points}, "net benefit")
    if points is None:
        points = OperatingPoints.from_scores(y_true, y_score, **how)
    probability = check_probabilities(threshold_probability)
    if scenario is not None:
        return within_limits(points, probability, check_scenario(scenario))
    otherwise = ", or a scenario, with which the best threshold is taken on any scale"
    check_risks(points.thresholds[1:], otherwise)
    return as_scored(points, probability)


@dataclass(frozen=True, eq=False)
class CensoredCases:
    """Cases whose follow-up may have ended before the event."""

    event: BoolArray
    risk: FloatArray
    follow_up: FloatArray
    time_horizon: float

    @classmethod
    def read(
        cls,
        y_true: Any,
        y_score: Any,
        follow_up: Any,
        time_horizon: Any,
        *,
        pos_label: Any,
        sample_weight: Any,
    ) -> CensoredCases:
        """Check labels, risks and times of follow-up together."""
        for name, value in (("follow_up", follow_up), ("time_horizon", time_horizon)):
            if value is None:
                raise ArgumentError(name, " is missing; follow_up and time_horizon belong together")
        if sample_weight is not None:
            raise ArgumentError("sample_weight", " cannot be combined with follow_up")
        accepted = "a time above 0, in the unit of follow_up"
        horizon = as_number(time_horizon, "time_horizon", accepted)
        if not (horizon > 0 and np.isfinite(horizon)):
            raise ArgumentError("time_horizon", f"={time_horizon!r}; accepted is {accepted}")
        check_aligned(y_true=y_true, y_score=y_score, follow_up=follow_up)
        event, scores, _ = check_cases(y_true, y_score, pos_label, both_classes=False)
        times = as_floats(as_vector(follow_up, "follow_up"), "follow_up")
        check_same_length(y_true=event, follow_up=times)
        if not ((times >= 0) & np.isfinite(times)).all():
            raise ArgumentError("follow_up", " holds a time that is not a number of at least 0")
        check_risks(scores)
        return cls(event, scores.astype(float), times, horizon)

    def net_benefit(self, probability: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the net benefit of alarms at each threshold probability, and of treating all."""
        at = np.append(0.0, probability)
        weights = ((self.risk >= p).astype(float) for p in at)
        shares = shares_with_event(self.event, self.follow_up, self.time_horizon, weights)
        alarms = np.array([np.mean(self.risk >= p) for p in at[1:]])
        price, shape = odds(at[1:]), np.shape(probability)
        benefit = alarms * (shares[1:] - price * (1 - shares[1:]))
        of_all = shares[0] - price * (1 - shares[0])
        return benefit.reshape(shape), of_all.reshape(shape)


def shares_with_event(
    event: BoolArray, follow_up: FloatArray, time_horizon: float, weights: Iterable[FloatArray]
) -> FloatArray:
    """Return Kaplan and Meier's share of cases with an event by a time, for each weighting.

    A case that is censored at the time of an event counts as followed until then. The share is 0
    if no case has a weight above 0, and NaN if all cases with one are censored before the time.

    Parameters
    ----------
    event : ndarray of bool, shape (n_cases,)
        Whether follow-up ended with an event; otherwise it was censored.
    follow_up : ndarray of float, shape (n_cases,)
    time_horizon : float
    weights : iterable of ndarray of float, shape (n_cases,)

    Examples
    --------
    >>> event, follow_up = np.array([True, False, True, False]), np.array([1.0, 2.0, 3.0, 9.0])
    >>> shares_with_event(event, follow_up, 5.0, [np.ones(4)]).tolist()  # 1 - 3/4 * 1/2
    [0.625]
    """
    order = np.argsort(follow_up, kind="stable")
    times, event = follow_up[order], event[order]
    starts = np.flatnonzero(np.append(True, times[1:] != times[:-1]))
    n_within = int(np.searchsorted(times[starts], time_horizon, side="right"))
    shares = []
    for weight in (one[order] for one in weights):
        at_risk = np.cumsum(weight[::-1])[::-1][starts][:n_within]
        events = np.add.reduceat(weight * event, starts)[:n_within]
        left = 1.0 - np.divide(events, at_risk, out=np.zeros(n_within), where=events > 0)
        free = float(np.prod(left))
        known = free == 0 or not weight.any() or bool(weight[times >= time_horizon].any())
        shares.append(1 - free if known else np.nan)
    return np.array(shares)


@dataclass(frozen=True, eq=False)
class DecisionCurve:
    """Net benefit of one model along threshold probabilities.

    `voros.inference.net_benefit_band` puts a band around it.

    Attributes
    ----------
    probability : ndarray
    as_scored : ndarray
        Alarms where the score is at least the threshold probability; NaN if scores are not
        probabilities.
    best : ndarray
        The best threshold at each cost ratio, without limits.
    within_limits : ndarray
        The best threshold within the limits.
    treat_all : ndarray
        An alarm for every case.

    Examples
    --------
    >>> points = OperatingPoints.from_scores([0, 0, 0, 1], [0.1, 0.2, 0.3, 0.9])
    >>> scenario = Scenario(capacity=0.25, cost_ratio=1)
    >>> curve = DecisionCurve.from_points(points, np.array([0.5]), scenario=scenario)
    >>> float(curve.within_limits[0]), float(curve.cost_of_limits[0]), float(curve.treat_all[0])
    (0.25, 0.0, -0.5)
    """

    probability: FloatArray
    as_scored: FloatArray
    best: FloatArray
    within_limits: FloatArray
    treat_all: FloatArray

    @classmethod
    def from_points(
        cls,
        points: OperatingPoints | CensoredCases,
        probability: FloatArray,
        *,
        scenario: Scenario | None = None,
    ) -> DecisionCurve:
        """Follow operating points, or censored cases without limits, along probabilities.

        Returns
        -------
        DecisionCurve
        """
        if isinstance(points, CensoredCases):
            benefit, of_all = points.net_benefit(probability)
            return cls(probability, benefit, benefit, benefit, of_all)
        limits = NO_LIMITS if scenario is None else scenario
        return cls(
            probability=probability,
            as_scored=as_scored(points, probability, limits),
            best=within_limits(points, probability, limits.without_limits()),
            within_limits=within_limits(points, probability, limits),
            treat_all=treat_all(points, probability, limits),
        )

    @property
    def cost_of_limits(self) -> FloatArray:
        """The net benefit that is lost by the limits."""
        return self.best - self.within_limits


def odds(probability: FloatArray) -> FloatArray:
    """Return the cost ratio for a threshold probability."""
    return np.asarray(probability / (1 - probability))


def treat_all(points: OperatingPoints, probability: FloatArray, scenario: Scenario) -> FloatArray:
    """Net benefit of an alarm for every case."""
    cases = at_deployment(points, scenario)
    positive = cases.n_positive / cases.n_cases
    return np.asarray(positive - (1 - positive) * odds(probability))


def as_scored(
    points: OperatingPoints, probability: FloatArray, scenario: Scenario = NO_LIMITS
) -> FloatArray:
    """Net benefit where a score of at least the threshold probability raises an alarm."""
    if not holds_risks(points):
        return np.full(np.shape(probability), np.nan)
    rows = np.searchsorted(-points.thresholds, -probability, side="right") - 1
    return _worth(at_deployment(points, scenario), rows, probability)


def within_limits(
    points: OperatingPoints, probability: FloatArray, scenario: Scenario
) -> FloatArray:
    """Net benefit of the best threshold within limits at each cost ratio; NaN if there is none."""
    decision = decide(points, scenario)
    if decision.scores_nothing:
        return np.full(np.shape(probability), np.nan)
    rows = decision.hull.index[decision.hull.best(odds(probability))]
    return _worth(decision.points, rows, probability)


def _worth(points: OperatingPoints, rows: Any, probability: FloatArray) -> FloatArray:
    worth = points.tp[rows] - odds(probability) * points.fp[rows]
    return np.asarray(worth / points.n_cases)


def check_probabilities(values: Any) -> FloatArray:
    """Return threshold probabilities, or raise and name the first number outside [0, 1)."""
    probability = as_numbers(values, "threshold_probability", "a number in [0, 1)")
    bad = probability[~((probability >= 0) & (probability < 1))]
    if bad.size:
        raise ArgumentError(
            "threshold_probability", f" holds {bad.flat[0]:g}; accepted are numbers in [0, 1)"
        )
    return probability
