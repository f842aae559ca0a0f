"""One capacity for several alarms, or for several groups of cases."""

from voros.allocation.allocate import allocate, capacity_growth
from voros.allocation.joint_evaluation import JointEvaluation, StreamEvaluation
from voros.allocation.joint_policy import JointPolicy
from voros.allocation.problem import CapacityGrowth, JointChoice, JointPromise
from voros.core.shared_capacity import Certificate

__all__ = [
    "CapacityGrowth",
    "Certificate",
    "JointChoice",
    "JointEvaluation",
    "JointPolicy",
    "JointPromise",
    "StreamEvaluation",
    "allocate",
    "capacity_growth",
]
