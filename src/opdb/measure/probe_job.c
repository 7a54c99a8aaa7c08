/*
 * One operator with one size changed, value after value. See probe_job.h.
 */
#include "opdb/measure/probe_job.h"

#include "opdb/rows/cell.h"
#include "opdb/rows/columns.h"
#include "opdb/rows/table.h"
#include "report/report.h"

enum { VALUES_MOST = 256, PLACES_MOST = 16 };

struct place {
    bool is_output;
    size_t slot, dim;
};

struct axis {
    struct place places[PLACES_MOST];
    size_t n_places;
    int64_t values[VALUES_MOST];
    size_t n_values;
};

static bool read_place(struct str text, struct place *out)
{
    struct str slot, dim = text;
    uint64_t a, b;

    text = str_trim(text);
    out->is_output = str_starts(text, S("o"));
    dim = str_part(text, out->is_output, text.n);
    if (!str_split(&dim, '.', &slot) || !num_u64(slot, &a) || !num_u64(dim, &b) || a >= OP_SLOTS ||
        b >= TENSOR_RANK)
        return false;
    out->slot = (size_t)a;
    out->dim = (size_t)b;
    return true;
}

/* "0.1+1.1=16,32": places, then values. */
static bool read_axis(struct str text, struct axis *out)
{
    struct str places, part;

    *out = (struct axis){0};
    if (!str_split(&text, '=', &places))
        return false;
    while (str_split(&places, '+', &part))
        if (out->n_places == PLACES_MOST || !read_place(part, &out->places[out->n_places++]))
            return false;
    while (text.n > 0 && str_split(&text, ',', &part))
        if (out->n_values == VALUES_MOST || !num_i64(part, &out->values[out->n_values++]))
            return false;
    return out->n_values > 0;
}

static void set_cell(struct op_table *t, struct str column, struct str text)
{
    int at = table_add_column(t, column);

    for (size_t row = 0; row < t->n_rows; row++)
        table_set(t, row, at, text);
}

/* The row as it is given. */
static void base_row(struct arena *arena, const struct probe_job *job, struct op_row *out)
{
    struct op_table t;

    table_init(&t, "probe");
    table_add_column(&t, COL_OP_STATE);
    table_add_row(&t);
    set_cell(&t, COL_INPUT_SHAPES, job->shapes);
    set_cell(&t, COL_INPUT_DTYPES, job->types);
    set_cell(&t, COL_INPUT_FORMATS, job->formats);
    set_cell(&t, COL_OUTPUT_SHAPES, job->outputs);
    set_cell(&t, COL_OUTPUT_DTYPES, job->output_types);
    measure_db_row(arena, &t, 0, out);
    table_free(&t);
}

static bool set_sizes(struct op_row *row, const struct axis *axis, int64_t value)
{
    for (size_t i = 0; i < axis->n_places; i++) {
        const struct place *p = &axis->places[i];
        size_t most = p->is_output ? OP_OUTPUTS : OP_SLOTS;
        struct op_slot *slots = p->is_output ? row->out : row->in;
        if (p->slot >= most || p->dim >= slots[p->slot].t.rank)
            return false;
        slots[p->slot].t.dim[p->dim] = value;
    }
    return true;
}

static bool job_add_result(void *ctx, size_t i, const struct measure_result *result)
{
    struct probed_sizes *p = ctx;
    struct probed_size *at = &p->at.at[i];

    at->state = result->state;
    at->us = result->stats.shortest;
    at->why = arena_str(&p->arena, str_of(result->text));
    return true;
}

enum { ALIGNED = 16 };

/* Sizes that `step` forbids were tried and none of them ran, but one that it allows did. What 16
 * forbids as well does not show that 32 are needed. */
static bool needs_multiples(const struct probed_sizes *p, int64_t step)
{
    bool has_run = false, has_failed = false;

    for (size_t i = 0; i < p->at.n; i++) {
        int64_t value = p->at.at[i].value;
        bool is_fine = p->at.at[i].state == MEASURE_DONE, is_allowed = value % step == 0;
        if (is_fine && !is_allowed)
            return false;
        has_run = has_run || (is_fine && value > 0);
        has_failed = has_failed || (!is_allowed && (step == ALIGNED || value % ALIGNED == 0));
    }
    return has_run && has_failed;
}

