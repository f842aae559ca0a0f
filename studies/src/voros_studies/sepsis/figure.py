"""The paper's section 5 figure for events: curves and a winner map."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from voros import Scenario
from voros.plotting import WinnerMapDisplay
from voros.present.report.figures import figure_bytes, headless_pyplot
from voros.winners import WinnerMap
from voros_studies.sepsis.one_split import CURVE_RATES, MAP_FLOORS, SCENARIO

CLOSE = 0.01
FAMILIES = {"LR": "logistic regression", "RF": "random forest", "HGB": "boosted trees"}
CAPTION = (
    "Bedside scores, the best logistic regression and the best model on the test stays of the "
    "first split. Left: events caught by false alarms per patient-day; on the dashed lines "
    "precision and alarms per patient-day are at their limits. Right: the score of highest "
    "partial VOROS at each precision floor and capacity; hatched where the best two are within "
    f"{CLOSE:g}."
)


def draw_events(split: Mapping[str, Any], scenario: Scenario = SCENARIO) -> bytes:
    """Draw curves and winner map of one split."""
    pyplot = headless_pyplot()
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
    winners = WinnerMap(
        models=tuple(map(_short, split["models"])),
        min_precisions=MAP_FLOORS,
        capacities=np.array(split["rates"]),
        scores=np.array(split["map"]),
        feasible=np.array(split["feasible"]),
        costs=scenario.costs,
        tolerance=CLOSE,
    )
    display = WinnerMapDisplay(winners).plot(right, log_capacity=True)
    right.set_xlabel("most alarms per patient-day")
    for name, style in zip(split["models"], display.styles_.values(), strict=True):
        left.plot(CURVE_RATES, split["curves"][name], color=style.color, label=_short(name))
    _draw_limits(left, split["n_events"] / split["test_days"], scenario)
    left.set(xlabel="false alarms per patient-day", ylabel="share of events caught")
    left.set(xscale="log", ylim=(0, 1), title="curves of events")
    left.legend(fontsize=7)
    return figure_bytes(figure, "png")


def _short(model: str) -> str:
    """Return the family of a model, or the name of a bedside score."""
    family = model.partition("_")[0]
    return FAMILIES.get(family, family)


def _draw_limits(ax: Any, events_per_day: float, scenario: Scenario) -> None:
    """Draw the lines at which precision and alarms are at their limits."""
    caught, floor = np.linspace(0, 1, 200), scenario.min_precision
    per_day = caught * events_per_day
    at_floor = [per_day * (1 - floor) / floor] if floor > 0 else []
    for false_alarms in (*at_floor, scenario.capacity - per_day):
        drawn = false_alarms > CURVE_RATES[0]
        ax.plot(false_alarms[drawn], caught[drawn], "--", color="0.4", linewidth=1)
