/*
 * Kernels as they stand in real programs, each with one property that holds it back, and some with
 * none. What is to be found was written down before the first run; `crowd --list` prints it.
 */

#include "planted.cuh"

#include <cuda_fp16.h>

enum { SIDE = 8192, N = SIDE * SIDE, BLOCK = 256, STEPS = 10 };

__host__ __device__ static unsigned mixed(unsigned x)
{
    x = (x ^ x >> 16) * 0x45d9f3bu;
    x = (x ^ x >> 16) * 0x45d9f3bu;
    return x ^ x >> 16;
}

/* Words counted by their hash, all blocks in one table of 64 counters. */
__global__ void count_words(unsigned *counters, const unsigned *words)
{
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < N; i += gridDim.x * BLOCK)
        atomicAdd(&counters[mixed(words[i]) % 64 * 8], 1u);
}

/* A thread normalizes a row of 512. */
__global__ void layernorm_rows(float *out, const float *in)
{
    const float *row = in + (size_t)(blockIdx.x * BLOCK + threadIdx.x) * 512;
    float sum = 0, squares = 0;

    for (int i = 0; i < 512; i++) {
        sum += row[i];
        squares += row[i] * row[i];
    }
    float mean = sum / 512, scale = rsqrtf(squares / 512 - mean * mean + 1e-5f);
    for (int i = 0; i < 512; i++)
        out[(size_t)(blockIdx.x * BLOCK + threadIdx.x) * 512 + i] = (row[i] - mean) * scale;
}

/* A warp normalizes a row of 1024, which it keeps in registers. */
__global__ void layernorm_warp(float4 *out, const float4 *in)
{
    int row = blockIdx.x * (BLOCK / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    float4 v[8];
    float sum = 0, squares = 0;

    for (int i = 0; i < 8; i++) {
        v[i] = in[(size_t)row * 256 + i * 32 + lane];
        sum += v[i].x + v[i].y + v[i].z + v[i].w;
        squares += v[i].x * v[i].x + v[i].y * v[i].y + v[i].z * v[i].z + v[i].w * v[i].w;
    }
    for (int k = 16; k > 0; k /= 2) {
        sum += __shfl_xor_sync(~0u, sum, k);
        squares += __shfl_xor_sync(~0u, squares, k);
    }
    float mean = sum / 1024, scale = rsqrtf(squares / 1024 - mean * mean + 1e-5f);
    for (int i = 0; i < 8; i++)
        out[(size_t)row * 256 + i * 32 + lane] =
            make_float4((v[i].x - mean) * scale, (v[i].y - mean) * scale, (v[i].z - mean) * scale,
                        (v[i].w - mean) * scale);
}

/* Rows of 512 bytes by number: a warp takes four of them, whole. */
__global__ void embedding_rows(float4 *out, const float4 *table, const int *number)
{
    int first = (blockIdx.x * (BLOCK / 32) + threadIdx.x / 32) * 4, lane = threadIdx.x % 32;
    float4 v[4];

    for (int i = 0; i < 4; i++)
        v[i] = table[(size_t)(number[first + i] & (N / 128 - 1)) * 32 + lane];
    for (int i = 0; i < 4; i++)
        out[(size_t)(first + i) * 32 + lane] = v[i];
}

/* A sparse matrix in rows of 48, a thread for each row. */
__global__ void spmv_rows(float *y, const float *value, const int *column, const float *x)
{
    int row = blockIdx.x * BLOCK + threadIdx.x;
    float sum = 0;

    for (int i = 0; i < 48; i++)
        sum += value[(size_t)row * 48 + i] * x[column[(size_t)row * 48 + i] & 0xffff];
    y[row] = sum;
}

/* Walks of very different lengths, a thread for each: one of 16 is 40 times as long. */
__global__ void walks(float *out, const int *length)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    unsigned state = i;
    float x = 0;

    for (int k = 0; k < length[i]; k++) {
        state = state * 1664525u + 1013904223u;
        x = x * 0.999f + (float)(state >> 8) * 0x1p-24f;
    }
    out[i] = x;
}

/* Points of a fractal in an order that has nothing to do with the picture. */
__global__ void fractal(int *out)
{
    int i = blockIdx.x * BLOCK + threadIdx.x, n = 0;
    unsigned h = mixed(i);
    float cx = (h & 0xffff) * (3.0f / 65536) - 2, cy = (h >> 16) * (2.4f / 65536) - 1.2f;
    float x = 0, y = 0;

    while (n < 256 && x * x + y * y < 4) {
        float t = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = t;
        n++;
    }
    out[i] = n;
}

/* An activation with constants as one types them. */
__global__ void gelu_typed(float *out, const float *in)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float x = in[i];

    out[i] = 0.5 * x * (1.0 + tanh(0.7978845608 * (x + 0.044715 * x * x * x)));
}

