"""Intervals where the limits may leave nothing: they begin at 0 and end where they must."""

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import binomtest

import voros
from voros.inference.near_zero import may_be_zero, optimistic_points
from voros.inference.resampling import Ranked

STRICT = voros.Scenario(0.5, 0.1, (1 / 40, 1 / 20))


def cases(seed, n_cases=1500, prevalence=0.1, separation=1.15):
    rng = np.random.default_rng(seed)
    positive = rng.random(n_cases) < prevalence
    return positive, separation * positive + rng.normal(size=n_cases)


def test_every_threshold_has_the_upper_limit_of_its_precision():
    rng = np.random.default_rng(3)
    positive = rng.random(60) < 0.5
    ranked = Ranked.of(positive, np.arange(60.0, 0, -1))
    points = optimistic_points(ranked, np.arange(60), 0.05)
    limits = [
        k * binomtest(int(positive[:k].sum()), k).proportion_ci(0.9, "exact").high
        for k in range(1, 61)
    ]
    expected = np.maximum.accumulate(np.minimum(limits, positive.sum()))
    # Rows are sorted by alarms, and right alarms rise with them.
    np.testing.assert_allclose(np.sort(points.tp[1:]), expected, rtol=1e-9)
    assert np.all(points.fp[1:] <= np.arange(1, 61) - expected + 1e-9)


def test_alarms_of_one_group_count_as_one():
    """None right of g groups of four: as for g alarms, 1 - error^(1/g) of them might be."""
    labels, groups = np.arange(120) >= 60, np.arange(120) // 4
    points = optimistic_points(Ranked.of(labels, np.arange(120.0, 0, -1)), groups, 0.05)
    for g in (1, 2, 5, 15):
        assert points.tp[4 * g] == pytest.approx(4 * g * (1 - 0.05 ** (1 / g)))


@pytest.mark.parametrize(
    ("zeros", "low_share", "separation", "grouped", "prevalence", "expected"),
    [
        (0.0, 0.3, 0.0, False, None, False),
        (0.0, 0.2, 0.5, False, None, True),
        (0.0, 0.2, 4.0, False, None, False),
        (0.0, 0.2, 0.5, True, None, False),
        (0.03, 0.3, 4.0, False, None, True),
        (0.03, 0.3, 4.0, True, None, True),
        (0.01, 0.3, 4.0, False, None, False),
        (0.01, 0.3, 0.5, False, None, True),
        (0.01, 0.3, 4.0, True, None, True),
        (0.01, 0.3, 4.0, False, 0.2, True),
    ],
)
def test_when_a_score_of_zero_cannot_be_excluded(
    zeros, low_share, separation, grouped, prevalence, expected
):
    ranked = Ranked.of(*cases(0, separation=separation))
    scenario = voros.Scenario(0.5, 0.1, 0.03, prevalence=prevalence)
    how = {"zeros": zeros, "low_share": low_share, "tail": 0.025, "grouped": grouped}
    assert may_be_zero(ranked, scenario, **how) == expected


def test_where_no_resample_has_a_threshold_the_interval_still_has_width():
    positive = np.arange(200) >= 190
    scores = np.where(positive, 0.0, 1.0 + np.arange(200))
    result = voros.bootstrap(positive, scores, STRICT, n_resamples=100, random_state=0)
    assert not result.distribution.any()
    assert result.method == "one-sided"
    assert result.low == result.estimate == 0 < result.high
    assert "one-sided interval 0.0000 to 0." in repr(result)


def test_an_interval_without_width_is_said_in_words():
    labels = np.arange(100) >= 50
    result = voros.bootstrap(
        labels, np.arange(100), voros.Scenario(cost_ratio=0.1), n_resamples=100, random_state=0
    )
    assert result.low == result.high == 1
    assert "interval none: no resample differs" in repr(result)
    assert "none: no resample differs" in result._repr_html_()
    twins = {"a": np.arange(100), "b": np.arange(100)}
    compared = voros.compare(
        labels, twins, voros.Scenario(cost_ratio=0.1), n_resamples=100, random_state=0
    )
    assert repr(compared).count("none: no resample differs") == 3


def test_resamples_that_nearly_agree_give_an_interval_with_width():
    """All positives on top but one: recall is 1 in most resamples, and less in a few."""
    labels = np.arange(300) >= 150
    scores = np.arange(300.0)
    scores[150] = 20.0
    scenario = voros.Scenario(0.5, 0.95, 0.1)
    for method in ("bca", "percentile"):
        result = voros.bootstrap(
            labels,
            scores,
            scenario,
            metric="recall",
            method=method,
            confidence=0.5,
            n_resamples=200,
            random_state=0,
        )
        assert len(np.unique(result.distribution)) > 1
        assert result.low < result.high


def test_few_groups_are_said():
    labels, scores = cases(0, 280, 0.4)
    for n_groups, said in ((7, True), (8, False)):
        groups = np.arange(280) % n_groups
        scenario = voros.Scenario(cost_ratio=0.1)
        if said:
            with pytest.warns(voros.exceptions.FewGroupsWarning, match="7 groups are few") as noted:
                voros.bootstrap(labels, scores, scenario, groups=groups, n_resamples=100)
            assert noted[0].filename == __file__
        else:
            voros.bootstrap(labels, scores, scenario, groups=groups, n_resamples=100)


def true_score(prevalence, separation, scenario):
    thresholds = np.linspace(9.0, -8.0, 20_001)
    sizes = (1e9 * prevalence, 1e9 * (1 - prevalence))
    points = voros.OperatingPoints.from_points(
        ndtr(-thresholds), ndtr(separation - thresholds), *sizes
    )
    return voros.evaluate_points(points, scenario).score


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_cases", "prevalence", "separation", "scenario"),
    [
        (300, 0.3, 1.0, voros.Scenario(0.8, 0.3, (0.2, 0.5))),
        (800, 0.02, 1.5, voros.Scenario(0.3, 0.1, (1 / 60, 1 / 30))),
    ],
)
def test_intervals_near_zero_hold_the_true_score(n_cases, prevalence, separation, scenario):
    truth, runs = true_score(prevalence, separation, scenario), 150
    held, zeros = [], []
    for seed in range(runs):
        found = voros.bootstrap(
            *cases(seed, n_cases, prevalence, separation),
            scenario,
            n_resamples=100,
            random_state=1000 + seed,  # not the stream that drew the cases
        )
        held.append(found.low <= truth <= found.high)
        zeros.append(np.mean(found.distribution == 0) > 0.025)
        assert found.low < found.high
    assert np.mean(zeros) > 0.2
    assert np.mean(held) >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / runs)
