"""Make the links and pictures of both READMEs absolute, for their pages on a package registry.

A registry shows the README alone, without the repository's other files. The release workflow runs
this in its own checkout before it builds:

    python scripts/absolute_links.py https://ADDRESS/OF/REPOSITORY v0.1.0
"""

from __future__ import annotations

import re
import sys
from pathlib import Path, PurePosixPath
from posixpath import normpath

ROOT = Path(__file__).parents[1]
READMES = ("README.md", "studies/README.md")
LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|#|mailto:)([^)]+)\)")


def absolute(text: str, folder: PurePosixPath, address: str, version: str) -> str:
    """Return Markdown whose relative links lead to the files of one version of a repository.

    Examples
    --------
    >>> absolute("![ROC](docs/roc.png)", PurePosixPath(), "https://example.org/voros", "v1")
    '![ROC](https://example.org/voros/raw/v1/docs/roc.png)'
    >>> absolute("[start](docs/start.md)", PurePosixPath(), "https://example.org/voros", "v1")
    '[start](https://example.org/voros/blob/v1/docs/start.md)'
    """

    def replaced(link: re.Match[str]) -> str:
        picture, shown, path = link.groups()
        kind = "raw" if picture else "blob"
        return f"{picture}[{shown}]({address}/{kind}/{version}/{normpath(folder / path)})"

    return LINK.sub(replaced, text)


def main(address: str, version: str) -> None:
    """Rewrite both files."""
    for name in READMES:
        text = (ROOT / name).read_text(encoding="utf-8")
        folder = PurePosixPath(name).parent
        (ROOT / name).write_text(absolute(text, folder, address.rstrip("/"), version), "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
