// Attention over many queries: the matrix units of sm_90 on tiles of 128 queries and 128 keys, in heads of
// 128. Two groups of warps take 64 queries each; keys and values are copied while the tile before is computed.
#ifdef IS_F16
typedef f16 elem;
#define MMA_TYPES "f16.f16"
#else
typedef bf16 elem;
#define MMA_TYPES "bf16.bf16"
#endif
enum { D = 128, BM = 128, BN = 128, HALF = BN * 128, TILE = 2 * HALF, STAGES = 2 }; // bytes of half a tile, of a tile

typedef attention_of<elem> attention;

// Rows of 64 elements, 128 bytes, in pieces of 16 that are swapped by row; the second half of a head follows.
__device__ __forceinline__ u32 piece(int row, int chunk) { return (u32)((chunk >> 3) * HALF + row * 128 + ((chunk & 7) ^ (row & 7)) * 16); }

__device__ __forceinline__ void load_tile(const attention &a, const elem *from, const view &v, u32 to, int seq, i64 head, i64 first, i64 end)
{
    int chunk = threadIdx.x & 15;
#pragma unroll
    for (int r = 0; r < BN / 16; r++) {
        int row = r * 16 + (threadIdx.x >> 4);
        bool is_there = first + row < end;
        copy16(to + piece(row, chunk), from + key_at(a, v, seq, head, is_there ? first + row : 0) + chunk * 8, is_there);
    }
}

// A tile in shared memory for the matrix units: rows of 128 bytes, swizzled.
__device__ __forceinline__ u64 describe(u32 at, u32 leading, u32 stride)
{
    return (u64)((at & 0x3ffff) >> 4) | (u64)(leading >> 4) << 16 | (u64)(stride >> 4) << 32 | (u64)1 << 62;
}
__device__ __forceinline__ void fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N> __device__ __forceinline__ void wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory"); }

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
__device__ __forceinline__ u32 pack(float a, float b)
{
    u32 r;
#ifdef IS_F16
    asm("cvt.rn.f16x2.f32 %0, %2, %1;" : "=r"(r) : "f"(a), "f"(b));
#else
    asm("cvt.rn.bf16x2.f32 %0, %2, %1;" : "=r"(r) : "f"(a), "f"(b));
#endif
    return r;
}

