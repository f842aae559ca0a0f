"""Alarms per period or per case against the capacity, and costs against a budget.

Both are ratios of sums over periods that have ended.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from voros.core.calendar import Calendar
from voros.core.scenario import PATIENT_DAY
from voros.monitoring.evidence import ratio_bets, ratio_interval, weigh
from voros.monitoring.settings import Settings, day_of
from voros.monitoring.status import Judgement, Watch, judge
from voros.monitoring.store import PeriodTotals
from voros.policy.threshold_policy import ThresholdPolicy
from voros.text.numbers import count, short, typed, typed_percent
from voros.typing import BoolArray, FloatArray

if TYPE_CHECKING:
    from voros.monitoring.watched_policy import WatchedPolicy


@dataclass(frozen=True)
class CapacityLimit:
    """The capacity: a share of the cases, a rate, or a number per period.

    Attributes
    ----------
    most : float
    kind : str
        "share" of the cases; "rate" per patient-day; "mean" number per period; "exceed", where a
        share of the periods may have more; "never", where no period may.
    exceed : float
        That share.
    """

    most: float
    kind: str
    exceed: float = 0.0

    @property
    def by_size(self) -> bool:
        """Whether the limit grows with the number of cases or patient-days."""
        return self.kind in ("share", "rate")


def capacity_limit(policy: WatchedPolicy) -> CapacityLimit | None:
    """Return the capacity that is watched; None where the policy has none."""
    scenario = policy.limits
    most = float(scenario.capacity)
    if policy.rule is not None:
        return CapacityLimit(most, "rate") if scenario.per == PATIENT_DAY else None
    if scenario.per is None:
        n_cases = policy.n_cases if scenario.capacity_is_count else 1
        return CapacityLimit(most / n_cases, "share") if most < n_cases else None
    if scenario.exceed is None:
        return CapacityLimit(most, "mean")
    kind = "exceed" if scenario.exceed > 0 else "never"
    return CapacityLimit(most, kind, float(scenario.exceed))


@dataclass(frozen=True, eq=False)
class Counts:
    """Cases and alarms of the periods that have ended, including empty ones of a calendar.

    For stays, alarms and patient-days of each stay.
    """

    begins: FloatArray
    cases: FloatArray
    alarms: FloatArray


def ended_counts(periods: PeriodTotals, unit: str | None) -> Counts:
    """Leave out the last period, which has not ended, and add the calendar's empty periods."""
    calendar = None if unit is None else Calendar.from_name(unit)
    if calendar is None or not len(periods.names):
        return Counts(periods.starts[:-1], periods.cases[:-1], periods.alarms[:-1])
    numbers = calendar.numbers_of(periods.names)
    every = np.arange(numbers.min(), numbers.max())
    filled = np.zeros((2, len(every) + 1))
    filled[:, numbers - numbers.min()] = periods.cases, periods.alarms
    begins = calendar.begins(every).astype("datetime64[s]").astype(float)
    return Counts(begins, filled[0, :-1], filled[1, :-1])


class Bound(NamedTuple):
    """A limit on the ratio of the sums of periods to their sizes; without sizes each is 1."""

    sums: FloatArray
    most: float
    sizes: FloatArray | None = None
    is_share_of_periods: bool = False

    def interval(self, alpha: float) -> tuple[float | None, float | None, float | None]:
        """Return the ratio and the ends of its interval; None where they are unknown.

        For a share of periods, both ends need no assumption on the largest sum.
        """
        if not len(self.sums):
            return None, None, None
        low, high = ratio_interval(self.sums, alpha, self.sizes)
        if self.is_share_of_periods:
            high = 1.0 - ratio_interval(1.0 - self.sums, alpha)[0]
        n = len(self.sums) if self.sizes is None else self.sizes.sum()
        return float(self.sums.sum() / n), low, high if np.isfinite(high) else None


def _judged(
    bounds: list[Bound], begins: FloatArray, settings: Settings, is_complete: bool = True
) -> tuple[Judgement, dict[str, Any]]:
    """Bet against every limit, with equal parts of the evidence, and return fields of a watch.

    Only complete sums can show that limits are kept. A limit of 0 is decided by one period.
    """
    bets = [ratio_bets(b.sums, b.most, b.sizes) for b in bounds if b.most > 0]
    evidence = weigh(np.hstack(bets), settings, begins)
    ends = [bound.interval(settings.alpha) for bound in bounds]
    estimate, low, high = ends[0]
    kept = is_complete and all(
        end is not None and end <= bound.most for bound, (*_, end) in zip(bounds, ends, strict=True)
    )
    values = {"limit": bounds[0].most, "estimate": estimate, "low": low}
    values |= {"high": high if is_complete else None, "n": len(begins), "evidence": evidence.ratio}
    return judge(evidence, begins, kept), values


