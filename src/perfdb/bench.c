#include "perfdb/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/cancel.h"
#include "base/fs.h"
#include "base/json_write.h"
#include "base/num.h"
#include "perfdb/cell.h"
#include "perfdb/fia.h"
#include "perfdb/lock.h"
#include "perfdb/parse.h"

/* By name, in byte order. */
static const struct str known[] = {
    S_INIT("Add"),
    S_INIT("AddRmsNormBias"),
    S_INIT("ArgMaxV2"),
    S_INIT("AscendQuantV2"),
    S_INIT("BatchMatMulV2"),
    S_INIT("DispatchFFNCombine"),
    S_INIT("DynamicQuant"),
    S_INIT("FusedInferAttentionScore"),
    S_INIT("GatherV2"),
    S_INIT("GroupedMatmul"),
    S_INIT("GroupedMatmulSwigluQuant"),
    S_INIT("Index"),
    S_INIT("InterleaveRope"),
    S_INIT("KvRmsNormRopeCache"),
    S_INIT("LightningIndexer"),
    S_INIT("MaskedFill"),
    S_INIT("MatMulCommon"),
    S_INIT("MatMulV2"),
    S_INIT("MatMulV3"),
    S_INIT("MoeTokenPermute"),
    S_INIT("MoeTokenUnpermute"),
    S_INIT("PadV3"),
    S_INIT("QuantBatchMatmulV3"),
    S_INIT("RINGMLAPrefillBF16Kernel"),
    S_INIT("ReshapeAndCacheNdKernel"),
    S_INIT("RmsNorm"),
    S_INIT("ScatterNdUpdate"),
    S_INIT("Slice"),
    S_INIT("SoftmaxV2"),
    S_INIT("Sort"),
    S_INIT("SparseFlashAttention"),
    S_INIT("SwiGlu"),
    S_INIT("TensorMove"),
    S_INIT("Transpose"),
    S_INIT("TransposeBatchMatMul"),
    S_INIT("split_qkv_rmsnorm_rope_kernel"),
};

bool replay_op_is_known(struct str op)
{
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (str_equal(known[i], op))
            return true;
    return false;
}

static struct str listed(struct arena *arena, const struct str *names, size_t n)
{
    struct str list = names[0];

    for (size_t i = 1; i < n; i++)
        list = arena_format(arena, "%.*s, %.*s", STR_ARGS(list), STR_ARGS(names[i]));
    return list;
}

struct str replay_ops_problem(struct arena *arena, const struct str *ops, size_t n)
{
    struct str *unknown = ARENA_ARRAY(arena, struct str, n + 1);
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        if (!replay_op_is_known(ops[i]))
            unknown[count++] = ops[i];
    if (count == 0)
        return S("");
    qsort(unknown, count, sizeof(*unknown), str_order);
    return arena_format(arena, "Unsupported --op: %.*s. Available: %.*s",
                        STR_ARGS(listed(arena, unknown, count)),
                        STR_ARGS(listed(arena, known, ARRAY_LEN(known))));
}

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

static void put_line(struct text *out, const struct str *cells, size_t n, const size_t *widths,
                     char fill)
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

static void put_overview(struct text *out, struct arena *arena, const struct update *u, size_t n,
                         size_t n_gaps)
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

static void put_summary(struct text *out, struct arena *arena, const struct update *u, size_t n)
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

static void put_status(struct text *out, struct arena *arena, const struct update_status *status)
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

static void put_failures(struct text *out, struct arena *arena, const struct update_status *status)
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
    struct db_table t;

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

static int by_operator(const void *a, const void *b)
{
    const char *x = *(const char *const *)a, *y = *(const char *const *)b;
    int order = str_compare(table_stem(x), table_stem(y));

    return order != 0 ? order : strcmp(x, y);
}

static bool is_table(const struct fs_entry *e)
{
    return e->kind == FS_FILE && str_ends(e->name, S(".csv")) && !table_is_leftover(e->name);
}

