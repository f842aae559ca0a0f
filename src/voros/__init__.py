"""Choose and deploy binary classifiers that must live within limits."""

from voros import costs
from voros.deployment import PolicyEvaluation, Violation
from voros.evaluation import Choice, Evaluation, evaluate, evaluate_points
from voros.exceptions import (
    CostRangeWarning,
    InfeasibleError,
    NeverAlarmWarning,
    VorosWarning,
)
from voros.metrics import partial_voros_score, voros_score
from voros.policy import ThresholdPolicy
from voros.region import Region, RegionCase, feasible_region
from voros.roc import OperatingPoints
from voros.scenario import Scenario
from voros.selection import ModelScores, Selection, select_model, select_points

__version__ = "0.1.0"

__all__ = [
    "Choice",
    "CostRangeWarning",
    "Evaluation",
    "InfeasibleError",
    "ModelScores",
    "NeverAlarmWarning",
    "OperatingPoints",
    "PolicyEvaluation",
    "Region",
    "RegionCase",
    "Scenario",
    "Selection",
    "ThresholdPolicy",
    "Violation",
    "VorosWarning",
    "costs",
    "evaluate",
    "evaluate_points",
    "feasible_region",
    "partial_voros_score",
    "select_model",
    "select_points",
    "voros_score",
]
