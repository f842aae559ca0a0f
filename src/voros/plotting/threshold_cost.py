"""Expected cost, precision and alarms along the thresholds: why this one was chosen."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from voros.core.arrays import LARGEST_FINITE
from voros.core.scenario import Scenario, check_scenario
from voros.core.volume import expected_costs
from voros.evaluation import Evaluation, evaluation_of
from voros.io.frames import make_frame
from voros.plotting.display import ModelDisplay, PointsLike, is_named, named_points
from voros.plotting.limit_lines import draw_level, limit_labels, shade_runs
from voros.plotting.model_styles import model_styles
from voros.plotting.names import literal, wrapped
from voros.plotting.style import format_column, line_width, panels_to_draw_on, type_size
from voros.styles import AXIS_TITLES
from voros.text.numbers import count, percent
from voros.typing import AnyArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from matplotlib.text import Text

REGION_SHARE = 0.75
"""Bands have less colour than a region, because every panel has them."""

LONGEST_LINE = 60
"""Characters of a name in a line above the picture."""


class ThresholdCostDisplay(ModelDisplay):
    """Cost, precision and alarms of each threshold, those that meet the limits, and the best one.

    Points without thresholds, such as those of a published curve, are drawn by their alarms.

    Parameters
    ----------
    points : OperatingPoints, or mapping of str to OperatingPoints
        One model; a name is written above the picture.
    scenario : Scenario

    Attributes
    ----------
    axes_ : tuple of Axes
        Expected cost, precision, recall where it has a floor, and alarms, from top to bottom.
    lines_ : dict of str to Line2D
        Solid where feasible.
    faded_ : dict of str to Line2D
    limit_lines_ : dict of str to Line2D
        The floors and the capacity.
    best_ : tuple of Line2D
        The best feasible threshold, across all panels.
    note_ : Text
        What the best threshold does, in words.

    Examples
    --------
    >>> import voros
    >>> from voros.plotting import ThresholdCostDisplay
    >>> scenario = voros.Scenario(min_precision=0.5, capacity=0.5, cost_ratio=(0.1, 0.2))
    >>> display = ThresholdCostDisplay.from_predictions(
    ...     [0, 1, 0, 1, 1, 0], [0.1, 0.9, 0.8, 0.7, 0.3, 0.2], scenario
    ... )
    >>> display.best_threshold
    0.7
    """

    def __init__(self, points: PointsLike, scenario: Scenario) -> None:
        named = named_points(points)
        if len(named) > 1:
            raise ValueError(
                f"{len(named)} models were given ({', '.join(named)}); this picture shows one"
            )
        ((self.name, self.points),) = named.items()
        self.scenario = check_scenario(scenario)
        self.by_alarms = bool(np.isnan(self.points.thresholds[1:]).any())

    @cached_property
    def evaluation(self) -> Evaluation:
        """The model in its scenario."""
        return evaluation_of(self.points, self.scenario)

    @property
    def evaluations(self) -> dict[str, Evaluation]:
        """The model in its scenario."""
        return {"": self.evaluation}

    @cached_property
    def columns(self) -> dict[str, AnyArray]:
        """Measures of each threshold, and whether it meets the limits."""
        points = self.evaluation.points
        return {
            "threshold": points.thresholds,
            "alarms": np.asarray(points.alarms, dtype=np.float64),
            "precision": points.precision,
            "recall": points.tpr,
            "expected_cost": expected_costs(points, self.scenario.costs),
            "feasible": self.evaluation.decision.feasible,
        }

    @property
    def panels(self) -> tuple[str, ...]:
        """Measures that are drawn, from top to bottom."""
        recall = () if self.scenario.min_recall is None else ("recall",)
        return ("expected_cost", "precision", *recall, "alarms")

    @property
    def best(self) -> int:
        """Position of the feasible threshold of least expected cost."""
        columns = self.columns
        return int(np.argmin(np.where(columns["feasible"], columns["expected_cost"], np.inf)))

    @property
    def best_threshold(self) -> float:
        """The feasible threshold of least expected cost."""
        return float(self.evaluation.points.thresholds[self.best])

    def plot(self, ax: Any = None, *, color: Any = None) -> Self:
        """Draw on three axes, from top to bottom; on a new figure if none are given.

        Parameters
        ----------
        ax : sequence of three Axes, optional
            Four where recall has a floor.
        color : color, optional
            Of the lines.

        Returns
        -------
        display
        """
        n_panels = len(self.panels)
        self.axes_ = panels_to_draw_on(
            ax, (n_panels,), (1.0, n_panels / 3), nrows=n_panels, sharex=True
        )
        self.lines_: dict[str, Line2D] = {}
        self.faded_: dict[str, Line2D] = {}
        self._style = model_styles(self.axes_[0], ["model"], color)["model"]
        for panel, name in zip(self.axes_, self.panels, strict=True):
            self._draw_panel(panel, name)
        xlabel = "alarms" if self.by_alarms else AXIS_TITLES["threshold"]
        format_column(self.axes_, xlabel, [name.replace("_", " ") for name in self.panels])
        self.limit_lines_ = self._draw_limits()
        self.best_ = self._mark_best()
        self.note_ = self._write_note()
        return self

    def frame(self, backend: str | None = None) -> Any:
        """Return one row per threshold: cost, precision, alarms, recall and feasibility."""
        return make_frame(self.columns, backend)

    def _along(self) -> AnyArray:
        if self.by_alarms:
            return self.columns["alarms"]
        # Infinite scores are drawn just beyond the finite ones, and no alarm beyond all scores.
        values = np.array(self.columns["threshold"], dtype=np.float64)
        finite = values[np.abs(values) < LARGEST_FINITE]
        if len(finite):
            margin = 0.02 * (finite[0] - finite[-1])
            values = np.clip(values, finite[-1] - margin, finite[0] + margin)
            values[0] = values[1] + margin
        return values

    def _draw_panel(self, panel: Axes, name: str) -> None:
        x, y, feasible = self._along(), self.columns[name], self.columns["feasible"]
        shade_runs(panel, x, feasible, REGION_SHARE)
        (self.faded_[name],) = panel.plot(x, y, **self._style.faded)
        (self.lines_[name],) = panel.plot(x, np.where(feasible, y, np.nan), **self._style.line)

    def _draw_limits(self) -> dict[str, Line2D]:
        limits, labels = self.scenario, limit_labels(self.scenario)
        levels = {
            "precision": (limits.min_precision, labels["precision"]),
            "recall": (limits.min_recall or 0.0, labels.get("recall", "")),
            "alarms": (self.evaluation.max_alarms, labels["capacity"]),
        }
        panels = zip(self.axes_, self.panels, strict=True)
        return {name: draw_level(panel, *levels[name]) for panel, name in panels if name in levels}

    def _mark_best(self) -> tuple[Line2D, ...]:
        x = self._along()[self.best]
        _, style = model_styles(self.axes_[0], ["model", "best"]).values()
        marks = []
        for panel, name in zip(self.axes_, self.panels, strict=True):
            panel.axvline(x, color=style.color, linewidth=0.6 * line_width(panel), zorder=2)
            look = {**style.marks, "marker": "o", "zorder": 4}
            marks += panel.plot(x, self.columns[name][self.best], **look)
        return tuple(marks)

    def _write_note(self) -> Text:
        points, best, panel = self.evaluation.points, self.best, self.axes_[0]
        text = "no alarm"
        if best > 0:
            text = (
                f"cheapest within the limits: {count(points.alarms[best])} alarms,\n"
                f"{percent(points.precision[best])} of them correct, "
                f"{percent(points.tpr[best])} of all positives caught"
            )
        if is_named({self.name: self.points}):
            text = f"{literal(wrapped(self.name, LONGEST_LINE))}: {text}"
        return panel.set_title(text, fontsize=type_size(panel), loc="left")
