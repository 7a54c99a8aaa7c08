/*
 * More kernels that the rules were not made with; what is to be found in each was written down
 * before the first run, and `visitors --list` prints it. An empty line: as fast as the device.
 */

#include "planted.cuh"

enum { N = 1 << 26, BLOCK = 256, STEPS = 10 };

__host__ __device__ static unsigned mixed(unsigned x)
{
    x = (x ^ x >> 16) * 0x45d9f3bu;
    x = (x ^ x >> 16) * 0x45d9f3bu;
    return x ^ x >> 16;
}

/* What is kept goes behind a cursor, one element at a time. */
__global__ void compact(int *out, int *cursor, const int *in, int n)
{
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK)
        if (in[i] % 3 != 0)
            out[atomicAdd(&cursor[in[i] & 7], 1) & (N - 1)] = in[i];
}

/* A convolution of 3 x 3 over 64 channels, as in the definition. */
__global__ void convolution(float *out, const float *in, const float *weight)
{
    enum { SIDE = 128, CHANNELS = 64 };
    int x = threadIdx.x, y = blockIdx.x, to = blockIdx.y;
    float sum = 0;

    for (int c = 0; c < CHANNELS; c++)
        for (int dy = 0; dy < 3; dy++)
            for (int dx = 0; dx < 3; dx++)
                sum += in[(c * (SIDE + 2) + y + dy) * (SIDE + 2) + x + dx] *
                       weight[((to * CHANNELS + c) * 3 + dy) * 3 + dx];
    out[(to * SIDE + y) * SIDE + x] = sum;
}

/* Positions and speeds, an array for each component. */
__global__ void move_arrays(float4 *x, float4 *y, const float4 *vx, const float4 *vy, float dt)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float4 a = x[i], b = y[i], u = vx[i], v = vy[i];

    x[i] = make_float4(a.x + dt * u.x, a.y + dt * u.y, a.z + dt * u.z, a.w + dt * u.w);
    y[i] = make_float4(b.x + dt * v.x, b.y + dt * v.y, b.z + dt * v.z, b.w + dt * v.w);
}

struct particle {
    float x, y, z, vx, vy, vz, mass, charge, age, kind, spin;
};

/* The same with all that belongs to a particle side by side; two of eleven fields are needed. */
__global__ void move_records(particle *p, float dt)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;

    p[i].x += dt * p[i].vx;
}

/* Doubles are turned over in a tile without a spare column. */
__global__ void turn_doubles(double *out, const double *in, int rounds)
{
    __shared__ double tile[32][32];
    int at = blockIdx.x * 1024 + threadIdx.y * 32 + threadIdx.x;
    double v = in[at];

    for (int r = 0; r < rounds; r++) {
        tile[threadIdx.x][threadIdx.y] = v;
        __syncthreads();
        v = tile[threadIdx.y][threadIdx.x] + 1;
        __syncthreads();
    }
    out[at] = v;
}

/* A sum of all, four values a load, two loads in flight. */
__global__ void sum_four(float *out, const float4 *in, int n)
{
    float sum = 0;

    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK) {
        float4 v = in[i];
        sum += v.x + v.y + v.z + v.w;
    }
    for (int k = 16; k > 0; k /= 2)
        sum += __shfl_xor_sync(~0u, sum, k);
    if (threadIdx.x % 32 == 0)
        atomicAdd(&out[blockIdx.x], sum);
}

/* Two strings compared by dynamic programming, a diagonal at a time. */
__global__ void diagonals(int *out, const unsigned char *a, const unsigned char *b)
{
    enum { LENGTH = 512 };
    __shared__ int row[3][LENGTH + 1];
    int i = threadIdx.x;

    row[0][i] = row[1][i] = row[2][i] = 0;
    __syncthreads();
    for (int d = 0; d < 2 * LENGTH - 1; d++) {
        int j = d - i;
        if (j >= 0 && j < LENGTH) {
            int match = row[(d + 1) % 3][i] + (a[blockIdx.x * LENGTH + i] == b[j] ? 2 : -1);
            row[d % 3][i + 1] = max(match, max(row[(d + 2) % 3][i], row[(d + 2) % 3][i + 1]) - 1);
        }
        __syncthreads();
    }
    out[blockIdx.x * LENGTH + i] = row[0][i + 1];
}