static bool is_chosen(const struct bench_job *job, const struct fs_entry *e)
{
    struct str stem = table_stem(e->path);

    if (!is_table(e))
        return false;
    if (job->n_ops == 0)
        return e->depth == 1 && replay_op_is_known(signature_op(stem));
    for (size_t i = 0; i < job->n_ops; i++)
        if (str_equal(job->ops[i], stem))
            return true;
    return false;
}

enum status bench_files(struct arena *arena, const struct bench_job *job, struct bench_files *out,
                        struct diag *d)
{
    static const struct str skip[] = {S_INIT("reports")};
    struct fs_list list = {0};

    if (fs_is_dir(job->dir))
        TRY(fs_walk(arena, job->dir, skip, ARRAY_LEN(skip), &list, d));
    *out = (struct bench_files){ARENA_ARRAY(arena, const char *, list.n + 1), 0};
    for (size_t i = 0; i < list.n; i++)
        if (is_chosen(job, &list.at[i]))
            out->at[out->n++] = list.at[i].path;
    qsort(out->at, out->n, sizeof(*out->at), by_operator);
    return ST_OK;
}

enum status bench_is_complete(const struct bench_files *files, bool *out, struct diag *d)
{
    *out = files->n > 0;
    for (size_t i = 0; i < files->n && *out; i++) {
        struct db_table t;
        enum status st = table_read(&t, files->at[i], d);
        int average = table_column(&t, COL_AVERAGE), profiled = table_column(&t, COL_PROFILED);
        *out = st == ST_OK && t.n_rows > 0;
        for (size_t row = 0; row < t.n_rows && *out; row++)
            *out = row_is_measured(table_cell(&t, row, average), table_cell(&t, row, profiled));
        table_free(&t);
        TRY(st);
    }
    return ST_OK;
}

/* One call may end in any kernel of the matrix product family. */
static const struct str *aliases(struct str op)
{
    static const struct str of_v2[] = {S_INIT("MatMulV3"), S_INIT("MatMulCommon")};
    static const struct str of_v3[] = {S_INIT("MatMulV2"), S_INIT("MatMulCommon")};
    static const struct str of_common[] = {S_INIT("MatMulV2"), S_INIT("MatMulV3")};

    if (str_equal(op, S("MatMulV2")))
        return of_v2;
    if (str_equal(op, S("MatMulV3")))
        return of_v3;
    return str_equal(op, S("MatMulCommon")) ? of_common : NULL;
}

/* The operator was named, or is an alias of one that was. */
static bool is_wanted(const struct bench_job *job, struct str type)
{
    struct str op = signature_op(type);

    for (size_t i = 0; i < job->n_ops; i++) {
        const struct str *others = aliases(job->ops[i]);
        if (str_equal(job->ops[i], op) ||
            (others != NULL && (str_equal(others[0], op) || str_equal(others[1], op))))
            return true;
    }
    return job->n_ops == 0;
}

/* The cases of some numbers. */
struct cases {
    VEC_OF(uint32_t) at;
};

/* Adds the cases of one operator type, in their order. */
static void add_cases(const struct bench_plan *plan, const struct bench_job *job, struct str name,
                      struct cases *out)
{
    const struct summary *s = &plan->summary;
    uint32_t type = is_wanted(job, name) ? summary_type(s, name) : UINT32_MAX;

    if (type == UINT32_MAX)
        return;
    for (uint32_t i = s->types.at[type].first; i != UINT32_MAX; i = s->cases.at[i].next)
        vec_push(&out->at, i);
}

