// What follows an integer product, and products of shapes that the library does not take.

// out = ((sum [+ bias]) * scale [* pertoken[m]] [+ offset]); TI is the type of the sums. `extra` is one of
// three: 1 bias, 2 scale of tokens, 3 offset.
extern "C" __global__ void quant_epilogue(const TI *sums, const TB *scale, const void *extra, TO *o, i64 m, i64 n, i64 scales, i64 extras, int role)
{
    for (i64 at = (i64)blockIdx.x * blockDim.x + threadIdx.x; at < m * n; at += (i64)gridDim.x * blockDim.x) {
        i64 row = at / n, i = at % n;
        float v = to_f(sums[at]);
        if (role == 1) v += (float)((const int *)extra)[extras == 1 ? 0 : i];
        v *= to_f(scale[scales == 1 ? 0 : i]);
        if (role == 2) v *= ((const float *)extra)[row];
        if (role == 3) v += ((const float *)extra)[extras == 1 ? 0 : i];
        put(o[at], v);
    }
}

__device__ __forceinline__ int group_of(const i64 *list, i64 groups, i64 token)
{
    int g = 0;
    while (g < groups - 1 && list[g] <= token) g++;
    return g;
}

extern "C" __global__ void group_epilogue(const TI *sums, const i64 *list, const float *scale, const float *tokens, TO *o, i64 groups, i64 m, i64 n)
{
    i64 row = blockIdx.x;
    int g = group_of(list, groups, row);
    float t = tokens ? tokens[row] : 1.f;
    for (i64 i = threadIdx.x; i < n; i += blockDim.x)
        put(o[row * n + i], to_f(sums[row * n + i]) * (scale ? scale[g * n + i] : 1.f) * t);
}

extern "C" __global__ void group_swiglu_quant(const TI *sums, const i64 *list, const float *scale, const float *tokens, i8 *o, float *out_scale, i64 groups, i64 n)
{
    extern __shared__ float kept[];
    i64 row = blockIdx.x, half = n / 2;
    int g = group_of(list, groups, row);
    float t = tokens[row], most = 0;
    for (i64 i = threadIdx.x; i < half; i += blockDim.x) {
        float a = to_f(sums[row * n + i]) * t * scale[g * n + i];
        float b = to_f(sums[row * n + half + i]) * t * scale[g * n + half + i];
        float v = a / (1.f + expf(-a)) * b;
        kept[i] = v;
        most = fmaxf(most, fabsf(v));
    }
    float s = block_reduce<true>(most) / 127.f;
    if (threadIdx.x == 0) out_scale[row] = s;
    for (i64 i = threadIdx.x; i < half; i += blockDim.x) put(o[row * half + i], s > 0 ? kept[i] / s : 0.f);
}

// Any product by tiles of 32: out (m, n) = a * b with steps of rows and columns. Sums are in TACC.
#ifndef TACC
#define TACC float
#endif
struct product { i64 m, n, k, a_row, a_column, b_row, b_column, o_row, a_batch, b_batch, o_batch; };
extern "C" __global__ void multiply(const TI *a, const TB *b, TO *o, product p)
{
    __shared__ TACC as[32][33], bs[32][33];
    int x = threadIdx.x & 31, y = threadIdx.x >> 5; // 8 rows at a time
    i64 tiles = (p.n + 31) / 32, row0 = blockIdx.x / tiles * 32, column0 = blockIdx.x % tiles * 32;
    TACC sum[4] = {0, 0, 0, 0};
    a += blockIdx.y * p.a_batch;
    b += blockIdx.y * p.b_batch;
    o += blockIdx.y * p.o_batch;
    for (i64 k0 = 0; k0 < p.k; k0 += 32) {
        for (int r = y; r < 32; r += 8) {
            i64 i = row0 + r, j = column0 + r;
            as[r][x] = i < p.m && k0 + x < p.k ? (TACC)to_f(a[i * p.a_row + (k0 + x) * p.a_column]) : (TACC)0;
            bs[r][x] = j < p.n && k0 + x < p.k ? (TACC)to_f(b[(k0 + x) * p.b_row + j * p.b_column]) : (TACC)0;
        }
        __syncthreads();
        for (int k = 0; k < 32; k++)
            for (int r = 0; r < 4; r++) sum[r] += as[y + 8 * r][k] * bs[x][k];
        __syncthreads();
    }
    for (int r = 0; r < 4; r++)
        if (row0 + y + 8 * r < p.m && column0 + x < p.n) put(o[(row0 + y + 8 * r) * p.o_row + column0 + x], (float)sum[r]);
}
