"""The page of a monitor: one HTML file with curves as SVG, plain text that it carries along."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from voros.monitoring.precision import RECENT
from voros.monitoring.settings import SECONDS_PER_DAY, Settings, read_time
from voros.monitoring.status import Status, Watch
from voros.present.document import render_document
from voros.typing import AnyArray, FloatArray

WIDTH, HEIGHT = 720, 240
LEFT, RIGHT, TOP, BOTTOM = 56, 12, 12, 30
MOST_POINTS = 800
"""A line of more points shows no more."""

TICK_DAYS = (1, 2, 7, 14, 30, 61, 91, 182, 365, 730, 1461)
"""Distances between dates on the axis."""


@dataclass(frozen=True, eq=False)
class Line:
    """A curve; `kind` is its look: "data", "limit", "quiet" or "dots"."""

    name: str
    times: FloatArray
    values: FloatArray
    kind: str = "data"


@dataclass(frozen=True, eq=False, kw_only=True)
class Chart:
    """Curves over time, and a band between two of them.

    Attributes
    ----------
    title, caption : str
    lines : tuple of Line
    band : tuple of three ndarrays or None
        Times, lower and upper ends.
    low, high : float or None
        Ends of the axis that always show.
    marks : tuple of (float, str)
        Times with a name, such as when a limit broke.
    """

    title: str
    caption: str
    lines: tuple[Line, ...]
    band: tuple[FloatArray, FloatArray, FloatArray] | None = None
    low: float | None = None
    high: float | None = None
    marks: tuple[tuple[float, str], ...] = ()

    def svg(self) -> str:
        """Draw the chart.

        Examples
        --------
        >>> days = np.arange(3) * 86_400.0
        >>> Chart(title="alarms", caption="", lines=(Line("a day", days, days / 86_400),)).svg()[:4]
        '<svg'
        """
        axes = _Axes.from_chart(self)
        parts = [*axes.grid(), *self._band_parts(axes)]
        parts += [_line(line, axes) for line in self.lines]
        parts += [_mark(mark, place, axes) for place, mark in enumerate(self.marks)]
        return (
            f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(self.title)}: '
            f'{escape(self.caption)}">{"".join(parts)}</svg>'
        )

    def _band_parts(self, axes: _Axes) -> list[str]:
        if self.band is None or not len(self.band[0]):
            return []
        times, low, high = self.band
        x = axes.x(times)
        there = zip(x, axes.y(low), strict=True)
        back = zip(x[::-1], axes.y(high[::-1]), strict=True)
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in [*there, *back])
        return [f'<polygon class="band" points="{points}"/>']

    @property
    def legend(self) -> tuple[tuple[str, str], ...]:
        """Kind and name of each curve."""
        return tuple((line.kind, line.name) for line in self.lines)


@dataclass(frozen=True)
class _Axes:
    begin: float
    end: float
    low: float
    high: float

    @classmethod
    def from_chart(cls, chart: Chart) -> _Axes:
        times = np.concatenate([line.times for line in chart.lines])
        values = [line.values for line in chart.lines]
        values += [np.array([v], float) for v in (chart.low, chart.high) if v is not None]
        seen = np.concatenate(values)
        seen = seen[np.isfinite(seen)]
        begin, end = (float(times.min()), float(times.max())) if len(times) else (0.0, 1.0)
        low, high = (float(seen.min()), float(seen.max())) if len(seen) else (0.0, 1.0)
        margin = 0.05 * (high - low)
        low = low if low == chart.low else low - margin
        high = high if high == chart.high else high + margin
        return cls(begin, max(end, begin + 1), low, high if high > low else low + 1)

    def x(self, times: FloatArray) -> AnyArray:
        span = WIDTH - LEFT - RIGHT
        return np.asarray(LEFT + span * (times - self.begin) / (self.end - self.begin))

    def y(self, values: FloatArray) -> AnyArray:
        span = HEIGHT - TOP - BOTTOM
        inside = np.clip(values, self.low, self.high)
        return np.asarray(HEIGHT - BOTTOM - span * (inside - self.low) / (self.high - self.low))

    def grid(self) -> list[str]:
        parts = []
        for value in _round_steps(self.low, self.high):
            y = float(self.y(np.array([value]))[0])
            parts.append(f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>')
            parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" class="end">{value:g}</text>')
        for time in _date_steps(self.begin, self.end):
            x = float(self.x(np.array([time]))[0])
            day = np.datetime64(int(time), "s").astype("datetime64[D]")
            parts.append(f'<text x="{x:.1f}" y="{HEIGHT - 10}" class="mid">{day}</text>')
        return parts


def _round_steps(low: float, high: float) -> list[float]:
    raw = (high - low) / 4
    size = 10.0 ** np.floor(np.log10(raw))
    step = float(next(m * size for m in (1, 2, 5, 10) if m * size >= raw))
    first = np.ceil(low / step)
    # Adding 0 makes 0 of -0.
    return [round(float(k * step), 10) + 0.0 for k in np.arange(first, np.floor(high / step) + 1)]


def _date_steps(begin: float, end: float) -> FloatArray:
    days = (end - begin) / SECONDS_PER_DAY
    step = next((d for d in TICK_DAYS if days / d <= 6), TICK_DAYS[-1]) * SECONDS_PER_DAY
    # The first and the last date need half their width.
    return np.arange(begin + 0.06 * (end - begin), end - 0.05 * (end - begin), step)


def _line(line: Line, axes: _Axes) -> str:
    keep = np.isfinite(line.values)
    times, values = line.times[keep], line.values[keep]
    rows = np.unique(np.linspace(0, len(times) - 1, min(len(times), MOST_POINTS)).astype(int))
    points = zip(axes.x(times[rows]), axes.y(values[rows]), strict=True) if len(times) else ()
    if line.kind == "dots":
        return "".join(f'<circle class="dots" cx="{x:.1f}" cy="{y:.1f}" r="2"/>' for x, y in points)
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline class="{line.kind}" points="{path}"/>'


def _mark(mark: tuple[float, str], place: int, axes: _Axes) -> str:
    """Draw a line and its name, each name on a row of its own."""
    time, name = mark
    x = float(axes.x(np.array([time]))[0])
    side = ("end", -5) if x > WIDTH / 2 else ("", 5)
    height = TOP + 12 + 13 * place
    return (
        f'<path class="mark" d="M{x:.1f} {TOP}V{HEIGHT - BOTTOM}"/>'
        f'<text class="{side[0]} marked" x="{x + side[1]:.1f}" y="{height}">{escape(name)}</text>'
    )


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
            yield from makers[watch.kind](watch)


def _chart(watch: Watch, title: str, caption: str, *lines: Line, **axis: Any) -> Chart:
    """Put lines together, with marks where the limit broke and where that was seen."""
    stream = watch.name.partition(" of ")[2]
    begin, end = watch.history["time"][[0, -1]]
    dates = ((watch.since, "since about here"), (watch.noticed, watch.verdict))
    marks = tuple(
        (float(np.clip(read_time(date), begin, end)), name) for date, name in dates if date
    )
    title += f", {stream}" if stream else ""
    return Chart(title=title, caption=caption, lines=lines, marks=marks, **axis)


def _curve(watch: Watch, name: str, values: FloatArray, kind: str = "data") -> Line:
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
        _curve(watch, "precision", past["estimate"]),
        _curve(watch, f"last {RECENT} alarms", past["recent"], "quiet"),
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
        _curve(watch, "evidence", _tens(past["evidence"])),
        _curve(watch, "detector", _tens(past["detector"]), "quiet"),
        _flat(watch, 0.0, "bound"),
    )


def _capacity_charts(watch: Watch) -> Iterator[Chart]:
    alarms = _curve(watch, "alarms", watch.history["alarms"], "dots")
    most = _curve(watch, "capacity", watch.history["capacity"], "limit")
    caption = f"each dot is a {watch.unit} that has ended"
    yield _chart(watch, f"Alarms per {watch.unit}", caption, alarms, most, low=0.0)


def _cost_charts(watch: Watch) -> Iterator[Chart]:
    cost = _curve(watch, "cost", watch.history["cost"], "dots")
    budget = _flat(watch, 1000 * (watch.limit or 0.0), "budget")
    caption = "in misses, as far as cases have labels"
    yield _chart(watch, "Cost per 1,000 cases", caption, cost, budget, low=0.0)


def _score_charts(watch: Watch) -> Iterator[Chart]:
    mean = _curve(watch, "mean score", watch.history["mean"], "dots")
    caption = "without labels: a change of the scores is no harm yet"
    yield _chart(watch, f"Mean score per {watch.unit}", caption, mean)


def _tens(logs: FloatArray) -> FloatArray:
    return np.asarray(np.maximum(logs / np.log(10.0), LOWEST_EVIDENCE))
