"""SUPPORT2: the study on data that come with voros, beside the prognoses in them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from voros.core.arguments import check_choice
from voros.datasets import load_support2
from voros.datasets.support2 import OutcomeName
from voros.typing import FloatArray
from voros_studies.experiments.cases import LabelledCases, StudyContext
from voros_studies.experiments.experiment import AS_PUBLISHED, RunOptions, run_experiment
from voros_studies.experiments.results import StudyResult
from voros_studies.experiments.rivals import compare_forecasts
from voros_studies.flow import FlowStep
from voros_studies.hospital.features import stack

OUTCOME_TITLES: Mapping[OutcomeName, str] = {
    "hospital_death": "death in hospital",
    "hospital_death_within_7_days": "death in hospital within 7 days",
}


def run_support2(
    out: str | Path,
    outcome: OutcomeName = "hospital_death_within_7_days",
    options: RunOptions = AS_PUBLISHED,
) -> StudyResult:
    """Run the study on SUPPORT2, and write everything into one folder.

    Parameters
    ----------
    out : path-like
        The run's folder.
    outcome : {"hospital_death", "hospital_death_within_7_days"}
    options : RunOptions, optional

    Returns
    -------
    StudyResult

    Examples
    --------
    140 models, some minutes:

    >>> run_support2("study", options=RunOptions(jobs=2))  # doctest: +SKIP

    What is asked for is looked at first:

    >>> run_support2("study", "death")
    Traceback (most recent call last):
    voros.exceptions.ArgumentError: outcome='death'; accepted are 'hospital_death',
    'hospital_death_within_7_days'
    """
    cases = support2_cases(outcome)
    options.brief([f"SUPPORT2, which comes with voros: {cases!r}"])
    title = f"SUPPORT2, {OUTCOME_TITLES[outcome]}"
    return run_experiment(
        title,
        cases,
        Path(out),
        options,
        description={"experiment": "support2", "outcome": outcome},
        context=StudyContext(
            ("SUPPORT2, courtesy of the Vanderbilt University Department of Biostatistics",),
            (FlowStep("patients", len(cases)),),
            dict(load_support2().features),
        ),
        find_rivals=partial(compare_forecasts, title, dict(load_support2().prognoses)),
    )


def support2_cases(outcome: OutcomeName = "hospital_death") -> LabelledCases:
    """Return the 9,105 patients with what was known on day 3.

    Numbers are features as they are; where some are missing, another feature says whether the
    number was recorded. Each word is a feature. Prognoses and later events are not features.

    Examples
    --------
    >>> support2_cases("hospital_death")
    9105 cases of 9105 patients, 68 features, 0.259 positive
    """
    check_choice(outcome, "outcome", tuple(OUTCOME_TITLES))
    data = load_support2()
    columns: dict[str, FloatArray] = {}
    for name, values in data.features.items():
        columns |= _words(name, values) if values.dtype.kind == "U" else _numbers(name, values)
    X, names = stack(columns)
    return LabelledCases(X, data.outcome(outcome), np.arange(len(data)), names)


def _numbers(name: str, values: Any) -> dict[str, FloatArray]:
    numbers = np.asarray(values, dtype=np.float64)
    recorded = ~np.isnan(numbers)
    if recorded.all():
        return {name: numbers}
    return {name: numbers, f"{name} recorded": recorded.astype(np.float64)}


def _words(name: str, values: Any) -> dict[str, FloatArray]:
    return {
        f"{name}={word}": (values == word).astype(np.float64)
        for word in np.unique(values).tolist()
        if word
    }
