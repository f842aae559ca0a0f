"""Slips that are warned of, once each, at the line of the caller."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import lognorm

import voros
from voros.plotting import (
    AreaCurveDisplay,
    RocDisplay,
    ThresholdCostDisplay,
)
from voros.present.explorer import write_page

plt = pytest.importorskip("matplotlib.pyplot")

RNG = np.random.default_rng(1)
LABELS = RNG.random(60) < 0.4
SCORES = LABELS + RNG.normal(size=60)
MODELS = {"a": SCORES, "b": SCORES.round()}
GRID = {"min_precisions": [0.1, 0.2], "capacities": [0.5, 0.9]}


@pytest.fixture(autouse=True)
def closed_figures() -> Any:
    yield
    plt.close("all")


@pytest.mark.parametrize(
    ("cost_ratio", "advice"),
    [
        (
            (5, 20),
            r"5 to 20 times as much as a miss.*write cost_ratio=voros\.costs\.miss_costs\(5, 20\)",
        ),
        (5, r"miss_costs\(5\)"),
        ((1, 20), r"miss_costs\(1, 20\)"),
        ((0.5, 20), r"miss_costs\(0\.5, 20\)"),
        (voros.costs.miss_costs(0.05, 0.2), r"write cost_ratio=\(0\.05, 0\.2\)"),
        (voros.costs.known(0.1, over="miss"), r"write cost_ratio=\(0\.1\)"),
        (voros.costs.from_scipy(lognorm(0.3, scale=10)), "over='miss'"),
        (voros.costs.from_samples([3, 4, 5]), "over='miss'"),
        (voros.costs.from_samples([0.3, 0.4, 0.2], over="miss"), "over='ratio'"),
    ],
)
def test_inverted_costs_are_told(cost_ratio: Any, advice: str) -> None:
    with pytest.warns(voros.exceptions.InvertedCostsWarning, match=advice) as caught:
        voros.Scenario(cost_ratio=cost_ratio)
    assert len(caught) == 1


@pytest.mark.parametrize(
    "cost_ratio",
    [
        1,
        (0.2, 1),
        (0.05, 2),
        (0.5, 2),
        voros.costs.miss_costs(5, 20),
        voros.costs.uniform_t(0.5, 1.0),
    ],
)
def test_other_costs_are_not(cost_ratio: Any) -> None:
    voros.Scenario(cost_ratio=cost_ratio)


FROM_PARTS: dict[str, Callable[..., Any]] = {
    "partial_voros_score": lambda **parts: voros.partial_voros_score(LABELS, SCORES, **parts),
    "voros_score": lambda **parts: voros.voros_score(LABELS, SCORES, **parts),
    "winner_map": lambda **parts: voros.winner_map(LABELS, MODELS, **GRID, **parts),
}


@pytest.mark.parametrize("name", FROM_PARTS)
def test_inverted_costs_are_told_once_where_parts_are_given(name: str) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        FROM_PARTS[name](cost_ratio=(5, 20))
    told = [
        warning for warning in caught if warning.category is voros.exceptions.InvertedCostsWarning
    ]
    assert [warning.filename for warning in told] == [__file__]


def test_a_capacity_of_one_alarm_is_told() -> None:
    with pytest.warns(
        voros.exceptions.FewAlarmsWarning, match="one alarm. For no limit write 1.0"
    ) as caught:
        voros.Scenario(capacity=1, cost_ratio=0.1)
    assert caught[0].filename == __file__
    with pytest.warns(voros.exceptions.FewAlarmsWarning):
        voros.Scenario(capacity=np.int64(1), cost_ratio=0.1)
    voros.Scenario(capacity=1.0, cost_ratio=0.1)
    voros.Scenario(capacity=2, cost_ratio=0.1)
    # In a list of counts 1 is one of them.
    voros.winner_map(LABELS, MODELS, min_precisions=[0.1], capacities=[1, 2], cost_ratio=0.1)


def strict() -> voros.Scenario:
    return voros.Scenario(min_precision=0.99, capacity=0.5, cost_ratio=0.1)


POOR = [0.1, 0.2, 0.9, 0.8]
CLASSES = [1, 0, 0, 0]

SILENT: list[Callable[[], Any]] = [
    lambda: voros.partial_voros_score(CLASSES, POOR, strict()),
    lambda: voros.partial_voros_score(
        CLASSES, POOR, min_precision=0.99, capacity=0.5, cost_ratio=0.1
    ),
    lambda: voros.evaluate(CLASSES, POOR, strict()),
    lambda: voros.select_model(CLASSES, POOR, strict()),
    lambda: voros.select_model(
        {"a": voros.OperatingPoints.from_scores(CLASSES, POOR)}, scenario=strict()
    ),
    lambda: voros.ThresholdPolicy.from_validation(CLASSES, POOR, strict()),
]


@pytest.mark.parametrize("call", SILENT)
def test_never_alarm_is_told_at_the_callers_line(call: Callable[[], Any]) -> None:
    with pytest.warns(voros.NeverAlarmWarning) as caught:
        call()
    lines, first = inspect.getsourcelines(call)
    (told,) = caught
    assert told.filename == __file__
    assert first <= told.lineno < first + len(lines)


def test_costs_beyond_the_floor_are_told_at_the_callers_line() -> None:
    wide = voros.Scenario(min_precision=0.2, capacity=0.5, cost_ratio=(0.1, 0.9))
    for call in (
        lambda: voros.partial_voros_score(LABELS, SCORES, wide),
        lambda: voros.evaluate(LABELS, SCORES, wide),
        lambda: voros.select_model(LABELS, SCORES, wide),
        lambda: RocDisplay.from_predictions(LABELS, SCORES, wide),
    ):
        with pytest.warns(voros.exceptions.CostRangeWarning) as caught:
            call()
        assert {warning.filename for warning in caught} == {__file__}


@pytest.mark.parametrize("display", [RocDisplay, AreaCurveDisplay, ThresholdCostDisplay])
def test_pictures_warn_when_made_and_not_when_drawn_again(display: Any) -> None:
    wide = voros.Scenario(min_precision=0.3, capacity=0.9, cost_ratio=(0.1, 0.9))
    with pytest.warns(voros.exceptions.CostRangeWarning):
        drawn = display.from_predictions(LABELS, SCORES, wide)
    drawn.plot()
    display(voros.OperatingPoints.from_scores(LABELS, SCORES), wide).plot()


NOT_A_SCENARIO: dict[str, Callable[[Any, Path], Any]] = {
    "partial_voros_score": lambda s, _: voros.partial_voros_score(LABELS, SCORES, s),
    "voros_score": lambda s, _: voros.voros_score(LABELS, SCORES, s),
    "evaluate": lambda s, _: voros.evaluate(LABELS, SCORES, s),
    "evaluate(points)": lambda s, _: voros.evaluate(
        voros.OperatingPoints.from_scores(LABELS, SCORES), scenario=s
    ),
    "select_model": lambda s, _: voros.select_model(LABELS, MODELS, s),
    "from_validation": lambda s, _: voros.ThresholdPolicy.from_validation(LABELS, SCORES, s),
    "make_scorer": lambda s, _: voros.make_scorer(s),
    "bootstrap": lambda s, _: voros.bootstrap(LABELS, SCORES, s),
    "compare": lambda s, _: voros.compare(LABELS, MODELS, s),
    "write_page": lambda s, folder: write_page(LABELS, MODELS, s, folder / "page.html"),
    "RocDisplay": lambda s, _: RocDisplay.from_predictions(LABELS, SCORES, s),
    "AreaCurveDisplay": lambda s, _: AreaCurveDisplay.from_predictions(LABELS, SCORES, s),
    "ThresholdCostDisplay": lambda s, _: ThresholdCostDisplay.from_predictions(LABELS, SCORES, s),
}


@pytest.mark.parametrize("name", NOT_A_SCENARIO)
@pytest.mark.parametrize("not_a_scenario", [{"min_precision": 0.15, "cost_ratio": 0.1}, 0.15])
def test_what_is_no_scenario_is_a_type_error(
    name: str, not_a_scenario: Any, tmp_path: Path
) -> None:
    with pytest.raises(
        TypeError, match=r"scenario is a (dict|float); accepted is a voros.Scenario"
    ):
        NOT_A_SCENARIO[name](not_a_scenario, tmp_path)


def test_a_scenario_or_its_parts() -> None:
    ward = voros.Scenario(min_precision=0.3, capacity=0.4, cost_ratio=(0.1, 0.2), prevalence=0.2)
    parts = {"min_precision": 0.3, "capacity": 0.4, "cost_ratio": (0.1, 0.2), "prevalence": 0.2}
    assert voros.partial_voros_score(LABELS, SCORES, ward) == (
        voros.partial_voros_score(LABELS, SCORES, **parts)
    )
    assert voros.voros_score(LABELS, SCORES, ward) == (
        voros.voros_score(LABELS, SCORES, cost_ratio=(0.1, 0.2), prevalence=0.2)
    )
    for name, value in parts.items():
        with pytest.raises(TypeError, match=f"{name} and a scenario were given"):
            voros.partial_voros_score(LABELS, SCORES, ward, **{name: value})
    with pytest.raises(TypeError, match="min_precision and a scenario were given"):
        voros.partial_voros_score(LABELS, SCORES, ward, min_precision=0.0)
    with pytest.raises(TypeError, match="cost_ratio and a scenario were given"):
        voros.voros_score(LABELS, SCORES, ward, cost_ratio=0.1)
    with pytest.raises(TypeError, match="cost_ratio is required"):
        voros.partial_voros_score(LABELS, SCORES)
