/* Softmax of rows of fp32, one block a row: largest, sum, quotient, each a pass over the row. */
__device__ __forceinline__ float over_block(float x, bool is_sum, float *shared)
{
    for (int i = 16; i > 0; i /= 2) {
        float y = __shfl_xor_sync(0xffffffffu, x, i);
        x = is_sum ? x + y : fmaxf(x, y);
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        shared[threadIdx.x / 32] = x;
    __syncthreads();
    x = shared[0];
    for (int i = 1; i < (int)blockDim.x / 32; i++)
        x = is_sum ? x + shared[i] : fmaxf(x, shared[i]);
    return x;
}

extern "C" __global__ void softmax_rows(float *to, const float *from, int cols)
{
    __shared__ float shared[32];
    const float *row = from + (size_t)blockIdx.x * cols;
    float *out = to + (size_t)blockIdx.x * cols;
    float most = -3.4e38f, sum = 0;

    for (int i = threadIdx.x; i < cols; i += blockDim.x)
        most = fmaxf(most, row[i]);
    most = over_block(most, false, shared);
    for (int i = threadIdx.x; i < cols; i += blockDim.x)
        sum += __expf(row[i] - most);
    sum = over_block(sum, true, shared);
    for (int i = threadIdx.x; i < cols; i += blockDim.x)
        out[i] = __expf(row[i] - most) / sum;
}
