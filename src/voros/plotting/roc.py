"""ROC curves of one or many models, with the limits they must keep."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from voros.core.arguments import check_choice, check_flag
from voros.core.costs import known
from voros.core.decision import NO_LIMITS, Decision, solve
from voros.core.geometry import cut_polygon
from voros.evaluation import Evaluation, evaluation_of
from voros.io.frames import join_frames
from voros.plotting.colours import PINK, ground, muted
from voros.plotting.cost_axis import fractional_cost
from voros.plotting.display import ModelDisplay, PointsLike, is_named, named_points, named_rows
from voros.plotting.legends import LegendEntry, draw_legend
from voros.plotting.limit_lines import (
    LimitArtists,
    ScenarioLike,
    draw_limits,
    limit_labels,
    named_scenarios,
)
from voros.plotting.model_styles import model_styles
from voros.plotting.names import literal
from voros.plotting.straight_lines import across_the_square
from voros.plotting.style import LIMIT_DASHES, axes_to_draw_on, format_axes, line_width, type_size
from voros.styles import AXIS_TITLES
from voros.typing import AnyArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from matplotlib.patches import Polygon


ZOOM_MARGIN = 1.12
"""How far a zoomed picture reaches beyond the region, as on the interactive page."""
SMALLEST_VIEW = 0.01


class BestPoint(NamedTuple):
    """The best point of a model at a fractional cost t."""

    fpr: float
    tpr: float
    t: float

    @property
    def cost(self) -> float:
        """The normalised cost."""
        return self.t * self.fpr + (1 - self.t) * (1 - self.tpr)

    @property
    def equal_cost(self) -> tuple[float, float, float]:
        """The factors of FPR and TPR, and a constant, that add up to 0 at points of equal cost."""
        return self.t, self.t - 1, 1 - self.t - self.cost


class RocDisplay(ModelDisplay):
    """ROC curves with the feasible region, both limits and the chosen operating points.

    Parameters
    ----------
    points : OperatingPoints or mapping of str to OperatingPoints
        One model or several, counted on the same cases.
    scenario : Scenario, or mapping of str to Scenario, optional
        The limits to draw. Several are drawn over one another: the first dashed, the second
        dotted; put the strictest first.

    Attributes
    ----------
    ax_ : Axes
    curves_ : dict of str to Line2D
        The feasible runs of each curve; the whole curve where there are no limits.
    faded_ : dict of str to Line2D
        Whole curves, faint, where there are limits.
    limits_ : dict of str to LimitArtists
        Region and lines of each scenario.
    choices_ : dict of (str, str) to Line2D
        Chosen operating points by scenario and model.
    iso_lines_ : dict of str to Line2D
        Iso-performance line of each model, if a cost was given.
    dominated_ : Polygon or None
        The shaded area of lesser classifiers.
    styles_ : dict of str to ModelStyle
        How each model is drawn.

    Examples
    --------
    >>> import voros
    >>> from voros.plotting import RocDisplay
    >>> scenario = voros.Scenario(min_precision=0.5, capacity=0.5, cost_ratio=(0.1, 0.2))
    >>> display = RocDisplay.from_predictions([0, 1, 0, 1], [0.1, 0.9, 0.8, 0.7], scenario)
    >>> display.ax_.get_xlabel()
    'false alarm rate (FPR)'
    """

    def __init__(self, points: PointsLike, scenario: ScenarioLike = None) -> None:
        self.points = named_points(points)
        self.scenarios = named_scenarios(scenario)

    @cached_property
    def evaluations(self) -> dict[tuple[str, str], Evaluation]:
        """Evaluation of every model in every scenario, by scenario and model."""
        return {
            (limits, model): evaluation_of(points, scenario)
            for limits, scenario in self.scenarios.items()
            for model, points in self.points.items()
        }

    def plot(
        self,
        ax: Axes | None = None,
        *,
        cost_ratio: float | None = None,
        dominated_by: str | None = None,
        choices: bool = True,
        zoom: bool = False,
        color: Any = None,
    ) -> Self:
        """Draw on ``ax``, or on a new figure.

        Parameters
        ----------
        ax : Axes, optional
        cost_ratio : float, optional
            Draw the iso-performance line of each model through its best threshold at this
            C_FP / C_FN: solid for the model of least cost, dashed for the others.
        dominated_by : str, optional
            Shade the area of lesser classifiers of this model at ``cost_ratio``.
        choices : bool, default True
            Mark the thresholds that are best at some possible cost.
        zoom : bool, default False
            Show the feasible region alone, which is small where events are rare.
        color : color, sequence of colors, or mapping of str to color, optional
            Of the models: one for a single model, one each, or by name.

        Returns
        -------
        RocDisplay
        """
        self._check_cost(cost_ratio, dominated_by)
        check_flag(choices, "choices")
        if check_flag(zoom, "zoom") and not self.scenarios:
            raise ValueError("zoom=True needs a scenario, whose feasible region is shown")
        self.ax_ = axes_to_draw_on(ax)
        self.styles_ = model_styles(self.ax_, list(self.points), color)
        self.ax_.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal")
        if zoom:
            self._zoom()
        self.limits_ = self._draw_limits()
        self.curves_, self.faded_ = self._draw_curves()
        self.choices_ = self._draw_choices() if choices else {}
        self.iso_lines_ = {} if cost_ratio is None else self._draw_iso_lines(cost_ratio)
        self.dominated_ = None
        if dominated_by is not None and cost_ratio is not None:
            self.dominated_ = self._shade(dominated_by, cost_ratio)
        format_axes(self.ax_, xlabel=AXIS_TITLES["fpr"], ylabel=AXIS_TITLES["tpr"])
        entries = self._legend_entries(dominated_by)
        if entries:
            draw_legend(self.ax_, entries, grow=ax is None)
        return self

    def _zoom(self) -> None:
        """Limit the view to the regions of all scenarios."""
        first = next(iter(self.points))
        corners = np.vstack(
            [self.evaluations[limits, first].region.vertices for limits in self.scenarios]
        )
        across, up = np.minimum(1.01, ZOOM_MARGIN * np.maximum(corners.max(axis=0), SMALLEST_VIEW))
        self.ax_.set(xlim=(-0.01 * across, across), ylim=(-0.01 * up, up), aspect="auto")

    def frame(self, backend: str | None = None) -> Any:
        """Return a row per operating point and scenario: whether it is feasible and chosen."""
        names = list(self.scenarios) or [""]
        parts = [self._columns(limits, model) for limits in names for model in self.points]
        return join_frames(parts, backend)

    def _columns(self, limits: str, model: str) -> dict[str, AnyArray]:
        evaluation = self.evaluations[limits, model] if limits else None
        points = self.points[model] if evaluation is None else evaluation.points
        columns: dict[str, AnyArray] = {
            "threshold": points.thresholds,
            "fpr": points.fpr,
            "tpr": points.tpr,
            "precision": points.precision,
            "alarms": points.alarms,
        }
        if evaluation is not None:
            columns["limits"] = np.full(len(points), limits, dtype=object)
            columns["feasible"] = evaluation.decision.feasible
            columns["chosen"] = np.isin(np.arange(len(points)), evaluation.decision.chosen_rows)
        return named_rows(model, columns)

    def _check_cost(self, cost_ratio: float | None, dominated_by: str | None) -> None:
        if cost_ratio is not None:
            known(cost_ratio)
        if dominated_by is not None:
            if cost_ratio is None:
                raise ValueError(f"dominated_by={dominated_by!r} needs a cost_ratio")
            check_choice(dominated_by, "dominated_by", tuple(self.points))

    def _draw_limits(self) -> dict[str, LimitArtists]:
        first, several = next(iter(self.points)), len(self.scenarios) > 1
        return {
            limits: draw_limits(
                self.ax_,
                self.evaluations[limits, first],
                dashes=LIMIT_DASHES[i % len(LIMIT_DASHES)] if several else None,
                share=1 / (1 + i),
            )
            for i, limits in enumerate(self.scenarios)
        }

    def _draw_curves(self) -> tuple[dict[str, Line2D], dict[str, Line2D]]:
        curves, faded = {}, {}
        for model, points in self.points.items():
            style = self.styles_[model]
            if self.scenarios:
                (faded[model],) = self.ax_.plot(points.fpr, points.tpr, **style.faded, zorder=2)
            # A segment is feasible where both its ends are; NaN breaks the line elsewhere.
            rows = [self.evaluations[name, model].decision.feasible for name in self.scenarios]
            allowed = np.any(rows, axis=0) if rows else True
            fpr, tpr = (np.where(allowed, rate, np.nan) for rate in (points.fpr, points.tpr))
            (curves[model],) = self.ax_.plot(fpr, tpr, **style.line, label=literal(model), zorder=3)
        return curves, faded

    def _draw_choices(self) -> dict[tuple[str, str], Line2D]:
        """Mark the chosen points: filled for the first limits, hollow for the others."""
        drawn = {}
        for (limits, model), evaluation in self.evaluations.items():
            style, points = self.styles_[model], self.points[model]
            rows = evaluation.decision.chosen_rows
            (mark,) = self.ax_.plot(points.fpr[rows], points.tpr[rows], **style.marks, zorder=4)
            if limits != next(iter(self.scenarios)):
                mark.set(markerfacecolor=ground(self.ax_), markeredgecolor=style.color)
            drawn[limits, model] = mark
        return drawn

    def _decision(self, model: str) -> Decision:
        """Return the decision of the first scenario; without one, all thresholds are feasible."""
        for limits in self.scenarios:
            return self.evaluations[limits, model].decision
        return solve(self.points[model], NO_LIMITS)

    def _best_point(self, model: str, cost_ratio: float) -> BestPoint:
        decision = self._decision(model)
        points = decision.points
        row = decision.hull.index[decision.hull.best(np.asarray(cost_ratio))]
        t = float(fractional_cost(cost_ratio, points.negatives_per_positive))
        return BestPoint(float(points.fpr[row]), float(points.tpr[row]), t)

    def _draw_iso_lines(self, cost_ratio: float) -> dict[str, Line2D]:
        """Draw the line of equal cost through each model's best point."""
        best = {model: self._best_point(model, cost_ratio) for model in self.points}
        least, drawn = min(point.cost for point in best.values()), {}
        for model, point in best.items():
            style = self.styles_[model]
            (drawn[model],) = self.ax_.plot(
                *across_the_square(*point.equal_cost).T,
                color=style.color,
                linestyle="-" if point.cost == least else (0, (5, 3)),
                linewidth=0.6 * line_width(self.ax_),
                zorder=2.5,
            )
            (mark,) = self.ax_.plot(point.fpr, point.tpr, **style.marks, zorder=5)
            mark.set_markersize(0.9 * type_size(self.ax_))
        return drawn

    def _shade(self, model: str, cost_ratio: float) -> Polygon:
        """Shade what is costlier than a model's best point."""
        from matplotlib.patches import Polygon

        corners = list(map(tuple, self._decision(model).region.vertices.tolist()))
        lesser = cut_polygon(corners, *self._best_point(model, cost_ratio).equal_cost)
        shape = Polygon(lesser, closed=True, facecolor=PINK, edgecolor=PINK, alpha=0.45)
        shape.set(hatch="....", linewidth=0, zorder=1)
        self.ax_.add_patch(shape)
        return shape

    def _legend_entries(self, dominated_by: str | None) -> list[LegendEntry]:
        entries: list[LegendEntry] = []
        if is_named(self.points):
            entries += [(line, model) for model, line in self.curves_.items()]
        for name, artists in self.limits_.items():
            if len(self.limits_) > 1:
                entries += [(line, name) for line in list(artists.lines.values())[:1]]
            else:
                labels = limit_labels(self.scenarios[name])
                entries += [(line, labels[limit]) for limit, line in artists.lines.items()]
        if self.dominated_ is not None:
            entries.append((self.dominated_, f"costlier than {dominated_by}"))
        if self.choices_:
            entries.append((self._key_to_choices(), "best at some cost"))
        return entries

    def _key_to_choices(self) -> Line2D:
        from matplotlib.lines import Line2D

        size = 0.55 * type_size(self.ax_)
        return Line2D([], [], marker="o", ls="none", color=muted(self.ax_), markersize=size)
