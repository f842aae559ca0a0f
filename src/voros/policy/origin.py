"""The validation data behind a policy: cases, values and strategies."""

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
"""Strategies whose threshold depends on the cost ratio."""

BY_RECALL: tuple[PolicyStrategy, ...] = ("partial_auroc", "recall")
"""Strategies that deploy the threshold of greatest recall."""

STRATEGY_WORDS: dict[PolicyStrategy, str] = {
    **dict.fromkeys(COST_AWARE, "the threshold of least cost at each cost ratio"),
    **dict.fromkeys(BY_RECALL, "one threshold, of greatest recall"),
    "single": "one threshold, of least expected cost",
}
"""What each strategy deploys, in words."""


@dataclass(frozen=True, kw_only=True)
class PolicyValues:
    """Sums of the values of validation cases, and what thresholds are compared with.

    Attributes
    ----------
    miss_value : float
        Sum over the positives, at the scenario's prevalence if it names one.
    false_alarm_cost : float
        Sum over the negatives.
    threshold_on : {"score", "value"}
        "value" is score times the miss value of the case.
    """

    miss_value: float
    false_alarm_cost: float
    threshold_on: ThresholdOn = "score"

    @classmethod
    def from_points(cls, points: OperatingPoints) -> PolicyValues | None:
        """Return the sums of points whose cases have values; None for other points."""
        if points.worth is None:
            return None
        sums = float(points.worth.n_positive), float(points.worth.n_negative)
        return cls(miss_value=sums[0], false_alarm_cost=sums[1])


@dataclass(frozen=True, kw_only=True)
class Origin:
    """The cases on which thresholds were decided, and the version of voros that did.

    Attributes
    ----------
    n_positive, n_negative : float
        Validation cases of each class as observed, or the sums of their weights.
    n_groups : int or None
        Number of patients, where groups were given.
    n_periods : int or None
        Number of periods, where the capacity is one per period.
    period_correlation : float or None
        Correlation of the alarms of neighbouring periods, or blocks of them, at the most lenient
        threshold that a guarantee allows.
    version : str
    n_development : int or None
        Number of development cases that fixed model and thresholds, where there were some.
    n_planned : int or None
        Number of thresholds that they fixed, to be tested in sequence.
    n_stays : int or None
        Number of stays, for alarms over stays.
    patient_days : float or None
        Length of the stays, at the scenario's prevalence.

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
        """Whether some patient is known to have several cases."""
        return self.n_groups is not None and self.n_groups < self.n_positive + self.n_negative

    @property
    def plan(self) -> str:
        """How thresholds were fixed on development cases, in words; empty without any."""
        if self.n_development is None or self.n_planned is None:
            return ""
        one = self.n_planned == 1
        tested = "one threshold" if one else f"{self.n_planned:,} thresholds in sequence"
        return f"tested {tested}, fixed on {self.n_development:,} development cases"
