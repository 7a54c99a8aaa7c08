/*
 * Decoding with latent attention: every one of H heads asks the same T cached rows of K + P = 576
 * numbers, and mixes their first K = 512. One query row a head, bf16, sums in fp32.
 *
 * The cache is cut into splits that different blocks work on; mla_combine joins what they found.
 * Partial results are rows of 512 floats, with the largest score and the sum of exponentials.
 */
#include "bf16.cuh"

enum { WIDTH = 576, VALUES = 512, CHUNKS = WIDTH / 8 };

struct partial {
    float *out;  /* batch, head, split, VALUES */
    float2 *sum; /* batch, head, split: largest score, sum */
};

__device__ __forceinline__ void row_max_of_four(float &x)
{
    x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 1));
    x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 2));
}

__device__ __forceinline__ void row_sum_of_four(float &x)
{
    x += __shfl_xor_sync(0xffffffffu, x, 1);
    x += __shfl_xor_sync(0xffffffffu, x, 2);
}

/*
 * The simple version: 16 heads and 128 cached rows at a time, copied, waited for, used. Rows lie in
 * shared memory as in the cache.
 */
enum { HEADS1 = 16, ROWS1 = 128 };

extern "C" __global__ void __launch_bounds__(256)
    mla_decode_v1(float *out, float2 *sums, const bf16 *query, const bf16 *cache, int heads, int t,
                  int splits, float scale)
{
    extern __shared__ __align__(128) bf16 shared[];
    bf16 *q = shared, *kv = q + HEADS1 * WIDTH, *p = kv + ROWS1 * WIDTH;
    float *stat = (float *)(p + HEADS1 * ROWS1); /* 8 warps x 16 rows, twice */
    int tid = threadIdx.x, warp = tid / 32, lane = tid % 32;
    int head0 = blockIdx.x * HEADS1, split = blockIdx.y, batch = blockIdx.z;
    int per_split = t / splits;
    const bf16 *rows = cache + ((size_t)batch * t + (size_t)split * per_split) * WIDTH;
    float acc[8][4] = {}, most[2] = {-3.4e38f, -3.4e38f}, sum[2] = {0, 0};

    for (int i = tid; i < HEADS1 * CHUNKS; i += 256)
        ((uint4 *)q)[i] = ((const uint4 *)(query + ((size_t)batch * heads + head0) * WIDTH))[i];
    for (int at = 0; at < per_split; at += ROWS1) {
        __syncthreads();
        for (int i = tid; i < ROWS1 * CHUNKS; i += 256)
            ((uint4 *)kv)[i] = ((const uint4 *)(rows + (size_t)at * WIDTH))[i];
        __syncthreads();
        /* scores of 16 heads and this warp's 16 rows */
        float s[2][4] = {};
        for (int k = 0; k < WIDTH / 16; k++) {
            unsigned a[4], b[4];
            load_matrix(a, q + (lane % 16) * WIDTH + k * 16 + lane / 16 * 8);
            load_matrix(b, kv + (warp * 16 + lane % 16) * WIDTH + k * 16 + lane / 16 * 8);
            multiply(s[0], a, b[0], b[2]);
            multiply(s[1], a, b[1], b[3]);
        }
        float best[2] = {-3.4e38f, -3.4e38f};
        for (int j = 0; j < 2; j++) {
            for (int i = 0; i < 4; i++) {
                s[j][i] *= scale;
                best[i / 2] = fmaxf(best[i / 2], s[j][i]);
            }
        }
        for (int i = 0; i < 2; i++) {
            row_max_of_four(best[i]);
            if (lane % 4 == 0)
                stat[warp * 16 + lane / 4 + i * 8] = best[i];
        }
        __syncthreads();
        float part[2] = {0, 0};
        for (int i = 0; i < 2; i++) {
            float now = most[i];
            for (int w = 0; w < 8; w++)
                now = fmaxf(now, stat[w * 16 + lane / 4 + i * 8]);
            float fade = __expf(most[i] - now);
            sum[i] *= fade;
            most[i] = now;
            for (int j = 0; j < 8; j++) {
                acc[j][i * 2] *= fade;
                acc[j][i * 2 + 1] *= fade;
            }
            for (int j = 0; j < 2; j++) {
                float x = __expf(s[j][i * 2] - now), y = __expf(s[j][i * 2 + 1] - now);
                part[i] += x + y;
                *(unsigned *)&p[(lane / 4 + i * 8) * ROWS1 + warp * 16 + j * 8 + lane % 4 * 2] =
                    pack_bf16(x, y);
            }
            row_sum_of_four(part[i]);
            if (lane % 4 == 0)
                stat[128 + warp * 16 + lane / 4 + i * 8] = part[i];
        }
        __syncthreads();
        for (int i = 0; i < 2; i++) {
            for (int w = 0; w < 8; w++)
                sum[i] += stat[128 + w * 16 + lane / 4 + i * 8];
        }
        /* this warp's 64 values */
        for (int k = 0; k < ROWS1 / 16; k++) {
            unsigned a[4], b[4];
            load_matrix(a, p + (lane % 16) * ROWS1 + k * 16 + lane / 16 * 8);
            for (int j = 0; j < 4; j++) {
                load_matrix_turned(b, kv + (k * 16 + lane % 16) * WIDTH + warp * 64 + j * 16 +
                                          lane / 16 * 8);
                multiply(acc[j * 2], a, b[0], b[1]);
                multiply(acc[j * 2 + 1], a, b[2], b[3]);
            }
        }
    }
    for (int i = 0; i < 2; i++) {
        size_t at = ((size_t)batch * heads + head0 + lane / 4 + i * 8) * splits + split;
        if (warp == 0 && lane % 4 == 0)
            sums[at] = make_float2(most[i], sum[i]);
        for (int j = 0; j < 8; j++)
            *(float2 *)&out[at * VALUES + warp * 64 + j * 8 + lane % 4 * 2] =
                make_float2(acc[j][i * 2], acc[j][i * 2 + 1]);
    }
}

