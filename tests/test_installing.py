"""Every hint is a command that works: it asks pip for what the extras ask for."""

import re
import tomllib
from pathlib import Path

import pytest

from voros.installing import COMMAND_LINE, REQUIREMENTS, missing_package, pip_install

PROJECT = Path(__file__).parents[1] / "pyproject.toml"


@pytest.fixture(scope="module")
def extras():
    if not PROJECT.exists():
        pytest.skip("the installed package has no pyproject.toml beside it")
    return tomllib.loads(PROJECT.read_text())["project"]["optional-dependencies"]


def test_the_versions_are_those_of_the_extras(extras):
    listed = {line for lines in extras.values() for line in lines}
    assert set(REQUIREMENTS.values()) <= listed


def test_the_command_line_needs_what_its_extra_brings(extras):
    brought = [*extras["cli"], *extras["plot"]]
    named = {re.split(r"[\[>]", line)[0] for line in brought if not line.startswith("voros")}
    assert named == set(COMMAND_LINE)


def test_a_missing_package_is_named_with_its_command():
    message = str(missing_package("drawing", "matplotlib"))
    assert message.startswith("drawing needs matplotlib, which is not installed: pip install ")
    assert pip_install("matplotlib") in message


def test_nobody_is_sent_to_a_package_that_is_not_published():
    folder = PROJECT.parent / "src" / "voros"
    if not folder.is_dir():
        pytest.skip("only a checkout has the sources beside the tests")
    said = [path for path in folder.rglob("*.py") if 'pip install "voros' in path.read_text()]
    assert said == []


NOT_FOR_USERS = {"test", "dev", "docs", "mutants"}


def test_the_guide_says_what_each_extra_is_for(extras):
    page = (PROJECT.parent / "docs" / "install.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*?`) \|", page, re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", " ".join(rows))) == set(extras) - NOT_FOR_USERS


def test_everyday_extras_bring_no_cluster(extras):
    assert not any(re.search("spark", line) for line in [*extras["all"], *extras["engines"]])
