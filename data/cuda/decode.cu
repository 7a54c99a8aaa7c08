// Attention of few queries to many keys, bound by reading these: one warp has tiles of 64 keys and values
// brought, four warps take 16 of them each, for up to 16 queries of the heads that share them. The keys of a
// sequence are cut into parts when the blocks are few. HEAD_SIZE is 64 or 128.
#ifndef HEAD_SIZE
#define HEAD_SIZE 128
#endif
#ifndef STAGES
#define STAGES 3
#endif
#ifndef PER_PROCESSOR
#define PER_PROCESSOR 2
#endif
typedef half_type elem;
typedef attention_of<elem> attention;
enum { D = HEAD_SIZE, WARPS = 4, WARP_KEYS = 16, KEYS = WARPS * WARP_KEYS, TILE = KEYS * D * 2, NV = D / 8 };

// What a warp has so far of its 16 rows; a thread knows two of them.
struct rows { float o[NV][4], most[2], sum[2]; };

// The keys of a part.
struct span { int begin, end; };
__device__ __forceinline__ span span_of(const attention &a, int split, int all)
{
    int per = ((all + a.splits - 1) / a.splits + KEYS - 1) / KEYS * KEYS;
    span s = {split * per, split * per + per};
    if (s.end > all) s.end = all;
    return s;
}

__device__ __forceinline__ void produce(const attention &a, const tile_map &mk, const tile_map &mv, u32 tiles, u32 full, u32 free, int seq, int head, span keys, int len)
{
    for (int first = keys.begin, i = 0; first < keys.end; first += KEYS, i++) {
        u32 stage = i % STAGES, at = tiles + stage * 2 * TILE;
        barrier_wait(free + stage * 8, (i / STAGES & 1) ^ 1);
        barrier_expect(full + stage * 8, 2 * TILE);
        tile_keys<D, KEYS>(a, a.vk, mk, at, full + stage * 8, seq, head, first, len);
        tile_keys<D, KEYS>(a, a.vv, mv, at + TILE, full + stage * 8, seq, head, first, len);
    }
}

// Queries in the form of the matrix units: rows lane / 4 and 8 below, pairs of columns.
__device__ __forceinline__ void load_queries(const attention &a, u32 (&q)[D / 16][4], const row_place (&place)[2], int seq)
{
    int lane = threadIdx.x & 31;
#pragma unroll
    for (int h = 0; h < 2; h++) {
        const elem *from = a.q + (i64)a.q_row[seq] * a.vq.unit + place[h].pos * a.vq.pos + place[h].head * a.vq.head + (lane & 3) * 2;
#pragma unroll
        for (int k = 0; k < D / 16; k++)
#pragma unroll
            for (int e = 0; e < 2; e++) q[k][e * 2 + h] = place[h].is_there ? *(const u32 *)(from + k * 16 + e * 8) : 0;
    }
}

// The weights of 16 keys for 16 rows; `seen`: how many of them a row sees, counted from this thread's first.
__device__ __forceinline__ void weigh(float (&s)[2][4], rows &r, float scale, const int (&seen)[2])
{
#pragma unroll
    for (int h = 0; h < 2; h++) {
        float m = r.most[h];
#pragma unroll
        for (int t = 0; t < 2; t++)
#pragma unroll
            for (int e = 0; e < 2; e++) {
                float &v = s[t][h * 2 + e];
                v = t * 8 + e < seen[h] ? v * scale : -1e30f;
                m = fmaxf(m, v);
            }
        m = fmaxf(m, __shfl_xor_sync(FULL, m, 1));
        m = fmaxf(m, __shfl_xor_sync(FULL, m, 2));
        float shrink = exp2_fast(r.most[h] - m), low = m <= -1e30f ? 0.f : m, part = 0;
        r.most[h] = m;
#pragma unroll
        for (int t = 0; t < 2; t++)
#pragma unroll
            for (int e = 0; e < 2; e++) {
                float &v = s[t][h * 2 + e];
                v = exp2_fast(v - low);
                part += v;
            }
        r.sum[h] = r.sum[h] * shrink + part;
#pragma unroll
        for (int i = 0; i < NV; i++) {
            r.o[i][h * 2] *= shrink;
            r.o[i][h * 2 + 1] *= shrink;
        }
    }
}

