"""The document for the record: its numbers, its two files, and its manners."""

import base64
import hashlib
import json
import re
from datetime import datetime
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pytest

pytest.importorskip("pyarrow", reason="reading files needs the cli extra")
pytest.importorskip("jinja2", reason="the report's template needs the cli extra")
pytest.importorskip("matplotlib", reason="the report's pictures need the cli extra")

from voros import Scenario, ThresholdPolicy, costs
from voros.io import read_predictions
from voros.present.report import make_report, save_report
from voros.present.report.data import ReportCases
from voros.present.report.layout import render_report
from voros.present.report.making import compose_report
from voros.selection.ranking import rank_deployable

SCENARIO = Scenario(0.3, 0.2, costs.miss_costs(5, 20))
PNG = b"\x89PNG\r\n\x1a\n"


def write_cases(path, seed):
    rng = np.random.default_rng(seed)
    died = rng.random(300) < 0.2
    good, fair = (rng.normal(size=(2, 300)) + np.outer([2.0, 1.0], died)).tolist()
    rows = [f"{int(y)},{a!r},{b!r}" for y, a, b in zip(died, good, fair, strict=True)]
    path.write_text("\n".join(["died,<good>,fair", *rows]) + "\n")
    return read_predictions(path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("report")


@pytest.fixture(scope="module")
def report(folder):
    validation = ReportCases(write_cases(folder / "valid.csv", 0))
    test = ReportCases(write_cases(folder / "test.csv", 1))
    points = {model: validation.points(model) for model in validation.models}
    return compose_report(
        validation,
        points,
        rank_deployable(points, SCENARIO),
        test,
        n_resamples=100,
        title="Alarms & limits",
        command="voros report valid.csv --test test.csv",
    )


@pytest.fixture(scope="module")
def written(report, folder):
    """Drawing takes seconds, so it is done once."""
    return save_report(report, folder / "report.html")


class Outline(HTMLParser):
    """Collects headings, images and everything that would need a network."""

    def __init__(self):
        super().__init__()
        self.open, self.outside, self.images, self.text = [], [], [], []
        self.headings, self.ids = 0, []

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if tag not in ("meta", "img"):
            self.open.append(tag)
        if tag == "img":
            self.images.append(attributes)
        if tag in ("script", "link", "iframe"):
            self.outside.append(tag)
        named = [v for k, v in attrs if k in ("src", "href")]
        self.headings += tag == "h2"
        self.outside += [v for v in named if not v.startswith("data:")]
        self.ids += [v for k, v in attrs if k == "id"]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def outline(path):
    parsed = Outline()
    parsed.feed(path.read_text(encoding="utf-8"))
    assert parsed.open == []
    return parsed


def test_one_self_contained_document(written):
    parsed = outline(written[0])
    assert parsed.outside == []
    assert len(parsed.images) == 6
    for image in parsed.images:
        assert image["alt"]
        encoded = image["src"].removeprefix("data:image/png;base64,")
        assert base64.b64decode(encoded).startswith(PNG)


def test_every_section_has_an_id(written):
    parsed = outline(written[0])
    assert len(parsed.ids) == len(set(parsed.ids)) == parsed.headings
    assert {"ranking", "limits-and-costs", "how-this-was-made"} <= set(parsed.ids)


def test_the_policy_allows_its_own_style_and_nothing_else(written):
    page = written[0].read_text(encoding="utf-8")
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    style = page.split("<style>")[1].split("</style>")[0]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert unescape(policy).split("; ") == [
        *("default-src 'none'", "img-src data:", "base-uri 'none'", "form-action 'none'"),
        f"style-src 'sha256-{digest}'",
    ]
    assert page.index("Content-Security-Policy") < page.index("<style>")
    assert "style=" not in page


def test_names_are_escaped_and_everything_promised_is_said(written):
    text = " ".join("".join(outline(written[0]).text).split())
    for part in (
        "Alarms & limits",
        "<good>",
        "valid.csv",
        "300, of which",
        "Limits and costs",
        "<good> has the highest partial VOROS",
        "its lead over fair",
        "Chosen policy",
        "Test",
        "voros report valid.csv --test test.csv",
        f"numpy {np.__version__}",
    ):
        assert part in text


def test_the_json_beside_it_holds_the_same_numbers(report, written, folder):
    _, values = written
    assert values.name == "report.json"
    document = json.loads(values.read_text())
    digest = hashlib.sha256((folder / "valid.csv").read_bytes()).hexdigest()
    assert document["validation"]["sha256"] == digest
    assert document["validation"]["cases"] == 300
    assert document["winner"] == document["ranking"][0]["model"] == "<good>"
    assert document["ranking"][0]["low"] == report.intervals["<good>"].low
    assert document["test"]["evaluation"]["expected_cost"] == report.tested_by_cost.expected_cost
    policy = ThresholdPolicy.from_json(json.dumps(document["policy"]))
    assert policy == report.policy


def test_notes_are_for_the_record_and_give_no_advice(report):
    taken, models = report.data["validation"].notes
    assert taken == "taking column 'died' as the label"
    assert models == "taking as models: '<good>', 'fair'"


@pytest.mark.parametrize("taken", ["report.html", "report.json"])
def test_both_files_or_neither(report, tmp_path, taken):
    (tmp_path / taken).write_text("mine")
    with pytest.raises(FileExistsError):
        save_report(report, tmp_path / "report.html")
    assert [path.name for path in tmp_path.iterdir()] == [taken]
    assert (tmp_path / taken).read_text() == "mine"


def test_a_report_is_html(report, tmp_path):
    with pytest.raises(ValueError, match=r"must end in \.html"):
        save_report(report, tmp_path / "report.pdf")


@pytest.mark.slow
def test_a_ladder_of_confidences_is_shown_with_what_each_costs():
    rng = np.random.default_rng(0)
    died = rng.random(900) < 0.2
    scenario = Scenario(0.5, 0.2, (0.05, 0.1))
    scores = {"a": 1.2 * died + rng.normal(size=900)}
    report = make_report(died, scores, scenario, guarantee=(0.95, 0.9, 0.8), n_resamples=100)
    page = unescape(render_report(report, datetime(2026, 1, 1)))
    assert "What each confidence would deploy" in page
    table = page[page.index("What each confidence would deploy") :]
    for step in report.policy.confidence_curve().steps:
        assert f"{step.expected_cost:.3f}" in table
    assert "What each confidence costs, on the validation cases" in page
    plain = make_report(died, scores, scenario, guarantee=0.8, n_resamples=100)
    assert "each confidence" not in render_report(plain, datetime(2026, 1, 1))
