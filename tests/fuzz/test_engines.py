"""Engines against memory on drawn files: the same score, or a refusal where memory refuses too."""

from collections import Counter
from dataclasses import dataclass

import numpy as np
import pytest

import voros
from voros.engines import count_frame, open_files

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::voros.VorosWarning"),
    pytest.mark.filterwarnings("ignore:The inplace keyword"),
]

TRIES = {"polars": 200, "duckdb": 80, "spark": 10}
"""At least one file for every kind of score and every fault, by turns."""

FAULTS = ["none", "NaN score", "none", "null score", "none", "null label", "none", "null weight"]
FAULTS.append("none")  # nine in all, so that every kind of score meets every fault
REFUSALS = {
    "NaN score": "NaN",
    "null score": "missing or NaN",
    "null label": "is missing in",
    "null weight": "must be finite",
}
"""What an engine says of each fault."""

LABELS = {"bool": (False, True), "whole": (0, 1), "text": ("well", "ill")}

SAMPLE = 300
"""Rows from which a first cut is guessed here, so that sorted files of few rows mislead it."""


def plain(rng, size, lean):
    return lean + rng.normal(0, 1, size)


def probabilities(rng, size, lean):
    return 1 / (1 + np.exp(-plain(rng, size, lean)))


def ties(rng, size, lean):
    return plain(rng, size, lean).round(int(rng.integers(0, 3)))


def single_precision(rng, size, lean):
    return plain(rng, size, lean).astype(np.float32)


def extremes(rng, size, lean):
    scores = plain(rng, size, lean) * 10.0 ** rng.integers(-300, 300)
    scores[rng.integers(size, size=8)] = rng.choice(
        [np.inf, -np.inf, 0.0, -0.0, 5e-324, -5e-324, np.finfo(float).max, 1e-310], 8
    )
    return scores


def denormals(rng, size, lean):
    return np.round(plain(rng, size, lean) * 20) * 5e-324


def neighbours(rng, size, lean):
    steps = np.round((lean - lean.min()) * 100 + rng.integers(0, 50, size))
    return 0.5 + steps * 2.0**-53


def whole_numbers(rng, size, lean):
    return np.round(plain(rng, size, lean) * 1000).astype(np.int64)


def constant(rng, size, lean):
    return np.full(size, 0.25)


def decimals(rng, size, lean):
    from decimal import Decimal

    cents = np.round(plain(rng, size, lean) * 100).astype(int)
    return pa.array([Decimal(int(cent)).scaleb(-2) for cent in cents], pa.decimal128(12, 2))


KINDS = (
    plain,
    probabilities,
    ties,
    single_precision,
    extremes,
    denormals,
    neighbours,
    whole_numbers,
    constant,
    decimals,
)


@dataclass
class Drawn:
    """Columns of a file; nulls are masked."""

    labels: pa.Array
    scores: dict[str, pa.Array]
    weights: pa.Array | None
    fault: str
    holed: str
    kinds: list[str]

    @property
    def table(self):
        weights = {} if self.weights is None else {"w": self.weights}
        return pa.table({"y": self.labels, **self.scores, **weights})

    @property
    def pos_label(self):
        return "ill" if pa.types.is_string(self.labels.type) else None

    def in_memory(self, name, scenario):
        labels = np.array(self.labels.to_pylist())
        scores = np.array(self.scores[name].to_pylist(), dtype=float)
        weights = None if self.weights is None else np.array(self.weights.to_pylist(), dtype=float)
        options = {"sample_weight": weights, "pos_label": self.pos_label}
        return voros.evaluate(labels, scores, scenario, **options)


def draw(rng, trial, most_models):
    """A file; kinds of scores and faults take turns, the rest is drawn."""
    size = int(rng.choice([40, 700, 2500]))
    lean = rng.normal(0, 1.5, size)
    order = rng.choice(["any", "sorted", "reversed", "drifting"])
    if order != "any":
        lean = np.sort(lean)[:: 1 if order == "sorted" else -1]
        lean = lean if order != "drifting" else lean + np.linspace(3, -3, size)
    positive = rng.random(size) < 1 / (1 + np.exp(1.5 - lean))
    positive[:2] = True, False
    if rng.random() < 0.2:  # a file whose first part holds one class
        positive = np.sort(positive)
    names = ["a", "b", "c"][: int(rng.integers(1, most_models + 1))]
    kinds = [KINDS[(trial + int(turn)) % len(KINDS)] for turn in rng.integers(10, size=len(names))]
    kinds[0] = KINDS[trial % len(KINDS)]
    scores = {name: kind(rng, size, lean) for name, kind in zip(names, kinds, strict=True)}
    weighted = rng.random() < 0.25
    return with_fault(rng, trial, positive, scores, weighted, kinds)


