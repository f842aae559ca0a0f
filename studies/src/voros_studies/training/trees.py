"""Boosted trees of LightGBM by log loss and by lambdarank, counted as the networks are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from voros_studies.training.counts import choose_columns, count_alarms
from voros_studies.training.splits import Part, Task, read_split, read_splits

LEAVES = (4, 15)
ROUNDS = (30, 60, 120)
"""Leaves of a tree and numbers of trees: six settings for validation, as for other losses.
"""

LIST_LENGTH = 500
"""Cases of a list for lambdarank; training cases are assigned to lists at random."""

PARAMETERS = {
    "learning_rate": 0.08,
    "min_data_in_leaf": 20,
    "feature_fraction": 0.7,
    "max_bin": 63,
    "num_threads": 1,
    "deterministic": True,
    "force_col_wise": True,
    "verbosity": -1,
}


def _boost(X: Any, y: Any, seed: int, leaves: int, group: Any = None, **objective: Any) -> Any:
    import lightgbm

    cases = lightgbm.Dataset(X, y, group=group)
    parameters = {**PARAMETERS, "seed": seed, "num_leaves": leaves, **objective}
    return lightgbm.train(parameters, cases, ROUNDS[-1])


def fit_trees(train: Part, seed: int, capacity: float | None = None) -> Iterator[Any]:
    """Yield a booster for each number of leaves: by log loss, or for a capacity by lambdarank."""
    X, y = train
    for leaves in LEAVES:
        if capacity is None:
            yield _boost(X, y, seed, leaves, objective="binary")
            continue
        n_lists = max(1, len(y) // LIST_LENGTH)
        rows = np.random.default_rng(seed).permutation(len(y))
        lists = [len(one) for one in np.array_split(rows, n_lists)]
        last = max(1, round(capacity * lists[0]))
        options = {"objective": "lambdarank", "lambdarank_truncation_level": last}
        yield _boost(X[rows], y[rows], seed, leaves, lists, **options)


def count_trees(folder: Path, task: Task, seeds: Sequence[int]) -> dict[str, np.ndarray]:
    """Fit both objectives on every seed of a task; return their counts, and the cases."""
    path = folder / f"{task.data}.npz"
    limits = torch.from_numpy(read_splits(path)["limits"])
    counts: dict[str, list[np.ndarray]] = {"log loss": [], "lambdarank": []}
    cases = []
    for seed in seeds:
        train, valid, test = read_split(path, task.n_train, seed)
        cases.append([(y == label).sum() for _, y in (valid, test) for label in (1, 0)])
        same = list(fit_trees(train, seed))
        ranked = [list(fit_trees(train, seed, float(row[1]))) for row in limits]
        for name, by_scenario in {"log loss": [same] * len(limits), "lambdarank": ranked}.items():
            counts[name].append(_counts(by_scenario, valid, test, limits))
    filed = {f"trees, {name}, scratch": np.concatenate(one) for name, one in counts.items()}
    return {**filed, "cases": np.array(cases)}


def _counts(by_scenario: list[list[Any]], valid: Part, test: Part, limits: Any) -> np.ndarray:
    """Count alarms of one seed; each scenario chooses from its own boosters."""
    outcomes = [torch.from_numpy(part[1])[None, None] for part in (valid, test)]
    rows = []
    for boosters, row in zip(by_scenario, limits, strict=True):
        scores = [_scores(boosters, part[0]) for part in (valid, test)]
        column = choose_columns(scores[0], outcomes[0], row[None])[0, 0]
        on_valid, on_test = ((one[:, [column]], y) for one, y in zip(scores, outcomes, strict=True))
        rows.append(count_alarms(on_valid, on_test, row[None]).numpy())
    return np.concatenate(rows, axis=1)


def _scores(boosters: list[Any], X: np.ndarray) -> Any:
    columns = [one.predict(X, raw_score=True, num_iteration=n) for one in boosters for n in ROUNDS]
    return torch.from_numpy(np.array(columns))[None]
