"""The curve of risks against a general optimiser, repeated draws, and cases that are copies."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import CubicSpline
from scipy.optimize import minimize

from voros.core.risk_curve import PERCENTILES, RiskCurve


def drawn(seed: int, n: int = 400) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    place = rng.normal(size=n)
    return rng.random(n) < 1 / (1 + np.exp(1.5 - 2 * np.tanh(place))), place


def natural_spline(knots: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Interpolate 1 at each knot and 0 at the others; linear beyond them."""
    columns = []
    for unit in np.eye(3):
        inner = CubicSpline(knots, unit, bc_type="natural")
        inside = np.clip(at, knots[0], knots[-1])
        columns.append(inner(inside) + inner(inside, 1) * (at - inside))
    return np.column_stack(columns)


def test_the_curve_is_the_most_likely_natural_spline() -> None:
    positive, place = drawn(0)
    n_positive = positive.sum()
    rank = np.ceil(np.array(PERCENTILES) / 100 * n_positive).astype(int) - 1
    design = natural_spline(np.sort(place[positive])[rank], place)
    pulled = np.where(positive, 1 - 1 / (n_positive + 2), 1 / ((~positive).sum() + 2))

    def loss(line: np.ndarray) -> float:
        return float(np.logaddexp(0, design @ line).sum() - pulled @ (design @ line))

    best = design @ minimize(loss, np.zeros(3), tol=1e-12).x
    estimate, low, high = RiskCurve.from_cases(positive, place).risks(place)
    np.testing.assert_allclose(estimate, 1 / (1 + np.exp(-best)), atol=1e-5)
    assert ((low < estimate) & (estimate < high)).all()


def test_probabilities_are_read_as_logits_and_the_ends_are_flat() -> None:
    positive, place = drawn(1)
    of_places = RiskCurve.from_cases(positive, place)
    of_risks = RiskCurve.from_cases(positive, 1 / (1 + np.exp(-place)))
    np.testing.assert_allclose(
        of_places.risks(np.array([0.3]))[1], of_risks.risks(np.array([1 / (1 + np.exp(-0.3))]))[1]
    )
    beyond = of_places.risks(np.array([place.max(), place.max() + 9]))
    assert all(column[0] == column[1] for column in beyond)
    assert np.isfinite(of_risks.risks(np.array([0.0, 1.0, 7.0]))).all()


@pytest.mark.slow
def test_standard_errors_are_those_of_repeated_draws() -> None:
    at = np.array([-0.5, 0.5, 1.5])
    curves = [RiskCurve.from_cases(*drawn(seed, 1000)) for seed in range(400)]
    lines = np.array([curve.design(at) @ curve.line for curve in curves])
    expected = np.mean([np.diag(c.design(at) @ c.covariance @ c.design(at).T) for c in curves], 0)
    # The error of a standard deviation of 400 draws is 3.5 %.
    np.testing.assert_allclose(np.sqrt(expected), lines.std(axis=0), rtol=0.12)


def test_copies_of_a_patient_add_nothing() -> None:
    positive, place = drawn(2)
    patients = np.repeat(np.arange(400), 5)
    alone = RiskCurve.from_cases(positive, place, np.arange(400))
    copied = RiskCurve.from_cases(np.repeat(positive, 5), np.repeat(place, 5), patients)
    # Five times as many cases are drawn in less by one case, so the fits differ a little.
    np.testing.assert_allclose(copied.covariance, alone.covariance, rtol=0.2)
    at = np.array([0.0, 1.0])
    naive = RiskCurve.from_cases(np.repeat(positive, 5), np.repeat(place, 5)).risks(at)
    assert (np.subtract(*copied.risks(at)[:0:-1]) > 2 * np.subtract(*naive[:0:-1])).all()


def test_another_prevalence_multiplies_the_odds() -> None:
    positive, place = drawn(3)
    share = positive.mean()
    before, after = (
        RiskCurve.from_cases(positive, place, prevalence=p).risks(place)[0] for p in (None, 0.05)
    )
    factor = 0.05 / 0.95 * (1 - share) / share
    np.testing.assert_allclose(after / (1 - after), before / (1 - before) * factor)


def test_the_error_of_a_mean_is_that_of_curves_and_of_cases() -> None:
    positive, place = drawn(4)
    curve, rng = RiskCurve.from_cases(positive, place), np.random.default_rng(0)
    scores, codes = place[:90], np.arange(90) // 3
    design = curve.design(scores)
    lines = rng.multivariate_normal(curve.line, curve.covariance, 20_000)
    means = (1 / (1 + np.exp(-lines @ design.T))).mean(axis=1)
    risks = curve.risks(scores)[0]
    units = rng.integers(0, 30, (20_000, 30))
    drawn_means = risks.reshape(30, 3).mean(axis=1)[units].mean(axis=1)
    mean = curve.mean(scores, codes)
    assert mean.value == pytest.approx(risks.mean())
    error = np.sqrt(means.var() + drawn_means.var())
    assert (mean.high - mean.low) / 4 == pytest.approx(error, rel=0.05)


@pytest.mark.parametrize(
    ("positive", "scores", "expected"),
    [
        ([1, 0, 0, 0], [2.0, 2.0, 2.0, 2.0], 0.28),  # (2/3 + 3/5) / 4, a third of one case away
        ([0, 0, 1, 1], [1.0, 2.0, 3.0, 4.0], None),  # separated
        ([0, 0, 1, 0], [0.0, 0.0, 1.0, 1.0], None),  # two scores
        ([0, 1, 0, 1], [0.0, 0.0, 1.0, 1.0], None),
        ([0, 1, 1, 0, 1], [0.0, 0.0, 1.0, 1.0, 2.0], None),
        ([0, 1, 1, 0, 1], [-1e99, 0.0, 1.0, 2.0, 1e99], None),
    ],
)
def test_few_scores_have_a_curve(positive: list, scores: list, expected: float | None) -> None:
    curve = RiskCurve.from_cases(np.array(positive, dtype=bool), np.array(scores))
    estimate, low, high = curve.risks(np.array(scores))
    assert np.isfinite([estimate, low, high]).all()
    assert ((estimate > 0) & (estimate < 1)).all()
    if expected is not None:
        np.testing.assert_allclose(estimate, (2 / 3 + 3 / 5) / 4)
