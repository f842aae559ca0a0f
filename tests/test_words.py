"""Words that a reader of technical English would stumble over stay out of code and docs."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
if not (ROOT / ".git").exists():
    pytest.skip("only a checkout has every text beside the tests", allow_module_level=True)

READ = ("src", "studies", "page/src", "docs", "examples", "README.md", "CONTRIBUTING.md")
ENDINGS = (".py", ".md", ".js", ".html", ".ipynb")
HISTORY = ("docs/decisions/", "docs/_static/")
"""Decisions are not edited, and scripts of others are not ours to edit."""

KINDS = (
    "reading|number|saved|policy|list|file|folder|time|argument|confidence|value|slip|corner|"
    "delimited|harm|scenario|fair|region|test|accident|monitor|count|model|score"
)
SENTENCES = {
    r"\bjust if\b": "exactly when",
    r"\bdear(er|est)?\b": "costly",
    r"\bmend(s|ed|ing)?\b": "fix",
    r"\bfor want of\b": "because ... is missing",
    r"\b(would|will) not do\b": "will not help",
    r"\bone too many\b": "mutually exclusive",
    r"\b(rightly|falsely) alarmed\b": "correct alarm, false alarm",
    rf"(?<!here )\bis no ({KINDS})\b": "is not a ...",
    r"\bof a monitor is no\b": "is not a monitor file",
    r"\btruth values?\b": "booleans",
    r"\barrays are none\b": "arrays are rejected",
    r"\bSay that it is\b": "Advance the clock",
    r"\b[Aa]sked for by name\b": "Imported lazily",
    r"\bNobody else waits\b": "Imported lazily",
    r"\bthat settle it\b": "a sufficient subset",
    r"\bleaves? open what\b": "too coarse to answer this",
    r"\bis none at all\b": "return None if invalid",
    r"\bIn how many periods\b": "Number of periods with",
    r"\bMore cases of this kind\b": "More cases will not help",
    r"\bluck of their own\b": "vary by chance too",
    r"\bis called broken although\b": "Probability of a false alarm",
    r"\bof the cost distribution beyond\b": "For cost ratios above ...",
    r"\bcases to check on\b": "requires --test FILE",
    r"\bpass Positive label\b": "choose the positive label",
    r"\banew\b": "again",
    r"\bvoros groups\b": "--by",
    r"\b[Ww]ith probability 1\b": "always",
    r"\bpassed over\b": "skipped",
    r"\bno file of\b": "is not a ... file",
    r"\bis not a saved one\b": "is not a saved policy",
    r"\bmutually one too\b|\bboth at once is\b": "mutually exclusive",
    r"\bcheap false alarms to\b": "in increasing cost",
    r"\bwould do\b|\bwill do\b": "is enough",
    r"\bname them with --test\b": "requires --test FILE",
    r"\bprobability 1\b": "always",
    r"\b--level\b": "--confidence-level",
    r"\b(but|is|of|from|for|with|against|means|than|where) never alarm\b": "raising no alarm",
    r"\bNever alarm\b": "Raising no alarm",
}
"""What was written, and what to write instead."""

GERMAN = {
    r"\bZuerst: ": "Am besten: ",
    r"\bfalscher Alarm": "Fehlalarm",
    r"\bEin Übersehen wiegt": "Ein übersehener Fall wiegt",
    r"\bbilligere Übersehen": "another sentence",
    r"\bBei jeden Kosten": "Bei jedem Kostenverhältnis",
    r"\bKeine Zeile bleibt": "Es wird keine Zeile gespeichert",
    r"priceLabel: .*in Geld": "in Euro",
    r"so schlimm wie wie viele": "Wie viele Fehlalarme wiegen einen übersehenen Fall auf?",
    r"Was mit 100 geschieht": "Was mit 100 Patienten geschieht",
    r"Zeiträume \(pro": "90 Tage",
    r"`[mM]indestens \$\{\w+\} der Alarme richtig": "... der Alarme sind richtig",
    r"\bje Übersehenem\b": "je übersehenem Fall",
    r"zu Recht alarmiert|falsch alarmiert": "richtiger Alarm, Fehlalarm",
}

NAMES = {
    r"\b[Uu]nsettled|\bSettled[A-Z]|\bsettles\b": "incomplete, certified, covered",
    r"\.of\(": "from_...",
    r"\b_?dress\(": "format_axes",
    r"\bclass Shown\b": "ReprMixin",
    r"\bn_visits\b": "n_flagged_cases",
    r"\bruler\b": "boundaries",
    r"\bpilot\b": "sample",
    r"\blesser_share\b": "dominated_area",
    r"\bcontenders?\b": "candidate bins",
    r"\bpassed_over\b": "skipped",
    r"\b(const|let|function) \w*([Ww]alk|[Ss]tretch|facts)\w*": "sequence, range, metadata",
    r"class=\"quiet\"|\.quiet \{": "muted",
    r"\b(GroupEvaluation|lesser_classifiers)\b": "SubgroupEvaluation, dominated_area",
    r"\b(def|const|let|function) (turning|doubt)\b": "break-even ratio, warning text",
    r"\bsmall_cells\b|\bmin_cell\b|--min-cell\b": "min_rows",
}

REPLACED = SENTENCES | GERMAN | NAMES


def texts() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", *READ], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    kept = [name for name in listed if name.endswith(ENDINGS) and not name.startswith(HISTORY)]
    assert len(kept) > 300
    return [ROOT / name for name in kept if (ROOT / name).exists()]


@pytest.fixture(scope="module")
def written() -> dict[str, str]:
    return {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in texts()}


@pytest.mark.parametrize("pattern", REPLACED)
def test_replaced_words_do_not_come_back(pattern: str, written: dict[str, str]) -> None:
    places = [
        f"{name}:{text.count(chr(10), 0, match.start()) + 1}"
        for name, text in written.items()
        # Without the boundary in front a search is several times as fast.
        if re.search(pattern.removeprefix(r"\b"), text)
        for match in re.finditer(pattern, text)
    ]
    assert places == [], f"write {REPLACED[pattern]!r} instead"


VAGUE = {"found", "given", "each", "read", "made", "false"}
"""Names of variables that do not say what they hold."""

SAYS_NOTHING = VAGUE | {
    "doubt",
    "turning",
    "contenders",
    "lesser_share",
    "passed_over",
    "ruler",
    "pilot",
    "walk",
    "walked",
    "looks",
    "dress",
    "facts",
    "quiet",
    "stretch",
    "stretches",
    "settled",
    "settles",
    "n_visits",
}
"""Those, and names of variables that have a better one."""

FOLDERS = {
    **dict.fromkeys(
        ("src/voros", "studies/src", "studies/tests", "examples", "docs"), SAYS_NOTHING
    ),
    **dict.fromkeys(("tests", "benchmarks", "scripts"), VAGUE),
}


def bound_names(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield the variables and parameters of a module, those of comprehensions included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno


@pytest.mark.parametrize("folder", FOLDERS)
def test_variables_are_named_for_what_they_hold(folder: str) -> None:
    paths = sorted((ROOT / folder).glob("*.py" if folder == "docs" else "**/*.py"))
    suspicious = re.compile(rf"\b({'|'.join(FOLDERS[folder])})\b")
    sources = {path: path.read_text(encoding="utf-8") for path in paths}
    places = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path, source in sources.items()
        if suspicious.search(source)
        for name, line in bound_names(ast.parse(source))
        if name in FOLDERS[folder]
    ]
    assert paths
    assert places == []


PYTHON = re.compile(r"^```py(?:thon)?\n(.*?)^```", re.MULTILINE | re.DOTALL)


def test_variables_of_the_guide_are_named_for_what_they_hold() -> None:
    pages = [path for path in texts() if path.suffix == ".md"]
    places = [
        f"{page.relative_to(ROOT)}: {name}"
        for page in pages
        for block in PYTHON.findall(page.read_text(encoding="utf-8"))
        for name, _ in bound_names(ast.parse(block))
        if name in SAYS_NOTHING
    ]
    assert places == []


def test_a_listed_word_is_seen(written: dict[str, str]) -> None:
    """The patterns are tried on what they are there to catch."""
    caught = (
        "just if dearer mend for want of one too many anew voros groups is no number truth values "
        "falscher Alarm; contenders, UnsettledError, luck of their own"
    )
    assert sum(bool(re.search(pattern, caught)) for pattern in REPLACED) == 13
    assert any("precision floor" in text for text in written.values())
    names = bound_names(ast.parse("x = [each for each in y]\nlambda found: found"))
    assert {name for name, _ in names} == {"x", "each", "found"}
