#include "perfdb/tree.h"

#include "base/fs.h"
#include "perfdb/table.h"

static bool is_wanted(struct str op, const struct str *ops, size_t n_ops)
{
    for (size_t i = 0; i < n_ops; i++)
        if (str_equal(ops[i], op))
            return true;
    return n_ops == 0;
}

/* Inside the folder of a replay: .../msprof_run_XXXX/... */
static bool is_replay(struct str path)
{
    return str_contains(path, S("/msprof_run_"));
}

enum status db_files_find(struct arena *arena, const char *dir, const struct str *ops, size_t n_ops,
                          struct db_files *out, struct diag *d)
{
    static const struct str skip[] = {S_INIT("reports")};
    struct fs_list list;

    if (!fs_is_dir(dir))
        return diag_fail(d, ST_NOT_FOUND, "perfdb.no-database", (struct where){.path = dir},
                         "there is no database folder");
    TRY(fs_walk(arena, dir, skip, ARRAY_LEN(skip), &list, d));
    *out = (struct db_files){ARENA_ARRAY(arena, struct db_file, list.n + 1), 0};
    for (size_t i = 0; i < list.n; i++) {
        const struct fs_entry *e = &list.at[i];
        struct str op = table_stem(e->path),
                   below = str_part(str_of(e->path), strlen(dir), SIZE_MAX);
        if (e->kind == FS_FILE && str_ends(e->name, S(".csv")) && !table_is_leftover(e->name) &&
            !is_replay(below) && is_wanted(op, ops, n_ops))
            out->at[out->n++] = (struct db_file){e->path, op};
    }
    return ST_OK;
}

/* The last folder of `path`, which becomes the path above it. */
static struct str take_last(struct str *path)
{
    while (path->n > 0 && path->at[path->n - 1] == '/')
        path->n--;
    struct str name = str_basename(*path);
    path->n -= name.n;
    return name;
}

struct db_origin db_origin(const char *path)
{
    struct str rest = str_of(path);
    struct db_origin origin;

    take_last(&rest);
    origin.version = take_last(&rest);
    origin.stack = take_last(&rest);
    origin.device = take_last(&rest);
    return origin;
}
