"""Rates that counts of true and false positives show, and which of the counts keep limits."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from voros.core.exact_limits import keeps_floor, within_capacity
from voros.typing import AnyArray, BoolArray, FloatArray

if TYPE_CHECKING:
    from voros.core.scenario import Scenario


class Rates:
    """Rates and limits of counts at thresholds, whatever they were counted on."""

    thresholds: FloatArray
    tp: AnyArray
    fp: AnyArray
    n_positive: float
    n_negative: float
    alarms: AnyArray
    n_cases: float
    capacity_alarms: AnyArray | None

    @property
    def fpr(self) -> FloatArray:
        """False positives as a share of the negatives."""
        return np.asarray(self.fp / self.n_negative)

    @property
    def tpr(self) -> FloatArray:
        """True positives as a share of the positives: recall."""
        return np.asarray(self.tp / self.n_positive)

    @property
    def counted_alarms(self) -> AnyArray:
        """Alarms that count for the capacity."""
        return self.alarms if self.capacity_alarms is None else self.capacity_alarms

    @property
    def precision(self) -> FloatArray:
        """Share of the alarms that are true positives; NaN where there are none."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.tp / self.alarms)

    @property
    def prevalence(self) -> float:
        """Share of the cases that are positive."""
        return float(self.n_positive / self.n_cases)

    @property
    def negatives_per_positive(self) -> float:
        """N / P."""
        return float(self.n_negative / self.n_positive)

    def precise_enough(self, min_precision: float | Fraction) -> BoolArray:
        """Mark the thresholds that keep a precision floor.

        Returns
        -------
        ndarray of bool
        """
        return keeps_floor(self.tp, self.alarms, min_precision)

    def recalls_enough(self, min_recall: float | Fraction) -> BoolArray:
        """Mark the thresholds that keep a recall floor.

        Returns
        -------
        ndarray of bool
        """
        return keeps_floor(self.tp, self.n_positive, min_recall)

    def within_capacity(self, max_alarms: float) -> BoolArray:
        """Mark the thresholds that raise at most ``max_alarms``.

        Returns
        -------
        ndarray of bool
        """
        return within_capacity(self.counted_alarms, max_alarms)

    def within_limits(self, scenario: Scenario, max_alarms: float) -> BoolArray:
        """Mark the thresholds that keep a scenario's floors and raise at most ``max_alarms``.

        Returns
        -------
        ndarray of bool
        """
        kept = self.within_capacity(max_alarms) & self.precise_enough(scenario.floor)
        if scenario.min_recall is None:
            return kept
        return kept & self.recalls_enough(scenario.recall_floor)

    def most_precise_row(self, allowed: BoolArray) -> AnyArray:
        """Row of the most precise allowed threshold, of equals the one of greatest recall.

        No row where none has a true positive.

        Returns
        -------
        ndarray
        """
        rows = np.flatnonzero(allowed & (self.tp > 0))
        precision = self.precision[rows]
        # Of equal precision, more alarms have the greater recall.
        return rows[np.flatnonzero(precision == precision.max(initial=0.0))[-1:]]

    def columns(self) -> dict[str, AnyArray]:
        """Return the points column by column, as any data-frame library takes them."""
        names = ["tp", "fp", "fpr", "tpr", "precision", "alarms"]
        if self.capacity_alarms is not None:
            names.append("capacity_alarms")
        return {"threshold": self.thresholds} | {name: getattr(self, name) for name in names}
