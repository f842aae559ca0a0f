"""What a study says of its cases beside their features: origin and characteristics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from voros.present.flow import FlowStep
from voros.typing import AnyArray
from voros_studies.experiments.cases import LabelledCases


@dataclass(frozen=True, eq=False)
class StudyContext:
    """What tables and page say of the cases.

    Attributes
    ----------
    notes : tuple of str
        Sentences about the data.
    flow : tuple of FlowStep
        Where the cases come from.
    characteristics : mapping of str to ndarray
        For table 1: numbers, NaN where missing, or words, "" where missing; one per case.
    """

    notes: tuple[str, ...] = ()
    flow: tuple[FlowStep, ...] = ()
    characteristics: Mapping[str, AnyArray] = field(default_factory=dict)


NO_CONTEXT = StudyContext()


def words_of(cases: LabelledCases, name: str, separator: str = "=") -> AnyArray:
    """Return the word of which a case has the feature ``name=word``, and "" where it has none.

    Examples
    --------
    >>> X = np.array([[1.0, 0.0], [0.0, 0.0]])
    >>> cases = LabelledCases(X, X[:, 0] > 0, np.arange(2), ("sex=F", "sex=M"))
    >>> words_of(cases, "sex").tolist()
    ['F', '']
    """
    words = np.full(len(cases), "", dtype=object)
    for position, feature in enumerate(cases.feature_names):
        if feature.startswith(name + separator):
            word = feature.removeprefix(name + separator)
            words = np.where(cases.X[:, position] == 1, word, words)
    return words.astype(str)
