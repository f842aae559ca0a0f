"""Net benefit: true positives per case, less the false ones at their price."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from voros.core.arguments import as_number, is_scalar
from voros.core.arrays import as_floats, as_vector
from voros.core.calibration import check_risks, holds_risks
from voros.core.decision import NO_LIMITS, at_deployment, decide
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario, check_scenario
from voros.exceptions import ArgumentError
from voros.models import points_of_one, refuse_stays
from voros.typing import FloatArray

__all__ = ["DecisionCurve", "net_benefit"]


def net_benefit(
    y_true: Any,
    y_score: Any = None,
    scenario: Scenario | None = None,
    *,
    threshold_probability: Any,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> FloatArray:
    r"""Net benefit of a model at threshold probabilities, as decision curves show it.

    At a threshold probability p a false positive is worth p/(1 - p) true positives, which is the
    cost ratio. Without a scenario the model alarms where its score, a probability, is at least p
    (Vickers and Elkin). With one it alarms at the best threshold for that price within the limits,
    and scores may be on any scale. Treating nobody has a net benefit of 0.

    Parameters
    ----------
    y_true, y_score, pos_label, sample_weight
        As in `partial_voros_score`, `OperatingPoints` in place of `y_true` and `y_score` too.
    scenario : Scenario, optional
        Its limits and its prevalence count; its costs do not, p says them.
    threshold_probability : float or array-like
        From 0 to below 1.

    Returns
    -------
    ndarray
        Of the shape of `threshold_probability`.

    See Also
    --------
    voros.inference.net_benefit_band : The interval of each net benefit.

    Examples
    --------
    >>> import voros
    >>> died, risk = [0, 0, 0, 1, 0, 1], [0.1, 0.2, 0.6, 0.4, 0.1, 0.9]
    >>> voros.net_benefit(died, risk, threshold_probability=[0.2, 0.5]).round(4).tolist()
    [0.25, 0.0]
    >>> one_alarm = voros.Scenario(capacity=1 / 6, cost_ratio=1)
    >>> float(voros.net_benefit(died, risk, one_alarm, threshold_probability=0.2)) * 6
    1.0
    """
    how = {"pos_label": pos_label, "sample_weight": sample_weight}
    points = points_of_one(y_true, y_score=y_score, **how)
    refuse_stays(None if points is None else {"": points}, "net benefit")
    if points is None:
        points = OperatingPoints.from_scores(y_true, y_score, **how)
    probability = check_probabilities(threshold_probability)
    if scenario is None:
        check_risks(points, ", or a scenario, with which the best threshold is taken on any scale")
        return as_scored(points, probability)
    return within_limits(points, probability, check_scenario(scenario))


@dataclass(frozen=True, eq=False)
class DecisionCurve:
    """Net benefit of one model along threshold probabilities.

    `voros.inference.net_benefit_band` puts a band around it.

    Attributes
    ----------
    probability : ndarray
    as_scored : ndarray
        Alarms where the score is at least the threshold probability; NaN where scores are none.
    best : ndarray
        The best threshold at each price, without limits.
    within_limits : ndarray
        The best one that meets the limits.
    treat_all : ndarray
        An alarm for everybody.

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
        cls, points: OperatingPoints, probability: FloatArray, *, scenario: Scenario | None = None
    ) -> DecisionCurve:
        """Follow operating points along threshold probabilities.

        Returns
        -------
        DecisionCurve
        """
        limits = NO_LIMITS if scenario is None else scenario
        share = at_deployment(points, limits)
        positive = share.n_positive / share.n_cases
        return cls(
            probability,
            as_scored(points, probability, limits),
            within_limits(points, probability, limits.without_limits()),
            within_limits(points, probability, limits),
            np.asarray(positive - (1 - positive) * odds(probability)),
        )

    @property
    def cost_of_limits(self) -> FloatArray:
        """What the limits cost in net benefit."""
        return self.best - self.within_limits


def odds(probability: FloatArray) -> FloatArray:
    """Return the cost ratio that a threshold probability stands for."""
    return np.asarray(probability / (1 - probability))


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
    """Net benefit of the best threshold that a scenario leaves, at each price."""
    decision = decide(points, scenario)
    rows = decision.hull.index[decision.hull.best(odds(probability))]
    return _worth(decision.points, rows, probability)


def _worth(points: OperatingPoints, rows: Any, probability: FloatArray) -> FloatArray:
    worth = points.tp[rows] - odds(probability) * points.fp[rows]
    return np.asarray(worth / points.n_cases)


def check_probabilities(values: Any) -> FloatArray:
    """Return threshold probabilities, or raise and name the first that is not one."""
    name = "threshold_probability"
    if is_scalar(values):
        one = values.item() if isinstance(values, np.ndarray) else values
        probability = np.asarray(as_number(one, name, "a number in [0, 1)"))
    else:
        probability = as_floats(as_vector(values, name), name)
    bad = probability[~((probability >= 0) & (probability < 1))]
    if bad.size:
        raise ArgumentError(
            "threshold_probability", f" holds {bad.flat[0]:g}; accepted are numbers in [0, 1)"
        )
    return probability
