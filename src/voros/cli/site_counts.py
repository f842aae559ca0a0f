"""``voros count`` and ``voros merge``: counts that leave a site in place of its cases."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from operator import add
from pathlib import Path
from typing import Annotated

import typer

from voros.cli.loading import load
from voros.cli.options import InputOptions, OutputOptions, bundled, in_columns, option, output_to
from voros.cli.terminal import (
    STANDARD_OUTPUT,
    Sheet,
    check_output,
    columns_text,
    say,
    show,
    show_progress,
)
from voros.exceptions import PredictionFileError
from voros.io.source import Source, open_source
from voros.sites import MIN_ROWS, MismatchError, SiteCounts, label_text
from voros.text.numbers import count, counted, percent

FAR_FEWER = 4
"""A sum with a quarter of the usual number of ranges causes a warning."""

FAR_APART = 0.5
"""Shares of positives that differ by more cause a warning."""

Output = Annotated[Path, output_to("Write the counts, as JSON; - is standard output.")]


@bundled
def count_site(
    columns: InputOptions,
    show_options: OutputOptions,
    site: str | None = option("Name of the site; by default the file's name.", metavar="NAME"),
    outcome: str | None = in_columns(
        "Name of the outcome, the same at every site; by default the label column's name.",
        metavar="NAME",
    ),
    min_rows: int = option(
        "Fewest rows of a range; smaller ranges are merged.", metavar="COUNT", default=MIN_ROWS
    ),
    since: Path | None = option(
        "Counts that this site published before; ranges are merged until each has grown by "
        "--min-rows rows, because the two files can be subtracted.",
        metavar="FILE",
    ),
    output: Output = STANDARD_OUTPUT,
) -> None:
    """Count the cases in FILE by ranges of scores, to share counts where cases must stay."""
    check_output(output, show_options)
    source = open_source(columns.file)
    if source.format == "document":
        raise PredictionFileError(
            f"{source.name} holds counts already; add such files with voros merge"
        )
    name = site or _stem(source)
    cases = load(columns, source=source, both_classes=False)
    with show_progress("counting"):
        counts = SiteCounts.from_scores(
            cases.labels,
            cases.scores,
            site=name,
            outcome=outcome or str(cases.label),
            sample_weight=cases.weights,
            min_rows=min_rows,
            since=None if since is None else SiteCounts.from_json(since),
        )
    named = replace(counts, pos_label=label_text(columns.pos_label), weights=columns.weight)
    show(_sheet(named), show_options, output, named.to_json())


def _stem(source: Source) -> str:
    """Name the site after its file."""
    if source.path is None:
        raise ValueError("--site is required with standard input")
    return Path(source.name).name.split(".")[0]


@bundled
def merge(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Counts, made by voros count.")
    ],
    show_options: OutputOptions,
    output: Output = STANDARD_OUTPUT,
) -> None:
    """Add the counts of several sites; files that do not match are refused."""
    check_output(output, show_options)
    parts = [SiteCounts.from_json(path) for path in files]
    counts = reduce(add, parts)
    _check_small_sites(parts, counts, show_options.force)
    _warn_of_swapped_labels(counts)
    show(_sheet(counts), show_options, output, counts.to_json())


def _check_small_sites(parts: Sequence[SiteCounts], counts: SiteCounts, force: bool) -> None:
    """Warn of a site with so few ranges that the sum has far fewer than most sites.

    The sum has only the boundaries that all sites share. A sum of one range is refused: its score
    could be anything from 0 to 1.
    """
    for model, merged in counts.models.items():
        ranges = [len(part.models[model].buckets) for part in parts]
        if len(merged.buckets) * FAR_FEWER >= statistics.median_high(ranges):
            continue
        site = parts[ranges.index(min(ranges))].sites[0].name
        few = f"site {site!r} has {min(ranges)} and others up to {max(ranges)}"
        advice = "leave it out, or count it with another site"
        if len(merged.buckets) == 1 and not force:
            raise MismatchError(
                f"merged, {model!r} has one range of scores, and its interval is 0 to 1: {few}; "
                f"{advice}, or merge it all the same with --force"
            )
        say(
            f"merged, {model!r} has only {counted(len(merged.buckets), 'range')} of scores: {few}; "
            f"{advice}",
            "warning",
        )
        return


def _warn_of_swapped_labels(counts: SiteCounts) -> None:
    """Warn of a site with a very different share of positives: its labels may be swapped."""
    for site in counts.sites:
        others = [other for other in counts.sites if other is not site]
        n_cases = sum(other.positive + other.negative for other in others)
        if not n_cases:
            return
        there = sum(other.positive for other in others) / n_cases
        here = site.positive / (site.positive + site.negative)
        if abs(here - there) > FAR_APART:
            say(
                f"{percent(here)} of the cases of site {site.name!r} are positive, and "
                f"{percent(there)} of the others; check that {counts.pos_label!r} means the same "
                "there",
                "warning",
            )
            return


def _sheet(counts: SiteCounts) -> Sheet:
    rows = [
        {"model": model, "ranges": len(bins.buckets), "fewest_rows": int(bins.rows.min())}
        for model, bins in counts.models.items()
    ]
    sites = [
        f"{site.name}: {site.cases:,} cases, {count(site.positive)} positive"
        for site in counts.sites
    ]
    weights = f"; weights in {counts.weights!r}" if counts.weights else ""
    columns = {
        "model": list(counts.models),
        "ranges": [f"{row['ranges']:,}" for row in rows],
        "fewest rows in one": [f"{row['fewest_rows']:,}" for row in rows],
    }
    title = f"Counts by ranges of scores: {counts.outcome!r} is {counts.pos_label!r}{weights}"
    metadata = ("sites", "outcome", "pos_label", "weights", "min_rows")
    return Sheet(
        text="\n".join([title, columns_text(columns), *sites]),
        rows=rows,
        document={name: getattr(counts, name) for name in metadata} | {"models": rows},
    )
