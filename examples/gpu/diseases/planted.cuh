/*
 * The frame of programs whose kernels have a property each that was written down before the first
 * run: `--list` prints name and property, otherwise every kernel runs once in each step.
 */
#pragma once

#include <cstdio>
#include <cstring>

struct planted {
    const char *name, *expect; /* "": nothing to find; nullptr: not listed */
    void (*run)();
};

/* Whether `--list` was asked for, and done. */
template <size_t n> static bool planted_list(const planted (&kernels)[n], int argc, char **argv)
{
    if (argc < 2 || strcmp(argv[1], "--list") != 0)
        return false;
    for (auto &one : kernels)
        if (one.expect != nullptr)
            printf("%s\t%s\n", one.name, one.expect);
    return true;
}

template <size_t n> static int planted_run(const planted (&kernels)[n], int steps)
{
    for (int step = 0; step < steps; step++)
        for (auto &one : kernels) {
            one.run();
            if (cudaDeviceSynchronize() != cudaSuccess) {
                fprintf(stderr, "%s: %s\n", one.name, cudaGetErrorString(cudaGetLastError()));
                return 1;
            }
        }
    return 0;
}
