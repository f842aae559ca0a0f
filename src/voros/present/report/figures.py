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
from voros.policy.by_subgroup import floors_of
from voros.present.document import Picture
from voros.present.report.accuracy import deployed_benefit
from voros.present.report.data import rows_of
from voros.text.numbers import percent
from voros.winners import score_grid

if TYPE_CHECKING:
    from voros.present.report.content import Report

RESOLUTION = 150
"""Dots per inch: sharp on paper and on a dense screen."""

MAP_STEPS = 24
"""Floors and capacities on each side of the winner map."""

SHARE_ROUNDING = 1e-9
"""Relative margin that keeps a share of weighted cases, multiplied, from falling below one case."""

HOW_TO_READ = (
    "The limits hold in the shaded region. A curve is strong where its thresholds keep them; marks "
    "are the thresholds that are best at some cost."
)

NET_BENEFIT_LINES = (
    "the best threshold at each price of a false alarm, chosen on these cases: strong within the "
    "limits, faint without them. Where scores are probabilities, the dotted line raises an alarm "
    "from the threshold probability on, and chooses nothing on these cases."
)


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


def _picture(ax: Any, caption: str) -> Picture:
    return Picture(figure_bytes(ax.figure, "png"), caption)


def ranking_pictures(report: Report) -> Iterator[Picture]:
    """Draw ROC curves, over stays by false alarms per patient-day, and areas over the costs."""
    curves = plotting.RocDisplay(report.points, report.scenario).plot(zoom=report.over_stays)
    if report.over_stays:
        _count_per_day(curves.ax_, report.points[report.winner])
    what = "Events caught by false alarms per patient-day" if report.over_stays else "ROC curves"
    yield _picture(curves.ax_, f"{what}. {HOW_TO_READ}")
    yield _picture(
        plotting.AreaCurveDisplay(report.points, report.scenario).plot().ax_,
        "Normalised area of lesser classifiers over the costs. At each cost, the share of the "
        "feasible region that is costlier than each model's best threshold; partial VOROS is its "
        "mean over the costs.",
    )


def _count_per_day(ax: Any, points: OperatingPoints) -> None:
    """Relabel the axes of ROC curves by false alarms per patient-day and events."""
    from matplotlib.ticker import MaxNLocator

    per_day = points.n_negative / rows_of(points).patient_days
    rates = np.asarray(MaxNLocator(6).tick_values(0.0, per_day * ax.get_xlim()[1]))[:-1]
    ax.set_xticks(rates / per_day, [f"{rate:g}" for rate in rates.round(9)])
    ax.set(xlabel="false alarms per patient-day", ylabel="share of events caught")


def decision_pictures(report: Report) -> Iterator[Picture]:
    """Draw the net benefit of each model, and of the deployed thresholds, also on test cases."""
    yield _picture(
        _with_deployed(report, report.points[report.winner], report.points),
        f"Decision curves on the validation cases. Net benefit of each model: {NET_BENEFIT_LINES}",
    )
    if report.test_points is not None:
        yield _picture(
            _with_deployed(report, report.test_points, {report.winner: report.test_points}),
            f"Decision curve on the test cases. Net benefit of {report.winner}: "
            f"{NET_BENEFIT_LINES}",
        )


def _with_deployed(
    report: Report, observed: OperatingPoints, drawn: Mapping[str, OperatingPoints]
) -> Any:
    """Draw decision curves, and over them the net benefit of the deployed thresholds."""
    display = plotting.DecisionCurveDisplay(drawn, report.scenario).plot()
    gained = deployed_benefit(report, observed, display.probabilities)
    (line,) = display.ax_.plot(display.probabilities, gained, color=INK, linewidth=0.8, zorder=3)
    draw_legend(display.ax_, [(line, "the deployed thresholds")])
    return display.ax_


def calibration_pictures(report: Report) -> Iterator[Picture]:
    """Draw observed shares against the risks of the chosen model, where it gives any."""
    if report.best_quality.calibration is None:
        return
    points = report.test_points or report.points[report.winner]
    level = percent(report.confidence_level)
    yield _picture(
        plotting.CalibrationDisplay(points, confidence_level=report.confidence_level).plot().ax_,
        f"Share of positives against the risk of {report.winner}. The line is smoothed; dots are "
        f"groups of risk with exact {level} intervals. On the diagonal risks are right; below it "
        "they are too high.",
    )


def policy_pictures(report: Report) -> Iterator[Picture]:
    """Draw the chosen model along its thresholds, and what each confidence costs."""
    free = " The mark is the best without the guarantee." if report.policy.guarantee else ""
    yield _picture(
        plotting.ThresholdCostDisplay(report.points[report.winner], report.scenario)
        .plot()
        .axes_[0],
        f"Expected cost, precision and alarms at each threshold of {report.winner}. Faint where a "
        f"limit is broken.{free}",
    )
    if report.policy.curve:
        yield _picture(
            plotting.ConfidenceDisplay(report.policy.confidence_curve()).plot().axes_[0],
            "What each confidence costs, on the validation cases. None is without a guarantee; the "
            "thin line is what is deployed.",
        )


def subgroup_pictures(report: Report) -> Iterator[Picture]:
    """Draw the policy in each subgroup of the test cases."""
    yield _picture(
        plotting.SubgroupDisplay(report.tested.by_subgroup).plot().axes_[0],
        "Precision, recall and cost in each subgroup. Lines are intervals that hold together"
        + ("; dashed lines are floors." if floors_of(report.scenario) else "."),
    )


def winner_pictures(report: Report) -> Iterator[Picture]:
    """Draw which of several models would win at other limits."""
    if len(report.points) == 1:
        return
    costs, tolerance = report.scenario.without_limits(), report.selection.tolerance
    floors = np.linspace(0.0, 1.0, MAP_STEPS + 2)[1:-1]
    per = PATIENT_DAY if report.over_stays else None
    winners = score_grid(report.points, costs, floors, _capacities(report), tolerance, per=per)
    yield _picture(
        plotting.WinnerMapDisplay(winners).plot().ax_,
        "Which model would win at other limits, and by how much. Hatched where the best two are "
        f"within {tolerance:g}.",
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
