"""Bedside scores from the last known values, as far as the Challenge's columns allow.

Values that were never measured score 0 points, as at the bedside.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from voros.typing import FloatArray
from voros_studies.sepsis.features import last_values
from voros_studies.sepsis.hours import HourlyStays

ROOM_AIR = 0.21

NEWS_BANDS: Mapping[str, tuple[tuple[float, ...], tuple[int, ...]]] = {
    "Resp": ((9, 12, 21, 25), (3, 1, 0, 2, 3)),
    "O2Sat": ((92, 94, 96), (3, 2, 1, 0)),
    "Temp": ((35.05, 36.05, 38.05, 39.05), (3, 1, 0, 1, 2)),
    "SBP": ((91, 101, 111, 220), (3, 2, 1, 0, 3)),
    "HR": ((41, 51, 91, 111, 131), (3, 1, 0, 1, 2, 3)),
}
"""Lower end and points of each band of NEWS (Royal College of Physicians, 2012)."""

SOFA_BANDS: Mapping[str, tuple[tuple[float, ...], tuple[int, ...]]] = {
    "Platelets": ((20, 50, 100, 150), (4, 3, 2, 1, 0)),
    "Bilirubin_total": ((1.2, 2, 6, 12), (0, 1, 2, 3, 4)),
    "Creatinine": ((1.2, 2, 3.5, 5), (0, 1, 2, 3, 4)),
    "MAP": ((70,), (1, 0)),
}
"""Lower end and points of each band of SOFA (Vincent 1996), without vasopressors."""

SATURATION_OVER_OXYGEN = ((89, 214, 357, 512), (4, 3, 2, 1, 0))
"""Bands of respiratory points by saturation over inspired oxygen (Pandharipande 2009), as the data
have no PaO2."""

LACKING = {
    "NEWS-like": "consciousness (AVPU); supplemental oxygen is a last FiO2 above 0.21",
    "SOFA-like": "Glasgow coma scale, urine, vasopressors and PaO2 (saturation over FiO2 instead)",
}
"""Components of each score that the 40 columns do not have."""


def points_in_bands(
    values: FloatArray, bands: tuple[tuple[float, ...], tuple[int, ...]]
) -> FloatArray:
    """Return the points of values; 0 for missing values.

    Examples
    --------
    >>> points_in_bands(np.array([8.0, 9, 20, 21, 25, np.nan]), NEWS_BANDS["Resp"]).tolist()
    [3.0, 1.0, 0.0, 2.0, 3.0, 0.0]
    """
    begins, points = bands
    scored = np.array(points, dtype=np.float64)[np.searchsorted(begins, values, side="right")]
    return np.where(np.isnan(values), 0.0, scored)


def bedside_scores(stays: HourlyStays) -> dict[str, FloatArray]:
    """Return the scores of every hour, by name."""
    oxygen = last_values(stays, "FiO2")
    inspired = np.where((oxygen >= ROOM_AIR) & (oxygen <= 1), oxygen, ROOM_AIR)
    news: FloatArray = np.where(inspired > ROOM_AIR, 2.0, 0.0)
    for name, bands in NEWS_BANDS.items():
        news = news + points_in_bands(last_values(stays, name), bands)
    sofa = points_in_bands(last_values(stays, "O2Sat") / inspired, SATURATION_OVER_OXYGEN)
    for name, bands in SOFA_BANDS.items():
        sofa = sofa + points_in_bands(last_values(stays, name), bands)
    return {"NEWS-like": news, "SOFA-like": sofa}
