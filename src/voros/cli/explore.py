"""``voros explore``: one page with sliders, for people to find their limits on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from voros.cli.loading import count_points, load
from voros.cli.options import InputOptions, LimitOptions, OutputOptions, bundled, output_to
from voros.cli.score import evaluate_all, score_sheet
from voros.cli.terminal import STANDARD_OUTPUT, check_output, deliver, say, show, show_progress

OPENING_MISS_COSTS = "5:20"
"""What the page opens with where no costs are given: people move it from there."""


@bundled
def explore(
    columns: InputOptions,
    limits: LimitOptions,
    show_options: OutputOptions,
    output: Annotated[
        Path,
        output_to("The .html file to write; - is standard output."),
    ],
    title: Annotated[str | None, typer.Option(help="Heading of the page.")] = None,
    outcome: Annotated[
        str, typer.Option(help="What an alarm warns of, as in 'hospital death'.")
    ] = "the outcome",
    cases: Annotated[
        str, typer.Option(help="What is counted, in the plural, as in 'patients'.")
    ] = "cases",
    thin: Annotated[
        int | None,
        typer.Option(
            metavar="COUNT",
            help="For publication: keep at most this many thresholds of each model. The page says "
            "how much that can change a score.",
        ),
    ] = None,
) -> None:
    """Write one HTML page on which people can move limits and costs and see what follows.

    The page works from a mail attachment: no server, no network. It holds counts at each
    threshold, never rows. The limits given are those it opens with.
    """
    from voros.present.explorer.page import render_page

    if output != STANDARD_OUTPUT and output.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"{output}: the name of a page must end in .html, for mail to open it")
    scenario = limits.read(miss_costs=OPENING_MISS_COSTS)
    check_output(output, show_options)
    predictions = load(columns)
    points = count_points(predictions)
    with show_progress("writing the page"):
        html = render_page(points, scenario, title=title, outcome=outcome, cases=cases, thin=thin)
        deliver(html, output, show_options, announce=False)
    size = len(html.encode())
    say(f"wrote {output} ({size / 1e6:.1f} MB), opening with {scenario!r}")
    if show_options.for_programs:
        sheet = score_sheet(evaluate_all(points, scenario), predictions.source, scenario)
        show(sheet.beside(written=str(output), bytes=size), show_options)
