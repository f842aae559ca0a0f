"""What a monitor says of its file: a verdict for each limit, and notes on what is not known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from voros.allocation.joint_policy import JointPolicy
from voros.monitoring.change import ALIKE, by_unit, change_watch, neighbour_correlation
from voros.monitoring.precision import (
    Alarms,
    Settled,
    Tallies,
    precision_watch,
    read_alarms,
    settle,
)
from voros.monitoring.prevalence import prevalence_in_words
from voros.monitoring.ratios import (
    capacity_limit,
    capacity_watch,
    cost_watch,
    ended_counts,
    mean_cost_ratio,
)
from voros.monitoring.settings import Settings, day_of
from voros.monitoring.status import Status, Watch, watch_name, worst
from voros.monitoring.store import PeriodTotals, Store
from voros.monitoring.watched_policy import WatchedPolicy
from voros.policy.threshold_policy import ThresholdPolicy

BEGINNING = -np.inf
"""Before any case."""

SETTLED_AT_ONCE = 1000
"""Alarms whose state is kept together; a status reads at most about as many more."""


class Deployment(NamedTuple):
    """A policy, and the file of what it has decided."""

    store: Store
    policy: WatchedPolicy
    settings: Settings

    @property
    def now(self) -> float:
        """The latest time known."""
        return BEGINNING if self.store.clock is None else self.store.clock

    @property
    def since(self) -> float:
        """When the policy was deployed."""
        return float(self.store.fact("since") or BEGINNING)

    def settled(self, stream: str) -> Settled:
        """The latest state of a stream that was kept."""
        text = self.store.settled(stream)
        try:
            return Settled(self.since) if text is None else Settled.from_text(text)
        except (KeyError, TypeError, ValueError):
            return Settled(self.since)  # it only saves time, and is folded again

    def alarms(self, stream: str, state: Settled) -> Alarms:
        """The alarms of a stream that a state has not settled."""
        rows = self.store.alarms(stream, state.begin)
        return read_alarms(rows, self.settings.window_seconds, self.now)


def settle_alarms(deployed: Deployment) -> None:
    """Keep the state of alarms that only a correction can change, inside a transaction."""
    store, settings, now = deployed.store, deployed.settings, deployed.now
    until = now - settings.window_seconds - settings.reach_seconds
    for stream, floor in deployed.policy.floors.items():
        state = deployed.settled(stream)
        if store.n_alarms(stream, state.begin, until) <= SETTLED_AT_ONCE:
            continue
        alarms = deployed.alarms(stream, state)
        for end, after in settle(state, alarms, floor, settings, now, SETTLED_AT_ONCE):
            store.settle(stream, end, after.text())


class StreamStatus(NamedTuple):
    """The precision of a stream: its watch, what was counted, and alarms that are still open."""

    watch: Watch
    tallies: Tallies
    n_open: int


def read_status(deployed: Deployment, *, curves: bool) -> Status:
    """Judge every limit; with curves, precision from every alarm since the policy was deployed."""
    store, policy = deployed.store, deployed.policy
    streams = [_stream_status(deployed, stream, curves) for stream in policy.floors]
    judged = tuple(stream.watch for stream in streams if stream.watch.limit)
    watches = judged + tuple(_watches(deployed))
    n_rows, raised, labels = store.sizes()
    return Status(
        verdict=worst(watches),
        as_of=None if store.clock is None else day_of(deployed.now),
        watches=watches,
        cases=n_rows // len(policy.outcomes),
        alarms=raised,
        labels=labels,
        notes=tuple(_notes(deployed, streams, watches)) if n_rows else (),
    )


def _stream_status(deployed: Deployment, stream: str, curves: bool) -> StreamStatus:
    floor, settings = deployed.policy.floors[stream], deployed.settings
    state = Settled(deployed.since) if curves else deployed.settled(stream)
    alarms = deployed.alarms(stream, state)
    watch, tallies = precision_watch(
        state,
        alarms,
        floor,
        settings,
        deployed.now,
        curves=curves,
        name=watch_name("precision", stream),
    )
    return StreamStatus(watch, tallies, int((~alarms.closed).sum()))


def _watches(deployed: Deployment) -> Iterator[Watch]:
    store, policy, settings = deployed
    limit, unit = capacity_limit(policy, settings), store.fact("periods")
    if limit is not None:
        counts = ended_counts(_raised(deployed), unit)
        yield capacity_watch(counts, limit, settings)
    if settings.max_cost is not None and policy.single is not None:
        rows = store.costs(deployed.since, deployed.now - settings.window_seconds)
        ratio = mean_cost_ratio(policy.single, settings.cost_ratio)
        yield cost_watch(rows, ratio, settings.max_cost, settings)
    for outcome, streams in policy.scored.items():
        periods = store.periods(deployed.since, streams)
        if settings.score_unit is not None and unit is not None:
            periods = by_unit(periods, unit, settings.score_unit)
        yield change_watch(periods, settings, watch_name("scores", outcome))


def _raised(deployed: Deployment) -> PeriodTotals:
    """Return the cases and the alarms of all streams together in each period."""
    policy = deployed.policy
    totals = deployed.store.periods(deployed.since, tuple(policy.floors))
    alarms = totals.alarms
    if policy.flags_once:
        flagged = deployed.store.flagged()
        alarms = np.array([flagged.get(name, 0) for name in totals.names.tolist()], dtype=float)
    return replace(totals, cases=totals.cases / len(policy.outcomes), alarms=alarms)


def _notes(
    deployed: Deployment, streams: list[StreamStatus], watches: tuple[Watch, ...]
) -> Iterator[str]:
    """Say what was left out, what cannot be known, and what to do."""
    store, policy, settings = deployed
    unknown, others = store.recent_labels()
    if unknown:
        yield f"{unknown:,} of the last labels are of cases that have not come; check their ids"
    still_open = sum(stream.n_open for stream in streams)
    if still_open:
        yield f"{still_open:,} alarms of the last {settings.window:g} days do not count yet"
    for stream in streams:
        yield from _late_in_words(stream, settings)
    yield from _alike_in_words(watches)
    yield _recall_in_words(others > 0)
    if isinstance(policy.policy, ThresholdPolicy):
        periods = store.periods(deployed.since)
        suggested = prevalence_in_words(periods, policy.policy, settings)
        if suggested is not None:
            yield suggested
    renewed = not isinstance(policy.policy, JointPolicy)
    if renewed and any(stream.watch.verdict in ("broken", "watch") for stream in streams):
        yield "advice: monitor.renew() proposes a threshold from labelled recent cases"


def _alike_in_words(watches: tuple[Watch, ...]) -> Iterator[str]:
    """Say where neighbouring periods are alike, which limits on periods do not allow for."""
    for watch in watches:
        if watch.name not in ("capacity", "cost"):
            continue
        alike = neighbour_correlation(
            watch.history[watch.name if watch.name == "cost" else "alarms"]
        )
        if alike * np.sqrt(watch.n) > ALIKE:
            yield (
                f"{watch.name}: neighbouring periods are alike (correlation {alike:.2f}); a limit "
                "that is kept only over longer times is called broken more often than alpha says"
            )


def _recall_in_words(followed: bool) -> str:
    if not followed:
        return (
            "recall: unknown; no case without an alarm has a label, and labels that nobody looks "
            "for are not late labels. A random sample of those cases, labelled, would show it"
        )
    return (
        "recall: some cases without an alarm have a label; recall can be estimated from them only "
        "if they are all, or a random sample"
    )


def _late_in_words(stream: StreamStatus, settings: Settings) -> Iterator[str]:
    late, changed = stream.tallies.late, stream.tallies.changed
    if not late + changed:
        return
    _, of, name = stream.watch.name.partition(" of ")
    yield (
        f"{late:,} labels{of}{name} came and {changed:,} were corrected after the window had "
        "closed; they count as they are known now. A longer window waits for them"
    )
    yield from _reversal_in_words(stream, settings)


def _reversal_in_words(stream: StreamStatus, settings: Settings) -> Iterator[str]:
    """Say what the labels known when the windows closed showed, where those of today do not."""
    precision, then = stream.watch, stream.tallies.as_at_close()
    if not precision.limit or not then.alarms:
        return
    low, high = then.interval(precision.n, settings)
    was = "kept" if low >= precision.limit else "broken" if high < precision.limit else None
    if was not in (None, precision.verdict):
        yield (
            f"labels that came or were corrected later have reversed the verdict on "
            f"{precision.name}: with those known when the windows closed, {then.true:,.0f} of "
            f"{then.alarms:,.0f} alarms were true, and it would be {was}"
        )
