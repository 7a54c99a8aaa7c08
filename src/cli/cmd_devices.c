/*
 * strata devices: what chips can do, with the source of every peak.
 */
#include "cli/session.h"
#include "device/user_devices.h"
#include "report/report.h"

static const struct example examples[] = {
    {"strata devices", "all devices, one line each"},
    {"strata devices H200", "all peaks and ridge points of one device"},
    {"strata devices Ascend --json", "one family, as JSON"},
};

/* "989.4", or a dash for what is not published. */
static struct str devices_number(struct report *r, double value)
{
    return value > 0 ? arena_format(&r->arena, "%.5g", value) : S("-");
}

static struct str ridge(struct report *r, const struct device *d, enum peak peak)
{
    double value = device_ridge(d, peak);

    return value > 0 ? arena_format(&r->arena, "%.1f", value) : S("-");
}

static void describe_all(const void *devices, struct report *r)
{
    static const struct column columns[] = {
        {"device", COLUMN_TEXT, 0},        {"cc", COLUMN_RIGHT, 0},
        {"fp32 TFLOP/s", COLUMN_RIGHT, 0}, {"bf16 TFLOP/s", COLUMN_RIGHT, 0},
        {"fp8 TFLOP/s", COLUMN_RIGHT, 0},  {"GB/s", COLUMN_RIGHT, 0},
        {"ridge FLOP/B", COLUMN_RIGHT, 0},
    };
    const struct device_list *list = devices;
    struct table *t = report_table(r, columns, ARRAY_LEN(columns));

    for (size_t i = 0; i < list->n; i++) {
        const struct device *d = list->at[i];
        table_text(r, t, str_of(device_full_name(d, &r->arena)));
        table_text(r, t, d->cc != NULL ? str_of(d->cc) : S("-"));
        table_text(r, t, devices_number(r, d->tflops[PEAK_FP32]));
        table_text(r, t, devices_number(r, d->tflops[PEAK_BF16]));
        table_text(r, t, devices_number(r, d->tflops[PEAK_FP8]));
        table_text(r, t, devices_number(r, d->gbps));
        table_text(r, t, ridge(r, d, PEAK_BF16));
    }
    report_text(r, S("  dense peaks as published; ridge point for bf16; -: not published\n"
                     "  `strata devices NAME` shows every peak of one device and its source"));
}

static void add_facts(struct report *r, const struct device *d)
{
    const struct {
        const char *label;
        double value;
        const char *unit;
    } facts[] = {
        {"cores", d->cores, d->is_cores_unsure ? " (unconfirmed)" : ""},
        {"clock", d->clock_mhz, " MHz"},
        {"memory", d->memory_gb, " GB"},
        {"bandwidth", d->gbps, " GB/s"},
        {"  quoted", d->gbps_quoted, " GB/s"},
        {"  CJ memory", d->other_gbps, " GB/s"},
        {"L2", d->l2_mb, " MB"},
        {"L2 rate", d->l2_gbps, " GB/s"},
        {"  CJ memory", d->other_l2_gbps, " GB/s"},
    };

    if (d->cc != NULL)
        report_line(r, "  %-12s%s", "cc", d->cc);
    for (size_t i = 0; i < ARRAY_LEN(facts); i++)
        if (facts[i].value > 0)
            report_line(r, "  %-12s%.5g%s", facts[i].label, facts[i].value, facts[i].unit);
    report_line(r, "  %-12s%s", "source", d->source);
}

