"""Numbers for people: three significant digits, and counts in full."""

from __future__ import annotations

import math

DIGITS = 3


def short(value: float, digits: int = DIGITS) -> str:
    """Write a number with three significant digits, and never with an exponent from 1 on.

    Examples
    --------
    >>> short(0.62359), short(105.42), short(654_439.2), short(1.2e-6)
    ('0.624', '105', '654,000', '1.2e-06')
    """
    return f"{float(f'{value:.{digits - 1}e}'):,.15g}" if math.isfinite(value) else f"{value:g}"


def count(value: float) -> str:
    """Write a whole number in full, and a sum of weights with six digits.

    Examples
    --------
    >>> count(7_456_000.0), count(1234.5678), count(float("inf"))
    ('7,456,000', '1,234.57', 'inf')
    """
    if not math.isfinite(value):
        return f"{value:g}"
    return f"{value:,.0f}" if value == round(value) else short(value, 6)
