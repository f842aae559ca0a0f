"""By which rule a policy takes its thresholds from those that are allowed."""

from __future__ import annotations

from functools import partial
from typing import Literal, TypeAlias, get_args

import numpy as np

from voros.core.expected_cost import mean_t
from voros.evaluation import Choice
from voros.policy.allowed import AllowedThresholds

PolicyStrategy: TypeAlias = Literal["partial_voros", "voros", "partial_auroc", "recall", "single"]
POLICY_STRATEGIES: tuple[PolicyStrategy, ...] = get_args(PolicyStrategy)

COST_AWARE: tuple[PolicyStrategy, ...] = ("partial_voros", "voros")
"""Strategies that deploy another threshold when the cost ratio is another."""


def choose(
    allowed: AllowedThresholds, strategy: PolicyStrategy
) -> tuple[tuple[Choice, ...], Choice]:
    """Return the threshold for each interval of the cost ratio, and the default one."""
    default = Choice.at(allowed.points, _default_row(allowed, strategy), 0.0, np.inf)
    return (_choices_by_cost(allowed) if strategy in COST_AWARE else (default,)), default


def _default_row(allowed: AllowedThresholds, strategy: PolicyStrategy) -> int:
    if strategy in ("recall", "partial_auroc"):
        return allowed.highest_recall
    # The normalised cost is linear in t, so its mean over the costs is its value at the mean t.
    odds, hull = allowed.points.negatives_per_positive, allowed.hull
    t = mean_t(allowed.scenario.costs, odds)
    ratio = t / (1.0 - t) / odds if t < 1 else np.inf
    return int(hull.index[hull.best(np.array([ratio]))[0]])


def _choices_by_cost(allowed: AllowedThresholds) -> tuple[Choice, ...]:
    hull, leave = allowed.hull, allowed.hull.leave
    # Thresholds on one line leave an empty interval, and so does never alarm where some other
    # threshold has true positives only.
    used = np.flatnonzero(leave < hull.enter)[::-1]
    described = partial(Choice.at, allowed.points)
    return tuple(map(described, hull.index[used], leave[used].tolist(), hull.enter[used].tolist()))
