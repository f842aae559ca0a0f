"""The file itself: one piece, closed to the network, and safe with any name."""

import base64
import hashlib
import re
import shutil
import subprocess
from html import unescape
from html.parser import HTMLParser
from importlib.resources import files

import numpy as np
import pytest

from voros import OperatingPoints, Scenario
from voros.present.explorer import render_page, write_page
from voros.present.explorer.page import SCRIPTS
from voros.styles import REGION

SCENARIO = Scenario(0.3, 0.5, cost_ratio=(1 / 9, 1 / 6))
POINTS = OperatingPoints.from_scores([1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.1, 0.0])


class _Collector(HTMLParser):
    """Elements with their attributes, and the text inside script and style."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.inside: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data):
        if self.elements and self.elements[-1][0] in ("script", "style"):
            self.inside.append(data)


def _parsed(page: str) -> _Collector:
    collector = _Collector()
    collector.feed(page)
    return collector


def test_every_script_of_the_folder_is_in_the_page():
    names = {asset.name for asset in files("voros.present.explorer").joinpath("assets").iterdir()}
    assert {name for name in names if name.endswith(".js")} == set(SCRIPTS)


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_the_modules_share_one_scope_without_a_clash(tmp_path):
    page = render_page({"a": POINTS}, SCENARIO)
    script = page.split('<script type="module">')[1].split("</script>")[0]
    (tmp_path / "page.mjs").write_text(script, encoding="utf-8")
    command = ["node", "--check", "page.mjs"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


def test_region_and_axes_are_those_of_the_pictures():
    page = render_page({"a": POINTS}, SCENARIO)
    assert f"--region: {REGION};" in page
    for title in ("false alarm rate (FPR)", "recall (TPR)", "minimum precision"):
        assert f'"{title}"' in page


def test_policy_allows_this_style_and_this_script_alone():
    page = render_page({"a": POINTS}, SCENARIO)
    policy = unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1])
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    for opening in ("<style>", '<script type="module">'):
        closing = "</" + opening[1:].split()[0].rstrip(">") + ">"
        text = page.split(opening)[1].split(closing)[0]
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy


def test_names_no_address_to_load_from():
    collector = _parsed(render_page({"a": POINTS}, SCENARIO))
    for _, attributes in collector.elements:
        assert not {"src", "srcset", "action"} & attributes.keys()
        assert (attributes.get("href") or "#").startswith(("#", "data:"))


def test_nothing_of_a_name_becomes_markup():
    name = "</script><img src=x onerror=alert(1)>&amp;\u2028"
    plain = _parsed(render_page({"a": POINTS}, SCENARIO))
    odd = _parsed(render_page({name: POINTS}, SCENARIO, title=name, outcome=name, cases=name))
    assert [tag for tag, _ in odd.elements] == [tag for tag, _ in plain.elements]


def test_writes_whole_and_never_over_a_file(tmp_path):
    path = write_page({"a": POINTS}, scenario=SCENARIO, path=tmp_path / "page.html")
    assert path.read_text(encoding="utf-8") == render_page({"a": POINTS}, SCENARIO)
    with pytest.raises(FileExistsError):
        write_page({"b": POINTS}, scenario=SCENARIO, path=path)
    assert write_page({"b": POINTS}, scenario=SCENARIO, path=path, force=True) == path
    assert '"name":"b"' in path.read_text(encoding="utf-8")


def test_scores_and_points_make_the_same_page(tmp_path):
    y_true, scores = np.array([1, 0, 1, 0, 0]), [0.9, 0.8, 0.7, 0.1, 0.0]
    path = write_page(y_true, {"a": scores}, SCENARIO, tmp_path / "page.html", n_resamples=0)
    assert path.read_text(encoding="utf-8") == render_page({"a": POINTS}, SCENARIO)


def test_opens_with_the_price_of_a_false_alarm():
    assert '"price":' not in render_page({"a": POINTS}, SCENARIO)
    page = render_page({"a": POINTS}, SCENARIO, false_alarm_cost=35)
    assert '"price":35.0' in page
    with pytest.raises(ValueError, match="false_alarm_cost=-1"):
        render_page({"a": POINTS}, SCENARIO, false_alarm_cost=-1)


def test_scores_without_labels_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"y_true is a dict, .* y_true, the labels, comes first"):
        write_page({"a": [0.1, 0.2]}, scenario=SCENARIO, path=tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


def test_support2_page_is_small(support2_page):
    assert support2_page.stat().st_size < 6_000_000


def test_no_name_occurs_in_two_modules() -> None:
    """Joined modules share one scope, in which a second declaration stops the whole page."""
    declared = re.compile(
        r"^(?:export )?(?:async )?(?:function|const|let|class)\*? (\[.*?\]|\w+)", re.M
    )
    texts = (
        files("voros.present.explorer").joinpath("assets", name).read_text("utf-8")
        for name in SCRIPTS
    )
    names = re.findall(r"\w+", " ".join(name for text in texts for name in declared.findall(text)))
    assert [name for name in names if names.count(name) > 1] == []
