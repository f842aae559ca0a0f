"""Hulls of sorted cases on a CUDA device, tile by tile, so that a few thresholds reach the host.

A tile holds neighbouring thresholds. Its corners, the thresholds above every line between two
others that meet the limits, are found in shared memory; tiles of corners are thinned again until
few are left. Counts are whole and their products have 64 bits, so that nothing is rounded.
Compiled by torch at run time; where this torch cannot, `voros.core.device_rows` does the same by
the array API, in more steps.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from voros.devices.cuda_compiler import compiled

RANKED = 2**24
"""Fewer cases than these are sorted as fast as counted by ranges."""

TILE, THREADS = 2048, 256
"""Thresholds of a tile, and threads at work on it."""

PLACES, LAST_PLACES = 64, 512
"""For thresholds that a tile keeps; in the last round few tiles hold the corners of all cases."""

FEW, MOST = 2**10, 2**14
"""Places that go to the host, and those that one more round makes few."""

TOO_MANY = -2
"""Where a tile has more thresholds to keep than places, in place of the first's count."""

SOURCE = r"""
#define TILE 2048
#define EXTRAS 8
enum { NO, SURE, DOUBT, CAPABLE };

// Within a billionth of a limit the host decides.
__device__ int judge(int tp, int fp, double per_tp, double per_fp, double most, double floor) {
    double hits = tp * per_tp, alarms = hits + fp * per_fp;
    if (alarms > most * (1 + 1e-9)) return NO;
    bool capable = alarms <= most * (1 - 1e-9);
    double precision = hits / alarms;
    if (precision < floor * (1 - 1e-9)) return capable ? CAPABLE : DOUBT;
    return capable && precision >= floor * (1 + 1e-9) ? SURE : DOUBT;
}

__device__ bool more_precise(const int* tp, const int* fp, int a, int b) {
    if (b < 0 || a < 0) return b < 0 && a >= 0;
    long long left = (long long)tp[a] * fp[b], right = (long long)tp[b] * fp[a];
    return left > right || (left == right && tp[a] > tp[b]);
}

__device__ int push(unsigned short* list, int top, int next, const int* tp, const int* fp) {
    // Points on one line stay: rounding of other class sizes may make corners of them.
    if (top && fp[list[top - 1]] == fp[next]) return top;
    if (top && tp[list[top - 1]] == tp[next]) top--;
    while (top >= 2) {
        int first = list[top - 2], last = list[top - 1];
        long long rise = tp[last] - tp[next], width = fp[first] - fp[next];
        long long whole = tp[first] - tp[next], part = fp[last] - fp[next];
        if (rise * width >= whole * part) break;
        top--;
    }
    list[top] = next;
    return top + 1;
}

extern "C" __global__ void tile_hulls(
    const float* scores, const int* counts, int* out, int n, int n_positive, int ranked, int slots,
    double per_tp, double per_fp, double most, double floor) {
    __shared__ int tp[TILE], fp[TILE], sizes[256], leaders[256];
    __shared__ unsigned short list[TILE];
    __shared__ unsigned char states[TILE];
    __shared__ int extras[EXTRAS], n_extras, too_many;
    int t = threadIdx.x, start = blockIdx.x * TILE;
    if (t == 0) n_extras = too_many = 0;
    __syncthreads();
    int leader = -1;
    for (int k = t; k < TILE; k += blockDim.x) {
        int i = start + k, state = NO;
        if (i < n && ranked) {
            int before = i ? counts[i - 1] : 0;
            bool first = i == 0 || scores[i] != scores[i - 1];
            bool last = i == n - 1 || scores[i] != scores[i + 1];
            // A negative alone at its score only adds a false positive.
            if (first && !(last && counts[i] == before)) {
                tp[k] = n_positive - before;
                fp[k] = n - i - tp[k];
                state = judge(tp[k], fp[k], per_tp, per_fp, most, floor);
            }
        } else if (i < n) {
            tp[k] = counts[i], fp[k] = counts[n + i];
            if (tp[k] == -2) too_many = 1;
            if (tp[k] >= 0) state = judge(tp[k], fp[k], per_tp, per_fp, most, floor);
        }
        states[k] = state;
        if (state == DOUBT) {
            int place = atomicAdd(&n_extras, 1);
            if (place < EXTRAS) extras[place] = k;
        }
        if (state == SURE || state == CAPABLE)
            if (more_precise(tp, fp, k, leader)) leader = k;
    }
    leaders[t] = leader;
    __syncthreads();
    // Corners of eight thresholds, of eight such groups, and so on.
    int top = 0;
    for (int k = 8 * t; k < 8 * t + 8; k++)
        if (states[k] == SURE) top = push(list + 8 * t, top, k, tp, fp);
    sizes[t] = top;
    __syncthreads();
    for (int group = 8; group < 512; group *= 8) {
        int first = 8 * group * t;
        if (first < TILE) {
            int* held = sizes + group * t;
            top = held[0];
            for (int part = 1; part < 8; part++)
                for (int j = 0; j < held[part * group / 8]; j++)
                    top = push(list + first, top, list[first + part * group + j], tp, fp);
            held[0] = top;
        }
        __syncthreads();
    }
    if (t == 0) {
        top = sizes[0];
        for (int part = 1; part < TILE / 512; part++)
            for (int j = 0; j < sizes[64 * part]; j++)
                top = push(list, top, list[512 * part + j], tp, fp);
        sizes[0] = top;
    }
    for (int step = 128; step; step /= 2) {
        __syncthreads();
        if (t < step && more_precise(tp, fp, leaders[t + step], leaders[t]))
            leaders[t] = leaders[t + step];
    }
    __syncthreads();
    top = sizes[0];
    // A sure leader is a corner and in the list already.
    leader = leaders[0] >= 0 && states[leaders[0]] == CAPABLE ? leaders[0] : -1;
    bool full = too_many || n_extras > EXTRAS || top + n_extras + 1 > slots;
    int total = gridDim.x * slots;
    for (int s = t; s < slots; s += blockDim.x) {
        int k = s < top ? list[s] : s < top + n_extras ? extras[s - top] : -1;
        if (s == top + n_extras) k = leader;
        int place = blockIdx.x * slots + s;
        bool empty = full || k < 0;
        ((float*)out)[place] = empty ? 0.0f : scores[start + k];
        out[total + place] = full ? -2 : empty ? -1 : tp[k];
        out[2 * total + place] = empty ? 0 : fp[k];
    }
}
"""


