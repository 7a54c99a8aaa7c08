/* Matrix products: without tensor cores, with them, and as fast as they go. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include "diseases.cuh"

enum { SIZE = 2048, TILE = 64, DEEP = 16, BLOCK = 256 };

/* ---- 64 x 64 of C per block, 4 x 4 per thread, by multiply-adds ---- */

__global__ void __launch_bounds__(BLOCK) tensor_unused(float *c, const half *a, const half *b)
{
    __shared__ float sa[DEEP][TILE + 4], sb[DEEP][TILE];
    int t = threadIdx.x, x = t % 16, y = t / 16;
    float sum[4][4] = {};

    a += (size_t)blockIdx.y * TILE * SIZE;
    b += blockIdx.x * TILE;
    for (int k = 0; k < SIZE; k += DEEP) {
        for (int i = t; i < DEEP * TILE; i += BLOCK) {
            sa[i % DEEP][i / DEEP] = __half2float(a[(size_t)(i / DEEP) * SIZE + k + i % DEEP]);
            sb[i / TILE][i % TILE] = __half2float(b[(size_t)(k + i / TILE) * SIZE + i % TILE]);
        }
        __syncthreads();
#pragma unroll
        for (int d = 0; d < DEEP; d++) {
            float4 u = *(const float4 *)&sa[d][4 * y], v = *(const float4 *)&sb[d][4 * x];
            float us[4] = {u.x, u.y, u.z, u.w}, vs[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
            for (int i = 0; i < 16; i++)
                sum[i / 4][i % 4] += us[i / 4] * vs[i % 4];
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            c[(size_t)(blockIdx.y * TILE + 4 * y + i) * SIZE + blockIdx.x * TILE + 4 * x + j] =
                sum[i][j];
}

/* ---- the same with 16 x 16 x 16 products, 32 x 16 of C per warp ---- */

using namespace nvcuda;

__global__ void __launch_bounds__(BLOCK) tensor_unused_cured(float *c, const half *a, const half *b)
{
    __shared__ __align__(32) half sa[TILE][32 + 8], sb[32][TILE + 8];
    int t = threadIdx.x, warp = t / 32, row = warp / 4 * 32, col = warp % 4 * 16;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2];

    wmma::fill_fragment(sum[0], 0);
    wmma::fill_fragment(sum[1], 0);
    a += (size_t)blockIdx.y * TILE * SIZE;
    b += blockIdx.x * TILE;
    for (int k = 0; k < SIZE; k += 32) {
        *(uint4 *)&sa[t / 4][t % 4 * 8] = *(const uint4 *)&a[(size_t)(t / 4) * SIZE + k + t % 4 * 8];
        *(uint4 *)&sb[t / 8][t % 8 * 8] = *(const uint4 *)&b[(size_t)(k + t / 8) * SIZE + t % 8 * 8];
        __syncthreads();
        for (int d = 0; d < 32; d += 16) {
            wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> v;
            wmma::load_matrix_sync(v, &sb[d][col], TILE + 8);
            for (int i = 0; i < 2; i++) {
                wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> u;
                wmma::load_matrix_sync(u, &sa[row + 16 * i][d], 32 + 8);
                wmma::mma_sync(sum[i], u, v, sum[i]);
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < 2; i++)
        wmma::store_matrix_sync(&c[(size_t)(blockIdx.y * TILE + row + 16 * i) * SIZE +
                                   blockIdx.x * TILE + col],
                                sum[i], SIZE, wmma::mem_row_major);
}

/* ---- healthy: nothing but products of whole warp groups ---- */

enum { ROUNDS = 2048, GROUPS = 2 };

/* Where a matrix lies in shared memory, without swizzle. */
__device__ uint64_t place(const void *at)
{
    uint64_t address = (uint64_t)__cvta_generic_to_shared(at) & 0x3ffff;

    return address >> 4 | (uint64_t)(128 >> 4) << 16 | (uint64_t)(256 >> 4) << 32;
}

__global__ void __launch_bounds__(GROUPS * 128) tensor_limit(float *out, const float *in)
{
#if __CUDA_ARCH_FEAT_SM90_ALL
    __shared__ __align__(128) __nv_bfloat16 a[GROUPS][64 * 16], b[128 * 16];
    float sum[64] = {};

    for (int i = threadIdx.x; i < 128 * 16; i += blockDim.x) {
        b[i] = __float2bfloat16(in[i] * 0.01f);
        a[i / (64 * 16)][i % (64 * 16)] = __float2bfloat16(in[i] * 0.02f);
    }
    __syncthreads();
    uint64_t left = place(a[threadIdx.x / 128]), right = place(b);
    asm volatile("fence.proxy.async;\n\twgmma.fence.sync.aligned;" ::: "memory");
    for (int k = 0; k < ROUNDS; k++)
        asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
                     "{%0, %1, %2, %3, %4, %5, %6, %7, "
                     "%8, %9, %10, %11, %12, %13, %14, %15, "
                     "%16, %17, %18, %19, %20, %21, %22, %23, "
                     "%24, %25, %26, %27, %28, %29, %30, %31, "
                     "%32, %33, %34, %35, %36, %37, %38, %39, "
                     "%40, %41, %42, %43, %44, %45, %46, %47, "
                     "%48, %49, %50, %51, %52, %53, %54, %55, "
                     "%56, %57, %58, %59, %60, %61, %62, %63}, "
                     "%64, %65, 1, 1, 1, 0, 0;\n\t"
                     "wgmma.commit_group.sync.aligned;"
                     : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]),
                       "+f"(sum[4]), "+f"(sum[5]), "+f"(sum[6]), "+f"(sum[7]),
                       "+f"(sum[8]), "+f"(sum[9]), "+f"(sum[10]), "+f"(sum[11]),
                       "+f"(sum[12]), "+f"(sum[13]), "+f"(sum[14]), "+f"(sum[15]),
                       "+f"(sum[16]), "+f"(sum[17]), "+f"(sum[18]), "+f"(sum[19]),
                       "+f"(sum[20]), "+f"(sum[21]), "+f"(sum[22]), "+f"(sum[23]),
                       "+f"(sum[24]), "+f"(sum[25]), "+f"(sum[26]), "+f"(sum[27]),
                       "+f"(sum[28]), "+f"(sum[29]), "+f"(sum[30]), "+f"(sum[31]),
                       "+f"(sum[32]), "+f"(sum[33]), "+f"(sum[34]), "+f"(sum[35]),
                       "+f"(sum[36]), "+f"(sum[37]), "+f"(sum[38]), "+f"(sum[39]),
                       "+f"(sum[40]), "+f"(sum[41]), "+f"(sum[42]), "+f"(sum[43]),
                       "+f"(sum[44]), "+f"(sum[45]), "+f"(sum[46]), "+f"(sum[47]),
                       "+f"(sum[48]), "+f"(sum[49]), "+f"(sum[50]), "+f"(sum[51]),
                       "+f"(sum[52]), "+f"(sum[53]), "+f"(sum[54]), "+f"(sum[55]),
                       "+f"(sum[56]), "+f"(sum[57]), "+f"(sum[58]), "+f"(sum[59]),
                       "+f"(sum[60]), "+f"(sum[61]), "+f"(sum[62]), "+f"(sum[63])
                     : "l"(left), "l"(right));
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    float all = 0;
    for (int i = 0; i < 64; i++)
        all += sum[i];
    out[blockIdx.x * blockDim.x + threadIdx.x] = all;
#endif
}

const disease tensor_diseases[] = {
    {"tensor_unused", "use tensor cores",
     [](const buffers &b) {
         tensor_unused<<<dim3(SIZE / TILE, SIZE / TILE), BLOCK>>>(
             b.out, (const half *)b.in, (const half *)b.in + SIZE * SIZE);
     },
     [](const buffers &b) {
         tensor_unused_cured<<<dim3(SIZE / TILE, SIZE / TILE), BLOCK>>>(
             b.out, (const half *)b.in, (const half *)b.in + SIZE * SIZE);
     },
     false},
    {"tensor_limit", "",
     [](const buffers &b) { tensor_limit<<<b.sms * 2, GROUPS * 128>>>(b.out, b.in); }, nullptr,
     false},
    {},
};
