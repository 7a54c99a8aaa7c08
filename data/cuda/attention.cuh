// What the kernels of attention share: their operands, small tiles of the matrix units, tiles that the
// memory unit of sm_90 brings, and rows of results. IS_F16 chooses the type of those in 16 bits.
#ifdef IS_F16
typedef f16 half_type;
#define MMA_TYPES "f16.f16"
#define PAIR_TYPE "f16x2"
#else
typedef bf16 half_type;
#define MMA_TYPES "bf16.bf16"
#define PAIR_TYPE "bf16x2"
#endif
enum { ROWS = 16 }; // queries of a small tile

// How far apart units, positions and heads stand; the operands.
struct view { i64 unit, pos, head; };
template <typename elem> struct attention_of {
    const elem *q, *k, *v, *qr, *kr, *before;
    elem *out;
    float *lse, *part;
    const float *before_lse;
    const int *table, *list, *q_row, *q_len, *kv_row, *kv_len;
    view vq, vqr, vk, vkr, vv, vo, vl;
    i64 heads, kv_heads, group, block, width, top_k, tiles;
    float scale;
    int is_causal, splits, is_merging;
};
// Where the key at a position stands: in a row of its own, or in a page of a table.
template <typename elem> __device__ __forceinline__ i64 key_at(const attention_of<elem> &a, const view &v, int seq, i64 head, i64 pos)
{
    if (a.block == 0) return (i64)a.kv_row[seq] * v.unit + pos * v.pos + head * v.head;
    u32 in = (u32)pos / (u32)a.block; // 64-bit division takes a hundred instructions
    return (i64)a.table[seq * a.width + in] * v.unit + (i64)((u32)pos - in * (u32)a.block) * v.pos + head * v.head;
}

// 16 bytes into shared memory, zeros where nothing is there; they arrive later.
__device__ __forceinline__ u32 smem_of(const void *p) { return (u32)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void copy16(u32 to, const void *from, bool is_there)
{
    int n = is_there ? 16 : 0;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(n));
}

__device__ __forceinline__ void ldmatrix(u32 *r, u32 at)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at) : "memory");
}
__device__ __forceinline__ void ldmatrix_turned(u32 *r, u32 at)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at) : "memory");
}
__device__ __forceinline__ void mma(float *c, const u32 *a, u32 b0, u32 b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." MMA_TYPES ".f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ __forceinline__ u32 pack(float a, float b)
{
    u32 r;
    asm("cvt.rn." PAIR_TYPE ".f32 %0, %2, %1;" : "=r"(r) : "f"(a), "f"(b));
    return r;
}

// A tile that the host described comes by itself and is counted by a barrier in shared memory, in bytes;
// who waits names the parity of the phase that ends.
struct __align__(64) tile_map { u64 word[16]; };
__device__ __forceinline__ void barrier_new(u32 at, u32 arrivals) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at), "r"(arrivals) : "memory"); }
__device__ __forceinline__ void barrier_expect(u32 at, u32 bytes) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at), "r"(bytes) : "memory"); }
__device__ __forceinline__ void barrier_arrive(u32 at) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at) : "memory"); }
__device__ __forceinline__ void barrier_wait(u32 at, u32 parity)
{
    u32 is_done = 0;
    while (!is_done)
        asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}\n" : "=r"(is_done) : "r"(at), "r"(parity) : "memory");
}
// Barriers that were made are seen by the memory unit, and by all threads after they met.
__device__ __forceinline__ void barriers_ready()
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
}
__device__ __forceinline__ void tile_load(u32 to, const tile_map &map, u32 barrier, int column, int pos, int head, int unit)
{
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5, %6}], [%2];" ::"r"(to), "l"(&map), "r"(barrier), "r"(column), "r"(pos), "r"(head), "r"(unit) : "memory");
}
// Rows of SIZE elements, in halves of 64 that follow each other; rows of 128 bytes, swizzled.
template <int SIZE> __device__ __forceinline__ void tile_rows(u32 to, u32 half, const tile_map &map, u32 barrier, int pos, int head, int unit)
{
#pragma unroll
    for (int d = 0; d < SIZE; d += 64) tile_load(to + d / 64 * half, map, barrier, d, pos, head, unit);
}
// A tile of N keys (or values) from `first` on: as many boxes as there are pages in it.
template <int SIZE, int N, typename elem> __device__ __forceinline__ void tile_keys(const attention_of<elem> &a, const view &v, const tile_map &map, u32 to, u32 barrier, int seq, int head, int first, int len)
{
    if (a.block == 0) {
        bool is_flat = v.unit == v.pos; // sequences follow each other
        int row = a.kv_row[seq];
        tile_rows<SIZE>(to, N * 128, map, barrier, is_flat ? row + first : first, head, is_flat ? 0 : row);
        return;
    }
    int block = (int)a.block, box = block < N ? block : N;
    for (int r = 0; r < N; r += box) {
        int pos = first + r, page = pos / block;
        int unit = a.table[seq * a.width + (pos < len ? page : 0)];
        tile_rows<SIZE>(to + r * 128, N * 128, map, barrier, pos - page * block, head, unit);
    }
}
// Where a piece of 16 bytes of a row of such a tile is.
template <int N> __device__ __forceinline__ u32 tile_piece(int row, int chunk) { return (u32)((chunk >> 3) * (N * 128) + row * 128 + ((chunk & 7) ^ (row & 7)) * 16); }

