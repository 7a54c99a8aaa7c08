/*
 * limits - what bounds a kernel: the resource that saves the most when it costs nothing.
 *
 *     struct limit_list l = {.total = 48039};
 *     limits_add(&l, LIMIT_READ, 6211);                   its part of the critical path
 *     for (what = limits_next(&l, false); what != LIMIT_NOTHING; ...)
 *         limits_try(&l, what, cycles of the kernel without it);
 *     limits_judge(&l);
 *     ... l.bound, l.at[0].saved
 *
 * Simulated and recorded kernels are judged here and nowhere else. Work that is left out of a
 * kernel shortens it by its part of the critical path at most: whatever else is on that path still
 * follows one upon the other. So a resource need not be tried when its part is below what another
 * one saves. That does not hold for waits that are left out (LIMIT_BUFFERS, LIMIT_SYNC): without
 * them the path is another one.
 */
#ifndef STRATA_REPORT_LIMITS_H
#define STRATA_REPORT_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "report/message.h"

struct record;

enum limit {
#define LIMIT(code, ...) LIMIT_##code,
#include "report/limits.def"
#undef LIMIT
};

enum { LIMITS = LIMIT_BALANCE + 1 };

struct limiter {
    enum limit what;
    bool is_tried;
    int64_t path;  /* its part of the critical path */
    int64_t saved; /* of the total, without it; meaningful once it is tried */
    double path_share, saved_share;
};

struct limit_list {
    int64_t total;
    enum limit bound;
    struct limiter at[LIMITS]; /* judged: the largest saving first */
    size_t n;
};

const char *limit_name(enum limit what);   /* "read" */
const char *limit_advice(enum limit what); /* half a sentence */

/* Adds to the part of the critical path; a part of 0 makes no resource known. */
void limits_add(struct limit_list *l, enum limit what, int64_t path);

/* A resource to try; LIMIT_NOTHING when all are, or when, unless `all`, no other can be the bound.
 */
enum limit limits_next(const struct limit_list *l, bool all);
void limits_try(struct limit_list *l, enum limit what, int64_t total);

/* Sorts, fills in the shares and names the bound. */
void limits_judge(struct limit_list *l);

/* The resource that bounds; NULL when none does. */
const struct limiter *limits_first(const struct limit_list *l);

/* "bound by read: 41.0 % of the critical path, 38.2 % less time if it were free" */
struct str limits_text(const struct limit_list *l, enum lang lang, struct arena *arena);

/* "then latency 12.1 %, launch 9.0 %": what else saves; empty when nothing does. */
struct str limits_others(const struct limit_list *l, enum lang lang, struct arena *arena);

extern const struct record limiter_record;

#endif
