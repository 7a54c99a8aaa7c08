/*
 * strata db accuracy: how wrong the answers of a database are.
 */
#include "cli/db/opt_db.h"
#include "cli/page_answer.h"
#include "opdb/predict/accuracy.h"
#include "page/pages.h"
#include "report/report.h"
#include "text/database.h"

struct args {
    struct words ops;
    struct place_args place;
    double max_median, max_p95;
};

static const struct opt options[] = {
    OPT_DB_OPS(struct args, ops),
    OPT_DOUBLE(0, "max-median", "PERCENT", struct args, max_median,
               "exit code 1 when the median error is above"),
    OPT_DOUBLE(0, "max-p95", "PERCENT", struct args, max_p95,
               "exit code 1 when the 95th percentile is above"),
    OPT_DB_PLACE(struct args, place),
};

static const struct example examples[] = {
    {"strata db accuracy --database-path examples/perfdb/h200", "errors per operator"},
    {"strata db accuracy --database-path examples/perfdb/h200 --html accuracy.html",
     "measured against predicted as a page"},
};

static void accuracy_describe(const void *result, struct report *r)
{
    const struct accuracy *a = result;

    if (a->one.n == 0) {
        report_text(r, report_message(r, &database_text.no_pairs));
        return;
    }
    report_line_text(r, REPORT_MESSAGE(r, &database_text.rows_left_out,
                                       PLACE("median", 100 * a->one.median),
                                       PLACE("p95", 100 * a->one.p95), PLACE("n", a->one.n),
                                       PLACE("covered", 100 * a->one.covered)));
    report_line_text(r, REPORT_MESSAGE(r, &database_text.blocks_left_out,
                                       PLACE("median", 100 * a->block.median),
                                       PLACE("p95", 100 * a->block.p95),
                                       PLACE("covered", 100 * a->block.covered)));
    report_records(r, &accuracy_op_record, a->ops.at, a->ops.n, NULL);
}

struct shown {
    const struct accuracy *accuracy;
    const char *dir;
};

static void accuracy_fill_page(struct page_file *page, const void *what)
{
    const struct shown *shown = what;

    page_accuracy(page, shown->accuracy, shown->dir);
}

static bool is_above(double value, double most)
{
    return most > 0 && 100 * value > most;
}

static int accuracy_run(struct session *s, const void *given)
{
    const struct args *args = given;
    struct place_files tree;
    struct accuracy a;
    const char *dir;

    TRY_CODE(db_tables(s, &args->ops, &args->place, &dir, &tree));
    enum status st = accuracy_find(&a, &tree, dir, &s->diag);
    if (st == ST_OK) {
        session_give(s, &(struct answer){.schema = &accuracy_schema,
                                         .origin = "estimated",
                                         .result = &a,
                                         .describe = accuracy_describe});
        st = page_answer_fill(s, PAGE_DATABASE, accuracy_fill_page, &(struct shown){&a, dir});
    }
    bool is_bad = is_above(a.one.median, args->max_median) || is_above(a.one.p95, args->max_p95);
    accuracy_free(&a);
    return st == ST_OK && is_bad ? CODE_NO : db_code(st);
}

const struct command command_db_accuracy = {
    .name = "accuracy",
    .group = GROUP_DATABASE,
    .summary = "judge predictions by rows that are left out",
    .usage = "[OPTIONS]",
    .details =
        "Predicts every row of every table from the others: once without the row, once without "
        "its block, a fifth of the operator's longest axis. The model is picked and fitted "
        "without the row. Prints mean error, median, 95th percentile, worst case and how many "
        "rows lie inside their 80 % interval, and the model that was picked per operator. --html "
        "plots measured against predicted time.",
    .see = "docs/perfdb.md",
    .common = COMMON_LANG | COMMON_HTML,
    .operands = {OPERAND_WORD, 0, SIZE_MAX, NULL},
    .schemas = {&accuracy_schema},
    COMMAND_PARTS_ZERO,
    .run = accuracy_run,
};
