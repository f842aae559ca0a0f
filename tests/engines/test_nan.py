"""NaN is refused wherever it hides: writers leave it out of a Parquet file's statistics."""

import warnings

import numpy as np
import pytest

import voros
from voros.engines import count_frame, open_files

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

SCENARIO = voros.Scenario(0.3, 0.3, (0.05, 0.4))
N_CASES = 20_000


def write(path, **changes):
    rng = np.random.default_rng(1)
    scores = rng.random(N_CASES)
    columns = {"y": rng.random(N_CASES) < scores, "s": scores, "w": np.ones(N_CASES)}
    for name, change in changes.items():
        columns[name] = change(columns[name].copy())
    pq.write_table(pa.table(columns), path, row_group_size=5000)
    return path


def with_nan(*rows, kind=np.float64):
    def change(column):
        column = column.astype(kind)
        column[list(rows)] = np.nan
        return column

    return change


@pytest.mark.parametrize("engine", ["duckdb", "polars"])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("rows", [(5,), (0, 7000, 19_999)])
def test_nan_scores_in_a_parquet_file_are_refused(tmp_path, engine, kind, rows):
    pytest.importorskip(engine)
    file = write(tmp_path / "cases.parquet", s=with_nan(*rows, kind=kind))
    with pytest.raises(ValueError, match=rf"'s' is missing or NaN in {len(rows)} of 20000 rows"):
        count_frame(open_files(file, engine), label="y", scores=["s"], scenarios=[SCENARIO])


def test_nan_in_many_rows_is_refused_without_a_warning_of_numpy():
    pl = pytest.importorskip("polars")
    scores = np.random.default_rng(0).random(200_000)
    labels = scores > 0.5
    scores[-7] = np.nan
    frame = pl.LazyFrame({"y": labels, "s": scores})
    # As an error a warning would send the count to a second pass, which refuses as well.
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(ValueError, match="'s' is missing or NaN in 1 of 200000 rows"):
            count_frame(frame, label="y", scores=["s"])
    assert not caught


@pytest.mark.parametrize("engine", ["duckdb", "polars"])
def test_nan_weights_in_a_parquet_file_are_refused(tmp_path, engine):
    pytest.importorskip(engine)
    file = write(tmp_path / "cases.parquet", w=with_nan(7))
    with pytest.raises(ValueError, match=r"weight='w' must be finite .* 1 of 20000 rows"):
        count_frame(open_files(file, engine), label="y", scores=["s"], weight="w")


@pytest.mark.parametrize("engine", ["duckdb", "polars"])
def test_infinities_in_a_parquet_file_are_no_nan(tmp_path, engine):
    pytest.importorskip(engine)

    def change(scores):
        scores[:3] = np.inf, -np.inf, np.inf
        return scores

    file = write(tmp_path / "cases.parquet", s=change)
    table = pq.read_table(file)
    truth = voros.evaluate(table["y"].to_numpy(), table["s"].to_numpy(), SCENARIO).score
    frame = open_files(file, engine)
    points = count_frame(frame, label="y", scores=["s"], scenarios=[SCENARIO])["s"]
    assert points.covers.interval == pytest.approx((truth, truth), abs=1e-12)


FAULTY = {
    "a score beyond the sample": ("s", with_nan(15_000), r"'s' is missing or NaN in 1 of"),
    "a score in the sample": ("s", with_nan(5), r"'s' is missing or NaN in 1 of"),
    "a label": (
        "y",
        lambda labels: np.where(np.arange(N_CASES) == 9, None, labels),
        r"label column 'y' is missing in 1 of 20000 rows",
    ),
    "a third label": (
        "y",
        lambda labels: np.where(np.arange(N_CASES) == 15_000, 2, labels),
        r"label column 'y' holds a third label, or NaN, in 1 of 20000 rows",
    ),
}


@pytest.mark.parametrize("engine", ["duckdb", "polars"])
@pytest.mark.parametrize("fault", list(FAULTY))
def test_faults_are_found_in_the_pass_that_counts(tmp_path, monkeypatch, engine, fault):
    """Many rows and no limit: buckets are arithmetic, and nothing was checked before."""
    pytest.importorskip(engine)
    monkeypatch.setattr("voros.engines.search.SAMPLE_ROWS", 1000)
    column, change, message = FAULTY[fault]
    file = write(tmp_path / "cases.parquet", **{column: change})
    with pytest.raises(ValueError, match=message):
        count_frame(
            open_files(file, engine),
            label="y",
            scores=["s"],
            pos_label=1 if fault == "a third label" else None,
            scenarios=[voros.Scenario(cost_ratio=(0.05, 0.4))],
            largest_answer=500,
        )
