/*
 * pto_cpp - a PTO kernel in C++, compiled for this machine and run once: what it did as PTO text,
 * and what its buffers hold afterwards.
 *
 * The kernel runs in a process of its own that can compute and nothing else (base/run/sandbox.h),
 * so whatever it does ends as a message with the line it was at.
 */
#ifndef STRATA_KERNELS_PTO_PTO_CPP_H
#define STRATA_KERNELS_PTO_PTO_CPP_H

#include "kernels/pto/sim/host.h"
#include "kernels/replay/launch.h"

struct pto_cpp_job {
    const char *source;
    const char *vector_source; /* of the vector cores of a mixed kernel; NULL: the same */
    const char *second_source; /* of the second vector core alone; NULL: as the first */
    bool has_no_cube;          /* `source` is of no use: vector cores alone, with those two */
    const char *entry; /* function that is run; NULL: by preference (kernels/replay/launch.h) */
    struct words includes, defines;
    enum pto_arch arch;
    int side;                      /* enum shape, or -1: as path and text say */
    const struct slots *slots;     /* NULL: drafted from the source */
    const struct slots *overrides; /* values and fills in place of drafted ones; NULL: none */
    int64_t block, blocks;         /* blocks 0: as the source launches it, else 1 */
    int64_t limit_ms;              /* 0: a minute */
    const char *limit_option;      /* that sets it; NULL: --timeout */
    bool is_trusted; /* the compiler may read all files, and no sandbox is no reason to stop */
    uint64_t seed;
};

/* Memory of the run; several tensors may lie in it. */
struct pto_cpp_part {
    struct str name;
    const struct slot_memory *memory; /* NULL: of one tensor */
    enum pto_dtype dtype;
    unsigned char *data;
    size_t size;
    size_t reached; /* bytes that instructions touched, from the start */
};

/* A tensor after the run. */
struct pto_cpp_buffer {
    const struct slot *slot;
    enum pto_dtype dtype;
    unsigned char *data; /* what its descriptor names */
    size_t size;         /* from there to the end of the memory */
    size_t part;
};

struct pto_cpp_run {
    struct arena arena;
    struct str name; /* of the kernel: the stem of its file */
    struct kernel_start
        launch; /* where it begins; its parameters are the slots unless it has_slots */
    struct slots slots;
    bool is_drafted;
    int64_t draft_dim; /* of its tensors */
    struct str source;
    enum shape side;
    bool names_no_core;     /* neither path nor source: it may have the work of both */
    struct text text;       /* the module */
    VEC_OF(uint32_t) lines; /* of the source, by line of the text */
    VEC_OF(struct pto_cpp_part) parts;
    VEC_OF(struct pto_cpp_buffer) buffers;
    uint64_t calls;
    uint64_t key;      /* of what was compiled: sources, headers, compiler */
    bool was_compiled; /* now, not before */
    double compile_ms, run_ms;
    struct text printed; /* by the kernel, escapes shown */
    struct pto_cpp_memory *memory;
};

/* Fails with the line of the kernel where there is one. pto_cpp_free() it in any case. */
enum status pto_cpp_run(const struct pto_cpp_job *job, struct pto_cpp_run *r, struct diag *d);
void pto_cpp_free(struct pto_cpp_run *r);

/* The elements of a tensor, row by row, where they are as many as its shape tells; in the arena. */
struct str pto_cpp_elements(struct arena *arena, const struct pto_cpp_buffer *b);

/* Compiles only. */
enum status pto_cpp_compile(const struct pto_cpp_job *job, struct pto_cpp_run *r, struct diag *d);

#endif