struct body4 {
    double x, y, z, w;
};

/* Forces between bodies in double precision, on purpose. */
__global__ void bodies(body4 *out, const body4 *in, int n)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    body4 me = in[i];
    double fx = 0, fy = 0;

    for (int k = 0; k < n; k++) {
        body4 other = in[k];
        double dx = other.x - me.x, dy = other.y - me.y;
        double r = dx * dx + dy * dy + 1e-3;
        double weight = other.w * (1.5 - r * (0.7 - r * 0.1));
        fx = fma(weight, dx, fx);
        fy = fma(weight, dy, fy);
    }
    out[i] = body4{fx, fy, 0, 0};
}

/* Normal random numbers from uniform ones. */
__global__ void normals(float *out, int rounds)
{
    unsigned i = blockIdx.x * BLOCK + threadIdx.x;
    float u = (mixed(i) | 1) * 0x1p-32f, sum = 0;

    for (int k = 0; k < rounds; k++) {
        float r = __fsqrt_rn(-2 * __logf(u));
        sum += r * __cosf(6.2831853f * u) + r * __sinf(6.2831853f * u);
        u = u * 0.9997f + 1e-4f;
    }
    out[i] = sum;
}

/* A checksum, a bit at a time. */
__global__ void checksum(unsigned *out, const unsigned *in)
{
    unsigned i = blockIdx.x * BLOCK + threadIdx.x, crc = ~0u;

    for (int w = 0; w < 8; w++) {
        crc ^= in[w * (N / 64) + i];
        for (int bit = 0; bit < 32; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    out[i] = crc;
}

/* Sums in 80 registers, where the author allows 40. */
__global__ void __launch_bounds__(768, 2) many_sums(float *out, const float *in, int rounds)
{
    float sum[80];
    int i = blockIdx.x * 768 + threadIdx.x;

#pragma unroll
    for (int k = 0; k < 80; k++)
        sum[k] = in[i + k];
    for (int r = 0; r < rounds; r++) {
        float v = in[(i + r) & (N - 1)];
#pragma unroll
        for (int k = 0; k < 80; k++)
            sum[k] = sum[k] * v + sum[(k + 7) % 80];
    }
#pragma unroll
    for (int k = 0; k < 80; k++)
        out[i + k] = sum[k];
}

/* A block for each list, and blocks of one warp: a warp follows a chain of lines. */
__global__ void lists(int *out, const int *next, int rounds)
{
    unsigned at = mixed(blockIdx.x) & (N - 32);
    int sum = 0;

    for (int k = 0; k < rounds; k++) {
        int v = next[at + threadIdx.x];
        sum += v;
        at = (unsigned)__shfl_sync(~0u, v, 0) & (N - 32);
    }
    out[blockIdx.x * 32 + threadIdx.x] = sum;
}

/* Blocks of 1024 for 40 pictures. */
__global__ void pictures(float *out, const float *in, int rounds)
{
    int i = blockIdx.x * 1024 + threadIdx.x;
    float a = in[i], b = in[i + 1], c = in[i + 2], d = in[i + 3];

    for (int r = 0; r < rounds; r++) {
        a = a * 0.999f + 0.1f;
        b = b * 0.998f + 0.2f;
        c = c * 0.997f + 0.3f;
        d = d * 0.996f + 0.4f;
    }
    out[i] = a + b + c + d;
}

/* Row i of a triangle has i elements, and a block takes a row. */
__global__ void triangle(float *out, const float *in)
{
    float sum = 0;

    for (int r = 0; r < (int)blockIdx.x; r++)
        sum = sum * 0.999f + in[(blockIdx.x * 64 + r) % 4096 * BLOCK + threadIdx.x];
    out[blockIdx.x * BLOCK + threadIdx.x] = sum;
}

/* 24 MiB, which stay in L2, read over and over. */
__global__ void in_cache(float *out, const float4 *in)
{
    enum { WORDS = 24 << 16 };
    float4 sum = make_float4(0, 0, 0, 0);

    for (int r = 0; r < 4; r++)
        for (int i = 0; i < 16; i++) {
            float4 v =
                __ldcg(&in[(blockIdx.x * 9973u + i * 4099u + r * 131u) % (WORDS / BLOCK) * BLOCK +
                           threadIdx.x]);
            sum = make_float4(sum.x + v.x, sum.y + v.y, sum.z + v.z, sum.w + v.w);
        }
    out[blockIdx.x * BLOCK + threadIdx.x] = sum.x + sum.y + sum.z + sum.w;
}

/* Multiply-adds, eight at a time. */
__global__ void polynomials(float *out, int rounds)
{
    float x[8], c = threadIdx.x * 1e-3f;

#pragma unroll
    for (int k = 0; k < 8; k++)
        x[k] = c + k;
    for (int r = 0; r < rounds; r++)
#pragma unroll
        for (int k = 0; k < 8; k++)
            x[k] = x[k] * 0.999f + c;
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 8; k++)
        sum += x[k];
    out[blockIdx.x * BLOCK + threadIdx.x] = sum;
}

/* Tables in shared memory, read in fours without conflicts. */
__global__ void near_table(float *out, const float4 *in, int rounds)
{
    __shared__ float4 table[1024];
    float4 sum = make_float4(0, 0, 0, 0);

    for (int i = threadIdx.x; i < 1024; i += BLOCK)
        table[i] = in[i];
    __syncthreads();
    for (int r = 0; r < rounds; r++)
#pragma unroll
        for (int k = 0; k < 8; k++) {
            float4 v = table[(threadIdx.x + 32 * k + 8 * r) % 1024];
            sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
        }
    out[blockIdx.x * BLOCK + threadIdx.x] = sum.x + sum.y + sum.z + sum.w;
}

/* One long chain of dependent steps a thread, and 128 threads a multiprocessor. */
__global__ void one_chain(float *out, const float *in, int rounds)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    float x = in[i];

    for (int r = 0; r < rounds; r++)
        x = x * 0.9999f + 0.5f;
    out[i] = x;
}

