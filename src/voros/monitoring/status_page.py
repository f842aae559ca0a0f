"""The page of a monitor: one HTML file with the curves that a ward looks at."""

from __future__ import annotations

from collections.abc import Iterator

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


def _marks(watch: Watch) -> tuple[tuple[float, str], ...]:
    found = []
    begin, end = watch.history["time"][0], watch.history["time"][-1]
    for date, name in ((watch.since, "since about here"), (watch.noticed, watch.verdict)):
        if date is not None:
            found.append((float(np.clip(read_time(date), begin, end)), name))
    return tuple(found)


def _flat(watch: Watch, value: float, name: str) -> Line:
    times = watch.history["time"][[0, -1]]
    return Line(name, times, np.full(2, value), "limit")


def _precision_charts(watch: Watch) -> Iterator[Chart]:
    past, floor = watch.history, watch.limit or 0.0
    yield Chart(
        "Precision so far",
        "share of true alarms over all whose window has closed, with its confidence sequence; it "
        "is a mean since the policy was deployed, and turns slowly",
        (
            Line("precision", past["time"], past["estimate"]),
            Line(f"last {RECENT} alarms", past["time"], past["recent"], "quiet"),
            _flat(watch, floor, f"floor {floor:g}"),
        ),
        (past["time"], past["low"], past["high"]),
        low=0.0,
        high=min(1.0, max(2 * floor, float(past["estimate"].max()) + 0.1)),
        marks=_marks(watch),
    )
    yield Chart(
        "Evidence that precision is below its floor",
        "powers of ten, 0 being what it takes; the detector forgets good times, and watches for "
        "a change",
        (
            Line("evidence", past["time"], _tens(past["evidence"])),
            Line("detector", past["time"], _tens(past["detector"]), "quiet"),
            _flat(watch, 0.0, "bound"),
        ),
        marks=_marks(watch),
    )


def _capacity_charts(watch: Watch) -> Iterator[Chart]:
    past = watch.history
    yield Chart(
        "Alarms per period",
        "each dot is a period that has ended",
        (
            Line("alarms", past["time"], past["alarms"], "dots"),
            Line("capacity", past["time"], past["capacity"], "limit"),
        ),
        low=0.0,
        marks=_marks(watch),
    )


def _cost_charts(watch: Watch) -> Iterator[Chart]:
    past = watch.history
    yield Chart(
        "Cost per 1,000 cases",
        "in misses, as far as cases have labels",
        (
            Line("cost", past["time"], past["cost"], "dots"),
            _flat(watch, 1000 * (watch.limit or 0.0), "budget"),
        ),
        low=0.0,
        marks=_marks(watch),
    )


def _score_charts(watch: Watch) -> Iterator[Chart]:
    past = watch.history
    yield Chart(
        "Mean score per period",
        "without labels: a change of the scores is no harm yet",
        (Line("mean score", past["time"], past["mean"], "dots"),),
        marks=_marks(watch),
    )


def _tens(logs: FloatArray) -> FloatArray:
    return np.asarray(np.maximum(logs / np.log(10.0), LOWEST_EVIDENCE))
