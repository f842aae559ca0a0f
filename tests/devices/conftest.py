"""Sizes at which a few thousand cases take every path that a billion take."""

from __future__ import annotations

import pytest

from voros.core import device_points, device_ranges, device_rows, device_sweep
from voros.devices import libraries

SMALL = {
    device_points: {"SORTED": 300, "KEPT": 400, "FINE": 32},
    device_ranges: {"DEVICE_SAMPLE": 400, "COARSE": 16, "TIED": 12},
    device_rows: {
        "FEW_ROWS": 20,
        "SORT_BLOCK": 500,
        "ROWS_TOGETHER": 4,
        "HULL_GROUPS": 8,
        "ROWS_OF_PART": 30,
    },
    device_sweep: {"PART": 300},
    libraries: {"DEVICE_BLOCK": 1000, "AT_ONCE": 0},
}


@pytest.fixture
def small_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, sizes in SMALL.items():
        for name, value in sizes.items():
            monkeypatch.setattr(module, name, value)
    # No kernels for ranked cases: the general way.
    monkeypatch.setattr(libraries.TorchLibrary, "hulls", None)
