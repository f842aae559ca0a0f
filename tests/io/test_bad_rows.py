"""A file with something wrong in it is refused, and the row is named."""

import bz2
import gzip
import lzma

import pytest

pa = pytest.importorskip("pyarrow", reason="reading files needs the cli extra")

from pyarrow import parquet  # noqa: E402

from voros.exceptions import PredictionFileError  # noqa: E402
from voros.io import read_predictions  # noqa: E402

MILLION = 1_000_000


def refused(path, **columns):
    with pytest.raises(PredictionFileError) as caught:
        read_predictions(path, **columns)
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.slow
def test_one_bad_number_in_a_million_rows(tmp_path, named):
    lines = ["label,score\n", *(["0,0.25\n", "1,0.75\n"] * (MILLION // 2))]
    lines[734_211] = "0,0.2x5\n"
    path = tmp_path / "million.csv"
    path.write_text("".join(lines))
    message = refused(path, label="label", scores=["score"] if named else ())
    assert "row 734211 (line 734212), column 'score': '0.2x5' is not a number" in message


@pytest.mark.slow
def test_a_bad_number_among_the_first_rows_does_not_drop_the_model(tmp_path):
    path = tmp_path / "early.csv"
    path.write_text("label,a,b\n1,0.5,1\n0,oops,2\n1,0.7,3\n0,0.1,4\n")
    assert "row 2 (line 3), column 'a': 'oops' is not a number" in refused(path, label="label")


def test_lines_are_counted_through_line_breaks_within_quotes(tmp_path):
    path = tmp_path / "quoted.csv"
    path.write_text('label,note,score\n1,"two\nlines",0.5\n0,plain,bad\n')
    message = refused(path, label="label", scores=["score"])
    assert "row 2 (line 4)" in message


def test_a_row_with_too_few_cells(tmp_path):
    path = tmp_path / "ragged.csv"
    path.write_text("label,score\n1,0.5\n0\n1,0.5\n")
    assert "row 2 (line 3) has 1 cell and the header 2" in refused(path, label="label")


def test_a_bad_number_in_gzip(tmp_path):
    path = tmp_path / "packed.tsv.gz"
    path.write_bytes(gzip.compress(b"label\tscore\n1\t0.5\n0\tnone\n"))
    assert "row 2 (line 3)" in refused(path, label="label", scores=["score"])


def test_a_bad_number_in_parquet_text(tmp_path):
    path = tmp_path / "text.parquet"
    parquet.write_table(pa.table({"label": [1, 0, 1], "score": ["0.5", "0.25", "?"]}), path)
    message = refused(path, label="label", scores=["score"])
    assert "row 3, column 'score': '?' is not a number" in message


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "is empty"),
        (b"label,scores\n", "no rows"),
        (b"label,score\n1,0.5\n0,0.25\n", "no column 'scores' (scores); did you mean 'score'?"),
        (b"label,scores,scores\n1,0.5,1\n0,0.25,1\n", "more than one column 'scores'"),
    ],
)
def test_files_that_hold_no_such_thing(tmp_path, content, complaint):
    path = tmp_path / "cases.csv"
    path.write_bytes(content)
    assert complaint in refused(path, label="label", scores=["scores"])


def test_bytes_that_are_no_text(tmp_path):
    path = tmp_path / "cases.csv"
    path.write_bytes(b"label,score\n1,0.5\n0,\xff\xfe\n")
    message = refused(path, label="label", scores=["score"])
    assert "cases.csv: row 2 (line 3) is not UTF-8 text" in message
    assert "save the file as UTF-8" in message


def test_latin_1_in_a_column_that_is_read(tmp_path):
    path = tmp_path / "cases.csv"
    rows = ["état,score", *(["né,0.5", "mort,0.25"] * 700), "né,0.75"]
    path.write_bytes("\n".join(rows).encode("latin-1"))
    message = refused(path, scores=["score"])
    assert "the header (line 1) is not UTF-8 text: b'\\xe9tat', which is 'état' in L" in message
    path.write_bytes("\n".join(["state,score", *rows[1:]]).encode("latin-1"))
    message = refused(path, label="state", scores=["score"], pos_label="mort")
    assert "row 1 (line 2) is not UTF-8 text: b'n\\xe9', which is 'né'" in message


