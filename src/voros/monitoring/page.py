"""The page of a monitor: one HTML file with its pictures inside."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np

from voros.monitoring.precision import RECENT
from voros.monitoring.settings import Settings
from voros.monitoring.status import Status, Watch
from voros.present.document import Picture, render_document
from voros.text.numbers import counted
from voros.typing import AnyArray, FloatArray

WIDTH, HEIGHT = 8.0, 2.8
"""Inches of a picture."""

LOWEST_EVIDENCE = -6.0
"""Lowest power of ten in the picture of the evidence."""

Draw: TypeAlias = Callable[[Any, Watch, AnyArray], str]
"""Draws a watch over its dates on axes that have a title, and returns the caption."""


def render_status_page(status: Status, settings: Settings, title: str, units: str) -> str:
    """Return a status as one HTML document that needs no other file; it counts ``units``."""
    return render_document(
        "voros.monitoring",
        "monitor.html",
        title=title,
        status=status,
        settings=settings,
        units=units,
        counts=f"{status.cases:,} {units}, {counted(status.alarms, 'alarm')}, "
        f"{counted(status.labels, 'label')}",
        pictures=list(status_pictures(status)),
    )


def status_pictures(status: Status) -> Iterator[Picture]:
    """Draw every watch that has a history."""
    drawn: dict[str, tuple[Draw, ...]] = {
        "precision": (_draw_precision, _draw_evidence),
        "expected precision": (_draw_expected,),
        "recall": (_draw_precision, _draw_evidence),
        "capacity": (_draw_alarms,),
        "cost": (_draw_costs,),
        "scores": (_draw_scores,),
    }
    for watch in status.watches:
        if len(watch.history.get("time", ())) > 1:
            for draw in drawn[watch.kind]:
                yield _picture(watch, draw)


def _picture(watch: Watch, draw: Draw) -> Picture:
    from voros.present.report.figures import figure_bytes, headless

    with headless() as plt:
        figure, ax = plt.subplots(figsize=(WIDTH, HEIGHT))
        caption = _draw_watch(ax, watch, draw)
        dated = plt.matplotlib.dates
        ax.xaxis.set_major_formatter(dated.ConciseDateFormatter(dated.AutoDateLocator()))
        return Picture(figure_bytes(figure, "png"), f"{ax.get_title()}. {caption}")


def _draw_watch(ax: Any, watch: Watch, draw: Draw) -> str:
    """Draw a watch on axes with dates, and return its caption."""
    ax.figure.subplots_adjust(left=0.07, right=0.8, bottom=0.16, top=0.9)
    dates = watch.history["time"].astype("datetime64[s]")
    caption = draw(ax, watch, dates)
    noticed = "withdrawn" if watch.kind == "expected precision" else watch.verdict
    for date, name in ((watch.since, "began"), (watch.noticed, noticed)):
        if date is not None:
            shown = np.clip(np.datetime64(date, "s"), dates[0], dates[-1])
            style = ":" if date is watch.since else "-"
            ax.axvline(shown, color="C3", linewidth=1, linestyle=style, label=name)
    stream = watch.name.partition(" of ")[2]
    if stream:
        ax.set_title(f"{ax.get_title()}, {stream}")
    ax.set_xlim(dates[0], dates[-1])
    ax.grid(alpha=0.3)
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    return caption


def _draw_precision(ax: Any, watch: Watch, dates: AnyArray) -> str:
    _draw_shares(ax, watch, dates, watch.kind, ("recent", f"last {RECENT}"))
    highest = float(np.nanmax(watch.history["estimate"]))
    ax.set_ylim(0.0, min(1.0, max(2 * (watch.limit or 0.0), highest + 0.1)))
    ax.set_title(f"{watch.kind.capitalize()} so far")
    share = "true alarms" if watch.kind == "precision" else "positives with an alarm"
    return (
        f"Share of {share} since the policy was deployed, with an interval that holds at all "
        "times at once."
    )


def _draw_expected(ax: Any, watch: Watch, dates: AnyArray) -> str:
    _draw_shares(ax, watch, dates, "expected", ("observed", "as labels came"))
    ax.set_title("Expected precision of alarms whose windows were open")
    return (
        "On each day, if a risk still means what it did on validation; and the share of these "
        "alarms that turned out to be true."
    )


def _draw_shares(ax: Any, watch: Watch, dates: AnyArray, name: str, other: tuple[str, str]) -> None:
    """Draw an estimate with its interval, another curve in grey, and the floor."""
    past, floor = watch.history, watch.limit or 0.0
    ax.fill_between(dates, past["low"], past["high"], alpha=0.15, label="interval")
    ax.plot(dates, past["estimate"], label=name)
    ax.plot(dates, past[other[0]], color="grey", linewidth=1, label=other[1])
    ax.axhline(floor, color="C3", linestyle="--", label=f"floor {floor:g}")
    ax.set_ylim(0.0, 1.0)


def _draw_evidence(ax: Any, watch: Watch, dates: AnyArray) -> str:
    ax.plot(dates, _tens(watch.history["evidence"]), label="evidence")
    ax.plot(dates, _tens(watch.history["detector"]), color="grey", linewidth=1, label="detector")
    ax.axhline(0.0, color="C3", linestyle="--", label="bound")
    ax.set_title(f"Evidence that {watch.kind} is below its floor")
    return "Powers of ten; 0 is the bound. The detector forgets good times, so it finds changes."


def _tens(logs: FloatArray) -> FloatArray:
    return np.asarray(np.maximum(logs / np.log(10.0), LOWEST_EVIDENCE))


def _draw_alarms(ax: Any, watch: Watch, dates: AnyArray) -> str:
    ax.plot(dates, watch.history["alarms"], ".", alpha=0.5, label="alarms")
    ax.plot(dates, watch.history["capacity"], "--", color="C3", label="capacity")
    ax.set_ylim(bottom=0.0)
    ax.set_title(f"Alarms per {watch.unit}")
    return f"Each dot is a {watch.unit} that has ended."


def _draw_costs(ax: Any, watch: Watch, dates: AnyArray) -> str:
    ax.plot(dates, watch.history["cost"], ".", alpha=0.5, label="cost")
    ax.axhline(1000 * (watch.limit or 0.0), color="C3", linestyle="--", label="budget")
    ax.set_ylim(bottom=0.0)
    ax.set_title("Cost per 1,000 cases")
    return "In misses, as far as cases have labels."


def _draw_scores(ax: Any, watch: Watch, dates: AnyArray) -> str:
    ax.plot(dates, watch.history["mean"], ".", alpha=0.5, label="mean score")
    ax.set_title(f"Mean score per {watch.unit}")
    return "Without labels: a change of the scores does not show harm."
