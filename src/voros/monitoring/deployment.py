"""A deployed policy with its settings and the file of what it has decided."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from voros.alarms import AlarmRule
from voros.monitoring.settings import Settings
from voros.monitoring.store import PeriodTotals, Store
from voros.monitoring.watched_policy import WatchedPolicy

BEGINNING = -np.inf
"""Before any case."""


@dataclass(frozen=True)
class Deployment:
    """A policy, and the file of what it has decided, for one reading of it."""

    store: Store
    policy: WatchedPolicy
    settings: Settings
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
        """The rule of a policy over stays, and its threshold."""
        single = self.policy.single
        assert single is not None
        assert single.rule is not None
        return single.rule, float(single.threshold(self.settings.cost_ratio))

    def periods(self, streams: tuple[str, ...]) -> PeriodTotals:
        """The totals of some streams in every period, counted once."""
        if streams not in self.totals:
            self.totals[streams] = self.store.periods(self.since, streams)
        return self.totals[streams]
