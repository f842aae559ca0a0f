"""`voros experiment evidence` reads a folder, says what is missing, and writes table and figure."""

import csv

import numpy as np
import pytest


@pytest.mark.slow
def test_one_data_set_of_a_folder(voros_command, tmp_path):
    pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    x = rng.normal(size=240)
    bought = np.where(rng.random(240) < 1 / (1 + np.exp(2 - 2 * x)), "Yes", "No")
    with (tmp_path / "Caravan.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerows([("MOSTYPE", "Purchase"), *zip(x, bought, strict=True)])
    (tmp_path / "limits.toml").write_text("[desk]\ncapacity = 0.3\nmiss_costs = [4, 8]\n")
    chosen = ("--only", "caravan", "--only", "physionet2012")
    where = ("--data", tmp_path, "--out", "found", "--splits", 1)
    ran = voros_command("experiment", "evidence", *chosen, *where)
    assert ran.code == 0, ran.err
    assert "caravan: 240 cases" in ran.err
    assert "physionet2012: left out" in ran.err
    assert "max AUROC" in ran.out
    rows = list(csv.DictReader((tmp_path / "found" / "evidence.csv").read_text().splitlines()))
    assert len(rows) == 3 * 7
    assert "partial VOROS, best in most resamples" in ran.out
    ran = voros_command("experiment", "evidence", *chosen, *where, "--scenarios", "limits.toml")
    assert ran.code == 0, ran.err
    rows = list(csv.DictReader((tmp_path / "found" / "evidence.csv").read_text().splitlines()))
    assert [row["scenario"] for row in rows] == ["desk"] * 7
    assert (tmp_path / "found" / "evidence.png").read_bytes().startswith(b"\x89PNG")
    assert voros_command("experiment", "evidence", "--out", "x", "--only", "no").code != 0
