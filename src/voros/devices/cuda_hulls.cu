
#define TILE 2048
#define GROUP 128
#define EXTRAS 8
enum { NO, SURE, DOUBT, CAPABLE };

// Within a billionth of a limit the host decides.
__device__ int judge(
    int tp, int fp, double per_tp, double per_fp, double most, double floor, double least) {
    double hits = tp * per_tp, alarms = hits + fp * per_fp;
    if (alarms > most * (1 + 1e-9)) return NO;
    bool capable = alarms <= most * (1 - 1e-9);
    double precision = hits / alarms;
    bool fails = precision < floor * (1 - 1e-9) || tp < least * (1 - 1e-9);
    if (fails) return capable ? CAPABLE : DOUBT;
    bool keeps = precision >= floor * (1 + 1e-9) && tp >= least * (1 + 1e-9);
    return capable && keeps ? SURE : DOUBT;
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

// The sum of one number of each of 256 threads below this one's, and of all.
__device__ int sum_below(int own, int* sums, int* all) {
    int t = threadIdx.x;
    sums[t] = own;
    __syncthreads();
    for (int step = 1; step < 256; step *= 2) {
        int other = t >= step ? sums[t - step] : 0;
        __syncthreads();
        sums[t] += other;
        __syncthreads();
    }
    int below = sums[t] - own;
    *all = sums[255];
    __syncthreads();
    return below;
}

extern "C" __global__ void rank_marks(
    const long long* order, const unsigned char* positive, unsigned char* marks, int* totals,
    int n) {
    __shared__ int sums[256];
    int positives = 0, all;
    for (int k = threadIdx.x; k < TILE; k += blockDim.x) {
        int i = blockIdx.x * TILE + k;
        if (i < n) positives += marks[i] = positive[order[i]] != 0;
    }
    sum_below(positives, sums, &all);
    if (threadIdx.x == 0) totals[blockIdx.x] = all;
}

extern "C" __global__ void tile_hulls(
    const float* scores, const unsigned char* marks, const int* before, int* out,
    int n, int n_before, int slots_before, int slots,
    double per_tp, double per_fp, double most, double floor, double least) {
    __shared__ int tp[TILE], fp[TILE], source[TILE], sizes[256], leaders[256];
    __shared__ unsigned short list[TILE];
    __shared__ unsigned char states[TILE];
    __shared__ int extras[EXTRAS], n_extras, too_many;
    int t = threadIdx.x, start = blockIdx.x * TILE, total = gridDim.x * slots;
    int n_here, n_positive = 0;
    bool ranked = slots_before == 0;
    if (t == 0) n_extras = too_many = 0;
    __syncthreads();
    if (ranked) {
        // Positives up to each case: of the tiles before, and of this one.
        int lower = 0, all = 0, own = 0;
        for (int i = t; i < n_before; i += blockDim.x) {
            all += before[i];
            if (i < blockIdx.x) lower += before[i];
        }
        sum_below(all, sizes, &n_positive);
        sum_below(lower, sizes, &lower);
        n_here = min(TILE, n - start);
        for (int k = t; k < n_here; k += blockDim.x) states[k] = marks[start + k];
        __syncthreads();
        for (int k = 8 * t; k < min(8 * t + 8, n_here); k++) own += states[k];
        int running = lower + sum_below(own, sizes, &all);
        for (int k = 8 * t; k < min(8 * t + 8, n_here); k++) {
            fp[k] = running;
            running += states[k];
        }
    } else {
        // What up to GROUP tiles before have kept, without gaps; SURE ones in their order.
        int tile = blockIdx.x * GROUP + t, rows = n_before * slots_before;
        int held = t < GROUP && tile < n_before ? before[3 * rows + tile] : 0;
        if (held < 0) too_many = 1, held = 0;
        int place = sum_below(held, sizes, &n_here);
        for (int j = 0; j < held && place < TILE; j++, place++) {
            int row = tile * slots_before + j;
            source[place] = row;
            tp[place] = before[rows + row];
            fp[place] = before[2 * rows + row];
        }
        if (n_here > TILE) too_many = 1, n_here = TILE;
    }
    __syncthreads();
    int leader = -1;
    for (int k = t; k < TILE; k += blockDim.x) {
        int i = start + k, state = NO;
        if (k < n_here && ranked) {
            int missed = fp[k];
            bool first = i == 0 || scores[i] != scores[i - 1];
            bool last = i == n - 1 || scores[i] != scores[i + 1];
            // A negative alone at its score only adds a false positive.
            if (first && !(last && states[k] == 0)) {
                source[k] = i;
                tp[k] = n_positive - missed;
                fp[k] = n - i - tp[k];
                state = judge(tp[k], fp[k], per_tp, per_fp, most, floor, least);
            }
        } else if (k < n_here) {
            state = judge(tp[k], fp[k], per_tp, per_fp, most, floor, least);
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
    int kept = top + n_extras + (leader >= 0);
    if (too_many || n_extras > EXTRAS || kept > slots) kept = -1;
    const int* values = ranked ? (const int*)scores : before;
    for (int s = t; s < kept; s += blockDim.x) {
        int k = s < top ? list[s] : s < top + n_extras ? extras[s - top] : leader;
        int place = blockIdx.x * slots + s;
        out[place] = values[source[k]];
        out[total + place] = tp[k];
        out[2 * total + place] = fp[k];
    }
    if (t == 0) out[3 * total + blockIdx.x] = kept;
}
