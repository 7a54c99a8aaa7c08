/*
 * strata db check: is every table of the database what it should be?
 */
#include "cli/db/opt_db.h"
#include "cli/page_answer.h"
#include "opdb/rows/check.h"
#include "page/pages.h"
#include "report/report.h"
#include "text/database.h"

struct args {
    struct place_args place;
    struct words ops;
    bool strict, brief;
};

static const struct opt options[] = {
    OPT_DB_OPS(struct args, ops),
    OPT_FLAG(0, "strict", struct args, strict, "exit with 1 for notes as well"),
    OPT_FLAG(0, "brief", struct args, brief, "print a verdict and the tables, not each finding"),
    OPT_DB_PLACE(struct args, place),
};

static const struct example examples[] = {
    {"strata db check --database-path examples/perfdb/db", "check the tables of a folder"},
    {"strata db check --database-path examples/perfdb/db --op Add MatMulV2 --json",
     "two operators, as JSON"},
};

static void describe_findings(const void *result, struct report *r)
{
    const struct check *c = result;

    for (size_t i = 0; i < c->findings.n; i++) {
        const struct check_finding *f = &c->findings.at[i];
        report_line_text(
            r,
            REPORT_MESSAGE(r, f->is_note ? &database_text.finding_note : &database_text.finding,
                           PLACE("path", f->path), PLACE("line", f->line), PLACE("what", f->what)));
    }
    report_records(r, &check_summary, c->tables.at, c->tables.n, NULL);
    report_text(r, REPORT_MESSAGE(r, &database_text.checked, PLACE("tables", c->tables.n),
                                  PLACE("problems", c->problems), PLACE("notes", c->notes)));
}

/* The tables in a sentence, for people who did not ask for a check. */
static void describe_verdict(const void *result, struct report *r)
{
    const struct check *c = result;

    if (c->tables.n == 0) {
        report_text(r, report_message(r, &database_text.empty));
        return;
    }
    report_text(r, REPORT_MESSAGE(r, &database_text.verdict, PLACE("tables", c->tables.n),
                                  PLACE("valid", c->valid), PLACE("rows", c->rows),
                                  PLACE("problems", c->problems), PLACE("notes", c->notes)));
    report_records(r, &check_summary, c->tables.at, c->tables.n, NULL);
}

struct shown {
    const struct check *check;
    const char *dir;
};

static void check_fill_page(struct page_file *page, const void *what)
{
    const struct shown *shown = what;

    page_check(page, shown->check, shown->dir);
}

static int db_check_run(struct session *s, const void *given)
{
    const struct args *args = given;
    struct check check;
    struct place_files tree;
    const char *dir;

    TRY_CODE(db_tables(s, &args->ops, &args->place, &dir, &tree));
    enum status st = check_all(&check, &tree);
    if (st == ST_OK) {
        session_give(
            s, &(struct answer){.schema = &check_schema,
                                .result = &check,
                                .describe = args->brief ? describe_verdict : describe_findings});
        st = page_answer_fill(s, PAGE_DATABASE, check_fill_page, &(struct shown){&check, dir});
    }
    bool is_bad =
        !args->brief && (check.problems > 0 || (args->strict && check.notes > 0)); /* or a look */
    check_free(&check);
    return st == ST_OK && is_bad ? CODE_NO : db_code(st);
}

const struct command command_db_check = {
    .name = "check",
    .group = GROUP_DATABASE,
    .summary = "validate the tables of a database",
    .usage = "[OPTIONS]",
    .details = "Reads every table in the database folder and below. Problems: unreadable files, "
               "rows with too many or too few cells, missing columns, durations that are negative, "
               "infinite or not numbers, counter ratios outside 0 to 1, invalid shapes. Notes: "
               "rows without a duration and duplicate cases. A table then lists, per operator, the "
               "number of rows and how many have a duration.\n"
               "\n"
               "Leftovers of a killed writer (*.tmp.csv) are ignored. The exit code is 1 if there "
               "is a problem, with --strict also for notes.",
    .see = "docs/perfdb.md",
    .operands = {.kind = OPERAND_WORD, .min = 0, .max = SIZE_MAX},
    .common = COMMON_LANG | COMMON_HTML,
    .schemas = {&check_schema},
    COMMAND_PARTS_ZERO,
    .run = db_check_run,
};
