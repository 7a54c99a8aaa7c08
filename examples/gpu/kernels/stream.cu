/* Copies `n` vectors of four floats: as fast as the memory. */
extern "C" __global__ void stream_copy(float4 *to, const float4 *from, size_t n)
{
    size_t step = (size_t)gridDim.x * blockDim.x;

    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        to[i] = from[i];
}
