"""What a monitor says of its file: a verdict for each limit, and notes on what is not known."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from voros.monitoring.change import ALIKE, by_unit, change_watch, neighbour_correlation
from voros.monitoring.precision import (
    Settled,
    Tallies,
    precision_watch,
    read_alarms,
    settle,
)
from voros.monitoring.ratios import (
    capacity_limit,
    capacity_watch,
    cost_watch,
    ended_counts,
    mean_cost_ratio,
)
from voros.monitoring.settings import Settings, day_of
from voros.monitoring.status import Status, Watch, worst
from voros.monitoring.store import PeriodTotals, Store
from voros.policy.threshold_policy import ThresholdPolicy

BEGINNING = -np.inf
"""Before any case."""

SETTLED_AT_ONCE = 1000
"""Alarms whose state is kept together; a status reads at most about as many more."""

RECENT_PERIODS = 30
"""Periods whose alarms suggest the prevalence of today."""


class Deployment(NamedTuple):
    """A policy, and the file of what it has decided."""

    store: Store
    policy: ThresholdPolicy
    settings: Settings

    @property
    def now(self) -> float:
        """The latest time known."""
        return BEGINNING if self.store.clock is None else self.store.clock

    @property
    def since(self) -> float:
        """When the policy was deployed."""
        return float(self.store.fact("since") or BEGINNING)

    @property
    def settled(self) -> Settled:
        """The latest state that was kept."""
        text = self.store.settled()
        try:
            return Settled(self.since) if text is None else Settled.from_text(text)
        except (KeyError, TypeError, ValueError):
            return Settled(self.since)  # it only saves time, and is folded again

    @property
    def floor(self) -> float:
        """The precision floor."""
        return self.policy.scenario.min_precision


def settle_alarms(deployed: Deployment) -> None:
    """Keep the state of alarms that only a correction can change, inside a transaction."""
    store, settings, now, state = *deployed[::2], deployed.now, deployed.settled
    until = now - settings.window_seconds - settings.reach_seconds
    if store.n_alarms(state.begin, until) <= SETTLED_AT_ONCE:
        return
    alarms = read_alarms(store.alarms(state.begin), settings.window_seconds, now)
    for until, after in settle(state, alarms, deployed.floor, settings, now, SETTLED_AT_ONCE):
        store.settle(until, after.text())


def read_status(deployed: Deployment, *, curves: bool) -> Status:
    """Judge every limit; with curves, precision from every alarm since the policy was deployed."""
    store, settings, clock = deployed.store, deployed.settings, deployed.now
    state = Settled(deployed.since) if curves else deployed.settled
    alarms = read_alarms(store.alarms(state.begin), settings.window_seconds, clock)
    periods = store.periods(deployed.since)
    judged, tallies = precision_watch(state, alarms, deployed.floor, settings, clock, curves=curves)
    watches = ((judged,) if deployed.floor > 0 else ()) + tuple(_watches(deployed, periods))
    still_open = int((~alarms.closed).sum())
    cases, raised, labels = store.sizes()
    notes = _notes(deployed, tallies, still_open, periods, watches) if len(periods.names) else ()
    return Status(
        verdict=worst(watches),
        as_of=None if store.clock is None else day_of(clock),
        watches=watches,
        cases=cases,
        alarms=raised,
        labels=labels,
        notes=tuple(notes),
    )


def _watches(deployed: Deployment, periods: PeriodTotals) -> Iterator[Watch]:
    store, policy, settings = deployed
    limit, unit = capacity_limit(policy, settings), store.fact("periods")
    if limit is not None:
        yield capacity_watch(ended_counts(periods, unit), limit, settings)
    if settings.max_cost is not None:
        rows = store.costs(deployed.since, deployed.now - settings.window_seconds)
        ratio = mean_cost_ratio(policy, settings.cost_ratio)
        yield cost_watch(rows, ratio, settings.max_cost, settings)
    if settings.score_unit is not None and unit is not None:
        periods = by_unit(periods, unit, settings.score_unit)
    yield change_watch(periods, settings)


def _notes(
    deployed: Deployment,
    tallies: Tallies,
    still_open: int,
    periods: PeriodTotals,
    watches: tuple[Watch, ...],
) -> Iterator[str]:
    """Say what was left out, what cannot be known, and what to do."""
    _, policy, settings = deployed
    unknown, others = deployed.store.recent_labels()
    if unknown:
        yield f"{unknown:,} of the last labels are of cases that have not come; check their ids"
    yield from _left_out(tallies, still_open, settings, watches)
    yield from _alike_in_words(watches)
    yield _recall_in_words(others > 0)
    suggested = suggested_prevalence(periods, policy, settings)
    if suggested is not None:
        validated = policy.n_positive / (policy.n_positive + policy.n_negative)
        yield (
            f"prevalence: the alarms of the last periods suggest {suggested:.3f} (validation: "
            f"{validated:.3f}), if only the share of positives has changed"
        )
    if any(watch.verdict in ("broken", "watch") for watch in watches if watch.name == "precision"):
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


def _left_out(
    tallies: Tallies, still_open: int, settings: Settings, watches: tuple[Watch, ...]
) -> Iterator[str]:
    if still_open:
        yield f"{still_open:,} alarms of the last {settings.window:g} days do not count yet"
    if not tallies.late + tallies.changed:
        return
    yield (
        f"{tallies.late:,} labels came and {tallies.changed:,} were corrected after the window had "
        "closed; they count as they are known now. A longer window waits for them"
    )
    said = _reversed(tallies, settings, watches)
    if said is not None:
        yield said


def _reversed(tallies: Tallies, settings: Settings, watches: tuple[Watch, ...]) -> str | None:
    """Say what the labels known when the windows closed showed, where those of today do not."""
    precision = next((watch for watch in watches if watch.name == "precision"), None)
    then = tallies.as_at_close()
    if precision is None or precision.limit is None or not then.alarms:
        return None
    low, high = then.interval(precision.n, settings)
    was = "kept" if low >= precision.limit else "broken" if high < precision.limit else None
    if was in (None, precision.verdict):
        return None
    return (
        f"labels that came or were corrected later have reversed the verdict on precision: with "
        f"those known when the windows closed, {then.true:,.0f} of {then.alarms:,.0f} alarms were "
        f"true, and it would be {was}"
    )


def suggested_prevalence(
    periods: PeriodTotals, policy: ThresholdPolicy, settings: Settings
) -> float | None:
    """Solve share of alarms = prevalence x recall + (1 - prevalence) x false positive rate.

    It holds under label shift: scores within each class are as they were at validation.
    """
    ratio, choice = settings.cost_ratio, policy.default
    if ratio is not None:
        choice = next(c for c in policy.choices if c.cost_ratio_low <= ratio < c.cost_ratio_high)
    cases = periods.cases[-RECENT_PERIODS:].sum()
    fpr = choice.fp / policy.n_negative
    if not cases or not choice.recall > fpr:
        return None
    share = periods.alarms[-RECENT_PERIODS:].sum() / cases
    return float(np.clip((share - fpr) / (choice.recall - fpr), 0.0, 1.0))
