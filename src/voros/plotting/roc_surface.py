"""The ROC surface: iso-performance lines of the best thresholds, stacked by cost."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from voros.core.arguments import check_number
from voros.core.decision import NO_LIMITS, solve
from voros.core.scenario import Scenario, check_scenario
from voros.io.frames import make_frame
from voros.plotting.chords import chord, cost_excess, part_above
from voros.plotting.colours import PINK, ink, model_styles
from voros.plotting.cost_axis import fractional_cost, ratio_at
from voros.plotting.display import ModelDisplay, PointsLike, only_model
from voros.plotting.style import axes_to_draw_on, line_width, type_size
from voros.typing import FloatArray

if TYPE_CHECKING:
    from matplotlib.lines import Line2D

SLICES = 121
"""Values of t at which the surface is drawn, besides those where a threshold takes over."""

ACROSS = 13
"""Points along each iso-performance line."""


class RocSurfaceDisplay(ModelDisplay):
    """The saddle over ROC space whose slice at t is the line of equal cost through the best point.

    The volume on its costlier side, for t uniform on [0, 1], is VOROS.

    Parameters
    ----------
    points : OperatingPoints
    scenario : Scenario, optional
        Limits: the surface is then that of the best feasible thresholds, within the region.

    Attributes
    ----------
    ax_ : Axes3D
    surface_ : Poly3DCollection
    best_ : Line2D
        The best threshold at each height.
    slice_ : Poly3DCollection or None
        The area of lesser classifiers at the height that was asked for.

    Examples
    --------
    >>> import voros
    >>> from voros.plotting import RocSurfaceDisplay
    >>> curve = voros.OperatingPoints.from_points([0.1, 0.3], [0.6, 0.85], 100, 100)
    >>> display = RocSurfaceDisplay.from_points(curve, t=0.4)
    >>> round(display.slice_area(0.4), 4)
    0.9081
    """

    def __init__(self, points: PointsLike, scenario: Scenario | None = None) -> None:
        self.scenario = None if scenario is None else check_scenario(scenario)
        decision = solve(only_model(points), NO_LIMITS if self.scenario is None else self.scenario)
        self.points, self.hull = decision.points, decision.hull
        self.corners = decision.region.vertices

    @cached_property
    def heights(self) -> FloatArray:
        """Values of t at which the surface is drawn."""
        switches = fractional_cost(self.hull.enter, self.points.negatives_per_positive)
        return np.union1d(np.linspace(0.0, 1.0, SLICES), switches)

    def best_point(self, t: float) -> tuple[float, float]:
        """Return FPR and TPR of the best threshold at a fractional cost."""
        ratio = ratio_at([t], self.points.negatives_per_positive)
        chosen = self.hull.index[self.hull.best(ratio)][0]
        return float(self.points.fpr[chosen]), float(self.points.tpr[chosen])

    def slice_polygon(self, t: float) -> FloatArray:
        """Return the corners of the area of lesser classifiers at a fractional cost."""
        return part_above(self.corners, cost_excess(self.corners, *self.best_point(t), t))

    def slice_area(self, t: float) -> float:
        """Return the area of lesser classifiers at a fractional cost."""
        x, y = self.slice_polygon(t).T
        return float(np.dot(x, np.roll(y, -1)) - np.dot(np.roll(x, -1), y)) / 2

    def plot(self, ax: Any = None, *, t: float | None = None) -> Self:
        """Draw on three-dimensional axes, or on a new figure.

        Parameters
        ----------
        ax : Axes3D, optional
        t : float in [0, 1], optional
            Cut a slice at this fractional cost and shade its area of lesser classifiers.
        """
        if t is not None:
            check_number(t, "t")
        if ax is not None and getattr(ax, "name", "") != "3d":
            raise ValueError("ax is flat; this picture needs one made with projection='3d'")
        self.ax_: Any = axes_to_draw_on(ax, projection="3d")
        data = self._lines()
        self.surface_ = self._draw_surface(data)
        self.best_ = self._draw_best()
        self.slice_ = None if t is None else self._draw_slice(t)
        self._format_axes()
        return self

    def frame(self, backend: str | None = None) -> Any:
        """Return one row per height: t, the best threshold there and the ends of its line."""
        ends = self._lines()
        best = np.array([self.best_point(t) for t in self.heights.tolist()])
        columns = {
            "t": self.heights,
            "fpr": best[:, 0],
            "tpr": best[:, 1],
            "start_fpr": ends[:, 0, 0],
            "start_tpr": ends[:, 0, 1],
            "end_fpr": ends[:, 1, 0],
            "end_tpr": ends[:, 1, 1],
            "area": np.array([self.slice_area(t) for t in self.heights.tolist()]),
        }
        return make_frame(columns, backend)

    def _lines(self) -> FloatArray:
        """Both ends of the iso-performance line at each height, within the region."""
        return np.array(
            [
                chord(self.corners, cost_excess(self.corners, *self.best_point(t), t))
                for t in self.heights.tolist()
            ]
        )

    def _draw_surface(self, ends: FloatArray) -> Any:
        share = np.linspace(0.0, 1.0, ACROSS)
        x, y = (
            ends[:, 0, axis, None] + share * (ends[:, 1, axis] - ends[:, 0, axis])[:, None]
            for axis in (0, 1)
        )
        t = np.broadcast_to(self.heights[:, None], x.shape)
        return self.ax_.plot_surface(
            x, y, t, cmap="cividis", alpha=0.8, linewidth=0, rcount=SLICES, antialiased=True
        )

    def _draw_best(self) -> Line2D:
        fpr, tpr = np.array([self.best_point(t) for t in self.heights.tolist()]).T
        width = line_width(self.ax_)
        curve, best = model_styles(self.ax_, ["curve", "best"]).values()
        self.ax_.plot(self.points.fpr, self.points.tpr, 0, color=curve.color, linewidth=width)
        line: Line2D
        (line,) = self.ax_.plot(
            fpr, tpr, self.heights, color=best.color, linewidth=1.2 * width, zorder=10
        )
        return line

    def _draw_slice(self, t: float) -> Any:
        from mpl_toolkits.mplot3d.art3d import Poly3DCollection

        corners = self.slice_polygon(t)
        solid = np.column_stack([corners, np.full(len(corners), t)])
        cut = Poly3DCollection(
            [solid], facecolor=PINK, edgecolor=ink(self.ax_), alpha=0.55, zorder=9
        )
        self.ax_.add_collection3d(cut)
        fpr, tpr = self.best_point(t)
        self.ax_.plot([fpr], [tpr], [t], "o", color=ink(self.ax_), markersize=4, zorder=11)
        return cut

    def _format_axes(self) -> None:
        size = type_size(self.ax_)
        self.ax_.set(xlim=(0, 1), ylim=(0, 1), zlim=(0, 1))
        self.ax_.set_xlabel("FPR", fontsize=size)
        self.ax_.set_ylabel("TPR", fontsize=size)
        self.ax_.set_zlabel("fractional cost $t$", fontsize=size)
        self.ax_.tick_params(labelsize=size - 1, pad=0)
        self.ax_.view_init(elev=24, azim=-62)
        # Three-dimensional axes do not reserve space for their labels.
        self.ax_.set_box_aspect(None, zoom=0.85)
