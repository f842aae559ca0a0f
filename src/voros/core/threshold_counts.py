"""Counts of true and false positives at thresholds, their rates, and the limits that they keep.

Limits are compared with counts, never with rounded rates.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from voros.core.exact_limits import is_whole, keeps_floor, within_capacity
from voros.typing import AnyArray, BoolArray, FloatArray

if TYPE_CHECKING:
    from voros.core.scenario import Scenario


@dataclass(frozen=True, eq=False)
class ThresholdCounts:
    """Counts at thresholds, in order of alarms; `OperatingPoints` describes the attributes."""

    thresholds: FloatArray
    tp: AnyArray
    fp: AnyArray
    n_positive: float
    n_negative: float
    _: KW_ONLY
    one_case: float = 1.0
    capacity_alarms: AnyArray | None = None
    alarms: AnyArray = field(init=False)
    n_cases: float = field(init=False)
    whole: bool = field(init=False)

    def __post_init__(self) -> None:
        """Compute once the columns that limits are compared with."""
        object.__setattr__(self, "alarms", np.asarray(self.tp + self.fp))
        object.__setattr__(self, "n_cases", self.n_positive + self.n_negative)
        object.__setattr__(self, "whole", is_whole(self.tp))

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
        """Row of the most precise allowed threshold; of equals, the one with the greatest recall.

        Empty where no allowed threshold has a true positive.

        Returns
        -------
        ndarray
        """
        rows = np.flatnonzero(allowed & (self.tp > 0))
        precision = self.precision[rows]
        # With equal precision, more alarms have a greater recall.
        return rows[np.flatnonzero(precision == precision.max(initial=0.0))[-1:]]

    def columns(self) -> dict[str, AnyArray]:
        """Return the points column by column, as any data-frame library takes them."""
        names = ["tp", "fp", "fpr", "tpr", "precision", "alarms"]
        if self.capacity_alarms is not None:
            names.append("capacity_alarms")
        return {"threshold": self.thresholds} | {name: getattr(self, name) for name in names}
