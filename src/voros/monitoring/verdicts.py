"""Verdicts of a monitor on single cases, and notes on what is left out or unknown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from voros.alarms import AlarmRule
from voros.core.risk_curve import RiskCurve
from voros.monitoring.precision import (
    Alarms,
    closed_units,
    precision_watch,
    recall_watch,
    reversed_in_words,
)
from voros.monitoring.ratios import (
    capacity_limit,
    capacity_watch,
    cost_watch,
    ended_counts,
)
from voros.monitoring.settings import Settings, day_of
from voros.monitoring.status import Status, Watch, watch_name, worst
from voros.monitoring.store import PeriodTotals, Store
from voros.monitoring.unlabelled import (
    ALIKE,
    by_unit,
    change_watch,
    expected_watch,
    neighbour_correlation,
    prevalence_in_words,
)
from voros.monitoring.watched_policy import WatchedPolicy
from voros.policy.threshold_policy import ThresholdPolicy
from voros.text.numbers import counted, short

BEGINNING = -np.inf
"""A time before any case."""


@dataclass(frozen=True)
class Deployment:
    """A policy and its stored decisions, while one status is computed."""

    store: Store
    policy: WatchedPolicy
    settings: Settings
    risks: RiskCurve | None = None
    totals: dict[tuple[str, ...], PeriodTotals] = field(default_factory=dict)

    @property
    def now(self) -> float:
        """The latest time known."""
        return BEGINNING if self.store.clock is None else self.store.clock

    @property
    def since(self) -> float:
        """When the policy was deployed."""
        return float(self.store.metadata("since") or BEGINNING)

    @property
    def stay_rule(self) -> tuple[AlarmRule, float]:
        """The alarm rule and the threshold of a policy over stays."""
        single = self.policy.single
        assert single is not None
        assert single.rule is not None
        return single.rule, float(single.threshold(self.settings.cost_ratio))

    def status(self, watches: Sequence[Watch], notes: Iterable[str]) -> Status:
        """Summarize the watches, and add notes on unmatched labels and on a renewal."""
        cases, alarms, labels = self.store.sizes()
        n_unmatched, every = self.store.unmatched_labels(), list(notes)
        if n_unmatched:
            unmatched = counted(n_unmatched, "recent label")
            every.insert(0, f"{unmatched} without a stored case; check the ids")
        floors = [watch for watch in watches if watch.kind in ("precision", "recall")]
        is_low = any(watch.verdict in ("broken", "watch") for watch in floors)
        if is_low and self.policy.single is not None:
            every.append(
                "advice: monitor.renew(), or voros monitor --renew, proposes a threshold from "
                f"recent labelled {self.policy.units}"
            )
        return Status(
            verdict=worst(watches),
            as_of=None if self.store.clock is None else day_of(self.now),
            watches=tuple(watches),
            cases=cases,
            alarms=alarms,
            labels=labels,
            notes=tuple(every) if cases else (),
        )

    def periods(self, streams: tuple[str, ...]) -> PeriodTotals:
        """The totals of some streams in each period, queried once."""
        if streams not in self.totals:
            self.totals[streams] = self.store.periods(self.since, streams)
        return self.totals[streams]


def read_status(deployed: Deployment) -> Status:
    """Judge every limit on single cases."""
    store, policy, settings = deployed.store, deployed.policy, deployed.settings
    watches, reversals, n_open = list[Watch](), list[str](), 0
    for stream, floor in policy.floors.items():
        alarms = Alarms.from_rows(store.alarms(stream, deployed.since, settings.window_seconds))
        units, closed = closed_units(alarms, settings.window_seconds, deployed.now)
        n_open += int((~closed).sum())
        if floor:
            name = watch_name("precision", stream)
            watches.append(precision_watch(units, floor, settings, name))
            reversals.append(reversed_in_words(watches[-1], alarms, settings, deployed.now))
        if deployed.risks is not None:
            watches.append(expected_watch(alarms, deployed.risks, floor, deployed.now, settings))
    watches += _watches(deployed)
    notes = filter(None, [*reversals, *_notes(deployed, n_open, watches)])
    return deployed.status(watches, notes)


def _watches(deployed: Deployment) -> Iterator[Watch]:
    """Judge recall, capacity, cost and scores where they are watched."""
    store, policy, settings = deployed.store, deployed.policy, deployed.settings
    floor = None if policy.single is None else policy.single.scenario.min_recall
    if floor is not None:
        cases = store.latest(deployed.since, np.inf)
        yield recall_watch(cases, floor, settings, deployed.now)
    limit, unit = capacity_limit(policy), store.metadata("periods")
    if limit is not None:
        counts = ended_counts(_raised(deployed), unit)
        yield capacity_watch(counts, limit, settings)
    if settings.max_cost is not None and policy.single is not None:
        rows = store.costs(deployed.since, deployed.now - settings.window_seconds)
        ratio = settings.cost_ratio
        if ratio is None:
            ratio = policy.single.scenario.costs.mean_ratio(policy.single.odds)
        yield cost_watch(rows, ratio, settings.max_cost, settings)
    for outcome, streams in policy.outcomes.items():
        periods = deployed.periods(streams)
        if settings.score_unit is not None and unit is not None:
            periods = by_unit(periods, unit, settings.score_unit)
        # The last period has not ended.
        ended = periods.part(slice(None, -1))
        yield change_watch(ended, settings, watch_name("scores", outcome))


def _raised(deployed: Deployment) -> PeriodTotals:
    """Return the cases and the alarms of all streams together in each period."""
    policy = deployed.policy
    totals = deployed.periods(tuple(policy.floors))
    alarms = totals.alarms
    if policy.flags_once:
        flagged = deployed.store.flagged()
        alarms = np.array([flagged.get(name, 0) for name in totals.names.tolist()], dtype=float)
    return totals._replace(cases=totals.cases / len(policy.outcomes), alarms=alarms)


def _notes(deployed: Deployment, n_open: int, watches: list[Watch]) -> Iterator[str]:
    """Yield notes on what is left out or unknown, and on what to do."""
    policy, settings = deployed.policy, deployed.settings
    if n_open:
        yield f"not counted yet: {counted(n_open, 'alarm')} of the last {settings.window:g} days"
    yield from _alike_in_words(watches)
    if not any(watch.name == "recall" for watch in watches):
        yield (
            "recall: not watched without a recall floor; to estimate it, label all cases without "
            "an alarm, or a random sample of them"
        )
    if isinstance(policy.policy, ThresholdPolicy):
        periods = deployed.periods(tuple(policy.floors))
        suggested = prevalence_in_words(periods, policy.policy, settings)
        if suggested is not None:
            yield suggested


def _alike_in_words(watches: list[Watch]) -> Iterator[str]:
    """Yield notes where neighbouring periods are correlated, which limits on periods ignore."""
    for watch in watches:
        if watch.name not in ("capacity", "cost"):
            continue
        alike = neighbour_correlation(watch.history["cost" if watch.name == "cost" else "alarms"])
        if alike * np.sqrt(watch.n) > ALIKE:
            yield (
                f"{watch.name}: neighbouring periods are correlated ({short(alike)}); a limit that "
                "is kept only over longer times is called broken more often than alpha says"
            )
