/*
 * strata ops: device and host time by what launched the kernels.
 */
#include "analysis/ops/op_stats.h"
#include "answers/per_rank.h"
#include "cli/captures.h"
#include "text/ops.h"

struct args {
    struct input_options input;
    const char *device;
    int by, order;
    int64_t top;
};

static const char *const bys[] = {"op",    "module", "shape", "family",
                                  "range", "layer",  "auto",  NULL};

static const char *const orders[] = {"device", "headroom", NULL};

static const struct args defaults = {.input = CAPTURE_INPUT(), .by = OP_BY_AUTO};

static const struct opt options[] = {
    OPT_CHOICE(0, "by", bys, struct args, by, "what to group by (default: auto, op or family)"),
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

static struct wording ops_summary(struct arena *arena, const struct op_stats *s)
{
    if (s->kernels == 0 || s->n == 0)
        return wording_of(arena, phrase_plain(&ops_text.of_rank_empty));
    return WORDING(
        arena, &ops_text.of_rank, PLACE("kernels", s->kernels),
        place_quantity("device", (double)s->device, UNIT_NS), PLACE("name", s->at[0].name),
        place_quantity("share", num_share((double)s->at[0].own_device, (double)s->device),
                       UNIT_RATIO));
}

static void ops_find(struct study *st, const void *ctx, struct rank_answer *out)
{
    const struct op_stats *s = op_stats_find(st, ctx);

    out->result = s;
    out->env = (struct record_env){&st->cap->strings, &st->scratch, NULL};
    out->summary = ops_summary(&st->scratch, s);
    out->weight = (double)s->device;
}

static void ops_describe(const void *stats, struct report *r)
{
    op_stats_describe(stats, r);
}

PER_RANK_SCHEMA(ops_ranks_schema, "strata.ops-ranks/1",
                "device time by operator, of several captures", &op_stats_record);

static int ops_run(struct session *s, const void *given)
{
    static const struct per_rank_kind kind = {&op_stats_schema, &ops_ranks_schema, ops_find,
                                              ops_describe};
    const struct args *args = given;
    struct op_options o = {(enum op_by)args->by, (enum op_order)args->order, NULL,
                           (size_t)args->top};

    if (args->device != NULL) {
        o.device = device_find(&device_builtin, str_of(args->device));
        if (o.device == NULL)
            return session_usage(s, "no device is called '%s'; strata devices lists them",
                                 args->device);
    }
    return captures_give_each(s, args->input, &kind, &o, "kernels");
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
    .schemas = {&op_stats_schema, &ops_ranks_schema},
    COMMAND_PARTS,
    .run = ops_run,
};
