/*
 * Which captures are ranks of one job.
 */
#include "analysis/ranks/rank_jobs.h"

#include <stdlib.h>

#include "analysis/tables/collectives.h"

enum { LEAST_COLLECTIVES = 3 }; /* fewer in common may be chance */

/* What is compared of one capture. */
struct traits {
    const struct capture *cap;
    int64_t rank; /* UNKNOWN: it only got a free number */
    int64_t world;
    struct str file; /* the first one */
    uint64_t collectives;
    size_t n_collectives;
};

struct meeting {
    nanos begin;
    enum collective_kind kind;
};

ORDER_BY(met_first, struct meeting, ORDER(x->begin, y->begin) ?: ORDER(x->kind, y->kind));

/* Kinds of collectives, in order of time. */
static void take_collectives(struct traits *t)
{
    const struct slices *s = &t->cap->slices;
    VEC_OF(struct meeting) all = {0};

    for (size_t i = 0; i < s->n; i++)
        if (s->kind[i] == SLICE_COMM) {
            struct str name = capture_text(t->cap, s->name[i]);
            vec_push(&all, ((struct meeting){s->begin[i], collective_kind_of(name)}));
        }
    if (all.n > 0)
        qsort(all.at, all.n, sizeof(*all.at), met_first);
    for (size_t i = 0; i < all.n; i++)
        t->collectives = hash_mix(t->collectives, (uint64_t)all.at[i].kind + 1);
    t->n_collectives = all.n;
    vec_free(&all);
}

/* PyTorch counts the groups of every job from 0 on. */
static bool is_counter(struct str id)
{
    enum { DIGITS_MOST = 6 };

    return id.n <= DIGITS_MOST && str_digits(id) == id.n;
}

static bool shares_group(const struct capture *a, const struct capture *b)
{
    for (size_t i = 0; i < a->comm_groups.n; i++)
        for (size_t k = 0; k < b->comm_groups.n; k++) {
            const struct comm_group *x = &a->comm_groups.at[i], *y = &b->comm_groups.at[k];
            struct str own = capture_text(a, x->id);
            if (!is_counter(own) && str_equal(own, capture_text(b, y->id)) &&
                str_equal(capture_text(a, x->ranks), capture_text(b, y->ranks)))
                return true;
        }
    return false;
}

static bool is_device_of_same_file(const struct traits *a, const struct traits *b)
{
    return a->file.n > 0 && str_equal(a->file, b->file) &&
           a->cap->facts.device != b->cap->facts.device;
}

static bool traits_contradict(const struct traits *a, const struct traits *b)
{
    const struct facts *x = &a->cap->facts, *y = &b->cap->facts;
    bool has_worlds = a->world > 0 && b->world > 0;

    return (a->rank != UNKNOWN && a->rank == b->rank) || (has_worlds && a->world != b->world) ||
           (has_worlds && (a->rank >= a->world || b->rank >= b->world)) ||
           (x->vendor != VENDOR_UNKNOWN && y->vendor != VENDOR_UNKNOWN && x->vendor != y->vendor);
}

static bool is_one_job(const struct traits *a, const struct traits *b)
{
    if (is_device_of_same_file(a, b))
        return true;
    if (traits_contradict(a, b))
        return false;
    return (a->rank != UNKNOWN && b->rank != UNKNOWN) || shares_group(a->cap, b->cap) ||
           (a->n_collectives >= LEAST_COLLECTIVES && a->n_collectives == b->n_collectives &&
            a->collectives == b->collectives);
}

/* Whether a capture belongs to a job: to one of its ranks, and it contradicts none. */
static bool jobs_joins(const struct traits *t, const uint32_t *of, size_t own, uint32_t job)
{
    bool is_related = false;

    for (size_t i = 0; i < own; i++) {
        if (of[i] != job)
            continue;
        if (!is_device_of_same_file(&t[i], &t[own]) && traits_contradict(&t[i], &t[own]))
            return false;
        is_related = is_related || is_one_job(&t[i], &t[own]);
    }
    return is_related;
}

struct rank_jobs rank_jobs_find(struct arena *arena, const struct capture *const *caps, size_t n)
{
    struct traits *t = ARENA_ARRAY(arena, struct traits, n);
    uint32_t *of = ARENA_ARRAY(arena, uint32_t, n);
    struct rank_jobs out = {.of = of};

    for (size_t i = 0; i < n; i++) {
        const struct facts *f = &caps[i]->facts;
        t[i] = (struct traits){
            .cap = caps[i], .rank = f->is_rank_free ? UNKNOWN : f->rank, .world = f->world_size};
        if (caps[i]->sources.n > 0)
            t[i].file = str_of(caps[i]->sources.at[0].path);
        take_collectives(&t[i]);
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t job = 0;
        while (job < out.n && !jobs_joins(t, of, i, job))
            job++;
        of[i] = job;
        out.n = job == out.n ? out.n + 1 : out.n;
    }
    return out;
}

struct str rank_jobs_path(struct arena *arena, const struct capture *cap)
{
    struct str common = cap->sources.n > 0 ? str_of(cap->sources.at[0].path) : str_of(cap->name);
    size_t n = common.n;

    for (size_t i = 1; i < cap->sources.n; i++) {
        struct str path = str_of(cap->sources.at[i].path);
        size_t k = 0;
        while (k < n && k < path.n && path.at[k] == common.at[k])
            k++;
        n = k;
    }
    while (cap->sources.n > 1 && n > 1 && common.at[n - 1] != '/')
        n--;
    return arena_str(arena, str_part(common, 0, n));
}
