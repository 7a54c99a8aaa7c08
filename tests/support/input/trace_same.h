/*
 * trace_same - for tests and fuzzers: do two pieces of a trace hold the same, number by number?
 */
#ifndef STRATA_INPUT_TRACE_SAME_H
#define STRATA_INPUT_TRACE_SAME_H

#include "input/trace/trace_chunk.h"

static inline bool trace_same_bytes(const void *a, const void *b, size_t n)
{
    return n == 0 || memcmp(a, b, n) == 0;
}

static inline bool trace_same_attrs(const struct attrs *a, const struct attrs *b)
{
    return a->bytes.n == b->bytes.n && trace_same_bytes(a->bytes.at, b->bytes.at, a->bytes.n) &&
           a->columns.n == b->columns.n &&
           trace_same_bytes(a->columns.at, b->columns.at, a->columns.n * sizeof(*a->columns.at));
}

static inline bool trace_same_rows(const struct trace_chunk *a, const struct trace_chunk *b)
{
    if (a->rows.n != b->rows.n)
        return false;
    for (size_t i = 0; i < a->rows.n; i++) {
        const struct trace_row *x = &a->rows.at[i], *y = &b->rows.at[i];
        if (x->begin != y->begin || x->dur != y->dur || x->lane != y->lane || x->name != y->name ||
            x->set != y->set || x->own != y->own || x->hint != y->hint || x->edge != y->edge)
            return false;
    }
    return true;
}

static inline bool trace_same_ends(const struct trace_chunk *a, const struct trace_chunk *b)
{
    if (a->ends.n != b->ends.n)
        return false;
    for (size_t i = 0; i < a->ends.n; i++) {
        const struct trace_end *x = &a->ends.at[i], *y = &b->ends.at[i];
        if (x->id != y->id || x->at != y->at || x->lane != y->lane || x->cat != y->cat ||
            x->is_start != y->is_start || x->is_text != y->is_text)
            return false;
    }
    return true;
}

static inline bool trace_same_others(const struct trace_chunk *a, const struct trace_chunk *b)
{
    if (a->samples.n != b->samples.n || a->metas.n != b->metas.n)
        return false;
    for (size_t i = 0; i < a->samples.n; i++) {
        const struct trace_sample *x = &a->samples.at[i], *y = &b->samples.at[i];
        if (x->at != y->at || !trace_same_bytes(&x->value, &y->value, sizeof(x->value)) ||
            x->lane != y->lane || x->name != y->name || x->unit != y->unit)
            return false;
    }
    for (size_t i = 0; i < a->metas.n; i++) {
        const struct trace_meta *x = &a->metas.at[i], *y = &b->metas.at[i];
        if (x->kind != y->kind || x->lane != y->lane || x->text != y->text)
            return false;
    }
    return true;
}

static inline bool trace_same_strings(const struct trace_chunk *a, const struct trace_chunk *b)
{
    if (a->strings.at.n != b->strings.at.n)
        return false;
    for (size_t i = 0; i < a->strings.at.n; i++)
        if (a->strings.at.at[i].form != b->strings.at.at[i].form ||
            !str_equal(a->strings.at.at[i].raw, b->strings.at.at[i].raw))
            return false;
    return true;
}

static inline bool trace_same_chunks(const struct trace_chunk *a, const struct trace_chunk *b)
{
    return a->start == b->start && a->stop == b->stop && a->why == b->why &&
           a->events == b->events && trace_same_strings(a, b) && a->lanes.n == b->lanes.n &&
           trace_same_bytes(a->lanes.at, b->lanes.at, a->lanes.n * sizeof(*a->lanes.at)) &&
           a->flow_cats.n == b->flow_cats.n &&
           trace_same_bytes(a->flow_cats.at, b->flow_cats.at, a->flow_cats.n * sizeof(strid)) &&
           trace_same_attrs(&a->sets, &b->sets) && trace_same_attrs(&a->owns, &b->owns) &&
           trace_same_rows(a, b) && trace_same_ends(a, b) && trace_same_others(a, b) &&
           trace_same_bytes(a->troubles, b->troubles, sizeof(a->troubles)) &&
           trace_same_bytes(a->recovered, b->recovered, sizeof(a->recovered));
}

#endif
