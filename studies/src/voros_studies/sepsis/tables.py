"""Tables over the splits: results of each choice on test stays, with intervals."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from voros import Scenario
from voros_studies.experiments.labels import worth_of_a_miss
from voros_studies.experiments.splits import corrected_interval
from voros_studies.experiments.study import STUDY_CONFIDENCE
from voros_studies.sepsis.one_split import (
    EVENTS,
    GUARANTEED,
    HORIZON,
    LEAD,
    LEVELS,
    ROWS,
    SCENARIO,
    SELECTED,
    SNOOZE,
    STAYS,
    UTILITY,
)
from voros_studies.tables import Absent, Column, Table, Value

TITLE = "PhysioNet Challenge 2019, sepsis"
CHOSEN_ON = {
    ROWS: "rows",
    STAYS: "the maximum of each stay",
    UTILITY: "the Challenge's utility, without limits",
    EVENTS: "events",
    GUARANTEED: f"events, guaranteed {STUDY_CONFIDENCE:.0%}",
}

Record = Mapping[str, Any]

MEASURES = {
    "per_day": ("alarms per patient-day", 3),
    "precision": ("precision", 3),
    "caught": ("events caught", 0),
    "utility": ("Challenge utility", 3),
}


def limits_in_words(scenario: Scenario) -> str:
    """Describe the limits.

    Examples
    --------
    >>> limits_in_words(SCENARIO)
    'precision at least 0.1, at most 0.1 alarms per patient-day, a miss worth 20 to 40 false alarms,
    snooze 12 h, an alarm counts 12 to 1 h before the onset'
    """
    most = f"at most {scenario.capacity:g} alarms per patient-day"
    asked = f"precision at least {scenario.min_precision:g}, {most}, {worth_of_a_miss(scenario)}"
    return f"{asked}, snooze {SNOOZE} h, an alarm counts {HORIZON} to {LEAD} h before the onset"


def selected_table(
    splits: Sequence[Record], test_ratio: float, scenario: Scenario = SCENARIO
) -> Table:
    """Lay out the results of each level's model and threshold, and the bedside scores' events."""
    others = [name for name in rows_of(splits) if "-like" in name]
    wanted = [(SELECTED, level) for level in LEVELS]
    wanted += [(name, level) for name in others for level in LEVELS]
    what = f"best of the models, and bedside scores: {limits_in_words(scenario)}"
    return _table(splits, test_ratio, wanted, "selected", what)


def models_table(
    splits: Sequence[Record], test_ratio: float, scenario: Scenario = SCENARIO
) -> Table:
    """Lay out the results of each level's threshold by model."""
    wanted = [(name, level) for name in rows_of(splits) if name != SELECTED for level in LEVELS]
    what = f"every model by itself: {limits_in_words(scenario)}"
    return _table(splits, test_ratio, wanted, "models", what)


def scores_table(splits: Sequence[Record], test_ratio: float) -> Table:
    """Lay out partial VOROS of events beside the greatest utility."""
    columns = [Column("model")]
    for key, title in {"partial_voros": "partial VOROS", "utility": "Challenge utility"}.items():
        columns.append(Column(title, key))
        columns += [Column(end, f"{key}_{end}") for end in ("low", "high")]
    rows = []
    for name in rows_of(splits):
        if name != SELECTED:
            ours = [split["partial_voros"][name] for split in splits]
            theirs = [one["utility"] for one in choices_of(splits, name, UTILITY)]
            utility = _interval(theirs, test_ratio, least=-math.inf)
            rows.append((name, *_interval(ours, test_ratio), *utility))
    title = f"{TITLE}: partial VOROS within the limits, and the Challenge's score without them"
    return Table(tuple(columns), tuple(rows), title, "scores")


def rows_of(splits: Sequence[Record]) -> list[str]:
    """Return the rows of the tables, in order."""
    return list(dict.fromkeys(choice["row"] for choice in splits[0]["choices"]))


def choices_of(splits: Iterable[Record], row: str, level: str) -> list[Record]:
    """Return the results of one row and level on each split."""
    return [
        choice
        for split in splits
        for choice in split["choices"]
        if (choice["row"], choice["level"]) == (row, level)
    ]


def _table(
    splits: Sequence[Record],
    test_ratio: float,
    wanted: Iterable[tuple[str, str]],
    name: str,
    what: str,
) -> Table:
    columns = [Column("model"), Column("chosen on")]
    for key, (title, decimals) in MEASURES.items():
        columns.append(Column(title, key, decimals=decimals))
        columns += [Column(end, f"{key}_{end}", decimals=decimals) for end in ("low", "high")]
    columns += [
        Column(f"{limit} kept", decimals=0) for limit in ("precision", "capacity", "both")
    ] + [Column("never alarm", decimals=0)]
    rows = tuple(
        (row, CHOSEN_ON[level], *_values(choices_of(splits, row, level), test_ratio))
        for row, level in wanted
    )
    events = np.mean([split["n_events"] for split in splits])
    kind = "corrected for the stays that splits share" if test_ratio else "for given test stays"
    title = (
        f"{TITLE}, {what}; mean of {len(splits)} splits, {events:.0f} events in each "
        f"test part, {STUDY_CONFIDENCE:.0%} intervals {kind}; on how many "
        "splits limits were kept, and no alarm was deployed"
    )
    return Table(tuple(columns), rows, title, name)


def _values(choices: Sequence[Record], test_ratio: float) -> list[Value]:
    values: list[Value] = []
    for key in MEASURES:
        known = [choice[key] for choice in choices if choice[key] is not None]
        values += _interval(known, test_ratio, -math.inf if key == "utility" else 0.0)
    broken = [set(choice["broken"]) for choice in choices]
    values += [float(sum(limit not in b for b in broken)) for limit in ("precision", "capacity")]
    never = sum(choice["alarms"] == 0 for choice in choices)
    return [*values, float(sum(not b for b in broken)), float(never)]


def _interval(known: Sequence[float], test_ratio: float, least: float = 0.0) -> list[Value]:
    """Return mean and interval, at least `least`; precisions are of the splits with alarms."""
    if not known:
        return [Absent("no alarm on any split")] * 3
    interval = corrected_interval(np.array(known, dtype=np.float64), test_ratio)
    if math.isnan(interval.low):
        return [interval.estimate, *[Absent("an interval needs two splits")] * 2]
    return [interval.estimate, max(interval.low, least), interval.high]


def answer(splits: Sequence[Record], scenario: Scenario = SCENARIO) -> str:
    """Return one paragraph on the results of the levels."""
    parts = []
    for level in (ROWS, STAYS, EVENTS, GUARANTEED):
        choices = choices_of(splits, SELECTED, level)
        rate, caught = (np.mean([one[key] for one in choices]) for key in ("per_day", "caught"))
        kept = sum(not one["broken"] for one in choices)
        parts.append(
            f"chosen on {CHOSEN_ON[level]}: {rate:.3f} alarms per patient-day, {caught:.0f} events "
            f"caught, both limits kept on {kept} of {len(choices)} splits"
        )
    return f"Limits: {limits_in_words(scenario)}. On test stays, {'; '.join(parts)}."
