/*
 * strata devices: what chips can do, with the source of every peak.
 */
#include "cli/session.h"
#include "device/device.h"
#include "flow/flow_devices.h"

static const struct example examples[] = {
    {"strata devices", "every device, one line each"},
    {"strata devices H200", "all peaks and ridge points of one"},
    {"strata devices Ascend --json", "a family, for programs"},
    {0},
};

/* "989.4", or a dash for what is not published. */
static const char *number(struct session *s, double value)
{
    return value > 0 ? arena_format(&s->arena, "%.5g", value).at : "-";
}

static const char *one_decimal(struct session *s, double value)
{
    return value > 0 ? arena_format(&s->arena, "%.1f", value).at : "-";
}

static const char *full_name(struct session *s, const struct device *d)
{
    bool is_ascend = strcmp(d->vendor, "Ascend") == 0;

    return is_ascend ? arena_format(&s->arena, "Ascend %s", d->name).at : d->name;
}

static void print_table(struct session *s, const struct device *const *list, size_t n)
{
    static const struct out_column columns[] = {
        {"device", false},     {"cc", true},   {"fp32 TFLOP/s", true}, {"bf16 TFLOP/s", true},
        {"fp8 TFLOP/s", true}, {"GB/s", true}, {"ridge FLOP/B", true},
    };
    enum { COLUMNS = ARRAY_LEN(columns) };
    const char **cells = ARENA_ARRAY(&s->arena, const char *, n *COLUMNS);

    for (size_t i = 0; i < n; i++) {
        const struct device *d = list[i];
        const char *const row[COLUMNS] = {
            full_name(s, d),
            d->cc != NULL ? d->cc : "-",
            number(s, d->tflops[PEAK_FP32]),
            number(s, d->tflops[PEAK_BF16]),
            number(s, d->tflops[PEAK_FP8]),
            number(s, d->gbps),
            one_decimal(s, device_ridge(d, PEAK_BF16)),
        };
        memcpy(cells + i * COLUMNS, row, sizeof(row));
    }
    out_table(&s->out, columns, COLUMNS, cells, n);
    out_text(&s->out,
             "\n  dense peaks as published; the ridge is that of bf16; - is not published\n"
             "  `strata devices NAME` shows every peak of one device and its source\n");
}

static void fact(struct session *s, const char *label, const char *value, const char *unit)
{
    if (strcmp(value, "-") != 0)
        out_printf(&s->out, "  %-12s%s%s%s\n", label, value, unit[0] != '\0' ? " " : "", unit);
}

static void print_device(struct session *s, const struct device *d)
{
    static const struct out_column columns[] = {
        {"type", false},        {"peak", true},           {"unit", false},
        {"ridge FLOP/B", true}, {"ops/cycle/core", true}, {"", false},
    };
    enum { COLUMNS = ARRAY_LEN(columns) };
    const struct device_rate *rate = device_rate_of(d);
    const char *cells[PEAK_COUNT * COLUMNS];
    size_t rows = 0;

    out_style(&s->out, STYLE_BOLD);
    out_printf(&s->out, "%s\n", full_name(s, d));
    out_style(&s->out, STYLE_PLAIN);
    fact(s, "cc", d->cc != NULL ? d->cc : "-", "");
    fact(s, "cores", number(s, d->cores), d->is_cores_unsure ? "(not confirmed)" : "");
    fact(s, "clock", number(s, d->clock_mhz), "MHz");
    fact(s, "memory", number(s, d->memory_gb), "GB");
    fact(s, "bandwidth", number(s, d->gbps), "GB/s");
    fact(s, "  quoted", number(s, d->gbps_quoted), "GB/s");
    fact(s, "  CJ memory", number(s, d->other_gbps), "GB/s");
    fact(s, "L2", number(s, d->l2_mb), "MB");
    fact(s, "L2 rate", number(s, d->l2_gbps), "GB/s");
    fact(s, "  CJ memory", number(s, d->other_l2_gbps), "GB/s");
    fact(s, "source", d->source, "");
    for (int p = 0; p < PEAK_COUNT; p++) {
        if (!(d->tflops[p] > 0))
            continue;
        const char **row = cells + rows++ * COLUMNS;
        row[0] = peak_name((enum peak)p);
        row[1] = number(s, d->tflops[p]);
        row[2] = peak_unit((enum peak)p);
        row[3] = one_decimal(s, device_ridge(d, (enum peak)p));
        row[4] = number(s, rate != NULL ? rate->ops[p] : 0);
        row[5] = (d->unsure >> p & 1) != 0 ? "not confirmed" : "";
    }
    if (rows > 0) {
        out_text(&s->out, "\n");
        out_table(&s->out, columns, COLUMNS, cells, rows);
    }
    if (rate != NULL && rate->bf16_mma_sync > 0)
        out_printf(&s->out, "\n  bf16 with mma.sync: %.5g ops/cycle/core\n", rate->bf16_mma_sync);
}

static void json_number(struct json_writer *j, const char *key, double value)
{
    if (!(value > 0))
        return;
    json_put_f64(j, key, value);
}

