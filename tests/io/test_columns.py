"""What is left out, and what looks like something else, is said."""

import decimal

import pytest

pa = pytest.importorskip("pyarrow", reason="reading files needs the cli extra")

from pyarrow import parquet  # noqa: E402

from voros.io import read_predictions  # noqa: E402


def test_columns_left_out_are_named_with_the_reason(tmp_path):
    path = tmp_path / "cases.csv"
    path.write_text(
        "label,risk,percent,thousands,empty,ward,seen\n"
        '1,0.5,12.3%,"1,491",,A,2024-01-31\n'
        '0,0.25,4%,"2,000",,B,2024-02-01\n'
    )
    (note,) = [note for note in read_predictions(path).notes if note.startswith("left out")]
    for said in (
        "'percent' (text such as '12.3%', a percentage; write 12.3% as 0.123)",
        "'thousands' (text such as '1,491', a number with a comma;",
        "'empty' (no value in the first 2 rows)",
        "'ward' (text)",
        "'seen' (dates)",
    ):
        assert said in note
    assert "risk" not in note


def test_remarks_in_a_few_rows_are_text(tmp_path):
    path = tmp_path / "cases.csv"
    path.write_text("label,risk,note\n1,0.5,late\n0,0.25,\n0,0.1,\n0,0.2,NA\n")
    predictions = read_predictions(path)
    assert list(predictions.scores) == ["risk"]
    assert "left out: 'note' (text)" in predictions.notes


def test_nothing_left_out_is_nothing_said(tmp_path):
    path = tmp_path / "cases.csv"
    path.write_text("label,risk\n1,0.5\n0,0.25\n")
    assert not [note for note in read_predictions(path).notes if "left out" in note]


@pytest.mark.parametrize("kind", [pa.decimal128(10, 4), pa.decimal256(40, 8)])
def test_decimals_are_numbers(tmp_path, kind):
    path = tmp_path / "cases.parquet"
    values = [decimal.Decimal("0.5"), decimal.Decimal("0.125"), decimal.Decimal("12.25")]
    parquet.write_table(pa.table({"label": [1, 0, 1], "risk": pa.array(values, kind)}), path)
    for scores in ((), ["risk"]):
        predictions = read_predictions(path, label="label", scores=scores)
        assert predictions.scores_of("risk").tolist() == [0.5, 0.125, 12.25]


@pytest.mark.parametrize(
    ("name", "values", "looks"),
    [
        ("id", [7, 3, 9, 1], "an identifier"),
        ("patientId", [7.5, 3.5, 9.5, 1.5], "an identifier"),
        ("subject", [7, 3, 9, 1], "an identifier"),
        ("Unnamed: 0", [0, 1, 2, 3], "an identifier"),
        ("counted", list(range(20)), "an identifier"),
        ("age", [61, 34, 72, 50], "a property of the case"),
    ],
)
def test_columns_that_look_like_no_model(tmp_path, name, values, looks):
    path = tmp_path / "cases.csv"
    rows = [f"{i % 2},{0.1 * (i % 7):.1f},{value}" for i, value in enumerate(values)]
    path.write_text("\n".join([f"label,risk,{name}", *rows]))
    cases = read_predictions(path)
    assert cases.models == ["risk"]
    assert cases.notes[-1] == f"left out: {name!r} (looks like {looks})"
    assert read_predictions(path, scores=["risk", name]).models == ["risk", name]
    assert read_predictions(path, case=name).models == ["risk"]


def test_a_file_of_identifiers_alone_names_no_model(tmp_path):
    path = tmp_path / "cases.csv"
    path.write_text("label,patient_id\n" + "".join(f"{i % 2},{9 - i}\n" for i in range(4)))
    with pytest.raises(ValueError, match=r"no column looks like scores; .*'patient_id' \(looks"):
        read_predictions(path)


@pytest.mark.parametrize("name", ["risk", "patient_risk", "model no 2", "days_model", "score1"])
def test_columns_that_look_like_models(tmp_path, name):
    path = tmp_path / "cases.csv"
    path.write_text(f"label,{name}\n" + "".join(f"{i % 2},{(7 * i) % 11}\n" for i in range(30)))
    assert read_predictions(path).models == [name]
