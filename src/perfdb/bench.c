#include "perfdb/bench.h"

#include <stdlib.h>

#include "base/cancel.h"
#include "base/fs.h"
#include "perfdb/fia_meta.h"
#include "perfdb/lock.h"
#include "perfdb/parse.h"
#include "perfdb/replay_ops.h"
#include "perfdb/row.h"

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
        struct table t;
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