def with_fault(rng, trial, positive, scores, weighted, kinds):
    fault = FAULTS[trial % len(FAULTS)]
    rows = np.zeros(len(positive), dtype=bool)
    rows[rng.integers(len(rows), size=2)] = True
    nowhere = np.zeros_like(rows)
    if fault == "NaN score":
        if getattr(scores["a"], "dtype", None) not in (np.float64, np.float32):
            scores["a"], kinds[0] = rng.normal(size=len(rows)), plain
        scores["a"][rows] = np.nan
    holed = "a" if fault == "NaN score" else rng.choice(list(scores))
    names = np.array(LABELS[rng.choice(list(LABELS))])
    weights = pa.array(
        rng.random(len(rows)) + 0.1, mask=rows if fault == "null weight" else nowhere
    )
    return Drawn(
        pa.array(names[positive * 1], mask=rows if fault == "null label" else nowhere),
        {
            name: masked(column, rows if (fault, name) == ("null score", holed) else nowhere)
            for name, column in scores.items()
        },
        weights if weighted or fault == "null weight" else None,
        fault,
        holed,
        [kind.__name__ for kind in kinds],
    )


def masked(column, rows):
    if not isinstance(column, pa.Array):
        return pa.array(column, mask=rows)
    return pa.compute.if_else(pa.array(rows), pa.scalar(None, column.type), column)


def draw_scenario(rng):
    low = 10.0 ** rng.uniform(-2.5, 0)
    costs = low if rng.random() < 0.3 else (low, low * (1 + 3 * rng.random()))
    return voros.Scenario(
        float(rng.choice([0.0, 0.2, 0.5, 0.9])),
        [1.0, 0.3, 0.05, 10][rng.integers(4)],
        costs,
        [None, None, 0.05, 0.6][rng.integers(4)],
    )


def compare(frame, drawn, scenario, largest_answer):
    """Check one file whose every model is counted."""
    counted = count_frame(
        frame,
        label="y",
        scores=list(drawn.scores),
        pos_label=drawn.pos_label,
        weight=None if drawn.weights is None else "w",
        scenarios=[scenario],
        largest_answer=largest_answer,
    )
    assert drawn.fault == "none", "was counted"
    for name in drawn.scores:
        truth = drawn.in_memory(name, scenario)
        evaluation = voros.evaluate(counted[name], scenario=scenario)
        assert evaluation.score == pytest.approx(truth.score, abs=1e-12)
        assert counted[name].covers.interval == pytest.approx((truth.score, truth.score), abs=1e-12)
        assert evaluation.feasible == truth.feasible
        if drawn.weights is None:
            assert repr(evaluation.choices) == repr(truth.choices)


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_engines_agree_with_memory(engine, tmp_path, monkeypatch):
    pytest.importorskip(engine)
    check_many(engine, tmp_path, monkeypatch)


@pytest.mark.spark
@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_spark_agrees_with_memory(spark, tmp_path, monkeypatch):
    check_many("spark", tmp_path, monkeypatch)


def check_many(engine, tmp_path, monkeypatch):
    monkeypatch.setattr("voros.engines.search.SAMPLE_ROWS", SAMPLE)
    rng = np.random.default_rng([20, len(engine)])
    # Spark takes a second for each query of a few rows, however simple.
    answers, most_models = ([5000], 2) if engine == "spark" else ([50, 400, 5000], 3)
    seen, kinds = Counter(), Counter()
    for trial in range(TRIES[engine]):
        drawn, scenario = draw(rng, trial, most_models), draw_scenario(rng)
        file = tmp_path / f"{trial}.parquet"
        pq.write_table(drawn.table, file, row_group_size=max(len(drawn.labels) // 3, 1))
        what = (engine, trial, drawn.fault, drawn.kinds, scenario)
        try:
            outcome = try_one(open_files(file, engine), drawn, scenario, int(rng.choice(answers)))
        except Exception as error:
            raise AssertionError(what) from error
        seen[outcome] += 1
        kinds.update(drawn.kinds)
        file.unlink()
    print(f"{TRIES[engine]} files on {engine}, as in memory: {dict(seen)}; scores {dict(kinds)}")
    assert set(kinds) == {kind.__name__ for kind in KINDS}
    assert seen["equal"] > TRIES[engine] / 4
    assert set(REFUSALS) <= set(seen)


def try_one(frame, drawn, scenario, largest_answer):
    """Count a file and say what came of it; memory must agree."""
    try:
        compare(frame, drawn, scenario, largest_answer)
    except voros.InfeasibleError:
        with pytest.raises(voros.InfeasibleError):
            drawn.in_memory("a", scenario)
        return "infeasible"
    except ValueError as error:
        if drawn.fault == "none" or REFUSALS[drawn.fault] not in str(error):
            raise
        with pytest.raises(ValueError, match=r"NaN|missing|finite"):
            drawn.in_memory(drawn.holed, scenario)
        return drawn.fault
    return "equal"
