/*
 * health - whether a trace of one kernel means anything: checks that a reader should see first.
 */
#ifndef STRATA_KERNELS_INCORE_HEALTH_H
#define STRATA_KERNELS_INCORE_HEALTH_H

#include "kernels/incore/breakdown.h"
#include "kernels/incore/flags.h"

struct incore_check {
    const char *code; /* "incore.truncated-tail" */
    struct str text;
};

/* What the tables *_instr_exe*.csv of a run say together. */
struct incore_exe {
    uint64_t files, mmad_rows;
    int64_t vector_cycles;
};

struct incore_health {
    struct arena arena;
    VEC_OF(struct incore_check) list; /* what is wrong; empty: nothing */
};

/* Counts one table, given as text. */
void incore_exe_add(struct incore_exe *exe, struct str csv);

/* Nothing was multiplied and hardly a vector computed. */
bool incore_exe_is_degenerate(const struct incore_exe *exe);

void incore_health_build(struct incore_health *h, const struct incore_trace *t,
                         const struct incore_lanes *lanes, const struct incore_arrows *arrows,
                         const struct incore_breakdown *b, const struct incore_exe *exe);
void incore_health_free(struct incore_health *h);

#endif
