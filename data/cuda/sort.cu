// Sorting rows, the largest of a row, and the way of tokens to experts and back. TB is int or i64, the
// type of places.
#ifndef TP
#define TP float
#endif
enum { DIGITS = 16, SORT_THREADS = 512 };

// The order of these bits is the order of values, the largest first.
__device__ __forceinline__ u32 descending(float v)
{
    u32 b = __float_as_uint(v);
    return (b & 0x80000000u) ? b : ~b & 0x7fffffffu;
}
__device__ __forceinline__ float ascending(u32 k) { return __uint_as_float((k & 0x80000000u) ? k : ~k & 0x7fffffffu); }

// A block sorts a row of n keys with their places, stable, four bits at a time. A thread has a run of
// the row; counts stand as [digit][thread], so that their running sum is where each one's go.
__device__ void sort_row(u32 *ka, u32 *pa, u32 *kb, u32 *pb, i64 n, int bits)
{
    __shared__ u32 count[DIGITS * SORT_THREADS], warp_total[32];
    i64 run = (n + SORT_THREADS - 1) / SORT_THREADS, from = threadIdx.x * run, end = from + run < n ? from + run : n;
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    for (int bit = 32 - bits; bit < 32; bit += 4) {
        for (int d = 0; d < DIGITS; d++) count[d * SORT_THREADS + threadIdx.x] = 0;
        for (i64 i = from; i < end; i++) count[((ka[i] >> bit) & 15) * SORT_THREADS + threadIdx.x]++;
        __syncthreads();
        u32 part[DIGITS], sum = 0;
        for (int d = 0; d < DIGITS; d++) {
            part[d] = sum;
            sum += count[threadIdx.x * DIGITS + d];
        }
        u32 all = sum;
        for (int s = 1; s < 32; s <<= 1) {
            u32 other = __shfl_up_sync(FULL, all, s);
            if (lane >= s) all += other;
        }
        if (lane == 31) warp_total[warp] = all;
        __syncthreads();
        u32 before = all - sum;
        for (int w = 0; w < warp; w++) before += warp_total[w];
        for (int d = 0; d < DIGITS; d++) count[threadIdx.x * DIGITS + d] = part[d] + before;
        __syncthreads();
        for (i64 i = from; i < end; i++) {
            u32 to = count[((ka[i] >> bit) & 15) * SORT_THREADS + threadIdx.x]++;
            kb[to] = ka[i];
            pb[to] = pa[i];
        }
        __syncthreads();
        u32 *k = ka, *p = pa;
        ka = kb; pa = pb; kb = k; pb = p;
    }
}

// Passes are even in number, so the result is where the keys were. `room` has four times rows * n.
extern "C" __global__ void sort(const TI *x, TO *values, TB *places, u32 *room, i64 rows, i64 n, int bits)
{
    i64 at = blockIdx.x * n, all = rows * n;
    u32 *ka = room + at, *pa = room + all + at, *kb = room + 2 * all + at, *pb = room + 3 * all + at;
    for (i64 i = threadIdx.x; i < n; i += blockDim.x) {
        ka[i] = descending(to_f(x[at + i]));
        pa[i] = (u32)i;
    }
    __syncthreads();
    sort_row(ka, pa, kb, pb, n, bits);
    for (i64 i = threadIdx.x; i < n; i += blockDim.x) {
        put(values[at + i], ascending(ka[i]));
        places[at + i] = (TB)(i64)pa[i];
    }
}

extern "C" __global__ void argmax(const TI *x, TB *o, i64 n)
{
    __shared__ u64 best[32];
    const TI *a = x + blockIdx.x * n;
    u64 own = ~0ull; // the smallest key is the largest value, then the first place
    for (i64 i = threadIdx.x; i < n; i += blockDim.x) {
        u64 key = (u64)descending(to_f(a[i])) << 32 | (u32)i;
        own = key < own ? key : own;
    }
    for (int d = 16; d > 0; d >>= 1) {
        u64 other = __shfl_xor_sync(FULL, own, d);
        own = other < own ? other : own;
    }
    if ((threadIdx.x & 31) == 0) best[threadIdx.x >> 5] = own;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (u32 w = 1; w < blockDim.x >> 5; w++) own = best[w] < own ? best[w] : own;
        o[blockIdx.x] = (TB)(i64)(u32)own;
    }
}

// The place of each index among all, by value and then by order: one block. TI are whole numbers.
extern "C" __global__ void rank_tokens(const TI *index, int *rank, u32 *room, i64 n, int bits)
{
    u32 *ka = room, *pa = room + n;
    for (i64 i = threadIdx.x; i < n; i += blockDim.x) {
        ka[i] = (u32)to_i(index[i]) << (32 - bits);
        pa[i] = (u32)i;
    }
    __syncthreads();
    sort_row(ka, pa, room + 2 * n, room + 3 * n, n, bits);
    for (i64 i = threadIdx.x; i < n; i += blockDim.x) rank[pa[i]] = (int)i;
}

