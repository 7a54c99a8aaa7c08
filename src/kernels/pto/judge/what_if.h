/*
 * what_if - what a kernel would take without one of the resources that its critical path leads
 * through.
 *
 * Each question is one more run with other options (pto_what_if_apply). The answers are what
 * pto_outcome.limits judges by, so that what bounds a kernel and its best what-if are the same.
 */
#ifndef STRATA_KERNELS_PTO_JUDGE_WHAT_IF_H
#define STRATA_KERNELS_PTO_JUDGE_WHAT_IF_H

#include "kernels/pto/judge/outcome.h"

struct pto_what_if {
    enum limit what;
    int64_t evidence; /* cycles of the critical path that speak for it */
    int64_t cycles;   /* of the changed run */
    double gain;      /* of the cycles of the run as it is */
};

struct pto_what_ifs {
    struct pto_what_if *at;
    size_t n, cap;
};

/* Options of the run without `what`; and whether it needs the kernel compiled anew
 * (options->is_dep and pto_sim.ignore_reuse say how). */
void pto_what_if_apply(enum limit what, struct pto_options *options);
bool pto_what_if_compiles(enum limit what);

/* The answers of judged limits, largest gain first. vec_free() the list. */
void pto_what_if_list(const struct limit_list *limits, struct pto_what_ifs *out);

/* "read costs nothing: MTE2"; and what stands behind it. */
struct str pto_what_if_title(enum limit what, enum lang lang, struct arena *arena);
struct str pto_what_if_evidence(const struct pto_what_if *w, enum lang lang, struct arena *arena);

extern const struct record pto_what_if_record;

#endif
