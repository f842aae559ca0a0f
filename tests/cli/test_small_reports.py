"""A report is written at every capacity that admits an alarm, however small."""

import json

import pytest
from cli.cases import write_cases

FEW = ("--resamples", "100", "--force", "-o", "report.html")


@pytest.mark.parametrize("capacity", ["1", "2", "7", "12", "13", "0.0125", "0.05", "10%"])
@pytest.mark.slow
def test_a_capacity_of_a_few_cases(voros_command, tmp_path, capacity):
    cases = write_cases(tmp_path / "few.csv", n_cases=80)
    limits = ("--min-precision", "0.1", "--capacity", capacity, "--miss-costs", "10:20")
    ran = voros_command("report", cases, *limits, *FEW)
    assert ran.code == 0, ran.err
    assert json.loads((tmp_path / "report.json").read_text())["winner"] == "good"


@pytest.mark.parametrize("options", [("--prevalence", "0.02"), ("--score", "good")])
@pytest.mark.slow
def test_at_another_prevalence_and_with_one_model(voros_command, tmp_path, options):
    cases = write_cases(tmp_path / "few.csv", n_cases=80)
    limits = ("--min-precision", "0.02", "--capacity", "6", "--miss-costs", "100")
    ran = voros_command("report", cases, *limits, *options, *FEW)
    assert ran.code == 0, ran.err
