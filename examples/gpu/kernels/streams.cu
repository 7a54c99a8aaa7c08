/* Small kernels for streams and graphs. */
extern "C" __global__ void busy(float *to, int rounds)
{
    float x = (float)threadIdx.x;

    for (int i = 0; i < rounds; i++)
        x = x * 1.0001f + 0.5f;
    to[(size_t)blockIdx.x * blockDim.x + threadIdx.x] = x;
}

extern "C" __global__ void tiny(int *count)
{
    if (threadIdx.x == 0)
        *count += 1;
}
