/*
 * strata db check: is every table of the database what it should be?
 */
#include "cli/db/opt_db.h"
#include "cli/page_answer.h"
#include "opdb/rows/check.h"
#include "page/pages.h"
#include "report/report.h"

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

static void check_print_text(struct session *s, const struct check *c)
{
    for (size_t i = 0; i < c->findings.n; i++) {
        const struct check_finding *f = &c->findings.at[i];
        if (f->is_note && s->common.quiet)
            continue;
        out_printf(&s->out, "%s:%llu: %s%s\n", f->path, (unsigned long long)f->line,
                   f->is_note ? "note: " : "", out_clean(&s->arena, f->what));
    }
    if (s->common.quiet)
        return;
    if (c->findings.n > 0)
        out_text(&s->out, "\n");
    struct report *r = report_new(LANG_EN, S(""));
    report_records(r, &check_summary, c->tables.at, c->tables.n, NULL);
    report_text(r, arena_format(&s->arena, "%zu tables, %llu problems, %llu notes", c->tables.n,
                                (unsigned long long)c->problems, (unsigned long long)c->notes));
    session_answer(s, r);
}

/* The tables in a sentence, for people who did not ask for a check. */
static void print_verdict(struct session *s, const struct check *c)
{
    struct report *r = report_new(LANG_EN, S(""));
    uint64_t rows = 0, valid = 0;

    for (size_t i = 0; i < c->tables.n; i++) {
        rows += c->tables.at[i].rows;
        valid += c->tables.at[i].valid;
    }
    if (c->tables.n == 0)
        report_say(r, "Operator database without tables: nothing was measured yet.");
    else
        report_say(r,
                   "Operator database: %zu table%s, %llu of %llu row%s with a valid duration; %llu "
                   "problem%s and %llu note%s.",
                   c->tables.n, &"s"[c->tables.n == 1], (unsigned long long)valid,
                   (unsigned long long)rows, &"s"[rows == 1], (unsigned long long)c -> problems,
                   &"s"[c->problems == 1], (unsigned long long)c -> notes, &"s"[c->notes == 1]);
    if (c->tables.n > 0)
        report_records(r, &check_summary, c->tables.at, c->tables.n, NULL);
    session_answer(s, r);
}

static int db_check_run(struct session *s, const void *given)
{
    const struct args *args = given;
    struct check check;
    struct place_files tree;
    const char *dir;

    TRY_CODE(db_tables(s, &args->ops, &args->place, &dir, &tree));
    enum status st = check_all(&check, &tree);
    if (s->common.json)
        session_document(s, &check_schema, NULL, &check);
    else if (args->brief)
        print_verdict(s, &check);
    else
        check_print_text(s, &check);
    struct page_file *page = st == ST_OK ? page_answer_begin(s, PAGE_DATABASE, NULL) : NULL;
    if (page != NULL) {
        page_check(page, &check, dir);
        st = page_answer_end(s);
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
    .common = COMMON_HTML,
    .schemas = {&check_schema},
    COMMAND_PARTS_ZERO,
    .run = db_check_run,
};