static void describe_one(const void *devices, struct report *r)
{
    static const struct column columns[] = {
        {"type", COLUMN_TEXT, 0},
        {"peak", COLUMN_RIGHT, 0},
        {"unit", COLUMN_TEXT, 0},
        {"ridge FLOP/B", COLUMN_RIGHT, 0},
        {"ops/cycle/core", COLUMN_RIGHT, 0},
        {"", COLUMN_TEXT, 0},
    };
    const struct device *d = ((const struct device_list *)devices)->at[0];
    const struct device_rate *rate = device_rate_of(d);
    struct table *t = NULL;

    add_facts(r, d);
    for (int p = 0; p < PEAK_COUNT; p++) {
        if (!(d->tflops[p] > 0))
            continue;
        if (t == NULL)
            t = report_table(r, columns, ARRAY_LEN(columns));
        table_text(r, t, str_of(peak_name((enum peak)p)));
        table_text(r, t, devices_number(r, d->tflops[p]));
        table_text(r, t, str_of(peak_unit((enum peak)p)));
        table_text(r, t, ridge(r, d, (enum peak)p));
        table_text(r, t, devices_number(r, rate != NULL ? rate->ops[p] : 0));
        table_text(r, t, (d->unsure >> p & 1) != 0 ? S("unconfirmed") : S(""));
    }
    if (rate != NULL && rate->bf16_mma_sync > 0)
        report_text(r, arena_format(&r->arena, "  bf16 with mma.sync: %.5g ops/cycle/core",
                                    rate->bf16_mma_sync));
}

/* The devices a name stands for: one that has it, or else all whose names begin with it. */
static size_t devices_choose(const struct device_table *table, const char *name,
                             const struct device **list)
{
    const struct device *best = name != NULL ? device_find(table, str_of(name)) : NULL;
    size_t n = 0;

    /* A prefix both ways is the whole name, and wins over longer ones. */
    if (best != NULL && device_has_prefix(best, str_of(name))) {
        list[0] = best;
        return 1;
    }
    for (size_t i = 0; i < table->n; i++)
        if (name == NULL || device_has_prefix(&table->at[i], str_of(name)))
            list[n++] = &table->at[i];
    /* "NVIDIA H200 141GB": the driver's name is longer than the table's. */
    if (n == 0 && best != NULL)
        list[n++] = best;
    return n;
}

static int devices_run(struct session *s, const void *args)
{
    const char *name = s->operands.n > 0 ? s->operands.at[0] : NULL;
    struct device_table table; /* the built-in one, with the user's file on top */
    const char *path;
    size_t rows;

    (void)args;
    TRY_CODE(session_code(user_devices(&s->arena, &table, &path, &rows, &s->diag)));
    if (path != NULL)
        session_read(s, path, "devices", rows, diag_count(&s->diag, "devices.no-name"));
    struct device_list list = {ARENA_ARRAY(&s->arena, const struct device *, table.n), 0};
    list.n = devices_choose(&table, name, list.at);
    if (list.n == 0) {
        diag_fail(&s->diag, ST_NOT_FOUND, "devices.unknown", (struct where){.path = name},
                  "unknown device");
        diag_hint(&s->diag, "try", "strata devices");
        return CODE_FILE;
    }
    bool is_one = list.n == 1;
    session_give(s, &(struct answer){
                        .schema = &devices_schema,
                        .result = &list,
                        .title = is_one ? str_of(device_full_name(list.at[0], &s->arena)) : S(""),
                        .describe = is_one ? describe_one : describe_all});
    return CODE_DONE;
}

const struct command command_devices = {
    .name = "devices",
    .group = GROUP_TOOLS,
    .summary = "list devices: peaks, memory bandwidth, ridge points",
    .usage = "[OPTIONS] [NAME]",
    .details =
        "Lists the known accelerators with their dense peaks, memory bandwidth and ridge points. "
        "NAME is a prefix of a device's name, or the name that the driver reports; case is "
        "ignored. A single device is shown with every peak and its source.\n"
        "\n"
        "The ridge point is the arithmetic intensity (operations per byte of memory traffic) at "
        "which computing and moving data take equally long: 1000 * TFLOP/s / GB/s.\n"
        "\n"
        "~/.config/strata/devices.json adds or corrects devices. It is an object with an array "
        "devices, whose entries have the form that --json prints; an entry with a known name "
        "replaces only the values it contains.",
    .operands = {.kind = OPERAND_WORD, .max = 1},
    .schemas = {&devices_schema},
    COMMAND_PARTS_BARE,
    .run = devices_run,
};
