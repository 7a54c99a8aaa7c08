/*
 * A program that ends without saying so: `crash HOW N MS` launches N kernels, MS milliseconds apart
 * after every hundredth, and then ends by abort, segv, _exit, kill (SIGKILL), term (SIGTERM) or
 * exit. What a recorder has of it is what it wrote in time.
 */
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

__global__ void step(float *x)
{
    x[threadIdx.x] = x[threadIdx.x] * 0.5f + 1;
}

static void end(const char *how)
{
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "segv") == 0)
        raise(SIGSEGV);
    if (strcmp(how, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(how, "term") == 0)
        raise(SIGTERM);
    if (strcmp(how, "_exit") == 0)
        _exit(0);
    exit(0);
}

int main(int argc, char **argv)
{
    int n = argc > 2 ? atoi(argv[2]) : 1000, ms = argc > 3 ? atoi(argv[3]) : 0;
    float *x;

    if (cudaMalloc(&x, 1024) != cudaSuccess)
        return 77;
    for (int i = 0; i < n; i++) {
        step<<<1, 256>>>(x);
        if (i % 100 == 99)
            usleep(ms * 1000);
    }
    cudaDeviceSynchronize();
    end(argc > 1 ? argv[1] : "abort");
}
