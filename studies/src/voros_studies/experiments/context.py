"""What a study says of its cases beside their features: origin, characteristics, groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from voros.present.flow import FlowStep
from voros.typing import AnyArray, FloatArray
from voros_studies.experiments.cases import LabelledCases

AGE_BANDS = {"under 50": 0, "50 to 64": 50, "65 to 79": 65, "80 or over": 80}
NOT_KNOWN = "unknown"


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
    groups : mapping of str to ndarray of str
        In which the selected policies are evaluated; one per case.
    answers : mapping of str to str
        Where items of the TRIPOD+AI checklist are answered that only this data set can answer,
        beside what the run itself answers.
    """

    notes: tuple[str, ...] = ()
    flow: tuple[FlowStep, ...] = ()
    characteristics: Mapping[str, AnyArray] = field(default_factory=dict)
    groups: Mapping[str, AnyArray] = field(default_factory=dict)
    answers: Mapping[str, str] = field(default_factory=dict)


NO_CONTEXT = StudyContext()


def age_bands(age: FloatArray) -> AnyArray:
    """Return the band that each age lies in.

    Examples
    --------
    >>> age_bands(np.array([49.9, 50.0, 91.0, np.nan])).tolist()
    ['under 50', '50 to 64', '80 or over', 'unknown']
    """
    band = np.searchsorted(list(AGE_BANDS.values()), age, side="right") - 1
    return np.where(np.isnan(age), NOT_KNOWN, np.array([*AGE_BANDS])[np.clip(band, 0, None)])


def known_words(words: AnyArray) -> AnyArray:
    """Return words with a name for those that are missing."""
    return np.where(words == "", NOT_KNOWN, words)


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
