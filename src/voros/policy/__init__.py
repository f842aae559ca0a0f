"""Which threshold to deploy at which cost ratio, and what it does on new cases."""

from voros.policy.by_period import PeriodEvaluation
from voros.policy.by_subgroup import SubgroupEvaluation, SubgroupResult
from voros.policy.origin import Origin
from voros.policy.over_stays import StayEvaluation
from voros.policy.policy_evaluation import PolicyEvaluation
from voros.policy.review import ReviewBand, ReviewCounts, review_band
from voros.policy.threshold_policy import ThresholdPolicy
from voros.policy.violations import Violation
from voros.policy.worklists import Worklist, WorklistEvaluation, worklist

__all__ = [
    "Origin",
    "PeriodEvaluation",
    "PolicyEvaluation",
    "ReviewBand",
    "ReviewCounts",
    "StayEvaluation",
    "SubgroupEvaluation",
    "SubgroupResult",
    "ThresholdPolicy",
    "Violation",
    "Worklist",
    "WorklistEvaluation",
    "review_band",
    "worklist",
]
