"""The page is whole, carries nothing from elsewhere, and shows what the status says."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from monitoring_streams import feed, make_policy

import voros


@pytest.mark.slow
def test_the_page_says_what_the_status_says(tmp_path: Path) -> None:
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")
    monitor = voros.Monitor(make_policy(capacity=1, per="day", exceed=0), window=1)
    feed(monitor, np.tile(np.r_[1, np.zeros(9, int)], 20), delay=1)
    text = monitor.report(tmp_path / "ward.html").read_text(encoding="utf-8")
    status = monitor.status()
    for watch in status.watches:
        assert watch.words.replace("'", "&#39;") in text
    assert text.count("<img") == 4
    assert "since about 2026-01-02" in text
    assert not re.search(r'(src="(?!data:)|href=")|@import|<script', text)
    with pytest.raises(FileExistsError):
        monitor.report(tmp_path / "ward.html")
    monitor.report(tmp_path / "ward.html", force=True)


def test_an_empty_monitor_has_a_page(tmp_path: Path) -> None:
    pytest.importorskip("jinja2")
    text = voros.Monitor(make_policy()).report(tmp_path / "a.html").read_text(encoding="utf-8")
    assert "no cases yet" in text
    assert "<img" not in text


def test_names_are_escaped(tmp_path: Path) -> None:
    pytest.importorskip("jinja2")
    title = "<script>alert(1)</script>"
    text = voros.Monitor(make_policy()).report(tmp_path / "a.html", title=title).read_text("utf-8")
    assert "<script" not in text
    assert "&lt;script&gt;" in text


def test_the_end_of_the_calendar_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")
    monitor = voros.Monitor(make_policy(), window=0)
    times = np.datetime64("9999-12-20") + np.arange(12)
    monitor.update(np.full(12, 0.9), cases=np.arange(12), times=times, confirm_times=True)
    assert "<img" in monitor.report(tmp_path / "a.html").read_text("utf-8")


def test_a_page_over_stays_counts_stays(tmp_path: Path) -> None:
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")
    points = voros.alarm_points(
        stay=[1, 1, 2, 2],
        time=[0, 5, 0, 5],
        score=[0.1, 0.5, 0.1, 0.1],
        events=([1], [8]),
        rule=voros.AlarmRule(snooze="12h", horizon="12h"),
    )
    limits = voros.Scenario(0.3, 2.0, 0.05, per="patient-day")
    monitor = voros.Monitor(voros.ThresholdPolicy.from_points(points, limits), window=7)
    monitor.update([0.8, 0.3], cases=["a", "b"], times=["2026-03-01T08", "2026-03-01T09"])
    text = monitor.report(tmp_path / "a.html").read_text(encoding="utf-8")
    assert "2 stays, 1 alarm, 0 labels." in text
    assert repr(monitor) == "Monitor(2 stays, in memory)"
