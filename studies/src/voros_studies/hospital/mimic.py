"""MIMIC-IV: the study, and the paper's features of stays with enough measurements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from voros.typing import AnyArray, FloatArray
from voros_studies.experiments.cases import LabelledCases, StudyContext, words_of
from voros_studies.experiments.experiment import (
    AS_PUBLISHED,
    RunOptions,
    file_found,
    run_experiment,
)
from voros_studies.experiments.results import StudyResult
from voros_studies.flow import FlowStep
from voros_studies.hospital.channels import CHANNELS, TIME_VARYING
from voros_studies.hospital.extraction import (
    PAPER_PREVALENCE,
    PAPER_RULE,
    PAPER_STAYS,
    PIPELINE,
    CohortRule,
    Extraction,
    extract,
)
from voros_studies.hospital.features import (
    ALL_SUMMARIES,
    FEWEST_CHANNELS,
    HARDLY_MEASURED,
    N_BUCKETS,
    RECENT_HOURS,
    measured_recently,
    stack,
    summarise,
)
from voros_studies.hospital.release import (
    SourceTable,
    explaining,
    find_tables,
    open_database,
    quoted,
    release_in_words,
)

INSURANCES = ("Medicare", "Medicaid", "Private", "Other", "No charge")
"""Values in the releases; 2.x has the first, second and fourth only."""

GENDERS = ("F", "M")


def run_mimic(
    data: str | Path,
    out: str | Path,
    options: RunOptions = AS_PUBLISHED,
    *,
    rule: CohortRule = PAPER_RULE,
) -> StudyResult:
    """Run the study on a MIMIC-IV release, and write everything into one folder.

    Parameters
    ----------
    data : path-like
        The release's folder, with ``hosp/`` and ``icu/``.
    out : path-like
        The run's folder. Finished parts of the same run are not repeated.
    options : RunOptions, optional
    rule : CohortRule, optional
        Length of stay and outcome.

    Returns
    -------
    StudyResult

    Raises
    ------
    ExperimentError
        When the data are wrong; the message names the file and the remedy.

    Examples
    --------
    A dozen models on the open demo of MIMIC-IV, or on generated tables:

    >>> run_mimic("mimic-iv-demo", "study", RunOptions(quick=True))  # doctest: +SKIP

    What is named is looked at first:

    >>> run_mimic("no-such-folder", "study")
    Traceback (most recent call last):
    voros_studies.experiments.errors.ExperimentError: no-such-folder: there is no such folder.
    Name the one with hosp/ and icu/
    """
    tables = find_tables(Path(data))
    files = [file_found(name, table.path) for name, table in tables.items()]
    options.brief(files)
    extraction = extract(tables, Path(out) / "extracted", rule)
    options.announce(str(extraction.flow))
    cases = mimic_cases(extraction)
    notes = _notes(tables, cases, rule, extraction)
    options.announce("\n".join([*notes, repr(cases)]))
    studied = len(cases), extraction.flow.in_care - len(cases)
    return run_experiment(
        f"MIMIC-IV, {rule.title}",
        cases,
        Path(out),
        options,
        description={"experiment": "mimic", **asdict(rule)},
        context=StudyContext(
            (*notes, *extraction.notes),
            (*extraction.flow.steps(rule), FlowStep("studied", *studied, HARDLY_MEASURED)),
            mimic_characteristics(cases),
        ),
    )


def mimic_characteristics(cases: LabelledCases) -> dict[str, AnyArray]:
    """Return the characteristics of the stays for table 1."""
    described: dict[str, AnyArray] = {
        "age": cases.feature("age"),
        "sex": words_of(cases, "gender"),
        "insurance": words_of(cases, "insurance"),
        "weight, kg": cases.feature("weight"),
    }
    for channel in TIME_VARYING:
        described[f"{channel.name}, mean"] = cases.feature(f"{channel.name} mean 0-48h")
    return described


def _notes(
    tables: Mapping[str, SourceTable],
    cases: LabelledCases,
    rule: CohortRule,
    extraction: Extraction,
) -> list[str]:
    digests = [f"{name}: SHA-256 {digest}" for name, digest in extraction.digests.items()]
    return [
        f"release: {release_in_words(tables)}",
        *digests,
        f"outcome: {rule.title}; stays of at least {rule.min_hours:g} h",
        f"the paper has {PAPER_STAYS:,} stays, {PAPER_PREVALENCE} positive ({PIPELINE}); here "
        f"{len(cases):,}, {cases.y.mean():.3f}",
    ]


def mimic_cases(extraction: Extraction) -> LabelledCases:
    """Return the studied stays with the paper's features.

    13 channels, each with 8 summaries over 3 windows, and age, insurance, weight and gender. The
    height is extracted but is no feature, as in the paper.
    """
    stays = _read_stays(extraction)
    buckets = read_buckets(extraction, stays["stay_id"])
    measured = measured_recently(buckets[: len(TIME_VARYING)])
    features: dict[str, FloatArray] = {}
    for channel, values in zip(TIME_VARYING, buckets, strict=False):
        features |= summarise(values[measured], channel.name, ALL_SUMMARIES)
    weight = buckets[[channel.name for channel in CHANNELS].index("weight")]
    features |= _static({name: column[measured] for name, column in stays.items()})
    features["weight"] = ALL_SUMMARIES["mean"](weight[measured])
    X, names = stack(features)
    cases = LabelledCases(X, stays["died"][measured], stays["subject_id"][measured], names)
    cases.check_both_outcomes(
        str(extraction.buckets),
        f"Stays need {FEWEST_CHANNELS} vitals or labs in the last {RECENT_HOURS} hours: is "
        "icu/chartevents complete?",
    )
    return cases


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
    with open_database(None) as database, explaining(extraction.stays):
        rows = database.execute(
            "SELECT stay_id, subject_id, age, coalesce(gender, '') AS gender, "
            "coalesce(insurance, '') AS insurance, died "
            f"FROM read_parquet({quoted(extraction.stays)}) ORDER BY stay_id"
        ).fetchnumpy()
    return {
        name: np.ma.filled(column, np.nan) if name == "age" else np.asarray(column)
        for name, column in rows.items()
    }


def read_buckets(extraction: Extraction, stay_ids: Any) -> FloatArray:
    """Return the values by channel, stay and bucket, NaN where nothing was measured.

    ``stay_ids`` are those of the whole cohort, ascending.
    """
    values = np.full((len(CHANNELS), len(stay_ids), N_BUCKETS), np.nan)
    with open_database(None) as database, explaining(extraction.buckets):
        rows = database.execute(
            "SELECT stay_id, channel, bucket, value "
            f"FROM read_parquet({quoted(extraction.buckets)}) WHERE used > 0"
        ).fetchnumpy()
    stay = np.searchsorted(stay_ids, np.asarray(rows["stay_id"]))
    values[np.asarray(rows["channel"]), stay, np.asarray(rows["bucket"])] = rows["value"]
    return values
