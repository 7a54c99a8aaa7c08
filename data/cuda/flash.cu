// Attention over many queries: the matrix units of sm_90 on tiles of 128 queries and 128 keys, in heads of
// 128. One warp has keys and values brought, two groups of four warps take 64 queries each. A group gives its
// products to the matrix units in turn with the other, and weighs its scores while they multiply.
typedef half_type elem;
typedef attention_of<elem> attention;
#ifndef TURNS
#define TURNS 1
#endif
enum { D = 128, BM = 128, BN = 128, HALF = BN * 128, TILE = 2 * HALF, STAGES = 2, GROUP = 128 }; // bytes of half a tile, of a tile

// Barriers after the tiles: of the queries; of keys and values that are there, and that are no longer needed.
enum { AT_Q = 0, AT_K = 8, AT_K_FREE = AT_K + 8 * STAGES, AT_V = AT_K_FREE + 8 * STAGES, AT_V_FREE = AT_V + 8 * STAGES };

// A tile in shared memory for the matrix units: rows of 128 bytes, swizzled.
__device__ __forceinline__ u64 describe(u32 at, u32 leading, u32 stride)
{
    return (u64)((at & 0x3ffff) >> 4) | (u64)(leading >> 4) << 16 | (u64)(stride >> 4) << 32 | (u64)1 << 62;
}
__device__ __forceinline__ void fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N> __device__ __forceinline__ void wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory"); }
// Nothing is read before, or written after, this place.
__device__ __forceinline__ void settle(float (&c)[64])
{
#pragma unroll
    for (int i = 0; i < 64; i++) asm volatile("" : "+f"(c[i])::"memory");
}
// c (64 x 128) = a * b^T, or added to it.
__device__ __forceinline__ void mma_scores(float (&c)[64], u64 a, u64 b, int is_adding)
{
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n128k16.f32." MMA_TYPES " {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, %64, %65, p, 1, 1, 0, 0;\n}\n"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]), "+f"(c[7]), "+f"(c[8]), "+f"(c[9]), "+f"(c[10]), "+f"(c[11]), "+f"(c[12]), "+f"(c[13]), "+f"(c[14]), "+f"(c[15]), "+f"(c[16]), "+f"(c[17]), "+f"(c[18]), "+f"(c[19]), "+f"(c[20]), "+f"(c[21]), "+f"(c[22]), "+f"(c[23]), "+f"(c[24]), "+f"(c[25]), "+f"(c[26]), "+f"(c[27]), "+f"(c[28]), "+f"(c[29]), "+f"(c[30]), "+f"(c[31]), "+f"(c[32]), "+f"(c[33]), "+f"(c[34]), "+f"(c[35]), "+f"(c[36]), "+f"(c[37]), "+f"(c[38]), "+f"(c[39]), "+f"(c[40]), "+f"(c[41]), "+f"(c[42]), "+f"(c[43]), "+f"(c[44]), "+f"(c[45]), "+f"(c[46]), "+f"(c[47]), "+f"(c[48]), "+f"(c[49]), "+f"(c[50]), "+f"(c[51]), "+f"(c[52]), "+f"(c[53]), "+f"(c[54]), "+f"(c[55]), "+f"(c[56]), "+f"(c[57]), "+f"(c[58]), "+f"(c[59]), "+f"(c[60]), "+f"(c[61]), "+f"(c[62]), "+f"(c[63])
                 : "l"(a), "l"(b), "r"(is_adding));
}
// c (64 x 128) += a * b with a in registers and b in rows of keys.
__device__ __forceinline__ void mma_values(float (&c)[64], const u32 *a, u64 b)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32." MMA_TYPES " {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, {%64, %65, %66, %67}, %68, 1, 1, 1, 1;\n"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]), "+f"(c[7]), "+f"(c[8]), "+f"(c[9]), "+f"(c[10]), "+f"(c[11]), "+f"(c[12]), "+f"(c[13]), "+f"(c[14]), "+f"(c[15]), "+f"(c[16]), "+f"(c[17]), "+f"(c[18]), "+f"(c[19]), "+f"(c[20]), "+f"(c[21]), "+f"(c[22]), "+f"(c[23]), "+f"(c[24]), "+f"(c[25]), "+f"(c[26]), "+f"(c[27]), "+f"(c[28]), "+f"(c[29]), "+f"(c[30]), "+f"(c[31]), "+f"(c[32]), "+f"(c[33]), "+f"(c[34]), "+f"(c[35]), "+f"(c[36]), "+f"(c[37]), "+f"(c[38]), "+f"(c[39]), "+f"(c[40]), "+f"(c[41]), "+f"(c[42]), "+f"(c[43]), "+f"(c[44]), "+f"(c[45]), "+f"(c[46]), "+f"(c[47]), "+f"(c[48]), "+f"(c[49]), "+f"(c[50]), "+f"(c[51]), "+f"(c[52]), "+f"(c[53]), "+f"(c[54]), "+f"(c[55]), "+f"(c[56]), "+f"(c[57]), "+f"(c[58]), "+f"(c[59]), "+f"(c[60]), "+f"(c[61]), "+f"(c[62]), "+f"(c[63])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

__device__ __forceinline__ void scores(float (&s)[64], u32 queries, u32 keys)
{
#pragma unroll
    for (int k = 0; k < D / 16; k++) {
        u32 at = (k >> 2) * HALF + (k & 3) * 32;
        mma_scores(s, describe(queries + at, 16, 1024), describe(keys + at, 16, 1024), k > 0);
    }
    commit();
}
__device__ __forceinline__ void mix(float (&o)[64], const u32 (&p)[32], u32 values)
{
#pragma unroll
    for (int i = 0; i < BN / 16; i++) mma_values(o, p + i * 4, describe(values + i * 2048, HALF, 1024));
    commit();
}

struct running { float most[2], sum[2], shrink[2]; };
// Scores become weights. `seen` keys of the tile, counted from the first of this thread, are seen by its rows.
template <bool IS_CUT> __device__ __forceinline__ void weigh(float (&s)[64], running &r, float scale, int seen0, int seen1)
{
#pragma unroll
    for (int h = 0; h < 2; h++) {
        int seen = h == 0 ? seen0 : seen1;
        float m = r.most[h];
#pragma unroll
        for (int i = 0; i < 64; i += 4)
#pragma unroll
            for (int e = 0; e < 2; e++) {
                float &v = s[i + h * 2 + e];
                if (IS_CUT && i * 2 + e >= seen) v = -1e30f;
                m = fmaxf(m, v);
            }
        m = fmaxf(m, __shfl_xor_sync(FULL, m, 1));
        m = fmaxf(m, __shfl_xor_sync(FULL, m, 2));
        float low = IS_CUT && m <= -1e30f ? 0.f : m * scale, part = 0;
        r.shrink[h] = exp2f((r.most[h] - m) * scale);
        r.most[h] = m;
#pragma unroll
        for (int i = 0; i < 64; i += 4)
#pragma unroll
            for (int e = 0; e < 2; e++) {
                float &v = s[i + h * 2 + e];
                v = exp2_fast(fmaf(v, scale, -low));
                part += v;
            }
        r.sum[h] = r.sum[h] * r.shrink[h] + part;
    }
}
__device__ __forceinline__ void pack_all(u32 (&p)[32], const float (&s)[64])
{
#pragma unroll
    for (int i = 0; i < 32; i++) p[i] = pack(s[i * 2], s[i * 2 + 1]);
}
__device__ __forceinline__ void turn_wait(int group)
{
    if (TURNS) asm volatile("bar.sync %0, 256;" ::"r"(1 + group) : "memory");
}
__device__ __forceinline__ void turn_give(int group)
{
    if (TURNS) asm volatile("bar.arrive %0, 256;" ::"r"(2 - group) : "memory");
}

// What a block works on. Tiles of keys go from the last to the first: the cut ones come first.
struct job {
    int seq, head, kv_head, q0, q_len, kv_len, tiles, whole; // `whole` tiles are seen by every query
    u32 queries, keys, values, barriers;
};

__device__ __forceinline__ void produce(const attention &a, const tile_map &mq, const tile_map &mk, const tile_map &mv, const job &j)
{
    bool is_flat = a.vq.unit == a.vq.pos;
    int row = a.q_row[j.seq];
    barrier_expect(j.barriers + AT_Q, TILE);
    tile_rows<D>(j.queries, HALF, mq, j.barriers + AT_Q, is_flat ? row + j.q0 : j.q0, j.head, is_flat ? 0 : row);
    for (int i = 0; i < j.tiles; i++) {
        u32 stage = i % STAGES, parity = (i / STAGES & 1) ^ 1;
        int first = (j.tiles - 1 - i) * BN;
        barrier_wait(j.barriers + AT_K_FREE + stage * 8, parity);
        barrier_expect(j.barriers + AT_K + stage * 8, TILE);
        tile_keys<D, BN>(a, a.vk, mk, j.keys + stage * TILE, j.barriers + AT_K + stage * 8, j.seq, j.kv_head, first, j.kv_len);
        barrier_wait(j.barriers + AT_V_FREE + stage * 8, parity);
        barrier_expect(j.barriers + AT_V + stage * 8, TILE);
        tile_keys<D, BN>(a, a.vv, mv, j.values + stage * TILE, j.barriers + AT_V + stage * 8, j.seq, j.kv_head, first, j.kv_len);
    }
}

// Tile `i`: its scores, and the values of the tile before, at once.
template <bool IS_CUT> __device__ __forceinline__ void advance(const job &j, int i, int group, u32 own, float (&o)[64], float (&s)[64], u32 (&p)[32], running &r, float scale, int seen0, int seen1)
{
    u32 stage = i % STAGES, before = (i - 1) % STAGES;
    int first = (j.tiles - 1 - i) * BN;
    bool is_telling = (threadIdx.x & 31) == 0;
    barrier_wait(j.barriers + AT_K + stage * 8, i / STAGES & 1);
    turn_wait(group);
    settle(s);
    settle(o);
    fence();
    scores(s, own, j.keys + stage * TILE);
    barrier_wait(j.barriers + AT_V + before * 8, (i - 1) / STAGES & 1);
    fence();
    mix(o, p, j.values + before * TILE);
    turn_give(group);
    wait<1>();
    settle(s);
    if (is_telling) barrier_arrive(j.barriers + AT_K_FREE + stage * 8);
    weigh<IS_CUT>(s, r, scale, seen0 - first, seen1 - first);
    wait<0>();
    settle(o);
    if (is_telling) barrier_arrive(j.barriers + AT_V_FREE + before * 8);
#pragma unroll
    for (int e = 0; e < 64; e++) o[e] *= r.shrink[e >> 1 & 1];
    pack_all(p, s);
}

__device__ __forceinline__ void consume(const attention &a, const job &j, int group)
{
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5 & 3, row0 = j.q0 + group * 64 + warp * 16 + (lane >> 2);
    float o[64], s[64], scale = a.scale * 1.4426950408889634f;
    running r = {{-1e30f, -1e30f}, {0, 0}, {1, 1}};
    u32 p[32], own = j.queries + group * 64 * 128;
    int seen0 = a.is_causal ? j.kv_len - j.q_len + row0 + 1 : j.kv_len, seen1 = a.is_causal ? seen0 + 8 : seen0;
    seen0 = (seen0 < j.kv_len ? seen0 : j.kv_len) - (lane & 3) * 2; // counted from this thread's first column
    seen1 = (seen1 < j.kv_len ? seen1 : j.kv_len) - (lane & 3) * 2;
#pragma unroll
    for (int i = 0; i < 64; i++) o[i] = 0;
    if (j.tiles > 0) {
        if (group == 1 && j.tiles > 1) turn_give(1);
        barrier_wait(j.barriers + AT_Q, 0);
        barrier_wait(j.barriers + AT_K, 0);
        settle(s);
        fence();
        scores(s, own, j.keys);
        wait<0>();
        settle(s);
        if (lane == 0) barrier_arrive(j.barriers + AT_K_FREE);
        int first = (j.tiles - 1) * BN;
        weigh<true>(s, r, scale, seen0 - first, seen1 - first);
        pack_all(p, s);
        int i = 1;
        for (; i < j.tiles - j.whole; i++) advance<true>(j, i, group, own, o, s, p, r, scale, seen0, seen1);
        for (; i < j.tiles; i++) advance<false>(j, i, group, own, o, s, p, r, scale, seen0, seen1);
        u32 stage = (j.tiles - 1) % STAGES;
        barrier_wait(j.barriers + AT_V + stage * 8, (j.tiles - 1) / STAGES & 1);
        settle(o);
        fence();
        mix(o, p, j.values + stage * TILE);
        wait<0>();
        settle(o);
    }
#pragma unroll
    for (int h = 0; h < 2; h++) {
        float sum = r.sum[h];
        sum += __shfl_xor_sync(FULL, sum, 1);
        sum += __shfl_xor_sync(FULL, sum, 2);
        i64 row = row0 + h * 8, unit = a.q_row[j.seq];
        if (row >= j.q_len) continue;
        elem *to = a.out + unit * a.vo.unit + row * a.vo.pos + j.head * a.vo.head + (lane & 3) * 2;
        float keep = sum > 0 ? 1.f / sum : 0.f;
#pragma unroll
        for (int i = 0; i < 16; i++) *(u32 *)(to + i * 8) = pack(o[i * 4 + h * 2] * keep, o[i * 4 + h * 2 + 1] * keep);
        if (a.lse && (lane & 3) == 0)
            a.lse[unit * a.vl.unit + row * a.vl.pos + j.head * a.vl.head] = r.most[h] * a.scale + __logf(sum);
    }
}

extern "C" __global__ void __launch_bounds__(3 * GROUP, 1) flash(const __grid_constant__ attention a, const __grid_constant__ tile_map mq, const __grid_constant__ tile_map mk, const __grid_constant__ tile_map mv)
{
    extern __shared__ __align__(1024) u8 memory[];
    int group = threadIdx.x / GROUP;
    job j;
    j.seq = blockIdx.x / (u32)a.heads;
    j.head = blockIdx.x % (u32)a.heads;
    j.kv_head = j.head / (u32)a.group;
    j.q_len = a.q_len[j.seq];
    j.kv_len = a.kv_len[j.seq];
    j.q0 = (gridDim.y - 1 - blockIdx.y) * BM; // the longest first
    if (j.q0 >= j.q_len) return;
    int last = j.q0 + BM < j.q_len ? j.q0 + BM : j.q_len, all = a.is_causal ? j.kv_len - j.q_len : j.kv_len;
    int end = a.is_causal ? all + last : all, whole = a.is_causal ? all + j.q0 + 1 : all;
    j.tiles = end > 0 ? (end + BN - 1) / BN : 0;
    j.whole = whole > 0 ? (whole < j.kv_len ? whole : j.kv_len) / BN : 0;
    j.queries = (smem_of(memory) + 1023) & ~1023u;
    j.keys = j.queries + TILE;
    j.values = j.keys + STAGES * TILE;
    j.barriers = j.values + STAGES * TILE;
    if (threadIdx.x == 0) {
        barrier_new(j.barriers + AT_Q, 1);
        for (int i = 0; i < STAGES; i++) {
            barrier_new(j.barriers + AT_K + i * 8, 1);
            barrier_new(j.barriers + AT_V + i * 8, 1);
            barrier_new(j.barriers + AT_K_FREE + i * 8, 8); // warps
            barrier_new(j.barriers + AT_V_FREE + i * 8, 8);
        }
    }
    barriers_ready();
    if (group == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x == 0 && j.tiles > 0) produce(a, mq, mk, mv, j);
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        consume(a, j, group - 1);
    }
}
