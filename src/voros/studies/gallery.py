"""Every picture once, drawn of SUPPORT2's four prognoses and saved to a folder."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from voros import OperatingPoints, Scenario, WinnerMap, winner_map_points
from voros.datasets import load_support2
from voros.datasets.support2 import OutcomeName
from voros.io import folder_for, write_together
from voros.models import count_models
from voros.plotting import (
    AreaCurveDisplay,
    RocDisplay,
    RocSurfaceDisplay,
    ThresholdCostDisplay,
    WinnerMapDisplay,
    region_gallery,
)
from voros.plotting.style import pyplot
from voros.progress import Progress

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


@dataclass(frozen=True)
class _Patients:
    """The four prognoses, counted once, and their winner map."""

    progress: Progress

    @cached_property
    def points(self) -> dict[str, OperatingPoints]:
        patients = load_support2().with_all_prognoses()
        return count_models(patients.outcome(OUTCOME), patients.prognoses)

    @cached_property
    def winners(self) -> WinnerMap:
        return winner_map_points(
            self.points,
            min_precisions=np.linspace(0.12, 0.6, CELLS),
            capacities=np.geomspace(0.005, 0.5, CELLS),
            cost_ratio=COST_RATIO,
            progress=self.progress,
        )

    @property
    def one(self) -> OperatingPoints:
        return self.points[EXPLAINED]


def save_support2_figures(folder: str | Path, *, progress: Progress = False) -> list[Path]:
    """Draw every picture of SUPPORT2's four prognoses and save each as a PNG file.

    Parameters
    ----------
    folder : str or path
        Made if it does not exist; files of the same names are replaced.
    progress : bool or callable, default False
        As in `voros.winner_map`.

    Returns
    -------
    list of Path
    """
    with folder_for(folder) as target:
        patients = _Patients(progress)
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


def overview(patients: _Patients) -> Figure:
    """Draw the limits on the left, and who wins under which limits on the right."""
    figure, (left, right) = _panels(1, 2, (10, 5))
    RocDisplay.from_points(patients.points, SCENARIO, ax=left)
    WinnerMapDisplay(patients.winners).plot(right, log_capacity=True)
    return figure


def two_limits(patients: _Patients) -> Figure:
    """Draw the curves with strict and lenient limits."""
    figure, ax = _panels(1, 1, (6.4, 5.8))
    RocDisplay.from_points(patients.points, {"strict": STRICT, "lenient": LENIENT}, ax=ax)
    return figure


def lesser_classifiers(patients: _Patients) -> Figure:
    """Draw the area of lesser classifiers, without limits and within them."""
    figure, panels = _panels(1, 2, (9.6, 4.8))
    two = {name: patients.points[name] for name in ("SUPPORT model", "SPS")}
    shown: dict[str, Any] = {"cost_ratio": 1 / 20, "lesser_of": EXPLAINED}
    for ax, scenario in zip(panels, (None, LENIENT), strict=True):
        RocDisplay.from_points(two, scenario, ax=ax, choices=False, **shown)
    return figure


def area_curve(patients: _Patients) -> Figure:
    """Draw the best normalised area against the cost."""
    figure, ax = _panels(1, 1, (6.4, 5.0))
    AreaCurveDisplay.from_points(patients.points, SCENARIO, ax=ax)
    return figure


def winners(patients: _Patients) -> Figure:
    """Draw the winner map and the margin beside it."""
    figure, pair = _panels(1, 2, (10, 4.8))
    WinnerMapDisplay(patients.winners).plot(pair, log_capacity=True)
    return figure


def threshold_cost(patients: _Patients) -> Figure:
    """Draw cost, precision and alarms along the thresholds."""
    figure, three = _panels(3, 1, (6.4, 6.0), sharex=True)
    ThresholdCostDisplay.from_points(patients.one, SCENARIO, ax=three)
    return figure


def roc_surface(patients: _Patients) -> Figure:
    """Draw the ROC surface with a slice in the middle."""
    figure, ax = _panels(1, 1, (6.4, 5.4), subplot_kw={"projection": "3d"})
    RocSurfaceDisplay.from_points(patients.one, ax=ax, t=0.5)
    return figure


def regions(_: _Patients) -> Figure:
    """Draw the shapes of the feasible region."""
    figure: Figure = region_gallery()[0].ax_.figure  # type: ignore[assignment]
    return figure


PICTURES: dict[str, Callable[[_Patients], Figure]] = {
    "overview": overview,
    "two-limits": two_limits,
    "lesser-classifiers": lesser_classifiers,
    "area-curve": area_curve,
    "winner-map": winners,
    "threshold-cost": threshold_cost,
    "roc-surface": roc_surface,
    "regions": regions,
}


def _panels(
    rows: int, columns: int, size: tuple[float, float], **options: Any
) -> tuple[Figure, Any]:
    made: tuple[Figure, Any] = pyplot().subplots(
        rows, columns, figsize=size, layout="constrained", **options
    )
    return made
