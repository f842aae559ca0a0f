"""The eICU features of the paper's two tables, under the names that FIDDLE gives them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from voros.studies.experiments.errors import ExperimentError


def _ranges(*edges: float) -> tuple[str, ...]:
    return tuple(f"({low}, {high}]" for low, high in pairwise(edges))


STATIC: dict[str, tuple[str, ...]] = {
    "admissionheight": _ranges(-0.001, 160.0, 167.0, 172.7, 180.0, 612.6),
    "admissionweight": _ranges(-0.001, 63.5, 74.8, 86.2, 102.5, 953.0),
    "age": (*_ranges(-0.001, 51.0, 61.0, 69.0, 78.0, 89.0), "> 89"),
    "ethnicity": ("African American", "Asian", "Caucasian", "Hispanic", "Other/Unknown"),
    "gender": ("Female", "Male"),
}
"""The paper counts 24 and lists 23: whatever else the release holds of a variable is taken too."""

DYNAMIC: dict[str, tuple[str, ...]] = {
    "Vital Signs|Heart Rate|Heart Rate": _ranges(-0.001, 70.0, 80.0, 90.0, 102.0, 7734.0),
    "Vital Signs|O2 Saturation|O2 Saturation": _ranges(-0.001, 95.0, 96.0, 98.0, 100.0),
    "Vital Signs|Respiratory Rate|Respiratory Rate": _ranges(-0.001, 15.0, 18.0, 20.0, 24.0, 330.0),
    "cvp": _ranges(-95.001, 6.0, 10.0, 14.0, 21.0, 400.0),
    "heartrate": _ranges(-0.001, 70.0, 80.0, 90.0, 102.0, 300.0),
    "noninvasivediastolic": _ranges(-0.001, 53.0, 60.0, 67.0, 77.0, 263.0),
    "noninvasivemean": _ranges(-0.001, 67.0, 75.0, 84.0, 94.0, 285.0),
    "noninvasivesystolic": _ranges(-0.001, 101.0, 113.0, 125.0, 140.0, 287.0),
    "respiration": _ranges(-0.001, 15.0, 18.0, 21.0, 24.0, 194.0),
    "sao2": _ranges(-0.001, 94.0, 96.0, 98.0, 100.0),
    "st1": _ranges(-25.001, -0.2, -0.01, 0.0, 0.2, 1090.0),
    "st2": _ranges(-16.551, -0.4, -0.09, 0.1, 0.48, 1170.0),
    "st3": _ranges(-23.401, -0.3, -0.08, 0.1, 0.4, 1170.0),
    "systemicdiastolic": _ranges(-75.001, 48.0, 55.0, 62.0, 71.0, 395.0),
    "systemicmean": _ranges(-72.001, 66.0, 74.0, 81.0, 93.0, 397.0),
    "systemicsystolic": _ranges(-94.001, 98.0, 112.0, 124.0, 141.0, 398.0),
    "temperature": _ranges(-2622.401, 36.4, 37.0, 37.4, 37.8, 105.8),
}
"""The paper counts 85, five for each of 17 variables, and lists 83."""


@dataclass(frozen=True)
class ChosenFeatures:
    """Which features of a release are used.

    Attributes
    ----------
    positions : tuple of int
        In the order of the release.
    names : tuple of str
        Variable and value of each.
    lacking : tuple of str
        Values of the paper's table that the release does not have.
    added : tuple of str
        Values of the same variables that are not in the paper's table.
    """

    positions: tuple[int, ...]
    names: tuple[str, ...]
    lacking: tuple[str, ...]
    added: tuple[str, ...]


def choose_features(
    names: Sequence[str], wanted: Mapping[str, Sequence[str]], path: Path
) -> ChosenFeatures:
    """Find the values of the wanted variables among a release's features.

    Examples
    --------
    >>> found = choose_features(
    ...     ["age_value:(51.0, 61.0]", "age_mask", "gender_value:Male"],
    ...     {"age": ("(51.0, 61.0]", "> 89")},
    ...     Path("s.feature_names.json"),
    ... )
    >>> found.positions, found.lacking
    ((0,), ('age > 89',))

    Raises
    ------
    ExperimentError
        When a variable is not there at all.
    """
    held = [(i, *value) for i, name in enumerate(names) if (value := _value_of(name, wanted))]
    absent = [variable for variable in wanted if all(variable != found for _, found, _ in held)]
    if absent:
        raise ExperimentError(
            f"{path}: no feature of {', '.join(absent)}. Take the features of mortality_48h of "
            "FIDDLE's eICU release (PhysioNet, mimic-eicu-fiddle-feature 1.0.0)"
        )
    listed = {(v, _plain(value)): f"{v} {value}" for v in wanted for value in wanted[v]}
    found = {(variable, _plain(value)): f"{variable} {value}" for _, variable, value in held}
    return ChosenFeatures(
        tuple(i for i, _, _ in held),
        tuple(found.values()),
        tuple(text for key, text in listed.items() if key not in found),
        tuple(text for key, text in found.items() if key not in listed),
    )


def _value_of(name: str, wanted: Mapping[str, Sequence[str]]) -> tuple[str, str] | None:
    parts = re.fullmatch(r"(.+)_value[:_](.+)", name)
    return (parts[1], parts[2]) if parts and parts[1] in wanted else None


def _plain(value: str) -> str:
    return value.replace(" ", "").lower()
