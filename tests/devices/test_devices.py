"""Counts and scores of arrays on a device are those of the same arrays in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from array_types import MAKERS, Maker, strict_array
from device_cases import SCENARIOS, draws, example

import voros
from voros.core.decision import decide, solve
from voros.core.operating_points import OperatingPoints
from voros.devices import libraries
from voros.devices.cases import device_counts, read_device_cases
from voros.devices.points import DeviceCurve

pytestmark = pytest.mark.extras


def assert_same(make: Maker, ill: np.ndarray, score: np.ndarray, what: str) -> None:
    cases = read_device_cases(make(ill), make(score))
    expected, on_device = (
        OperatingPoints.from_scores(ill, score),
        OperatingPoints.with_never_alarm(*device_counts(cases)),
    )
    for name in ("thresholds", "tp", "fp"):
        np.testing.assert_array_equal(getattr(on_device, name), getattr(expected, name), what)
    for scenario in SCENARIOS:
        points = OperatingPoints.from_scores(make(ill), make(score))
        there = decide(points, scenario, every_cost=False)
        here = solve(expected, scenario)
        assert there.partial_voros == pytest.approx(here.partial_voros, abs=1e-12), (what, scenario)
        assert there.can_alarm == here.can_alarm
        for name in ("thresholds", "tp", "fp"):
            np.testing.assert_array_equal(
                getattr(there.points, name)[there.chosen_rows],
                getattr(here.points, name)[here.chosen_rows],
                f"{what} {scenario}",
            )


@pytest.mark.usefixtures("small_sizes")
@pytest.mark.slow
def test_strict_arrays_count_as_numpy() -> None:
    for what, ill, score in draws(3000, seed=1):
        assert_same(strict_array, ill, score, what)
        if score.dtype == np.float64:
            with np.errstate(over="ignore"):
                assert_same(strict_array, ill, score.astype(np.float32), what)


@pytest.mark.slow
@pytest.mark.usefixtures("small_sizes")
@pytest.mark.parametrize("library", ["torch", "cuda", "cupy"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_libraries_count_as_numpy(library: str, dtype: Any) -> None:
    make = MAKERS[library]
    for what, ill, score in draws(1500, seed=2):
        if score.dtype != np.float64 and dtype != np.float64:
            continue
        with np.errstate(over="ignore"):
            typed = score.astype(dtype) if score.dtype == np.float64 else score
        assert_same(make, ill, typed, f"{library} {what}")


@pytest.mark.slow
@pytest.mark.parametrize("n_cases", [50, 1500, 100_000, 3_000_000])
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_corners_of_ranked_cases_are_those_of_numpy(n_cases: int, dtype: Any) -> None:
    make = MAKERS["cuda"]
    make([0.0])
    from voros.devices import cuda_hulls

    assert cuda_hulls.available()
    for what, ill, score in draws(n_cases, seed=n_cases):
        with np.errstate(over="ignore"):
            typed = score.astype(dtype)
        assert_same(make, ill, typed, what)
        assert_same(make, ill, np.where(ill, 0, typed).astype(dtype), f"{what}, positives last")


@pytest.mark.slow
def test_corners_of_a_concave_curve_are_too_many_for_a_tile() -> None:
    make = MAKERS["cuda"]
    # Steps of falling slope, each a corner: 36 of them in every thousand cases.
    ill = np.concatenate([np.repeat([True, False], [28 - k // 8, 1 + k // 8]) for k in range(216)])
    score = -np.arange(len(ill), dtype=np.float32)
    there = make(score), make(ill)
    from voros.devices import cuda_hulls

    limits = [(1.0, 1.0, float(len(ill)), 0.0, 0.0)]
    assert cuda_hulls.corners(*there, limits) is None
    assert_same(make, ill, score, "concave")


@pytest.mark.slow
@pytest.mark.usefixtures("small_sizes")
@pytest.mark.parametrize("library", ["torch", "cuda"])
def test_bfloat16_counts_as_its_values_in_float32(library: str) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    make = MAKERS[library]
    for what, ill, score in draws(1500, seed=3):
        if score.dtype == np.float64 and np.isfinite(score).all():
            short = torch.as_tensor(score).to(torch.bfloat16)

            def maker(values: Any, short: Any = short) -> Any:
                return make(values) if values.dtype == bool else short.to(make([0.0]).device)

            assert_same(maker, ill, short.float().numpy(), what)


@pytest.mark.usefixtures("small_sizes")
def test_denormal_scores() -> None:
    rng = np.random.default_rng(4)
    ill = rng.random(2000) < 0.2
    score = np.round(20 * (rng.normal(size=2000) + ill)) * 5e-324
    assert_same(strict_array, ill, score, "denormal")


@pytest.mark.usefixtures("small_sizes")
@pytest.mark.filterwarnings("ignore::voros.exceptions.CostRangeWarning")
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_public_functions(scenario: voros.Scenario) -> None:
    ill, score = example()
    there = strict_array(ill), strict_array(score)
    for public in (voros.partial_voros_score, voros.voros_score):
        assert public(*there, scenario) == pytest.approx(public(ill, score, scenario), abs=1e-12)
    on_device, expected = voros.evaluate(*there, scenario), voros.evaluate(ill, score, scenario)
    assert on_device.score == pytest.approx(expected.score, abs=1e-12)
    assert repr(on_device.choices) == repr(expected.choices)
    assert on_device.binding == expected.binding
    assert on_device.most_precise == expected.most_precise
    assert len(on_device.points) < 1000


def test_from_scores_and_select_model() -> None:
    ill, score = example()
    noise = score + np.random.default_rng(6).normal(size=len(score)).astype(np.float32)
    models = {"sharp": score, "noisy": noise}
    there = {name: strict_array(values) for name, values in models.items()}
    scenario = SCENARIOS[1]
    expected = voros.select_model(ill, models, scenario)
    on_device = voros.select_model(strict_array(ill), there, scenario)
    assert on_device.ranking == expected.ranking
    assert on_device.policy().threshold() == expected.policy().threshold()
    points = voros.OperatingPoints.from_scores(strict_array(ill), there["sharp"])
    assert points.tp.tolist() == voros.OperatingPoints.from_scores(ill, score).tp.tolist()


def test_counts_of_every_threshold_have_64_bits() -> None:
    ill, score = example()
    points = voros.OperatingPoints.from_scores(strict_array(ill), strict_array(score))
    assert points.tp.dtype == points.fp.dtype == np.int64
    floor = 0.36328181265883797  # a fraction whose denominator times a count passes 31 bits
    expected = (points.precision >= floor)[1:]
    assert points.precise_enough(floor)[1:].tolist() == expected.tolist()


def test_weights_are_refused() -> None:
    there = [strict_array(values) for values in example()]
    with pytest.raises(ValueError, match="sample_weight needs the cases in memory"):
        voros.partial_voros_score(*there, cost_ratio=0.2, sample_weight=there[1])


def test_points_refuse_other_scenarios() -> None:
    ill, score = example()
    on_device = voros.evaluate(strict_array(ill), strict_array(score), SCENARIOS[1])
    with pytest.raises(voros.exceptions.IncompleteCountsError, match="not counted for Scenario"):
        voros.evaluate(on_device.points, scenario=SCENARIOS[2])
    again = voros.evaluate(on_device.decision.observed, scenario=SCENARIOS[2])
    expected = voros.evaluate(ill, score, SCENARIOS[2])
    assert again.score == pytest.approx(expected.score, abs=1e-12)


@pytest.mark.usefixtures("small_sizes")
def test_only_few_numbers_reach_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    ill, score = example()
    there = strict_array(ill), strict_array(score)
    copied = []
    to_host = libraries.Library.to_host

    def counted(self: Any, array: Any) -> Any:
        copied.append(to_host(self, array))
        return copied[-1]

    monkeypatch.setattr(libraries.Library, "to_host", counted)
    voros.partial_voros_score(*there, SCENARIOS[1])
    assert max(array.size for array in copied) <= 500
    assert sum(array.size for array in copied) < len(ill)


def spoilt(**changes: Any) -> dict[str, np.ndarray]:
    ill, score = example()
    return {"y_true": ill, "y_score": score} | changes


@pytest.mark.parametrize(
    "arguments",
    [
        spoilt(y_score=np.where(np.arange(4000) % 900 == 7, np.nan, example()[1])),
        spoilt(y_true=np.arange(4000) % 3),
        spoilt(y_true=np.where(np.arange(4000) == 5, np.nan, 1.0)),
        spoilt(y_true=np.ones(4000, dtype=bool)),
        spoilt(y_true=np.zeros(4000, dtype=np.int64)),
        spoilt(y_true=np.arange(4000) % 2 + 3),
        spoilt(y_true=example()[1], y_score=example()[0].astype(np.float32)),
        spoilt(y_true=np.empty(0), y_score=np.empty(0)),
        spoilt(y_score=np.zeros(3999)),
        spoilt(y_score=np.zeros((4000, 2))),
        spoilt(y_score=np.zeros((4000, 1, 1))),
    ],
)
def test_errors_are_those_of_numpy(arguments: dict[str, np.ndarray]) -> None:
    with pytest.raises(ValueError, match=r".") as expected:
        voros.partial_voros_score(**arguments, cost_ratio=0.2)
    there = {name: strict_array(values) for name, values in arguments.items()}
    with pytest.raises(ValueError, match=r".") as on_device:
        voros.partial_voros_score(**there, cost_ratio=0.2)
    assert str(on_device.value) == str(expected.value)


def test_labels_by_name() -> None:
    ill, score = example()
    expected = voros.partial_voros_score(ill, score, SCENARIOS[0])
    column = strict_array(score.reshape(-1, 1))
    for labels, pos_label in ((ill * 2 - 1, None), (ill * 4 + 3, 7), (~ill, False), (ill * 1.0, 1)):
        on_device = voros.partial_voros_score(
            strict_array(labels), column, SCENARIOS[0], pos_label=pos_label
        )
        assert on_device == pytest.approx(expected, abs=1e-12)


def test_arrays_in_two_places_are_refused() -> None:
    ill, score = example()
    with pytest.raises(ValueError, match="y_true is a ndarray in memory and y_score is array API"):
        voros.partial_voros_score(ill, strict_array(score), SCENARIOS[0])
    xp = pytest.importorskip("array_api_strict")
    other = xp.asarray(ill, device=xp.Device("device2"))
    with pytest.raises(ValueError, match="one library on one device"):
        voros.evaluate(other, strict_array(score), SCENARIOS[0])


def test_groups_and_periods_are_refused() -> None:
    ill, score = example()
    there = strict_array(ill), strict_array(score)
    with pytest.raises(ValueError, match="groups needs the cases in memory"):
        OperatingPoints.from_scores(*there, groups=np.zeros(4000))
    daily = voros.Scenario(capacity=20, per="day", cost_ratio=0.1)
    with pytest.raises(ValueError, match="periods needs the cases in memory"):
        voros.evaluate(*there, daily, periods=np.zeros(4000))
    with pytest.raises(ValueError, match="needs the period of each case"):
        voros.partial_voros_score(*there, daily)


def test_never_alarm_warns_as_numpy() -> None:
    ill, _ = example()
    scenario = voros.Scenario(0.99, 0.5, cost_ratio=(0.1, 0.2))
    rng = np.random.default_rng(8)
    noise = rng.normal(size=len(ill)).astype(np.float32)
    with pytest.warns(voros.NeverAlarmWarning) as expected:
        voros.partial_voros_score(ill, noise, scenario)
    with pytest.warns(voros.NeverAlarmWarning) as on_device:
        voros.partial_voros_score(strict_array(ill), strict_array(noise), scenario)
    assert str(on_device[0].message) == str(expected[0].message)


@pytest.mark.slow
def test_gradients_are_left_behind() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    ill, score = example()
    there = torch.as_tensor(score, dtype=torch.float64).requires_grad_()
    expected = voros.partial_voros_score(ill, score, SCENARIOS[1])
    assert voros.partial_voros_score(torch.as_tensor(ill), there, SCENARIOS[1]) == expected
    curve = DeviceCurve.from_cases(torch.as_tensor(ill), there)
    points = curve.choosable(SCENARIOS[1], every_cost=False)
    on_device = solve(points, SCENARIOS[1]).partial_voros
    assert on_device == pytest.approx(expected, abs=1e-12)