extern "C" __global__ void __launch_bounds__(256, 1) flash(attention a)
{
    extern __shared__ __align__(1024) u8 memory[];
    // The longest tiles first.
    i64 tile = gridDim.x - 1 - blockIdx.x, head = blockIdx.y, kv_head = head / a.group;
    int seq = blockIdx.z, group = threadIdx.x >> 7, lane = threadIdx.x & 31, warp = (threadIdx.x >> 5) & 3;
    i64 q_len = a.q_len[seq], kv_len = a.kv_len[seq], q0 = tile * BM;
    if (q0 >= q_len) return;
    i64 last = q0 + BM < q_len ? q0 + BM : q_len;
    i64 end = a.is_causal ? kv_len - q_len + last : kv_len;
    end = end < 0 ? 0 : end;
    u32 base = (smem_of(memory) + 1023) & ~1023u, keys = base + TILE, values = keys + STAGES * TILE;
    const elem *q = a.q + (i64)a.q_row[seq] * a.vq.unit + head * a.vq.head;
    for (int r = 0; r < BM / 16; r++) {
        int row = r * 16 + (threadIdx.x >> 4), chunk = threadIdx.x & 15;
        bool is_there = q0 + row < q_len;
        copy16(base + piece(row, chunk), q + (is_there ? (q0 + row) * a.vq.pos : 0) + chunk * 8, is_there);
    }
    load_tile(a, a.k, a.vk, keys, seq, kv_head, 0, end);
    asm volatile("cp.async.commit_group;");
    load_tile(a, a.v, a.vv, values, seq, kv_head, 0, end);
    asm volatile("cp.async.commit_group;");
    float o[64], most[2] = {-1e30f, -1e30f}, sum[2] = {0, 0};
#pragma unroll
    for (int i = 0; i < 64; i++) o[i] = 0;
    i64 row0 = q0 + group * 64 + warp * 16 + (lane >> 2);
    float scale = a.scale * 1.4426950408889634f;
    int tiles = (int)((end + BN - 1) / BN);
    // Keys from here on are not seen by every query of the tile.
    i64 whole = a.is_causal ? kv_len - q_len + q0 + 1 : kv_len;
    for (int j = 0; j < tiles; j++) {
        int stage = j & 1;
        asm volatile("cp.async.wait_group 1;"); // the keys; the values may still come
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        i64 next = (i64)(j + 1) * BN;
        load_tile(a, a.k, a.vk, keys + (stage ^ 1) * TILE, seq, kv_head, next, end);
        asm volatile("cp.async.commit_group;");
        float s[64];
        fence();
#pragma unroll
        for (int k = 0; k < D / 16; k++) {
            u32 at = (k >> 2) * HALF + (k & 3) * 32;
            mma_scores(s, describe(base + group * 64 * 128 + at, 16, 1024), describe(keys + stage * TILE + at, 16, 1024), k > 0);
        }
        commit();
        wait<0>();
        bool is_cut = (i64)(j + 1) * BN > whole || (i64)(j + 1) * BN > end;
        if (is_cut) {
#pragma unroll
            for (int i = 0; i < 64; i++) {
                i64 pos = (i64)j * BN + (i >> 2) * 8 + (lane & 3) * 2 + (i & 1), row = row0 + ((i >> 1) & 1) * 8;
                if (pos >= end || (a.is_causal && pos > kv_len - q_len + row)) s[i] = -1e30f;
            }
        }
#pragma unroll
        for (int h = 0; h < 2; h++) {
            float m = most[h];
#pragma unroll
            for (int i = 0; i < 64; i += 4) m = fmaxf(m, fmaxf(s[i + h * 2], s[i + h * 2 + 1]));
            m = fmaxf(m, __shfl_xor_sync(FULL, m, 1));
            m = fmaxf(m, __shfl_xor_sync(FULL, m, 2));
            float shrink = exp2f((most[h] - m) * scale), part = 0, low = m <= -1e30f ? 0.f : m * scale;
            most[h] = m;
#pragma unroll
            for (int i = 0; i < 64; i += 4)
#pragma unroll
                for (int e = 0; e < 2; e++) {
                    float &v = s[i + h * 2 + e];
                    v = exp2f(fmaf(v, scale, -low));
                    part += v;
                }
            sum[h] = sum[h] * shrink + part;
#pragma unroll
            for (int i = 0; i < 64; i += 4) {
                o[i + h * 2] *= shrink;
                o[i + h * 2 + 1] *= shrink;
            }
        }
        u32 p[32];
#pragma unroll
        for (int i = 0; i < 8; i++) {
            p[i * 4] = pack(s[i * 8], s[i * 8 + 1]);
            p[i * 4 + 1] = pack(s[i * 8 + 2], s[i * 8 + 3]);
            p[i * 4 + 2] = pack(s[i * 8 + 4], s[i * 8 + 5]);
            p[i * 4 + 3] = pack(s[i * 8 + 6], s[i * 8 + 7]);
        }
        asm volatile("cp.async.wait_group 1;"); // the values; the next keys may still come
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        load_tile(a, a.v, a.vv, values + (stage ^ 1) * TILE, seq, kv_head, next, end);
        asm volatile("cp.async.commit_group;");
        fence();
#pragma unroll
        for (int i = 0; i < 8; i++) mma_values(o, p + i * 4, describe(values + stage * TILE + i * 2048, HALF, 1024));
        commit();
        wait<0>();
    }
#pragma unroll
    for (int h = 0; h < 2; h++) {
        sum[h] += __shfl_xor_sync(FULL, sum[h], 1);
        sum[h] += __shfl_xor_sync(FULL, sum[h], 2);
        i64 row = row0 + h * 8;
        if (row >= q_len) continue;
        elem *to = a.out + (i64)a.q_row[seq] * a.vo.unit + row * a.vo.pos + head * a.vo.head + (lane & 3) * 2;
        float keep = sum[h] > 0 ? 1.f / sum[h] : 0.f;
#pragma unroll
        for (int i = 0; i < 16; i++) *(u32 *)(to + i * 8) = pack(o[i * 4 + h * 2] * keep, o[i * 4 + h * 2 + 1] * keep);
        if (a.lse && (lane & 3) == 0)
            a.lse[(i64)a.q_row[seq] * a.vl.unit + row * a.vl.pos + head * a.vl.head] = most[h] * a.scale + __logf(sum[h]);
    }
}