static enum status update_one(struct bench_plan *plan, const struct bench_job *job,
                              const char *path, struct diag *d)
{
    struct str op = table_stem(path);
    const struct str *others = aliases(op);
    struct update_offer offer = {.summary = &plan->summary};
    struct cases cases = {0};
    struct update u;

    add_cases(plan, job, op, &cases);
    if (others != NULL) {
        add_cases(plan, job, others[0], &cases);
        add_cases(plan, job, others[1], &cases);
        offer.match = cases.at.at;
        offer.n_match = cases.at.n;
    } else {
        offer.merge = cases.at.at;
        offer.n_merge = cases.at.n;
    }
    enum status st = update_make(&u, path, &offer, &job->how, d);
    vec_push(&plan->updates, u);
    vec_free(&cases.at);
    return st;
}

/* A table for every type that was replayed, in a folder that has none. */
static void new_files(struct bench_plan *plan, const struct bench_job *job, struct bench_files *out)
{
    const struct summary *s = &plan->summary;

    *out = (struct bench_files){ARENA_ARRAY(&plan->arena, const char *, s->types.n + 1), 0};
    for (size_t i = 0; i < s->types.n; i++)
        if (is_wanted(job, s->types.at[i].name))
            out->at[out->n++] = fs_join(&plan->arena, job->dir,
                                        parse_file_name(&plan->arena, s->types.at[i].name).at);
    qsort(out->at, out->n, sizeof(*out->at), by_operator);
}

enum status bench_plan(struct bench_plan *plan, const struct bench_job *job, struct diag *d)
{
    struct summary_files summaries;
    struct bench_files files;

    *plan = (struct bench_plan){0};
    arena_init(&plan->arena);
    summary_init(&plan->summary);
    TRY(summary_find(&plan->arena, job->prof, &summaries, d));
    for (size_t i = 0; i < summaries.n; i++)
        TRY(summary_read(&plan->summary, summaries.at[i], job->ep_size, d));
    TRY(bench_files(&plan->arena, job, &files, d));
    if (files.n == 0)
        new_files(plan, job, &files);
    for (size_t i = 0; i < files.n; i++) {
        if (cancelled())
            return ST_CANCELLED;
        TRY(update_one(plan, job, files.at[i], d));
    }
    plan->gaps = update_hotspots(&plan->arena, plan->updates.at, plan->updates.n);
    plan->report = update_report(&plan->arena, plan->updates.at, plan->updates.n, plan->gaps, NULL);
    return ST_OK;
}

static enum status write_report(struct bench_plan *plan, const struct bench_job *job,
                                struct diag *d)
{
    struct arena *arena = &plan->arena;
    const char *folder = fs_join(arena, job->dir, "reports");
    struct str stamp = update_stamp(arena);
    struct str hotspots =
        arena_format(arena, "duration_gap_hotspots_full_%.*s.csv", STR_ARGS(stamp));
    struct str report = arena_format(arena, "profile_update_report_%.*s.md", STR_ARGS(stamp));

    TRY(fs_mkdirs(folder, d));
    plan->hotspots_path = fs_join(arena, folder, hotspots.at);
    plan->report_path = fs_join(arena, folder, report.at);
    TRY(table_write_text(plan->hotspots_path, update_hotspots_csv(arena, plan->gaps), d));
    return table_write_text(plan->report_path,
                            arena_format(arena, "%.*sFull hotspot CSV: %.*s\n",
                                         STR_ARGS(plan->report), STR_ARGS(hotspots)),
                            d);
}

enum status bench_write(struct bench_plan *plan, const struct bench_job *job, struct diag *d)
{
    for (size_t i = 0; i < plan->updates.n; i++) {
        const struct update *u = &plan->updates.at[i];
        if (cancelled())
            return ST_CANCELLED;
        lock_clean(arena_cstr(&plan->arena, fia_folder(u->path)));
        if (u->is_changed)
            TRY(table_write(&u->table, u->path, TABLE_NO_BOM, d));
    }
    return write_report(plan, job, d);
}

void bench_plan_free(struct bench_plan *plan)
{
    for (size_t i = 0; i < plan->updates.n; i++)
        update_free(&plan->updates.at[i]);
    vec_free(&plan->updates);
    summary_free(&plan->summary);
    arena_free(&plan->arena);
}
