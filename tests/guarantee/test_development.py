"""Model and thresholds fixed on development cases, certified on validation cases."""

import json

import numpy as np
import pytest
from scipy import stats

import voros
from voros.exceptions import ArgumentError, NeverAlarmWarning
from voros.guarantee.development import Goal, Plan
from voros.guarantee.next_cases.one_threshold import needed_once

SCENARIO = voros.Scenario(0.5, 0.2, (1 / 40, 1 / 20))


def draw(rng, n_cases, separation=1.8, prevalence=0.2):
    y = rng.random(n_cases) < prevalence
    return y, separation * y + rng.normal(size=n_cases)


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def certify(y, score, development, horizon, scenario=SCENARIO, **how):
    guarantee = voros.Guarantee(0.95, horizon)
    return voros.ThresholdPolicy.from_validation(
        y, score, scenario, guarantee=guarantee, development=development, **how
    )


@pytest.mark.parametrize("horizon", [None, 1000])
def test_the_thresholds_are_development_scores_whatever_the_validation_cases(rng, horizon):
    development, (y, score) = draw(rng, 2000), draw(rng, 1000)
    policy = certify(y, score, development, horizon)
    deployed = policy.thresholds[np.isfinite(policy.thresholds)]
    assert len(deployed)
    assert np.isin(deployed, development[1]).all()
    # What is counted is what the validation cases show there.
    alarms = score >= policy.default.threshold
    assert (policy.default.alarms, policy.default.tp) == (alarms.sum(), (alarms & y).sum())


@pytest.mark.parametrize("horizon", [None, 1000])
def test_the_plan_looks_at_no_validation_case(rng, horizon):
    points = voros.OperatingPoints.from_scores(*draw(rng, 1500))
    goal = Goal(n_cases=1000, horizon=horizon, alpha=0.05, scenario=SCENARIO, false_alarm_cost=0.04)
    plans = [Plan.from_development({"a": points}, goal) for _ in range(2)]
    assert plans[0] == plans[1]


@pytest.mark.filterwarnings("ignore::voros.exceptions.NeverAlarmWarning")
@pytest.mark.parametrize(("tp", "passes"), [(59, True), (58, False)])
def test_one_threshold_is_tested_with_the_whole_error_for_the_population(tp, passes):
    """P(Bin(100, .5) >= 59) = .0443 and P(Bin(100, .5) >= 58) = .0666; the capacity takes none."""
    y_dev = np.repeat([True, False], 500)
    score = np.repeat([1.0, 0.0], [100, 900])
    y = np.zeros(1000, dtype=bool)
    y[:tp] = y[-100:] = True
    policy = certify(y, score, (y_dev, y_dev.astype(float)), None)
    assert policy.never_alarms != passes


def test_for_the_next_cases_one_threshold_is_deployed(rng):
    policy = certify(*draw(rng, 1000), draw(rng, 2000), 2000)
    deployed = policy.thresholds[np.isfinite(policy.thresholds)]
    assert len(deployed) == 1


def test_a_policy_says_how_it_was_certified(rng, tmp_path):
    policy = certify(*draw(rng, 1000), draw(rng, 2000), 2000)
    assert policy.origin.n_development == 2000
    assert policy.n_models == 1
    assert "development cases" in policy.origin.plan
    assert policy.origin.plan in policy._repr_html_()
    policy.to_json(tmp_path / "policy.json")
    saved = json.loads((tmp_path / "policy.json").read_text())
    assert saved["origin"]["n_development"] == 2000
    assert voros.ThresholdPolicy.from_json(tmp_path / "policy.json") == policy


def test_the_message_says_what_was_needed(rng):
    development, (y, score) = draw(rng, 2000, 0.8), draw(rng, 400, 0.8)
    goal = Goal(n_cases=400, horizon=800, alpha=0.05, scenario=SCENARIO, false_alarm_cost=0.0375)
    points = voros.OperatingPoints.from_scores(*development)
    plan = Plan.from_development({"model": points}, goal)
    with pytest.warns(NeverAlarmWarning, match="fixed on 2,000 development cases") as warned:
        certify(y, score, development, 800)
    alarms = int((score >= plan.thresholds[0]).sum())
    test = plan.test
    needed = needed_once(test)[alarms - test.least]
    assert f"in {alarms:,} validation alarms; {needed} are needed" in str(warned[0].message)


