/*
 * host - a kernel in C++ under way on this machine: its instructions are executed on copies of the
 * on-chip memory, so that its control flow is the real one, and written down as PTO text.
 *
 *     struct pto_host *h = pto_host_new(&setup);
 *     pto_host_add(h, PTO_AIV0, &object, args);     each core that takes part, loaded for itself
 *     pto_host_run(h);                              one core at a time, until all are done
 *     pto_host_text(h, name, &text, &lines);
 *
 * What the kernel calls is include/strata/pto_host.h. It cannot return an error to a kernel, so
 * `fail` is called, which must not return: this runs in a process of its own
 * (kernels/pto/pto_cpp.h).
 */
#ifndef STRATA_KERNELS_PTO_SIM_HOST_H
#define STRATA_KERNELS_PTO_SIM_HOST_H

#include "base/tables/vec.h"
#include "base/text/text.h"
#include "kernels/pto/text/types.h"
#include "strata/pto_host.h"

/* Global memory that the kernel was given. */
struct pto_host_buffer {
    struct str name; /* of the argument in the text */
    unsigned char *data;
    size_t size;
    enum pto_dtype dtype;
    size_t reached; /* bytes from the start that instructions touched */
};

/* What the kernel does now, for those who watch it or come after a crash. */
struct pto_host_mark {
    char op[32];
    char file[256];
    int32_t line;
    int32_t core;
    uint64_t calls;
    uint64_t between_ranks; /* of the calls */
    int32_t rank_line;      /* of the first of those */
};

struct pto_host_setup {
    enum pto_arch arch;
    int32_t block, blocks;
    struct pto_host_buffer *buffers;
    size_t n_buffers;
    uint64_t max_calls;
    bool names_no_core; /* the source does not say for which core it is */
    struct pto_host_mark *mark;
    /* Does not return. `code` is a literal of docs/diagnostics.md. */
    void (*fail)(void *ctx, const char *code, struct strata_pto_place place, const char *text);
    void *ctx;
};

typedef void pto_host_attach(const struct strata_pto_host *host);
typedef void pto_host_entry(int64_t *args);
typedef void pto_host_enter(pto_host_entry *entry, int64_t *args);

/* The line of the source that a line of the text comes from; 0: none. */
struct pto_host_lines {
    VEC_OF(uint32_t) at; /* by line of the text, from 1; at[0] is not used */
};

struct pto_host *pto_host_new(const struct pto_host_setup *setup);

/* A copy of the kernel, loaded for one core. */
struct pto_host_object {
    pto_host_attach *attach;
    pto_host_enter *enter;
    pto_host_entry *entry;
};

/* `args` are the core's 50 slots. */
void pto_host_add(struct pto_host *h, uint32_t core, const struct pto_host_object *object,
                  int64_t *args);

/* Is the address where a stack that is too deep goes? */
bool pto_host_is_below_stack(const struct pto_host *h, const void *at);
void pto_host_run(struct pto_host *h);

/* The module: one function, or one for each kind of core. Lines are those of `file`. */
void pto_host_text(struct pto_host *h, struct str name, struct str file, struct text *out,
                   struct pto_host_lines *lines);

#endif
