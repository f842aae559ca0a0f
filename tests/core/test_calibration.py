"""Calibration against counting, scikit-learn's and statsmodels' fits, and known populations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, optimize, special, stats
from sklearn.metrics import brier_score_loss

from voros import OperatingPoints
from voros.core import calibration
from voros.core.calibration import Calibration, RiskCounts, auroc_interval, calibration_curve
from voros.exceptions import ArgumentError


@pytest.fixture(params=[3, None])
def risks(request):
    rng = np.random.default_rng(4)
    risk = rng.random(400)
    y = rng.random(400) < risk**2
    return y, risk if request.param is None else risk.round(1).clip(0.05, 0.95)


def counted(y, risk):
    return RiskCounts.from_points(OperatingPoints.from_scores(y, risk))


def test_calibration_by_counting(risks):
    y, risk = risks
    curve = calibration_curve(counted(y, risk), n_bins=5)
    assert curve.cases.sum() == 400
    start = 0
    order = np.argsort(risk, kind="stable")
    for mean, observed, low, high, cases in zip(*vars(curve).values(), strict=True):
        rows = order[start : start + cases]
        assert mean == pytest.approx(risk[rows].mean())
        assert observed == pytest.approx(y[rows].mean())
        exact = stats.binomtest(int(y[rows].sum()), int(cases)).proportion_ci(0.95)
        assert (low, high) == pytest.approx((exact.low, exact.high), abs=1e-9)
        start += cases
        if start < 400:
            assert risk[order[start]] > risk[rows].max(), "equal risks share a bin"


def test_one_risk_for_all_is_one_bin():
    curve = calibration_curve(counted([True, False, False], np.full(3, 0.2)))
    assert (curve.cases.tolist(), curve.observed.tolist()) == ([3], pytest.approx([1 / 3]))


def of(y, risk, **options):
    return Calibration.from_points(OperatingPoints.from_scores(y, risk), **options)


def test_means_are_those_of_the_cases(risks):
    y, risk = risks
    result = of(y, risk, confidence_level=0.9)
    assert result.mean_risk == pytest.approx(risk.mean())
    exact = stats.binomtest(int(y.sum()), len(y)).proportion_ci(0.9)
    assert (result.observed.value, result.observed.low, result.observed.high) == pytest.approx(
        (y.mean(), exact.low, exact.high), abs=1e-9
    )
    squares = (risk - y) ** 2
    around = stats.norm.interval(0.9, squares.mean(), stats.sem(squares))
    assert result.brier.value == pytest.approx(brier_score_loss(y, risk))
    # A little wider than the normal interval, whose tails are too short above.
    assert (result.brier.low, result.brier.high) == pytest.approx(around, abs=0.003)


def test_intercept_and_slope_maximise_the_likelihood(risks):
    y, risk = risks
    logit = special.logit(risk)

    def loss(line):
        return -special.log_expit(np.where(y, 1, -1) * (line[0] + line[1] * logit)).sum()

    best = optimize.minimize(loss, [0.0, 1.0], method="Nelder-Mead", tol=1e-10).x
    large = optimize.minimize_scalar(lambda a: loss([a, 1.0])).x
    result = of(y, risk)
    assert result.slope.value == pytest.approx(best[1], abs=1e-5)
    assert result.in_the_large.value == pytest.approx(large, abs=1e-6)


@pytest.mark.extras
def test_intervals_are_those_of_a_generalised_linear_model(risks):
    api = pytest.importorskip("statsmodels.api", reason="statsmodels is not installed")
    y, risk = risks
    logit, ones = special.logit(risk), np.ones(len(y))
    family = api.families.Binomial()
    line = api.GLM(y.astype(float), np.column_stack([ones, logit]), family).fit(tol=1e-14)
    large = api.GLM(y.astype(float), ones, family, offset=logit).fit(tol=1e-14)
    result = of(y, risk)
    for ours, theirs in (
        (result.slope, line.conf_int()[1]),
        (result.in_the_large, large.conf_int()[0]),
    ):
        assert (ours.low, ours.high) == pytest.approx(tuple(theirs), abs=1e-6)


@pytest.mark.parametrize(("shift", "spread"), [(0.0, 1.0), (-0.7, 1.0), (0.3, 0.5), (8.0, 3.0)])
def test_a_population_of_known_line_is_found(shift, spread):
    rng = np.random.default_rng(5)
    logit = rng.normal(-1, 1, 40_000)
    y = rng.random(40_000) < special.expit(spread * logit + shift)
    if 0 < y.sum() < len(y):
        result = of(y, special.expit(logit))
        error = (result.slope.high - result.slope.low) / 3.92
        assert abs(result.slope.value - spread) < 3 * error


def test_many_risks_put_together_move_a_line_by_a_thousandth_of_its_error(monkeypatch):
    rng = np.random.default_rng(7)
    logit = rng.normal(-2, 2, 60_000)
    y, risk = rng.random(60_000) < special.expit(0.7 * logit + 0.2), special.expit(logit)
    risk[:2] = 0.0, 1.0
    merged = of(y, risk)
    monkeypatch.setattr(calibration, "MOST_RISKS", len(y))
    exact = of(y, risk)
    for ours, theirs in ((merged.slope, exact.slope), (merged.in_the_large, exact.in_the_large)):
        error = (theirs.high - theirs.low) / 3.92
        assert vars(ours) == pytest.approx(vars(theirs), abs=1e-3 * error)
    assert merged.smooth[1] == pytest.approx(exact.smooth[1], abs=1e-5)
    assert (merged.certain, merged.brier, merged.mean_risk) == (2, exact.brier, exact.mean_risk)
    for name, values in vars(merged.curve).items():
        assert values.tolist() == getattr(exact.curve, name).tolist(), name


@pytest.mark.slow
def test_intervals_hold_in_95_of_100_samples():
    rng, hits, runs = np.random.default_rng(6), np.zeros(4), 2000
    logits, x = stats.norm(-1, 1), np.linspace(-9, 9, 4001)
    density = logits.pdf(x) * special.expit(x), logits.pdf(x) * special.expit(-x)
    above, below = (
        class_density / integrate.trapezoid(class_density, x) for class_density in density
    )
    auroc = integrate.trapezoid(above * integrate.cumulative_trapezoid(below, x, initial=0), x)
    brier = logits.expect(lambda v: special.expit(v) * special.expit(-v))
    for _ in range(runs):
        risk = special.expit(logits.rvs(400, random_state=rng))
        points = OperatingPoints.from_scores(rng.random(400) < risk, risk)
        result = Calibration.from_points(points)
        intervals = result.in_the_large, result.slope, result.brier, auroc_interval(points)
        for i, (one, true) in enumerate(zip(intervals, (0.0, 1.0, brier, auroc), strict=True)):
            hits[i] += one.low <= true <= one.high
    # Monte Carlo error 0.5 %. The interval of the AUROC is conservative.
    held = hits / runs
    assert (held > 0.935).all(), held
    assert (held < [0.965, 0.965, 0.965, 0.98]).all(), held


@pytest.mark.parametrize(
    ("risk", "reason"),
    [
        ([0.0, 0.0, 0.3, 0.6], "the cases with a risk between 0 and 1 are of one class"),
        ([0.0, 0.4, 0.4, 1.0], "all cases have the same risk"),
        ([0.3, 0.3, 0.3, 0.3], "all cases have the same risk"),
        ([0.1, 0.2, 0.3, 0.6], "the risks separate the classes"),
        ([0.9, 0.8, 0.3, 0.6], "the risks separate the classes"),
    ],
)
def test_what_has_no_line_says_why(risk, reason):
    result = of([0, 0, 1, 1], risk)
    assert result.slope is None is result.in_the_large
    assert reason in result.missing


def test_certain_risks_are_left_out_of_the_line_alone(risks):
    """As rms::val.prob of R does."""
    y, risk = risks
    sure = np.where(risk < 0.2, 0.0, np.where(risk > 0.9, 1.0, risk))
    inner = (sure > 0) & (sure < 1)
    result, rest = of(y, sure), of(y[inner], sure[inner])
    assert result.certain == (~inner).sum()
    assert (result.slope, result.in_the_large) == (rest.slope, rest.in_the_large)
    assert result.brier.value == pytest.approx(brier_score_loss(y, sure))
    assert result.curve.cases.sum() == len(y)


def test_what_is_no_risk_is_refused():
    with pytest.raises(ArgumentError, match="runs from 1 to 7; accepted are probabilities"):
        of([0, 1], [1.0, 7.0])
    weighted = OperatingPoints.from_scores([0, 1], [0.1, 0.7], sample_weight=[1.5, 2.0])
    with pytest.raises(ArgumentError, match="accepted are whole cases"):
        Calibration.from_points(weighted)


@pytest.mark.slow
def test_the_interval_of_the_brier_score_holds_with_few_positives():
    """Five positives in a hundred: the normal interval held in 91 %."""
    logits = stats.norm(np.log(0.05 / 0.95) - 0.7, 1.3)
    true = logits.expect(lambda v: special.expit(v) * special.expit(-v))
    held = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        risk = special.expit(logits.rvs(100, random_state=rng))
        y = rng.random(100) < risk
        if not y.any():
            continue
        brier = of(y, risk).brier
        held += brier.low <= true <= brier.high
    assert held >= 280
