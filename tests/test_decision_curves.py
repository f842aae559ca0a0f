"""Net benefit: Vickers' formula case by case, dcurves' own numbers, and the relation to cost."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate

import voros
from voros.core.decision import solve

PROBABILITIES = np.arange(0, 100) / 100


def drawn(seed: int, n: int = 400) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.2
    risk = 1 / (1 + np.exp(2.5 - 1.8 * y - rng.normal(size=n)))
    return y, np.round(risk, 2)


def counted(y: np.ndarray, alarm: np.ndarray, p: float) -> float:
    tp, fp = int((y & alarm).sum()), int((~y & alarm).sum())
    return (tp - fp * p / (1 - p)) / len(y)


def test_as_scored_is_the_formula_case_by_case() -> None:
    y, risk = drawn(0)
    expected = [counted(y, risk >= p, p) for p in PROBABILITIES]
    np.testing.assert_allclose(
        voros.net_benefit(y, risk, threshold_probability=PROBABILITIES), expected, atol=1e-14
    )


@given(seed=st.integers(0, 10_000), capacity=st.sampled_from([0.05, 0.2, 1.0]))
def test_within_limits_is_the_best_of_all_thresholds(seed: int, capacity: float) -> None:
    y, risk = drawn(seed, 60)
    if not 0 < y.sum() < len(y):
        return
    scenario = voros.Scenario(min_precision=0.3, capacity=capacity, cost_ratio=0.1)
    allowed = [np.zeros(len(y), dtype=bool)]
    for threshold in np.unique(risk):
        alarm = risk >= threshold
        if alarm.sum() <= capacity * len(y) and y[alarm].mean() >= 0.3:
            allowed.append(alarm)
    for p in (0.01, 0.1, 0.3):
        best = max(counted(y, alarm, p) for alarm in allowed)
        benefit = voros.net_benefit(y, risk, scenario, threshold_probability=p)
        assert float(benefit) == pytest.approx(best, abs=1e-12)


def test_limits_cost_net_benefit_and_never_give_any() -> None:
    y, risk = drawn(1)
    points = voros.OperatingPoints.from_scores(y, risk)
    curve = voros.decision_curves.DecisionCurve.from_points(
        points, PROBABILITIES, scenario=voros.Scenario(0.4, 0.05, cost_ratio=1)
    )
    assert (curve.cost_of_limits >= 0).all()
    assert curve.cost_of_limits.max() > 0.01
    assert (curve.best >= curve.as_scored - 1e-15).all()
    assert (curve.best >= np.maximum(curve.treat_all, 0) - 1e-15).all()


def test_net_benefit_orders_models_as_partial_voros_does_at_a_known_cost() -> None:
    rng = np.random.default_rng(2)
    y = rng.random(3000) < 0.1
    models = [rng.normal(size=3000) + effect * y for effect in (0.5, 0.9, 1.3, 1.7)]
    for c in (1 / 30, 1 / 10):
        scenario = voros.Scenario(min_precision=0.2, capacity=0.15, cost_ratio=c)
        benefit = [
            float(voros.net_benefit(y, score, scenario, threshold_probability=c / (1 + c)))
            for score in models
        ]
        share = [voros.partial_voros_score(y, score, scenario) for score in models]
        assert np.argsort(benefit).tolist() == np.argsort(share).tolist()


def test_over_uncertain_prices_the_means_may_order_models_the_other_way_round() -> None:
    """The example of docs/net-benefit.md: mean net benefit by hand, partial VOROS by quadrature."""
    scenario = voros.Scenario(min_precision=0.25, cost_ratio=(0.01, 0.3))
    published = {}
    for fpr, tpr in ((0.01, 0.38), (0.24, 0.72)):
        points = voros.OperatingPoints.from_points([fpr], [tpr], 100, 900)
        prices = np.linspace(0.01, 0.3, 2001)
        curve = voros.decision_curves.DecisionCurve.from_points(
            points, prices / (1 + prices), scenario=scenario
        )
        by_hand = (100 * tpr - 0.155 * 900 * fpr) / 1000  # an alarm pays at every price here
        assert curve.within_limits.mean() == pytest.approx(by_hand, abs=1e-12)
        # The region is the triangle above the line of precision 0.25, whose slope is 3; the line of
        # equal cost of slope 9 c leaves it through that line, or for 9 c above 1 through y = 1.
        slope = 9 * prices
        height = tpr - slope * fpr
        lesser = np.where(
            height + slope / 3 <= 1,
            height**2 / (2 * (3 - slope)),
            1 / 6 - (1 - height) ** 2 / (2 * slope),
        )
        share = integrate.trapezoid(6 * lesser, prices) / (prices[-1] - prices[0])
        assert voros.evaluate(points, scenario=scenario).score == pytest.approx(share, abs=1e-5)
        published[fpr] = by_hand, share
    assert published[0.01] == pytest.approx((0.0366, 0.2916), abs=5e-5)
    assert published[0.24] == pytest.approx((0.0385, 0.2773), abs=5e-5)


def test_net_benefit_is_the_prevalence_times_the_height_of_the_line_of_equal_cost() -> None:
    y, risk = drawn(3)
    scenario = voros.Scenario(capacity=0.1, cost_ratio=1)
    decision = solve(voros.OperatingPoints.from_scores(y, risk), scenario)
    p = 0.08
    slope = p / (1 - p) * (~y).sum() / y.sum()
    rows = np.flatnonzero(decision.feasible)
    height = (decision.points.tpr - slope * decision.points.fpr)[rows].max()
    assert float(voros.net_benefit(y, risk, scenario, threshold_probability=p)) == pytest.approx(
        y.mean() * height
    )


def test_another_prevalence_is_that_of_repeated_cases() -> None:
    y, risk = drawn(4, 300)
    rare = voros.Scenario(cost_ratio=1, prevalence=y.sum() / (y.sum() + 3 * (~y).sum()))
    repeated = np.concatenate([y, y[~y], y[~y]]), np.concatenate([risk, risk[~y], risk[~y]])
    expected = voros.net_benefit(
        *repeated, voros.Scenario(cost_ratio=1), threshold_probability=0.05
    )
    assert float(voros.net_benefit(y, risk, rare, threshold_probability=0.05)) == pytest.approx(
        float(expected)
    )


@pytest.mark.extras
def test_equal_to_dcurves_on_its_own_example() -> None:
    dcurves = pytest.importorskip("dcurves", reason="dcurves is not installed")
    pandas = pytest.importorskip("pandas")
    from pathlib import Path

    cases = pandas.read_csv(Path(dcurves.data) / "df_binary.csv")
    # At 0 dcurves leaves out scores of 0, although its rule elsewhere is score >= threshold.
    above_zero = PROBABILITIES[1:]
    models = ["famhistory", "cancerpredmarker"]
    theirs = dcurves.dca(data=cases, outcome="cancer", modelnames=models, thresholds=above_zero)
    for model in models:
        rows = theirs[theirs["model"] == model].sort_values("threshold")
        ours = voros.net_benefit(
            cases["cancer"], cases[model].astype(float), threshold_probability=above_zero
        )
        np.testing.assert_allclose(ours, rows["net_benefit"], atol=1e-12)


def followed(seed: int, n: int = 300) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Events and times, many of them equal, of cases of which half are censored."""
    rng = np.random.default_rng(seed)
    risk = rng.random(n).round(2)
    event_time, censored = rng.exponential(2 / (0.1 + risk)), rng.exponential(4, n)
    return event_time <= censored, np.minimum(event_time, censored).round(1), risk


