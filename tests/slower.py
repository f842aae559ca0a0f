"""Cases of a test that are slow tests, while others of the same promise stay quick."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def slow(*values: Any) -> Any:
    """One case of a parametrized test, for `make test-slow`."""
    return pytest.param(*values, marks=pytest.mark.slow)


def slow_after(n_quick: int, values: Iterable[Any]) -> list[Any]:
    """The cases of a parametrized test, the first of them quick."""
    return [value if i < n_quick else slow(value) for i, value in enumerate(values)]
