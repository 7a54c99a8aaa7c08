/*
 * strata db check: is every table of the database what it should be?
 */
#include "base/cancel.h"
#include "cli/opt_db.h"
#include "perfdb/check.h"

struct args {
    struct place_args place;
    struct opt_list ops;
    bool strict;
};

static const struct opt options[] = {
    OPT_DB_OPS(struct args, ops),
    OPT_FLAG(0, "strict", struct args, strict, "exit with 1 also for notes"),
    OPT_DB_PLACE(struct args, place),
    OPT_END,
};

static const struct example examples[] = {
    {"strata db check --database-path examples/perfdb/db", "the tables of a folder"},
    {"strata db check --database-path examples/perfdb/db --op Add MatMulV2 --json",
     "two of them, for a script"},
    {0},
};

static void print_findings(struct session *s, const struct check *c)
{
    for (size_t i = 0; i < c->findings.n; i++) {
        const struct check_finding *f = &c->findings.at[i];
        if (f->is_note && s->common.quiet)
            continue;
        out_printf(&s->out, "%s:%llu: %s%s\n", f->path, (unsigned long long)f->line,
                   f->is_note ? "note: " : "", out_clean(&s->arena, f->what));
    }
}

static void print_tables(struct session *s, const struct check *c)
{
    static const struct out_column columns[] = {
        {"operator", false}, {"rows", true}, {"valid", true}, {"share %", true}};
    const char **cells = ARENA_ARRAY(&s->arena, const char *, c->tables.n * 4 + 1);
    size_t n = 0;

    for (size_t i = 0; i < c->tables.n; i++) {
        const struct check_table *t = &c->tables.at[i];
        cells[n++] = out_clean(&s->arena, t->op);
        cells[n++] = arena_format(&s->arena, "%llu", (unsigned long long)t->rows).at;
        cells[n++] = arena_format(&s->arena, "%llu", (unsigned long long)t->valid).at;
        cells[n++] =
            t->rows > 0
                ? arena_format(&s->arena, "%.1f", 100.0 * (double)t->valid / (double)t->rows).at
                : "-";
    }
    if (c->findings.n > 0)
        out_text(&s->out, "\n");
    out_table(&s->out, columns, ARRAY_LEN(columns), cells, c->tables.n);
    out_printf(&s->out, "\n%zu tables, %llu problems, %llu notes\n", c->tables.n,
               (unsigned long long)c->problems, (unsigned long long)c->notes);
}

static void print_json(struct session *s, const struct check *c)
{
    struct json_writer *j = session_json_begin(s, "strata.db-check/1", NULL);

    json_write_object(j);
    json_put_u64(j, "problems", c->problems);
    json_put_u64(j, "notes", c->notes);
    json_put_array(j, "findings");
    for (size_t i = 0; i < c->findings.n; i++) {
        json_write_object(j);
        json_put_text(j, "path", c->findings.at[i].path);
        json_put_u64(j, "line", c->findings.at[i].line);
        json_put_str(j, "kind", c->findings.at[i].is_note ? S("note") : S("problem"));
        json_put_str(j, "text", c->findings.at[i].what);
        json_write_end(j);
    }
    json_write_end(j);
    json_put_array(j, "tables");
    for (size_t i = 0; i < c->tables.n; i++) {
        json_write_object(j);
        json_put_str(j, "operator", c->tables.at[i].op);
        json_put_text(j, "path", c->tables.at[i].path);
        json_put_u64(j, "rows", c->tables.at[i].rows);
        json_put_u64(j, "valid", c->tables.at[i].valid);
        json_write_end(j);
    }
    json_write_end(j);
    json_write_end(j);
    session_json_end(s);
}

static int run(struct session *s, const void *given)
{
    const struct args *args = given;
    struct db_ops ops = db_ops(s, &args->ops);
    struct check check;
    struct db_files tree;
    const char *dir;

    if (s->operands.n > 0 && args->ops.n == 0)
        return session_usage(s, "check: unexpected argument \"%s\"", s->operands.at[0]);
    int code = db_place(s, &args->place, &dir);
    if (code != CODE_DONE)
        return code;
    enum status st = db_files_find(&s->arena, dir, ops.at, ops.n, &tree, &s->diag);
    if (st != ST_OK)
        return db_code(st);
    check_init(&check);
    for (size_t i = 0; i < tree.n && !cancelled(); i++)
        check_table(&check, &tree.at[i]);
    if (s->common.json) {
        print_json(s, &check);
    } else {
        print_findings(s, &check);
        if (!s->common.quiet)
            print_tables(s, &check);
    }
    bool is_bad = check.problems > 0 || (args->strict && check.notes > 0);
    check_free(&check);
    return cancelled() ? CODE_INTERRUPTED : is_bad ? CODE_NO : CODE_DONE;
}

const struct command command_db_check = {
    .name = "check",
    .group = GROUP_DATABASE,
    .summary = "check the tables of a database",
    .usage = "[OPTIONS]",
    .details =
        "Reads every table in the database folder and below it. Problems are files that cannot be "
        "read, rows with too many or too few cells, missing columns, durations that are negative, "
        "infinite or no number, counter ratios outside 0 to 1 and shapes that are none. Rows "
        "without a duration and rows that describe the same case twice are notes. Then the rows "
        "of each operator and how many of them have a duration.\n"
        "\n"
        "What a killed writer has left (*.tmp.csv) is passed over. The exit code is 1 when there "
        "is a problem, with --strict also for notes.",
    .see = "docs/perfdb.md",
    .options = options,
    .args_size = sizeof(struct args),
    .operands = {.kind = OPERAND_WORD, .min = 0, .max = SIZE_MAX},
    .examples = examples,
    .run = run,
};
