/*
 * The small tables, described: fields stand in the order of the table's declaration in
 * sql_schema.c, behind the id.
 */
#include "analysis/sql/sql_accounts.h"
#include "analysis/sql/sql_module.h"

static const struct sql_part *rows_part_of(const struct record_env *env)
{
    return env->user;
}

static struct field_value get_rank(const void *record, const struct record_env *env)
{
    (void)record;
    return value_int(rows_part_of(env)->cap->facts.rank);
}

#define RANK                         FIELD_CALC(FIELD_I64, "rank", get_rank, .missing = MISSING_NEGATIVE)
#define TEXT(struct_, member, key_)  FIELD_NAMED(struct_, member, key_, .missing = MISSING_EMPTY)
#define KNOWN(struct_, member, key_) FIELD(struct_, member, key_, .missing = MISSING_NEGATIVE)

/* A number when the text is one ("2"), else the text ("N/A"). */
static struct field_value id_value(const struct record_env *env, strid id)
{
    struct str text = intern_get(env->names, id);
    int64_t number;

    return num_i64(text, &number) ? value_int(number) : value_text(text);
}

static struct field_value rank_value(const struct record_env *env, int64_t rank)
{
    return value_int(rank != UNKNOWN ? rank : rows_part_of(env)->cap->facts.rank);
}

/* ---- captures ---- */

static const struct field capture_fields[] = {
    FIELD(struct capture, name, "name"),
    KNOWN(struct capture, facts.rank, "rank"),
    KNOWN(struct capture, facts.world_size, "world_size"),
    KNOWN(struct capture, facts.device, "device"),
    TEXT(struct capture, facts.device_name, "device_name"),
    TEXT(struct capture, facts.kind, "kind"),
    TEXT(struct capture, facts.producer, "producer"),
    TEXT(struct capture, facts.host, "host"),
    KNOWN(struct capture, facts.level, "level"),
    FIELD_OF_ENUM(struct capture, origin, "origin", origin_name, ORIGIN_INFERRED + 1),
    FIELD(struct capture, clock.to_unix, "to_unix", WHEN(struct capture, clock.has_unix)),
};
static const struct record capture_record = RECORD(struct capture, capture_fields);

/* ---- collectives ---- */

static struct field_value comm_step(const void *record, const struct record_env *env)
{
    return id_value(env, ((const struct comm_op *)record)->step);
}

static struct field_value comm_rank(const void *record, const struct record_env *env)
{
    return rank_value(env, ((const struct comm_op *)record)->rank);
}

static const struct field collective_fields[] = {
    TEXT(struct sql_collective, op.name, "name"),
    TEXT(struct sql_collective, op.group, "group"),
    FIELD_CALC(FIELD_I64, "step", comm_step, .missing = MISSING_EMPTY),
    FIELD(struct sql_collective, op.is_p2p, "is_p2p"),
    FIELD(struct sql_collective, op.begin, "ts"),
    FIELD(struct sql_collective, op.elapse, "elapse"),
    FIELD(struct sql_collective, op.transit, "transit"),
    FIELD(struct sql_collective, op.wait, "wait"),
    FIELD(struct sql_collective, op.sync, "sync"),
    FIELD(struct sql_collective, op.idle, "idle"),
    FIELD(struct sql_collective, op.megabytes, "megabytes"),
    FIELD(struct sql_collective, op.transit_ms, "transit_ms"),
    FIELD_CALC(FIELD_I64, "rank", comm_rank, .missing = MISSING_NEGATIVE),
    FIELD(struct sql_collective, kind, "kind"),
    FIELD(struct sql_collective, type, "dtype", .missing = MISSING_EMPTY),
    FIELD(struct sql_collective, ranks, "ranks", .missing = MISSING_NEGATIVE),
    FIELD(struct sql_collective, bytes, "bytes", .missing = MISSING_ZERO),
    FIELD(struct sql_collective, exposed, "exposed_ns", .missing = MISSING_NEGATIVE),
};
static const struct record collective_record = RECORD(struct sql_collective, collective_fields);

/* ---- counters ---- */

struct sample_row {
    struct sample sample;
    strid name, unit, process;
};

