// Attention by tensor cores in tiles of 16 queries and 16 keys, the keys cut into parts: for decoding, for
// caches in pages, for latent and listed keys. Queries of the heads that share keys stand in one tile.
//
// DQ and DR are the sizes of the plain and the rotated part of a key, DV of a value; LATENT: values are the
// plain part of the keys. Sizes are multiples of 64.
#ifndef DQ
#define DQ 128
#define DR 0
#define DV 128
#endif
#ifndef LATENT
#define LATENT 0
#endif
typedef half_type elem;
#ifndef SHARED
#define SHARED (DV > 256) // all warps take one tile, and a part of the values each
#endif
enum {
    WARPS = 4, KEYS = 16, DK = DQ + DR,
    STREAMS = SHARED ? 1 : WARPS, LOADERS = SHARED ? 128 : 32,
    STAGES = SHARED ? 3 : 4,
    DV_OWN = SHARED ? DV / WARPS : DV, NV = DV_OWN / 8,
    K_CHUNKS = DK / 8, V_CHUNKS = DV / 8, STAGE = KEYS * (K_CHUNKS + (LATENT ? 0 : V_CHUNKS)) * 16,
    Q_BYTES = ROWS * K_CHUNKS * 16,
};

typedef attention_of<elem> attention;

// Where a piece of 16 bytes of a row is: no two of a column of eight rows in one bank.
__device__ __forceinline__ u32 piece(int row, int chunk, int chunks) { return (u32)(row * chunks + (chunk ^ (row & 7))) * 16; }

// Keys from `first` on, at most to `end`, into a stage. A lane finds out where one row is, and tells the
// others of its warp.
__device__ __forceinline__ void load_keys(const attention &a, u32 stage, int seq, i64 head, i64 token, i64 first, i64 end, int thread)
{
    enum { PER_ROW = K_CHUNKS + (LATENT ? 0 : V_CHUNKS) };
    int own = threadIdx.x & 15;
    bool is_there = first + own < end;
    i64 pos = is_there ? first + own : 0;
    if (a.list) pos = is_there ? a.list[token * a.top_k + pos] : 0;
    is_there = is_there && pos >= 0 && pos < a.kv_len[seq];
    pos = is_there ? pos : 0;
    i64 k_at = key_at(a, a.vk, seq, head, pos);
    i64 r_at = DR > 0 ? key_at(a, a.vkr, seq, head, pos) : 0;
    i64 v_at = LATENT ? 0 : key_at(a, a.vv, seq, head, pos);
#pragma unroll 4
    for (int i = thread; i < KEYS * PER_ROW; i += LOADERS) { // as many turns for every lane
        int row = i / PER_ROW, c = i % PER_ROW;
        bool is_row = __shfl_sync(FULL, (int)is_there, row) != 0;
        const elem *k = a.k + __shfl_sync(FULL, k_at, row), *r = a.kr + __shfl_sync(FULL, r_at, row);
        const elem *v = a.v + __shfl_sync(FULL, v_at, row);
        if (c < K_CHUNKS)
            copy16(stage + piece(row, c, K_CHUNKS), c < DQ / 8 ? k + c * 8 : r + (c - DQ / 8) * 8, is_row);
        else
            copy16(stage + KEYS * K_CHUNKS * 16 + piece(row, c - K_CHUNKS, V_CHUNKS), v + (c - K_CHUNKS) * 8, is_row);
    }
    asm volatile("cp.async.commit_group;");
}

