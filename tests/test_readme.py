"""The README as a package registry shows it, without the repository's other files."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).parents[1]
ADDRESS = "https://git.example.org/team/voros"


@pytest.mark.parametrize("name", ["README.md", "studies/README.md"])
def test_links_of_a_release_lead_to_files_of_the_repository(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not (ROOT / "src").is_dir():
        pytest.skip("tests of an installed wheel have no source tree, to which links lead")
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    from absolute_links import absolute

    text = absolute(
        (ROOT / name).read_text(encoding="utf-8"), PurePosixPath(name).parent, ADDRESS, "v1.2.3"
    )
    targets = re.findall(r"\]\(([^)]+)\)", text)
    inside = [re.fullmatch(rf"{ADDRESS}/(raw|blob)/v1\.2\.3/(.+)", target) for target in targets]
    assert None not in inside
    assert {link[1] for link in inside if link and link[2].endswith(".png")} <= {"raw"}
    assert [link[2] for link in inside if link and not (ROOT / link[2]).is_file()] == []
