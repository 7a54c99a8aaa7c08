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

/* ---- address translation: every lane in another page of 2 MiB ---- */

enum { HOPS = 64 };

__global__ void far_strides(float *out, const float *big, size_t floats)
{
    size_t at = mixed(blockIdx.x * BLOCK + threadIdx.x);
    float sum = 0;

    for (int i = 0; i < HOPS; i++) {
        at = (at * 6364136223846793005u + 1442695040888963407u);
        sum += big[(at >> 20) % floats / 8 * 8];
    }
    out[blockIdx.x * BLOCK + threadIdx.x] = sum;
}

/* As many loads of as many sectors, but the warps of a block stay in one page. */
__global__ void far_strides_cured(float *out, const float *big, size_t floats)
{
    size_t page = 512 << 10, at = mixed(blockIdx.x * BLOCK + threadIdx.x);
    const float *base = big + blockIdx.x % (floats / page) * page;
    float sum = 0;

    for (int i = 0; i < HOPS; i++) {
        at = (at * 6364136223846793005u + 1442695040888963407u);
        sum += base[(at >> 20) % page / 8 * 8];
    }
    out[blockIdx.x * BLOCK + threadIdx.x] = sum;
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

static const size_t big_floats = 64 * GiB / sizeof(float);

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
    {"far_strides", "keep addresses in fewer pages",
     [](const buffers &b) { far_strides<<<b.sms * 8, BLOCK>>>(b.out, b.big, big_floats); },
     [](const buffers &b) { far_strides_cured<<<b.sms * 8, BLOCK>>>(b.out, b.big, big_floats); },
     true},
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
