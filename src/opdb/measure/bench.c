/*
 * Replayed durations written back into a folder of tables, and the report about it.
 */
#include "opdb/measure/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/files/fs.h"
#include "base/run/cancel.h"
#include "base/run/now.h"
#include "base/text/num.h"
#include "base/text/text.h"
#include "opdb/rows/cell.h"
#include "opdb/rows/fia.h"
#include "opdb/rows/lock.h"
#include "opdb/rows/parse.h"

/* By name, in byte order. */
static const struct str known[] = {S_INIT("Add"),
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
                                   S_INIT("split_qkv_rmsnorm_rope_kernel")};

bool bench_is_known(struct str op)
{
    return str_is_one_of(op, known, ARRAY_LEN(known));
}

struct str bench_ops_problem(struct arena *arena, const struct str *ops, size_t n)
{
    struct str *unknown = ARENA_ARRAY(arena, struct str, n + 1);
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        if (!bench_is_known(ops[i]))
            unknown[count++] = ops[i];
    if (count == 0)
        return S("");
    qsort(unknown, count, sizeof(*unknown), str_order);
    return arena_format(arena, "Unsupported --op: %.*s. Available: %.*s",
                        STR_ARGS(arena_join(arena, unknown, count, S(", "))),
                        STR_ARGS(arena_join(arena, known, ARRAY_LEN(known), S(", "))));
}

enum { GAPS_SHOWN = 20, COLUMNS_MAX = 6 };

static double severity(const struct update_gap *g)
{
    return fmax(g->ratio, 1 / g->ratio);
}

/* Gaps by severity, difference and operator, all descending; equal ones keep their order. */
ORDER_BY(by_severity, struct bench_gap,
         ORDER(severity(&y->gap), severity(&x->gap))
             ?: ORDER(y->gap.difference_us, x->gap.difference_us)
             ?: str_compare(y->gap.op, x->gap.op) ?: ORDER(x->index, y->index));

static void find_gaps(struct bench_plan *plan)
{
    struct arena *arena = &plan->arena;

    for (size_t i = 0; i < plan->updates.n; i++)
        for (size_t k = 0; k < plan->updates.at[i].gaps.n; k++) {
            const struct update_gap *g = &plan->updates.at[i].gaps.at[k];
            if (g->ratio < 0.8 || g->ratio > 1.2)
                vec_push(&plan->gaps,
                         ((struct bench_gap){.gap = *g,
                                             .index = plan->gaps.n,
                                             .bench = cell_text6(arena, g->bench_us),
                                             .profiled = cell_text6(arena, g->profiled_us),
                                             .difference = cell_text6(arena, g->difference_us),
                                             .ratio = cell_text6(arena, g->ratio),
                                             .times = arena_format(arena, "%.2fx", g->ratio)}));
        }
    if (plan->gaps.n > 0)
        qsort(plan->gaps.at, plan->gaps.n, sizeof(*plan->gaps.at), by_severity);
}

static void bench_put_line(struct text *out, const struct str *cells, size_t n,
                           const size_t *widths, char fill)
{
    for (size_t i = 0; i < n; i++) {
        text_put(out, i == 0 ? S("| ") : S(" | "));
        text_put(out, cells[i]);
        text_repeat(out, fill, widths[i] - str_width(cells[i]));
    }
    text_put(out, S(" |\n"));
}

/* A Markdown table whose columns are also straight in a terminal. */
static void put_records(struct text *out, struct arena *arena, const char *title,
                        const struct record *r, const void *rows, size_t n)
{
    static const struct str none[COLUMNS_MAX] = {{"", 0}, {"", 0}, {"", 0},
                                                 {"", 0}, {"", 0}, {"", 0}};
    struct str *cells = ARENA_ARRAY(arena, struct str, (n + 1) * r->n);
    size_t widths[COLUMNS_MAX] = {0};

    text_format(out, "\n## %s\n", title);
    if (n == 0) {
        text_put(out, S("_None_\n"));
        return;
    }
    for (size_t i = 0; i < (n + 1) * r->n; i++) {
        const struct field *f = &r->fields[i % r->n];
        const char *next = (const char *)rows + i / r->n * r->size; /* heads come first */
        struct field_value v =
            i < r->n ? value_text(str_of(f->key)) : field_value(f, next - r->size, NULL);
        cells[i] =
            v.type == VALUE_TEXT ? v.text : arena_format(arena, "%llu", (unsigned long long)v.u);
        if (str_width(cells[i]) > widths[i % r->n])
            widths[i % r->n] = str_width(cells[i]);
    }
    bench_put_line(out, cells, r->n, widths, ' ');
    bench_put_line(out, none, r->n, widths, '-');
    for (size_t i = 1; i <= n; i++)
        bench_put_line(out, &cells[i * r->n], r->n, widths, ' ');
}

