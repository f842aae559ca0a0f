"""Every format, wide and long, gives the same labels and scores."""

import gzip
import io
import sys

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow", reason="reading files needs the cli extra")

from pyarrow import parquet  # noqa: E402

from voros.exceptions import PredictionFileError  # noqa: E402
from voros.io import read_predictions  # noqa: E402

LABELS = [1, 0, 0, 1, 0]
SCORES = {"first": [0.9, 0.2, 0.4, 0.7, 0.1], "second": [3.0, 1.0, 2.0, 2.5, 0.5]}
ROWS = [
    {"label": y, "first": a, "second": b, "ward": w}
    for y, a, b, w in zip(LABELS, *SCORES.values(), "ABABA", strict=True)
]


def delimited(mark: str) -> str:
    header = mark.join(ROWS[0])
    return "\n".join([header, *(mark.join(map(str, row.values())) for row in ROWS)]) + "\n"


def write_parquet(path):
    parquet.write_table(pa.Table.from_pylist(ROWS), path)


def write_arrow(path):
    table = pa.Table.from_pylist(ROWS)
    with pa.ipc.new_file(str(path), table.schema) as writer:
        writer.write_table(table)


def write_arrow_stream(path):
    table = pa.Table.from_pylist(ROWS)
    with pa.ipc.new_stream(str(path), table.schema) as writer:
        writer.write_table(table)


WRITERS = {
    "cases.csv": lambda path: path.write_text(delimited(",")),
    "cases.tsv": lambda path: path.write_text(delimited("\t")),
    "semicolons.csv": lambda path: path.write_text(delimited(";")),
    "marked.csv": lambda path: path.write_text("\ufeff" + delimited(","), encoding="utf-8"),
    "windows.csv": lambda path: path.write_bytes(delimited(",").replace("\n", "\r\n").encode()),
    "cases.csv.gz": lambda path: path.write_bytes(gzip.compress(delimited(",").encode())),
    "cases.tsv.gz": lambda path: path.write_bytes(gzip.compress(delimited("\t").encode())),
    "cases.parquet": write_parquet,
    "cases.arrow": write_arrow,
    "cases.feather": write_arrow,
    "nameless": lambda path: path.write_text(delimited(",")),
    "nameless_tabs": lambda path: path.write_text(delimited("\t")),
    "nameless_parquet": write_parquet,
    "nameless_arrow": write_arrow,
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_reads_alike(tmp_path, name):
    path = tmp_path / name
    WRITERS[name](path)
    predictions = read_predictions(path, label="label")
    assert predictions.models == ["first", "second"]
    assert predictions.labels.tolist() == [y == 1 for y in LABELS]
    for model, scores in SCORES.items():
        np.testing.assert_array_equal(predictions.scores_of(model), scores)


@pytest.mark.parametrize(
    "content", [delimited(",").encode(), gzip.compress(delimited("\t").encode(), mtime=0)]
)
def test_standard_input(monkeypatch, content):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    predictions = read_predictions("-", label="label")
    assert predictions.models == ["first", "second"]
    np.testing.assert_array_equal(predictions.scores_of("second"), SCORES["second"])
    assert predictions.source == "standard input"


def test_long_form_is_lined_up_by_case(tmp_path):
    lines = ["case,who,label,risk"]
    order = {"first": [0, 1, 2, 3, 4], "second": [3, 0, 4, 2, 1]}
    for who, rows in order.items():
        lines += [f"c{i},{who},{LABELS[i]},{SCORES[who][i]}" for i in rows]
    path = tmp_path / "long.csv"
    path.write_text("\n".join(lines))
    predictions = read_predictions(path, model="who", case="case")
    assert predictions.labels.tolist() == [y == 1 for y in LABELS]
    for model, scores in SCORES.items():
        np.testing.assert_array_equal(predictions.scores_of(model), scores)


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        (["a,x,1,0.5", "b,x,0,0.1", "a,y,1,0.2"], "score 2 and 1 cases"),
        (["a,x,1,0.5", "b,x,0,0.1", "a,y,1,0.2", "c,y,0,0.3"], "differ in column 'case'"),
        (["a,x,1,0.5", "b,x,0,0.1", "a,y,0,0.2", "b,y,1,0.3"], "differ in column 'label'"),
        (["a,x,1,0.5", "a,x,0,0.1", "a,y,0,0.2", "b,y,1,0.3"], "'a' more than once"),
    ],
)
def test_long_form_whose_models_do_not_match(tmp_path, lines, complaint):
    path = tmp_path / "long.csv"
    path.write_text("\n".join(["case,who,label,risk", *lines]))
    with pytest.raises(PredictionFileError, match=complaint):
        read_predictions(path, model="who", case="case", label="label")


@pytest.mark.parametrize(
    ("cases", "notes"), [("a b c d", []), ("a b a c", ["repeats 1 of its 3 values, such as 'a'"])]
)
def test_cases_that_come_again_are_said_to(tmp_path, cases, notes):
    path = tmp_path / "wide.csv"
    rows = [f"{case},{i % 2},0.{i}" for i, case in enumerate(cases.split())]
    path.write_text("\n".join(["case,label,risk", *rows]))
    predictions = read_predictions(path, label="label", scores=["risk"], case="case")
    assert len(predictions.notes) == len(notes)
    assert all(note in said for note, said in zip(notes, predictions.notes, strict=True))