static const struct field sample_fields[] = {
    FIELD(struct sample_row, sample.at, "ts"),    FIELD(struct sample_row, sample.value, "value"),
    FIELD_NAMED(struct sample_row, name, "name"), TEXT(struct sample_row, unit, "unit"),
    TEXT(struct sample_row, process, "process"),  RANK,
};
static const struct record sample_record = RECORD(struct sample_row, sample_fields);

/* ---- flows ---- */

static struct field_value flow_from(const void *record, const struct record_env *env)
{
    return value_int((int64_t)rows_part_of(env)->base + ((const struct flow *)record)->from);
}

static struct field_value flow_to(const void *record, const struct record_env *env)
{
    return value_int((int64_t)rows_part_of(env)->base + ((const struct flow *)record)->to);
}

static const struct field flow_fields[] = {
    FIELD_CALC(FIELD_I64, "from_id", flow_from),
    FIELD_CALC(FIELD_I64, "to_id", flow_to),
    FIELD_OF_ENUM(struct flow, kind, "kind", flow_kind_name, FLOW_OTHER + 1),
    RANK,
};
static const struct record flow_record = RECORD(struct flow, flow_fields);

/* ---- lanes ---- */

static struct field_value lane_begin(const void *record, const struct record_env *env)
{
    const struct lane *lane = record;

    return lane->n > 0 ? value_int(rows_part_of(env)->cap->slices.begin[lane->first])
                       : value_none();
}

static const struct field lane_fields[] = {
    TEXT(struct lane, key.name, "name"),
    FIELD_OF_ENUM(struct lane, key.kind, "kind", lane_kind_name, LANE_KINDS),
    TEXT(struct lane, key.process, "process"),
    KNOWN(struct lane, key.device, "device"),
    FIELD(struct lane, key.pid, "pid"),
    FIELD(struct lane, key.tid, "tid"),
    FIELD(struct lane, n, "slices"),
    FIELD_CALC(FIELD_I64, "ts", lane_begin),
    RANK,
};
static const struct record lane_record = RECORD(struct lane, lane_fields);

/* ---- sources ---- */

static const struct field source_fields[] = {
    FIELD(struct source, path, "path"),   FIELD(struct source, format, "format"),
    FIELD(struct source, bytes, "bytes"), FIELD(struct source, rows, "rows"),
    FIELD(struct source, lost, "lost"),   RANK,
};
static const struct record source_record = RECORD(struct source, source_fields);

/* ---- steps ---- */

/* What the column `step` of slices says. */
static struct field_value step_number(const void *record, const struct record_env *env)
{
    const struct step_row *r = record;

    return r->number != UNKNOWN ? value_int(r->number)
                                : value_text(intern_get(env->names, r->name));
}

static struct field_value step_length(const void *record, const struct record_env *env)
{
    const struct step_row *r = record;

    (void)env;
    return value_int(nanos_sub(r->end, r->begin));
}

static struct field_value step_source(const void *record, const struct record_env *env)
{
    (void)record;
    return value_text(str_of(sql_steps_of(rows_part_of(env))->source));
}

static const struct field step_fields[] = {
    FIELD_CALC(FIELD_I64, "step", step_number, .missing = MISSING_EMPTY),
    TEXT(struct step_row, name, "name"),
    FIELD(struct step_row, begin, "ts"),
    FIELD_CALC(FIELD_I64, "dur", step_length),
    FIELD(struct step_row, end, "end_ts"),
    FIELD_CALC(FIELD_STR, "source", step_source),
    RANK,
};
static const struct record step_record = RECORD(struct step_row, step_fields);

/* ---- step times ---- */

static struct field_value time_step(const void *record, const struct record_env *env)
{
    return id_value(env, ((const struct step_trace *)record)->step);
}

static struct field_value time_rank(const void *record, const struct record_env *env)
{
    return rank_value(env, ((const struct step_trace *)record)->rank);
}

static const struct field step_time_fields[] = {
    FIELD_CALC(FIELD_I64, "step", time_step, .missing = MISSING_EMPTY),
    KNOWN(struct step_trace, device, "device"),
    FIELD(struct step_trace, computing, "computing"),
    FIELD(struct step_trace, comm_exposed, "comm_exposed"),
    FIELD(struct step_trace, overlapped, "overlapped"),
    FIELD(struct step_trace, communication, "communication"),
    FIELD(struct step_trace, free_time, "free"),
    FIELD(struct step_trace, stage, "stage"),
    FIELD(struct step_trace, bubble, "bubble"),
    KNOWN(struct step_trace, preparing, "preparing"),
    FIELD_CALC(FIELD_I64, "rank", time_rank, .missing = MISSING_NEGATIVE),
};
static const struct record step_time_record = RECORD(struct step_trace, step_time_fields);

