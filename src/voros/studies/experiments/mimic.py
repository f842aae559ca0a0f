"""MIMIC-IV as cases: the paper's features of the stays that were measured enough."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from voros.core.arrays import BoolArray, FloatArray
from voros.studies.experiments.cases import Cases
from voros.studies.experiments.channels import CHANNELS, TIME_VARYING
from voros.studies.experiments.extraction import Extraction
from voros.studies.experiments.release import explaining, open_database
from voros.studies.experiments.summaries import (
    ALL_SUMMARIES,
    BUCKET_HOURS,
    HOURS,
    N_BUCKETS,
    stack,
    summarise,
)

FEWEST_CHANNELS = 3
"""Vitals or labs that must have been measured recently for a stay to be studied."""

RECENT_HOURS = 16
"""How recently: in the last so many of the 48 hours."""

INSURANCES = ("Medicare", "Medicaid", "Private", "Other", "No charge")
"""What the releases name; 2.x knows the first, second and fourth only."""

GENDERS = ("F", "M")


def mimic_cases(extraction: Extraction) -> Cases:
    """Return the studied stays with the paper's features.

    13 channels, each with 8 summaries over 3 windows, and age, insurance, weight and gender. The
    height is extracted but is no feature, as in the paper.

    Raises
    ------
    ExperimentError
        When no stay has enough measurements, or all have the same outcome.
    """
    stays = _read_stays(extraction)
    buckets = read_buckets(extraction, stays["stay_id"])
    recent = buckets[: len(TIME_VARYING), :, (HOURS - RECENT_HOURS) // BUCKET_HOURS :]
    measured = (~np.isnan(recent)).any(axis=2).sum(axis=0) >= FEWEST_CHANNELS
    features: dict[str, FloatArray] = {}
    for channel, values in zip(TIME_VARYING, buckets, strict=False):
        features |= summarise(values[measured], channel.name, ALL_SUMMARIES)
    weight = buckets[[channel.name for channel in CHANNELS].index("weight")]
    features |= _static({name: column[measured] for name, column in stays.items()})
    features["weight"] = ALL_SUMMARIES["mean"](weight[measured])
    cases = Cases(*_ordered(features, stays, measured))
    cases.check_both_outcomes(
        str(extraction.buckets),
        f"Stays need {FEWEST_CHANNELS} vitals or labs in the last {RECENT_HOURS} hours: is "
        "icu/chartevents complete?",
    )
    return cases


def _ordered(
    features: dict[str, FloatArray], stays: Mapping[str, Any], measured: BoolArray
) -> tuple[Any, ...]:
    X, names = stack(features)
    return X, stays["died"][measured], stays["subject_id"][measured], names


def _static(stays: Mapping[str, Any]) -> dict[str, FloatArray]:
    insurance = np.where(
        np.isin(stays["insurance"], ("", *INSURANCES)), stays["insurance"], "Other"
    )
    return {
        "age": stays["age"].astype(np.float64),
        **{f"insurance={word}": (insurance == word).astype(np.float64) for word in INSURANCES},
        **{f"gender={word}": (stays["gender"] == word).astype(np.float64) for word in GENDERS},
    }


def _read_stays(extraction: Extraction) -> dict[str, Any]:
    quoted = str(extraction.stays).replace("'", "''")
    with open_database(None) as database, explaining(extraction.stays):
        rows = database.execute(
            "SELECT stay_id, subject_id, age, coalesce(gender, '') AS gender, "
            f"coalesce(insurance, '') AS insurance, died FROM read_parquet('{quoted}') "
            "ORDER BY stay_id"
        ).fetchnumpy()
    return {
        name: np.ma.filled(column, np.nan) if name == "age" else np.asarray(column)
        for name, column in rows.items()
    }


def read_buckets(extraction: Extraction, stay_ids: Any) -> FloatArray:
    """Return the values by channel, stay and bucket, NaN where nothing was measured.

    Parameters
    ----------
    extraction : Extraction
    stay_ids : ndarray of int
        Ascending; every stay of the cohort.
    """
    quoted = str(extraction.buckets).replace("'", "''")
    values = np.full((len(CHANNELS), len(stay_ids), N_BUCKETS), np.nan)
    with open_database(None) as database, explaining(extraction.buckets):
        rows = database.execute(
            f"SELECT stay_id, channel, bucket, value FROM read_parquet('{quoted}') WHERE used > 0"
        ).fetchnumpy()
    stay = np.searchsorted(stay_ids, np.asarray(rows["stay_id"]))
    values[np.asarray(rows["channel"]), stay, np.asarray(rows["bucket"])] = rows["value"]
    return values
