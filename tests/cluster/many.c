/*
 * many DIR RANKS: writes summaries of an invented job of many ranks, one a file, for the cost of
 * putting them together. Rank 1234 of the job, or the last one, computes 1.2 times as long.
 */
#include <stdio.h>
#include <stdlib.h>

#include "analysis/ranks/cluster_part.h"
#include "base/files/fs.h"
#include "base/tables/hash.h"

enum { STEPS = 10, TP = 8, STAGES = 8, CALLS = 28 /* of a step */, FAMILIES = 24 };

struct job {
    struct arena arena;
    size_t n, slow;
    double *at;
    struct rank_summary *ranks;
};

static nanos local(size_t rank, double t)
{
    double drift = rank == 0 ? 0 : ((double)(rank % 41) - 20) * 1e-6;

    return (nanos)(t * (1 + drift)) + (nanos)(rank * 7919 % 100000) * 500;
}

/* The communicator of a rank for the k-th call of a step: 0 the tensor, 1 the data, 2 all. */
static int role_of(size_t k)
{
    return k + 1 == CALLS ? 2 : k + 3 >= CALLS ? 1 : 0;
}

static size_t first_of(const struct job *j, size_t rank, int role)
{
    size_t stage = j->n / STAGES;

    return role == 0 ? rank / TP * TP : role == 1 ? rank / stage * stage + rank % TP : 0;
}

static void add_groups(struct job *j, size_t rank)
{
    struct rank_summary *s = &j->ranks[rank];
    size_t stage = j->n / STAGES;

    s->n_groups = 3;
    s->groups = ARENA_ARRAY(&j->arena, struct summary_group, 3);
    for (int role = 0; role < 3; role++) {
        struct summary_group *g = &s->groups[role];
        size_t first = first_of(j, rank, role), stride = role == 1 ? TP : 1;
        g->n = role == 0 ? TP : role == 1 ? stage / TP : j->n;
        g->id = arena_format(&j->arena, "%d.%zu", role, first);
        g->first = (int64_t)first;
        g->stride = (int64_t)stride;
    }
}

static void begin_rank(struct job *j, size_t rank)
{
    struct rank_summary *s = &j->ranks[rank];
    double slow = rank == j->slow ? 1.2 : 1;

    *s = (struct rank_summary){.rank = (int64_t)rank,
                               .world = (int64_t)j->n,
                               .has_host = true,
                               .is_told_steps = true,
                               .n_steps = STEPS,
                               .files = 1,
                               .n_calls = STEPS * CALLS,
                               .n_families = FAMILIES,
                               .name = arena_format(&j->arena, "rank%zu", rank)};
    s->steps = ARENA_ARRAY(&j->arena, struct summary_step, STEPS);
    s->calls = ARENA_ARRAY(&j->arena, struct summary_call, STEPS * CALLS);
    s->families = ARENA_ARRAY(&j->arena, struct summary_family, FAMILIES);
    for (size_t i = 0; i < FAMILIES; i++)
        s->families[i] = (struct summary_family){
            hash_stable_mix(i + 1, 3), arena_format(&j->arena, "kernel_%zu", i), 400,
            (nanos)(slow * 1e7 * (double)(FAMILIES - i) * (1 + 0.001 * (double)((rank + i) % 7)))};
    add_groups(j, rank);
}

/* All ranks come to the call; those of a communicator leave together. */
static void run_call(struct job *j, size_t i, double *last)
{
    size_t step = i / CALLS, k = i % CALLS;
    int role = role_of(k);

    for (size_t r = 0; r < j->n; r++)
        last[first_of(j, r, role)] = 0;
    for (size_t r = 0; r < j->n; r++) {
        struct summary_call *c = &j->ranks[r].calls[i];
        double compute = 700e3 * (r == j->slow ? 1.2 : 1) + (double)((r * 31 + i) % 97) * 20;
        *c = (struct summary_call){.group = (uint32_t)role,
                                   .after = i > 0 ? (uint32_t)i - 1 : SUMMARY_NO_CALL,
                                   .step = (int32_t)step,
                                   .from = -1,
                                   .to = -1,
                                   .bytes = 1 << 20,
                                   .compute = (nanos)compute,
                                   .stretch = (nanos)compute};
        if (k == 0)
            j->ranks[r].steps[step] =
                (struct summary_step){.number = (int64_t)step, .begin = local(r, j->at[r])};
        double begin = j->at[r] + compute;
        c->begin = local(r, begin);
        j->ranks[r].steps[step].compute += c->compute;
        size_t first = first_of(j, r, role);
        last[first] = begin > last[first] ? begin : last[first];
    }
    for (size_t r = 0; r < j->n; r++) {
        j->at[r] = last[first_of(j, r, role)] + 90e3;
        j->ranks[r].calls[i].end = local(r, j->at[r]);
        j->ranks[r].steps[step].end = j->ranks[r].calls[i].end;
    }
}

static bool write_rank(struct job *j, const char *dir, size_t rank)
{
    struct cluster_part part = {.ranks = &j->ranks[rank], .n = 1};
    struct arena arena;

    arena_init(&arena);
    diag_init(&part.diag);
    struct str bytes = cluster_part_encode(&part, &arena);
    const char *path = arena_printf(&arena, "%s/%06zu.summary", dir, rank);
    bool is_done = outfile_save(path, bytes, NULL) == ST_OK;
    diag_fini(&part.diag);
    arena_free(&arena);
    return is_done;
}

int main(int argc, char **argv)
{
    struct job j = {.n = argc == 3 ? (size_t)strtoul(argv[2], NULL, 10) : 0};
    bool is_good = true;

    if (j.n == 0 || j.n % (TP * STAGES) != 0) {
        fprintf(stderr, "usage: many DIR RANKS (a multiple of %d)\n", TP * STAGES);
        return 2;
    }
    arena_init(&j.arena);
    j.slow = j.n > 1234 ? 1234 : j.n - 1;
    j.at = ARENA_ARRAY(&j.arena, double, j.n);
    j.ranks = ARENA_ARRAY(&j.arena, struct rank_summary, j.n);
    for (size_t r = 0; r < j.n; r++)
        begin_rank(&j, r);
    double *last = ARENA_ARRAY(&j.arena, double, j.n);
    for (size_t i = 0; i < STEPS * CALLS; i++)
        run_call(&j, i, last);
    for (size_t r = 0; r < j.n; r++)
        is_good = is_good && write_rank(&j, argv[1], r);
    arena_free(&j.arena);
    return is_good ? 0 : 1;
}
