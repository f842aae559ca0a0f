"""The feasible region alone, its corners named; and a gallery of the shapes it can take."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple
from typing import TYPE_CHECKING, Any

import numpy as np

from voros.core.decision import at_deployment
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario, check_scenario
from voros.io.frames import make_frame
from voros.plotting.colours import ink
from voros.plotting.limit_lines import Limits, draw_limits
from voros.plotting.style import (
    axes_to_draw_on,
    format_axes,
    pyplot,
    type_size,
    unit_square,
    write_beside,
)
from voros.styles import REGION
from voros.text.numbers import count

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from matplotlib.text import Text

FIGURE_2 = (
    Limits(1000, 9000, 0.15, 900),
    Limits(1000, 9000, 0.15, 3000),
    Limits(1000, 9000, 0.15, 9100),
)
"""The three practical cases, as in the paper's second figure."""

OTHER_CASES = (
    Limits(900, 100, 0.5, 500),
    Limits(600, 400, 0.5, 900),
    Limits(100, 900, 0.4),
    Limits(600, 400, 0.4),
    Limits(400, 600, 0.0, 300),
    Limits(600, 400, 0.0, 500),
    Limits(400, 600, 0.0, 500),
    Limits(400, 600, 0.0, 800),
    Limits(400, 600, 1.0),
)
"""One example of each shape that the practical assumptions leave out."""

PANEL_INCHES = 2.4
NARROWEST_PANEL = 1.5
"""Inches below which a panel's corner names run into one another."""
MOST_ACROSS = 4

CORNER_GAP = 0.9
"""How far a corner's name stands from it, in sizes of its type."""


class RegionDisplay:
    r"""The part of ROC space that the limits leave, with its corners named as in the paper.

    Parameters
    ----------
    n_positive, n_negative : float
        Cases of each class.
    min_precision : float in [0, 1], default 0.0
    max_alarms : float, default inf
        The capacity, as a number of alarms.
    min_recall : float in [0, 1], default 0.0

    Attributes
    ----------
    region : Region
    ax_ : Axes
    limits_ : LimitArtists
    corners_ : Line2D
    names_ : tuple of Text

    Examples
    --------
    >>> from voros.plotting import RegionDisplay
    >>> display = RegionDisplay(1000, 9000, min_precision=0.15, max_alarms=3000).plot()
    >>> [name.get_text() for name in display.names_]
    ['$v_{00}$', '$v_{\\alpha\\kappa}$', '$v_{\\kappa 1}$', '$v_{01}$']
    """

    def __init__(
        self,
        n_positive: float,
        n_negative: float,
        min_precision: float = 0.0,
        max_alarms: float = np.inf,
        min_recall: float = 0.0,
    ) -> None:
        self.limits = Limits(n_positive, n_negative, min_precision, max_alarms, min_recall)
        self.region = self.limits.region

    @classmethod
    def from_scenario(
        cls, scenario: Scenario, n_positive: float, n_negative: float, *, ax: Axes | None = None
    ) -> RegionDisplay:
        """Draw what a scenario leaves to classifiers of this number of cases of each class.

        Returns
        -------
        RegionDisplay
        """
        check_scenario(scenario)
        cases = OperatingPoints.from_counts([], [], n_positive, n_negative)
        cases = at_deployment(cases, scenario)
        sizes = cases.n_positive, cases.n_negative
        limits = scenario.min_precision, cases.max_alarms(scenario), scenario.min_recall or 0.0
        return cls(*sizes, *limits).plot(ax)

    def plot(self, ax: Axes | None = None) -> RegionDisplay:
        """Draw on ``ax``, or on a new figure.

        Returns
        -------
        RegionDisplay
        """
        self.ax_ = axes_to_draw_on(ax)
        unit_square(self.ax_)
        self.limits_ = draw_limits(self.ax_, self.limits)
        self.corners_ = self._draw_corners()
        self.names_ = tuple(map(self._write_name, self.region.names, self.region.vertices))
        format_axes(self.ax_, xlabel="FPR", ylabel="TPR")
        size = type_size(self.ax_)
        self.ax_.set_title(self._title(), fontsize=size, pad=1.5 * size)
        # Corners at 0 and 1 carry names, which their ticks would run into.
        for axis in (self.ax_.xaxis, self.ax_.yaxis):
            axis.set_ticks((0, 0.5, 1), ("", "0.5", ""))
        return self

    def frame(self, backend: str | None = None) -> Any:
        """Return the corners as a data frame, counter-clockwise from the origin."""
        fpr, tpr = self.region.vertices.T
        return make_frame({"corner": list(self.region.names), "fpr": fpr, "tpr": tpr}, backend)

    def _title(self) -> str:
        limits = self.limits
        alarms = rf"$\kappa$ = {count(limits.max_alarms)}" if limits.caps else "no capacity limit"
        sizes = f"$|P|$ = {count(limits.n_positive)}, $|N|$ = {count(limits.n_negative)}"
        recall = rf"$\rho = {limits.min_recall:g}$, " if limits.min_recall else ""
        return rf"$\alpha = {limits.min_precision:g}$, {recall}{alarms}" + "\n" + sizes

    def _draw_corners(self) -> Line2D:
        closed = np.vstack([self.region.vertices, self.region.vertices[:1]])
        (line,) = self.ax_.plot(
            *closed.T,
            color=ink(self.ax_) if self.region.area else REGION,
            linewidth=0.8 if self.region.area else 3.0,
            marker="o",
            markersize=0.35 * type_size(self.ax_),
            markerfacecolor=ink(self.ax_),
            markeredgecolor=ink(self.ax_),
            clip_on=False,
            zorder=3,
        )
        return line

    def _write_name(self, name: str, corner: Any) -> Text:
        """Write a corner's name where neither the region nor an axis is."""
        side = CORNER_GAP * type_size(self.ax_) * np.array(_free_side(*corner))
        look = {"ha": "center", "va": "center", "fontsize": type_size(self.ax_) + 1}
        return write_beside(
            self.ax_, corner_name(name), corner, tuple(side), annotation_clip=False, **look
        )


