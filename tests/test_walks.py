"""A reader who follows a command changes modules seldom."""

import sys
from pathlib import Path

import pytest

pytest.importorskip("typer", reason="the command line needs the cli extra")
pytest.importorskip("pyarrow", reason="and reading files pyarrow")

SCRIPTS = Path(__file__).parents[1] / "scripts"


def forget():
    """Empty the caches of voros, which other tests of this process have filled."""
    for name, module in list(sys.modules.items()):
        if name.startswith("voros."):
            for each in list(vars(module).values()):
                getattr(each, "cache_clear", lambda: None)()


@pytest.mark.parametrize("command", ["score", "select"])
def test_a_command_enters_few_modules(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(SCRIPTS))
    monkeypatch.setattr(sys, "argv", ["voros"])
    import walks

    forget()
    walks.write_cases(Path("one.csv"), 2000)
    walks.run(command, "one.csv", walks.OTHER_LIMITS)
    calls = walks.calls_of(lambda: walks.run(command, "one.csv", walks.LIMITS))
    assert len({module for module, _ in calls}) < 36
    assert len(list(walks.switches(calls))) < 140
