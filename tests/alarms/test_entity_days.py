"""Cards and days: the same counts as the rule of stays, and the handbook's precision."""

from __future__ import annotations

import numpy as np
import pytest

import voros
from voros.alarms import entity_days
from voros.exceptions import ArgumentError

pd = pytest.importorskip("pandas")


def payments(seed=0, n=600, n_cards=40, n_days=12):
    rng = np.random.default_rng(seed)
    fraud = rng.random(n) < 0.06
    seconds = rng.integers(0, n_days * 86_400, n).astype("timedelta64[s]")
    return pd.DataFrame(
        {
            "card": rng.integers(0, n_cards, n),
            "at": np.datetime64("2026-03-01") + seconds,
            "fraud": fraud,
            "risk": (0.3 * rng.random(n) + 0.5 * fraud * rng.random(n)).round(2),
            "amount": rng.lognormal(4, 1, n).round(2),
        }
    )


COLUMNS = {"entity": "card", "time": "at", "score": "risk", "label": "fraud"}


def test_the_cases_are_those_of_a_group_by():
    frame = payments()
    days = entity_days(frame, **COLUMNS)
    grouped = frame.groupby([frame["at"].dt.normalize(), "card"]).agg(
        fraud=("fraud", "max"), risk=("risk", "max"), amount=("amount", "sum")
    )
    assert days.day.tolist() == grouped.index.get_level_values(0).date.tolist()
    assert days.entity.tolist() == grouped.index.get_level_values(1).tolist()
    assert days.y_true.tolist() == grouped["fraud"].tolist()
    assert days.scores.tolist() == grouped["risk"].tolist()
    np.testing.assert_allclose(days.total(frame["amount"]), grouped["amount"])


def test_the_counts_are_those_of_alarms_over_stays():
    """Each day of a card a stay, its event at midnight, silence until then."""
    frame = payments(1)
    days = entity_days(frame, **COLUMNS)
    midnight = (days.day[days.y_true] + 1).astype("datetime64[s]")
    over_stays = voros.alarm_points(
        stay=days.case_of_rows,
        time=frame["at"].to_numpy(),
        score=frame["risk"].to_numpy(),
        events=(np.flatnonzero(days.y_true), midnight),
        rule=voros.AlarmRule(snooze="24h", horizon="24h"),
    )
    points = voros.OperatingPoints.from_scores(days.y_true, days.scores)
    # Either may leave out thresholds at which nothing changes.
    levels = np.union1d(over_stays.thresholds, points.thresholds)
    for name in ("tp", "fp"):
        by_rule, by_case = (
            getattr(one, name)[np.searchsorted(-one.thresholds, -levels, side="right") - 1]
            for one in (over_stays, points)
        )
        assert by_rule.tolist() == by_case.tolist()
    assert (points.tp[-1], points.fp[-1]) == (days.y_true.sum(), (~days.y_true).sum())


def card_precision(frame, k, remove):
    """As the Fraud Detection Handbook describes it, with its data frame."""
    detected, shares = set(), []
    for _, day in frame.groupby(frame["at"].dt.normalize()):
        cards = day[~day["card"].isin(detected)].groupby("card")[["risk", "fraud"]].max()
        top = cards.sort_values("risk", ascending=False, kind="stable").head(k)
        caught = set(top[top["fraud"]].index)
        shares.append(len(caught) / k)
        if remove:
            detected |= caught
    return shares


@pytest.mark.parametrize("k", [1, 5, 100])
@pytest.mark.parametrize("remove", [True, False])
def test_card_precision_is_that_of_the_handbook(k, remove):
    for seed in range(2):
        frame = payments(seed)
        days = entity_days(frame, **COLUMNS)
        shares = days.precision_at(k, remove_detected=remove)
        assert shares.tolist() == card_precision(frame, k, remove)


def test_a_capacity_per_day_counts_cards():
    frame = payments(2)
    days = entity_days(frame, **COLUMNS)
    scenario = voros.Scenario(0.2, capacity=3, per="day", exceed=0.0, cost_ratio=0.05)
    policy = voros.ThresholdPolicy.from_validation(
        days.y_true, days.scores, scenario, times=days.day
    )
    raised = frame[frame["risk"] >= policy.threshold()]
    cards_a_day = raised.groupby(raised["at"].dt.normalize())["card"].nunique()
    assert 1 <= cards_a_day.max() <= 3
    assert policy.default.alarms == cards_a_day.sum()


def test_values_of_a_day_go_with_its_case():
    frame = payments(3)
    days = entity_days(frame, **COLUMNS)
    lost = days.total(frame["amount"] * frame["fraud"])
    scenario = voros.Scenario(0.1, 0.2, cost_ratio=1.0)
    result = voros.evaluate(
        days.y_true, days.scores, scenario, miss_value=lost, false_alarm_cost=5.0
    )
    threshold = result.choices[0].threshold
    flagged = frame.groupby([frame["at"].dt.normalize(), "card"])["risk"].transform("max")
    caught = frame["amount"][frame["fraud"] & (flagged >= threshold)].sum()
    assert result.choices[0].value_caught == pytest.approx(caught)


def test_several_models_and_hours():
    days = entity_days(
        entity=["b", "a", "b"],
        time=[25, 1, 47.5],
        score={"x": [1.0, 2.0, 3.0], "y": [3.0, 2.0, 1.0]},
        label=[0, 1, 1],
    )
    assert days.day.tolist() == [0, 1]
    assert {name: s.tolist() for name, s in days.scores.items()} == {"x": [2, 3], "y": [2, 3]}
    assert days.precision_at(1, model="y").tolist() == [1.0, 1.0]


def test_what_is_refused():
    days = entity_days(entity=[1, 2], time=[0, 1], score=[0.1, 0.2], label=[0, 1])
    with pytest.raises(ArgumentError, match="model='x'; accepted is one of None"):
        days.precision_at(1, model="x")
    with pytest.raises(ArgumentError, match="k=0; accepted is a whole number above 0"):
        days.precision_at(0)
    with pytest.raises(ValueError, match="values has 3"):
        days.total([1, 2, 3])
    with pytest.raises(ValueError, match="score holds NaN"):
        entity_days(entity=[1, 2], time=[0, 1], score=[0.1, np.nan], label=[0, 1])
    with pytest.raises(ValueError, match="entity"):
        entity_days(entity=[1, None], time=[0, 1], score=[0.1, 0.3], label=[0, 1])
