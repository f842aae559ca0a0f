"""Sums of alarms over stays, from which limits and operating points are computed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from voros.alarms.rule import AlarmRule
from voros.alarms.sweep import StayCurve
from voros.core.coverage import EVERY_SCORE, Coverage
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import PATIENT_DAY, Scenario
from voros.exceptions import Argument, ArgumentError
from voros.text.numbers import count, counted
from voros.typing import AnyArray


def words_elsewhere(n_events: int) -> str:
    """Say how many events are left out because their stay has no row.

    Examples
    --------
    >>> words_elsewhere(3)
    '3 events of stays without a row are left out'
    """
    whose = "a stay without a row is" if n_events == 1 else "stays without a row are"
    return f"{counted(n_events, 'event')} of {whose} left out"


class StaySums(NamedTuple):
    """Sums over the stays that have an event, and over those that have none.

    Attributes
    ----------
    stays, days, slots : ndarray of shape (2,)
        Stays, patient-days, and alarms if every row sounded one.
    """

    stays: AnyArray
    days: AnyArray
    slots: AnyArray


@dataclass(frozen=True, eq=False, kw_only=True)
class StayTotals:
    """Sums of alarms over stays.

    Attributes
    ----------
    rule : AlarmRule
        When an alarm sounds, and which events it catches.
    sums : StaySums
        Stays, patient-days and possible alarms.
    n_events : int
        Events that count, caught or not.
    n_events_elsewhere : int
        Events that are left out because their stay has no row.
    count : callable
        Counts the alarms at each threshold, on first use.
    weights : tuple of two floats
        How many stays each stay with an event stands for, and each without one.
    covers : Coverage
        Which thresholds are counted.

    Examples
    --------
    >>> import voros
    >>> rows = {"stay": [1, 1, 2], "hour": [0, 24, 0], "risk": [0.2, 0.9, 0.4]}
    >>> points = voros.alarm_points(
    ...     rows,
    ...     stay="stay",
    ...     time="hour",
    ...     score="risk",
    ...     events={"stay": [1], "hour": [30]},
    ...     rule=voros.AlarmRule(snooze="6h", horizon="12h"),
    ... )
    >>> points.stays.n_events
    1
    """

    rule: AlarmRule
    sums: StaySums
    n_events: int
    n_events_elsewhere: int = 0
    count: Callable[[], StayCurve]
    weights: tuple[float, float] = (1, 1)
    covers: Coverage = EVERY_SCORE

    @cached_property
    def curve(self) -> StayCurve:
        """Alarms at every threshold, or at those that ``covers`` names."""
        return self.count()

    @property
    def one_stay(self) -> float:
        """The fewest stays that one stay stands for."""
        return float(min(self.weights))

    @property
    def n_stays(self) -> int:
        """Number of stays that have a row."""
        return int(self.sums.stays.sum())

    @property
    def patient_days(self) -> float:
        """Days at which an alarm may sound, over all stays."""
        return float(self._weighted(self.sums.days))

    @property
    def n_units(self) -> int:
        """Number of patients, who are independent of each other."""
        return self.n_stays

    def _weighted(self, sums: AnyArray) -> Any:
        return (self.weights[0] * sums[0] + self.weights[1] * sums[1]).item()

    @property
    def words(self) -> str:
        """Numbers of stays, events and days, and of events that are left out."""
        stays, events = counted(self.n_stays, "stay"), counted(self.n_events, "event")
        left_out = f"; {words_elsewhere(n)}" if (n := self.n_events_elsewhere) else ""
        days = count(self.patient_days)
        return f"{stays}, {events}, {days} patient-days{left_out}"

    def points(self) -> OperatingPoints:
        """Return the counts at every threshold, ordered by alarms."""
        tp, fp, counted = (
            np.append(0, self.weights[0] * one + self.weights[1] * other)
            for one, other in zip(self.curve.with_event, self.curve.without_event, strict=True)
        )
        thresholds = np.append(np.inf, self.curve.thresholds)
        # The last of equal counts is chosen, so the one with fewest alarms of any kind is last.
        order = np.lexsort((thresholds, -counted, tp, tp + fp))
        order = np.append(0, order[(tp + fp)[order] > 0])
        tp, fp, counted = tp[order], fp[order], counted[order]
        n_slots = self._weighted(self.sums.slots)
        if n_slots == 0:
            raise ValueError("no row of any stay counts; all of them follow an event")
        return OperatingPoints(
            thresholds[order],
            tp,
            fp,
            self.weights[0] * self.n_events,
            n_slots,
            one_case=self.one_stay,
            covers=self.covers,
            stays=self,
            capacity_alarms=None if np.array_equal(counted, tp + fp) else counted,
        )

    def at_prevalence(self, prevalence: float | None) -> Self:
        """Reweight the stays so that this share of them has an event.

        Returns
        -------
        StayTotals
        """
        if prevalence is None:
            return self
        n_with, n_without = self.sums.stays.tolist()
        if n_with == 0 or n_without == 0:
            which = "none" if n_with == 0 else "each"
            raise ArgumentError("prevalence", f"={prevalence!r}: {which} of the stays has an event")
        n_stays = n_with + n_without
        weights = prevalence * n_stays / n_with, (1 - prevalence) * n_stays / n_without
        return replace(self, weights=weights)

    def max_alarms(self, scenario: Scenario, no_limit: float) -> float:
        """Return the capacity of a scenario as a number of alarms."""
        if scenario.per == PATIENT_DAY:
            return scenario.max_alarms(0, self.one_stay, self.patient_days)
        if scenario.per is not None:
            return float(scenario.capacity) * self.n_periods(scenario)
        if not scenario.capacity_is_count and scenario.capacity < 1:
            raise ArgumentError(
                "capacity",
                f"={scenario.capacity!r} is a share of cases, which stays do not have; accepted "
                "are a whole number of alarms, or a rate with ",
                Argument(
                    f"per={PATIENT_DAY!r}", "capacity", f"{scenario.capacity:g}/{PATIENT_DAY}"
                ),
            )
        return float(scenario.capacity) if scenario.capacity_is_count else float(no_limit)

    def n_periods(self, scenario: Scenario) -> int:
        """Return the number of periods that patients were admitted in."""
        raise ArgumentError(
            "per",
            f"={scenario.per!r}; accepted for stays counted in batches is {PATIENT_DAY!r}",
        )

    def within_reach(self, points: OperatingPoints, scenario: Scenario) -> OperatingPoints:
        """Return the points with enough negatives for all false alarms within the limits.

        With more negatives the score would be the same.
        """
        if self.n_events == 0:
            raise ValueError("the stays hold no event that counts; at least one is needed")
        floor = scenario.min_precision
        reach = points.n_positive * (1 - floor) / floor if floor > 0 else np.inf
        most = self.max_alarms(scenario, np.inf)
        needed = min(reach, most)
        if np.isinf(needed) or needed <= points.n_negative:
            return points
        return replace(points, n_negative=needed)

    def most_alarms(self, scenario: Scenario) -> float:
        """Return the number of alarms beyond which no lower threshold keeps the limits either."""
        if self.rule.repeats == "ignored":
            # The alarms that count may become fewer as the threshold falls.
            return np.inf
        most = self.max_alarms(scenario, np.inf)
        # Alarms that count for the capacity only need not be precise.
        only_false = self.rule.repeats == self.rule.unfinished == "false_alarm"
        if scenario.min_precision > 0 and only_false:
            most = min(most, self.weights[0] * self.n_events / scenario.min_precision)
        return float(most)

    def lowest_needed(self, scenario: Scenario, reach: float = 1.0) -> float:
        """Return the highest threshold with more alarms than the limits allow, times a reach.

        It is -inf where the curve has no such threshold.
        """
        here = self.at_prevalence(scenario.prevalence)
        of_stays = zip(here.weights, here.curve[1:], strict=True)
        alarms = sum(weight * counts.alarms for weight, counts in of_stays)
        beyond = np.flatnonzero(alarms > reach * here.most_alarms(scenario))
        return float(self.curve.thresholds[beyond[0]]) if len(beyond) else -np.inf

    def exhausts(self, scenario: Scenario) -> bool:
        """Whether the curve has a threshold below all those that can keep the limits."""
        return self.lowest_needed(scenario) > -np.inf
