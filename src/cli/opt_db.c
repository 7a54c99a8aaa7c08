#include "cli/opt_db.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "perfdb/signature.h"

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

    return lock_take(lock, dir, command_full_name(s->path, name, sizeof(name)), wait, &s->diag);
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

void db_tell(struct session *s, const char *format, ...)
{
    char text[4096];
    va_list args;
    struct out err;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    out_init(&err, STDERR_FILENO, false);
    out_text(&err, out_clean(&s->arena, str_of(text)));
    out_text(&err, "\n");
    out_flush(&err);
    out_fini(&err);
}
