#include "perfdb/m6.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/text_out.h"
#include "perfdb/compare_text.h"

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
        const struct predicted_event *e = &p->events.at[i];
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