/* The same with single precision and four values a thread. */
__global__ void gelu_four(float4 *out, const float4 *in)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float4 v = in[i];
    auto f = [](float x) { return x / (1 + __expf(-1.5957691216f * (x + 0.044715f * x * x * x))); };

    out[i] = make_float4(f(v.x), f(v.y), f(v.z), f(v.w));
}

/* Sums of all elements before, in shared memory, with a barrier before and after every step. */
__global__ void scan_steps(float *out, const float *in)
{
    __shared__ float s[1024];

    for (int r = 0; r < 16; r++) {
        int i = (blockIdx.x * 16 + r) * 1024 + threadIdx.x;
        s[threadIdx.x] = in[i];
        __syncthreads();
        for (int k = 1; k < 1024; k *= 2) {
            float other = (int)threadIdx.x >= k ? s[threadIdx.x - k] : 0;
            __syncthreads();
            s[threadIdx.x] += other;
            __syncthreads();
        }
        out[i] = s[threadIdx.x];
        __syncthreads();
    }
}

/* Scores of attention: a thread has a query of 64 in registers, the keys come through shared
 * memory. */
__global__ void scores(float *best, const float *q, const float *k, int keys)
{
    __shared__ float4 tile[32][16];
    float4 mine[16];
    int row = blockIdx.x * 128 + threadIdx.x;
    float top = -1e30f, sum = 0;

    for (int i = 0; i < 16; i++)
        mine[i] = ((const float4 *)q)[(size_t)row * 16 + i];
    for (int first = 0; first < keys; first += 32) {
        __syncthreads();
        for (int i = threadIdx.x; i < 32 * 16; i += 128)
            tile[i / 16][i % 16] = ((const float4 *)k)[(size_t)first * 16 + i];
        __syncthreads();
        for (int j = 0; j < 32; j++) {
            float dot = 0;
            for (int i = 0; i < 16; i++) {
                float4 v = tile[j][i];
                dot += mine[i].x * v.x + mine[i].y * v.y + mine[i].z * v.z + mine[i].w * v.w;
            }
            top = fmaxf(top, dot);
            sum += dot;
        }
    }
    best[row] = top + sum;
}

/* One block for each sentence, 150 of them, and a block needs a whole multiprocessor. */
__global__ void sentences(float *out, const float *in, int rounds)
{
    extern __shared__ float room[];
    float x = in[blockIdx.x * 1024 + threadIdx.x], y = 1;

    for (int r = 0; r < rounds; r++) {
        x = x * 0.999f + y;
        y = y * 0.998f + x;
    }
    room[threadIdx.x] = x + y;
    __syncthreads();
    out[blockIdx.x * 1024 + threadIdx.x] = room[threadIdx.x ^ 32];
}

/* The largest element of an array, by the one block that its author thought of. */
__global__ void largest(float *out, const float4 *in, int n)
{
    __shared__ float s[32];
    float top = -1e30f;

    for (int i = threadIdx.x; i < n; i += 1024) {
        float4 v = in[i];
        top = fmaxf(fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)), top);
    }
    for (int k = 16; k > 0; k /= 2)
        top = fmaxf(top, __shfl_xor_sync(~0u, top, k));
    if (threadIdx.x % 32 == 0)
        s[threadIdx.x / 32] = top;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 0; i < 32; i++)
            top = fmaxf(top, s[i]);
        *out = top;
    }
}

/* Random numbers by the thousand from a generator made of integers. */
__global__ void random_numbers(unsigned *out)
{
    unsigned i = blockIdx.x * BLOCK + threadIdx.x, a = mixed(i), b = mixed(i + 7), sum = 0;

    for (int k = 0; k < 256; k++) {
        a ^= a << 13, a ^= a >> 17, a ^= a << 5;
        b = b << 9 | b >> 23;
        b ^= a + k;
        sum += (a ^ b) >> 3;
    }
    out[i] = sum;
}

/* Rotary positions, whose angles are computed anew for every element. */
__global__ void rotary(float2 *out, const float2 *in, int heads)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float2 v = in[i];

    for (int h = 0; h < heads; h++) {
        float angle = (i >> 6) * exp2f(-(float)((i & 63) + h) * 0.2f);
        float s = __sinf(angle), c = __cosf(angle);
        v = make_float2(v.x * c - v.y * s, v.x * s + v.y * c);
    }
    out[i] = v;
}

