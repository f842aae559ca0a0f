"""Evaluate a joint policy on new cases, with exact intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from voros.allocation.problem import mean_ratio, most_alarms, period_limit
from voros.allocation.streams import StreamCases
from voros.core.exact_intervals import Interval, binomial_limits
from voros.core.exact_limits import as_fraction
from voros.core.scenario import Scenario
from voros.io.frames import make_frame
from voros.text.numbers import count_within, interval, percent, short
from voros.text.table import ReprMixin, Table

if TYPE_CHECKING:
    from voros.allocation.joint_policy import JointPolicy


@dataclass(frozen=True, kw_only=True)
class StreamEvaluation:
    """Counts, rates and cost of one stream on new cases.

    Attributes
    ----------
    name : str
    threshold : float
    tp, fp, n_positive, n_negative : int
    precision, recall : float
        NaN where there is no alarm or no positive.
    precision_interval, recall_interval : pair of float
        Clopper-Pearson limits.
    cost : float
        In misses of weight 1.
    min_precision : float
    floor_kept : bool
        Whether the precision on these cases meets the floor; raising no alarm keeps it.

    Examples
    --------
    >>> import voros
    >>> y, s, ward = [1, 0, 1, 0, 1, 0], [6, 5, 4, 3, 2, 1], ["a", "a", "b", "b", "b", "a"]
    >>> policy = voros.allocate(y, s, voros.Scenario(cost_ratio=0.2), capacity=0.5, by=ward)
    >>> second = policy.evaluate(y, s, by=ward).streams[1]
    >>> second.alarms, second.precision, second.precision_interval, second.floor_kept
    (1, 1.0, (0.025, 1.0), True)
    """

    name: str
    threshold: float
    tp: int
    fp: int
    n_positive: int
    n_negative: int
    precision_interval: Interval
    recall_interval: Interval
    cost: float
    min_precision: float
    floor_kept: bool

    @property
    def alarms(self) -> int:
        """True and false positives."""
        return self.tp + self.fp

    @property
    def precision(self) -> float:
        """Share of alarms that are true positives."""
        return self.tp / self.alarms if self.alarms else float("nan")

    @property
    def recall(self) -> float:
        """Share of positives that raise an alarm."""
        return self.tp / self.n_positive if self.n_positive else float("nan")


@dataclass(frozen=True, kw_only=True)
class PeriodAlarms:
    """Alarms of all streams together in each period.

    Attributes
    ----------
    names : tuple of str
    alarms : tuple of int
    capacity : int
        The capacity of each period.
    share_above : pair of float
        Clopper-Pearson limits of the share of periods above it, if periods are independent.
    most_above : int or None
        How many of these periods may be above it; None where the mean is limited.
    """

    names: tuple[str, ...]
    alarms: tuple[int, ...]
    capacity: int
    share_above: Interval
    most_above: int | None

    @classmethod
    def from_cases(
        cls,
        cases: StreamCases,
        limit: Scenario,
        thresholds: Sequence[float],
        confidence_level: float,
        *,
        once: bool,
    ) -> PeriodAlarms | None:
        """Compare the alarms of each period with the capacity; None without periods."""
        if cases.periods is None:
            return None
        counts = cases.period_alarms(thresholds, once=once)
        within = period_limit(limit, cases.periods)
        above = int(np.count_nonzero(counts > within.capacity))
        return cls(
            names=tuple(map(str, cases.periods.names)),
            alarms=tuple(counts.tolist()),
            capacity=within.capacity,
            share_above=_limits(above, within.n_periods, confidence_level),
            most_above=None if limit.exceed is None else within.n_above,
        )

    @property
    def n_above(self) -> int:
        """Number of periods with more alarms than the capacity."""
        return sum(alarms > self.capacity for alarms in self.alarms)

    @property
    def kept(self) -> bool:
        """Whether no more periods than allowed are above the capacity."""
        return self.most_above is None or self.n_above <= self.most_above

    def frame(self, backend: str | None = None) -> Any:
        """Return one row for each period."""
        return make_frame({"period": list(self.names), "alarms": list(self.alarms)}, backend)

    def __str__(self) -> str:
        """Return how many periods are above the capacity, as text."""
        low, high = self.share_above
        allowed = "" if self.most_above is None else f", {self.most_above:,} allowed"
        of = f"{self.n_above:,} of {len(self.alarms):,} periods above {self.capacity:,} alarms"
        return f"{of}{allowed} ({percent(low)} to {percent(high)} of all periods)"


@dataclass(frozen=True, repr=False, kw_only=True)
class JointEvaluation(ReprMixin):
    """Alarms, floors and cost of a joint policy on new cases.

    Attributes
    ----------
    streams : tuple of StreamEvaluation
    alarms : int
        Alarms of all streams; with ``overlap="once"`` a case counts once.
    alarms_interval : pair of float
        Exact where a case counts at most once; otherwise the sum of the streams' limits, each at an
        equal part of the error.
    max_alarms : float
    cost : float
        In misses of weight 1.
    n_cases : int
    confidence_level : float
        Confidence level of each single interval.
    by_period : PeriodAlarms or None
        Alarms of each period, where each has a capacity.

    Examples
    --------
    >>> import voros
    >>> y, s, ward = [1, 0, 1, 0, 1, 0], [6, 5, 4, 3, 2, 1], ["a", "a", "b", "b", "b", "a"]
    >>> policy = voros.allocate(y, s, voros.Scenario(cost_ratio=0.2), capacity=0.5, by=ward)
    >>> tested = policy.evaluate(y, s, by=ward)
    >>> tested.alarms, tested.max_alarms, tested.feasible, tested.cost
    (2, 3.0, True, 1.0)
    """

    streams: tuple[StreamEvaluation, ...]
    alarms: int
    alarms_interval: Interval
    max_alarms: float
    cost: float
    n_cases: int
    confidence_level: float
    by_period: PeriodAlarms | None = None

    @property
    def capacity_kept(self) -> bool:
        """Whether the alarms on these cases are within the capacity."""
        within = self.by_period is None or self.by_period.kept
        return within and self.alarms <= self.max_alarms

    @property
    def feasible(self) -> bool:
        """Whether every floor and the capacity are kept on these cases."""
        return self.capacity_kept and all(stream.floor_kept for stream in self.streams)

    def table(self) -> Table:
        """Return one row for each stream, and one for all."""
        head = ("stream", "alarms", "precision", "interval", "floor", "recall", "interval", "cost")
        kept = "kept" if self.capacity_kept else "broken"
        limit = f"{count_within(self.max_alarms)} alarms"
        if self.by_period is not None and self.by_period.most_above is not None:
            limit += f", {self.by_period.n_above:,} periods above {self.by_period.capacity:,}"
        together = (f"{self.alarms:,}", "", "", f"{limit}: {kept}", "", "")
        last = ("together", *together, short(self.cost))
        return Table.from_rows([head, *map(_row, self.streams), last])

    def frame(self, backend: str | None = None) -> Any:
        """Return one row for each stream."""
        plain = ("name", "threshold", "n_positive", "n_negative", "tp", "fp", "alarms")
        rates = ("precision", "recall", "cost", "min_precision", "floor_kept")
        columns = {key: [getattr(s, key) for s in self.streams] for key in (*plain, *rates)}
        for name in ("precision", "recall"):
            for end, side in enumerate(("low", "high")):
                limits = [getattr(s, f"{name}_interval")[end] for s in self.streams]
                columns[f"{name}_{side}"] = limits
        return make_frame(columns, backend)

    def _parts(self) -> tuple[Table]:
        return (self.table(),)


def evaluate_streams(
    policy: JointPolicy, cases: StreamCases, confidence_level: float = 0.95
) -> JointEvaluation:
    """Count the alarms of each stream at the policy's thresholds."""
    thresholds, once = policy.default.thresholds, policy.overlap == "once"
    streams = tuple(
        _evaluate_one(policy, i, cases, confidence_level) for i in range(len(policy.names))
    )
    counts = [stream.alarms for stream in streams]
    if once or policy.arrangement != "outcomes":
        counts = [int(np.count_nonzero(cases.raised(thresholds)))]
    return JointEvaluation(
        streams=streams,
        alarms=sum(counts),
        alarms_interval=_together(counts, cases.n_cases, confidence_level),
        max_alarms=most_alarms(policy.limit, cases.n_cases, cases.n_periods),
        cost=sum(stream.cost for stream in streams),
        n_cases=cases.n_cases,
        confidence_level=confidence_level,
        by_period=PeriodAlarms.from_cases(
            cases, policy.limit, thresholds, confidence_level, once=once
        ),
    )


