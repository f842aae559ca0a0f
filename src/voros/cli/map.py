"""``voros map``: which model wins, over a grid of precision floors and capacities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from voros.cli.intervals import rivals, sites_in_words
from voros.cli.loading import Engine, Opened, count_by_engine, count_points, load, open_input
from voros.cli.options import CostOptions, InputOptions, OutputOptions, bundled, option, output_to
from voros.cli.terminal import Sheet, check_output, deliver, figure_format, show, show_progress
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario
from voros.exceptions import ArgumentError
from voros.io.scenario_text import LONGEST_COUNT, read_capacity, read_number, shown
from voros.present.report.figures import figure_bytes, headless_pyplot
from voros.typing import BoolArray, FloatArray
from voros.winners import CLOSE_CALL, WinnerMap, winner_map

if TYPE_CHECKING:
    from voros.sites import SiteCounts

FLOORS = "0.05:0.95:19"
CAPACITIES = "0.025:0.5:20"

MOST_STEPS = 1000
"""Steps on one side of a grid; a million cells are more than anybody looks at."""


@bundled
def map_(
    columns: InputOptions,
    costs: CostOptions,
    show_options: OutputOptions,
    min_precision: Annotated[
        str, option("Precision floors, evenly spaced.", metavar="LOW:HIGH:COUNT")
    ] = FLOORS,
    capacity: Annotated[
        str,
        option(
            "Capacities, evenly spaced: shares as in 0.01:0.5:20, cases as in 10:200:20.",
            metavar="LOW:HIGH:COUNT",
        ),
    ] = CAPACITIES,
    tolerance: Annotated[float, option("Scores this close are called a close call.")] = CLOSE_CALL,
    resamples: Annotated[
        int,
        option(
            "Call a lead close by a test on this many resamples of the cases, taken as "
            "independent, and not by the tolerance."
        ),
    ] = 0,
    output: Annotated[
        Path | None, output_to("Draw the map: .png, .svg or .pdf; - is PNG on standard output.")
    ] = None,
    engine: Engine = None,
) -> None:
    """Map which model in FILE wins, over a grid of precision floors and capacities."""
    scenario = costs.read()
    floors = read_grid(min_precision, "min_precision")
    capacities = read_grid(capacity, "capacity")
    picture_format = None if output is None else figure_format(output)
    check_output(output, show_options)
    opened = open_input(columns, engine)
    counts = opened.counts
    cases: tuple[Any, ...]
    if resamples:
        cases = _cases(opened, columns)
    else:
        cases = (_points(opened, columns, grid_of(scenario, floors, capacities)),)
    with show_progress("mapping winners") as progress:
        winners = winner_map(
            *cases,
            n_resamples=resamples,
            min_precisions=floors,
            capacities=capacities,
            cost_ratio=scenario.costs,
            prevalence=scenario.prevalence,
            tolerance=tolerance,
            progress=progress,
        )
    if output is not None and picture_format is not None:
        deliver(_picture(winners, picture_format), output, show_options)
    sheet = _sheet(
        winners, None if counts is None else Openness.from_counts(counts, winners, scenario)
    )
    show(sheet, show_options, output=output)


def grid_of(costs: Scenario, floors: Any, capacities: Any) -> list[Scenario]:
    """Return the scenario of every cell."""
    cells = product(floors.tolist(), capacities.tolist())
    return [costs.changed(min_precision=floor, capacity=most) for floor, most in cells]


def _points(
    opened: Opened, columns: InputOptions, scenarios: Sequence[Scenario]
) -> Mapping[str, OperatingPoints]:
    if opened.counts is not None:
        return opened.counts.points
    if opened.lazy is not None:
        return count_by_engine(opened.lazy, columns, scenarios)
    return count_points(load(columns, source=opened.source))


def _cases(opened: Opened, columns: InputOptions) -> tuple[Any, Any]:
    """Return labels and scores, for resamples."""
    if opened.counts is not None or opened.lazy is not None:
        raise ArgumentError("resamples", " needs cases in memory; leave out --engine and counts")
    predictions = load(columns, source=opened.source)
    if predictions.weights is not None:
        raise ArgumentError("resamples", " and --weight exclude one another")
    return predictions.labels, predictions.scores


@dataclass(frozen=True, eq=False)
class Openness:
    """What counts of ranges leave open on the grid.

    Attributes
    ----------
    upper : ndarray of shape (n_cells, n_models)
        Upper ends of the scores; the map has the lower ones.
    open_cells : ndarray of bool, shape (n_cells,)
        Where another model may be ahead of the one named.
    words : str
    """

    upper: FloatArray
    open_cells: BoolArray
    words: str

    @classmethod
    def from_counts(cls, counts: SiteCounts, winners: WinnerMap, costs: Scenario) -> Openness:
        """Bound every score of a map."""
        grid = grid_of(costs, winners.min_precisions, winners.capacities)
        bounds = [counts.bounds(scenario) for scenario in grid]
        names = [winners.models[j] if j >= 0 else None for j in winners.winner.ravel().tolist()]
        undecided = [
            any(high > 0 for _, high in intervals.values())
            if name is None
            else bool(rivals(intervals, name))
            for name, intervals in zip(names, bounds, strict=True)
        ]
        upper = [[intervals[model][1] for model in winners.models] for intervals in bounds]
        return cls(np.array(upper), np.array(undecided), sites_in_words(counts))

    def columns(self, models: Sequence[str]) -> dict[str, Any]:
        """Return what programs are given of each cell."""
        upper = {f"score of {name} at most": self.upper[:, j] for j, name in enumerate(models)}
        return {"open": self.open_cells, **upper}

    @property
    def notes(self) -> tuple[str, ...]:
        """Say on how much of the grid the winner is open."""
        share = float(self.open_cells.mean())
        return (
            f"the counts leave open who wins on {share:.1%} of the grid; scores are lower ends",
            self.words,
        )


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
    parse = read_capacity if name == "capacity" else lambda part: read_number(part, name)
    low, high = parse(parts[0]), parse(parts[1])
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


def _sheet(winners: WinnerMap, openness: Openness | None = None) -> Sheet:
    won = dict(sorted(winners.shares_won().items(), key=lambda item: -item[1]))
    reachable = float((winners.winner >= 0).mean())
    n_floors, n_capacities = winners.winner.shape
    return Sheet(
        title=f"Who wins, over {n_floors} precision floors and {n_capacities} capacities",
        columns={"model": list(won), "wins": [f"{share:.1%}" for share in won.values()]},
        rows=_cells(winners, openness),
        document={"wins": won, "reachable": reachable, "cells": _cells(winners, openness)},
        notes=(
            f"some model meets the limits on {reachable:.1%} of the grid; shares are of that",
            f"{winners.close_call.mean():.1%} of the grid are close calls: "
            f"{winners.close_call_in_words}",
            *(() if openness is None else openness.notes),
        ),
    )


def _cells(winners: WinnerMap, openness: Openness | None) -> list[dict[str, Any]]:
    named = winners.columns() | ({} if openness is None else openness.columns(winners.models))
    columns = {name: np.asarray(column).tolist() for name, column in named.items()}
    return [dict(zip(columns, cell, strict=True)) for cell in zip(*columns.values(), strict=True)]
