"""Several confidences fixed beforehand: any may be chosen afterwards."""

from __future__ import annotations

from bisect import bisect_left
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy import stats

import voros
from voros import Guarantee, OperatingPoints, Scenario

LADDERS = [(0.95, 0.9, 0.8), (0.99, 0.95, 0.9, 0.8, 0.7, 0.5), (0.95, 0.5)]


def drawn(rng: np.random.Generator, n: int, separation: float = 1.2) -> OperatingPoints:
    positive = rng.random(n) < 0.2
    return OperatingPoints.from_scores(positive, rng.normal(size=n) + separation * positive)


def test_steps_are_guarantees_of_one_confidence_each() -> None:
    ladder = Guarantee((0.95, 0.9, 0.8), horizon=300)
    assert [step.confidence for step in ladder.steps] == [0.95, 0.9, 0.8]
    assert all(step.ladder == (0.95, 0.9, 0.8) and step.horizon == 300 for step in ladder.steps)
    assert ladder.at(0.9) == ladder.steps[1] == ladder.steps[0].at(0.9)
    alone = Guarantee(0.9)
    assert alone.steps == (alone,)
    assert alone.tested == (alone,)
    assert Guarantee([0.9, 0.8]) == Guarantee((0.9, 0.8))


@pytest.mark.parametrize("ladder", LADDERS)
def test_errors_are_divided_so_that_summation_by_parts_gives_one(ladder: tuple[float, ...]) -> None:
    """The largest mean of 1/error that nested certificates with these errors can have is 1."""
    exact = [1 - Fraction(str(confidence)) for confidence in ladder]
    tested = [1 - step.tested[0].only_confidence for step in Guarantee(ladder).steps]
    first_broken = [tested[0], *(other - one for one, other in pairwise(tested))]
    mean = sum(chance / float(error) for chance, error in zip(first_broken, exact, strict=True))
    assert mean == pytest.approx(1)


@pytest.mark.parametrize("ladder", LADDERS)
def test_errors_for_the_next_cases_are_divided_by_the_steps(ladder: tuple[float, ...]) -> None:
    for step, confidence in zip(Guarantee(ladder, horizon=9).steps, ladder, strict=True):
        (tested,) = step.tested
        assert tested.alpha == pytest.approx((1 - confidence) / len(ladder))
        assert tested.horizon == 9


def test_half_the_error_of_each_of_95_90_and_80_percent() -> None:
    steps = Guarantee((0.95, 0.9, 0.8)).steps
    assert [[test.only_confidence for test in step.tested] for step in steps] == [
        pytest.approx([0.975, 0.95, 0.9]),
        pytest.approx([0.95, 0.9]),
        pytest.approx([0.9]),
    ]


def test_certificates_of_the_population_are_nested() -> None:
    rng, differ = np.random.default_rng(0), 0
    scenario = Scenario(0.45, 0.3, 0.05)
    for _ in range(60):
        points = drawn(rng, 500)
        certified = [step.allowed(points, scenario) for step in Guarantee((0.95, 0.9, 0.8)).steps]
        assert all((one <= other).all() for one, other in pairwise(certified))
        plain = [Guarantee(c).allowed(points, scenario) for c in (0.975, 0.95, 0.9)]
        assert (certified[0] == plain[0] & plain[1] & plain[2]).all()
        assert (certified[2] == plain[2]).all()
        differ += (certified[0] != certified[2]).any()
    assert differ > 10


SCENARIO = Scenario(0.3, 1.0, 0.02)


def fewest_certified(guarantee: Guarantee, alarms: int) -> int:
    """Fewest true positives among the alarms of a score of yes or no that certify it."""

    def certified(tp: int) -> bool:
        points = OperatingPoints.from_counts(
            [tp, tp + 50], [alarms - tp, 1950 - tp], tp + 50, 1950 - tp, every_score=True
        )
        return bool(guarantee.allowed(points, SCENARIO)[1])

    return bisect_left(range(alarms + 1), True, key=certified)


def mean_of_first_errors(errors: list[float], fewest: list[int], alarms: int) -> float:
    """Mean of 1/error of the first step that certifies; true positives are drawn at the floor."""
    certifies = stats.binom.sf(np.minimum.accumulate(fewest) - 1, alarms, 0.3)
    return float(np.diff(certifies, prepend=0.0) @ (1 / np.array(errors)))


@pytest.mark.parametrize("ladder", LADDERS)
def test_choosing_the_first_that_passes_is_free(ladder: tuple[float, ...]) -> None:
    """At the floor every certificate is an error; summed over all that may be observed."""
    for alarms in (350, 400, 450):
        steps, plain = Guarantee(ladder).steps, [Guarantee(c) for c in ladder]
        errors = [step.alpha for step in steps]
        free, naive = (
            mean_of_first_errors(errors, [fewest_certified(g, alarms) for g in ones], alarms)
            for ones in (steps, plain)
        )
        assert 0.5 < free <= 1
        assert naive > 1.2


def test_part_of_the_error_is_part_of_every_step() -> None:
    ladder = Guarantee((0.9, 0.8)).split(4)
    assert ladder.confidence == pytest.approx((0.975, 0.95))
    step = Guarantee((0.9, 0.8)).steps[1].split(4)
    assert (step.confidence, step.ladder) == (pytest.approx(0.95), pytest.approx((0.975, 0.95)))
    assert step == ladder.steps[1]


@pytest.mark.parametrize(
    ("ladder", "message"),
    [
        ((0.8, 0.9), r"confidence=\(0\.8, 0\.9\); accepted are several confidences from high to"),
        ((0.9, 0.9), r"confidence=\(0\.9, 0\.9\); accepted are several"),
        ((0.9,), r"confidence=\(0\.9,\); accepted are several"),
        ((), r"confidence=\(\); accepted are several"),
        ((1.5, 0.9), r"confidence=1\.5; accepted is a number strictly between 0 and 1"),
    ],
)
def test_what_is_no_ladder_is_refused(ladder: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Guarantee(ladder)


def test_a_confidence_that_is_not_on_the_ladder_is_refused() -> None:
    with pytest.raises(ValueError, match=r"ladder=\(0\.9, 0\.8\); .*one of them confidence=0\.7"):
        Guarantee((0.9, 0.8)).at(0.7)


def test_where_there_is_no_ladder_to_climb_it_is_refused() -> None:
    message = r"confidence=\(0\.9, 0\.8\) is a ladder, for policies and selections of models; acc"
    with pytest.raises(voros.exceptions.ArgumentError, match=message):
        _ = Guarantee((0.9, 0.8)).alpha


@pytest.mark.parametrize("confidence", [0.05, (0.9, 0.3)])
def test_a_confidence_that_looks_like_an_error_warns(confidence: Any) -> None:
    with pytest.warns(
        voros.exceptions.LowConfidenceWarning, match=r"confidence=0\.\d+ allows limits to br"
    ):
        Guarantee(confidence)
    Guarantee(0.5)
