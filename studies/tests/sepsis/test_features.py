"""Features and bedside scores of an hour depend on nothing that comes later."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sepsis.made_up import write_stays

from voros_studies.sepsis.bedside import bedside_scores
from voros_studies.sepsis.features import WINDOW, hourly_features
from voros_studies.sepsis.hours import COLUMNS, LABS, MEASURED, read_hours


@pytest.fixture(scope="module")
def stays(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hours")
    write_stays(folder, 12)
    return read_hours(folder)


@pytest.mark.parametrize("hour", [0, 5, 13])
def test_what_comes_later_changes_no_feature(stays, hour):
    rng = np.random.default_rng(hour)
    later = stays.hour > hour
    values = stays.values.copy()
    values[later] = np.where(rng.random(values[later].shape) < 0.5, np.nan, 1e3)
    label = np.where(later, rng.random(len(later)) < 0.5, stays.label)
    other = replace(stays, values=values, label=label)
    same = ~later
    np.testing.assert_array_equal(hourly_features(other)[0][same], hourly_features(stays)[0][same])
    for name, score in bedside_scores(other).items():
        np.testing.assert_array_equal(score[same], bedside_scores(stays)[name][same])


def test_features_are_those_of_a_plain_loop(stays):
    X, names = hourly_features(stays)
    column = dict(zip(names, X.T, strict=True))
    for row in np.random.default_rng(1).choice(len(X), 60, replace=False):
        begin = stays.first[stays.stay[row]]
        past = stays.values[begin : row + 1]
        carried = {}
        for name in MEASURED:
            seen = np.flatnonzero(~np.isnan(past[:, COLUMNS.index(name)]))
            carried[name] = [
                past[max(s for s in seen if s <= at), COLUMNS.index(name)]
                if len(seen) and seen[0] <= at
                else np.nan
                for at in range(len(past))
            ]
            assert column[name][row] == pytest.approx(carried[name][-1], nan_ok=True)
            since = len(past) - 1 - seen[-1] if len(seen) else np.nan
            assert column[f"hours since {name}"][row] == pytest.approx(since, nan_ok=True)
        recent = np.array(carried["HR"][-WINDOW:])
        if not np.isnan(recent).all():
            assert column["HR, low"][row] == np.nanmin(recent)
            assert column["HR, high"][row] == np.nanmax(recent)
        before = carried["HR"][max(len(past) - 1 - WINDOW, 0)]
        change = column["HR"][row] - before
        assert column["HR, change"][row] == pytest.approx(change, nan_ok=True, abs=1e-4)
        labs = past[-WINDOW:, [COLUMNS.index(name) for name in LABS]]
        assert column["laboratory values"][row] == np.count_nonzero(~np.isnan(labs))


def test_bedside_scores_by_hand(tmp_path):
    write_stays(tmp_path, 1)
    stays = read_hours(tmp_path)
    values = np.full((2, len(COLUMNS)), np.nan, dtype=np.float32)
    first = {"Resp": 26, "O2Sat": 91, "Temp": 39.2, "SBP": 85, "HR": 135, "FiO2": 0.5}
    first |= {"Platelets": 90, "Bilirubin_total": 3, "Creatinine": 2.5, "MAP": 60}
    second = {"Resp": 16, "O2Sat": 98, "Temp": 37, "SBP": 120, "HR": 70, "FiO2": 0.21, "MAP": 80}
    for row, known in enumerate((first, second)):
        for name, value in known.items():
            values[row, COLUMNS.index(name)] = value
    two = replace(stays, stay=np.zeros(2, int), values=values, label=np.zeros(2, bool))
    scores = bedside_scores(two)
    # Breathing 3, saturation 3, oxygen 2, temperature 2, pressure 3, pulse 3.
    assert scores["NEWS-like"].tolist() == [16, 0]
    # Saturation over oxygen 182: 3; platelets 2; bilirubin 2; creatinine 2; pressure 1, then 0.
    # In the second hour saturation over oxygen is 467: 1; blood values are the last known.
    assert scores["SOFA-like"].tolist() == [10, 7]
