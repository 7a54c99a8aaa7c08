/* Global memory: how addresses of a warp and of a grid lie. */
#include "diseases.cuh"

enum { BLOCK = 256 };

/* ---- uncoalesced: one field of eight out of an array of structures ---- */

struct particle {
    float x, rest[7];
};

__global__ void uncoalesced(float *out, const particle *p, int n)
{
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK)
        out[i] = 2 * p[i].x;
}

__global__ void uncoalesced_cured(float *out, const float *x, int n)
{
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK)
        out[i] = 2 * x[i];
}

/* ---- L2: rows of 32 bytes in random order, from a table that does not fit, or slice by slice ---- */

__device__ uint32_t mixed(uint32_t x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

enum { ROW = 8, ROWS = FLOATS / ROW, SLICE = 1 << 19, GATHERS = 4 * ROWS };

template <bool BY_SLICE> __device__ float gather(const float *table)
{
    int lane = threadIdx.x % ROW, first = (blockIdx.x * BLOCK + threadIdx.x) / ROW;
    int step = gridDim.x * BLOCK / ROW;
    float sum = 0;

    for (int i = first; i < GATHERS; i += step) {
        uint32_t row = mixed((uint32_t)i) % (BY_SLICE ? SLICE : ROWS);
        if (BY_SLICE)
            row += i / (GATHERS / (ROWS / SLICE)) * SLICE;
        sum += table[(size_t)row * ROW + lane];
    }
    return sum;
}

__global__ void l2_thrash(float *out, const float *table)
{
    out[blockIdx.x * BLOCK + threadIdx.x] = gather<false>(table);
}

__global__ void l2_thrash_cured(float *out, const float *table)
{
    out[blockIdx.x * BLOCK + threadIdx.x] = gather<true>(table);
}

/* ---- far strides: rows of 2 MiB, and every lane in another one, so that every load of a warp
 * touches 32 pages ---- */

enum { HOPS = 64, PITCH = 2 * MiB / sizeof(float), FAR_ROWS = 64 * GiB / (2 * MiB) };

__global__ void far_strides(float *out, const float *big)
{
    size_t thread = blockIdx.x * BLOCK + threadIdx.x, row = thread % FAR_ROWS;
    size_t col = thread / FAR_ROWS * 4096;
    float sum = 0;

    for (int i = 0; i < HOPS; i++)
        sum += big[row * PITCH + (col + i * 64) % PITCH];
    out[thread] = sum;
}

/* The other way round: lanes along a row. */
__global__ void far_strides_cured(float *out, const float *big)
{
    size_t thread = blockIdx.x * BLOCK + threadIdx.x, row = thread / 4096;
    size_t col = thread % 4096;
    float sum = 0;

    for (int i = 0; i < HOPS; i++)
        sum += big[(row * HOPS + i) * PITCH + col];
    out[thread] = sum;
}

/* ---- atomics: all threads add to one address ---- */

__global__ void atomic_hot(float *out, const float *in, int n)
{
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK)
        atomicAdd(out, in[i]);
}

__global__ void atomic_hot_cured(float *out, const float *in, int n)
{
    __shared__ float part[BLOCK / 32];
    float sum = 0;

    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK)
        sum += in[i];
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_xor_sync(~0u, sum, d);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < BLOCK / 32 ? part[threadIdx.x] : 0;
        for (int d = 4; d > 0; d /= 2)
            sum += __shfl_xor_sync(~0u, sum, d);
        if (threadIdx.x == 0)
            atomicAdd(out, sum);
    }
}

/* ---- healthy: as much as memory gives ---- */

__global__ void dram_limit(float4 *out, const float4 *in, int n)
{
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK)
        out[i] = in[i];
}

/* ---- launches ---- */

const disease access_diseases[] = {
    {"uncoalesced", "coalesce global access",
     [](const buffers &b) {
         uncoalesced<<<b.sms * 8, BLOCK>>>(b.out, (const particle *)b.in, FLOATS / 8);
     },
     [](const buffers &b) {
         uncoalesced_cured<<<b.sms * 8, BLOCK>>>(b.out, b.in, FLOATS / 8);
     },
     false},
    {"l2_thrash", "raise L2 locality",
     [](const buffers &b) { l2_thrash<<<b.sms * 8, BLOCK>>>(b.out, b.in); },
     [](const buffers &b) { l2_thrash_cured<<<b.sms * 8, BLOCK>>>(b.out, b.in); }, false},
    {"far_strides", "coalesce global access",
     [](const buffers &b) { far_strides<<<b.sms * 8, BLOCK>>>(b.out, b.big); },
     [](const buffers &b) { far_strides_cured<<<b.sms * 8, BLOCK>>>(b.out, b.big); }, true},
    {"atomic_hot", "spread atomics",
     [](const buffers &b) { atomic_hot<<<b.sms * 8, BLOCK>>>(b.out, b.in, 4 << 20); },
     [](const buffers &b) { atomic_hot_cured<<<b.sms * 8, BLOCK>>>(b.out, b.in, 4 << 20); },
     false},
    {"dram_limit", "",
     [](const buffers &b) {
         dram_limit<<<b.sms * 16, BLOCK>>>((float4 *)b.out, (const float4 *)b.in, FLOATS / 4);
     },
     nullptr, false},
    {},
};
