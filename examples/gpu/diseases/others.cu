/*
 * Kernels as programs have them, each with one property that holds it back: a second opinion on the
 * rules, which were made with the catalogue beside it. `others --list` gives what is to be found.
 */
#include <cstdio>
#include <cstring>

enum { N = 32 << 20, BLOCK = 256, STEPS = 10 };

/* A tree in shared memory whose strides of doubles meet the same banks. */
__global__ void reduce_strided(double *out, const double *in)
{
    __shared__ double s[16 * BLOCK];
    double sum = 0;

    for (int r = 0; r < 64; r++) {
        s[threadIdx.x * 16] = in[(blockIdx.x * 64 + r) * BLOCK % N + threadIdx.x];
        __syncwarp();
        for (int k = 0; k < 16; k++)
            sum += s[(threadIdx.x ^ k) * 16];
        __syncwarp();
    }
    out[blockIdx.x * BLOCK + threadIdx.x] = sum;
}

/* Most values fall into two bins. */
__global__ void histogram(unsigned *out, const unsigned char *in, int n)
{
    __shared__ unsigned bins[256];

    bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK)
        atomicAdd(&bins[in[i] & 1], 1u + (in[i] >> 7));
    __syncthreads();
    if (bins[threadIdx.x] != 0)
        atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}

/* Rows of a ragged matrix, a thread each: the longest of a warp decides. */
__global__ void ragged(float *out, const float *in)
{
    int row = blockIdx.x * BLOCK + threadIdx.x, n = (row * 2654435761u >> 27) == 0 ? 2048 : 64;
    float sum = in[row];

    for (int i = 0; i < n; i++)
        sum = sum * 0.999f + 0.5f;
    out[row] = sum;
}

struct particle {
    float x, y, z, mass, vx, vy, vz, charge;
};

/* One member of a struct of eight. */
__global__ void one_member(float *out, const particle *in, int n)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;

    if (i < n)
        out[i] = in[i].mass * 2;
}

/* Each thread keeps a column of 48 values, and waits for each load in turn. */
__global__ void __launch_bounds__(64) column_stencil(float *out, const float *in, int pitch)
{
    float v[144];
    int x = blockIdx.x * 64 + threadIdx.x, at = x;

    for (int i = 0; i < 144; i++)
        v[i] = in[x + i * 4096];
    for (int t = 0; t < 32; t++) {
        at = (int)in[at & (N - 1)] + t * pitch + x;
        for (int i = 1; i < 143; i++)
            v[i] = 0.25f * v[i - 1] + 0.5f * v[i] + 0.25f * v[i + 1] + (float)at;
    }
    float sum = 0;
    for (int i = 0; i < 144; i++)
        sum += v[i] * (float)(i + 1);
    out[x] = sum;
}

/* Eight blocks for the whole chip. */
__global__ void few_blocks(float *out, const float *in, int n)
{
    float sum = 0;

    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK)
        sum += in[i];
    out[blockIdx.x * BLOCK + threadIdx.x] = sum;
}

/* Coordinates from a flat index, by divisions of numbers that the compiler does not know. */
__global__ void divisions(int *out, int w, int h, int d)
{
    int i = blockIdx.x * BLOCK + threadIdx.x, sum = 0;

    for (int k = 0; k < 64; k++) {
        int at = i + k * 977;
        sum += at % w + at / w % h * 3 + at / w / h % d * 7;
    }
    out[i & (N - 1)] = sum;
}

__global__ void waves_of_sines(float *out, const float *in)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float x = in[i & (N - 1)], sum = 0;

    for (int k = 0; k < 128; k++)
        sum += __sinf(x + k) + __cosf(x - k);
    out[i & (N - 1)] = sum;
}

/* A prefix sum of 1024 values, with two barriers for each of its ten steps. */
__global__ void scan(int *out, const int *in)
{
    __shared__ int s[1024];
    int i = threadIdx.x;

    for (int r = 0; r < 16; r++) {
        s[i] = in[(blockIdx.x * 16 + r) * 1024 % N + i];
        for (int step = 1; step < 1024; step *= 2) {
            __syncthreads();
            int other = i >= step ? s[i - step] : 0;
            __syncthreads();
            s[i] += other;
        }
        __syncthreads();
        out[(blockIdx.x * 16 + r) * 1024 % N + i] = s[i];
    }
}

/* A constant without its f. */
__global__ void blend(float *out, const float *a, const float *b)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float x = a[i & (N - 1)], y = b[i & (N - 1)];

    for (int k = 0; k < 64; k++)
        x = x * 0.3 + y * 0.7;
    out[i & (N - 1)] = x;
}

/* A small table for each thread, at places that are only known while it runs. */
__global__ void local_table(float *out, const int *in)
{
    float table[64];
    int i = blockIdx.x * BLOCK + threadIdx.x, at = in[i & (N - 1)] & 63;

    for (int k = 0; k < 64; k++)
        table[k] = (float)(k * at);
    float sum = 0;
    for (int k = 0; k < 64; k++) {
        sum += table[at];
        table[(at * 7 + k) & 63] = sum;
        at = (at * 5 + 3) & 63;
    }
    out[i & (N - 1)] = sum;
}

/* A sum over all, each thread by itself. */
__global__ void one_sum(float *sum, const float *in, int n)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;

    if (i < n)
        atomicAdd(sum, in[i]);
}

