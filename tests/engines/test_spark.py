"""Spark on a cluster of two worker processes, and with one of them killed."""

import threading
from contextlib import suppress

import numpy as np
import pytest

import voros
from voros.engines import count_frame, open_files
from voros.engines.backends import as_lazy, collect, where_listed
from voros.engines.scales import ROOTS, Scale

pytestmark = [
    pytest.mark.spark,
    pytest.mark.slow,
    # pyspark's own: it warns about every pandas of version 3, and leaves sockets open.
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::voros.VorosWarning"),
]

SCENARIO = voros.Scenario(0.25, 0.3, (0.05, 0.4))


@pytest.fixture(scope="module")
def cases():
    rng = np.random.default_rng(30)
    scores = rng.random(20_000) * 2 - 0.4
    labels = rng.random(20_000) < scores / 2
    special = scores.copy()
    special[:5] = [np.inf, -np.inf, np.finfo(float).max, -0.0, 0.0]
    return {
        "y": labels,
        "text": np.where(labels, "ill", "well"),
        "s": scores,
        "tied": scores.round(1),
        "duplicated": np.where(scores > 1, 0.75, 0.5),
        "single": scores.astype(np.float32),
        "special": special,
        "w": rng.random(20_000) * 3,
    }


@pytest.fixture(scope="module")
def frame(spark, cases, tmp_path_factory):
    pl = pytest.importorskip("polars")
    folder = tmp_path_factory.mktemp("spark")
    for part in range(4):
        rows = slice(part * 5000, (part + 1) * 5000)
        table = pl.DataFrame({name: column[rows] for name, column in cases.items()})
        table.write_parquet(folder / f"part{part}.parquet")
    return spark.read.parquet(str(folder))


@pytest.mark.parametrize("column", ["s", "tied", "duplicated", "single", "special"])
def test_equals_the_score_in_memory(frame, cases, column):
    points = count_frame(
        frame, label="y", scores=[column], scenarios=[SCENARIO], largest_answer=2000
    )[column]
    truth = voros.evaluate(cases["y"], cases[column], SCENARIO)
    result = voros.evaluate(points, scenario=SCENARIO)
    assert points.covers.exact
    assert result.score == pytest.approx(truth.score, abs=1e-12)
    assert [c.threshold for c in result.choices] == [c.threshold for c in truth.choices]


def test_weights_string_labels_and_several_models(frame, cases):
    by_model = count_frame(
        frame,
        label="text",
        pos_label="ill",
        scores=["s", "tied"],
        weight="w",
        scenarios=[SCENARIO],
        largest_answer=4000,
    )
    for name, points in by_model.items():
        truth = voros.evaluate(cases["y"], cases[name], SCENARIO, sample_weight=cases["w"]).score
        assert points.covers.interval == pytest.approx((truth, truth), abs=1e-12)


@pytest.mark.parametrize("scale", [Scale.up_to(2.0), Scale.up_to(2.0, ROOTS)])
@pytest.mark.parametrize("level", [0, 40])
def test_buckets_are_those_of_numpy(frame, cases, level, scale):
    lazy = as_lazy(frame.selectExpr("special"))
    numbered = collect(scale.with_buckets(lazy, "special", "bucket", level))
    expected = sorted(scale.buckets(cases["special"], level).tolist())
    assert sorted(numbered["bucket"].to_list()) == expected


def test_a_set_of_buckets_is_looked_up(frame, cases):
    numbers = np.flatnonzero(np.random.default_rng(3).random(4000) < 0.5) - 500
    numbered = Scale(12).with_buckets(as_lazy(frame.selectExpr("s")), "s", "bucket", 0)
    kept = collect(where_listed(numbered, "bucket", numbers))
    expected = cases["s"][np.isin(Scale(12).buckets(cases["s"]), numbers)]
    assert sorted(kept["s"].to_list()) == sorted(expected.tolist())


def test_columns_with_a_dot_are_columns(frame, cases):
    renamed = frame.withColumnRenamed("s", "risk.v2").withColumnRenamed("y", "out`come.y")
    points = count_frame(
        renamed, label="out`come.y", scores=["risk.v2"], scenarios=[SCENARIO], largest_answer=2000
    )["risk.v2"]
    truth = voros.evaluate(cases["y"], cases["s"], SCENARIO).score
    assert points.covers.interval == pytest.approx((truth, truth), abs=1e-12)


def test_models_of_different_scales_share_the_passes(spark, cases, tmp_path):
    pl = pytest.importorskip("polars")
    narrow = 0.5 + np.round((cases["s"] + 1) * 300) * 2.0**-53
    columns = {"y": cases["y"], "wide": np.exp(20 * cases["s"]), "narrow": narrow}
    pl.DataFrame(columns).write_parquet(tmp_path / "cases.parquet")
    by_model = count_frame(
        spark.read.parquet(str(tmp_path / "cases.parquet")),
        label="y",
        scores=["wide", "narrow"],
        scenarios=[SCENARIO],
        largest_answer=2000,
    )
    for name, points in by_model.items():
        truth = voros.evaluate(cases["y"], columns[name], SCENARIO).score
        assert points.covers.interval == pytest.approx((truth, truth), abs=1e-12)


def test_nan_is_refused(frame):
    from pyspark.sql import functions

    holes = frame.withColumn(
        "s", functions.when(functions.col("s") > 1.5, float("nan")).otherwise(functions.col("s"))
    )
    with pytest.raises(ValueError, match=r"'s' is missing or NaN in \d+ of 20000 rows"):
        count_frame(holes, label="y", scores=["s"])


def test_missing_labels_are_refused(frame):
    from pyspark.sql import functions

    holes = frame.withColumn("y", functions.when(functions.col("s") > 1.5, None).otherwise(True))
    with pytest.raises(ValueError, match=r"label column 'y' is missing in \d+ of 20000 rows"):
        count_frame(holes, label="y", scores=["s"])


def test_a_killed_executor_leads_to_the_right_number_or_an_error(frame, cases):
    """Spark replaces the worker, or gives up; a wrong number is not among the outcomes."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    psutil = pytest.importorskip("psutil")
    truth = voros.evaluate(cases["y"], cases["s"], SCENARIO).score
    frame.count()  # Returns once executors run, however late a busy machine starts them.
    victim = _executors(psutil)[0]
    killer = threading.Timer(0.5, victim.kill)
    killer.start()
    with suppress(Py4JError, PySparkException):
        for _ in range(2):
            points = count_frame(
                frame, label="y", scores=["s"], scenarios=[SCENARIO], largest_answer=2000
            )["s"]
            assert points.covers.interval == pytest.approx((truth, truth), abs=1e-12)
    killer.join()
    gone, _ = psutil.wait_procs([victim], timeout=10)
    assert gone == [victim]


def _executors(psutil):
    executors = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if any("CoarseGrainedExecutorBackend" in word for word in process.cmdline()):
                executors.append(process)
    return executors


@pytest.mark.usefixtures("spark")
def test_files_of_two_types_are_widened_and_hidden_ones_skipped(tmp_path):
    pl = pytest.importorskip("polars")
    pair = pl.DataFrame({"y": [True, False], "s": [1, 0]})
    later = pl.DataFrame({"y": [True, False, True], "s": [0.75, 0.5, 0.25]})
    for name, part in (("a", pair), ("year=2024/b", later), ("_tmp/c", later)):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        part.write_parquet(tmp_path / f"{name}.parquet")
    points = count_frame(open_files(tmp_path, "spark"), label="y", scores=["s"])["s"]
    assert points.thresholds[1:].tolist() == [1.0, 0.75, 0.5, 0.25, 0.0]
