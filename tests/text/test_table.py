from __future__ import annotations

from html.parser import HTMLParser

import numpy as np

import voros
from voros.text.table import Table

ROWS = [("model", "score"), ("a & b", "0.5"), ("<long> name", "12.25")]


def test_columns_line_up():
    lines = Table.from_rows(ROWS).text().splitlines()
    assert [line.index(cell) + len(cell) for line, (_, cell) in zip(lines, ROWS, strict=True)] == [
        len(lines[-1])
    ] * 3
    assert [line.startswith(name) for line, (name, _) in zip(lines, ROWS, strict=True)] == [
        True
    ] * 3


def test_trailing_blanks_are_left_out():
    assert Table.from_rows([("a", "b"), ("c", "")]).text() == "a  b\nc"


class Cells(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.texts = [], []

    def handle_starttag(self, tag, attrs):  # noqa: ARG002
        self.tags.append(tag)

    def handle_data(self, data):
        self.texts.append(data)


def test_html_shows_the_text_and_no_markup_of_its_own():
    parser = Cells()
    parser.feed(Table.from_rows(ROWS).html())
    assert "".join(parser.texts) == "".join(cell for row in ROWS for cell in row)
    assert parser.tags.count("td") == 4
    assert parser.tags.count("th") == 2


def test_notebook_views_state_limits_and_intervals() -> None:
    scenario = voros.Scenario(0.15, 500, cost_ratio=(1 / 9, 1 / 6), prevalence=0.1)
    html = scenario._repr_html_()
    for part in ("at least 0.15", "at most 500 alarms", "costs 6 to 9 times", ">0.1<"):
        assert part in html
    rng = np.random.default_rng(0)
    labels = rng.random(200) < 0.3
    interval = voros.bootstrap(
        labels, labels + rng.normal(size=200), voros.Scenario(0.2, 0.4, 0.1), n_resamples=100
    )
    html = interval._repr_html_()
    for part in (f"{interval.estimate:.3f}", f"{interval.low:.3f} to {interval.high:.3f}", "curve"):
        assert part in html
    assert "no limit" in voros.Scenario(cost_ratio=0.1)._repr_html_()
