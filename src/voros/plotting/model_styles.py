"""The style of each model: colours, lines and markers, as matplotlib takes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from voros.plotting.colours import ground, is_dark
from voros.plotting.style import line_width, type_size
from voros.styles import style_of

FADED = 0.35
"""Opacity of thresholds that break a limit."""


@dataclass(frozen=True, kw_only=True)
class ModelStyle:
    """How matplotlib draws one model on some axes.

    Attributes
    ----------
    color, fill : color
        Of lines and markers, and of areas.
    marker, letter : str
    line, faded : dict of str to object
        Options of `Axes.plot` for a curve, and for the part of it that breaks a limit.
    marks : dict of str to object
        Options of `Axes.plot` for points that a curve is marked at.
    """

    color: Any
    fill: Any
    marker: str
    letter: str
    line: Mapping[str, Any]
    faded: Mapping[str, Any]
    marks: Mapping[str, Any]


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
    wanted = _wanted_colours(models, color)
    return {name: _style(ax, i, wanted.get(name)) for i, name in enumerate(models)}


def _style(ax: Any, position: int, wanted: Any) -> ModelStyle:
    base, dark, width = style_of(position), is_dark(ax), line_width(ax)
    color, fill = (base.on_dark, base.on_dark) if dark else (base.line, base.fill)
    if wanted is not None:
        color = fill = wanted
    dashes: Any = (0, base.dashes) if base.dashes else "-"
    line = {"color": color, "linestyle": dashes, "linewidth": width}
    return ModelStyle(
        color=color,
        fill=fill,
        marker=base.marker,
        letter=base.letter,
        line=line,
        faded=line | {"linewidth": 0.8 * width, "alpha": FADED},
        marks={
            "linestyle": "none",
            "marker": base.marker,
            "color": color,
            "markersize": 0.62 * type_size(ax),
            "markeredgecolor": ground(ax),
            "markeredgewidth": 0.7,
        },
    )


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
