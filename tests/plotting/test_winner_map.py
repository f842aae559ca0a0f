"""Winner map display: every cell drawn as computed, hatched and left blank where it should be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import voros

pytest.importorskip("matplotlib")

from voros.plotting import WinnerMapDisplay
from voros.plotting.winner_map import cell_edges
from voros.winners import NOBODY, winner_map


@pytest.fixture(scope="module")
def win_map() -> voros.winners.WinnerMap:
    rng = np.random.default_rng(11)
    y = rng.random(800) < 0.15
    models = {
        "steady": rng.normal(size=800) + 1.2 * y,
        "early": np.where(rng.random(800) < 0.5, 3.0, 1.0) * y + rng.normal(size=800),
        "twin": rng.normal(size=800) + 1.25 * y,
    }
    # False alarms tied at the top leave nothing feasible where the capacity is small.
    for scores in models.values():
        scores[np.flatnonzero(~y)[:8]] = 9.0
    points = {m: voros.OperatingPoints.from_scores(y, s) for m, s in models.items()}
    return winner_map(
        points,
        min_precisions=np.linspace(0.2, 0.99, 15),
        capacities=np.geomspace(0.005, 0.5, 12),
        cost_ratio=(1 / 40, 1 / 10),
    )


def centres(edges: Any) -> Any:
    return (edges[1:] + edges[:-1]) / 2


@pytest.mark.parametrize("log", [False, True])
def test_cells_are_coloured_by_winner_and_blank_where_nobody(win_map: Any, log: bool) -> None:
    display = WinnerMapDisplay(win_map).plot(log_capacity=log)
    drawn = display.mesh_.get_array().reshape(win_map.winner.shape)
    assert (win_map.winner == NOBODY).any()
    assert np.array_equal(np.ma.getmaskarray(drawn), win_map.winner == NOBODY)
    assert np.array_equal(drawn.compressed(), win_map.winner[win_map.winner != NOBODY])
    assert display.ax_.get_xscale() == ("log" if log else "linear")
    margin = display.margin_mesh_.get_array().reshape(win_map.winner.shape)
    assert np.array_equal(margin.compressed(), win_map.margin[win_map.winner != NOBODY])


def test_hatches_cover_close_calls_and_nothing_else(win_map: Any) -> None:
    display = WinnerMapDisplay(win_map).plot()
    x, y = (centres(cell_edges(v)) for v in (win_map.capacities, win_map.min_precisions))
    assert win_map.close_call.any()
    for j, model in enumerate(win_map.models):
        path = display.hatches_[model].get_path()
        for row, column in np.ndindex(win_map.winner.shape):
            inside = bool(len(path.vertices)) and path.contains_point((x[column], y[row]))
            narrow = win_map.close_call[row, column] and win_map.winner[row, column] == j
            assert inside == narrow


def test_names_stand_on_what_they_win(win_map: Any) -> None:
    display = WinnerMapDisplay(win_map).plot()
    x, y = (cell_edges(v) for v in (win_map.capacities, win_map.min_precisions))
    assert len(display.names_) >= 2
    for text in display.names_:
        column = np.searchsorted(x, text.get_position()[0]) - 1
        row = np.searchsorted(y, text.get_position()[1]) - 1
        holder = win_map.winner[row, column]
        name = "nothing feasible" if holder == NOBODY else win_map.models[holder]
        assert text.get_text().replace("\n", " ") == name


@pytest.mark.slow
def test_one_axes_takes_the_map_and_two_also_the_margin(win_map: Any) -> None:
    import matplotlib.pyplot as plt

    _, alone = plt.subplots()
    display = WinnerMapDisplay(win_map).plot(alone)
    assert (display.ax_, display.margin_ax_, display.margin_mesh_) == (alone, None, None)
    _, pair = plt.subplots(2, 1)
    display = WinnerMapDisplay(win_map).plot(pair)
    assert (display.ax_, display.margin_ax_) == tuple(pair)


def test_counted_capacities_are_said_in_alarms() -> None:
    y = np.arange(40) % 4 == 0
    rng = np.random.default_rng(0)
    scores = {"a": rng.normal(size=40) + y, "b": rng.normal(size=40) + 2 * y}
    winners = voros.winner_map(
        y,
        scores,
        min_precisions=[0.2, 0.4],
        capacities=[5, 10, 20],
        cost_ratio=0.05,
        tolerance=0.2,
    )
    display = WinnerMapDisplay(winners).plot()
    assert display.ax_.get_xlabel() == "capacity (alarms)"
    assert display.winner_map.tolerance == 0.2
    pytest.importorskip("pandas")
    assert len(display.frame("pandas")) == 6


def test_edges_lie_halfway() -> None:
    assert cell_edges([0.1, 0.2, 0.4]).tolist() == pytest.approx([0.05, 0.15, 0.3, 0.5])
    logarithmic = cell_edges([0.01, 0.1, 1.0], log=True)
    assert logarithmic[1:] / logarithmic[:-1] == pytest.approx([10.0, 10.0, 10.0])
