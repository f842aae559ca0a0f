"""Hulls of sorted cases on a CUDA device, found in tiles, so that few thresholds reach the host.

A tile holds neighbouring thresholds. Its corners are the thresholds above every line between two
others that meet the limits. They are found in shared memory and form the tiles of the next round,
until few are left. Counts are integers and their products have 64 bits, so that nothing is rounded.
Torch compiles the kernels at run time; if it cannot, `voros.devices.rows` does the same, in more
steps, by the array API. The kernels are in `cuda_hulls.cu`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from voros.devices.cuda_compiler import compiled

HULL_TILE, HULL_THREADS = 2048, 256
"""Thresholds of a tile, and threads for each tile."""

GROUP = 128
"""Tiles whose kept thresholds form one tile of the next round."""

PLACES, LATER_PLACES = 64, 1024
"""Most thresholds that a tile keeps, in the first round and in later ones."""


CountedLimits = tuple[float, float, float, float, float]

Corners = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]


def _kernel(name: str) -> Any:
    return compiled("cuda_hulls.cu", name)


def available() -> bool:
    """Whether torch can compile for the device."""
    return _kernel("tile_hulls") is not None


def corners(scores: Any, positive: Any, limits: Sequence[CountedLimits]) -> list[Corners] | None:
    """Sort cases of single precision and find their corners; None if a tile has too many.

    Parameters
    ----------
    scores, positive : tensor
    limits : sequence of tuple of float
        As in `voros.devices.rows.limits_in_counts`, for each scenario.

    Returns
    -------
    list of tuple of ndarray
        For each scenario, thresholds that may be chosen, from the highest down, with true and false
        positives.
    """
    if not scores.dtype.is_floating_point or scores.dtype.itemsize > 4:
        return None
    ranked, order = torch.sort(scores.to(torch.float32))
    marks, totals = _marks(order, positive.contiguous())
    # The host waits once for each scenario, after all kernels are launched.
    launched = [_launch(ranked, marks, totals, part) for part in limits]
    answers = [_decoded(part.cpu().numpy()) for part in launched]
    kept = [answer for answer in answers if answer is not None]
    return kept if len(kept) == len(answers) else None


def _marks(order: Any, positive: Any) -> tuple[Any, Any]:
    """Return which cases are positive, in the order of their scores, and how many in each tile."""
    n_tiles = -(-len(order) // HULL_TILE)
    marks = torch.empty_like(positive)
    totals = torch.empty(n_tiles, dtype=torch.int32, device=order.device)
    _kernel("rank_marks")(n_tiles, HULL_THREADS, order, positive, marks, totals, len(order))
    return marks, totals


def _launch(ranked: Any, marks: Any, totals: Any, limits: CountedLimits) -> Any:
    """Reduce tiles of thresholds to one; the host does not wait for the device."""
    kept_before, n_before, held, n_tiles = totals, len(totals), 0, len(totals)
    while True:
        places = PLACES if n_tiles > 1 and not held else LATER_PLACES
        kept = torch.empty(n_tiles * (3 * places + 1), dtype=torch.int32, device=ranked.device)
        sizes = len(ranked), n_before, held, places
        _kernel("tile_hulls")(
            n_tiles, HULL_THREADS, ranked, marks, kept_before, kept, *sizes, *limits
        )
        if n_tiles == 1:
            return kept
        kept_before, n_before, held, n_tiles = kept, n_tiles, places, -(-n_tiles // GROUP)


def _decoded(answer: NDArray[np.int32]) -> Corners | None:
    """Return the thresholds that the last tile kept, with true and false positives."""
    n_kept = int(answer[-1])
    if n_kept < 0:
        return None
    scores, tp, fp = answer[:-1].reshape(3, -1)[:, :n_kept]
    order = scores.view(np.float32).argsort()[::-1]
    return scores.view(np.float32)[order], tp[order].astype(np.int64), fp[order].astype(np.int64)
