"""A study's cases beside published predictions: cohort, labels and split compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np

from voros.typing import AnyArray, BoolArray
from voros_studies.experiments.cases import LabelledCases, Split
from voros_studies.experiments.errors import ExperimentError
from voros_studies.experiments.folder import SCORED_PARTS, Part, read_scores

Tally: TypeAlias = dict[int, tuple[int, int]]
"""Cases and positive cases of each id."""
Key: TypeAlias = Literal["stay", "patient"]


@dataclass(frozen=True, eq=False)
class Published:
    """Cases and positive cases by id, of the validation and of the test files of a folder.

    The ids, in the column ``patient``, are of stays, or of patients who may have several.
    """

    folder: Path
    tallies: Mapping[Part, Tally]

    def key(self, cases: LabelledCases) -> Key:
        """Return what the ids are of: that of which more are known here."""
        ids = [one for tally in self.tallies.values() for one in tally]
        stays, patients = (np.isin(ids, own).sum() for own in (cases.stays, cases.patient))
        return "stay" if stays > patients else "patient"


def read_published(folder: str | Path) -> Published:
    """Read whose cases the files ``*_valid.csv`` and ``*_test.csv`` hold, and their labels.

    The files of a part must agree with one another.
    """
    place = Path(folder)
    published = Published(place, {part: _read_part(place, part) for part in SCORED_PARTS})
    shared = set(published.tallies["valid"]) & set(published.tallies["test"])
    if shared:
        raise ExperimentError(
            f"{place}: {len(shared)} ids are in validation and test files, {min(shared)} the "
            "first, so the column patient identifies neither stays nor patients"
        )
    return published


def _read_part(folder: Path, part: Part) -> Tally:
    paths = sorted(folder.glob(f"*_{part}.csv"))
    if not paths:
        raise ExperimentError(f"{folder}: there is no file *_{part}.csv. Name the folder with them")
    first: Tally = {}
    for path in paths:
        ids, label, _ = read_scores(path)
        tally = _tally(ids, label)
        if first and tally != first:
            raise ExperimentError(f"{path}: ids or labels differ from those of {paths[0].name}")
        first = tally
    return first


def _tally(ids: AnyArray, label: BoolArray) -> Tally:
    names, codes = np.unique(ids, return_inverse=True)
    cases, positive = np.bincount(codes), np.bincount(codes, weights=label).astype(int)
    return dict(
        zip(names.tolist(), zip(cases.tolist(), positive.tolist(), strict=True), strict=True)
    )


@dataclass(frozen=True, kw_only=True)
class PartComparison:
    """A published part: its cases, its ids, how many are studied here, and which differ."""

    part: str
    key: Key
    cases: int
    positive: int
    ids: int
    shared: int
    differing: tuple[int, ...]

    def __str__(self) -> str:
        """Say it in a sentence."""
        text = (
            f"published {self.part}: {self.cases:,} cases, {self.positive / self.cases:.3f} "
            f"positive; of its {self.ids:,} {self.key} ids {self.shared:,} are studied here, "
            f"{len(self.differing)} of them with other cases or labels"
        )
        shown = ", ".join(map(str, self.differing[:5]))
        return f"{text} (such as {shown})" if shown else text


def compare_published(cases: LabelledCases, published: Published) -> list[PartComparison]:
    """Compare the cases with each published part, by stay or by patient.

    Examples
    --------
    >>> ids = np.arange(4)
    >>> cases = LabelledCases(np.zeros((4, 0)), ids < 2, ids, (), ids + 100)
    >>> parts = {"valid": {100: (1, 1), 101: (1, 0)}, "test": {7: (1, 0)}}
    >>> for result in compare_published(cases, Published(Path("x"), parts)):
    ...     print(result.key, result.cases, result.shared, result.differing)
    stay 2 2 (101,)
    stay 1 0 ()
    """
    key = published.key(cases)
    ours = _tally(_ids(cases, key), cases.y)
    rows = []
    for part, theirs in published.tallies.items():
        shared = [one for one in theirs if one in ours]
        differing = tuple(one for one in shared if ours[one] != theirs[one])
        n, positive = (sum(counts) for counts in zip(*theirs.values(), strict=True))
        rows.append(
            PartComparison(
                part=part,
                key=key,
                cases=n,
                positive=positive,
                ids=len(theirs),
                shared=len(shared),
                differing=differing,
            )
        )
    return rows


def _ids(cases: LabelledCases, key: Key) -> AnyArray:
    return cases.stays if key == "stay" else cases.patient


def take_split(cases: LabelledCases, published: Published) -> tuple[Split, int]:
    """Return the published split of the cases, and how many cases had to be left out.

    What is in neither part is trained on, unless the same patient is in one of them.
    """
    ids = _ids(cases, published.key(cases))
    valid, test = (np.isin(ids, list(published.tallies[part])) for part in SCORED_PARTS)
    if not valid.any() or not test.any():
        raise ExperimentError(
            f"{published.folder}: its ids are not those of stays or patients studied here, so its "
            "split cannot be taken over. Name a folder with the ids of this release"
        )
    both = np.intersect1d(cases.patient[valid], cases.patient[test])
    if len(both):
        raise ExperimentError(
            f"{published.folder}: {len(both)} patients are in validation and test, {both[0]} the "
            "first, so the split is not by patient"
        )
    taken = np.isin(cases.patient, cases.patient[valid | test])
    train, *others = (np.flatnonzero(part) for part in (~taken, valid, test))
    split = Split(train, others[0], others[1], "the authors' published split")
    return split, int((taken & ~valid & ~test).sum())
