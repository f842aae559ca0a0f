"""Pictures: display classes in the manner of scikit-learn, drawn with matplotlib.

Make one with ``from_predictions``, ``from_estimator`` or ``from_points``, which
compute and draw; ``plot(ax=...)`` draws again elsewhere, ``frame()`` gives the data behind the
picture, and what was drawn is kept in attributes that end in an underscore. matplotlib is imported
when something is drawn, not before.
"""

from voros.plotting.area_curve import AreaCurveDisplay
from voros.plotting.calibration_chart import CalibrationDisplay
from voros.plotting.confidence_chart import ConfidenceDisplay
from voros.plotting.decision_curve import DecisionCurveDisplay
from voros.plotting.drawn_bands import draw_bands
from voros.plotting.roc import RocDisplay
from voros.plotting.subgroup_measures import SubgroupDisplay
from voros.plotting.threshold_cost import ThresholdCostDisplay
from voros.plotting.winner_map import WinnerMapDisplay

__all__ = [
    "AreaCurveDisplay",
    "CalibrationDisplay",
    "ConfidenceDisplay",
    "DecisionCurveDisplay",
    "RocDisplay",
    "SubgroupDisplay",
    "ThresholdCostDisplay",
    "WinnerMapDisplay",
    "draw_bands",
]
