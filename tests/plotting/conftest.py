"""Draw without a screen, and close every figure after each test."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec

import pytest


@pytest.fixture(autouse=True)
def offscreen() -> Iterator[None]:
    if find_spec("matplotlib") is None:
        yield
        return
    import matplotlib.pyplot as plt

    plt.switch_backend("Agg")
    yield
    plt.close("all")
