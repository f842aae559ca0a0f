"""Which files of a folder are counted, and columns that differ between them."""

from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

import voros
from voros.engines import count_frame, open_files
from voros.engines.files import find_files

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

ENGINES = ["polars", "duckdb"]
SCENARIO = voros.Scenario(0.3, 0.3, (1 / 9, 1 / 3))


@pytest.fixture(params=ENGINES)
def engine(request):
    pytest.importorskip(request.param)
    return request.param


def draw(n_cases=600):
    rng = np.random.default_rng(0)
    died = rng.random(n_cases) < 0.2
    return died, 1 / (1 + np.exp(-(rng.normal(size=n_cases) + 1.5 * died - 2)))


def write(folder, **files):
    for name, columns in files.items():
        pq.write_table(pa.table(columns), folder / f"{name}.parquet")


def count(folder, engine="duckdb", columns=("died", "risk"), scenarios=()):
    frame = open_files(folder, engine, columns)
    return count_frame(frame, label="died", scores=["risk"], scenarios=scenarios)["risk"]


def whole_first(scores):
    return np.append(np.round(scores[:200]), scores[200:])


def narrow_first(scores):
    scores = 1 + 1e-9 * scores
    return np.append(scores[:200].astype(np.float32).astype(float), scores[200:])


@pytest.mark.parametrize(
    ("change", "first_type", "then_type"),
    [
        (whole_first, pa.int64(), pa.float64()),
        (whole_first, pa.int8(), pa.float32()),
        (narrow_first, pa.float32(), pa.float64()),
        (np.round, pa.int64(), pa.uint8()),
    ],
)
@pytest.mark.parametrize("turned", [False, True])
def test_numbers_of_two_types_are_widened(tmp_path, engine, change, first_type, then_type, turned):
    died, scores = draw()
    scores = change(scores)
    if then_type == pa.float32():
        scores = scores.astype(np.float32).astype(float)
    first, then = (1, 0) if turned else (0, 1)
    write(
        tmp_path,
        **{f"day-{first}": {"died": died[:200], "risk": pa.array(scores[:200]).cast(first_type)}},
        **{f"day-{then}": {"died": died[200:], "risk": pa.array(scores[200:]).cast(then_type)}},
    )
    counted = count(tmp_path, engine, scenarios=[SCENARIO])
    truth = voros.evaluate(died, scores, SCENARIO)
    assert counted.covers.usage.rows == len(died)
    assert counted.covers.interval == pytest.approx((truth.score, truth.score), abs=1e-12)


def test_whole_and_decimal_labels_are_compared_as_numbers(tmp_path, engine):
    died, scores = draw()
    decimals = pa.array([Decimal(int(label)) for label in died[:200]], pa.decimal128(3, 1))
    write(
        tmp_path,
        one={"died": decimals, "risk": scores[:200]},
        two={"died": died[200:].astype(np.int32), "risk": scores[200:]},
    )
    assert count(tmp_path, engine).n_positive == died.sum()


def test_labels_between_0_and_1_are_not_rounded(tmp_path, engine):
    died, scores = draw()
    write(
        tmp_path,
        one={"died": died[:200].astype(int), "risk": scores[:200]},
        two={"died": np.where(died[200:], 0.6, 0.4), "risk": scores[200:]},
    )
    with pytest.raises(ValueError, match=r"label column 'died' (holds|has)"):
        count(tmp_path, engine)


@pytest.mark.parametrize(
    ("column", "first", "then", "types"),
    [
        ("died", [True, False], [0, 2], "bool in .*one.parquet and int64 in .*two.parquet"),
        ("died", [1, 0], ["1", "0"], "int64 in .*one.parquet and string in .*two.parquet"),
        ("risk", [0.5, 0.25], ["0.5", "0.1"], "double in .*one.parquet and string in"),
        ("risk", [True, False], [0.5, 0.1], "bool in .*one.parquet and double in"),
    ],
)
def test_columns_of_two_kinds_are_refused(tmp_path, column, first, then, types):
    whole = {"died": [True, False], "risk": [0.5, 0.25]}
    write(tmp_path, one=whole | {column: first}, two=whole | {column: then})
    with pytest.raises(voros.exceptions.PredictionFileError, match=f"column '{column}' is {types}"):
        count(tmp_path)


def test_other_columns_may_differ(tmp_path, engine):
    pair = {"died": [True, False], "risk": [0.5, 0.25]}
    write(tmp_path, one=pair | {"note": [1, 2]}, two=pair | {"note": ["a", "b"], "ward": [1, 2]})
    assert count(tmp_path, engine).covers.usage.rows == 4
    with pytest.raises(voros.exceptions.PredictionFileError, match="column 'note' is int64 in"):
        count(tmp_path, engine, columns=())


