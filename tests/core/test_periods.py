"""Periods of cases, and the capacity of each: against counting at every threshold."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, timedelta, timezone
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import voros
from voros import OperatingPoints, Scenario, evaluate
from voros.core.decision import solve
from voros.core.grouped_cases import counts_by_group
from voros.core.periods import PeriodCases, Periods
from voros.exceptions import ArgumentError

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

RULES = (None, 0.0, 0.1, 0.25, 0.5)


def feasible_by_counting(
    labels: list[int],
    scores: list[float],
    days: list[int],
    scenario: Scenario,
    n_periods: int,
    worth: tuple[Fraction, Fraction] = (Fraction(1), Fraction(1)),
) -> dict[float, bool]:
    """Count the alarms of every period at every threshold, one case after another."""
    kept = {}
    for threshold in sorted(set(scores), reverse=True):
        alarms = [Fraction(0)] * n_periods
        tp = Fraction(0)
        for label, score, day in zip(labels, scores, days, strict=True):
            if score >= threshold:
                alarms[day] += worth[label]
                tp += worth[1] * label
        total = sum(alarms)
        above = sum(n_alarms > scenario.capacity for n_alarms in alarms)
        exceed = scenario.exceed
        within = total <= scenario.capacity * n_periods
        if exceed is not None:
            within &= above <= Fraction(str(exceed)) * n_periods
        kept[threshold] = bool(within and tp >= Fraction(str(scenario.min_precision)) * total)
    return kept


def cases(seed: int) -> tuple[list[int], list[float], list[int]]:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 40))
    labels = (rng.random(n) < 0.5).astype(int)
    labels[:2] = 0, 1
    scores = rng.integers(0, int(rng.integers(2, 30)), n).astype(float)
    return labels.tolist(), scores.tolist(), rng.integers(0, 6, n).tolist()


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("exceed", RULES)
def test_feasibility_is_that_counted_at_every_threshold_and_period(seed, exceed) -> None:
    labels, scores, days = cases(seed)
    capacity = int(np.random.default_rng(seed).integers(1, 6))
    scenario = Scenario(0.4, capacity, cost_ratio=(0.1, 0.3), per="day", exceed=exceed)
    start = datetime(2024, 2, 27)
    times = [start + timedelta(days=day, hours=7) for day in days]
    n_periods = max(days) - min(days) + 1
    expected = feasible_by_counting(
        labels, scores, [day - min(days) for day in days], scenario, n_periods
    )
    points = OperatingPoints.from_scores(
        labels, scores, periods=Periods.from_times(times, scenario.per)
    )
    decision = solve(points, scenario)
    assert dict(zip(points.thresholds[1:], decision.feasible[1:], strict=True)) == expected
    assert decision.feasible.tolist() == points.feasible(scenario).tolist()
    assert decision.max_alarms == min(capacity * n_periods, len(labels))


@pytest.mark.parametrize("seed", range(20))
def test_other_prevalences_and_weights_count_alarms_alike(seed) -> None:
    labels, scores, days = cases(seed)
    days = np.unique(days, return_inverse=True)[1].tolist()
    share = Fraction(3, 10)
    positives = sum(labels)
    worth = (
        (1 - share) * len(labels) / (len(labels) - positives),
        share * len(labels) / positives,
    )
    scenario = Scenario(0.3, 2, cost_ratio=0.2, per="shift", exceed=0.25)
    expected = feasible_by_counting(labels, scores, days, scenario, max(days) + 1, worth)
    names = [f"shift {day}" for day in days]
    weights = [float(worth[label]) for label in labels]
    periods = Periods.from_column(names)
    weighted = OperatingPoints.from_scores(labels, scores, sample_weight=weights, periods=periods)
    assert solve(weighted, scenario).feasible[1:].tolist() == list(expected.values())
    plain = OperatingPoints.from_scores(labels, scores, periods=periods)
    moved = solve(plain, scenario.changed(prevalence=0.3))
    assert moved.feasible[1:].tolist() == list(expected.values())


@given(st.data())
@pytest.mark.slow
def test_one_period_is_a_plain_capacity(data) -> None:
    n = data.draw(st.integers(3, 25))
    labels = [0, 1, *data.draw(st.lists(st.integers(0, 1), min_size=n - 2, max_size=n - 2))]
    scores = data.draw(st.lists(st.integers(0, 8), min_size=n, max_size=n))
    capacity = data.draw(st.integers(2, n))
    exceed = data.draw(st.sampled_from(RULES))
    plain = solve(
        OperatingPoints.from_scores(labels, scores), Scenario(0.2, capacity, cost_ratio=0.1)
    )
    scenario = Scenario(0.2, capacity, cost_ratio=0.1, per="period", exceed=exceed)
    periods = Periods.from_column(["one"] * n)
    decision = solve(OperatingPoints.from_scores(labels, scores, periods=periods), scenario)
    assert decision.feasible.tolist() == plain.feasible.tolist()
    assert decision.partial_voros == plain.partial_voros


@pytest.mark.slow
@given(st.data())
def test_merging_pairs_of_periods_doubles_the_capacity_that_is_never_passed(data) -> None:
    """Where no half passes C, no whole passes 2C; and the mean rule is the same either way."""
    n = data.draw(st.integers(4, 30))
    labels = [0, 1, *data.draw(st.lists(st.integers(0, 1), min_size=n - 2, max_size=n - 2))]
    scores = data.draw(st.lists(st.integers(0, 9), min_size=n, max_size=n))
    halves = np.array(
        [0, 1, 2, 3, *data.draw(st.lists(st.integers(0, 3), min_size=n - 4, max_size=n - 4))]
    )
    capacity = data.draw(st.integers(1, 4))

    def feasible(capacity: int, codes: np.ndarray, exceed: float | None) -> np.ndarray:
        scenario = Scenario(capacity=capacity, cost_ratio=0.1, per="x", exceed=exceed)
        points = OperatingPoints.from_scores(labels, scores, periods=Periods.from_column(codes))
        return solve(points, scenario).feasible

    fine, coarse = feasible(capacity, halves, 0.0), feasible(2 * capacity, halves // 2, 0.0)
    assert np.all(coarse[fine])
    same = feasible(capacity, halves, None), feasible(2 * capacity, halves // 2, None)
    assert same[0].tolist() == same[1].tolist()


@given(st.data())
def test_a_stricter_rule_allows_no_more(data) -> None:
    labels, scores, days = cases(data.draw(st.integers(0, 10**6)))
    capacity = data.draw(st.integers(1, 5))
    points = OperatingPoints.from_scores(labels, scores, periods=Periods.from_column(days))
    rules = sorted(rule for rule in RULES if rule is not None)
    allowed = [
        solve(points, Scenario(capacity=capacity, cost_ratio=0.1, per="d", exceed=rule)).feasible
        for rule in (*rules, None)
    ]
    for strict, lenient in pairwise(allowed):
        assert np.all(lenient[strict])


def test_counts_by_group_are_those_counted_one_by_one() -> None:
    rng = np.random.default_rng(3)
    codes, scores = rng.integers(0, 5, 80), rng.integers(0, 12, 80).astype(float)
    weights, thresholds = rng.random(80), np.array([3.0, 11.0, np.inf, -np.inf, 3.5])
    counts = counts_by_group(codes, 6, scores, thresholds)
    weighed = counts_by_group(codes, 6, scores, thresholds, weights)
    for g in range(6):
        for j, threshold in enumerate(thresholds):
            rows = [i for i in range(80) if codes[i] == g and scores[i] >= threshold]
            assert counts[g, j] == len(rows)
            assert weighed[g, j] == pytest.approx(sum(weights[i] for i in rows))
    assert counts.dtype.kind == "i"


STAMPS = ["2024-03-30T23:30:00", "2024-04-02T00:10:00", "2024-03-30T05:00:00"]


@pytest.mark.parametrize(
    "times",
    [
        STAMPS,
        np.array(STAMPS),
        np.array(STAMPS, dtype="datetime64[s]"),
        pd.Series(STAMPS),
        pd.to_datetime(pd.Series(STAMPS)),
        pd.DatetimeIndex(STAMPS),
        pd.to_datetime(pd.Series(STAMPS)).astype("datetime64[ms]"),
        pl.Series(STAMPS),
        pl.Series(STAMPS).str.to_datetime(),
        pl.Series(STAMPS).str.to_datetime(time_unit="ns"),
        [datetime.fromisoformat(stamp) for stamp in STAMPS],
        [datetime.fromisoformat(stamp).date() for stamp in STAMPS],
        pl.Series(STAMPS).str.to_datetime().dt.date(),
        [stamp.replace("T", " ") for stamp in STAMPS],
        pd.Series([datetime.fromisoformat(stamp) for stamp in STAMPS], dtype=object),
        pd.to_datetime(pd.Series(STAMPS)).dt.tz_localize("Europe/Berlin"),
        pl.Series(STAMPS).str.to_datetime().dt.replace_time_zone("America/New_York"),
        [f"{stamp}+05:30" for stamp in STAMPS],
    ],
)
def test_times_of_every_kind_give_the_same_days(times) -> None:
    days = Periods.from_times(times, "day")
    assert days.names.tolist() == ["2024-03-30", "2024-03-31", "2024-04-01", "2024-04-02"]
    assert days.codes.tolist() == [0, 3, 0]
    assert "2 of them without a case" in days.note


def test_days_are_those_of_the_place_that_is_named() -> None:
    utc = [
        "2024-03-30T22:59:00Z",
        "2024-03-30T23:00:00Z",
        "2024-03-31T21:59:00Z",
        "2024-03-31T22:00:00Z",
    ]
    # Clocks go forward at 01:00 UTC on the 31st: that day lasts from 23:00 to 22:00 UTC.
    expected = ["2024-03-30", "2024-03-31", "2024-03-31", "2024-04-01"]
    for times in (
        utc,
        pd.to_datetime(pd.Series(utc)),
        pl.Series(utc).str.to_datetime(time_zone="UTC"),
    ):
        days = Periods.from_times(times, "day", time_zone="Europe/Berlin")
        assert days.names[days.codes].tolist() == expected
        assert "the clock of Europe/Berlin" in days.note
        assert Periods.from_times(times, "day").n_periods == 2
    offsets = [
        datetime(2024, 3, 31, 1, tzinfo=timezone(timedelta(hours=1))),
        datetime(2024, 3, 31, 3, tzinfo=timezone(timedelta(hours=2))),
    ]
    own = Periods.from_times(offsets, "day")
    assert own.n_periods == 1
    assert "1:00:00 or 2:00:00" in own.note


def test_hours_of_times_with_a_zone_are_neither_missing_nor_there_twice() -> None:
    # 02:30 is there twice on the 27th of October 2024, and once in each of two hours.
    clock = pd.Series(pd.to_datetime(["2024-10-27T00:30:00Z", "2024-10-27T01:30:00Z"]))
    berlin = clock.dt.tz_convert("Europe/Berlin")
    assert berlin.dt.hour.tolist() == [2, 2]
    assert Periods.from_times(berlin, "hour").codes.tolist() == [0, 1]
    assert Periods.from_times([t.isoformat() for t in berlin], "hour").codes.tolist() == [0, 1]
    # On the 31st of March 01:30 is followed by 03:30, an hour later.
    spring = ["2024-03-31T01:30:00+01:00", "2024-03-31T03:30:00+02:00"]
    assert Periods.from_times(spring, "hour").n_periods == 2


def test_weeks_begin_on_mondays() -> None:
    rng = np.random.default_rng(5)
    days = [date.fromordinal(int(ordinal)) for ordinal in rng.integers(700_000, 740_000, 200)]
    for per, name in {
        "week": lambda d: (d - timedelta(days=d.weekday())).isoformat(),
        "month": lambda d: f"{d.year:04}-{d.month:02}",
        "year": lambda d: f"{d.year}",
    }.items():
        periods = Periods.from_times(days, per)
        assert periods.names[periods.codes].tolist() == [name(day) for day in days]
        assert len(set(periods.names.tolist())) == periods.n_periods


@pytest.mark.parametrize(
    ("times", "options", "message"),
    [
        (["2024-01-01", None], {}, r"times is missing in 1 of 2 cases \(first at index 1\)"),
        (np.array(["2024-01-01", "NaT"], dtype="M8[D]"), {}, "times is missing in 1 of 2"),
        (pl.Series([None, datetime(2024, 1, 1)]), {}, "times is missing in 1 of 2"),
        (pd.Series([pd.NaT, pd.Timestamp("2024-01-01")]), {}, "times is missing in 1 of 2"),
        (["2024-01-01", "noon"], {}, r"times\[1\]='noon' is not a time"),
        (["2024-01-01", "2024-01-01T00:00Z"], {}, "has no time zone and others have one"),
        ([1.5, 2.5], {}, r"times\[0\]=1.5 is not a time"),
        ([b"2024-01-01"], {}, r"times\[0\]=b'2024-01-01' is not a time"),
        (np.array(["2024"]), {}, r"times\[0\]='2024' is not a time"),
        (np.array(["300000-01-01"], dtype="M8[D]"), {}, "beyond the years 1 to 9999"),
        (np.array([2**62], dtype="M8[Y]"), {}, "beyond the years 1 to 9999"),
        (["0001-01-01T00:00+05:00"], {"per": "hour"}, "go beyond the years 1 to 9999 in UTC"),
        (["2024-01-01"], {"time_zone": "Europe/Berlin"}, "the times have no time zone"),
        (["2024-01-01T00:00Z"], {"time_zone": "Atlantis"}, "time_zone='Atlantis'"),
        (["0001-01-01", "9999-01-01"], {"per": "hour"}, "accepted are at most 10,000,000"),
        (["2024-01-01"], {"per": "ward"}, "per='ward' is not a calendar period"),
        (
            ["2024-01-01"],
            {"per": "shift 06:00,25:00"},
            "06:00,25:00'; accepted are the times",
        ),
        (["2024-01-01"], {"per": "shift 18:00 06:00"}, "in their order, such as"),
        (
            ["2024-01-01"],
            {"per": "shift 06:60"},
            "accepted are the times at which",
        ),
        ([], {}, "hold no case"),
    ],
)
def test_times_that_cannot_be_read_are_refused_by_name(times, options, message) -> None:
    per = options.pop("per", "day")
    with pytest.raises(ArgumentError, match=message):
        Periods.from_times(times, per, **options)


@pytest.mark.parametrize("starts", [("07:00", "15:00", "23:00"), ("06:30", "18:30"), ("00:00",)])
def test_shifts_are_those_counted_by_walking_from_start_to_start(starts) -> None:
    per = "shift" if len(starts) == 3 else f"shift {' '.join(starts)}"
    rng = np.random.default_rng(3)
    begun = datetime(2023, 12, 30)
    times = [begun + timedelta(minutes=int(m)) for m in rng.integers(0, 6 * 24 * 60, 300)]
    periods = Periods.from_times(times, per)
    shifts = [
        datetime.fromisoformat(f"{begun.date() + timedelta(days=day)}T{start}")
        for day in range(-1, 8)
        for start in starts
    ]
    for time, code in zip(times, periods.codes, strict=True):
        own = max(shift for shift in shifts if shift <= time)
        assert periods.names[code] == own.isoformat(timespec="minutes")
    inside = [s for s in shifts if min(times) - timedelta(days=1) < s <= max(times)]
    listed = {s.isoformat(timespec="minutes") for s in inside}
    assert set(periods.names.tolist()) <= listed
    assert [b > a for a, b in pairwise(periods.names)] == [True] * (periods.n_periods - 1)


def test_a_shift_over_a_change_of_clocks_is_one_shift() -> None:
    # Berlin: 02:00 became 03:00 on 2024-03-31, and 03:00 became 02:00 on 2024-10-27.
    spring = ["2024-03-30T22:00Z", "2024-03-31T00:30Z", "2024-03-31T04:59Z", "2024-03-31T05:00Z"]
    periods = Periods.from_times(spring, "shift", time_zone="Europe/Berlin")
    assert periods.names.tolist() == ["2024-03-30T23:00", "2024-03-31T07:00"]
    assert periods.codes.tolist() == [0, 0, 0, 1]
    autumn = ["2024-10-26T21:00Z", "2024-10-27T05:59Z", "2024-10-27T06:00Z"]
    periods = Periods.from_times(autumn, "shift", time_zone="Europe/Berlin")
    assert periods.codes.tolist() == [0, 0, 1]


def test_dates_without_an_hour_are_pointed_out() -> None:
    dates = ["2024-01-01", "2024-01-02"]
    assert "all times are midnight" in Periods.from_times(dates, "shift").note
    assert "midnight" not in Periods.from_times(dates, "day").note
    assert "midnight" not in Periods.from_times([*dates, "2024-01-03T08:00"], "shift").note


def test_a_scenario_names_its_shifts_in_one_way_and_takes_no_others() -> None:
    scenario = Scenario(capacity=1, cost_ratio=0.1, per="shift 6:00, 18:00")
    assert scenario.per == "shift 06:00,18:00"
    assert Scenario(capacity=1, cost_ratio=0.1, per="shift 7:00 15:00 23:00").per == "shift"
    with pytest.raises(ArgumentError, match="in their order"):
        Scenario(capacity=1, cost_ratio=0.1, per="shift 18:00,6:00")
    times = ["2024-01-01T05:00", "2024-01-01T12:00", "2024-01-01T13:00"]
    days = Periods.from_times(times, "shift")
    with pytest.raises(
        ArgumentError, match="counted by the shift; the capacity is one per shift 06"
    ):
        evaluate([1, 0, 1], [3, 2, 1], scenario, periods=days)
    assert evaluate([1, 0, 1], [3, 2, 1], scenario, times=times).choices[0].alarms == 1


DAILY = Scenario(capacity=1, cost_ratio=0.1, per="day")


@pytest.mark.parametrize(
    ("scenario", "columns", "message"),
    [
        (DAILY, {}, "per='day' needs the period of each case, as times or as periods; neither"),
        (DAILY, {"times": ["2024-01-01"] * 3, "periods": [1, 1, 1]}, "both is given"),
        (DAILY, {"times": ["2024-01-01"] * 2}, "times"),
        (DAILY, {"periods": [1, 2]}, "periods"),
        (DAILY, {"periods": [1, 2, None]}, "periods is missing in 1 of 3"),
        (DAILY, {"periods": Periods.from_times(["2024-01-01"] * 3, "week")}, "counted by the week"),
        (Scenario(cost_ratio=0.1), {"times": ["2024-01-01"] * 3}, "times needs a capacity per"),
        (Scenario(cost_ratio=0.1), {"periods": [1, 1, 1]}, "periods needs a capacity per period"),
    ],
)
def test_periods_are_looked_at_or_refused(scenario, columns, message) -> None:
    with pytest.raises(ValueError, match=message):
        evaluate([0, 1, 1], [0.1, 0.2, 0.3], scenario, **columns)


def test_what_knows_no_periods_refuses_a_capacity_per_period() -> None:
    y, s = [0, 1, 1, 0], [0.1, 0.9, 0.8, 0.2]
    points = OperatingPoints.from_scores(y, s)
    for refused in (
        lambda: voros.partial_voros_score(y, s, DAILY),
        lambda: voros.evaluate(points, scenario=DAILY),
        lambda: voros.select_model({"a": points}, scenario=DAILY),
        lambda: voros.bootstrap(y, s, DAILY),
        lambda: voros.ThresholdPolicy.from_points(points, DAILY),
        lambda: voros.Guarantee(0.9).allowed(points, DAILY),
    ):
        with pytest.raises(ArgumentError, match="per='day' needs the period of each case"):
            refused()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"capacity": 0.5, "per": "day"}, "capacity=0.5 per 'day'; accepted is a whole number"),
        ({"capacity": 5, "per": ""}, "per=''"),
        ({"capacity": 5, "per": 3}, "per=3"),
        (
            {"capacity": 5, "exceed": 0.1},
            "exceed=0.1 requires a capacity per period, such as per='day'",
        ),
        ({"capacity": 5, "per": "day", "exceed": 1.0}, "exceed=1.0; accepted is a share"),
        ({"capacity": 5, "per": "day", "exceed": -0.1}, "exceed=-0.1"),
        ({"capacity": 5, "per": "day", "exceed": "often"}, "exceed='often'"),
    ],
)
def test_a_period_that_makes_no_sense_is_refused_by_name(arguments, message) -> None:
    with pytest.raises(ArgumentError, match=message):
        Scenario(cost_ratio=0.1, **arguments)


def test_a_scenario_per_period_is_a_value_like_any_other() -> None:
    scenario = Scenario(0.1, 20, cost_ratio=0.1, per="day", exceed=0.05)
    assert eval(repr(scenario), {"Scenario": Scenario, "known": lambda x: x}) == scenario
    others = [
        scenario.changed(per="week"),
        scenario.changed(exceed=None),
        scenario.changed(exceed=0),
    ]
    assert len({scenario, *others, scenario.changed()}) == 4
    assert scenario.without_limits() == Scenario(cost_ratio=0.1)
    assert Scenario(capacity=1, cost_ratio=0.1, per="day").rule == "per day, on average"


def test_weights_that_add_up_to_the_capacity_do_not_pass_it() -> None:
    """Ten cases of weight 0.1 a day are one alarm, though their sum is rounded."""
    days, scores = np.repeat(np.arange(30), 10), np.tile(np.linspace(1, 0.1, 10), 30)
    weights = np.full(300, 0.1)
    cases = PeriodCases(
        periods=Periods.from_column(days),
        positive=np.zeros(300, dtype=bool),
        scores=scores,
        weights=weights,
    )
    assert np.isnan(cases.breaking_scores(1)).all()
    heavier = replace(cases, weights=np.where(np.arange(300) == 9, 0.1 + 1e-6, 0.1))
    assert np.flatnonzero(~np.isnan(heavier.breaking_scores(1))).tolist() == [0]
