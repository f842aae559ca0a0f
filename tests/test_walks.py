"""A reader who follows a command changes modules seldom."""

import ast
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import voros

pytest.importorskip("typer", reason="the command line needs the cli extra")
pytest.importorskip("pyarrow", reason="and reading files pyarrow")

SOURCE = Path(voros.__file__).parents[1]
SCRIPTS = Path(__file__).parents[1] / "scripts"


def forget():
    """Clear the caches of voros, which earlier tests in this process have filled."""
    for name, module in list(sys.modules.items()):
        if name.startswith("voros."):
            for member in list(vars(module).values()):
                getattr(member, "cache_clear", lambda: None)()


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
    assert len({module for module, _ in calls}) < 50
    assert len(list(walks.switches(calls))) < 250


def loaded_with(path: Path) -> set[Path]:
    """Return the modules of voros that a module imports as it is loaded, and not for types."""
    paths = set()
    for statement in ast.parse(path.read_text()).body:
        if isinstance(statement, ast.ImportFrom) and (statement.module or "").startswith("voros"):
            home = SOURCE.joinpath(*statement.module.split("."))
            names = [home / alias.name for alias in statement.names]
            files = (file_of(name) or file_of(home) for name in names)
            paths |= {file for file in files if file is not None}
    return paths - {path}


def file_of(module: Path) -> Path | None:
    files = (module.with_suffix(".py"), module / "__init__.py")
    return next((file for file in files if file.exists()), None)


def test_no_chain_of_imports_is_long():
    @cache
    def depth(path: Path) -> int:
        return 1 + max(map(depth, loaded_with(path)), default=0)

    assert max(map(depth, (SOURCE / "voros").rglob("*.py"))) <= 20


def policy_for_the_next_cases(n_cases, scenario):
    rng = np.random.default_rng(0)
    died = rng.random(n_cases) < 0.2
    scores = 1.5 * died + rng.normal(size=n_cases)
    guarantee = voros.Guarantee(0.95, horizon=2000)
    voros.ThresholdPolicy.from_validation(died, scores, scenario, guarantee=guarantee, n_models=1)


def test_the_guarantee_for_the_next_cases_changes_modules_seldom(monkeypatch):
    monkeypatch.syspath_prepend(str(SCRIPTS))
    import walks

    forget()
    policy_for_the_next_cases(1900, voros.Scenario(0.3, 0.25, (1 / 40, 1 / 9)))
    scenario = voros.Scenario(0.4, 0.2, (1 / 40, 1 / 9))
    calls = walks.calls_of(lambda: policy_for_the_next_cases(2000, scenario))
    within = [call for call in calls if call[0].startswith("guarantee")]
    assert len(list(walks.switches(within))) <= 120
