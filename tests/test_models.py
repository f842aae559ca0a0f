"""Scores of one model or several: every public function reads them alike."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import voros
from voros.inference import roc_band
from voros.models import columns_by_model
from voros.plotting import AreaCurveDisplay, RocDisplay, ThresholdCostDisplay
from voros.present.explorer import write_page

plt = pytest.importorskip("matplotlib.pyplot")

SCENARIO = voros.Scenario(min_precision=0.3, capacity=0.5, cost_ratio=(0.1, 0.2))
RNG = np.random.default_rng(5)
LABELS = RNG.random(200) < 0.3
SCORES = {"a": LABELS + RNG.normal(size=200), "b": LABELS * 2 + RNG.normal(size=200)}
GRID = {"min_precisions": [0.3, 0.5], "capacities": [0.2, 0.4], "cost_ratio": 0.1}
DRAWS = {"n_resamples": 100, "random_state": 0}


def _page(y_true: Any, scores: Any, folder: Path) -> str:
    path = write_page(y_true, scores, SCENARIO, folder / "page.html", force=True)
    return path.read_text(encoding="utf-8")


SEVERAL: dict[str, Callable[[Any, Any, Path], Any]] = {
    "select_model": lambda y, s, _: repr(voros.select_model(y, s, SCENARIO)),
    "bootstrap": lambda y, s, _: repr(voros.bootstrap(y, s, SCENARIO, **DRAWS)),
    "compare": lambda y, s, _: repr(voros.compare(y, s, SCENARIO, **DRAWS)),
    "winner_map": lambda y, s, _: voros.winner_map(y, s, **GRID).scores.tolist(),
    "roc_band": lambda y, s, _: repr(roc_band(y, s, **DRAWS)),
    "write_page": _page,
    "RocDisplay": lambda y, s, _: RocDisplay.from_predictions(y, s, SCENARIO).frame("pandas"),
    "AreaCurveDisplay": lambda y, s, _: AreaCurveDisplay.from_predictions(y, s, SCENARIO).frame(
        "pandas"
    ),
}
"""What takes several models, as something that can be compared."""

TAKES_ONE = SEVERAL.keys() - {"compare", "winner_map"}


@pytest.fixture(autouse=True)
def closed_figures() -> Any:
    yield
    plt.close("all")


def same(one: Any, other: Any) -> bool:
    return one.equals(other) if hasattr(one, "equals") else one == other


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("name", SEVERAL)
def test_frames_are_read_as_mappings(name: str, library: str, tmp_path: Path) -> None:
    module = pytest.importorskip(library)
    frame = (module.table if library == "pyarrow" else module.DataFrame)(SCORES)
    call = SEVERAL[name]
    assert same(call(LABELS, frame, tmp_path), call(LABELS, SCORES, tmp_path))


@pytest.mark.parametrize("name", sorted(TAKES_ONE))
def test_one_array_is_one_model(name: str, tmp_path: Path) -> None:
    call = SEVERAL[name]
    alone = call(LABELS, SCORES["a"], tmp_path)
    named = call(LABELS, {"model": SCORES["a"]}, tmp_path)
    if name in ("bootstrap", "roc_band"):
        # One model without a name is answered without one.
        named = named.removeprefix("{'model': ").removesuffix("}")
    assert same(alone, named)


@pytest.mark.parametrize("name", SEVERAL)
def test_a_swapped_order_is_named(name: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"swapped\..*y_true, the labels, comes first"):
        SEVERAL[name](SCORES, LABELS, tmp_path)


@pytest.mark.parametrize(
    "call",
    [
        lambda y, s: voros.partial_voros_score(y, s, cost_ratio=0.1),
        lambda y, s: voros.voros_score(y, s, cost_ratio=0.1),
        lambda y, s: voros.evaluate(y, s, SCENARIO),
        lambda y, s: voros.ThresholdPolicy.from_validation(y, s, SCENARIO),
        lambda y, s: voros.bootstrap(y, s, SCENARIO),
        lambda y, s: voros.select_model(y, {"a": s}, SCENARIO),
        lambda y, s: ThresholdCostDisplay.from_predictions(y, s, SCENARIO),
    ],
)
def test_a_swapped_array_is_named(call: Callable[[Any, Any], Any]) -> None:
    with pytest.raises(ValueError, match="swapped; y_true, the labels, comes first"):
        call(SCORES["a"], LABELS)


def test_a_model_called_model_keeps_its_name() -> None:
    intervals = voros.bootstrap(LABELS, {"model": SCORES["a"]}, SCENARIO, **DRAWS)
    assert list(intervals) == ["model"]


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ({}, "scores hold no model"),
        ({1: [1, 2, 3], "1": [1, 2, 3]}, "name a model twice: 1"),
        ({"a": [1, 2]}, "y_true has 3, scores of 'a' has 2"),
        ([1, 2], "y_true has 3, scores has 2"),
        ({"a": [[1], [2, 3]]}, "scores of 'a'"),
        (3, "scores are of type int; accepted are a one-dimensional array"),
        (None, "scores are of type NoneType; accepted are"),
        (np.ones((3, 4)), "shape is \\(3, 4\\)"),
    ],
)
def test_what_is_no_score_is_refused(scores: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        columns_by_model([0, 1, 0], scores)


def test_a_query_is_collected_first() -> None:
    lazy = pytest.importorskip("polars").LazyFrame({"a": [1.0, 2.0, 3.0]})
    with pytest.raises(
        ValueError, match="scores is a polars query and has no rows yet; collect it"
    ):
        columns_by_model([0, 1, 0], lazy)


class Reads:
    """An array that counts how often it is read."""

    def __init__(self, values):
        self.values, self.n_reads = np.asarray(values), 0

    def __len__(self):
        return len(self.values)

    def __array__(self, dtype=None, copy=None):
        self.n_reads += 1
        return self.values


def test_every_array_is_read_once_however_many_models_there_are():
    rng = np.random.default_rng(0)
    labels = Reads(rng.random(200) < 0.3)
    weights = Reads(np.ones(200))
    scores = {name: Reads(labels.values + rng.normal(size=200)) for name in "abc"}
    voros.select_model(
        labels, scores, voros.Scenario(0.2, 0.5, cost_ratio=0.1), sample_weight=weights
    )
    assert [array.n_reads for array in (labels, weights, *scores.values())] == [1] * 5
