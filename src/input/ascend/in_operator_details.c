/*
 * operator-details: operators of the framework with their stacks and sums, without start times.
 *
 * Sums bring no timeline, but they prove what was recorded: shapes, call stacks.
 * Format reference: docs/formats/bundles.md
 */
#include "input/import.h"

struct details {
    int host, shapes, stack; /* columns */
    bool has_shapes, has_stacks;
};

/* A cell that says something: shapes of operators without inputs are empty lines. */
static bool has_text(const struct csv *csv, int column)
{
    struct str text = csv_cell(csv, column);

    for (size_t i = 0; i < text.n; i++)
        if (strchr("\";\r\n\t ", text.at[i]) == NULL)
            return true;
    return false;
}

static enum import_row operator_details_take_row(struct import *i, const struct csv *csv, void *ctx)
{
    struct details *d = ctx;
    nanos time;

    (void)i;
    if (csv->is_broken || csv->n_cells != csv_header_count(csv) ||
        !num_us(csv_cell(csv, d->host), &time))
        return ROW_LOST;
    d->has_shapes = d->has_shapes || has_text(csv, d->shapes);
    d->has_stacks = d->has_stacks || has_text(csv, d->stack);
    return ROW_TAKEN;
}

static const struct import_table table = {
    .columns = {S_INIT("Name"), S_INIT("Host Self Duration(us)"),
                S_INIT("Host Total Duration(us)")},
    .no_header = {"operator-details.no-header", "no header with Name and Host Self Duration(us)"},
    .bad_row = {"operator-details.bad-row", "row skipped: a field is missing or not a number"},
    .take = operator_details_take_row,
};

static enum status read_operator_details(struct import *i)
{
    struct facts *facts = &i->cap->facts;
    struct csv csv;

    TRY(import_table_open(i, &table, &csv));
    struct details d = {.host = csv_column(&csv, S("Host Self Duration(us)")),
                        .shapes = csv_column(&csv, S("Input Shapes")),
                        .stack = csv_column(&csv, S("Call Stack"))};
    import_table_rows(i, &table, &csv, &d);
    if (d.has_shapes && facts->record_shapes == UNKNOWN)
        facts->record_shapes = 1;
    if (d.has_stacks && facts->with_stack == UNKNOWN)
        facts->with_stack = 1;
    return ST_OK;
}

const struct input_format input_operator_details = {
    .name = "operator-details",
    .summary = "framework operators with stacks and totals, no timeline (CSV)",
    .looks_for = "operator_details.csv",
    .role = ROLE_SIDECAR,
    .vendor = VENDOR_ASCEND,
    .table = &table,
    .read = read_operator_details,
};
