"""What fixed thresholds do on new data: expected cost, precision, alarms, and broken limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from voros.evaluation import Choice
from voros.expected_cost import cost_moments
from voros.frames import make_frame
from voros.inputs import AnyArray, BoolArray, FloatArray
from voros.roc import OperatingPoints
from voros.scenario import Scenario


@dataclass(frozen=True)
class Violation:
    """A limit that some deployed threshold breaks.

    Attributes
    ----------
    limit : {"precision", "capacity"}
    bound : float
        The precision floor, or the capacity as a number of alarms among the new cases.
    worst : float
        The lowest precision, or the most alarms, of any deployed threshold.
    missed_by : float
        Distance from `worst` to `bound`, above 0.
    probability : float
        Of the cost distribution, on which the limit is broken.
    where : tuple of Choice
        The thresholds that break it, and the cost ratios at which they are deployed.
    """

    limit: Literal["precision", "capacity"]
    bound: float
    worst: float
    missed_by: float
    probability: float
    where: tuple[Choice, ...]

    def __str__(self) -> str:
        """Say it in a sentence."""
        side = "below" if self.limit == "precision" else "above"
        spans = ", ".join(f"{c.cost_ratio_low:.4g} to {c.cost_ratio_high:.4g}" for c in self.where)
        return (
            f"{self.limit} {self.worst:.4g} is {self.missed_by:.4g} {side} {self.bound:.6g}, "
            f"at cost ratios {spans} (probability {self.probability:.3g})"
        )


@dataclass(frozen=True, eq=False)
class PolicyEvaluation:
    """A policy's account on one set of cases, its thresholds fixed beforehand.

    Attributes
    ----------
    expected_cost : float
        Expected normalised cost over the cost distribution, in [0, 1]; lower is better. It uses
        the class sizes of these cases.
    mean_precision : float
        Expected precision of the deployed threshold, over the costs at which it raises any alarm
        (no alarm, no precision); NaN when it never does.
    mean_alarms : float
        Expected number of alarms among these cases.
    max_alarms : float
        The capacity as a number of alarms among these cases.
    choices : tuple of Choice
        The thresholds that are deployed at some possible cost, with what each does here.
    probabilities : ndarray
        Probability of the costs at which each is deployed.
    violations : tuple of Violation
        One for each limit that some deployed threshold breaks.
    """

    expected_cost: float
    mean_precision: float
    mean_alarms: float
    max_alarms: float
    choices: tuple[Choice, ...]
    probabilities: FloatArray
    violations: tuple[Violation, ...]

    @property
    def satisfied(self) -> bool:
        """Whether every deployed threshold keeps both limits."""
        return not self.violations

    def frame(self, backend: str | None = None) -> Any:
        """Return the deployed thresholds as a data frame, one row per interval of the cost."""
        names = list(Choice.__dataclass_fields__)
        rows = {name: [getattr(choice, name) for choice in self.choices] for name in names}
        rows["probability"] = self.probabilities.tolist()
        for limit in ("precision", "capacity"):
            broken = {c for v in self.violations if v.limit == limit for c in v.where}
            rows[f"keeps_{limit}"] = [choice not in broken for choice in self.choices]
        return make_frame(rows, backend)

    def __repr__(self) -> str:
        """Show the account as text."""
        lines = (
            f"expected cost   {self.expected_cost:.6f}",
            f"mean precision  {self.mean_precision:.4f}",
            f"mean alarms     {self.mean_alarms:.6g} (capacity {self.max_alarms:.6g})",
            f"limits kept     {'yes' if self.satisfied else 'no'}",
            *map(str, self.violations),
        )
        return "\n".join(lines)


def account(
    points: OperatingPoints, scenario: Scenario, thresholds: FloatArray, switches: FloatArray
) -> PolicyEvaluation:
    """Account for ``thresholds[i]`` deployed between cost ratios ``switches[i-1], switches[i]``.

    Parameters
    ----------
    points : OperatingPoints
        Of the new cases: every distinct score, as `OperatingPoints.from_scores` gives them.
    scenario : Scenario
        If it names a prevalence, the new cases are reweighted to it.
    thresholds : ndarray of shape (n_intervals,)
    switches : ndarray of shape (n_intervals - 1,)
        Rising cost ratios; at a switch the threshold above it is deployed.
    """
    rows = alarm_rows(points, thresholds)
    cases = points.at_prevalence(scenario.prevalence)
    odds = cases.negatives_per_positive
    probability, t_integral = cost_moments(scenario.costs, switches, odds)
    deployed = np.flatnonzero(probability > 0)
    rows, probability, t_integral = rows[deployed], probability[deployed], t_integral[deployed]
    choices = _choices(cases, scenario, thresholds, switches, deployed, rows)
    miss_rate = 1.0 - cases.tpr[rows]
    cost = t_integral @ cases.fpr[rows] + (probability - t_integral) @ miss_rate
    max_alarms = scenario.max_alarms(cases.n_cases, one_case=0.0)
    return PolicyEvaluation(
        float(cost),
        _mean_precision(choices, probability),
        float(probability @ cases.alarms[rows]),
        max_alarms,
        choices,
        probability,
        _violations(cases, scenario, max_alarms, rows, choices, probability),
    )


def alarm_rows(points: OperatingPoints, thresholds: FloatArray) -> AnyArray:
    """Find the operating point at which ``score >= threshold``, for each threshold."""
    if np.isnan(points.thresholds).any():
        raise ValueError("points carry no thresholds, so fixed thresholds cannot be looked up")
    points.check_thresholds(thresholds)
    rows = np.searchsorted(-points.thresholds, -thresholds, side="right") - 1
    beyond = thresholds < points.thresholds[-1]
    if beyond.any() and points.alarms[-1] < points.n_cases:
        raise ValueError(
            f"points end at threshold {points.thresholds[-1]:g}, and threshold "
            f"{thresholds[beyond][0]:g} lies beyond; points of every distinct score are needed, as "
            "OperatingPoints.from_scores gives"
        )
    return np.asarray(rows)


def _choices(
    cases: OperatingPoints,
    scenario: Scenario,
    thresholds: FloatArray,
    switches: FloatArray,
    deployed: AnyArray,
    rows: AnyArray,
) -> tuple[Choice, ...]:
    low, high = scenario.costs.ratio_range(cases.negatives_per_positive)
    starts = np.clip(np.append(0.0, switches), low, high)[deployed]
    ends = np.clip(np.append(switches, np.inf), low, high)[deployed]
    set_at = thresholds[deployed]
    at_thresholds = OperatingPoints(
        set_at, cases.tp[rows], cases.fp[rows], cases.n_positive, cases.n_negative
    )
    return tuple(
        Choice.at(at_thresholds, i, float(starts[i]), float(ends[i])) for i in range(len(rows))
    )


def _mean_precision(choices: tuple[Choice, ...], probability: FloatArray) -> float:
    raising = np.array([not choice.never_alarm for choice in choices])
    if not raising.any():
        return float("nan")
    precision = np.array([choice.precision for choice in choices])[raising]
    return float(np.average(precision, weights=probability[raising]))


def _violations(
    cases: OperatingPoints,
    scenario: Scenario,
    max_alarms: float,
    rows: AnyArray,
    choices: tuple[Choice, ...],
    probability: FloatArray,
) -> tuple[Violation, ...]:
    found = []
    imprecise = ~cases.precise_enough(scenario.min_precision)[rows]
    if imprecise.any():
        where, share = _broken(imprecise, choices, probability)
        floor, least = scenario.min_precision, min(choice.precision for choice in where)
        found.append(Violation("precision", floor, least, floor - least, share, where))
    crowded = ~cases.within_capacity(max_alarms)[rows]
    if crowded.any():
        where, share = _broken(crowded, choices, probability)
        most = max(choice.alarms for choice in where)
        found.append(Violation("capacity", max_alarms, most, most - max_alarms, share, where))
    return tuple(found)


def _broken(
    broken: BoolArray, choices: tuple[Choice, ...], probability: FloatArray
) -> tuple[tuple[Choice, ...], float]:
    where = tuple(choices[i] for i in np.flatnonzero(broken))
    return where, float(probability[broken].sum())
