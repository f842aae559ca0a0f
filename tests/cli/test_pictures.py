"""`voros map`, `plot` and `explore` write what they promise."""

import csv
import io
import json
import re
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="pictures need the cli extra")

from cli.cases import LIMITS

from voros import Scenario, costs, net_benefit, partial_voros_score, winner_map
from voros.io import read_predictions

MAGIC = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}


@pytest.mark.parametrize("kind", ["roc", "area", "threshold"])
def test_every_picture_is_drawn(voros_command, cases, tmp_path, kind):
    options = ("--kind", kind, "--label", "died", "--score", "good")
    assert voros_command("plot", cases, "-o", "out.png", *options, *LIMITS).code == 0
    assert (tmp_path / "out.png").read_bytes().startswith(MAGIC["png"])


def test_decision_curves_are_drawn_and_printed(voros_command, cases, tmp_path):
    options = ("--label", "died", "--score", "good", "--kind", "decision", "--capacity", "10%")
    ran = voros_command(
        "plot", cases, "-o", "out.png", *options, "--interventions-avoided", "--csv"
    )
    assert (tmp_path / "out.png").read_bytes().startswith(MAGIC["png"])
    rows = list(csv.DictReader(io.StringIO(ran.out)))
    read = read_predictions(cases, label="died")
    at = [float(row["threshold_probability"]) for row in rows]
    limits, how = Scenario(capacity=0.1, cost_ratio=1), {"threshold_probability": at}
    data = read.labels, read.scores_of("good"), limits
    expected = {
        "within_limits": net_benefit(*data, **how),
        "interventions_avoided": net_benefit(*data, **how, interventions_avoided=True),
    }
    for name, values in expected.items():
        assert [float(row[name]) for row in rows] == pytest.approx(values.tolist())


def test_decision_curves_of_censored_cases(voros_command, tmp_path):
    rng = np.random.default_rng(3)
    risk, months, died = rng.random(80), rng.exponential(3, 80).round(2), rng.random(80) < 0.6
    lines = [f"{d:d},{m},{r}" for d, m, r in zip(died, months, risk, strict=True)]
    Path("cases.csv").write_text("\n".join(["died,months,risk", *lines]))
    limits = ("--follow-up", "months", "--time-horizon", "2")
    options = ("--label", "died", "--score", "risk", "--kind", "decision", "-o", "out.png")
    ran = voros_command("plot", "cases.csv", *options, *limits, "--json")
    curves = json.loads(ran.out)["curves"]
    at = [row["threshold_probability"] for row in curves]
    found = net_benefit(died, risk, threshold_probability=at, follow_up=months, time_horizon=2)
    assert [row["as_scored"] for row in curves] == pytest.approx(found.tolist(), nan_ok=True)
    refused = voros_command("plot", "cases.csv", *options, *limits, "--capacity", "5%", "--force")
    assert refused.errors == [
        "voros: error: --follow-up is of cases without limits; leave the limits out"
    ]
    alone = voros_command("plot", "cases.csv", *options, *limits[:2], "--force")
    assert alone.errors == [
        "voros: error: --follow-up and --time-horizon belong together; give both"
    ]
    other = voros_command(
        "plot", "cases.csv", "--interventions-avoided", "--miss-costs", "5", "-o", "new.png"
    )
    assert other.code == 2


@pytest.mark.parametrize("ending", ["svg", "pdf"])
@pytest.mark.slow
def test_the_same_data_give_the_same_bytes(voros_command, cases, tmp_path, ending):
    for name in ("first", "second"):
        voros_command("plot", cases, "-o", f"{name}.{ending}", *LIMITS)
    first, second = ((tmp_path / f"{name}.{ending}").read_bytes() for name in ("first", "second"))
    assert first.startswith(MAGIC[ending])
    assert first == second


