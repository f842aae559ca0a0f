"""Checks of numbers, words and flags that a user passes; errors say what is accepted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import Any, TypeVar

import numpy as np

from voros.exceptions import ArgumentError

Checked = TypeVar("Checked")

OPEN_INTERVAL = float(np.nextafter(0.0, 1.0)), float(np.nextafter(1.0, 0.0))
"""The smallest and the largest number strictly between 0 and 1."""


def as_number(value: Any, name: str, accepted: str = "a number") -> float:
    """Return a real number as a float; text, booleans and arrays are rejected.

    Examples
    --------
    >>> as_number(True, "capacity")
    Traceback (most recent call last):
    voros.exceptions.ArgumentError: capacity=True; accepted is a number
    """
    if not isinstance(value, Real) or isinstance(value, (bool, np.bool_)):
        raise ArgumentError(name, f"={value!r}; accepted is {accepted}")
    try:
        return float(value)
    except OverflowError:
        raise ArgumentError(name, f" is beyond all floats; accepted is {accepted}") from None


def is_scalar(value: Any) -> bool:
    """Whether a value is a single one, such as a number or text, and not a list of values."""
    if isinstance(value, np.ndarray):
        return value.ndim == 0
    return isinstance(value, (str, bytes)) or not isinstance(value, Iterable)


def check_number(
    value: Any,
    name: str,
    accepted: str = "a number within [0, 1]",
    low: float = 0.0,
    high: float = 1.0,
) -> float:
    """Return a number from `low` to `high` as a float, or raise and say what is accepted.

    Examples
    --------
    >>> check_number(1.5, "tolerance")
    Traceback (most recent call last):
    voros.exceptions.ArgumentError: tolerance=1.5; accepted is a number within [0, 1]
    """
    number = as_number(value, name, accepted)
    if not low <= number <= high:
        raise ArgumentError(name, f"={value!r}; accepted is {accepted}")
    return number


def check_confidence(confidence: Any, name: str = "confidence") -> float:
    """Return a confidence as a float: a number strictly between 0 and 1."""
    accepted = "a number strictly between 0 and 1"
    return check_number(confidence, name, accepted, *OPEN_INTERVAL)


def check_count(value: Any, name: str, accepted: str, low: int = 1, high: float = np.inf) -> int:
    """Return a whole number from `low` to `high`, or raise and say what is accepted.

    Examples
    --------
    >>> check_count(2.5, "thin", "a whole number above 0")
    Traceback (most recent call last):
    voros.exceptions.ArgumentError: thin=2.5; accepted is a whole number above 0
    """
    integral = isinstance(value, Integral) and not isinstance(value, (bool, np.bool_))
    if not integral or not low <= value <= high:
        raise ArgumentError(name, f"={value!r:.40}; accepted is {accepted}")
    return int(value)


def check_type(value: Any, name: str, kind: type[Checked], accepted: str) -> Checked:
    """Return a value of a type, or raise and say what is accepted.

    Examples
    --------
    >>> check_type(3, "policy", str, "a name")
    Traceback (most recent call last):
    TypeError: policy is a int; accepted is a name
    """
    if isinstance(value, kind):
        return value
    raise TypeError(f"{name} is a {type(value).__name__}; accepted is {accepted}")


def check_flag(value: Any, name: str) -> bool:
    """Return a boolean; anything else, such as ``"no"`` or 0, is refused.

    Examples
    --------
    >>> check_flag("no", "stratified")
    Traceback (most recent call last):
    voros.exceptions.ArgumentError: stratified='no'; accepted are True and False
    """
    if not isinstance(value, (bool, np.bool_)):
        raise ArgumentError(name, f"={value!r}; accepted are True and False")
    return bool(value)


def check_choice(value: Any, name: str, choices: Sequence[str]) -> None:
    """Raise unless a value is one of the words that an argument accepts.

    Examples
    --------
    >>> check_choice("mean", "method", ("bca", "percentile"))
    Traceback (most recent call last):
    voros.exceptions.ArgumentError: method='mean'; accepted are 'bca', 'percentile'
    """
    if not isinstance(value, str) or value not in choices:
        raise ArgumentError(name, f"={value!r}; accepted are {', '.join(map(repr, choices))}")
