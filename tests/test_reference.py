"""Every public name is described, shown in use, and has a page of the site."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("matplotlib", reason="every package is imported, those that draw included")
pytest.importorskip("pyarrow", reason="and those that read files")
pytest.importorskip("voros_studies", reason="the site describes the studies too")

SCRIPTS = Path(__file__).parents[1] / "scripts"

CONSTANTS = {"SCENARIOS"}
"""A value has no docstring of its own; `Cell` and `evaluate_cell` show this one in use."""

SHOWN_ONLY = {"run_table"}
"""Each reads data that voros does not ship or fits for a while: their tests run them."""


@pytest.fixture
def pages(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The script that writes the pages of the reference."""
    monkeypatch.syspath_prepend(str(SCRIPTS))
    return pytest.importorskip("reference_pages")


def described(pages: Any) -> dict[str, Any]:
    """Every public name but packages, and what it is."""
    return {
        f"{package}.{name}": getattr(pages.find(package), name)
        for package in (*pages.PACKAGES, *pages.STUDIES)
        for name in pages.public(pages.find(package))
        if not inspect.ismodule(getattr(pages.find(package), name))
    }


def commands(thing: Any) -> list[str]:
    """Lines of the examples in a docstring; one that a class inherits is not its own."""
    return re.findall(r"^\s*>>> (.*)", getattr(thing, "__doc__", None) or "", re.MULTILINE)


def test_every_public_name_is_shown_in_use(pages: Any) -> None:
    names = described(pages)
    assert len(names) > 150
    bare = {name for name, thing in names.items() if not commands(thing)}
    assert {name.rpartition(".")[2] for name in bare} == CONSTANTS
    skipped = {
        name.rpartition(".")[2]
        for name, thing in names.items()
        if commands(thing) and all("doctest: +SKIP" in line for line in commands(thing))
    }
    assert skipped == SHOWN_ONLY


def test_every_public_name_has_a_page(pages: Any, tmp_path: Path) -> None:
    pages.write(tmp_path)
    listed = {
        f"{package}.{name}"
        for package in (*pages.PACKAGES, *pages.STUDIES)
        for name in re.findall(
            r"^   (\w+)$",
            (tmp_path / f"{package.replace('.', '-')}.rst").read_text(encoding="utf-8"),
            re.MULTILINE,
        )
    }
    at_the_top = {name.rpartition(".")[2] for name in listed if name.count(".") == 1}
    missing = {
        name
        for name in described(pages)
        if name not in listed and name.rpartition(".")[2] not in at_the_top
    }
    assert missing == set()
    index = (tmp_path / "index.rst").read_text(encoding="utf-8")
    _, _, packages = index.partition("All packages")
    assert set(re.findall(r"^   (voros\S*)$", packages, re.MULTILINE)) == {
        page.stem for page in tmp_path.glob("voros*.rst")
    }


SAYS = re.compile(r"^\s*(Returns|Yields)\n\s*-+$", re.MULTILINE)
BEGINS = re.compile(r"\s*(Return|Whether|Yield)\b")


def returns_something(function: Any) -> bool:
    return inspect.signature(function).return_annotation not in (None, "None")


def test_every_public_function_says_what_it_returns(pages: Any) -> None:
    functions = {
        name: thing for name, thing in described(pages).items() if inspect.isfunction(thing)
    }
    assert len(functions) > 60
    assert [
        name
        for name, function in functions.items()
        if returns_something(function) and not SAYS.search(function.__doc__ or "")
    ] == []


def test_every_public_method_says_what_it_returns(pages: Any) -> None:
    """In a section, or in a first line such as "Return the thresholds of each stream"."""
    methods = {
        f"{name}.{method}": getattr(member, "__func__", member)
        for name, thing in described(pages).items()
        if inspect.isclass(thing)
        for method in dir(thing)
        if not method.startswith("_")
        for member in [inspect.getattr_static(thing, method)]
    }
    functions = {
        name: method
        for name, method in methods.items()
        if inspect.isfunction(method) and method.__module__.startswith("voros")
    }
    assert len(functions) > 200
    assert [
        name
        for name, function in functions.items()
        if returns_something(function)
        and not SAYS.search(function.__doc__ or "")
        and not BEGINS.match(function.__doc__ or "")
    ] == []
