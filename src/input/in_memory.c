/*
 * memory: how much device memory was in use, as three tables tell it: memory_record.csv,
 * operator_memory.csv and npu_module_mem.csv. Every number becomes a sample of a counter.
 * Format reference: docs/formats/operator-memory.md
 */
#include "base/csv.h"
#include "capture/capture.h"
#include "input/input.h"
#include "input/rank.h"

/* One column of samples: when, how much, and what the counter is called. */
struct column {
    struct str time, value, name;
};

static const struct column columns[] = {
    {S_INIT("Timestamp(us)"), S_INIT("Total Allocated(MB)"), S_INIT("Total Allocated")},
    {S_INIT("Timestamp(us)"), S_INIT("Total Reserved(MB)"), S_INIT("Total Reserved")},
    {S_INIT("Timestamp(us)"), S_INIT("Total Active(MB)"), S_INIT("Total Active")},
    {S_INIT("Allocation Time(us)"), S_INIT("Allocation Total Allocated(MB)"),
     S_INIT("Total Allocated")},
    {S_INIT("Allocation Time(us)"), S_INIT("Allocation Total Reserved(MB)"),
     S_INIT("Total Reserved")},
    {S_INIT("Allocation Time(us)"), S_INIT("Allocation Total Active(MB)"), S_INIT("Total Active")},
    {S_INIT("Release Time(us)"), S_INIT("Release Total Allocated(MB)"), S_INIT("Total Allocated")},
    {S_INIT("Release Time(us)"), S_INIT("Release Total Reserved(MB)"), S_INIT("Total Reserved")},
    {S_INIT("Release Time(us)"), S_INIT("Release Total Active(MB)"), S_INIT("Total Active")},
};

static bool claims(struct str name)
{
    struct str base = rank_name_parts(name).base;

    return str_ends(name, S(".csv")) &&
           (str_equal(base, S("memory_record")) || str_equal(base, S("operator_memory")) ||
            str_equal(base, S("npu_module_mem")));
}

static bool is_table(const struct csv *csv)
{
    bool has_component =
        csv_column(csv, S("Component")) >= 0 && csv_column(csv, S("Timestamp(us)")) >= 0;

    return (has_component && csv_column(csv, S("Total Reserved(MB)")) >= 0) ||
           csv_column(csv, S("Allocation Total Allocated(MB)")) >= 0;
}

static int probe(const struct probe *p)
{
    struct csv csv;

    csv_open(&csv, p->head);
    return is_table(&csv) ? 90 : 0;
}

enum { MAX_SERIES = 4096 }; /* a profile has some dozen */

struct reader {
    struct capture *cap;
    struct csv csv;
    int time[ARRAY_LEN(columns)], value[ARRAY_LEN(columns)], component;
    strid names[ARRAY_LEN(columns)], unit;
};

/* "NPU:0" of another device than the one that is read. */
static bool is_other_device(const struct input_file *in, const struct csv *csv)
{
    struct str text = str_trim(csv_cell(csv, csv_column(csv, S("Device Type"))));
    int64_t device;

    if (text.n == 0)
        text = str_trim(csv_cell(csv, csv_column(csv, S("Device"))));
    return in->options != NULL && in->options->device >= 0 && str_starts(text, S("NPU:")) &&
           num_i64(str_part(text, 4, text.n), &device) && device != in->options->device;
}

/* False when a cell that should hold a number does not. */
static bool take_row(struct reader *r)
{
    struct str component = str_trim(csv_cell(&r->csv, r->component));
    strid process = capture_intern(r->cap, r->component >= 0 ? component : S("operators"));

    if (r->cap->series.n > MAX_SERIES || r->csv.is_broken ||
        r->csv.n_cells != csv_header_count(&r->csv))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(columns); i++) {
        struct str time = str_trim(csv_cell(&r->csv, r->time[i]));
        struct str value = str_trim(csv_cell(&r->csv, r->value[i]));
        double amount;
        nanos at;
        if (num_is_missing(time) || num_is_missing(value))
            continue;
        if (!num_us(time, &at) || !num_f64(value, &amount))
            return false;
        capture_sample(r->cap, capture_series(r->cap, process, r->names[i], r->unit), at, amount);
    }
    return true;
}

static enum status read_memory(const struct input_file *in, struct capture *cap)
{
    struct source source = {.path = in->path, .format = input_memory.name, .bytes = in->text.n};
    struct reader r = {.cap = cap};

    csv_open(&r.csv, in->text);
    if (!is_table(&r.csv))
        return diag_fail(in->diag, ST_FORMAT, "memory.no-header", (struct where){in->path, 1, 0},
                         "no header of a memory table");
    r.component = csv_column(&r.csv, S("Component"));
    r.unit = capture_intern(cap, S("MB"));
    for (size_t i = 0; i < ARRAY_LEN(columns); i++) {
        r.time[i] = csv_column(&r.csv, columns[i].time);
        r.value[i] = csv_column(&r.csv, columns[i].value);
        r.names[i] = capture_intern(cap, columns[i].name);
    }
    while (csv_next(&r.csv)) {
        if (is_other_device(in, &r.csv))
            continue;
        if (take_row(&r)) {
            source.rows++;
            continue;
        }
        source.lost++;
        diag_add(in->diag, SEV_LOSS, "memory.bad-row", (struct where){in->path, r.csv.line, 0},
                 "row skipped: a field is missing or is no number");
    }
    capture_source(cap, source);
    return ST_OK;
}

const struct input_format input_memory = {
    .name = "memory",
    .summary = "device memory over time (CSV)",
    .looks_for = "memory_record.csv, operator_memory.csv, npu_module_mem.csv",
    .role = ROLE_SIDECAR,
    .vendor = VENDOR_ASCEND,
    .claims = claims,
    .probe = probe,
    .read = read_memory,
};
