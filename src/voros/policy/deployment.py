"""Evaluate fixed thresholds on new data: the alarms of each, and what they cost."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from voros.core.clusters import GroupedCounts
from voros.core.exact_intervals import ThresholdCounts, mean_precision
from voros.core.hull import Choice
from voros.core.operating_points import OperatingPoints, reweighted
from voros.core.scenario import Scenario
from voros.core.volume import cost_moments, ratio_moments
from voros.policy.by_period import PeriodEvaluation
from voros.policy.origin import PolicyValues
from voros.policy.policy_evaluation import PolicyEvaluation
from voros.policy.violations import find_violations
from voros.typing import AnyArray, FloatArray

if TYPE_CHECKING:
    from voros.guarantee import Guarantee


@dataclass(frozen=True, eq=False)
class Deployment:
    """Thresholds, the cost ratios at which each is deployed, and the limits that they must keep.

    Attributes
    ----------
    thresholds : ndarray of shape (n_intervals,)
    switches : ndarray of shape (n_intervals - 1,)
        Rising cost ratios; at a switch the next threshold is deployed.
    scenario : Scenario
        If it names a prevalence, the new cases are reweighted to it.
    guarantee : Guarantee or None
    words : str
        A name of the thresholds.
    """

    thresholds: FloatArray
    switches: FloatArray
    scenario: Scenario
    guarantee: Guarantee | None
    words: str

    def evaluate_points(self, points: OperatingPoints, confidence_level: float) -> PolicyEvaluation:
        """Evaluate on operating points of every distinct score."""
        self._check_classes(points)
        observed = points.take(alarm_rows(points, self.thresholds))
        observed = replace(observed, thresholds=self.thresholds)
        prevalence = self.scenario.prevalence
        cases = observed if prevalence is None else reweighted(observed, prevalence)
        probability, t_integral, ratio_integral = self._moments(cases.costed)
        deployed = np.flatnonzero(probability > 0)
        cases, grouped = cases.take(deployed), None
        if points.grouped is not None:
            units = points.grouped.codes, points.grouped.positive, points.grouped.scores
            grouped = GroupedCounts.from_cases(*units, self.thresholds[deployed])
        counts = ThresholdCounts(
            tp=observed.tp[deployed],
            fp=observed.fp[deployed],
            n_positive=observed.n_positive,
            n_negative=observed.n_negative,
            prevalence=prevalence,
            probability=probability[deployed],
            t_integral=t_integral[deployed],
            ratio_integral=ratio_integral[deployed],
            grouped=grouped,
            of_values=cases.worth is not None,
        )
        by_period = self._by_period(points, cases) if self.scenario.per_period else None
        return self._summarise(
            cases, counts, self._choices(cases, deployed), confidence_level, by_period
        )

    def _by_period(self, observed: OperatingPoints, cases: OperatingPoints) -> PeriodEvaluation:
        if observed.by_period is None:
            observed.max_alarms(self.scenario)  # raises, and says what is missing
        assert observed.by_period is not None
        sizes = (observed.n_positive, cases.n_positive), (observed.n_negative, cases.n_negative)
        weights = (float(now / before) if before else 1.0 for before, now in sizes)
        return PeriodEvaluation.from_cases(
            observed.by_period, cases.thresholds, self.scenario, *weights
        )

    def _summarise(
        self,
        cases: OperatingPoints,
        counts: ThresholdCounts,
        choices: tuple[Choice, ...],
        confidence_level: float,
        by_period: PeriodEvaluation | None,
    ) -> PolicyEvaluation:
        probability, t_integral = counts.probability, counts.t_integral
        costed = cases.costed
        fpr, caught = _rate(costed.fp, costed.n_negative), _rate(costed.tp, costed.n_positive)
        n_periods = None if by_period is None else by_period.n_periods
        max_alarms = self.scenario.max_alarms(cases.n_cases, 0.0, n_periods)
        tpr = _rate(cases.tp, cases.n_positive)
        recall = float(probability @ tpr) if cases.n_positive else float("nan")
        return PolicyEvaluation(
            expected_cost=float(t_integral @ fpr + (probability - t_integral) @ (1.0 - caught)),
            cost_per_1000=counts.cost_per_1000_of(
                costed.tp, costed.fp, costed.n_positive, cases.n_cases
            ),
            mean_precision=mean_precision(cases.tp, cases.fp, probability),
            mean_recall=recall,
            mean_alarms=float(probability @ cases.alarms),
            max_alarms=max_alarms,
            choices=choices,
            probabilities=probability,
            violations=find_violations(
                cases, self.scenario, max_alarms, choices, probability, by_period
            ),
            deployed=self.words,
            scenario=self.scenario,
            guarantee=self.guarantee,
            n_positive=cases.n_positive,
            n_negative=cases.n_negative,
            confidence_level=confidence_level,
            counts=counts,
            by_period=by_period,
            values=PolicyValues.from_points(cases),
        )

    def _check_classes(self, observed: OperatingPoints) -> None:
        if observed.n_positive and observed.n_negative:
            return
        held = "positive" if observed.n_positive else "negative"
        if self.scenario.prevalence is not None:
            raise ValueError(
                f"y_true holds {held} cases only, which cannot stand for a prevalence of "
                f"{self.scenario.prevalence:g}; leave the prevalence out, or add cases"
            )
        if self.scenario.costs.over == "t":
            raise ValueError(
                f"y_true holds {held} cases only, and costs over t are read with both class "
                "sizes; state them as a cost ratio or with miss_costs"
            )

    def _moments(self, cases: OperatingPoints) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return integrals of 1, t and the cost ratio over the costs of each threshold."""
        costs, odds = self.scenario.costs, _odds(cases)
        probability, t_integral = cost_moments(costs, self.switches, odds)
        ratio_integral = ratio_moments(costs, self.switches, odds)
        if not (cases.n_positive and cases.n_negative):
            # In a single class, only false alarms or only misses can cost anything.
            t_integral = probability if cases.n_positive == 0 else np.zeros_like(probability)
        return probability, t_integral, ratio_integral

    def _choices(self, cases: OperatingPoints, deployed: AnyArray) -> tuple[Choice, ...]:
        low, high = self.scenario.costs.ratio_range(_odds(cases.costed))
        starts = np.clip(np.append(0.0, self.switches), low, high)[deployed]
        ends = np.clip(np.append(self.switches, np.inf), low, high)[deployed]
        return tuple(
            Choice.at(cases, i, float(starts[i]), float(ends[i])) for i in range(len(deployed))
        )


def _odds(cases: OperatingPoints) -> float:
    """Return negatives per positive; 1 where a class has no case, and the ratio has no effect."""
    both = cases.n_positive > 0 and cases.n_negative > 0
    return cases.negatives_per_positive if both else 1.0


def _rate(counts: AnyArray, n_cases: float) -> FloatArray:
    """Return shares of a class; 0 where it has no case, and no effect."""
    return np.asarray(counts / n_cases if n_cases else np.zeros(len(counts)))


def alarm_rows(points: OperatingPoints, thresholds: FloatArray) -> AnyArray:
    """Return the row of the operating point of each threshold."""
    if np.isnan(points.thresholds).any():
        raise ValueError("points carry no thresholds, so fixed thresholds cannot be looked up")
    points.covers.check_thresholds(points.thresholds, thresholds)
    rows = np.searchsorted(-points.thresholds, -thresholds, side="right") - 1
    return np.asarray(rows)
