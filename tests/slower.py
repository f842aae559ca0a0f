"""Cases of a test that are slow tests, and how long a call takes beside another."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

import pytest


def slow(*values: Any) -> Any:
    """One case of a parametrized test, for `make test-slow`."""
    return pytest.param(*values, marks=pytest.mark.slow)


def slow_after(n_quick: int, values: Iterable[Any]) -> list[Any]:
    """The cases of a parametrized test, the first of them quick."""
    return [value if i < n_quick else slow(value) for i, value in enumerate(values)]


def takes_less_than(times: float, call: Callable[[], Any], reference: Callable[[], Any]) -> bool:
    """Whether a call takes less than so many times as long as another, in one of ten rounds.

    A round measures both, one after the other, in processor time: what else the machine does slows
    both, though not always alike.
    """

    def seconds(timed: Callable[[], Any]) -> float:
        began = time.process_time()
        timed()
        return time.process_time() - began

    return any(seconds(call) < times * seconds(reference) for _ in range(10))
