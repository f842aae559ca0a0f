"""SUPPORT2 as cases: the physiology of day 3, and who died in hospital."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np

from voros.datasets import load_support2
from voros.experiments.cases import Cases
from voros.inputs import FloatArray

Outcome: TypeAlias = Literal["hospital_death", "hospital_death_within_7_days"]


def support2_cases(outcome: Outcome = "hospital_death") -> Cases:
    """Return the 9,105 patients with what was known of them on day 3.

    Numbers are taken as they are, each with a feature saying whether it was recorded where it is
    missing for somebody; words become one feature per word. Neither the prognoses nor anything
    that happened later is a feature.

    Examples
    --------
    >>> support2_cases("hospital_death")
    Cases(9105 cases of 9105 patients, 68 features, 0.259 positive)
    """
    data = load_support2()
    columns: dict[str, FloatArray] = {}
    for name, values in data.features.items():
        columns |= _words(name, values) if values.dtype.kind == "U" else _numbers(name, values)
    return Cases(
        np.column_stack(list(columns.values())),
        data.outcome(outcome),
        np.arange(len(data)),
        tuple(columns),
    )


def _numbers(name: str, values: Any) -> dict[str, FloatArray]:
    numbers = np.asarray(values, dtype=np.float64)
    recorded = ~np.isnan(numbers)
    if recorded.all():
        return {name: numbers}
    return {name: numbers, f"{name} recorded": recorded.astype(np.float64)}


def _words(name: str, values: Any) -> dict[str, FloatArray]:
    return {
        f"{name}={word}": (values == word).astype(np.float64)
        for word in np.unique(values).tolist()
        if word
    }
