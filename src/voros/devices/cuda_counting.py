"""A histogram in the shared memory of each multiprocessor, which Triton cannot address.

Compiled by torch at run time. Where this torch cannot, `count` of `triton_kernels` shares counters
over the whole device instead, which takes longer and counts the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from voros.devices.cuda_compiler import compiled

MOST_EDGES = 4095
"""Edges and counters that fit into 48 kB of shared memory."""

BLOCKS, THREADS = 264, 1024

COUNTING_IN_CUDA = r"""
__device__ int range_of(float score, const float* edges, int n_edges, float start, float scale) {
    float guess = fminf(fmaxf((score - start) * scale, 0.0f), n_edges - 3.0f);
    int home = (int)guess + 1;
    home += (score >= edges[home + 1]) - (score < edges[home]);
    return score < edges[0] ? -1 : home;
}

extern "C" __global__ void count_ranges(
    const float4* scores, const uchar4* positive, const float* edges, int* counts,
    int n_cases, int n_edges) {
    float start = edges[1], scale = edges[n_edges];
    __shared__ float places[4096];
    __shared__ int held[8192];
    for (int i = threadIdx.x; i < n_edges; i += blockDim.x) places[i] = edges[i];
    for (int i = threadIdx.x; i < 8192; i += blockDim.x) held[i] = 0;
    __syncthreads();
    // Most cases are beyond the edges, and counted in registers.
    int outer[4] = {0, 0, 0, 0};
    int quads = (n_cases + 3) / 4;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < quads; i += gridDim.x * blockDim.x) {
        float score[4];
        unsigned char mark[4];
        int n = min(4, n_cases - 4 * i);
        if (n == 4) {
            *(float4*)score = scores[i];
            *(uchar4*)mark = positive[i];
        } else {
            for (int k = 0; k < n; k++) {
                score[k] = ((const float*)scores)[4 * i + k];
                mark[k] = ((const unsigned char*)positive)[4 * i + k];
            }
        }
        #pragma unroll
        for (int k = 0; k < 4; k++) {
            if (k >= n) break;
            int home = range_of(score[k], places, n_edges, start, scale);
            if (home == 0) {
                outer[0] += mark[k] == 0;
                outer[1] += mark[k] != 0;
            } else if (home == n_edges - 1) {
                outer[2] += mark[k] == 0;
                outer[3] += mark[k] != 0;
            } else {
                atomicAdd(&held[2 * (home + 1) + (mark[k] != 0)], 1);
            }
        }
    }
    atomicAdd(&held[2], outer[0]);
    atomicAdd(&held[3], outer[1]);
    atomicAdd(&held[2 * n_edges], outer[2]);
    atomicAdd(&held[2 * n_edges + 1], outer[3]);
    __syncthreads();
    for (int i = threadIdx.x; i < 2 * (n_edges + 1); i += blockDim.x)
        if (held[i]) atomicAdd(&counts[i], held[i]);
}
"""


def _kernel() -> Any:
    return compiled(COUNTING_IN_CUDA, "count_ranges")


def fits(scores: Any, marks: Any, edges: NDArray[np.float32]) -> bool:
    """Whether the kernel is there and made for these cases."""
    aligned = scores.data_ptr() % 16 == 0 and marks.data_ptr() % 4 == 0
    single = scores.dtype == torch.float32
    return single and aligned and len(edges) <= MOST_EDGES and _kernel() is not None


def count(
    scores: Any,
    marks: Any,
    edges: Any,
    counts: Any,
    n_cases: int,
    n_edges: int,
) -> None:
    """Add the cases in each range to 32-bit counters, two for each: negatives and positives.

    The inverse of the step between edges follows them on the device.
    """
    arrays = (scores, marks, edges, counts)
    _kernel()(BLOCKS, THREADS, *arrays, n_cases, n_edges)