__device__ __forceinline__ void consume_tile(const u32 (&q)[D / 16][4], rows &r, u32 keys, u32 values, int row0, float scale, const int (&seen)[2])
{
    int lane = threadIdx.x & 31;
    float s[2][4] = {}, odd[2][4] = {}; // two chains of products, half as long
#pragma unroll
    for (int k = 0; k < D / 16; k++) {
        u32 y[4];
        ldmatrix(y, keys + tile_piece<KEYS>(row0 + (lane & 7) + (lane >> 4 & 1) * 8, k * 2 + (lane >> 3 & 1)));
        mma(k & 1 ? odd[0] : s[0], q[k], y[0], y[1]);
        mma(k & 1 ? odd[1] : s[1], q[k], y[2], y[3]);
    }
#pragma unroll
    for (int e = 0; e < 4; e++) {
        s[0][e] += odd[0][e];
        s[1][e] += odd[1][e];
    }
    weigh(s, r, scale, seen);
    u32 p[4] = {pack(s[0][0], s[0][1]), pack(s[0][2], s[0][3]), pack(s[1][0], s[1][1]), pack(s[1][2], s[1][3])};
#pragma unroll
    for (int i = 0; i < NV; i += 2) {
        u32 y[4];
        ldmatrix_turned(y, values + tile_piece<KEYS>(row0 + (lane & 7) + (lane >> 3 & 1) * 8, i + (lane >> 4)));
        mma(r.o[i], p, y[0], y[1]);
        mma(r.o[i + 1], p, y[2], y[3]);
    }
}

// The warps bring their rows to one scale and put them into shared memory, then to their place.
struct joined { float o[WARPS][ROWS][D], most[WARPS][ROWS], sum[WARPS][ROWS]; };
__device__ __forceinline__ void meet() { asm volatile("bar.sync 1, %0;" ::"n"(WARPS * 32) : "memory"); }
__device__ __forceinline__ void join_warps(joined &all, rows &r, int warp)
{
    int lane = threadIdx.x & 31;
    meet(); // the tiles are no longer needed
#pragma unroll
    for (int h = 0; h < 2; h++) {
        r.sum[h] += __shfl_xor_sync(FULL, r.sum[h], 1);
        r.sum[h] += __shfl_xor_sync(FULL, r.sum[h], 2);
        if ((lane & 3) == 0) all.most[warp][(lane >> 2) + h * 8] = r.most[h];
    }
    meet();
#pragma unroll
    for (int h = 0; h < 2; h++) {
        int row = (lane >> 2) + h * 8;
        float m = all.most[0][row];
#pragma unroll
        for (int w = 1; w < WARPS; w++) m = fmaxf(m, all.most[w][row]);
        float share = exp2_fast(r.most[h] - m);
        if ((lane & 3) == 0) all.sum[warp][row] = r.sum[h] * share;
#pragma unroll
        for (int i = 0; i < NV; i++) *(float2 *)&all.o[warp][row][i * 8 + (lane & 3) * 2] = make_float2(r.o[i][h * 2] * share, r.o[i][h * 2 + 1] * share);
    }
    meet();
}
__device__ __forceinline__ void finish(const attention &a, const joined &all, int thread, int seq, i64 tile, i64 kv_head, int split)
{
    for (int i = thread; i < ROWS * D; i += WARPS * 32) {
        int row = i / D, d = i % D;
        row_place p = place_of(a, tile, row, seq, kv_head);
        if (!p.is_there) continue;
        float o = 0, sum = 0, most = all.most[0][row];
#pragma unroll
        for (int w = 0; w < WARPS; w++) {
            o += all.o[w][row][d];
            sum += all.sum[w][row];
            most = fmaxf(most, all.most[w][row]);
        }
        most *= 0.6931471805599453f; // of exp, not exp2
        if (a.splits > 1) {
            float *to = part_of<D>(a, seq, kv_head, tile, split, row);
            to[d] = o;
            if (d == 0) {
                to[D] = most;
                to[D + 1] = sum;
            }
            continue;
        }
        i64 at;
        float keep, join, old;
        finish_row(a, seq, p, most, sum, at, keep, join, old);
        put(a.out[at + d], o * keep * join + (a.is_merging ? old * to_f(a.before[at + d]) : 0.f));
    }
}

