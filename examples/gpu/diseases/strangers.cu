/*
 * Kernels as a stranger would bring them, each with one property that holds it back. What is to be
 * found was written down before the first run; `strangers --list` prints it.
 */

#include "planted.cuh"

#include <cuda_fp16.h>

enum { SIDE = 8192, N = SIDE * SIDE, BLOCK = 256, STEPS = 10, BINS = 256 };

/* Five points, rows in order: nothing is wrong with it. */
__global__ void stencil(float *out, const float *in)
{
    int x = blockIdx.x * BLOCK + threadIdx.x, y = blockIdx.y + 1;

    if (x > 0 && x < SIDE - 1 && y < SIDE - 1) {
        size_t at = (size_t)y * SIDE + x;
        out[at] = 0.2f * (in[at] + in[at - 1] + in[at + 1] + in[at - SIDE] + in[at + SIDE]);
    }
}

/* A picture that is dark nearly everywhere. */
__global__ void dark_histogram(unsigned *out, const unsigned char *in)
{
    __shared__ unsigned bins[BINS];

    bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < N; i += gridDim.x * BLOCK)
        atomicAdd(&bins[in[i]], 1u);
    __syncthreads();
    atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}

/* The first reduction of every textbook: every second thread, then every fourth. */
__global__ void textbook_reduce(float *out, const float *in)
{
    __shared__ float s[BLOCK];

    for (int r = 0; r < 8; r++) {
        s[threadIdx.x] = in[(blockIdx.x * 8 + r) * BLOCK + threadIdx.x];
        __syncthreads();
        for (int k = 1; k < BLOCK; k *= 2) {
            if (threadIdx.x % (2 * k) == 0) {
                float a = s[threadIdx.x], b = s[threadIdx.x + k];
                for (int i = 0; i < 24; i++)
                    a = a * 0.99f + b;
                s[threadIdx.x] = a;
            }
            __syncthreads();
        }
        if (threadIdx.x == 0)
            out[blockIdx.x * 8 + r] = s[0];
        __syncthreads();
    }
}

/* Reads rows, writes columns. */
__global__ void transpose_plain(float *out, const float *in)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;

    out[(size_t)x * SIDE + y] = in[(size_t)y * SIDE + x];
}

/* Through a tile, whose columns lie in one bank. */
__global__ void transpose_tile(float *out, const float *in)
{
    __shared__ float tile[32][32];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;

    for (int i = 0; i < 32; i += 8)
        tile[threadIdx.y + i][threadIdx.x] = in[(size_t)(y + i) * SIDE + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8)
        out[(size_t)(y + i) * SIDE + x] = tile[threadIdx.x][threadIdx.y + i];
}

__device__ unsigned mixed(unsigned x)
{
    x = (x ^ x >> 16) * 0x45d9f3bu;
    x = (x ^ x >> 16) * 0x45d9f3bu;
    return x ^ x >> 16;
}

/* An embedding of one value a row, in the order that the data has. */
__global__ void gather(float *out, const float *in, const int *index)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;

    out[i] = in[index[i]] * 2;
}

/* The row is read twice, the second time from a cache: as fast as memory. */
__global__ void softmax_two_pass(float4 *out, const float4 *in)
{
    enum { ROW = 1024 }; /* of four */
    const float4 *row = in + (size_t)blockIdx.x * ROW;
    __shared__ float part[BLOCK / 32];
    float sum = 0;

    for (int i = threadIdx.x; i < ROW; i += BLOCK) {
        float4 v = row[i];
        sum += __expf(v.x) + __expf(v.y) + __expf(v.z) + __expf(v.w);
    }
    for (int k = 16; k > 0; k /= 2)
        sum += __shfl_xor_sync(~0u, sum, k);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = 0;
    for (int i = 0; i < BLOCK / 32; i++)
        sum += part[i];
    for (int i = threadIdx.x; i < ROW; i += BLOCK) {
        float4 v = row[i];
        out[(size_t)blockIdx.x * ROW + i] =
            make_float4(__expf(v.x) / sum, __expf(v.y) / sum, __expf(v.z) / sum, __expf(v.w) / sum);
    }
}

