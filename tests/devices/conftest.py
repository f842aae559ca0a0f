"""Sizes at which a few thousand cases take every path that a billion take."""

from __future__ import annotations

import pytest

from voros.devices import libraries, points, ranges, rows

SMALL = {
    points: {"SORTED": 300, "KEPT": 400, "FINE": 32},
    ranges: {"DEVICE_SAMPLE": 400, "COARSE": 16, "TIED": 12},
    rows: {
        "FEW_ROWS": 20,
        "SORT_BLOCK": 500,
        "HULL_GROUPS": 8,
    },
    libraries: {"DEVICE_BLOCK": 1000, "AT_ONCE": 0},
}


@pytest.fixture
def small_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, sizes in SMALL.items():
        for name, value in sizes.items():
            monkeypatch.setattr(module, name, value)
    # No kernels for ranked cases: the general way.
    monkeypatch.setattr(libraries.TorchLibrary, "hulls", None)
