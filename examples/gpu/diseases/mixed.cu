/*
 * A persistent kernel that is launched for two problems in turn, with the same grid and block: the
 * counters of one must not be joined with those of the other.
 */
#include <cstdlib>

enum { BLOCK = 256 };

__global__ void persistent(float *out, const float *in, int n)
{
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK)
        out[i] = in[i] * 2 + 1;
}

int main(int argc, char **argv)
{
    int launches = argc > 1 ? atoi(argv[1]) : 48, sms = 0;
    float *in, *out;

    if (cudaMalloc(&in, 256 << 20) != cudaSuccess || cudaMalloc(&out, 256 << 20) != cudaSuccess)
        return 77;
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    for (int i = 0; i < launches; i++)
        persistent<<<sms * 4, BLOCK>>>(out, in, i % 2 == 0 ? 64 << 20 : 4 << 20);
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
