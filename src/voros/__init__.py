"""Choose and deploy binary classifiers that must live within limits."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from voros.alarms import AlarmRule as AlarmRule
    from voros.alarms import alarm_points as alarm_points
    from voros.allocation import JointPolicy as JointPolicy
    from voros.allocation import allocate as allocate
    from voros.blending import blend as blend
    from voros.core import costs as costs
    from voros.core.geometry import feasible_region as feasible_region
    from voros.core.operating_points import OperatingPoints as OperatingPoints
    from voros.core.periods import Periods as Periods
    from voros.core.scenario import Scenario as Scenario
    from voros.core.subgroups import Subgroups as Subgroups
    from voros.decision_curves import net_benefit as net_benefit
    from voros.estimators import ConstrainedThresholdClassifier as ConstrainedThresholdClassifier
    from voros.estimators import make_scorer as make_scorer
    from voros.evaluation import evaluate as evaluate
    from voros.exceptions import InfeasibleError as InfeasibleError
    from voros.exceptions import NeverAlarmWarning as NeverAlarmWarning
    from voros.exceptions import VorosWarning as VorosWarning
    from voros.guarantee import Guarantee as Guarantee
    from voros.guarantee import cases_needed as cases_needed
    from voros.inference import bootstrap as bootstrap
    from voros.inference import compare as compare
    from voros.inference import compare_policies as compare_policies
    from voros.metrics import partial_voros_score as partial_voros_score
    from voros.metrics import voros_score as voros_score
    from voros.monitoring import Monitor as Monitor
    from voros.policy import ThresholdPolicy as ThresholdPolicy
    from voros.policy import worklist as worklist
    from voros.present.explorer import write_page as write_page
    from voros.present.report import write_report as write_report
    from voros.selection import select_model as select_model
    from voros.sites import SiteCounts as SiteCounts
    from voros.winners import winner_map as winner_map

from voros.core.places import set_reader

__version__ = "0.1.0"

_HOMES = {
    "alarms": "AlarmRule alarm_points",
    "allocation": "JointPolicy allocate",
    "blending": "blend",
    "core": "costs",
    "core.geometry": "feasible_region",
    "core.operating_points": "OperatingPoints",
    "core.periods": "Periods",
    "core.scenario": "Scenario",
    "core.subgroups": "Subgroups",
    "decision_curves": "net_benefit",
    "estimators": "ConstrainedThresholdClassifier make_scorer",
    "evaluation": "evaluate",
    "exceptions": "InfeasibleError NeverAlarmWarning VorosWarning",
    "guarantee": "Guarantee cases_needed",
    "inference": "bootstrap compare compare_policies",
    "metrics": "partial_voros_score voros_score",
    "monitoring": "Monitor",
    "policy": "ThresholdPolicy worklist",
    "present.explorer": "write_page",
    "present.report": "write_report",
    "selection": "select_model",
    "sites": "SiteCounts",
    "winners": "winner_map",
}
"""Where the public names live: nothing is imported before it is used."""

_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}
__all__ = list(_HOME_OF)

_PACKAGES = (
    "alarms allocation blending datasets decision_curves engines estimators evaluation exceptions "
    "guarantee inference io monitoring plotting policy present selection winners"
)
"""Public packages and modules, with the classes of results."""

_INTERNAL = "cli core devices text"
_MODULES = {"costs": "core.costs"} | {name: name for name in f"{_PACKAGES} {_INTERNAL}".split()}
"""What ``import voros`` alone gives access to, and where it is."""


def __getattr__(name: str) -> Any:
    """Import a public name when it is used, and keep it."""
    if name in _MODULES:
        return import_module(f"voros.{_MODULES[name]}")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'voros' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"voros.{_HOME_OF[name]}"), name)
    return value


def _read_on_device(*cases: Any) -> Any:
    """Read cases on a device, by a package that most callers need not wait for."""
    from voros.devices.points import DeviceCurve

    return DeviceCurve.from_cases(*cases)


set_reader(_read_on_device)


def __dir__() -> list[str]:
    """List the public names and packages, imported or not."""
    return sorted({*__all__, *_PACKAGES.split(), "__all__", "__doc__", "__version__"})
