"""Messages about a file show no more than a few of its cells, and none of a JSON list."""

import pytest

pa = pytest.importorskip("pyarrow", reason="reading files needs the cli extra")
pd = pytest.importorskip("pandas")

from pyarrow import parquet  # noqa: E402

from voros.exceptions import PredictionFileError  # noqa: E402
from voros.io import read_predictions  # noqa: E402

ROWS = [
    {"label": n % 2, "score": n / 8 if n % 3 else n // 3, "note": f"secret {n}"} for n in range(9)
]


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("orient", ["records", "columns", "split", "table", "values"])
def test_json_of_pandas_is_refused_without_its_cells(tmp_path, orient, indent):
    pd.DataFrame(ROWS * 300).to_json(tmp_path / "cases.json", orient=orient, indent=indent)
    with pytest.raises(PredictionFileError) as caught:
        read_predictions(tmp_path / "cases.json", label="label", scores=["score"])
    assert len(str(caught.value)) < 300
    assert "\n" not in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
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
