"""The limits of a scenario, drawn in ROC space: gold region, two lines and their names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from voros.core.arrays import FloatArray
from voros.core.decision import region_of
from voros.core.region import Region
from voros.core.scenario import Scenario, check_scenario
from voros.evaluation import Evaluation
from voros.looks import REGION
from voros.plotting.colours import ink, region_opacity
from voros.plotting.geometry import capacity_chord, precision_chord
from voros.plotting.style import axes_inches, line_width, text_inches, type_size

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from matplotlib.patches import Polygon
    from matplotlib.text import Text

ScenarioLike: TypeAlias = Scenario | Iterable[Scenario] | Mapping[str, Scenario] | None

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
    # An array is no scenario, and one of no dimension cannot be gone through.
    if isinstance(scenario, Scenario | np.ndarray) or not isinstance(scenario, Iterable):
        scenario = [check_scenario(scenario)]
    listed = [check_scenario(each) for each in scenario]
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
        return region_of(self.n_positive, self.n_negative, self.min_precision, self.max_alarms)


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
    share: float = 1.0,
    labels_end: float = 0.97,
) -> LimitArtists:
    """Fill the region with gold and draw both limit lines, named as in ``scenario`` if given.

    Several regions on one plot take a ``share`` of the gold each; names end at a share of the
    lines' length.
    """
    sizes = limits.n_positive, limits.n_negative
    floor = ceiling = None
    labels = []
    if limits.min_precision > 0:
        ends = precision_chord(*sizes, limits.min_precision)
        floor = _line(ax, ends, dashes)
        if scenario is not None:
            labels.append(
                label_along(ax, ends, describe_precision(scenario), side="below", end=labels_end)
            )
    if limits.caps:
        ends = capacity_chord(*sizes, limits.max_alarms)
        ceiling = _line(ax, ends, dashes)
        if scenario is not None:
            labels.append(
                label_along(ax, ends, describe_capacity(scenario), side="above", end=labels_end)
            )
    return LimitArtists(
        _fill(ax, limits.region, share * region_opacity(ax)), floor, ceiling, tuple(labels)
    )


def _fill(ax: Axes, region: Region, opacity: float) -> Polygon:
    from matplotlib.patches import Polygon

    filled = Polygon(region.vertices, closed=True, facecolor=REGION, edgecolor="none")
    filled.set(alpha=opacity, zorder=0.5)
    ax.add_patch(filled)
    return filled


def _line(ax: Axes, ends: FloatArray, dashes: Any) -> Line2D:
    (line,) = ax.plot(
        *ends.T, color=ink(ax), linestyle=dashes, linewidth=0.7 * line_width(ax), zorder=1.5
    )
    return line


def _within_view(ax: Axes, ends: FloatArray) -> FloatArray:
    """The part of a line that the axes show."""
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    start, step = ends[0], ends[1] - ends[0]
    shares = [0.0, 1.0]
    for axis, edges in enumerate(((left, right), (low, high))):
        if step[axis] != 0:
            crossed = sorted((edge - start[axis]) / step[axis] for edge in edges)
            shares = [max(shares[0], crossed[0]), min(shares[1], crossed[1])]
    return np.array([start + share * step for share in shares])


def label_along(ax: Axes, ends: FloatArray, text: str, *, side: str, end: float) -> Text:
    """Write ``text`` along a line, outside the region: below a rising line, above a falling one.

    A line too short to carry the text has it beside its right end.
    """
    size = type_size(ax) - 1
    ends = _within_view(ax, ends)
    run, rise = (ends[1] - ends[0]) / [np.ptp(ax.get_xlim()), np.ptp(ax.get_ylim())]
    across, up = axes_inches(ax)
    # Round axes of ROC space the two lengths are the same, whatever the layout makes of them.
    across, up = (across, up) if ax.get_aspect() == "auto" else (across, across)
    if np.hypot(run * across, rise * up) < text_inches(text, size):
        return ax.annotate(
            text, ends[1], (3, 3), textcoords="offset points", fontsize=size, color=ink(ax)
        )
    from matplotlib.transforms import ScaledTranslation

    angle = float(np.arctan2(rise * up, run * across))
    away = -LABEL_GAP / 72 if side == "below" else LABEL_GAP / 72
    shift = ScaledTranslation(
        -away * np.sin(angle), away * np.cos(angle), ax.figure.dpi_scale_trans
    )
    x, y = ends[0] + end * (ends[1] - ends[0])
    return ax.text(
        x,
        y,
        text,
        fontsize=size,
        color=ink(ax),
        rotation=float(np.degrees(np.arctan2(*(ends[1] - ends[0])[::-1]))),
        rotation_mode="anchor",
        transform_rotates_text=True,
        transform=ax.transData + shift,
        ha="right",
        va="top" if side == "below" else "bottom",
    )
