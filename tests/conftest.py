"""Settings of all tests, and fixtures that all share."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from started import browser, spark

__all__ = ["browser", "spark"]

# No deadline: how long an example takes says more about the machine than about the code. Locally
# every run searches elsewhere; continuous integration judges the same examples each time.
settings.register_profile("unhurried", deadline=None)
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("repeatable" if os.environ.get("CI") else "unhurried")


# Collecting makes millions of objects and drops few of them: looking for those that could go takes
# a tenth of the time, then and whenever a test looks again.
gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


def pytest_unconfigure() -> None:
    gc.unfreeze()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Iterator[None]:
    """Collect tests only: examples are in the docstrings of the packages, not in those of tests."""
    collectors = yield
    return [collector for collector in collectors if type(collector) is pytest.Module]
