"""The scores of every model on one split, fitted once and kept."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold

from voros.typing import AnyArray, BoolArray, FloatArray
from voros_studies.experiments.cases import LabelledCases, Split, fill_and_scale, split_patients
from voros_studies.experiments.folder import save
from voros_studies.experiments.grid import Candidate
from voros_studies.experiments.study import Scored

FOLDS = 3
"""Folds for scores of cases that models were fitted on."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Fitted:
    """Scores of one split.

    Attributes
    ----------
    development : Scored
        Training cases, each scored by a model that was fitted on the other folds.
    valid, test : Scored
        By models fitted on the training cases.
    pooled : Scored
        Training and validation cases, out of fold as `development`.
    refitted : Scored
        Test cases, by models fitted on training and validation cases.
    """

    development: Scored
    valid: Scored
    test: Scored
    pooled: Scored
    refitted: Scored


PARTS = ("development", "valid", "test", "pooled", "refitted")


def fit_split(cases: LabelledCases, split: Split, seed: int, candidate: Candidate) -> Columns:
    """Fit a candidate on training cases, and with validation cases, each also out of fold."""
    train, valid, test = fill_and_scale(*(cases.X[rows] for rows in split.parts.values()))
    both = np.concatenate([split.train, split.valid])
    alone = _Learner(candidate, seed, train, cases, split.train)
    with_valid = _Learner(candidate, seed, np.concatenate([train, valid]), cases, both)
    scores = alone.held_out(), *alone.scores(valid, test)
    return dict(zip(PARTS, (*scores, with_valid.held_out(), *with_valid.scores(test)), strict=True))


Columns: TypeAlias = dict[str, FloatArray]


@dataclass(frozen=True, eq=False)
class _Learner:
    """A candidate with the cases to fit it on."""

    candidate: Candidate
    seed: int
    X: FloatArray
    cases: LabelledCases
    rows: AnyArray

    @property
    def y(self) -> BoolArray:
        return self.cases.y[self.rows]

    def scores(self, *others: FloatArray) -> list[FloatArray]:
        """Fit on all of these cases, and return the risks of others."""
        model = self.candidate.estimator(self.seed).fit(self.X, self.y)
        return [model.predict_proba(X)[:, 1] for X in others]

    def held_out(self) -> FloatArray:
        """Return the out-of-fold risk of each case."""
        folds = StratifiedGroupKFold(FOLDS, shuffle=True, random_state=self.seed)
        risks = np.empty(len(self.X))
        for rest, fold in folds.split(self.X, self.y, self.cases.patient[self.rows]):
            model = self.candidate.estimator(self.seed).fit(self.X[rest], self.y[rest])
            risks[fold] = model.predict_proba(self.X[fold])[:, 1]
        return risks


def fitted_or_read(
    path: Path, identity: Mapping[str, Any], cases: LabelledCases, candidates: Sequence[Candidate]
) -> Fitted:
    """Return the scores in the file of this data, seed and models; write it if it is missing."""
    from threadpoolctl import threadpool_limits

    split = split_patients(cases, seed := int(identity["seed"]))
    columns = _read(path, identity)
    if columns is None:
        with threadpool_limits(1):
            by_model = [fit_split(cases, split, seed, candidate) for candidate in candidates]
        columns = {part: np.array([scores[part] for scores in by_model]) for part in PARTS}
        file, arrays = io.BytesIO(), {"identity": np.array(json.dumps(dict(identity))), **columns}
        np.savez_compressed(file, allow_pickle=False, **arrays)
        save(path, file.getvalue())
    both = np.concatenate([split.train, split.valid])
    rows = (split.train, split.valid, split.test, both, split.test)
    names = [candidate.name for candidate in candidates]
    parts = {
        part: Scored(cases.patient[at], cases.y[at], dict(zip(names, columns[part], strict=True)))
        for part, at in zip(PARTS, rows, strict=True)
    }
    return Fitted(**parts)


def _read(path: Path, identity: Mapping[str, Any]) -> Columns | None:
    if not path.exists():
        return None
    with np.load(path) as held:
        if json.loads(str(held["identity"])) != identity:
            return None
        return {part: held[part] for part in PARTS}
