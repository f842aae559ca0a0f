"""Plans against the certificate itself."""

import numpy as np
import pytest
from scipy.stats import binom

from voros import Guarantee, OperatingPoints, Scenario, cases_needed


def validation(n_positive: int, alarms: int, n_cases: int) -> OperatingPoints:
    """Positives first among the alarms, and none below them."""
    counts = np.arange(alarms + 1)
    tp = np.minimum(counts, n_positive)
    thresholds = np.append(np.inf, -counts[1:].astype(float))
    return OperatingPoints(thresholds, tp, counts - tp, n_positive, n_cases - n_positive)


@pytest.mark.parametrize(("floor", "truth"), [(0.9, 1.0), (0.5, 0.7), (0.2, 0.35), (0.95, 0.99)])
@pytest.mark.parametrize(("confidence", "capacity"), [(0.95, 1.0), (0.9, 0.2)])
def test_the_plan_is_what_the_certificate_takes(
    floor: float, truth: float, confidence: float, capacity: float
) -> None:
    """As planned the threshold is certified; with one true positive fewer it is not."""
    plan = cases_needed(
        floor, truth, confidence=confidence, alarm_rate=0.05, prevalence=0.1, capacity=capacity
    )
    scenario = Scenario(min_precision=floor, capacity=capacity, cost_ratio=0.1)
    assert plan.cases is not None
    for tp, passes in ((plan.true_positives, True), (plan.true_positives - 1, False)):
        points = validation(tp, plan.alarms, plan.cases)
        assert bool(Guarantee(confidence).allowed(points, scenario)[-1]) == passes
    # The power is that of this test, by another implementation of the binomial distribution.
    assert plan.power == pytest.approx(binom.sf(plan.true_positives - 1, plan.alarms, truth))
    assert plan.power >= 0.8


@pytest.mark.parametrize(("floor", "truth"), [(0.9, 1.0), (0.5, 0.75), (0.7, 0.9)])
def test_no_smaller_plan_is_certified_as_often(floor: float, truth: float) -> None:
    """Every number of alarms tried against the certificate itself."""
    plan = cases_needed(floor, truth, alarm_rate=0.05)
    scenario = Scenario(min_precision=floor, cost_ratio=0.1)
    for alarms in range(1, plan.alarms):
        wanted = int(binom.isf(0.8, alarms, truth))
        # The largest number that is reached with the power asked for.
        points = validation(min(wanted, alarms), alarms, 20 * alarms)
        assert not Guarantee().allowed(points, scenario)[-1]


def test_without_an_alarm_rate_any_number_of_cases_is_planned_for() -> None:
    """A perfect record of the plan is certified however many cases there are beside it."""
    plan = cases_needed(0.9, 1.0)
    scenario = Scenario(min_precision=0.9, cost_ratio=0.1)
    for n_cases in (100, 3000, 200_000):
        points = validation(plan.alarms, plan.alarms, n_cases)
        assert Guarantee().allowed(points, scenario)[-1]
    fewer = validation(plan.alarms - 1, plan.alarms - 1, 200_000)
    assert not Guarantee().allowed(fewer, scenario)[1:].any()


def test_a_capacity_that_is_nearly_used_up_takes_more_cases() -> None:
    near, far = (cases_needed(0.3, 0.4, alarm_rate=0.1, capacity=c) for c in (0.12, 0.5))
    assert near.alarms > far.alarms
    assert near.cases is not None
    scenario = Scenario(min_precision=0.3, capacity=0.12, cost_ratio=0.1)
    assert Guarantee().allowed(validation(near.alarms, near.alarms, near.cases), scenario)[-1]
    fewer = near.alarms - 2
    points = validation(fewer, fewer, 10 * fewer)
    assert not Guarantee().allowed(points, scenario)[-1]


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
        ({"min_precision": 0.5, "true_precision": 0.6, "capacity": 0.1}, "capacity needs alarm_"),
        ({"min_precision": 0.5, "true_precision": 0.6, "capacity": 0}, "capacity=0; accepted is"),
        ({"min_precision": 0.5, "true_precision": 0.500001}, "too close to min_precision"),
        (
            {"min_precision": 0.5, "true_precision": 0.6, "alarm_rate": 0.2, "capacity": 0.2},
            "alarm_rate=0.2; accepted is a number below capacity=0.2",
        ),
        (
            {"min_precision": 0.5, "true_precision": 0.6, "alarm_rate": 0.1999, "capacity": 0.2},
            "alarm_rate=0.1999 is too close to capacity=0.2",
        ),
    ],
)
def test_what_cannot_be_planned_is_refused(arguments: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        cases_needed(**arguments)
