/* Shared memory and barriers. */
#include "diseases.cuh"

enum { BLOCK = 256, ROUNDS = 512 };

/* ---- bank conflicts: lanes read a column of 32 x 32 ---- */

template <int PITCH> __device__ void columns(float *out, const float *in)
{
    __shared__ float tile[32 * PITCH];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float sum = 0;

    for (int row = warp; row < 32; row += BLOCK / 32)
        tile[row * PITCH + lane] = in[(blockIdx.x * 32 + row) * 32 + lane];
    __syncthreads();
    for (int i = 0; i < ROUNDS; i++)
        sum += tile[lane * PITCH + (warp + i) % 32];
    out[blockIdx.x * BLOCK + threadIdx.x] = sum;
}

__global__ void bank_conflict(float *out, const float *in)
{
    columns<32>(out, in);
}

__global__ void bank_conflict_cured(float *out, const float *in)
{
    columns<33>(out, in);
}

/* ---- barriers: after every step one warp sums up what all have, and all others wait for it ---- */

enum { WIDE = 1024, STEPS = 64 };

__global__ void __launch_bounds__(WIDE) barrier_bound(int *out, const int *in)
{
    __shared__ int part[WIDE], all;
    int x = in[blockIdx.x * WIDE + threadIdx.x];

    for (int i = 0; i < STEPS; i++) {
        part[threadIdx.x] = x;
        __syncthreads();
        if (threadIdx.x < 32) {
            int sum = 0;
            for (int k = threadIdx.x; k < WIDE; k += 32)
                sum += part[k];
            all = __reduce_add_sync(~0u, sum);
        }
        __syncthreads();
        x = x / 2 + all;
    }
    out[blockIdx.x * WIDE + threadIdx.x] = x;
}

/* Every warp sums up what it has, then what the others have: one barrier, and nobody waits long. */
__global__ void __launch_bounds__(WIDE) barrier_bound_cured(int *out, const int *in)
{
    __shared__ int part[2][WIDE / 32];
    int x = in[blockIdx.x * WIDE + threadIdx.x], lane = threadIdx.x % 32, warp = threadIdx.x / 32;

    for (int i = 0; i < STEPS; i++) {
        part[i % 2][warp] = __reduce_add_sync(~0u, x);
        __syncthreads();
        x = x / 2 + __reduce_add_sync(~0u, part[i % 2][lane]);
    }
    out[blockIdx.x * WIDE + threadIdx.x] = x;
}

/* ---- atomics in shared memory: a histogram with one bin that nearly all values hit ---- */

enum { BINS = 256 };

__global__ void shared_atomic_hot(float *out, const float *in, int n)
{
    __shared__ float bins[BINS];

    bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK)
        atomicAdd(&bins[(int)(in[i] * 3.9f)], in[i]);
    __syncthreads();
    out[blockIdx.x * BINS + threadIdx.x] = bins[threadIdx.x];
}

/* A copy of the few bins for each thread. */
__global__ void shared_atomic_hot_cured(float *out, const float *in, int n)
{
    __shared__ float bins[4][BLOCK];

    for (int k = 0; k < 4; k++)
        bins[k][threadIdx.x] = 0;
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK)
        bins[(int)(in[i] * 3.9f)][threadIdx.x] += in[i];
    __syncthreads();
    if (threadIdx.x < 4) {
        float sum = 0;
        for (int i = 0; i < BLOCK; i++)
            sum += bins[threadIdx.x][(i + threadIdx.x) % BLOCK];
        out[blockIdx.x * 4 + threadIdx.x] = sum;
    }
}

const disease shared_diseases[] = {
    {"bank_conflict", "remove bank conflicts",
     [](const buffers &b) { bank_conflict<<<b.sms * 8, BLOCK>>>(b.out, b.in); },
     [](const buffers &b) { bank_conflict_cured<<<b.sms * 8, BLOCK>>>(b.out, b.in); }, false},
    {"barrier_bound", "wait less at barriers",
     [](const buffers &b) { barrier_bound<<<b.sms * 4, WIDE>>>((int *)b.out, (const int *)b.in); },
     [](const buffers &b) { barrier_bound_cured<<<b.sms * 4, WIDE>>>((int *)b.out, (const int *)b.in); }, false},
    {"shared_atomic_hot", "spread atomics",
     [](const buffers &b) {
         shared_atomic_hot<<<b.sms * 4, BLOCK>>>(b.out, b.in, 16 << 20);
     },
     [](const buffers &b) {
         shared_atomic_hot_cured<<<b.sms * 4, BLOCK>>>(b.out, b.in, 16 << 20);
     },
     false},
    {},
};
