"""Evaluate a fixed threshold over new stays: alarms per patient-day, events caught, lead times."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from voros.alarms.totals import words_elsewhere
from voros.core.clusters import GroupedCounts, GroupedShare
from voros.core.exact_intervals import Interval, ThresholdCounts, precision_of, recall_of
from voros.core.hull import Choice
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import PATIENT_DAY
from voros.exceptions import ArgumentError
from voros.policy.by_subgroup import FloorVerdict, SubgroupEvaluation, floor_verdict, floors_of
from voros.policy.deployment import Deployment
from voros.policy.violations import CheckedEvaluation, find_violations
from voros.text.numbers import (
    count,
    counted,
    interval,
    percent,
    short,
    threshold_text,
    with_interval,
)
from voros.text.table import Table
from voros.typing import FloatArray

if TYPE_CHECKING:
    from voros.alarms import StayRows
    from voros.alarms.sweep import AlarmCounts
    from voros.core.subgroups import Subgroups

ESTIMATES = {
    "precision": "precision",
    "recall": "recall of events",
    "alarms_per_patient_day": "alarms per patient-day",
}
"""Figures that have an interval, and their names in tables."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class StayEvaluation(CheckedEvaluation):
    """What a policy does over stays, its threshold and its rule fixed beforehand.

    Attributes
    ----------
    threshold : float
    n_stays, n_events : int
    n_events_without_row : int
        Events that no scored row can catch; they count as events, and as missed.
    n_events_elsewhere : int
        Events of stays without a row; they do not count as events.
    patient_days : float
        Days on which an alarm may sound.
    tp, fp : int
        Events caught, and false alarms.
    alarms : int
        Alarms that count for the capacity.
    lead_times : ndarray
        Hours from the first useful alarm to each event caught.
    n_stays_alarmed : int
        Stays with at least one alarm.
    n_first_useful : int
        Stays whose first alarm catches an event.
    violations : tuple of Violation
        One for each limit that is broken.
    intervals : dict
        Of precision, recall and alarms_per_patient_day, in the population of the patients, who are
        taken as independent.
    confidence_level : float
        Of the intervals.
    scenario : Scenario
    guarantee : Guarantee or None
        The promise that the policy was made with.
    by_subgroup : SubgroupEvaluation or None
        The same in each subgroup, where ``by`` was given.

    Examples
    --------
    >>> import voros
    >>> columns = {"stay": [1, 1, 2], "time": [0, 5, 0], "score": [0.2, 0.9, 0.4]}
    >>> columns["events"] = [1], [8]
    >>> rule = voros.AlarmRule(snooze="4h", horizon="6h")
    >>> scenario = voros.Scenario(min_precision=0.5, cost_ratio=0.1)
    >>> points = voros.alarm_points(**columns, rule=rule)
    >>> tested = voros.ThresholdPolicy.from_points(points, scenario).evaluate_stays(**columns)
    >>> tested.tp, tested.n_events, tested.alarms_per_patient_day, tested.lead_time_quartiles
    (1, 1, 1.6, (3.0, 3.0, 3.0))
    """

    TITLES: ClassVar = ("stays", "events", *ESTIMATES.values())

    threshold: float
    n_stays: int
    n_events: int
    n_events_without_row: int
    n_events_elsewhere: int
    patient_days: float
    tp: int
    fp: int
    alarms: int
    lead_times: FloatArray
    n_stays_alarmed: int
    n_first_useful: int
    intervals: dict[str, Interval]

    @property
    def precision(self) -> float:
        """Events caught, as a share of events caught and false alarms; NaN without any."""
        return _share(self.tp, self.tp + self.fp)

    @property
    def recall(self) -> float:
        """Share of the events that are caught."""
        return _share(self.tp, self.n_events)

    @property
    def floor(self) -> FloorVerdict:
        """Whether the precision floor is kept in the population, by the interval."""
        if np.isinf(self.threshold):
            return "kept"
        return floor_verdict(*self.intervals["precision"], self.scenario.min_precision)

    @property
    def recall_floor(self) -> FloorVerdict | None:
        """The same for a recall floor, where there is one; raising no alarm breaks it."""
        floor = self.scenario.min_recall
        if floor is None or np.isinf(self.threshold):
            return None if floor is None else "broken"
        return floor_verdict(*self.intervals["recall"], floor)

    @property
    def number_needed_to_evaluate(self) -> float:
        """Alarms to evaluate for each event caught: 1 / precision."""
        return _share(self.tp + self.fp, self.tp)

    @property
    def alarms_per_patient_day(self) -> float:
        """Alarms that count for the capacity, per patient-day."""
        return _share(self.alarms, self.patient_days)

    @property
    def cost_per_event(self) -> float:
        """Expected cost in missed events, for each event: raising no alarm costs 1.

        NaN where the costs are stated over t, which requires a number of negatives.
        """
        ratio = self.scenario.costs.mean_ratio(np.nan)
        return _share(ratio * self.fp + self.n_events - self.tp, self.n_events)

    @property
    def lead_time_quartiles(self) -> tuple[float, float, float]:
        """Hours of warning of the events caught; NaN without any."""
        hours = self.lead_times if len(self.lead_times) else [np.nan]
        low, middle, high = np.quantile(hours, (0.25, 0.5, 0.75)).tolist()
        return low, middle, high

    def values(self) -> dict[str, Any]:
        """Return the figures as plain values."""
        names = (
            *("threshold", "n_stays", "n_events", "n_events_without_row", "n_events_elsewhere"),
            *("patient_days", "tp", "fp", "alarms", "precision", "recall"),
            *("alarms_per_patient_day", "number_needed_to_evaluate", "cost_per_event"),
            *("lead_time_quartiles", "n_stays_alarmed", "n_first_useful"),
            *("confidence_level", "intervals", "satisfied"),
        )
        values = {name: getattr(self, name) for name in names}
        values["violations"] = [asdict(violation) for violation in self.violations]
        if self.by_subgroup is not None:
            values["by_subgroup"] = self.by_subgroup.values()
        return values

    def cells(self) -> tuple[str, ...]:
        """Return the sizes and the estimates as cells of a table of subgroups."""
        values = [(getattr(self, name), *limits) for name, limits in self.intervals.items()]
        figures = ("-" if np.isnan(of[0]) else with_interval(*of) for of in values)
        return f"{self.n_stays:,}", f"{self.n_events:,}", *figures

    def _parts(self) -> list[str | Table]:
        title = (
            f"threshold {threshold_text(self.threshold)} on {self.n_stays:,} stays, "
            f"{counted(self.n_events, 'event')}, {count(self.patient_days)} patient-days"
        )
        notes = ["intervals take patients as independent"]
        if self.n_events_without_row:
            notes.append(f"{self.n_events_without_row:,} of the events have no scored row in time")
        if self.n_events_elsewhere:
            notes.append(words_elsewhere(self.n_events_elsewhere))
        return self._in_words(title, self.table(), notes)

    def table(self) -> Table:
        """Return the figures with intervals and limits."""
        rate = self.scenario.per == PATIENT_DAY
        floors = floors_of(self.scenario).items()
        limits: dict[str, str] = {name: f"at least {floor:g}" for name, floor in floors}
        if rate:
            limits["alarms_per_patient_day"] = f"at most {self.scenario.capacity:g}"
        rows = [("", "value", f"{percent(self.confidence_level)} interval", "limit")]
        for name, title in ESTIMATES.items():
            value = getattr(self, name)
            span = "-" if np.isnan(value) else interval(*self.intervals[name])
            rows.append((title, short(value), span, limits.get(name, "")))
        quartiles = " / ".join(short(hours) for hours in self.lead_time_quartiles)
        rows += [
            ("events caught", f"{self.tp:,} of {self.n_events:,}", "", ""),
            ("number needed to evaluate", short(self.number_needed_to_evaluate), "", ""),
            ("lead time, quartiles in hours", quartiles, "", ""),
            ("stays with an alarm", f"{self.n_stays_alarmed:,} of {self.n_stays:,}", "", ""),
            ("first alarm useful", f"{self.n_first_useful:,} of {self.n_stays_alarmed:,}", "", ""),
        ]
        return Table.from_rows(rows)


