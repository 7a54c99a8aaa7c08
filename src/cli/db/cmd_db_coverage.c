/*
 * strata db coverage: whether the points of a database lie densely enough.
 */
#include "base/text/text.h"
#include "cli/db/opt_db.h"
#include "opdb/compare/coverage.h"
#include "report/report.h"

struct args {
    struct coverage_options job;
    struct place_args place;
    struct words ops;
};

static const struct opt options[] = {
    OPT_DB_OPS(struct args, ops),
    OPT_STRING(0, "rules", "FILE", struct args, job.rules,
               "density rules (YAML) instead of the built-in ones"),
    OPT_FLAG(0, "measured", struct args, job.is_measured, "count only rows that have a duration"),
    OPT_DB_PLACE(struct args, place),
};

static const struct example examples[] = {
    {"strata db coverage --database-path examples/perfdb/grid --op ArgMaxV2",
     "one operator (default: all)"},
};

static void describe_axis(struct report *r, const struct coverage_table *t,
                          const struct coverage_axis *a)
{
    struct text missing = {0};
    char limit[NUM_TEXT];

    for (size_t i = 0; i < a->missing.n; i++)
        text_format(&missing, "%s%lld", i > 0 ? ", " : "", (long long)a->missing.at[i]);
    if (a->missing.n > 0)
        report_line(r, "%s: %.*s: missing %.*s", t->path, STR_ARGS(a->name),
                    STR_ARGS(text_view(&missing)));
    text_free(&missing);
    for (size_t i = 0; i < a->gaps_n; i++) {
        const struct coverage_gap *g = &a->gaps[i];
        size_t n = num_print_f64(limit, g->gap > 0 ? g->gap : g->ratio);
        report_line(r, "%s: %.*s: gap from %lld to %lld, %s at most %.*s", t->path,
                    STR_ARGS(a->name), (long long)g->from, (long long)g->to,
                    g->gap > 0 ? "difference" : "ratio", (int)n, limit);
    }
}

static void coverage_describe(const void *result, struct report *r)
{
    const struct coverage *c = result;

    for (size_t i = 0; i < c->tables.n; i++)
        for (size_t k = 0; k < c->tables.at[i].axes_n; k++)
            describe_axis(r, &c->tables.at[i], &c->tables.at[i].axes[k]);
    report_line(r, "%zu axes of %zu tables: values missing: %zu, gaps too wide: %zu", c->axes,
                c->tables.n, c->missing, c->gaps);
}

static int coverage_run(struct session *s, const void *given)
{
    const struct args *args = given;
    struct coverage c;
    const char *dir;

    TRY_CODE(db_place(s, &args->place, &dir));
    struct db_ops ops = db_ops(s, &args->ops);
    struct coverage_options o = args->job;
    o.ops = ops.at;
    o.ops_n = ops.n;
    enum status st = coverage_find(&c, dir, &o, &s->diag);
    if (st == ST_OK)
        session_give(s, &(struct answer){.schema = &coverage_schema,
                                         .result = &c,
                                         .describe = coverage_describe});
    bool is_covered = c.missing == 0 && c.gaps == 0;
    coverage_free(&c);
    if (st != ST_OK)
        return db_code(st);
    return is_covered ? CODE_DONE : CODE_NO;
}

const struct command command_db_coverage = {
    .name = "coverage",
    .group = GROUP_DATABASE,
    .summary = "list shapes and ranges missing from a database",
    .usage = "[OPTIONS]",
    .details = "For each operator table and each axis of its shapes (M, N and K of a matrix "
               "product, tokens and width of an elementwise kernel, message size of a collective), "
               "lists the required values that are missing and the neighbouring values that are "
               "too far apart for interpolation. --rules replaces the built-in rules with a file "
               "in the same form (data/perfdb/axis_density.yaml).\n"
               "\n"
               "The exit code is 1 if anything is missing or too far apart.",
    .see = "docs/perfdb-grid.md",
    .operands = {OPERAND_WORD, 0, SIZE_MAX, NULL},
    .schemas = {&coverage_schema},
    COMMAND_PARTS_ZERO,
    .run = coverage_run,
};
