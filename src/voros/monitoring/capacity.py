"""Alarms per period against the capacity, over the periods that have ended."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voros.core.arrays import AnyArray, BoolArray, FloatArray
from voros.core.calendar import Calendar
from voros.monitoring.bets import STAKE_WEIGHTS, mean_bets
from voros.monitoring.confidence import mean_interval, positive_mean_interval
from voros.monitoring.evidence import Evidence, weigh
from voros.monitoring.settings import CapacityLimit, Settings
from voros.monitoring.status import Judgement, Seen, Watch
from voros.monitoring.store import PeriodTotals
from voros.monitoring.times import day_of


@dataclass(frozen=True, eq=False)
class Counts:
    """Cases and alarms of the periods that have ended, empty ones of a calendar included."""

    begins: FloatArray
    cases: FloatArray
    alarms: FloatArray


def ended_counts(periods: PeriodTotals, unit: str | None) -> Counts:
    """Leave out the period that goes on, and add the calendar's periods without a case."""
    calendar = None if unit is None else Calendar.of(unit)
    if calendar is None or not len(periods.names):
        return Counts(periods.starts[:-1], periods.cases[:-1], periods.alarms[:-1])
    numbers = calendar.numbers_of(periods.names)
    every = np.arange(numbers.min(), numbers.max())
    filled = np.zeros((2, len(every) + 1))
    filled[:, numbers - numbers.min()] = periods.cases, periods.alarms
    begins = calendar.begins(every).astype("datetime64[s]").astype(float)
    return Counts(begins, filled[0, :-1], filled[1, :-1])


def capacity_watch(counts: Counts, limit: CapacityLimit, settings: Settings) -> Watch:
    """Judge the alarms of the periods that have ended."""
    if limit.kind == "share":
        some = counts.cases > 0
        counts = Counts(counts.begins[some], counts.cases[some], counts.alarms[some])
    most = limit.most * (counts.cases if limit.kind == "share" else np.ones(len(counts.cases)))
    above = counts.alarms > most
    evidence = _evidence(counts, limit, settings, above)
    estimate, low, high = _estimate(counts, limit, settings, above)
    allowed = limit.exceed if limit.kind in ("exceed", "never") else limit.most
    kept = high is not None and high <= allowed
    found = _judge_never(counts, above) if limit.kind == "never" else None
    if found is None:
        found = Seen().then(evidence, counts.begins).judge(kept)
    return Watch(
        "capacity",
        found.verdict,
        _words(found, counts, limit, above),
        allowed,
        estimate,
        low,
        high,
        len(counts.cases),
        evidence.ratio,
        found.since,
        found.noticed,
        {
            "time": counts.begins,
            "alarms": counts.alarms,
            "capacity": most,
            "evidence": evidence.gaps,
        },
    )


def _evidence(
    counts: Counts, limit: CapacityLimit, settings: Settings, above: BoolArray
) -> Evidence:
    values: AnyArray
    if limit.kind == "share":
        values, most = counts.alarms / counts.cases, limit.most
    elif limit.kind == "exceed":
        values, most = above.astype(float), limit.exceed
    else:
        values, most = counts.alarms, limit.most
    bets, alpha = mean_bets(values, most), settings.alpha
    return weigh(bets, STAKE_WEIGHTS, alpha, settings.run_length, begins=counts.begins)


def _estimate(
    counts: Counts, limit: CapacityLimit, settings: Settings, above: BoolArray
) -> tuple[float | None, float | None, float | None]:
    if not len(counts.cases):
        return None, None, None
    if limit.kind == "mean":
        least, most = positive_mean_interval(counts.alarms, settings.alpha)
        return float(counts.alarms.mean()), least, most if np.isfinite(most) else None
    share = limit.kind == "share"
    hits = counts.alarms.sum() if share else above.sum()
    n = counts.cases.sum() if share else len(above)
    low, high = mean_interval(np.array([hits]), np.array([n]), settings.alpha)
    return float(hits / n), float(low[0]), float(high[0])


def _judge_never(counts: Counts, above: BoolArray) -> Judgement:
    if not above.any():
        return Judgement("kept" if len(above) else "too early to tell")
    first = day_of(counts.begins[int(np.argmax(above))])
    return Judgement("broken", first, first)


def _words(found: Judgement, counts: Counts, limit: CapacityLimit, above: BoolArray) -> str:
    if not len(above):
        return "capacity: too early to tell; no period has ended"
    share = limit.kind == "share"
    mean = counts.alarms.mean()
    allowed = f"{limit.most:.4g} of the cases" if share else f"{limit.most:g} a period"
    seen = (
        f"{mean:.1f} alarms a period on average, capacity {allowed}; "
        f"{int(above.sum()):,} of {len(above):,} periods had more"
    )
    if limit.kind in ("exceed", "never"):
        seen += f" ({limit.exceed:.1%} may)" if limit.exceed else " (none may)"
    since = {
        "broken": f" since about {found.since}, shown on {found.noticed}",
        "watch": f" since {found.noticed}",
    }.get(found.verdict, "")
    return f"capacity: {found.verdict}{since}; {seen}"
