/*
 * rewrite_in - what the files of the rewriter share; others include kernels/pto/judge/rewrite.h.
 */
#ifndef STRATA_KERNELS_PTO_JUDGE_REWRITE_IN_H
#define STRATA_KERNELS_PTO_JUDGE_REWRITE_IN_H

#include "kernels/pto/judge/rewrite.h"

/* One alloc_tile with an address that the text tells. */
struct rewrite_place {
    uint32_t op, value;
    enum pto_space space;
    int64_t lo, hi;
    uint32_t first_use;    /* operation; PTO_NONE */
    uint32_t last_use;     /* likewise */
    bool is_written_first; /* and not read by the same operation */
    int64_t moved;         /* new address; -1: it stays */
    bool is_loops;         /* of the loop that is looked at */
};

struct rewriter {
    const struct pto_module *m;
    const struct pto_function *f;
    enum pto_arch arch;
    struct pto_rewrites *out;
    struct str *lines; /* of the text, from 1 */
    size_t n_lines;
    VEC_OF(struct rewrite_place) places;
};

/* Lines of a changed text. */
struct rewrite_lines {
    struct str *at;
    size_t n, cap;
};

void rewrite_put_lines(const struct rewriter *w, struct rewrite_lines *to, size_t first,
                       size_t last);

/* Takes the lines of a changed text. */
void rewrite_propose(struct rewriter *w, struct pto_rewrite change, struct rewrite_lines *lines);

bool rewrite_overlap(const struct rewrite_place *a, const struct rewrite_place *b);
struct str rewrite_name_of(const struct rewriter *w, uint32_t value);

/* The value of an integer constant; false: it is none. */
bool rewrite_constant(const struct rewriter *w, uint32_t value, int64_t *out);

/* A prefix for names that the text does not use. */
struct str rewrite_prefix(const struct rewriter *w);

/* All tiles keep their addresses. */
void rewrite_stay(struct rewriter *w);

/* Adds the changes of a function, or only those that double buffers. */
void rewrite_list(const struct pto_module *m, const struct pto_function *f, struct str text,
                  enum pto_arch arch, struct pto_rewrites *out, bool is_double_only);

/* Loops with larger or smaller tiles. */
void rewrite_tilings(struct rewriter *w);

/* Loads in the other order; flags that are set earlier or waited for later. */
void rewrite_swaps(struct rewriter *w);
void rewrite_flags(struct rewriter *w);

#endif