def test_each_cell_of_the_map_is_the_metric(voros_command, cases):
    grid = ("--min-precision", "0.2:0.6:3", "--capacity", "20:100:3", "--miss-costs", "5:20")
    ran = voros_command("map", cases, "--csv", *grid)
    rows = list(csv.DictReader(io.StringIO(ran.out)))
    assert [(row["min_precision"], row["capacity"]) for row in rows] == [
        (floor, capacity) for floor in ("0.2", "0.4", "0.6") for capacity in ("20", "60", "100")
    ]
    read = read_predictions(cases)
    for row in rows:
        scores = {
            model: partial_voros_score(
                read.labels,
                read.scores_of(model),
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
    read = read_predictions(tmp_path / "copies.csv", group="patient")
    limits = {"min_precisions": [0.2, 0.4, 0.6], "capacities": [0.1, 0.3, 0.5]}
    for name, groups in (("cases", None), ("patients", read.groups)):
        how = {"groups": groups, "n_resamples": 200, "random_state": 3}
        costs_of = costs.miss_costs(5, 20)
        expected = winner_map(read.labels, read.scores, **limits, cost_ratio=costs_of, **how)
        assert close[name] == expected.close_call.ravel().tolist()
    assert sum(close["patients"]) > sum(close["cases"])
    alone = voros_command("map", "copies.csv", *grid, "--group", "patient")
    assert alone.errors == ["voros: error: --group is for resamples; it needs --resamples"]


@pytest.mark.slow
def test_the_map_as_a_table_json_and_picture(voros_command, cases, tmp_path):
    grid = ("--min-precision", "0.2:0.6:3", "--capacity", "0.1:0.5:5", "--miss-costs", "5:20")
    ran = voros_command("map", cases, "--json", "-o", "map.png", *grid)
    document = json.loads(ran.out)
    assert len(document["cells"]) == 15
    assert sum(document["wins"].values()) == pytest.approx(1.0)
    assert (tmp_path / "map.png").read_bytes().startswith(MAGIC["png"])
    table = voros_command("map", cases, *grid).out
    assert "3 precision floors and 5 capacities" in table


def test_the_page_opens_with_the_limits_given(voros_command, cases, tmp_path):
    words = ("--title", "Which alarm?", "--outcome", "death", "--cases", "patients")
    ran = voros_command("explore", cases, "-o", "page.html", *words, *LIMITS)
    assert ran.code == 0
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<title>Which alarm?</title>" in page
    assert "patients" in page
    assert "miss_costs(5, 20)" in ran.err


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


@pytest.mark.parametrize(
    ("command", "written"), [("plot", "roc.png"), ("explore", "page.html")], ids=["plot", "explore"]
)
@pytest.mark.slow
def test_what_was_written_and_its_numbers_for_programs(
    voros_command, cases, tmp_path, command, written
):
    silent = voros_command(command, cases, "-o", written, *LIMITS)
    assert silent.out == ""
    ran = voros_command(command, cases, "-o", written, "--force", "--json", *LIMITS)
    document = json.loads(ran.out)
    assert document.pop("written") == written
    assert document.pop("bytes", None) in (None, (tmp_path / written).stat().st_size)
    assert document.pop("kind", "roc") == "roc"
    assert document == json.loads(voros_command("score", cases, "--json", *LIMITS).out)
    rows = voros_command(command, cases, "-o", written, "--force", "--csv", *LIMITS).out
    assert rows == voros_command("score", cases, "--csv", *LIMITS).out


@pytest.mark.parametrize("command", ["plot", "map", "report", "explore"])
@pytest.mark.slow
def test_a_name_that_is_no_mathematics_is_drawn_as_it_stands(voros_command, tmp_path, command):
    rng = np.random.default_rng(0)
    rows = [f"{i % 3 // 2},{i % 3 + rng.normal()!r},{rng.random()!r}" for i in range(120)]
    (tmp_path / "odd.csv").write_text("\n".join([r"died,$\frac{1$,_low", *rows]))
    output = {"plot": "out.png", "map": "out.svg", "report": "out.html", "explore": "out.html"}
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


@pytest.mark.parametrize(
    "option", [("--label", "died"), ("--thin", "9"), ("--json",), ("--confidence", "0.9")]
)
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
