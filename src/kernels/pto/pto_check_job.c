/*
 * Kernels as text: read, verified, printed; and what was found, for programs.
 */
#include "kernels/pto/pto_check_job.h"

#include "base/files/fs.h"
#include "kernels/pto/text/parse.h"
#include "kernels/pto/text/print.h"
#include "kernels/pto/text/verify.h"
#include "report/record.h"

enum status pto_check_run(const struct pto_check_job *job, struct diag *d, struct pto_checked *out)
{
    *out = (struct pto_checked){.path = job->path};
    arena_init(&out->arena);
    pto_module_init(&out->module);
    TRY(mapfile_open(&out->map, job->path, d));
    out->text = out->map.text;
    enum status st = ST_OK;
    if (job->n_params > 0 || text_params_any(out->text)) /* placeholders, or values for them */
        st = text_params_fill(out->map.text, job->path, job->params, job->n_params, &out->arena,
                              &out->text, d);
    if (st != ST_OK) {
        diag_hint(d, "try", "--set NAME=VALUE, one for each ${NAME} in the text");
        return st;
    }
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

enum status pto_check_print(const struct pto_checked *checked, const char *from, const char *out,
                            struct diag *d)
{
    struct outfile file;

    if (fs_same_file(from, out))
        return diag_fail(d, ST_IO, "pto-print.same-file", (struct where){.path = out},
                         "is also the input; choose another name");
    TRY(outfile_open(&file, out, d));
    pto_print(&checked->module, outfile_sink(&file));
    return outfile_commit(&file, OUTFILE_FAST, d);
}

/* ---- for programs ---- */

static const char *kind_name(enum pto_kind kind)
{
    static const char *const names[] = {"any", "cube", "vector"};

    return names[kind];
}

/* Functions and problems with what their module knows of them. */
struct function_row {
    struct pto_function own;
    struct str name;
    uint64_t operations;
};

struct problem_row {
    struct pto_problem own;
    struct str source;
};

static struct field_items function_rows(const void *checked, const struct record_env *env)
{
    const struct pto_module *m = &((const struct pto_checked *)checked)->module;
    struct function_row *rows = ARENA_ARRAY(env->arena, struct function_row, m->functions.n);

    for (size_t i = 0; i < m->functions.n; i++) {
        const struct pto_function *f = &m->functions.at[i];
        rows[i] =
            (struct function_row){*f, intern_get(&m->names, f->name), f->op_end - f->op_first};
    }
    return (struct field_items){rows, m->functions.n};
}

static struct field_items problem_rows(const void *checked, const struct record_env *env)
{
    const struct pto_checked *c = checked;
    struct problem_row *rows = ARENA_ARRAY(env->arena, struct problem_row, c->module.problems.n);

    for (size_t i = 0; i < c->module.problems.n; i++) {
        const struct pto_problem *p = &c->module.problems.at[i];
        rows[i] = (struct problem_row){*p, pto_checked_line(c, p->line)};
    }
    return (struct field_items){rows, c->module.problems.n};
}

static struct field_value is_fine(const void *checked, const struct record_env *env)
{
    (void)env;
    return value_bool(((const struct pto_checked *)checked)->module.error_count == 0);
}

static const struct field function_fields[] = {
    FIELD(struct function_row, name, "name"),
    FIELD_OF_ENUM(struct function_row, own.kind, "kind", kind_name, PTO_KIND_VECTOR + 1),
    FIELD(struct function_row, own.is_entry, "entry"),
    FIELD(struct function_row, own.arg_count, "arguments"),
    FIELD(struct function_row, operations, "operations"),
};
static const struct record function_record = RECORD(struct function_row, function_fields);

static const struct field problem_fields[] = {
    FIELD_OF_ENUM(struct problem_row, own.severity, "severity", severity_name, SEV_ERROR + 1),
    FIELD(struct problem_row, own.code, "code"),
    FIELD(struct problem_row, own.line, "line"),
    FIELD(struct problem_row, own.col, "column"),
    FIELD(struct problem_row, own.text, "text"),
    FIELD(struct problem_row, source, "source", .about = "source line"),
};
static const struct record problem_record = RECORD(struct problem_row, problem_fields);

static const struct field checked_fields[] = {
    FIELD(struct pto_checked, path, "path"),
    FIELD_CALC(FIELD_BOOL, "ok", is_fine),
    FIELD_OF_ENUM(struct pto_checked, module.arch, "arch", pto_arch_name, PTO_A5 + 1),
    FIELD(struct pto_checked, module.error_count, "errors", .about = "including those not listed"),
    FIELD(struct pto_checked, module.ops.n, "operations"),
    FIELD_MADE(FIELD_OBJECT, "functions", function_rows, &function_record),
    FIELD_MADE(FIELD_OBJECT, "problems", problem_rows, &problem_record),
};
static const struct record checked_record = RECORD(struct pto_checked, checked_fields);

const struct schema pto_check_schema = {
    .name = "strata.pto-check/1",
    .title = "results of checking PTO kernels",
    .record = &checked_record,
    .is_list = true,
};

static const struct field printed_fields[] = {
    FIELD(struct pto_checked, module.ops.n, "operations"),
};
static const struct record printed_record = RECORD(struct pto_checked, printed_fields);

const struct schema pto_print_schema = {
    .name = "strata.pto-print/1",
    .title = "a kernel printed in canonical form",
    .record = &printed_record,
};
