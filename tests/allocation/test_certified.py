"""The joint guarantee: exact tests, their order, and how often a population breaks a limit."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.stats import binomtest, norm

import voros
from voros.allocation import certified
from voros.allocation.joint_tests import (
    CapacityTest,
    SplitUnits,
    floor_passed,
)
from voros.allocation.streams import read_streams
from voros.exceptions import NeverAlarmWarning
from voros.guarantee.tuning import TUNING

PREVALENCE, SHIFT, FLOORS = np.array([0.15, 0.3]), np.array([1.8, 1.4]), (0.4, 0.5)
SCENARIOS = {str(i): voros.Scenario(floor, cost_ratio=0.1) for i, floor in enumerate(FLOORS)}


def grouped(seed, n_cases=3000):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 2, n_cases)
    y = rng.random(n_cases) < PREVALENCE[group]
    return y, rng.normal(size=n_cases) + SHIFT[group] * y, group


def overlapping(seed, n_cases=3000):
    rng = np.random.default_rng(seed)
    y = rng.random((n_cases, 2)) < PREVALENCE
    common = rng.normal(size=(n_cases, 1))
    return y, 0.8 * rng.normal(size=(n_cases, 2)) + 0.6 * common + SHIFT * y


def in_population(thresholds):
    """Alarms for a case, and precision, of each stream."""
    tp = PREVALENCE * norm.sf(np.array(thresholds) - SHIFT)
    fp = (1 - PREVALENCE) * norm.sf(thresholds)
    return tp + fp, tp / np.maximum(tp + fp, 1e-300)


def broken(thresholds, share, case_share):
    alarms, precision = in_population(thresholds)
    floors = np.isfinite(thresholds) & (precision < FLOORS)
    return floors.any() or case_share * alarms.sum() > share


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::voros.NeverAlarmWarning")
def test_limits_hold_in_the_population():
    kept = [0, 0]
    for seed in range(40):
        y, s, group = grouped(seed)
        sure = voros.Guarantee(0.95)
        policy = voros.allocate(y, s, SCENARIOS, capacity=0.2, by=group, guarantee=sure)
        kept[0] += not broken(policy.default.thresholds, 0.2, 0.5)
        y, s = overlapping(seed)
        policy = voros.allocate(y, s, SCENARIOS, capacity=0.4, guarantee=sure)
        kept[1] += not broken(policy.default.thresholds, 0.4, 1.0)
    assert min(kept) >= 36


def test_it_uses_most_of_the_capacity_where_cases_are_many():
    y, s, group = grouped(0, 60_000)
    sure = voros.Guarantee(0.95)
    policy = voros.allocate(y, s, SCENARIOS, capacity=0.1, by=group, guarantee=sure)
    alarms, _ = in_population(policy.default.thresholds)
    assert 0.09 < 0.5 * alarms.sum() <= 0.1
    assert policy.promise.n_tested == 40_000
    assert policy.promise.uncertified == ()
    assert voros.JointPolicy.from_json(policy.to_json()) == policy


def test_counts_are_those_of_all_cases():
    y, s, group = grouped(1, 8000)
    sure = voros.Guarantee(0.9)
    policy = voros.allocate(y, s, SCENARIOS, capacity=0.2, by=group, guarantee=sure)
    alarm = policy.predict(s, by=group)
    assert sum(policy.default.tp) == (alarm & y).sum()
    assert sum(policy.default.fp) == (alarm & ~y).sum()


def test_a_capacity_of_whole_alarms_is_a_share_of_the_cases():
    y, s, group = grouped(0)
    how = {"by": group, "guarantee": voros.Guarantee(0.9)}
    whole, share = (
        voros.allocate(y, s, SCENARIOS, capacity=capacity, **how) for capacity in (300, 0.1)
    )
    assert whole.default.thresholds == share.default.thresholds
    assert in_population(whole.default.thresholds)[0].mean() < 0.1


def test_too_few_cases_never_alarm_and_say_so():
    y, s, group = grouped(2, 60)
    sure = voros.Guarantee(0.99)
    with pytest.warns(NeverAlarmWarning, match="no threshold keeps the limits of '0', '1'"):
        policy = voros.allocate(y, s, SCENARIOS, capacity=0.2, by=group, guarantee=sure)
    assert policy.promise.uncertified == ("0", "1")


def test_tests_stop_at_the_first_failure(monkeypatch):
    """A candidate that passes after one that failed is not deployed, in each family."""
    y, s = overlapping(1, 2000)
    n_candidates = len(certified.MARGINS)
    seen = {}

    def all_but(failed):
        return np.arange(n_candidates) != failed

    def floors(cases, units, alpha, name, thresholds, floor):
        seen[name] = thresholds
        return all_but(3 if name == "0" else 6)

    monkeypatch.setattr(certified, "floor_passed", floors)
    monkeypatch.setattr(certified.CapacityTest, "passed", lambda *_: all_but(9))
    how = {"capacity": 0.3, "guarantee": voros.Guarantee(0.9)}
    policy = voros.allocate(y, s, SCENARIOS, **how)
    certified_pairs = list(zip(seen["0"][:3], seen["1"][:3], strict=True))
    certified_pairs += [(np.inf, threshold) for threshold in seen["1"][3:6]] + [(np.inf, np.inf)]
    costs = [
        sum(
            0.1 * (alarm & ~label).sum() + (label & ~alarm).sum()
            for label, alarm in zip(y.T, (s >= np.array(pair)).T, strict=True)
        )
        for pair in certified_pairs
    ]
    assert policy.default.thresholds == certified_pairs[int(np.argmin(costs))]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::voros.NeverAlarmWarning")
def test_scores_that_say_nothing_are_certified_with_probability_alpha_at_most():
    """Precision is just below the floor at every threshold: any alarm breaks the promise."""
    broken_runs = 0
    for seed in range(150):
        rng = np.random.default_rng(seed)
        y = rng.random(600) < 0.399
        scenario = voros.Scenario(0.4, cost_ratio=0.1)
        policy = voros.allocate(
            y[:, None],
            rng.random((600, 1)),
            scenario,
            capacity=0.9,
            guarantee=voros.Guarantee(0.8),
        )
        broken_runs += sum(policy.default.alarms) > 0
    # Half of alpha = 0.2 is for the floor: 15 runs of 150 expected at most, 25 in 1 of 200.
    assert 0 < broken_runs <= 25


def test_own_capacities_are_refused():
    y, s, group = grouped(3, 200)
    scenario = voros.Scenario(0.4, 0.5, cost_ratio=0.1)
    with pytest.raises(ValueError, match=r"capacity=0\.5 of stream '0': a guarantee is for"):
        voros.allocate(y, s, scenario, capacity=0.2, by=group, guarantee=voros.Guarantee(0.95))


def daily(rng, n_days, n_streams=2):
    """Scores that say nothing, of days with about 20 cases: 1 - t of them are alarms at t."""
    days = np.repeat(np.arange(n_days), rng.poisson(20, n_days))
    y = rng.random((len(days), n_streams)) < 0.3
    return y, rng.random(y.shape), days


def test_a_third_of_the_units_chooses_always_the_same():
    y, s = overlapping(0, 2000)
    tested, again = (SplitUnits.from_cases(read_streams(y, s)).tested for _ in range(2))
    assert tested.sum() == 2000 - np.ceil(2000 / 3)
    assert (tested == again).all()
    # Neighbouring cases fall into both parts.
    assert 0.6 < tested[:500].mean() < 0.73


def test_a_mean_per_day_is_certified_close_to_the_capacity():
    """A day can raise two alarms for each of its cases, and the bets allow for that."""
    y, s, days = daily(np.random.default_rng(5), 300)
    scenario, sure = voros.Scenario(cost_ratio=0.01), voros.Guarantee(0.95)
    how = {"capacity": 5, "per": "day", "periods": days, "guarantee": sure}
    both = voros.allocate(y, s, scenario, **how)
    wards = np.where(s[:, 1] < 0.5, "a", "b")
    apart = voros.allocate(y[:, 0], s[:, 0], scenario, by=wards, **how)
    used = [20 * sum(1 - t for t in both.default.thresholds)]
    used.append(20 * np.mean([1 - t for t in apart.default.thresholds]))
    assert 3 < used[0] < 5
    assert 4 < used[1] < 5


def test_only_floors_share_the_error_with_the_capacity(monkeypatch):
    levels = []

    class Noted(CapacityTest):
        def passed(self, thresholds):
            levels.append(self.alpha)
            return super().passed(thresholds)

    monkeypatch.setattr(certified, "CapacityTest", Noted)
    y, s = overlapping(1, 600)
    for floors in ((0.0, 0.0), (0.4, 0.0), (0.4, 0.5)):
        scenarios = {str(i): voros.Scenario(f, cost_ratio=0.1) for i, f in enumerate(floors)}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NeverAlarmWarning)
            voros.allocate(y, s, scenarios, capacity=0.3, guarantee=voros.Guarantee(0.94))
    assert levels == pytest.approx([0.06, 0.03, 0.02])


def test_blocks_of_days_are_split_and_tested_together():
    rng = np.random.default_rng(4)
    y, s, days = daily(rng, 60 * 7 + 3)
    scenario, weekly = voros.Scenario(cost_ratio=0.01), voros.Guarantee(0.9, block=7)
    how = {"capacity": 6, "per": "day", "periods": days}
    policy = voros.allocate(y, s, scenario, guarantee=weekly, **how)
    assert policy.promise.in_words.endswith("tested on 40 blocks of 7 periods")
    assert policy.promise.block == 7
    assert voros.JointPolicy.from_json(policy.to_json()) == policy
    assert 2 < 20 * sum(1 - t for t in policy.default.thresholds) < 6
    cases = read_streams(y[days > 2], s[days > 2]).in_periods(
        voros.Scenario(capacity=6, cost_ratio=1.0, per="day"), days[days > 2], None
    )
    units = SplitUnits.from_cases(cases, 7)
    test = CapacityTest(cases=cases, units=units, alpha=0.1, limit=6.0, exceed=0.3, once=False)
    above = test._above([cases.raised(policy.default.thresholds)])[:, 0]
    alarms = np.bincount(days, cases_alarms(s, policy.default.thresholds))[3:]
    assert above.tolist() == (alarms.reshape(60, 7) > 6).sum(axis=1).tolist()
    with pytest.raises(ValueError, match="block=300 needs a capacity per period, and at least two"):
        voros.allocate(y, s, scenario, guarantee=voros.Guarantee(0.9, block=300), **how)


def cases_alarms(scores, thresholds):
    return (scores >= np.array(thresholds)).sum(axis=1)


def test_days_that_resemble_their_neighbours_are_named():
    rng = np.random.default_rng(5)
    y, s, days = daily(rng, 200)
    s += 0.2 * np.sin(days / 15)[:, None]
    how = {"capacity": 8, "per": "day", "periods": days, "guarantee": voros.Guarantee(0.9)}
    with pytest.warns(
        voros.exceptions.DependentPeriodsWarning, match=r"neighbouring periods \(per day\) are"
    ):
        voros.allocate(y, s, voros.Scenario(cost_ratio=0.01), **how)


def halves(n_cases=300, **parts):
    rng = np.random.default_rng(6)
    y = rng.random((n_cases, 2)) < 0.4
    cases = read_streams(y, rng.normal(size=y.shape) + y)
    for name, values in parts.items():
        cases = cases.of_patients(values) if name == "groups" else cases
    return cases, SplitUnits.from_cases(cases)


@pytest.mark.parametrize("threshold", [0.2, 1.5, 2.5])
def test_floors_of_cases_are_tested_exactly(threshold):
    cases, units = halves()
    alarm = (cases.scores["0"] >= threshold) & units.tested
    tp = int((alarm & cases.positive["0"]).sum())
    p_value = binomtest(tp, int(alarm.sum()), 0.5, "greater").pvalue
    for alpha in (0.9 * p_value, min(1.1 * p_value, 1)):
        passed = floor_passed(cases, units, alpha, "0", np.array([threshold, np.inf]), 0.5)
        assert passed.tolist() == [p_value <= alpha, True]


def test_visits_are_tested_exactly():
    cases, units = halves()
    at = np.array([[1.0, 1.5], [0.0, 0.0], [np.inf, np.inf]])
    for share in (0.3, 0.5):
        test = CapacityTest(
            cases=cases, units=units, alpha=0.05, limit=share, exceed=None, once=True
        )
        raised = [(cases.scores["0"] >= a) | (cases.scores["1"] >= b) for a, b in at[:2]]
        counts = [int((alarm & units.tested).sum()) for alarm in raised]
        exact = [binomtest(count, 200, share, "less").pvalue <= 0.05 for count in counts]
        assert test.passed(at).tolist() == [*exact, True]


def test_patients_stay_in_one_half_and_the_largest_is_not_tested():
    groups = np.append(np.arange(250), np.full(50, 7))
    cases, units = halves(groups=groups)
    assert not units.tested[7]
    chosen, tested = (units.part(cases, tested=part) for part in (False, True))
    assert not set(chosen.patients) & set(tested.patients)
    assert chosen.n_cases + tested.n_cases == 300
    assert units.kind == "patients"
    assert halves(groups=np.arange(300))[1].kind == "cases"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::voros.NeverAlarmWarning")
@pytest.mark.parametrize("copies", [1, 5])
def test_cases_that_are_copies_do_not_count_as_more(copies):
    """Precision is just below the floor at every threshold; without groups copies would pass."""
    runs = 0
    for seed in range(150):
        rng = np.random.default_rng(seed)
        patient = np.repeat(np.arange(200), copies)
        y = (rng.random(200) < 0.399)[patient]
        policy = voros.allocate(
            y[:, None],
            rng.random(200)[patient][:, None],
            voros.Scenario(0.4, cost_ratio=0.1),
            capacity=0.9,
            guarantee=voros.Guarantee(0.8),
            groups=patient,
        )
        runs += sum(policy.default.alarms) > 0
    # Half of alpha = 0.2 is for the floor: 15 runs of 150 expected at most, 25 in 1 of 200.
    assert runs <= 25


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::voros.NeverAlarmWarning")
def test_what_is_promised_is_written_down_and_read_back():
    y, s = overlapping(4, 4000)
    sure = voros.Guarantee(0.9)
    scenarios = {name: voros.Scenario(0.3, cost_ratio=(0.02, 0.3)) for name in ("0", "1")}
    days = {"capacity": 9, "per": "day", "exceed": 0.2, "periods": np.arange(4000) // 20}
    # How near the thresholds are to the best does not matter here.
    once, days = (
        voros.allocate(y, s, scenarios, guarantee=sure, max_seconds=1, **capacity)
        for capacity in ({"capacity": 0.2, "overlap": "once"}, days)
    )
    for policy, units in ((once, "cases"), (days, "periods")):
        assert policy.promise.units == units
        assert sum(policy.default.alarms) > 0
        assert voros.JointPolicy.from_json(policy.to_json()) == policy
    assert days.default.n_above < 40


ALPHAS = (0.002, 0.01, 0.03, 0.1, 0.3, 0.8)


def test_alarms_that_each_count_pass_within_the_share_only():
    """Two alarms of a case, .7 for each, are far beyond .3 of a case; .03 are far within."""
    cases, units = halves(3000)
    test = CapacityTest(cases=cases, units=units, alpha=0.1, limit=0.3, exceed=None, once=False)
    shares = [np.quantile(cases.scores["0"], q) for q in (0.3, 0.97)]
    at = np.array([[shares[0], shares[0]], [shares[1], shares[1]]])
    assert test.passed(at).tolist() == [False, True]


def in_days(n_days, exceed, limit, alpha=0.1):
    y, s, days = daily(np.random.default_rng(9), n_days)
    calendar = voros.Scenario(capacity=limit, cost_ratio=1.0, per="day")
    cases = read_streams(y, s).in_periods(calendar, days, None)
    units = SplitUnits.from_cases(cases)
    test = CapacityTest(
        cases=cases, units=units, alpha=alpha, limit=float(limit), exceed=exceed, once=False
    )
    return test, s, days


def test_days_above_are_tested_exactly_and_their_mean_as_well():
    passes = []
    for alpha in ALPHAS:
        test, s, days = in_days(200, 0.2, 6, alpha)
        for t in (0.85, 0.88, 0.9, 0.95):
            alarms = np.bincount(days, cases_alarms(s, (t, t)))[test.units.tested]
            n_above = int((alarms > 6).sum())
            few = binomtest(n_above, len(alarms), 0.2, "less").pvalue <= alpha
            mean_alone = CapacityTest(**{**vars(test), "exceed": None})
            both = few and bool(mean_alone.passed(np.array([[t, t]]))[0])
            assert test.passed(np.array([[t, t]])).tolist() == [both]
            passes.append(both)
    assert 4 < sum(passes) < 22


def test_a_mean_above_the_capacity_of_a_day_does_not_pass():
    """Twenty cases of a day raise 2 * 20 * (1 - t) alarms: 8 at .8, beyond 6."""
    test, _, _ = in_days(400, None, 6, 0.5)
    assert test.passed(np.array([[0.8, 0.8], [0.99, 0.99], [np.inf, np.inf]])).tolist() == [
        False,
        True,
        True,
    ]


def test_the_largest_loss_of_a_unit_is_that_of_alarms_for_all_its_cases():
    cases, units = halves()
    common = {"cases": cases, "units": units, "alpha": 0.1, "limit": 0.3, "exceed": None}
    assert CapacityTest(**common, once=True).largest_loss == 0
    assert CapacityTest(**common, once=False).largest_loss == pytest.approx(2 - 0.3)
    patients, of_patients = halves(groups=np.arange(300) // 3)
    common |= {"cases": patients, "units": of_patients}
    assert CapacityTest(**common, once=True).largest_loss == pytest.approx(3 - 0.9)
    assert CapacityTest(**common, once=False).largest_loss == pytest.approx(6 - 0.9)
    test, _, days = in_days(50, None, 6)
    assert test.largest_loss == 2 * np.bincount(days).max() - 6


def bets(monkeypatch, answers):
    """Record the sums, largest loss and alpha of each bet, and return the answers in turn."""
    wagers, answers = [], iter(answers)

    def wealthy(_, sums, loss, alpha):
        wagers.append((sums, loss, alpha))
        return np.array(next(answers))

    monkeypatch.setattr(SplitUnits, "wealthy", wealthy)
    return wagers


def test_sums_of_patients_are_what_is_bet_on(monkeypatch):
    patient, at = np.arange(300) // 3, np.array([0.5, 1.5])
    cases, units = halves(groups=patient)
    wagers = bets(monkeypatch, [[True, False], [True]])
    assert floor_passed(cases, units, 0.03, "0", at, 0.4).tolist() == [True, False]
    alarm = cases.scores["0"][:, None] >= at
    tp = [alarm[(patient == g) & cases.positive["0"]].sum(axis=0) for g in range(100)]
    alarms = np.array([alarm[patient == g].sum(axis=0) for g in range(100)])
    assert wagers[0][0] == pytest.approx(np.array(tp) - 0.4 * alarms)
    assert wagers[0][1:] == (pytest.approx(0.4 * 3), 0.03)
    test = CapacityTest(cases=cases, units=units, alpha=0.02, limit=0.3, exceed=None, once=False)
    assert test.passed(at[None]).tolist() == [True]
    raised = (cases.scores["0"] >= at[0]) * 1 + (cases.scores["1"] >= at[1])
    left = [0.3 * 3 - raised[patient == g].sum() for g in range(100)]
    assert wagers[1][0][:, 0] == pytest.approx(left)
    assert wagers[1][1:] == (pytest.approx(6 - 0.3 * 3), 0.02)


@pytest.mark.parametrize("answers", [(True, True), (True, False), (False, True)])
def test_blocks_pass_where_the_mean_and_the_days_above_do(monkeypatch, answers):
    y, s, days = daily(np.random.default_rng(9), 60)
    calendar = voros.Scenario(capacity=6, cost_ratio=1.0, per="day")
    cases = read_streams(y, s).in_periods(calendar, days, None)
    units = SplitUnits.from_cases(cases, 5)
    test = CapacityTest(cases=cases, units=units, alpha=0.1, limit=6.0, exceed=0.2, once=False)
    wagers = bets(monkeypatch, [[answer] for answer in answers])
    assert test.passed(np.array([[0.85, 0.9]])).tolist() == [all(answers)]
    alarms = np.bincount(days, cases_alarms(s, (0.85, 0.9)), 60).reshape(12, 5)
    largest = np.bincount(days // 5).max()
    for (sums, loss, alpha), block, most in (
        (wagers[0], 30 - alarms.sum(axis=1), 2 * largest - 30),
        (wagers[1], 1 - (alarms > 6).sum(axis=1), 4),
    ):
        assert sums[:, 0] == pytest.approx(block)
        assert (loss, alpha) == (pytest.approx(most), 0.1)
        assert (sums >= -loss).all()


def test_the_standard_error_is_that_of_the_units_that_choose():
    cases, units = halves()
    test = CapacityTest(cases=cases, units=units, alpha=0.1, limit=0.3, exceed=None, once=True)
    alarm = ((cases.scores["0"] >= 1) | (cases.scores["1"] >= 1.5))[~units.tested]
    n, p = len(alarm), alarm.mean()
    assert test.error((1.0, 1.5)) == pytest.approx(np.sqrt(n * p * (1 - p)))
    # Bets on days need room for the largest loss, a third of it at least.
    days, _, _ = in_days(60, None, 6)
    stake = -np.log(0.1) * days.largest_loss / TUNING.largest_stake * 20 / 40
    assert days.error((0.999, 0.999)) == pytest.approx(stake / 3)
