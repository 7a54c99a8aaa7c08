/*
 * strata ops: device and host time by what launched the kernels.
 */
#include "analysis/ops/op_stats.h"
#include "cli/captures.h"
#include "cli/page_answer.h"
#include "report/report.h"

struct args {
    struct input_options input;
    const char *device;
    int by, order;
    int64_t top;
};

static const char *const bys[] = {"op", "module", "shape", "family", "range", "layer", NULL};

static const char *const orders[] = {"device", "headroom", NULL};

static const struct args defaults = {.input = CAPTURE_INPUT()};

static const struct opt options[] = {
    OPT_CHOICE(0, "by", bys, struct args, by, "what to group by (default: op)"),
    OPT_CHOICE(0, "sort", orders, struct args, order,
               "device time, or time above the roof (default: device)"),
    OPT_STRING(0, "chip", "NAME", struct args, device,
               "device of the run, if the capture does not name it"),
    OPT_INT(0, "top", "N", struct args, top, 1, INT32_MAX, "rows to show (default: 30)"),
    CAPTURE_OPTIONS(struct args, input),
};

static const struct example examples[] = {
    {"strata ops examples/kineto-small", "device time by operator"},
    {"strata ops examples/kineto-small --by family --json", "by kernel family, as JSON"},
    {"strata ops examples/kineto-small --by shape --sort headroom",
     "what is furthest from its roof"},
};

static int ops_run(struct session *s, const void *given)
{
    const struct args *args = given;
    const struct device *device = NULL;
    enum status status = ST_OK;
    struct capture *cap;
    struct study st;

    if (args->device != NULL) {
        device = device_find(&device_builtin, str_of(args->device));
        if (device == NULL)
            return session_usage(s, "no device is called '%s'; strata devices lists them",
                                 args->device);
    }
    const struct op_options o = {(enum op_by)args->by, (enum op_order)args->order, device};
    TRY_CODE(session_code(captures_load_one(s, s->operands.at[0], args->input, &cap)));
    study_begin(&st, cap, study_with_passes());
    const struct op_stats *stats = op_stats_find(&st, &o);
    if (s->common.json) {
        const struct record_env env = {&cap->strings, &st.scratch, NULL};
        session_document_in(s, &op_stats_schema, origin_name(cap->origin), stats, &env);
    } else if (!s->common.quiet) {
        struct report *r = report_new(session_lang(s), str_of(cap->name));
        op_stats_describe(stats, (size_t)args->top, r);
        session_answer(s, r);
    }
    study_end(&st);
    if (s->page != NULL)
        status = page_answer_view(s, &cap, 1, study_with_passes(), "kernels");
    capture_free(cap);
    return session_code(status);
}

const struct command command_ops = {
    .name = "ops",
    .group = GROUP_EXPLAIN,
    .summary = "device and host time by operator, module, shape or layer",
    .usage = "[OPTIONS] CAPTURE",
    .details =
        "Gives each kernel's time to what launched it: self to the innermost operator, "
        "module or range, total to everything around that. A kernel of the backward pass "
        "belongs to the module of its forward operator. What is outside of all rows is "
        "summed up, so that self times and it add up to the device time. Where input shapes are "
        "recorded, each row has its work (FLOP, bytes), its rates, and its share of what "
        "good kernels reach on the device; headroom is the time above that.",
    .see = "docs/analyses/ops.md",
    .operands = {.kind = OPERAND_FILE, .min = 1, .max = 1},
    .common = COMMON_CAPTURE | COMMON_LANG | COMMON_HTML,
    .schemas = {&op_stats_schema},
    COMMAND_PARTS,
    .run = ops_run,
};
