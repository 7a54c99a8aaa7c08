/*
 * testing_cluster - summaries of ranks that run kernels and meet in collectives, made by hand.
 */
#ifndef STRATA_ANALYSIS_CLUSTER_TESTING_CLUSTER_H
#define STRATA_ANALYSIS_CLUSTER_TESTING_CLUSTER_H

#include "analysis/ranks/rank_summary.h"
#include "base/tables/hash.h"
#include "base/testing_arena.h"

enum { TEST_STEPS = 8, TEST_CALLS = 6 /* of a step */, TEST_FAMILIES = 10 };

/* What is wrong with the ranks of a test; the callbacks may be NULL. */
struct test_cluster {
    size_t ranks;
    nanos (*offset)(size_t rank);
    double (*drift)(size_t rank);
    double (*slow)(size_t rank);                /* factor of all kernels */
    nanos (*idle)(size_t rank, size_t step);    /* before the third call of a step */
    nanos (*storage)(size_t rank, size_t step); /* after the last */
};

static inline nanos test_local(const struct test_cluster *t, size_t rank, double time)
{
    double drift = t->drift != NULL ? t->drift(rank) : 0;

    return (nanos)(time * (1 + drift)) + (t->offset != NULL ? t->offset(rank) : 0);
}

static inline void test_families(const struct test_cluster *t, size_t rank, struct rank_summary *s)
{
    double slow = t->slow != NULL ? t->slow(rank) : 1;

    s->families = ARENA_ARRAY(&arena, struct summary_family, TEST_FAMILIES);
    s->n_families = TEST_FAMILIES;
    for (size_t i = 0; i < TEST_FAMILIES; i++)
        s->families[i] =
            (struct summary_family){.key = hash_stable_mix(i + 1, 7),
                                    .name = S("kernel"),
                                    .n = 100,
                                    .time = (nanos)(1e6 * (double)(TEST_FAMILIES - i) * slow *
                                                    (1 + 0.002 * (double)((rank + i) % 5)))};
}

/* All ranks in one communicator: compute, idle, then a collective of 100 us, six times a step. */
static inline struct rank_summary *test_ranks(const struct test_cluster *t)
{
    struct rank_summary *all = ARENA_ARRAY(&arena, struct rank_summary, t->ranks);
    double *at = ARENA_ARRAY(&arena, double, t->ranks);
    size_t calls = TEST_STEPS * TEST_CALLS;

    for (size_t r = 0; r < t->ranks; r++) {
        struct rank_summary *s = &all[r];
        *s = (struct rank_summary){.rank = (int64_t)r,
                                   .world = -1,
                                   .device = 0,
                                   .has_host = true,
                                   .is_told_steps = true,
                                   .name = S("rank"),
                                   .n_steps = TEST_STEPS,
                                   .n_groups = 1,
                                   .n_calls = calls};
        s->steps = ARENA_ARRAY(&arena, struct summary_step, TEST_STEPS);
        s->groups = ARENA_ARRAY(&arena, struct summary_group, 1);
        s->groups[0].id = S("0");
        s->calls = ARENA_ARRAY(&arena, struct summary_call, calls);
        test_families(t, r, s);
    }
    for (size_t i = 0; i < calls; i++) {
        size_t step = i / TEST_CALLS, k = i % TEST_CALLS;
        double last = 0;
        for (size_t r = 0; r < t->ranks; r++) {
            struct summary_call *c = &all[r].calls[i];
            double compute = 900e3 * (t->slow != NULL ? t->slow(r) : 1);
            c->storage = k == 0 && step > 0 && t->storage != NULL ? t->storage(r, step - 1) : 0;
            c->idle = c->storage + (k == 2 && t->idle != NULL ? t->idle(r, step) : 0) + 1000;
            c->compute = (nanos)compute;
            c->stretch = c->compute + c->idle;
            c->after = i > 0 ? (uint32_t)i - 1 : SUMMARY_NO_CALL;
            c->kind = COLLECTIVE_ALL_REDUCE;
            c->from = c->to = -1;
            c->bytes = 1 << 20;
            c->step = (int32_t)step;
            struct summary_step *s = &all[r].steps[step];
            if (k == 0) {
                s->number = (int64_t)step + 5;
                s->begin = test_local(t, r, at[r]);
            }
            c->begin = test_local(t, r, at[r] + (double)c->stretch);
            last = at[r] + (double)c->stretch > last ? at[r] + (double)c->stretch : last;
            s->compute += c->compute;
            s->idle += c->idle;
            s->storage += c->storage;
        }
        for (size_t r = 0; r < t->ranks; r++) {
            at[r] = last + 100e3;
            all[r].calls[i].end = test_local(t, r, at[r]);
            all[r].steps[step].end = all[r].calls[i].end;
        }
    }
    return all;
}

#endif