// The query of a row of a small tile.
struct row_place { bool is_there; i64 pos, head; };
template <typename elem> __device__ __forceinline__ row_place place_of(const attention_of<elem> &a, i64 tile, int row, int seq, i64 kv_head)
{
    u32 per_pos = (u32)(a.list ? (a.group + ROWS - 1) / ROWS * ROWS : a.group), r = (u32)(tile * ROWS + row);
    row_place p;
    p.pos = r / per_pos;
    i64 g = r % per_pos;
    p.head = kv_head * a.group + g;
    p.is_there = p.pos < a.q_len[seq] && g < a.group;
    return p;
}

// Puts a finished row to the result, joined with an earlier ring.
template <typename elem> __device__ __forceinline__ void finish_row(const attention_of<elem> &a, int seq, const row_place &p, float most, float sum, i64 &at, float &keep, float &join, float &old)
{
    float lse = most + __logf(sum);
    at = (i64)a.q_row[seq] * a.vo.unit + p.pos * a.vo.pos + p.head * a.vo.head;
    i64 lse_at = (i64)a.q_row[seq] * a.vl.unit + p.pos * a.vl.pos + p.head * a.vl.head;
    keep = sum > 0 ? 1.f / sum : 0.f;
    join = 1;
    old = 0;
    if (a.is_merging) {
        float before = a.before_lse[lse_at], top = fmaxf(before, lse), all = top + __logf(__expf(before - top) + __expf(lse - top));
        old = __expf(before - all);
        join = __expf(lse - all);
        lse = all;
    }
    if (a.lse) a.lse[lse_at] = lse;
}

// Where the part of a row is: its values, then the largest score and the sum.
template <int SIZE, typename elem> __device__ __forceinline__ float *part_of(const attention_of<elem> &a, int seq, i64 kv_head, i64 tile, int split, int row)
{
    return a.part + ((((i64)(seq * a.kv_heads + kv_head) * a.tiles + tile) * a.splits + split) * ROWS + row) * (SIZE + 2);
}

// The parts of one row, a block each.
template <int SIZE, typename elem> __device__ __forceinline__ void join_row(const attention_of<elem> &a)
{
    i64 tile = blockIdx.x / ROWS;
    int row = blockIdx.x % ROWS, seq = blockIdx.z;
    row_place p = place_of(a, tile, row, seq, blockIdx.y);
    if (!p.is_there) return;
    const float *part = part_of<SIZE>(a, seq, blockIdx.y, tile, 0, row);
    i64 step = (i64)ROWS * (SIZE + 2);
    float most = -1e30f, sum = 0;
    for (int s = 0; s < a.splits; s++) most = fmaxf(most, part[s * step + SIZE]);
    for (int s = 0; s < a.splits; s++) sum += part[s * step + SIZE + 1] * __expf(part[s * step + SIZE] - most);
    i64 at;
    float keep, join, old;
    finish_row(a, seq, p, most, sum, at, keep, join, old);
    for (int d = threadIdx.x; d < SIZE; d += blockDim.x) {
        float v = 0;
        for (int s = 0; s < a.splits; s++) v += part[s * step + d] * __expf(part[s * step + SIZE] - most);
        v *= keep * join;
        if (a.is_merging) v += old * to_f(a.before[at + d]);
        put(a.out[at + d], v);
    }
}
