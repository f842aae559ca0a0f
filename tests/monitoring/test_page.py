"""The page is whole, carries nothing from elsewhere, and shows what the status says."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from monitoring_streams import days, feed, make_policy

import voros
from voros.monitoring.page import Chart, Line


@pytest.mark.slow
def test_the_page_says_what_the_status_says(tmp_path: Path) -> None:
    pytest.importorskip("jinja2")
    monitor = voros.Monitor(make_policy(), window=1, capacity=1, exceed=0, max_cost=0.5)
    feed(monitor, np.tile(np.r_[1, np.zeros(9, int)], 20), delay=1)
    text = monitor.report(tmp_path / "ward.html").read_text(encoding="utf-8")
    status = monitor.status()
    for watch in status.watches:
        assert watch.words.replace("'", "&#39;") in text
    assert text.count("<svg") == 5
    assert "since about 2026-01-02" in text
    assert not re.search(r'(src|href)="|@import|<script', text)
    with pytest.raises(FileExistsError):
        monitor.report(tmp_path / "ward.html")
    monitor.report(tmp_path / "ward.html", force=True)


def test_an_empty_monitor_has_a_page(tmp_path: Path) -> None:
    pytest.importorskip("jinja2")
    text = voros.Monitor(make_policy()).report(tmp_path / "a.html").read_text(encoding="utf-8")
    assert "no case yet" in text
    assert "<svg" not in text


def test_names_are_escaped() -> None:
    times = days(3).astype("datetime64[s]").astype(float)
    chart = Chart(
        title="a < b",
        caption="",
        lines=(Line("x", times, np.arange(3.0)),),
        marks=((times[0], "<b>"),),
    )
    assert "<b>" not in chart.svg()
    assert "a &lt; b" in chart.svg()


def test_values_that_are_not_finite_are_left_out() -> None:
    times = days(4).astype("datetime64[s]").astype(float)
    line = Line("x", times, np.array([np.nan, 1.0, np.inf, 2.0]))
    points = re.search(r'points="([^"]*)"', Chart(title="t", caption="", lines=(line,)).svg())
    assert points is not None
    assert len(points[1].split()) == 2
