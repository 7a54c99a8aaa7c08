/*
 * nsys_gpu - what an Nsight Systems export says of a GPU (TARGET_INFO_GPU), for those that no table
 * of ours knows.
 */
#ifndef STRATA_INPUT_NSYS_NSYS_GPU_H
#define STRATA_INPUT_NSYS_NSYS_GPU_H

#include "base/arena.h"
#include "base/diag.h"

/* 0 where it is not told. */
struct nsys_gpu {
    int64_t sms, memory_bytes, l2_bytes, bytes_per_second, clock_hz, major, minor;
};

/* The GPU of that name, or with an empty one the first. False for files that are no export, and
 * where it is not told. */
bool nsys_gpu_read(const char *path, struct str name, struct nsys_gpu *out);

#endif
