"""Write the changes that no release has yet as a page of the site, from `changelog.d/`."""

from __future__ import annotations

from pathlib import Path

FRAGMENTS = Path(__file__).parents[1] / "changelog.d"
KINDS = ("added", "changed", "fixed", "removed")
"""As in `[tool.towncrier]`, in the order of the changelog."""


def page() -> str:
    """Return a heading for each kind of change, and a line for each change."""
    return "# Not yet released\n" + "".join(map(_section, KINDS))


def _section(kind: str) -> str:
    texts = [_entry(path) for path in sorted(FRAGMENTS.glob(f"*.{kind}.md"))]
    return f"\n## {kind.capitalize()}\n\n" + "\n".join(texts) + "\n" if texts else ""


def _entry(path: Path) -> str:
    """Return a fragment as a line of a list; one that is a list already stays as it is."""
    text = path.read_text(encoding="utf-8").strip().replace("](docs/", "](../")
    return text if text.startswith("- ") else "- " + text.replace("\n", "\n  ")
