/* C = A * B, row-major bf16 with fp32 sums: the simple way and with tensor cores. */
#include "bf16.cuh"

extern "C" __global__ void gemm_naive(bf16 *c, const bf16 *a, const bf16 *b, int m, int n, int k)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;

    if (row >= m || col >= n)
        return;
    for (int i = 0; i < k; i++)
        sum += to_float(a[(size_t)row * k + i]) * to_float(b[(size_t)i * n + col]);
    c[(size_t)row * n + col] = to_bf16(sum);
}

/*
 * 128 x 128 of C per block of 256 threads, 32 of k at a time, two stages. A warp computes 64 x 32.
 * Rows in shared memory are 16-byte chunks, exchanged by the row number so that the eight rows
 * that ldmatrix reads at once lie in different banks.
 */
enum { TILE = 128, STEP = 32 };

__device__ __forceinline__ bf16 *chunk_a(bf16 *s, int row, int chunk) /* 4 chunks a row */
{
    return s + row * STEP + ((chunk ^ (row >> 1 & 3)) * 8);
}

__device__ __forceinline__ bf16 *chunk_b(bf16 *s, int row, int chunk) /* 16 chunks a row */
{
    return s + row * TILE + ((chunk ^ (row & 7)) * 8);
}

extern "C" __global__ void __launch_bounds__(256)
    gemm_tiled(bf16 *c, const bf16 *a, const bf16 *b, int m, int n, int k)
{
    __shared__ __align__(128) bf16 sa[2][TILE * STEP], sb[2][STEP * TILE];
    int t = threadIdx.x, warp = t / 32, lane = t % 32;
    int row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE;
    int warp_row = warp / 4 * 64, warp_col = warp % 4 * 32;
    float acc[4][4][4] = {};

    auto load = [&](int stage, int at) {
        for (int i = t; i < TILE * STEP / 8; i += 256)
            copy_async(chunk_a(sa[stage], i / 4, i % 4),
                       a + (size_t)(row0 + i / 4) * k + at + i % 4 * 8);
        for (int i = t; i < STEP * TILE / 8; i += 256)
            copy_async(chunk_b(sb[stage], i / 16, i % 16),
                       b + (size_t)(at + i / 16) * n + col0 + i % 16 * 8);
        copies_commit();
    };

    load(0, 0);
    for (int at = 0, stage = 0; at < k; at += STEP, stage ^= 1) {
        if (at + STEP < k)
            load(stage ^ 1, at + STEP);
        else
            copies_commit();
        copies_wait<1>();
        __syncthreads();
        for (int kk = 0; kk < STEP / 16; kk++) {
            unsigned fa[4][4], fb[2][4];
            for (int i = 0; i < 4; i++)
                load_matrix(fa[i], chunk_a(sa[stage], warp_row + i * 16 + lane % 16,
                                           kk * 2 + lane / 16));
            for (int j = 0; j < 2; j++)
                load_matrix_turned(fb[j], chunk_b(sb[stage], kk * 16 + lane % 16,
                                                  (warp_col + j * 16) / 8 + lane / 16));
            for (int i = 0; i < 4; i++) {
                for (int j = 0; j < 4; j++)
                    multiply(acc[i][j], fa[i], fb[j / 2][j % 2 * 2], fb[j / 2][j % 2 * 2 + 1]);
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            int row = row0 + warp_row + i * 16 + lane / 4;
            int col = col0 + warp_col + j * 8 + lane % 4 * 2;
            *(unsigned *)&c[(size_t)row * n + col] = pack_bf16(acc[i][j][0], acc[i][j][1]);
            *(unsigned *)&c[(size_t)(row + 8) * n + col] = pack_bf16(acc[i][j][2], acc[i][j][3]);
        }
    }
}
