/*
 * operator-details: operators of the framework with their stacks and sums, without start times.
 *
 * Sums bring no timeline, but they prove what was recorded: shapes, call stacks.
 * Format reference: docs/formats/bundles.md
 */
#include "base/csv.h"
#include "capture/capture.h"
#include "input/input.h"

static bool claims(struct str name)
{
    return str_equal(name, S("operator_details.csv"));
}

static bool is_table(const struct csv *csv)
{
    return csv_column(csv, S("Name")) >= 0 && csv_column(csv, S("Host Self Duration(us)")) >= 0 &&
           csv_column(csv, S("Host Total Duration(us)")) >= 0;
}

static int probe(const struct probe *p)
{
    struct csv csv;

    csv_open(&csv, p->head);
    return is_table(&csv) ? 90 : 0;
}

/* A cell that says something: shapes of operators without inputs are empty lines. */
static bool has_text(const struct csv *csv, int column)
{
    struct str text = csv_cell(csv, column);

    for (size_t i = 0; i < text.n; i++)
        if (strchr("\";\r\n\t ", text.at[i]) == NULL)
            return true;
    return false;
}

static bool take_row(const struct csv *csv, int host)
{
    nanos time;

    return !csv->is_broken && csv->n_cells == csv_header_count(csv) &&
           num_us(csv_cell(csv, host), &time);
}

static enum status read_operator_details(const struct input_file *in, struct capture *cap)
{
    struct source source = {
        .path = in->path, .format = input_operator_details.name, .bytes = in->text.n};
    bool has_shapes = false, has_stacks = false;
    struct csv csv;

    csv_open(&csv, in->text);
    if (!is_table(&csv))
        return diag_fail(in->diag, ST_FORMAT, "operator-details.no-header",
                         (struct where){in->path, 1, 0},
                         "no header with Name and Host Self Duration(us)");
    int host = csv_column(&csv, S("Host Self Duration(us)"));
    int shapes = csv_column(&csv, S("Input Shapes")), stack = csv_column(&csv, S("Call Stack"));
    while (csv_next(&csv)) {
        if (!take_row(&csv, host)) {
            source.lost++;
            diag_add(in->diag, SEV_LOSS, "operator-details.bad-row",
                     (struct where){in->path, csv.line, 0},
                     "row skipped: a field is missing or is no number");
            continue;
        }
        source.rows++;
        has_shapes = has_shapes || has_text(&csv, shapes);
        has_stacks = has_stacks || has_text(&csv, stack);
    }
    if (has_shapes && cap->facts.record_shapes == UNKNOWN)
        cap->facts.record_shapes = 1;
    if (has_stacks && cap->facts.with_stack == UNKNOWN)
        cap->facts.with_stack = 1;
    capture_source(cap, source);
    return ST_OK;
}

const struct input_format input_operator_details = {
    .name = "operator-details",
    .summary = "operators of the framework with stacks and sums, no timeline (CSV)",
    .looks_for = "operator_details.csv",
    .role = ROLE_SIDECAR,
    .vendor = VENDOR_ASCEND,
    .claims = claims,
    .probe = probe,
    .read = read_operator_details,
};
