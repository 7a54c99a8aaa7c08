/*
 * Summaries of ranks from the profiler's own cluster analysis (cluster_analysis_output/): sums of
 * steps and single collectives of all ranks in one capture, without kernels.
 */
#include <stdlib.h>

#include "analysis/ranks/rank_summary.h"
#include "base/tables/ranked.h"

/* "step12", "12": the number; -1: none. */
static int64_t step_number(const struct capture *cap, strid step)
{
    struct str text = capture_text(cap, step);
    size_t digits = str_last_digits(text);
    int64_t number = -1;

    return digits > 0 && num_i64(str_part(text, text.n - digits, digits), &number) ? number : -1;
}

ORDER_BY(by_number, struct summary_step, ORDER(x->number, y->number));
ORDER_BY(by_begin, struct summary_call, ORDER(x->begin, y->begin) ?: ORDER(x->end, y->end));

/* Steps have lengths but no place in time: they begin with their first collective. */
static void add_steps(const struct capture *cap, struct arena *arena, struct rank_summary *out)
{
    out->steps = ARENA_ARRAY(arena, struct summary_step, cap->step_traces.n);
    for (size_t i = 0; i < cap->step_traces.n; i++) {
        const struct step_trace *t = &cap->step_traces.at[i];
        if (t->rank != out->rank)
            continue;
        struct summary_step *s = &out->steps[out->n_steps++];
        *s = (struct summary_step){.number = step_number(cap, t->step),
                                   .compute = t->computing,
                                   .comm = t->communication,
                                   .exposed = t->comm_exposed,
                                   .idle = t->free_time};
        for (size_t k = 0; k < cap->comm_ops.n; k++) {
            const struct comm_op *op = &cap->comm_ops.at[k];
            if (op->rank == out->rank && step_number(cap, op->step) == s->number &&
                (s->begin == 0 || op->begin < s->begin))
                s->begin = op->begin;
        }
        s->end =
            nanos_add(s->begin, nanos_add(t->computing, nanos_add(t->comm_exposed, t->free_time)));
    }
    qsort(out->steps, out->n_steps, sizeof(*out->steps), by_number);
    out->is_told_steps = out->n_steps > 0;
}

static int32_t place_of_step(const struct rank_summary *s, int64_t number)
{
    for (size_t i = 0; i < s->n_steps; i++)
        if (s->steps[i].number == number)
            return (int32_t)i;
    return -1;
}

static uint32_t totals_group_of(const struct capture *cap, strid id, struct arena *arena,
                                struct rank_summary *out)
{
    struct str text = capture_text(cap, id);
    uint32_t at = 0;

    while (at < out->n_groups && !str_equal(out->groups[at].id, text))
        at++;
    if (at == out->n_groups)
        out->groups[out->n_groups++] = (struct summary_group){.id = arena_str(arena, text)};
    return at;
}

static void add_calls(const struct capture *cap, struct arena *arena, struct rank_summary *out)
{
    out->calls = ARENA_ARRAY(arena, struct summary_call, cap->comm_ops.n);
    out->groups = ARENA_ARRAY(arena, struct summary_group, cap->comm_ops.n);
    for (size_t i = 0; i < cap->comm_ops.n; i++) {
        const struct comm_op *op = &cap->comm_ops.at[i];
        if (op->rank != out->rank || op->elapse < 0)
            continue;
        out->calls[out->n_calls++] = (struct summary_call){
            .group = totals_group_of(cap, op->group, arena, out),
            .kind = (uint8_t)collective_kind_of(capture_text(cap, op->name)),
            .step = place_of_step(out, step_number(cap, op->step)),
            .from = -1,
            .to = -1,
            .bytes = op->megabytes > 0 ? num_i64_of(op->megabytes * 1e6) : 0,
            .begin = op->begin,
            .end = nanos_add(op->begin, op->elapse),
        };
        out->told_comm_ms += (double)op->elapse / 1e6;
        out->told_moved_mb += op->megabytes;
    }
    qsort(out->calls, out->n_calls, sizeof(*out->calls), by_begin);
    for (size_t i = 0; i < out->n_calls; i++) {
        struct summary_call *c = &out->calls[i];
        c->after = i > 0 && c[-1].end <= c->begin ? (uint32_t)i - 1 : SUMMARY_NO_CALL;
        c->stretch = c->after != SUMMARY_NO_CALL ? c->begin - c[-1].end : 0;
    }
}

size_t rank_summary_totals(const struct capture *cap, struct arena *arena,
                           struct rank_summary **out)
{
    int64_t *ranks = ARENA_ARRAY(arena, int64_t, cap->step_traces.n + cap->comm_ops.n);
    size_t n = 0;

    if (cap->slices.n > 0)
        return 0;
    for (size_t i = 0; i < cap->step_traces.n; i++)
        if (cap->step_traces.at[i].rank >= 0)
            ranks[n++] = cap->step_traces.at[i].rank;
    for (size_t i = 0; i < cap->comm_ops.n; i++)
        if (cap->comm_ops.at[i].rank >= 0)
            ranks[n++] = cap->comm_ops.at[i].rank;
    n = n > 0 ? ranked_set(ranks, n) : 0;
    *out = ARENA_ARRAY(arena, struct rank_summary, n);
    for (size_t i = 0; i < n; i++) {
        (*out)[i] = (struct rank_summary){.rank = ranks[i], .world = -1, .device = -1};
        (*out)[i].name = arena_str(arena, str_of(cap->name));
        add_steps(cap, arena, &(*out)[i]);
        add_calls(cap, arena, &(*out)[i]);
    }
    return n;
}
