"""A reader who follows a command changes modules seldom."""

import sys
from pathlib import Path

import numpy as np
import pytest

import voros

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
    assert len({module for module, _ in calls}) < 40
    assert len(list(walks.switches(calls))) < 145


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