def _share(part: float, whole: float) -> float:
    return part / whole if whole else float("nan")


def evaluate_stays(
    deployment: Deployment, stays: StayRows, confidence_level: float, by: Subgroups | None = None
) -> StayEvaluation:
    """Evaluate one threshold on stays, and on those of each subgroup."""
    evaluation = _evaluate(deployment, stays, confidence_level)
    if by is None:
        return evaluation
    # Each floor is a statement on each subgroup.
    n_verdicts = max(len(floors_of(deployment.scenario)), 1) * by.n_subgroups
    alone = 1.0 - (1.0 - confidence_level) / n_verdicts
    subgroups = SubgroupEvaluation(
        names=by.names,
        results=tuple(
            _evaluate(deployment, stays.only(part.codes == code), alone)
            for part in by.partitions
            for code in range(len(part.names))
        ),
        scenario=deployment.scenario,
        confidence_level=confidence_level,
        confidence_each=alone,
        notes=by.notes,
    )
    return replace(evaluation, by_subgroup=subgroups)


def _evaluate(deployment: Deployment, stays: StayRows, confidence_level: float) -> StayEvaluation:
    scenario = deployment.scenario
    if scenario.prevalence is not None:
        raise ArgumentError(
            "prevalence", f"={scenario.prevalence!r} of the policy: stays are taken as observed"
        )
    counts = stays.counts(deployment.thresholds)
    tp, fp, alarms = (by_stay.sum(axis=0) for by_stay in counts)
    cases = OperatingPoints(
        deployment.thresholds,
        tp,
        fp,
        stays.n_events,
        int(stays.slots.sum()),
        one_case=0.0,
        stays=stays,
        capacity_alarms=alarms,
    )
    choice = Choice.at(cases, 0, *scenario.costs.ratio_range(1.0))
    most = cases.max_alarms(scenario)
    threshold = float(deployment.thresholds[0])
    alarmed, useful = stays.first_alarms(threshold)
    return StayEvaluation(
        threshold=threshold,
        n_stays=stays.n_stays,
        n_events=stays.n_events,
        n_events_without_row=stays.n_events_without_row,
        n_events_elsewhere=stays.n_events_elsewhere,
        patient_days=stays.patient_days,
        tp=tp[0].item(),
        fp=fp[0].item(),
        alarms=alarms[0].item(),
        lead_times=stays.lead_times(threshold),
        n_stays_alarmed=int(alarmed.sum()),
        n_first_useful=int(useful.sum()),
        violations=find_violations(cases, scenario, most, (choice,), np.ones(1), None),
        intervals=_intervals(stays, counts, confidence_level),
        confidence_level=confidence_level,
        scenario=scenario,
        guarantee=deployment.guarantee,
    )


