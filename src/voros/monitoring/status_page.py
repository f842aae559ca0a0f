"""The page of a monitor: one HTML file with the curves that a ward looks at."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from voros.core.arrays import FloatArray
from voros.monitoring.charts import Chart, Line
from voros.monitoring.precision import RECENT
from voros.monitoring.settings import Settings
from voros.monitoring.status import Status, Watch
from voros.monitoring.times import read_time
from voros.present.document import render_document

LOWEST_EVIDENCE = -6.0
"""Powers of ten below which the chart of the evidence ends."""


def render_status_page(status: Status, settings: Settings, title: str) -> str:
    """Lay a status out as one HTML document that needs no other file."""
    return render_document(
        "voros.monitoring",
        "monitor.html",
        title=title,
        status=status,
        settings=settings,
        charts=list(charts_of(status)),
    )


def charts_of(status: Status) -> Iterator[Chart]:
    """Return a chart for everything that is watched and has a history."""
    makers = {
        "precision": _precision_charts,
        "capacity": _capacity_charts,
        "cost": _cost_charts,
        "scores": _score_charts,
    }
    for watch in status.watches:
        if len(watch.history.get("time", ())) > 1:
            yield from makers[watch.name](watch)


def _chart(watch: Watch, title: str, caption: str, *lines: Line, **axis: Any) -> Chart:
    """Put lines together, with marks where the limit broke and where that was seen."""
    begin, end = watch.history["time"][[0, -1]]
    dates = ((watch.since, "since about here"), (watch.noticed, watch.verdict))
    marks = tuple(
        (float(np.clip(read_time(date), begin, end)), name) for date, name in dates if date
    )
    return Chart(title, caption, lines, marks=marks, **axis)


def _line(watch: Watch, name: str, values: FloatArray, kind: str = "data") -> Line:
    return Line(name, watch.history["time"], values, kind)


def _flat(watch: Watch, value: float, name: str) -> Line:
    return Line(name, watch.history["time"][[0, -1]], np.full(2, value), "limit")


def _precision_charts(watch: Watch) -> Iterator[Chart]:
    past, floor = watch.history, watch.limit or 0.0
    yield _chart(
        watch,
        "Precision so far",
        "share of true alarms over all whose window has closed, with its confidence sequence; it "
        "is a mean since the policy was deployed, and turns slowly",
        _line(watch, "precision", past["estimate"]),
        _line(watch, f"last {RECENT} alarms", past["recent"], "quiet"),
        _flat(watch, floor, f"floor {floor:g}"),
        band=(past["time"], past["low"], past["high"]),
        low=0.0,
        high=min(1.0, max(2 * floor, float(past["estimate"].max()) + 0.1)),
    )
    yield _chart(
        watch,
        "Evidence that precision is below its floor",
        "powers of ten, 0 being what it takes; the detector forgets good times, and watches for "
        "a change",
        _line(watch, "evidence", _tens(past["evidence"])),
        _line(watch, "detector", _tens(past["detector"]), "quiet"),
        _flat(watch, 0.0, "bound"),
    )


def _capacity_charts(watch: Watch) -> Iterator[Chart]:
    alarms = _line(watch, "alarms", watch.history["alarms"], "dots")
    most = _line(watch, "capacity", watch.history["capacity"], "limit")
    caption = "each dot is a period that has ended"
    yield _chart(watch, "Alarms per period", caption, alarms, most, low=0.0)


def _cost_charts(watch: Watch) -> Iterator[Chart]:
    cost = _line(watch, "cost", watch.history["cost"], "dots")
    budget = _flat(watch, 1000 * (watch.limit or 0.0), "budget")
    caption = "in misses, as far as cases have labels"
    yield _chart(watch, "Cost per 1,000 cases", caption, cost, budget, low=0.0)


def _score_charts(watch: Watch) -> Iterator[Chart]:
    mean = _line(watch, "mean score", watch.history["mean"], "dots")
    caption = "without labels: a change of the scores is no harm yet"
    yield _chart(watch, "Mean score per period", caption, mean)


def _tens(logs: FloatArray) -> FloatArray:
    return np.asarray(np.maximum(logs / np.log(10.0), LOWEST_EVIDENCE))
