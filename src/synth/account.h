/*
 * account - exact figures from spans of time, by a plain sweep over their borders.
 *
 * The truth about a generated run must not come from the code it is used to test, so this does
 * not use base/tables/interval: the borders of all spans are sorted, and a count goes up and down.
 */
#ifndef STRATA_SYNTH_ACCOUNT_H
#define STRATA_SYNTH_ACCOUNT_H

#include "base/tables/vec.h"
#include "base/text/num.h"

struct account_span {
    nanos begin, end;
    unsigned bits; /* the sets it belongs to */
};

struct spans {
    VEC_OF(struct account_span) list;
};

/* The parts of the line where a span with a bit of `with` lies and none with a bit of `without`,
 * joined where they touch, in order. Replaces `out`. */
void account_sweep(const struct account_span *spans, size_t n, unsigned with, unsigned without,
                   struct spans *out);

/* Total length, of the whole list or of what lies in a window. The list is a sweep's result. */
nanos account_length(const struct spans *list);
nanos account_length_in(const struct spans *list, nanos begin, nanos end);

/* How a device spent a window, from the sweep of its work. */
struct account_window {
    nanos begin, end;
    nanos service, busy, underfeed, prelaunch, tail, internal, largest;
    int64_t bubbles, significant; /* gaps between work; those of 100 us or more, ends included */
    nanos first, last;            /* work inside the window: first begin, last end; 0 without any */
};

struct account_window account_window(const struct spans *work, nanos begin, nanos end);

/* The severity tags of docs/analyses/anomaly.md, as bits. */
enum { TAG_IDLE = 1, TAG_PRELAUNCH = 2, TAG_TAIL = 4, TAG_INTERNAL = 8 };
unsigned account_tags(const struct account_window *w);

/* The gap of `work` in [begin, end) that holds `at`; false when `at` is busy. */
bool account_gap(const struct spans *work, nanos begin, nanos end, nanos at,
                 struct account_span *gap);

#endif
