"""Points of arrays on a device decide as those of the same arrays in memory, and read few rows."""

from __future__ import annotations

import pickle
import re
import warnings
from typing import Any

import numpy as np
import pytest
from array_types import MAKERS, Maker, strict_array
from device_cases import SCENARIOS, assert_decides, assert_shows, draws, example, rows_of

import voros
from voros.core import places
from voros.core.decision import STRATEGIES, decide, solve
from voros.core.operating_points import OperatingPoints
from voros.devices import libraries, points
from voros.devices.cases import read_device_cases
from voros.devices.points import DeviceCurve

pytestmark = pytest.mark.extras

LIMITS = (
    *SCENARIOS,
    voros.Scenario(1.0, 0.5, cost_ratio=(0.2, 0.9)),
    voros.Scenario(0.99, 3, cost_ratio=(0.1, 0.3)),
    voros.Scenario(0.0, 3, cost_ratio=0.2),
    voros.Scenario(0.0, 0.15, cost_ratio=(0.2, 0.4), prevalence=0.6),
    voros.Scenario(1 / 3, 0.9, cost_ratio=(0.2, 0.4), prevalence=0.1),
    voros.Scenario(1.0, 0.5, cost_ratio=(0.2, 0.9), prevalence=0.3),
    voros.Scenario(0.9999, 0.01, cost_ratio=(0.1, 0.3)),
    voros.Scenario(0.2, 0.4, cost_ratio=(0.1, 0.3)),
)
"""Limits that bind, that nothing meets, and that rows meet exactly: a fifth of the cases is ill."""


def assert_same_curve(
    make: Maker, ill: np.ndarray, score: np.ndarray, what: str, limits: Any = LIMITS
) -> None:
    expected = OperatingPoints.from_scores(ill, score)
    on_device = OperatingPoints.from_uncounted(
        DeviceCurve(read_device_cases(make(ill), make(score)))
    )
    many = len(ill) > points.SORTED
    decisions = [decide(on_device, scenario) for scenario in limits]
    assert "thresholds" not in vars(on_device)
    for scenario, decision in zip(limits, decisions, strict=True):
        told = f"{what} {scenario}"
        here = solve(expected, scenario)
        assert_decides(decision, here, told, many=many)
        assert_shows(decide(on_device, scenario, every_cost=False), here, told)
    for name in ("thresholds", "tp", "fp", "alarms"):
        np.testing.assert_array_equal(getattr(on_device, name), getattr(expected, name), what)


@pytest.mark.parametrize("small", [False, True])
@pytest.mark.slow
def test_strict_arrays_decide_as_numpy(small: bool, request: pytest.FixtureRequest) -> None:
    if small:
        request.getfixturevalue("small_sizes")
    # A third of the limits for each kind of score: these arrays are slow, and others take all.
    for place, (what, ill, score) in enumerate(draws(600, seed=11)):
        assert_same_curve(strict_array, ill, score, what, LIMITS[place % 3 :: 3])


@pytest.mark.usefixtures("small_sizes")
def test_precision_on_the_floor_everywhere() -> None:
    # Pairs of a positive and a negative: every threshold has a precision of exactly 1/2.
    ill = np.arange(2000) % 2 == 0
    score = -np.repeat(np.arange(1000), 2).astype(np.float32)
    limits = (
        voros.Scenario(0.5, 0.7, cost_ratio=0.3),
        voros.Scenario(0.5, 0.7, cost_ratio=0.3, prevalence=0.5),
        voros.Scenario(0.3, 0.7, cost_ratio=0.3, prevalence=0.3),
        voros.Scenario(0.3, 0.7, cost_ratio=0.3, prevalence=0.2999999),
    )
    assert_same_curve(strict_array, ill, score, "on the floor", limits)


def test_infinity_and_the_greatest_float_are_one_threshold() -> None:
    ill = np.array([True, False, True, False, False])
    score = np.array([np.inf, np.finfo(np.float64).max, 1.0, 0.0, -np.inf])
    limits = (SCENARIOS[0], voros.Scenario(capacity=2, cost_ratio=0.2))
    for scenario in limits:
        expected = voros.partial_voros_score(ill, score, scenario)
        on_device = voros.partial_voros_score(strict_array(ill), strict_array(score), scenario)
        assert on_device == pytest.approx(expected, abs=1e-12)
    assert_same_curve(strict_array, ill, score, "ends", limits)


