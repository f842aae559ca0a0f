"""A record with many fields is built by keyword: nobody counts positions."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import voros

MOST_BY_POSITION = 5

STATED_BY_POSITION = {"Scenario", "ThresholdCounts", "OperatingPoints"}
"""Users write their first fields by position; `KW_ONLY` ends those after at most five."""


def dataclasses() -> Iterator[tuple[str, ast.ClassDef, ast.expr]]:
    for path in sorted(Path(voros.__path__[0]).rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                for decorator in node.decorator_list:
                    if ast.unparse(decorator).startswith("dataclass"):
                        yield path.name, node, decorator


def ends_positions(line: ast.stmt) -> bool:
    return isinstance(line, ast.AnnAssign) and ast.unparse(line.annotation) == "KW_ONLY"


def fields_by_position(node: ast.ClassDef, decorator: ast.expr) -> list[str]:
    if "kw_only=True" in ast.unparse(decorator):
        return []
    names = []
    for line in node.body:
        if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name):
            if ends_positions(line):
                break
            names += [line.target.id] * (not ast.unparse(line.annotation).startswith("ClassVar"))
    return names


def test_no_dataclass_takes_more_than_five_values_by_position():
    classes = [(file, node, fields_by_position(node, by)) for file, node, by in dataclasses()]
    assert len(classes) > 150
    many = {f"{f}: {n.name}": names for f, n, names in classes if len(names) > MOST_BY_POSITION}
    assert many == {}, "write @dataclass(kw_only=True)"
    ended = {n.name for _, n, _ in classes if any(map(ends_positions, n.body))}
    assert ended == STATED_BY_POSITION
