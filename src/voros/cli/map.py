"""``voros map``: which model wins, over a grid of precision floors and capacities."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from voros.cli import options
from voros.cli.loading import Engine, load, open_input
from voros.cli.terminal import Sheet, check_output, columns_text, figure_format, show, show_progress
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario
from voros.exceptions import ArgumentError
from voros.io import open_source
from voros.io.curves import read_curves
from voros.io.scenario_text import read_capacity, read_count, read_number, shown
from voros.present.report.figures import figure_bytes, headless_pyplot
from voros.text.numbers import percent_of
from voros.winners import WinnerMap, winner_map

FLOORS = "0.05:0.95:19"
CAPACITIES = "0.025:0.5:20"

MOST_STEPS = 1000
"""Steps on one side of a grid."""


@options.bundled_with(
    requires={"curves": ["interpolate"]},
    excludes={"curves": ["resamples", "group", "engine", *options.OF_CASES]},
)
def map_(
    columns: options.InputOptions,
    costs: options.CostOptions,
    show_options: options.OutputOptions,
    min_precision: str = options.option(
        "Precision floors, evenly spaced.", metavar="LOW:HIGH:COUNT", default=FLOORS
    ),
    capacity: str = options.option(
        "Capacities, evenly spaced: shares as in 0.01:0.5:20, cases as in 10:200:20.",
        metavar="LOW:HIGH:COUNT",
        default=CAPACITIES,
    ),
    resamples: int = options.in_intervals(
        "Test each lead on this many resamples, 100 or more; a lead that is not significant is a "
        "close call.",
        default=0,
    ),
    group: options.Group = None,
    seed: int = options.in_intervals("Seed of the random draws.", min=0, default=0),
    curves: str | None = options.option(
        "FILE holds published ROC curves, in columns model, fpr and tpr; their study had this "
        "many positive and negative cases.",
        metavar="POSITIVE:NEGATIVE",
    ),
    interpolate: bool = options.option(
        "With --curves: add points between those of FILE, and say what this changes.",
        "--interpolate",
        default=False,
    ),
    output: Path | None = options.output_to(
        "Draw the map: .png, .svg or .pdf; - is PNG on standard output."
    ),
    engine: Engine = None,
) -> None:
    """Map which model in FILE wins, over a grid of precision floors and capacities."""
    scenario = costs.read()
    floors = read_grid(min_precision, "min_precision")
    capacities = read_grid(capacity, "capacity")
    picture_format = None if output is None else figure_format(output)
    check_output(output, show_options)
    cases: dict[str, Any]
    if curves is not None:
        cases = {"y_true": _curves(columns, curves, interpolate=interpolate)}
    else:
        cases = _cases(columns, engine, group, resamples, _grid(scenario, floors, capacities))
    mapped = partial(
        winner_map,
        scenario=scenario,
        min_precisions=floors,
        capacities=capacities,
    )
    with show_progress("mapping winners") as progress:
        winners = mapped(**cases, n_resamples=resamples, random_state=seed, progress=progress)
    sheet = _sheet(winners)
    if interpolate:
        as_typed = mapped(_curves(columns, curves or "", interpolate=False))
        sheet = replace(sheet, text=f"{sheet.text}\n{_changed_winners(as_typed, winners)}")
    picture = b"" if picture_format is None else _picture(winners, picture_format)
    show(sheet, show_options, output, picture)


def _cases(
    columns: options.InputOptions,
    engine: str | None,
    group: str | None,
    resamples: int,
    scenarios: list[Scenario],
) -> dict[str, Any]:
    """Return the arguments of `winner_map`: the cases of FILE, or their counts by an engine."""
    opened = open_input(columns, engine)
    if opened.counts is not None:
        raise ValueError(f"{opened.name} holds counts, and voros map needs cases")
    if opened.source is None:
        of_cases = {"resamples": resamples > 0, "group": group}
        options.refuse(of_cases, f"needs cases in memory; {opened.name} is counted")
        return {"y_true": opened.count(columns, scenarios)}
    loaded = load(columns, source=opened.source, group=group)
    cases: dict[str, Any] = {"y_true": loaded.labels, "scores": loaded.scores}
    return cases | {"groups": loaded.groups, "sample_weight": loaded.weights}


def _curves(
    columns: options.InputOptions, sizes: str, *, interpolate: bool
) -> dict[str, OperatingPoints]:
    counts = [read_count(part) or 0 for part in sizes.split(":")]
    if len(counts) != 2 or min(counts) < 1:
        raise ArgumentError(
            "curves",
            f"={shown(sizes)}; accepted are two numbers of cases, positive:negative, as in "
            "840:11160",
        )
    return read_curves(open_source(columns.file), *counts, interpolate=interpolate)


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
    steps = read_count(parts[-1])
    if len(parts) != 3 or steps is None or not 2 <= steps <= MOST_STEPS:
        raise ArgumentError(
            name,
            f"={shown(text)} is not a grid; accepted is low:high:count with a count of 2 to "
            f"{MOST_STEPS:,}, as in 0.05:0.95:19",
        )
    parse = read_capacity if name == "capacity" else read_number
    low, high = (parse(part, name) for part in parts[:2])
    if not low < high:
        raise ArgumentError(name, f"={shown(text)} is reversed; the smaller value comes first")
    values = np.linspace(low, high, steps).round(12)
    if isinstance(low, int) and isinstance(high, int):
        return np.unique(values.round().astype(np.int64))
    return values


def _picture(winners: WinnerMap, picture_format: str) -> bytes:
    headless_pyplot()
    from voros.plotting import WinnerMapDisplay

    return figure_bytes(WinnerMapDisplay(winners).plot().ax_.figure, picture_format)


def _sheet(winners: WinnerMap) -> Sheet:
    won = dict(sorted(winners.shares_won().items(), key=lambda item: -item[1]))
    reachable = float((winners.winner >= 0).mean())
    n_floors, n_capacities = winners.winner.shape
    columns = {name: np.asarray(column).tolist() for name, column in winners.columns().items()}
    rows = [dict(zip(columns, cell, strict=True)) for cell in zip(*columns.values(), strict=True)]
    recall = winners.min_recall
    at_recall = "" if recall is None else f", at a recall of {recall:g} or more"
    shares = {"model": list(won), "wins": [winners.shares_in_words()[name] for name in won]}
    lines = [
        f"Who wins, over {n_floors} precision floors and {n_capacities} capacities{at_recall}",
        columns_text(shares),
        f"some model meets the limits on {percent_of(reachable, winners.winner.size)} of the grid; "
        "shares are of that",
        f"{winners.close_calls_in_words} of the grid are close calls: "
        f"{winners.close_call_in_words}",
    ]
    document = {"wins": won, "reachable": reachable, "cells": rows}
    return Sheet(text="\n".join(lines), rows=rows, document=document)
