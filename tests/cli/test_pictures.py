"""`voros map` and `explore` write what they promise."""

import csv
import io
import json
import re
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="pictures need the cli extra")

from cli.cases import LIMITS

from voros import costs, partial_voros_score, winner_map
from voros.io import read_predictions

PNG = b"\x89PNG"


def test_each_cell_of_the_map_is_the_metric(voros_command, cases):
    grid = ("--min-precision", "0.2:0.6:3", "--capacity", "20:100:3", "--miss-costs", "5:20")
    ran = voros_command("map", cases, "--csv", *grid)
    rows = list(csv.DictReader(io.StringIO(ran.out)))
    assert [(row["min_precision"], row["capacity"]) for row in rows] == [
        (floor, capacity) for floor in ("0.2", "0.4", "0.6") for capacity in ("20", "60", "100")
    ]
    predictions = read_predictions(cases)
    for row in rows:
        scores = {
            model: partial_voros_score(
                predictions.labels,
                predictions.scores_of(model),
                min_precision=float(row["min_precision"]),
                capacity=int(row["capacity"]),
                cost_ratio=costs.miss_costs(5, 20),
            )
            for model in ("good", "fair")
        }
        for model, score in scores.items():
            assert float(row[f"score of {model}"]) == pytest.approx(score, abs=1e-12)
        assert row["winner"] == max(scores, key=scores.__getitem__)


@pytest.mark.slow
def test_the_map_resamples_patients(voros_command, tmp_path):
    """Copies of the same hundred cases: drawn whole they leave open what single cases settle."""
    rng = np.random.default_rng(0)
    died = rng.random(100) < 0.3
    models = {"good": rng.normal(size=100) + died, "fair": rng.normal(size=100) + 0.6 * died}
    rows = [
        f"{int(died[n])},{models['good'][n]!r},{models['fair'][n]!r},p{n}"
        for n in np.tile(np.arange(100), 12).tolist()
    ]
    text = re.sub(r"np\.float64\(([^)]*)\)", r"\1", "\n".join(["died,good,fair,patient", *rows]))
    (tmp_path / "copies.csv").write_text(text)
    grid = ("--min-precision", "0.2:0.6:3", "--capacity", "0.1:0.5:3", "--miss-costs", "5:20")
    close = {}
    for name, group in (("cases", ()), ("patients", ("--group", "patient"))):
        words = ("copies.csv", *grid, "--resamples", "200", "--seed", "3", *group)
        document = json.loads(voros_command("map", *words, "--json").out)
        close[name] = [cell["close_call"] for cell in document["cells"]]
    predictions = read_predictions(tmp_path / "copies.csv", group="patient")
    limits = {"min_precisions": [0.2, 0.4, 0.6], "capacities": [0.1, 0.3, 0.5]}
    for name, groups in (("cases", None), ("patients", predictions.groups)):
        how = {"groups": groups, "n_resamples": 200, "random_state": 3}
        costs_of = costs.miss_costs(5, 20)
        expected = winner_map(
            predictions.labels, predictions.scores, **limits, cost_ratio=costs_of, **how
        )
        assert close[name] == expected.close_call.ravel().tolist()
    assert sum(close["patients"]) > sum(close["cases"])
    alone = voros_command("map", "copies.csv", *grid, "--group", "patient")
    assert alone.errors == ["voros: error: --group needs --resamples, to resample groups"]


@pytest.mark.slow
def test_the_map_as_a_table_json_and_picture(voros_command, cases, tmp_path):
    grid = ("--min-precision", "0.2:0.6:3", "--capacity", "0.1:0.5:5", "--miss-costs", "5:20")
    ran = voros_command("map", cases, "--json", "-o", "map.png", *grid)
    document = json.loads(ran.out)
    assert len(document["cells"]) == 15
    assert sum(document["wins"].values()) == pytest.approx(1.0)
    assert (tmp_path / "map.png").read_bytes().startswith(PNG)
    table = voros_command("map", cases, *grid).out
    assert "3 precision floors and 5 capacities" in table


def test_the_page_opens_with_the_limits_given(voros_command, cases, tmp_path):
    words = ("--title", "Which alarm?", "--outcome", "death", "--cases", "patients")
    ran = voros_command("explore", cases, "-o", "page.html", *words, *LIMITS)
    assert ran.code == 0
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<title>Which alarm?</title>" in page
    assert "patients" in page
    assert '"miss":[5.0,20.0]' in page


def test_the_page_opens_without_limits_too(voros_command, cases, tmp_path):
    assert voros_command("explore", cases, "-o", "page.html").code == 0
    assert (tmp_path / "page.html").stat().st_size > 0


def test_the_page_holds_no_rows(voros_command, tmp_path):
    # A column that is no model, with a value that would be recognised anywhere.
    rng = np.random.default_rng(3)
    rows = [f"patient-{i:05d},{i % 2},{rng.random()!r}" for i in range(50)]
    (tmp_path / "named.csv").write_text("\n".join(["name,died,risk", *rows]))
    voros_command("explore", "named.csv", "-o", "page.html")
    assert "patient-0" not in (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("command", ["map", "report", "explore"])
@pytest.mark.slow
def test_a_name_that_is_no_mathematics_is_drawn_as_it_stands(voros_command, tmp_path, command):
    rng = np.random.default_rng(0)
    rows = [f"{i % 3 // 2},{i % 3 + rng.normal()!r},{rng.random()!r}" for i in range(120)]
    (tmp_path / "odd.csv").write_text("\n".join([r"died,$\frac{1$,_low", *rows]))
    output = {"map": "out.svg", "report": "out.html", "explore": "out.html"}
    grid = ("--min-precision", "0.2:0.6:3", "--capacity", "0.1:0.5:3", "--miss-costs", "5:20")
    limits = grid if command == "map" else LIMITS
    options = ("--resamples", "100") if command == "report" else ()
    ran = voros_command(command, "odd.csv", "-o", output[command], *limits, *options)
    assert ran.code == 0, ran.err
    assert (tmp_path / output[command]).stat().st_size > 0


def test_without_a_file_the_page_reads_one_itself(voros_command):
    ran = voros_command("explore", "-o", "voros.html", "--min-precision", "0.3")
    assert ran.code == 0, ran.err
    page = Path("voros.html").read_text(encoding="utf-8")
    assert '"models":[]' in page
    assert '"minPrecision":0.3' in page
    assert len(page.encode()) < 400_000


@pytest.mark.parametrize("option", [("--label", "died"), ("--thin", "9"), ("--confidence", "0.9")])
def test_without_a_file_what_needs_one_is_refused(voros_command, option):
    ran = voros_command("explore", "-o", "voros.html", *option)
    assert ran.code == 2
    assert f"{option[0]}" in ran.errors[0]
    assert "name a file" in ran.errors[0]
    assert not Path("voros.html").exists()


def test_a_guarantee_is_tested_when_the_page_is_made(voros_command, cases):
    words = ("--confidence", "0.9", "--horizon", "50", "--capacity", "20", "-o", "page.html")
    ran = voros_command("explore", cases, *words, "--resamples", "0")
    assert ran.code == 0, ran.err
    page = Path("page.html").read_text(encoding="utf-8")
    assert '"promise":{"confidence":0.9,"horizon":50,"models":[{"runs":' in page
    assert '"capacity":{"share":0.4}' in page
    refused = voros_command("explore", cases, "--horizon", "50", "-o", "other.html")
    assert refused.code == 2
    assert "--horizon requires --confidence" in refused.errors[0]
