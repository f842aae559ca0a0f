"""Plan how many validation cases certify a precision floor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voros.core.arguments import OPEN_INTERVAL, as_number, check_number
from voros.guarantee.binomial_tests import (
    MOST_ALARMS,
    alpha_shares,
    fewest_alarms,
    level_at,
    most_counted,
    passing,
)
from voros.guarantee.tuning import TUNING


@dataclass(frozen=True)
class CasesNeeded:
    """Alarms that a certificate needs, and the validation cases that raise them.

    Attributes
    ----------
    alarms : int
        Validation alarms at the threshold.
    true_positives : int
        True positives among them that are needed to pass.
    cases : int or None
        Validation cases, where `alarm_rate` was given.
    positives : int or None
        Positives among them, where `prevalence` was given as well.
    power : float
        Probability of passing at the true precision.

    Examples
    --------
    >>> import voros
    >>> plan = voros.cases_needed(0.5, 0.6, alarm_rate=0.05)
    >>> plan.alarms, plan.cases, plan.positives, round(plan.power, 3)
    (170, 3400, None, 0.806)
    """

    alarms: int
    true_positives: int
    cases: int | None
    positives: int | None
    power: float


def cases_needed(
    min_precision: float,
    true_precision: float,
    *,
    confidence: float = 0.95,
    power: float = 0.8,
    alarm_rate: float | None = None,
    prevalence: float | None = None,
    capacity: float = 1.0,
) -> CasesNeeded:
    """Plan a validation that certifies a precision floor in the population.

    The test is that of a `Guarantee` at the threshold, at the level that its fixed-sequence test
    has there when all stricter thresholds pass. If their precision is no better, the certificate
    passes less often than planned.

    Parameters
    ----------
    min_precision : float in (0, 1)
        The floor to certify.
    true_precision : float
        The precision that the threshold is believed to have; above the floor.
    confidence : float in (0, 1), default 0.95
    power : float in (0, 1), default 0.8
        Probability with which the validation should pass.
    alarm_rate : float in (0, 1], optional
        Share of the cases that the threshold flags: turns alarms into cases.
    prevalence : float in (0, 1), optional
        Share of positives: turns cases into positives.
    capacity : float in (0, 1], default 1.0
        The share of alarms that the scenario allows; below 1 it needs `alarm_rate`.

    Returns
    -------
    CasesNeeded
        Alarms, true positives, cases and positives of the validation.

    Examples
    --------
    A floor of one true alarm in two, and a model believed to reach 60 %:

    >>> plan = cases_needed(0.5, 0.6, alarm_rate=0.05, prevalence=0.1)
    >>> plan.alarms, plan.true_positives, plan.cases, plan.positives
    (170, 97, 3400, 340)
    """
    shares = {"min_precision": min_precision, "confidence": confidence, "power": power}
    if prevalence is not None:
        shares["prevalence"] = prevalence
    for name, value in shares.items():
        check_number(value, name, "a number strictly between 0 and 1", *OPEN_INTERVAL)
    if alarm_rate is not None:
        least = TUNING.least_rate
        check_number(alarm_rate, "alarm_rate", f"a number from {least:g} to 1", least, 1.0)
    check_number(capacity, "capacity", "a number above 0 and at most 1", OPEN_INTERVAL[0], 1.0)
    if alarm_rate is None and (prevalence is not None or capacity < 1):
        argument = "capacity" if prevalence is None else "prevalence"
        raise ValueError(f"{argument} needs alarm_rate as well: it is a share of the cases")
    if alarm_rate is not None and capacity < 1 and alarm_rate >= capacity:
        raise ValueError(
            f"alarm_rate={alarm_rate!r}; accepted is a number below capacity={capacity!r}: a "
            "threshold that uses all of a capacity cannot be certified to keep it"
        )
    if not min_precision < as_number(true_precision, "true_precision") <= 1:
        raise ValueError(
            f"true_precision={true_precision!r}; accepted is a number above min_precision="
            f"{min_precision!r} and at most 1: a floor that is not exceeded cannot be certified"
        )
    # SciPy does not take fractions.
    floor, truth, alpha = float(min_precision), float(true_precision), 1 - float(confidence)
    rate, share = None if alarm_rate is None else float(alarm_rate), float(capacity)
    alarms = fewest_alarms(floor, truth, alpha, power)
    while True:
        cases, level = _level(alarms, floor, alpha, rate, share)
        needed, reached = passing(np.array([alarms]), floor, truth, max(level, TUNING.least_alpha))
        if level > 0 and reached[0] >= power:
            break
        alarms += 1 + alarms // TUNING.planning_steps
        if alarms > MOST_ALARMS:
            raise ValueError(
                f"alarm_rate={alarm_rate!r} is too close to capacity={capacity!r}: more than "
                f"{MOST_ALARMS:,} alarms would be needed"
            )
    positives = None if cases is None or prevalence is None else int(np.ceil(cases * prevalence))
    return CasesNeeded(alarms, int(needed[0]), cases, positives, float(reached[0]))


def _level(
    alarms: int, floor: float, alpha: float, alarm_rate: float | None, capacity: float
) -> tuple[int | None, float]:
    """Return the cases that raise a number of alarms, and the level of the test there.

    The level is 0 where nothing is tested.
    """
    if alarm_rate is None:
        return None, float(level_at(floor, alpha, alarms, MOST_ALARMS))
    n_cases = int(np.ceil(alarms / alarm_rate - 1e-9))
    allowed = capacity * n_cases
    for_floor, for_capacity = alpha_shares(alpha, floor, allowed, n_cases)
    most = most_counted(n_cases, allowed, None, for_capacity)
    return n_cases, float(level_at(floor, for_floor, alarms, most)) if alarms <= most else 0.0
