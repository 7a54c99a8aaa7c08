/*
 * Kernels with one planted property each, and the same work without it: what `strata gpu profile`
 * has to find. Steps go through all of them, so that each is launched as often as there are steps.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "diseases.cuh"

enum { STEPS = 10, NO_GPU = 77 };

static const disease *const groups[] = {access_diseases, shared_diseases, compute_diseases,
                                        launch_diseases, tensor_diseases};

static void check(const char *what)
{
    cudaError_t e = cudaGetLastError();

    if (e == cudaSuccess)
        e = cudaDeviceSynchronize();
    if (e == cudaSuccess)
        return;
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(e));
    exit(e == cudaErrorNoDevice || e == cudaErrorInsufficientDriver ? NO_GPU : 1);
}

static bool is_asked(const disease &d, int argc, char **argv)
{
    for (int i = 0; i < argc; i++)
        if (strcmp(argv[i], d.name) == 0)
            return true;
    return argc == 0;
}

__global__ void fill(float *to, size_t n)
{
    size_t step = (size_t)gridDim.x * blockDim.x;

    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += step)
        to[i] = (float)(i * 2654435761u % 1024) / 1024;
}

static buffers make(bool needs_big)
{
    buffers b = {};

    cudaMalloc(&b.in, FLOATS * sizeof(float));
    cudaMalloc(&b.out, FLOATS * sizeof(float));
    if (needs_big)
        cudaMalloc(&b.big, 64 * GiB);
    cudaDeviceGetAttribute(&b.sms, cudaDevAttrMultiProcessorCount, 0);
    check("memory");
    fill<<<1024, 256>>>(b.in, FLOATS);
    check("fill");
    return b;
}

int main(int argc, char **argv)
{
    int steps = STEPS;

    argc--, argv++;
    if (argc > 0 && strcmp(argv[0], "--list") == 0) {
        for (const disease *group : groups)
            for (const disease *d = group; d->name != nullptr; d++)
                printf("%s\t%s\t%s\n", d->name, d->cured != nullptr ? "cured" : "", d->expect);
        return 0;
    }
    if (argc > 1 && strcmp(argv[0], "--steps") == 0) {
        steps = atoi(argv[1]);
        argc -= 2, argv += 2;
    }
    bool needs_big = false;
    for (const disease *group : groups)
        for (const disease *d = group; d->name != nullptr; d++)
            needs_big |= d->needs_big && is_asked(*d, argc, argv);
    buffers b = make(needs_big);
    for (int step = 0; step < steps; step++)
        for (const disease *group : groups)
            for (const disease *d = group; d->name != nullptr; d++) {
                if (!is_asked(*d, argc, argv))
                    continue;
                d->sick(b);
                check(d->name);
                if (d->cured != nullptr)
                    d->cured(b);
                check(d->name);
            }
    return 0;
}
