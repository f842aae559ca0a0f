"""Columns that engines and memory could read differently."""

import numpy as np
import pytest

import voros
from voros.engines import count_frame, open_files

SCENARIO = voros.Scenario(0.25, 0.3, (0.05, 0.2))


def test_whole_numbers_that_floats_do_not_tell_apart_are_refused(make_frame):
    scores = 2**53 + np.arange(6)
    frame = make_frame({"y": [True, False] * 3, "s": scores})
    with pytest.raises(ValueError, match=r"'s' holds whole numbers of 2\*\*53 or beyond"):
        count_frame(frame, label="y", scores=["s"])
    below = make_frame({"y": [True, False] * 3, "s": scores - 10})
    assert len(count_frame(below, label="y", scores=["s"])["s"]) == 7


@pytest.mark.parametrize("missing", [None, float("nan")])
@pytest.mark.parametrize("late", [False, True])
def test_a_label_that_is_missing_is_called_missing(make_frame, missing, late):
    labels = [1.0, 0.0] * 6000 + [1.0]
    labels[-1 if late else 2] = missing
    frame = make_frame({"y": labels, "s": np.arange(12_001.0)})
    with pytest.raises(ValueError, match=r"'y' (is missing|holds NaN|holds a third label, or NaN)"):
        count_frame(frame, label="y", scores=["s"])


def test_a_null_label_is_no_third_label(make_frame):
    frame = make_frame({"y": ["a", "b", None, "a"], "s": [0.1, 0.2, 0.3, 0.4]})
    with pytest.raises(ValueError, match="'y' is missing in 1 of 4 rows"):
        count_frame(frame, label="y", scores=["s"], pos_label="a")


def test_one_class_may_weigh_next_to_nothing(make_frame):
    """The share of the other class is then 1 as a float."""
    rng = np.random.default_rng(0)
    labels = np.arange(400) % 2 == 0
    scores, weights = rng.random(400) + labels, np.where(labels, 1e17, 1e-3)
    scenario = voros.Scenario(0.1, 0.3, (0.05, 0.1), prevalence=0.2)
    frame = make_frame({"y": labels, "s": scores, "w": weights})
    points = count_frame(frame, label="y", scores=["s"], weight="w", scenarios=[scenario])["s"]
    truth = voros.evaluate(labels, scores, scenario, sample_weight=weights).score
    assert points.covers.interval[0] == pytest.approx(truth, abs=1e-9)


@pytest.mark.parametrize("engine", ["duckdb", "polars"])
def test_nested_folders_are_read(tmp_path, engine):
    pl = pytest.importorskip("polars")
    pytest.importorskip(engine)
    for year in (2023, 2024):
        (tmp_path / f"year={year}").mkdir()
        frame = pl.DataFrame({"y": [True, False], "s": [0.5, year / 1e4]})
        frame.write_parquet(tmp_path / f"year={year}" / "part.parquet")
    counted = count_frame(open_files(tmp_path, engine), label="y", scores=["s"])["s"]
    assert (counted.n_positive, counted.n_negative) == (2, 2)


@pytest.mark.parametrize("engine", ["duckdb", "polars"])
@pytest.mark.filterwarnings("ignore:The inplace keyword")
def test_a_label_of_lists_is_refused(tmp_path, engine):
    pl = pytest.importorskip("polars")
    pytest.importorskip(engine)
    for number, label in enumerate(([1, 2], {"a": 1})):
        frame = pl.DataFrame({"y": [label] * 3, "s": [0.1, 0.2, 0.3]})
        frame.write_parquet(tmp_path / f"{number}.parquet")
        opened = open_files(tmp_path / f"{number}.parquet", engine)
        with pytest.raises(ValueError, match="label='y' must hold numbers, text or booleans"):
            count_frame(opened, label="y", scores=["s"])
