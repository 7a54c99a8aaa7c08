#include "cli/db_output.h"

#include "base/fs.h"

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

static enum status make_folder(struct session *s, const char *path)
{
    struct str whole = str_of(path), name = str_basename(whole);

    if (name.at <= whole.at + 1)
        return ST_OK;
    return fs_mkdirs(arena_cstr(&s->arena, (struct str){path, (size_t)(name.at - path)}), &s->diag);
}

enum status db_output(struct session *s, const char *path, const char *const *inputs,
                      db_document *write, const void *what)
{
    struct outfile file;

    if (path == NULL) {
        write(what, session_sink(s)); /* the out remembers a failure */
        return ST_OK;
    }
    for (size_t i = 0; inputs[i] != NULL; i++)
        if (fs_same_file(path, inputs[i]))
            return diag_fail(&s->diag, ST_IO, "perfdb.output-is-input",
                             (struct where){.path = path}, "is an input; choose another output");
    TRY(make_folder(s, path));
    TRY(outfile_open(&file, path, &s->diag));
    write(what, outfile_sink(&file)); /* the commit tells of a failure */
    return outfile_commit(&file, OUTFILE_FAST, &s->diag);
}
