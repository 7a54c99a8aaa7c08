/* How a grid fills the device. */
#include "diseases.cuh"

/* ---- occupancy: loads that depend on one another, hidden only by other warps ---- */

enum { SMALL = 128, HOPS = 200, HELD = 200, RING = 1 << 20 };

/* The lanes of a warp walk side by side. */
__device__ uint32_t walk(const float *in)
{
    uint32_t at = (blockIdx.x * SMALL + threadIdx.x) / 32 * 2654435761u;

    for (int i = 0; i < HOPS; i++) {
        float x = in[at % (RING / 32) * 32 + threadIdx.x % 32];
        at = at * 1664525u + 1013904223u + (__any_sync(~0u, x > 2) ? 1u : 0u);
    }
    return at;
}

/* The values held meanwhile take nearly all registers a thread may have. */
__global__ void __launch_bounds__(SMALL) occupancy_registers(float *out, const float *in)
{
    int i = blockIdx.x * SMALL + threadIdx.x;
    float held[HELD];

#pragma unroll
    for (int k = 0; k < HELD; k++)
        asm volatile("mov.f32 %0, %1;" : "=f"(held[k]) : "f"(in[0] + (float)k));
    uint32_t at = walk(in);
    float sum = 0;
#pragma unroll
    for (int k = 0; k < HELD; k++)
        asm volatile("add.f32 %0, %0, %1;" : "+f"(sum) : "f"(held[k]));
    out[i] = sum + (float)at;
}

__global__ void __launch_bounds__(SMALL) occupancy_registers_cured(float *out, const float *in)
{
    int i = blockIdx.x * SMALL + threadIdx.x;

    out[i] = (float)walk(in);
}

__global__ void __launch_bounds__(SMALL) occupancy_shared(float *out, const float *in)
{
    extern __shared__ float own[];
    int i = blockIdx.x * SMALL + threadIdx.x;

    own[threadIdx.x] = in[i];
    out[i] = own[threadIdx.x] + (float)walk(in);
}

__global__ void __launch_bounds__(SMALL) occupancy_shared_cured(float *out, const float *in)
{
    extern __shared__ float own[];
    int i = blockIdx.x * SMALL + threadIdx.x;

    own[threadIdx.x] = in[i];
    out[i] = own[threadIdx.x] + (float)walk(in);
}

/* ---- the last wave: blocks that fill a multiprocessor, a few more than there are ---- */

enum { WIDE = 1024 };

__device__ __forceinline__ float spin(float x, int rounds)
{
    float a = x, b = x + 1, c = x + 2, d = x + 3;

    for (int i = 0; i < rounds; i++) {
        a = a * 1.0001f + b;
        b = b * 0.9999f + c;
        c = c * 1.0002f + d;
        d = d * 0.9998f + 1;
    }
    return a + b + c + d;
}

__global__ void __launch_bounds__(WIDE, 1) tail_wave(float *out, const float *in, int rounds)
{
    extern __shared__ float room[]; /* so much that a second block does not fit */
    int i = blockIdx.x * WIDE + threadIdx.x;

    room[threadIdx.x] = in[i];
    out[i] = spin(room[threadIdx.x], rounds);
}

__global__ void __launch_bounds__(WIDE, 1) tail_wave_cured(float *out, const float *in, int rounds)
{
    extern __shared__ float room[];
    int i = blockIdx.x * WIDE + threadIdx.x;

    room[threadIdx.x] = in[i];
    out[i] = spin(room[threadIdx.x], rounds);
}

/* ---- underfill: as much work in fewer blocks than multiprocessors ---- */

__global__ void underfill(float *out, const float *in, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    out[i] = spin(in[i], rounds);
}

__global__ void underfill_cured(float *out, const float *in, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    out[i] = spin(in[i], rounds);
}

enum { ROOM = 120 << 10, ROUNDS = 4096 };

template <typename KERNEL> static KERNEL *with_room(KERNEL *kernel, int bytes)
{
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    return kernel;
}

const disease launch_diseases[] = {
    {"occupancy_registers", "raise occupancy",
     [](const buffers &b) { occupancy_registers<<<b.sms * 64, SMALL>>>(b.out, b.in); },
     [](const buffers &b) { occupancy_registers_cured<<<b.sms * 64, SMALL>>>(b.out, b.in); },
     false},
    {"occupancy_shared", "raise occupancy",
     [](const buffers &b) {
         with_room(occupancy_shared, 72 << 10)<<<b.sms * 64, SMALL, 72 << 10>>>(b.out, b.in);
     },
     [](const buffers &b) {
         occupancy_shared_cured<<<b.sms * 64, SMALL, SMALL * 4>>>(b.out, b.in);
     },
     false},
    {"tail_wave", "balance the last wave",
     [](const buffers &b) {
         with_room(tail_wave, ROOM)<<<b.sms + b.sms / 8, WIDE, ROOM>>>(b.out, b.in, ROUNDS);
     },
     [](const buffers &b) {
         int rounds = ROUNDS * (b.sms + b.sms / 8) / b.sms;
         with_room(tail_wave_cured, ROOM)<<<b.sms, WIDE, ROOM>>>(b.out, b.in, rounds);
     },
     false},
    {"underfill", "fill the GPU",
     [](const buffers &b) { underfill<<<b.sms / 8, WIDE>>>(b.out, b.in, 2 * ROUNDS); },
     [](const buffers &b) { underfill_cured<<<b.sms, WIDE>>>(b.out, b.in, 2 * ROUNDS / 8); },
     false},
    {},
};
