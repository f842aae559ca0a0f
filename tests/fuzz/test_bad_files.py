"""Files with something wrong in them: read as Python reads them, or refused in one line."""

import csv
import gzip
import io
import re

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow", reason="reading files needs the cli extra")
pytest.importorskip("typer", reason="the command line needs the cli extra")

from pyarrow import parquet  # noqa: E402

from voros.exceptions import PredictionFileError  # noqa: E402
from voros.io import read_predictions  # noqa: E402

TEXTS, BINARIES, LINES, STREAMS = 300, 120, 100, 90
"""How many files are tried: delimited text, Parquet and Arrow, JSON, Arrow streams."""

ODD_CELLS = [
    *("", "NA", "None", "nan", "inf", "-inf", "1e999", "-0.0", "1e-999", "0x10", "1_0", "true"),
    *(
        "0,5",
        "1,491",
        "12.3%",
        "\uff11\uff12",
        "=1+1",
        "--5",
        "1e",
        "0.5f",
        " 0.5 ",
        "+0.5",
        "\x1b[31m",
    ),
    *('"', '""', '"a', 'a"b', '"a""b"', '"a\nb"', '"1,0.99,z\n1,0.98,w"', "\x00", "x" * 70_000),
    *("é", "\u202e", "\ufeff", "\r", "\n", "\t", ";", "'", "\\", "0.5\n\n1,0.25,x"),
]
PLAIN = re.compile(r"\s*[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|inf|infinity)\s*", re.A | re.I)


def base_text(rng, n_rows):
    labels = rng.permutation([0, 1] * (n_rows // 2))
    notes = ("plain", '"two\nlines"', '"a, b"', '"he said ""no"""')
    rows = [f"{y},{rng.normal() + y!r},{rng.choice(notes)}" for y in labels.tolist()]
    return re.sub(r"np\.float64\(([^)]*)\)", r"\1", "\n".join(["label,score,note", *rows]) + "\n")


def spoil_text(rng, text):
    """Change a text in one of the ways in which texts go wrong."""
    lines, way = text.split("\n"), rng.integers(8)
    at = int(rng.integers(1, len(lines) - 1))
    if way == 0:
        cells = lines[at].split(",")
        cells[int(rng.integers(len(cells)))] = str(rng.choice(ODD_CELLS))
        lines[at] = ",".join(cells)
    elif way == 1:
        lines[at] = lines[at][: int(rng.integers(len(lines[at]) + 1))]
    elif way == 2:
        lines[0] = str(rng.choice(["label,score,score", "label,score", "score,note", "", "a;b;c"]))
    elif way == 3:
        lines[at] += str(rng.choice([",", ",extra", '"', "\r", "\t"]))
    elif way == 4:
        lines.insert(at, str(rng.choice(ODD_CELLS)))
    data = "\n".join(lines)
    if way == 5:
        data = data.replace("\n", str(rng.choice(["\r\n", "\r", "\n\n"])))
    raw = bytearray(data.encode())
    if way == 6:
        for _ in range(int(rng.integers(1, 4))):
            raw[int(rng.integers(len(raw)))] = int(rng.integers(256))
    if way == 7:
        raw = raw[: int(rng.integers(len(raw)))]
    return bytes(raw)


def independent(data, strict=True):
    """Return labels and scores as Python's own reader sees them; None where they are not clear.

    Strict, it refuses what ends within quotes, and text behind a closing quote.
    """
    text = data.decode("utf-8-sig", "surrogateescape")
    limit = csv.field_size_limit(10**9)
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), strict=strict) if row]
    except csv.Error:
        return None
    finally:
        csv.field_size_limit(limit)
    if not rows or any(len(row) != len(rows[0]) for row in rows):
        return None
    header, *body = rows
    if header.count("label") != 1 or header.count("score") != 1 or not body:
        return None
    labels, scores = ([row[header.index(name)] for row in body] for name in ("label", "score"))
    if not all(PLAIN.fullmatch(score) for score in scores):
        return None
    return labels, [float(score) for score in scores]


def read_or_refuse(path, **columns):
    """Read a file, or return None where it is refused as it should be: in one line."""
    try:
        return read_predictions(path, **columns)
    except (PredictionFileError, ValueError) as refused:
        said = str(refused)
        assert said
        assert "\n" not in said, said
        assert len(said) < 1000, said
        return None


@pytest.mark.slow
def test_delimited_text(tmp_path):
    rng = np.random.default_rng(20240)
    n_read = n_doubtful = 0
    for attempt in range(TEXTS):
        data = spoil_text(rng, base_text(rng, int(rng.choice([6, 40, 3000], p=[0.5, 0.4, 0.1]))))
        zipped = rng.random() < 0.1
        path = tmp_path / f"{attempt}.csv{'.gz' if zipped else ''}"
        path.write_bytes(gzip.compress(data) if zipped else data)
        predictions = read_or_refuse(path, label="label", scores=["score"], pos_label="1")
        path.unlink()
        expected = independent(data)
        if predictions is None:
            continue
        if expected is None:
            # Text behind a closing quote is read, and what ends within quotes must not be.
            expected = independent(data, strict=False)
            assert expected == independent(data + b"\n", strict=False), data[-300:]
            n_doubtful += 1
        labels, scores = expected
        assert predictions.scores_of("score").tolist() == scores
        assert predictions.labels.tolist() == [float(label) == 1.0 for label in labels]
        n_read += 1
    print(
        f"{TEXTS} texts: {n_read} read as Python reads them, {n_doubtful} odd quotes, rest refused"
    )
    assert 20 < n_read < TEXTS - 50
    assert n_doubtful < 40


@pytest.mark.slow
def test_parquet_and_arrow(tmp_path):
    rng = np.random.default_rng(7)
    table = pa.table({"label": [0, 1] * 50, "score": rng.random(100), "note": ["a", "bc"] * 50})
    parquet.write_table(table, tmp_path / "whole.parquet")
    with pa.ipc.new_file(str(tmp_path / "whole.arrow"), table.schema) as writer:
        writer.write_table(table)
    refused = 0
    for attempt in range(BINARIES):
        ending = ("parquet", "arrow")[attempt % 2]
        raw = bytearray((tmp_path / f"whole.{ending}").read_bytes())
        if rng.random() < 0.3:
            raw = raw[: int(rng.integers(len(raw)))]
        for _ in range(int(rng.integers(0, 4))):
            if raw:
                raw[int(rng.integers(len(raw)))] = int(rng.integers(256))
        path = tmp_path / f"{attempt}.{ending}"
        path.write_bytes(raw)
        refused += read_or_refuse(path, label="label", scores=["score"]) is None
        path.unlink()
    print(f"{BINARIES} binary files, {refused} refused")
    assert refused > 30
