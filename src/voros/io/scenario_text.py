"""Limits and costs as people write them: ``0.15``, ``15%``, ``1/9:1/6``, ``500``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from fractions import Fraction
from typing import Any

from voros.core.arrays import LARGEST_COUNT
from voros.core.costs import CostDistribution, miss_costs, uniform, uniform_t
from voros.core.scenario import Scenario
from voros.exceptions import Argument, ArgumentError, Message

COST_FIELDS = ("cost_ratio", "miss_costs", "t")
"""Ways to state the costs; a scenario needs exactly one."""

LONGEST_COUNT = 40
"""Most characters of a number of cases, with leading zeros."""

WIDE = Context(prec=MAX_PREC, Emin=MIN_EMIN, Emax=MAX_EMAX)
"""Shifts a decimal point exactly, with any exponent."""

SHOWN = 40
"""Most characters of a value that an error message shows."""

SHARES = ("min_precision", "min_recall", "prevalence", "exceed")
SCENARIO_FIELDS = ("min_precision", "min_recall", "capacity", *COST_FIELDS, *SHARES[2:], "per")


def scenario_from_fields(fields: Mapping[str, Any]) -> Scenario:
    """Make a scenario from fields that are numbers, pairs of numbers, or text.

    Parameters
    ----------
    fields : mapping
        ``min_precision``, ``min_recall``, ``capacity`` and ``prevalence`` as in `Scenario`, one of
        ``cost_ratio`` (C_FP / C_FN), ``miss_costs`` (how many false alarms a miss is worth) or
        ``t``: each a number, a pair, or text such as ``"1/9:1/6"``. A capacity per period is text
        such as ``"20/day"``, or a number with the field ``per``; ``exceed`` is a share of the
        periods.

    Examples
    --------
    >>> scenario_from_fields({"min_precision": "15%", "capacity": "500", "miss_costs": "20:40"})
    Scenario(min_precision=0.15, capacity=500, cost_ratio=miss_costs(20, 40))
    >>> scenario_from_fields({"capacity": "20/day", "exceed": "5%", "cost_ratio": 0.1})
    Scenario(min_precision=0.0, capacity=20, cost_ratio=known(0.1), per='day', exceed=0.05)
    """
    unknown = [name for name in fields if name not in SCENARIO_FIELDS]
    if unknown:
        raise ValueError(
            f"{unknown[0]!r} is not a limit; accepted are {', '.join(SCENARIO_FIELDS)}"
        )
    arguments: dict[str, Any] = {
        name: read_number(fields[name], name) for name in SHARES if name in fields
    }
    if "per" in fields:
        arguments["per"] = fields["per"]
    if "capacity" in fields:
        number, per = split_period(fields["capacity"])
        arguments["capacity"] = read_capacity(number)
        other = arguments.setdefault("per", per)
        if per is not None and other != per:
            reason = f"={other!r}, and the capacity is one per {per!r}; give one"
            raise ArgumentError("per", reason)
    return Scenario(**arguments, cost_ratio=_read_costs(fields))


def split_period(capacity: Any) -> tuple[Any, str | None]:
    """Split ``20/day`` into the number and its period; a fraction such as ``1/20`` has none.

    Examples
    --------
    >>> split_period("20/day"), split_period("1/20"), split_period(500)
    (('20', 'day'), ('1/20', None), (500, None))
    """
    number, slash, per = str(capacity).rpartition("/")
    named = slash and per.strip() and not per.strip()[0].isdigit()
    return (number, per.strip()) if named and isinstance(capacity, str) else (capacity, None)


def _read_costs(fields: Mapping[str, Any]) -> CostDistribution:
    stated = [name for name in COST_FIELDS if name in fields]
    if len(stated) > 1:
        both = (Argument(stated[0]), " and ", Argument(stated[1]))
        raise ValueError(Message(*both, " are mutually exclusive"))
    if not stated:
        ratio = (Argument("cost_ratio"), " (a false alarm against a miss, such as 1/9:1/6) or ")
        worth = (Argument("miss_costs"), " (false alarms that a miss is worth, such as 6:9)")
        raise ValueError(Message("state the costs: ", *ratio, *worth))
    low, high = read_range(fields[stated[0]], stated[0])
    return {"cost_ratio": uniform, "miss_costs": miss_costs, "t": uniform_t}[stated[0]](low, high)


def read_number(value: Any, name: str) -> float:
    """Read a number, a fraction such as ``1/9`` or a percentage such as ``15%``.

    Examples
    --------
    >>> read_number("1/8", "prevalence"), read_number("15%", "prevalence")
    (0.125, 0.15)
    """
    accepted = "accepted are finite numbers in forms such as 0.15, 15% or 3/20"
    try:
        parsed = _parsed(value)
    except (ArithmeticError, ValueError):
        raise ArgumentError(name, f"={shown(value)} is not a number; {accepted}") from None
    try:
        number = float(parsed)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ArgumentError(name, f"={shown(value)} is not a finite number; {accepted}")
    if number == 0 != parsed:
        raise ArgumentError(name, f"={shown(value)} is too small to differ from 0; {accepted}")
    return number


def _parsed(value: Any) -> int | float | Decimal | Fraction:
    """Parse a number exactly; a large exponent takes no memory."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value
    text = str(value).strip()
    if "_" in text:
        raise ValueError("1_0 is 10 only in Python")
    body, hundredths = text.removesuffix("%").strip(), text.endswith("%")
    if "/" in body:
        return Fraction(body) / (100 if hundredths else 1)
    float(body)  # refuses forms that only Decimal knows, such as sNaN
    return WIDE.scaleb(Decimal(body), -2) if hundredths else Decimal(body)


