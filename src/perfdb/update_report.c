#include "perfdb/update_report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/json_write.h"
#include "base/num.h"
#include "perfdb/cell.h"

enum { GAPS_SHOWN = 20, COLUMNS_MAX = 6 };

static double severity(const struct update_gap *g)
{
    return fmax(g->ratio, 1 / g->ratio);
}

/* Gaps by severity, difference and operator, all descending; equal ones keep their order. */
struct ranked {
    struct update_gap gap;
    size_t index;
};

static int by_severity(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    double sx = severity(&x->gap), sy = severity(&y->gap);

    if (sx != sy)
        return sx > sy ? -1 : 1;
    if (x->gap.difference_us != y->gap.difference_us)
        return x->gap.difference_us > y->gap.difference_us ? -1 : 1;
    int order = str_compare(y->gap.op, x->gap.op);
    if (order != 0)
        return order;
    return x->index < y->index ? -1 : 1;
}

struct update_gaps update_hotspots(struct arena *arena, const struct update *updates, size_t n)
{
    VEC_OF(struct ranked) found = {0};

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < updates[i].gaps.n; k++) {
            const struct update_gap *g = &updates[i].gaps.at[k];
            struct ranked r = {*g, found.n};
            if (g->ratio < 0.8 || g->ratio > 1.2)
                vec_push(&found, r);
        }
    if (found.n > 0)
        qsort(found.at, found.n, sizeof(*found.at), by_severity);
    struct update_gaps out = {ARENA_ARRAY(arena, struct update_gap, found.n), found.n};
    for (size_t i = 0; i < found.n; i++)
        out.at[i] = found.at[i].gap;
    vec_free(&found);
    return out;
}

/* A Markdown table being gathered. */
struct grid {
    struct arena *arena;
    size_t columns;
    VEC_OF(struct str) cells; /* the heads first */
};

static void put(struct text *out, struct str text)
{
    struct sink sink = text_sink(out);

    sink.write(sink.ctx, text);
}

static void put_padded(struct text *out, struct str text, size_t width, char fill)
{
    put(out, text);
    for (size_t i = str_width(text); i < width; i++)
        put(out, (struct str){&fill, 1});
}

static void put_line(struct text *out, const struct str *cells, size_t n,
                     const size_t *widths, char fill)
{
    for (size_t i = 0; i < n; i++) {
        put(out, i == 0 ? S("| ") : S(" | "));
        put_padded(out, cells[i], widths[i], fill);
    }
    put(out, S(" |\n"));
}

static void put_grid(struct text *out, struct grid *g)
{
    static const struct str none[COLUMNS_MAX] = {{"", 0}, {"", 0}, {"", 0},
                                                 {"", 0}, {"", 0}, {"", 0}};
    size_t widths[COLUMNS_MAX] = {0}, rows = g->cells.n / g->columns;

    for (size_t i = 0; i < g->cells.n; i++) {
        size_t width = str_width(g->cells.at[i]), *widest = &widths[i % g->columns];
        *widest = width > *widest ? width : *widest;
    }
    for (size_t r = 0; r < rows && rows > 1; r++) {
        put_line(out, &g->cells.at[r * g->columns], g->columns, widths, ' ');
        if (r == 0)
            put_line(out, none, g->columns, widths, '-');
    }
    if (rows <= 1)
        put(out, S("_None_\n"));
    vec_free(&g->cells);
}

static void add(struct grid *g, struct str text)
{
    vec_push(&g->cells, text);
}

static void add_number(struct grid *g, uint64_t n)
{
    add(g, arena_format(g->arena, "%llu", (unsigned long long)n));
}

static struct str examples(struct arena *arena, const struct update_list *list)
{
    size_t n = list->n < UPDATE_EXAMPLES ? (size_t)list->n : UPDATE_EXAMPLES;
    struct str text = n > 0 ? list->first[0] : S("-");

    for (size_t i = 1; i < n; i++)
        text = arena_format(arena, "%.*s; %.*s", STR_ARGS(text), STR_ARGS(list->first[i]));
    return text;
}

/* Updates in some order, without moving them. */
typedef int order_fn(const struct update *a, const struct update *b);

static int by_name(const struct update *a, const struct update *b)
{
    int order = str_compare(a->file, b->file);

    return order != 0 ? order : strcmp(a->path, b->path);
}

static int descending(uint64_t a, uint64_t b)
{
    return (a < b) - (a > b);
}

static int by_change(const struct update *a, const struct update *b)
{
    int order = descending(a->added, b->added);

    order = order != 0 ? order : descending(a->updated, b->updated);
    return order != 0 ? order : by_name(a, b);
}

static int by_missing(const struct update *a, const struct update *b)
{
    int order = descending(a->missing.n, b->missing.n);

    return order != 0 ? order : by_name(a, b);
}

static int by_deleted(const struct update *a, const struct update *b)
{
    int order = descending(a->deleted.n, b->deleted.n);

    return order != 0 ? order : by_name(a, b);
}