def _free_side(x: float, y: float) -> tuple[float, float]:
    """Return the way out of any region that has a corner here, clear of axes and their ticks."""
    if y >= 1:
        return 0.0, 1.0
    if x <= 0 and y <= 0:
        return -1.0, -1.0
    if x >= 1:
        return 1.3, 0.0
    return (1.3, 0.0) if x > 0 and y > 0 else (1.0, 0.8)


def corner_name(name: str) -> str:
    r"""Set a corner's name as mathematics.

    Examples
    --------
    >>> corner_name("vak"), corner_name("v01"), corner_name("v0k")
    ('$v_{\\alpha\\kappa}$', '$v_{01}$', '$v_{0\\kappa}$')
    """
    greek = {"a": r"\alpha", "k": r"\kappa", "r": r"\rho"}
    first, second = (greek.get(letter, letter) for letter in name[1:])
    gap = " " if first in greek.values() and second not in greek.values() else ""
    return f"$v_{{{first}{gap}{second}}}$"


def region_gallery(
    limits: Iterable[Limits] = FIGURE_2 + OTHER_CASES,
    *,
    width: float = MOST_ACROSS * PANEL_INCHES,
) -> tuple[RegionDisplay, ...]:
    """Draw several feasible regions side by side.

    Parameters
    ----------
    limits : iterable of Limits
        Class sizes, precision floor and capacity of each panel. By default the
        paper's three practical cases and one example of each other shape.
    width : float, default 9.6
        Inches, which take up to four panels in a row; the height follows from their number.

    Returns
    -------
    tuple of RegionDisplay

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> displays = region_gallery(FIGURE_2)
    >>> [display.region.case.name for display in displays]
    ['TRIANGLE_BELOW_PERFECT', 'QUADRILATERAL_WITH_PERFECT', 'TRIANGLE_PRECISION_ALONE']
    >>> plt.close("all")
    """
    displays = [RegionDisplay(*astuple(region)) for region in limits]
    fitting = int(np.clip(width / NARROWEST_PANEL, 1, MOST_ACROSS))
    across = min(fitting, len(displays))
    rows = -(-len(displays) // across)
    size = (width, 1.2 * rows * width / across)
    _, grid = pyplot().subplots(rows, across, figsize=size, layout="constrained", squeeze=False)
    panels = grid.ravel()
    for panel in panels[len(displays) :]:
        panel.set_axis_off()
    return tuple(region.plot(panel) for region, panel in zip(displays, panels, strict=False))