class Ranking(NamedTuple):
    """Cases in the rising order of their scores, on the device.

    Attributes
    ----------
    scores : tensor of float32
    running : tensor of int32
        Positives up to each case.
    n_positive : int
    low, high : float
        The least and the greatest score; NaN where one is.
    """

    scores: Any
    running: Any
    n_positive: int
    low: float
    high: float


def _kernel() -> Any:
    return compiled(SOURCE, "tile_hulls")


def available() -> bool:
    """Whether torch can compile for the device."""
    return _kernel() is not None


def rank(scores: Any, positive: Any) -> Ranking | None:
    """Sort the cases, if their scores have single precision and they are few."""
    single = scores.dtype.is_floating_point and scores.dtype.itemsize <= 4
    if not single or not 0 < scores.shape[0] <= RANKED:
        return None
    ranked, order = torch.sort(scores.to(torch.float32))
    running = torch.cumsum(positive[order], 0, dtype=torch.int32)
    # One transfer for the three numbers.
    ends = torch.stack([ranked[0], ranked[-1], running[-1].view(torch.float32)])
    low, high, total = ends.cpu().numpy()
    return Ranking(ranked, running, int(total.view(np.int32)), float(low), float(high))


def corners(
    ranking: Ranking, limits: tuple[float, float, float, float]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]] | None:
    """Return thresholds that may be chosen, from the highest down, with true and false positives.

    None where a tile has too many.

    Parameters
    ----------
    ranking : Ranking
    limits : tuple of float
        Cases that one positive and one negative stand for at the scenario's prevalence, alarms
        that the capacity allows, and the precision floor.
    """
    ranked, n_positive = ranking.scores, ranking.n_positive
    found = _round(ranked, ranking.running, len(ranked), n_positive, limits, PLACES, ranked=1)
    while found.shape[1] > MOST:
        found = _round(found, found[1], found.shape[1], n_positive, limits, PLACES)
    if found.shape[1] > FEW:
        found = _round(found, found[1], found.shape[1], n_positive, limits, LAST_PLACES)
    return _decoded(found.cpu().numpy())


def _round(
    scores: Any,
    counts: Any,
    n_rows: int,
    n_positive: int,
    limits: tuple[float, float, float, float],
    places: int,
    ranked: int = 0,
) -> Any:
    """Keep the corners of each tile: their scores, true and false positives."""
    n_tiles = -(-n_rows // TILE)
    kept = torch.empty((3, n_tiles * places), dtype=torch.int32, device=scores.device)
    sizes = n_rows, n_positive, ranked, places
    _kernel()((n_tiles, 1, 1), (THREADS, 1, 1), (scores, counts, kept, *sizes, *limits))
    return kept


def _decoded(
    found: NDArray[np.int32],
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]] | None:
    tp, fp = found[1:].astype(np.int64)
    if (tp == TOO_MANY).any():
        return None
    there = np.flatnonzero(tp >= 0)
    thresholds = found[0].view(np.float32)[there]
    there = there[np.argsort(thresholds)[::-1]]
    return found[0].view(np.float32)[there], tp[there], fp[there]
