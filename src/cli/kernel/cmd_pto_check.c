/*
 * strata pto check: violations of the dialect's rules in kernels.
 */
#include "base/text/inert.h"
#include "cli/kernel/pto_params.h"
#include "cli/session.h"
#include "kernels/pto/pto_check_job.h"
#include "report/report.h"

struct args {
    struct words set;
    bool races;
};

static const struct args defaults = {.races = true};

static const struct opt options[] = {
    OPT_LIST(0, "set", "NAME=VALUE", struct args, set, PTO_PARAMS_HELP),
    OPT_FLAG(0, "races", struct args, races, "also look for unordered accesses (default: on)"),
};

static const struct example examples[] = {
    {"strata pto check examples/pto/softmax.pto", "a valid kernel"},
    {"strata pto check examples/pto/matmul.pto examples/pto/attention.pto --json",
     "two kernels, as JSON"},
    {"strata pto check examples/pto/softmax.pto --no-races", "rules alone; nothing is run"},
};

/* The line of the text, with blanks for tabs, and a caret under the place. */
static void add_place(struct report *r, const struct pto_checked *c, const struct pto_problem *p)
{
    enum { WIDTH = 160 };
    struct str line = pto_checked_line(c, p->line);
    size_t from = p->col > WIDTH - 20 ? p->col - (WIDTH - 20) : 0;
    char *shown = arena_cstr(&r->arena, str_part(line, from, WIDTH));

    if (line.n == 0)
        return;
    for (char *tab = shown; (tab = strchr(tab, '\t')) != NULL;)
        *tab = ' ';
    size_t before = p->col > from + 1 ? p->col - from - 1 : 0;
    report_line(r, "    %s", out_clean(&r->arena, str_of(shown)));
    report_line(r, "    %*s^", (int)inert_width(str_part(str_of(shown), 0, before)), "");
}

static void pto_check_add(struct report *r, const struct pto_checked *c)
{
    const struct pto_module *m = &c->module;
    const char *path = out_clean(&r->arena, str_of(c->path));

    for (size_t i = 0; i < m->problems.n; i++) {
        const struct pto_problem *p = &m->problems.at[i];
        report_line(r, "%s:%u:%u: %s: %s [%s]", path, (unsigned)p->line, (unsigned)p->col,
                    severity_name(p->severity), out_clean(&r->arena, str_of(p->text)), p->code);
        add_place(r, c, p);
    }
    if (m->error_count > PTO_MAX_PROBLEMS)
        report_line(r, "%s: further errors are not shown", path);
    if (m->error_count == 0)
        report_line(r, "%s   ok: %s, %zu function%s, %zu operations", path, pto_arch_name(m->arch),
                    m->functions.n, m->functions.n == 1 ? "" : "s", m->ops.n);
}

static void pto_check_describe(const void *result, struct report *r)
{
    const struct field_items *list = result;
    const struct pto_checked *at = list->at;

    for (size_t i = 0; i < list->n; i++)
        pto_check_add(r, &at[i]);
}

static int kernel_pto_check_run(struct session *s, const void *args)
{
    const struct args *a = args;
    struct pto_race_watch watch;
    const struct text_param *params;
    enum status status = ST_OK;
    bool has_errors = false;

    TRY_CODE(pto_params(s, "set", &a->set, &params));
    if (a->races)
        pto_race_watch_init(&watch);
    struct pto_checked *list = ARENA_ARRAY(&s->arena, struct pto_checked, s->operands.n);
    size_t n = 0;
    while (n < s->operands.n && status == ST_OK) {
        struct pto_check_job job = {s->operands.at[n], params, a->set.n};
        struct pto_checked *c = &list[n++];
        status = pto_check_run(&job, &s->diag, c);
        if (status == ST_OK && a->races)
            pto_races_run(&watch, c);
        has_errors = has_errors || c->module.error_count > 0;
        if (status == ST_OK)
            session_read(s, job.path, "pto", c->module.ops.n, 0);
    }
    if (a->races)
        pto_race_watch_free(&watch);
    if (status == ST_OK)
        session_give(s, &(struct answer){.schema = &pto_check_schema,
                                         .result = &(struct field_items){list, n},
                                         .describe = pto_check_describe});
    for (size_t i = 0; i < n; i++)
        pto_checked_free(&list[i]);
    return status == ST_OK && has_errors ? CODE_NO : session_code(status);
}

const struct command command_pto_check = {
    .name = "check",
    .group = GROUP_KERNELS,
    .summary = "check kernels against the rules of PTO text",
    .usage = "[OPTIONS] FILE…",
    .details =
        "Parses each kernel and checks what can be checked without running it: names and "
        "types, memory spaces and sizes of tiles, valid regions, shapes of multiplications, "
        "FIFOs between cube and vector cores, flags, dominance. Each problem is shown with "
        "file, line and column, the source line and a marker.\n"
        "\n"
        "Each kernel is then run, without data, and accesses to the same bytes from "
        "different pipes or cores that no flag, barrier or queue puts in order are reported, with "
        "both lines, the buffer and the missing flag; missing numbers get several "
        "values in turn. In a kernel without flags those of the compiler are checked. --no-races "
        "leaves this out.\n"
        "\n"
        "Parsing continues after an invalid operation, so one run shows several problems. "
        "The exit code is 1 if there is an error or a race.",
    .see = "docs/formats/pto.md",
    .operands = {.kind = OPERAND_FILE, .min = 1, .max = SIZE_MAX},
    .schemas = {&pto_check_schema},
    COMMAND_PARTS,
    .run = kernel_pto_check_run,
};