def test_latin_1_in_a_column_that_is_not_read_is_none_of_our_business(tmp_path):
    path = tmp_path / "cases.csv"
    path.write_bytes("label,score,note\n1,0.5,café\n0,0.25,thé\n".encode("latin-1"))
    predictions = read_predictions(path, label="label")
    assert predictions.models == ["score"]
    assert "'note' (text that is not UTF-8)" in predictions.notes[-1]


@pytest.mark.parametrize(
    ("rows", "complaint"),
    [
        (["1;12.3%", "0;4%"], "'12.3%', a percentage; write 12.3% as 0.123"),
        (["1;", "0;"], "'score' (no value in the first 2 rows)"),
    ],
)
def test_numbers_written_in_another_way(tmp_path, rows, complaint):
    path = tmp_path / "cases.csv"
    path.write_text("\n".join(["label;score", *rows]))
    assert complaint in refused(path, label="label")
    named = refused(path, label="label", scores=["score"])
    assert "row 1" in named


def test_decimal_commas_between_semicolons_are_read_and_said(tmp_path):
    path = tmp_path / "cases.csv"
    path.write_text("label;score\n1;0,5\n0;0,25\n1;-1,5e-3\n0;7\n")
    predictions = read_predictions(path, label="label")
    assert predictions.scores["score"].tolist() == [0.5, 0.25, -0.0015, 7]
    assert "numbers in cases.csv are read with decimal commas" in [
        note.replace(str(path), "cases.csv") for note in map(str, predictions.notes)
    ]


def test_one_decimal_comma_among_points(tmp_path):
    path = tmp_path / "cases.csv"
    path.write_text("label;score\n1;0.5\n0;0,25\n1;0.75\n")
    message = refused(path, label="label")
    assert "row 2 (line 3), column 'score': '0,25' is a number with a comma; write a" in message


def test_none_is_a_missing_value(tmp_path):
    path = tmp_path / "cases.csv"
    path.write_text("label,score\n1,0.5\n0,None\n1,0.75\n0,0.125\n")
    message = refused(path, label="label", scores=["score"])
    assert "cases.csv: column 'score' has no value in 1 of 4 rows, first in row 2" in message
    assert "drop_missing" in message
    predictions = read_predictions(path, label="label", drop_missing=True)
    assert predictions.scores_of("score").tolist() == [0.5, 0.75, 0.125]
    assert predictions.kept.tolist() == [True, False, True, True]


@pytest.mark.parametrize("content", ["label,score\n", "label,score", "label;score\r\n"])
def test_a_header_alone(tmp_path, content):
    path = tmp_path / "cases.csv"
    path.write_text(content)
    for columns in ({}, {"label": "label"}, {"label": "label", "scores": ["score"]}):
        said = refused(path, **columns)
        assert "cases.csv: there are column names (label, score) and no rows; add the" in said


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"PK\x03\x04rest", "Excel workbook; save the sheet as CSV"),
        ("label,score\n1,2\n".encode("utf-16"), "UTF-16 text; save it as UTF-8"),
        (b"PAR1rest", "cannot be read as parquet (Parquet magic"),
        (b" \n\n", "is empty"),
    ],
)
def test_files_of_another_kind(tmp_path, content, complaint):
    path = tmp_path / "cases.csv"
    path.write_bytes(content)
    assert complaint in refused(path, label="label")


@pytest.mark.parametrize("columns", [{}, {"label": "label"}, {"scores": ["a"]}])
def test_duplicate_names(tmp_path, columns):
    path = tmp_path / "cases.csv"
    path.write_text("label,a,a\n1,0.5,1\n0,0.25,1\n")
    assert "cases.csv has more than one column 'a'; rename them" in refused(path, **columns)


