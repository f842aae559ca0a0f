"""Read the files of splits that `prepare` writes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_DEVIATIONS = 5.0
"""Features are cut at this many standard deviations from the mean."""

Part = tuple[NDArray[np.float32], NDArray[np.float32]]
"""Features and outcomes of the cases of one part of a split."""


@dataclass(frozen=True)
class Task:
    """A data set with a number of training cases."""

    data: str
    n_train: int

    @property
    def name(self) -> str:
        """Key of the results.

        Examples
        --------
        >>> Task("caravan", 2500).name
        'caravan-2500'
        """
        return f"{self.data}-{self.n_train}"


@lru_cache(maxsize=4)
def read_splits(path: Path) -> dict[str, NDArray[Any]]:
    """Read a file: features X, outcomes y, limits, and the part (0, 1, 2) of each case by seed."""
    with np.load(path) as held:
        return {name: held[name] for name in held.files}


def part_sizes(path: Path, n_train: int) -> tuple[int, int, int]:
    """Return the cases of training, validation and test, the same for all seeds.

    Validation has half as many cases as training, and test has the rest.
    """
    parts = read_splits(path)["parts"]
    largest = [int((parts == number).sum(axis=1).min()) for number in range(3)]
    return min(n_train, largest[0]), min(n_train // 2, largest[1]), largest[2]


def find_tasks(folder: Path, sizes: tuple[int, ...]) -> list[Task]:
    """Return every data set of a folder with every size that it can train on, small sizes first."""
    paths = sorted(folder.glob("*.npz"))
    return [
        Task(path.stem, size)
        for size in sizes
        for path in paths
        if part_sizes(path, size)[0] == size
    ]


def read_split(path: Path, n_train: int, seed: int) -> list[Part]:
    """Return the three parts of a split, filled and scaled by the training cases."""
    held, rng = read_splits(path), np.random.default_rng(seed)
    sizes = part_sizes(path, n_train)
    rows = [
        rng.permutation(np.flatnonzero(held["parts"][seed] == number))[:size]
        for number, size in enumerate(sizes)
    ]
    train = np.ma.masked_invalid(held["X"][rows[0]].astype(np.float64))
    mean, deviation = (np.ma.filled(one, 0.0) for one in (train.mean(axis=0), train.std(axis=0)))
    width = np.where(deviation > 0, deviation, 1.0)
    parts = []
    for chosen in rows:
        X = (held["X"][chosen] - mean) / width
        X = np.clip(np.nan_to_num(X, nan=0.0), -MOST_DEVIATIONS, MOST_DEVIATIONS)
        parts.append((X.astype(np.float32), held["y"][chosen].astype(np.float32)))
    return parts
