/* An array per thread that is indexed by data: it cannot stay in registers. */
enum { WORDS = 192 };

extern "C" __global__ void spill(float *to, const int *order, int rounds)
{
    float own[WORDS];
    int at = threadIdx.x / 32; /* the same for a warp, whose lanes then share sectors */
    float sum = 0;

    for (int i = 0; i < WORDS; i++)
        own[i] = (float)(i ^ (int)threadIdx.x);
    for (int i = 0; i < rounds; i++) {
        at = order[(at + i) % WORDS];
        sum += own[at];
        own[at] = sum * 0.5f;
    }
    to[(size_t)blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
