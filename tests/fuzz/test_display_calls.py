"""Odd arguments to every picture and to the page: drawn or written, or refused by name."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import pytest
from fuzz.odd_values import LABELS, ODD_VALUES, SCORES, Odd
from fuzz.test_python_calls import (
    GRID,
    GRIDS,
    LABEL,
    SCENARIO,
    SEVERAL,
    SOUND,
    Target,
    _t,
    judged,
)

from voros import plotting
from voros.present.explorer import write_page
from voros.winners import winner_map

pyplot = pytest.importorskip("matplotlib.pyplot")


def drawn(make: Callable[..., Any]) -> Callable[..., None]:
    """Make a picture, and keep no other."""

    def call(**arguments: Any) -> None:
        pyplot.close("all")
        make(**arguments)

    return call


def display(name: str) -> Callable[..., None]:
    return drawn(getattr(plotting, name).from_predictions)


def mapped(ax: Any = None, log_capacity: Any = False, color: Any = None, **grid: Any) -> None:
    drawing = {"log_capacity": log_capacity, "color": color}
    plotting.WinnerMapDisplay(winner_map(**grid)).plot(ax, **drawing)


def written(**arguments: Any) -> Any:
    """Write a page into a folder that is gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        return write_page(**({"path": f"{folder}/page.html"} | arguments)).name


COLOURS = {"None", "number as text", "empty mapping", "three numbers"}
NAMES = {"None", "text", "number as text", "percent"}
NO_SCENARIO = {"None", "empty mapping"}
ONE = {"y_true": LABELS, "scores": SCORES, "scenario": SCENARIO}
TARGETS: dict[str, Target] = {
    "RocDisplay": _t(
        display("RocDisplay"),
        "y_true scores scenario pos_label sample_weight name ax cost_ratio dominated_by "
        "choices zoom color",
        **ONE,
    ),
    "AreaCurveDisplay": _t(display("AreaCurveDisplay"), "scores scenario name ax color", **ONE),
    "ThresholdCostDisplay": _t(display("ThresholdCostDisplay"), "scenario name color", **ONE),
    "WinnerMapDisplay": _t(
        drawn(mapped),
        "scores min_precisions capacities cost_ratio tolerance ax log_capacity color",
        **SEVERAL,
        **GRID,
    ),
    "write_page": _t(
        written,
        "y_true scores scenario pos_label sample_weight title outcome cases thin force",
        **ONE,
    ),
}


SOUND.update(
    {
        **{(name, "name"): NAMES for name in TARGETS},
        **{(name, "ax"): {"None"} for name in TARGETS},
        **{(name, "color"): COLOURS for name in TARGETS},
        ("RocDisplay", "scenario"): NO_SCENARIO,
        ("WinnerMapDisplay", "tolerance"): {"None"},
        ("WinnerMapDisplay", "color"): COLOURS | {"pair of texts"},
        **{("write_page", word): NAMES for word in ("title", "outcome", "cases")},
        ("write_page", "pos_label"): LABEL,
        ("write_page", "thin"): {"None", "1", "5", "np.int8", "10**400"},
        **{("WinnerMapDisplay", grid): GRIDS for grid in ("min_precisions", "capacities")},
        ("RocDisplay", "pos_label"): LABEL,
        ("RocDisplay", "cost_ratio"): {"None"},
        ("RocDisplay", "dominated_by"): {"None"},
    }
)


def every_argument() -> Iterator[tuple[str, dict[str, Odd]]]:
    """Every odd value for every argument, one at a time."""
    for name, target in TARGETS.items():
        for argument, odd in product(target.spoiled, ODD_VALUES):
            yield name, {argument: odd}


@pytest.mark.slow
def test_odd_arguments_are_drawn_or_refused_by_name() -> None:
    tried, complaints = judged(every_argument(), TARGETS)
    pyplot.close("all")
    print(f"tried {sum(tried.values())} calls: {dict(tried)}")
    assert not complaints, f"{len(complaints)} complaints\n" + "\n".join(complaints)
