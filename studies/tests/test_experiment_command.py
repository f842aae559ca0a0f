"""`voros experiment` refuses what cannot be run in one line, before anything is written."""

import pytest


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("support2",), "Missing option '--out'"),
        (("support2", "--out", "cases.csv"), "cases.csv is a file; name a folder"),
        (("support2", "--out", "run", "--seed", "-1"), "'--seed'"),
    ],
)
def test_studies_that_cannot_be_run(voros_command, cases, tmp_path, words, complaint):
    ran = voros_command("experiment", *words)
    assert ran.code == 2
    assert ran.out == ""
    (line,) = ran.err.splitlines()
    assert complaint in line
    assert not (tmp_path / "run").exists()