/* Writes to where a permutation says. */
__global__ void scatter(float *out, const float *in, const int *to)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;

    out[to[i] & (N - 1)] = in[i];
}

/* A small machine: every lane has a program of its own. */
__global__ void machine(int *out, const int *program, int steps)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    int a = i, b = 1;
    float f = i;
    unsigned word = program[i];

    for (int s = 0; s < steps; s++) {
        switch (word & 7) {
        case 0:
            a += b * 3;
            break;
        case 1:
            b ^= a << 1;
            break;
        case 2:
            f = f * 0.5f + a;
            break;
        case 3:
            a = __popc(a) + b;
            break;
        case 4:
            b = b * 5 + 1;
            break;
        case 5:
            f = f - b;
            break;
        case 6:
            a = a ^ b >> 2;
            break;
        case 7:
            b = a - b;
            break;
        }
        word = word >> 3 | word << 29;
    }
    out[i] = a + b + (int)f;
}

/* Every second thread has nothing to do. */
__global__ void odd_lanes(float *out, int rounds)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float a = i, b = 1, c = 2, d = 3;

    if (i & 1)
        return;
    for (int r = 0; r < rounds; r++) {
        a = a * 0.999f + 1;
        b = b * 0.998f + 2;
        c = c * 0.997f + 3;
        d = d * 0.996f + 4;
    }
    out[i] = a + b + c + d;
}

static float *fin, *fout;
static int *numbers, *small;