def test_many_models_are_certified_with_the_whole_error_of_one(rng):
    def models(n_cases):
        y = rng.random(n_cases) < 0.2
        common = rng.normal(size=n_cases)
        gains = np.linspace(1.0, 2.0, 8)
        return y, {
            f"m{i}": gain * y + 0.8 * common + 0.6 * rng.normal(size=n_cases)
            for i, gain in enumerate(gains)
        }

    development, (y, scores) = models(3000), models(1500)
    selection = voros.select_model(
        y, scores, SCENARIO, guarantee=voros.Guarantee(0.95), development=development
    )
    assert selection.winner in ("m5", "m6", "m7")
    assert selection.n_development == 3000
    assert [row.model for row in selection.ranking if row.feasible] == [selection.winner]
    policy = selection.policy()
    alone = certify(
        y, scores[selection.winner], (development[0], development[1][selection.winner]), None
    )
    assert policy.thresholds.tolist() == alone.thresholds.tolist()
    with pytest.raises(ValueError, match=f"accepted are '{selection.winner}'"):
        selection.policy(model="m0")


def test_a_data_frame_of_models_works(rng):
    pandas = pytest.importorskip("pandas")
    (y_dev, dev), (y, score) = draw(rng, 1500), draw(rng, 1000)
    frames = [pandas.DataFrame({"a": s, "b": -s}) for s in (dev, score)]
    selection = voros.select_model(
        y, frames[1], SCENARIO, guarantee=voros.Guarantee(0.95), development=(y_dev, frames[0])
    )
    assert selection.winner == "a"
    assert repr(selection).startswith("winner fixed on 1,500 development cases")


@pytest.mark.parametrize("strategy", ["recall", "partial_auroc", "voros"])
def test_every_strategy_takes_development_cases(rng, strategy):
    (y_dev, dev), (y, score) = draw(rng, 1500), draw(rng, 1000)
    scores = {"good": score, "bad": rng.normal(size=1000)}
    developed = (y_dev, {"good": dev, "bad": rng.normal(size=1500)})
    selection = voros.select_model(
        y, scores, SCENARIO, strategy=strategy, guarantee=voros.Guarantee(), development=developed
    )
    assert selection.winner == "good"
    assert selection.ranking[0].feasible


def test_where_groups_repeat_development_cases_choose_the_model(rng):
    (y_dev, dev), (y, score) = draw(rng, 1500, 3.0), draw(rng, 3000, 3.0)
    groups = np.repeat(np.arange(1500), 2)
    scores = {"bad": rng.normal(size=3000), "good": score}
    developed = (y_dev, {"bad": rng.normal(size=1500), "good": dev})
    guarantee = voros.Guarantee(0.95)
    selection = voros.select_model(
        y, scores, SCENARIO, guarantee=guarantee, development=developed, groups=groups
    )
    alone = voros.ThresholdPolicy.from_validation(
        y, score, SCENARIO, guarantee=guarantee, n_models=1, groups=groups
    )
    assert selection.winner == "good"
    assert selection.policy().thresholds.tolist() == alone.thresholds.tolist()
    with pytest.raises(ArgumentError, match="groups of several cases"):
        certify(y, score, (y_dev, dev), None, groups=groups)


def test_what_development_cases_cannot_help_with_is_refused_by_name(rng):
    development, (y, score) = draw(rng, 500), draw(rng, 500)
    with pytest.raises(ArgumentError, match="development needs a guarantee"):
        voros.ThresholdPolicy.from_validation(y, score, SCENARIO, development=development)
    with pytest.raises(ArgumentError, match="development needs a guarantee"):
        voros.select_model(y, score, SCENARIO, development=development)
    with pytest.raises(ArgumentError, match="accepted is a pair of labels and scores"):
        certify(y, score, development[0], None)
    with pytest.raises(ValueError, match="whole cases"):
        certify(y, score, development, None, sample_weight=np.full(500, 2.5))
    daily = voros.Scenario(0.5, 5, (1 / 40, 1 / 20), per="day")
    with pytest.raises(ArgumentError, match="development cannot be combined with a capacity per"):
        certify(y, score, development, None, daily, periods=np.repeat(np.arange(50), 10))
    elsewhere = voros.Scenario(0.5, 0.2, (1 / 40, 1 / 20), prevalence=0.1)
    with pytest.raises(ArgumentError, match="prevalence"):
        certify(y, score, development, None, elsewhere)
    ladder = voros.Guarantee((0.95, 0.9, 0.8))
    for several in (ladder, ladder.at(0.9)):
        with pytest.raises(ArgumentError, match="thresholds for one confidence"):
            voros.select_model(y, score, SCENARIO, guarantee=several, development=development)
    guarantee = voros.Guarantee()
    with pytest.raises(ArgumentError, match="only one of them has 'other'"):
        voros.select_model(
            y,
            {"a": score},
            SCENARIO,
            guarantee=guarantee,
            development=(development[0], {"a": development[1], "other": development[1]}),
        )


def test_a_capacity_in_whole_alarms_is_one_per_horizon(rng):
    development, (y, score) = draw(rng, 4000), draw(rng, 2000)
    counted, shared = (
        certify(y, score, development, 500, voros.Scenario(0.5, capacity, (1 / 40, 1 / 20)))
        for capacity in (50, 0.1)
    )
    assert counted.default.threshold == shared.default.threshold


