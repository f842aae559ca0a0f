"""Time voros beside its peers: `make bench`.

The first row of a group is the reference: plain work that cannot be avoided, such as a sort of the
scores. `ratios.py` keeps and compares ratios of processor time to the reference of the same run,
because ratios are similar on other machines. Sorts are stable ones, because the time of numpy's
default sort depends on AVX-512. Peers that are not installed are skipped.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest

import voros

LIMITS = voros.Scenario(min_precision=0.5, capacity=0.1, cost_ratio=(1 / 40, 1 / 20))
NO_LIMITS = voros.Scenario(cost_ratio=(1 / 40, 1 / 20))
WIDE_COSTS = voros.Scenario(cost_ratio=(1 / 1000, 1.0))
MILLION = 1_000_000

Call = Callable[[], object]


def cases(n_cases: int, seed: int = 0) -> tuple[Any, Any]:
    """Draw labels, a tenth of them positive, and scores of an AUROC of .86."""
    rng = np.random.default_rng(seed)
    y_true = rng.random(n_cases) < 0.1
    return y_true, rng.normal(size=n_cases) + 1.5 * y_true


def models(n_models: int, n_cases: int) -> tuple[Any, dict[str, Any]]:
    """Draw labels, and the scores of several models."""
    y_true, signal = cases(n_cases)
    rng = np.random.default_rng(1)
    return y_true, {f"model {i}": signal + rng.normal(size=n_cases) for i in range(n_models)}


def streams(n_streams: int, n_cases: int) -> tuple[Any, Any]:
    """Draw outcomes of the same cases, and their scores."""
    rng = np.random.default_rng(2)
    y_true = rng.random((n_cases, n_streams)) < 0.02 * np.arange(1, n_streams + 1)
    return y_true, rng.normal(size=y_true.shape) + y_true


def sort_all(scores: Any) -> Call:
    """Return the sorting of every column."""
    columns = list(scores.values()) if isinstance(scores, dict) else list(np.asarray(scores).T)
    return lambda: [np.sort(column, kind="stable") for column in columns]


def draw_resamples(n_resamples: int, n_cases: int) -> Call:
    """Return the drawing of resamples."""
    rng = np.random.default_rng(0)

    def draw() -> None:
        for _ in range(n_resamples):
            np.bincount(rng.integers(0, n_cases, n_cases), minlength=n_cases)

    return draw


def of_every_model(function: Callable[..., Any], scenario: voros.Scenario) -> Call:
    """Return what calls a function for every model of a selection."""
    y_true, scores = models(4, MILLION)
    return lambda: [function(y_true, one, scenario) for one in scores.values()]


def score(scenario: voros.Scenario, change: Callable[[Any], Any] = lambda s: s) -> Call:
    """Return partial VOROS of a million cases."""
    y_true, scores = cases(MILLION)
    return partial(voros.partial_voros_score, y_true, change(scores), scenario)


def weighted() -> Call:
    y_true, scores = cases(MILLION)
    weights = np.random.default_rng(3).random(MILLION)
    return partial(voros.partial_voros_score, y_true, scores, LIMITS, sample_weight=weights)


def from_scikit_learn(name: str) -> Call:
    from sklearn import metrics

    return partial(getattr(metrics, name), *cases(MILLION))


def select(scenario: voros.Scenario, n_models: int = 4, n_cases: int = MILLION) -> Call:
    return partial(voros.select_model, *models(n_models, n_cases), scenario)


def compare(n_models: int, n_cases: int, n_resamples: int) -> Call:
    how: Any = {"n_resamples": n_resamples, "random_state": 0}
    return partial(voros.compare, *models(n_models, n_cases), LIMITS, **how)


def winners(n_cases: int, n_limits: int) -> Call:
    floors, capacities = np.linspace(0.05, 0.9, n_limits), np.linspace(0.01, 0.5, n_limits)
    how: Any = {"min_precisions": floors, "capacities": capacities, "cost_ratio": (1 / 40, 1 / 20)}
    return partial(voros.winner_map, *models(4, n_cases), **how)


def calibration() -> Call:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    from voros.plotting import CalibrationDisplay

    y_true, scores = models(4, MILLION)
    risks = {name: 1 / (1 + np.exp(3 - one)) for name, one in scores.items()}

    def draw() -> None:
        CalibrationDisplay.from_predictions(y_true, risks)
        pyplot.close("all")

    return draw


def allocate(n_streams: int, n_cases: int, **how: Any) -> Call:
    y_true, scores = streams(n_streams, n_cases)
    how = {"capacity": 0.1, "max_gap": 0.01} | how
    return partial(voros.allocate, y_true, scores, voros.Scenario(0.2, cost_ratio=0.05), **how)


def report() -> Call:
    y_true, scores = models(3, 20_000)

    def write() -> None:
        with tempfile.TemporaryDirectory() as folder:
            voros.write_report(y_true, scores, LIMITS, f"{folder}/a.html", title="speed")

    return write


def page() -> Call:
    y_true, scores = models(3, 20_000)

    def write() -> None:
        with tempfile.TemporaryDirectory() as folder:
            voros.write_page(y_true, scores, LIMITS, f"{folder}/page.html")

    return write


def probabilities(n_cases: int) -> tuple[Any, Any]:
    y_true, scores = cases(n_cases)
    return y_true, 1 / (1 + np.exp(3.3 - 1.5 * scores))


GRID = np.linspace(0.01, 0.5, 50)
"""Threshold probabilities of decision curves, and thresholds of a guarantee."""


def decision_curve() -> Call:
    return partial(voros.net_benefit, *probabilities(100_000), threshold_probability=GRID)


def dcurves_curve() -> Call:
    dcurves = pytest.importorskip("dcurves", exc_type=ImportError)
    pandas = pytest.importorskip("pandas")
    y_true, risk = probabilities(100_000)
    frame = pandas.DataFrame({"label": y_true.astype(int), "risk": risk})
    return partial(dcurves.dca, frame, "label", ["risk"], thresholds=GRID)


def certified() -> Call:
    y_true, risk = probabilities(5000)
    scenario = voros.Scenario(0.3, cost_ratio=0.1)
    certify = voros.ThresholdPolicy.from_validation
    return partial(certify, y_true, risk, scenario, guarantee=voros.Guarantee(0.95), n_models=1)


def certified_by_mapie() -> Call:
    control = pytest.importorskip("mapie.risk_control")
    y_true, risk = probabilities(5000)

    def calibrate() -> None:
        controller = control.BinaryClassificationController(
            lambda cases, threshold: (np.asarray(cases)[:, 0] >= threshold).astype(int),
            "precision",
            0.3,
            confidence_level=0.95,
            best_predict_param_choice="recall",
            list_predict_params=GRID[:, None],
        )
        controller.calibrate(risk[:, None], y_true.astype(int))

    return calibrate


class Row(NamedTuple):
    """One timing: its group, its name, what makes the call, and how often at least.

    The first row of a group is the reference.
    """

    group: str
    name: str
    make: Callable[[], Call]
    rounds: int | None = None


def sort_million() -> Call:
    return partial(np.sort, cases(MILLION)[1], kind="stable")


DAYS = {"capacity": 25, "per": "day", "periods": np.arange(5000) % 20}
MANY_DAYS = {"capacity": 5, "per": "day", "periods": np.arange(5000) % 100}
SCORE, LIMITED, FREE = "score, 1e6 cases", "4 x 1e6 cases", "4 x 1e6 cases, no limits"
COMPARE, DOCUMENTS = "compare, 4 x 50,000", "documents, 3 x 20,000"
ALLOCATE, MANY_LIMITS, LARGE = "allocate", "charts", "large"
HARD = {"max_gap": 0.001}
CURVE, CERTIFY = "decision curve, 1e5 cases, 50 points", "precision guarantee, 5,000 cases"
CHOSEN = voros.ThresholdPolicy.from_validation
ROWS = (
    Row(SCORE, "stable sort", sort_million),
    Row(SCORE, "precision floor and capacity", partial(score, LIMITS)),
    Row(SCORE, "no limits", partial(score, NO_LIMITS)),
    Row(SCORE, "wide costs", partial(score, WIDE_COSTS)),
    Row(SCORE, "two values", partial(score, NO_LIMITS, lambda s: (s > 1).astype(float))),
    Row(SCORE, "a hundred values", partial(score, NO_LIMITS, lambda s: s.round(1))),
    Row(SCORE, "weights", weighted),
    Row(SCORE, "scikit-learn roc_auc_score", partial(from_scikit_learn, "roc_auc_score")),
    *(
        Row(group, name, partial(make, scenario))
        for group, scenario in ((LIMITED, LIMITS), (FREE, NO_LIMITS))
        for name, make in (
            ("partial_voros_score", partial(of_every_model, voros.partial_voros_score)),
            ("evaluate", partial(of_every_model, voros.evaluate)),
            ("ThresholdPolicy.from_validation", partial(of_every_model, CHOSEN)),
            ("select_model", select),
        )
    ),
    Row(ALLOCATE, "stable sort, 10 x 50,000", lambda: sort_all(streams(10, 50_000)[1])),
    Row(ALLOCATE, "10 streams x 50,000", partial(allocate, 10, 50_000)),
    Row(ALLOCATE, "5 x 5,000, one visit", partial(allocate, 5, 5000, overlap="once")),
    Row(ALLOCATE, "5 x 5,000 x 20 days", partial(allocate, 5, 5000, exceed=0.0, **DAYS)),
    Row(COMPARE, "drawing 500 resamples", partial(draw_resamples, 500, 50_000)),
    Row(COMPARE, "500 resamples", partial(compare, 4, 50_000, 500)),
    Row(MANY_LIMITS, "stable sort, 4 x 1e6", lambda: sort_all(models(4, MILLION)[1])),
    Row(MANY_LIMITS, "winner map, 50 x 50 limits, 4 x 1e6", partial(winners, MILLION, 50)),
    Row(MANY_LIMITS, "winner map, 200 x 200 limits, 4 x 7,802", partial(winners, 7802, 200)),
    Row(MANY_LIMITS, "CalibrationDisplay, 4 x 1e6", calibration),
    Row(LARGE, "stable sort, 8 x 200,000", lambda: sort_all(models(8, 200_000)[1])),
    Row(LARGE, "evaluate, 1e7", lambda: partial(voros.evaluate, *cases(10 * MILLION), LIMITS)),
    Row(LARGE, "compare, 8 x 200,000, 2,000 resamples", partial(compare, 8, 200_000, 2000), 1),
    Row(
        LARGE,
        "allocate, 5 x 5,000, 20 days, 5 % above",
        partial(allocate, 5, 5000, exceed=0.05, **DAYS, **HARD),
        1,
    ),
    Row(
        LARGE,
        "allocate, 5 x 5,000, 100 days, 5 % above",
        partial(allocate, 5, 5000, exceed=0.05, **MANY_DAYS, **HARD),
        1,
    ),
    Row(
        LARGE,
        "allocate, 10 x 50,000, one visit",
        partial(allocate, 10, 50_000, overlap="once", **HARD),
        1,
    ),
    Row(DOCUMENTS, "a million steps of Python", lambda: lambda: sum(i % 7 for i in range(MILLION))),
    Row(DOCUMENTS, "report", report),
    Row(DOCUMENTS, "page", page),
    Row(CURVE, "stable sort", lambda: sort_all({"risk": probabilities(100_000)[1]})),
    Row(CURVE, "net_benefit", decision_curve),
    Row(CURVE, "dcurves", dcurves_curve),
    Row(CERTIFY, "stable sort", lambda: sort_all({"risk": probabilities(5000)[1]})),
    Row(CERTIFY, "ThresholdPolicy with a guarantee", certified),
    Row(CERTIFY, "MAPIE", certified_by_mapie),
)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("row", ROWS, ids=[f"{row.group}: {row.name}" for row in ROWS])
def test_speed(benchmark: Any, row: Row) -> None:
    benchmark.group = row.group
    benchmark.extra_info["row"] = row.name
    if row.rounds is None:
        benchmark(row.make())
    else:
        benchmark.pedantic(row.make(), rounds=row.rounds)
