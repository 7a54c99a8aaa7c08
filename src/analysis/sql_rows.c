/*
 * The rows of the small tables, column by column; the order of columns is that of the table's
 * declaration in sql_schema.c.
 */
#include "analysis/sql_module.h"

static void give_cstr(sqlite3_context *out, const char *text)
{
    sqlite3_result_text(out, text, -1, SQLITE_STATIC);
}

static void give_strid(sqlite3_context *out, const struct capture *cap, strid id)
{
    sql_give_known_text(out, capture_text(cap, id));
}

static size_t count_captures(const struct sql_part *p)
{
    (void)p;
    return 1;
}

static void capture_column(const struct sql_view *v, const struct sql_part *p, size_t row,
                           int column, sqlite3_context *out)
{
    const struct capture *cap = p->cap;
    const struct facts *f = &cap->facts;

    (void)v, (void)row;
    switch (column) {
    case 1:
        give_cstr(out, cap->name);
        break;
    case 2:
        sql_give_known(out, f->rank);
        break;
    case 3:
        sql_give_known(out, f->world_size);
        break;
    case 4:
        sql_give_known(out, f->device);
        break;
    case 5:
        give_strid(out, cap, f->device_name);
        break;
    case 6:
        give_strid(out, cap, f->kind);
        break;
    case 7:
        give_strid(out, cap, f->producer);
        break;
    case 8:
        give_strid(out, cap, f->host);
        break;
    case 9:
        sql_give_known(out, f->level);
        break;
    case 10:
        give_cstr(out, origin_name(cap->origin));
        break;
    default:
        if (cap->clock.has_unix)
            sqlite3_result_int64(out, cap->clock.to_unix);
    }
}

static size_t count_collectives(const struct sql_part *p)
{
    return p->cap->comm_ops.n;
}

static void collective_column(const struct sql_view *v, const struct sql_part *p, size_t row,
                              int column, sqlite3_context *out)
{
    const struct comm_op *op = &p->cap->comm_ops.at[row];

    (void)v;
    switch (column) {
    case 1:
        give_strid(out, p->cap, op->name);
        break;
    case 2:
        give_strid(out, p->cap, op->group);
        break;
    case 3:
        sql_give_id(out, capture_text(p->cap, op->step));
        break;
    case 4:
        sqlite3_result_int(out, op->is_p2p);
        break;
    case 5:
        sqlite3_result_int64(out, op->begin);
        break;
    case 6:
        sqlite3_result_int64(out, op->elapse);
        break;
    case 7:
        sqlite3_result_int64(out, op->transit);
        break;
    case 8:
        sqlite3_result_int64(out, op->wait);
        break;
    case 9:
        sqlite3_result_int64(out, op->sync);
        break;
    case 10:
        sqlite3_result_int64(out, op->idle);
        break;
    case 11:
        sqlite3_result_double(out, op->megabytes);
        break;
    case 12:
        sqlite3_result_double(out, op->transit_ms);
        break;
    default:
        sql_give_known(out, op->rank != UNKNOWN ? op->rank : p->cap->facts.rank);
    }
}

static size_t count_samples(const struct sql_part *p)
{
    size_t n = 0;

    for (size_t i = 0; i < p->cap->series.n; i++)
        n += p->cap->series.at[i].samples.n;
    return n;
}

static void sample_column(const struct sql_view *v, const struct sql_part *p, size_t row,
                          int column, sqlite3_context *out)
{
    const struct series *s = p->cap->series.at;

    (void)v;
    for (; row >= s->samples.n; s++) /* a profile has some dozen counters */
        row -= s->samples.n;
    switch (column) {
    case 1:
        sqlite3_result_int64(out, s->samples.at[row].at);
        break;
    case 2:
        sqlite3_result_double(out, s->samples.at[row].value);
        break;
    case 3:
        sql_give_text(out, capture_text(p->cap, s->name));
        break;
    case 4:
        give_strid(out, p->cap, s->unit);
        break;
    case 5:
        give_strid(out, p->cap, s->process);
        break;
    default:
        sql_give_known(out, p->cap->facts.rank);
    }
}

static size_t count_flows(const struct sql_part *p)
{
    return p->cap->flows.n;
}

static void flow_column(const struct sql_view *v, const struct sql_part *p, size_t row, int column,
                        sqlite3_context *out)
{
    const struct flow *f = &p->cap->flows.at[row];

    (void)v;
    switch (column) {
    case 1:
        sqlite3_result_int64(out, (sqlite3_int64)p->base + f->from);
        break;
    case 2:
        sqlite3_result_int64(out, (sqlite3_int64)p->base + f->to);
        break;
    case 3:
        give_cstr(out, flow_kind_name(f->kind));
        break;
    default:
        sql_give_known(out, p->cap->facts.rank);
    }
}

