"""Refinement gives the answers of all cases in memory, from the rows that can matter."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import voros
from voros.engines import count_frame
from voros.engines.queries import ModelRows

pl = pytest.importorskip("polars")

pytestmark = pytest.mark.filterwarnings("ignore::voros.VorosWarning")

FEW_ANSWERS = 4000
"""Rows per answer that are fewer than the cases, so that a cut is guessed and bins are split."""


@dataclass(frozen=True)
class Frame:
    """Labels, one column of scores per model, and weights or none."""

    labels: np.ndarray
    scores: dict[str, np.ndarray]
    weights: np.ndarray | None = None

    def count(self, scenarios, **options) -> dict[str, voros.OperatingPoints]:
        columns = {"ill": self.labels, **self.scores}
        if self.weights is not None:
            columns["weight"] = self.weights
        return count_frame(
            pl.LazyFrame(columns),
            label="ill",
            scores=list(self.scores),
            weight=None if self.weights is None else "weight",
            scenarios=scenarios,
            **options,
        )

    def in_memory(self, name: str, scenario: voros.Scenario) -> voros.evaluation.Evaluation:
        points = voros.OperatingPoints.from_scores(
            # A threshold of +inf raises no alarm, so scores there count as the highest finite one.
            self.labels,
            np.minimum(self.scores[name], np.finfo(float).max),
            sample_weight=self.weights,
        )
        return voros.evaluate(points, scenario=scenario)


def random_frame(rng: np.random.Generator, n_cases: int) -> Frame:
    """Draw models on different scales: narrow, wide, coarse, and with infinite scores."""
    rank = rng.random(n_cases)
    labels = rng.random(n_cases) < 0.7 * rank**2
    labels[:2] = True, False
    noisy = rank + rng.normal(0, 0.2, n_cases)
    every = {
        "narrow": 0.5 + rank / 100,
        "wide": np.exp(60 * noisy - 30) * np.where(rng.random(n_cases) < 0.1, -1, 1),
        "coarse": np.round(noisy * 20),
        "infinite": np.where(noisy > 1.1, np.inf, np.where(noisy < 0.0, -np.inf, noisy)),
    }
    names = rng.permutation(list(every))[: int(rng.integers(1, 4))]
    weights = rng.integers(1, 9, n_cases) / 4 if rng.random() < 0.4 else None
    return Frame(labels, {str(name): every[name] for name in names}, weights)


def random_scenarios(rng: np.random.Generator) -> list[voros.Scenario]:
    return [
        voros.Scenario(
            min_precision=float(rng.choice([0.0, 0.3, 0.6, 1.0])),
            capacity=[1.0, 0.3, 0.05, 20][int(rng.integers(4))],
            cost_ratio=(0.1, 0.6),
            prevalence=[None, None, 0.02, 0.6][int(rng.integers(4))],
        )
        for _ in range(int(rng.integers(1, 3)))
    ]


def test_every_model_and_scenario_is_served_as_in_memory() -> None:
    rng = np.random.default_rng(3)
    for _ in range(25):
        frame, scenarios = random_frame(rng, int(rng.integers(40, 600))), random_scenarios(rng)
        counted = frame.count(scenarios, largest_answer=int(rng.choice([32, 200, 5000])))
        assert list(counted) == list(frame.scores)
        for name, points in counted.items():
            for scenario in scenarios:
                truth = frame.in_memory(name, scenario)
                result = voros.evaluate(points, scenario=scenario)
                assert result.score == pytest.approx(truth.score, abs=1e-12)
                assert points.covers.bounds(scenario) == pytest.approx([truth.score] * 2, abs=1e-12)
                chosen = [(c.threshold, c.tp, c.fp) for c in result.choices]
                expected = [(c.threshold, c.tp, c.fp) for c in truth.choices]
                assert np.array(chosen) == pytest.approx(np.array(expected), rel=1e-12)
                assert result.feasible == truth.feasible


def random_ranking(n_cases: int, seed: int) -> Frame:
    rng = np.random.default_rng(seed)
    rank = rng.permutation((np.arange(n_cases) + 0.5) / n_cases)
    return Frame(rng.random(n_cases) < 0.6 * rank, {"risk": 0.5 + rank / 2})


@pytest.mark.parametrize(
    ("capacity", "prevalence"),
    [
        (0.05, None),
        (500, None),
        # Positives weigh a half, so twice as many of them fit; then negatives do.
        (0.05, 0.15),
        (600, 0.15),
        (0.05, 0.65),
        (600, 0.65),
    ],
)
def test_rows_beyond_the_capacity_are_left_alone(capacity, prevalence) -> None:
    frame = random_ranking(12_000, 1)
    scenario = voros.Scenario(0.1, capacity, (0.05, 0.2), prevalence)
    points = frame.count([scenario], largest_answer=FEW_ANSWERS)["risk"]
    share = capacity if isinstance(capacity, float) else capacity / 12_000
    sampled = frame.labels.mean()
    if prevalence is not None:
        # The most cases within the capacity, if all are of the class that weighs less.
        share /= min(prevalence / sampled, (1 - prevalence) / (1 - sampled))
    assert points.covers.exact
    assert share * 12_000 * 0.6 <= points.covers.usage.rows_counted <= 2.5 * share * 12_000
    truth = frame.in_memory("risk", scenario).score
    assert points.covers.interval == pytest.approx((truth, truth), abs=1e-12)


def test_the_largest_capacity_decides_how_many_rows_are_counted() -> None:
    frame = random_ranking(12_000, 5)
    scenarios = [voros.Scenario(0.1, capacity, (0.05, 0.2)) for capacity in (0.2, 0.02)]
    points = frame.count(scenarios, largest_answer=FEW_ANSWERS)["risk"]
    assert points.covers.usage.rows_counted < 6000
    for scenario in scenarios:
        truth = frame.in_memory("risk", scenario).score
        assert points.covers.bounds(scenario) == pytest.approx((truth, truth), abs=1e-12)


def test_the_first_count_of_all_models_brings_no_more_rows_than_asked_for(monkeypatch) -> None:
    answers, count = [], ModelRows.count

    def noted(rows, query):
        bins = count(rows, query)
        answers.append(len(bins))
        return bins

    monkeypatch.setattr(ModelRows, "count", noted)
    one = random_ranking(12_000, 6)
    frame = Frame(one.labels, {"up": one.scores["risk"], "down": -one.scores["risk"]})
    for largest in (100, 1000):
        answers.clear()
        frame.count([voros.Scenario(0.1, 0.9, (0.05, 0.2))], largest_answer=largest, tolerance=0.5)
        assert largest / 8 <= answers[0] <= largest


def test_a_capacity_of_most_cases_is_not_worth_a_cut() -> None:
    frame = random_ranking(6000, 2)
    points = frame.count([voros.Scenario(0.1, 0.5, (0.05, 0.2))], largest_answer=FEW_ANSWERS)
    assert points["risk"].covers.usage.rows_counted >= 6000


@pytest.mark.parametrize("n_cases", [1000, 20_000])
def test_cases_that_fit_into_one_answer_are_told_apart_in_one_pass(n_cases: int) -> None:
    frame = random_ranking(n_cases, 3)
    scenario = voros.Scenario(0.1, 0.05, (0.05, 0.2))
    points = frame.count([scenario], largest_answer=n_cases)["risk"]
    assert (points.covers.usage.passes, points.covers.usage.rows_counted) == (1, n_cases)
    assert points.thresholds[1:].tolist() == sorted(frame.scores["risk"], reverse=True)


def test_neighbouring_floats_are_told_apart_in_one_pass() -> None:
    steps = np.array([0, 1, 2, 3, 5, 8] * 4)
    scores = (np.float64(0.7).view(np.int64) + steps).view(np.float64)
    frame = Frame(np.arange(24) % 3 == 0, {"risk": scores})
    points = frame.count([], largest_answer=30)["risk"]
    assert points.thresholds[1:].tolist() == sorted(set(scores.tolist()), reverse=True)
    assert points.covers.usage.passes == 1
    truth = voros.OperatingPoints.from_scores(frame.labels, scores)
    assert (points.tp.tolist(), points.fp.tolist()) == (truth.tp.tolist(), truth.fp.tolist())


def test_the_number_of_distinct_scores_that_is_too_many() -> None:
    frame = Frame(np.arange(300) % 4 == 0, {"risk": np.arange(300) // 2 / 7.0})
    every = frame.count([], largest_answer=150)["risk"]
    assert len(every) == 151
    message = (
        r"^the frame has more than 149 distinct scores; pass a scenario, so that only the scores "
        r"that can matter to it are counted one by one$"
    )
    with pytest.raises(ValueError, match=message):
        frame.count([], largest_answer=149)


def test_bounds_as_wide_as_the_tolerance_are_narrow_enough() -> None:
    rng = np.random.default_rng(4)
    # Ties, so that no pass is needed to find which scores occur.
    risk = np.round(rng.random(20_000) ** 2 - 0.05, 3)
    frame = Frame(rng.random(20_000) < 0.8 * np.abs(risk), {"risk": risk})
    scenario = voros.Scenario(0.2, 0.4, (0.1, 0.5))
    exact = frame.count([scenario], largest_answer=64)["risk"]
    rough = frame.count([scenario], largest_answer=64, tolerance=0.02)["risk"]
    low, high = rough.covers.interval
    again = frame.count([scenario], largest_answer=64, tolerance=high - low)["risk"]
    closer = frame.count([scenario], largest_answer=64, tolerance=(high - low) * 0.999)["risk"]
    assert 0 < high - low <= 0.02
    assert again.covers.usage == rough.covers.usage
    assert again.covers.interval == rough.covers.interval
    assert rough.covers.usage.passes < closer.covers.usage.passes <= exact.covers.usage.passes
