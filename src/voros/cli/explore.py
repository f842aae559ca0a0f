"""``voros explore``: one page with sliders for limits and costs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from voros.cli import options
from voros.cli.loading import load
from voros.cli.stays import NOT_WITH_STAYS, StayOptions
from voros.cli.terminal import (
    STANDARD_OUTPUT,
    check_output,
    check_page_name,
    deliver,
    say,
    show_progress,
)
from voros.text.numbers import short

OPENING_MISS_COSTS = "5:20"
"""Costs that the page opens with by default."""

RESAMPLES = 200
"""Resamples in a page by default; over stays it has none."""

NO_FILE = Path()
"""Stands for no file: the page itself reads one."""


@dataclass(frozen=True)
class PageInput(options.CaseOptions):
    """A file of predictions, which is optional."""

    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            show_default=False,
            help="Predictions, as for voros score. Without it the page has no data, and its reader "
            "opens a CSV or TSV file in the browser.",
        ),
    ] = NO_FILE


@options.bundled_with(excludes={"stay": [*NOT_WITH_STAYS, "by", "resamples"]})
def explore(
    columns: PageInput,
    limits: options.LimitOptions,
    stays: StayOptions,
    promise: options.GuaranteeOptions,
    output: Annotated[Path, options.output_to("The .html file to write; - is standard output.")],
    group: options.Group = None,
    by: options.By = None,
    title: str | None = options.option("Heading of the page."),
    outcome: str | None = options.option("What an alarm warns of, such as 'hospital death'."),
    cases: str | None = options.option("What the cases are, such as 'patients'."),
    resamples: int = options.option(
        "Resamples of the cases, for intervals on the page; 0 for none.", default=RESAMPLES
    ),
    false_alarm_cost: options.FalseAlarmCost = None,
    language: str = options.option(
        "Language the page opens in: en or de; readers can change it.", default="en"
    ),
    thin: int | None = options.option(
        "For publication: keep at most this many thresholds of each model. The page states how "
        "much this can change a score.",
        metavar="COUNT",
    ),
    force: options.Force = False,
) -> None:
    """Write one HTML page on which people can move limits and costs and see what follows.

    The page is one file that works from a mail attachment, without a server or a network. It holds
    counts at each threshold, never rows, and opens with the limits given here. Without FILE it has
    no data: its readers open their own file, which stays on their machine. By default the page
    tests a guarantee of 0.95 for the population.
    """
    from voros.present.explorer import render_page, write_page

    if output != STANDARD_OUTPUT:
        check_page_name(output)
    guarantee = promise.guarantee(over_stays=stays.given)
    scenario = limits.read(miss_costs=OPENING_MISS_COSTS)
    writing = options.OutputOptions(force=force)
    check_output(output, writing)
    words: Any = {"title": title, "outcome": outcome, "cases": cases, "language": language}
    words["false_alarm_cost"] = options.read_price(false_alarm_cost)
    if columns.file == NO_FILE:
        of_data = {**vars(columns), **vars(promise), **vars(stays), "by": by, "thin": thin}
        of_data |= {"group": group, "file": None, "resamples": resamples != RESAMPLES}
        options.refuse(of_data, "needs data; name a file, or leave it out")
        html = render_page(None, scenario, **words)
    else:
        counted: Any
        if stays.given:
            counted = {"y_true": stays.open(columns, promise, group, by).points()}
        else:
            data = load(columns, scenario, group=group, by=by)
            counted = {"y_true": data.labels, "scores": data.scores, **data.per_case}
            counted |= {"by": data.by or None, "n_resamples": resamples}
        with show_progress("writing the page"), TemporaryDirectory() as folder:
            page = Path(folder, "page.html")
            how = {"thin": thin, "guarantee": guarantee, **words}
            write_page(**counted, scenario=scenario, path=page, **how)
            html = page.read_text(encoding="utf-8")
    deliver(html, output, writing)
    say(f"the page has {short(len(html.encode()) / 1e6)} MB")
