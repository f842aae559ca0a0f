"""How every picture looks: colours, dashes, hatches and type sizes, each in one place.

Colours are those of Okabe and Ito, which people with any common colour blindness can tell apart.
No picture relies on them alone: models also differ in dashes and markers, filled areas in
brightness, and areas carry their names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from voros.installing import missing_package

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LINES = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#56B4E9",
    "#000000",
    "#E69F00",
    "#7A6A00",
)
"""One colour per model, for lines and markers on white or gold."""

FILLS = (
    "#00578A",
    "#F0A35E",
    "#3FA98A",
    "#F0D3E2",
    "#56B4E9",
    "#444444",
    "#E69F00",
    "#F0E442",
)
"""The same hues for areas; the first four also differ in brightness when printed grey."""

DASHES: tuple[Any, ...] = ("-", (0, (6, 1.5)), (0, (3, 1, 1, 1)), (0, (1, 1)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
LIMIT_DASHES = ("--", ":", "-.", (0, (5, 1, 1, 1, 1, 1)))
"""Strict limits are dashed, more lenient ones dotted."""

GOLD = "#F6D55C"
"""The feasible region."""
PINK = "#E86FA0"
"""The area of lesser classifiers."""
INK = "#222222"
QUIET = "#6B6B6B"
FADED = 0.35
"""Opacity of what the limits rule out."""

COLUMN_INCHES = 3.3
"""Width of a journal column: the narrowest figure that must stay legible."""
DEFAULT_INCHES = 6.4
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


def axes_to_draw_on(ax: Axes | None, shape: float = 0.9, **subplot_options: Any) -> Axes:
    """Return ``ax``, or the axes of a new figure whose height is ``shape`` times its width."""
    plt = pyplot()
    if ax is not None:
        return ax
    _, made = plt.subplots(
        figsize=(DEFAULT_INCHES, DEFAULT_INCHES * shape),
        layout="constrained",
        subplot_kw=subplot_options,
    )
    return made  # type: ignore[no-any-return]


def type_size(ax: Axes) -> float:
    """Size of type for these axes: legible in a journal column and on a slide."""
    spec = ax.get_subplotspec()
    panels = 1 if spec is None else spec.get_gridspec().ncols
    # Halfway between the figure's width and the panel's: panels side by side are read together.
    width = ax.figure.bbox.width / ax.figure.dpi / np.sqrt(panels)
    grown = TYPE_AT_COLUMN + TYPE_PER_INCH * (width - COLUMN_INCHES)
    return float(np.clip(grown, TYPE_SMALLEST, TYPE_LARGEST))


def axes_inches(ax: Axes) -> float:
    """Width of axes, roughly: what the layout does later is not known yet."""
    return float(ax.get_position().width * ax.figure.bbox.width / ax.figure.dpi)


def text_inches(text: str, size: float) -> float:
    """Width of the longest line of a text, roughly."""
    longest = max(len(line) for line in text.splitlines())
    return longest * CHARACTER_WIDTH * size / POINTS_PER_INCH


def line_width(ax: Axes) -> float:
    """Width of a main line, in step with the type."""
    return 0.19 * type_size(ax)


def dress(ax: Axes, *, xlabel: str, ylabel: str, title: str | None = None) -> None:
    """Label axes, size their type and drop the box lines that carry nothing."""
    size = type_size(ax)
    ax.set_xlabel(xlabel, fontsize=size)
    ax.set_ylabel(ylabel, fontsize=size)
    ax.tick_params(labelsize=size - 1)
    if title is not None:
        ax.set_title(title, fontsize=size + 0.5)
    ax.spines[["top", "right"]].set_visible(False)


def unit_square(ax: Axes) -> None:
    """Frame ROC space."""
    ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal")


def look(index: int) -> dict[str, Any]:
    """Colour and dashes of the model at a position."""
    return {
        "color": LINES[index % len(LINES)],
        "linestyle": DASHES[index % len(DASHES)],
    }


def marker(index: int) -> str:
    """Marker of the model at a position."""
    return MARKERS[index % len(MARKERS)]


def limit_dashes(index: int) -> Any:
    """Dashes of the limits at a position, strictest first."""
    return LIMIT_DASHES[index % len(LIMIT_DASHES)]
