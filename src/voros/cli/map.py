"""``voros map``: which model wins, over a grid of precision floors and capacities."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from voros.cli.loading import Engine, load, open_input
from voros.cli.options import (
    CostOptions,
    InputOptions,
    OutputOptions,
    bundled,
    in_intervals,
    option,
    output_to,
)
from voros.cli.terminal import (
    Sheet,
    check_output,
    columns_text,
    figure_format,
    show,
    show_progress,
)
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario
from voros.exceptions import ArgumentError
from voros.io import open_source
from voros.io.curves import read_curves
from voros.io.scenario_text import LONGEST_COUNT, read_capacity, read_number, shown
from voros.present.report.figures import figure_bytes, headless_pyplot
from voros.text.numbers import percent_of
from voros.winners import CLOSE_CALL, WinnerMap, winner_map

FLOORS = "0.05:0.95:19"
CAPACITIES = "0.025:0.5:20"

MOST_STEPS = 1000
"""Steps on one side of a grid; a million grid cells are more than anybody looks at."""


@bundled
def map_(
    columns: InputOptions,
    costs: CostOptions,
    show_options: OutputOptions,
    min_precision: str = option(
        "Precision floors, evenly spaced.", metavar="LOW:HIGH:COUNT", default=FLOORS
    ),
    capacity: str = option(
        "Capacities, evenly spaced: shares as in 0.01:0.5:20, cases as in 10:200:20.",
        metavar="LOW:HIGH:COUNT",
        default=CAPACITIES,
    ),
    min_recall: str | None = option(
        "Recall floor of every grid cell: 0.9, 90%, 9/10.", metavar="SHARE"
    ),
    tolerance: float = option("Scores this close are called a close call.", default=CLOSE_CALL),
    resamples: int = in_intervals(
        "Test each lead on this many resamples of the cases, 100 or more; a lead that is not "
        "significant is a close call.",
        default=0,
    ),
    group: str | None = in_intervals(
        "With --resamples: the patient of each case; patients are drawn.", metavar="COLUMN"
    ),
    seed: int = in_intervals("Seed of the random draws.", min=0, default=0),
    curves: str | None = option(
        "FILE holds points of ROC curves, in columns model, fpr and tpr, of a study with this "
        "many positive and negative cases.",
        metavar="POSITIVE:NEGATIVE",
    ),
    interpolate: bool = option(
        "With --curves: add points between those of FILE, and say what changes.", default=False
    ),
    output: Path | None = output_to(
        "Draw the map: .png, .svg or .pdf; - is PNG on standard output."
    ),
    engine: Engine = None,
) -> None:
    """Map which model in FILE wins, over a grid of precision floors and capacities."""
    scenario = costs.read()
    if min_recall is not None:
        scenario = scenario.changed(min_recall=read_number(min_recall, "min_recall"))
    floors = read_grid(min_precision, "min_precision")
    capacities = read_grid(capacity, "capacity")
    picture_format = None if output is None else figure_format(output)
    check_output(output, show_options)
    limits = {
        "random_state": seed,
        "min_precisions": floors,
        "capacities": capacities,
        "cost_ratio": scenario.costs,
        "prevalence": scenario.prevalence,
        "min_recall": scenario.min_recall,
        "tolerance": tolerance,
    }
    if curves is None:
        if interpolate:
            raise ValueError("--interpolate requires --curves")
        cases = _cases(columns, engine, group, resamples, _grid(scenario, floors, capacities))
    else:
        if resamples or group is not None or engine is not None:
            raise ValueError("--curves excludes --resamples, --group and --engine: it has no cases")
        cases = {"y_true": _curves(columns, curves, interpolate=interpolate)}
    with show_progress("mapping winners") as progress:
        winners = winner_map(**cases, n_resamples=resamples, **limits, progress=progress)
    note = ""
    if interpolate:
        as_typed = winner_map(_curves(columns, curves or "", interpolate=False), **limits)
        note = _changed_winners(as_typed, winners)
    picture = b"" if picture_format is None else _picture(winners, picture_format)
    show(_sheet(winners, note), show_options, output, picture)


def _cases(
    columns: InputOptions,
    engine: str | None,
    group: str | None,
    resamples: int,
    scenarios: list[Scenario],
) -> dict[str, Any]:
    """Return the cases of FILE, or what an engine counted of them, as `winner_map` takes them."""
    opened = open_input(columns, engine)
    if opened.counts is not None:
        raise ValueError(f"{opened.name} holds counts, and voros map needs cases")
    if not opened.in_memory:
        if resamples or group is not None:
            raise ValueError(f"--resamples needs cases in memory; {opened.name} is counted")
        return {"y_true": opened.count(columns, scenarios)}
    predictions = load(columns, source=opened.source, group=group)
    cases: dict[str, Any] = {"y_true": predictions.labels, "scores": predictions.scores}
    return cases | {"groups": predictions.groups, "sample_weight": predictions.weights}


def _curves(columns: InputOptions, sizes: str, *, interpolate: bool) -> dict[str, OperatingPoints]:
    counts = [_count(part) for part in sizes.split(":")]
    if len(counts) != 2 or 0 in counts:
        raise ArgumentError(
            "curves",
            f"={shown(sizes)}; accepted are two numbers of cases above 0, positive:negative, as in "
            "840:11160",
        )
    source = open_source(columns.file)
    return read_curves(source, *counts, interpolate=interpolate)


def _changed_winners(before: WinnerMap, after: WinnerMap) -> str:
    """Say on what share of the grid interpolation names another winner."""
    changed = float((before.winner != after.winner).mean())
    return (
        f"interpolation changes the winner on {percent_of(changed, before.winner.size)} of the "
        "grid: there the points of FILE are too few to tell"
    )


def _grid(costs: Scenario, floors: Any, capacities: Any) -> list[Scenario]:
    """Return the scenario of every point of the grid."""
    limits = product(floors.tolist(), capacities.tolist())
    return [costs.changed(min_precision=floor, capacity=most) for floor, most in limits]


def read_grid(text: str, name: str) -> Any:
    """Read evenly spaced values ``low:high:count``; whole capacities stay whole.

    Examples
    --------
    >>> read_grid("0.1:0.5:3", "min_precision").tolist(), read_grid("10:30:3", "capacity").tolist()
    ([0.1, 0.3, 0.5], [10, 20, 30])
    """
    parts = text.split(":")
    if len(parts) != 3 or not 2 <= _count(parts[2]) <= MOST_STEPS:
        raise ArgumentError(
            name,
            f"={shown(text)} is not a grid; accepted is low:high:count with a count of 2 to "
            f"{MOST_STEPS:,}, as in 0.05:0.95:19",
        )
    parse = read_capacity if name == "capacity" else read_number
    low, high = (parse(part, name) for part in parts[:2])
    if not low < high:
        raise ArgumentError(name, f"={shown(text)} is reversed; the smaller value comes first")
    values = np.linspace(low, high, int(parts[2])).round(12)
    if isinstance(low, int) and isinstance(high, int):
        return np.unique(values.round().astype(np.int64))
    return values


def _count(text: str) -> int:
    """Parse a count; return None if it is invalid or too long."""
    digits = text.strip()
    return int(digits) if digits.isdecimal() and len(digits) <= LONGEST_COUNT else 0


def _picture(winners: WinnerMap, picture_format: str) -> bytes:
    headless_pyplot()
    from voros.plotting import WinnerMapDisplay

    return figure_bytes(WinnerMapDisplay(winners).plot().ax_.figure, picture_format)


def _sheet(winners: WinnerMap, note: str) -> Sheet:
    won = dict(sorted(winners.shares_won().items(), key=lambda item: -item[1]))
    reachable = float((winners.winner >= 0).mean())
    n_floors, n_capacities = winners.winner.shape
    columns = {name: np.asarray(column).tolist() for name, column in winners.columns().items()}
    rows = [dict(zip(columns, cell, strict=True)) for cell in zip(*columns.values(), strict=True)]
    recall = (
        "" if winners.min_recall is None else f", at a recall of {winners.min_recall:g} or more"
    )
    shares = {"model": list(won), "wins": [winners.shares_in_words()[name] for name in won]}
    lines = [
        f"Who wins, over {n_floors} precision floors and {n_capacities} capacities{recall}",
        columns_text(shares),
        f"some model meets the limits on {percent_of(reachable, winners.winner.size)} of the grid; "
        "shares are of that",
        f"{winners.close_calls_in_words} of the grid are close calls: "
        f"{winners.close_call_in_words}",
        *filter(None, [note]),
    ]
    document = {"wins": won, "reachable": reachable, "cells": rows}
    return Sheet(text="\n".join(lines), rows=rows, document=document)
