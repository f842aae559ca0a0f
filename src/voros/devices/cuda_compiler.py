"""Kernels in CUDA's language, compiled by torch at run time."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import torch


@lru_cache(maxsize=8)
def compiled(source: str, name: str) -> Any:
    """Return a kernel by its name in the source; None where this torch cannot compile it."""
    compile_kernel = getattr(torch.cuda, "_compile_kernel", None)
    if compile_kernel is None:
        return None
    try:
        return compile_kernel(source, name)
    except (OSError, RuntimeError):
        return None
