"""The selected models beside forecasts that need no fitting, on the cases that have them all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from voros.core.arrays import AnyArray, FloatArray
from voros.policy import ThresholdPolicy
from voros.policy.allowed import allowed_thresholds
from voros.studies.experiments.cost_intervals import cost_intervals
from voros.studies.experiments.results import cost_columns
from voros.studies.experiments.study import (
    GUARANTEED_BY,
    Deployed,
    Scored,
    deploy,
)
from voros.studies.paper.cells import SCENARIOS
from voros.studies.paper.paper_tables import limits_kept
from voros.text.table import Column, Table, Value

SELECTED = "model selected by partial VOROS"


def rival_table(
    title: str,
    forecasts: Mapping[str, FloatArray],
    rows: Mapping[str, AnyArray],
    deployed: Sequence[Deployed],
    valid: Scored,
    test: Scored,
    random_state: int = 0,
) -> Table:
    """Compare forecasts with the models that partial VOROS selected.

    Each gets a threshold for each cost, decided on the same validation cases: those with all
    forecasts.

    Parameters
    ----------
    title : str
    forecasts : mapping of str to ndarray
        One risk per case of the whole data, NaN where none was made.
    rows : mapping of str to ndarray
        Positions of the validation ("valid") and test ("test") cases in the whole data.
    deployed : sequence of Deployed
    valid, test : Scored
        Of the fitted models.
    random_state : int, default 0
    """
    columns = [Column("forecast")]
    cells: dict[str, list[Value]] = {name: [name] for name in (*forecasts, SELECTED)}
    for one in deployed:
        if one.strategy != GUARANTEED_BY:
            continue
        on_valid = _beside(one.model, valid, forecasts, rows["valid"])
        on_test = _beside(one.model, test, forecasts, rows["test"])
        columns += cost_columns(one.scenario, verdict="against the model", kept="limits kept")
        for name, values in _compare(one.scenario, on_valid, on_test, random_state).items():
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


def _compare(number: int, valid: Scored, test: Scored, random_state: int) -> dict[str, list[Value]]:
    deployed = {name: _with_thresholds(number, name, valid, test) for name in valid.scores}
    found = cost_intervals(list(deployed.values()), test, random_state, beside=SELECTED)
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