/* An object with a number for each peak that `of` knows. */
static void json_peaks(struct json_writer *j, const char *key, const struct device *d,
                       double (*of)(const struct device *d, enum peak peak))
{
    json_put_object(j, key);
    for (int p = 0; p < PEAK_COUNT; p++)
        json_number(j, peak_name((enum peak)p), of(d, (enum peak)p));
    json_write_end(j);
}

static double tops_of(const struct device *d, enum peak peak)
{
    return d->tflops[peak];
}

static double rate_of(const struct device *d, enum peak peak)
{
    const struct device_rate *rate = device_rate_of(d);

    return rate != NULL ? rate->ops[peak] : 0;
}

static void json_device(struct session *s, struct json_writer *j, const struct device *d)
{
    json_write_object(j);
    json_put_text(j, "name", full_name(s, d));
    json_put_text(j, "vendor", d->vendor);
    if (d->cc != NULL) {
        json_put_text(j, "cc", d->cc);
    }
    json_number(j, "cores", d->cores);
    json_number(j, "clock_mhz", d->clock_mhz);
    json_number(j, "bandwidth_gbps", d->gbps);
    json_number(j, "bandwidth_quoted_gbps", d->gbps_quoted);
    json_number(j, "bandwidth_cj_gbps", d->other_gbps);
    json_number(j, "l2_mb", d->l2_mb);
    json_number(j, "l2_gbps", d->l2_gbps);
    json_number(j, "l2_cj_gbps", d->other_l2_gbps);
    json_number(j, "memory_gb", d->memory_gb);
    json_peaks(j, "peak_tops", d, tops_of);
    json_peaks(j, "ridge_flop_per_byte", d, device_ridge);
    json_peaks(j, "ops_per_cycle_per_core", d, rate_of);
    json_put_array(j, "unconfirmed");
    for (int p = 0; p < PEAK_COUNT; p++)
        if ((d->unsure >> p & 1) != 0 && d->tflops[p] > 0)
            session_json_text(j, peak_name((enum peak)p));
    json_write_end(j);
    json_put_text(j, "source", d->source);
    json_write_end(j);
}

/* The built-in table, with the user's file on top when there is one. */
static enum status load_table(struct session *s, struct device_table *table)
{
    const char *path;
    size_t rows;

    TRY(flow_devices(&s->arena, table, &path, &rows, &s->diag));
    if (path != NULL)
        session_read(s, path, "devices", rows, diag_count(&s->diag, "devices.no-name"));
    return ST_OK;
}

/* The devices a name stands for: one that has it, or else all whose names begin with it. */
static size_t choose(const struct device_table *table, const char *name, const struct device **list)
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
    /* "NVIDIA H200 141GB": the driver says more than the table. */
    if (n == 0 && best != NULL)
        list[n++] = best;
    return n;
}

static void print_json(struct session *s, const struct device *const *list, size_t n)
{
    struct json_writer *j = session_json_begin(s, "strata.devices/1", NULL);

    json_write_object(j);
    json_put_array(j, "devices");
    for (size_t i = 0; i < n; i++)
        json_device(s, j, list[i]);
    json_write_end(j);
    json_write_end(j);
    session_json_end(s);
}

static int run(struct session *s, const void *args)
{
    const char *name = s->operands.n > 0 ? s->operands.at[0] : NULL;
    struct device_table table;

    (void)args;
    enum status st = load_table(s, &table);
    if (st != ST_OK)
        return session_code(st);
    const struct device **list = ARENA_ARRAY(&s->arena, const struct device *, table.n);
    size_t n = choose(&table, name, list);
    if (n == 0) {
        diag_fail(&s->diag, ST_NOT_FOUND, "devices.unknown", (struct where){.path = name},
                  "no such device in the table");
        diag_hint(&s->diag, "try", "strata devices");
        return CODE_FILE;
    }
    if (s->common.json)
        print_json(s, list, n);
    else if (n == 1)
        print_device(s, list[0]);
    else
        print_table(s, list, n);
    return CODE_DONE;
}

const struct command command_devices = {
    .name = "devices",
    .group = GROUP_ABOUT,
    .summary = "show what chips can do: peaks, bandwidth, ridge points",
    .usage = "[OPTIONS] [NAME]",
    .details =
        "Lists the accelerators strata knows with their dense peaks, memory bandwidth and ridge "
        "points. NAME is the beginning of a device's name or a name as the driver reports it; "
        "letter case does not count. A single device is shown with every peak and the source.\n\n"
        "The ridge point is the number of operations per byte of memory traffic at which "
        "computing and moving data take equally long: 1000 times TFLOP/s over GB/s.\n\n"
        "The file ~/.config/strata/devices.json adds devices or corrects some. It holds an object "
        "with an array devices, whose rows have the shape that --json prints; a row with a known "
        "name replaces only the values it gives.",
    .operands = {.kind = OPERAND_WORD, .max = 1},
    .examples = examples,
    .run = run,
};
