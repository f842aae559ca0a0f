"""Model and thresholds fixed on development cases, certified on validation cases."""

import json

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import minimize

import voros
from voros.exceptions import ArgumentError, NeverAlarmWarning
from voros.guarantee.development import Goal, Plan, _fitted_logit
from voros.guarantee.next_cases.one_threshold import needed_once
from voros.guarantee.tuning import TUNING

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


def mean_saved(rng, separation, n_development, n_cases, *, moved=0.0, prevalence=0.14):
    """Share of the misses saved in the population, less false alarms, over six development samples.

    ``moved`` is added to later scores, as those of other fits may be higher.
    """
    scenario, cost, saved = voros.Scenario(0.5, 0.1, (1 / 40, 1 / 20)), 0.0375, []
    goal = Goal(
        n_cases=n_cases, horizon=n_cases, alpha=0.05, scenario=scenario, false_alarm_cost=cost
    )
    for _ in range(6):
        drawn = draw(rng, n_development, separation, prevalence)
        plan = Plan.from_development({"a": voros.OperatingPoints.from_scores(*drawn)}, goal)
        thresholds = np.array(plan.thresholds) - moved
        tp = prevalence * stats.norm.sf(thresholds - separation)
        fp = (1 - prevalence) * stats.norm.sf(thresholds)
        shares = np.concatenate([np.diff(tp, prepend=0), np.diff(fp, prepend=0)])
        counts = rng.multinomial(n_cases, np.append(shares, 1 - shares.sum()), size=300)
        n_tp, n_fp = np.cumsum(counts[:, :-1].reshape(300, 2, -1), axis=2).transpose(1, 0, 2)
        passes = n_tp >= plan.needed((n_tp + n_fp).ravel()).reshape(n_tp.shape)
        n_passed = np.logical_and.accumulate(passes, axis=1).sum(axis=1)
        saved.append(np.append(0, (tp - cost * fp) / prevalence)[n_passed].mean())
    return np.mean(saved)


def test_a_good_model_saves_nearly_as_much_as_any_procedure_can(rng):
    """AUROC .9: at most three thresholds save .413, and no procedure saves more than .458."""
    assert 0.42 < mean_saved(rng, 1.81, 1000, 2000) < 0.458


def test_thresholds_that_flag_a_third_more_validation_cases_still_pass(rng):
    """Plans that expect as many alarms as on development cases save .28: often nothing passes."""
    assert mean_saved(rng, 4.0, 2500, 1250, moved=0.35) > 0.52


@pytest.mark.parametrize(
    ("separation", "prevalence"), [(0, 0.11), (1, 0.11), (3, 0.02), (5, 0.11), (7, 0.11)]
)
def test_the_curve_of_a_model_of_any_strength_is_the_most_likely_parabola(
    rng, separation, prevalence
):
    y, score = draw(rng, 5000, separation, prevalence)
    ends = np.unique(np.geomspace(6, 5000, 110).astype(int))
    total = np.diff(ends, prepend=0)
    positive = np.diff(np.cumsum(y[np.argsort(-score)])[ends - 1], prepend=0)
    place = stats.norm.ppf((ends - total / 2) / 5000)
    design = np.stack([np.ones(len(ends)), place, place**2], axis=1)

    def loss(fitted):
        logit = design @ fitted
        likely = (total * np.logaddexp(0, logit) - positive * logit).sum()
        return likely + np.dot(TUNING.plan_penalty, fitted**2) / 2

    fitted = np.linalg.lstsq(design, _fitted_logit(place, positive, total), rcond=None)[0]
    assert loss(fitted) <= minimize(loss, np.zeros(3)).fun + 1e-3
