"""Hourly features of a stay, from its rows up to that hour."""

from __future__ import annotations

import numpy as np

from voros.typing import AnyArray, FloatArray
from voros_studies.sepsis.hours import COLUMNS, LABS, MEASURED, VITALS, HourlyStays

WINDOW = 6
"""Hours over which change, minimum and maximum of the vital signs are taken."""

MOSTLY_MEASURED = VITALS[:-1]
"""Vital signs without EtCO2, which set A does not have."""


def last_rows(stays: HourlyStays, column: FloatArray) -> AnyArray:
    """Return the last row of the same stay at which a column was measured, or -1."""
    rows = np.where(np.isnan(column), -1, np.arange(len(column)))
    last = np.maximum.accumulate(rows)
    return np.where(last >= stays.first[stays.stay], last, -1)


def last_values(stays: HourlyStays, name: str) -> FloatArray:
    """Return the last value of a column up to each row, NaN before the first."""
    column = stays.column(name)
    return _at(column, last_rows(stays, column))


def hourly_features(stays: HourlyStays) -> tuple[FloatArray, tuple[str, ...]]:
    """Return the features of each row, and their names.

    Of each measurement the last value and the hours since; of vital signs the change, minimum and
    maximum over the last `WINDOW` hours; how many laboratory values were measured in them; heart
    rate over systolic pressure; demographic columns and the hours in the ICU so far.
    """
    n = len(stays.stay)
    features: dict[str, FloatArray] = {}
    for name in MEASURED:
        column = stays.column(name)
        last = last_rows(stays, column)
        features[name] = _at(column, last)
        features[f"hours since {name}"] = np.where(last < 0, np.nan, np.arange(n) - last)
    for name in MOSTLY_MEASURED:
        features |= _recent(stays, name, features[name])
    known = ~np.isnan(stays.values[:, [COLUMNS.index(name) for name in LABS]])
    counts = np.append(0, np.cumsum(known.sum(axis=1)))
    begin = np.maximum(np.arange(n) - WINDOW + 1, stays.first[stays.stay])
    features["laboratory values"] = counts[1:] - counts[begin]
    features["HR over SBP"] = features["HR"] / np.maximum(features["SBP"], 1)
    features |= {name: stays.column(name) for name in ("Age", "Gender", "Unit1", "HospAdmTime")}
    features["hours"] = stays.hour
    return np.column_stack([column.astype(np.float32) for column in features.values()]), tuple(
        features
    )


def _at(column: FloatArray, rows: AnyArray) -> FloatArray:
    return np.where(rows < 0, np.nan, column[rows])


def _recent(stays: HourlyStays, name: str, last: FloatArray) -> dict[str, FloatArray]:
    """Return change, minimum and maximum of the last values over the last hours."""
    n, first = len(last), stays.first[stays.stay]
    low, high = last.copy(), last.copy()
    for back in range(1, WINDOW):
        earlier = last[np.maximum(np.arange(n) - back, first)]
        low, high = np.fmin(low, earlier), np.fmax(high, earlier)
    before = last[np.maximum(np.arange(n) - WINDOW, first)]
    return {f"{name}, change": last - before, f"{name}, low": low, f"{name}, high": high}
