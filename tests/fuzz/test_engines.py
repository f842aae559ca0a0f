"""Engines against memory on drawn files: the same score, or a refusal where memory refuses too."""

import numpy as np
import pytest

import voros
from voros.engines import count_frame, open_parquet

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::voros.VorosWarning"),
    pytest.mark.filterwarnings("ignore:The inplace keyword"),
]

TRIES = {"polars": 200, "duckdb": 80, "dask": 12, "spark": 5}
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


def draw(rng):
    """Columns of a file, and how many faults each model's scores have."""
    size = int(rng.choice([40, 700, 2500]))
    lean = rng.normal(0, 1.5, size)
    order = rng.choice(["any", "sorted", "reversed", "drifting"])
    if order != "any":
        lean = np.sort(lean)[:: 1 if order == "sorted" else -1]
        lean = lean if order != "drifting" else lean + np.linspace(3, -3, size)
    labels = rng.random(size) < 1 / (1 + np.exp(1.5 - lean))
    labels[:2] = True, False
    if rng.random() < 0.2:  # a file whose first part holds one class
        labels = np.sort(labels)
    names = ["a", "b", "c"][: int(rng.integers(1, 4))]
    kinds = [KINDS[rng.integers(len(KINDS))] for _ in names]
    columns = {name: kind(rng, size, lean) for name, kind in zip(names, kinds, strict=True)}
    faults = dict.fromkeys(names, 0)
    if rng.random() < 0.15 and getattr(columns["a"], "dtype", None) in (np.float64, np.float32):
        rows = rng.integers(size, size=2)
        columns["a"][rows] = np.nan
        faults["a"] = len(set(rows.tolist()))
    weights = rng.random(size) + 0.1 if rng.random() < 0.25 else None
    return labels, columns, weights, faults


def draw_scenario(rng):
    low = 10.0 ** rng.uniform(-2.5, 0)
    costs = low if rng.random() < 0.3 else (low, low * (1 + 3 * rng.random()))
    return voros.Scenario(
        float(rng.choice([0.0, 0.2, 0.5, 0.9])),
        [1.0, 0.3, 0.05, 10][rng.integers(4)],
        costs,
        [None, None, 0.05, 0.6][rng.integers(4)],
    )


def in_memory(labels, column, weights, scenario):
    scores = np.array(column.to_pylist(), dtype=float) if isinstance(column, pa.Array) else column
    return voros.evaluate(labels, scores, scenario, sample_weight=weights)


def compare(frame, labels, columns, weights, faults, scenario, rng):
    """Check one file, and say what came of it."""
    counted = count_frame(
        frame,
        label="y",
        scores=list(columns),
        weight=None if weights is None else "w",
        scenarios=[scenario],
        largest_answer=int(rng.choice([50, 400, 5000])),
    )
    assert not any(faults.values()), "NaN was counted"
    for name, column in columns.items():
        truth = in_memory(labels, column, weights, scenario)
        found = voros.evaluate_points(counted[name], scenario)
        assert found.score == pytest.approx(truth.score, abs=1e-12)
        assert counted[name].interval == pytest.approx((truth.score, truth.score), abs=1e-12)
        assert found.feasible == truth.feasible
        if weights is None:
            assert repr(found.choices) == repr(truth.choices)


@pytest.mark.parametrize("engine", ["polars", "duckdb", "dask"])
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
    monkeypatch.setattr("voros.engines.refinement.PILOT_ROWS", SAMPLE)
    rng = np.random.default_rng([20, len(engine)])
    equal = refused = 0
    for trial in range(TRIES[engine]):
        labels, columns, weights, faults = draw(rng)
        scenario = draw_scenario(rng)
        table = pa.table({"y": labels, **columns} | ({} if weights is None else {"w": weights}))
        file = tmp_path / f"{trial}.parquet"
        pq.write_table(table, file, row_group_size=max(len(labels) // 3, 1))
        frame = open_parquet(file, engine)
        what = (engine, trial, scenario, table.schema.types)
        try:
            compare(frame, labels, columns, weights, faults, scenario, rng)
            equal += 1
        except voros.InfeasibleError:
            with pytest.raises(voros.InfeasibleError):
                in_memory(labels, columns["a"], weights, scenario)
            refused += 1
        except ValueError as error:
            if not any(faults.values()) or "NaN" not in str(error):
                raise AssertionError(what) from error
            refused += 1
        except Exception as error:
            raise AssertionError(what) from error
        file.unlink()
    print(f"{TRIES[engine]} files on {engine}: {equal} equal to memory, {refused} refused as there")
    assert equal > TRIES[engine] / 2
