"""Choose and deploy binary classifiers that must live within limits."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from voros import costs
from voros.deployment import PolicyEvaluation, Violation
from voros.evaluation import Choice, Evaluation, evaluate, evaluate_points
from voros.exceptions import (
    CostRangeWarning,
    InfeasibleError,
    NeverAlarmWarning,
    PositiveClassWarning,
    PredictionFileError,
    VorosWarning,
)
from voros.metrics import partial_voros_score, voros_score
from voros.policy import ThresholdPolicy
from voros.region import Region, RegionCase, feasible_region
from voros.roc import OperatingPoints
from voros.scenario import Scenario
from voros.scoring import make_scorer
from voros.selection import ModelScores, Selection, select_model, select_points
from voros.winners import WinnerMap, winner_map, winner_map_points

if TYPE_CHECKING:
    from voros.estimators import ConstrainedThresholdClassifier
    from voros.inference import (
        Bootstrap,
        Comparison,
        Guarantee,
        bootstrap,
        cases_needed,
        compare,
    )

__version__ = "0.1.0"

__all__ = [
    "Bootstrap",
    "Choice",
    "Comparison",
    "ConstrainedThresholdClassifier",
    "CostRangeWarning",
    "Evaluation",
    "Guarantee",
    "InfeasibleError",
    "ModelScores",
    "NeverAlarmWarning",
    "OperatingPoints",
    "PolicyEvaluation",
    "PositiveClassWarning",
    "PredictionFileError",
    "Region",
    "RegionCase",
    "Scenario",
    "Selection",
    "ThresholdPolicy",
    "Violation",
    "VorosWarning",
    "WinnerMap",
    "bootstrap",
    "cases_needed",
    "compare",
    "costs",
    "evaluate",
    "evaluate_points",
    "feasible_region",
    "make_scorer",
    "partial_voros_score",
    "select_model",
    "select_points",
    "voros_score",
    "winner_map",
    "winner_map_points",
]


ROOMS = frozenset({"datasets", "experiments", "inference", "paper", "plotting"})
"""Parts that ``import voros`` alone gives access to, imported when they are used."""

TRUST = frozenset({"Bootstrap", "Comparison", "Guarantee", "bootstrap", "cases_needed", "compare"})
"""Names from `voros.inference`, whose SciPy distributions take long to import."""


def __getattr__(name: str) -> Any:
    """Import what takes long, or needs scikit-learn, when it is used and not before."""
    if name == "ConstrainedThresholdClassifier":
        from voros.estimators import ConstrainedThresholdClassifier

        return ConstrainedThresholdClassifier
    if name in TRUST:
        return getattr(import_module("voros.inference"), name)
    if name in ROOMS:
        return import_module(f"voros.{name}")
    raise AttributeError(f"module 'voros' has no attribute {name!r}")
