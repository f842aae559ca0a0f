"""Features of time series in 2-hour buckets: the paper's summaries over its windows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import MappingProxyType

import numpy as np

from voros.typing import BoolArray, FloatArray

HOURS = 48
"""Length of the observed stay."""

BUCKET_HOURS = 2
N_BUCKETS = HOURS // BUCKET_HOURS

WINDOWS: Mapping[str, int] = MappingProxyType({"0-48h": 0, "24-48h": 24, "32-48h": 32})
"""Begin of each window, in hours; all end at 48 hours."""

FEWEST_CHANNELS = 3
"""Vitals or labs that must have been measured recently for a stay to be studied."""

RECENT_HOURS = 16
"""Recent measurements are those of the last 16 of the 48 hours."""

HARDLY_MEASURED = (
    f"with fewer than {FEWEST_CHANNELS} channels measured in the last {RECENT_HOURS} h"
)
"""Reason to leave out other stays."""

FEWEST_FOR_SLOPE = 2
"""Buckets that a slope needs."""


def ever_measured(values: FloatArray) -> FloatArray:
    """1 where anything was measured in the window, else 0."""
    return np.asarray((~np.isnan(values)).any(axis=1), dtype=np.float64)


def time_since_last(values: FloatArray) -> FloatArray:
    """Hours from the end of the last measured bucket to the end of the window.

    Examples
    --------
    >>> time_since_last(np.array([[1.0, np.nan], [np.nan, 2.0], [np.nan, np.nan]])).tolist()
    [2.0, 0.0, nan]
    """
    measured = ~np.isnan(values)
    buckets = np.argmax(measured[:, ::-1], axis=1)
    return np.where(measured.any(axis=1), buckets * float(BUCKET_HOURS), np.nan)


def mean(values: FloatArray) -> FloatArray:
    """Mean over the measured buckets."""
    measured = ~np.isnan(values)
    total = np.where(measured, values, 0.0).sum(axis=1)
    averaged = total / np.maximum(measured.sum(axis=1), 1)
    return np.where(measured.any(axis=1), averaged, np.nan)


def variance(values: FloatArray) -> FloatArray:
    """Mean squared distance from the mean; 0 with one measured bucket."""
    return mean((values - mean(values)[:, None]) ** 2)


def median(values: FloatArray) -> FloatArray:
    """Middle value, or the mean of the middle two."""
    count = (~np.isnan(values)).sum(axis=1)
    ordered = np.sort(values, axis=1)  # NaN comes last
    rows = np.arange(len(values))
    lower = ordered[rows, np.maximum(count - 1, 0) // 2]
    upper = ordered[rows, np.minimum(count // 2, values.shape[1] - 1)]
    return np.where(count > 0, (lower + upper) / 2, np.nan)


def slope(values: FloatArray) -> FloatArray:
    """Least-squares change an hour; missing with fewer than two measured buckets.

    Examples
    --------
    >>> slope(np.array([[1.0, np.nan, 3.0], [5.0, np.nan, np.nan]])).tolist()
    [0.5, nan]
    """
    measured = ~np.isnan(values)
    hours = np.where(measured, BUCKET_HOURS * np.arange(values.shape[1], dtype=np.float64), np.nan)
    from_mean = np.where(measured, hours - mean(hours)[:, None], 0.0)
    spread = (from_mean**2).sum(axis=1)
    together = (from_mean * np.where(measured, values - mean(values)[:, None], 0.0)).sum(axis=1)
    enough = measured.sum(axis=1) >= FEWEST_FOR_SLOPE
    return np.where(enough, together / np.where(enough, spread, 1.0), np.nan)


Summary = Callable[[FloatArray], FloatArray]

VALUE_SUMMARIES: Mapping[str, Summary] = MappingProxyType(
    {
        "mean": mean,
        "variance": variance,
        "min": partial(np.fmin.reduce, axis=1),
        "median": median,
        "max": partial(np.fmax.reduce, axis=1),
        "slope": slope,
    }
)
"""The six summaries of eICU features, which are never missing."""

ALL_SUMMARIES: Mapping[str, Summary] = MappingProxyType(
    {"ever measured": ever_measured, "time since last": time_since_last, **VALUE_SUMMARIES}
)
"""The eight summaries of MIMIC-IV channels."""


def summarise(
    buckets: FloatArray, name: str, summaries: Mapping[str, Summary]
) -> dict[str, FloatArray]:
    """Return one feature of a channel for each window and summary, named after both.

    Examples
    --------
    >>> pulse = np.full((1, N_BUCKETS), np.nan)
    >>> pulse[0, [2, 20]] = 70.0, 90.0
    >>> features = summarise(pulse, "pulse", ALL_SUMMARIES)
    >>> len(features), features["pulse mean 0-48h"].item(), features["pulse mean 24-48h"].item()
    (24, 80.0, 90.0)
    """
    return {
        f"{name} {summary} {window}": compute(buckets[:, start // BUCKET_HOURS :])
        for window, start in WINDOWS.items()
        for summary, compute in summaries.items()
    }


def measured_recently(channels: Iterable[FloatArray]) -> BoolArray:
    """Return which stays have enough channels measured in the last hours, from their buckets.

    Examples
    --------
    >>> early, late = np.full((2, 1, N_BUCKETS), np.nan)
    >>> early[0, 15], late[0, 16] = 1.0, 1.0
    >>> measured_recently([late] * 3).item(), measured_recently([late, late, early]).item()
    (True, False)
    """
    first = (HOURS - RECENT_HOURS) // BUCKET_HOURS
    measured = [(~np.isnan(buckets[:, first:])).any(axis=1) for buckets in channels]
    return np.asarray(np.sum(measured, axis=0) >= FEWEST_CHANNELS)


def stack(features: Mapping[str, FloatArray]) -> tuple[FloatArray, tuple[str, ...]]:
    """Return features side by side, and their names."""
    return np.column_stack(list(features.values())), tuple(features)
