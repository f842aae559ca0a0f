"""Alarms per period or per case against the capacity, and costs against a budget.

Both are ratios of sums over periods that have ended.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from voros.core.calendar import Calendar
from voros.core.scenario import PATIENT_DAY
from voros.monitoring.evidence import ratio_bets, ratio_interval, weigh
from voros.monitoring.settings import Settings, day_of
from voros.monitoring.status import Judgement, Watch, judge
from voros.monitoring.store import PeriodTotals
from voros.text.numbers import count, short, typed, typed_percent
from voros.typing import BoolArray, FloatArray

if TYPE_CHECKING:
    from voros.monitoring.watched_policy import WatchedPolicy


class CapacityLimit(NamedTuple):
    """The most alarms per case, per patient-day or per period.

    Attributes
    ----------
    most : float
    per : str
        "case", "patient-day" or "period".
    exceed : float or None
        The share of the periods that may have more; None limits the mean of the periods alone.
    """

    most: float
    per: str
    exceed: float | None = None

    @property
    def by_size(self) -> bool:
        """Whether the limit grows with the number of cases or patient-days."""
        return self.per != "period"


def capacity_limit(policy: WatchedPolicy) -> CapacityLimit | None:
    """Return the capacity that is watched; None where the policy has none."""
    scenario, most = policy.limits, float(policy.limits.capacity)
    if policy.rule is not None:
        return CapacityLimit(most, PATIENT_DAY) if scenario.per == PATIENT_DAY else None
    if scenario.per is not None:
        return CapacityLimit(most, "period", scenario.exceed)
    share = most / policy.n_cases if scenario.capacity_is_count else most
    return CapacityLimit(share, "case") if share < 1 else None


class Counts(NamedTuple):
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
    sizes = None
    if limit.by_size:
        counts = Counts._make(column[counts.cases > 0] for column in counts)
        sizes = counts.cases
    most = limit.most * (np.ones(len(counts.cases)) if sizes is None else sizes)
    above = counts.alarms > most
    bounds = [Bound(counts.alarms, limit.most, sizes)]
    if limit.exceed is not None:
        # The mean is limited too.
        bounds.insert(0, Bound(above.astype(float), limit.exceed, is_share_of_periods=True))
    judgement, values = _judged(bounds, counts.begins, settings)
    if limit.exceed == 0:
        judgement = _judge_never(counts, above)
    return Watch(
        name="capacity",
        unit="stay" if limit.per == PATIENT_DAY else "period",
        **vars(judgement),
        **values,
        words=f"capacity: {judgement.words}; {_alarms_in_words(counts, limit, above)}",
        curves=lambda: {"time": counts.begins, "alarms": counts.alarms, "capacity": most},
    )


def _judge_never(counts: Counts, above: BoolArray) -> Judgement:
    if not above.any():
        return Judgement("kept" if len(above) else "too early to tell")
    first = day_of(counts.begins[int(np.argmax(above))])
    return Judgement("broken", first, first)


def _alarms_in_words(counts: Counts, limit: CapacityLimit, above: BoolArray) -> str:
    if not len(above):
        stays = limit.per == PATIENT_DAY
        return "no window of a stay has closed" if stays else "no period has ended"
    if limit.by_size:
        alarms, sizes = counts.alarms.sum(), counts.cases.sum()
        return (
            f"{count(alarms)} alarms in {count(sizes)} {limit.per}s, "
            f"{short(alarms / sizes, limit.most)} per {limit.per}, capacity {typed(limit.most)}"
        )
    seen = (
        f"{count(counts.alarms.mean(), limit.most)} alarms a period on average, capacity "
        f"{limit.most:g}; {int(above.sum()):,} of {len(above):,} periods had more"
    )
    if limit.exceed is None:
        return seen
    return f"{seen} ({typed_percent(limit.exceed)} may)" if limit.exceed else f"{seen} (none may)"


SHOWN_PER = 1000
"""Costs are shown for this many cases."""


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
    seen = _costs_in_words(values["estimate"], max_cost, missing, int(cases.sum()))
    return Watch(
        name="cost",
        **vars(judgement),
        **values,
        words=f"cost: {judgement.words}; {seen}",
        curves=lambda: {"time": begins, "cost": SHOWN_PER * costs / cases},
    )


def _costs_in_words(estimate: float | None, max_cost: float, missing: int, cases: int) -> str:
    if estimate is None:
        return "no window has closed"
    cost, limit = SHOWN_PER * estimate, SHOWN_PER * max_cost
    seen = f"{short(cost, limit)} misses' worth per 1,000 cases, budget {short(limit)}"
    if missing:
        seen += (
            f"; {missing:,} of {cases:,} cases have no label, and the true cost is at least this"
        )
    return seen
