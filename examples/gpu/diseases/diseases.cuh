/* What the catalogue of planted properties shares. */
#pragma once

#include <cstddef>
#include <cstdint>

enum : size_t { MiB = size_t(1) << 20, GiB = size_t(1) << 30 };

/* Two buffers of floats that every kernel may use; `big` is only allocated for those that ask. */
struct buffers {
    float *in, *out; /* 512 MiB each */
    float *big;      /* 64 GiB */
    int sms;
};

enum { FLOATS = 128 << 20 }; /* in `in` and in `out` */

/* A planted property: how to launch the kernel that has it, and the one that has not. */
struct disease {
    const char *name;   /* of the kernel; the cured twin is NAME_cured */
    const char *expect; /* the opportunity that `strata gpu profile` names first; "" for none */
    void (*sick)(const buffers &b);
    void (*cured)(const buffers &b); /* nullptr: the kernel is healthy as it is */
    bool needs_big;
};

extern const disease access_diseases[], shared_diseases[], compute_diseases[], launch_diseases[],
    tensor_diseases[];
