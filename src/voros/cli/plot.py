"""``voros plot``: a picture of the models in a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from voros.cli.loading import count_points, load
from voros.cli.options import (
    ColumnOptions,
    Force,
    LimitOptions,
    PredictionFile,
    ShowOptions,
    bundled,
)
from voros.cli.score import evaluate_all, score_sheet
from voros.cli.terminal import check_output, deliver, figure_format, show, show_progress
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario
from voros.present.report.figures import figure_bytes, headless_pyplot

Points = dict[str, OperatingPoints]


def _roc(points: Points, scenario: Scenario) -> Any:
    from voros.plotting import RocDisplay

    return RocDisplay.from_points(points, scenario).ax_.figure


def _area(points: Points, scenario: Scenario) -> Any:
    from voros.plotting import AreaCurveDisplay

    return AreaCurveDisplay.from_points(points, scenario).ax_.figure


def _threshold(points: Points, scenario: Scenario) -> Any:
    from voros.plotting import ThresholdCostDisplay

    return ThresholdCostDisplay.from_points(_only(points), scenario).axes_[0].figure


def _surface(points: Points, scenario: Scenario) -> Any:
    from voros.plotting import RocSurfaceDisplay

    return RocSurfaceDisplay.from_points(_only(points), scenario).ax_.figure


KINDS: dict[str, Callable[[Points, Scenario], Any]] = {
    "roc": _roc,
    "area": _area,
    "threshold": _threshold,
    "surface": _surface,
}
"""What can be drawn: curves with the limits, score by cost, cost by threshold, the ROC surface."""


@bundled
def plot(
    file: PredictionFile,
    columns: ColumnOptions,
    limits: LimitOptions,
    show_options: ShowOptions,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="A .png, .svg or .pdf to write; - is PNG on standard output.",
        ),
    ],
    kind: Annotated[
        str,
        typer.Option(
            metavar="KIND",
            help="roc: curves and limits; area: what is won at each cost; threshold: what each "
            "threshold costs (one model); surface: the ROC surface (one model).",
        ),
    ] = "roc",
    force: Force = False,
) -> None:
    """Draw the models in FILE with the limits they must live within."""
    if kind not in KINDS:
        raise ValueError(f"--kind={kind!r}; accepted are {', '.join(KINDS)}")
    scenario, picture_format = limits.read(), figure_format(output)
    check_output(output, show_options, force=force)
    predictions = load(file, columns)
    points = count_points(predictions)
    headless_pyplot()
    with show_progress("drawing"):
        picture = figure_bytes(KINDS[kind](points, scenario), picture_format)
    deliver(picture, output, force=force)
    if show_options.for_programs:
        sheet = score_sheet(evaluate_all(points, scenario), predictions.source, scenario)
        show(sheet.beside(written=str(output), kind=kind), show_options)


def _only(points: Points) -> OperatingPoints:
    if len(points) > 1:
        listed = ", ".join(map(repr, points))
        raise ValueError(f"this picture shows one model; choose one of {listed} with --score")
    return next(iter(points.values()))
