"""Scores below which no threshold can pay are left out of the first count, or counted after all."""

import numpy as np
import pytest

import voros
from voros.engines import count_frame
from voros.engines.backends import Polars
from voros.engines.binned_points import BinnedScores
from voros.engines.bins import Bins
from voros.engines.pilot import SELECTIVE, Pilot

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


def bins_above(labels, scores, cut):
    """Every distinct score from a cut up, and all others in one bin."""
    order = np.argsort(-scores)
    scores, labels = scores[order], labels[order]
    starts = np.append(np.arange(np.sum(scores >= cut)), np.sum(scores >= cut))
    ends = np.append(starts[1:] - 1, len(scores) - 1)
    positive = np.add.reduceat(labels.astype(np.int64), starts)
    rows = np.diff(np.append(starts, len(scores)))
    return Bins(scores[ends], scores[starts], rows, positive, rows - positive, rows > 0)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_nothing_below_the_cut_matters_to_the_sample(scenario):
    labels, scores = draw(1)
    cut = Pilot.of(scores, labels, None, None).cost_cut(scenario)
    assert np.mean(scores >= cut) < SELECTIVE
    bins = bins_above(labels, scores, cut)
    sizes = {"n_positive": int(labels.sum()), "n_negative": int((~labels).sum())}
    binned = BinnedScores(bins=bins, **sizes, one_case=1.0)
    truth = voros.evaluate(labels, scores, scenario).score
    assert binned.bounds(scenario) == pytest.approx((truth, truth), abs=1e-12)


def test_no_cut_without_both_classes_or_where_alarms_cost_nothing():
    labels, scores = draw(2)
    whole = Pilot.of(scores, labels, None, None)
    free = voros.Scenario(cost_ratio=voros.costs.uniform_t(0.0, 0.5))
    assert whole.cost_cut(free) == -np.inf
    assert Pilot.of(scores, np.ones(N_ROWS), None, None).cost_cut(SCENARIOS[0]) == -np.inf


def test_a_cut_does_not_depend_on_the_unit_of_the_weights():
    labels, scores = draw(3)
    weights = np.random.default_rng(4).random(N_ROWS) + 0.5
    cuts = [
        Pilot.of(scores, labels, w, None).cost_cut(SCENARIOS[0]) for w in (weights, 64 * weights)
    ]
    assert cuts[0] == cuts[1] > -np.inf


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
    monkeypatch.setattr(Polars, "groups_slowly", True)
    monkeypatch.setattr("voros.engines.first_count.PILOT_ROWS", 2000)
    frame = pl.LazyFrame({"y": labels, "s": scores, "t": scores.round(2)})
    counted = count_frame(
        frame, label="y", scores=["s", "t"], scenarios=[scenario], largest_answer=4000
    )
    for name, column in (("s", scores), ("t", scores.round(2))):
        truth = voros.evaluate(labels, column, scenario).score
        assert counted[name].covers.interval == pytest.approx((truth, truth), abs=1e-12)
    if order == "drawn":
        assert counted["s"].covers.usage.rows_counted < N_ROWS
