"""The style of each model: colours, lines and markers, as matplotlib takes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from voros.plotting.colours import ground, is_dark
from voros.plotting.style import line_width, type_size
from voros.styles import DASHES, HUES, MARKERS, letter_of

FADED = 0.35
"""Opacity of thresholds that break a limit."""


@dataclass(frozen=True, kw_only=True)
class ModelStyle:
    """How matplotlib draws one model on some axes.

    Attributes
    ----------
    color, fill : color
        Of lines and markers, and of areas.
    letter : str
    line, faded : dict of str to object
        Options of `Axes.plot` for a curve, and for the part of it that breaks a limit.
    marks : dict of str to object
        Options of `Axes.plot` for points that a curve is marked at.
    """

    color: Any
    fill: Any
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
    >>> styles["a"].color, styles["b"].color, styles["b"].marks["marker"]
    ('#0072B2', 'red', 's')
    """
    wanted = _wanted_colours(models, color)
    return {name: _style(ax, i, wanted.get(name)) for i, name in enumerate(models)}


def _style(ax: Any, position: int, wanted: Any) -> ModelStyle:
    light, on_dark, fill = HUES[position % len(HUES)]
    color, area = (on_dark, on_dark) if is_dark(ax) else (light, fill)
    if wanted is not None:
        color = area = wanted
    # One more step in every round of colours, so that colours get other dashes.
    step, width = position + position // len(HUES), line_width(ax)
    dashes, marker = DASHES[step % len(DASHES)], MARKERS[step % len(MARKERS)]
    line = {"color": color, "linestyle": (0, dashes) if dashes else "-", "linewidth": width}
    return ModelStyle(
        color=color,
        fill=area,
        letter=letter_of(position),
        line=line,
        faded=line | {"linewidth": 0.8 * width, "alpha": FADED},
        marks={
            "linestyle": "none",
            "marker": marker,
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
