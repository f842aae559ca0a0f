"""Write docs/api.md from the packages' `__all__` and the first lines of their docstrings."""

from __future__ import annotations

import inspect
from importlib import import_module
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "api.md"

PACKAGES = (
    "voros",
    "voros.costs",
    "voros.plotting",
    "voros.inference",
    "voros.guarantee",
    "voros.policy",
    "voros.monitoring",
    "voros.allocation",
    "voros.estimators",
    "voros.frameworks",
    "voros.engines",
    "voros.datasets",
    "voros.io",
    "voros.present.explorer",
    "voros.present.report",
    "voros.studies.paper",
    "voros.studies.hospital",
    "voros.studies.experiments",
    "voros.studies.evidence",
)
"""What `import voros` gives access to, from the most to the least used."""

INTRODUCTION = """# The public names

Every public name, with one line each; `help(name)` has the rest, with an example. `import voros`
reaches all of them and loads a package when it is first used. Names of a subpackage that `voros`
itself offers are listed in both places. `voros.torch.PartialVOROS`, a torchmetrics metric, needs
torch and is described with the [frameworks](frameworks.md).

One order of arguments holds everywhere. `y_true` comes first, then the scores: `y_score` for one
model, `scores` for one or several (a mapping or a data frame). `scenario` is third, and what
follows is given by keyword. `pos_label`, `sample_weight`, `groups`, `random_state` and `progress`
mean the same in every function. Functions that end in `_points` take `OperatingPoints` instead of
cases.

`python scripts/api_page.py` writes this page; a test compares it with `__all__`.
"""


def page() -> str:
    """Return the whole page."""
    return INTRODUCTION + "".join(section(name) for name in PACKAGES)


def section(package: str) -> str:
    """Return a heading, what the package is for, and a table of its names."""
    module = find(package)
    rows = "".join(
        f"| `{name}` | {first_line(getattr(module, name))} |\n" for name in public(module)
    )
    return f"\n## `{package}`\n\n{first_line(module)}\n\n| name | what it is |\n|---|---|\n{rows}"


def find(package: str) -> object:
    """Follow a dotted name from `voros`, as a user would write it."""
    found: object = import_module("voros")
    for part in package.split(".")[1:]:
        found = getattr(found, part)
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
    PAGE.write_text(page(), encoding="utf-8")