/* A table in one of the lists, which are sorted by two numbers, descending, and by name. */
struct line {
    const struct update *u;
    struct str op, examples;
    uint64_t updated, added, deleted, unchanged;
    uint64_t first, second;
};

ORDER_BY(by_numbers, struct line,
         ORDER(y->first, x->first) ?: ORDER(y->second, x->second)
             ?: str_compare(x->u->file, y->u->file) ?: strcmp(x->u->path, y->u->path));

static struct str examples(struct arena *arena, const struct update_list *list)
{
    size_t n = list->n < UPDATE_EXAMPLES ? (size_t)list->n : UPDATE_EXAMPLES;

    return n > 0 ? arena_join(arena, list->first, n, S("; ")) : S("-");
}

enum list_kind { LIST_CHANGES, LIST_MISSING, LIST_DELETED, LIST_DUPLICATES };

static struct line line_of(struct arena *arena, const struct update *u, enum list_kind kind)
{
    struct line l = {u, u->op, S(""), u->updated, u->added, u->deleted.n, u->unchanged, 0, 0};

    if (kind == LIST_DUPLICATES) {
        struct str parts[UPDATE_EXAMPLES];
        size_t n = 0;
        for (; n < u->duplicates.n && n < UPDATE_EXAMPLES; n++)
            parts[n] = arena_format(arena, "%.*s (x%llu)", STR_ARGS(u->duplicates.at[n].shapes),
                                    (unsigned long long)u->duplicates.at[n].count);
        l.examples = arena_join(arena, parts, n, S("; "));
    } else {
        l.examples = examples(arena, kind == LIST_DELETED ? &u->deleted : &u->missing);
    }
    l.first = kind == LIST_CHANGES   ? u->added
              : kind == LIST_MISSING ? u->missing.n
              : kind == LIST_DELETED ? u->deleted.n
                                     : u->duplicates.n;
    l.second = kind == LIST_CHANGES ? u->updated : 0;
    return l;
}

static const struct field change_fields[] = {
    FIELD(struct line, op, "Operator"),         FIELD(struct line, updated, "Updated"),
    FIELD(struct line, added, "Added"),         FIELD(struct line, deleted, "Deleted"),
    FIELD(struct line, unchanged, "Unchanged"), FIELD(struct line, examples, "Missing Samples"),
};
static const struct record change_record = RECORD(struct line, change_fields);

static const struct field list_fields[] = {
    FIELD(struct line, op, "Operator"),
    FIELD(struct line, first, "Count"),
    FIELD(struct line, examples, "Examples"),
};
static const struct record list_record = RECORD(struct line, list_fields);

static void put_list(struct text *out, struct bench_plan *plan, const char *title,
                     enum list_kind kind)
{
    struct line *lines = ARENA_ARRAY(&plan->arena, struct line, plan->updates.n);
    size_t n = 0;

    for (size_t i = 0; i < plan->updates.n; i++) {
        lines[n] = line_of(&plan->arena, &plan->updates.at[i], kind);
        n += kind == LIST_CHANGES || lines[n].first > 0;
    }
    qsort(lines, n, sizeof(*lines), by_numbers);
    put_records(out, &plan->arena, title, kind == LIST_CHANGES ? &change_record : &list_record,
                lines, n);
}

struct metric {
    const char *name;
    struct str value;
};

static const struct field metric_fields[] = {
    FIELD(struct metric, name, "Metric"),
    FIELD(struct metric, value, "Value"),
};
static const struct record metric_record = RECORD(struct metric, metric_fields);