static void conclude(struct probed_sizes *p)
{
    size_t fine = 0;
    bool has_odd = false; /* sizes that an alignment would forbid were tried */

    for (size_t i = 0; i < p->at.n; i++) {
        has_odd = has_odd || p->at.at[i].value % ALIGNED != 0;
        if (p->at.at[i].state == MEASURE_DONE) {
            fine++;
            p->largest = p->at.at[i].value > p->largest ? p->at.at[i].value : p->largest;
        }
    }
    p->conclusion = fine == 0                         ? "no value runs"
                    : fine == p->at.n && has_odd      ? "no strict alignment"
                    : fine == p->at.n                 ? "unknown: only multiples of 16 were tried"
                    : needs_multiples(p, 2 * ALIGNED) ? "strict 32-alignment"
                    : needs_multiples(p, ALIGNED)     ? "strict 16-alignment"
                                                      : "complex";
}

enum status probe_run(const struct probe_job *job, struct probed_sizes *out, struct diag *d)
{
    struct measure_db_job measure = job->measure;
    struct backend_facts facts = {0};
    struct axis axis;

    *out = (struct probed_sizes){.op = str_of(job->op->name), .axis = job->axis};
    arena_init(&out->arena);
    if (!read_axis(job->axis, &axis))
        return diag_fail(d, ST_FORMAT, "perfdb.bad-axis", (struct where){0},
                         "no axis: %.*s; it reads 0.1+1.1=16,32,48", STR_ARGS(job->axis));
    struct op_row *rows = ARENA_ARRAY(&out->arena, struct op_row, axis.n_values);
    for (size_t i = 0; i < axis.n_values; i++) {
        base_row(&out->arena, job, &rows[i]);
        if (!set_sizes(&rows[i], &axis, axis.values[i]))
            return diag_fail(d, ST_FORMAT, "perfdb.bad-axis", (struct where){0},
                             "the shapes have no such dimension: %.*s", STR_ARGS(job->axis));
        vec_push(&out->at, ((struct probed_size){axis.values[i], MEASURE_NOT_RUN, 0, S("")}));
    }
    TRY(measure_db_open(&measure, NULL, &out->arena, &facts, d));
    out->backend = measure.options.backend->name;
    struct measure_job run = {.op = job->op,
                              .rows = rows,
                              .n = axis.n_values,
                              .options = measure.options,
                              .done = job_add_result,
                              .ctx = out};
    enum status st = measure_run(&run, d);
    conclude(out);
    return st;
}

void probed_sizes_free(struct probed_sizes *p)
{
    vec_free(&p->at);
    arena_free(&p->arena);
}

/* ---- as records and as a report ---- */

enum { STATES = MEASURE_NOT_HERE + 1 };

static const struct field value_fields[] = {
    FIELD(struct probed_size, value, "value", .head = "value"),
    FIELD_OF_ENUM(struct probed_size, state, "state", measure_state_name, STATES, .head = "state"),
    FIELD(struct probed_size, us, "min_us", .head = "min us", .missing = MISSING_NOT_POSITIVE),
    FIELD(struct probed_size, why, "why", .head = "why", .missing = MISSING_EMPTY),
};
static const struct record value_record = RECORD(struct probed_size, value_fields);

static const struct field probe_fields[] = {
    FIELD(struct probed_sizes, op, "operator"),
    FIELD(struct probed_sizes, axis, "axis"),
    FIELD(struct probed_sizes, backend, "backend"),
    FIELD(struct probed_sizes, conclusion, "conclusion"),
    FIELD(struct probed_sizes, largest, "largest", .missing = MISSING_NOT_POSITIVE),
    FIELD_LIST(struct probed_sizes, at.at, at.n, "values", &value_record),
};
static const struct record probe_record = RECORD(struct probed_sizes, probe_fields);

const struct schema probed_sizes_schema = {
    .name = "strata.db-probe/1",
    .title = "which sizes an operator takes",
    .record = &probe_record,
};

void probed_sizes_describe(const void *result, struct report *report)
{
    const struct probed_sizes *p = result;

    report_line(report, "%.*s on %s, %.*s", STR_ARGS(p->op), p->backend, STR_ARGS(p->axis));
    report_records(report, &value_record, p->at.at, p->at.n, NULL);
    if (p->largest > 0)
        report_line(report, "%s; largest value that ran: %lld", p->conclusion,
                    (long long)p->largest);
    else
        report_line(report, "%s", p->conclusion);
}
