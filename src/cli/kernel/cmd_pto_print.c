/*
 * strata pto print: a kernel in canonical form.
 */
#include "cli/kernel/pto_params.h"
#include "cli/session.h"
#include "kernels/pto/pto_check_job.h"
#include "kernels/pto/text/parse.h"
#include "kernels/pto/text/print.h"

struct args {
    struct words set;
};

static const struct opt options[] = {
    OPT_LIST(0, "set", "NAME=VALUE", struct args, set, PTO_PARAMS_HELP),
};

static const struct example examples[] = {
    {"strata pto print examples/pto/vector_add.pto", "print the canonical form"},
    {"strata pto print examples/pto/matmul.pto -o canonical.pto", "write it to a file"},
};

static bool is_to_stdout(const struct session *s)
{
    return s->common.out == NULL || strcmp(s->common.out, "-") == 0;
}

static enum status print(struct session *s, const char *path, const struct pto_checked *c)
{
    if (pto_describe(&c->module, path, &s->diag) != ST_OK) {
        diag_hint(&s->diag, "try", "strata pto check %s", path);
        return ST_FORMAT;
    }
    if (is_to_stdout(s)) {
        pto_print(&c->module, session_sink(s));
        return ST_OK;
    }
    TRY(pto_check_print(c, path, s->common.out, &s->diag));
    session_wrote(s, s->common.out);
    return ST_OK;
}

static int print_run(struct session *s, const void *args)
{
    const struct args *a = args;
    const struct text_param *params;
    struct pto_checked checked;

    TRY_CODE(pto_params(s, "set", &a->set, &params));
    if (is_to_stdout(s))
        TRY_CODE(session_file_on_stdout(s, "the kernel"));
    struct pto_check_job job = {s->operands.at[0], params, a->set.n};
    enum status status = pto_check_run(&job, &s->diag, &checked);
    if (status == ST_OK) {
        session_read(s, job.path, "pto", checked.module.ops.n, 0);
        status = print(s, job.path, &checked);
    }
    if (status == ST_OK)
        session_give(s, &(struct answer){.schema = &pto_print_schema, .result = &checked});
    pto_checked_free(&checked);
    return session_code(status);
}

const struct command command_pto_print = {
    .name = "print",
    .group = GROUP_KERNELS,
    .summary = "print a kernel in canonical form",
    .usage = "[OPTIONS] FILE",
    .details = "One operation per line, two spaces per level, tile types in long form; aliases, "
               "comments and generic operation syntax are removed. Parsing the result gives the "
               "same kernel. ${NAME} in the text is replaced by the value of --set NAME=VALUE.",
    .see = "docs/formats/pto.md",
    .operands = {.kind = OPERAND_FILE, .min = 1, .max = 1},
    .common = COMMON_OUT,
    .schemas = {&pto_print_schema},
    COMMAND_PARTS_ZERO,
    .run = print_run,
};
