"""``voros plot``: a picture of the models in a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from voros.cli.loading import count_points, load, single_model
from voros.cli.options import (
    InputOptions,
    LimitOptions,
    OutputOptions,
    bundled,
    in_choice,
    option,
    output_to,
)
from voros.cli.score import evaluate_all, score_sheet
from voros.cli.terminal import Sheet, check_output, deliver, figure_format, show, show_progress
from voros.core.arguments import check_choice
from voros.core.arrays import as_floats
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario
from voros.present.report.figures import figure_bytes, headless_pyplot

if TYPE_CHECKING:
    from voros.io import Predictions

Points = dict[str, OperatingPoints]


KINDS = {
    "roc": "RocDisplay",
    "area": "AreaCurveDisplay",
    "threshold": "ThresholdCostDisplay",
    "decision": "DecisionCurveDisplay",
}
"""What can be drawn: curves with the limits, score by cost, cost by threshold, net benefit."""

OF_ONE_MODEL = ("threshold",)


@dataclass(frozen=True, kw_only=True)
class DecisionOptions:
    """What a decision curve shows."""

    interventions_avoided: bool = in_choice(
        "With --kind decision: interventions avoided per case, compared with treating everybody, "
        "in place of net benefit.",
        "--interventions-avoided",
        default=False,
    )
    follow_up: str | None = in_choice(
        "With --kind decision: the time of the event, or until which a case without one was "
        "followed.",
        metavar="COLUMN",
    )
    time_horizon: float | None = in_choice(
        "With --follow-up: the time that the risk is for, in its unit."
    )

    def check(self, kind: str, limits: LimitOptions) -> None:
        """Refuse what another picture, or none, would need."""
        if (self.follow_up is None) != (self.time_horizon is None):
            raise ValueError("--follow-up and --time-horizon belong together; give both")
        of_curves = self.interventions_avoided or self.follow_up is not None
        if of_curves and kind != "decision":
            raise ValueError("--interventions-avoided and --follow-up require --kind decision")
        if self.follow_up is not None and _states_limits(limits):
            raise ValueError("--follow-up is of cases without limits; leave the limits out")


@bundled
def plot(
    columns: InputOptions,
    limits: LimitOptions,
    show_options: OutputOptions,
    decision: DecisionOptions,
    output: Annotated[
        Path, output_to("A .png, .svg or .pdf to write; - is PNG on standard output.")
    ],
    kind: str = option(
        "roc: curves and limits; area: what is won at each cost; threshold: what each "
        "threshold costs (one model); decision: net benefit at each threshold probability, "
        "with or without limits.",
        "--kind",
        metavar="KIND",
        default="roc",
    ),
) -> None:
    """Draw the models in FILE with the limits they must live within."""
    check_choice(kind, "kind", tuple(KINDS))
    decision.check(kind, limits)
    figure_format(output)
    if kind == "decision":
        _draw_decision(columns, limits, show_options, decision, output)
    else:
        _draw_scored(columns, limits, show_options, kind, output)


def _draw_scored(
    columns: InputOptions,
    limits: LimitOptions,
    show_options: OutputOptions,
    kind: str,
    output: Path,
) -> None:
    scenario = limits.read()
    check_output(output, show_options)
    predictions = load(columns)
    points = count_points(predictions)
    headless_pyplot()
    with show_progress("drawing"):
        picture = figure_bytes(_figure(kind, points, scenario), figure_format(output))
    deliver(picture, output, show_options)
    if show_options.for_programs:
        sheet = score_sheet(evaluate_all(points, scenario), predictions.source, scenario)
        show(sheet.beside(written=str(output), kind=kind), show_options)


def _states_limits(limits: LimitOptions) -> bool:
    return bool(limits.given()) or limits.scenarios is not None


def _draw_decision(
    columns: InputOptions,
    limits: LimitOptions,
    show_options: OutputOptions,
    decision: DecisionOptions,
    output: Path,
) -> None:
    """Draw net benefit; threshold probabilities state the costs, so that none are needed."""
    scenario = limits.read(cost_ratio="1") if _states_limits(limits) else None
    check_output(output, show_options)
    by = () if decision.follow_up is None else (decision.follow_up,)
    predictions = load(columns, by=by)
    headless_pyplot()
    with show_progress("drawing"):
        display = _decision_display(predictions, scenario, decision)
        picture = figure_bytes(display.ax_.figure, figure_format(output))
    deliver(picture, output, show_options)
    if show_options.for_programs:
        rows = display.frame("pyarrow").to_pylist()
        document = {"written": str(output), "kind": "decision", "file": predictions.source}
        show(Sheet(rows=rows, document=document | {"curves": rows}), show_options)


def _decision_display(
    predictions: Predictions, scenario: Scenario | None, decision: DecisionOptions
) -> Any:
    from voros.plotting import DecisionCurveDisplay

    avoided = {"interventions_avoided": decision.interventions_avoided}
    if decision.follow_up is None:
        return DecisionCurveDisplay.from_points(count_points(predictions), scenario, **avoided)
    times = as_floats(predictions.by[decision.follow_up], f"column {decision.follow_up!r}")
    return DecisionCurveDisplay.from_predictions(
        predictions.labels,
        predictions.scores,
        follow_up=times,
        time_horizon=decision.time_horizon,
        sample_weight=predictions.weights,
        **avoided,
    )


def _figure(kind: str, points: Points, scenario: Scenario) -> Any:
    from voros import plotting

    drawn: Points | OperatingPoints = points
    if kind in OF_ONE_MODEL:
        drawn = points[single_model(points, "this picture shows")]
    display = getattr(plotting, KINDS[kind]).from_points(drawn, scenario)
    axes = display.axes_[0] if kind == "threshold" else display.ax_
    return axes.figure
