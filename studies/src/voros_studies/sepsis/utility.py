"""The Challenge's own score: the utility of an alarm in each hour, by its time to the onset.

Reyna et al., Early Prediction of Sepsis From Clinical Data, Critical Care Medicine 48 (2020).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voros.typing import FloatArray
from voros_studies.sepsis.hours import HourlyStays

EARLY, OPTIMAL, LATE = -12, -6, 3
"""Hours from the onset: the first with a positive utility, the best, and the last."""

HIT, MISS, FALSE_ALARM = 1.0, -2.0, -0.05
"""Largest utility of an alarm, and the utilities of a late miss and of a false alarm."""


@dataclass(frozen=True, eq=False)
class HourlyUtility:
    """Utility of each row with and without an alarm.

    Examples
    --------
    A stay of 20 hours with the onset at hour 12: alarms from hour 6 on.

    >>> onset, hour = np.full(20, 12.0), np.arange(20)
    >>> utility = HourlyUtility.from_hours(onset, hour)
    >>> round(utility.normalised(hour * 1.0, 6.0), 4)
    0.8571
    """

    alarm: FloatArray
    silence: FloatArray

    @classmethod
    def from_hours(cls, onset: FloatArray, hour: FloatArray) -> HourlyUtility:
        """Return the utilities of rows by the onset of their stay, infinite where there is none."""
        ahead = hour - onset
        septic, over = np.isfinite(onset), hour > onset + LATE
        rising = np.maximum(HIT * (ahead - EARLY) / (OPTIMAL - EARLY), FALSE_ALARM)
        falling = HIT * (LATE - ahead) / (LATE - OPTIMAL)
        missed = MISS * np.maximum(ahead - OPTIMAL, 0) / (LATE - OPTIMAL)
        alarm = np.where(septic, np.where(ahead <= OPTIMAL, rising, falling), FALSE_ALARM)
        silence = np.where(septic, missed, 0.0)
        return cls(np.where(over, 0.0, alarm), np.where(over, 0.0, silence))

    @classmethod
    def from_stays(cls, stays: HourlyStays) -> HourlyUtility:
        """Return the utilities of the rows of stays."""
        return cls.from_hours(stays.onset[stays.stay], stays.hour.astype(np.float64))

    def take(self, rows: FloatArray) -> HourlyUtility:
        """Keep some rows."""
        return HourlyUtility(self.alarm[rows], self.silence[rows])

    def normalised(self, scores: FloatArray, threshold: float) -> float:
        """Return the utility of an alarm at every row of at least the threshold.

        0 is raising no alarm, and 1 is the best possible.
        """
        gain = self.alarm - self.silence
        return float(gain[scores >= threshold].sum() / gain[gain > 0].sum())

    def best_threshold(self, scores: FloatArray) -> float:
        """Return the threshold of greatest utility, infinite if no alarm has a positive one."""
        order = np.argsort(-scores, kind="stable")
        total = np.cumsum((self.alarm - self.silence)[order])
        ranked = scores[order]
        total[:-1][ranked[:-1] == ranked[1:]] = -np.inf
        best = int(np.argmax(total))
        return float(ranked[best]) if total[best] > 0 else np.inf
