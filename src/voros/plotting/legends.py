"""Legends where they cover nothing: below the axes.

Sizes are estimated before the layout is known, and on the large side.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from voros.plotting.names import distinct, literal, wrapped
from voros.plotting.style import (
    CHARACTER_WIDTH,
    POINTS_PER_INCH,
    panel_inches,
    text_inches,
    type_size,
)

if TYPE_CHECKING:
    from matplotlib.legend import Legend

LegendEntry = tuple[Any, str]
"""An artist and what it stands for."""

HANDLE = 3.6
"""Width of a key and the gaps around it, in sizes of the type."""
LINE = 1.35
"""Height of a line of the legend, in sizes of its type."""
PADDING = 2.0
"""Height and width of the frame, in sizes of the type."""
UNDER_AXES, GAPS = 2.4, 14.0
"""Distance from axes to a legend below their labels: sizes of the type, and points between them."""
SAFETY = 1.15
MOST_BELOW = 0.3
"""Share of the height of somebody else's axes that a legend below them takes."""
LONGEST_INSIDE = 26
"""Characters in a line of a legend inside the axes."""


def draw_legend(
    ax: Any, entries: Sequence[LegendEntry], *, below: Any = None, grow: bool = False
) -> Any:
    """Draw a legend, after what one on these axes says already.

    It stands under the lowest axes of the picture, ``below``, which are ``ax`` by default; without
    a layout engine, which makes the space, inside ``ax``. A figure that is ours may ``grow`` taller
    by what a legend takes.
    """
    size, lowest = type_size(ax) - 1, below or ax
    old = _take_entries(ax) + (_take_entries(lowest) if lowest is not ax else [])
    if ax.figure.get_layout_engine() is None:
        inside = old + written_entries(entries, LONGEST_INSIDE)
        return draw_entries(ax, inside, loc="best", fontsize=size, framealpha=0.9)
    return _draw_below(ax, entries, old, below=lowest, grow=grow)


def _draw_below(
    ax: Any, entries: Sequence[LegendEntry], old: list[LegendEntry], *, below: Any, grow: bool
) -> Any:
    from matplotlib.transforms import ScaledTranslation

    size = type_size(ax) - 1
    shown, columns = _arranged(ax, entries, old, np.inf if grow else MOST_BELOW)
    if grow:
        make_taller(ax.figure, [label for _, label in shown], columns, size)
    points = GAPS + UNDER_AXES * type_size(ax)
    down = ScaledTranslation(0, -points / POINTS_PER_INCH, ax.figure.dpi_scale_trans)
    place = {"loc": "upper center", "bbox_to_anchor": (0.5, 0), "borderaxespad": 0}
    where = {"bbox_transform": below.transAxes + down}
    return draw_entries(below, shown, ncols=columns, fontsize=size, frameon=False, **place, **where)


def _arranged(
    ax: Any, entries: Sequence[LegendEntry], old: list[LegendEntry], most: float
) -> tuple[list[LegendEntry], int]:
    """Names and columns of a legend of at most a share of the height: shorter names if need be."""
    size, (inches, high) = type_size(ax) - 1, panel_inches(ax)
    for lines, least in ((3, 1), (1, 1), (1, 2), (1, 3)):
        width = fitting_characters(inches / least, size)
        shown = old + written_entries(entries, width, lines)
        labels = [label for _, label in shown]
        columns = max(least, columns_that_fit(labels, inches, size))
        if legend_height(labels, columns, size) <= most * high:
            break
    return shown, columns


def draw_entries(place: Any, shown: Sequence[LegendEntry], **options: Any) -> Legend:
    """Draw a legend; texts are set afterwards, for one with an underscore in front is left out."""
    handles = [handle for handle, _ in shown]
    legend: Legend = place.legend(handles, ["."] * len(handles), **options)
    for text, (_, label) in zip(legend.get_texts(), shown, strict=True):
        text.set_text(label)
    return legend


def _take_entries(ax: Any) -> list[LegendEntry]:
    """What the legend of these axes says; the legend itself is removed."""
    legend = ax.get_legend()
    if legend is None:
        return []
    texts = [text.get_text() for text in legend.get_texts()]
    legend.remove()
    return list(zip(legend.legend_handles, texts, strict=True))


def written_entries(
    entries: Sequence[LegendEntry], width: int, lines: int = 3
) -> list[LegendEntry]:
    """Write names in lines of at most ``width`` characters, no two alike."""
    names = [name for _, name in entries]
    shown = distinct(names, [wrapped(name, width, lines) for name in names])
    return [(handle, literal(text)) for (handle, _), text in zip(entries, shown, strict=True)]


def fitting_characters(inches: float, size: float) -> int:
    """How many characters a line of a legend of this width holds."""
    free = inches - (HANDLE + PADDING) * size / POINTS_PER_INCH
    return int(free * POINTS_PER_INCH / (SAFETY * CHARACTER_WIDTH * size))


def columns_that_fit(labels: Sequence[str], inches: float, size: float) -> int:
    """How many columns of keys stand side by side in this width."""
    widest = SAFETY * max(text_inches(label, size) for label in labels)
    column = widest + HANDLE * size / POINTS_PER_INCH
    return int(np.clip(inches / column, 1, len(labels)))


def legend_height(labels: Sequence[str], columns: int, size: float) -> float:
    """Inches that the keys take."""
    rows = -(-len(labels) // columns)
    most = max(label.count("\n") + 1 for label in labels)
    return (rows * most * LINE + PADDING) * size / POINTS_PER_INCH


def make_taller(figure: Any, labels: Sequence[str], columns: int, size: float) -> None:
    """Give a figure the height that a legend below its axes takes."""
    width, height = figure.get_size_inches()
    figure.set_size_inches(width, height + legend_height(labels, columns, size))
