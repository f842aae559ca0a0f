"""Files that would take all memory, minutes or the process itself are refused in one line."""

import gzip
import time

import pytest

pa = pytest.importorskip("pyarrow", reason="reading files needs the cli extra")

from pyarrow import parquet  # noqa: E402

from voros.exceptions import PredictionFileError  # noqa: E402
from voros.io import read_predictions  # noqa: E402

COLUMNS = {"label": "label", "scores": ["score"]}


def refusal(path, **columns):
    with pytest.raises(PredictionFileError) as caught:
        read_predictions(path, **(columns or COLUMNS))
    said = str(caught.value)
    assert len(said) < 400
    assert "\n" not in said
    return said


@pytest.fixture
def little_memory(monkeypatch):
    monkeypatch.setattr("voros.io.memory.available_memory", lambda: 2**20)


ROWS = 100_000


def write_csv(path):
    path.write_bytes(gzip.compress(b"label,score\n" + b"1,0.5\n0,0.25\n" * (ROWS // 2)))


def write_parquet(path):
    parquet.write_table(pa.table({"label": [0] * ROWS, "score": [0.5] * ROWS}), path)


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("bomb.csv.gz", write_csv),
        ("bomb.parquet", write_parquet),
    ],
)
def test_what_memory_does_not_hold_is_refused(tmp_path, name, write):
    write(tmp_path / name)
    assert (tmp_path / name).stat().st_size < 300_000
    said = refusal(tmp_path / name)
    assert said.startswith(f"{tmp_path / name}: ")
    assert "GB of memory, and 0 GB are free; voros score, select and map can use" in said


@pytest.mark.parametrize(
    ("name", "start", "said"),
    [
        ("line.csv.gz", b"label,score\n", "a row has more than 4 MB"),
        ("line.csv.gz", b"label,score\n1,0.5\n" * 400_000, "a row has more than 4 MB"),
    ],
)
def test_one_endless_row_is_refused(tmp_path, name, start, said):
    (tmp_path / name).write_bytes(gzip.compress(start + b"1" * (1 << 24), compresslevel=1))
    assert said in refusal(tmp_path / name)


def test_an_endless_cell_of_many_lines_is_refused(tmp_path):
    rows = b"label,score,note\n" + b"1,0.5,x\n0,0.2,y\n" * 400_000
    content = rows + b'1,0.5,"' + b"secret\n" * 2_000_000
    (tmp_path / "cell.csv.gz").write_bytes(gzip.compress(content, compresslevel=1))
    said = refusal(tmp_path / "cell.csv.gz")
    assert "the quote that opens in line 800002 is never closed" in said


@pytest.mark.slow
def test_ten_thousand_columns_take_seconds(tmp_path):
    """They took a minute, the square of their number."""
    names = [f"m{n}" for n in range(10_000)]
    rows = [",".join(["label", *names]), *(",".join([str(n % 2)] * 10_001) for n in range(4))]
    (tmp_path / "wide.csv").write_text("\n".join(rows) + "\n")
    began = time.process_time()
    assert len(read_predictions(tmp_path / "wide.csv", label="label").models) == 10_000
    assert time.process_time() - began < 20


def test_the_list_of_models_in_a_note_is_short(tmp_path):
    names = [f"m{n}" for n in range(300)]
    rows = [",".join(["label", *names]), *(",".join([str(n % 2)] * 301) for n in range(4))]
    (tmp_path / "wide.csv").write_text("\n".join(rows) + "\n")
    cases = read_predictions(tmp_path / "wide.csv", label="label")
    assert len(cases.models) == 300
    assert max(map(len, cases.notes)) < 200
