"""Mean regrets over splits and data sets, with intervals, by cell and method of choice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from voros.typing import FloatArray
from voros_studies.evidence.regret import CAPACITIES, LIFTS, WAYS, Regret
from voros_studies.experiments.labels import LABELS
from voros_studies.experiments.study import GUARANTEED_BY, STUDY_CONFIDENCE, CostInterval
from voros_studies.tables import Column, Table

N_RESAMPLES = 5000
ALL = float("nan")
"""Marks the mean over all cells, which has no floor and no capacity."""

WAY_LABELS = {
    "shrunken": "partial VOROS, shrunken towards log loss",
    "bagged": "partial VOROS, best in most resamples",
    "certified": "least cost of certified thresholds",
    "pooled": "partial VOROS out of fold, refitted",
    "pooled_log_loss": "log loss out of fold, refitted",
    "blend": "blend by log loss",
    "pooled_blend": "blend by log loss out of fold, refitted",
}


@dataclass(frozen=True, kw_only=True)
class MeanRegret:
    """The mean regret of a method of choice in a cell, and its excess over that of partial VOROS.

    Attributes
    ----------
    lift, capacity : float
        The cell; NaN for the mean over all cells.
    way : str
    regret : float
    above : CostInterval
        Regret less that of partial VOROS; data sets, and splits within them, are resampled.
    deployed : CostInterval
        Cost with the thresholds of validation, less that of partial VOROS; resampled alike.
    excess : float
        Mean share by which the limit broken most is broken on test.
    """

    lift: float
    capacity: float
    way: str
    regret: float
    above: CostInterval
    deployed: CostInterval
    excess: float


def mean_regrets(datasets: Sequence[Sequence[Sequence[Regret]]]) -> list[MeanRegret]:
    """Average the regrets of every split of every data set, by cell and over all cells."""
    values = {
        name: np.array(
            [[_table(split, name) for split in splits] for splits in datasets], dtype=np.float64
        )
        for name in ("regret", "deployed", "excess")
    }
    cells = list(product(LIFTS, CAPACITIES))
    rows = []
    for number, cell in enumerate([(ALL, ALL), *cells]):
        at = slice(None) if number == 0 else slice(number - 1, number)
        in_cell = {name: table[:, :, at].mean(axis=2) for name, table in values.items()}
        rows += [_mean(*cell, way, in_cell) for way in WAYS]
    return rows


def _table(split: Sequence[Regret], name: str) -> list[list[float]]:
    """Return a measure by cell and way."""
    held = {(one.lift, one.capacity, one.way): getattr(one, name) for one in split}
    return [[held[*cell, way] for way in WAYS] for cell in product(LIFTS, CAPACITIES)]


def _mean(lift: float, capacity: float, way: str, values: dict[str, FloatArray]) -> MeanRegret:
    own, beside = WAYS.index(way), WAYS.index(GUARANTEED_BY)
    above = values["regret"][..., own] - values["regret"][..., beside]
    deployed = values["deployed"][..., own] - values["deployed"][..., beside]
    return MeanRegret(
        lift=lift,
        capacity=capacity,
        way=way,
        regret=float(values["regret"][..., own].mean()),
        above=over_data_sets(above),
        deployed=over_data_sets(deployed),
        excess=float(values["excess"][..., own].mean()),
    )


def over_data_sets(differences: FloatArray, random_state: int = 0) -> CostInterval:
    """Return the mean of differences, of shape (data sets, splits), and its interval.

    Data sets are drawn with replacement, and splits within each.

    Examples
    --------
    >>> over_data_sets(np.full((3, 2), 0.25))
    CostInterval(estimate=0.25, low=0.25, high=0.25)
    """
    rng = np.random.default_rng(random_state)
    n_sets, n_splits = differences.shape
    sets = rng.integers(n_sets, size=(N_RESAMPLES, n_sets, 1))
    splits = rng.integers(n_splits, size=(N_RESAMPLES, n_sets, n_splits))
    drawn = differences[sets, splits].mean(axis=(1, 2))
    return CostInterval.from_draws(np.append(differences.mean(), drawn))


def regret_table(regrets: Sequence[MeanRegret]) -> Table:
    """Lay out one row for each cell and method of choice; the mean over all cells comes first."""
    deployed = ("deployed above", "deployed low", "deployed high")
    names = ("regret", "above", "low", "high", *deployed, "excess")
    columns = (
        Column("floor in prevalences"),
        Column("capacity"),
        Column("chosen by"),
        *(Column(name, decimals=4) for name in names),
    )
    rows = tuple(
        (
            *(("all", "all") if np.isnan(one.lift) else (f"{one.lift:g}", f"{one.capacity:g}")),
            way_label(one.way),
            *(one.regret, one.above.estimate, one.above.low, one.above.high),
            *(one.deployed.estimate, one.deployed.low, one.deployed.high, one.excess),
        )
        for one in regrets
    )
    title = (
        "Regret: test cost above that of the best model, thresholds of both set on test within the "
        f"limits; above: that of partial VOROS subtracted, {STUDY_CONFIDENCE:.0%} interval over "
        "data sets and splits"
    )
    return Table(columns, rows, title, "regret")


def way_label(way: str) -> str:
    """Return the name of a method of choice for a reader."""
    return WAY_LABELS.get(way) or LABELS[way]