/* The median of a window: an array of its own for each thread, sorted by insertion. */
__global__ void median_window(float *out, const float *in, int reach)
{
    int x = blockIdx.x * BLOCK + threadIdx.x, y = blockIdx.y + reach;
    float a[49];
    int n = 0;

    if (x < reach || x >= SIDE - reach)
        return;
    for (int dy = -reach; dy <= reach; dy++)
        for (int dx = -reach; dx <= reach; dx++) {
            float v = in[(size_t)(y + dy) * SIDE + x + dx];
            int at = n++;
            while (at > 0 && a[at - 1] > v) {
                a[at] = a[at - 1];
                at--;
            }
            a[at] = v;
        }
    out[(size_t)y * SIDE + x] = a[n / 2];
}

struct body {
    float x, y, z, mass, vx, vy, vz, radius;
};

/* Each thread gathers from neighbours in a tile of structures of 32 bytes. */
__global__ void neighbours(float *out, const body *in, int rounds)
{
    __shared__ body tile[BLOCK];
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float force = 0;

    tile[threadIdx.x] = in[i];
    __syncthreads();
    for (int k = 0; k < rounds; k++) {
        const volatile body &other = tile[(threadIdx.x + k) % BLOCK];
        force += other.mass * other.x;
    }
    out[i] = force;
}

/* Lists of 64 KiB in shared memory, and each warp follows a chain of full lines through memory. */
__global__ void chains(int *out, const int *next, int rounds)
{
    extern __shared__ int list[];
    int warp = (blockIdx.x * 128 + threadIdx.x) / 32, lane = threadIdx.x % 32, sum = 0;
    unsigned at = mixed(warp) & (N - 32);

    for (int k = 0; k < rounds; k++) {
        int v = next[at + lane];
        sum += v;
        at = (unsigned)__shfl_sync(~0u, v, 0) & (N - 32);
    }
    list[threadIdx.x] = sum;
    __syncthreads();
    out[blockIdx.x * 128 + threadIdx.x] = list[threadIdx.x ^ 1];
}

/* Columns are added up by a thread for each row: it reads a matrix of doubles across. */
__global__ void column_norms(double *out, const double *in)
{
    int row = blockIdx.x * BLOCK + threadIdx.x;
    double sum = 0;

    for (int k = 0; k < 64; k++) {
        double v = in[(size_t)row * 512 + (blockIdx.y * 64 + k)];
        sum += v * v;
    }
    out[(size_t)blockIdx.y * SIDE * 8 + row] = sum;
}

/* A picture made brighter, a byte for each thread. */
__global__ void brighter(unsigned char *out, const unsigned char *in)
{
    size_t i = (size_t)blockIdx.x * BLOCK + threadIdx.x;

    out[i] = min(255, in[i] + 16);
}

/* A sum along the slowest of three axes, a plane of 64 MiB after the other: each plane is read for
 * the one before, for itself and for the next. */
__global__ void planes(float *out, const float *in)
{
    enum { PLANE = 1 << 24 };
    size_t i = (size_t)blockIdx.x * BLOCK + threadIdx.x;

    for (int z = 1; z < 3; z++)
        out[z * PLANE + i] =
            in[(z - 1) * PLANE + i] + in[z * PLANE + i] * 2 + in[(z + 1) * PLANE + i];
}

/* y = x a: eight rows of x at a time, halves in fours, 64 threads for a dot product. Memory
 * decides. */
