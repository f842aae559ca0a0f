
#define SHARED 4096
#define EACH 8

__device__ int range_of(float score, const float* edges, int n_edges, float start, float scale) {
    float guess = fminf(fmaxf((score - start) * scale, 0.0f), n_edges - 3.0f);
    int home = (int)guess + 1;
    home += (score >= edges[home + 1]) - (score < edges[home]);
    return score < edges[0] ? -1 : home;
}

__device__ int range_by_search(float score, const float* edges, int n_edges) {
    int low = 0, high = n_edges;
    while (low < high) {
        int middle = (low + high) / 2;
        if (edges[middle] <= score) low = middle + 1; else high = middle;
    }
    return low - 1;
}

// Edges and counters of few ranges are held in the shared memory of each multiprocessor.
extern "C" __global__ void count_ranges(
    const float4* scores, const uchar4* positive, const float* edges, int* counts,
    int n_cases, int n_edges) {
    float start = edges[1], scale = edges[n_edges];
    __shared__ float places[SHARED];
    __shared__ int held[2 * SHARED];
    bool few = n_edges < SHARED;
    for (int i = threadIdx.x; few && i < n_edges; i += blockDim.x) places[i] = edges[i];
    for (int i = threadIdx.x; i < 2 * SHARED; i += blockDim.x) held[i] = 0;
    __syncthreads();
    // Most cases are beyond the edges, and counted in registers.
    int outer[4] = {0, 0, 0, 0};
    int quads = (n_cases + 3) / 4;
    #pragma unroll 2
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
            int home = few ? range_of(score[k], places, n_edges, start, scale)
                           : range_of(score[k], edges, n_edges, start, scale);
            if (home == 0) {
                outer[0] += mark[k] == 0;
                outer[1] += mark[k] != 0;
            } else if (home == n_edges - 1) {
                outer[2] += mark[k] == 0;
                outer[3] += mark[k] != 0;
            } else if (few) {
                atomicAdd(&held[2 * (home + 1) + (mark[k] != 0)], 1);
            } else {
                atomicAdd(&counts[2 * (home + 1) + (mark[k] != 0)], 1);
            }
        }
    }
    int* counters = few ? held : counts;
    atomicAdd(&counters[2], outer[0]);
    atomicAdd(&counters[3], outer[1]);
    atomicAdd(&counters[2 * n_edges], outer[2]);
    atomicAdd(&counters[2 * n_edges + 1], outer[3]);
    __syncthreads();
    for (int i = threadIdx.x; few && i < 2 * (n_edges + 1); i += blockDim.x)
        if (held[i]) atomicAdd(&counts[i], held[i]);
}

extern "C" __global__ void count_marks(const uint4* marks, unsigned long long* total, int n) {
    int mine = 0;
    #pragma unroll 4
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        uint4 four = marks[i];
        mine += __popc(four.x) + __popc(four.y) + __popc(four.z) + __popc(four.w);
    }
    atomicAdd(total, (unsigned long long)__reduce_add_sync(~0u, mine) * (threadIdx.x % 32 == 0));
}

extern "C" __global__ void keep_ranges(
    const float* scores, const unsigned char* positive, const float* edges,
    const unsigned char* wanted, float* of_negatives, float* of_positives,
    unsigned long long* taken, const unsigned long long* sizes, int n_cases, int n_edges) {
    float start_even = edges[1], scale = edges[n_edges];
    __shared__ float places[SHARED];
    __shared__ unsigned char flags[SHARED];
    __shared__ int n_here[2];
    __shared__ unsigned long long first[2];
    bool few = n_edges < SHARED;
    for (int i = threadIdx.x; few && i < n_edges; i += blockDim.x) places[i] = edges[i];
    for (int i = threadIdx.x; few && i <= n_edges; i += blockDim.x) flags[i] = wanted[i];
    int tile = EACH * blockDim.x;
    for (long long start = (long long)blockIdx.x * tile; start < n_cases;
         start += (long long)gridDim.x * tile) {
        if (threadIdx.x < 2) n_here[threadIdx.x] = 0;
        __syncthreads();
        float score[EACH];
        int place[EACH];
        // All reads are under way before the first is needed.
        #pragma unroll
        for (int k = 0; k < EACH; k++) {
            long long i = start + k * blockDim.x + threadIdx.x;
            score[k] = i < n_cases ? scores[i] : 0.0f;
        }
        #pragma unroll
        for (int k = 0; k < EACH; k++) {
            if (few && scale > 0)
                place[k] = flags[1 + range_of(score[k], places, n_edges, start_even, scale)];
            else
                place[k] = wanted[1 + range_by_search(score[k], edges, n_edges)];
        }
        #pragma unroll
        for (int k = 0; k < EACH; k++) {
            long long i = start + k * blockDim.x + threadIdx.x;
            bool inside = i < n_cases && place[k];
            place[k] = -1;
            if (!__any_sync(~0u, inside)) continue;
            int mark = inside && positive[i] != 0, lane = threadIdx.x % 32, from = 0;
            // The kept cases of a warp take their places at once.
            unsigned marked = __ballot_sync(~0u, mark);
            unsigned others = __ballot_sync(~0u, inside && !mark);
            if (lane < 2) from = atomicAdd(&n_here[lane], __popc(lane ? marked : others));
            from = __shfl_sync(~0u, from, mark);
            int below = __popc((mark ? marked : others) & ((1u << lane) - 1));
            if (inside) place[k] = 2 * (from + below) + mark;
        }
        __syncthreads();
        if (threadIdx.x < 2 && n_here[threadIdx.x] > 0)
            first[threadIdx.x] =
                atomicAdd(&taken[threadIdx.x], (unsigned long long)n_here[threadIdx.x]);
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < EACH; k++) {
            if (place[k] < 0) continue;
            int mark = place[k] & 1;
            unsigned long long target = first[mark] + (place[k] >> 1);
            if (target < sizes[mark]) (mark ? of_positives : of_negatives)[target] = score[k];
        }
    }
}
