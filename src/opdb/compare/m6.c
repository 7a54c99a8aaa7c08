/*
 * M1 to M6: how much of a prediction rests on measurements, and how close it comes.
 */
#include "opdb/compare/m6.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text/num.h"
#include "base/text/text.h"
#include "capture/classify.h"
#include "opdb/compare/compare_literal.h"

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
    return num_ratio((double)good, (double)n);
}

static struct str m6_group_of(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(fused); i++)
        if (str_contains_nocase(name, fused[i].part))
            return fused[i].group;
    return compare_trace_operator(name);
}

static bool is_hit(const struct predicted_event *e)
{
    static const struct str hits[] = {S_INIT("MEASURED"), S_INIT("INTERPOLATED"),
                                      S_INIT("EXTRAPOLATED")};

    return str_is_one_of(e->args[TRACE_SOURCE], hits, ARRAY_LEN(hits));
}

/* The k-th event of the process that is named after the roofline is the k-th invocation of the
 * other. */
static double analytic_share(const struct predicted *p)
{
    double hits = 0, all = 0;
    int analytic = -1;

    for (size_t i = 0; i < p->processes.n && analytic < 0; i++)
        if ((int)i != p->named && (str_contains_nocase(p->processes.at[i].name, S("analytic")) ||
                                   str_contains_nocase(p->processes.at[i].name, S("roofline"))))
            analytic = (int)i;
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

/* m1 is the share of calls with a hit; m2 to m4 are shares of distinct things: operators, those
 * that take time, and those with their shapes. The length of the name in the key keeps name and
 * shapes apart. */
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
        if ((p->named >= 0 && e->process != (uint32_t)p->named) || e->name.n == 0)
            continue;
        bool hit = is_hit(e), is_free = str_equal_nocase(e->args[TRACE_ZERO_COST], S("true"));
        m.invocations++;
        m.hits += hit;
        tally_put(&operators, m6_group_of(e->name), hit);
        if (!is_free) {
            struct str key = literal_shapes(&scratch, e->args[TRACE_SHAPES]);
            tally_put(&costly, m6_group_of(e->name), hit);
            tally_put(
                &shapes,
                arena_format(&scratch, "%zu:%.*s%.*s", e->name.n, STR_ARGS(e->name), STR_ARGS(key)),
                hit);
        }
        arena_rewind(&scratch, mark);
    }
    arena_free(&scratch);
    m.m1 = num_ratio((double)m.hits, (double)m.invocations);
    m.m2 = tally_share(&operators);
    m.m3 = tally_share(&costly);
    m.m4 = tally_share(&shapes);
    m.m5 = analytic_share(p);
    return m;
}

struct str *m6_sources(struct arena *arena, struct str list, size_t *n)
{
    struct str *words;
    size_t found = compare_trace_kernels(arena, list, &words);

    *n = 0;
    if (found > 0)
        qsort(words, found, sizeof(*words), str_order);
    for (size_t i = 0; i < found; i++)
        if (*n == 0 || !str_equal(words[*n - 1], words[i]))
            words[(*n)++] = words[i];
    return words;
}

static void m6_add_row(struct m6 *m, struct measured_row row, enum m6_times times,
                       struct twins *twins)
{
    double start, us;

    if (!measured_time(row.start, &start) || !measured_time(row.duration, &us)) {
        m->skipped++;
        return;
    }
    bool is_collective = classify_is_collective(row.type);
    if (times == M6_COMPAT || is_collective) /* of a collective the contract has it so */
        us = (start + us) - start;
    if (measured_is_helper(row.type))
        m->helper_us += us;
    else if (is_collective)
        m->hcom_us += twins_put(twins, start, row.type, S(""), us);
    else
        m->compute_us += us;
}

struct m6 m6_compute(const struct predicted *p, const struct measured *m, const struct str *sources,
                     size_t n_sources, enum m6_times times)
{
    struct m6 result = {.trace = p->path,
                        .measured = m->table.path,
                        .sources = sources,
                        .n_sources = n_sources,
                        .metrics = metrics_compute(p)};
    struct twins twins;

    twins_init(&twins);
    for (size_t i = 0; i < p->events.n; i++) {
        const struct predicted_event *e = &p->events.at[i];
        if (e->dur > 0 && e->args[TRACE_KERNEL_TYPE].n > 0 &&
            str_is_one_of(e->args[TRACE_SOURCE], result.sources, result.n_sources))
            result.hit_us += e->dur;
    }
    for (size_t i = 0; i < m->table.n_rows; i++) {
        struct measured_row row = measured_row(m, i);
        if (row.type.n > 0)
            m6_add_row(&result, row, times, &twins);
    }
    twins_free(&twins);
    result.total_us = result.compute_us + result.hcom_us;
    result.ratio = result.total_us != 0 ? result.hit_us / result.total_us : 0;
    return result;
}