#define F4(p) ((float4 *)(p))
static void r_compact()
{
    compact<<<132 * 8, BLOCK>>>((int *)fout, small, numbers, N / 4);
}
static void r_conv()
{
    convolution<<<dim3(128, 64), 128>>>(fout, fin, fin + (1 << 22));
}
static void r_arrays()
{
    move_arrays<<<N / 4 / BLOCK, BLOCK>>>(F4(fin), F4(fin + N), F4(fin + 2 * (size_t)N), F4(fout),
                                          1e-3f);
}
static void r_records()
{
    move_records<<<N / 16 / BLOCK, BLOCK>>>((particle *)fin, 1e-3f);
}
static void r_turn()
{
    turn_doubles<<<N / 32 / 1024, dim3(32, 32)>>>((double *)fout, (double *)fin, 32);
}
static void r_sum()
{
    sum_four<<<132 * 8, BLOCK>>>(fout, F4(fin), N / 2);
}
static void r_diagonals()
{
    diagonals<<<132 * 8, 512>>>((int *)fout, (unsigned char *)fin, (unsigned char *)numbers);
}
static void r_bodies()
{
    bodies<<<132 * 4, BLOCK>>>((body4 *)fout, (body4 *)fin, 2048);
}
static void r_normals()
{
    normals<<<N / 16 / BLOCK, BLOCK>>>(fout, 64);
}
static void r_checksum()
{
    checksum<<<N / 64 / BLOCK, BLOCK>>>((unsigned *)fout, (unsigned *)numbers);
}
static void r_sums()
{
    many_sums<<<132 * 8, 768>>>(fout, fin, 64);
}
static void r_lists()
{
    lists<<<132 * 32 * 4, 32>>>((int *)fout, numbers, 128);
}
static void r_pictures()
{
    pictures<<<40, 1024>>>(fout, fin, 40000);
}
static void r_triangle()
{
    triangle<<<132 * 16, BLOCK>>>(fout, fin);
}
static void r_cache()
{
    in_cache<<<132 * 32, BLOCK>>>(fout, F4(fin));
}
static void r_poly()
{
    polynomials<<<132 * 8 * 4, BLOCK>>>(fout, 4000);
}
static void r_table()
{
    near_table<<<132 * 8 * 2, BLOCK>>>(fout, F4(fin), 500);
}
static void r_chain()
{
    one_chain<<<132, 128>>>(fout, fin, 100000);
}
static void r_scatter()
{
    scatter<<<N / BLOCK, BLOCK>>>(fout, fin, numbers);
}
static void r_machine()
{
    machine<<<N / 64 / BLOCK, BLOCK>>>((int *)fout, numbers, 256);
}
static void r_odd()
{
    odd_lanes<<<132 * 8 * 4, BLOCK>>>(fout, 4000);
}

static const planted kernels[] = {
    {"compact", "spread atomics", r_compact},
    {"convolution", "use tensor cores", r_conv},
    {"move_arrays", "", r_arrays},
    {"move_records", "coalesce global access", r_records},
    {"turn_doubles", "remove bank conflicts", r_turn},
    {"sum_four", "", r_sum},
    {"diagonals", "wait less at barriers", r_diagonals},
    {"bodies", "keep to single precision", r_bodies},
    {"normals", "relieve the special-function pipe", r_normals},
    {"checksum", "issue fewer instructions", r_checksum},
    {"many_sums", "remove spills", r_sums},
    {"lists", "raise occupancy", r_lists},
    {"pictures", "fill the GPU", r_pictures},
    {"triangle", "balance the blocks", r_triangle},
    {"in_cache", "", r_cache},
    {"polynomials", "", r_poly},
    {"near_table", "", r_table},
    {"one_chain", "shorten dependency stalls", r_chain},
    {"scatter", "coalesce global access", r_scatter},
    {"machine", "avoid divergence", r_machine},
    {"odd_lanes", "avoid divergence", r_odd},
};

__global__ void fill(float *f, int *numbers)
{
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < N; i += gridDim.x * BLOCK) {
        f[i] = (float)(mixed(i) % 1024) / 1024;
        numbers[i] = mixed(i + 99) & 0x7fffffff;
    }
}

int main(int argc, char **argv)
{
    if (planted_list(kernels, argc, argv))
        return 0;
    cudaMalloc(&fin, ((size_t)N + 65536) * sizeof(float) * 4);
    cudaMalloc(&fout, ((size_t)N + 65536) * sizeof(float));
    cudaMalloc(&numbers, N * sizeof(int));
    if (cudaMalloc(&small, 4096) != cudaSuccess)
        return 77;
    cudaMemset(fin, 0, ((size_t)N + 65536) * sizeof(float) * 4);
    cudaMemset(small, 0, 4096);
    fill<<<1024, BLOCK>>>(fin, numbers);
    return planted_run(kernels, STEPS);
}
