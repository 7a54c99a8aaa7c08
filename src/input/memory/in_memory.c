/*
 * memory: how much device memory was in use, as three tables tell it: memory_record.csv,
 * operator_memory.csv and npu_module_mem.csv. Every number becomes a sample of a counter, every row
 * of operator_memory.csv an allocation, too.
 * Format reference: docs/formats/operator-memory.md
 */
#include "input/import.h"
#include "input/rank.h"

/* One column of samples: when, how much, and what the counter is called. */
static const struct {
    struct str time, value, name;
} columns[] = {
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

enum { MAX_SERIES = 4096 }; /* a profile has some dozen */

/* Of a table: the columns of the samples, and what they are called in the capture. */
struct memory {
    int time[ARRAY_LEN(columns)], value[ARRAY_LEN(columns)], component;
    strid names[ARRAY_LEN(columns)], unit;
    int op, size, taken, given; /* of an allocation */
};

/* "NPU:0" of another device than the one that is read. */
static bool is_other_device(const struct import *i, const struct csv *csv)
{
    struct str text = str_trim(csv_cell(csv, csv_column(csv, S("Device Type"))));
    int64_t device;

    if (text.n == 0)
        text = str_trim(csv_cell(csv, csv_column(csv, S("Device"))));
    return str_starts(text, S("NPU:")) && num_i64(str_part(text, 4, text.n), &device) &&
           import_is_other_device(i, device);
}

/* An empty release time: it lived to the end. */
static void take_allocation(struct import *i, const struct csv *csv, const struct memory *m)
{
    struct allocation a = {.end = -1};
    double kilobytes;

    if (m->size < 0 || !num_us(str_trim(csv_cell(csv, m->taken)), &a.begin) ||
        !num_f64(str_trim(csv_cell(csv, m->size)), &kilobytes))
        return;
    if (!num_us(str_trim(csv_cell(csv, m->given)), &a.end))
        a.end = a.begin - 1;
    a.bytes = kilobytes * 1024;
    a.name = capture_intern(i->cap, str_trim(csv_cell(csv, m->op)));
    vec_push(&i->cap->allocations, a);
}

/* Lost when a cell that should hold a number does not. */
static enum import_row memory_take_row(struct import *i, const struct csv *csv, void *ctx)
{
    const struct memory *m = ctx;
    struct capture *cap = i->cap;

    if (is_other_device(i, csv))
        return ROW_PASSED;
    strid process = capture_intern(cap, m->component >= 0 ? str_trim(csv_cell(csv, m->component))
                                                          : S("operators"));
    if (cap->series.n > MAX_SERIES || csv->is_broken || csv->n_cells != csv_header_count(csv))
        return ROW_LOST;
    for (size_t k = 0; k < ARRAY_LEN(columns); k++) {
        struct str time = str_trim(csv_cell(csv, m->time[k]));
        struct str value = str_trim(csv_cell(csv, m->value[k]));
        double amount;
        nanos at;
        if (num_is_missing(time) || num_is_missing(value))
            continue;
        if (!num_us(time, &at) || !num_f64(value, &amount))
            return ROW_LOST;
        capture_sample(cap, capture_series(cap, process, m->names[k], m->unit), at, amount);
    }
    take_allocation(i, csv, m);
    return ROW_TAKEN;
}

static bool is_table(const struct csv *csv)
{
    bool has_component =
        csv_column(csv, S("Component")) >= 0 && csv_column(csv, S("Timestamp(us)")) >= 0;

    return (has_component && csv_column(csv, S("Total Reserved(MB)")) >= 0) ||
           csv_column(csv, S("Allocation Total Allocated(MB)")) >= 0;
}

static const struct import_table table = {
    .is = is_table,
    .no_header = {"memory.no-header", "not a memory table: unknown header"},
    .bad_row = {"memory.bad-row", "row skipped: a field is missing or not a number"},
    .take = memory_take_row,
};

static enum status read_memory(struct import *i)
{
    struct memory m;
    struct csv csv;

    TRY(import_table_open(i, &table, &csv));
    m.unit = capture_intern(i->cap, S("MB"));
    m.component = csv_column(&csv, S("Component"));
    m.op = csv_column(&csv, S("Name"));
    m.size = csv_column(&csv, S("Size(KB)"));
    m.taken = csv_column(&csv, S("Allocation Time(us)"));
    m.given = csv_column(&csv, S("Release Time(us)"));
    for (size_t k = 0; k < ARRAY_LEN(columns); k++) {
        m.time[k] = csv_column(&csv, columns[k].time);
        m.value[k] = csv_column(&csv, columns[k].value);
        m.names[k] = capture_intern(i->cap, columns[k].name);
    }
    import_table_rows(i, &table, &csv, &m);
    return ST_OK;
}

const struct input_format input_memory = {
    .name = "memory",
    .summary = "device memory over time (CSV)",
    .looks_for = "memory_record.csv, operator_memory.csv, npu_module_mem.csv",
    .role = ROLE_SIDECAR,
    .vendor = VENDOR_ASCEND,
    .claims = claims,
    .table = &table,
    .read = read_memory,
};
