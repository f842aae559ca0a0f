"""Bands around decision curves: where the population's net benefit lies.

Nothing is resampled. At each threshold probability the ends are those of the limits of the curve
(`voros.inference.curve_limits`), which allow for a threshold that was chosen on the same cases and
for a prevalence that is an estimate.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from voros.core.arguments import check_confidence
from voros.core.arrays import named_columns
from voros.core.decision import NO_LIMITS, at_deployment
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario, check_scenario
from voros.decision_curves import check_probabilities, net_benefit, odds, within_limits
from voros.exceptions import ArgumentError
from voros.inference.band import Band
from voros.inference.curve_limits import CountedCurve, curve_interval
from voros.inference.resampling import Ranked
from voros.models import ONLY_MODEL, count_models, points_by_name, refuse_stays
from voros.typing import AnyArray, FloatArray

LEAST_RATIO = 1e-12
"""Stands for a cost ratio of 0, which a scenario does not have."""


def net_benefit_band(
    y_true: Any,
    scores: Any = None,
    scenario: Scenario | None = None,
    *,
    threshold_probability: Any,
    confidence_level: float = 0.95,
    groups: Any = None,
    pos_label: Any = None,
) -> Any:
    """Compute a band around a decision curve: the interval of each of its net benefits.

    Parameters
    ----------
    y_true : array-like of shape (n_cases,), OperatingPoints, or mapping of str to OperatingPoints
        Operating points take the place of labels and scores.
    scores : array-like of shape (n_cases,), mapping of str to such, or data frame
    scenario : Scenario, optional
        As in `voros.net_benefit`: without one the model alarms where its score is at least the
        threshold probability, with one at the best threshold within the limits. The band then
        holds the net benefit of the threshold that is best in the population.
    threshold_probability : float or array-like
        From 0 to below 1.
    confidence_level : float in (0, 1), default 0.95
        Of each threshold probability alone: the band is pointwise.
    groups : array-like of shape (n_cases,), optional
        The patient of each case, where patients have several; otherwise cases are independent.
    pos_label : label, optional

    Returns
    -------
    Band, or dict of str to Band
        One by model where models were given.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> died = rng.random(500) < 0.2
    >>> risk = 1 / (1 + np.exp(2.5 - 2 * died - rng.normal(size=500)))
    >>> band = net_benefit_band(died, risk, threshold_probability=[0.1, 0.2])
    >>> np.stack([band.low, band.estimate, band.high]).round(3).tolist()
    [[0.114, 0.095], [0.149, 0.13], [0.188, 0.166]]
    """
    probability = np.atleast_1d(check_probabilities(threshold_probability))
    limits = None if scenario is None else check_scenario(scenario)
    if limits is not None:
        limits.refuse_recall_floor("bands of net benefit")
    confidence_level = check_confidence(confidence_level, "confidence_level")
    how = {"pos_label": pos_label, "groups": groups}
    points_by_model = points_by_name(y_true, scores=scores, **how)
    refuse_stays(points_by_model, "net benefit")
    named = not isinstance(y_true, OperatingPoints)
    if points_by_model is None:
        points_by_model = count_models(y_true, scores, **how)
        named = named_columns(scores, "scores") is not None
    bands = {
        model: _band(points, probability, limits, confidence_level)
        for model, points in points_by_model.items()
    }
    return bands if named else bands[ONLY_MODEL]


def _band(
    points: OperatingPoints,
    probability: FloatArray,
    scenario: Scenario | None,
    confidence_level: float,
) -> Band:
    curve = _counted(points, scenario)
    estimate = net_benefit(points, scenario=scenario, threshold_probability=probability)
    ends = [
        fixed_threshold_interval(points, p, p, NO_LIMITS, confidence_level)
        if scenario is None
        else _best_interval(curve, p, scenario, confidence_level)
        for p in probability.tolist()
    ]
    low, high = np.array(ends).T
    return Band(
        over="threshold_probability",
        positions=probability,
        estimate=estimate,
        low=low,
        high=high,
        kind="pointwise",
        confidence_level=confidence_level,
    )


def _best_interval(
    curve: CountedCurve, probability: float, scenario: Scenario, confidence_level: float
) -> tuple[float, float]:
    """Return the interval of the net benefit of the best threshold within the limits."""
    at = np.asarray(probability)
    low, high = curve_interval(
        curve,
        lambda batch: np.array([within_limits(points, at, scenario) for points in batch]),
        scenario.changed(cost_ratio=max(float(odds(at)), LEAST_RATIO)),
        confidence_level,
        chosen=True,
    )
    # Raising no alarm is within all limits and has a net benefit of 0.
    return max(low, 0.0), high


def fixed_threshold_interval(
    points: OperatingPoints,
    threshold: float,
    probability: float,
    scenario: Scenario,
    confidence_level: float,
) -> tuple[float, float]:
    """Return the interval of the net benefit of a threshold that was not chosen on these cases.

    Only the prevalence of the scenario is used.
    """
    ratio = float(odds(np.asarray(probability)))
    row = int(np.searchsorted(-points.thresholds, -threshold, side="right")) - 1

    def gains(batch: list[OperatingPoints]) -> FloatArray:
        here = [at_deployment(points, scenario) for points in batch]
        # The last row is an alarm for everybody; the one before is the threshold.
        return np.array([(p.tp[-2] - ratio * p.fp[-2]) / p.n_cases for p in here])

    return curve_interval(
        _counted(points, None, np.array([row])),
        gains,
        scenario.without_limits().changed(cost_ratio=max(ratio, LEAST_RATIO)),
        confidence_level,
        chosen=False,
    )


def _counted(
    points: OperatingPoints, scenario: Scenario | None, rows: AnyArray | None = None
) -> CountedCurve:
    """Return the cases behind operating points, or raise where they are not single cases."""
    if not points.whole or points.stays is not None:
        raise ArgumentError(
            "y_true", " holds weighted cases, rates or stays; accepted are counts of single cases"
        )
    if scenario is not None and scenario.per is not None:
        raise ArgumentError(
            "scenario",
            f" has a capacity per {scenario.per}; accepted is one for all cases: periods vary as a "
            "whole, which this band does not allow for",
        )
    if points.grouped is not None:
        cases = points.grouped
        ranked = Ranked.from_cases(cases.positive, cases.scores, units=cases.codes)
    else:
        # The order of cases with equal scores does not matter: they raise alarms together.
        steps = np.diff([points.tp, points.fp], append=[[points.n_positive], [points.n_negative]])
        labels = np.repeat(np.tile([True, False], steps.shape[1]), steps.T.ravel().astype(np.intp))
        ranked = Ranked(
            units=np.arange(len(labels)),
            positive=labels,
            ends=points.alarms.astype(np.intp),
            thresholds=points.thresholds,
        )
    return CountedCurve.from_ranked(ranked, rows, grouped=points.grouped is not None)
