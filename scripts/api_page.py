"""Write the lists of public names from `__all__` and the first lines of the docstrings."""

from __future__ import annotations

import inspect
from pathlib import Path
from pkgutil import resolve_name

DOCS = Path(__file__).parents[1] / "docs"

PACKAGES = (
    "voros",
    "voros.costs",
    "voros.plotting",
    "voros.inference",
    "voros.guarantee",
    "voros.policy",
    "voros.alarms",
    "voros.monitoring",
    "voros.allocation",
    "voros.estimators",
    "voros.evaluation",
    "voros.selection",
    "voros.winners",
    "voros.decision_curves",
    "voros.core.geometry",
    "voros.core.hull",
    "voros.core.money",
    "voros.exceptions",
    "voros.frameworks",
    "voros.engines",
    "voros.datasets",
    "voros.io",
    "voros.present.explorer",
    "voros.present.report",
)
"""What `import voros` gives access to, from the most to the least used."""

STUDIES = (
    "voros_studies.paper",
    "voros_studies.hospital",
    "voros_studies.experiments",
    "voros_studies.evidence",
    "voros_studies.sepsis",
)
"""The packages of voros-studies."""

INTRODUCTION = """# The public names

Every public name, with one line each; `help(name)` has the rest, with an example. `import voros`
reaches all of them and loads a package when it is first used. Names of a subpackage that `voros`
itself offers are listed in both places. `voros.torch.PartialVOROS`, a torchmetrics metric, needs
torch and is described with the [frameworks](frameworks.md).

One order of arguments holds everywhere. `y_true` comes first, then the scores: `y_score` for one
model, `scores` for one or several (a mapping or a data frame). `scenario` is third, and what
follows is given by keyword. `pos_label`, `sample_weight`, `groups`, `random_state` and `progress`
mean the same in every function. `OperatingPoints`, of one model or several by name, can take the
place of labels and scores wherever cases are counted: `voros.evaluate(points, scenario=ward)`.

`python scripts/api_page.py` writes this page; a test compares it with `__all__`.
"""

STUDIES_INTRODUCTION = """# The public names of voros-studies

Every public name of the package `voros_studies`, with one line each. `python scripts/api_page.py`
writes this page.
"""


def page() -> str:
    """Return the page of voros."""
    return INTRODUCTION + "".join(section(name) for name in PACKAGES)


def studies_page() -> str:
    """Return the page of voros-studies."""
    return STUDIES_INTRODUCTION + "".join(section(name) for name in STUDIES)


def section(package: str) -> str:
    """Return a heading, what the package is for, and a table of its names."""
    module = find(package)
    rows = "".join(
        f"| `{name}` | {first_line(getattr(module, name))} |\n" for name in public(module)
    )
    return f"\n## `{package}`\n\n{first_line(module)}\n\n| name | what it is |\n|---|---|\n{rows}"


def find(package: str) -> object:
    """Follow a dotted name from its package, as a user would write it."""
    found: object = resolve_name(package)
    return found


def public(module: object) -> list[str]:
    """Return the names of `__all__`: functions first, then classes, then errors and warnings."""
    names: list[str] = vars(module)["__all__"]
    return sorted(names, key=lambda name: (_kind(getattr(module, name)), name.lower()))


def _kind(thing: object) -> int:
    if not inspect.isclass(thing):
        return 0
    return 2 if issubclass(thing, Exception) else 1


def first_line(thing: object) -> str:
    """Return the first line of a docstring; a constant has none of its own."""
    constant = not (inspect.ismodule(thing) or callable(thing))
    text = f"a constant of type {type(thing).__name__}" if constant else inspect.getdoc(thing) or ""
    return text.splitlines()[0].replace("|", "\\|")


if __name__ == "__main__":
    (DOCS / "api.md").write_text(page(), encoding="utf-8")
    (DOCS / "studies" / "names.md").write_text(studies_page(), encoding="utf-8")