def _evaluate_one(
    policy: JointPolicy, i: int, cases: StreamCases, confidence_level: float
) -> StreamEvaluation:
    name, scenario, threshold = policy.names[i], policy.scenarios[i], policy.default.thresholds[i]
    own = cases.members[name]
    positive, alarmed = cases.positive[name][own], cases.alarms(name, threshold)[own]
    tp, alarms = int(np.count_nonzero(positive & alarmed)), int(np.count_nonzero(alarmed))
    n_positive, fp = int(np.count_nonzero(positive)), alarms - tp
    ratio = mean_ratio(scenario.costs, policy.costed[i][1] / policy.costed[i][0])
    missed, false_alarms = float(n_positive - tp), float(fp)
    if cases.values:
        values = cases.values[name].take(own)
        missed = float(values.miss_value[positive & ~alarmed].sum())
        false_alarms = float(values.false_alarm_cost[~positive & alarmed].sum())
    return StreamEvaluation(
        name=name,
        threshold=threshold,
        tp=tp,
        fp=fp,
        n_positive=n_positive,
        n_negative=len(positive) - n_positive,
        precision_interval=_limits(tp, alarms, confidence_level),
        recall_interval=_limits(tp, n_positive, confidence_level),
        cost=policy.miss_weights[i] * (ratio * false_alarms + missed),
        min_precision=scenario.min_precision,
        floor_kept=tp >= as_fraction(scenario.min_precision) * alarms,
    )


def _limits(count: int, of: int, confidence_level: float) -> Interval:
    low, high = binomial_limits(np.array([count]), of, confidence_level)
    return float(low[0]), float(high[0])


def _together(counts: list[int], n_cases: int, confidence_level: float) -> Interval:
    confidence_each = 1.0 - (1.0 - confidence_level) / len(counts)
    limits = [_limits(count, n_cases, confidence_each) for count in counts]
    low, high = (n_cases * sum(ends) for ends in zip(*limits, strict=True))
    return low, high


def _row(stream: StreamEvaluation) -> tuple[str, ...]:
    ends = [interval(*ends) for ends in (stream.precision_interval, stream.recall_interval)]
    return (
        stream.name,
        f"{stream.alarms:,}",
        short(stream.precision) if stream.alarms else "",
        ends[0] if stream.alarms else "",
        f"{stream.min_precision:g}: {'kept' if stream.floor_kept else 'broken'}",
        short(stream.recall) if stream.n_positive else "",
        ends[1] if stream.n_positive else "",
        short(stream.cost),
    )
