/*
 * what_if - what would change if one thing of a kernel or its machine were different.
 *
 * The questions follow from an outcome: only pipes that were used, only waits that took time. Each
 * is one more run with other options (pto_what_if_apply); its gain says whether the change is
 * worth trying, and bounds what any such change can bring.
 */
#ifndef STRATA_PTO_WHAT_IF_H
#define STRATA_PTO_WHAT_IF_H

#include "pto/outcome.h"
#include "report/message.h"

enum pto_what {
    PTO_WHAT_BUFFERS,  /* a buffer of its own for every write */
    PTO_WHAT_BARRIERS, /* no barriers */
    PTO_WHAT_IDEAL,    /* waits for bytes in place of the compiler's flags */
    PTO_WHAT_INFINITE, /* pipe `a` takes no time */
    PTO_WHAT_TWICE,    /* pipe `a` takes half the time */
    PTO_WHAT_NO_WAITS, /* pipe `a` does not wait for pipe `b` */
};

struct pto_what_if {
    enum pto_what what;
    enum pto_pipe a, b;
    int64_t evidence; /* cycles of the run as it is that speak for it: stalled, or busy */
    int64_t cycles;   /* of the changed run */
    double gain;      /* of the cycles of the run as it is; filled in by pto_what_if_rank() */
};

struct pto_what_ifs {
    struct pto_what_if *at;
    size_t n, cap;
};

/* The questions worth asking. vec_free() the list. */
void pto_what_if_list(const struct pto_outcome *o, struct pto_what_ifs *out);

/* Options of the changed run; and whether it needs the kernel compiled anew (options->is_dep and
 * pto_sim.ignore_reuse say how). */
void pto_what_if_apply(const struct pto_what_if *w, struct pto_options *options);
bool pto_what_if_compiles(const struct pto_what_if *w);

/* Largest gain first, against `total` cycles. */
void pto_what_if_rank(struct pto_what_ifs *list, int64_t total);

/* "MTE2 infinitely fast"; and what stands behind it: "MTE2 is busy for 333072 cycles". */
struct str pto_what_if_title(const struct pto_what_if *w, enum lang lang, struct arena *arena);
struct str pto_what_if_evidence(const struct pto_what_if *w, enum lang lang, struct arena *arena);

extern const struct record pto_what_if_record;

#endif
