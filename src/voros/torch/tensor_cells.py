"""Counts of scores by fixed cells in a tensor of fixed size, which adds up over batches and ranks.

The bits of a float32, read as an integer, keep its order; its leading bits number a cell. Scores
that no float32 holds are rounded down, so that a cell's lower end is a threshold whose alarms are
those counted.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from voros.core.arrays import LARGEST_FINITE
from voros.engines.binned_points import BinnedScores
from voros.engines.bins import Bins
from voros.typing import AnyArray, FloatArray

FLOAT_BITS = 32
LEAST_BITS, GREATEST_BITS = 9, 24
"""9 leave one cell per octave; 24 make 32,768 of them, and 256 MiB of counts."""

FLOAT32_MAGNITUDE = 2**31 - 1
"""Masks the sign bit away."""


def tensor_cell(scores: Tensor, bits: int) -> Tensor:
    """Number of the cell that each score falls in, from 0 and rising.

    Examples
    --------
    >>> tensor_cell(torch.tensor([-1.0, 0.0, 0.9, 1.0, 1.9]), bits=9).tolist()
    [129, 256, 382, 383, 383]
    """
    highest = torch.finfo(torch.float32).max
    narrow = scores.clamp(max=highest).to(torch.float32)
    narrow = narrow.clamp(max=highest)
    above = narrow.to(scores.dtype) > scores
    lower = torch.nextafter(narrow, torch.full_like(narrow, -torch.inf))
    raw = torch.where(above, lower, narrow).view(torch.int32)
    key = torch.where(raw >= 0, raw, -(raw & FLOAT32_MAGNITUDE))
    cells: Tensor = (key >> (FLOAT_BITS - bits)).to(torch.int64) + 2 ** (bits - 1)
    return cells


def cell_starts(cells: AnyArray, bits: int) -> FloatArray:
    """Lowest score of each cell.

    Examples
    --------
    >>> cell_starts(np.array([256, 382, 383, 384]), bits=9).tolist()
    [0.0, 0.5, 1.0, 2.0]
    """
    shifted = (cells.astype(np.int64) - 2 ** (bits - 1)) << (FLOAT_BITS - bits)
    # The lowest cells of all hold NaN; -inf is the lowest score.
    key = np.maximum(shifted, -int(np.float32(np.inf).view(np.int32)))
    raw = np.where(key >= 0, key, -key | (FLOAT32_MAGNITUDE + 1)).astype(np.uint32)
    return np.asarray(raw.view(np.float32), dtype=np.float64)


def binned_cells(
    rows: AnyArray, positive: AnyArray, negative: AnyArray, one_case: float, bits: int
) -> BinnedScores:
    """Return what counts over all cells say about thresholds."""
    held = np.flatnonzero(rows)[::-1]
    ends = np.nextafter(cell_starts(held + 1, bits), -np.inf)
    # The highest cell holds all that is beyond a float32 too.
    greatest = np.where(np.isfinite(ends), ends, LARGEST_FINITE)
    counts = rows[held], positive[held], negative[held]
    bins = Bins(cell_starts(held, bits), greatest, *counts)
    n_positive, n_negative = positive.sum().item(), negative.sum().item()
    return BinnedScores(bins=bins, n_positive=n_positive, n_negative=n_negative, one_case=one_case)
