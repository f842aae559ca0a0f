"""Pictures: each a display class in scikit-learn's manner, drawn with matplotlib.

``from_predictions`` and its sisters compute and draw, ``plot(ax=...)`` draws again elsewhere,
``frame()`` gives the data behind the picture, and what was drawn is kept in attributes that end
in an underscore. matplotlib is imported when something is drawn, not before.
"""

from voros.plotting.area_curve import AreaCurveDisplay
from voros.plotting.drawn_bands import draw_bands
from voros.plotting.region_shape import RegionDisplay, region_gallery
from voros.plotting.roc import RocDisplay
from voros.plotting.roc_surface import RocSurfaceDisplay
from voros.plotting.threshold_cost import ThresholdCostDisplay
from voros.plotting.winner_map import WinnerMapDisplay

__all__ = [
    "AreaCurveDisplay",
    "RegionDisplay",
    "RocDisplay",
    "RocSurfaceDisplay",
    "ThresholdCostDisplay",
    "WinnerMapDisplay",
    "draw_bands",
    "region_gallery",
]
