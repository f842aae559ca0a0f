"""Write the pages of the reference: every public name of every package, as `__all__` has them."""

from __future__ import annotations

import inspect
from pathlib import Path

import unreleased_page
from api_page import PACKAGES, STUDIES, find, first_line, public

TORCH = (
    "``voros.torch``\n===============\n\n"
    "Partial VOROS as a torchmetrics metric; needs the extra ``torch``.\n\n"
    ".. autoclass:: voros.torch.metric.PartialVOROS(scenario=None, *, min_precision=None, "
    "capacity=None, cost_ratio=None, prevalence=None, bits=None, weighted=False, **kwargs)\n"
    "   :members: update, compute, interval\n"
)
"""Written out, for torch is large and the site is built without it."""


def write(folder: Path) -> None:
    """Write one page for each package, and the page that lists them; unchanged ones stay."""
    folder.mkdir(exist_ok=True)
    pages = {name.replace(".", "-"): package_page(name) for name in (*PACKAGES, *STUDIES)}
    pages["voros-torch"] = TORCH
    files = {f"{name}.rst": text for name, text in pages.items()}
    files |= {"index.rst": overview(list(pages)), "unreleased.md": unreleased_page.page()}
    for name, text in files.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def overview(pages: list[str]) -> str:
    """Return the page that lists the packages."""
    entries = "\n".join(f"   {page}" for page in pages)
    return (
        "Reference\n=========\n\n"
        "Every public name with its parameters and an example. One order of arguments holds\n"
        "everywhere: ``y_true``, then the scores, then ``scenario``; what follows is given by\n"
        "keyword. The :doc:`one-page list <../api>` has them all at a glance.\n\n"
        ".. toctree::\n   :maxdepth: 1\n\n   ../api\n   ../command-line\n"
        f"{entries}\n   unreleased\n   ../changelog\n"
    )


def package_page(package: str) -> str:
    """Return the page of one package, with a summary of its names."""
    module = find(package)
    title = f"``{package}``"
    own = [name for name in public(module) if not _has_a_page(package, module, name)]
    names = "\n".join(f"   {name}" for name in own)
    return (
        f"{title}\n{'=' * len(title)}\n\n{first_line(module)}\n\n"
        f".. currentmodule:: {package}\n\n"
        f".. autosummary::\n   :toctree: generated\n\n{names}\n"
    )


def _has_a_page(package: str, module: object, name: str) -> bool:
    """Whether a name is a package of the list, or a name of `voros` too and described there."""
    elsewhere = package != "voros" and name in vars(find("voros"))["__all__"]
    return elsewhere or inspect.ismodule(getattr(module, name))
