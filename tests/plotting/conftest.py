"""Draw without a screen, and close every figure after each test."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec

import numpy as np
import pytest

import voros


@pytest.fixture(scope="session")
def cases() -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Labels, and scores with ties of a sharp and of a blunt model."""
    rng = np.random.default_rng(3)
    y = rng.random(500) < 0.2
    drawn = {"sharp": rng.normal(size=500) + 2.0 * y, "blunt": rng.normal(size=500) + 0.8 * y}
    return y, {name: scores.round(2) for name, scores in drawn.items()}


@pytest.fixture(scope="session")
def scenario() -> voros.Scenario:
    return voros.Scenario(min_precision=0.4, capacity=0.3, cost_ratio=(1 / 20, 1 / 3))


@pytest.fixture(autouse=True)
def offscreen() -> Iterator[None]:
    if find_spec("matplotlib") is None:
        yield
        return
    import matplotlib.pyplot as plt

    plt.switch_backend("Agg")
    yield
    plt.close("all")
