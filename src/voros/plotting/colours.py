"""Colours for dark and light backgrounds, and the style of each model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from voros.styles import REGION_OPACITY, REGION_OPACITY_ON_DARK, style_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LUMA = (0.299, 0.587, 0.114)
"""How much red, green and blue add to brightness."""

PINK = "#E86FA0"
"""The area of lesser classifiers."""
INK, INK_ON_DARK = "#222222", "#F2F2F2"
MUTED, MUTED_ON_DARK = "#6B6B6B", "#AEB6BD"

FADED = 0.35
"""Opacity of thresholds that break a limit."""


@dataclass(frozen=True)
class ModelStyle:
    """How matplotlib draws one model; ``fill`` is the colour of areas."""

    color: Any
    fill: Any
    linestyle: Any
    marker: str
    letter: str

    @property
    def line(self) -> dict[str, Any]:
        """Colour and dashes, as `Axes.plot` takes them."""
        return {"color": self.color, "linestyle": self.linestyle}


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


def model_styles(ax: Any, models: Sequence[str], color: Any = None) -> dict[str, ModelStyle]:
    """Return the styles of models on these axes.

    ``color`` is one for each model, or for those named; the others keep their own.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> styles = model_styles(plt.gca(), ["a", "b"], color={"b": "red"})
    >>> styles["a"].color, styles["b"].color
    ('#0072B2', 'red')
    """
    wanted, dark, styles = _wanted_colours(models, color), is_dark(ax), {}
    for position, name in enumerate(models):
        base = style_of(position)
        line, fill = (base.on_dark, base.on_dark) if dark else (base.line, base.fill)
        styles[name] = ModelStyle(
            color=wanted.get(name, line),
            fill=wanted.get(name, fill),
            linestyle=(0, base.dashes) if base.dashes else "-",
            marker=base.marker,
            letter=base.letter,
        )
    return styles


def _wanted_colours(models: Sequence[str], color: Any) -> dict[str, Any]:
    from matplotlib.colors import is_color_like

    if color is None:
        return {}
    if isinstance(color, Mapping):
        colours = dict(color)
    elif is_color_like(color) and len(models) == 1:
        colours = {models[0]: color}
    elif isinstance(color, str) or not isinstance(color, Sequence) or len(color) != len(models):
        raise ValueError(
            f"color={color!r} and {len(models)} models; accepted are a colour for one model, as "
            "many colours as models, or a mapping from names to colours"
        )
    else:
        colours = dict(zip(models, color, strict=True))
    for name, colour in colours.items():
        if name not in models:
            raise ValueError(f"color names {name!r}, which is not one of {', '.join(models)}")
        if not is_color_like(colour):
            raise ValueError(f"color={colour!r} is not a colour that matplotlib knows")
    return colours


def region_opacity(ax: Axes) -> float:
    """Opacity of the colour of one region."""
    return REGION_OPACITY_ON_DARK if is_dark(ax) else REGION_OPACITY