static int by_duplicates(const struct update *a, const struct update *b)
{
    int order = descending(a->duplicates.n, b->duplicates.n);

    return order != 0 ? order : by_name(a, b);
}

static int compare_pointers(const void *a, const void *b, void *order)
{
    order_fn *const *by = order;

    return (*by)(*(const struct update *const *)a, *(const struct update *const *)b);
}

static const struct update **sorted(struct arena *arena, const struct update *u, size_t n,
                                    order_fn *by)
{
    const struct update **at = ARENA_ARRAY(arena, const struct update *, n + 1);

    for (size_t i = 0; i < n; i++)
        at[i] = &u[i];
    qsort_r(at, n, sizeof(struct update *), compare_pointers, &by);
    return at;
}

static void put_overview(struct text *out, struct arena *arena, const struct update *u,
                         size_t n, size_t n_gaps)
{
    struct grid g = {.arena = arena, .columns = 2};
    uint64_t updated = 0, added = 0, deleted = 0, unchanged = 0, duplicates = 0, missing = 0;

    for (size_t i = 0; i < n; i++) {
        updated += u[i].updated;
        added += u[i].added;
        deleted += u[i].deleted.n;
        unchanged += u[i].unchanged;
        duplicates += u[i].duplicates.n;
        missing += u[i].missing.n;
    }
    const struct {
        struct str name;
        uint64_t value;
    } rows[] = {
        {S_INIT("CSV files touched"), n},      {S_INIT("Rows updated"), updated},
        {S_INIT("Rows added"), added},         {S_INIT("Rows deleted"), deleted},
        {S_INIT("Rows unchanged"), unchanged}, {S_INIT("Duplicate signatures"), duplicates},
        {S_INIT("Missing shapes"), missing},   {S_INIT("Hotspots"), n_gaps},
    };
    add(&g, S("Metric"));
    add(&g, S("Value"));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        add(&g, rows[i].name);
        add_number(&g, rows[i].value);
    }
    add(&g, S("Gap threshold"));
    add(&g, S("microbench/profiling not in [0.80x, 1.20x]"));
    put(out, S("\n## Overview\n"));
    put_grid(out, &g);
}

static void put_summary(struct text *out, struct arena *arena, const struct update *u,
                        size_t n)
{
    static const struct str heads[] = {S_INIT("Operator"),  S_INIT("Updated"),
                                       S_INIT("Added"),     S_INIT("Deleted"),
                                       S_INIT("Unchanged"), S_INIT("Missing Samples")};
    const struct update **by = sorted(arena, u, n, by_change);
    struct grid g = {.arena = arena, .columns = ARRAY_LEN(heads)};

    for (size_t i = 0; i < ARRAY_LEN(heads); i++)
        add(&g, heads[i]);
    for (size_t i = 0; i < n; i++) {
        add(&g, by[i]->op);
        add_number(&g, by[i]->updated);
        add_number(&g, by[i]->added);
        add_number(&g, by[i]->deleted.n);
        add_number(&g, by[i]->unchanged);
        add(&g, examples(arena, &by[i]->missing));
    }
    put(out, S("\n## Update Summary\n"));
    put_grid(out, &g);
}

static struct str duplicate_examples(struct arena *arena, const struct update *u)
{
    struct str text = S("");

    for (size_t i = 0; i < u->duplicates.n && i < UPDATE_EXAMPLES; i++)
        text = arena_format(arena, "%.*s%s%.*s (x%llu)", STR_ARGS(text), i > 0 ? "; " : "",
                            STR_ARGS(u->duplicates.at[i].shapes),
                            (unsigned long long)u->duplicates.at[i].count);
    return text;
}

enum list_kind { LIST_MISSING, LIST_DELETED, LIST_DUPLICATES };

static void put_list(struct text *out, struct arena *arena, const struct update *u, size_t n,
                     enum list_kind kind)
{
    static const struct {
        struct str title;
        order_fn *by;
    } kinds[] = {
        {S_INIT("\n## Missing Shapes\n"), by_missing},
        {S_INIT("\n## Deleted Empty Rows\n"), by_deleted},
        {S_INIT("\n## Duplicate Signatures\n"), by_duplicates},
    };
    const struct update **by = sorted(arena, u, n, kinds[kind].by);
    struct grid g = {.arena = arena, .columns = 3};

    add(&g, S("Operator"));
    add(&g, S("Count"));
    add(&g, S("Examples"));
    for (size_t i = 0; i < n; i++) {
        const struct update_list *list = kind == LIST_MISSING ? &by[i]->missing : &by[i]->deleted;
        uint64_t count = kind == LIST_DUPLICATES ? by[i]->duplicates.n : list->n;
        if (count == 0)
            continue;
        add(&g, by[i]->op);
        add_number(&g, count);
        add(&g, kind == LIST_DUPLICATES ? duplicate_examples(arena, by[i]) : examples(arena, list));
    }
    put(out, kinds[kind].title);
    put_grid(out, &g);
}

