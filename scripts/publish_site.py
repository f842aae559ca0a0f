"""Put the site of one version beside those of earlier ones, and list them on a page.

    python scripts/publish_site.py docs/_build/html published 0.2.0

The site goes to ``published/0.2.0``; ``published/index.html`` links every version, newest first.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>voros: versions of the documentation</title>
<h1>voros: versions of the documentation</h1>
<ul>
{entries}
</ul>
</html>
"""

VERSION = re.compile(r"\d+\.\d+\.\d+")


def publish(site: Path, published: Path, version: str) -> None:
    """Copy a site to the folder of its version, and write the list again."""
    if not VERSION.fullmatch(version):
        raise SystemExit(f"version={version!r}; accepted are three numbers, such as 0.2.0")
    shutil.copytree(site, published / version, dirs_exist_ok=True)
    entries = [
        f'<li><a href="{release}/index.html">{release}</a>{" (newest)" if not place else ""}</li>'
        for place, release in enumerate(versions(published))
    ]
    (published / "index.html").write_text(PAGE.format(entries="\n".join(entries)), encoding="utf-8")


def versions(published: Path) -> list[str]:
    """Return the versions that have a site, newest first."""
    names = [path.name for path in published.iterdir() if VERSION.fullmatch(path.name)]
    return sorted(names, key=lambda name: tuple(map(int, name.split("."))), reverse=True)


if __name__ == "__main__":
    publish(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