def _intervals(
    stays: StayRows, counts: AlarmCounts, confidence_level: float
) -> dict[str, Interval]:
    """Return the intervals of shares and of the rate, with patients as the independent units."""
    n_positive = stays.events[:, None]
    grouped = GroupedCounts(counts.tp, counts.fp, n_positive, stays.by_unit(stays.slots)[:, None])
    one = np.ones(1)
    shares = ThresholdCounts(
        tp=counts.tp.sum(axis=0),
        fp=counts.fp.sum(axis=0),
        n_positive=float(n_positive.sum()),
        n_negative=float(stays.slots.sum()),
        prevalence=None,
        probability=one,
        t_integral=one,
        ratio_integral=one,
        grouped=grouped,
    )
    intervals = {
        name: shares.share(part, confidence_level).mean(one).limits
        for name, part in (("precision", precision_of), ("recall", recall_of))
    }
    days = stays.by_unit(stays.rows.days)
    intervals["alarms_per_patient_day"] = _rate_limits(counts.alarms[:, 0], days, confidence_level)
    return intervals


def _rate_limits(alarms: FloatArray, days: FloatArray, confidence_level: float) -> Interval:
    """Return the interval of a ratio of two sums over patients, by Student's distribution."""
    from scipy.special import stdtrit

    n_units, rate = len(days), float(alarms.sum() / days.sum())
    if n_units < 2:
        return 0.0, float("inf")
    error = np.linalg.norm(GroupedShare.from_counts(alarms[:, None], days[:, None]).residuals)
    reach = float(stdtrit(n_units - 1, (1 + confidence_level) / 2) * error)
    return max(rate - reach, 0.0), rate + reach
