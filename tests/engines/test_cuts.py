"""Rows that cannot matter are left out of the first count, or counted after all."""

import numpy as np
import pytest

import voros
from voros.engines import count_frame

pl = pytest.importorskip("polars")

pytestmark = pytest.mark.filterwarnings("ignore::voros.VorosWarning")

N_ROWS = 20_000
SCENARIOS = [
    voros.Scenario(cost_ratio=(1 / 9, 1 / 6)),
    voros.Scenario(cost_ratio=1 / 4),
    voros.Scenario(0.3, 0.5, (1 / 9, 1)),
    voros.Scenario(cost_ratio=(1 / 5, 1), prevalence=0.1),
]


def draw(seed):
    rng = np.random.default_rng(seed)
    scores = rng.random(N_ROWS) ** 3
    return rng.random(N_ROWS) < 0.9 * scores**6, scores


@pytest.mark.parametrize("order", ["drawn", "rising", "falling", "one class first"])
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_score_is_that_of_memory_even_where_the_first_rows_mislead(
    order, scenario, monkeypatch
):
    labels, scores = draw(5)
    ranks = {
        "drawn": np.arange(N_ROWS),
        "rising": np.argsort(scores),
        "falling": np.argsort(-scores),
        "one class first": np.argsort(~labels, kind="stable"),
    }
    labels, scores = labels[ranks[order]], scores[ranks[order]]
    monkeypatch.setattr("voros.engines.search.SAMPLE_ROWS", 2000)
    frame = pl.LazyFrame({"y": labels, "s": scores, "t": scores.round(2)})
    counted = count_frame(
        frame, label="y", scores=["s", "t"], scenarios=[scenario], largest_answer=4000
    )
    for name, column in (("s", scores), ("t", scores.round(2))):
        truth = voros.evaluate(labels, column, scenario).score
        assert counted[name].covers.interval == pytest.approx((truth, truth), abs=1e-12)
    if order == "drawn":
        assert counted["s"].covers.usage.rows_counted < N_ROWS


def as_frame(scores, labels):
    return pl.LazyFrame({"y": labels, "s": scores})


def draw_normal(n_cases, random_state):
    rng = np.random.default_rng(random_state)
    scores = rng.normal(size=n_cases)
    return scores, rng.random(n_cases) < 1 / (1 + np.exp(2 - scores))


def test_rows_that_can_matter_are_read_once():
    scores, labels = draw_normal(300_000, 3)
    scenario = voros.Scenario(cost_ratio=(0.1, 0.3))
    options = {"label": "y", "scores": ["s"], "scenarios": [scenario]}
    points = count_frame(as_frame(scores, labels), largest_answer=2**17, **options)["s"]
    truth = voros.evaluate(labels, scores, scenario).score
    assert points.covers.interval == pytest.approx((truth, truth), abs=1e-12)
    assert points.covers.usage.passes == 3
    assert points.covers.usage.rows_counted < 1.5 * 300_000


def test_what_is_open_everywhere_is_counted_by_parts(monkeypatch):
    """Labels that alternate leave every bin open, and no finer count closes any."""
    monkeypatch.setattr("voros.engines.search.MANY_OPEN", 50)
    scores, labels = np.arange(20_000) / 20_000, np.arange(20_000) % 2 == 0
    scenario = voros.Scenario(cost_ratio=(0.01, 1.0))
    points = count_frame(
        as_frame(scores, labels),
        label="y",
        scores=["s"],
        scenarios=[scenario],
        largest_answer=2000,
        tolerance=0,
    )["s"]
    truth = voros.evaluate(labels, scores, scenario).score
    assert points.covers.interval == pytest.approx((truth, truth), abs=1e-12)
    # If every count halves its bins, all of them bring 40,000; each brings at least 1,000.
    assert points.covers.usage.passes <= 1 + 40


@pytest.mark.parametrize("ascending", [False, True])
def test_rows_above_a_cut_are_read_at_once_unless_they_turn_out_to_be_many(ascending):
    scores, labels = draw_normal(200_000, 4)
    # The first of rows that rise are the lowest, and nearly all others lie above a cut there.
    order = np.argsort(scores) if ascending else np.arange(len(scores))
    scenario = voros.Scenario(0.3, 0.02, (0.05, 0.3))
    options = {"label": "y", "scores": ["s"], "scenarios": [scenario], "largest_answer": 2**15}
    points = count_frame(as_frame(scores[order], labels[order]), **options)["s"]
    truth = voros.evaluate(labels, scores, scenario)
    result = voros.evaluate(points, scenario=scenario)
    assert result.score == pytest.approx(truth.score, abs=1e-12)
    assert repr(result.choices) == repr(truth.choices)
    assert (points.covers.usage.passes == 2) != ascending
    assert points.covers.usage.rows_counted < (2.1 if ascending else 0.05) * 200_000