extern "C" __global__ void __launch_bounds__(128) attend(attention a)
{
    extern __shared__ __align__(128) u8 memory[];
    i64 tile = blockIdx.x;
    int seq = blockIdx.z / a.splits, split = blockIdx.z % a.splits, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    i64 kv_head = blockIdx.y, q_len = a.q_len[seq], kv_len = a.kv_len[seq];
    row_place top = place_of(a, tile, 0, seq, kv_head);
    if (top.pos >= q_len) return;
    row_place bottom = place_of(a, tile, ROWS - 1, seq, kv_head);
    i64 last = bottom.pos < q_len ? bottom.pos : q_len - 1;
    i64 all = a.list ? a.top_k : a.is_causal ? kv_len - q_len + last + 1 : kv_len;
    all = all < 0 ? 0 : !a.list && all > kv_len ? kv_len : all;
    i64 per = (((all + a.splits - 1) / a.splits) + KEYS - 1) / KEYS * KEYS, begin = split * per, end = begin + per < all ? begin + per : all;
    i64 token = a.q_row[seq] + top.pos;
    // Queries.
    u32 q_at = smem_of(memory);
    for (int i = threadIdx.x; i < ROWS * K_CHUNKS; i += 128) {
        int row = i / K_CHUNKS, c = i % K_CHUNKS;
        row_place p = place_of(a, tile, row, seq, kv_head);
        i64 at = p.is_there ? (i64)a.q_row[seq] * a.vq.unit + p.pos * a.vq.pos + p.head * a.vq.head : 0;
        i64 at_r = p.is_there && DR > 0 ? (i64)a.q_row[seq] * a.vqr.unit + p.pos * a.vqr.pos + p.head * a.vqr.head : 0;
        copy16(q_at + piece(row, c, K_CHUNKS), c < DQ / 8 ? a.q + at + c * 8 : a.qr + at_r + (c - DQ / 8) * 8, p.is_there);
    }
    asm volatile("cp.async.commit_group;");
    int stream = SHARED ? 0 : warp, thread = SHARED ? threadIdx.x : lane;
    u32 own = q_at + Q_BYTES + stream * STAGES * STAGE;
    i64 step = KEYS * STREAMS, first = begin + stream * KEYS;
    for (int s = 0; s < STAGES - 1; s++) load_keys(a, own + s * STAGE, seq, kv_head, token, first + s * step, end, thread);
    float o[NV][4], most[2] = {-1e30f, -1e30f}, sum[2] = {0, 0};
#pragma unroll
    for (int i = 0; i < NV; i++) o[i][0] = o[i][1] = o[i][2] = o[i][3] = 0;
    row_place place[2] = {place_of(a, tile, lane >> 2, seq, kv_head), place_of(a, tile, (lane >> 2) + 8, seq, kv_head)};
    i64 seen[2];
    for (int h = 0; h < 2; h++) seen[h] = a.is_causal ? kv_len - q_len + place[h].pos + 1 : kv_len;
    float scale = a.scale * 1.4426950408889634f;
    int stage = 0;
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 1)); // the queries are here
    __syncthreads();
    for (i64 key = first; key < end; key += step) {
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2));
        if (SHARED) __syncthreads(); else __syncwarp();
        int next = stage + STAGES - 1;
        load_keys(a, own + (next % STAGES) * STAGE, seq, kv_head, token, key + (STAGES - 1) * step, end, thread);
        u32 at = own + stage * STAGE;
        stage = stage + 1 == STAGES ? 0 : stage + 1;
        float s[2][4] = {{0, 0, 0, 0}, {0, 0, 0, 0}};
#pragma unroll 4
        for (int k = 0; k < DK / 16; k++) {
            u32 x[4], y[4];
            ldmatrix(x, q_at + piece(lane & 15, k * 2 + (lane >> 4), K_CHUNKS));
            ldmatrix(y, at + piece((lane & 7) + ((lane >> 4) & 1) * 8, k * 2 + ((lane >> 3) & 1), K_CHUNKS));
            mma(s[0], x, y[0], y[1]);
            mma(s[1], x, y[2], y[3]);
        }
#pragma unroll
        for (int h = 0; h < 2; h++) {
            float m = most[h];
#pragma unroll
            for (int t = 0; t < 2; t++)
#pragma unroll
                for (int e = 0; e < 2; e++) {
                    i64 pos = key + t * 8 + (lane & 3) * 2 + e;
                    bool is_seen = pos < end;
                    if (a.list) {
                        int listed = is_seen ? a.list[token * a.top_k + pos] : -1;
                        is_seen = listed >= 0 && listed < seen[h] && listed < kv_len;
                    } else {
                        is_seen = is_seen && pos < seen[h];
                    }
                    float &v = s[t][h * 2 + e];
                    v = is_seen ? v * scale : -1e30f;
                    m = fmaxf(m, v);
                }
            m = fmaxf(m, __shfl_xor_sync(FULL, m, 1));
            m = fmaxf(m, __shfl_xor_sync(FULL, m, 2));
            float shrink = exp2f(most[h] - m), part = 0;
            most[h] = m;
#pragma unroll
            for (int t = 0; t < 2; t++)
#pragma unroll
                for (int e = 0; e < 2; e++) {
                    float &v = s[t][h * 2 + e];
                    v = v <= -1e30f ? 0.f : exp2f(v - m);
                    part += v;
                }
            sum[h] = sum[h] * shrink + part;
#pragma unroll
            for (int i = 0; i < NV; i++) {
                o[i][h * 2] *= shrink;
                o[i][h * 2 + 1] *= shrink;
            }
        }
        u32 p[4] = {pack(s[0][0], s[0][1]), pack(s[0][2], s[0][3]), pack(s[1][0], s[1][1]), pack(s[1][2], s[1][3])};
        u32 values = LATENT ? at : at + KEYS * K_CHUNKS * 16;
        int chunks = LATENT ? K_CHUNKS : V_CHUNKS, base = SHARED ? warp * (DV_OWN / 8) : 0;