/* A product of matrices of halves, as one writes it for a CPU with a cache. */
__global__ void half_gemm(__half *c, const __half *a, const __half *b, int n)
{
    __shared__ __half2 ta[32][17], tb[32][17];
    int row = blockIdx.y * 32 + threadIdx.y, column = blockIdx.x * 32 + threadIdx.x;
    __half2 sum = __float2half2_rn(0);

    for (int k = 0; k < n; k += 32) {
        if (threadIdx.x < 16) {
            ta[threadIdx.y][threadIdx.x] =
                *(const __half2 *)&a[(size_t)row * n + k + 2 * threadIdx.x];
            tb[threadIdx.y][threadIdx.x] =
                *(const __half2 *)&b[(size_t)(blockIdx.x * 32 + threadIdx.y) * n + k +
                                     2 * threadIdx.x];
        }
        __syncthreads();
        for (int i = 0; i < 16; i++)
            sum = __hfma2(ta[threadIdx.y][i], tb[threadIdx.x][i], sum);
        __syncthreads();
    }
    c[(size_t)row * n + column] = __hadd(__low2half(sum), __high2half(sum));
}

/* A thread for each of many small products: neighbours are 256 bytes apart. */
__global__ void small_products(float *c, const float *a, const float *b)
{
    size_t at = ((size_t)blockIdx.x * BLOCK + threadIdx.x) * 64;
    float left[8], sum[8];

    for (int i = 0; i < 8; i++) {
        for (int k = 0; k < 8; k++)
            left[k] = a[at + i * 8 + k], sum[k] = 0;
        for (int k = 0; k < 8; k++)
            for (int j = 0; j < 8; j++)
                sum[j] += left[k] * b[at + k * 8 + j];
        for (int k = 0; k < 8; k++)
            c[at + i * 8 + k] = sum[k];
    }
}

/* Each block waits for the sum of the one before: one thread looks, the others stand at the
 * barrier. */
__global__ void chained_scan(float *out, const float *in, volatile float *carry,
                             volatile int *ready, int turn)
{
    __shared__ float base, part[BLOCK / 32];
    int i = blockIdx.x * BLOCK + threadIdx.x, lane = threadIdx.x % 32;
    float v = in[i];

    for (int k = 1; k < 32; k *= 2) {
        float other = __shfl_up_sync(~0u, v, k);
        v += lane >= k ? other : 0;
    }
    if (lane == 31)
        part[threadIdx.x / 32] = v;
    __syncthreads();
    for (int w = 0; w < (int)threadIdx.x / 32; w++)
        v += part[w];
    if (threadIdx.x == BLOCK - 1) {
        if (blockIdx.x > 0)
            while (ready[blockIdx.x - 1] != turn)
                ;
        __threadfence();
        base = blockIdx.x > 0 ? carry[blockIdx.x - 1] : 0;
        carry[blockIdx.x] = base + v;
        __threadfence();
        ready[blockIdx.x] = turn;
    }
    __syncthreads();
    out[i] = v + base;
}

__constant__ float table[4096];

/* A table in constant memory, which every lane reads elsewhere. */
__global__ void constant_lookup(float *out, const int *index)
{
    int i = blockIdx.x * BLOCK + threadIdx.x, at = index[i] & 4095;
    float sum = 0;

    for (int k = 0; k < 64; k++) {
        sum += table[at];
        at = (at * 5 + 17) & 4095;
    }
    out[i] = sum;
}

template <int I> struct code {
    static __device__ __forceinline__ void run(float &a, float &b, float &c)
    {
        a = fmaf(a, b, (float)I * 0.37f + 0.1f);
        b = fmaf(b, c, (float)I * 0.11f + 0.2f);
        c = fmaf(c, a, (float)I * 0.53f + 0.3f);
        code<I - 1>::run(a, b, c);
    }
};
template <> struct code<0> {
    static __device__ __forceinline__ void run(float &, float &, float &) {}
};

/* Generated code, longer than the caches of instructions, and every warp somewhere else in it. */
__global__ void long_code(float *out, const float *in, int rounds)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float a = in[i], b = in[i + 1], c = in[i + 2];

    for (int r = 0; r < rounds; r++) {
        switch ((threadIdx.x / 32 + r) % 8) {
#define PART(p)                                                                                    \
    case p:                                                                                        \
        code<800>::run(a, b, c);                                                                   \
        a += p;                                                                                    \
        break;
            PART(0) PART(1) PART(2) PART(3) PART(4) PART(5) PART(6) PART(7)
        }
    }
    out[i] = a + b + c;
}

