"""What a monitor says of its file: a verdict for each limit, and notes on what is not known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from voros.alarms import AlarmRule
from voros.core.risk_curve import RiskCurve
from voros.monitoring.precision import Alarms, closed_units, precision_watch, recall_watch
from voros.monitoring.ratios import capacity_limit, capacity_watch, ended_counts
from voros.monitoring.settings import Settings, day_of
from voros.monitoring.status import Status, Watch, counted, worst
from voros.monitoring.store import PeriodTotals, Store
from voros.monitoring.unlabelled import ALIKE, change_watch, expected_watch, neighbour_correlation
from voros.policy.threshold_policy import ThresholdPolicy
from voros.text.numbers import short

BEGINNING = -np.inf
"""Before any case."""


@dataclass(frozen=True)
class Deployment:
    """A policy, and the file of what it has decided, for one reading of it."""

    store: Store
    policy: ThresholdPolicy
    settings: Settings
    risks: RiskCurve | None = None

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
        """The rule of a policy over stays, and its threshold."""
        assert self.policy.rule is not None
        return self.policy.rule, float(self.policy.threshold(self.settings.cost_ratio))

    @cached_property
    def periods(self) -> PeriodTotals:
        """The totals of every period since the policy was deployed."""
        return self.store.periods(self.since)

    def status(
        self, watches: list[Watch], sizes: tuple[int, int, int], notes: Iterator[str]
    ) -> Status:
        """Sum up what is watched; ``sizes`` are the cases, alarms and labels that are stored."""
        cases, alarms, labels = sizes
        return Status(
            verdict=worst(watches),
            as_of=None if self.store.clock is None else day_of(self.now),
            watches=tuple(watches),
            cases=cases,
            alarms=alarms,
            labels=labels,
            notes=tuple(notes) if cases else (),
        )


def read_status(deployed: Deployment, *, curves: bool) -> Status:
    """Judge every limit, with curves of the precision where they are asked for."""
    alarms = Alarms.from_rows(deployed.store.alarms(deployed.since))
    watches = list(_watches(deployed, alarms, curves))
    notes = _notes(deployed, alarms, watches)
    return deployed.status(watches, deployed.store.sizes(), notes)


def _watches(deployed: Deployment, alarms: Alarms, curves: bool) -> Iterator[Watch]:
    """Judge precision, recall, capacity and scores, as far as they are watched."""
    store, settings, now = deployed.store, deployed.settings, deployed.now
    scenario = deployed.policy.scenario
    floor = scenario.min_precision
    if floor:
        units, _ = closed_units(alarms, settings.window_seconds, now)
        yield precision_watch(units, floor, settings, curves=curves)
    if deployed.risks is not None:
        yield expected_watch(alarms, deployed.risks, floor, now, settings, curves=curves)
    if scenario.min_recall is not None:
        rows = store.labelled(deployed.since)
        yield recall_watch(rows, scenario.min_recall, settings, now)
    limit = capacity_limit(deployed.policy)
    if limit is not None:
        counts = ended_counts(deployed.periods, store.metadata("periods"))
        yield capacity_watch(counts, limit, settings)
    # The last period goes on.
    yield change_watch(deployed.periods.part(slice(None, -1)), settings)


def _notes(deployed: Deployment, alarms: Alarms, watches: list[Watch]) -> Iterator[str]:
    """Say what was left out, what cannot be known, and what to do."""
    settings = deployed.settings
    unknown, others = deployed.store.recent_labels()
    if unknown:
        yield f"{counted(unknown, 'recent label')} of cases that have not come; check the ids"
    _, closed = closed_units(alarms, settings.window_seconds, deployed.now)
    still_open = int((~closed).sum())
    if still_open:
        yield (
            f"not counted yet: {counted(still_open, 'alarm')} of the last {settings.window:g} days"
        )
    yield from _alike_in_words(watches)
    if not any(watch.name == "recall" for watch in watches):
        yield _recall_in_words(others > 0)
    yield from advice(watches, "cases")


def advice(watches: list[Watch], units: str) -> Iterator[str]:
    """Say what to do where a floor seems to be broken."""
    floors = [watch for watch in watches if watch.name in ("precision", "recall")]
    if any(watch.verdict in ("broken", "watch") for watch in floors):
        yield f"advice: choose a threshold on recent labelled {units}, and deploy it with adopt"


def _alike_in_words(watches: list[Watch]) -> Iterator[str]:
    """Say where neighbouring periods are alike, which a limit on periods does not allow for."""
    for watch in watches:
        if watch.name != "capacity":
            continue
        alike = neighbour_correlation(watch.history["alarms"])
        if alike * np.sqrt(watch.n) > ALIKE:
            yield (
                f"capacity: neighbouring periods are alike (correlation {short(alike)}); a limit "
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
