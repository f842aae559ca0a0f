"""Line breaks, delimiters and quotes inside cells: the rows are those that Python's reader sees."""

import csv
import io

import numpy as np
import pytest

pytest.importorskip("pyarrow", reason="reading files needs the cli extra")

from voros.exceptions import PredictionFileError
from voros.io import append_columns, open_source, read_predictions, table_bytes
from voros.io.bad_rows import count_lines

PHANTOM = "first\n1,0.99,z\n1,0.98,w"


def write_notes(path, n_cases, note_of, ending="\n"):
    rng = np.random.default_rng(3)
    labels = (rng.random(n_cases) < 0.2).astype(int).tolist()
    scores = rng.random(n_cases).tolist()
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator=ending)
        writer.writerow(["label", "score", "note"])
        writer.writerows(
            (y, repr(s), note_of(i)) for i, (y, s) in enumerate(zip(labels, scores, strict=True))
        )
    return labels, scores


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_a_note_that_looks_like_rows_in_sixty_thousand(tmp_path, ending):
    path = tmp_path / "notes.csv"
    labels, scores = write_notes(
        path, 60_000, lambda i: PHANTOM if i % 7_001 == 5 else "plain", ending
    )
    predictions = read_predictions(path, label="label", scores=["score"])
    assert predictions.n_cases == 60_000
    assert predictions.labels.tolist() == [y == 1 for y in labels]
    assert predictions.scores_of("score").tolist() == scores
    assert read_predictions(path).scores_of("score").tolist() == scores


def test_a_note_of_several_lines_in_every_row(tmp_path):
    path = tmp_path / "notes.csv"
    _, scores = write_notes(path, 20_000, lambda i: f"seen at {i},\nslept\n\nwell")
    assert read_predictions(path).scores_of("score").tolist() == scores


@pytest.mark.slow
def test_written_out_again_every_cell_is_as_it_was(tmp_path):
    path = tmp_path / "notes.csv"
    write_notes(path, 30_000, lambda i: PHANTOM if i % 1_000 == 0 else f'he said "{i}"')
    table = append_columns(open_source(path), {"alarm": np.zeros(30_000, dtype=np.int8)})
    written = list(csv.reader(io.StringIO(table_bytes(table, "csv").decode(), newline="")))
    with path.open(newline="") as file:
        before = list(csv.reader(file))
    assert written[0] == [*before[0], "alarm"]
    assert written[1:] == [[*row, "0"] for row in before[1:]]


def test_a_cell_of_three_million_characters(tmp_path):
    path = tmp_path / "long.csv"
    _, scores = write_notes(path, 50, lambda i: "x" * 3_000_000 if i == 30 else "y\nz")
    assert read_predictions(path).scores_of("score").tolist() == scores


def test_a_quote_that_is_never_closed(tmp_path):
    path = tmp_path / "open.csv"
    write_notes(path, 3_000, lambda _: "plain")
    lines = path.read_text().splitlines()
    lines[2_000] = lines[2_000].replace("plain", '"plain')
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(PredictionFileError, match=r"open\.csv: the quote that opens in line 2001 "):
        read_predictions(path, label="label", scores=["score"])


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('a,b\n1,"x"\n', None),
        ('a,b\n1,"x""y"\n', None),
        ('a,b\n1,5" pipe\n', None),
        ('a,b\n1,5" pipe\n2,"open\n', 3),
        ('a,b\n1,"x\n\n\n2,y\n', 2),
        ('"a\nb",c\n1,"', 3),
        ('a,b\n1,"x"""\n', None),
        ('a,b\n1,"x""\n', 2),
        ("a,b\n1,2\n", None),
    ],
)
def test_where_a_quote_opens(tmp_path, text, line):
    path = tmp_path / "cases.csv"
    path.write_text(text)
    if line is None:
        assert count_lines(open_source(path)) >= len(text.splitlines())
        return
    with pytest.raises(PredictionFileError, match=f"the quote that opens in line {line} is never"):
        count_lines(open_source(path))


def test_a_header_with_delimiters_and_a_line_break_in_quotes(tmp_path):
    path = tmp_path / "header.csv"
    path.write_text('label,"score; of\nthe model; new; one"\n1,0.5\n0,0.25\n')
    predictions = read_predictions(path)
    assert predictions.models == ["score; of\nthe model; new; one"]
    assert predictions.scores_of(predictions.models[0]).tolist() == [0.5, 0.25]
