"""Guarantees where patients have several cases: sums over patients, tested by betting."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import norm

import voros
from voros import Guarantee, OperatingPoints, Scenario
from voros.core.grouped_cases import GroupedCases
from voros.guarantee.cluster_tests import (
    ClusterTests,
    _limit_sums,
    bet_tests,
    candidate_thresholds,
    cluster_tests,
    learning_order,
)
from voros.guarantee.tuning import TUNING

SCENARIO = Scenario(min_precision=0.3, capacity=0.2, cost_ratio=(1 / 20, 1 / 10))


def draw(
    rng: np.random.Generator,
    n_groups: int,
    per_subgroup: int,
    prevalence: float = 0.1,
    separation: float = 1.5,
    shared: float = 0.0,
) -> GroupedCases:
    """Draw cases; labels and noise share part of their variance within a group."""
    codes = np.repeat(np.arange(n_groups), per_subgroup)

    def normal() -> np.ndarray:
        common = rng.normal(size=n_groups)[codes]
        own = rng.normal(size=len(codes))
        return np.sqrt(shared) * common + np.sqrt(1 - shared) * own

    positive = ndtr(normal()) < prevalence
    return GroupedCases(positive, separation * positive + normal(), codes)


def points_of(cases: GroupedCases, *, grouped: bool = True) -> OperatingPoints:
    groups = cases.codes if grouped else None
    return OperatingPoints.from_scores(cases.positive, cases.scores, groups=groups)


def allowed(cases: GroupedCases, scenario: Scenario, *, grouped: bool = True) -> np.ndarray:
    """Return the thresholds but never alarm that a guarantee of 95 % allows."""
    may = Guarantee(0.95).allowed(points := points_of(cases, grouped=grouped), scenario)
    assert may[0]
    return points.thresholds[may][1:]


def test_sums_over_groups_are_those_counted_one_by_one() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 12, 60)
    codes[:12] = np.arange(12)
    cases = GroupedCases(rng.random(60) < 0.4, rng.integers(0, 9, 60).astype(float), codes)
    tested = np.array([8.0, 5.0, 2.0])
    sums = _limit_sums(cases, Scenario(0.3, 0.25, cost_ratio=0.1), tested)
    largest = max(np.bincount(codes))
    for g in range(12):
        for j, threshold in enumerate(tested):
            of_group = [i for i in range(60) if codes[i] == g]
            flagged = [i for i in of_group if cases.scores[i] >= threshold]
            tp = sum(bool(cases.positive[i]) for i in flagged)
            assert sums[0][0][g, j] == pytest.approx(tp - 0.3 * len(flagged))
            assert sums[1][0][g, j] == pytest.approx(0.25 * len(of_group) - len(flagged))
    assert [bound for _, bound in sums] == pytest.approx([0.3 * largest, 0.75 * largest])
    assert len(_limit_sums(cases, Scenario(cost_ratio=0.1), tested)) == 0


def test_no_sum_is_below_the_bound_that_bets_rely_on() -> None:
    codes = np.array([0, 0, 0, 1, 2])
    cases = GroupedCases(np.array([False, False, False, True, False]), np.full(5, 1.0), codes)
    scenario = Scenario(0.4, 0.2, cost_ratio=0.1)
    for sums, bound in _limit_sums(cases, scenario, np.array([1.0])):
        assert sums.min() == pytest.approx(-bound)


@pytest.mark.parametrize("seed", range(20))
def test_each_sequence_ends_at_its_first_failure(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 12))
    start = int(rng.integers(0, n))
    alphas = np.where(np.arange(n) >= start, 0.045, 0.005)

    e_values = np.where(rng.random(n) < 0.75, 1.001 / alphas, 0.999 / alphas)
    tests = ClusterTests(
        thresholds=np.arange(n, 0.0, -1),
        alphas=alphas,
        e_values=e_values,
        start=start,
        signal=np.ones(n),
        n_groups=10,
        stricter_too=False,
    )
    expected = set()
    for sequence in (range(start, n), range(start - 1, -1, -1)):
        for row in sequence:
            if e_values[row] < 1 / alphas[row]:
                break
            expected.add(row)
    assert set(np.flatnonzero(tests.passed).tolist()) == expected


@pytest.mark.parametrize("seed", range(5))
def test_what_is_tested_depends_on_the_patients_set_aside_alone(seed: int) -> None:
    """Another outcome of the patients that are tested changes no threshold, order or level."""
    rng = np.random.default_rng(seed)
    cases = draw(rng, 120, 4, shared=0.3)
    order, n_learning = learning_order(cases.sizes)
    tested = np.isin(cases.codes, order[n_learning:])
    other_scores = np.where(tested, rng.normal(size=len(tested)) + 3, cases.scores)
    other_labels = np.where(tested, rng.random(len(tested)) < 0.9, cases.positive)
    other = GroupedCases(other_labels, other_scores, cases.codes)
    first, second = (cluster_tests(sample, SCENARIO, 0.05) for sample in (cases, other))
    np.testing.assert_array_equal(first.thresholds, second.thresholds)
    np.testing.assert_array_equal(first.alphas, second.alphas)
    assert first.start == second.start
    assert not np.array_equal(first.e_values, second.e_values)


def test_e_values_depend_on_the_patients_that_are_tested() -> None:
    """Nothing is certified by what was learned: with no alarm right later on, all bets lose."""
    cases = draw(np.random.default_rng(1), 300, 4)
    assert len(allowed(cases, SCENARIO)) > 0
    order, n_learning = learning_order(cases.sizes)
    tested = np.isin(cases.codes, order[n_learning:])
    wrong = GroupedCases(cases.positive & ~tested, cases.scores, cases.codes)
    assert cluster_tests(wrong, SCENARIO, 0.05).e_values.max() < 1


def test_the_levels_of_the_two_sequences_add_up() -> None:
    tests = cluster_tests(draw(np.random.default_rng(0), 200, 3), SCENARIO, 0.05)
    assert 0 < tests.start < len(tests.thresholds) - 1
    assert tests.alphas[0] + tests.alphas[-1] == pytest.approx(0.05)
    assert set(np.diff(tests.alphas).nonzero()[0].tolist()) == {tests.start - 1}


@pytest.mark.parametrize("start", [0, 2])
def test_the_error_of_both_sequences_is_alpha_wherever_they_start(start: int) -> None:
    """Each sequence spends the level of its first threshold: no more than alpha together."""
    sums = np.full((40, 4), -1.0)
    sums[:, start] = np.where(np.arange(40) % 3, 1.0, -0.1)
    tests = bet_tests(np.arange(4.0, 0, -1), [(sums, 2.0)], np.arange(40), 10, alpha=0.05)
    assert tests.start == start
    spent = {float(level) for level in tests.alphas}
    assert sum(spent) == pytest.approx(0.05)
    assert len(spent) == (1 if start == 0 else 2)


def test_the_largest_group_is_among_those_set_aside() -> None:
    rng = np.random.default_rng(0)
    firsts = set()
    for _ in range(40):
        sizes = rng.integers(1, 5, int(rng.integers(2, 60)))
        order, n_learning = learning_order(sizes)
        assert sorted(order.tolist()) == list(range(len(sizes)))
        assert sizes[order[0]] == sizes.max()
        assert (
            1 <= n_learning == max(1, int(np.ceil(TUNING.learning_share * len(sizes)))) < len(sizes)
        )
        firsts.add(int(order[0]))
    # Of equals a random one, not always the first.
    assert len(firsts) > 5


def test_candidates_are_scores_within_the_capacity_in_even_steps() -> None:
    scores = np.random.default_rng(0).permutation(np.arange(1000.0))
    candidates = candidate_thresholds(scores, 0.5)
    assert len(candidates) == TUNING.most_tested
    assert candidates[-1] == 500
    assert np.all(np.diff(candidates) < 0)
    assert np.ptp(np.diff(np.append(1000, candidates))) <= 1
    assert candidate_thresholds(np.array([3.0, 3.0, 1.0]), 0.01).tolist() == [3.0]


def test_names_and_order_of_the_cases_do_not_matter() -> None:
    rng = np.random.default_rng(4)
    cases = draw(rng, 300, 4, shared=0.2)
    order = rng.permutation(len(cases.codes))
    other = GroupedCases(cases.positive[order], cases.scores[order], cases.codes[order])
    np.testing.assert_array_equal(allowed(cases, SCENARIO), allowed(other, SCENARIO))


def test_groups_of_one_case_are_independent_cases() -> None:
    cases = draw(np.random.default_rng(0), 3000, 1)
    np.testing.assert_array_equal(allowed(cases, SCENARIO), allowed(cases, SCENARIO, grouped=False))


def test_without_limits_every_threshold_is_allowed() -> None:
    cases = draw(np.random.default_rng(0), 50, 3)
    assert len(allowed(cases, Scenario(cost_ratio=0.1))) == 150


def test_a_floor_of_one_is_never_certified() -> None:
    cases = draw(np.random.default_rng(0), 100, 3, separation=9.0)
    assert len(allowed(cases, Scenario(1.0, 0.5, 0.1))) == 0


def test_a_horizon_and_a_single_group_are_refused() -> None:
    cases = draw(np.random.default_rng(0), 50, 3)
    with pytest.raises(ValueError, match=r"horizon=100 with groups of several cases"):
        Guarantee(horizon=100).allowed(points_of(cases), SCENARIO)
    alone = GroupedCases(cases.positive, cases.scores, np.zeros(150, dtype=int))
    with pytest.raises(ValueError, match="one group only"):
        Guarantee().allowed(points_of(alone), SCENARIO)


def test_another_prevalence_is_refused() -> None:
    cases = draw(np.random.default_rng(0), 50, 3)
    with pytest.raises(ValueError, match=r"prevalence=0\.3 cannot be combined"):
        Guarantee().allowed(points_of(cases), Scenario(0.3, 0.2, 0.1, prevalence=0.3))


def test_what_came_closest_is_said_with_the_groups_it_takes() -> None:
    cases = draw(np.random.default_rng(5), 120, 3, separation=1.2)
    assert len(allowed(cases, SCENARIO)) == 0
    said = Guarantee().explain(points_of(cases), SCENARIO)
    assert "from 120 independent groups" in said
    assert "more groups like these would be enough" in said
    noise = draw(np.random.default_rng(5), 120, 3, separation=-1.0)
    assert "More cases will not help" in Guarantee().explain(points_of(noise), SCENARIO)


def made_up(e_values: list[float], signal: float = 1.0) -> ClusterTests:
    """Three thresholds, the first of which starts the only sequence."""
    n = len(e_values)
    return ClusterTests(
        thresholds=np.array([3.0, 2.0, 1.0]),
        alphas=np.full(n, 0.05),
        e_values=np.array(e_values),
        start=0,
        signal=np.full(n, signal),
        n_groups=100,
        stricter_too=False,
    )


def test_with_a_floor_only_tested_thresholds_are_certified() -> None:
    """A stricter one raises fewer alarms, but may be less precise."""
    tests, thresholds = made_up([20.0, 20.0, 3.0]), np.array([4.0, 3.0, 2.5, 2.0, 1.5, 1.0])
    assert tests.certified(thresholds).tolist() == [0, 1, 0, 1, 0, 0]
    free = replace(tests, stricter_too=True)
    assert free.certified(thresholds).tolist() == [1, 1, 1, 1, 0, 0]


@pytest.mark.parametrize(("e_value", "signal"), [(4.0, 2.0), (4.0, 1.0), (0.5, 1.5)])
def test_more_patients_are_those_that_the_wealth_and_the_signal_need(
    e_value: float, signal: float
) -> None:
    """Signals grow with the root of the patients, and the logarithm of the wealth with them."""
    of_signal = ((norm.ppf(0.8) - norm.ppf(0.05)) / signal) ** 2 / (1 - TUNING.learning_share)
    of_wealth = np.log(20) / np.log(e_value) if e_value > 1 else 1.0
    more = int(np.ceil(100 * (max(of_signal, of_wealth) - 1)))
    sentence = made_up([e_value, 0.1, 0.1], signal).sentence()
    assert f"About {more:,} more" in sentence


def test_a_policy_and_a_selection_are_told_of_groups() -> None:
    cases = draw(np.random.default_rng(0), 300, 5, shared=0.2)
    labels, groups = cases.positive, cases.codes
    policy = voros.ThresholdPolicy.from_validation(
        labels, cases.scores, SCENARIO, guarantee=Guarantee(), n_models=1, groups=groups
    )
    certified = allowed(cases, SCENARIO)
    assert set(policy.thresholds[np.isfinite(policy.thresholds)]) <= set(certified)
    scores = {"a": cases.scores, "b": cases.scores + np.random.default_rng(1).normal(size=1500)}
    chosen = voros.select_model(labels, scores, SCENARIO, guarantee=Guarantee(), groups=groups)
    half = Guarantee(0.975).allowed(points_of(cases), SCENARIO)
    deployed = chosen.policy().thresholds
    assert chosen.winner == "a"
    assert set(deployed[np.isfinite(deployed)]) <= set(points_of(cases).thresholds[half])
    with pytest.raises(ValueError, match="horizon=50 with groups"):
        voros.select_model(labels, scores, SCENARIO, guarantee=Guarantee(horizon=50), groups=groups)


def test_groups_without_a_guarantee_are_kept_for_intervals() -> None:
    cases = draw(np.random.default_rng(0), 50, 3)
    validation = (cases.positive, cases.scores, SCENARIO)
    policy = voros.ThresholdPolicy.from_validation(*validation, groups=cases.codes)
    assert (
        policy.thresholds.tolist()
        == voros.ThresholdPolicy.from_validation(*validation).thresholds.tolist()
    )
    selected = voros.select_model(*validation, groups=cases.codes).policy()
    n_groups = len(np.unique(cases.codes))
    for deployed in (policy, selected):
        doubtful = deployed.evaluate(cases.positive, cases.scores)
        assert f"although those of validation belonged to {n_groups} groups" in repr(doubtful)
        named = deployed.evaluate(cases.positive, cases.scores, groups=cases.codes)
        assert f"intervals take {n_groups} groups" in repr(named)
        assert "although" not in repr(named)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_groups", "per_subgroup", "prevalence", "separation", "scenario"),
    [
        (200, 10, 0.2999, 0.0, Scenario(0.3, 1.0, (1 / 20, 1 / 10))),
        (300, 6, 0.6999, 0.0, Scenario(0.7, 1.0, 1.0)),
    ],
    ids=["just below a floor of .3", "just below a floor of .7"],
)
def test_patients_with_several_cases_break_limits_rarely(
    n_groups: int, per_subgroup: int, prevalence: float, separation: float, scenario: Scenario
) -> None:
    """Of the variance, .9 is between patients. Treated as independent, cases break limits often."""
    runs, broken, independent = 400, [], []
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        cases = draw(rng, n_groups, per_subgroup, prevalence, separation, 0.9)
        for outcomes, grouped in ((broken, True), (independent, False)):
            if grouped or seed < 100:
                thresholds = allowed(cases, scenario, grouped=grouped)
                tp_share = prevalence * ndtr(separation - thresholds)
                alarms = tp_share + (1 - prevalence) * ndtr(-thresholds)
                precise = tp_share >= scenario.min_precision * alarms
                outcomes.append(not np.all(precise & (alarms <= scenario.capacity)))
    assert np.mean(independent) > 0.1
    assert np.mean(broken) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)


@pytest.mark.slow
def test_five_cases_a_patient_certify_more_than_one_of_them() -> None:
    recall: dict[str, list[float]] = {"betting": [], "one per group": []}
    for seed in range(60):
        cases = draw(np.random.default_rng(seed), 600, 5, shared=0.1)
        rows = np.unique(cases.codes, return_index=True)[1]
        one = GroupedCases(cases.positive[rows], cases.scores[rows], cases.codes[rows])
        for name, sample in (("betting", cases), ("one per group", one)):
            thresholds = allowed(sample, SCENARIO)
            recall[name].append(ndtr(1.5 - thresholds[-1]) if len(thresholds) else 0.0)
    assert np.mean(recall["betting"]) > np.mean(recall["one per group"]) + 0.05


def test_groups_that_chose_the_thresholds_win_no_bets() -> None:
    """They raise correct alarms alone and the others none: nothing was shown."""
    sums = np.zeros((40, 3))
    sums[:6] = 1.0
    tests = bet_tests(np.array([3.0, 2.0, 1.0]), [(sums, 0.5)], np.arange(40), 6, 0.05)
    assert tests.e_values.tolist() == [1.0, 1.0, 1.0]
    assert not tests.passed.any()
    others = bet_tests(tests.thresholds, [(sums[::-1], 0.5)], np.arange(40), 6, 0.05)
    assert (others.e_values > 1).all()
