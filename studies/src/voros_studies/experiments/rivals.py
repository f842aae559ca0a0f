"""Other forecasts beside the selected models, each with its own thresholds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from voros.policy import ThresholdPolicy
from voros.policy.allowed import allowed_thresholds
from voros.typing import AnyArray, FloatArray
from voros_studies.experiments.cases import Split
from voros_studies.experiments.labels import cost_columns
from voros_studies.experiments.study import (
    GUARANTEED_BY,
    CostIntervals,
    Deployed,
    Scored,
    cost_intervals,
    deploy,
)
from voros_studies.paper.cells import ScenarioName
from voros_studies.paper.paper_tables import limits_kept
from voros_studies.tables import Column, Table, Value

SELECTED = "model selected by partial VOROS"


@dataclass(frozen=True, eq=False)
class Rivals:
    """Forecasts and the selected model of each scenario, on the cases that have every forecast.

    A forecast takes the place of the strategy in ``deployed`` and, by scenario, in ``intervals``.
    """

    title: str
    n_test: int
    deployed: tuple[Deployed, ...]
    intervals: Mapping[ScenarioName, Mapping[str, CostIntervals]]

    @property
    def table(self) -> Table:
        """Test costs, verdicts against the selected model, and whether limits were kept."""
        columns = [Column("forecast")]
        cells: dict[str, list[Value]] = {one.strategy: [one.strategy] for one in self.deployed}
        limits = {one.scenario: one.limits for one in self.deployed}
        for number, intervals in self.intervals.items():
            others = {"verdict": "against the model", "kept": "limits kept"}
            columns += cost_columns(number, limits[number], **others)
            for one in self.deployed:
                if one.scenario == number:
                    cells[one.strategy] += _values(one, intervals[one.strategy])
        title = f"{self.title}: {self.n_test} test cases with every forecast"
        return Table(tuple(columns), tuple(map(tuple, cells.values())), title, "forecasts")


def _values(one: Deployed, intervals: CostIntervals) -> list[Value]:
    cost = intervals.cost
    verdict = "" if one.strategy == SELECTED else intervals.verdict
    return [cost.estimate, cost.low, cost.high, verdict, limits_kept(one.test)]


def compare_forecasts(
    title: str,
    forecasts: Mapping[str, FloatArray],
    split: Split,
    deployed: Sequence[Deployed],
    parts: tuple[Scored, Scored],
    kept: Path | None = None,
) -> Rivals:
    """Compare forecasts with the models that partial VOROS selected.

    Each gets a threshold for each cost, decided on the same validation cases: those with all
    forecasts. A forecast has one score per case of the whole data, NaN where none was made.
    ``parts`` are the validation and the test cases; ``kept`` is that of `cost_intervals`.
    """
    rivals: list[Deployed] = []
    intervals = {}
    for one in deployed:
        if one.strategy == GUARANTEED_BY:
            on_valid = _beside(one.model, parts[0], forecasts, split.valid)
            on_test = _beside(one.model, parts[1], forecasts, split.test)
            ones = [_deployed(one, name, on_valid, on_test) for name in on_valid.scores]
            intervals[one.scenario] = cost_intervals(ones, on_test, beside=SELECTED, kept=kept)
            rivals += ones
    return Rivals(title, len(on_test), tuple(rivals), intervals)


def _beside(
    model: str, scored: Scored, forecasts: Mapping[str, FloatArray], rows: AnyArray
) -> Scored:
    risks = {name: risk[rows] for name, risk in forecasts.items()}
    complete = ~np.isnan(np.column_stack(list(risks.values()))).any(axis=1)
    compared = {**risks, SELECTED: scored.scores[model]}
    return Scored(scored.patient, scored.y_true, compared).take(np.flatnonzero(complete))


def _deployed(beside: Deployed, name: str, valid: Scored, test: Scored) -> Deployed:
    allowed = allowed_thresholds(valid.points[name], beside.limits)
    policy = ThresholdPolicy.from_allowed(allowed, model=name)
    return deploy(beside.scenario, name, policy, valid, test)
