"""Pictures: display classes in the manner of scikit-learn, drawn with matplotlib.

Make one with ``from_predictions``, ``from_estimator`` or ``from_points``, which
compute and draw; ``plot(ax=...)`` draws again elsewhere, ``frame()`` gives the data behind the
picture, and what was drawn is kept in attributes that end in an underscore. matplotlib is imported
when something is drawn, not before.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from voros.plotting.area_curve import AreaCurveDisplay as AreaCurveDisplay
    from voros.plotting.calibration_chart import CalibrationDisplay as CalibrationDisplay
    from voros.plotting.confidence_chart import ConfidenceDisplay as ConfidenceDisplay
    from voros.plotting.decision_curve import DecisionCurveDisplay as DecisionCurveDisplay
    from voros.plotting.drawn_bands import draw_bands as draw_bands
    from voros.plotting.roc import RocDisplay as RocDisplay
    from voros.plotting.subgroup_measures import SubgroupDisplay as SubgroupDisplay
    from voros.plotting.threshold_cost import ThresholdCostDisplay as ThresholdCostDisplay
    from voros.plotting.winner_map import WinnerMapDisplay as WinnerMapDisplay

_HOME_OF = {
    "AreaCurveDisplay": "area_curve",
    "CalibrationDisplay": "calibration_chart",
    "ConfidenceDisplay": "confidence_chart",
    "DecisionCurveDisplay": "decision_curve",
    "SubgroupDisplay": "subgroup_measures",
    "RocDisplay": "roc",
    "ThresholdCostDisplay": "threshold_cost",
    "WinnerMapDisplay": "winner_map",
    "draw_bands": "drawn_bands",
}
__all__ = list(_HOME_OF)


def __getattr__(name: str) -> Any:
    """Import a display when it is used: bands need SciPy's distributions, which load slowly."""
    if name not in _HOME_OF:
        raise AttributeError(f"module 'voros.plotting' has no attribute {name!r}")
    display = globals()[name] = getattr(import_module(f"voros.plotting.{_HOME_OF[name]}"), name)
    return display
