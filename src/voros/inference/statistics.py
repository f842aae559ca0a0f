"""Metrics of resamples: scores, expected cost, and the threshold to deploy."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from voros.core.decision import at_deployment, partial_voros_of, solve, trapezoid
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario
from voros.core.volume import expected_costs
from voros.core.worth import ThresholdOn
from voros.exceptions import VorosWarning
from voros.inference.resampling import Ranked, Statistic
from voros.policy.allowed import choose
from voros.policy.applied_thresholds import AppliedThresholds
from voros.typing import AnyArray, FloatArray

Metric: TypeAlias = Literal[
    "partial_voros", "voros", "partial_auroc", "recall", "auroc", "expected_cost", "threshold"
]
METRICS: tuple[Metric, ...] = get_args(Metric)
MetricFunction: TypeAlias = Callable[[OperatingPoints, Scenario], float]
MetricLike: TypeAlias = Metric | AppliedThresholds | MetricFunction


@dataclass(frozen=True, kw_only=True)
class Measure:
    """A metric, ready to be computed of any resample.

    Attributes
    ----------
    name : str
    compute : callable
        From the operating points of several resamples to a number for each.
    worthwhile_only : bool
        Whether thresholds at a positive's score suffice.
    lower_is_better : bool
    curve : Scenario or None
        The costs and limits that the metric is computed with, where a better curve never makes it
        worse; None where it might.
    deployed : ndarray or None
        The thresholds of a policy; None where thresholds are chosen on the cases.
    threshold_on : {"score", "value"}
        What they are compared with.
    """

    name: str
    compute: Statistic
    worthwhile_only: bool = False
    lower_is_better: bool = False
    curve: Scenario | None = None
    deployed: FloatArray | None = None
    threshold_on: ThresholdOn = "score"

    @classmethod
    def from_metric(cls, metric: MetricLike, scenario: Scenario) -> Measure:
        """Read the argument ``metric`` of `voros.bootstrap`."""
        if isinstance(metric, AppliedThresholds):
            return cls.from_policy(metric)
        if callable(metric):
            name = getattr(metric, "__name__", type(metric).__name__)
            return cls(name=name, compute=one_by_one(partial(_user_metric, metric, scenario)))
        if not isinstance(metric, str) or metric not in METRICS:
            raise ValueError(
                f"metric={metric!r}; accepted are {', '.join(map(repr, METRICS))}, a "
                "ThresholdPolicy, or a function of operating points and scenario"
            )
        limits = scenario.without_limits() if metric == "voros" else scenario
        rises_with_curve = metric in ("partial_voros", "voros", "recall", "expected_cost")
        return cls(
            name=metric,
            compute=_statistic(metric, limits),
            worthwhile_only=metric not in ("partial_auroc", "auroc"),
            lower_is_better=metric == "expected_cost",
            curve=limits if rises_with_curve else None,
        )

    def rows(self, ranked: Ranked) -> AnyArray | None:
        """Return the rows of a model's thresholds that count; None where any may."""
        if self.deployed is None:
            return None
        return np.searchsorted(-ranked.thresholds, -self.deployed, side="right") - 1

    @classmethod
    def from_policy(cls, policy: AppliedThresholds) -> Measure:
        """Return what a policy costs with a fixed threshold for each cost."""

        def cost(points: OperatingPoints) -> float:
            return policy.evaluate(points, by_cost=True).expected_cost

        return cls(
            name="expected_cost",
            compute=one_by_one(cost),
            lower_is_better=True,
            curve=policy.scenario,
            deployed=policy.thresholds,
            threshold_on=policy.threshold_on,
        )

    @classmethod
    def from_alarms(cls, scenario: Scenario) -> Measure:
        """Return the cost of decided cases, which score 1 with an alarm and 0 without."""

        def cost(points: OperatingPoints) -> float:
            costs = expected_costs(at_deployment(points, scenario).costed, scenario.costs)
            return float(costs[np.count_nonzero(points.thresholds >= 1) - 1])

        return cls(
            name="expected_cost",
            compute=one_by_one(cost),
            lower_is_better=True,
            curve=scenario,
            deployed=np.array([1.0]),
        )


def one_by_one(function: Callable[[OperatingPoints], Any]) -> Statistic:
    """Turn a function of one curve into one of several."""
    return lambda batch: np.array([function(points) for points in batch], dtype=np.float64)


def metric_in_words(metric: str) -> str:
    """Write the name of a metric for people."""
    if metric not in METRICS:
        return metric
    return metric.replace("_", " ").replace("voros", "VOROS").replace("auroc", "AUROC")


def _user_metric(metric: MetricFunction, scenario: Scenario, points: OperatingPoints) -> float:
    # It may call public functions, whose warnings about one resample do not matter.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VorosWarning)
        return float(metric(points, scenario))


def _statistic(metric: Metric, limits: Scenario) -> Statistic:
    if metric == "auroc":
        return one_by_one(trapezoid)
    if metric == "threshold":
        return one_by_one(
            lambda points: choose(solve(points, limits), "partial_voros")[1].threshold
        )
    if metric in ("partial_voros", "voros"):
        # The closed form takes the volumes of several curves in one go.
        return lambda batch: partial_voros_of(
            [solve(points, limits) for points in batch], limits.costs
        )
    return one_by_one(lambda points: solve(points, limits).score(metric))
