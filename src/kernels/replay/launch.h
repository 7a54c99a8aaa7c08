/*
 * launch - where a kernel in C++ begins, when it has no kernel_entry(int64_t *args).
 *
 * The text is what the preprocessor made of the source: all headers are in it, and the parts of
 * other cores are not. Its functions are found, not compiled. In order of preference the entry is
 * a kernel (__global__), the half of a mixed kernel for this core (NAME_aic, NAME_aiv), an
 * instance of a template ("template void f<float>(float *x);"), a function that launches a kernel,
 * or a device function that others can call.
 *
 * A launch, `kernel<<<blocks, l2, stream>>>(x)`, is no C++ and becomes a call.
 */
#ifndef STRATA_KERNELS_REPLAY_LAUNCH_H
#define STRATA_KERNELS_REPLAY_LAUNCH_H

#include "base/text/text.h"
#include "kernels/replay/entry.h"
#include "kernels/replay/slots.h"

/* What the headers make of __global__. */
#define LAUNCH_MARK "__attribute__((strata_kernel))"

struct launch_job {
    struct str text;
    struct str source;  /* path of the kernel */
    struct str headers; /* folder of our own headers: nothing in it is an entry */
    struct str wanted;  /* name of the entry; empty: by preference */
    bool is_cube;
};

struct kernel_start {
    bool has_slots;  /* kernel_entry() is there; the rest is empty */
    struct str call; /* as it can be called: namespace and template arguments included */
    struct entry_param *params;
    size_t n_params;
    size_t n_entries;  /* of the same sort */
    struct str others; /* names of the first ones */
};

/* ST_NOT_FOUND, told, when there is none. */
enum status launch_find(const struct launch_job *job, struct arena *arena, struct kernel_start *out,
                        struct diag *d);

/* The text with launches as calls, followed by the kernel_entry() that calls the entry. */
void launch_write(const struct launch_job *job, const struct kernel_start *l, struct text *out);

/* Tensors for pointers, values for the rest, in the order of the parameters. */
void launch_slots(const struct kernel_start *l, int64_t dim, struct arena *arena,
                  struct slots *out);

#endif
