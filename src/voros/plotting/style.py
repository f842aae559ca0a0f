"""The style of every picture: type, lines, axes and dashes of limits.

Sizes are made for matplotlib's own settings and follow ``rcParams``: ``font.size``,
``lines.linewidth`` and ``figure.figsize``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from voros.core.arguments import check_type
from voros.installing import missing_package
from voros.plotting.colours import ink

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

LIMIT_DASHES = ("--", ":", "-.", (0, (5, 1, 1, 1, 1, 1)))
"""Strict limits are dashed, more lenient ones dotted."""

COLUMN_INCHES = 3.3
"""Width of a journal column: the narrowest figure that must stay legible."""
TYPE_AT_COLUMN = 7.0
TYPE_PER_INCH = 0.75
TYPE_SMALLEST = 6.0
TYPE_LARGEST = 13.5

CHARACTER_WIDTH = 0.56
"""Width of an average character, in sizes of its type."""
POINTS_PER_INCH = 72


def pyplot() -> Any:
    """Import `matplotlib.pyplot`, or say how to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise missing_package("drawing", "matplotlib") from error
    return plt


def axes_to_draw_on(ax: Axes | None, shape: float = 0.9) -> Axes:
    """Return ``ax``, or the axes of a new figure whose height is ``shape`` times its width."""
    return panels_to_draw_on(ax, (1,), (1.0, shape))[0]


def panels_to_draw_on(
    ax: Any, accepted: tuple[int, ...], shape: tuple[float, float], **options: Any
) -> tuple[Axes, ...]:
    """Return the given axes, or those of a new figure with sides in usual widths."""
    if ax is not None:
        listed = ax.ravel() if isinstance(ax, np.ndarray) else ax
        axes = tuple(listed) if isinstance(listed, (tuple, list, np.ndarray)) else (ax,)
        if len(axes) not in accepted:
            numbers = " or ".join(map(str, accepted))
            raise ValueError(f"ax holds {len(axes)} axes; this picture needs {numbers}")
        from matplotlib.axes import Axes

        return tuple(check_type(one, "ax", Axes, "the Axes of matplotlib") for one in axes)
    plt = pyplot()
    size = tuple(plt.rcParams["figure.figsize"][0] * side for side in shape)
    _, panels = plt.subplots(figsize=size, layout="constrained", **options)
    return tuple(np.ravel(panels))


def write_beside(ax: Any, text: str, at: Any, points: tuple[float, float], **options: Any) -> Text:
    """Write small text at a distance in points from a place in the axes."""
    look = {"fontsize": type_size(ax) - 1, "color": ink(ax), "textcoords": "offset points"}
    written: Text = ax.annotate(text, at, points, **(look | options))
    return written


def _share_of_default(setting: str) -> float:
    """Return a setting as a multiple of matplotlib's default."""
    from matplotlib import rcParams, rcParamsDefault

    now: Any = dict(rcParams)
    own: Any = dict(rcParamsDefault)
    return float(now[setting] / own[setting])


def _panels_across(ax: Axes) -> int:
    """Number of panels side by side in the figure."""
    spec = ax.get_subplotspec()
    return 1 if spec is None else int(spec.get_topmost_subplotspec().get_gridspec().ncols)


def type_size(ax: Axes) -> float:
    """Return a size of type that is legible in a journal column and on a slide."""
    # Halfway between the figure's width and the panel's: panels side by side are read together.
    width = ax.figure.bbox.width / ax.figure.dpi / np.sqrt(_panels_across(ax))
    grown = TYPE_AT_COLUMN + TYPE_PER_INCH * (width - COLUMN_INCHES)
    return float(np.clip(grown, TYPE_SMALLEST, TYPE_LARGEST)) * _share_of_default("font.size")


def panel_width(ax: Axes) -> float:
    """Width of the part of the figure that belongs to these axes alone."""
    return float(ax.figure.bbox.width / ax.figure.dpi / _panels_across(ax))


def axes_width(ax: Axes) -> float:
    """Estimate the width of axes; the layout may still change it."""
    return float(ax.get_position().width * ax.figure.bbox.width / ax.figure.dpi)


def text_inches(text: str, size: float) -> float:
    """Estimate the width of the longest line of a text."""
    longest = max(len(line) for line in text.splitlines())
    return longest * CHARACTER_WIDTH * size / POINTS_PER_INCH


def line_width(ax: Axes) -> float:
    """Width of a main line, in proportion to the type."""
    step = type_size(ax) / _share_of_default("font.size")
    return 0.19 * step * _share_of_default("lines.linewidth")


def format_column(axes: Sequence[Axes], xlabel: str, ylabels: Iterable[str]) -> None:
    """Label axes above one another, which have one label and the ticks of x below the last."""
    for ax, ylabel in zip(axes, ylabels, strict=True):
        last = ax is axes[-1]
        format_axes(ax, xlabel=xlabel if last else "", ylabel=ylabel)
        ax.tick_params(labelbottom=last)


def format_axes(ax: Axes, *, xlabel: str, ylabel: str, title: str | None = None) -> None:
    """Label axes, set the size of their type, and hide the spines above and to the right."""
    size = type_size(ax)
    ax.set_xlabel(xlabel, fontsize=size)
    ax.set_ylabel(ylabel, fontsize=size)
    ax.tick_params(labelsize=size - 1)
    if title is not None:
        ax.set_title(title, fontsize=size + 0.5)
    ax.spines[["top", "right"]].set_visible(False)
