"""Every version keeps its site, and the newest stands first in the list."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts" / "publish_site.py"


def test_versions_stand_side_by_side(tmp_path: Path) -> None:
    publish = runpy.run_path(str(SCRIPT))["publish"]
    site, published = tmp_path / "site", tmp_path / "published"
    (site / "reference").mkdir(parents=True)
    published.mkdir()
    for version in ("0.9.0", "0.10.0", "0.2.1", "0.10.0"):
        (site / "index.html").write_text(version)
        publish(site, published, version)
    page = (published / "index.html").read_text()
    assert re.findall(r'href="(\S+)/index.html"', page) == ["0.10.0", "0.9.0", "0.2.1"]
    assert page.count("(newest)") == 1
    assert (published / "0.9.0" / "index.html").read_text() == "0.9.0"
    assert (published / "0.10.0" / "reference").is_dir()
    with pytest.raises(SystemExit, match="accepted are three numbers"):
        publish(site, published, "v1")
