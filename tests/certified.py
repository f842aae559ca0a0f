"""Policies with a guarantee for simulations, without the text that says what would pass."""

from __future__ import annotations

from voros import Guarantee, OperatingPoints, Scenario, ThresholdPolicy
from voros.policy.origin import PolicyStrategy
from voros.policy.threshold_policy import climbed


def certified_policy(
    points: OperatingPoints,
    scenario: Scenario,
    guarantee: Guarantee | None,
    strategy: PolicyStrategy = "partial_voros",
) -> ThresholdPolicy:
    """As from_points for one model; where nothing passes the text takes 60 times the work."""
    allowed, _ = climbed(points, scenario, strategy, guarantee, 1, None)
    return ThresholdPolicy.from_allowed(allowed, strategy=strategy)
