"""Which model wins over a grid of limits, and by how much."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from voros.core.arguments import check_flag, check_type
from voros.plotting.colours import ground, ink_on, muted
from voros.plotting.legends import draw_legend
from voros.plotting.model_styles import model_styles
from voros.plotting.names import literal, visible
from voros.plotting.straight_lines import marked_runs
from voros.plotting.style import axes_width, format_axes, panels_to_draw_on, text_inches, type_size
from voros.styles import AXIS_TITLES
from voros.typing import BoolArray, FloatArray
from voros.winners import NOBODY, WinnerMap

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.patches import Patch, PathPatch
    from matplotlib.text import Text

HATCH = "//////"
NARROW_INCHES = 2.5
"""Axes narrower than this carry one tick per power of ten."""


class WinnerMapDisplay:
    """A map of the best model by precision floor and capacity, with the margin beside it.

    Parameters
    ----------
    winner_map : WinnerMap
        Of `voros.winner_map`.

    Attributes
    ----------
    ax_, margin_ax_ : Axes
        The map, and the margin beside it; `margin_ax_` is None where only one was given.
    mesh_, margin_mesh_ : QuadMesh
    hatches_ : dict of str to PathPatch
        Cover the close calls that each model wins: those whose lead is not significant where the
        map has resamples, and otherwise those won by no more than the tolerance.
    names_ : tuple of Text
        Names of models, in the middle of what they win.
    letters_ : dict of str to Text
        Letters of the models whose names do not fit there; the legend explains them.
    styles_ : dict of str to ModelStyle
        How each model is drawn.

    Examples
    --------
    >>> import voros
    >>> from voros.plotting import WinnerMapDisplay
    >>> sizes = {"n_positive": 100, "n_negative": 900}
    >>> winners = voros.winner_map(
    ...     {
    ...         "early": voros.OperatingPoints.from_points([0.01, 0.3], [0.4, 0.7], **sizes),
    ...         "late": voros.OperatingPoints.from_points([0.03, 0.2], [0.3, 0.9], **sizes),
    ...     },
    ...     min_precisions=[0.2, 0.5, 0.9],
    ...     capacities=[0.1, 0.4],
    ...     cost_ratio=(1 / 40, 1 / 20),
    ... )
    >>> display = WinnerMapDisplay(winners).plot()
    >>> display.winner_map.winner.tolist()
    [[0, 1], [0, 0], [-1, -1]]
    """

    def __init__(self, winner_map: WinnerMap) -> None:
        accepted = "what voros.winner_map returns"
        self.winner_map = check_type(winner_map, "winner_map", WinnerMap, accepted)

    def plot(
        self,
        ax: Axes | tuple[Axes, Axes] | None = None,
        *,
        log_capacity: bool = False,
        color: Any = None,
    ) -> Self:
        """Draw on ``ax``, or on a new figure.

        Parameters
        ----------
        ax : Axes or pair of Axes, optional
            One for the map alone, or two: the second is for the margins.
        log_capacity : bool, default False
            Make the axis of capacities logarithmic.
        color : sequence of colors, or mapping of str to color, optional
            Of the models: one each, or by name.

        Returns
        -------
        display
        """
        self.ax_, *rest = panels_to_draw_on(ax, (1, 2), (1.6, 0.75), ncols=2, sharey=True)
        self.margin_ax_ = rest[0] if rest else None
        self.styles_ = model_styles(self.ax_, list(self.winner_map.models), color)
        edges = (
            cell_edges(self.winner_map.capacities, check_flag(log_capacity, "log_capacity")),
            cell_edges(self.winner_map.min_precisions),
        )
        self.mesh_ = self._draw_winners(*edges)
        self.hatches_ = {name: self._hatch(j, *edges) for j, name in self._models()}
        self.margin_mesh_ = None if self.margin_ax_ is None else self._draw_margin(*edges)
        for panel in filter(None, (self.ax_, self.margin_ax_)):
            panel.set(xscale="log" if log_capacity else "linear")
            panel.set(xlim=edges[0][[0, -1]], ylim=edges[1][[0, -1]])
            self._format_axes(panel)
        self.names_, self.letters_ = self._write_names(*edges)
        keys = [(patch, name) for name, patch in self._keys().items()]
        draw_legend(self.ax_, keys, grow=ax is None)
        return self

    def frame(self, backend: str | None = None) -> Any:
        """Return a data frame of one row per grid cell."""
        return self.winner_map.frame(backend)

    def _draw_winners(self, x: FloatArray, y: FloatArray) -> QuadMesh:
        from matplotlib.colors import BoundaryNorm, ListedColormap

        count = len(self.winner_map.models)
        colours = ListedColormap([style.fill for style in self.styles_.values()])
        held = np.ma.masked_equal(self.winner_map.winner, NOBODY)
        bounds = BoundaryNorm(np.arange(count + 1) - 0.5, max(count, 1))
        return self.ax_.pcolormesh(x, y, held, cmap=colours, norm=bounds, rasterized=True)

    def _models(self) -> list[tuple[int, str]]:
        return list(enumerate(self.winner_map.models))

    def _hatch(self, j: int, x: FloatArray, y: FloatArray) -> PathPatch:
        from matplotlib.patches import PathPatch

        narrow = self.winner_map.close_call & (self.winner_map.winner == j)
        shape = PathPatch(_outline(narrow, x, y), facecolor="none", linewidth=0, hatch=HATCH)
        shape.set_edgecolor(ink_on(self.styles_[self.winner_map.models[j]].fill))
        self.ax_.add_patch(shape)
        return shape

    def _draw_margin(self, x: FloatArray, y: FloatArray) -> QuadMesh:
        ax = self.margin_ax_
        assert ax is not None
        margin = np.ma.masked_invalid(self.winner_map.margin)
        mesh = ax.pcolormesh(x, y, margin, cmap="cividis", vmin=0, rasterized=True)
        bar = ax.figure.colorbar(mesh, ax=ax, pad=0.02)
        bar.set_label("lead over the second", fontsize=type_size(ax) - 0.5)
        bar.ax.tick_params(labelsize=type_size(ax) - 1)
        if self.winner_map.unsure is None:
            bar.ax.axhline(self.winner_map.tolerance, color="white", linewidth=1.2)
        return mesh

    def _format_axes(self, ax: Axes) -> None:
        counted = self.winner_map.capacities.dtype.kind in "iu"
        unit = self.winner_map.per or ("alarms" if counted else "share of cases")
        unit = f"alarms per {unit}" if self.winner_map.per else unit
        xlabel = f"{AXIS_TITLES['capacity']} ({unit})"
        ylabel, title = AXIS_TITLES["min_precision"], "best model"
        if self.winner_map.min_recall is not None:
            title += f", recall ≥ {self.winner_map.min_recall:g}"
        if ax is self.margin_ax_:
            ylabel, title = "", "margin"
        format_axes(ax, xlabel=xlabel, ylabel=ylabel, title=title)
        _plain_ticks(ax)

    def _write_names(
        self, x: FloatArray, y: FloatArray
    ) -> tuple[tuple[Text, ...], dict[str, Text]]:
        """Name each model, and the blank part, where there is space; write a letter elsewhere."""
        written, letters = [], {}
        for j, name in [*self._models(), (NOBODY, "nothing feasible")]:
            cells = self.winner_map.winner == j
            if not cells.any():
                continue
            row, column = _deepest(cells & ~self.winner_map.close_call, cells)
            at = (x[column : column + 2].mean(), y[row : row + 2].mean())
            (wide,) = (j - i for i, j in marked_runs(cells[row]) if i <= column < j)
            space = wide / len(cells[row]) * axes_width(self.ax_)
            text = visible(name).replace(" ", "\n")
            if space > text_inches(text, self._name_size()):
                written.append(self._write(literal(text), at, name))
            elif j != NOBODY:
                letters[name] = self._write(self.styles_[name].letter, at, name)
        return tuple(written), letters

    def _name_size(self) -> float:
        return type_size(self.ax_) - 1

    def _write(self, text: str, at: tuple[float, float], name: str) -> Text:
        """Write in the middle of what a model wins, on a margin without hatching."""
        from matplotlib.patheffects import withStroke

        style = self.styles_.get(name)
        back = ground(self.ax_) if style is None else style.fill
        return self.ax_.text(
            *at,
            text,
            ha="center",
            va="center",
            fontsize=self._name_size(),
            fontweight="normal" if style is None else "bold",
            color=muted(self.ax_) if style is None else ink_on(back),
            path_effects=[withStroke(linewidth=3, foreground=back)],
        )

    def _keys(self) -> dict[str, Patch]:
        """Return a patch for each model that wins anywhere, and one for close calls."""
        from matplotlib.patches import Patch

        won, said, keys = self.winner_map.shares_won(), self.winner_map.shares_in_words(), {}
        for name, style in self.styles_.items():
            if won[name] > 0:
                letter = f"{style.letter}: " if name in self.letters_ else ""
                keys[f"{letter}{visible(name)} ({said[name]})"] = Patch(facecolor=style.fill)
        close = f"hatched: {self.winner_map.close_call_in_words}"
        return keys | {close: Patch(facecolor="#888888", edgecolor="white", hatch=HATCH)}


def cell_edges(centres: Any, log: bool = False) -> FloatArray:
    """Edges of grid cells around ``centres``: halfway between neighbours, in logarithms if ``log``.

    Examples
    --------
    >>> cell_edges([1.0, 2.0, 4.0]).tolist()
    [0.5, 1.5, 3.0, 5.0]
    >>> cell_edges([1.0, 4.0], log=True).tolist()
    [0.5, 2.0, 8.0]
    """
    values = np.asarray(centres, dtype=np.float64)
    if len(values) == 1:
        return np.array([0.9, 1.1]) * values
    if log:
        return np.exp(cell_edges(np.log(values)))
    middle = (values[1:] + values[:-1]) / 2
    return np.concatenate([[2 * values[0] - middle[0]], middle, [2 * values[-1] - middle[-1]]])


def _outline(cells: BoolArray, x: FloatArray, y: FloatArray) -> Any:
    """Return one path round all marked cells, a rectangle for each run of them along a row."""
    from matplotlib.path import Path

    boxes = []
    for row, marked in enumerate(cells):
        for start, stop in marked_runs(marked):
            left, right, low, high = x[start], x[stop], y[row], y[row + 1]
            boxes.append([(left, low), (right, low), (right, high), (left, high), (left, low)])
    codes = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY] * len(boxes)
    return Path(np.array(boxes).reshape(-1, 2), codes if boxes else None)


def _deepest(clear: BoolArray, won: BoolArray) -> tuple[int, int]:
    """Return the grid cell farthest from those not won, without hatching if possible."""
    from scipy.ndimage import distance_transform_edt

    cells = clear if clear.any() else won
    depth = distance_transform_edt(np.pad(cells, 1))[1:-1, 1:-1]
    deepest = np.argwhere(depth == depth.max())
    # Of a band, whose middle line is equally deep everywhere, the middle.
    row, column = deepest[np.argmin(np.hypot(*(deepest - deepest.mean(axis=0)).T))]
    return int(row), int(column)


def _plain_ticks(ax: Axes) -> None:
    """Write 0.01 rather than 10^-2, and no minor labels, on a logarithmic axis."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    if ax.get_xscale() == "log":
        steps = (1.0,) if axes_width(ax) < NARROW_INCHES else (1.0, 2.0, 5.0)
        ax.xaxis.set_major_locator(LogLocator(subs=steps))
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        ax.xaxis.set_minor_formatter(NullFormatter())