@pytest.mark.parametrize("horizon", [None, 200, 2000])
def test_ties_and_few_distinct_scores_are_certified(rng, horizon):
    (y_dev, dev), (y, score) = draw(rng, 2000, 2.5), draw(rng, 2000, 2.5)
    policy = certify(y, np.floor(score), (y_dev, np.floor(dev)), horizon)
    assert not policy.never_alarms


@pytest.mark.parametrize(
    "horizon", [400, *(pytest.param(n, marks=pytest.mark.slow) for n in (None, 40, 4000))]
)
@pytest.mark.parametrize(("floor", "precision"), [(0.5, 0.499), (0.9, 0.9)])
def test_a_plateau_at_the_floor_breaks_as_rarely_as_promised(horizon, floor, precision):
    """A precision at or just below the floor at every threshold, the worst for the population."""
    rng, runs, n_cases = np.random.default_rng(0), 1000, 400
    points = voros.OperatingPoints.from_scores(rng.random(2000) < 0.95, rng.random(2000))
    goal = Goal(
        n_cases=n_cases, horizon=horizon, alpha=0.05, scenario=voros.Scenario(floor, 0.4, 0.01)
    )
    plan = Plan.from_development({"a": points}, goal)
    share = 1 - np.array(plan.thresholds)
    bins = np.append(np.diff(share, prepend=0), 1 - share[-1])
    broken = 0
    for cases, later in zip(
        *(rng.multinomial(n, bins, runs) for n in (n_cases, horizon or 1)), strict=True
    ):
        tp, alarms = (np.cumsum(by_bin[:-1]) for by_bin in (rng.binomial(cases, precision), cases))
        counts = voros.OperatingPoints(
            np.append(np.inf, plan.thresholds),
            np.append(0, tp),
            np.append(0, alarms - tp),
            200,
            200,
        )
        passed = np.flatnonzero(plan.passed(counts)[1:])
        if horizon is None:
            broken += len(passed) > 0 and precision < floor
        elif len(passed):
            later_alarms = later[: passed[0] + 1].sum()
            broken += (
                rng.binomial(later_alarms, precision) < floor * later_alarms - 1e-9
                or later_alarms > 0.4 * horizon
            )
    assert stats.binom.sf(broken - 1, runs, 0.05) > 0.001


def test_of_thresholds_with_the_same_validation_alarms_the_strictest_is_deployed() -> None:
    """No validation case lies between 2 and 3, so nothing was seen of what 2 alarms beyond 3."""
    points = voros.OperatingPoints.from_scores(np.arange(100) < 30, np.repeat([4.0, 0.0], [30, 70]))
    goal = Goal(n_cases=100, horizon=None, alpha=0.05, scenario=voros.Scenario(0.5, 0.5, 0.1))
    plan = Plan(
        goal=goal, model="model", thresholds=(3.0, 2.0), shares=(0.3, 0.32), n_development=1000
    )
    counts = plan.counts(points)
    assert counts.alarms.tolist() == [0, 30, 30]
    assert plan.passed(counts).tolist() == [True, True, False]


def test_a_good_model_uses_most_of_a_capacity_that_binds(rng):
    """Known in advance, the largest share that keeps the capacity catches .624 of the positives."""
    scenario = voros.Scenario(0.5, 0.1, (1 / 40, 1 / 20))
    caught = []
    for _ in range(12):
        development, (y, score) = draw(rng, 2500, 4.0, 0.14), draw(rng, 1250, 4.0, 0.14)
        policy = certify(y, score, development, 1250, scenario)
        caught.append(stats.norm.sf(policy.default.threshold - 4.0))
    share = stats.binom.isf(0.05, 1250, np.linspace(0.07, 0.1, 301)) <= 125
    largest = np.linspace(0.07, 0.1, 301)[share].max()
    assert largest / 0.14 == pytest.approx(0.624, abs=0.006)
    assert np.mean(caught) > 0.54


@pytest.mark.filterwarnings("ignore::voros.exceptions.NeverAlarmWarning")
def test_thresholds_that_flag_more_validation_cases_still_pass(rng):
    """Scores of other fits: a quarter more validation cases than development cases are alarms."""
    scenario = voros.Scenario(0.5, 0.1, (1 / 40, 1 / 20))
    passed = 0
    for _ in range(12):
        y_dev, scores = draw(rng, 2500, 4.0, 0.14)
        y, score = draw(rng, 1250, 4.0, 0.14)
        threshold = np.quantile(scores, 0.925)
        moved = score + threshold - np.quantile(score, 1 - 1.25 * 0.075)
        passed += np.isfinite(certify(y, moved, (y_dev, scores), 1250, scenario).default.threshold)
    assert passed >= 11