def shown(value: Any) -> str:
    """Return a value for an error message, cut if it is long.

    Examples
    --------
    >>> shown("15%"), shown("9" * 400)
    ("'15%'", "'9999999999999999999999999999999999999... (402 characters)")
    """
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 2]}... ({len(text)} characters)"


def read_capacity(value: Any, name: str = "capacity") -> float:
    """Read a capacity: a whole number is a count of cases, anything else a share of them.

    Examples
    --------
    >>> read_capacity("500"), read_capacity("0.5"), read_capacity("50%")
    (500, 0.5, 0.5)
    """
    if isinstance(value, bool):
        raise ArgumentError(name, f"={value!r} is not a number; accepted are a share and a count")
    text = str(value).strip()
    if isinstance(value, float) or not text.lstrip("+-").isdecimal():
        return read_number(value, name)
    count = read_count(text)
    if count is None or count > LARGEST_COUNT:
        raise ArgumentError(
            name,
            f"={shown(value)} is more cases than can be counted; accepted are at most "
            f"{LARGEST_COUNT:,}, or a share such as 0.5",
        )
    return count


def read_count(text: str) -> int | None:
    """Parse a whole number; return None for any other text, or if it is too long.

    Examples
    --------
    >>> read_count("500"), read_count("12h"), read_count("9" * 5000)
    (500, None, None)
    """
    digits = text.strip().lstrip("+-")
    # The length comes first: parsing a million digits takes long.
    return int(text) if digits.isdecimal() and len(digits) <= LONGEST_COUNT else None


def read_range(value: Any, name: str) -> tuple[float, float]:
    """Read a range ``low:high``; a single value is both ends.

    Examples
    --------
    >>> read_range("20:40", "miss_costs"), read_range([1, "3/2"], "cost_ratio")
    ((20.0, 40.0), (1.0, 1.5))
    """
    parts = list(value) if isinstance(value, (list, tuple)) else str(value).split(":")
    if len(parts) not in (1, 2):
        raise ArgumentError(name, f"={shown(value)}; accepted is a number, or two as in 1/9:1/6")
    low, high = read_number(parts[0], name), read_number(parts[-1], name)
    if low > high:
        raise ArgumentError(name, f"={shown(value)} is reversed; the smaller value comes first")
    return low, high
