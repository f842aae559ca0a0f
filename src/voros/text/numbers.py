"""Write numbers for people; files for programs keep every digit.

Measurements have three significant digits, counts are whole, and numbers that somebody typed stay
as typed. No number is rounded to one that it is compared with: 0.9996 does not become 1.00.
"""

from __future__ import annotations

import math
from decimal import ROUND_DOWN, ROUND_UP, Context, Decimal

DIGITS = 3

TYPED_DIGITS = 6
"""Numbers with at most this many digits are shown in full."""

EXACT_DIGITS = 9
"""Differences beyond these digits are rounding errors."""

NEXT_TO = 1e-4
"""Ends of intervals this near to 0 or 1, as a share of the length, are written as 0 or 1."""

MOST_DIGITS = 15
"""Digits that a float holds."""

LEAST_WRITTEN_OUT = 1e-4
"""Smaller numbers are written with an exponent."""


def short(value: float, *limits: float) -> str:
    """Write a measurement with three significant digits.

    It has more digits if it would otherwise be rounded to 1 or to one of the limits. Whole numbers
    below 1,000 are written whole.

    Parameters
    ----------
    value : float
    *limits : float
        What it is compared with.

    Returns
    -------
    str

    Examples
    --------
    >>> short(0.62359), short(0.7), short(105.42), short(654_439.2), short(1.2e-6), short(20.0)
    ('0.624', '0.700', '105', '654,000', '1.20e-06', '20')
    >>> short(0.99962), short(0.14996, 0.15), short(float("nan"))
    ('0.9996', '0.14996', '-')
    """
    return _written(value, DIGITS, (1.0, *limits))


def count(value: float, *limits: float) -> str:
    """Write a count in full, and a sum of weights without decimals from 100 on.

    Parameters
    ----------
    value : float
    *limits : float
        What it is compared with.

    Returns
    -------
    str

    Examples
    --------
    >>> count(7_456_000.0), count(1234.5678), count(6.691), count(float("inf"))
    ('7,456,000', '1,235', '6.69', 'infinity')
    """
    if math.isfinite(value) and value == round(value):
        return f"{value:,.0f}"
    return _written(value, max(DIGITS, _whole_digits(value)), limits)


def positives_in_words(n_positive: float, prevalence: float | None) -> str:
    """Write the number of positive cases, and the prevalence if it is a stated one.

    Returns
    -------
    str

    Examples
    --------
    >>> positives_in_words(371, None), positives_in_words(900, prevalence=0.3)
    ('371 positive', '900 positive at the stated prevalence of 0.3')
    """
    stated = "" if prevalence is None else f" at the stated prevalence of {typed(prevalence)}"
    return f"{count(n_positive)} positive{stated}"


def counted(n: int, noun: str) -> str:
    """Return a number with its noun.

    Returns
    -------
    str

    Examples
    --------
    >>> counted(1, "alarm"), counted(2000, "alarm")
    ('1 alarm', '2,000 alarms')
    """
    return f"{n:,} {noun}" + ("" if n == 1 else "s")


def count_within(limit: float, *counts: float) -> str:
    """Write the greatest whole count within a limit, or the limit itself if it is below 1.

    Parameters
    ----------
    limit : float
    *counts : float
        What it limits. Where one is a sum of weights, the limit is written as it is.

    Returns
    -------
    str

    Examples
    --------
    >>> count_within(745.6), count_within(1200.0), count_within(0.25), count_within(float("inf"))
    ('745', '1,200', '0.250', 'infinity')
    >>> count_within(4.38, 1.5)
    '4.38'
    """
    # The float 0.29 * 100 is just below 29.
    whole = limit >= 1 and math.isfinite(limit) and all(n == round(n) for n in counts)
    return count(math.floor(_rounded(limit, MOST_DIGITS)) if whole else limit)


def percent(share: float, *limits: float) -> str:
    """Write a share in percent, with three significant digits.

    Parameters
    ----------
    share : float
    *limits : float
        What it is compared with.

    Returns
    -------
    str

    Examples
    --------
    >>> percent(0.95), percent(0.08154), percent(0.99962), percent(1.0)
    ('95 %', '8.15 %', '99.96 %', '100 %')
    """
    return f"{_written(100 * share, DIGITS, (100.0, *(100 * limit for limit in limits)))} %"


def percent_of(share: float, n: int) -> str:
    """Write a share of n in percent, with as many digits as its standard error allows.

    Parameters
    ----------
    share : float
    n : int
        Number of resamples or grid cells.

    Returns
    -------
    str

    Examples
    --------
    >>> percent_of(1 / 2000, 2000), percent_of(0.0512, 2000), percent_of(0.3775, 2000)
    ('0.05 %', '5.1 %', '38 %')
    >>> percent_of(0.0, 2000), percent_of(1.0, 2000)
    ('0 %', '100 %')
    """
    error = 100 * min(math.sqrt(share * (1 - share) / n), share, 1 - share)
    decimals = max(math.ceil(-math.log10(error)), 0) if error > 0 else 0
    return f"{100 * share:.{decimals}f} %"


def rounded_up(value: float) -> float:
    """Round an upper bound up to three significant digits; rounded down it could be false.

    Returns
    -------
    float

    Examples
    --------
    >>> rounded_up(0.012341), rounded_up(0.5)
    (0.0124, 0.5)
    """
    return float(Context(DIGITS, ROUND_UP).create_decimal(repr(float(value))))