def kaplan_meier(event: np.ndarray, time: np.ndarray, horizon: float) -> float:
    free = 1.0
    for t in sorted(set(time[event & (time <= horizon)])):
        free *= 1 - (event & (time == t)).sum() / (time >= t).sum()
    return 1 - free


def test_censored_cases_count_as_kaplan_and_meier_estimate_them() -> None:
    event, time, risk = followed(0)
    benefit = voros.net_benefit(
        event, risk, threshold_probability=[0.1, 0.5, 0.9], follow_up=time, time_horizon=3
    )
    for i, p in enumerate((0.1, 0.5, 0.9)):
        alarm, price = risk >= p, p / (1 - p)
        share = kaplan_meier(event[alarm], time[alarm], 3)
        assert benefit[i] == pytest.approx(alarm.mean() * (share - price * (1 - share)))


def test_without_censoring_they_are_plain_cases() -> None:
    _, time, risk = followed(1)
    p = np.arange(1, 10) / 10
    plain = voros.net_benefit(time <= 3, risk, threshold_probability=p)
    censored = voros.net_benefit(
        np.ones(300), risk, threshold_probability=p, follow_up=time, time_horizon=3
    )
    np.testing.assert_allclose(censored, plain, atol=1e-12)


def test_weights_and_follow_up_exclude_each_other() -> None:
    event, time, risk = followed(2)
    how = {"threshold_probability": 0.2, "time_horizon": 2}
    with pytest.raises(ValueError, match="sample_weight cannot be combined with follow_up"):
        voros.net_benefit(event, risk, follow_up=time, sample_weight=np.ones(300), **how)


@pytest.mark.slow
def test_a_known_population_is_found_through_censoring() -> None:
    """Exponential times: the share with an event by h is the mean of 1 - exp(-h rate)."""
    rng = np.random.default_rng(3)
    n, p, price = 400_000, 0.3, 0.3 / 0.7
    risk = rng.random(n)
    event_time, censored = rng.exponential(1 / (0.2 + risk)), rng.exponential(2, n)
    benefit = voros.net_benefit(
        event_time <= censored,
        risk,
        threshold_probability=p,
        follow_up=np.minimum(event_time, censored),
        time_horizon=1.5,
    )
    # Above p the rate is uniform between .5 and 1.2.
    share = 1 - (np.exp(-0.75) - np.exp(-1.8)) / (1.5 * 0.7)
    assert float(benefit) == pytest.approx(0.7 * (share - price * (1 - share)), abs=0.004)


