"""Guarantees over periods: exact tails by other ways, refusals, and the promise simulated."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, spearmanr

import voros
from voros import Guarantee, NeverAlarmWarning, OperatingPoints, Scenario, ThresholdPolicy
from voros.core.periods import PeriodCases, Periods
from voros.guarantee.binomial_tests import alpha_shares
from voros.guarantee.period_tests import _limit_sums, _sum_tests, certified_periods


def points_of(y, scores, days) -> OperatingPoints:
    return OperatingPoints.from_scores(y, scores, periods=Periods.from_column(days))


def n_above(scores, days, threshold, capacity) -> int:
    counts = np.bincount(days, scores >= threshold)
    return int(np.count_nonzero(counts > capacity))


def ward(seed, n_days=80, per_day=12):
    rng = np.random.default_rng(seed)
    n = n_days * per_day
    y = (rng.random(n) < 0.3).astype(int)
    days = np.repeat(np.arange(n_days), per_day)
    return y, 1.5 * y + rng.normal(size=n) + rng.normal(size=n_days)[days], days


@pytest.mark.parametrize("seed", range(3))
def test_the_share_above_is_a_binomial_test_over_periods(seed) -> None:
    y, scores, days = ward(seed)
    points = points_of(y, scores, days)
    scenario = Scenario(capacity=5, cost_ratio=0.1, per="day", exceed=0.2)
    certified = Guarantee(0.9).certified(points, scenario)
    for threshold, passed in zip(points.thresholds, certified, strict=True):
        above = n_above(scores, days, threshold, 5)
        assert passed == (binom.cdf(above, 80, 0.2) <= 0.1)
    assert certified.any()
    assert not certified.all()


def test_a_capacity_of_periods_needs_periods() -> None:
    points = OperatingPoints.from_scores([1, 0, 1], [0.3, 0.2, 0.5])
    with pytest.raises(ValueError, match="period"):
        certified_periods(points, Scenario(capacity=3, cost_ratio=0.1, per="day"), 0.1)


def test_floor_and_capacity_share_the_error() -> None:
    y, scores, days = ward(5, n_days=400)
    scenario = Scenario(0.3, 6, cost_ratio=0.1, per="day", exceed=0.3)
    policy = ThresholdPolicy.from_validation(
        y, scores, scenario, periods=days, guarantee=Guarantee(0.9), n_models=1
    )
    tested = policy.evaluate(y, scores, periods=days)
    assert tested.satisfied
    assert not policy.never_alarms
    above = n_above(scores, days, policy.threshold(), 6)
    assert binom.cdf(above, 400, 0.3) < 0.05
    assert tested.mean_precision > 0.3


@pytest.mark.parametrize("floor", [0.0, 0.45])
def test_each_limit_is_tested_with_its_part_of_the_error(floor) -> None:
    """Without a floor the mean and the share above have all of the error, both of them."""
    y, scores, days = ward(5, n_days=400)
    points = points_of(y, scores, days)
    scenario = Scenario(floor, 6, cost_ratio=0.1, per="day", exceed=0.3)
    alpha = 0.4
    for_sums, for_capacity = alpha_shares(alpha, floor, 120, 400) if floor else (alpha, alpha)
    assert for_sums + for_capacity == pytest.approx(alpha if floor else 2 * alpha)
    tests = _sum_tests(points.by_period, scenario, for_sums, 1)
    tested = tests.thresholds[tests.passed]
    precise = [t in tested if floor else t >= tested.min() for t in points.thresholds]
    above = [n_above(scores, days, threshold, 6) for threshold in points.thresholds]
    capable = binom.cdf(above, 400, 0.3) <= for_capacity
    certified = certified_periods(points, scenario, alpha)
    assert certified.tolist() == (np.array(precise) & capable).tolist()
    assert certified.any()


def test_bets_never_lose_more_than_their_bound() -> None:
    """Four periods in two blocks: 4 and 1 alarms, 0 and 3; at most 1 each, half of them above."""
    days = np.repeat(np.arange(4), [4, 1, 1, 3])
    scores = np.where(days == 2, 0.0, 1.0)
    cases = PeriodCases(
        periods=Periods.from_column(days), positive=np.zeros(9, dtype=bool), scores=scores
    )
    scenario = Scenario(0.2, 1, cost_ratio=0.1, per="day", exceed=0.5)
    tested = np.array([1.0])
    for block, sums in (
        (1, [[-0.8, -0.2, 0, -0.6], [-3, 0, 1, -2]]),
        (2, [[-1, -0.6], [-3, -1], [0, 0]]),
    ):
        blocks = cases.in_blocks(block)
        limit_sums = _limit_sums(cases, blocks, scenario, block, tested)
        assert [values.ravel().tolist() for values, _ in limit_sums] == [
            pytest.approx(s) for s in sums
        ]
        assert [bound for _, bound in limit_sums] == pytest.approx(
            [[0.8, 3], [1.0, 3, 1.0]][block - 1]
        )


def bursts(rng, n_days=200):
    """One day in ten has 200 cases and not 10; a threshold t alarms a share 1 - t of all."""
    sizes = np.where(rng.random(n_days) < 0.1, 200, 10)
    days = np.repeat(np.arange(n_days), sizes)
    scores = rng.random(len(days))
    return rng.random(len(days)) < 0.05 + 0.3 * scores, scores, days


def test_the_mean_is_promised_where_periods_may_pass_the_capacity() -> None:
    """Alarms per day are (1 - t) * 29 in the population; few days above say nothing of them."""
    rng, broken = np.random.default_rng(1), 0
    scenario = Scenario(capacity=5, cost_ratio=(1 / 30, 1 / 10), per="day", exceed=0.2)
    for _ in range(40):
        points = points_of(*bursts(rng))
        passed = points.thresholds[Guarantee(0.95).certified(points, scenario)]
        broken += 29 * (1 - passed.min()) > 5
    # At most 5 %, and 6 of 40 are more than three standard errors above.
    assert broken < 6


@pytest.mark.parametrize(
    ("parts", "guarantee", "message"),
    [
        ({"exceed": 0.0}, Guarantee(0.9), "exceed=0.0: no number of periods can show"),
        ({}, Guarantee(0.9, horizon=10), "horizon=10 with periods"),
        ({"prevalence": 0.1}, Guarantee(0.9), "prevalence=0.1"),
    ],
)
def test_what_cannot_be_promised_is_refused_by_name(parts, guarantee, message) -> None:
    y, scores, days = ward(0)
    scenario = Scenario(capacity=5, cost_ratio=0.1, per="day").changed(**parts)
    with pytest.raises(ValueError, match=message):
        ThresholdPolicy.from_validation(
            y, scores, scenario, periods=days, guarantee=guarantee, n_models=1
        )


def test_patients_and_periods_exclude_one_another() -> None:
    y, scores, days = ward(0)
    scenario = Scenario(capacity=5, cost_ratio=0.1, per="day")
    with pytest.raises(ValueError, match="guarantee per period are mutually exclusive"):
        ThresholdPolicy.from_validation(
            y, scores, scenario, periods=days, guarantee=Guarantee(), n_models=1, groups=days
        )
    with pytest.raises(ValueError, match="one period only"):
        Guarantee().allowed(points_of(y, scores, 0 * days), scenario)


@pytest.mark.parametrize(
    ("exceed", "capacity", "message"),
    [
        (0.01, 5, "80 validation periods are too few"),
        (0.1, 1, "At every threshold 6 or more of 80 validation periods exceed the capacity; at"),
        (None, 1, "from 80 independent periods. "),
    ],
)
def test_never_alarm_is_explained(exceed, capacity, message) -> None:
    y, scores, days = ward(1)
    scores = scores.reshape(80, 12)
    # Two tied scores are the highest: on 6 days, or on 39 days that make up a mean of 0.975.
    scores[:: 14 if exceed is not None else 2, :2] = 99.0
    scores[-1] = 0.0
    scores = scores.ravel()
    scenario = Scenario(capacity=capacity, cost_ratio=0.1, per="day", exceed=exceed)
    with pytest.warns(NeverAlarmWarning, match=message):
        ThresholdPolicy.from_validation(
            y, scores, scenario, periods=days, guarantee=Guarantee(0.95), n_models=1
        )


def wave(rng, n_days, memory, per_day=30):
    """Scores of days whose level follows an autoregression; the levels are standard normal."""
    level, step = np.empty(n_days), rng.normal(size=n_days)
    level[0] = step[0]
    for day in range(1, n_days):
        level[day] = memory * level[day - 1] + np.sqrt(1 - memory**2) * step[day]
    days = np.repeat(np.arange(n_days), per_day)
    y = rng.random(len(days)) < 0.2
    return y, rng.normal(size=len(days)) + 0.5 * level[days], days


DAILY = Scenario(capacity=8, cost_ratio=(1 / 30, 1 / 10), per="day", exceed=0.2)


def test_days_that_resemble_their_neighbours_are_named_with_their_correlation() -> None:
    y, scores, days = wave(np.random.default_rng(0), 120, 0.95)
    how = {"periods": days, "n_models": 1}
    with pytest.warns(voros.exceptions.DependentPeriodsWarning, match=r"block=7") as warned:
        policy = ThresholdPolicy.from_validation(y, scores, DAILY, guarantee=Guarantee(0.9), **how)
    alarms = np.bincount(days, scores >= policy.threshold())
    expected = spearmanr(alarms[1:], alarms[:-1]).statistic
    assert policy.origin.period_correlation == pytest.approx(expected, abs=0.03)
    said = f"(per day) are correlated: {policy.origin.period_correlation:.3f} over 120 of them"
    assert said in str(warned[0].message)
    assert ThresholdPolicy.from_json(policy.to_json()) == policy
    # A selection deploys the same threshold, and says the same.
    chosen = voros.select_model(y, {"risk": scores}, DAILY, periods=days, guarantee=Guarantee(0.9))
    with pytest.warns(voros.exceptions.DependentPeriodsWarning):
        assert chosen.policy().threshold() == policy.threshold()


def test_independent_days_are_seldom_called_dependent() -> None:
    """Two standard errors are passed by chance in 2.3 % of the cases; 9 of 100 are far more."""
    rng, warned = np.random.default_rng(3), 0
    for _ in range(100):
        y, scores, days = wave(rng, 60, 0.0, 10)
        cases = PeriodCases(periods=Periods.from_column(days), positive=y, scores=scores)
        warned += cases.correlation(0.5) > 2 / np.sqrt(60)
    assert warned < 9


def test_blocks_are_tested_as_single_periods_of_their_sums() -> None:
    """The mean of days in blocks of 7 is that of weeks with 7 times the capacity."""
    y, scores, days = wave(np.random.default_rng(1), 200 * 7, 0.5, 12)
    mean = DAILY.changed(exceed=None, capacity=3)
    by_day = points_of(y, scores, days)
    by_week = points_of(y, scores, days // 7)
    weekly = mean.changed(capacity=21)
    certified = Guarantee(0.9, block=7).certified(by_day, mean)
    assert certified.tolist() == Guarantee(0.9).certified(by_week, weekly).tolist()
    assert 1 < np.count_nonzero(certified) < len(certified)


def test_long_blocks_ask_for_stricter_thresholds_where_days_are_alike() -> None:
    points = points_of(*wave(np.random.default_rng(1), 720, 0.95, 12))
    rule, lowest = DAILY.changed(capacity=4), []
    for block in (1, 30):
        passed = Guarantee(0.9, block=block).certified(points, rule)
        lowest.append(points.thresholds[passed].min())
    assert lowest[0] + 0.1 < lowest[1] < 2


def test_blocks_take_the_place_of_single_periods_only_where_there_are_some() -> None:
    y, scores, days = ward(0)
    with pytest.raises(ValueError, match="block=0; accepted is a whole number"):
        Guarantee(0.9, block=0)
    for scenario, periods, message in (
        (Scenario(capacity=0.5, cost_ratio=0.1), None, "block=7 needs a capacity per period"),
        (DAILY, days // 7, "fewer than two blocks of 7 periods"),
    ):
        with pytest.raises(ValueError, match=message):
            ThresholdPolicy.from_validation(
                y, scores, scenario, periods=periods, guarantee=Guarantee(0.9, block=7), n_models=1
            )
    assert repr(Guarantee(0.9, block=7)) == "Guarantee(confidence=0.9, horizon=None, block=7)"


def draw(rng, n_days):
    """Days with a level of their own and a number of cases of their own; some without any."""
    sizes = rng.poisson(8, n_days) * (rng.random(n_days) > 0.05)
    sizes[[0, -1]] = np.maximum(sizes[[0, -1]], 1)
    days = np.repeat(np.arange(n_days), sizes)
    level = rng.normal(size=n_days)[days]
    y = (rng.random(len(days)) < 1 / (1 + np.exp(1.2 - level))).astype(int)
    return y, y + 0.7 * level + rng.normal(size=len(days)), days


def times_of(days):
    return np.datetime64("2024-01-01") + days.astype("timedelta64[D]")


@pytest.mark.slow
@pytest.mark.parametrize(
    "parts", [{"exceed": 0.2}, {}, {"min_precision": 0.45}, {"exceed": 0.2, "min_precision": 0.45}]
)
def test_the_promise_holds_over_dependent_cases_of_a_day(parts) -> None:
    """Broken at most 10 % of the time, within three standard errors of 600 repetitions."""
    rng = np.random.default_rng(11)
    scenario = Scenario(capacity=3, cost_ratio=0.02, per="day").changed(**parts)
    y_all, all_scores, all_days = draw(rng, 60_000)
    repetitions, broken, raised = 600, 0, 0
    points = OperatingPoints.from_scores(
        y_all, all_scores, periods=Periods.from_times(times_of(all_days), "day")
    )
    kept = voros.core.decision.solve(points, scenario).feasible
    for _ in range(repetitions):
        y, scores, days = draw(rng, 100)
        sample = OperatingPoints.from_scores(
            y, scores, periods=Periods.from_times(times_of(days), "day")
        )
        passed = sample.thresholds[Guarantee(0.9).certified(sample, scenario)]
        passed = passed[np.isfinite(passed)]
        raised += len(passed) > 0
        rows = np.searchsorted(-points.thresholds, -passed, side="right") - 1
        broken += not kept[rows].all()
    error = np.sqrt(0.1 * 0.9 / repetitions)
    print(f"{parts}: broken {broken / repetitions:.3f}, certified {raised / repetitions:.3f}")
    assert broken / repetitions <= 0.1 + 3 * error
    assert raised > 0
