"""The pictures of a report, drawn without a screen and carried inside the page."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from voros import plotting
from voros.core.decision import at_deployment
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import PATIENT_DAY
from voros.plotting.style import pyplot
from voros.present.document import Picture
from voros.present.report.accuracy import deployed_benefit
from voros.present.report.data import rows_of
from voros.present.report.risks import best_known
from voros.text.numbers import percent
from voros.winners import score_grid

if TYPE_CHECKING:
    from voros.present.report.content import Report

RESOLUTION = 150
"""Dots per inch: sharp on paper and on a dense screen."""

MAP_STEPS = 24
"""Floors and capacities on each side of the winner map."""

SHARE_ROUNDING = 1e-9
"""Above one case by so much, a share of weighted cases is not below it once it is multiplied."""


def headless_pyplot() -> Any:
    """Import matplotlib so that it never opens a window."""
    plt = pyplot()
    plt.matplotlib.use("Agg")
    return plt


def figure_bytes(figure: Any, file_format: str) -> bytes:
    """Write a figure into memory, and close it."""
    plt, sink = headless_pyplot(), io.BytesIO()
    # Without a date and with fixed names inside, the same data give the same bytes.
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(file_format)
    with plt.rc_context({"svg.hashsalt": "voros"}):
        figure.savefig(sink, format=file_format, dpi=RESOLUTION, metadata=metadata)
    plt.close(figure)
    return sink.getvalue()


Drawn: TypeAlias = Iterator[tuple[Any, str, str]]
"""Axes of pictures, what a reader hears who cannot see each, and its caption."""


def report_pictures(report: Report) -> dict[str, list[Picture]]:
    """Draw the pictures of each part of a report; none where a part has nothing to show."""
    headless_pyplot()
    parts = {
        "ranking": _draw_events if report.over_stays else _draw_ranking,
        "policy": _draw_policy,
        "map": _draw_map,
    }
    if not report.over_stays:
        parts |= {
            "decision": _draw_decision_curve,
            "calibration": _draw_calibration,
            "subgroup": _draw_groups,
        }
    return {
        name: [
            Picture(figure_bytes(ax.figure, "png"), caption, alternative)
            for ax, alternative, caption in draw(report)
        ]
        for name, draw in parts.items()
    }


def _draw_ranking(report: Report) -> Drawn:
    """ROC curves and, over the costs, what each model wins."""
    yield (
        plotting.RocDisplay(report.points, report.scenario).plot().ax_,
        "ROC curves of all models with the feasible region",
        "ROC curves. The shaded region is what the limits leave; a curve is strong where its "
        "thresholds keep them, and marks are the thresholds that are best at some cost.",
    )
    yield _area_curve(report)


def _draw_events(report: Report) -> Drawn:
    """Events caught by false alarms per patient-day, and over the costs, what each model wins."""
    from matplotlib.ticker import MaxNLocator

    ax = plotting.RocDisplay(report.points, report.scenario).plot(zoom=True).ax_
    points = report.points[report.winner]
    per_day = points.n_negative / rows_of(points).patient_days
    rates = np.asarray(MaxNLocator(6).tick_values(0.0, per_day * ax.get_xlim()[1]))[:-1]
    ax.set_xticks(rates / per_day, [f"{rate:g}" for rate in rates.round(9)])
    ax.set(xlabel="false alarms per patient-day", ylabel="share of events caught")
    yield (
        ax,
        "Events caught by false alarms per patient-day, with the feasible region",
        "Events caught by false alarms per patient-day. The shaded region is what the limits "
        "leave; a curve is strong where its thresholds keep them, and marks are the thresholds "
        "that are best at some cost.",
    )
    yield _area_curve(report)


def _area_curve(report: Report) -> tuple[Any, str, str]:
    return (
        plotting.AreaCurveDisplay(report.points, report.scenario).plot().ax_,
        "Normalised area of lesser classifiers of each model over the costs",
        "The share of the feasible region that is costlier than each model's best threshold, "
        "at each cost. Partial VOROS is its mean over the costs.",
    )


def _draw_decision_curve(report: Report) -> Drawn:
    """Net benefit of each model, and of the deployed thresholds, also on test cases."""
    lines = (
        "the best threshold at each price of a false alarm, chosen on these cases: strong within "
        "the limits, faint without them. Dotted, where scores are probabilities: an alarm from "
        "the threshold probability on, which is chosen on no case. Black: the deployed thresholds."
    )
    yield (
        _with_deployed(report, report.points[report.winner], report.points),
        "Decision curves of all models within the limits, on the validation cases",
        f"Validation cases. Net benefit of each model: {lines}",
    )
    if report.test_points is not None:
        yield (
            _with_deployed(report, report.test_points, {report.winner: report.test_points}),
            f"Decision curve of {report.winner} within the limits, on the test cases",
            f"Test cases. Net benefit of {report.winner}: {lines}",
        )


def _with_deployed(
    report: Report, observed: OperatingPoints, drawn: Mapping[str, OperatingPoints]
) -> Any:
    """Draw decision curves, and over them what the deployed thresholds gain at each price."""
    display = plotting.DecisionCurveDisplay(drawn, report.scenario).plot()
    gained = deployed_benefit(report, observed, display.probabilities)
    ink = display.ax_.xaxis.label.get_color()
    display.ax_.plot(display.probabilities, gained, color=ink, linewidth=1.5, zorder=3)
    return display.ax_


def _draw_calibration(report: Report) -> Drawn:
    """Observed shares against risks, where the chosen model gives any."""
    points = report.test_points or report.points[report.winner]
    if best_known(report) is not None:
        yield (
            plotting.CalibrationDisplay(points, confidence_level=report.confidence_level)
            .plot()
            .ax_,
            f"Observed share of positives against the risks of {report.winner}",
            f"Share of positives against the risk of {report.winner}: smoothed (line), and in "
            f"groups of risk with exact {percent(report.confidence_level)} intervals. On the "
            "diagonal risks are right; below it they are too high.",
        )


def _draw_policy(report: Report) -> Drawn:
    """What each threshold of the chosen model does."""
    free = " The mark is the best without the guarantee." if report.policy.guarantee else ""
    yield (
        plotting.ThresholdCostDisplay(report.points[report.winner], report.scenario)
        .plot()
        .axes_[0],
        f"Expected cost, precision and alarms at each threshold of {report.winner}",
        f"Thresholds of {report.winner}: expected cost, precision and alarms. Faint where a "
        f"limit is broken.{free}",
    )
    if report.policy.curve:
        yield (
            plotting.ConfidenceDisplay(report.policy.confidence_curve()).plot().axes_[0],
            "Expected cost, recall and alarms at each confidence",
            "What each confidence costs, on the validation cases; none is without a guarantee. The "
            "thin line is what is deployed. The confidences were fixed beforehand, so any of them "
            "may be chosen.",
        )


def _draw_groups(report: Report) -> Drawn:
    """What the policy does in each subgroup that was asked for."""
    if report.tested is not None and report.tested.by_subgroup is not None:
        yield (
            plotting.SubgroupDisplay(report.tested.by_subgroup).plot().axes_[0],
            "Precision, recall and cost in each subgroup, with intervals",
            "Precision, recall and cost in each subgroup. Lines are intervals that hold together; "
            "the dashed line is the precision floor.",
        )


def _draw_map(report: Report) -> Drawn:
    """Which of several models would win at other limits."""
    if len(report.points) > 1:
        costs, tolerance = report.scenario.without_limits(), report.selection.tolerance
        floors = np.linspace(0.0, 1.0, MAP_STEPS + 2)[1:-1]
        per = PATIENT_DAY if report.over_stays else None
        capacities = _capacities(report)
        winners = score_grid(report.points, costs, floors, capacities, tolerance, per=per)
        yield (
            plotting.WinnerMapDisplay(winners).plot().ax_,
            "Which model wins at each precision floor and capacity",
            "Which model would win at other limits, and by how much; hatched where the best two "
            f"are within {tolerance:g}.",
        )


def _capacities(report: Report) -> Any:
    """Shares from one case, or rates, up to about twice the capacity that was asked for."""
    cases = at_deployment(next(iter(report.points.values())), report.scenario)
    most = report.selection.allowed[report.winner].decision.max_alarms
    if report.over_stays:
        return np.linspace(0, 2 * most / rows_of(cases).patient_days, MAP_STEPS + 1)[1:]
    highest = min(1.0, 2.0 * most / cases.n_cases)
    one_case = min(highest, cases.one_case / cases.n_cases * (1.0 + SHARE_ROUNDING))
    return np.linspace(max(highest / MAP_STEPS, one_case), highest, MAP_STEPS)