/* Values from anywhere. */
__global__ void gather(float *out, const float *in)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    unsigned at = (unsigned)i * 2654435761u;

    out[i & (N - 1)] = in[at & (N - 1)] + in[(at ^ 0x155555) & (N - 1)];
}

/* Tiles of 32 by 32 in plain single precision. */
__global__ void matrix(float *c, const float *a, const float *b, int n)
{
    __shared__ float s[32][32], t[32][32];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    float sum = 0;

    for (int k = 0; k < n; k += 32) {
        s[threadIdx.y][threadIdx.x] = a[y * n + k + threadIdx.x];
        t[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + x];
        __syncthreads();
        for (int i = 0; i < 32; i++)
            sum += s[threadIdx.y][i] * t[i][threadIdx.x];
        __syncthreads();
    }
    c[y * n + x] = sum;
}

/* A few blocks more than fit at once; all take the same time. */
__global__ void __launch_bounds__(1024, 2) just_over(float *out)
{
    float x = (float)threadIdx.x, y = (float)blockIdx.x;

    for (int i = 0; i < 20000; i++) {
        x = x * 0.999f + 0.5f;
        y = y * 0.998f + 0.25f;
    }
    out[blockIdx.x * 1024 + threadIdx.x] = x + y;
}

/* Healthy: sixteen bytes a thread and step. */
__global__ void triad(float4 *a, const float4 *b, const float4 *c)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float4 x = b[i], y = c[i];

    a[i] = make_float4(x.x + 3 * y.x, x.y + 3 * y.y, x.z + 3 * y.z, x.w + 3 * y.w);
}

/* Healthy: multiply-adds that do not wait for one another. */
__global__ void horner(float *out)
{
    float x[8], z = (float)threadIdx.x * 1e-3f;

    for (int k = 0; k < 8; k++)
        x[k] = (float)(threadIdx.x + k);
    for (int i = 0; i < 2048; i++)
        for (int k = 0; k < 8; k++)
            x[k] = x[k] * z + 0.5f;
    out[blockIdx.x * BLOCK + threadIdx.x] = x[0] + x[1] + x[2] + x[3] + x[4] + x[5] + x[6] + x[7];
}

static float *a, *b, *c;
static int sms;

static const struct {
    const char *name, *expect;
    void (*launch)();
} list[] = {
    {"reduce_strided", "remove bank conflicts",
     [] { reduce_strided<<<sms * 4, BLOCK>>>((double *)a, (const double *)b); }},
    {"histogram", "spread atomics",
     [] { histogram<<<sms * 8, BLOCK>>>((unsigned *)a, (const unsigned char *)b, N); }},
    {"ragged", "avoid divergence", [] { ragged<<<N / BLOCK / 8, BLOCK>>>(a, b); }},
    {"one_member", "coalesce global access",
     [] { one_member<<<N / 8 / BLOCK, BLOCK>>>(a, (const particle *)b, N / 8); }},
    {"column_stencil", "raise occupancy", [] { column_stencil<<<sms * 32, 64>>>(a, b, 65536); }},
    {"few_blocks", "fill the GPU", [] { few_blocks<<<8, BLOCK>>>(a, b, 4 << 20); }},
    {"divisions", "issue fewer instructions",
     [] { divisions<<<N / BLOCK / 4, BLOCK>>>((int *)a, 1920, 1080, 37); }},
    {"waves_of_sines", "relieve the special-function pipe",
     [] { waves_of_sines<<<N / BLOCK / 4, BLOCK>>>(a, b); }},
    {"scan", "wait less at barriers", [] { scan<<<sms * 4, 1024>>>((int *)a, (const int *)b); }},
    {"blend", "keep to single precision", [] { blend<<<N / BLOCK / 8, BLOCK>>>(a, b, c); }},
    {"local_table", "remove spills",
     [] { local_table<<<N / BLOCK / 8, BLOCK>>>(a, (const int *)b); }},
    {"one_sum", "spread atomics", [] { one_sum<<<(4 << 20) / BLOCK, BLOCK>>>(a, b, 4 << 20); }},
    {"gather", "coalesce global access", [] { gather<<<N / BLOCK, BLOCK>>>(a, b); }},
    {"matrix", "use tensor cores",
     [] { matrix<<<dim3(64, 64), dim3(32, 32)>>>(a, b, c, 2048); }},
    {"just_over", "balance the last wave", [] { just_over<<<sms * 2 + 8, 1024>>>(a); }},
    {"triad", "",
     [] { triad<<<N / 4 / BLOCK, BLOCK>>>((float4 *)a, (const float4 *)b, (const float4 *)c); }},
    {"horner", "", [] { horner<<<sms * 64, BLOCK>>>(a); }},
};

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--list") == 0) {
        for (const auto &k : list)
            printf("%s\t%s\n", k.name, k.expect);
        return 0;
    }
    if (cudaMalloc(&a, N * sizeof(float) * 2) != cudaSuccess ||
        cudaMalloc(&b, N * sizeof(float) * 2) != cudaSuccess ||
        cudaMalloc(&c, N * sizeof(float) * 2) != cudaSuccess)
        return 77;
    cudaMemset(b, 0x3c, N * sizeof(float) * 2);
    cudaMemset(c, 0x3c, N * sizeof(float) * 2);
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    for (int step = 0; step < STEPS; step++)
        for (const auto &k : list) {
            k.launch();
            if (cudaDeviceSynchronize() != cudaSuccess) {
                fprintf(stderr, "%s: %s\n", k.name, cudaGetErrorString(cudaGetLastError()));
                return 1;
            }
        }
    return 0;
}
