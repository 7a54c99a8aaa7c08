/*
 * What the commands on the operator database share.
 */
#include "cli/db/opt_db.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "base/files/fs.h"
#include "opdb/measure/bench.h"
#include "opdb/rows/signature.h"
#include "opdb/rows/table.h"

int db_code(enum status status)
{
    if (status == ST_OK)
        return CODE_DONE;
    if (status == ST_CANCELLED)
        return CODE_INTERRUPTED;
    return status == ST_TOOL ? CODE_TOOL : CODE_NO;
}

int db_place(struct session *s, const struct place_args *args, const char **dir)
{
    const char *problem = place_problem(&s->arena, args);

    if (problem != NULL)
        return session_usage(s, "%s", problem);
    return db_code(place_resolve(&s->arena, args, dir, &s->diag));
}

enum status db_lock(struct session *s, const char *dir, double wait, struct lock *lock)
{
    char name[64];

    return lock_acquire(lock, dir, command_full_name(s->path, name, sizeof(name)), wait, &s->diag);
}

static void add_op(struct db_ops *ops, const char *name)
{
    struct str op = signature_op(str_of(name));

    for (size_t i = 0; i < ops->n; i++)
        if (str_equal(ops->at[i], op))
            return;
    ops->at[ops->n++] = op;
}

struct db_ops db_ops(struct session *s, const struct words *given)
{
    struct db_ops ops = {ARENA_ARRAY(&s->arena, struct str, given->n + s->operands.n + 1), 0};

    for (size_t i = 0; i < given->n; i++)
        add_op(&ops, given->at[i]);
    for (size_t i = 0; i < s->operands.n; i++)
        add_op(&ops, s->operands.at[i]);
    return ops;
}

int db_only_ops(struct session *s, const struct words *given, struct db_ops *out)
{
    if (s->operands.n > 0 && given->n == 0)
        return session_usage(s, "%s: unexpected argument \"%s\"", s->path.command->name,
                             s->operands.at[0]);
    *out = db_ops(s, given);
    return CODE_DONE;
}

int db_tables(struct session *s, const struct words *given, const struct place_args *args,
              const char **dir, struct place_files *out)
{
    struct db_ops ops = {0};

    TRY_CODE(db_only_ops(s, given, &ops));
    TRY_CODE(db_place(s, args, dir));
    return db_code(place_find(&s->arena, *dir, ops.at, ops.n, out, &s->diag));
}

int db_known_ops(struct session *s, const struct words *given, struct db_ops *out)
{

    TRY_CODE(db_only_ops(s, given, out));
    struct str problem = bench_ops_problem(&s->arena, out->at, out->n);
    if (problem.n == 0)
        return CODE_DONE;
    diag_fail(&s->diag, ST_NOT_FOUND, "perfdb.unknown-op", (struct where){0}, "%.*s",
              STR_ARGS(problem));
    return CODE_NO;
}

void db_message(struct session *s, const char *format, ...)
{
    char text[4096];
    va_list args;
    struct out err;

    if (s->is_embedded)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    out_init(&err, STDERR_FILENO);
    out_text(&err, out_clean(&s->arena, str_of(text)));
    out_text(&err, "\n");
    out_flush(&err);
    out_fini(&err);
}

bool db_output_is_stdout(const struct session *s, const char *output)
{
    const char *path = output != NULL ? output : s->common.out;

    return path != NULL && strcmp(path, "-") == 0;
}

const char *db_output_path(const struct session *s, const char *output)
{
    if (db_output_is_stdout(s, output))
        return NULL;
    return output != NULL ? output : s->common.out;
}

enum status db_output(struct session *s, const char *path, const char *const *inputs,
                      db_document *write, const void *what)
{
    struct str whole = str_of(path), name = str_basename(whole);
    struct outfile file;

    if (path == NULL) {
        write(what, session_sink(s)); /* the out remembers a failure */
        return ST_OK;
    }
    for (size_t i = 0; inputs[i] != NULL; i++)
        if (fs_same_file(path, inputs[i]))
            return diag_fail(&s->diag, ST_IO, "perfdb.output-is-input",
                             (struct where){.path = path},
                             "is also an input; choose another output");
    if (name.at > whole.at + 1)
        TRY(fs_mkdirs(arena_cstr(&s->arena, str_part(whole, 0, (size_t)(name.at - whole.at))),
                      &s->diag));
    TRY(outfile_open(&file, path, &s->diag));
    write(what, outfile_sink(&file)); /* the commit reports a failure */
    return outfile_commit(&file, OUTFILE_FAST, &s->diag);
}

static bool print_table(const void *t, struct sink sink)
{
    return table_print(t, TABLE_NO_BOM, sink);
}

enum status db_output_table(struct session *s, const char *path, const char *const *inputs,
                            const struct op_table *t)
{
    return db_output(s, path, inputs, print_table, t);
}
