"""Commands that install missing optional packages."""

from __future__ import annotations

REQUIREMENTS = {
    "array-api-compat": "array-api-compat>=1.12",
    "duckdb": "duckdb>=2.0",
    "jinja2": "jinja2>=3.1",
    "matplotlib": "matplotlib>=3.8",
    "pandas": "pandas>=2.2",
    "polars": "polars>=1.39",
    "pyarrow": "pyarrow>=16",
    "pyspark": "pyspark>=4.0",
    "rich": "rich>=13.7",
    "typer": "typer>=0.15",
}
"""Requirements for pip by package, as in the extras of ``pyproject.toml``."""

COMMAND_LINE = ("typer", "rich", "pyarrow", "jinja2", "matplotlib")
"""Packages of the ``cli`` extra."""


def pip_install(*packages: str) -> str:
    """Return the command that installs packages; it does not need voros on an index.

    Examples
    --------
    >>> print(pip_install("rich", "matplotlib"))
    pip install "rich>=13.7" "matplotlib>=3.8"
    """
    return " ".join(["pip install", *(f'"{REQUIREMENTS[name]}"' for name in packages)])


def missing_package(purpose: str, *packages: str) -> ImportError:
    """Return the error for a missing package, with the command that installs it.

    Parameters
    ----------
    purpose : str
        What needs the package, as the subject of a sentence.
    *packages : str
        Keys of `REQUIREMENTS`; the command installs the first.

    Examples
    --------
    >>> print(missing_package("drawing", "matplotlib"))
    drawing needs matplotlib, which is not installed: pip install "matplotlib>=3.8"
    """
    named = " or ".join(packages)
    return ImportError(
        f"{purpose} needs {named}, which is not installed: {pip_install(*packages[:1])}"
    )


def missing_studies(purpose: str) -> ImportError:
    """Return the error for a command of voros-studies, with the command that installs it."""
    return ImportError(
        f"{purpose} needs voros-studies, which is not installed: "
        f'pip install "{_studies_requirement()}"'
    )


def _studies_requirement() -> str:
    """Return the requirement for pip: the folder in the checkout of voros, or a release."""
    # Imported lazily: slow to load, and only this error needs them.
    import json
    from importlib.metadata import distribution
    from pathlib import Path
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    installed = distribution("voros")
    origin = json.loads(installed.read_text("direct_url.json") or "{}")
    folder = Path(url2pathname(urlsplit(origin.get("url", "")).path), "studies")
    if "dir_info" in origin and folder.is_dir():
        return str(folder)
    return f"voros-studies=={installed.version}"


def package_versions(*packages: str) -> dict[str, str]:
    """Return the versions of Python and of packages, or "not installed"."""
    # Imported lazily: slow to load, and only documents need them.
    import platform
    from importlib.metadata import PackageNotFoundError, version

    versions = {"python": platform.python_version()}
    for package in packages:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = "not installed"
    return versions
