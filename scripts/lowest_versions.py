"""Print the lowest supported version of each core dependency, pinned.

``make lowest`` installs what this prints, so the bounds in ``pyproject.toml`` stay honest, those of
voros and those of its studies. The standard library is enough to run it.
"""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROJECTS = (ROOT / "pyproject.toml", ROOT / "studies" / "pyproject.toml")
LOWER_BOUND = re.compile(r"(?P<name>[A-Za-z0-9._-]+)>=(?P<version>[0-9][0-9A-Za-z.]*)")
VOROS = re.compile(r"voros\[cli\]==.*")
"""What the studies need of this repository, which is installed from it."""


def pin(requirement: str) -> str:
    """Turn ``name>=version`` into ``name==version``, and refuse anything else."""
    match = LOWER_BOUND.fullmatch(requirement)
    if match is None:
        raise ValueError(f"a core dependency must read 'name>=version', got {requirement!r}")
    return f"{match['name']}=={match['version']}"


def lowest_versions(pyproject: Path) -> list[str]:
    """Pin every core dependency that ``pyproject`` declares."""
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    return [pin(line) for line in project["dependencies"] if not VOROS.fullmatch(line)]


if __name__ == "__main__":
    sys.stdout.writelines(f"{pin}\n" for path in PROJECTS for pin in lowest_versions(path))