__global__ void gemv(float *y, const uint4 *a, const uint4 *x)
{
    int row = blockIdx.x * (BLOCK / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    float sum = 0;

    for (int k = lane; k < 1024; k += 32) {
        uint4 u = a[(size_t)row * 1024 + k], v = x[k];
        const __half2 *p = (const __half2 *)&u, *q = (const __half2 *)&v;
        for (int i = 0; i < 4; i++) {
            float2 f = __half22float2(__hmul2(p[i], q[i]));
            sum += f.x + f.y;
        }
    }
    for (int k = 16; k > 0; k /= 2)
        sum += __shfl_xor_sync(~0u, sum, k);
    if (lane == 0)
        y[row] = sum;
}

static float *fin, *fout;
static int *numbers, *lengths;

#define F4(p) ((float4 *)(p))
static void r_count()
{
    count_words<<<132 * 8, BLOCK>>>((unsigned *)fout, (unsigned *)numbers);
}
static void r_ln_rows()
{
    layernorm_rows<<<N / 512 / BLOCK, BLOCK>>>(fout, fin);
}
static void r_ln_warp()
{
    layernorm_warp<<<N / 1024 / 8, BLOCK>>>(F4(fout), F4(fin));
}
static void r_embed()
{
    embedding_rows<<<N / 128 / 32, BLOCK>>>(F4(fout), F4(fin), numbers);
}
static void r_spmv()
{
    spmv_rows<<<N / 64 / BLOCK, BLOCK>>>(fout, fin, numbers, fin);
}
static void r_walks()
{
    walks<<<N / 16 / BLOCK, BLOCK>>>(fout, lengths);
}
static void r_fractal()
{
    fractal<<<N / 8 / BLOCK, BLOCK>>>((int *)fout);
}
static void r_gelu_typed()
{
    gelu_typed<<<N / BLOCK, BLOCK>>>(fout, fin);
}
static void r_gelu_four()
{
    gelu_four<<<N / 4 / BLOCK, BLOCK>>>(F4(fout), F4(fin));
}
static void r_scan()
{
    scan_steps<<<N / 16 / 1024, 1024>>>(fout, fin);
}
static void r_scores()
{
    scores<<<256, 128>>>(fout, fin, fin, 2048);
}
static void r_sentences()
{
    sentences<<<150, 1024, 160 << 10>>>(fout, fin, 100000);
}
static void r_largest()
{
    largest<<<1, 1024>>>(fout, F4(fin), N / 32);
}
static void r_random()
{
    random_numbers<<<N / 16 / BLOCK, BLOCK>>>((unsigned *)fout);
}
static void r_rotary()
{
    rotary<<<N / 8 / BLOCK, BLOCK>>>((float2 *)fout, (float2 *)fin, 16);
}
static void r_median()
{
    median_window<<<dim3(SIDE / BLOCK, SIDE / 8), BLOCK>>>(fout, fin, 2);
}
static void r_neighbours()
{
    neighbours<<<N / 64 / BLOCK, BLOCK>>>(fout, (body *)fin, 256);
}
static void r_chains()
{
    chains<<<132 * 12, 128, 64 << 10>>>((int *)fout, numbers, 256);
}
static void r_columns()
{
    column_norms<<<dim3(SIDE * 8 / BLOCK, 8), BLOCK>>>((double *)fout, (double *)fin);
}
static void r_brighter()
{
    brighter<<<N * 2u / BLOCK, BLOCK>>>((unsigned char *)fout, (unsigned char *)fin);
}
static void r_planes()
{
    planes<<<(1 << 24) / BLOCK, BLOCK>>>(fout, fin);
}
static void r_gemv()
{
    gemv<<<N / 4096 / 8, BLOCK>>>(fout, (uint4 *)fin, (uint4 *)fin);
}

static const planted kernels[] = {
    {"count_words", "spread atomics", r_count},
    {"layernorm_rows", "coalesce global access", r_ln_rows},
    {"layernorm_warp", "", r_ln_warp},
    {"embedding_rows", "", r_embed},
    {"spmv_rows", "coalesce global access", r_spmv},
    {"walks", "avoid divergence", r_walks},
    {"fractal", "avoid divergence", r_fractal},
    {"gelu_typed", "keep to single precision", r_gelu_typed},
    {"gelu_four", "", r_gelu_four},
    {"scan_steps", "wait less at barriers", r_scan},
    {"scores", "use tensor cores", r_scores},
    {"sentences", "balance the last wave", r_sentences},
    {"largest", "fill the GPU", r_largest},
    {"random_numbers", "issue fewer instructions", r_random},
    {"rotary", "relieve the special-function pipe", r_rotary},
    {"median_window", "remove spills", r_median},
    {"neighbours", "remove bank conflicts", r_neighbours},
    {"chains", "raise occupancy", r_chains},
    {"column_norms", "coalesce global access", r_columns},
    {"brighter", "issue fewer instructions", r_brighter},
    {"planes", "raise L2 locality", r_planes},
    {"gemv", "", r_gemv},
};

__global__ void fill(float *f, int *numbers, int *lengths)
{
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < N; i += gridDim.x * BLOCK) {
        f[i] = (float)(mixed(i) % 1024) / 1024;
        numbers[i] = mixed(i + 99) & 0x7fffffff;
        lengths[i] = mixed(i) % 16 == 0 ? 2000 : 50;
    }
}

int main(int argc, char **argv)
{
    if (planted_list(kernels, argc, argv))
        return 0;
    cudaMalloc(&fin, ((size_t)N + 65536) * sizeof(float) * 4);
    cudaMalloc(&fout, ((size_t)N + 65536) * sizeof(float));
    cudaMalloc(&numbers, N * sizeof(int));
    if (cudaMalloc(&lengths, N * sizeof(int)) != cudaSuccess)
        return 77;
    cudaMemset(fin, 0, ((size_t)N + 65536) * sizeof(float) * 4);
    cudaFuncSetAttribute(sentences, cudaFuncAttributeMaxDynamicSharedMemorySize, 160 << 10);
    cudaFuncSetAttribute(chains, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10);
    fill<<<1024, BLOCK>>>(fin, numbers, lengths);
    return planted_run(kernels, STEPS);
}
