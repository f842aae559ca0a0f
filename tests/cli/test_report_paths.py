"""A report names files without their folders."""

from pathlib import Path

import pytest
from cli.cases import LIMITS, write_cases

pytest.importorskip("jinja2", reason="the report's template needs the cli extra")

FEW = ("--resamples", "100")


def write_all(folder):
    folder.mkdir()
    (folder / "limits.toml").write_text("[ward]\ncapacity = 0.3\n")
    write_cases(folder / "test.csv", seed=1)
    return write_cases(folder / "valid.csv")


def run(voros_command, folder, *more):
    files = (f"--test={folder}/test.csv", "--scenarios", folder / "limits.toml")
    output = folder / "report.html"
    words = ("report", folder / "valid.csv", "--label", "died", *files, f"-o{output}", *LIMITS)
    ran = voros_command(*words, *FEW, *more)
    assert ran.code == 0, ran.err
    return [path.read_text(encoding="utf-8") for path in (output, output.with_suffix(".json"))]


@pytest.mark.slow
def test_no_folder_is_known(voros_command, tmp_path):
    write_all(tmp_path / "private place")
    for text in run(voros_command, tmp_path / "private place"):
        assert "private" not in text
        assert str(tmp_path) not in text
        assert "report valid.csv --label died --test=test.csv --scenarios limits.toml" in text
        assert "-oreport.html" in text


@pytest.mark.slow
def test_a_fraction_that_looks_like_a_path_stays(voros_command, tmp_path, cases):
    words = ("report", cases, "--label", "died", "--cost-ratio", "1/20:1/5", *FEW)
    ran = voros_command(*words, "-o", "report.html")
    assert ran.code == 0, ran.err
    assert "--cost-ratio 1/20:1/5" in Path(tmp_path, "report.html").read_text(encoding="utf-8")
