"""The cells of the paper's tables, and the files behind them.

A cell is one strategy in one scenario on one dataset. The strategy has chosen a model already; its
predictions are a validation file, on which the thresholds are decided, and a test file, on which
they are evaluated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

from voros import OperatingPoints, Scenario
from voros.core.decision import Strategy
from voros.policy import PolicyEvaluation, ThresholdPolicy
from voros_studies.tables import Absent

ScenarioName: TypeAlias = int | str
"""The number of a scenario of the paper, or the name of a user's scenario."""

SCENARIOS: Mapping[ScenarioName, Scenario] = MappingProxyType(
    {
        1: Scenario(min_precision=0.15, capacity=0.5, cost_ratio=(1 / 9, 1 / 6)),
        2: Scenario(min_precision=0.5, capacity=0.1, cost_ratio=(1 / 40, 1 / 20)),
    }
)
"""The paper's two scenarios: a permissive one, and one that asks for few and precise alarms."""

DATASETS = ("MIMIC-IV", "eICU")

STRATEGY_ORDER: tuple[Strategy, ...] = ("voros", "partial_auroc", "recall", "partial_voros")
"""The rows of the paper's tables, from top to bottom."""

_STEMS = {
    ("MIMIC-IV", 1): "scenario1_pvoros scenario1_pvoros scenario1_recall scenario1_pvoros",
    ("MIMIC-IV", 2): "mimic_s2_voros scenario2 scenario2 scenario2",
    ("eICU", 1): "eicu_s1_pvoros eicu_s1_recall eicu_s1_recall eicu_s1_pvoros",
    ("eICU", 2): "eicu_s2_voros eicu_s2_pvoros eicu_s2_pvoros eicu_s2_pvoros",
}
FILE_STEMS: Mapping[tuple[str, int], Mapping[Strategy, str]] = {
    place: dict(zip(STRATEGY_ORDER, stems.split(), strict=True)) for place, stems in _STEMS.items()
}
"""Names under which the authors publish the predictions of the model each strategy selects."""

LABEL_COLUMN, SCORE_COLUMN = "y_true", "proba_y_eq_1"


@dataclass(frozen=True, eq=False)
class Cell:
    """One strategy in one scenario on one dataset.

    The scenario is the number of one of `SCENARIOS`; thresholds are decided on the validation set
    alone, and evaluated on both.

    Examples
    --------
    >>> lacking = Absent("no file eicu_s1_recall_valid.csv")
    >>> Cell("eICU", 1, "recall", lacking, lacking).test.reason
    'no file eicu_s1_recall_valid.csv'
    """

    dataset: str
    scenario: int
    strategy: Strategy
    valid: PolicyEvaluation | Absent
    test: PolicyEvaluation | Absent


def evaluate_cell(
    dataset: str,
    scenario: int,
    strategy: Strategy,
    valid: OperatingPoints | Absent,
    test: OperatingPoints | Absent,
) -> Cell:
    """Decide thresholds on the validation points, and evaluate them on both sets.

    Returns
    -------
    Cell

    Examples
    --------
    >>> import voros
    >>> valid = voros.OperatingPoints.from_scores([0, 1, 0, 1], [0.1, 0.9, 0.6, 0.7])
    >>> test = voros.OperatingPoints.from_scores([0, 1, 0, 1, 0], [0.1, 0.9, 0.4, 0.7, 0.3])
    >>> cell = evaluate_cell("MIMIC-IV", 1, "partial_voros", valid, test)
    >>> cell.valid.expected_cost, cell.test.expected_cost
    (0.0, 0.0)
    """
    if isinstance(valid, Absent):
        untested = test if isinstance(test, Absent) else valid
        return Cell(dataset, scenario, strategy, valid, untested)
    policy = ThresholdPolicy.from_points(valid, SCENARIOS[scenario], strategy=strategy)
    tested = test if isinstance(test, Absent) else policy.evaluate(test, by_cost=True)
    return Cell(dataset, scenario, strategy, policy.evaluate(valid, by_cost=True), tested)


def read_cells(folder: str | Path) -> tuple[Cell, ...]:
    """Read a folder of prediction files and compute every cell that its files allow.

    Without the folder, or any of the files in it, a `FileNotFoundError` is raised; a file that
    cannot be read is a `PredictionFileError` that names it.

    Returns
    -------
    tuple of Cell

    Examples
    --------
    >>> read_cells("nowhere")
    Traceback (most recent call last):
    FileNotFoundError: there is no folder nowhere
    """
    place = Path(folder)
    stems = dict.fromkeys(
        stem for by_strategy in FILE_STEMS.values() for stem in by_strategy.values()
    )
    names = [f"{stem}_{split}.csv" for stem in stems for split in ("valid", "test")]
    if not place.is_dir():
        raise FileNotFoundError(f"there is no folder {place}")
    if not any((place / name).is_file() for name in names):
        raise FileNotFoundError(
            f"{place} holds none of the files of predictions; their names are {', '.join(names)}"
        )
    points = {name: read_points(place / name) for name in names}
    return tuple(
        evaluate_cell(
            dataset,
            scenario,
            strategy,
            points[f"{by_strategy[strategy]}_valid.csv"],
            points[f"{by_strategy[strategy]}_test.csv"],
        )
        for (dataset, scenario), by_strategy in FILE_STEMS.items()
        for strategy in STRATEGY_ORDER
    )


def read_points(path: Path) -> OperatingPoints | Absent:
    """Count the cases of a file of predictions; raise if it is missing."""
    from voros.io import read_predictions

    if not path.is_file():
        return Absent(f"no file {path.name}")
    cases = read_predictions(path, label=LABEL_COLUMN, scores=[SCORE_COLUMN])
    return OperatingPoints.from_scores(cases.labels, cases.scores_of(SCORE_COLUMN))
