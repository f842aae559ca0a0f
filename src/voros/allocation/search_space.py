"""Options of several streams under a limit on the alarms of each period: what a search is over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from voros.core.deficit_search import DEFICIT_ROUNDING
from voros.typing import AnyArray, BoolArray, FloatArray

ALARM_PRICES = (0.0, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0)
DEFICIT_PRICES = (0.0, 0.03, 0.1, 0.3, 1.0)
"""What an alarm in all and a deficit may cost in alarms of a period, to bound these."""


@dataclass(frozen=True)
class PeriodLimit:
    """At most ``capacity`` alarms in each period but ``n_above``, and ``total`` in all.

    Examples
    --------
    >>> limit = PeriodLimit(20, 1, 3, total=60)
    >>> limit.holds(np.array([[20, 25, 3], [20, 25, 16]])).tolist()
    [True, False]
    """

    capacity: int
    n_above: int
    n_periods: int
    total: float = np.inf

    def holds(self, alarms: AnyArray) -> AnyArray:
        """Say whether alarms of each period, along the last axis, are within the limit."""
        few_above = np.count_nonzero(alarms > self.capacity, axis=-1) <= self.n_above
        return np.asarray(few_above & (alarms.sum(axis=-1) <= self.total))


@dataclass(frozen=True)
class Chosen:
    """An option of each stream, what they save, the cases they alarm, and if the limit holds."""

    options: tuple[int, ...]
    saved: int
    alarms: int
    within: bool

    @property
    def rank(self) -> tuple[bool, int, int]:
        """Smaller is better: within the limit, more saved, then fewer alarms."""
        return not self.within, -self.saved, self.alarms


@dataclass(frozen=True, eq=False, kw_only=True)
class SearchSpace:
    """Options of each stream that are left, and bundles of the cases that some of them alarm.

    A bundle holds cases of one period that the same options of every stream alarm. Where each alarm
    counts, the alarms of a case are in bundles of their own, which one stream alone alarms. So the
    alarms of a choice are the bundles that at least one stream alarms, either way.

    Attributes
    ----------
    options : list of ndarray of int
        Which options of each stream are left.
    saved : list of ndarray of int
        What they save.
    step : ndarray of int, shape (n_streams, n_bundles)
        The first of these options that alarms the bundle; their number where none does.
    sizes, periods : ndarray of int, shape (n_bundles,)
    always, most : ndarray of int, shape (n_periods,)
        Alarms that every choice raises, and no choice more than.
    limit : PeriodLimit
    """

    options: list[AnyArray]
    saved: list[AnyArray]
    step: AnyArray
    sizes: AnyArray
    periods: AnyArray
    always: AnyArray
    most: AnyArray
    limit: PeriodLimit

    @classmethod
    def from_steps(
        cls,
        saved: Sequence[AnyArray],
        steps: Sequence[AnyArray],
        periods: AnyArray,
        limit: PeriodLimit,
        *,
        once: bool,
    ) -> SearchSpace:
        """Take what options save, and the first option of each stream that alarms each case."""
        step, n_options = np.stack(steps), np.array([len(option) for option in saved])[:, None]
        if not once:
            streams, cases = np.nonzero(step < n_options)
            apart = np.repeat(n_options, len(cases), axis=1)
            apart[streams, np.arange(len(cases))] = step[streams, cases]
            step, periods = apart, periods[cases]
        space = cls(
            options=[np.arange(len(option)) for option in saved],
            saved=list(saved),
            step=step,
            sizes=np.ones(step.shape[1], dtype=np.int64),
            periods=periods,
            always=np.zeros(limit.n_periods, dtype=np.int64),
            most=np.bincount(periods, minlength=limit.n_periods),
            limit=limit,
        )
        nothing = np.zeros(len(space.sizes), dtype=np.bool_)
        alone = [np.flatnonzero(limit.holds(space.loads(i, nothing))) for i in range(len(saved))]
        space = space.among(alone).merged()[0]
        return space.bounded([np.zeros(len(options)) for options in space.options], 0.0)

    def among(self, rows: Sequence[AnyArray]) -> SearchSpace:
        """Keep some options of each stream, and the bundles that they leave in question."""
        pairs = zip(rows, self.step, strict=True)
        step = np.stack([np.searchsorted(own, column) for own, column in pairs])
        always = (step == 0).any(axis=0)
        can = step < np.array([len(own) for own in rows])[:, None]
        left = np.flatnonzero(~always & can.any(axis=0))
        sure = self.always + self.count(always)
        return replace(
            self,
            options=[options[own] for options, own in zip(self.options, rows, strict=True)],
            saved=[saved[own] for saved, own in zip(self.saved, rows, strict=True)],
            step=step[:, left],
            sizes=self.sizes[left],
            periods=self.periods[left],
            always=sure,
            most=np.minimum(self.most, sure + self.count(~always & can.any(axis=0))),
        )

    def merged(self) -> tuple[SearchSpace, AnyArray]:
        """Put equal bundles together; return also where each of the old ones went."""
        rows = np.vstack([self.periods[None], self.step])
        distinct, place = np.unique(rows, axis=1, return_inverse=True)
        # numpy 2.0 alone gives the inverse the shape of the rows.
        place = place.reshape(-1)
        sizes = np.bincount(place, self.sizes, distinct.shape[1]).astype(np.int64)
        return replace(self, step=distinct[1:], sizes=sizes, periods=distinct[0]), place

    @property
    def can_raise(self) -> BoolArray:
        """Which streams can alarm which bundles."""
        return np.asarray(self.step < np.array([len(saved) for saved in self.saved])[:, None])

    @property
    def n_options(self) -> int:
        """Options of all streams together."""
        return sum(len(saved) for saved in self.saved)

    def count(self, marked: BoolArray) -> AnyArray:
        """Count the cases of marked bundles in each period."""
        sizes = np.where(marked, self.sizes, 0)
        return np.bincount(self.periods, sizes, self.limit.n_periods).astype(np.int64)

    def chosen(self, positions: Sequence[int]) -> Chosen:
        """Count what options of each stream save and alarm."""
        loads = self.always + self.count(self._marked(positions))
        columns = list(zip(self.options, self.saved, positions, strict=True))
        return Chosen(
            options=tuple(int(options[i]) for options, _, i in columns),
            saved=sum(int(saved[i]) for _, saved, i in columns),
            alarms=int(loads.sum()),
            within=bool(self.limit.holds(loads)),
        )

    def furthest(self, positions: Sequence[int], streams: Sequence[int]) -> list[int]:
        """Take streams, one after the other, as far as the limit allows beside the others."""
        chosen = list(positions)
        for i in streams:
            holds = self.limit.holds(self.loads(i, self._marked(chosen, but=i)))
            chosen[i] = max(chosen[i], int(np.count_nonzero(holds)) - 1)
        return chosen

    def _marked(self, positions: Sequence[int], but: int | None = None) -> BoolArray:
        """Mark the bundles that options alarm, of all streams or of all but one."""
        alarmed = self.step <= np.array(positions)[:, None]
        if but is not None:
            alarmed[but] = False
        return np.asarray(alarmed.any(axis=0))

    def loads(self, stream: int, marked: BoolArray) -> AnyArray:
        """Count the alarms of each period at each option of a stream, beside marked bundles."""
        n_periods, n_options = self.limit.n_periods, len(self.saved[stream])
        place = self.step[stream] * n_periods + self.periods
        new = np.bincount(place, np.where(marked, 0, self.sizes), (n_options + 1) * n_periods)
        added = np.cumsum(new.reshape(-1, n_periods)[:n_options], axis=0)
        return np.asarray(self.always + self.count(marked) + added.astype(np.int64))

    def bounded(self, deficits: Sequence[FloatArray], room: float) -> SearchSpace:
        r"""Bound the alarms of each period in choices whose deficits add up to at most ``room``.

        All alarms together are at most the total T, and a stream's part of them is :math:`t_{ij}`,
        where a case that several streams can alarm counts in parts. So for any prices a and b of
        alarms and deficits, those of period p are at most

        .. math:: a T + b R + \sum_i \max_j (k_{ijp} - a t_{ij} - b d_{ij}).
        """
        limit = self.limit
        if limit.n_above == 0 or limit.n_periods == 1:
            return self
        total = min(limit.total, float(self.most.sum())) - self.always.sum()
        mean = total / limit.n_periods
        prices = np.array(list(product(ALARM_PRICES, DEFICIT_PRICES)))
        prices /= [limit.n_periods, max(room, 1.0) / max(mean, 1.0)]
        highest = np.repeat((prices @ [total, room])[:, None], limit.n_periods, axis=1)
        nothing, can = np.zeros(len(self.sizes), dtype=np.bool_), self.can_raise
        parts = self.sizes * can / can.sum(axis=0)
        for i, deficit in enumerate(deficits):
            part = np.cumsum(np.bincount(self.step[i], parts[i], len(deficit) + 1))[:-1]
            alarms = self.loads(i, nothing) - self.always
            for k, (of_alarm, of_deficit) in enumerate(prices):
                paid = of_alarm * part + of_deficit * deficit
                highest[k] += np.max(alarms - paid[:, None], axis=0)
        most = self.always + np.floor(highest.min(axis=0) * (1 + DEFICIT_ROUNDING)).astype(np.int64)
        return replace(self, most=np.minimum(self.most, most))