/* ---- the tables ---- */

static size_t count_samples(const struct capture *cap)
{
    size_t n = 0;

    for (size_t i = 0; i < cap->series.n; i++)
        n += cap->series.at[i].samples.n;
    return n;
}

static struct field_items items_of(enum sql_rows rows, const struct sql_part *p)
{
    const struct capture *cap = p->cap;

    switch (rows) {
    case SQL_ACCOUNTING:
        sql_accounts_build(p->accounts, cap);
        return (struct field_items){p->accounts->classes.at, p->accounts->classes.n};
    case SQL_GAPS:
        sql_accounts_build(p->accounts, cap);
        return (struct field_items){p->accounts->gaps.at, p->accounts->gaps.n};
    case SQL_CRITICAL_PATH:
        sql_accounts_path(p->accounts, cap);
        return (struct field_items){p->accounts->path.at, p->accounts->path.n};
    case SQL_STREAM_GAPS:
        sql_accounts_streams(p->accounts, cap);
        return (struct field_items){p->accounts->streams.at, p->accounts->streams.n};
    case SQL_MEMORY:
        return sql_accounts_memory(p->accounts, cap);
    case SQL_MODULES:
        return sql_accounts_modules(p->accounts, cap);
    case SQL_OPS:
        return sql_accounts_ops(p->accounts, cap);
    case SQL_CAPTURES:
        return (struct field_items){cap, 1};
    case SQL_COLLECTIVES:
        return sql_accounts_collectives(p->accounts, cap);
    case SQL_COUNTERS:
        return (struct field_items){NULL, count_samples(cap)};
    case SQL_FLOWS:
        return (struct field_items){cap->flows.at, cap->flows.n};
    case SQL_LANES:
        return (struct field_items){cap->lanes.at, cap->lanes.n};
    case SQL_SOURCES:
        return (struct field_items){cap->sources.at, cap->sources.n};
    case SQL_STEPS:
        return (struct field_items){sql_steps_of(p)->rows.at, sql_steps_of(p)->rows.n};
    case SQL_STEP_TIMES:
        break;
    }
    return (struct field_items){cap->step_traces.at, cap->step_traces.n};
}

size_t sql_rows_count(enum sql_rows rows, const struct sql_part *p)
{
    return items_of(rows, p).n;
}

struct field_value sql_rows_value(enum sql_rows rows, const struct sql_part *p, size_t row,
                                  int column)
{
    static const struct record *const records[] = {
        [SQL_ACCOUNTING] = &sql_account_record,
        [SQL_GAPS] = &sql_gap_record,
        [SQL_CRITICAL_PATH] = &sql_path_record,
        [SQL_STREAM_GAPS] = &sql_stream_gap_record,
        [SQL_CAPTURES] = &capture_record,
        [SQL_COLLECTIVES] = &collective_record,
        [SQL_COUNTERS] = &sample_record,
        [SQL_FLOWS] = &flow_record,
        [SQL_LANES] = &lane_record,
        [SQL_MEMORY] = &sql_memory_record,
        [SQL_MODULES] = &sql_module_record,
        [SQL_OPS] = &sql_op_record,
        [SQL_SOURCES] = &source_record,
        [SQL_STEPS] = &step_record,
        [SQL_STEP_TIMES] = &step_time_record,
    };
    const struct record *r = records[rows];
    const struct record_env env = {&p->cap->strings, NULL, p};
    struct sample_row sample;
    const void *record = &sample;

    if (rows == SQL_COUNTERS) {
        const struct series *s = p->cap->series.at;
        for (; row >= s->samples.n; s++) /* a profile has some dozen counters */
            row -= s->samples.n;
        sample = (struct sample_row){s->samples.at[row], s->name, s->unit, s->process};
    } else
        record = (const char *)items_of(rows, p).at + row * r->size;
    return field_value(&r->fields[column - 1], record, &env);
}
