"""``voros plot``: a picture of the models in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from voros.cli.loading import count_points, load, single_model
from voros.cli.options import InputOptions, LimitOptions, OutputOptions, bundled, option, output_to
from voros.cli.score import evaluate_all, score_sheet
from voros.cli.terminal import check_output, deliver, figure_format, show, show_progress
from voros.core.arguments import check_choice
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario
from voros.present.report.figures import figure_bytes, headless_pyplot

Points = dict[str, OperatingPoints]


KINDS = {
    "roc": "RocDisplay",
    "area": "AreaCurveDisplay",
    "threshold": "ThresholdCostDisplay",
}
"""What can be drawn: curves with the limits, score by cost, cost by threshold."""

OF_ONE_MODEL = ("threshold",)


@bundled
def plot(
    columns: InputOptions,
    limits: LimitOptions,
    show_options: OutputOptions,
    output: Annotated[
        Path, output_to("A .png, .svg or .pdf to write; - is PNG on standard output.")
    ],
    kind: Annotated[
        str,
        option(
            "roc: curves and limits; area: what is won at each cost; threshold: what each "
            "threshold costs (one model).",
            "--kind",
            metavar="KIND",
        ),
    ] = "roc",
) -> None:
    """Draw the models in FILE with the limits they must live within."""
    check_choice(kind, "kind", tuple(KINDS))
    scenario, picture_format = limits.read(), figure_format(output)
    check_output(output, show_options)
    predictions = load(columns)
    points = count_points(predictions)
    headless_pyplot()
    with show_progress("drawing"):
        picture = figure_bytes(_figure(kind, points, scenario), picture_format)
    deliver(picture, output, show_options)
    if show_options.for_programs:
        sheet = score_sheet(evaluate_all(points, scenario), predictions.source, scenario)
        show(sheet.beside(written=str(output), kind=kind), show_options)


def _figure(kind: str, points: Points, scenario: Scenario) -> Any:
    from voros import plotting

    drawn: Points | OperatingPoints = points
    if kind in OF_ONE_MODEL:
        drawn = points[single_model(points, "this picture shows")]
    display = getattr(plotting, KINDS[kind]).from_points(drawn, scenario)
    axes = display.axes_[0] if kind == "threshold" else display.ax_
    return axes.figure
