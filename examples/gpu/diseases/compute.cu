/* Pipes, instructions and registers. */
#include "diseases.cuh"

enum { BLOCK = 256 };

/* ---- divergence: eight ways through a branch, by lane or by warp ---- */

template <int WAYS_BY> __device__ float branches(float x)
{
    for (int i = 0; i < 64; i++)
        switch (threadIdx.x / WAYS_BY % 8) {
        case 0: for (int k = 0; k < 16; k++) x = x * 1.01f + 0.5f; break;
        case 1: for (int k = 0; k < 16; k++) x = x * 0.99f - 0.5f; break;
        case 2: for (int k = 0; k < 16; k++) x = x * x + 0.25f; break;
        case 3: for (int k = 0; k < 16; k++) x = x * 0.98f + x; break;
        case 4: for (int k = 0; k < 16; k++) x = x * -1.01f + 0.5f; break;
        case 5: for (int k = 0; k < 16; k++) x = x * -0.99f - x; break;
        case 6: for (int k = 0; k < 16; k++) x = x * x - 0.75f; break;
        default: for (int k = 0; k < 16; k++) x = x * 0.5f - 0.125f; break;
        }
    return x;
}

__global__ void divergence(float *out, const float *in)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;

    out[i] = branches<1>(in[i]);
}

__global__ void divergence_cured(float *out, const float *in)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;

    out[i] = branches<32>(in[i]);
}

/* ---- instructions: an index taken apart by divisions, or by multiplications made before ---- */

struct by {
    uint32_t d, mul;
    __host__ explicit by(uint32_t divisor) : d(divisor), mul((uint32_t)((1ull << 32) / divisor + 1))
    {
    }
};

__global__ void instruction_bound(float *out, const float *in, int n, uint32_t a, uint32_t b,
                                  uint32_t c, uint32_t d)
{
    for (uint32_t i = blockIdx.x * BLOCK + threadIdx.x; i < (uint32_t)n; i += gridDim.x * BLOCK) {
        float sum = in[i];
        for (uint32_t k = 0; k < 4; k++) {
            uint32_t at = i + k * a, x = at % a, y = at / a % b, z = at / a / b % c,
                     w = at / a / b / c % d;
            sum += (float)(x + 3 * y + 5 * z + 7 * w);
        }
        out[i] = sum;
    }
}

__device__ uint32_t split(uint32_t &i, by v)
{
    uint32_t q = __umulhi(i, v.mul), r = i - q * v.d;

    i = q;
    return r;
}

__global__ void instruction_bound_cured(float *out, const float *in, int n, by a, by b, by c, by d)
{
    for (uint32_t i = blockIdx.x * BLOCK + threadIdx.x; i < (uint32_t)n; i += gridDim.x * BLOCK) {
        float sum = in[i];
        for (uint32_t k = 0; k < 4; k++) {
            uint32_t rest = i + k * a.d, x = split(rest, a), y = split(rest, b),
                     z = split(rest, c), w = split(rest, d);
            sum += (float)(x + 3 * y + 5 * z + 7 * w);
        }
        out[i] = sum;
    }
}

/* ---- special functions ---- */

__device__ float power_of_two(float y)
{
    float x;

    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(x) : "f"(y));
    return x;
}

__global__ void xu_bound(float *out, const float *in)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float y = 0, step = in[i] * (1.0f / 256), sum = 0;

    for (int k = 0; k < 256; k++, y += step)
        sum += power_of_two(y);
    out[i] = sum;
}

/* Between 0 and 1 a polynomial is as good: every second one, so that both pipes have work. */
__global__ void xu_bound_cured(float *out, const float *in)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float y = 0, step = in[i] * (1.0f / 256), sum = 0;

    for (int k = 0; k < 256; k += 2) {
        sum += power_of_two(y);
        y += step;
        sum += 1 + y * (0.69314718f + y * (0.24022651f + y * (0.05550411f + y * 0.00961813f)));
        y += step;
    }
    out[i] = sum;
}

/* ---- FP64 by accident: literals without f ---- */

__global__ void fp64_accident(float *out, const float *in)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float x = in[i];

    for (int k = 0; k < 256; k++)
        x = x * 0.999 + 0.001;
    out[i] = x;
}

__global__ void fp64_accident_cured(float *out, const float *in)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float x = in[i];

    for (int k = 0; k < 256; k++)
        x = x * 0.999f + 0.001f;
    out[i] = x;
}

/* ---- spills: 96 sums at once, in 32 registers or in as many as it takes ---- */

enum { SUMS = 96 };

__device__ __forceinline__ void many_sums(float *out, const float *in, int n)
{
    float sum[SUMS];

    for (int k = 0; k < SUMS; k++)
        sum[k] = (float)k;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float x = in[i];
#pragma unroll
        for (int k = 0; k < SUMS; k++)
            sum[k] = sum[k] * x + 0.5f;
    }
    float all = 0;
#pragma unroll
    for (int k = 0; k < SUMS; k++)
        all += sum[k];
    out[blockIdx.x * blockDim.x + threadIdx.x] = all;
}

__global__ void __launch_bounds__(BLOCK, 8) spill(float *out, const float *in, int n)
{
    many_sums(out, in, n);
}

__global__ void __launch_bounds__(BLOCK) spill_cured(float *out, const float *in, int n)
{
    many_sums(out, in, n);
}

#define EACH(b) b.sms * 64, BLOCK

const disease compute_diseases[] = {
    {"divergence", "avoid divergence",
     [](const buffers &b) { divergence<<<EACH(b)>>>(b.out, b.in); },
     [](const buffers &b) { divergence_cured<<<EACH(b)>>>(b.out, b.in); }, false},
    {"instruction_bound", "issue fewer instructions",
     [](const buffers &b) {
         instruction_bound<<<EACH(b)>>>(b.out, b.in, 64 << 20, 37, 41, 43, 1021);
     },
     [](const buffers &b) {
         instruction_bound_cured<<<EACH(b)>>>(b.out, b.in, 64 << 20, by(37), by(41), by(43),
                                              by(1021));
     },
     false},
    {"xu_bound", "relieve the special-function pipe",
     [](const buffers &b) { xu_bound<<<EACH(b)>>>(b.out, b.in); },
     [](const buffers &b) { xu_bound_cured<<<EACH(b)>>>(b.out, b.in); }, false},
    {"fp64_accident", "keep to single precision",
     [](const buffers &b) { fp64_accident<<<EACH(b)>>>(b.out, b.in); },
     [](const buffers &b) { fp64_accident_cured<<<EACH(b)>>>(b.out, b.in); }, false},
    {"spill", "remove spills", [](const buffers &b) { spill<<<b.sms * 16, BLOCK>>>(b.out, b.in, 1 << 15); },
     [](const buffers &b) { spill_cured<<<b.sms * 16, BLOCK>>>(b.out, b.in, 1 << 15); }, false},
    {},
};
