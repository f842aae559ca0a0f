"""The features of a table: numbers, whether they were recorded, and words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from voros.typing import AnyArray, FloatArray
from voros_studies.experiments.errors import ExperimentError

if TYPE_CHECKING:
    import pandas as pd

MOST_WORDS = 60
"""A column with more distinct words is refused, because it probably holds names or ids."""

MONTH = "(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
DATE = re.compile(
    r"\s*(\d{4}([-/.])\d{1,2}\2\d{1,2}|\d{1,2}([-/.])\d{1,2}\3(\d{4}|\d\d)|\d{1,2}:\d\d"
    rf"|\d{{1,2}}[-. ]*{MONTH}[-., ]*(\d{{4}}|\d\d)|{MONTH}[. ]*\d{{1,2}},? *\d{{4}})(\D.*)?",
    re.IGNORECASE,
)
"""A date, with the month as a number or in English, or a time of day."""


class TableEncoder(TransformerMixin, BaseEstimator):
    """Turn the columns of a table into features; new tables get the features of the first.

    A number stays as it is, NaN where it is missing; a column with missing numbers gets another
    feature that says whether the number was recorded. Each word of a column of words is a feature;
    words that the first table does not have are ignored.

    Examples
    --------
    >>> import pandas as pd
    >>> ward = pd.DataFrame({"age": [70, None], "sex": ["f", "m"]})
    >>> encoder = TableEncoder().fit(ward)
    >>> encoder.get_feature_names_out().tolist()
    ['age', 'age recorded', 'sex=f', 'sex=m']
    >>> encoder.transform(pd.DataFrame({"sex": ["x"], "age": [50.0]})).tolist()
    [[50.0, 1.0, 0.0, 0.0]]
    """

    def fit(self, X: pd.DataFrame, y: object = None) -> TableEncoder:  # noqa: ARG002
        """Learn which columns are numbers, which have gaps, and the words of the others."""
        self.numbers_ = [str(c) for c in X if X[c].dtype.kind in "iufb"]
        self.gaps_ = [c for c in self.numbers_ if X[c].isna().any()]
        self.words_ = {str(c): _words(str(c), X[c]) for c in X if str(c) not in self.numbers_}
        if not self.numbers_ and not self.words_:
            raise ExperimentError("the table has no column left that could be a feature")
        return self

    def transform(self, X: pd.DataFrame) -> FloatArray:
        """Return the features of every row."""
        lacking = [c for c in (*self.numbers_, *self.words_) if c not in X]
        if lacking:
            raise ExperimentError(f"the table has no column {lacking[0]!r}, which is a feature")
        numbers = {c: np.asarray(X[c], dtype=np.float64) for c in self.numbers_}
        recorded = [(~np.isnan(numbers[c])).astype(np.float64) for c in self.gaps_]
        words = [
            np.asarray(X[column].astype(str) == word, dtype=np.float64)
            for column, seen in self.words_.items()
            for word in seen
        ]
        return np.column_stack([*numbers.values(), *recorded, *words])

    def get_feature_names_out(self, input_features: object = None) -> AnyArray:  # noqa: ARG002
        """Return the name of every feature."""
        words = [f"{column}={word}" for column, seen in self.words_.items() for word in seen]
        recorded = [f"{column} recorded" for column in self.gaps_]
        return np.array([*self.numbers_, *recorded, *words], dtype=object)


def _words(name: str, values: pd.Series[Any]) -> list[str]:
    """Return the distinct words of a column; raise if it holds dates or too many words."""
    how = f"leave {name!r} out with ignore (--ignore)"
    seen = sorted(values.dropna().astype(str).unique())
    dates = seen if values.dtype.kind in "mM" else list(filter(DATE.fullmatch, seen))
    if len(dates) > len(seen) / 2:
        raise ExperimentError(
            f"column {name!r} holds dates or times, such as {dates[0]!r}, which cannot be "
            "features: compute numbers from them, such as an age or hours since admission, or "
            f"{how}"
        )
    if len(seen) > MOST_WORDS:
        raise ExperimentError(
            f"column {name!r} has {len(seen)} different words; accepted are at most {MOST_WORDS}. "
            f"If it tells patients apart, name it as group (--group); otherwise {how}"
        )
    return seen