extern "C" __global__ void __launch_bounds__(32 * (WARPS + 1), PER_PROCESSOR) decode(const __grid_constant__ attention a, const __grid_constant__ tile_map mk, const __grid_constant__ tile_map mv)
{
    extern __shared__ __align__(1024) u8 memory[];
    __shared__ u64 barriers[2 * STAGES];
    i64 tile = blockIdx.x, kv_head = blockIdx.y;
    int seq = blockIdx.z / a.splits, split = blockIdx.z % a.splits, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    int q_len = a.q_len[seq], kv_len = a.kv_len[seq];
    row_place top = place_of(a, tile, 0, seq, kv_head), bottom = place_of(a, tile, ROWS - 1, seq, kv_head);
    if (top.pos >= q_len) return;
    int last = bottom.pos < q_len ? (int)bottom.pos : q_len - 1, all = a.is_causal ? kv_len - q_len + last + 1 : kv_len;
    span keys = span_of(a, split, all > 0 ? all : 0);
    u32 full = smem_of(barriers), free = full + 8 * STAGES, tiles = (smem_of(memory) + 1023) & ~1023u;
    if (threadIdx.x == 0)
        for (int i = 0; i < STAGES; i++) {
            barrier_new(full + i * 8, 1);
            barrier_new(free + i * 8, WARPS);
        }
    barriers_ready();
    if (warp == WARPS) {
        if (lane == 0) produce(a, mk, mv, tiles, full, free, seq, (int)kv_head, keys, kv_len);
        return;
    }
    row_place place[2] = {place_of(a, tile, lane >> 2, seq, kv_head), place_of(a, tile, (lane >> 2) + 8, seq, kv_head)};
    u32 q[D / 16][4];
    load_queries(a, q, place, seq);
    rows r;
    r.most[0] = r.most[1] = -1e30f;
    r.sum[0] = r.sum[1] = 0;
#pragma unroll
    for (int i = 0; i < NV; i++) r.o[i][0] = r.o[i][1] = r.o[i][2] = r.o[i][3] = 0;
    float scale = a.scale * 1.4426950408889634f;
    int row0 = warp * WARP_KEYS, end[2];
#pragma unroll
    for (int h = 0; h < 2; h++) {
        int seen = a.is_causal ? kv_len - q_len + (int)place[h].pos + 1 : kv_len;
        end[h] = (seen < keys.end ? seen : keys.end) - row0 - (lane & 3) * 2;
    }
    for (int first = keys.begin, i = 0; first < keys.end; first += KEYS, i++) {
        u32 stage = i % STAGES, at = tiles + stage * 2 * TILE;
        int seen[2] = {end[0] - first, end[1] - first};
        barrier_wait(full + stage * 8, i / STAGES & 1);
        consume_tile(q, r, at, at + TILE, row0, scale, seen);
        __syncwarp();
        if (lane == 0) barrier_arrive(free + stage * 8);
    }
    joined &shared = *(joined *)(memory + (tiles - smem_of(memory)));
    join_warps(shared, r, warp);
    finish(a, shared, threadIdx.x, seq, tile, kv_head, split);
}

extern "C" __global__ void join_parts(attention a) { join_row<D>(a); }
