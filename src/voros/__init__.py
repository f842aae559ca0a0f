"""Choose and deploy binary classifiers that must live within limits."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from voros.allocation import (
        GroupThresholds,
        JointPolicy,
        allocate,
        allocate_points,
        compare_group_thresholds,
    )
    from voros.core import costs
    from voros.core.geometry import Choice, Region, RegionCase, feasible_region
    from voros.core.operating_points import OperatingPoints
    from voros.core.periods import Periods
    from voros.core.scenario import Scenario
    from voros.core.subgroups import Subgroups
    from voros.estimators import ConstrainedThresholdClassifier, make_scorer
    from voros.evaluation import Evaluation, evaluate, evaluate_points
    from voros.exceptions import (
        CostRangeWarning,
        DoubtfulColumnWarning,
        FewGroupsWarning,
        InfeasibleError,
        InvertedCostsWarning,
        NeverAlarmWarning,
        OneAlarmWarning,
        OneClassWarning,
        PositiveClassWarning,
        PredictionFileError,
        UnsettledError,
        VorosWarning,
    )
    from voros.guarantee import Guarantee, cases_needed
    from voros.inference import Bootstrap, Comparison, bootstrap, compare, compare_policies
    from voros.metrics import partial_voros_score, voros_score
    from voros.monitoring import Monitor
    from voros.policy import (
        GroupEvaluation,
        GroupResult,
        Origin,
        PeriodEvaluation,
        PolicyEvaluation,
        PrevalenceBand,
        ThresholdPolicy,
        Violation,
        Worklist,
        WorklistEvaluation,
        worklist,
    )
    from voros.selection import ModelScores, Selection, select_model, select_points
    from voros.sites import SiteCounts
    from voros.winners import WinnerMap, winner_map, winner_map_points

__version__ = "0.1.0"

__all__ = [
    "Bootstrap",
    "Choice",
    "Comparison",
    "ConstrainedThresholdClassifier",
    "CostRangeWarning",
    "DoubtfulColumnWarning",
    "Evaluation",
    "FewGroupsWarning",
    "GroupEvaluation",
    "GroupResult",
    "GroupThresholds",
    "Guarantee",
    "InfeasibleError",
    "InvertedCostsWarning",
    "JointPolicy",
    "ModelScores",
    "Monitor",
    "NeverAlarmWarning",
    "OneAlarmWarning",
    "OneClassWarning",
    "OperatingPoints",
    "Origin",
    "PeriodEvaluation",
    "Periods",
    "PolicyEvaluation",
    "PositiveClassWarning",
    "PredictionFileError",
    "PrevalenceBand",
    "Region",
    "RegionCase",
    "Scenario",
    "Selection",
    "SiteCounts",
    "Subgroups",
    "ThresholdPolicy",
    "UnsettledError",
    "Violation",
    "VorosWarning",
    "WinnerMap",
    "Worklist",
    "WorklistEvaluation",
    "allocate",
    "allocate_points",
    "bootstrap",
    "cases_needed",
    "compare",
    "compare_group_thresholds",
    "compare_policies",
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
    "worklist",
]

HOMES = {
    "allocation": "GroupThresholds JointPolicy allocate allocate_points compare_group_thresholds",
    "core.operating_points": "OperatingPoints",
    "core.geometry": "Choice Region RegionCase feasible_region",
    "core.periods": "Periods",
    "core.scenario": "Scenario",
    "core.subgroups": "Subgroups",
    "estimators": "ConstrainedThresholdClassifier make_scorer",
    "evaluation": "Evaluation evaluate evaluate_points",
    "exceptions": "CostRangeWarning DoubtfulColumnWarning FewGroupsWarning InfeasibleError "
    "InvertedCostsWarning NeverAlarmWarning OneAlarmWarning OneClassWarning "
    "PositiveClassWarning PredictionFileError UnsettledError VorosWarning",
    "guarantee": "Guarantee cases_needed",
    "inference": "Bootstrap Comparison bootstrap compare compare_policies",
    "metrics": "partial_voros_score voros_score",
    "monitoring": "Monitor",
    "policy": "GroupEvaluation GroupResult Origin PeriodEvaluation PolicyEvaluation "
    "PrevalenceBand ThresholdPolicy Violation Worklist WorklistEvaluation worklist",
    "selection": "ModelScores Selection select_model select_points",
    "sites": "SiteCounts",
    "winners": "WinnerMap winner_map winner_map_points",
}
"""Where the public names live: nothing is imported before it is used."""

_HOME_OF = {name: home for home, names in HOMES.items() for name in names.split()}

PARTS = (
    "allocation cli core datasets devices engines estimators frameworks guarantee inference io "
    "monitoring plotting policy present studies text torch"
)
MODULES = {"costs": "core.costs", **{name: name for name in PARTS.split()}}
"""Parts that ``import voros`` alone gives access to, and where they are."""


def __getattr__(name: str) -> Any:
    """Import a public name when it is used, and keep it."""
    if name in MODULES:
        return import_module(f"voros.{MODULES[name]}")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'voros' has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f"voros.{_HOME_OF[name]}"), name)
    return found


def __dir__() -> list[str]:
    """List the public names, imported or not."""
    return sorted({*globals(), *__all__, *MODULES})
