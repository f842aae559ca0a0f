"""Choose and deploy binary classifiers that must live within limits."""

from voros import costs
from voros.evaluation import Choice, Evaluation, evaluate, evaluate_points
from voros.exceptions import (
    CostRangeWarning,
    InfeasibleError,
    NeverAlarmWarning,
    VorosWarning,
)
from voros.metrics import partial_voros_score, voros_score
from voros.region import Region, RegionCase, feasible_region
from voros.roc import OperatingPoints
from voros.scenario import Scenario

__version__ = "0.1.0"

__all__ = [
    "Choice",
    "CostRangeWarning",
    "Evaluation",
    "InfeasibleError",
    "NeverAlarmWarning",
    "OperatingPoints",
    "Region",
    "RegionCase",
    "Scenario",
    "VorosWarning",
    "costs",
    "evaluate",
    "evaluate_points",
    "feasible_region",
    "partial_voros_score",
    "voros_score",
]