#pragma unroll
        for (int i = 0; i < NV; i += 2) {
            u32 y[4];
            ldmatrix_turned(y, values + piece((lane & 7) + ((lane >> 3) & 1) * 8, base + i + (lane >> 4), chunks));
            mma(o[i], p, y[0], y[1]);
            mma(o[i + 1], p, y[2], y[3]);
        }
    }
    asm volatile("cp.async.wait_group 0;");
    for (int h = 0; h < 2; h++) {
        sum[h] += __shfl_xor_sync(FULL, sum[h], 1);
        sum[h] += __shfl_xor_sync(FULL, sum[h], 2);
    }
    // Results of the streams join: the other warps give theirs to the first, by shared memory.
    __syncthreads();
    float *give = (float *)(memory + Q_BYTES);
    if (!SHARED) {
        for (int w = WARPS - 1; w > 0; w--) {
            if (warp == w) {
#pragma unroll
                for (int i = 0; i < NV; i++)
#pragma unroll
                    for (int e = 0; e < 4; e++) give[(i * 4 + e) * 32 + lane] = o[i][e];
#pragma unroll
                for (int h = 0; h < 2; h++) {
                    give[(NV * 4 + h) * 32 + lane] = most[h];
                    give[(NV * 4 + 2 + h) * 32 + lane] = sum[h];
                }
            }
            __syncthreads();
            if (warp == 0)
#pragma unroll
                for (int h = 0; h < 2; h++) {
                    float other = give[(NV * 4 + h) * 32 + lane], m = fmaxf(most[h], other);
                    float mine = exp2f(most[h] - m), theirs = exp2f(other - m);
                    sum[h] = sum[h] * mine + give[(NV * 4 + 2 + h) * 32 + lane] * theirs;
                    most[h] = m;
#pragma unroll
                    for (int i = 0; i < NV; i++)
#pragma unroll
                        for (int e = 0; e < 2; e++) o[i][h * 2 + e] = o[i][h * 2 + e] * mine + give[(i * 4 + h * 2 + e) * 32 + lane] * theirs;
                }
            __syncthreads();
        }
        if (warp > 0) return;
    }
    int base = SHARED ? warp * DV_OWN : 0;
#pragma unroll
    for (int h = 0; h < 2; h++) {
        if (!place[h].is_there) continue;
        float natural = most[h] * 0.6931471805599453f; // of exp, not exp2
        if (a.splits > 1) {
            float *to = part_of<DV>(a, seq, kv_head, tile, split, (lane >> 2) + h * 8);
#pragma unroll
            for (int i = 0; i < NV; i++)
#pragma unroll
                for (int e = 0; e < 2; e++) to[base + i * 8 + (lane & 3) * 2 + e] = o[i][h * 2 + e];
            if ((lane & 3) == 0) {
                to[DV] = natural;
                to[DV + 1] = sum[h];
            }
            continue;
        }
        i64 at;
        float keep, join, old;
        finish_row(a, seq, place[h], natural, sum[h], at, keep, join, old);
#pragma unroll
        for (int i = 0; i < NV; i++)
#pragma unroll
            for (int e = 0; e < 2; e++) {
                i64 d = base + i * 8 + (lane & 3) * 2 + e;
                float v = o[i][h * 2 + e] * keep * join;
                if (a.is_merging) v += old * to_f(a.before[at + d]);
                put(a.out[at + d], v);
            }
    }
}

extern "C" __global__ void join_parts(attention a) { join_row<DV>(a); }
