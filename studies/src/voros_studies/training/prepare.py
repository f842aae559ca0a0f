"""Write the splits of data sets to files for the fits of all losses."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from voros import Scenario
from voros.typing import FloatArray
from voros_studies.evidence.run import scenarios_for
from voros_studies.evidence.sources import DataSet
from voros_studies.experiments.cases import LabelledCases, split_patients
from voros_studies.experiments.errors import ExperimentError
from voros_studies.experiments.folder import save
from voros_studies.paper.cells import ScenarioName

N_SEEDS = 20
MADE_UP = "made_up"


def made_up_top(n: int = 30_000, random_state: int = 0) -> DataSet:
    """Generate cases whose highest risks no linear score finds, as a positive control.

    Risk grows with the first feature and falls with the second, except beyond 1.4 of the second,
    where it is high.

    Examples
    --------
    >>> made_up_top(1000).cases
    1000 cases of 1000 patients, 8 features, 0.136 positive
    """
    rng = np.random.default_rng(random_state)
    X = rng.normal(size=(n, 8))
    log_odds = np.where(X[:, 1] > 1.4, 1.2 + 0.5 * X[:, 2], -3 + X[:, 0] - 0.9 * X[:, 1])
    y = rng.random(n) < 1 / (1 + np.exp(-log_odds))
    cases = LabelledCases(X, y, np.arange(n), tuple("abcdefgh"))
    return DataSet(MADE_UP, "made up, non-linear at the top", cases)


def write_splits(
    datasets: Sequence[DataSet],
    folder: Path,
    n_seeds: int = N_SEEDS,
    scenarios: Mapping[ScenarioName, Scenario] | None = None,
) -> None:
    """Write features, outcomes, limits, and the part of every case by seed, a file for each set.

    Raises
    ------
    ExperimentError
        When the folder holds other splits of a data set, or other limits.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for data in datasets:
        path, shape = folder / f"{data.name}.npz", (n_seeds, len(data.cases))
        limits = np.array([limits_of(one) for one in scenarios_for(data, scenarios).values()])
        if path.exists():
            _check_same_splits(path, shape, limits)
            continue
        parts = np.empty(shape, dtype=np.uint8)
        for seed in range(n_seeds):
            split = split_patients(data.cases, seed)
            for number, rows in enumerate(split.parts.values()):
                parts[seed, rows] = number
        file = io.BytesIO()
        np.savez_compressed(
            file,
            allow_pickle=False,
            X=data.cases.X.astype(np.float32),
            y=data.cases.y,
            parts=parts,
            limits=limits,
        )
        save(path, file.getvalue())


def _check_same_splits(path: Path, shape: tuple[int, int], limits: FloatArray) -> None:
    with np.load(path) as held:
        if held["parts"].shape != shape:
            seeds, cases = held["parts"].shape
            raise ExperimentError(
                f"{path}: the folder holds {seeds} splits of {cases} cases, not {shape[0]} of "
                f"{shape[1]}. Name another output folder, or remove this one to start over"
            )
        if not np.array_equal(held["limits"], limits):
            raise ExperimentError(
                f"{path}: the folder holds a run with other limits. Name another output folder, or "
                "remove this one to start over"
            )


def limits_of(scenario: Scenario) -> FloatArray:
    """Return floor, capacity, and the lowest and highest cost ratio of a scenario.

    Examples
    --------
    >>> limits_of(Scenario(min_precision=0.15, capacity=0.5, cost_ratio=(0.1, 0.2))).tolist()
    [0.15, 0.5, 0.1, 0.2]
    """
    limits = np.array([scenario.min_precision, scenario.capacity, *scenario.costs.support])
    if scenario != scenario_of(limits):
        raise ExperimentError(
            f"scenario {scenario!r}; accepted here are a precision floor, a capacity as a share of "
            "the cases, and a range of cost ratios"
        )
    return limits


def scenario_of(limits: FloatArray) -> Scenario:
    """Return the scenario whose limits these are."""
    floor, capacity, low, high = map(float, limits)
    return Scenario(min_precision=floor, capacity=capacity, cost_ratio=(low, high))
