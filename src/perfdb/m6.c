#include "perfdb/m6.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text_out.h"
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
    return n > 0 ? (double)good / (double)n : NAN;
}

static struct str group_of(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(fused); i++)
        if (str_contains_nocase(name, fused[i].part))
            return fused[i].group;
    return trace_operator(name);
}

static bool is_hit(const struct trace_event *e)
{
    static const struct str hits[] = {S_INIT("MEASURED"), S_INIT("INTERPOLATED"),
                                      S_INIT("EXTRAPOLATED")};

    for (size_t i = 0; i < ARRAY_LEN(hits); i++)
        if (str_equal(e->args[TRACE_SOURCE], hits[i]))
            return true;
    return false;
}

static bool is_counted(const struct predicted *p, const struct trace_event *e)
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
        const struct trace_event *e = &p->events.at[i];
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
    m.m1 = m.invocations > 0 ? (double)m.hits / (double)m.invocations : NAN;
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

struct str *m6_sources(struct arena *arena, struct str list, size_t *n)
{
    struct str *words;
    size_t found = trace_kernels(arena, list, &words);

    *n = 0;
    if (found > 0)
        qsort(words, found, sizeof(*words), str_order);
    for (size_t i = 0; i < found; i++)
        if (*n == 0 || !str_equal(words[*n - 1], words[i]))
            words[(*n)++] = words[i];
    return words;
}

static bool has_source(const struct m6 *m, struct str source)
{
    for (size_t i = 0; i < m->n_sources; i++)
        if (str_equal(m->sources[i], source))
            return true;
    return false;
}

static void add_predicted(struct m6 *m, const struct predicted *p)
{
    for (size_t i = 0; i < p->events.n; i++) {
        const struct trace_event *e = &p->events.at[i];
        if (e->dur > 0 && e->args[TRACE_KERNEL_TYPE].n > 0 && has_source(m, e->args[TRACE_SOURCE]))
            m->hit_us += e->dur;
    }
}

static void add_row(struct m6 *m, struct measured_row row, struct twins *twins)
{
    double start, us;

    if (!measured_time(row.start, &start) || !measured_time(row.duration, &us)) {
        m->skipped++;
        return;
    }
    if (measured_is_helper(row.type))
        m->helper_us += us;
    else if (measured_is_collective(row.type))
        /* A collective lasts from its start to its end, both as doubles: the last digit of that
         * difference decides some roundings of the total. */
        twins_put(twins, start, row.type, S(""), (start + us) - start);
    else
        m->compute_us += us;
}

struct m6 m6_compute(const struct predicted *p, const struct measured *m, const struct str *sources,
                     size_t n_sources)
{
    struct m6 result = {
        .trace = p->path, .measured = m->table.path, .sources = sources, .n_sources = n_sources};
    struct twins twins;

    twins_init(&twins);
    add_predicted(&result, p);
    for (size_t i = 0; i < m->table.n_rows; i++) {
        struct measured_row row = measured_row(m, i);
        if (row.type.n > 0)
            add_row(&result, row, &twins);
    }
    for (size_t i = 0; i < twins.at.n; i++)
        result.hcom_us += twins.at.at[i].us;
    twins_free(&twins);
    result.total_us = result.compute_us + result.hcom_us;
    result.ratio = result.total_us != 0 ? result.hit_us / result.total_us : 0;
    return result;
}

bool m6_write_json(const struct m6 *m, struct sink sink)
{
    struct text buffer = {0};
    struct json_writer j;

    json_write_init(&j, text_sink(&buffer), JSON_INDENTED);
    json_write_object(&j);
    decimal_json(&j, S("m6_ratio"), m->ratio, DECIMALS_ALL);
    decimal_json(&j, S("empirical_hit_us"), m->hit_us, 2);
    decimal_json(&j, S("real_per_fwd_us"), m->total_us, 2);
    decimal_json(&j, S("selected_fwd_compute_us"), m->compute_us, 2);
    decimal_json(&j, S("selected_fwd_hcom_us"), m->hcom_us, 2);
    json_put_text(&j, "tc_trace", m->trace);
    json_put_text(&j, "prof_trace", m->measured);
    json_put_array(&j, "source_filter");
    for (size_t i = 0; i < m->n_sources; i++)
        json_write_string(&j, m->sources[i]);
    json_write_end(&j);
    json_write_end(&j);
    return json_finish_bare(&j, &buffer, sink);
}

/* A label and a number that ends in column 33. */
static void put_time(struct text_out *out, const char *label, double us)
{
    char line[DECIMAL_TEXT + 64], number[DECIMAL_TEXT];

    decimal_grouped(number, us);
    int n = snprintf(line, sizeof(line), "%-20s %12s us", label, number);
    text_out_put(out, (struct str){line, (size_t)n});
}

static void put_total(struct text_out *out, const char *label, double us)
{
    char number[DECIMAL_TEXT];

    put_time(out, label, us);
    text_out_put(out, S(" ("));
    text_out_put(out, decimal_grouped(number, us / 1000));
    text_out_put(out, S(" ms)\n"));
}

bool m6_print(const struct m6 *m, struct sink sink)
{
    static const struct str frame =
        S_INIT("============================================================\n");
    struct text_out out;
    char ratio[DECIMAL_TEXT + 32];

    text_out_open(&out, sink);
    text_out_put(&out, frame);
    text_out_put(&out, S("M6: Empirical E2E Prediction Ratio\n"));
    text_out_put(&out, frame);
    text_out_put(&out, S("\nTC trace:        "));
    text_out_put(&out, str_of(m->trace));
    text_out_put(&out, S("\nProf trace:      "));
    text_out_put(&out, str_of(m->measured));
    text_out_put(&out, S("\nSource filter:   ["));
    for (size_t i = 0; i < m->n_sources; i++) {
        text_out_put(&out, i > 0 ? S(", '") : S("'"));
        text_out_put(&out, m->sources[i]);
        text_out_put(&out, S("'"));
    }
    text_out_put(&out, S("]\n\n"));
    put_total(&out, "Empirical HIT total:", m->hit_us);
    put_total(&out, "Real per-fwd:", m->total_us);
    put_time(&out, "  Compute:", m->compute_us);
    text_out_put(&out, S("\n"));
    put_time(&out, "  hcom:", m->hcom_us);
    int n = snprintf(ratio, sizeof(ratio), "\n\nM6 = %.3f  (Empirical / Real)\n", m->ratio);
    text_out_put(&out, (struct str){ratio, (size_t)n});
    return text_out_close(&out);
}
