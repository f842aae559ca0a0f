# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, allow-incomplete-defs
"""Counting and selecting in one read of the scores, on CUDA through Triton.

Plain torch writes an array as long as the scores for every step. These kernels write counts, or
the scores selected, and nothing else.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import triton
import triton.language as tl
from numpy.typing import NDArray

from voros.devices import cuda_counting

TILE = 4096
"""Cases that a program works on at once."""

KEPT_TILE = 2048
"""Cases that a program selects from at once."""

CASES_PER_LAUNCH = 2**30
"""Counters on the device have 32 bits; the host adds launches up."""

EVEN = 0.25
"""By how much of a step an edge may be off to be found from a linear guess."""


@triton.jit
def _range_of(score, edges, n_edges, start, scale):
    """Return the edges at most each score, less one: guessed, and corrected by comparison."""
    guess = tl.minimum(tl.maximum((score - start) * scale, 0.0), n_edges - 3.0).to(tl.int32) + 1
    home = guess - (score < tl.load(edges + guess)).to(tl.int32)
    home += (score >= tl.load(edges + guess + 1)).to(tl.int32)
    return tl.where(score < tl.load(edges), -1, home)


@triton.jit
def _count(scores, positive, edges, counts, n_cases, n_edges, start, scale, SIZE: tl.constexpr):
    place = tl.program_id(0).to(tl.int64) * SIZE + tl.arange(0, SIZE)
    inside = place < n_cases
    score = tl.load(scores + place, mask=inside, other=0.0).to(tl.float32)
    mark = tl.load(positive + place, mask=inside, other=0).to(tl.int32)
    home = _range_of(score, edges, n_edges, start, scale)
    between = inside & (home > 0) & (home < n_edges - 1)
    tl.atomic_add(counts + 2 * (home + 1) + mark, 1, mask=between, sem="relaxed")
    # Most cases are beyond the edges, and one counter for all of them would be a queue.
    lowest, highest = inside & (home == 0), inside & (home == n_edges - 1)
    tl.atomic_add(counts + 2, tl.sum((lowest & (mark == 0)).to(tl.int32)), sem="relaxed")
    tl.atomic_add(counts + 3, tl.sum((lowest & (mark == 1)).to(tl.int32)), sem="relaxed")
    top = counts + 2 * n_edges
    tl.atomic_add(top, tl.sum((highest & (mark == 0)).to(tl.int32)), sem="relaxed")
    tl.atomic_add(top + 1, tl.sum((highest & (mark == 1)).to(tl.int32)), sem="relaxed")


@triton.jit
def _put(out, taken, size, score, chosen):
    number = chosen.to(tl.int32)
    n_chosen = tl.sum(number)
    if n_chosen > 0:
        first = tl.atomic_add(taken, n_chosen.to(tl.int64), sem="relaxed")
        target = first + tl.cumsum(number, 0) - 1
        tl.store(out + target, score, mask=chosen & (target < size))


@triton.jit
def _put_both(
    marks, of_positives, n_of_positives, of_negatives, n_of_negatives, taken, score, chosen
):
    if tl.sum(chosen.to(tl.int32)) > 0:
        mark = tl.load(marks, mask=chosen, other=0)
        _put(of_positives, taken, n_of_positives, score, chosen & (mark != 0))
        _put(of_negatives, taken + 1, n_of_negatives, score, chosen & (mark == 0))


@triton.jit
def _keep(
    scores,
    positive,
    edges,
    wanted,
    of_positives,
    of_negatives,
    taken,
    n_cases,
    n_of_positives,
    n_of_negatives,
    n_edges,
    start,
    scale,
    SIZE: tl.constexpr,
):
    place = tl.program_id(0).to(tl.int64) * SIZE + tl.arange(0, SIZE)
    inside = place < n_cases
    score = tl.load(scores + place, mask=inside, other=0.0)
    home = _range_of(score.to(tl.float32), edges, n_edges, start, scale)
    chosen = inside & (tl.load(wanted + home + 1) != 0)
    _put_both(
        positive + place,
        of_positives,
        n_of_positives,
        of_negatives,
        n_of_negatives,
        taken,
        score,
        chosen,
    )


@triton.jit
def _keep_between(
    scores,
    positive,
    n_cases,
    low,
    high,
    of_positives,
    n_of_positives,
    of_negatives,
    n_of_negatives,
    taken,
    OPEN_ABOVE: tl.constexpr,
    SIZE: tl.constexpr,
):
    place = tl.program_id(0).to(tl.int64) * SIZE + tl.arange(0, SIZE)
    inside = place < n_cases
    score = tl.load(scores + place, mask=inside, other=0.0)
    value = score.to(tl.float32)
    chosen = inside & (value >= low)
    if not OPEN_ABOVE:
        chosen = chosen & (value < high)
    _put_both(
        positive + place,
        of_positives,
        n_of_positives,
        of_negatives,
        n_of_negatives,
        taken,
        score,
        chosen,
    )


@triton.jit
def _sum(marks, total, n_cases, SIZE: tl.constexpr):
    place = tl.program_id(0).to(tl.int64) * SIZE + tl.arange(0, SIZE)
    mark = tl.load(marks + place, mask=place < n_cases, other=0)
    tl.atomic_add(total, tl.sum(mark.to(tl.int32)).to(tl.int64), sem="relaxed")


def even_step(edges: NDArray[Any]) -> float | None:
    """Return the inverse of the step between the inner edges; None where they are not even."""
    inner = edges[1:-1]
    if edges.dtype != np.float32 or len(inner) < 3 or not np.isfinite(inner).all():
        return None
    scale = np.float32((len(inner) - 1) / (float(inner[-1]) - float(inner[0])))
    if not 1e-30 < scale < 1e30:
        return None
    off = (inner - inner[0]) * scale - np.arange(len(inner), dtype=np.float32)
    return float(scale) if np.abs(off).max() < EVEN else None


def count_marks(marks: Any) -> int:
    """Count the marks that are set."""
    total = torch.zeros(1, dtype=torch.int64, device=marks.device)
    size = 4 * TILE
    _sum[(triton.cdiv(marks.shape[0], size),)](
        marks.view(torch.uint8), total, marks.shape[0], SIZE=size
    )
    return int(total)


def count_even(scores: Any, positive: Any, edges: NDArray[Any], scale: float) -> NDArray[Any]:
    """Count negatives and positives between edges; those below the first may be left out."""
    there = torch.as_tensor(np.append(edges, np.float32(scale)), device=scores.device)
    length = 2 * (len(edges) + 1)
    total = np.zeros(length, dtype=np.int64)
    for first in range(0, scores.shape[0], CASES_PER_LAUNCH):
        part = scores[first : first + CASES_PER_LAUNCH]
        marks = positive[first : first + CASES_PER_LAUNCH].view(torch.uint8)
        counts = torch.zeros(length, dtype=torch.int32, device=scores.device)
        sizes = part.shape[0], len(edges), float(edges[1]), scale
        if cuda_counting.fits(part, marks, edges):
            cuda_counting.count(part, marks, there, counts, part.shape[0], len(edges))
        else:
            _count[(triton.cdiv(part.shape[0], TILE),)](
                part, marks, there, counts, *sizes, SIZE=TILE
            )
        total += counts.cpu().numpy()
    return total.reshape(-1, 2)


def keep_even(
    scores: Any,
    positive: Any,
    edges: NDArray[Any],
    scale: float,
    wanted: NDArray[np.bool_],
    sizes: tuple[int, int],
) -> tuple[Any, Any, tuple[int, int]]:
    """Return the scores of positives and of negatives in the ranges wanted, and their numbers.

    `wanted` says it of the ranges below the first edge, between each and the next, and from the
    last one up; `sizes` are the numbers expected.
    """
    device = scores.device
    there = torch.as_tensor(edges, device=device)
    flags = torch.as_tensor(wanted.astype(np.uint8), device=device)
    of_positives, of_negatives, taken = _places(scores, sizes)
    numbers = scores.shape[0], *sizes, len(edges), float(edges[1]), scale
    marks = positive.view(torch.uint8)
    arrays = scores, marks, there, flags, of_positives, of_negatives, taken
    _keep[_tiles(scores)](*arrays, *numbers, SIZE=KEPT_TILE)
    counts = taken.tolist()
    return of_positives, of_negatives, (counts[0], counts[1])


def keep_between(
    scores: Any, positive: Any, low: float, high: float | None, sizes: tuple[int, int]
) -> tuple[Any, Any, tuple[int, int]]:
    """Return the scores of positives and of negatives from one edge to below another.

    Without a higher edge all above are kept; `sizes` are the numbers expected.
    """
    of_positives, of_negatives, taken = _places(scores, sizes)
    cases = scores, positive.view(torch.uint8), scores.shape[0]
    ends = float(low), float(low if high is None else high)
    outs = of_positives, sizes[0], of_negatives, sizes[1], taken
    how = {"OPEN_ABOVE": high is None, "SIZE": KEPT_TILE}
    _keep_between[_tiles(scores)](*cases, *ends, *outs, **how)
    counts = taken.tolist()
    return of_positives, of_negatives, (counts[0], counts[1])


def _tiles(scores: Any) -> tuple[int]:
    return (triton.cdiv(scores.shape[0], KEPT_TILE),)


def _places(scores: Any, sizes: tuple[int, int]) -> tuple[Any, Any, Any]:
    """Return places for scores of positives and of negatives, and counters of those taken."""
    device = scores.device
    of_positives, of_negatives = (
        torch.empty(size, dtype=scores.dtype, device=device) for size in sizes
    )
    return of_positives, of_negatives, torch.zeros(2, dtype=torch.int64, device=device)