/*
 * The faster version. 64 heads share every cached row, so each row is read from memory twice and
 * not eight times; the next 64 rows are copied while these are used; 16-byte chunks change places
 * by the row number, so no two of the eight rows that ldmatrix reads meet in a bank.
 */
enum { HEADS2 = 64, ROWS2 = 64 };

__device__ __forceinline__ bf16 *wide_chunk(bf16 *s, int row, int chunk)
{
    return s + row * WIDTH + ((chunk ^ (row & 7)) * 8);
}

__device__ __forceinline__ bf16 *p_chunk(bf16 *s, int row, int chunk)
{
    return s + row * ROWS2 + ((chunk ^ (row & 7)) * 8);
}

extern "C" __global__ void __launch_bounds__(256, 1)
    mla_decode_v2(float *out, float2 *sums, const bf16 *query, const bf16 *cache, int heads, int t,
                  int splits, float scale)
{
    extern __shared__ __align__(128) bf16 shared[];
    bf16 *q = shared, *kv0 = q + HEADS2 * WIDTH, *p = kv0 + 2 * ROWS2 * WIDTH;
    float *stat = (float *)(p + HEADS2 * ROWS2); /* 2 halves x 64 rows, twice */
    int tid = threadIdx.x, warp = tid / 32, lane = tid % 32;
    int row0 = warp % 4 * 16, half = warp / 4;
    int head0 = blockIdx.x * HEADS2, split = blockIdx.y, batch = blockIdx.z;
    int per_split = t / splits;
    const bf16 *rows = cache + ((size_t)batch * t + (size_t)split * per_split) * WIDTH;
    float acc[32][4] = {}, most[2] = {-3.4e38f, -3.4e38f}, sum[2] = {0, 0};

    auto load = [&](bf16 *to, int at) {
        for (int i = tid; i < ROWS2 * CHUNKS; i += 256)
            copy_async(wide_chunk(to, i / CHUNKS, i % CHUNKS),
                       rows + (size_t)at * WIDTH + (size_t)i * 8);
        copies_commit();
    };

    for (int i = tid; i < HEADS2 * CHUNKS; i += 256)
        copy_async(wide_chunk(q, i / CHUNKS, i % CHUNKS),
                   query + ((size_t)batch * heads + head0) * WIDTH + (size_t)i * 8);
    load(kv0, 0);
    for (int at = 0, stage = 0; at < per_split; at += ROWS2, stage ^= 1) {
        bf16 *kv = kv0 + stage * ROWS2 * WIDTH;
        copies_wait<0>();
        __syncthreads();
        if (at + ROWS2 < per_split)
            load(kv0 + (stage ^ 1) * ROWS2 * WIDTH, at + ROWS2);
        /* scores of this warp's 16 heads and 32 rows */
        float s[4][4] = {};
#pragma unroll 4
        for (int k = 0; k < WIDTH / 16; k++) {
            unsigned a[4], b[2][4];
            load_matrix(a, wide_chunk(q, row0 + lane % 16, k * 2 + lane / 16));
            for (int j = 0; j < 2; j++)
                load_matrix(b[j], wide_chunk(kv, half * 32 + j * 16 + lane % 16, k * 2 + lane / 16));
            for (int j = 0; j < 4; j++)
                multiply(s[j], a, b[j / 2][j % 2], b[j / 2][j % 2 + 2]);
        }
        for (int i = 0; i < 2; i++) {
            float best = -3.4e38f;
            for (int j = 0; j < 4; j++) {
                s[j][i * 2] *= scale;
                s[j][i * 2 + 1] *= scale;
                best = fmaxf(best, fmaxf(s[j][i * 2], s[j][i * 2 + 1]));
            }
            row_max_of_four(best);
            if (lane % 4 == 0)
                stat[half * 64 + row0 + lane / 4 + i * 8] = best;
        }
        __syncthreads();
        for (int i = 0; i < 2; i++) {
            int row = row0 + lane / 4 + i * 8;
            float now = fmaxf(most[i], fmaxf(stat[row], stat[64 + row]));
            float fade = __expf(most[i] - now), part = 0;
            most[i] = now;
            for (int j = 0; j < 32; j++) {
                acc[j][i * 2] *= fade;
                acc[j][i * 2 + 1] *= fade;
            }
            for (int j = 0; j < 4; j++) {
                float x = __expf(s[j][i * 2] - now), y = __expf(s[j][i * 2 + 1] - now);
                part += x + y;
                *(unsigned *)(p_chunk(p, row, half * 4 + j) + lane % 4 * 2) = pack_bf16(x, y);
            }
            row_sum_of_four(part);
            sum[i] = sum[i] * fade + part;
        }
        __syncthreads();
        /* 16 heads times this half's 256 values */
        for (int k = 0; k < ROWS2 / 16; k++) {
            unsigned a[4], b[4];
            load_matrix(a, p_chunk(p, row0 + lane % 16, k * 2 + lane / 16));
#pragma unroll
            for (int j = 0; j < 16; j++) {
                load_matrix_turned(b, wide_chunk(kv, k * 16 + lane % 16,
                                                 half * 32 + j * 2 + lane / 16));
                multiply(acc[j * 2], a, b[0], b[1]);
                multiply(acc[j * 2 + 1], a, b[2], b[3]);
            }
        }
    }
    /* each half summed its own rows only */
    __syncthreads();
    for (int i = 0; i < 2; i++) {
        if (lane % 4 == 0)
            stat[half * 64 + row0 + lane / 4 + i * 8] = sum[i];
    }
    __syncthreads();
    for (int i = 0; i < 2; i++) {
        int row = row0 + lane / 4 + i * 8;
        size_t at = ((size_t)batch * heads + head0 + row) * splits + split;
        if (half == 0 && lane % 4 == 0)
            sums[at] = make_float2(most[i], stat[row] + stat[64 + row]);
        for (int j = 0; j < 32; j++)
            *(float2 *)&out[at * VALUES + half * 256 + j * 8 + lane % 4 * 2] =
                make_float2(acc[j][i * 2], acc[j][i * 2 + 1]);
    }
}

extern "C" __global__ void mla_combine(bf16 *out, const float *parts, const float2 *sums, int splits)
{
    size_t head = blockIdx.x; /* of all batches */
    float most = -3.4e38f, total = 0;

    for (int i = 0; i < splits; i++)
        most = fmaxf(most, sums[head * splits + i].x);
    for (int i = 0; i < splits; i++)
        total += sums[head * splits + i].y * __expf(sums[head * splits + i].x - most);
    for (int v = threadIdx.x; v < VALUES; v += blockDim.x) {
        float x = 0;
        for (int i = 0; i < splits; i++)
            x += parts[(head * splits + i) * VALUES + v] *
                 __expf(sums[head * splits + i].x - most);
        out[head * VALUES + v] = to_bf16(x / total);
    }
}
