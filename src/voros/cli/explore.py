"""``voros explore``: one page with sliders, for people to find their limits on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from voros.cli.loading import load
from voros.cli.options import (
    Block,
    By,
    CaseOptions,
    FalseAlarmCost,
    Force,
    Horizon,
    LimitOptions,
    OutputOptions,
    bundled,
    in_choice,
    option,
    output_to,
    read_guarantee,
    read_price,
    refuse,
)
from voros.cli.stays import StayOptions, refuse_with_stays
from voros.cli.terminal import STANDARD_OUTPUT, check_output, deliver, say, show_progress
from voros.policy.allowed import limits_under
from voros.text.numbers import short

OPENING_MISS_COSTS = "5:20"
"""What the page opens with where no costs are given: people move it from there."""

RESAMPLES = 200
"""How many resamples a page holds; over stays it holds none."""

NO_FILE = Path()
"""Where no file is named: the page itself reads one."""


@dataclass(frozen=True)
class PageInput(CaseOptions):
    """A file of predictions, which may be left to the page."""

    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            show_default=False,
            help="Predictions, as for voros score. Without it the page has no data, and reads a "
            "CSV or TSV file of its reader's own in the browser.",
        ),
    ] = NO_FILE


@dataclass(frozen=True)
class PromiseOptions:
    """A guarantee that is tested when the page is made."""

    confidence: str | None = in_choice(
        "Test which thresholds keep the limits on future cases with this confidence, such as "
        "0.9; the page says so. By default it tests 0.95 for the population.",
        metavar="SHARE",
    )
    horizon: Horizon = None
    block: Block = None
    group: str | None = in_choice(
        "The patient of each case, where patients have several, for intervals and guarantees.",
        metavar="COLUMN",
    )


@bundled
def explore(
    columns: PageInput,
    limits: LimitOptions,
    stays: StayOptions,
    promise: PromiseOptions,
    output: Annotated[
        Path,
        output_to("The .html file to write; - is standard output."),
    ],
    by: By = None,
    title: str | None = option("Heading of the page."),
    outcome: str | None = option("What an alarm warns of, as in 'hospital death'."),
    cases: str | None = option("What is counted, in the plural, as in 'patients'."),
    resamples: int = option(
        "Resamples of the cases, for intervals on the page; 0 for none.", default=RESAMPLES
    ),
    false_alarm_cost: FalseAlarmCost = None,
    language: str = option(
        "Language the page opens in: en or de; readers can change it.", default="en"
    ),
    thin: int | None = option(
        "For publication: keep at most this many thresholds of each model. The page says "
        "how much that can change a score.",
        metavar="COUNT",
    ),
    force: Force = False,
) -> None:
    """Write one HTML page on which people can move limits and costs and see what follows.

    Without FILE the page has no data, and its readers open a file of their own, which is never sent
    anywhere. The page is one file that works from a mail attachment, without a server or a network.
    It holds counts at each threshold, never rows, and opens with the limits given here.
    """
    from voros.present.explorer import render_page, write_page

    if output != STANDARD_OUTPUT and output.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"{output}: the name of a page must end in .html")
    horizon = None if stays.given else promise.horizon
    guarantee = read_guarantee(promise.confidence, horizon, promise.block)
    opening = limits.read(by_period=True, miss_costs=OPENING_MISS_COSTS)
    scenario = limits_under(guarantee, opening)
    writing = OutputOptions(force=force)
    check_output(output, writing)
    words: dict[str, Any] = {
        "title": title,
        "outcome": outcome,
        "cases": cases,
        "language": language,
        "false_alarm_cost": read_price(false_alarm_cost),
    }
    how: dict[str, Any] = {"thin": thin, "guarantee": guarantee, **words}
    if columns.file == NO_FILE:
        _refuse_without_file(columns, promise, stays, by=by, thin=thin)
        html = render_page(None, scenario, **words)
    elif stays.given:
        refuse_with_stays(by=by, resamples=resamples not in (0, RESAMPLES))
        rows = stays.open(columns, promise, promise.group, by)
        html = render_page(rows.points(), scenario, **how)
    else:
        predictions = load(columns, scenario, group=promise.group, by=by)
        with show_progress("writing the page"), TemporaryDirectory() as folder:
            page = Path(folder, "page.html")
            write_page(
                predictions.labels,
                predictions.scores,
                scenario,
                page,
                sample_weight=predictions.weights,
                groups=predictions.groups,
                by=predictions.by or None,
                periods=predictions.periods,
                n_resamples=resamples,
                **how,
            )
            html = page.read_text(encoding="utf-8")
    deliver(html, output, writing)
    say(f"the page has {short(len(html.encode()) / 1e6)} MB")


def _refuse_without_file(*bundles: Any, **options: object) -> None:
    """Raise where an option needs data, and none are given."""
    for bundle in bundles:
        options |= vars(bundle)
    del options["file"]
    refuse(options, "needs data; name a file, or leave it out")
