"""Files of one folder that were not written alike, from the shell."""

import json

import pytest
from cli.cases import LIMITS

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

pytestmark = pytest.mark.filterwarnings("ignore:The inplace keyword")

COLUMNS = ("--label", "died", "--score", "risk")


@pytest.fixture
def days(tmp_path):
    """Whole scores on the first day, and probabilities on the second."""
    (tmp_path / "days").mkdir()
    risk = [k / 40 for k in range(40)]
    died = [k % 3 == 0 for k in range(40)]
    pq.write_table(pa.table({"died": died, "risk": risk}), tmp_path / "days/2.parquet")
    first = {"died": [True, False], "risk": [1, 0], "note": ["a", "b"]}
    pq.write_table(pa.table(first), tmp_path / "days/1.parquet")
    lines = [f"{int(y)},{x}" for y, x in zip([1, 0, *died], [1, 0, *risk], strict=True)]
    (tmp_path / "all.csv").write_text("\n".join(["died,risk", *lines]) + "\n")
    return tmp_path / "days"


@pytest.mark.usefixtures("days")
@pytest.mark.parametrize("engine", ["duckdb", "polars", None])
def test_the_score_is_that_of_all_rows(voros_command, engine):
    how = () if engine is None else (pytest.importorskip(engine) and "--engine", engine)
    models, expected = (
        json.loads(voros_command("score", *what, *COLUMNS, "--json", *LIMITS).out)["models"]
        for what in (("days", *how), ("all.csv",))
    )
    assert models[0]["partial_voros"] == pytest.approx(expected[0]["partial_voros"], abs=1e-12)
    assert models[0]["choices"] == expected[0]["choices"]


@pytest.mark.usefixtures("days")
def test_a_column_that_must_be_guessed_may_not_differ(voros_command):
    pytest.importorskip("duckdb")
    ran = voros_command("score", "days", "--label", "died", *LIMITS)
    assert ran.code == 2
    assert "duckdb cannot open days: column 'note' is not in days/2.parquet" in ran.errors[0]
