"""Guarantees over periods: exact tails by other ways, refusals, and the promise simulated."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import binom

import voros
from voros import Guarantee, NeverAlarmWarning, OperatingPoints, Scenario, ThresholdPolicy
from voros.core.grouped_cases import GroupedCases
from voros.core.periods import Periods
from voros.guarantee import period_tests
from voros.guarantee.binomial_tests import alpha_shares
from voros.guarantee.cluster_tests import _limit_sums, certified_groups
from voros.guarantee.period_tests import certified_periods


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
    found = Guarantee(0.9).certified(points, scenario)
    for threshold, passed in zip(points.thresholds, found, strict=True):
        above = n_above(scores, days, threshold, 5)
        assert passed == (binom.cdf(above, 80, 0.2) <= 0.1)
    assert found.any()
    assert not found.all()


@pytest.mark.parametrize(("n", "m", "exceed"), [(5, 3, 0.0), (6, 4, 0.25), (4, 5, 0.4)])
def test_the_next_periods_are_tested_by_counting_all_arrangements(n, m, exceed) -> None:
    """Of all ways to place the next periods among those of validation, how many break the rule."""
    allowed = int(Fraction(str(exceed)) * m)
    risk = np.zeros(n + 1)
    arrangements = list(combinations(range(n + m), m))
    for future in arrangements:
        # Periods from the highest breaking score to the lowest; the (allowed+1)-th future one
        # is the strictest threshold that breaks the rule.
        k = sum(1 for place in range(future[allowed]) if place not in future)
        risk[k:] += 1
    risk /= len(arrangements)
    # One case a period above the others: the period breaks at its second highest score.
    y, scores = [1, 0] * n, [x for day in range(n) for x in (100.0, float(day + 1))]
    points = points_of(y, scores, np.repeat(np.arange(n), 2))
    scenario = Scenario(capacity=1, cost_ratio=0.1, per="day", exceed=exceed)
    for alpha in (0.03, 0.2, 0.35, 0.6):
        found = Guarantee(1 - alpha, horizon=m).certified(points, scenario)
        above = [n_above(scores, np.repeat(np.arange(n), 2), t, 1) for t in points.thresholds]
        assert found.tolist() == [bool(risk[k] <= alpha + 1e-12) for k in above]


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


def test_each_limit_is_tested_with_its_part_of_the_error() -> None:
    y, scores, days = ward(5, n_days=400)
    points = points_of(y, scores, days)
    scenario = Scenario(0.45, 6, cost_ratio=0.1, per="day", exceed=0.3)
    alpha = 0.4
    for_floor, for_capacity = alpha_shares(alpha, 0.45, 120, 400)
    assert for_floor + for_capacity == pytest.approx(alpha)
    assert 0 < for_capacity < for_floor
    groups = GroupedCases(y > 0, scores, days)
    floor_alone = Scenario(0.45, 6, cost_ratio=0.1, per="day", exceed=0.3)
    precise = certified_groups(points.thresholds, groups, floor_alone, for_floor)
    above = [n_above(scores, days, threshold, 6) for threshold in points.thresholds]
    capable = binom.cdf(above, 400, 0.3) <= for_capacity
    found = certified_periods(points, scenario, None, alpha)
    assert found.tolist() == (precise & capable).tolist()
    assert found.any()


def test_with_all_of_the_error_more_would_pass(monkeypatch) -> None:
    """The parts of the error decide: which tests get how much is seen where they are called."""
    asked = []

    def noted(thresholds, cases, scenario, alpha):
        asked.append(alpha)
        return certified_groups(thresholds, cases, scenario, alpha)

    monkeypatch.setattr(period_tests, "certified_groups", noted)
    y, scores, days = ward(5, n_days=400)
    points = points_of(y, scores, days)
    scenario = Scenario(0.2, 6, cost_ratio=0.1, per="day", exceed=0.3)
    found = certified_periods(points, scenario, None, 0.4)
    for_floor, for_capacity = alpha_shares(0.4, 0.2, 120, 400)
    assert asked == [for_floor]
    above = np.array([n_above(scores, days, t, 6) for t in points.thresholds[found]])
    assert np.all(binom.cdf(above, 400, 0.3) <= for_capacity)


def test_bets_on_the_mean_never_lose_more_than_their_bound() -> None:
    codes, scores = np.array([0, 0, 0, 0, 1]), np.full(5, 1.0)
    cases = GroupedCases(np.zeros(5, dtype=bool), scores, codes)
    scenario = Scenario(capacity=1, cost_ratio=0.1, per="day")
    ((sums, bound),) = _limit_sums(codes, cases, np.array([1.0]), scenario)
    assert sums.ravel().tolist() == [-3.0, 0.0]
    assert bound == 3
    assert _limit_sums(codes, cases, np.array([1.0]), scenario.changed(exceed=0.1)) == []


@pytest.mark.parametrize(
    ("parts", "guarantee", "message"),
    [
        ({"exceed": 0.0}, Guarantee(0.9), "exceed=0.0: no number of periods shows"),
        ({}, Guarantee(0.9, horizon=10), "horizon=10 periods"),
        ({"exceed": 0.1, "min_precision": 0.2}, Guarantee(0.9, horizon=10), "without a precision"),
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
    with pytest.raises(ValueError, match="groups and a guarantee per period exclude one another"):
        ThresholdPolicy.from_validation(
            y, scores, scenario, periods=days, guarantee=Guarantee(), n_models=1, groups=days
        )
    with pytest.raises(ValueError, match="one period only"):
        Guarantee().allowed(points_of(y, scores, 0 * days), scenario)


@pytest.mark.parametrize(
    ("exceed", "capacity", "message"),
    [
        (0.01, 5, "80 validation periods are too few"),
        (0.1, 1, "At every threshold 6 or more of 80 validation periods pass the capacity, and at"),
        (None, 1, "e-value"),
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
    """Broken at most 10 % of the time, within three standard errors of 1,000 repetitions."""
    rng = np.random.default_rng(11)
    scenario = Scenario(capacity=3, cost_ratio=0.02, per="day").changed(**parts)
    y_all, all_scores, all_days = draw(rng, 60_000)
    repetitions, broken, raised = 1000, 0, 0
    points = OperatingPoints.from_scores(
        y_all, all_scores, periods=Periods.from_times(times_of(all_days), "day")
    )
    kept = voros.core.decision.solve(points, scenario).feasible
    if scenario.exceed is not None:
        # The promise is of the share; the mean is asked of the validation cases only.
        counts = points.precise_enough(scenario.min_precision)
        kept = counts & ~(points.thresholds <= points.by_period.cut(scenario))
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
