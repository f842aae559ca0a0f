"""Settings of all tests."""

from __future__ import annotations

import os

from hypothesis import settings

# Locally every run searches elsewhere; continuous integration judges the same examples each time.
settings.register_profile("repeatable", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("repeatable")