def capacity_watch(counts: Counts, limit: CapacityLimit, settings: Settings) -> Watch:
    """Judge the alarms of periods, or stays, against the capacity."""
    if limit.by_size:
        some = counts.cases > 0
        counts = Counts(counts.begins[some], counts.cases[some], counts.alarms[some])
    most = limit.most * (counts.cases if limit.by_size else np.ones(len(counts.cases)))
    above = counts.alarms > most
    judgement, values = _judged(_bounds(counts, limit, above), counts.begins, settings)
    if limit.kind == "never":
        judgement = _judge_never(counts, above)
    return Watch(
        name="capacity",
        unit="stay" if limit.kind == "rate" else "period",
        **vars(judgement),
        **values,
        words=_capacity_in_words(judgement, counts, limit, above),
        curves=lambda: {"time": counts.begins, "alarms": counts.alarms, "capacity": most},
    )


def _bounds(counts: Counts, limit: CapacityLimit, above: BoolArray) -> list[Bound]:
    """Return the limits; where a share of periods may have more, the mean is limited too."""
    if limit.by_size:
        return [Bound(counts.alarms, limit.most, counts.cases)]
    mean = Bound(counts.alarms, limit.most)
    if limit.kind == "mean":
        return [mean]
    return [Bound(above.astype(float), limit.exceed, is_share_of_periods=True), mean]


def _judge_never(counts: Counts, above: BoolArray) -> Judgement:
    if not above.any():
        return Judgement("kept" if len(above) else "too early to tell")
    first = day_of(counts.begins[int(np.argmax(above))])
    return Judgement("broken", first, first)


def _capacity_in_words(
    judgement: Judgement, counts: Counts, limit: CapacityLimit, above: BoolArray
) -> str:
    if not len(above):
        none = "no window of a stay has closed" if limit.kind == "rate" else "no period has ended"
        return f"capacity: too early to tell; {none}"
    alarms, cases = counts.alarms.sum(), counts.cases.sum()
    if limit.kind == "rate":
        seen = (
            f"{count(alarms)} alarms in {count(cases)} patient-days, "
            f"{short(alarms / cases, limit.most)} per patient-day, capacity {typed(limit.most)}"
        )
    elif limit.kind == "share":
        seen = (
            f"{count(alarms)} alarms in {count(cases)} cases, a share of {short(alarms / cases)}, "
            f"capacity {typed(limit.most)}"
        )
    else:
        seen = (
            f"{count(counts.alarms.mean(), limit.most)} alarms a period on average, capacity "
            f"{limit.most:g}; {int(above.sum()):,} of {len(above):,} periods had more"
        )
    if limit.kind in ("exceed", "never"):
        seen += f" ({typed_percent(limit.exceed)} may)" if limit.exceed else " (none may)"
    return f"capacity: {_verdict_in_words(judgement)}; {seen}"


def _verdict_in_words(judgement: Judgement) -> str:
    if judgement.verdict == "broken":
        return f"broken since about {judgement.since}, shown on {judgement.noticed}"
    return f"watch since {judgement.noticed}" if judgement.verdict == "watch" else judgement.verdict


SHOWN_PER = 1000
"""Costs are shown for this many cases."""


def mean_cost_ratio(policy: ThresholdPolicy, cost_ratio: float | None) -> float:
    """Return the cost ratio: the known one, or the mean of the scenario's."""
    if cost_ratio is not None:
        return float(cost_ratio)
    return policy.scenario.costs.mean_ratio(policy.n_negative / policy.n_positive)


def cost_watch(
    rows: Sequence[tuple[Any, ...]], ratio: float, max_cost: float, settings: Settings
) -> Watch:
    """Judge the mean cost per case, in misses, over periods whose windows have closed.

    A case without a label adds no cost: the true cost is at least what is counted, so a budget can
    be shown broken. It can be shown kept only where all cases have labels.
    """
    table = np.array(rows, dtype=float).reshape(-1, 5)
    begins, cases, false_alarms, misses, unlabelled = table.T
    costs, missing = ratio * false_alarms + misses, int(unlabelled.sum())
    bound = Bound(costs, max_cost, cases)
    judgement, values = _judged([bound], begins, settings, is_complete=not missing)
    if missing and judgement.verdict == "too early to tell":
        judgement = Judgement("unknown")
    return Watch(
        name="cost",
        **vars(judgement),
        **values,
        words=_cost_in_words(judgement, values["estimate"], max_cost, missing, int(cases.sum())),
        curves=lambda: {"time": begins, "cost": SHOWN_PER * costs / cases},
    )


def _cost_in_words(
    judgement: Judgement, estimate: float | None, max_cost: float, missing: int, cases: int
) -> str:
    if estimate is None:
        return "cost: too early to tell; no window has closed"
    cost, limit = SHOWN_PER * estimate, SHOWN_PER * max_cost
    seen = f"{short(cost, limit)} misses' worth per 1,000 cases, budget {short(limit)}"
    if missing:
        seen += (
            f"; {missing:,} of {cases:,} cases have no label, and the true cost is at least this"
        )
    return f"cost: {_verdict_in_words(judgement)}; {seen}"
