"""One capacity for several alarms, or for several groups of cases."""

from voros.allocation.allocate import allocate, capacity_growth
from voros.allocation.choices import JointChoice, JointPromise
from voros.allocation.group_rules import GroupThresholds, compare_group_thresholds
from voros.allocation.joint_evaluation import (
    JointEvaluation,
    StreamEvaluation,
    StreamScore,
    StreamScores,
)
from voros.allocation.joint_policy import JointPolicy
from voros.allocation.problem import CapacityGrowth
from voros.core.shared_capacity import Certificate

__all__ = [
    "CapacityGrowth",
    "Certificate",
    "GroupThresholds",
    "JointChoice",
    "JointEvaluation",
    "JointPolicy",
    "JointPromise",
    "StreamEvaluation",
    "StreamScore",
    "StreamScores",
    "allocate",
    "capacity_growth",
    "compare_group_thresholds",
]