def test_only_the_needed_columns_are_read(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text("label,score,junk\n1,0.5,what\n0,0.25,ever\n")
    predictions = read_predictions(path, label="label", scores=["score"])
    assert predictions.models == ["score"]
    assert predictions.notes == ()


def test_guesses_are_said(tmp_path):
    path = tmp_path / "guess.csv"
    path.write_text("died,risk,ward\n1,0.5,A\n0,0.25,B\n")
    predictions = read_predictions(path)
    assert predictions.label == "died"
    assert predictions.models == ["risk"]
    assert ["'died'" in predictions.notes[0], "'risk'" in predictions.notes[1]] == [True, True]


def test_a_telling_name_beats_another_binary_column(tmp_path):
    path = tmp_path / "two.csv"
    path.write_text("flag,y_true,risk\n1,1,0.5\n0,0,0.25\n")
    assert read_predictions(path).label == "y_true"


def test_an_ambiguous_label_is_not_guessed(tmp_path):
    path = tmp_path / "two.csv"
    path.write_text("died,left,risk\n1,0,0.5\n0,1,0.25\n")
    with pytest.raises(PredictionFileError, match="'died', 'left' could all be the label"):
        read_predictions(path)


def test_identifiers_and_weights_are_no_models(tmp_path):
    path = tmp_path / "weighted.csv"
    path.write_text("id,label,n,risk\n7,1,2.5,0.5\n8,0,1,0.25\n")
    predictions = read_predictions(path, case="id", weight="n")
    assert predictions.models == ["risk"]
    assert predictions.weights.tolist() == [2.5, 1.0]


@pytest.mark.parametrize(
    ("labels", "pos_label"),
    [(["ill", "well"], "ill"), (["2", "1"], "2"), (["true", "false"], None), (["-1", "1"], "-1")],
)
def test_positive_labels(tmp_path, labels, pos_label):
    path = tmp_path / "labels.csv"
    path.write_text(f"state,risk\n{labels[0]},0.5\n{labels[1]},0.25\n{labels[0]},0.1\n")
    predictions = read_predictions(path, label="state", pos_label=pos_label)
    assert predictions.labels.tolist() == [True, False, True]


def test_missing_values_are_refused_with_their_row_or_left_out(tmp_path):
    path = tmp_path / "gaps.csv"
    path.write_text("label,a,b\n1,0.5,1\n0,,2\n0,0.25,3\n0,0.1,NA\n")
    with pytest.raises(PredictionFileError, match=r"column 'a' .* 1 of 4 rows, first in row 2"):
        read_predictions(path, label="label")
    predictions = read_predictions(path, label="label", drop_missing=True)
    assert predictions.labels.tolist() == [True, False]
    assert predictions.scores_of("a").tolist() == [0.5, 0.25]
    assert predictions.scores_of("b").tolist() == [1.0, 3.0]


def test_rows_left_out_are_counted(tmp_path):
    path = tmp_path / "gaps.csv"
    path.write_text("label,a\n1,0.5\n0,\n1,0.25\n0,0.1\n")
    predictions = read_predictions(path, label="label", scores=["a"], drop_missing=True)
    assert predictions.scores_of("a").tolist() == [0.5, 0.25, 0.1]
    assert predictions.notes == ("leaving out 1 of 4 rows with a missing value",)


def test_nan_in_parquet_is_missing(tmp_path):
    path = tmp_path / "nan.parquet"
    parquet.write_table(pa.table({"label": [1, 0, 1], "a": [0.5, float("nan"), 0.1]}), path)
    with pytest.raises(PredictionFileError, match="first in row 2"):
        read_predictions(path, label="label")


def test_narrow_numbers_stay_narrow_and_are_not_copied(tmp_path):
    path = tmp_path / "narrow.parquet"
    scores = np.array([0.5, 0.25, 0.125], dtype=np.float32)
    parquet.write_table(pa.table({"label": np.array([1, 0, 1], np.int8), "a": scores}), path)
    predictions = read_predictions(path, label="label")
    assert predictions.scores_of("a").dtype == np.float32
    assert not predictions.scores_of("a").flags.owndata


def test_packed_tables_and_streams_are_refused(tmp_path):
    write_parquet(tmp_path / "cases.parquet")
    packed = gzip.compress((tmp_path / "cases.parquet").read_bytes())
    (tmp_path / "cases.parquet").write_bytes(packed)
    with pytest.raises(PredictionFileError, match="is parquet within gzip; decompress it"):
        read_predictions(tmp_path / "cases.parquet", label="label")
    write_arrow_stream(tmp_path / "cases.arrows")
    with pytest.raises(PredictionFileError, match="is an Arrow stream; save a table as an Arrow"):
        read_predictions(tmp_path / "cases.arrows", label="label")
