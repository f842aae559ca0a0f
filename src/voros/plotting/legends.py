"""Legends where they cover nothing: below the axes.

Sizes are estimated before the layout is known, and on the large side.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from voros.plotting.names import distinct, literal, wrapped
from voros.plotting.style import (
    CHARACTER_WIDTH,
    POINTS_PER_INCH,
    panel_width,
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
MOST_ROWS = 8
"""More keys than these share rows, and their names have one line each."""
LONGEST_INSIDE = 26
"""Characters in a line of a legend inside the axes."""


def draw_legend(ax: Any, entries: Sequence[LegendEntry], *, grow: bool = False) -> None:
    """Draw a legend below the axes; the entries of one that is there come first.

    Without a layout engine, which makes the space, it is inside the axes. A new figure may ``grow``
    by the height of the legend.
    """
    from matplotlib.transforms import ScaledTranslation

    size, before = type_size(ax) - 1, _take_entries(ax)
    if ax.figure.get_layout_engine() is None:
        shown = before + _written(entries, LONGEST_INSIDE)
        _draw(ax, shown, loc="best", fontsize=size, framealpha=0.9)
        return
    inches, n_keys = panel_width(ax), len(before) + len(entries)
    least = -(-n_keys // MOST_ROWS)
    shown = before + _written(entries, _fitting(inches / least, size), 3 if least == 1 else 1)
    labels = [label for _, label in shown]
    widest = SAFETY * max(text_inches(label, size) for label in labels)
    across = int(inches / (widest + HANDLE * size / POINTS_PER_INCH))
    columns = min(max(across, least), n_keys)
    if grow:
        rows, lines = -(-n_keys // columns), max(label.count("\n") + 1 for label in labels)
        width, height = ax.figure.get_size_inches()
        taller = (rows * lines * LINE + PADDING) * size / POINTS_PER_INCH
        ax.figure.set_size_inches(width, height + taller)
    points = GAPS + UNDER_AXES * type_size(ax)
    down = ScaledTranslation(0, -points / POINTS_PER_INCH, ax.figure.dpi_scale_trans)
    place = {"loc": "upper center", "bbox_to_anchor": (0.5, 0), "borderaxespad": 0}
    place |= {"bbox_transform": ax.transAxes + down, "frameon": False}
    _draw(ax, shown, ncols=columns, fontsize=size, **place)


def _draw(ax: Any, shown: Sequence[LegendEntry], **options: Any) -> None:
    """Draw a legend; texts are set afterwards, because those that begin with _ are left out."""
    legend: Legend = ax.legend([key for key, _ in shown], ["."] * len(shown), **options)
    for text, (_, label) in zip(legend.get_texts(), shown, strict=True):
        text.set_text(label)


def _take_entries(ax: Any) -> list[LegendEntry]:
    """Return the entries of the legend of these axes, and remove it."""
    legend = ax.get_legend()
    if legend is None:
        return []
    texts = [text.get_text() for text in legend.get_texts()]
    legend.remove()
    return list(zip(legend.legend_handles, texts, strict=True))


def _written(entries: Sequence[LegendEntry], width: int, lines: int = 3) -> list[LegendEntry]:
    """Write names in lines of at most ``width`` characters, no two alike."""
    names = [name for _, name in entries]
    shown = distinct(names, [wrapped(name, width, lines) for name in names])
    return [(key, literal(text)) for (key, _), text in zip(entries, shown, strict=True)]


def _fitting(inches: float, size: float) -> int:
    """Number of characters in a line of a legend of this width."""
    free = inches - (HANDLE + PADDING) * size / POINTS_PER_INCH
    return int(free * POINTS_PER_INCH / (SAFETY * CHARACTER_WIDTH * size))
