"""Every picture once, drawn of SUPPORT2's four prognoses and saved to a folder."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from voros import OperatingPoints, Scenario, winner_map
from voros.datasets import load_support2
from voros.datasets.support2 import OutcomeName
from voros.io import folder_for, write_together
from voros.models import count_models
from voros.plotting import (
    AreaCurveDisplay,
    RocDisplay,
    ThresholdCostDisplay,
    WinnerMapDisplay,
    region_gallery,
)
from voros.plotting.style import pyplot
from voros.winners import WinnerMap

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OUTCOME: OutcomeName = "hospital_death_within_7_days"
COST_RATIO = (1 / 40, 1 / 9)
SCENARIO = Scenario(min_precision=0.2, capacity=0.1, cost_ratio=COST_RATIO)
STRICT = Scenario(min_precision=0.4, capacity=0.05, cost_ratio=COST_RATIO)
LENIENT = Scenario(min_precision=0.15, capacity=0.3, cost_ratio=COST_RATIO)
EXPLAINED = "SUPPORT model"
"""The prognosis that pictures of a single model show."""
CELLS = 100
"""Floors, and capacities, of the winner map."""
DPI = 120


Drawing: TypeAlias = "Callable[[_Patients], Figure]"


class _Patients:
    """The four prognoses, counted once, and their winner map."""

    @cached_property
    def points(self) -> dict[str, OperatingPoints]:
        patients = load_support2().with_all_prognoses()
        return count_models(patients.outcome(OUTCOME), patients.prognoses)

    @cached_property
    def winners(self) -> WinnerMap:
        return winner_map(
            self.points,
            min_precisions=np.linspace(0.12, 0.6, CELLS),
            capacities=np.geomspace(0.005, 0.5, CELLS),
            cost_ratio=COST_RATIO,
        )

    @property
    def one(self) -> OperatingPoints:
        return self.points[EXPLAINED]


def save_support2_figures(folder: str | Path) -> list[Path]:
    """Draw every picture of SUPPORT2's four prognoses and save each as a PNG file.

    The folder is made if it does not exist; files of the same names are replaced.
    """
    with folder_for(folder) as target:
        patients = _Patients()
        pictures: dict[str | Path, str | bytes] = {
            target / f"{name}.png": _png(draw(patients)) for name, draw in PICTURES.items()
        }
        write_together(pictures, force=True)
    return [Path(path) for path in pictures]


def _png(figure: Figure) -> bytes:
    sink = io.BytesIO()
    figure.savefig(sink, dpi=DPI, format="png")
    pyplot().close(figure)
    return sink.getvalue()


def overview(patients: _Patients, panels: Any) -> None:
    """Draw the limits on the left, and who wins under which limits on the right."""
    RocDisplay.from_points(patients.points, SCENARIO, ax=panels[0])
    WinnerMapDisplay(patients.winners).plot(panels[1], log_capacity=True)


def lesser_classifiers(patients: _Patients, panels: Any) -> None:
    """Draw the area of lesser classifiers, without limits and within them."""
    two = {name: patients.points[name] for name in ("SUPPORT model", "SPS")}
    shown: dict[str, Any] = {"cost_ratio": 1 / 20, "dominated_by": EXPLAINED}
    for ax, scenario in zip(panels, (None, LENIENT), strict=True):
        RocDisplay.from_points(two, scenario, ax=ax, choices=False, **shown)


def _on_panels(draw: Callable[[_Patients, Any], object], **options: Any) -> Drawing:
    """Return a picture drawn on new panels."""

    def picture(patients: _Patients) -> Figure:
        figure, panels = pyplot().subplots(layout="constrained", **options)
        draw(patients, panels)
        drawn: Figure = figure
        return drawn

    return picture


def regions(_: _Patients) -> Figure:
    """Draw the shapes of the feasible region."""
    figure: Figure = region_gallery()[0].ax_.figure  # type: ignore[assignment]
    return figure


PICTURES: dict[str, Drawing] = {
    "overview": _on_panels(overview, ncols=2, figsize=(10, 5)),
    "two-limits": _on_panels(
        lambda patients, ax: RocDisplay.from_points(
            patients.points, {"strict": STRICT, "lenient": LENIENT}, ax=ax
        ),
        figsize=(6.4, 5.8),
    ),
    "lesser-classifiers": _on_panels(lesser_classifiers, ncols=2, figsize=(9.6, 4.8)),
    "area-curve": _on_panels(
        lambda patients, ax: AreaCurveDisplay.from_points(patients.points, SCENARIO, ax=ax),
        figsize=(6.4, 5.0),
    ),
    "winner-map": _on_panels(
        lambda patients, axes: WinnerMapDisplay(patients.winners).plot(axes, log_capacity=True),
        ncols=2,
        figsize=(10, 4.8),
    ),
    "threshold-cost": _on_panels(
        lambda patients, axes: ThresholdCostDisplay.from_points(patients.one, SCENARIO, ax=axes),
        nrows=3,
        figsize=(6.4, 6.0),
        sharex=True,
    ),
    "regions": regions,
}