def test_duplicate_names_of_columns_that_are_not_read(tmp_path):
    path = tmp_path / "cases.csv"
    path.write_text("label,a,note,note\n1,0.5,x,y\n0,0.25,x,z\n")
    assert read_predictions(path).models == ["a"]
    path.write_text("label,label,a\n1,1,0.5\n0,0,0.25\n")
    assert "more than one column 'label'" in refused(path)


@pytest.mark.parametrize("text", ['{"label": 1, "score": 0.5}\n' * 2, '[{"label": 1}]', "\ufeff{"])
def test_json_is_refused(tmp_path, text):
    path = tmp_path / "cases.json"
    path.write_text(text, encoding="utf-8")
    assert "cases.json is JSON; save it as CSV or Parquet" in refused(path, label="label")


def test_a_parquet_file_cut_short(tmp_path):
    path = tmp_path / "cases.parquet"
    parquet.write_table(pa.table({"label": [1, 0], "score": [0.5, 0.1]}), path)
    path.write_bytes(path.read_bytes()[:-20])
    assert "cases.parquet: cannot be read as parquet" in refused(path, label="label")


def test_a_gzip_file_cut_short(tmp_path):
    path = tmp_path / "cases.csv.gz"
    packed = gzip.compress(b"label,score\n" + b"".join(b"1,0.%d\n0,0.5\n" % i for i in range(999)))
    path.write_bytes(packed[: len(packed) // 2])
    assert "cases.csv.gz" in refused(path, label="label")


def test_a_missing_file_and_a_folder(tmp_path):
    assert "does not exist" in refused(tmp_path / "nowhere.csv")
    assert "is a folder" in refused(tmp_path)


def test_one_column_cannot_have_two_roles(tmp_path):
    path = tmp_path / "cases.csv"
    path.write_text("label,score\n1,0.5\n0,0.25\n")
    assert "both label and scores" in refused(path, label="label", scores=["label"])


def test_no_column_of_numbers(tmp_path):
    path = tmp_path / "cases.csv"
    path.write_text("label,ward\n1,A\n0,B\n")
    assert "no column looks like scores" in refused(path, label="label")


@pytest.mark.parametrize(
    ("rows", "complaint"),
    [
        (["1,0.1", "2,0.2", "0,0.3"], "3 distinct labels"),
        (["1,0.1", "1,0.2"], "positive cases only"),
        (["ill,0.1", "well,0.2"], "pos_label"),
        (["ill,0.1", "well,0.2", "maybe,0.3"], "3 distinct labels"),
    ],
)
def test_labels_that_are_not_binary(tmp_path, rows, complaint):
    path = tmp_path / "cases.csv"
    path.write_text("\n".join(["state,score", *rows]) + "\n")
    with pytest.raises(ValueError, match=complaint):
        read_predictions(path, label="state")


@pytest.mark.parametrize(
    ("data", "name", "said"),
    [
        (bz2.compress(b"label,score\n1,0.5\n"), "cases.csv.bz2", "is compressed with bzip2;"),
        (lzma.compress(b"label,score\n1,0.5\n"), "cases.csv.xz", "is compressed with xz;"),
        (b"\x28\xb5\x2f\xfd rest", "cases.csv.zst", "is compressed with zstd; decompress it"),
        (b"\x93NUMPY\x01\x00v\x00{'descr'", "cases.npy", "is a NumPy array without column names"),
        ("label,score\n".encode("utf-32"), "cases.csv", "is UTF-32 text; save it as UTF-8"),
        ("\ufefflabel".encode("utf-32-be"), "cases.csv", "is UTF-32 text; save it as UTF-8"),
        ("label,score\n".encode("utf-16"), "cases.csv", "is UTF-16 text; save it as UTF-8"),
        ("label,score\n".encode("utf-16-le"), "cases.csv", "is UTF-16 or UTF-32 text, or no text"),
        ("label,score\n".encode("utf-32-le"), "cases.tsv", "is UTF-16 or UTF-32 text, or no text"),
    ],
)
def test_files_that_are_packed_or_coded_otherwise_are_named(tmp_path, data, name, said):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(PredictionFileError, match=f"{name} {said}"):
        read_predictions(tmp_path / name, label="label")
