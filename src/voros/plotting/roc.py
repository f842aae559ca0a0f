"""ROC curves of one or many models, with the limits they must live within."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from voros.core.arguments import check_flag, check_number
from voros.core.costs import LARGEST_RATIO
from voros.core.decision import NO_LIMITS, Decision, solve
from voros.evaluation import Evaluation, evaluation_of
from voros.io.frames import join_frames
from voros.plotting.chords import UNIT_SQUARE, chord, cost_excess, part_above
from voros.plotting.colours import FADED, PINK, ground, model_styles, muted
from voros.plotting.cost_axis import fractional_cost
from voros.plotting.display import ModelDisplay, PointsLike, renamed
from voros.plotting.legends import LegendEntry, draw_legend
from voros.plotting.limit_lines import (
    LimitArtists,
    ScenarioLike,
    draw_limits,
    named_scenarios,
)
from voros.plotting.names import literal, wrapped
from voros.plotting.style import (
    LIMIT_DASHES,
    axes_to_draw_on,
    format_axes,
    line_width,
    type_size,
    unit_square,
    write_beside,
)
from voros.styles import AXIS_TITLES
from voros.typing import AnyArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from matplotlib.patches import Polygon


ZOOM_MARGIN = 1.12
"""How far a zoomed picture reaches beyond the region, as on the interactive page."""
SMALLEST_VIEW = 0.01
LABELS_END, ZOOMED_LABELS_END = 0.97, 0.6
"""Where on its line the name of a limit ends: two that meet in a corner need space there."""
LONGEST_BESIDE = 24
"""Characters in a line of a name beside a point."""


class RocDisplay(ModelDisplay):
    """ROC curves with the feasible region, both limits and the chosen operating points.

    Parameters
    ----------
    points : OperatingPoints or mapping of str to OperatingPoints
        One model or several, counted on the same cases.
    scenario : Scenario, iterable of Scenario, or mapping of str to Scenario, optional
        The limits to draw. Several are drawn over one another: the first dashed, the second
        dotted; put the strictest first.
    name : str, optional
        Of a single model; it is then written in a legend.

    Attributes
    ----------
    ax_ : Axes
    curves_ : dict of str to Line2D
        The feasible runs of each curve; the whole curve where there are no limits.
    faded_ : dict of str to Line2D
        Whole curves, faint, where there are limits.
    limits_ : dict of str to LimitArtists
        Region, lines and labels of each scenario.
    choices_ : dict of (str, str) to Line2D
        Chosen operating points by scenario and model.
    iso_lines_ : dict of str to Line2D
        Iso-performance line of each model, if a cost was given.
    dominated_ : Polygon or None
        The shaded area of lesser classifiers.
    dominated_by_ : str or None
        The model it belongs to.
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

    def __init__(
        self, points: PointsLike, scenario: ScenarioLike = None, *, name: str | None = None
    ) -> None:
        self.points = renamed(points, name)
        self.named = name is not None
        self.scenarios = named_scenarios(scenario)

    @cached_property
    def evaluations(self) -> dict[tuple[str, str], Evaluation]:
        """What every model scores in every scenario, by scenario and model."""
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
        curves: bool = True,
        choices: bool = True,
        legend: bool = True,
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
        curves : bool, default True
            Draw the curves; without them only chosen points are shown.
        choices : bool, default True
            Mark the thresholds that are best at some possible cost.
        legend : bool, default True
        zoom : bool, default False
            Show the feasible region alone, which is small where events are rare.
        color : color, sequence of colors, or mapping of str to color, optional
            Of the models: one for a single model, one each, or by name.

        Returns
        -------
        RocDisplay
        """
        self._check_cost(cost_ratio, dominated_by)
        flags = {"curves": curves, "choices": choices, "legend": legend, "zoom": zoom}
        for name, flag in flags.items():
            check_flag(flag, name)
        if zoom and not self.scenarios:
            raise ValueError("zoom=True needs a scenario, whose feasible region is shown")
        self.ax_ = axes_to_draw_on(ax)
        self.styles_ = model_styles(self.ax_, list(self.points), color)
        unit_square(self.ax_)
        if zoom:
            self._zoom()
        self.limits_ = self._draw_limits(ZOOMED_LABELS_END if zoom else LABELS_END)
        self.curves_, self.faded_ = self._draw_curves() if curves else ({}, {})
        self.choices_ = self._draw_choices() if choices else {}
        self.iso_lines_ = {} if cost_ratio is None else self._draw_iso_lines(cost_ratio)
        self.dominated_by_ = dominated_by
        self.dominated_ = (
            None if dominated_by is None else self._shade(dominated_by, float(cost_ratio or 0))
        )
        format_axes(self.ax_, xlabel=AXIS_TITLES["fpr"], ylabel=AXIS_TITLES["tpr"])
        entries = self._legend_entries()
        several = len(self.points) > 1 or len(self.scenarios) > 1
        if legend and entries and (several or self.named):
            draw_legend(self.ax_, entries, grow=ax is None)
        return self

    def _zoom(self) -> None:
        """Show what lies around the regions of all scenarios."""
        first = next(iter(self.points))
        corners = np.vstack(
            [self.evaluations[limits, first].region.vertices for limits in self.scenarios]
        )
        across, up = np.minimum(1.01, ZOOM_MARGIN * np.maximum(corners.max(axis=0), SMALLEST_VIEW))
        self.ax_.set(xlim=(-0.01 * across, across), ylim=(-0.01 * up, up), aspect="auto")

    def frame(self, backend: str | None = None) -> Any:
        """Return every operating point as a row, with what each scenario makes of it."""
        names = list(self.scenarios) or [""]
        parts = [self._columns(limits, model) for limits in names for model in self.points]
        return join_frames(parts, backend)

    def _columns(self, limits: str, model: str) -> dict[str, AnyArray]:
        points = self.points[model]
        if limits:
            points = self.evaluations[limits, model].points
        columns: dict[str, AnyArray] = {"model": np.full(len(points), model, dtype=object)}
        columns |= {"threshold": points.thresholds, "fpr": points.fpr, "tpr": points.tpr}
        columns |= {"precision": points.precision, "alarms": points.alarms}
        if limits:
            chosen = np.zeros(len(points), dtype=np.bool_)
            chosen[self._chosen(limits, model)] = True
            columns["limits"] = np.full(len(points), limits, dtype=object)
            feasible = self.evaluations[limits, model].decision.feasible
            columns |= {"feasible": feasible, "chosen": chosen}
        return columns

    def _chosen(self, limits: str, model: str) -> AnyArray:
        return self.evaluations[limits, model].decision.chosen_rows

    def _check_cost(self, cost_ratio: float | None, dominated_by: str | None) -> None:
        if cost_ratio is not None:
            accepted = f"0, or a number from {1 / LARGEST_RATIO:g} to {LARGEST_RATIO:g}"
            free = check_number(cost_ratio, "cost_ratio", accepted, 0.0, LARGEST_RATIO) == 0
            check_number(cost_ratio, "cost_ratio", accepted, not free and 1 / LARGEST_RATIO, np.inf)
        if dominated_by is not None and cost_ratio is None:
            raise ValueError(f"dominated_by={dominated_by!r} needs a cost_ratio")
        if dominated_by is not None and dominated_by not in self.points:
            raise ValueError(
                f"dominated_by={dominated_by!r} is not one of {', '.join(self.points)}"
            )

    def _draw_limits(self, labels_end: float) -> dict[str, LimitArtists]:
        first = next(iter(self.points))
        return {
            limits: draw_limits(
                self.ax_,
                self.evaluations[limits, first],
                named=len(self.scenarios) == 1,
                dashes=LIMIT_DASHES[i % len(LIMIT_DASHES)],
                share=1 / (1 + i),
                labels_end=labels_end,
            )
            for i, limits in enumerate(self.scenarios)
        }

    def _draw_curves(self) -> tuple[dict[str, Line2D], dict[str, Line2D]]:
        curves, faded = {}, {}
        for model, points in self.points.items():
            width, line = line_width(self.ax_), self.styles_[model].line
            if self.scenarios:
                (faded[model],) = self.ax_.plot(
                    points.fpr, points.tpr, **line, linewidth=0.8 * width, alpha=FADED, zorder=2
                )
            # A segment is feasible where both its ends are; NaN breaks the line elsewhere.
            decisions = [self.evaluations[limits, model].decision for limits in self.scenarios]
            allowed = (
                np.any([decision.feasible for decision in decisions], axis=0) if decisions else True
            )
            fpr, tpr = np.where(allowed, points.fpr, np.nan), np.where(allowed, points.tpr, np.nan)
            (curves[model],) = self.ax_.plot(
                fpr, tpr, **line, linewidth=width, label=literal(model), zorder=3
            )
        return curves, faded

    def _draw_choices(self) -> dict[tuple[str, str], Line2D]:
        drawn = {}
        for limits, model in self.evaluations:
            style, strictness = self.styles_[model], list(self.scenarios).index(limits)
            points, chosen = self.points[model], self._chosen(limits, model)
            (drawn[limits, model],) = self.ax_.plot(
                points.fpr[chosen],
                points.tpr[chosen],
                marker=style.marker,
                linestyle="none",
                color=style.color,
                markersize=0.55 * type_size(self.ax_),
                markerfacecolor=ground(self.ax_) if strictness else style.color,
                markeredgewidth=0.8,
                markeredgecolor=style.color if strictness else ground(self.ax_),
                zorder=4,
            )
        return drawn

    def _decision(self, model: str) -> Decision:
        """What the first scenario decides; without one, all thresholds are feasible."""
        for limits in self.scenarios:
            return self.evaluations[limits, model].decision
        return solve(self.points[model], NO_LIMITS)

    def _best(self, model: str, cost_ratio: float) -> tuple[float, float, float]:
        """Return FPR and TPR of a model's best threshold at a cost, and t."""
        points, hull = self._decision(model).points, self._decision(model).hull
        chosen = hull.index[hull.best(np.array([cost_ratio]))][0]
        t = float(fractional_cost(cost_ratio, points.negatives_per_positive))
        return float(points.fpr[chosen]), float(points.tpr[chosen]), t

    def _draw_iso_lines(self, cost_ratio: float) -> dict[str, Line2D]:
        best = {model: self._best(model, cost_ratio) for model in self.points}
        cost = {model: t * fpr + (1 - t) * (1 - tpr) for model, (fpr, tpr, t) in best.items()}
        cheapest = min(cost, key=lambda model: cost[model])
        drawn = {}
        for i, (model, (fpr, tpr, t)) in enumerate(best.items()):
            ends = chord(UNIT_SQUARE, cost_excess(UNIT_SQUARE, fpr, tpr, t))
            (drawn[model],) = self.ax_.plot(
                *ends.T,
                color=self.styles_[model].color,
                linestyle="-" if model == cheapest else (0, (5, 3)),
                linewidth=0.6 * line_width(self.ax_),
                zorder=2.5,
            )
            look = {"color": self.styles_[model].color, "markersize": 0.8 * type_size(self.ax_)}
            self.ax_.plot(fpr, tpr, self.styles_[model].marker, zorder=5, **look)
            if not self.curves_:
                self._name_point(i, model, fpr, tpr)
        return drawn

    def _name_point(self, i: int, model: str, fpr: float, tpr: float) -> None:
        """Write a model's name beside its point: to the left and to the right, by turns."""
        size, side = type_size(self.ax_), 1 if i % 2 else -1
        away = (0.7 * side * size, -0.3 * size * (1 + side))
        look = {"ha": "left" if side > 0 else "right", "fontsize": size, "zorder": 5}
        write_beside(self.ax_, literal(wrapped(model, LONGEST_BESIDE)), (fpr, tpr), away, **look)

    def _shade(self, model: str, cost_ratio: float) -> Polygon:
        from matplotlib.patches import Polygon

        corners = self._decision(model).region.vertices
        lesser = part_above(corners, cost_excess(corners, *self._best(model, cost_ratio)))
        shape = Polygon(lesser, closed=True, facecolor=PINK, edgecolor=PINK, alpha=0.45)
        shape.set(hatch="....", linewidth=0, zorder=1)
        self.ax_.add_patch(shape)
        return shape

    def _legend_entries(self) -> list[LegendEntry]:
        entries: list[LegendEntry] = [(line, model) for model, line in self.curves_.items()]
        if len(self.limits_) > 1:
            lines = {
                name: drawn.precision or drawn.capacity for name, drawn in self.limits_.items()
            }
            entries += [(line, name) for name, line in lines.items() if line is not None]
        if self.dominated_ is not None:
            entries.append((self.dominated_, f"costlier than {self.dominated_by_}"))
        if self.choices_:
            entries.append((self._key_to_choices(), "best at some cost"))
        return entries

    def _key_to_choices(self) -> Line2D:
        from matplotlib.lines import Line2D

        return Line2D(
            [],
            [],
            marker="o",
            linestyle="none",
            color=muted(self.ax_),
            markersize=0.55 * type_size(self.ax_),
        )
