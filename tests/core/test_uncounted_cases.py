"""Cases that are counted when they are asked for decide as those that are counted at once."""

import warnings
from functools import partial

import numpy as np
import pytest
from slower import takes_less_than

import voros
from voros.core.decision import STRATEGIES, decide, solve
from voros.core.limits import binding_limits, most_precise
from voros.core.operating_points import OperatingPoints
from voros.core.pruning import CasesInMemory, points_of_cases

SCENARIOS = (
    voros.Scenario(cost_ratio=(1 / 9, 1 / 6)),
    voros.Scenario(0.3, 0.1, cost_ratio=(1 / 40, 1 / 20)),
    voros.Scenario(0.5, 0.3, cost_ratio=(0.2, 0.9)),
    voros.Scenario(0.25, cost_ratio=0.2, prevalence=0.1),
    voros.Scenario(0.0, 3, cost_ratio=0.2),
    voros.Scenario(0.999, 0.5, cost_ratio=(0.1, 0.3)),
)


def draw(n_cases, seed=0):
    rng = np.random.default_rng(seed)
    ill = rng.random(n_cases) < 0.2
    return ill, rng.normal(size=n_cases) + 1.2 * ill


KINDS = {
    "normal": lambda scores: scores,
    "two values": lambda scores: (scores > 1).astype(np.float64),
    "few values, and one more": lambda scores: np.append(np.round(scores[:-1]), 0.123),
    "ties": lambda scores: np.round(scores, 1),
    "single": lambda scores: scores.astype(np.float32),
    "large whole numbers": lambda scores: np.round(scores * 100).astype(np.int64) + 2**60,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weighted", [False, True])
def test_decisions_are_those_of_every_threshold(kind, weighted):
    ill, scores = draw(40_000)
    scores = KINDS[kind](scores)
    weights = np.random.default_rng(1).integers(1, 4, len(ill)) / 2 if weighted else None
    every = OperatingPoints.from_cases(ill, scores, weights)
    later = points_of_cases(ill, scores, weights)
    for scenario in SCENARIOS:
        expected, decision = solve(every, scenario), decide(later, scenario)
        for strategy in STRATEGIES:
            assert decision.score(strategy) == pytest.approx(expected.score(strategy), abs=1e-12)
        assert decision.can_alarm == expected.can_alarm
        assert binding_limits(decision) == binding_limits(expected)
        for name in ("tp", "fp"):
            columns = [getattr(one.points, name)[one.hull.index] for one in (decision, expected)]
            np.testing.assert_allclose(columns[0], columns[1])
        best = [repr(most_precise(one.points, one.capable)) for one in (decision, expected)]
        assert best[0] == best[1]
    assert later.tp.tolist() == every.tp.tolist()


def test_areas_are_those_under_every_threshold():
    rng, compared = np.random.default_rng(2), 0
    for _ in range(1500):
        n_cases = int(rng.choice([2, 3, 6, 20, 80]))
        ill = rng.random(n_cases) < rng.choice([0.2, 0.5, 0.8])
        ill[:2] = True, False
        scores = np.round(rng.normal(size=n_cases) + rng.choice([-1, 0, 1]) * ill, rng.integers(3))
        floor = float(rng.choice([0, 0.2, 1 / 3, 0.5, 0.75, 1.0]))
        most = (
            float(rng.uniform(0.05, 1)) if rng.random() < 0.5 else int(rng.integers(2, n_cases + 2))
        )
        scenario = voros.Scenario(floor, most, cost_ratio=0.2)
        try:
            expected = solve(OperatingPoints.from_cases(ill, scores), scenario).partial_auroc
        except voros.InfeasibleError:
            continue
        within = CasesInMemory(ill, scores).curve(scenario)
        assert solve(within, scenario).partial_auroc == pytest.approx(expected, abs=1e-15)
        compared += 1
    assert compared > 1000


def test_an_evaluation_holds_when_the_arrays_are_written_to():
    ill, scores = draw(40_000)
    expected = voros.evaluate(ill, scores, SCENARIOS[1])
    binding, areas = expected.binding, expected.normalised_area([1e-3, 10.0])
    evaluation = voros.evaluate(ill, scores, SCENARIOS[1])
    scores[:] = 0.0
    assert evaluation.binding == binding
    assert evaluation.normalised_area([1e-3, 10.0]).tolist() == areas.tolist()


@pytest.mark.slow
def test_evaluations_and_policies_cost_little_more_than_the_score():
    ill, scores = draw(5_000_000)
    scenario = voros.Scenario(0.5, 0.1, cost_ratio=(1 / 40, 1 / 20))
    score, evaluation, policy = (
        partial(call, ill, scores, scenario)
        for call in (
            voros.partial_voros_score,
            voros.evaluate,
            voros.ThresholdPolicy.from_validation,
        )
    )
    selection = partial(voros.select_model, ill, {"a": scores}, scenario)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", voros.VorosWarning)
        assert takes_less_than(3, evaluation, score)
        assert takes_less_than(3, policy, score)
        # By all four scores a model takes longer: the VOROS and the partial AUROC count more.
        assert takes_less_than(8, selection, score)
