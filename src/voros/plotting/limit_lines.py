"""The limits of a scenario, drawn in ROC space: gold region and lines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from voros.core.scenario import PATIENT_DAY, Scenario, check_scenario
from voros.evaluation import Evaluation
from voros.plotting.colours import ink, region_opacity
from voros.plotting.straight_lines import across_the_square, marked_runs
from voros.plotting.style import LIMIT_DASHES, line_width, write_beside
from voros.styles import REGION
from voros.text.numbers import typed_percent
from voros.typing import BoolArray, FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from matplotlib.patches import Polygon

ScenarioLike: TypeAlias = Scenario | Mapping[str, Scenario] | None


def named_scenarios(scenario: ScenarioLike) -> dict[str, Scenario]:
    """Read one scenario, or several by name, strictest first.

    Examples
    --------
    >>> list(named_scenarios(Scenario(0.5, 0.1, 0.05)))
    ['precision ≥ 0.5, alarms ≤ 10 %']
    """
    if scenario is None:
        return {}
    if isinstance(scenario, Mapping):
        return {name: check_scenario(limits) for name, limits in scenario.items()}
    return {", ".join(limit_labels(check_scenario(scenario)).values()): scenario}


def limit_labels(scenario: Scenario) -> dict[str, str]:
    """Return short labels of the floors and the capacity."""
    is_number = scenario.capacity_is_count or scenario.per == PATIENT_DAY
    most = f"{scenario.capacity:,}" if is_number else typed_percent(scenario.capacity)
    if scenario.per is not None:
        most += f" {scenario.rule}"
    labels = {"precision": f"precision ≥ {scenario.min_precision:g}"}
    if scenario.min_recall is not None:
        labels["recall"] = f"recall ≥ {scenario.min_recall:g}"
    return labels | {"capacity": f"alarms ≤ {most}"}


def limit_lines(evaluation: Evaluation) -> dict[str, FloatArray]:
    """Return two points of the line of each limit; one that cuts nothing has no line."""
    points, scenario = evaluation.points, evaluation.scenario
    n_positive, n_negative = points.n_positive, points.n_negative
    floor, lines = scenario.min_precision, {}
    if floor > 0:
        lines["precision"] = across_the_square(-floor * n_negative, (1 - floor) * n_positive, 0.0)
    if scenario.min_recall:
        lines["recall"] = across_the_square(0.0, 1.0, -scenario.min_recall)
    if evaluation.max_alarms < n_positive + n_negative:
        lines["capacity"] = across_the_square(-n_negative, -n_positive, evaluation.max_alarms)
    return lines


@dataclass(frozen=True)
class LimitArtists:
    """What was drawn for the limits of a scenario.

    Attributes
    ----------
    region : Polygon
    lines : dict of str to Line2D
        Of the limits "precision", "recall" and "capacity" that cut something.
    """

    region: Polygon
    lines: dict[str, Line2D]


def draw_limits(
    ax: Axes, evaluation: Evaluation, *, dashes: Any = None, share: float = 1.0
) -> LimitArtists:
    """Fill the region with gold and draw the limit lines, each with its own dashes or all alike.

    Several regions on one plot take a ``share`` of the gold each.
    """
    from matplotlib.patches import Polygon

    region = Polygon(evaluation.region.vertices, closed=True, facecolor=REGION, edgecolor="none")
    region.set(alpha=share * region_opacity(ax), zorder=0.5)
    ax.add_patch(region)
    lines = {}
    for own, (name, ends) in zip(LIMIT_DASHES, limit_lines(evaluation).items(), strict=False):
        look: dict[str, Any] = {"color": ink(ax), "linewidth": 0.7 * line_width(ax), "zorder": 1.5}
        (lines[name],) = ax.plot(*ends.T, linestyle=dashes or own, **look)
    return LimitArtists(region, lines)


def draw_level(ax: Axes, limit: float, text: str) -> Line2D:
    """Draw a limit across the axes, with its label above the right end."""
    line = ax.axhline(limit, color=ink(ax), linestyle="--", linewidth=0.7 * line_width(ax))
    at = {"xycoords": ax.get_yaxis_transform(), "ha": "right", "va": "bottom"}
    write_beside(ax, text, (0.99, limit), (0, 2), **at)
    return line


def shade_runs(ax: Axes, x: FloatArray, marked: BoolArray, share: float = 1.0) -> None:
    """Shade each unbroken run of marked places in gold."""
    look: dict[str, Any] = {"color": REGION, "alpha": share * region_opacity(ax)}
    for start, stop in marked_runs(marked):
        ax.axvspan(x[start], x[stop - 1], linewidth=0, zorder=0, **look)
