"""The pictures of a report, drawn without a screen and carried inside the page."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from voros import plotting
from voros.core.decision import at_deployment
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import PATIENT_DAY
from voros.plotting.colours import INK
from voros.plotting.legends import draw_legend
from voros.plotting.style import pyplot
from voros.present.report.benefit import deployed_benefit
from voros.present.report.data import rows_of
from voros.winners import score_grid

if TYPE_CHECKING:
    from voros.present.report.content import Report

RESOLUTION = 150
"""Dots per inch: sharp on paper and on a dense screen."""

MAP_STEPS = 24
"""Floors and capacities on each side of the winner map."""

SHARE_ROUNDING = 1e-9
"""Relative margin that keeps a share of weighted cases, multiplied, from falling below one case."""


def headless_pyplot() -> Any:
    """Import pyplot with a backend that never opens a window."""
    plt = pyplot()
    plt.switch_backend("Agg")
    return plt


@contextmanager
def headless() -> Iterator[Any]:
    """Draw without a window, and restore the backend afterwards, such as that of a notebook."""
    backend = pyplot().get_backend()
    try:
        yield headless_pyplot()
    finally:
        pyplot().switch_backend(backend)


def figure_bytes(figure: Any, file_format: str) -> bytes:
    """Write a figure into memory, and close it."""
    plt, sink = pyplot(), io.BytesIO()
    # Without a date and with fixed names inside, the same data give the same bytes.
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(file_format)
    with plt.rc_context({"svg.hashsalt": "voros"}):
        figure.savefig(sink, format=file_format, dpi=RESOLUTION, metadata=metadata)
    plt.close(figure)
    return sink.getvalue()


def draw_pictures(report: Report) -> dict[str, bytes]:
    """Draw the pictures of a report, by the names that its template has captions for."""
    with headless():
        return {name: figure_bytes(ax.figure, "png") for name, ax in _drawn(report)}


def _drawn(report: Report) -> Iterator[tuple[str, Any]]:
    """Draw each picture on axes of its own; those of cases are left out over stays."""
    points, scenario, best = report.points, report.scenario, report.points[report.winner]
    yield "curves", _draw_curves(report)
    yield "areas", plotting.AreaCurveDisplay(points, scenario).plot().ax_
    yield "thresholds", plotting.ThresholdCostDisplay(best, scenario).plot().axes_[0]
    if report.policy.curve:
        ladder = plotting.ConfidenceDisplay(report.policy.confidence_curve())
        yield "confidences", ladder.plot().axes_[0]
    if not report.over_stays:
        yield from _drawn_of_cases(report, best)
    if len(points) > 1:
        yield "winners", _draw_winners(report)


def _drawn_of_cases(report: Report, best: OperatingPoints) -> Iterator[tuple[str, Any]]:
    later, level = report.test_points, report.confidence_level
    if report.best_quality.calibration is not None:
        risks = plotting.CalibrationDisplay(later or best, confidence_level=level)
        yield "calibration", risks.plot().ax_
    yield "validation benefit", _draw_benefit(report, best, report.points)
    if later is not None:
        yield "test benefit", _draw_benefit(report, later, {report.winner: later})
    if report.tested is not None and report.tested.by_subgroup is not None:
        yield "subgroups", plotting.SubgroupDisplay(report.tested.by_subgroup).plot().axes_[0]


def _draw_curves(report: Report) -> Any:
    """Draw ROC curves; over stays by false alarms per patient-day and events caught."""
    ax = plotting.RocDisplay(report.points, report.scenario).plot(zoom=report.over_stays).ax_
    if report.over_stays:
        from matplotlib.ticker import MaxNLocator

        points = report.points[report.winner]
        per_day = points.n_negative / rows_of(points).patient_days
        rates = np.asarray(MaxNLocator(6).tick_values(0.0, per_day * ax.get_xlim()[1]))[:-1]
        ax.set_xticks(rates / per_day, [f"{rate:g}" for rate in rates.round(9)])
        ax.set(xlabel="false alarms per patient-day", ylabel="share of events caught")
    return ax


def _draw_benefit(
    report: Report, observed: OperatingPoints, drawn: Mapping[str, OperatingPoints]
) -> Any:
    """Draw decision curves, and over them the net benefit of the deployed thresholds."""
    display = plotting.DecisionCurveDisplay(drawn, report.scenario).plot()
    gained = deployed_benefit(report, observed, display.probabilities)
    (line,) = display.ax_.plot(display.probabilities, gained, color=INK, linewidth=0.8, zorder=3)
    draw_legend(display.ax_, [(line, "the deployed thresholds")])
    return display.ax_


def _draw_winners(report: Report) -> Any:
    """Draw which of several models would win at other limits."""
    costs, tolerance = report.scenario.without_limits(), report.selection.tolerance
    floors = np.linspace(0.0, 1.0, MAP_STEPS + 2)[1:-1]
    per = PATIENT_DAY if report.over_stays else None
    winners = score_grid(report.points, costs, floors, _capacities(report), tolerance, per=per)
    return plotting.WinnerMapDisplay(winners).plot().ax_


def _capacities(report: Report) -> Any:
    """Shares from one case, or rates, up to about twice the capacity that was asked for."""
    cases = at_deployment(next(iter(report.points.values())), report.scenario)
    most = report.selection.allowed[report.winner].decision.max_alarms
    if report.over_stays:
        return np.linspace(0, 2 * most / rows_of(cases).patient_days, MAP_STEPS + 1)[1:]
    highest = min(1.0, 2.0 * most / cases.n_cases)
    one_case = min(highest, cases.one_case / cases.n_cases * (1.0 + SHARE_ROUNDING))
    return np.linspace(max(highest / MAP_STEPS, one_case), highest, MAP_STEPS)
