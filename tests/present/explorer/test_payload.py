"""What a page holds, and what it refuses to be made of."""

import json
import re

import numpy as np
import pytest
from scipy.stats import lognorm

import voros
from voros import OperatingPoints, Scenario
from voros.models import count_models
from voros.present.explorer import write_page
from voros.present.explorer.payload import held_points, page_payload

SCENARIO = Scenario(0.3, 0.5, cost_ratio=(1 / 9, 1 / 6))


def _points(scale=1.0, weights=None):
    rng = np.random.default_rng(0)
    y = rng.random(60) < 0.4
    return OperatingPoints.from_scores(y, rng.normal(size=60) * scale + y, sample_weight=weights)


def test_holds_no_more_numbers_than_thresholds_at_positives():
    payload = page_payload({"a": _points()}, SCENARIO)
    (model,) = payload["models"]
    n_positive = payload["cases"]["nPositive"]
    assert {len(model[key]) for key in ("thresholds", "tp", "fp")} == {n_positive}
    assert model["tp"] == list(range(1, n_positive + 1))


def test_is_plain_json_without_nan_or_infinity():
    curve = OperatingPoints.from_points([0.1, 0.3], [0.5, 0.8], 100, 900)
    lowest = OperatingPoints.from_scores([1, 0, 1], [0.5, 0.2, -np.inf])
    unknown = json.loads(json.dumps(page_payload({"a": curve}, SCENARIO), allow_nan=False))
    assert unknown["models"][0]["thresholds"] == ["NaN", "NaN"]
    assert unknown["cases"]["wholeCounts"] is False
    assert unknown["cases"]["wholeCases"] is True
    infinite = json.loads(json.dumps(page_payload({"a": lowest}, SCENARIO), allow_nan=False))
    assert infinite["models"][0]["thresholds"] == [0.5, "-Infinity"]


@pytest.mark.parametrize(
    ("costs", "miss", "spread"),
    [
        ((1 / 8, 1 / 4), [4.0, 8.0], "ratio"),
        (1 / 8, [8.0, 8.0], "ratio"),
        (voros.costs.miss_costs(5, 7), [5.0, 7.0], "miss"),
        (voros.costs.miss_costs(5), [5.0, 5.0], "miss"),
    ],
)
def test_costs_become_a_range_of_misses(costs, miss, spread):
    setting = page_payload({"a": _points()}, Scenario(0.3, 40, costs, 0.2))["setting"]
    assert (setting["miss"], setting["spread"]) == (miss, spread)
    assert setting["capacity"] == {"count": 40}
    assert setting["prevalence"] == 0.2


@pytest.mark.parametrize(
    "costs",
    [
        voros.costs.uniform_t(0.1, 0.2),
        voros.costs.from_scipy(lognorm(0.5, scale=1 / 30)),
        voros.costs.from_samples([0.1, 0.2]),
    ],
)
def test_costs_that_two_sliders_cannot_move_are_refused(costs):
    with pytest.raises(ValueError, match="cannot be moved with two sliders"):
        page_payload({"a": _points()}, Scenario(cost_ratio=costs))


def test_models_on_other_cases_are_refused():
    other = OperatingPoints.from_counts([3], [1], 10, 90)
    with pytest.raises(ValueError, match="'a' and 'b' were counted on different cases"):
        page_payload({"a": _points(), "b": other}, SCENARIO)


def test_no_model_is_refused():
    with pytest.raises(ValueError, match="at least one model"):
        page_payload({}, SCENARIO)


@pytest.mark.parametrize("thin", [0, -1, 2.5, True])
def test_thin_is_a_count(thin):
    with pytest.raises(ValueError, match=r"thin=.*whole number"):
        page_payload({"a": _points()}, SCENARIO, thin)


def test_thinning_states_the_worst_of_the_models():
    models = {"a": _points(), "b": _points(scale=3.0)}
    alone = [
        page_payload({n: p}, SCENARIO, 5)["thinning"]["largestChange"] for n, p in models.items()
    ]
    together = page_payload(models, SCENARIO, 5)
    assert together["thinning"]["largestChange"] == max(alone) > 0
    assert all(len(model["tp"]) <= 5 for model in together["models"])


def test_weighted_counts_are_kept_as_they_are():
    weights = np.linspace(0.5, 2.0, 60)
    cases = page_payload({"a": _points(weights=weights)}, SCENARIO)["cases"]
    assert cases["oneCase"] == 0.5
    assert cases["nPositive"] + cases["nNegative"] == pytest.approx(weights.sum())
    assert not cases["wholeCounts"]


@pytest.mark.slow
def test_a_page_of_many_cases_and_models_is_small_and_states_its_loss(tmp_path):
    rng = np.random.default_rng(8)
    y = rng.random(200_000) < 0.1
    scores = {f"model {i}": rng.normal(size=len(y)) + 1.5 * y for i in range(8)}
    scenario = voros.Scenario(0.2, 0.1, voros.costs.miss_costs(5, 20))
    page = write_page(y, scores, scenario, tmp_path / "large.html", n_resamples=200)
    assert page.stat().st_size < 2_000_000
    payload = json.loads(re.search(r'id="payload"[^>]*>(.*?)</script>', page.read_text())[1])
    assert payload["thinning"]["largestChange"] < 0.005
    held = held_points(count_models(y, scores), None)
    for name, points in held.items():
        exact = voros.partial_voros_score(y, scores[name], scenario)
        lost = exact - voros.evaluate(points, scenario=scenario).score
        assert 0 <= lost <= payload["thinning"]["largestChange"]