static void put_gaps(struct text *out, struct arena *arena, struct update_gaps gaps)
{
    static const struct str heads[] = {S_INIT("Operator"),      S_INIT("MicroBench(us)"),
                                       S_INIT("Profiling(us)"), S_INIT("Abs Diff(us)"),
                                       S_INIT("MB/Profile"),    S_INIT("Shape")};
    struct grid g = {.arena = arena, .columns = ARRAY_LEN(heads)};

    for (size_t i = 0; i < ARRAY_LEN(heads); i++)
        add(&g, heads[i]);
    for (size_t i = 0; i < gaps.n && i < GAPS_SHOWN; i++) {
        add(&g, gaps.at[i].op);
        add(&g, cell_text6(arena, gaps.at[i].bench_us));
        add(&g, cell_text6(arena, gaps.at[i].profiled_us));
        add(&g, cell_text6(arena, gaps.at[i].difference_us));
        add(&g, arena_format(arena, "%.2fx", gaps.at[i].ratio));
        add(&g, gaps.at[i].shapes);
    }
    put(out, S("\n## Duration Gap Hotspots\n"));
    put_grid(out, &g);
}

static void put_status(struct text *out, struct arena *arena,
                       const struct update_status *status)
{
    put(out, arena_format(arena,
                          "\n## Operator Execution Status\n- Success: %llu\n- Failed: %zu\n"
                          "- Skipped: %llu\n",
                          (unsigned long long)status->success, status->n_failed,
                          (unsigned long long)status->skipped));
    for (size_t i = 0; i < status->n_failed; i++)
        put(out, arena_format(arena, "  - FAILED: %.*s: %.*s\n", STR_ARGS(status->failed[i].op),
                              STR_ARGS(status->failed[i].reason)));
}

static void put_failures(struct text *out, struct arena *arena,
                         const struct update_status *status)
{
    struct grid g = {.arena = arena, .columns = 2};

    add(&g, S("Operator"));
    add(&g, S("Reason"));
    for (size_t i = 0; i < status->n_failed; i++) {
        add(&g, status->failed[i].op);
        add(&g, status->failed[i].reason);
    }
    put(out, S("\n## Failures\n"));
    put_grid(out, &g);
}

struct str update_report(struct arena *arena, const struct update *updates, size_t n,
                         struct update_gaps gaps, const struct update_status *status)
{
    struct text out = {0};

    put(&out, S("# Profile Update Report\n"));
    if (status != NULL)
        put_status(&out, arena, status);
    put_overview(&out, arena, updates, n, gaps.n);
    put_summary(&out, arena, updates, n);
    put_list(&out, arena, updates, n, LIST_MISSING);
    put_list(&out, arena, updates, n, LIST_DELETED);
    put_list(&out, arena, updates, n, LIST_DUPLICATES);
    put_gaps(&out, arena, gaps);
    if (status != NULL && status->n_failed > 0)
        put_failures(&out, arena, status);
    struct str text = arena_str(arena, (struct str){out.at, out.n});
    text_free(&out);
    return text;
}

struct str update_hotspots_csv(struct arena *arena, struct update_gaps gaps)
{
    static const struct str heads[] = {S_INIT("Operator"),       S_INIT("CSV Name"),
                                       S_INIT("MicroBench(us)"), S_INIT("Profiling(us)"),
                                       S_INIT("Abs Diff(us)"),   S_INIT("MB/Profile"),
                                       S_INIT("Shape")};
    struct text out = {0};
    struct table t;

    table_init(&t, "");
    table_arrange(&t, heads, ARRAY_LEN(heads));
    for (size_t i = 0; i < gaps.n; i++) {
        const struct update_gap *g = &gaps.at[i];
        size_t row = table_add_row(&t);
        table_set(&t, row, 0, g->op);
        table_set(&t, row, 1, g->file);
        table_set(&t, row, 2, cell_text6(&t.arena, g->bench_us));
        table_set(&t, row, 3, cell_text6(&t.arena, g->profiled_us));
        table_set(&t, row, 4, cell_text6(&t.arena, g->difference_us));
        table_set(&t, row, 5, cell_text6(&t.arena, g->ratio));
        table_set(&t, row, 6, g->shapes);
    }
    table_print(&t, TABLE_NO_BOM, text_sink(&out));
    /* A report for people and their tools: unlike the tables it has plain line ends. */
    size_t n = 0;
    for (size_t i = 0; i < out.n; i++)
        if (out.at[i] != '\r' || i + 1 == out.n || out.at[i + 1] != '\n')
            out.at[n++] = out.at[i];
    struct str text = arena_str(arena, (struct str){out.at, n});
    text_free(&out);
    table_free(&t);
    return text;
}

struct str update_stamp(struct arena *arena)
{
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    struct tm tm = {0};
    char text[64];
    int64_t fixed;
    time_t now = time(NULL);

    if (epoch != NULL && num_i64(str_of(epoch), &fixed)) {
        now = (time_t)fixed;
        gmtime_r(&now, &tm);
    } else {
        localtime_r(&now, &tm);
    }
    size_t n = strftime(text, sizeof(text), "%Y%m%d_%H%M%S", &tm);
    return arena_str(arena, (struct str){text, n});
}
