"""Which thresholds keep the limits of alarms over stays in the population of patients.

At a threshold that is fixed beforehand, TP - floor * (TP + FP) of each patient are independent
draws, with a mean of at least 0 exactly when the threshold keeps the precision floor. TP - floor *
events do the same for a recall floor, and rate * days - alarms for a capacity per patient-day. With
a capacity per period the draws are sums over all patients admitted in a period, and capacity -
alarms of the period. No patient raises more alarms than if every row sounded one, whatever the
threshold, which bounds the bets. Events caught need not rise as thresholds fall. The tests do not
assume it: thresholds are tested in sequences that are fixed on other patients. The proof is in the
documentation (theory/guarantee-units.md).
"""

from __future__ import annotations

import numpy as np

from voros.alarms import StayRows
from voros.alarms.sweep import sweep
from voros.core.scenario import PATIENT_DAY, Scenario
from voros.exceptions import ArgumentError
from voros.guarantee.cluster_tests import (
    ClusterTests,
    bet_tests,
    has_floor,
    learning_order,
)
from voros.guarantee.tuning import TUNING
from voros.typing import AnyArray, FloatArray


def stay_tests(stays: StayRows, scenario: Scenario, alpha: float) -> ClusterTests:
    """Choose thresholds on the patients set aside, and test them on the others.

    With a capacity per period a unit is all patients who were admitted in a period.
    """
    if scenario.per_period:
        stays = stays.by_admission(scenario)
    most = stays.by_unit(stays.slots)
    order, n_learning = learning_order(most)
    tested = _candidates(stays, order[:n_learning], scenario)
    limits = _limit_sums(stays, scenario, tested, float(most.max()))
    # Where repeats are ignored, a lower threshold may raise fewer alarms that count.
    fewer = not has_floor(scenario) and stays.rule.repeats != "ignored"
    return bet_tests(tested, limits, order, n_learning, alpha, stricter_too=fewer)


def _limit_sums(
    stays: StayRows, scenario: Scenario, tested: FloatArray, most: float
) -> list[tuple[FloatArray, float]]:
    counts, floor, recall = stays.counts(tested), scenario.min_precision, scenario.min_recall
    limits: list[tuple[FloatArray, float]] = []
    if recall is not None:
        events = stays.events[:, None].astype(np.float64)
        limits.append((counts.tp - recall * events, recall * float(events.max())))
    if floor > 0:
        limits.append((counts.tp - floor * (counts.tp + counts.fp), floor * most))
    if _limited(scenario):
        limits.append(
            (scenario.capacity * _exposure(stays, scenario)[:, None] - counts.alarms, most)
        )
    return limits


def _limited(scenario: Scenario) -> bool:
    """Whether there is a capacity per patient-day or per period."""
    if scenario.per is None and scenario.capacity_is_count:
        raise ArgumentError(
            "capacity",
            f"={scenario.capacity!r} is a number of alarms on these stays, and says nothing about "
            f"others; a guarantee needs a rate, per={PATIENT_DAY!r} or per='day'",
        )
    return scenario.per is not None


def _exposure(stays: StayRows, scenario: Scenario) -> FloatArray:
    """Return the exposure of each unit: its patient-days, or one period."""
    if scenario.per == PATIENT_DAY:
        return stays.by_unit(stays.rows.days)
    return np.ones(stays.n_units)


def _candidates(stays: StayRows, learned: AnyArray, scenario: Scenario) -> FloatArray:
    """Return thresholds to test, strict to lenient, by about equal steps of alarms.

    They end where the stays that are set aside break the limits for certain.
    """
    learning = np.isin(stays.unit, learned)
    curve = sweep(stays.scored, learning)
    alarms = curve.with_event.alarms + curve.without_event.alarms
    n_events = float(np.count_nonzero(learning[stays.rows.event_stay]))
    reach = alarms.max(initial=0.0)
    if _limited(scenario):
        reach = min(reach, scenario.capacity * float(_exposure(stays, scenario)[learned].sum()))
    if scenario.min_precision > 0:
        reach = min(reach, n_events / scenario.min_precision)
    wanted = np.linspace(0, max(reach, 1.0), TUNING.most_tested + 1)[1:]
    rows = np.searchsorted(np.maximum.accumulate(alarms), wanted, side="right") - 1
    # At least one threshold is tested: the strictest, even if it raises too many alarms.
    thresholds = curve.thresholds if len(curve.thresholds) else np.array([np.inf])
    return np.asarray(thresholds[np.unique(np.maximum(rows, 0))])
