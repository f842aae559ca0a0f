"""The limits of a scenario, drawn in ROC space: gold region, lines and their names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from voros.core.geometry import Region
from voros.core.scenario import PATIENT_DAY, Scenario, check_scenario
from voros.evaluation import Evaluation
from voros.plotting.chords import UNIT_SQUARE, chord, marked_runs
from voros.plotting.colours import ink, region_opacity
from voros.plotting.style import (
    POINTS_PER_INCH,
    axes_inches,
    line_width,
    text_inches,
    type_size,
    write_beside,
)
from voros.styles import REGION
from voros.text.numbers import typed_percent
from voros.typing import BoolArray, FloatArray

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
    ['precision ≥ 0.5, alarms ≤ 10 %']
    """
    if scenario is None:
        return {}
    if isinstance(scenario, Mapping):
        return {name: check_scenario(limits) for name, limits in scenario.items()}
    # An array is not a scenario, and one of no dimension cannot be gone through.
    if isinstance(scenario, Scenario | np.ndarray) or not isinstance(scenario, Iterable):
        scenario = [check_scenario(scenario)]
    listed = [check_scenario(limits) for limits in scenario]
    return {", ".join(limit_labels(one).values()): one for one in listed}


def limit_labels(scenario: Scenario) -> dict[str, str]:
    """Say the floors and the capacity shortly."""
    is_number = scenario.capacity_is_count or scenario.per == PATIENT_DAY
    most = f"{scenario.capacity:,}" if is_number else typed_percent(scenario.capacity)
    if scenario.per is not None:
        most += f" {scenario.rule}"
    labels = {"precision": f"precision ≥ {scenario.min_precision:g}"}
    if scenario.min_recall is not None:
        labels["recall"] = f"recall ≥ {scenario.min_recall:g}"
    return labels | {"capacity": f"alarms ≤ {most}"}


def limit_chords(evaluation: Evaluation) -> dict[str, FloatArray]:
    """Return both ends of each limit within the unit square; one that cuts nothing has no line."""
    points, scenario = evaluation.points, evaluation.scenario
    fpr, tpr = UNIT_SQUARE.T
    tp, fp, floor = points.n_positive * tpr, points.n_negative * fpr, scenario.min_precision
    chords = {}
    if floor > 0:
        chords["precision"] = chord(UNIT_SQUARE, (1.0 - floor) * tp - floor * fp)
    if scenario.min_recall:
        chords["recall"] = chord(UNIT_SQUARE, tpr - scenario.min_recall)
    if evaluation.max_alarms < points.n_positive + points.n_negative:
        chords["capacity"] = chord(UNIT_SQUARE, evaluation.max_alarms - tp - fp)
    return chords


@dataclass(frozen=True)
class LimitArtists:
    """What was drawn for the limits of a scenario; one that cuts nothing has no line."""

    region: Polygon
    precision: Line2D | None
    capacity: Line2D | None
    labels: tuple[Text, ...]
    recall: Line2D | None = None


def draw_limits(
    ax: Axes,
    evaluation: Evaluation,
    *,
    named: bool,
    dashes: Any = "--",
    share: float = 1.0,
    labels_end: float = 0.97,
) -> LimitArtists:
    """Fill the region with gold and draw the limit lines, ``named`` or not.

    Several regions on one plot take a ``share`` of the gold each; names end at a share of the
    lines' length.
    """
    chords, words = limit_chords(evaluation), limit_labels(evaluation.scenario)
    look = {"color": ink(ax), "linestyle": dashes, "linewidth": 0.7 * line_width(ax)}
    lines = {name: ax.plot(*ends.T, **look, zorder=1.5)[0] for name, ends in chords.items()}
    labels = [
        label_along(ax, ends, words[name], below=name != "capacity", end=labels_end)
        for name, ends in chords.items()
        if named
    ]
    region = _fill(ax, evaluation.region, share * region_opacity(ax))
    drawn = {name: lines.get(name) for name in ("precision", "recall", "capacity")}
    return LimitArtists(region=region, labels=tuple(labels), **drawn)


def _fill(ax: Axes, region: Region, opacity: float) -> Polygon:
    from matplotlib.patches import Polygon

    filled = Polygon(region.vertices, closed=True, facecolor=REGION, edgecolor="none")
    filled.set(alpha=opacity, zorder=0.5)
    ax.add_patch(filled)
    return filled


def draw_level(ax: Axes, limit: float, text: str) -> Line2D:
    """Draw a limit across the axes, with what it is above its right end."""
    line = ax.axhline(limit, color=ink(ax), linestyle="--", linewidth=0.7 * line_width(ax))
    at = {"xycoords": ax.get_yaxis_transform(), "ha": "right", "va": "bottom"}
    write_beside(ax, text, (0.99, limit), (0, 2), **at)
    return line


def shade_runs(ax: Axes, x: FloatArray, marked: BoolArray, share: float = 1.0) -> None:
    """Lay gold behind each unbroken run of marked places."""
    look: dict[str, Any] = {"color": REGION, "alpha": share * region_opacity(ax)}
    for start, stop in marked_runs(marked):
        ax.axvspan(x[start], x[stop - 1], linewidth=0, zorder=0, **look)


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


def label_along(ax: Axes, ends: FloatArray, text: str, *, below: bool, end: float) -> Text:
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
        return write_beside(ax, text, ends[1], (3, 3))
    from matplotlib.transforms import ScaledTranslation

    angle = float(np.arctan2(rise * up, run * across))
    away = (-LABEL_GAP if below else LABEL_GAP) / POINTS_PER_INCH
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
        va="top" if below else "bottom",
    )
