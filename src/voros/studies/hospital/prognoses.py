"""SUPPORT2: the same study on data that everybody has, beside the prognoses it contains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from voros.core.arrays import AnyArray, FloatArray
from voros.datasets import load_support2
from voros.policy import ThresholdPolicy
from voros.policy.allowed import allowed_thresholds
from voros.studies.experiments.cases import LabelledCases, Split
from voros.studies.experiments.experiment import AS_PUBLISHED, Options, run_experiment
from voros.studies.experiments.results import StudyResult, cost_columns
from voros.studies.experiments.study import (
    GUARANTEED_BY,
    Deployed,
    Scored,
    cost_intervals,
    deploy,
)
from voros.studies.hospital.features import stack
from voros.studies.paper.cells import SCENARIOS
from voros.studies.paper.paper_tables import limits_kept
from voros.text.table import Column, Table, Value

Outcome: TypeAlias = Literal["hospital_death", "hospital_death_within_7_days"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)

TITLES = {
    "hospital_death": "death in hospital",
    "hospital_death_within_7_days": "death in hospital within 7 days",
}


def run_support2(
    out: str | Path,
    outcome: str = "hospital_death_within_7_days",
    options: Options = AS_PUBLISHED,
) -> StudyResult:
    """Run the study on SUPPORT2, and write everything into one folder.

    Parameters
    ----------
    out : path-like
        The run's folder.
    outcome : {"hospital_death", "hospital_death_within_7_days"}
    options : Options, optional
    """
    cases = support2_cases(outcome)
    size = (len(cases) // 2, len(cases.feature_names))
    options.brief([f"SUPPORT2, which comes with voros: {cases!r}"], (), size)
    title = f"SUPPORT2, {TITLES[outcome]}"
    return run_experiment(
        title,
        cases,
        Path(out),
        options,
        description={"experiment": "support2", "outcome": outcome},
        notes=["SUPPORT2, courtesy of the Vanderbilt University Department of Biostatistics"],
        find_rivals=partial(_prognoses, title),
    )


def quick_support2(out: str | Path, outcome: str = "hospital_death_within_7_days") -> StudyResult:
    """Run the study with a dozen candidates: about half a minute on two cores.

    Parameters are those of `run_support2`; the text of the result is the tables.
    """
    return run_support2(out, outcome, Options(quick=True, progress=False))


def _prognoses(
    title: str, split: Split, deployed: Sequence[Deployed], valid: Scored, test: Scored
) -> tuple[Table, ...]:
    rows = {"valid": split.valid, "test": split.test}
    forecasts = dict(load_support2().prognoses)
    return (rival_table(title, forecasts, rows, deployed, valid, test),)


def support2_cases(outcome: str = "hospital_death") -> LabelledCases:
    """Return the 9,105 patients with what was known of them on day 3.

    Numbers are taken as they are, each with a feature saying whether it was recorded where it is
    missing for somebody; words become one feature per word. Neither the prognoses nor anything
    that happened later is a feature.

    Examples
    --------
    >>> support2_cases("hospital_death")
    9105 cases of 9105 patients, 68 features, 0.259 positive
    """
    if outcome not in OUTCOMES:
        raise ValueError(f"outcome={outcome!r}; accepted are {' and '.join(OUTCOMES)}")
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


SELECTED = "model selected by partial VOROS"


def rival_table(
    title: str,
    forecasts: Mapping[str, FloatArray],
    rows: Mapping[str, AnyArray],
    deployed: Sequence[Deployed],
    valid: Scored,
    test: Scored,
) -> Table:
    """Compare forecasts with the models that partial VOROS selected.

    Each gets a threshold for each cost, decided on the same validation cases: those with all
    forecasts. A forecast has one risk per case of the whole data, NaN where none was made; ``rows``
    are the positions of the validation ("valid") and test ("test") cases there.
    """
    columns = [Column("forecast")]
    cells: dict[str, list[Value]] = {name: [name] for name in (*forecasts, SELECTED)}
    for one in deployed:
        if one.strategy != GUARANTEED_BY:
            continue
        on_valid = _beside(one.model, valid, forecasts, rows["valid"])
        on_test = _beside(one.model, test, forecasts, rows["test"])
        columns += cost_columns(one.scenario, verdict="against the model", kept="limits kept")
        for name, values in _compare(one.scenario, on_valid, on_test).items():
            cells[name] += values
    title = f"{title}: {len(on_test)} test cases with every forecast"
    return Table(tuple(columns), tuple(map(tuple, cells.values())), title, "forecasts")


def _beside(
    model: str, scored: Scored, forecasts: Mapping[str, FloatArray], rows: AnyArray
) -> Scored:
    risks = {name: risk[rows] for name, risk in forecasts.items()}
    complete = ~np.isnan(np.column_stack(list(risks.values()))).any(axis=1)
    compared = {**risks, SELECTED: scored.scores[model]}
    return Scored(scored.patient, scored.y_true, compared).take(np.flatnonzero(complete))


def _compare(number: int, valid: Scored, test: Scored) -> dict[str, list[Value]]:
    deployed = {name: _with_thresholds(number, name, valid, test) for name in valid.scores}
    found = cost_intervals(list(deployed.values()), test, beside=SELECTED)
    return {
        name: [
            found[name].cost.estimate,
            found[name].cost.low,
            found[name].cost.high,
            "" if name == SELECTED else found[name].verdict,
            limits_kept(one.test),
        ]
        for name, one in deployed.items()
    }


def _with_thresholds(number: int, name: str, valid: Scored, test: Scored) -> Deployed:
    allowed = allowed_thresholds(valid.points[name], SCENARIOS[number])
    policy = ThresholdPolicy.from_allowed(allowed, model=name)
    return deploy(number, name, policy, valid, test)
