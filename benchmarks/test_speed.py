"""Time voros beside its peers: `make bench`.

Every row belongs to a group, in which one row is the reference: the plain work that cannot be
avoided, such as a sort of the scores. What is kept and compared is the ratio to the reference of
the same run, in processor time (`ratios.py`), because a ratio travels between machines. Peers that
are not installed are skipped.
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
    return lambda: [np.sort(column) for column in columns]


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


def select(n_models: int, n_cases: int) -> Call:
    return partial(voros.select_model, *models(n_models, n_cases), LIMITS)


def compare() -> Call:
    return partial(voros.compare, *models(4, 50_000), LIMITS, n_resamples=500, random_state=0)


def allocate(n_streams: int, n_cases: int, **how: Any) -> Call:
    y_true, scores = streams(n_streams, n_cases)
    how = {"capacity": 0.1, "max_gap": 0.01} | how
    return partial(voros.allocate, y_true, scores, voros.Scenario(0.2, cost_ratio=0.05), **how)


def report() -> Call:
    from voros.present.report import make_report, write_report

    y_true, scores = models(3, 20_000)

    def write() -> None:
        with tempfile.TemporaryDirectory() as folder:
            write_report(make_report(y_true, scores, LIMITS, title="speed"), f"{folder}/a.html")

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
    """One timing: its group, its name, and what makes the call.

    The first row of a group is the reference.
    """

    group: str
    name: str
    make: Callable[[], Call]


def sort_million() -> Call:
    return partial(np.sort, cases(MILLION)[1])


DAYS = {"capacity": 25, "per": "day", "periods": np.arange(5000) % 20}
SCORE, SELECT, ALLOCATE = "score, 1e6 cases", "select, 20 x 50,000", "allocate"
COMPARE, DOCUMENTS = "compare, 4 x 50,000", "documents, 3 x 20,000"
CURVE, CERTIFY = "decision curve, 1e5 cases, 50 points", "precision guarantee, 5,000 cases"
ROWS = (
    Row(SCORE, "numpy.sort", sort_million),
    Row(SCORE, "precision floor and capacity", partial(score, LIMITS)),
    Row(SCORE, "no limits", partial(score, NO_LIMITS)),
    Row(SCORE, "wide costs", partial(score, WIDE_COSTS)),
    Row(SCORE, "two values", partial(score, LIMITS, lambda s: (s > 1).astype(float))),
    Row(SCORE, "a hundred values", partial(score, LIMITS, lambda s: s.round(1))),
    Row(SCORE, "weights", weighted),
    Row(SCORE, "evaluate", lambda: partial(voros.evaluate, *cases(MILLION), LIMITS)),
    Row(
        SCORE,
        "ThresholdPolicy.from_validation",
        lambda: partial(voros.ThresholdPolicy.from_validation, *cases(MILLION), LIMITS),
    ),
    Row(SCORE, "scikit-learn roc_auc_score", partial(from_scikit_learn, "roc_auc_score")),
    Row(SELECT, "numpy.sort of every model", lambda: sort_all(models(20, 50_000)[1])),
    Row(SELECT, "select_model", partial(select, 20, 50_000)),
    Row(ALLOCATE, "numpy.sort, 10 x 50,000", lambda: sort_all(streams(10, 50_000)[1])),
    Row(ALLOCATE, "10 streams x 50,000", partial(allocate, 10, 50_000)),
    Row(ALLOCATE, "5 x 5,000, one visit", partial(allocate, 5, 5000, overlap="once")),
    Row(ALLOCATE, "5 x 5,000 x 20 days", partial(allocate, 5, 5000, exceed=0.0, **DAYS)),
    Row(COMPARE, "numpy.sort of every model", lambda: sort_all(models(4, 50_000)[1])),
    Row(COMPARE, "500 resamples", compare),
    Row(DOCUMENTS, "numpy.sort of every model", lambda: sort_all(models(3, 20_000)[1])),
    Row(DOCUMENTS, "report", report),
    Row(DOCUMENTS, "page", page),
    Row(CURVE, "numpy.sort", lambda: partial(np.sort, probabilities(100_000)[1])),
    Row(CURVE, "net_benefit", decision_curve),
    Row(CURVE, "dcurves", dcurves_curve),
    Row(CERTIFY, "numpy.sort", lambda: partial(np.sort, probabilities(5000)[1])),
    Row(CERTIFY, "ThresholdPolicy with a guarantee", certified),
    Row(CERTIFY, "MAPIE", certified_by_mapie),
)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("row", ROWS, ids=[f"{row.group}: {row.name}" for row in ROWS])
def test_speed(benchmark: Any, row: Row) -> None:
    benchmark.group = row.group
    benchmark.extra_info["row"] = row.name
    benchmark(row.make())