def signed(value: float, *limits: float) -> str:
    """Write a difference with its sign.

    Returns
    -------
    str

    Examples
    --------
    >>> signed(0.0123), signed(-2.5), signed(0.0)
    ('+0.0123', '-2.50', '+0')
    """
    written = short(value, *limits)
    return written if value < 0 or math.isnan(value) else f"+{written}"


def interval(low: float, high: float) -> str:
    """Write the two ends of an interval, or one number if they are equal.

    Returns
    -------
    str

    Examples
    --------
    >>> interval(0.25, 0.5), interval(3.0, 3.0), interval(0.50001, 0.50002)
    ('0.250 to 0.500', '3', '0.500 to 0.50002')

    An end next to 0 or 1, for the length of the interval, is rounded outwards to it:

    >>> interval(6.99e-9, 0.99999999), interval(0.2, 0.99993)
    ('0 to 1', '0.200 to 1')
    """
    if low == high:
        return short(low)
    slack = NEXT_TO * (high - low)
    low = 0.0 if 0 < low < slack else low
    high = 1.0 if 1 - slack < high < 1 else high
    return f"{short(low, high)} to {short(high, low)}"


def count_interval(low: float, high: float) -> str:
    """Write the ends of an interval of a count, rounded outwards to whole numbers.

    Returns
    -------
    str

    Examples
    --------
    >>> count_interval(8.56, 23.9), count_interval(1199.5, 1310.2)
    ('8 to 24', '1,199 to 1,311')
    """
    return f"{math.floor(low):,} to {math.ceil(high):,}"


def with_interval(value: float, low: float, high: float) -> str:
    """Write an estimate and its interval, or only the estimate if there is none.

    Returns
    -------
    str

    Examples
    --------
    >>> with_interval(0.5, 0.25, 0.75), with_interval(0.5, float("nan"), float("nan"))
    ('0.500 (0.250 to 0.750)', '0.500')
    """
    return short(value) if math.isnan(low) else f"{short(value)} ({interval(low, high)})"


def typed(value: float) -> str:
    """Write a number as somebody typed it, and the result of a division with three digits.

    Returns
    -------
    str

    Examples
    --------
    >>> typed(0.05), typed(0.12345), typed(1 / 9), typed(2000.0)
    ('0.05', '0.12345', '0.111', '2000')
    """
    full = f"{value:.{TYPED_DIGITS}g}"
    return full if float(full) == value else short(value).replace(",", "")


def typed_percent(share: float) -> str:
    """Write a share that somebody typed, in percent.

    Returns
    -------
    str

    Examples
    --------
    >>> typed_percent(0.07), typed_percent(0.1234)
    ('7 %', '12.34 %')
    """
    return f"{typed(_rounded(100 * share, EXACT_DIGITS))} %"


def threshold_text(threshold: float) -> str:
    """Write a threshold in full if it has up to six digits, or else three digits and dots.

    A rounded threshold may raise other alarms. The dots show that digits are missing, and no
    program reads the text as a number.

    Returns
    -------
    str

    Examples
    --------
    >>> threshold_text(0.743041992), threshold_text(0.7012), threshold_text(1234567.5)
    ('0.743...', '0.7012', '1234567...')
    >>> threshold_text(float("inf")), threshold_text(float("-inf"))
    ('never', 'always')
    """
    if math.isinf(threshold):
        return "never" if threshold > 0 else "always"
    full = f"{threshold:.{max(TYPED_DIGITS, _whole_digits(threshold))}g}"
    if float(full) == threshold or math.isnan(threshold):
        return full
    cut = Context(max(DIGITS, _whole_digits(threshold)), ROUND_DOWN)
    return f"{str(cut.create_decimal(Decimal(threshold))).lower()}..."


def _whole_digits(value: float) -> int:
    """Return the number of digits before the decimal point, at most those of a float."""
    return min(len(str(int(abs(value)))), MOST_DIGITS) if math.isfinite(value) else 1


def _written(value: float, digits: int, limits: tuple[float, ...]) -> str:
    """Write a number with some digits, or with more to tell it from the limits."""
    if not math.isfinite(value):
        return "-" if math.isnan(value) else "infinity" if value > 0 else "-infinity"
    exact = min(max(EXACT_DIGITS, digits + DIGITS), MOST_DIGITS)
    value, ends = _rounded(value, exact), [_rounded(end, exact) for end in limits]
    while digits < exact and not _tells_apart(_rounded(value, digits), value, ends):
        digits += 1
    near = _rounded(value, digits)
    if near == value == round(value):
        return f"{value:,.0f}"
    if abs(near) < LEAST_WRITTEN_OUT:
        return f"{near:.{digits - 1}e}"
    return f"{near:,.{max(digits - 1 - math.floor(math.log10(abs(near))), 0)}f}"


def _rounded(value: float, digits: int) -> float:
    return float(f"{value:.{digits - 1}e}")


def _tells_apart(near: float, value: float, limits: list[float]) -> bool:
    """Whether a rounded number lies on the same side of every limit as the number itself."""
    return all(value == end or (near != end and (near < end) == (value < end)) for end in limits)
