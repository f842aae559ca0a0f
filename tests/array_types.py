"""Arrays of every library that is installed, and how a test makes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

Maker = Callable[..., Any]


def strict_array(values: Any, dtype: Any = None) -> Any:
    """Make an array on a device that numpy cannot reach: any copy to the host must be meant."""
    xp = pytest.importorskip("array_api_strict")
    return xp.asarray(np.asarray(values, dtype=dtype), device=xp.Device("device1"))


def torch_tensor(values: Any, dtype: Any = None) -> Any:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    return torch.as_tensor(np.array(values, dtype=dtype))


def cuda_tensor(values: Any, dtype: Any = None) -> Any:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    return torch_tensor(values, dtype).cuda()


def cupy_array(values: Any, dtype: Any = None) -> Any:
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
    return cupy.asarray(np.asarray(values, dtype=dtype))


MAKERS: dict[str, Maker] = {
    "strict": strict_array,
    "torch": torch_tensor,
    "cuda": cuda_tensor,
    "cupy": cupy_array,
}
