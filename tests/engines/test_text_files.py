"""CSV that engines count: as memory reads it, or refused."""

import gzip

import numpy as np
import pytest

import voros
from voros.engines import count_frame, first_rows, open_files
from voros.io import read_predictions

pytest.importorskip("pyarrow")

ODD_NUMBERS = [
    *("0.5", "1e5", "inf", "-inf", "1e999", "+0.5", ".5", "5.", '"0.5"', "-0.0", "7", "1E-3"),
    *("1_0", "0x10", '"0,5"', "--5", "1e", "12%", "½", "x", "NA", "", "nan", "None"),
]


@pytest.fixture(params=["duckdb", "polars"])
def engine(request):
    pytest.importorskip(request.param)
    return request.param


def rows(n_rows, cell="0.75"):
    body = [f"{i % 3 // 2},{i / n_rows!r}" for i in range(n_rows)]
    return "\n".join(["died,risk", *body, f"1,{cell}"]) + "\n"


def counted(path, engine, label="died", **options):
    return count_frame(open_files(path, engine), label=label, scores=["risk"], **options)["risk"]


@pytest.mark.parametrize("cell", ODD_NUMBERS)
def test_a_cell_is_the_number_that_memory_reads(tmp_path, engine, cell):
    (tmp_path / "cases.csv").write_text(rows(1200, cell))
    try:
        cases = read_predictions(tmp_path / "cases.csv", label="died", scores=["risk"])
    except voros.exceptions.PredictionFileError:
        # Each engine has other errors.
        with pytest.raises(Exception, match=r"."):
            counted(tmp_path / "cases.csv", engine)
        return
    points = voros.OperatingPoints.from_scores(cases.labels, cases.scores_of("risk"))
    from_text = counted(tmp_path / "cases.csv", engine)
    assert from_text.thresholds.tolist() == points.thresholds.tolist()
    assert from_text.tp.tolist() == points.tp.tolist()


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("cases.tsv", lambda text: text.replace(",", "\t").encode()),
        ("cases.csv", lambda text: text.replace(",", ";").encode()),
        ("cases.csv.gz", lambda text: gzip.compress(text.encode())),
        ("cases.csv", lambda text: ("\ufeff" + text.replace("\n", "\r\n")).encode()),
        ("cases.csv", lambda text: text.replace("died,risk", '"died","risk"').encode()),
    ],
)
def test_text_is_read_however_it_is_written(tmp_path, engine, name, change):
    (tmp_path / name).write_bytes(change(rows(300)))
    points = counted(tmp_path / name, engine)
    assert (points.n_positive, points.n_negative) == (101, 200)
    assert points.thresholds[-1] == 0.0


@pytest.mark.parametrize(
    ("labels", "pos_label"),
    [(("True", "False"), None), (("TRUE", "false"), None), (("yes", "no"), "yes")],
)
def test_labels_may_be_text_or_truth_values(tmp_path, engine, labels, pos_label):
    text = "".join(f"{labels[i % 2]},{i / 40}\n" for i in range(40))
    (tmp_path / "cases.csv").write_text("died,risk\n" + text)
    points = counted(tmp_path / "cases.csv", engine, pos_label=pos_label)
    assert points.n_positive == 20
    assert points.tp[-1] == 20


def test_a_truth_value_further_down_that_is_none_is_missing(tmp_path, engine, monkeypatch):
    monkeypatch.setattr("voros.io.tables.BLOCK_BYTES", 2**16)  # beyond what types are read from
    lines = ["died,risk", *(f"{i % 2 == 0},{i / 7_000:.9f}" for i in range(7_000)), "perhaps,0.5"]
    (tmp_path / "cases.csv").write_text("\n".join(lines) + "\n")
    with pytest.raises(ValueError, match="label column 'died' is missing in 1 of 7001 rows"):
        counted(tmp_path / "cases.csv", engine)


def test_a_folder_of_text_is_one_table(tmp_path, engine):
    for day in range(3):
        (tmp_path / f"day-{day}.csv").write_text(rows(100 + day))
    (tmp_path / "_tmp.csv").write_text(rows(50))
    assert counted(tmp_path, engine).covers.usage.rows == 306
    assert counted(f"{tmp_path}/day-[12].csv", engine).covers.usage.rows == 205


def test_text_beside_parquet_does_not_count(tmp_path, engine):
    pl = pytest.importorskip("polars")
    pl.DataFrame({"died": [True, False], "risk": [0.5, 0.1]}).write_parquet(tmp_path / "a.parquet")
    (tmp_path / "b.csv").write_text(rows(50))
    assert counted(tmp_path, engine).covers.usage.rows == 2


def test_quotes_left_open_are_refused(tmp_path, engine):
    (tmp_path / "cases.csv").write_text(rows(50).replace("\n1,", '\n1,"', 1))
    with pytest.raises(voros.exceptions.PredictionFileError, match="is never closed"):
        counted(tmp_path / "cases.csv", engine)


def test_lines_within_quotes_are_no_rows(tmp_path, engine):
    text = "".join(f'{i % 2},"two\nlines, and ""more""",{i / 50}\n' for i in range(50))
    (tmp_path / "cases.csv").write_text("died,note,risk\n" + text)
    assert counted(tmp_path / "cases.csv", engine).covers.usage.rows == 50
    sample = first_rows(open_files(tmp_path / "cases.csv", engine), 2)
    assert sample.column("note").to_pylist() == ['two\nlines, and "more"'] * 2


def test_scores_are_those_of_memory(tmp_path, engine):
    rng = np.random.default_rng(0)
    died = rng.random(3000) < 0.2
    risk = rng.normal(size=3000) + died
    lines = [f"{int(y)},{x!r}" for y, x in zip(died.tolist(), risk.tolist(), strict=True)]
    (tmp_path / "cases.csv").write_text("\n".join(["died,risk", *lines]) + "\n")
    scenario = voros.Scenario(0.3, 0.2, (0.1, 0.3))
    from_text = counted(tmp_path / "cases.csv", engine, scenarios=[scenario])
    truth = voros.partial_voros_score(died, risk, scenario)
    assert from_text.covers.interval == pytest.approx((truth, truth), abs=1e-12)