@pytest.mark.slow
@pytest.mark.usefixtures("small_sizes")
@pytest.mark.parametrize("library", ["torch", "cuda", "cupy"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_libraries_decide_as_numpy(library: str, dtype: Any) -> None:
    for what, ill, score in draws(800, seed=12):
        if score.dtype != np.float64 and dtype != np.float64:
            continue
        with np.errstate(over="ignore"):
            typed = score.astype(dtype) if score.dtype == np.float64 else score
        assert_same_curve(MAKERS[library], ill, typed, f"{library} {what}", LIMITS[::2])


@pytest.mark.slow
@pytest.mark.parametrize("n_cases", [1500, 100_000])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_kernels_decide_as_numpy(n_cases: int, dtype: Any) -> None:
    make = MAKERS["cuda"]
    make([0.0])
    for what, ill, score in draws(n_cases, seed=n_cases):
        with np.errstate(over="ignore"):
            assert_same_curve(make, ill, score.astype(dtype), what)


KNOWN = tuple(strategy for strategy in STRATEGIES if strategy != "partial_auroc")
"""Strategies that rank more cases than a device sorts."""


def two_models() -> tuple[np.ndarray, dict[str, np.ndarray]]:
    ill, score = example()
    noise = score + np.random.default_rng(6).normal(size=len(score)).astype(np.float32)
    return ill, {"sharp": score, "noisy": noise, "tied": np.round(score)}


@pytest.fixture
def copied(monkeypatch: pytest.MonkeyPatch) -> list[np.ndarray]:
    """What reached the host."""
    arrays: list[np.ndarray] = []
    to_host = libraries.Library.to_host

    def counted(self: Any, array: Any) -> Any:
        arrays.append(to_host(self, array))
        return arrays[-1]

    monkeypatch.setattr(libraries.Library, "to_host", counted)
    return arrays


@pytest.mark.usefixtures("small_sizes")
@pytest.mark.parametrize("scenario", LIMITS[::2])
def test_select_model_ranks_as_numpy_and_reads_few_rows(
    scenario: voros.Scenario, copied: list[np.ndarray]
) -> None:
    ill, models = two_models()
    there = {name: strict_array(values) for name, values in models.items()}
    for strategy in KNOWN:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            on_device = voros.select_model(strict_array(ill), there, scenario, strategy=strategy)
            heard, said[:] = list(map(str, said)), []
            expected = voros.select_model(ill, models, scenario, strategy=strategy)
            assert [line.partition("message=")[2] for line in heard] == [
                str(line).partition("message=")[2] for line in said
            ]
        assert [row.model for row in on_device.ranking] == [row.model for row in expected.ranking]
        for row, other in zip(on_device.ranking, expected.ranking, strict=True):
            assert np.isnan(row.partial_auroc)
            for name in KNOWN:
                assert getattr(row, name) == pytest.approx(getattr(other, name), abs=1e-12)
        assert on_device.reason == expected.reason
        assert on_device.close_to_winner == expected.close_to_winner
        for model in models if expected.reason is None else ():
            allowed = on_device.allowed[model].decision, expected.allowed[model].decision
            rows = (decision.chosen_rows for decision in allowed)
            assert rows_of(allowed[0], next(rows)) == rows_of(allowed[1], next(rows))
    with pytest.raises(voros.exceptions.IncompleteCountsError, match="by 'partial_auroc'"):
        voros.select_model(strict_array(ill), there, scenario, strategy="partial_auroc")
    assert max(array.size for array in copied) <= 500
    assert sum(array.size for array in copied) < len(KNOWN) * len(models) * len(ill)


@pytest.mark.usefixtures("small_sizes")
def test_policies_and_evaluations_of_device_points(copied: list[np.ndarray]) -> None:
    ill, models = two_models()
    points = OperatingPoints.from_scores(strict_array(ill), strict_array(models["sharp"]))
    expected = OperatingPoints.from_scores(ill, models["sharp"])
    scenario = SCENARIOS[1]
    for strategy in (*STRATEGIES, "single"):
        policies = [
            voros.ThresholdPolicy.from_points(curve, scenario, strategy=strategy)
            for curve in (points, expected)
        ]
        ratios = np.linspace(*scenario.costs.support, 20)
        assert policies[0].threshold(ratios).tolist() == policies[1].threshold(ratios).tolist()
    on_device, other = (voros.evaluate(curve, scenario=scenario) for curve in (points, expected))
    np.testing.assert_allclose(
        on_device.normalised_area(ratios), other.normalised_area(ratios), rtol=0, atol=1e-12
    )
    assert max(array.size for array in copied) <= 500
    # Beyond the costs of the scenario every threshold is counted.
    ratios = np.geomspace(1e-4, 1e4, 50)
    np.testing.assert_allclose(
        on_device.normalised_area(ratios), other.normalised_area(ratios), rtol=0, atol=1e-12
    )


def test_columns_are_read_when_asked_for(copied: list[np.ndarray]) -> None:
    ill, score = example()
    points = OperatingPoints.from_scores(strict_array(ill), strict_array(score))
    expected = OperatingPoints.from_scores(ill, score)
    assert max(array.size for array in copied) == 1
    assert repr(points) == (
        "OperatingPoints(thresholds on array API on array_api_strict.Device('device1'), "
        f"n_positive={ill.sum():,}, n_negative={(~ill).sum():,})"
    )
    restored = pickle.loads(pickle.dumps(points))
    for curve in (points, restored, points.in_memory()):
        assert curve.tp.tolist() == expected.tp.tolist()
        assert len(curve) == len(expected)
    assert type(restored) is OperatingPoints
    with pytest.raises(AttributeError, match="no attribute 'rows'"):
        _ = points.rows


def test_a_map_and_a_guarantee_read_every_threshold() -> None:
    ill, models = two_models()
    there = {name: strict_array(values) for name, values in models.items()}
    grid = {"min_precisions": [0.2, 0.5], "capacities": [0.05, 0.3], "cost_ratio": 0.1}
    on_device = voros.winner_map(strict_array(ill), there, **grid)
    np.testing.assert_array_equal(on_device.scores, voros.winner_map(ill, models, **grid).scores)
    promise = {"guarantee": voros.Guarantee(confidence=0.9)}
    scenario = voros.Scenario(0.3, 0.3, cost_ratio=0.1)
    selections = (
        voros.select_model(labels, scores, scenario, **promise)
        for labels, scores in ((strict_array(ill), there), (ill, models))
    )
    assert next(selections).ranking == next(selections).ranking


@pytest.mark.slow
def test_tensors_written_to_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    monkeypatch.setattr(places, "_elsewhere", lambda array: hasattr(array, "device"))
    ill, score = (torch.as_tensor(column) for column in example())
    points = OperatingPoints.from_scores(ill, score)
    voros.evaluate(points, scenario=SCENARIOS[1])
    score += 1
    with pytest.raises(RuntimeError, match="changed after points were made"):
        _ = points.tp
    with pytest.raises(RuntimeError, match="changed after points were made"):
        voros.evaluate(points, scenario=SCENARIOS[2])


def random_scores(rng: np.random.Generator, n_cases: int) -> tuple[np.ndarray, np.ndarray]:
    ill = rng.random(n_cases) < rng.choice([0.05, 0.3, 0.7])
    ill[:2] = True, False
    score = rng.normal(size=n_cases) + rng.choice([0.0, 1.5, -1.0]) * ill
    ends = score.copy()
    ends[rng.random(n_cases) < 0.2] = np.inf
    ends[rng.random(n_cases) < 0.1] = np.finfo(np.float64).max
    kinds = (
        score,
        np.round(score, int(rng.integers(0, 2))),
        np.where(rng.random(n_cases) < 0.5, 0.0, score),
        ends,
        np.exp(30 * score),
        np.round(score * 5).astype(np.int64) + 2**60,
        score.astype(np.float32),
    )
    return ill, kinds[rng.integers(len(kinds))]


def random_scenario(rng: np.random.Generator, n_cases: int) -> voros.Scenario:
    floor = float(rng.choice([0.0, 0.2, 0.25, 1 / 3, 0.5, 0.75, 1.0, rng.random()]))
    shares = (1.0, 0.5, float(rng.uniform(1e-3, 1)), int(rng.integers(2, n_cases + 2)))
    low = float(rng.choice([0.01, 0.1, 0.3]))
    costs = low, low * float(rng.choice([1.5, 20]))
    prevalence = None if rng.random() < 0.6 else float(rng.choice([0.1, 0.5, 0.3]))
    return voros.Scenario(floor, shares[rng.integers(4)], cost_ratio=costs, prevalence=prevalence)


@pytest.mark.slow
@pytest.mark.usefixtures("small_sizes")
@pytest.mark.filterwarnings("ignore::voros.VorosWarning")
def test_random_curves_decide_as_numpy(capsys: pytest.CaptureFixture[str]) -> None:
    rng, equal, refused = np.random.default_rng(14), 0, 0
    for _ in range(200):
        n_cases = int(rng.choice([3, 20, 100, 400, 1500]))
        ill, score = random_scores(rng, n_cases)
        expected = OperatingPoints.from_scores(ill, score)
        on_device = OperatingPoints.from_scores(strict_array(ill), strict_array(score))
        for scenario in (random_scenario(rng, n_cases) for _ in range(3)):
            try:
                here = solve(expected, scenario)
            except voros.InfeasibleError as error:
                with pytest.raises(voros.InfeasibleError, match=re.escape(str(error))):
                    decide(on_device, scenario)
                refused += 1
                continue
            what = f"{n_cases} cases of {score.dtype}, {scenario}"
            assert_decides(decide(on_device, scenario), here, what, many=n_cases > points.SORTED)
            assert_shows(decide(on_device, scenario, every_cost=False), here, what)
            equal += 1
    with capsys.disabled():
        print(f"\n{equal} decisions equal to numpy's, {refused} refusals")
    assert equal > 500
