"""Resamples of the patients behind alarms over stays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from voros.alarms.stay_rows import StayRows, rows_in_memory
from voros.alarms.sweep import StayChanges
from voros.core.costs import CostDistribution
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario
from voros.exceptions import ArgumentError
from voros.inference.resampling import Sampling
from voros.typing import AnyArray

PATIENTS = "patients"
"""What is drawn."""

REACH = 2.0
"""Thresholds with more than this multiple of the alarms within the limits are counted only in the
resamples that need them."""


@dataclass(frozen=True, eq=False)
class DrawnStays:
    """One model's stays, ready to be counted with any number of copies of each patient.

    Attributes
    ----------
    stays : StayRows
    limits : Scenario or None
        Limits beyond which no threshold matters; None where all do.
    """

    stays: StayRows
    limits: Scenario | None

    @cached_property
    def changes(self) -> StayChanges:
        """What each stay adds at each threshold."""
        return StayChanges.from_rows(self.stays.scored)

    def points(self, counts: AnyArray) -> OperatingPoints:
        """Count alarms and events caught where patient ``i`` is there ``counts[i]`` times."""
        few = self.stays.in_resample(counts, self._highest)
        left_out = len(self._highest.stay) < len(self.changes.stay)
        if left_out and self.limits is not None and not few.exhausts(self.limits):
            few = self.stays.in_resample(counts, self.changes)
        return few.points()

    @cached_property
    def _highest(self) -> StayChanges:
        """The changes at the highest thresholds, which suffice in most resamples."""
        if self.limits is None:
            return self.changes
        return self.changes.down_to(self.stays.lowest_needed(self.limits, REACH))


def draw_stays(
    points: Mapping[str, OperatingPoints], limits: Scenario | None
) -> tuple[dict[str, DrawnStays], Sampling]:
    """Return the stays of each model, and how their patients are drawn."""
    models = {}
    for name, counted in points.items():
        if counted.stays is None:
            raise ArgumentError(
                "y_true",
                f"[{name!r}] holds counts, of which nothing can be drawn; accepted are labels and "
                "scores, or the points of voros.alarm_points",
            )
        models[name] = DrawnStays(rows_in_memory(counted.stays), limits)
    first, *others = (drawn.stays for drawn in models.values())
    for other in others:
        if not np.array_equal(other.unit, first.unit) or other.patient_days != first.patient_days:
            raise ArgumentError("y_true", " holds models of different stays; accepted are the same")
    if first.n_units < 2:
        raise ValueError("the stays belong to one patient; at least two are needed to draw from")
    # A case is an event, or a stay: both must be there in a resample.
    event_units, stay_units = first.unit[first.rows.event_stay], first.unit
    positive = np.arange(len(event_units) + len(stay_units)) < len(event_units)
    units = np.concatenate([event_units, stay_units])
    return models, Sampling(positive, units, first.n_units, PATIENTS)


@dataclass(frozen=True, eq=False)
class DrawnCounts:
    """Alarms of each patient at one threshold, ready to be added up in any resample."""

    stays: StayRows
    threshold: float

    @cached_property
    def _by_patient(self) -> AnyArray:
        """Events caught, false alarms, events and possible alarms of each patient."""
        counts = self.stays.counts(np.array([self.threshold]))
        n_events = np.bincount(self.stays.rows.event_stay, minlength=self.stays.n_stays)
        columns = (n_events, self.stays.slots)
        sizes = (self.stays.by_unit(column) for column in columns)
        return np.column_stack([counts.tp, counts.fp, *sizes])

    def points(self, counts: AnyArray) -> OperatingPoints:
        """Count alarms and events caught where patient ``i`` is there ``counts[i]`` times."""
        tp, fp, n_events, n_slots = (counts @ self._by_patient).tolist()
        thresholds = np.array([np.inf, self.threshold])
        columns = np.array([0.0, tp]), np.array([0.0, fp])
        return OperatingPoints(thresholds, *columns, n_events, n_slots, one_case=0.0)


def cost_per_event(points: OperatingPoints, costs: CostDistribution) -> float:
    """Return the expected cost of the last point in missed events, for each event."""
    ratio = costs.mean_ratio(points.n_negative / points.n_positive)
    missed = points.n_positive - points.tp[-1]
    return float((ratio * points.fp[-1] + missed) / points.n_positive)