def test_nobody_followed_until_then_is_not_a_number() -> None:
    how = {"threshold_probability": [0.0, 0.5, 0.95], "time_horizon": 5}
    benefit = voros.net_benefit([1, 0, 0], [0.9, 0.6, 0.1], follow_up=[1, 2, 9], **how)
    # Among all the share is 1/3; above .5 the last was censored at 2; above .95 is nobody.
    np.testing.assert_allclose(benefit, [1 / 3, np.nan, 0.0])


@pytest.mark.extras
def test_censored_cases_are_equal_to_those_of_dcurves() -> None:
    dcurves = pytest.importorskip("dcurves", reason="dcurves is not installed")
    pandas = pytest.importorskip("pandas")
    from pathlib import Path

    cases = pandas.read_csv(Path(dcurves.data) / "df_surv.csv")
    at = np.arange(1, 51) / 100
    theirs = dcurves.dca(
        data=cases,
        outcome="cancer",
        modelnames=["cancerpredmarker"],
        thresholds=at,
        time=1.5,
        time_to_outcome_col="ttcancer",
    )
    rows = theirs[theirs["model"] == "cancerpredmarker"].sort_values("threshold")
    how = {"threshold_probability": at, "follow_up": cases["ttcancer"], "time_horizon": 1.5}
    ours = voros.net_benefit(cases["cancer"], cases["cancerpredmarker"], **how)
    np.testing.assert_allclose(ours, rows["net_benefit"], atol=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"follow_up": [1, 2]}, "time_horizon is missing"),
        ({"time_horizon": 2}, "follow_up is missing"),
        ({"follow_up": [1, 2], "time_horizon": 0}, "time_horizon=0; accepted is a time above 0"),
        ({"follow_up": [1, -2], "time_horizon": 1}, "follow_up holds a time that is not"),
        ({"follow_up": [1], "time_horizon": 1}, "follow_up"),
        (
            {"follow_up": [1, 2], "time_horizon": 1, "scenario": voros.Scenario(cost_ratio=1)},
            "a scenario cannot be given with it",
        ),
    ],
)
def test_follow_up_is_read_or_refused(options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        voros.net_benefit([0, 1], [0.2, 0.7], threshold_probability=0.1, **options)


def test_what_is_no_probability_is_refused() -> None:
    with pytest.raises(ValueError, match=r"y_score runs from 1 to 7; accepted are probabilities"):
        voros.net_benefit([0, 1], [1.0, 7.0], threshold_probability=0.1)
    with pytest.raises(ValueError, match=r"threshold_probability holds 1; accepted .* \[0, 1\)"):
        voros.net_benefit([0, 1], [0.1, 0.7], threshold_probability=[0.5, 1.0])


def test_a_legend_names_every_kind_of_line() -> None:
    pytest.importorskip("matplotlib").use("Agg")
    y, risk = drawn(5)
    points = voros.OperatingPoints.from_scores(y, risk)
    limits = voros.Scenario(0.3, 0.05, cost_ratio=0.1)

    def words(*scenario: voros.Scenario) -> set[str]:
        drawn_on = voros.plotting.DecisionCurveDisplay.from_points({"risk": points}, *scenario).ax_
        return {label.get_text().replace("\n", " ") for label in drawn_on.get_legend().get_texts()}

    usual = {"risk", "alarm at the threshold probability", "an alarm for everybody"}
    assert words() == usual
    assert words(limits) == usual | {"without limits"}


def test_censored_curves_are_drawn_as_they_are_computed() -> None:
    pytest.importorskip("matplotlib", reason="pictures need matplotlib")
    import matplotlib.pyplot as plt

    from voros.plotting import DecisionCurveDisplay

    rng = np.random.default_rng(1)
    y, months = rng.random(60) < 0.5, rng.exponential(4, 60)
    scores = {"a": rng.random(60), "b": rng.random(60)}
    censored = {"follow_up": months, "time_horizon": 3.0}
    at = [0.1, 0.3, 0.5]
    draw = DecisionCurveDisplay.from_predictions
    display = draw(y, scores, probabilities=at, **censored)
    assert not display.as_scored_
    assert not display.unlimited_
    for model, score in scores.items():
        benefit = voros.net_benefit(y, score, threshold_probability=at, **censored)
        np.testing.assert_allclose(display.curves_[model].get_ydata(), benefit)
    assert list(draw(y, {"risk": scores["a"]}, **censored).curves_) == ["risk"]
    with pytest.raises(voros.exceptions.ArgumentError, match="leave the scenario out"):
        draw(y, scores, voros.Scenario(cost_ratio=1), **censored)
    plt.close("all")