static const struct field file_fields[] = {
    FIELD(struct m6, ratio, "m6_ratio", .form = FORM_POINT),
    FIELD(struct m6, hit_us, "empirical_hit_us", .form = FORM_POINT, .decimals = 2),
    FIELD(struct m6, total_us, "real_per_fwd_us", .form = FORM_POINT, .decimals = 2),
    FIELD(struct m6, compute_us, "selected_fwd_compute_us", .form = FORM_POINT, .decimals = 2),
    FIELD(struct m6, hcom_us, "selected_fwd_hcom_us", .form = FORM_POINT, .decimals = 2),
    FIELD(struct m6, trace, "tc_trace"),
    FIELD(struct m6, measured, "prof_trace"),
    FIELD_VALUES(struct m6, sources, n_sources, "source_filter"),
};
static const struct record file_record = RECORD(struct m6, file_fields);

bool m6_write_json(const struct m6 *m, struct sink sink)
{
    struct json_writer j;

    json_write_init(&j, sink, JSON_INDENTED);
    j.has_open_end = true;
    record_json(&j, &file_record, m, NULL);
    return json_write_finish(&j);
}

static const struct field metrics_fields[] = {
    FIELD(struct metrics, invocations, "invocations"),
    FIELD(struct metrics, hits, "hits"),
    FIELD(struct metrics, m1, "m1", .form = FORM_POINT),
    FIELD(struct metrics, m2, "m2", .form = FORM_POINT),
    FIELD(struct metrics, m3, "m3", .form = FORM_POINT),
    FIELD(struct metrics, m4, "m4", .form = FORM_POINT),
    FIELD(struct metrics, m5, "m5", .form = FORM_POINT),
};
static const struct record metrics_record = RECORD(struct metrics, metrics_fields);

static const struct field m6_fields[] = {
    FIELD(struct m6, trace, "tc_trace"),
    FIELD(struct m6, measured, "prof_trace"),
    FIELD(struct m6, ratio, "m6", .form = FORM_POINT),
    FIELD_SPLICE(struct m6, metrics, &metrics_record),
    FIELD(struct m6, hit_us, "predicted_us", .form = FORM_POINT),
    FIELD(struct m6, total_us, "measured_us", .form = FORM_POINT),
    FIELD(struct m6, compute_us, "compute_us", .form = FORM_POINT),
    FIELD(struct m6, hcom_us, "hcom_us", .form = FORM_POINT),
    FIELD(struct m6, helper_us, "aicpu_us", .form = FORM_POINT),
    FIELD(struct m6, skipped, "skipped_rows"),
    FIELD_VALUES(struct m6, sources, n_sources, "source_filter"),
    FIELD_SPLICE(struct m6, plot, &plot_record),
};
static const struct record m6_record = RECORD(struct m6, m6_fields);

const struct schema m6_schema = {
    .name = "strata.db-m6/1",
    .title = "a prediction compared with one measured forward pass",
    .record = &m6_record,
};

struct str m6_grouped(char *buf, double value)
{
    char plain[M6_TEXT];
    size_t n = (size_t)snprintf(plain, sizeof(plain), "%.1f", value);
    size_t point = isfinite(value) ? n - 2 : 0, first = plain[0] == '-', to = 0;

    for (size_t i = 0; i < n; i++) {
        if (i > first && i < point && (point - i) % 3 == 0)
            buf[to++] = ',';
        buf[to++] = plain[i];
    }
    buf[to] = '\0';
    return (struct str){buf, to};
}

/* A label and a number that ends in column 33. */
static void put_time(struct text *out, const char *label, double us)
{
    char number[M6_TEXT];

    m6_grouped(number, us);
    text_format(out, "%-20s %12s us", label, number);
}

static void put_total(struct text *out, const char *label, double us)
{
    char number[M6_TEXT];

    put_time(out, label, us);
    m6_grouped(number, us / 1000);
    text_format(out, " (%s ms)\n", number);
}

bool m6_print(const struct m6 *m, struct sink sink)
{
    static const char frame[] = "============================================================\n";
    struct text out = {0};

    text_format(&out,
                "%sM6: Empirical E2E Prediction Ratio\n%s\nTC trace:        %s\n"
                "Prof trace:      %s\nSource filter:   [",
                frame, frame, m->trace, m->measured);
    for (size_t i = 0; i < m->n_sources; i++)
        text_format(&out, "%s'%.*s'", i > 0 ? ", " : "", STR_ARGS(m->sources[i]));
    text_format(&out, "]\n\n");
    put_total(&out, "Empirical HIT total:", m->hit_us);
    put_total(&out, "Real per-fwd:", m->total_us);
    put_time(&out, "  Compute:", m->compute_us);
    text_char(&out, '\n');
    put_time(&out, "  hcom:", m->hcom_us);
    text_format(&out, "\n\nM6 = %.3f  (Empirical / Real)\n", m->ratio);
    if (m->written != NULL)
        text_format(&out, "\nJSON output written to: %s\n", m->written);
    bool is_good = sink.write(sink.ctx, text_view(&out));
    text_free(&out);
    return is_good;
}