static void put_overview(struct text *out, struct bench_plan *plan)
{
    static const char *const names[] = {
        "CSV files touched", "Rows updated",         "Rows added",     "Rows deleted",
        "Rows unchanged",    "Duplicate signatures", "Missing shapes", "Hotspots"};
    uint64_t sums[ARRAY_LEN(names)] = {plan->updates.n, 0, 0, 0, 0, 0, 0, plan->gaps.n};
    struct metric rows[ARRAY_LEN(names) + 1];

    for (size_t i = 0; i < plan->updates.n; i++) {
        const struct update *u = &plan->updates.at[i];
        const uint64_t own[] = {
            0, u->updated, u->added, u->deleted.n, u->unchanged, u->duplicates.n, u->missing.n};
        for (size_t k = 0; k < ARRAY_LEN(own); k++)
            sums[k] += own[k];
    }
    for (size_t k = 0; k < ARRAY_LEN(names); k++)
        rows[k] = (struct metric){names[k],
                                  arena_format(&plan->arena, "%llu", (unsigned long long)sums[k])};
    rows[ARRAY_LEN(names)] =
        (struct metric){"Gap threshold", S("microbench/profiling not in [0.80x, 1.20x]")};
    put_records(out, &plan->arena, "Overview", &metric_record, rows, ARRAY_LEN(rows));
}

static const struct field gap_fields[] = {
    FIELD(struct bench_gap, gap.op, "Operator"),
    FIELD(struct bench_gap, bench, "MicroBench(us)"),
    FIELD(struct bench_gap, profiled, "Profiling(us)"),
    FIELD(struct bench_gap, difference, "Abs Diff(us)"),
    FIELD(struct bench_gap, times, "MB/Profile"),
    FIELD(struct bench_gap, gap.shapes, "Shape"),
};
static const struct record gap_record = RECORD(struct bench_gap, gap_fields);

static struct str report(struct bench_plan *plan)
{
    struct text out = {0};

    text_put(&out, S("# Profile Update Report\n"));
    put_overview(&out, plan);
    put_list(&out, plan, "Update Summary", LIST_CHANGES);
    put_list(&out, plan, "Missing Shapes", LIST_MISSING);
    put_list(&out, plan, "Deleted Empty Rows", LIST_DELETED);
    put_list(&out, plan, "Duplicate Signatures", LIST_DUPLICATES);
    put_records(&out, &plan->arena, "Duration Gap Hotspots", &gap_record, plan->gaps.at,
                plan->gaps.n < GAPS_SHOWN ? plan->gaps.n : GAPS_SHOWN);
    struct str text = arena_str(&plan->arena, text_view(&out));
    text_free(&out);
    return text;
}

static const struct field hotspot_fields[] = {
    FIELD(struct bench_gap, gap.op, "Operator"),
    FIELD(struct bench_gap, gap.file, "CSV Name"),
    FIELD(struct bench_gap, bench, "MicroBench(us)"),
    FIELD(struct bench_gap, profiled, "Profiling(us)"),
    FIELD(struct bench_gap, difference, "Abs Diff(us)"),
    FIELD(struct bench_gap, ratio, "MB/Profile"),
    FIELD(struct bench_gap, gap.shapes, "Shape"),
};
static const struct record hotspot_record = RECORD(struct bench_gap, hotspot_fields);

static int by_operator(const void *a, const void *b)
{
    const char *x = *(const char *const *)a, *y = *(const char *const *)b;

    return str_compare(table_stem(x), table_stem(y)) ?: strcmp(x, y);
}

static bool is_chosen(const struct bench_job *job, const struct fs_entry *e)
{
    struct str stem = table_stem(e->path);

    if (e->kind != FS_FILE || !str_ends(e->name, S(".csv")) || table_is_temporary(e->name))
        return false;
    if (job->n_ops == 0)
        return e->depth == 1 && bench_is_known(signature_op(stem));
    return str_is_one_of(stem, job->ops, job->n_ops);
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
        struct op_table t;
        enum status st = table_read(&t, files->at[i], d);
        int average = table_column(&t, COL_AVERAGE), profiled = table_column(&t, COL_PROFILED);
        *out = st == ST_OK && t.n_rows > 0;
        for (size_t row = 0; row < t.n_rows && *out; row++)
            *out = cell_is_measured(table_cell(&t, row, average), table_cell(&t, row, profiled));
        table_free(&t);
        TRY(st);
    }
    return ST_OK;
}

