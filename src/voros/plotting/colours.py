"""Colours for dark and light backgrounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from voros.styles import REGION_OPACITY, REGION_OPACITY_ON_DARK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LUMA = (0.299, 0.587, 0.114)
"""How much red, green and blue add to brightness."""

PINK = "#E86FA0"
"""The area of lesser classifiers."""
INK, INK_ON_DARK = "#222222", "#F2F2F2"
MUTED, MUTED_ON_DARK = "#6B6B6B", "#AEB6BD"


def brightness(color: Any) -> float:
    """Brightness of a colour, from 0 to 1."""
    from matplotlib.colors import to_rgb

    return float(np.dot(to_rgb(color), LUMA))


def ground(ax: Any) -> Any:
    """Background colour of axes, or of their figure where they are transparent."""
    face = ax.get_facecolor()
    return ax.figure.get_facecolor() if face[3] == 0 else face


def is_dark(ax: Any) -> bool:
    """Whether the background of these axes is dark."""
    return brightness(ground(ax)) < 0.5


def ink(ax: Any) -> str:
    """Colour of writing and limits."""
    return INK_ON_DARK if is_dark(ax) else INK


def muted(ax: Any) -> str:
    """Colour of what matters less."""
    return MUTED_ON_DARK if is_dark(ax) else MUTED


def ink_on(color: Any) -> str:
    """Dark ink on light areas, white on dark ones."""
    return INK if brightness(color) > 0.5 else "white"


def region_opacity(ax: Axes) -> float:
    """Opacity of the colour of one region."""
    return REGION_OPACITY_ON_DARK if is_dark(ax) else REGION_OPACITY
