"""A list of records, as pandas writes it, is read; what is not one is refused without its cells."""

import json

import pytest

pa = pytest.importorskip("pyarrow", reason="reading files needs the cli extra")
pd = pytest.importorskip("pandas")

from pyarrow import parquet  # noqa: E402

from voros.exceptions import PredictionFileError  # noqa: E402
from voros.io import read_predictions  # noqa: E402

ROWS = [
    {"label": n % 2, "score": n / 8 if n % 3 else n // 3, "note": f"name {n}"} for n in range(9)
]


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("name", ["cases.json", "cases.jsonl", "nameless"])
def test_a_list_of_records_is_read(tmp_path, indent, name):
    pd.DataFrame(ROWS).to_json(tmp_path / name, orient="records", indent=indent)
    cases = read_predictions(tmp_path / name)
    assert cases.labels.tolist() == [row["label"] == 1 for row in ROWS]
    assert cases.scores_of("score").tolist() == [float(row["score"]) for row in ROWS]


def test_records_may_lack_names(tmp_path):
    (tmp_path / "cases.json").write_text(json.dumps([*ROWS, {"label": 1}]))
    with pytest.raises(PredictionFileError, match="column 'score' has no value in 1 of 10 rows"):
        read_predictions(tmp_path / "cases.json", label="label", scores=["score"])


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda text: text[:-1], r"the list of records is not JSON: Expecting"),
        (lambda text: text.replace("}, {", "}, 5, {", 1), "row 2 of the list is not an object"),
        (lambda text: text.replace('"label": 1', '"label": "x"', 1), "column 'label' holds values"),
        (lambda text: text.replace('"note"', '"label"', 1), "a record has a name twice"),
        (lambda text: text + text, "the list of records is not JSON: Extra data"),
    ],
)
def test_other_lists_are_refused_in_a_short_line(tmp_path, change, reason):
    (tmp_path / "cases.json").write_text(change(json.dumps(ROWS * 500)))
    with pytest.raises(PredictionFileError, match=f"cases.json: {reason}") as caught:
        read_predictions(tmp_path / "cases.json", label="label", scores=["score"])
    assert len(str(caught.value)) < 300
    assert "name 3" not in str(caught.value)


@pytest.mark.parametrize("orient", ["columns", "split", "table", "values"])
def test_other_ways_of_pandas_are_refused_without_their_cells(tmp_path, orient):
    pd.DataFrame(ROWS * 300).to_json(tmp_path / "cases.json", orient=orient)
    with pytest.raises(PredictionFileError) as caught:
        read_predictions(tmp_path / "cases.json", label="label", scores=["score"])
    assert len(str(caught.value)) < 600
    assert "name 3" not in str(caught.value)


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_a_long_cell_is_cut_in_messages(tmp_path, ending):
    from voros.io import table_bytes

    long = "x" * 100_000
    table = pa.table({"label": ["0", "1", long], "score": ["0.5", "0.25", long]})
    (tmp_path / f"cases.{ending}").write_bytes(table_bytes(table, ending))
    for columns in ({"scores": ["score"]}, {"scores": ["label"], "label": "score"}):
        with pytest.raises(ValueError, match="x") as caught:
            read_predictions(tmp_path / f"cases.{ending}", **({"label": "label"} | columns))
        assert len(str(caught.value)) < 600


@pytest.mark.parametrize(
    "columns", [{"label": "nested"}, {"label": "y", "scores": ["nested"]}, {"group": "nested"}]
)
@pytest.mark.parametrize(("kind", "values"), [("struct", {"a": 1}), ("list", [1, 2])])
def test_nested_columns_are_refused(tmp_path, columns, kind, values):
    table = pa.table({"y": [0, 1, 0, 1], "score": [0.1, 0.2, 0.3, 0.4], "nested": [values] * 4})
    parquet.write_table(table, tmp_path / "cases.parquet")
    with pytest.raises(PredictionFileError, match=f"column 'nested' holds values of type {kind}"):
        read_predictions(tmp_path / "cases.parquet", **({"label": "y"} | columns))


@pytest.mark.parametrize("values", [{"a": 1}, [1, 2]])
def test_a_nested_column_is_not_guessed_to_be_the_label(tmp_path, values):
    table = pa.table({"x": [0, 1, 0, 1], "score": [0.1, 0.2, 0.3, 0.4], "nested": [values] * 4})
    parquet.write_table(table, tmp_path / "cases.parquet")
    assert read_predictions(tmp_path / "cases.parquet").label == "x"