// out[t] = sum over j of probs[t, j] * x[sorted[t * k + j]]. TP is the type of the probabilities.
extern "C" __global__ void unpermute(const TI *x, const int *sorted, const TP *probs, TO *o, i64 n, i64 k, float scale)
{
    enum { N = vec<TI>::N };
    i64 row = blockIdx.x;
    for (i64 i = threadIdx.x * N; i < n; i += blockDim.x * N) {
        float sum[N];
#pragma unroll
        for (int e = 0; e < N; e++) sum[e] = 0;
        for (i64 j = 0; j < k; j++) {
            float w = probs ? scale * to_f(probs[row * k + j]) : 1.f;
            const TI *from = x + (i64)sorted[row * k + j] * n + i;
            if (n % N == 0) {
                vec<TI> v = load(from);
#pragma unroll
                for (int e = 0; e < N; e++) sum[e] += w * to_f(v.at[e]);
            } else {
                for (int e = 0; e < N && i + e < n; e++) sum[e] += w * to_f(from[e]);
            }
        }
        for (int e = 0; e < N && i + e < n; e++) put(o[row * n + i + e], sum[e]);
    }
}

// How many tokens each expert got.
extern "C" __global__ void count_tokens(const int *index, int *o, i64 n)
{
    int sum = 0;
    for (i64 i = threadIdx.x; i < n; i += blockDim.x) sum += index[i] == (int)blockIdx.x;
    float all = block_reduce<false>((float)sum);
    if (threadIdx.x == 0) o[blockIdx.x] = (int)all;
}

// Scores of the indexer: score(t, s) = sum over g of w[t, g] * relu(q[t, g] . k[s]), as keys to sort.
// A block for each token. Weights are of type TP.
struct indexer { i64 heads, dim, block, width, unit, seqs, top_k, stride; };
extern "C" __global__ void indexer_scores(const TI *q, const TI *cache, const TP *weights, const int *table, const int *q_first, const int *q_len, const int *kv_len, u32 *room, i64 tokens, indexer a)
{
    extern __shared__ float query[];
    i64 t = blockIdx.x, all = tokens * a.stride;
    int s = 0;
    while (s + 1 < a.seqs && q_first[s + 1] <= t) s++;
    i64 seen = kv_len[s] - q_len[s] + (t - q_first[s]) + 1;
    seen = seen < 0 ? 0 : seen > kv_len[s] ? kv_len[s] : seen;
    for (i64 i = threadIdx.x; i < a.heads * a.dim; i += blockDim.x) query[i] = to_f(q[t * a.heads * a.dim + i]);
    __syncthreads();
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
    for (i64 i = warp; i < a.stride; i += warps) {
        float score = -__int_as_float(0x7f800000);
        if (i < seen) {
            const TI *k = cache + (i64)table[s * a.width + i / a.block] * a.unit + i % a.block * a.dim;
            float keep[8];
            for (int e = 0; e < 8 && lane + 32 * e < a.dim; e++) keep[e] = to_f(k[lane + 32 * e]);
            score = 0;
            for (i64 g = 0; g < a.heads; g++) {
                float dot = 0;
                for (int e = 0; e < 8 && lane + 32 * e < a.dim; e++) dot += keep[e] * query[g * a.dim + lane + 32 * e];
                dot = warp_sum(dot);
                score += to_f(weights[t * a.heads + g]) * fmaxf(dot, 0.f);
            }
        }
        if (lane == 0) {
            room[t * a.stride + i] = i < seen ? descending(score) : 0xffffffffu;
            room[all + t * a.stride + i] = i < seen ? (u32)i : 0xffffffffu;
        }
    }
}

extern "C" __global__ void indexer_top(u32 *room, int *places, float *scores, i64 tokens, indexer a)
{
    i64 at = blockIdx.x * a.stride, all = tokens * a.stride;
    sort_row(room + at, room + all + at, room + 2 * all + at, room + 3 * all + at, a.stride, 32);
    for (i64 i = threadIdx.x; i < a.top_k; i += blockDim.x) {
        bool is_in = i < a.stride && room[all + at + i] != 0xffffffffu;
        places[blockIdx.x * a.top_k + i] = is_in ? (int)room[all + at + i] : -1;
        if (scores) scores[blockIdx.x * a.top_k + i] = is_in ? ascending(room[at + i]) : 0.f;
    }
}
