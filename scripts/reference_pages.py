"""Write the pages of the reference: every public name of every package, as `__all__` has them."""

from __future__ import annotations

import inspect
from pathlib import Path
from pkgutil import resolve_name

import unreleased_page

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
    "voros.blending",
    "voros.decision_curves",
    "voros.core.geometry",
    "voros.core.hull",
    "voros.core.money",
    "voros.exceptions",
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

TASKS = {
    "State limits and costs": (
        "Scenario",
        "costs",
        "feasible_region",
    ),
    "Score and choose": (
        "partial_voros_score",
        "voros_score",
        "evaluate",
        "select_model",
        "winner_map",
        "blend",
        "net_benefit",
        "OperatingPoints",
    ),
    "Tell a difference from chance": (
        "bootstrap",
        "compare",
        "compare_policies",
    ),
    "Deploy": (
        "ThresholdPolicy",
        "Guarantee",
        "cases_needed",
        "make_scorer",
        "ConstrainedThresholdClassifier",
        "Monitor",
    ),
    "Periods, stays, subgroups and several alarms": (
        "Periods",
        "worklist",
        "AlarmRule",
        "alarm_points",
        "Subgroups",
        "allocate",
        "JointPolicy",
    ),
    "Show": ("write_page", "write_report"),
    "Several sites": ("SiteCounts",),
    "Errors and warnings": ("InfeasibleError", "NeverAlarmWarning", "VorosWarning"),
}
"""What each name of `voros` is for; a test compares it with `__all__`."""

INTRODUCTION = """Reference
=========

Every public name with its parameters and an example. One order of arguments holds everywhere:
``y_true`` first, then the scores (``y_score`` for one model, ``scores`` for one or several), then
``scenario``; what follows is given by keyword. ``OperatingPoints`` can take the place of labels and
scores wherever cases are counted: ``voros.evaluate(points, scenario=ward)``.

"""


def write(folder: Path) -> None:
    """Write one page for each package, and the page that lists them; unchanged ones stay."""
    folder.mkdir(exist_ok=True)
    pages = {name.replace(".", "-"): package_page(name) for name in (*PACKAGES, *STUDIES)}
    files = {f"{name}.rst": text for name, text in pages.items()}
    files |= {"index.rst": overview(list(pages)), "unreleased.md": unreleased_page.page()}
    for name, text in files.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    names = {f"{package}.{name}" for package in (*PACKAGES, *STUDIES) for name in own(package)}
    # The page of a name that has moved would be in no list, which stops the build.
    for path in (folder / "generated").glob("*.rst"):
        if path.stem not in names:
            path.unlink()


def overview(pages: list[str]) -> str:
    """Return the page that lists the names of `voros` by task, and then the packages."""
    tasks = "".join(_task(title, names) for title, names in TASKS.items())
    entries = "\n".join(f"   {page}" for page in pages)
    return (
        f"{INTRODUCTION}.. currentmodule:: voros\n\n{tasks}"
        "All packages\n------------\n\n"
        ".. toctree::\n   :maxdepth: 1\n\n   ../command-line\n"
        f"{entries}\n   unreleased\n   ../changelog\n   ../citing\n"
    )


def _task(title: str, names: tuple[str, ...]) -> str:
    rows = "\n".join(f"   {name}" for name in names)
    return f"{title}\n{'-' * len(title)}\n\n.. autosummary::\n   :nosignatures:\n\n{rows}\n\n"


def package_page(package: str) -> str:
    """Return the page of one package, with a summary of its names."""
    module = find(package)
    title = f"``{package}``"
    names = "\n".join(f"   {name}" for name in own(package))
    return (
        f"{title}\n{'=' * len(title)}\n\n{first_line(module)}\n\n"
        f".. currentmodule:: {package}\n\n"
        f".. autosummary::\n   :toctree: generated\n\n{names}\n"
    )


def own(package: str) -> list[str]:
    """Return the names that are described on the page of a package."""
    module = find(package)
    return [name for name in public(module) if not _has_a_page(package, module, name)]


def find(package: str) -> object:
    """Follow a dotted name from its package, as a user would write it."""
    module: object = resolve_name(package)
    return module


def public(module: object) -> list[str]:
    """Return the names of `__all__`: functions first, then classes, then errors and warnings."""
    names: list[str] = vars(module)["__all__"]
    return sorted(names, key=lambda name: (_kind(getattr(module, name)), name.lower()))


def _kind(thing: object) -> int:
    if not inspect.isclass(thing):
        return 0
    return 2 if issubclass(thing, Exception) else 1


def first_line(thing: object) -> str:
    """Return the first line of a docstring."""
    return (inspect.getdoc(thing) or "").splitlines()[0]


def _has_a_page(package: str, module: object, name: str) -> bool:
    """Whether a name is a package of the list, or a name of `voros` too and described there."""
    elsewhere = package != "voros" and name in vars(find("voros"))["__all__"]
    return elsewhere or inspect.ismodule(getattr(module, name))
