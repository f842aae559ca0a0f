"""The limits of a scenario, drawn in ROC space: gold region, two lines and their names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from voros.evaluation import Evaluation
from voros.inputs import FloatArray
from voros.plotting.geometry import capacity_chord, precision_chord
from voros.plotting.style import GOLD, INK, axes_inches, line_width, text_inches, type_size
from voros.region import Region, feasible_region
from voros.scenario import Scenario, check_scenario

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from matplotlib.patches import Polygon
    from matplotlib.text import Text

ScenarioLike: TypeAlias = Scenario | Iterable[Scenario] | Mapping[str, Scenario] | None

OPACITY = 0.55
"""Of the gold of one region; several on one plot share it."""
LABEL_GAP = 3.0
"""Points between a line and the text along it."""


def named_scenarios(scenario: ScenarioLike) -> dict[str, Scenario]:
    """Read one scenario, several, or several by name; strictest first.

    Examples
    --------
    >>> list(named_scenarios(Scenario(0.5, 0.1, 0.05)))
    ['precision ≥ 0.5, alarms ≤ 10%']
    """
    if scenario is None:
        return {}
    if isinstance(scenario, Mapping):
        return {name: check_scenario(each) for name, each in scenario.items()}
    several = scenario if isinstance(scenario, Iterable) else [scenario]
    listed = [check_scenario(each) for each in several]
    return {describe_limits(one): one for one in listed}


def describe_limits(scenario: Scenario) -> str:
    """Say both limits shortly."""
    return f"{describe_precision(scenario)}, {describe_capacity(scenario)}"


def describe_precision(scenario: Scenario) -> str:
    """Say the precision floor shortly."""
    return f"precision ≥ {scenario.min_precision:g}"


def describe_capacity(scenario: Scenario) -> str:
    """Say the capacity shortly."""
    if scenario.capacity_is_count:
        return f"alarms ≤ {scenario.capacity:,}"
    return f"alarms ≤ {100 * scenario.capacity:.3g}%"


@dataclass(frozen=True)
class Limits:
    """A precision floor and a capacity for classes of given sizes: what it takes to draw them."""

    n_positive: float
    n_negative: float
    min_precision: float = 0.0
    max_alarms: float = np.inf

    @classmethod
    def of(cls, evaluation: Evaluation) -> Limits:
        """Take them from a model's evaluation, at the prevalence of its scenario."""
        points = evaluation.points
        floor = evaluation.scenario.min_precision
        return cls(points.n_positive, points.n_negative, floor, evaluation.max_alarms)

    @property
    def caps(self) -> bool:
        """Whether the capacity rules anything out."""
        return self.max_alarms < self.n_positive + self.n_negative

    @property
    def region(self) -> Region:
        """The feasible region."""
        return feasible_region(
            self.n_positive, self.n_negative, self.min_precision, self.max_alarms
        )


@dataclass(frozen=True)
class LimitArtists:
    """What was drawn for one pair of limits; one that cuts nothing has no line."""

    region: Polygon
    precision: Line2D | None
    capacity: Line2D | None
    labels: tuple[Text, ...]


def draw_limits(
    ax: Axes,
    limits: Limits,
    *,
    scenario: Scenario | None = None,
    dashes: Any = "--",
    opacity: float = OPACITY,
) -> LimitArtists:
    """Fill the region with gold and draw both limit lines, named as in ``scenario`` if given."""
    sizes = limits.n_positive, limits.n_negative
    floor = ceiling = None
    labels = []
    if limits.min_precision > 0:
        ends = precision_chord(*sizes, limits.min_precision)
        floor = _line(ax, ends, dashes)
        if scenario is not None:
            labels.append(label_along(ax, ends, describe_precision(scenario), side="below"))
    if limits.caps:
        ends = capacity_chord(*sizes, limits.max_alarms)
        ceiling = _line(ax, ends, dashes)
        if scenario is not None:
            labels.append(label_along(ax, ends, describe_capacity(scenario), side="above"))
    return LimitArtists(_fill(ax, limits.region, opacity), floor, ceiling, tuple(labels))


def _fill(ax: Axes, region: Region, opacity: float) -> Polygon:
    from matplotlib.patches import Polygon

    filled = Polygon(region.vertices, closed=True, facecolor=GOLD, edgecolor="none", alpha=opacity)
    filled.set_zorder(0.5)
    ax.add_patch(filled)
    return filled


def _line(ax: Axes, ends: FloatArray, dashes: Any) -> Line2D:
    (line,) = ax.plot(
        *ends.T, color=INK, linestyle=dashes, linewidth=0.7 * line_width(ax), zorder=1.5
    )
    return line


def label_along(ax: Axes, ends: FloatArray, text: str, *, side: str) -> Text:
    """Write ``text`` along a line, outside the region: below a rising line, above a falling one.

    A line too short to carry the text has it beside its right end.
    """
    size = type_size(ax) - 1
    run, rise = ends[1] - ends[0]
    if np.hypot(run, rise) * axes_inches(ax) < text_inches(text, size):
        return ax.annotate(
            text, ends[1], (3, 3), textcoords="offset points", fontsize=size, color=INK
        )
    from matplotlib.transforms import ScaledTranslation

    angle = float(np.arctan2(rise, run))
    away = -LABEL_GAP / 72 if side == "below" else LABEL_GAP / 72
    shift = ScaledTranslation(
        -away * np.sin(angle), away * np.cos(angle), ax.figure.dpi_scale_trans
    )
    x, y = ends[0] + 0.97 * (ends[1] - ends[0])
    return ax.text(
        x,
        y,
        text,
        fontsize=size,
        color=INK,
        rotation=np.degrees(angle),
        rotation_mode="anchor",
        transform_rotates_text=True,
        transform=ax.transData + shift,
        ha="right",
        va="top" if side == "below" else "bottom",
    )
