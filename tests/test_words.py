"""Words that a reader of technical English would stumble over stay out of code and docs."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
READ = ("src", "studies", "page/src", "docs", "examples", "README.md", "CONTRIBUTING.md")
ENDINGS = (".py", ".md", ".js", ".html", ".ipynb")
HISTORY = ("docs/decisions/", "docs/_static/")
"""Decisions are not edited, and scripts of others are not ours to edit."""

REPLACED = {
    r"\bjust if\b": "exactly when",
    r"\bdear(er|est)?\b": "costly",
    r"\bmend(s|ed|ing)?\b": "fix",
    r"\bfor want of\b": "because ... is missing",
    r"\bwould not do\b": "will not help",
    r"\bone too many\b": "mutually exclusive",
    r"\b(rightly|falsely) alarmed\b": "correct alarm, false alarm",
    r"(?<!there )\bis no (reading|number|saved|policy|list)\b": "is not a ...",
    r"\banew\b": "again",
    r"\bUnsettled": "Incomplete",
    r"\.of\(": "from_...",
    r"\b_?dress\(": "format_axes",
    r"\bclass Shown\b": "ReprMixin",
    r"\bn_visits\b": "n_flagged_cases",
    r"\bruler\b": "boundaries",
    r"\bpilot\b": "sample",
    r"\bvoros groups\b": "voros subgroups",
}


def texts() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", *READ], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    kept = [name for name in listed if name.endswith(ENDINGS) and not name.startswith(HISTORY)]
    assert len(kept) > 300
    return [ROOT / name for name in kept]


@pytest.fixture(scope="module")
def lines() -> list[tuple[str, str]]:
    return [
        (f"{path.relative_to(ROOT)}:{number}", line)
        for path in texts()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
    ]


@pytest.mark.parametrize("pattern", REPLACED)
def test_replaced_words_do_not_come_back(pattern: str, lines: list[tuple[str, str]]) -> None:
    word = re.compile(pattern)
    places = [where for where, line in lines if word.search(line)]
    assert places == [], f"write {REPLACED[pattern]!r} instead"


SAYS_NOTHING = {"found", "given", "each", "read", "made"}
"""Names of variables that do not say what they hold."""


def test_variables_are_named_for_what_they_hold() -> None:
    places = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {node.id}"
        for folder in ("src/voros", "studies/src")
        for path in sorted((ROOT / folder).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Name)
        and isinstance(node.ctx, ast.Store)
        and node.id in SAYS_NOTHING
    ]
    assert places == []


def test_a_listed_word_is_seen(lines: list[tuple[str, str]]) -> None:
    """The patterns are tried on what they are there to catch."""
    caught = "just if dearer mend for want of one too many anew voros groups is no number"
    assert sum(bool(re.search(pattern, caught)) for pattern in REPLACED) == 8
    assert any("precision floor" in line for _, line in lines)
