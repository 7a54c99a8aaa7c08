#include "perfdb/compare_metrics.h"

#include <math.h>

#include "perfdb/compare_literal.h"
#include "perfdb/compare_text.h"

/* Operators that one fused kernel replaces, by a part of their name; the first match counts. */
static const struct fused {
    struct str part, group;
} fused[] = {
    {S_INIT("init_routing_v2"), S_INIT("DispatchFFNCombine")},
    {S_INIT("grouped_matmul"), S_INIT("DispatchFFNCombine")},
    {S_INIT("unpermute_tokens"), S_INIT("DispatchFFNCombine")},
    {S_INIT("all_to_all"), S_INIT("DispatchFFNCombine")},
    {S_INIT("mlapo"), S_INIT("MLAPO")},
    {S_INIT("multihead_latent_attention"), S_INIT("MLA")},
    {S_INIT("matmul_all_reduce"), S_INIT("MC2")},
    {S_INIT("linear_all_reduce"), S_INIT("MC2")},
};

/* Distinct things and whether each of them ever missed. */
struct tally {
    struct intern names;
    VEC_OF(bool) has_missed;
};

static void tally_put(struct tally *t, struct str name, bool is_hit)
{
    if (name.n == 0)
        return;
    size_t i = intern_put(&t->names, name) - 1;
    if (i == t->has_missed.n)
        vec_push(&t->has_missed, false);
    if (!is_hit)
        t->has_missed.at[i] = true;
}

static double tally_share(struct tally *t)
{
    size_t good = 0, n = t->has_missed.n;

    for (size_t i = 0; i < n; i++)
        good += !t->has_missed.at[i];
    vec_free(&t->has_missed);
    intern_fini(&t->names);
    return num_ratio(good, n);
}

static struct str group_of(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(fused); i++)
        if (str_contains_nocase(name, fused[i].part))
            return fused[i].group;
    return trace_operator(name);
}

static bool is_hit(const struct predicted_event *e)
{
    static const struct str hits[] = {S_INIT("MEASURED"), S_INIT("INTERPOLATED"),
                                      S_INIT("EXTRAPOLATED")};

    for (size_t i = 0; i < ARRAY_LEN(hits); i++)
        if (str_equal(e->args[TRACE_SOURCE], hits[i]))
            return true;
    return false;
}

static bool is_counted(const struct predicted *p, const struct predicted_event *e)
{
    return p->named < 0 || e->process == (uint32_t)p->named;
}

/* The first process that is named after the roofline; -1: none. */
static int analytic_process(const struct predicted *p)
{
    for (size_t i = 0; i < p->processes.n; i++)
        if ((int)i != p->named && (str_contains_nocase(p->processes.at[i].name, S("analytic")) ||
                                   str_contains_nocase(p->processes.at[i].name, S("roofline"))))
            return (int)i;
    return -1;
}

/* The k-th event of one process is the k-th invocation of the other. */
static double analytic_share(const struct predicted *p)
{
    int analytic = analytic_process(p);
    double hits = 0, all = 0;

    if (analytic < 0 || p->named < 0 ||
        p->processes.at[analytic].events != p->processes.at[p->named].events)
        return NAN;
    for (size_t a = 0, b = 0; a < p->events.n; a++) {
        if (p->events.at[a].process != (uint32_t)analytic)
            continue;
        while (p->events.at[b].process != (uint32_t)p->named)
            b++;
        all += p->events.at[a].dur;
        hits += is_hit(&p->events.at[b++]) ? p->events.at[a].dur : 0;
    }
    return all > 0 ? hits / all : NAN;
}

struct metrics metrics_compute(const struct predicted *p)
{
    struct tally operators = {0}, costly = {0}, shapes = {0};
    struct metrics m = {0};
    struct arena scratch;

    arena_init(&scratch);
    intern_init(&operators.names);
    intern_init(&costly.names);
    intern_init(&shapes.names);
    for (size_t i = 0; i < p->events.n; i++) {
        const struct predicted_event *e = &p->events.at[i];
        struct arena_mark mark = arena_mark(&scratch);
        if (!is_counted(p, e) || e->name.n == 0)
            continue;
        bool hit = is_hit(e), is_free = str_equal_nocase(e->args[TRACE_ZERO_COST], S("true"));
        m.invocations++;
        m.hits += hit;
        tally_put(&operators, group_of(e->name), hit);
        if (!is_free) {
            struct str key = shape_key(&scratch, e->args[TRACE_SHAPES]);
            tally_put(&costly, group_of(e->name), hit);
            tally_put(
                &shapes,
                arena_format(&scratch, "%zu:%.*s%.*s", e->name.n, STR_ARGS(e->name), STR_ARGS(key)),
                hit);
        }
        arena_rewind(&scratch, mark);
    }
    arena_free(&scratch);
    m.m1 = num_ratio(m.hits, m.invocations);
    m.m2 = tally_share(&operators);
    m.m3 = tally_share(&costly);
    m.m4 = tally_share(&shapes);
    m.m5 = analytic_share(p);
    return m;
}

void metrics_json(struct json_writer *j, const struct metrics *m)
{
    json_put_u64(j, "invocations", m->invocations);
    json_put_u64(j, "hits", m->hits);
    decimal_json(j, S("m1"), m->m1, DECIMALS_ALL);
    decimal_json(j, S("m2"), m->m2, DECIMALS_ALL);
    decimal_json(j, S("m3"), m->m3, DECIMALS_ALL);
    decimal_json(j, S("m4"), m->m4, DECIMALS_ALL);
    decimal_json(j, S("m5"), m->m5, DECIMALS_ALL);
}
