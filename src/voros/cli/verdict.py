"""Whether the alarms of a policy keep the limits it was made for."""

from __future__ import annotations

import math
from dataclasses import dataclass

from voros.core.arrays import BoolArray
from voros.io import Predictions
from voros.policy import ThresholdPolicy
from voros.policy.deployment import PolicyEvaluation
from voros.present.report.wording import number


@dataclass(frozen=True)
class Verdict:
    """Alarms among new cases, against the capacity and, where labels are known, the floor.

    What labels would tell is None where there are none. With labels, everything but `cases` and
    `alarms` is what `ThresholdPolicy.evaluate` finds, at the prevalence that the policy names.
    """

    cases: int
    alarms: int
    max_alarms: float
    within_capacity: bool
    min_precision: float
    judged_alarms: float
    precision: float | None = None
    recall: float | None = None
    precise_enough: bool | None = None

    @classmethod
    def of(
        cls,
        policy: ThresholdPolicy,
        cases: Predictions,
        column: str,
        alarms: BoolArray,
        cost_ratio: float | None,
    ) -> Verdict:
        """Judge what was deployed."""
        if not _can_be_evaluated(policy, cases):
            return cls._without_labels(policy, alarms)
        tested = policy.evaluate(
            cases.labels, cases.of(column), cost_ratio=cost_ratio, sample_weight=cases.weights
        )
        return cls._with_labels(tested, alarms)

    @classmethod
    def _without_labels(cls, policy: ThresholdPolicy, alarms: BoolArray) -> Verdict:
        n_cases, raised = len(alarms), int(alarms.sum())
        most = policy.scenario.max_alarms(n_cases, one_case=0.0)
        return cls(n_cases, raised, most, raised <= most, policy.scenario.min_precision, raised)

    @classmethod
    def _with_labels(cls, tested: PolicyEvaluation, alarms: BoolArray) -> Verdict:
        broken = {violation.limit for violation in tested.violations}
        raised = int(alarms.sum())
        return cls(
            len(alarms),
            raised,
            tested.max_alarms,
            "capacity" not in broken,
            tested.scenario.min_precision,
            tested.mean_alarms,
            _known(tested.mean_precision),
            _known(tested.mean_recall),
            "precision" not in broken if raised else None,
        )

    @property
    def kept(self) -> bool:
        """Whether no limit is known to be broken."""
        return self.within_capacity and self.precise_enough is not False

    @property
    def words(self) -> str:
        """The verdict in one line."""
        judged = (
            ""
            if math.isclose(self.judged_alarms, self.alarms)
            else f", {number(self.judged_alarms)} at the prevalence of the policy"
        )
        line = (
            f"{self.alarms:,} alarms in {self.cases:,} cases ({self.alarms / self.cases:.2%})"
            f"{judged}, capacity {number(self.max_alarms)}: "
            f"{'kept' if self.within_capacity else 'exceeded'}"
        )
        if self.precision is None:
            return line
        return (
            f"{line}; precision {self.precision:.4f}, floor {self.min_precision:g}: "
            f"{'kept' if self.precise_enough else 'broken'}; recall {number(self.recall or 0.0)}"
        )


def _can_be_evaluated(policy: ThresholdPolicy, cases: Predictions) -> bool:
    """Whether labels are there, and of both classes where they stand for another prevalence."""
    if cases.positive is None:
        return False
    both = bool(cases.positive.any() and not cases.positive.all())
    return both or policy.scenario.prevalence is None


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value