/* One call may end in any kernel of this family. */
static const struct str products[] = {S_INIT("MatMulV2"), S_INIT("MatMulV3"),
                                      S_INIT("MatMulCommon")};

/* The operator was named, or is of the family of one that was. */
static bool is_wanted(const struct bench_job *job, struct str type)
{
    struct str op = signature_op(type);

    for (size_t i = 0; i < job->n_ops; i++)
        if (str_equal(job->ops[i], op) ||
            (signature_is_matmul(job->ops[i]) && signature_is_matmul(op)))
            return true;
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

/* Products of one shape run under several kernel names: rows of all of them are offered, and
 * matched by shape; other operators merge rows of their own name. */
static enum status update_one(struct bench_plan *plan, const struct bench_job *job,
                              const char *path, struct diag *d)
{
    struct str op = table_stem(path);
    struct update_offer offer = {.summary = &plan->summary};
    struct cases cases = {0};
    struct update u;

    add_cases(plan, job, op, &cases);
    if (signature_is_matmul(op)) {
        for (size_t i = 0; i < ARRAY_LEN(products); i++)
            if (!str_equal(products[i], op))
                add_cases(plan, job, products[i], &cases);
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

/* Without a single measured case every row that waits for its first duration would go. */
static enum status check_prune(const struct bench_plan *plan, const struct bench_job *job,
                               struct diag *d)
{
    uint64_t measured = 0, rows = 0;

    for (size_t i = 0; i < plan->updates.n; i++) {
        measured += plan->updates.at[i].matched + plan->updates.at[i].added;
        rows += plan->updates.at[i].deleted.n;
    }
    if (!job->how.prune || measured > 0)
        return ST_OK;
    return diag_fail(d, ST_UNSUPPORTED, "perfdb.prune-refused", (struct where){.path = job->dir},
                     "--prune-empty-duration-rows would delete %llu rows, but nothing was "
                     "measured: no case of the exports is in the tables",
                     (unsigned long long)rows);
}

enum status bench_plan(struct bench_plan *plan, const struct bench_job *job, struct diag *d)
{
    const struct summary *s = &plan->summary;
    struct summary_files summaries;
    struct bench_files files;

    *plan = (struct bench_plan){0};
    arena_init(&plan->arena);
    summary_init(&plan->summary);
    TRY(summary_find(&plan->arena, job->prof, &summaries, d));
    for (size_t i = 0; i < summaries.n; i++)
        TRY(summary_read(&plan->summary, summaries.at[i], job->ep_size, d));
    TRY(bench_files(&plan->arena, job, &files, d));
    if (files.n == 0) { /* a table for every type that was replayed */
        files.at = ARENA_ARRAY(&plan->arena, const char *, s->types.n + 1);
        for (size_t i = 0; i < s->types.n; i++)
            if (is_wanted(job, s->types.at[i].name))
                files.at[files.n++] = fs_join(
                    &plan->arena, job->dir, parse_file_name(&plan->arena, s->types.at[i].name).at);
        qsort(files.at, files.n, sizeof(*files.at), by_operator);
    }
    for (size_t i = 0; i < files.n; i++) {
        if (cancelled())
            return ST_CANCELLED;
        TRY(update_one(plan, job, files.at[i], d));
    }
    TRY(check_prune(plan, job, d));
    find_gaps(plan);
    plan->report = report(plan);
    return ST_OK;
}

enum status bench_write(struct bench_plan *plan, const struct bench_job *job, struct diag *d)
{
    struct arena *arena = &plan->arena;
    const char *folder = fs_join(arena, job->dir, "reports");

    for (size_t i = 0; i < plan->updates.n; i++) {
        const struct update *u = &plan->updates.at[i];
        if (cancelled())
            return ST_CANCELLED;
        lock_clean(arena_cstr(arena, fia_folder(u->path)));
        if (u->is_changed)
            TRY(table_write(&u->table, u->path, TABLE_NO_BOM, d));
    }
    const char *stamp = now_text(arena, NOW_NAME, 0);
    struct str hotspots = arena_format(arena, "duration_gap_hotspots_full_%s.csv", stamp);
    TRY(fs_mkdir_own(folder, d));
    plan->hotspots_path = fs_join(arena, folder, hotspots.at);
    plan->report_path =
        fs_join(arena, folder, arena_printf(arena, "profile_update_report_%s.md", stamp));
    struct text csv = {0};
    record_csv(text_sink(&csv), &hotspot_record, plan->gaps.at, plan->gaps.n, NULL);
    enum status st = table_write_text(plan->hotspots_path, text_view(&csv), d);
    text_free(&csv);
    TRY(st);
    return table_write_text(plan->report_path,
                            arena_format(arena, "%.*sFull hotspot CSV: %.*s\n",
                                         STR_ARGS(plan->report), STR_ARGS(hotspots)),
                            d);
}

void bench_plan_free(struct bench_plan *plan)
{
    for (size_t i = 0; i < plan->updates.n; i++)
        update_free(&plan->updates.at[i]);
    vec_free(&plan->updates);
    vec_free(&plan->gaps);
    summary_free(&plan->summary);
    arena_free(&plan->arena);
}

static void put_diff(const void *result, struct sink sink)
{
    const struct bench_plan *plan = result;

    for (size_t i = 0; i < plan->updates.n && plan->is_dry_run; i++) {
        const struct update *u = &plan->updates.at[i];
        table_diff(u->is_new ? NULL : &u->old, &u->table, u->path, sink);
    }
}

bool bench_print(const void *result, struct sink sink)
{
    const struct bench_plan *plan = result;
    struct text out = {0};

    for (size_t i = 0; i < plan->updates.n; i++)
        for (size_t k = 0; k < plan->updates.at[i].messages.n; k++) {
            text_put(&out, plan->updates.at[i].messages.at[k]);
            text_char(&out, '\n');
        }
    put_diff(plan, text_sink(&out));
    text_put(&out, plan->report);
    text_char(&out, '\n');
    if (!plan->is_dry_run)
        text_format(&out, "[REPORT] %s\n[REPORT] %s\n", plan->report_path, plan->hotspots_path);
    bool is_good = sink.write(sink.ctx, text_view(&out));
    text_free(&out);
    return is_good;
}

static struct field_value diff_of(const void *record, const struct record_env *env)
{
    return table_diff_value(record, env, put_diff);
}

static const struct field hotspot_member_fields[] = {
    FIELD(struct bench_gap, gap.op, "operator"),
    FIELD(struct bench_gap, gap.file, "file"),
    FIELD(struct bench_gap, gap.shapes, "shapes"),
    FIELD(struct bench_gap, gap.bench_us, "replayed_us"),
    FIELD(struct bench_gap, gap.profiled_us, "profiled_us"),
    FIELD(struct bench_gap, gap.ratio, "ratio"),
};
static const struct record hotspot_member = RECORD(struct bench_gap, hotspot_member_fields);

static const struct field update_fields[] = {
    FIELD(struct update, op, "operator"),
    FIELD(struct update, path, "path"),
    FIELD(struct update, updated, "updated"),
    FIELD(struct update, added, "added"),
    FIELD(struct update, deleted.n, "deleted"),
    FIELD(struct update, unchanged, "unchanged"),
    FIELD(struct update, missing.n, "missing"),
    FIELD(struct update, duplicates.n, "duplicates"),
    FIELD(struct update, is_changed, "changed"),
    FIELD_VALUES(struct update, messages.at, messages.n, "messages"),
};
static const struct record update_record = RECORD(struct update, update_fields);

static const struct field plan_fields[] = {
    FIELD(struct bench_plan, summary.rows, "samples"),
    FIELD(struct bench_plan, gaps.n, "hotspots"),
    FIELD_LIST(struct bench_plan, gaps.at, gaps.n, "hotspot_rows", &hotspot_member),
    FIELD(struct bench_plan, is_dry_run, "is_dry_run"),
    FIELD_CALC(FIELD_STR, "diff", diff_of, .missing = MISSING_EMPTY,
               .about = "what a dry run would change"),
    FIELD_LIST(struct bench_plan, updates.at, updates.n, "tables", &update_record),
};
static const struct record plan_record = RECORD(struct bench_plan, plan_fields);

const struct schema bench_schema = {
    .name = "strata.db-bench/1",
    .title = "result of writing replayed durations to the tables",
    .record = &plan_record,
};
