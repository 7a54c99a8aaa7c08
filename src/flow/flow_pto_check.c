#include "flow/flow_pto_check.h"

#include "base/fs.h"
#include "pto/parse.h"
#include "pto/print.h"
#include "pto/verify.h"

/* Replaces the placeholders, if there are any or values for them. */
static enum status fill(const struct pto_check_job *job, struct diag *d, struct pto_checked *out)
{
    out->text = out->map.text;
    if (job->n_params == 0 && !text_params_any(out->text))
        return ST_OK;
    enum status st = text_params_fill(out->map.text, job->path, job->params, job->n_params,
                                      &out->arena, &out->text, d);
    if (st != ST_OK)
        diag_hint(d, "try", "--set NAME=VALUE, one for each ${NAME} in the text");
    return st;
}

enum status flow_pto_check(const struct pto_check_job *job, struct diag *d, struct pto_checked *out)
{
    *out = (struct pto_checked){0};
    arena_init(&out->arena);
    pto_module_init(&out->module);
    TRY(mapfile_open(&out->map, job->path, d));
    TRY(fill(job, d, out));
    struct pto_parser *parser = pto_parser_new();
    if (pto_parse(parser, out->text, &out->module) == ST_OK)
        pto_verify(&out->module);
    pto_parser_free(parser);
    return ST_OK;
}

void pto_checked_free(struct pto_checked *checked)
{
    pto_module_fini(&checked->module);
    arena_free(&checked->arena);
    mapfile_close(&checked->map);
}

struct str pto_checked_line(const struct pto_checked *checked, uint32_t line)
{
    struct str rest = checked->text, found = {0};

    for (uint32_t i = 1; rest.n > 0; i++) {
        size_t end = str_find_char(rest, '\n');
        found = str_part(rest, 0, end);
        if (i == line)
            return found.n > 0 && found.at[found.n - 1] == '\r' ? str_part(found, 0, found.n - 1)
                                                                : found;
        rest = str_part(rest, end + 1, rest.n);
    }
    return (struct str){0};
}

enum status flow_pto_print(const struct pto_checked *checked, const char *from, const char *out,
                           struct diag *d)
{
    struct outfile file;

    if (fs_same_file(from, out))
        return diag_fail(d, ST_IO, "pto-print.same-file", (struct where){.path = out},
                         "this file is being read; choose another name");
    TRY(outfile_open(&file, out, d));
    pto_print(&checked->module, outfile_sink(&file));
    return outfile_commit(&file, OUTFILE_FAST, d);
}
