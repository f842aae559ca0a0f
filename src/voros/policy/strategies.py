"""By which rule a policy takes its thresholds from those that are allowed."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

PolicyStrategy: TypeAlias = Literal["partial_voros", "voros", "partial_auroc", "recall", "single"]
POLICY_STRATEGIES: tuple[PolicyStrategy, ...] = get_args(PolicyStrategy)

COST_AWARE: tuple[PolicyStrategy, ...] = ("partial_voros", "voros")
"""Strategies that deploy another threshold when the cost ratio is another."""
