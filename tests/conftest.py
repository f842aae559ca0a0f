"""Settings of all tests, and fixtures that all share."""

from __future__ import annotations

import os

from hypothesis import settings
from started import browser, spark

__all__ = ["browser", "spark"]

# No deadline: how long an example takes says more about the machine than about the code. Locally
# every run searches elsewhere; continuous integration judges the same examples each time.
settings.register_profile("unhurried", deadline=None)
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("repeatable" if os.environ.get("CI") else "unhurried")
