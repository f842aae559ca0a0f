"""The reference has every public name, and their arguments are named and ordered alike."""

from __future__ import annotations

import inspect
import pkgutil
import sys
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import Any

import pytest
import reference_pages

import voros

pytest.importorskip("matplotlib", reason="every package is imported, those that draw included")
pytest.importorskip("pyarrow", reason="and those that read files")

LISTED = {
    name: reference_pages.public(reference_pages.find(name)) for name in reference_pages.PACKAGES
}

LEADING = ("y_true", "y_score", "scores", "scenario", "policies", "path", "cost_ratio")
"""What may be given by position where labels are given, in this order."""

OTHER_SPELLINGS = {
    "labels": "y_true",
    "targets": "y_true",
    "positive_label": "pos_label",
    "weights": "sample_weight",
    "weight": "sample_weight",
    "patients": "groups",
    "group": "groups",
    "seed": "random_state",
    "rng": "random_state",
    "verbose": "progress",
    "callback": "progress",
}


def reached(dotted: str) -> Any:
    return pkgutil.resolve_name(dotted)


def with_names(module: ModuleType = voros) -> Iterator[str]:
    """Every package that says what is public, under the name a user writes."""
    if hasattr(module, "__all__"):
        yield module.__name__
    for submodule in pkgutil.iter_modules(module.__path__):
        if submodule.ispkg:
            yield from with_names(import_module(f"{module.__name__}.{submodule.name}"))


def public_functions() -> dict[str, Callable[..., Any]]:
    functions: dict[str, Callable[..., Any]] = {}
    for package, names in LISTED.items():
        for name in names:
            thing = getattr(reached(package), name)
            if inspect.isfunction(thing):
                functions[f"{package}.{name}"] = thing
            elif inspect.isclass(thing) and thing.__module__.startswith("voros"):
                functions |= {f"{package}.{name}.{key}": value for key, value in own_methods(thing)}
    return functions


def own_methods(kind: type) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Public methods that voros wrote, as they are called: without self."""
    for name, method in inspect.getmembers(kind, inspect.isroutine):
        if not name.startswith("_") and str(getattr(method, "__module__", "")).startswith("voros"):
            bound = inspect.ismethod(method) or isinstance(vars(kind).get(name), staticmethod)
            yield name, method if bound else partial(method, None)


FUNCTIONS = public_functions()
WITH_LABELS = {
    name: function
    for name, function in FUNCTIONS.items()
    if "y_true" in inspect.signature(function).parameters
}


def test_the_reference_has_every_package() -> None:
    assert set(with_names()) <= set(LISTED)


def test_the_reference_has_every_name_under_one_task() -> None:
    by_task = [name for names in reference_pages.TASKS.values() for name in names]
    assert sorted(by_task) == sorted(voros.__all__)


def test_every_package_is_reached_from_the_top() -> None:
    for submodule in pkgutil.iter_modules(voros.__path__):
        if submodule.ispkg:
            assert reached(f"voros.{submodule.name}") is sys.modules[f"voros.{submodule.name}"]


def test_there_are_functions_to_look_at() -> None:
    assert len(WITH_LABELS) > 15
    assert {"voros.select_model", "voros.OperatingPoints.from_scores"} <= set(WITH_LABELS)


@pytest.mark.parametrize("name", WITH_LABELS)
def test_labels_come_first_then_scores_then_the_scenario_then_keywords(name: str) -> None:
    parameters = list(inspect.signature(WITH_LABELS[name]).parameters.values())
    leading = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    assert leading[0] == "y_true"
    # Labels that come late belong to cases whose scores came before.
    assert leading[1:2] in (["y_score"], ["scores"]) or name.endswith("Monitor.label")
    assert leading == sorted(leading, key=LEADING.index)
    if any(p.name == "scenario" for p in parameters):
        assert leading[2] == "scenario"


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name.endswith("_points")])
def test_points_come_first_then_the_scenario(name: str) -> None:
    parameters = inspect.signature(FUNCTIONS[name]).parameters
    leading = [n for n, p in parameters.items() if p.kind is p.POSITIONAL_OR_KEYWORD]
    assert leading[0] in ("points", "points_by_model", "fpr", "rows")
    assert "scenario" not in leading or leading[1] == "scenario"


@pytest.mark.parametrize("name", WITH_LABELS)
def test_one_thing_has_one_name(name: str) -> None:
    parameters = set(inspect.signature(WITH_LABELS[name]).parameters)
    assert parameters & set(OTHER_SPELLINGS) == set()
    assert not {"y_score", "scores"} <= parameters


def test_options_are_given_by_keyword() -> None:
    options = {"pos_label", "sample_weight", "groups", "random_state", "progress", "force"}
    by_position = {
        f"{name}({parameter.name})"
        for name, function in FUNCTIONS.items()
        for parameter in list(inspect.signature(function).parameters.values())[1:]
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD and parameter.name in options
    }
    assert by_position == set()