def test_a_column_that_a_file_lacks_is_named(tmp_path):
    write(tmp_path, one={"died": [True, False], "risk": [0.5, 0.1]}, two={"died": [True, False]})
    with pytest.raises(
        voros.exceptions.PredictionFileError, match=r"column 'risk' is not in .*two.parquet"
    ):
        count(tmp_path)


@pytest.mark.parametrize("names", [["died", "risk", "risk"], ["died", "risk", "Risk"]])
def test_a_column_that_stands_there_twice_is_refused(tmp_path, names):
    columns = [[True, False], [0.5, 0.25], [0.1, 0.2]]
    pq.write_table(pa.table(columns, names=names), tmp_path / "one.parquet")
    for where in (tmp_path, tmp_path / "one.parquet"):
        with pytest.raises(
            voros.exceptions.PredictionFileError, match="has more than one column 'risk'"
        ):
            count(where)


@pytest.mark.parametrize(
    "hidden",
    [
        *("_temporary/0/task/part-0.parquet", ".hidden.parquet", "_tmp.parquet"),
        *(".ipynb_checkpoints/x-checkpoint.parquet", "deep/_x/part.parquet", "notes.txt"),
    ],
)
def test_hidden_and_temporary_files_are_skipped(tmp_path, hidden):
    write(tmp_path, one={"died": [True, False], "risk": [0.5, 0.25]})
    (tmp_path / hidden).parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"died": [False] * 3, "risk": [0.9] * 3}), tmp_path / hidden)
    for where in (tmp_path, f"{tmp_path}/**/*.parquet"):
        assert [Path(file.name).name for file in find_files(str(where))] == ["one.parquet"]


def test_a_folder_that_is_hidden_itself_is_meant(tmp_path):
    (tmp_path / "_new").mkdir()
    write(tmp_path / "_new", one={"died": [True, False], "risk": [0.5, 0.25]})
    for where in (tmp_path / "_new", f"{tmp_path}/_new/*.parquet", tmp_path / "_new/one.parquet"):
        assert len(find_files(str(where))) == 1


def test_every_ending_of_parquet_counts(tmp_path):
    for name in ("a.parquet", "b.pq", "c.parq", "D.PARQUET"):
        table = pa.table({"died": [True, False], "risk": [0.5, 0.25]})
        pq.write_table(table, tmp_path / name)
    assert count(tmp_path).covers.usage.rows == 8


def test_an_empty_file_is_named(tmp_path):
    write(tmp_path, one={"died": [True, False], "risk": [0.5, 0.25]})
    (tmp_path / "two.parquet").touch()
    with pytest.raises(voros.exceptions.PredictionFileError, match=r"two.parquet is empty"):
        count(tmp_path)


def test_a_file_without_rows_adds_none(tmp_path, engine):
    whole = pa.table({"died": [True, False], "risk": [0.5, 0.25]})
    pq.write_table(whole, tmp_path / "one.parquet")
    pq.write_table(whole.slice(0, 0), tmp_path / "two.parquet")
    assert count(tmp_path, engine).covers.usage.rows == 2


def test_labels_in_the_names_of_folders_are_not_columns(tmp_path):
    for label in (0, 1):
        (tmp_path / f"died={label}").mkdir()
        write(tmp_path / f"died={label}", part={"risk": [0.5 + label, 0.25]})
    with pytest.raises(
        voros.exceptions.PredictionFileError, match="'died' is only in the names of folders"
    ):
        count(tmp_path)


def test_labels_in_files_are_not_replaced_by_names_of_folders(tmp_path, engine):
    for label in (0, 1):
        (tmp_path / f"died={label}").mkdir()
        write(tmp_path / f"died={label}", part={"died": [1, 0, 0], "risk": [0.5, 0.25, 0.1]})
    counted = count(tmp_path, engine)
    assert (counted.n_positive, counted.n_negative) == (2, 4)


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("none", "there is no such file or folder"),
        ("none-*.parquet", "no files match"),
        ("", r"the folder holds no file that ends in \.parquet"),
    ],
)
def test_what_is_not_there_is_named(tmp_path, path, reason):
    with pytest.raises(FileNotFoundError, match=reason):
        find_files(f"{tmp_path}/{path}")


@pytest.mark.parametrize(
    ("log", "kind"), [("_delta_log", "Delta"), ("metadata/v1.metadata.json", "Iceberg")]
)
def test_a_table_with_a_log_is_no_folder_of_files(tmp_path, log, kind):
    write(tmp_path, part={"died": [1, 0, 0], "risk": [0.5, 0.25, 0.1]})
    (tmp_path / log).mkdir(parents=True)
    with pytest.raises(voros.exceptions.PredictionFileError, match=f"is an? {kind} table"):
        find_files(str(tmp_path))
