"""The promise of a recall floor, on thresholds as they are deployed."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pytest
from certified import certified_policy
from scipy import stats

import voros
from voros import Guarantee, OperatingPoints, Scenario, ThresholdPolicy
from voros.guarantee.recall_tests import most_missed, possible_positives

pytestmark = [
    pytest.mark.filterwarnings("ignore::voros.exceptions.NeverAlarmWarning"),
    pytest.mark.filterwarnings("ignore::voros.exceptions.InvertedCostsWarning"),
]

SHIFT = 1.5
"""Positives score higher by this much, normal with a deviation of 1."""


@pytest.mark.parametrize(("n_positive", "floor"), [(100, "4/5"), (37, "1/2"), (300, "19/20")])
def test_misses_in_the_population_by_the_binomial(n_positive: int, floor: str) -> None:
    points = OperatingPoints.from_counts([n_positive], [5], n_positive, 400)
    most = most_missed(points, Fraction(floor), None, 0.05)
    tails = stats.binom.sf(
        n_positive - np.arange(n_positive) - 1, n_positive, float(Fraction(floor))
    )
    assert most == np.flatnonzero(tails <= 0.05).max(initial=-1)


@pytest.mark.parametrize("horizon", [30, 400, 3000])
def test_misses_of_the_next_cases_with_every_likely_number_of_positives(horizon: int) -> None:
    n_positive, n_cases, floor, alpha = 120, 800, Fraction(4, 5), 0.05
    points = OperatingPoints.from_counts([n_positive], [5], n_positive, n_cases - n_positive)
    most = most_missed(points, floor, horizon, alpha)
    low, high = possible_positives(n_positive, n_cases, horizon, 0.1 * alpha)
    worst = 0.0
    for m in range(low, high + 1):
        # The (f + 1)-th lowest of m future positives: validation positives up to it.
        missable = m - int(np.ceil(floor * m))
        if missable < m:
            below = stats.betabinom(n_positive, missable + 1, m - missable)
            worst = max(worst, below.cdf(most))
            if most + 1 <= n_positive:
                following = below.cdf(most + 1)
    assert worst <= 0.9 * alpha
    assert most == -1 or worst > 0 or following > 0


def test_numbers_of_positives_that_are_left_out_are_unlikely() -> None:
    n_cases, horizon, alpha = 60, 40, 0.05
    for total in range(1, n_cases + horizon):
        likely = stats.hypergeom(n_cases + horizon, total, n_cases)
        outside = 0.0
        for n_positive in range(max(0, total - horizon), min(total, n_cases) + 1):
            low, high = possible_positives(n_positive, n_cases, horizon, alpha)
            if not low <= total - n_positive <= high:
                outside += likely.pmf(n_positive)
        assert outside <= alpha * (1 + 1e-9)


def draw(rng: np.random.Generator, n_cases: int, prevalence: float):
    y_true = rng.random(n_cases) < prevalence
    return y_true, rng.normal(size=n_cases) + SHIFT * y_true


def true_rates(threshold: float, prevalence: float) -> tuple[float, float]:
    recall, fpr = stats.norm.sf(threshold - SHIFT), stats.norm.sf(threshold)
    alarms = prevalence * recall + (1 - prevalence) * fpr
    return recall, prevalence * recall / alarms


def share_broken(
    n_runs: int, *, horizon: int | None, min_precision: float, n_development: int = 0
) -> tuple[float, float]:
    """Return the shares of runs that break a limit, and that deploy a threshold.

    False alarms cost so much that the strictest threshold that passes is deployed: the worst case.
    """
    rng = np.random.default_rng(34)
    scenario = Scenario(min_precision, cost_ratio=20.0, min_recall=0.6)
    n_cases, prevalence = (900, 0.35) if min_precision else (300, 0.3)
    broken, deployed = 0, 0
    for _ in range(n_runs):
        cases = draw(rng, n_cases, prevalence)
        guarantee = Guarantee(0.95, horizon=horizon)
        if n_development:
            developed = draw(rng, n_development, prevalence)
            policy = ThresholdPolicy.from_validation(
                *cases,
                scenario,
                strategy="single",
                guarantee=guarantee,
                n_models=1,
                development=developed,
            )
        else:
            points = OperatingPoints.from_scores(*cases)
            policy = certified_policy(points, scenario, guarantee, "single")
        threshold = policy.threshold()
        if not np.isfinite(threshold):
            continue
        deployed += 1
        if horizon is None:
            recall, precision = true_rates(threshold, prevalence)
            broken += recall < 0.6 or precision < min_precision
        else:
            y_next, s_next = draw(rng, horizon, prevalence)
            tp, alarms = (y_next & (s_next >= threshold)).sum(), (s_next >= threshold).sum()
            broken += tp < 0.6 * y_next.sum() or tp < min_precision * alarms
    return broken / n_runs, deployed / n_runs


@pytest.mark.parametrize("horizon", [None, pytest.param(200, marks=pytest.mark.slow)])
@pytest.mark.parametrize("min_precision", [0.0, 0.5])
def test_a_deployed_threshold_keeps_the_floors(horizon: int | None, min_precision: float) -> None:
    broken, deployed = share_broken(60, horizon=horizon, min_precision=min_precision)
    assert deployed > 0.3
    assert broken <= stats.binom.ppf(0.9999, 60, 0.05) / 60


@pytest.mark.slow
@pytest.mark.parametrize("n_development", [0, 1000])
@pytest.mark.parametrize("horizon", [None, 200])
@pytest.mark.parametrize("min_precision", [0.0, 0.5])
def test_at_most_one_run_in_twenty_breaks_a_floor(
    horizon: int | None, min_precision: float, n_development: int
) -> None:
    n_runs = 400 if n_development else 2000
    how = {"horizon": horizon, "min_precision": min_precision, "n_development": n_development}
    broken, deployed = share_broken(n_runs, **how)
    print(f"{how}: broken {broken:.4f}, deployed {deployed:.4f}")
    assert deployed > 0.3
    assert broken <= 0.05
    if not min_precision and horizon is None and not n_development:
        # The test is nearly exact: not much less than its error is used. Thresholds of
        # development cases lie apart, and the strictest that passes is above the floor.
        assert broken > 0.02


def test_groups_are_tested_by_their_sums() -> None:
    rng = np.random.default_rng(2)
    patients = np.repeat(np.arange(400), 3)
    y_true = rng.random(1200) < 0.4
    y_score = y_true * 2.5 + rng.normal(size=1200)
    for floor, may_pass in ((0.6, True), (0.995, False)):
        scenario = Scenario(cost_ratio=0.5, min_recall=floor)
        points = OperatingPoints.from_scores(y_true, y_score, groups=patients)
        passed = Guarantee(0.95).allowed(points, scenario)
        assert passed.any() == may_pass
        assert points.recalls_enough(floor)[passed].all()


def test_explanation_says_what_is_missing() -> None:
    y_true = np.arange(60) < 20
    y_score = np.where(y_true, 1.0, 0.0) + 0.01 * np.arange(60)
    scenario = Scenario(cost_ratio=0.5, min_recall=0.9)
    with pytest.warns(voros.NeverAlarmWarning) as caught:
        ThresholdPolicy.from_validation(y_true, y_score, scenario, guarantee=0.95, n_models=1)
    said = str(caught[0].message)
    # 0.9 ** 20 is above .05: finding all 20 of 20 does not show a recall of .9.
    assert "recall >= 0.9" in said
    assert (
        "The recall floor fails: with 20 positives not even a threshold that finds all of them "
        "passes." in said
    )
    # 0.9 ** 29 is .047, and 0.86 ** 20 is .049.
    assert "About 10 more validation positives" in said
    assert "These cases would pass at a confidence of 0.85, or at a recall floor of 0.86" in said


@pytest.mark.parametrize("horizon", [None, 200])
def test_floors_are_kept_by_thresholds_of_development_cases(horizon: int | None) -> None:
    broken, deployed = share_broken(20, horizon=horizon, min_precision=0.5, n_development=1000)
    assert deployed > 0.3
    assert broken <= stats.binom.ppf(0.9999, 20, 0.05) / 20


@pytest.mark.parametrize("tp", [70, 69])
def test_a_threshold_of_development_cases_has_an_exact_test_of_recall(tp: int) -> None:
    # P(Bin(100, .6) >= 70) = .0248 and P(Bin(100, .6) >= 69) = .0398; the capacity has .025 too.
    y_dev, y_true = np.arange(1000) < 100, np.arange(1000) < 100
    flagged = (np.arange(1000) < tp) | (np.arange(1000) >= 970)
    scenario = Scenario(capacity=0.3, cost_ratio=0.1, min_recall=0.6)
    how = {"guarantee": 0.95, "development": (y_dev, y_dev.astype(float))}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        policy = ThresholdPolicy.from_validation(y_true, flagged.astype(float), scenario, **how)
    assert policy.never_alarms == (tp == 69)
    if tp == 69:
        assert str(caught[0].message).endswith(
            "fixed on 1,000 development cases is certified. The recall floor fails: 70 of 100 "
            "positives must be found, and thresholds that pass the tests of the other limits find "
            "at most 69"
        )


@pytest.mark.parametrize("horizon", [None, 500])
@pytest.mark.parametrize("min_precision", [0.0, 0.3])
def test_development_cases_choose_the_model_that_finds_enough(
    horizon: int | None, min_precision: float
) -> None:
    rng = np.random.default_rng(3)

    def models(n_cases: int):
        y_true, y_score = draw(rng, n_cases, 0.3)
        return y_true, {"bad": rng.normal(size=n_cases), "good": y_score}

    scenario = Scenario(min_precision, cost_ratio=2.0, min_recall=0.7)
    guarantee = Guarantee(0.95, horizon=horizon)
    selection = voros.select_model(
        *models(1500), scenario, guarantee=guarantee, development=models(1500)
    )
    assert selection.winner == "good"
    recall, precision = true_rates(selection.policy().threshold(), 0.3)
    assert recall >= 0.7
    assert precision >= min_precision


def test_a_horizon_of_periods_is_refused() -> None:
    y_true, y_score = [0, 1] * 20, list(range(40))
    limits = {"capacity": 3, "cost_ratio": 0.1, "min_recall": 0.5}
    with pytest.raises(voros.exceptions.ArgumentError, match="horizon=5 with periods"):
        ThresholdPolicy.from_validation(
            y_true,
            y_score,
            Scenario(**limits, per="day"),
            guarantee=Guarantee(0.9, horizon=5),
            n_models=1,
            periods=[i // 4 for i in range(40)],
        )
