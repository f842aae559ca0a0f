"""One capacity for several alarms, or for several groups of cases."""

from voros.allocation.allocate import allocate
from voros.allocation.joint_evaluation import JointEvaluation, StreamEvaluation
from voros.allocation.joint_policy import JointPolicy
from voros.allocation.problem import JointChoice, JointPromise
from voros.core.shared_capacity import Certificate

__all__ = [
    "Certificate",
    "JointChoice",
    "JointEvaluation",
    "JointPolicy",
    "JointPromise",
    "StreamEvaluation",
    "allocate",
]
