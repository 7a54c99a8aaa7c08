// Elementwise operators and copies in another order.
extern "C" __global__ void add(const TI *a, const TB *b, TO *o, i64 n, i64 m)
{
    enum { N = vec<TI>::N };
    i64 i = ((i64)blockIdx.x * blockDim.x + threadIdx.x) * N;
    bool is_wide = sizeof(TI) == sizeof(TB) && sizeof(TI) == sizeof(TO) && m == n && i + N <= n;
    if (is_wide) {
        vec<TI> x = load(a + i);
        vec<TB> y = load(b + i);
        vec<TO> z;
#pragma unroll
        for (int k = 0; k < N; k++) put(z.at[k], to_f(x.at[k]) + to_f(y.at[k]));
        *(uint4 *)(o + i) = z.all;
        return;
    }
    for (int k = 0; k < N && i + k < n; k++)
        put(o[i + k], to_f(a[i + k]) + (m > 0 ? to_f(b[(i + k) % m]) : 1.f));
}

extern "C" __global__ void masked_fill(const TI *a, const u8 *mask, TO *o, i64 n, i64 m)
{
    enum { N = vec<TI>::N };
    i64 i = ((i64)blockIdx.x * blockDim.x + threadIdx.x) * N;
    for (int k = 0; k < N && i + k < n; k++)
        put(o[i + k], mask[(i + k) % m] ? 0.f : to_f(a[i + k]));
}

// One type to another, the wider one in pieces of sixteen bytes.
extern "C" __global__ void cast(const TI *a, TO *o, i64 n)
{
    enum { NI = vec<TI>::N, NO = vec<TO>::N, N = NI > NO ? NI : NO };
    i64 i = ((i64)blockIdx.x * blockDim.x + threadIdx.x) * N;
    if (i + N > n) {
        for (; i < n; i++) put(o[i], to_f(a[i]));
        return;
    }
    vec<TI> x[N / NI];
    vec<TO> y[N / NO];
#pragma unroll
    for (int k = 0; k < N / NI; k++) x[k] = load(a + i + k * NI);
#pragma unroll
    for (int k = 0; k < N; k++) put(y[k / NO].at[k % NO], to_f(x[k / NI].at[k % NI]));
#pragma unroll
    for (int k = 0; k < N / NO; k++) *(uint4 *)(o + i + k * NO) = y[k].all;
}

// Two axes swapped: (before, a, middle, b, after); the size of an element is that of TI.
extern "C" __global__ void transpose(const TI *x, TI *o, i64 n, i64 a, i64 middle, i64 b, i64 after)
{
    for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (i64)gridDim.x * blockDim.x) {
        i64 rest = i, k = rest % after; rest /= after;
        i64 ia = rest % a; rest /= a;
        i64 im = rest % middle; rest /= middle;
        i64 ib = rest % b; rest /= b;
        o[i] = x[(((rest * a + ia) * middle + im) * b + ib) * after + k];
    }
}

// The last two axes swapped, by tiles.
extern "C" __global__ void transpose_tile(const TI *x, TI *o, i64 rows, i64 columns)
{
    __shared__ TI tile[32][33];
    i64 tiles = (columns + 31) / 32, r0 = blockIdx.x / tiles * 32, c0 = blockIdx.x % tiles * 32;
    x += blockIdx.y * rows * columns;
    o += blockIdx.y * rows * columns;
    for (int k = threadIdx.x >> 5; k < 32; k += 8)
        if (r0 + k < rows && c0 + (threadIdx.x & 31) < columns)
            tile[k][threadIdx.x & 31] = x[(r0 + k) * columns + c0 + (threadIdx.x & 31)];
    __syncthreads();
    for (int k = threadIdx.x >> 5; k < 32; k += 8)
        if (c0 + k < columns && r0 + (threadIdx.x & 31) < rows)
            o[(c0 + k) * rows + r0 + (threadIdx.x & 31)] = tile[threadIdx.x & 31][k];
}

struct shape { i64 rank, part[8], whole[8]; };

// Rows of a part of a whole, either way round: the part from the whole, or zeros around it.
extern "C" __global__ void part_of(const TI *x, TI *o, shape s, i64 rows, int is_pad)
{
    i64 n = s.part[s.rank - 1], m = s.whole[s.rank - 1];
    for (i64 row = blockIdx.x; row < rows; row += gridDim.x) {
        i64 rest = row, at = 0, step = m;
        bool is_in = true;
        for (int k = (int)s.rank - 2; k >= 0; k--) {
            i64 place = rest % s.part[k];
            rest /= s.part[k];
            is_in = is_in && place < s.whole[k];
            at += place * step;
            step *= s.whole[k];
        }
        for (i64 i = threadIdx.x; i < n; i += blockDim.x) {
            if (is_pad) {
                TI zero;
                put(zero, 0.f);
                o[row * n + i] = is_in && i < m ? x[at + i] : zero;
            } else {
                o[row * n + i] = x[at + i];
            }
        }
    }
}

// Rows by number: from the places of a list, or to them. TB is the type of the list.
__device__ __forceinline__ void move_row(const u8 *from, u8 *to, i64 bytes)
{
    i64 done = 0;
    if (((u64)from | (u64)to | (u64)bytes) % 16 == 0) {
        for (i64 k = threadIdx.x * 16; k < bytes; k += blockDim.x * 16) *(uint4 *)(to + k) = *(const uint4 *)(from + k);
        done = bytes;
    }
    for (i64 k = done + threadIdx.x; k < bytes; k += blockDim.x) to[k] = from[k];
}

extern "C" __global__ void rows_by(const u8 *x, u8 *o, const TB *list, i64 n, i64 bytes, int is_scatter, i64 share)
{
    for (i64 i = blockIdx.x; i < n; i += gridDim.x) {
        i64 place = to_i(list[i]), own = i / share;
        move_row(x + (is_scatter ? own : place) * bytes, o + (is_scatter ? place : i) * bytes, bytes);
    }
}

// Keys and values to their places in both caches.
extern "C" __global__ void cache_rows(const u8 *key, const u8 *value, u8 *keys, u8 *values, const TB *list, i64 n, i64 key_bytes, i64 value_bytes)
{
    const u8 *x = blockIdx.y == 0 ? key : value;
    u8 *o = blockIdx.y == 0 ? keys : values;
    i64 bytes = blockIdx.y == 0 ? key_bytes : value_bytes;
    for (i64 i = blockIdx.x; i < n; i += gridDim.x) move_row(x + i * bytes, o + to_i(list[i]) * bytes, bytes);
}
