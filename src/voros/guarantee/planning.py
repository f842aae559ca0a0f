"""How many validation cases it takes to certify a precision floor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voros.core.arrays import OPEN_INTERVAL, as_number, check_number
from voros.guarantee.binomial_tests import fewest_alarms, passing
from voros.guarantee.tuning import TUNING


@dataclass(frozen=True)
class CasesNeeded:
    """Alarms, and the validation cases behind them, that a certificate takes.

    Attributes
    ----------
    alarms : int
        Validation alarms at the threshold.
    true_positives : int
        True positives among them that it takes to pass.
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
    (158, 3160, None, 0.806)
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
) -> CasesNeeded:
    """Plan a validation that certifies a precision floor, by the exact binomial test.

    Parameters
    ----------
    min_precision : float in (0, 1)
        The floor to certify.
    true_precision : float
        The precision the threshold is believed to have; above the floor.
    confidence : float in (0, 1), default 0.95
    power : float in (0, 1), default 0.8
        Probability with which the validation should pass.
    alarm_rate : float in (0, 1], optional
        Share of the cases that the threshold flags: turns alarms into cases.
    prevalence : float in (0, 1), optional
        Share of positives: turns cases into positives.

    Examples
    --------
    A floor of one right alarm in two, and a model believed to reach 60 %:

    >>> plan = cases_needed(0.5, 0.6, alarm_rate=0.05, prevalence=0.1)
    >>> plan.alarms, plan.true_positives, plan.cases, plan.positives
    (158, 90, 3160, 316)
    """
    shares = {"min_precision": min_precision, "confidence": confidence, "power": power}
    if prevalence is not None:
        shares["prevalence"] = prevalence
    for name, value in shares.items():
        check_number(value, name, "a number strictly between 0 and 1", *OPEN_INTERVAL)
    if alarm_rate is not None:
        least = TUNING.least_rate
        check_number(alarm_rate, "alarm_rate", f"a number from {least:g} to 1", least, 1.0)
    if prevalence is not None and alarm_rate is None:
        raise ValueError("prevalence needs alarm_rate as well: positives are a share of the cases")
    if not min_precision < as_number(true_precision, "true_precision") <= 1:
        raise ValueError(
            f"true_precision={true_precision!r}; accepted is a number above min_precision="
            f"{min_precision!r} and at most 1: a floor that is not exceeded cannot be certified"
        )
    # Fractions are numbers too, but not to SciPy.
    min_precision, true_precision, confidence = map(
        float, (min_precision, true_precision, confidence)
    )
    alarms = fewest_alarms(min_precision, true_precision, 1 - confidence, power)
    right, reached = passing(np.array([alarms]), min_precision, true_precision, 1 - confidence)
    cases = None if alarm_rate is None else int(np.ceil(alarms / alarm_rate - 1e-9))
    positives = None if cases is None or prevalence is None else int(np.ceil(cases * prevalence))
    return CasesNeeded(alarms, int(right[0]), cases, positives, float(reached[0]))