/* The same from memory, where lanes have addresses of their own. */
__global__ void constant_lookup_cured(float *out, const int *index, const float *values)
{
    __shared__ float near[4096];
    int i = blockIdx.x * BLOCK + threadIdx.x, at = index[i] & 4095;
    float sum = 0;

    for (int k = threadIdx.x; k < 4096; k += BLOCK)
        near[k] = values[k];
    __syncthreads();
    for (int k = 0; k < 64; k++) {
        sum += near[at];
        at = (at * 5 + 17) & 4095;
    }
    out[i] = sum;
}

static float *fin, *fout, *carry;
static int *index_of, *ready;
static unsigned char *dark;
static int turn;

static void run_stencil() { stencil<<<dim3(SIDE / BLOCK, SIDE - 2), BLOCK>>>(fout, fin); }
static void run_histogram() { dark_histogram<<<132 * 8, BLOCK>>>((unsigned *)fout, dark); }
static void run_reduce() { textbook_reduce<<<N / BLOCK / 8, BLOCK>>>(fout, fin); }
static void run_plain() { transpose_plain<<<dim3(SIDE / 32, SIDE / 8), dim3(32, 8)>>>(fout, fin); }
static void run_tile() { transpose_tile<<<dim3(SIDE / 32, SIDE / 32), dim3(32, 8)>>>(fout, fin); }
static void run_gather() { gather<<<N / BLOCK, BLOCK>>>(fout, fin, index_of); }
static void run_softmax() { softmax_two_pass<<<N / 4096, BLOCK>>>((float4 *)fout, (float4 *)fin); }
static void run_half()
{
    half_gemm<<<dim3(64, 64), dim3(32, 32)>>>((__half *)fout, (__half *)fin, (__half *)fin, 2048);
}
static void run_small() { small_products<<<N / 64 / BLOCK, BLOCK>>>(fout, fin, fin); }
static void run_scan() { chained_scan<<<N / 16 / BLOCK, BLOCK>>>(fout, fin, carry, ready, ++turn); }
static void run_constant() { constant_lookup<<<N / 16 / BLOCK, BLOCK>>>(fout, index_of); }
static void run_long() { long_code<<<132 * 4, BLOCK>>>(fout, fin, 16); }

static void run_constant_cured()
{
    constant_lookup_cured<<<N / 16 / BLOCK, BLOCK>>>(fout, index_of, fin);
}

static const planted kernels[] = {
    {"stencil", "", run_stencil},
    {"dark_histogram", "spread atomics", run_histogram},
    {"textbook_reduce", "avoid divergence", run_reduce},
    {"transpose_plain", "coalesce global access", run_plain},
    {"transpose_tile", "remove bank conflicts", run_tile},
    {"gather", "coalesce global access", run_gather},
    {"softmax_two_pass", "", run_softmax},
    {"half_gemm", "use tensor cores", run_half},
    {"small_products", "coalesce global access", run_small},
    {"chained_scan", "wait less at barriers", run_scan},
    {"constant_lookup", "read constants uniformly", run_constant},
    {"long_code", "shorten the code", run_long},
    {"constant_lookup_cured", nullptr, run_constant_cured},
};

__global__ void fill(float *f, int *index, unsigned char *dark)
{
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < N; i += gridDim.x * BLOCK) {
        f[i] = (float)(mixed(i) % 1024) / 1024;
        index[i] = mixed(i) % N;
        dark[i] = mixed(i) % 16 == 0 ? mixed(i) >> 8 & 255 : 0;
    }
}

int main(int argc, char **argv)
{
    if (planted_list(kernels, argc, argv))
        return 0;
    cudaMalloc(&fin, (N + 4096) * sizeof(float));
    cudaMalloc(&fout, (N + 4096) * sizeof(float));
    cudaMalloc(&index_of, N * sizeof(int));
    cudaMalloc(&dark, N);
    cudaMalloc(&carry, N / 16 / BLOCK * sizeof(float));
    if (cudaMalloc(&ready, N / 16 / BLOCK * sizeof(int)) != cudaSuccess)
        return 77;
    cudaMemset(ready, 0, N / 16 / BLOCK * sizeof(int));
    fill<<<1024, BLOCK>>>(fin, index_of, dark);
    return planted_run(kernels, STEPS);
}
