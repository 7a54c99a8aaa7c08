/*
 * pto_advise - changes to the text of a kernel that were simulated and make it faster.
 */
#ifndef STRATA_KERNELS_PTO_PTO_ADVISE_H
#define STRATA_KERNELS_PTO_PTO_ADVISE_H

#include "kernels/pto/judge/lines.h"
#include "kernels/pto/judge/rewrite.h"
#include "kernels/pto/pto_kernel.h"

struct pto_advice {
    struct pto_rewrite change;
    int64_t cycles;     /* of the changed kernel, all blocks */
    double gain;        /* of the cycles of the kernel as it is */
    enum pto_pipe pipe; /* of the line that speaks for it; where `at` is not 0 */
    uint32_t at;
    double stall; /* share of the cycles that the pipe stands still there */
};

struct pto_advices {
    struct pto_rewrites rewrites;
    VEC_OF(struct pto_advice) list; /* largest gain first */
};

/* Simulates each change that the text allows; those that save 1 % or more stay. `lines` are of the
 * run as it is. pto_advices_free() in any case. */
void pto_advise(const struct pto_kernel *k, const struct pto_costs *costs,
                const struct pto_setup *setup, const struct pto_lines *lines,
                struct pto_advices *out);
void pto_advices_free(struct pto_advices *a);

/* "double-buffer %x (3 tiles of the loop), line 18: MTE2 stalls 60 % of the time at line 27" */
struct str pto_advice_text(const struct pto_advice *a, enum lang lang, struct arena *arena);

extern const struct record pto_advice_record;

#endif
