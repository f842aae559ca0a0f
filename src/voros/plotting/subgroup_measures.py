"""Measures of a policy in each subgroup: dots with intervals, and the floors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from voros.core.arguments import check_type
from voros.plotting.colours import ink, muted
from voros.plotting.legends import LegendEntry, draw_legend
from voros.plotting.model_styles import model_styles
from voros.plotting.names import literal, wrapped
from voros.plotting.style import format_axes, line_width, panels_to_draw_on, write_beside
from voros.policy.by_subgroup import (
    ATTRIBUTES,
    PER_1000,
    SubgroupEvaluation,
    SubgroupResult,
    floors_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import ErrorbarContainer
    from matplotlib.lines import Line2D

SUBGROUP_PANELS = {
    "precision": "precision",
    "recall": "recall",
    "cost_per_1000": PER_1000,
}
"""Measures side by side, and the labels of their axes."""

FLOOR_MARKERS = {"kept": "o", "broken": "X", "too few to say": "o"}
FLOOR_WORDS = {"kept": "floor kept", "broken": "floor broken", "too few to say": "too few to say"}
"""A broken floor has another mark; where there are too few to say, the mark is hollow."""

LONGEST_NAME = 24
ROW_SHARE = 0.055
"""Height of a subgroup, in widths of a usual figure."""


class SubgroupDisplay:
    """Precision, recall and cost of a policy in each subgroup of cases, with intervals.

    Marks are filled where the subgroup's precision floor is kept, crosses where it is broken, and
    hollow where there are too few alarms to say. All intervals hold together.

    Parameters
    ----------
    subgroups : SubgroupEvaluation
        ``policy.evaluate(..., by=...).by_subgroup``.

    Attributes
    ----------
    axes_ : tuple of Axes
        Precision, recall and cost, from left to right.
    marks_ : dict of (str, str, str) to ErrorbarContainer
        By measure, column and subgroup; without those that have no estimate.
    floor_ : Line2D or None
        The precision floor, if there is one.

    Examples
    --------
    >>> import voros
    >>> from voros.plotting import SubgroupDisplay
    >>> y, s = [0, 1, 0, 1, 1, 0], [0.1, 0.9, 0.8, 0.7, 0.3, 0.2]
    >>> scenario = voros.Scenario(min_precision=0.5, capacity=0.5, cost_ratio=(0.1, 0.2))
    >>> policy = voros.ThresholdPolicy.from_validation(y, s, scenario)
    >>> subgroups = voros.Subgroups.from_columns(
    ...     {"sex": ["f", "m", "m", "f", "f", "m"]}, min_cases=1
    ... )
    >>> evaluation = policy.evaluate(y, s, by=subgroups)
    >>> display = SubgroupDisplay(evaluation.by_subgroup).plot()
    >>> [label.get_text() for label in display.axes_[0].get_yticklabels()]
    ['sex: f (3)', 'sex: m (3)']
    """

    def __init__(self, subgroups: SubgroupEvaluation) -> None:
        accepted = "policy.evaluate(..., by=...).by_subgroup"
        self.subgroups = check_type(subgroups, "subgroups", SubgroupEvaluation, accepted)

    def plot(self, ax: Any = None, *, color: Any = None) -> Self:
        """Draw three panels side by side.

        Parameters
        ----------
        ax : sequence of three Axes, optional
            By default those of a new figure.
        color : colour, optional

        Returns
        -------
        display
        """
        height = 0.28 + ROW_SHARE * len(self.subgroups)
        self.axes_: tuple[Axes, ...] = panels_to_draw_on(
            ax,
            (len(SUBGROUP_PANELS),),
            (1.35, height),
            ncols=len(SUBGROUP_PANELS),
            sharey=ax is None,
        )
        self.marks_: dict[tuple[str, str, str], ErrorbarContainer] = {}
        self._style = model_styles(self.axes_[0], ["policy"], color)["policy"]
        for panel, measure in zip(self.axes_, SUBGROUP_PANELS, strict=True):
            for row, result in enumerate(self.subgroups):
                self._draw(panel, measure, row, result)
            self._format_axes(panel, measure)
        floors = floors_of(self.subgroups.scenario)
        lines = {name: self._draw_line(name, floor) for name, floor in floors.items()}
        self.floor_ = lines.get("precision")
        if floors:
            draw_legend(self.axes_[1], self._legend_entries(), grow=ax is None)
        return self

    def frame(self, backend: str | None = None) -> Any:
        """Return the data behind the picture, a row for each subgroup."""
        return self.subgroups.frame(backend)

    def _draw(self, panel: Axes, measure: str, row: int, result: SubgroupResult) -> None:
        value, (low, high) = getattr(result, measure), getattr(result.intervals, measure)
        width, verdict = line_width(panel), result.floor
        if measure == "recall" and result.recall_floor is not None:
            verdict = result.recall_floor
        if np.isnan(value):
            panel.plot([low, high], [row, row], ":", color=muted(panel), linewidth=width)
            return
        if np.isposinf(high):
            # The costs have no mean, so the interval is unbounded.
            panel.axhline(row, linestyle=":", color=muted(panel), linewidth=width)
            high = value
        self.marks_[measure, result.column, result.subgroup] = panel.errorbar(
            value,
            row,
            xerr=[[max(value - low, 0.0)], [max(high - value, 0.0)]],
            elinewidth=width,
            **self._mark(verdict),
        )

    def _mark(self, verdict: str) -> dict[str, Any]:
        """Return the marker of a verdict on a floor, as matplotlib takes it."""
        hollow, color = verdict == "too few to say", self._style.color
        return {
            **self._style.marks,
            "marker": FLOOR_MARKERS[verdict],
            "markersize": 1.2 * self._style.marks["markersize"],
            "markerfacecolor": "none" if hollow else color,
            "markeredgecolor": color,
        }

    def _legend_entries(self) -> list[LegendEntry]:
        from matplotlib.lines import Line2D

        named = [ATTRIBUTES[floor] for floor in floors_of(self.subgroups.scenario)]
        seen = {getattr(one, verdict) for one in self.subgroups for verdict in named}
        return [
            (Line2D([], [], **self._mark(verdict)), words)
            for verdict, words in FLOOR_WORDS.items()
            if verdict in seen
        ]

    def _format_axes(self, panel: Axes, measure: str) -> None:
        format_axes(panel, xlabel=SUBGROUP_PANELS[measure], ylabel="")
        names = [f"{result.name} ({result.cases:,})" for result in self.subgroups]
        shown = [literal(wrapped(name, LONGEST_NAME)) for name in names]
        panel.set_yticks(range(len(names)), shown)
        panel.set_ylim(len(names) - 0.5, -0.5)
        if measure == "cost_per_1000":
            panel.set_xlim(left=0)
        else:
            panel.set_xlim(-0.02, 1.02)
        if panel is not self.axes_[0]:
            panel.tick_params(labelleft=False)

    def _draw_line(self, measure: str, floor: float) -> Line2D:
        panel = self.axes_[list(SUBGROUP_PANELS).index(measure)]
        line = panel.axvline(
            floor, color=ink(panel), linestyle="--", linewidth=0.7 * line_width(panel), zorder=1
        )
        at = {"xycoords": panel.get_xaxis_transform(), "ha": "left", "va": "bottom"}
        write_beside(panel, f"floor {floor:g}", (floor, 1.0), (2, 2), **at)
        return line
