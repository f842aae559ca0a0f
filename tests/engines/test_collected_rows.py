"""Once the rows that can matter are few, engines hand them over as they are."""

import numpy as np
import pytest

import voros
from voros.engines import count_frame

SCENARIO = voros.Scenario(cost_ratio=(1 / 20, 1))


def draw(n_rows):
    rng = np.random.default_rng(2)
    scores = rng.random(n_rows) ** 3
    return rng.random(n_rows) < 0.9 * scores**3, scores, rng.random(n_rows) + 0.5


@pytest.mark.filterwarnings("ignore::voros.VorosWarning")
@pytest.mark.parametrize("weight", [None, "w"])
def test_rows_are_handed_over_and_the_score_is_that_of_memory(weight, monkeypatch):
    pl = pytest.importorskip("polars")
    monkeypatch.setattr("voros.engines.search.SAMPLE_ROWS", 1000)
    labels, scores, weights = draw(30_000)
    frame = pl.DataFrame({"y": labels, "s": scores, "t": scores.round(3), "w": weights})
    counted = count_frame(
        frame.lazy(),
        label="y",
        scores=["s", "t"],
        weight=weight,
        scenarios=[SCENARIO],
        largest_answer=5000,
    )
    for name, points in counted.items():
        of_cases = None if weight is None else weights
        truth = voros.evaluate(labels, frame[name].to_numpy(), SCENARIO, sample_weight=of_cases)
        assert points.covers.interval == pytest.approx((truth.score, truth.score), abs=1e-12)
        chosen = voros.evaluate(points, scenario=SCENARIO).choices
        assert [c.threshold for c in chosen] == [c.threshold for c in truth.choices]
    # One pass adds up, with weights one more checks them; then a count, and the rows.
    assert counted["s"].covers.usage.passes == (3 if weight is None else 4)


@pytest.mark.filterwarnings("ignore::voros.VorosWarning")
@pytest.mark.slow
def test_alternating_labels_are_exact_where_exactness_is_asked_for(monkeypatch):
    pl = pytest.importorskip("polars")
    monkeypatch.setattr("voros.engines.search.SAMPLE_ROWS", 1000)
    n_rows = 40_000
    frame = pl.DataFrame({"y": np.arange(n_rows) % 2 == 0, "s": (np.arange(n_rows) + 0.5) / n_rows})
    points = count_frame(
        frame.lazy(),
        label="y",
        scores=["s"],
        scenarios=[voros.Scenario(cost_ratio=(1 / 100, 1))],
        tolerance=0,
        largest_answer=5000,
    )["s"]
    # No threshold beats always alarm, which is worth 1 - c / 2 at a cost ratio c of 1 or less.
    truth = 1 - (1 / 100 + 1) / 4
    assert points.covers.interval == pytest.approx((truth, truth), abs=1e-12)
