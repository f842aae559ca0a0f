"""What thresholds were decided on, and how: cases, limits, strategy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from voros.core.worth import ThresholdOn

if TYPE_CHECKING:
    from voros.core.operating_points import OperatingPoints

PolicyStrategy: TypeAlias = Literal[
    "partial_voros", "voros", "partial_auroc", "recall", "expected_cost", "single"
]
POLICY_STRATEGIES: tuple[PolicyStrategy, ...] = get_args(PolicyStrategy)

COST_AWARE: tuple[PolicyStrategy, ...] = ("partial_voros", "voros", "expected_cost")
"""Strategies that deploy another threshold when the cost ratio is another."""

BY_RECALL: tuple[PolicyStrategy, ...] = ("partial_auroc", "recall")
"""Strategies that deploy the threshold of greatest recall."""


@dataclass(frozen=True, kw_only=True)
class PolicyValues:
    """What the validation cases were worth, and what thresholds are compared with.

    Attributes
    ----------
    miss_value : float
        The sum over the positives, at the scenario's prevalence if it names one.
    false_alarm_cost : float
        The sum over the negatives.
    threshold_on : {"score", "value"}
        "value" is score times the miss value of the case.
    """

    miss_value: float
    false_alarm_cost: float
    threshold_on: ThresholdOn = "score"

    @classmethod
    def from_points(cls, points: OperatingPoints) -> PolicyValues | None:
        """Take the sums of points whose cases have values; None for any others."""
        worth = points.worth
        return (
            None
            if worth is None
            else cls(miss_value=float(worth.n_positive), false_alarm_cost=float(worth.n_negative))
        )


@dataclass(frozen=True, kw_only=True)
class Origin:
    """What thresholds were decided on, and by which version of voros.

    Attributes
    ----------
    n_positive, n_negative : float
        Validation cases of each class as observed, or the sums of their weights.
    n_groups : int or None
        How many patients they belong to, where that was said.
    n_periods : int or None
        How many periods they fall in, where the capacity is one per period.
    period_correlation : float or None
        Of the alarms of neighbouring periods, or blocks of them, at the most lenient threshold
        that a guarantee allows.
    version : str
    n_development : int or None
        On how many development cases model and thresholds were fixed before the validation cases
        certified them, where that was so.
    n_planned : int or None
        How many thresholds were fixed there, to be tested in sequence.
    n_stays : int or None
    patient_days : float or None
        Of alarms over stays: how many stays there were, and how long, at the scenario's prevalence.

    Examples
    --------
    >>> import voros
    >>> scenario = voros.Scenario(min_precision=0.5, capacity=0.5, cost_ratio=(0.1, 0.2))
    >>> policy = voros.ThresholdPolicy.from_validation([0, 1, 0, 1], [0.1, 0.9, 0.8, 0.7], scenario)
    >>> origin = policy.origin
    >>> origin.n_positive, origin.n_negative, origin.version == voros.__version__
    (2, 2, True)
    """

    n_positive: float
    n_negative: float
    n_groups: int | None
    n_periods: int | None
    period_correlation: float | None
    version: str
    n_development: int | None = None
    n_planned: int | None = None
    n_stays: int | None = None
    patient_days: float | None = None

    @property
    def has_repeated_groups(self) -> bool:
        """Whether some patient is known to have several of the cases."""
        return self.n_groups is not None and self.n_groups < self.n_positive + self.n_negative

    @property
    def plan(self) -> str:
        """How thresholds were fixed before validation, in words; empty where they were not."""
        if self.n_development is None or self.n_planned is None:
            return ""
        one = self.n_planned == 1
        tested = "one threshold" if one else f"{self.n_planned:,} thresholds in sequence"
        return f"tested {tested}, fixed on {self.n_development:,} development cases"
