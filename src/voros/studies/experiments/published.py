"""A study's cases beside published predictions: stays, labels and split compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from voros.studies.experiments.cases import LabelledCases, Split
from voros.studies.experiments.errors import ExperimentError
from voros.studies.experiments.folder import Part, read_scores

PARTS: tuple[Part, ...] = ("valid", "test")


@dataclass(frozen=True, eq=False)
class Published:
    """Outcome by stay of the validation and of the test files of a folder."""

    folder: Path
    labels: Mapping[Part, Mapping[int, bool]]


def read_published(folder: str | Path) -> Published:
    """Read which stays the files ``*_valid.csv`` and ``*_test.csv`` are of, and their labels.

    The column ``patient`` is the stay; the files of a part must agree with one another.
    """
    place = Path(folder)
    found = Published(place, {part: _read_part(place, part) for part in PARTS})
    shared = set(found.labels["valid"]) & set(found.labels["test"])
    if shared:
        raise ExperimentError(
            f"{place}: {len(shared)} stays are in validation and test files, {min(shared)} the "
            "first, so the column patient does not identify stays. Name a folder where it does"
        )
    return found


def _read_part(folder: Path, part: Part) -> dict[int, bool]:
    paths = sorted(folder.glob(f"*_{part}.csv"))
    if not paths:
        raise ExperimentError(f"{folder}: there is no file *_{part}.csv. Name the folder with them")
    first: dict[int, bool] = {}
    for path in paths:
        stay, label, _ = read_scores(path)
        found = dict(zip(stay.tolist(), label.tolist(), strict=True))
        if len(found) < len(stay):
            raise ExperimentError(
                f"{path}: {len(stay) - len(found)} rows repeat a value of the column patient, "
                "which must identify stays here"
            )
        if first and found != first:
            raise ExperimentError(f"{path}: stays or labels differ from those of {paths[0].name}")
        first = found
    return first


@dataclass(frozen=True)
class PartComparison:
    """How many stays of a published part are studied here too, and whose labels differ."""

    part: str
    published: int
    positive: int
    shared: int
    differing: tuple[int, ...]

    def __str__(self) -> str:
        """Say it in a sentence."""
        share = self.positive / self.published
        text = (
            f"published {self.part}: {self.published:,} stays, {share:.3f} positive; "
            f"{self.shared:,} studied here, {len(self.differing)} of them with another label"
        )
        shown = ", ".join(map(str, self.differing[:5]))
        return f"{text} (such as {shown})" if shown else text


def compare_published(cases: LabelledCases, published: Published) -> list[PartComparison]:
    """Compare the cases with each published part, by stay.

    Examples
    --------
    >>> ids = np.arange(4)
    >>> cases = LabelledCases(np.zeros((4, 0)), ids < 2, ids, (), ids + 100)
    >>> known = Published(Path("x"), {"valid": {100: True, 101: False}, "test": {7: False}})
    >>> for found in compare_published(cases, known):
    ...     print(found)
    published valid: 2 stays, 0.500 positive; 2 studied here, 1 of them with another label...
    published test: 1 stays, 0.000 positive; 0 studied here, 0 of them with another label
    """
    ours = dict(zip(cases.stays.tolist(), cases.y.tolist(), strict=True))
    found = []
    for part, labels in published.labels.items():
        shared = [stay for stay in labels if stay in ours]
        differing = tuple(stay for stay in shared if ours[stay] != labels[stay])
        positive = sum(labels.values())
        found.append(PartComparison(part, len(labels), positive, len(shared), differing))
    return found


def take_split(cases: LabelledCases, published: Published) -> tuple[Split, int]:
    """Return the published split of the cases, and how many cases had to be left out.

    What is in neither part is trained on, unless the same patient is in one of them.
    """
    valid, test = (np.isin(cases.stays, list(published.labels[part])) for part in PARTS)
    if not valid.any() or not test.any():
        raise ExperimentError(
            f"{published.folder}: its stays are not among those studied, so its split cannot be "
            "taken over. Name a folder whose column patient holds stay ids of this release"
        )
    taken = np.isin(cases.patient, cases.patient[valid | test])
    train = ~taken
    both = np.intersect1d(cases.patient[valid], cases.patient[test])
    if len(both):
        raise ExperimentError(
            f"{published.folder}: {len(both)} patients are in validation and test, {both[0]} the "
            "first, so the split is not by patient"
        )
    split = Split(*(np.flatnonzero(part) for part in (train, valid, test)))
    return split, int((taken & ~valid & ~test).sum())
