import pytest
from scipy.stats import binom, binomtest

from voros import cases_needed


@pytest.mark.parametrize(("floor", "truth", "confidence"), [(0.5, 0.7, 0.95), (0.2, 0.35, 0.9)])
def test_the_plan_passes_and_no_smaller_one_does(
    floor: float, truth: float, confidence: float
) -> None:
    """Brute force with another implementation of the exact binomial test."""

    def power(alarms: int) -> float:
        passing = [
            right
            for right in range(alarms + 1)
            if binomtest(right, alarms, floor, "greater").pvalue < 1 - confidence
        ]
        return float(binom.pmf(passing, alarms, truth).sum()) if passing else 0.0

    plan = cases_needed(floor, truth, confidence=confidence, power=0.8)
    assert plan.power == pytest.approx(power(plan.alarms))
    assert plan.power >= 0.8
    assert all(power(alarms) < 0.8 for alarms in range(1, plan.alarms))
    assert binomtest(plan.true_positives, plan.alarms, floor, "greater").pvalue < 1 - confidence
    fewer = binomtest(plan.true_positives - 1, plan.alarms, floor, "greater").pvalue
    assert fewer >= 1 - confidence


def test_alarms_become_cases_and_positives() -> None:
    plan = cases_needed(0.5, 0.9, alarm_rate=0.02, prevalence=0.1)
    assert plan.cases == plan.alarms * 50
    assert plan.positives == plan.alarms * 5
    assert cases_needed(0.5, 0.9).cases is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"min_precision": 0.5, "true_precision": 0.5}, "true_precision=0.5; accepted is"),
        ({"min_precision": 0.0, "true_precision": 0.5}, "min_precision=0.0; accepted is"),
        ({"min_precision": 0.5, "true_precision": 0.6, "power": 1}, "power=1; accepted is"),
        ({"min_precision": 0.5, "true_precision": 0.6, "alarm_rate": 0}, "alarm_rate=0; acc"),
        ({"min_precision": 0.5, "true_precision": 0.6, "prevalence": 0.1}, "needs alarm_rate"),
        ({"min_precision": 0.5, "true_precision": 0.500001}, "too close to min_precision"),
    ],
)
def test_what_cannot_be_planned_is_refused(arguments: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        cases_needed(**arguments)
