"""CUDA kernels that count and keep ranges in one read of float32 scores.

Plain torch writes an array as long as the scores in every step. These kernels write only counts, or
the kept scores. They are in `cuda_ranges.cu`, and torch compiles them at run time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from voros.core.counting import blocks_of
from voros.devices.cuda_compiler import compiled

BLOCKS, THREADS = 264, 1024

CASES_PER_LAUNCH = 2**30
"""Counters on the device have 32 bits; the host adds those of all launches."""

EVEN = 0.25
"""Largest error of an even edge, in steps, for which a linear guess finds the range."""


def _kernel(name: str) -> Any:
    return compiled("cuda_ranges.cu", name)


def available() -> bool:
    """Whether torch can compile for the current device."""
    return _kernel("keep_ranges") is not None


def count_marks(marks: Any) -> int:
    """Count the marks set, sixteen at a time: torch would convert each to 64 bits."""
    n_whole = len(marks) // 16
    total = marks[16 * n_whole :].sum()
    _kernel("count_marks")(BLOCKS, THREADS, marks, total, n_whole)
    return int(total)


def even_step(edges: NDArray[Any]) -> float | None:
    """Return the inverse of the step between the inner edges; None if they are not even."""
    inner = edges[1:-1]
    if edges.dtype != np.float32 or len(inner) < 3 or not np.isfinite(inner).all():
        return None
    scale = np.float32((len(inner) - 1) / (float(inner[-1]) - float(inner[0])))
    if not 1e-30 < scale < 1e30:
        return None
    off = (inner - inner[0]) * scale - np.arange(len(inner), dtype=np.float32)
    return float(scale) if np.abs(off).max() < EVEN else None


def _edges_and_step(edges: NDArray[Any], scale: float, device: Any) -> Any:
    """Return on the device the edges followed by the inverse of their step, 0 if uneven."""
    return torch.as_tensor(np.append(edges, np.float32(scale)), device=device)


def count(scores: Any, positive: Any, edges: NDArray[Any], scale: float) -> NDArray[Any]:
    """Count negatives and positives between even edges."""
    there = _edges_and_step(edges, scale, scores.device)
    length = 2 * (len(edges) + 1)
    total = np.zeros(length, dtype=np.int64)
    for part in blocks_of(len(scores), CASES_PER_LAUNCH):
        counts = torch.zeros(length, dtype=torch.int32, device=scores.device)
        cases = scores[part], positive[part].view(torch.uint8)
        sizes = len(cases[0]), len(edges)
        _kernel("count_ranges")(BLOCKS, THREADS, *cases, there, counts, *sizes)
        total += counts.cpu().numpy()
    return total.reshape(-1, 2)


def keep(
    scores: Any,
    positive: Any,
    edges: NDArray[Any],
    wanted: NDArray[np.bool_],
    sizes: tuple[int, int],
) -> tuple[Any, Any, tuple[int, int]]:
    """Return the scores of positives and of negatives in the wanted ranges, and their numbers.

    `wanted` has an entry for the scores below the first edge, between each and the next, and from
    the last one up; `sizes` are the expected numbers of positives and negatives.
    """
    device = scores.device
    there = _edges_and_step(edges, even_step(edges) or 0.0, device)
    flags = torch.as_tensor(wanted, device=device)
    limits = torch.tensor(sizes[::-1], dtype=torch.int64, device=device)
    of_negatives, of_positives = (
        torch.empty(size, dtype=torch.float32, device=device) for size in sizes[::-1]
    )
    taken = torch.zeros(2, dtype=torch.int64, device=device)
    for part in blocks_of(len(scores), CASES_PER_LAUNCH):
        cases = scores[part], positive[part].view(torch.uint8)
        kept = of_negatives, of_positives, taken, limits
        numbers = len(cases[0]), len(edges)
        _kernel("keep_ranges")(4 * BLOCKS, THREADS // 4, *cases, there, flags, *kept, *numbers)
    n_negatives, n_positives = taken.tolist()
    return of_positives, of_negatives, (n_positives, n_negatives)