static size_t count_lanes(const struct sql_part *p)
{
    return p->cap->lanes.n;
}

static void lane_column(const struct sql_view *v, const struct sql_part *p, size_t row, int column,
                        sqlite3_context *out)
{
    const struct lane *lane = &p->cap->lanes.at[row];

    (void)v;
    switch (column) {
    case 1:
        give_strid(out, p->cap, lane->key.name);
        break;
    case 2:
        give_cstr(out, lane_kind_name(lane->key.kind));
        break;
    case 3:
        give_strid(out, p->cap, lane->key.process);
        break;
    case 4:
        sql_give_known(out, lane->key.device);
        break;
    case 5:
        sqlite3_result_int64(out, lane->key.pid);
        break;
    case 6:
        sqlite3_result_int64(out, lane->key.tid);
        break;
    case 7:
        sqlite3_result_int64(out, (sqlite3_int64)lane->n);
        break;
    case 8:
        if (lane->n > 0)
            sqlite3_result_int64(out, p->cap->slices.begin[lane->first]);
        break;
    default:
        sql_give_known(out, p->cap->facts.rank);
    }
}

static size_t count_sources(const struct sql_part *p)
{
    return p->cap->sources.n;
}

static void source_column(const struct sql_view *v, const struct sql_part *p, size_t row,
                          int column, sqlite3_context *out)
{
    const struct source *s = &p->cap->sources.at[row];

    (void)v;
    switch (column) {
    case 1:
        give_cstr(out, s->path);
        break;
    case 2:
        give_cstr(out, s->format);
        break;
    case 3:
        sqlite3_result_int64(out, (sqlite3_int64)s->bytes);
        break;
    case 4:
        sqlite3_result_int64(out, (sqlite3_int64)s->rows);
        break;
    case 5:
        sqlite3_result_int64(out, (sqlite3_int64)s->lost);
        break;
    default:
        sql_give_known(out, p->cap->facts.rank);
    }
}

static size_t count_steps(const struct sql_part *p)
{
    return p->steps.rows.n;
}

static void step_column(const struct sql_view *v, const struct sql_part *p, size_t row, int column,
                        sqlite3_context *out)
{
    const struct step_row *r = &p->steps.rows.at[row];

    (void)v;
    switch (column) {
    case 1: /* what the column `step` of slices says */
        if (r->number != UNKNOWN)
            sqlite3_result_int64(out, r->number);
        else
            give_strid(out, p->cap, r->name);
        break;
    case 2:
        give_strid(out, p->cap, r->name);
        break;
    case 3:
        sqlite3_result_int64(out, r->begin);
        break;
    case 4:
        sqlite3_result_int64(out, nanos_sub(r->end, r->begin));
        break;
    case 5:
        sqlite3_result_int64(out, r->end);
        break;
    case 6:
        give_cstr(out, p->steps.source);
        break;
    default:
        sql_give_known(out, p->cap->facts.rank);
    }
}

static size_t count_step_times(const struct sql_part *p)
{
    return p->cap->step_traces.n;
}

static void step_time_column(const struct sql_view *v, const struct sql_part *p, size_t row,
                             int column, sqlite3_context *out)
{
    const struct step_trace *t = &p->cap->step_traces.at[row];
    const nanos times[] = {t->computing, t->comm_exposed, t->overlapped, t->communication,
                           t->free_time, t->stage,        t->bubble};

    (void)v;
    if (column == 1)
        sql_give_id(out, capture_text(p->cap, t->step));
    else if (column == 2)
        sql_give_known(out, t->device);
    else if (column - 3 < (int)ARRAY_LEN(times))
        sqlite3_result_int64(out, times[column - 3]);
    else
        sql_give_known(out, column == 10         ? t->preparing
                            : t->rank != UNKNOWN ? t->rank
                                                 : p->cap->facts.rank);
}

const struct sql_rows sql_captures = {count_captures, capture_column, false};
const struct sql_rows sql_collectives = {count_collectives, collective_column, false};
const struct sql_rows sql_counters = {count_samples, sample_column, false};
const struct sql_rows sql_flows = {count_flows, flow_column, true};
const struct sql_rows sql_lanes = {count_lanes, lane_column, false};
const struct sql_rows sql_sources = {count_sources, source_column, false};
const struct sql_rows sql_steps = {count_steps, step_column, false};
const struct sql_rows sql_step_times = {count_step_times, step_time_column, false};
