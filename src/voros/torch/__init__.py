"""Partial VOROS as a torchmetrics metric: `PartialVOROS`, loaded when it is used."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from voros.installing import missing_package

if TYPE_CHECKING:
    from voros.torch.metric import PartialVOROS as PartialVOROS

PUBLIC = ("PartialVOROS",)
"""No `__all__`: torch is large, and a star import would load it."""


def __getattr__(name: str) -> Any:
    """Import the metric when it is used, and say how to get torch where it is missing."""
    if name not in PUBLIC:
        raise AttributeError(f"module 'voros.torch' has no attribute {name!r}")
    for package in ("torch", "torchmetrics"):
        if find_spec(package) is None:
            raise missing_package("voros.torch", package)
    from voros.torch import metric

    return getattr(metric, name)


def __dir__() -> list[str]:
    """List the public names, imported or not."""
    return sorted({*globals(), *PUBLIC})
