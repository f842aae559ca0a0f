"""Choose and deploy binary classifiers that must live within limits."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from voros.alarms import AlarmRule as AlarmRule
    from voros.alarms import alarm_points as alarm_points
    from voros.allocation import GroupThresholds as GroupThresholds
    from voros.allocation import JointPolicy as JointPolicy
    from voros.allocation import allocate as allocate
    from voros.allocation import allocate_points as allocate_points
    from voros.allocation import compare_group_thresholds as compare_group_thresholds
    from voros.core import costs as costs
    from voros.core.geometry import Choice as Choice
    from voros.core.geometry import Region as Region
    from voros.core.geometry import RegionCase as RegionCase
    from voros.core.geometry import feasible_region as feasible_region
    from voros.core.money import MoneyCost as MoneyCost
    from voros.core.operating_points import OperatingPoints as OperatingPoints
    from voros.core.periods import Periods as Periods
    from voros.core.scenario import Scenario as Scenario
    from voros.core.subgroups import Subgroups as Subgroups
    from voros.decision_curves import DecisionCurve as DecisionCurve
    from voros.decision_curves import net_benefit as net_benefit
    from voros.estimators import ConstrainedThresholdClassifier as ConstrainedThresholdClassifier
    from voros.estimators import make_scorer as make_scorer
    from voros.evaluation import Evaluation as Evaluation
    from voros.evaluation import evaluate as evaluate
    from voros.evaluation import evaluate_points as evaluate_points
    from voros.exceptions import CostRangeWarning as CostRangeWarning
    from voros.exceptions import DependentPeriodsWarning as DependentPeriodsWarning
    from voros.exceptions import DoubtfulColumnWarning as DoubtfulColumnWarning
    from voros.exceptions import FewCasesWarning as FewCasesWarning
    from voros.exceptions import FewGroupsWarning as FewGroupsWarning
    from voros.exceptions import IncompleteCountsError as IncompleteCountsError
    from voros.exceptions import InfeasibleError as InfeasibleError
    from voros.exceptions import InvertedCostsWarning as InvertedCostsWarning
    from voros.exceptions import LowConfidenceWarning as LowConfidenceWarning
    from voros.exceptions import NeverAlarmWarning as NeverAlarmWarning
    from voros.exceptions import OneAlarmWarning as OneAlarmWarning
    from voros.exceptions import OneClassWarning as OneClassWarning
    from voros.exceptions import PositiveClassWarning as PositiveClassWarning
    from voros.exceptions import PredictionFileError as PredictionFileError
    from voros.exceptions import VorosWarning as VorosWarning
    from voros.guarantee import Guarantee as Guarantee
    from voros.guarantee import cases_needed as cases_needed
    from voros.inference import Bootstrap as Bootstrap
    from voros.inference import Comparison as Comparison
    from voros.inference import bootstrap as bootstrap
    from voros.inference import compare as compare
    from voros.inference import compare_policies as compare_policies
    from voros.metrics import partial_voros_score as partial_voros_score
    from voros.metrics import voros_score as voros_score
    from voros.monitoring import Monitor as Monitor
    from voros.policy import GroupEvaluation as GroupEvaluation
    from voros.policy import GroupResult as GroupResult
    from voros.policy import Origin as Origin
    from voros.policy import PeriodEvaluation as PeriodEvaluation
    from voros.policy import PolicyEvaluation as PolicyEvaluation
    from voros.policy import PrevalenceBand as PrevalenceBand
    from voros.policy import ThresholdPolicy as ThresholdPolicy
    from voros.policy import Violation as Violation
    from voros.policy import Worklist as Worklist
    from voros.policy import WorklistEvaluation as WorklistEvaluation
    from voros.policy import worklist as worklist
    from voros.selection import ModelScores as ModelScores
    from voros.selection import Selection as Selection
    from voros.selection import select_model as select_model
    from voros.selection import select_points as select_points
    from voros.sites import SiteCounts as SiteCounts
    from voros.winners import WinnerMap as WinnerMap
    from voros.winners import winner_map as winner_map
    from voros.winners import winner_map_points as winner_map_points

__version__ = "0.1.0"

HOMES = {
    "alarms": "AlarmRule alarm_points",
    "allocation": "GroupThresholds JointPolicy allocate allocate_points compare_group_thresholds",
    "core": "costs",
    "core.money": "MoneyCost",
    "core.operating_points": "OperatingPoints",
    "core.geometry": "Choice Region RegionCase feasible_region",
    "core.periods": "Periods",
    "core.scenario": "Scenario",
    "core.subgroups": "Subgroups",
    "decision_curves": "DecisionCurve net_benefit",
    "estimators": "ConstrainedThresholdClassifier make_scorer",
    "evaluation": "Evaluation evaluate evaluate_points",
    "exceptions": "CostRangeWarning DependentPeriodsWarning DoubtfulColumnWarning "
    "FewCasesWarning FewGroupsWarning IncompleteCountsError InfeasibleError InvertedCostsWarning "
    "LowConfidenceWarning NeverAlarmWarning OneAlarmWarning OneClassWarning PositiveClassWarning "
    "PredictionFileError VorosWarning",
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
__all__ = list(_HOME_OF)

PARTS = (
    "alarms allocation cli core datasets devices engines estimators frameworks guarantee inference "
    "io monitoring plotting policy present text torch"
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
