/*
 * Exclusive accounting as tables of a query; fields stand in the order of the declarations in
 * sql_schema.c, behind the id.
 */
#include "analysis/sql/sql_accounts.h"

#include "analysis/ops/module_tree.h"
#include "analysis/ops/op_stats.h"
#include "analysis/sql/sql_view.h"
#include "analysis/tables/collectives.h"
#include "analysis/tables/memory.h"

enum { DEVICES = 64 };

static void accounts_add(struct sql_accounts *a, const struct accounting *one)
{
    vec_push(&a->devices, one);
    for (size_t i = 0; i < one->n; i++)
        for (int class = 0; class < ACCOUNT_CLASSES; class ++)
            if (one->steps[i].by[class] > 0)
                vec_push(&a->classes, ((struct sql_account_row){one, &one->steps[i], (uint32_t)i,
                                                                (uint16_t) class}));
    for (size_t i = 0; i < one->pieces.n; i++)
        vec_push(&a->gaps, ((struct sql_gap_row){one, &one->pieces.at[i]}));
}

static void accounts_begin(struct sql_accounts *a, const struct capture *cap)
{
    if (!a->has_study)
        study_begin(&a->study, cap, study_with_passes());
    a->has_study = true;
}

static void add_collectives(struct sql_accounts *a, const struct capture *cap)
{
    const struct collectives *found = collectives_find(&a->study);

    for (size_t i = 0; i < found->n; i++) {
        const struct collective_call *c = &found->at[i];
        struct sql_collective row = {
            .op = {.name = intern_find(&cap->strings, c->name),
                   .group = intern_find(&cap->strings, c->group),
                   .rank = UNKNOWN,
                   .is_p2p = c->kind == COLLECTIVE_SEND_RECV,
                   .begin = c->begin,
                   .elapse = c->time,
                   .transit = c->time,
                   .megabytes = c->bytes / 1e6,
                   .transit_ms = (double)c->time / 1e6},
            .kind = collective_kind_name(c->kind),
            .type = c->type,
            .ranks = c->ranks,
            .bytes = c->bytes,
            .exposed = c->exposed,
        };
        vec_push(&a->collectives, row);
    }
}

struct field_items sql_accounts_collectives(struct sql_accounts *a, const struct capture *cap)
{
    accounts_begin(a, cap);
    if (!a->has_collectives && cap->comm_ops.n > 0) {
        for (size_t i = 0; i < cap->comm_ops.n; i++) {
            const struct comm_op *op = &cap->comm_ops.at[i];
            struct sql_collective row = {
                .op = *op,
                .kind = collective_kind_name(collective_kind_of(capture_text(cap, op->name))),
                .ranks = UNKNOWN,
                .bytes = op->megabytes * 1e6,
                .exposed = UNKNOWN,
            };
            vec_push(&a->collectives, row);
        }
    } else if (!a->has_collectives)
        add_collectives(a, cap);
    a->has_collectives = true;
    return (struct field_items){a->collectives.at, a->collectives.n};
}

struct field_items sql_accounts_memory(struct sql_accounts *a, const struct capture *cap)
{
    accounts_begin(a, cap);
    if (a->memory == NULL)
        a->memory = memory_find(&a->study);
    memory_list_events(&a->study, a->memory);
    return (struct field_items){a->memory->events, a->memory->n_events};
}

struct field_items sql_accounts_ops(struct sql_accounts *a, const struct capture *cap)
{
    accounts_begin(a, cap);
    if (a->ops == NULL)
        a->ops = op_stats_find(&a->study, &(struct op_options){.by = OP_BY_SHAPE});
    return (struct field_items){a->ops->at, a->ops->n};
}

struct field_items sql_accounts_modules(struct sql_accounts *a, const struct capture *cap)
{
    accounts_begin(a, cap);
    if (a->modules == NULL)
        a->modules = study_module_tree(&a->study);
    return (struct field_items){a->modules->at, a->modules->n};
}

void sql_accounts_build(struct sql_accounts *a, const struct capture *cap)
{
    int32_t devices[DEVICES];

    if (a->is_built)
        return;
    a->is_built = true;
    accounts_begin(a, cap);
    size_t n = device_tasks_devices(cap, devices, DEVICES);
    for (size_t i = 0; i < n; i++)
        accounts_add(a, study_account(&a->study, devices[i]));
}

/* Why a node of a replay began when it did. */
static const char *reason_of(const struct replay_node *node, uint8_t via)
{
    static const char *const reasons[] = {"begin", "order", "launch", "stream"};

    return via == 2 && node->kind == REPLAY_WAIT ? "wait" : reasons[via & 3];
}

void sql_accounts_path(struct sql_accounts *a, const struct capture *cap)
{
    static const char *const parts[] = {
        [REPLAY_HOST] = "host", [REPLAY_WAIT] = "wait", [REPLAY_TASK] = "task"};

    sql_accounts_build(a, cap);
    for (size_t i = 0; i < a->devices.n && !a->has_path; i++) {
        const struct trace_replay *r = trace_replay_build(a->devices.at[i], &a->study.scratch);
        struct replay_change plain = trace_replay_plain(r);
        struct replay_times times = replay_times_new(r->n);
        uint32_t *nodes = mem_grow(NULL, sizeof(*nodes), r->n + 1);
        trace_replay_run(r, &plain, &times);
        size_t n = trace_replay_path(r, &times, nodes, r->n);
        for (size_t k = 0; k < n; k++) {
            const struct replay_node *node = &r->nodes[nodes[k]];
            vec_push(&a->path,
                     ((struct sql_path_row){
                         a->devices.at[i],
                         {times.begin[nodes[k]], times.end[nodes[k]]},
                         trace_replay_slice(r, nodes[k]),
                         node->kind == REPLAY_TASK ? a->devices.at[i]->tasks.at[node->ref].step
                                                   : TASK_NO_STEP,
                         parts[node->kind],
                         reason_of(node, times.via[nodes[k]]),
                     }));
        }
        mem_free(nodes);
        replay_times_free(&times);
        replay_change_free(&plain);
    }
    a->has_path = true;
}

void sql_accounts_streams(struct sql_accounts *a, const struct capture *cap)
{
    sql_accounts_build(a, cap);
    for (size_t i = 0; i < a->devices.n && !a->has_streams; i++) {
        const struct accounting *one = a->devices.at[i];
        struct stream_gaps gaps = stream_gaps_find(cap, one, &a->study.scratch);
        for (size_t k = 0; k < gaps.n; k++)
            vec_push(&a->streams, ((struct sql_stream_gap_row){one, &gaps.at[k]}));
    }
    a->has_streams = true;
}

void sql_accounts_fini(struct sql_accounts *a)
{
    vec_free(&a->devices);
    vec_free(&a->collectives);
    vec_free(&a->path);
    vec_free(&a->streams);
    vec_free(&a->classes);
    vec_free(&a->gaps);
    if (a->has_study)
        study_end(&a->study);
}

static const struct sql_part *accounts_part_of(const struct record_env *env)
{
    return env->user;
}

static struct field_value rank_of(const void *record, const struct record_env *env)
{
    (void)record;
    return value_int(accounts_part_of(env)->cap->facts.rank);
}

static struct field_value step_value(const struct accounting *of, uint32_t step)
{
    return of->is_pseudo || step == TASK_NO_STEP ? value_none() : value_int(of->steps[step].number);
}

/* Columns that all tables of accounts have. */
#define DEVICE(row)                                                                                \
    FIELD_BEHIND(struct row, of, tasks.device, "device", .missing = MISSING_NEGATIVE)
#define RANK FIELD_CALC(FIELD_I64, "rank", rank_of, .missing = MISSING_NEGATIVE)

/* ---- accounting ---- */

static struct field_value row_step(const void *record, const struct record_env *env)
{
    const struct sql_account_row *r = record;

    (void)env;
    return step_value(r->of, r->step);
}

/* "idle" of "idle.launch"; and "launch". */
static struct field_value row_class(const void *record, const struct record_env *env)
{
    struct str name = str_of(account_class_name(((const struct sql_account_row *)record)->class));

    (void)env;
    return value_text(str_part(name, 0, str_find_char(name, '.')));
}

static struct field_value row_part(const void *record, const struct record_env *env)
{
    struct str name = str_of(account_class_name(((const struct sql_account_row *)record)->class));
    size_t dot = str_find_char(name, '.');

    (void)env;
    return dot < name.n ? value_text(str_part(name, dot + 1, name.n)) : value_none();
}

static struct field_value row_ns(const void *record, const struct record_env *env)
{
    const struct sql_account_row *r = record;

    (void)env;
    return value_int(r->at->by[r->class]);
}

static struct field_value row_share(const void *record, const struct record_env *env)
{
    const struct sql_account_row *r = record;
    struct interval w = r->at->window;

    (void)env;
    return value_real(num_share((double)r->at->by[r->class], (double)(w.end - w.begin)));
}

static const struct field account_fields[] = {
    FIELD_CALC(FIELD_I64, "step", row_step, .missing = MISSING_EMPTY),
    FIELD_CALC(FIELD_STR, "class", row_class),
    FIELD_CALC(FIELD_STR, "part", row_part, .missing = MISSING_EMPTY),
    FIELD_CALC(FIELD_I64, "ns", row_ns),
    FIELD_CALC(FIELD_F64, "share", row_share),
    FIELD_BEHIND(struct sql_account_row, at, window.begin, "window_ts"),
    FIELD_BEHIND(struct sql_account_row, at, window.end, "window_end_ts"),
    DEVICE(sql_account_row),
    RANK,
    FIELD_BEHIND(struct sql_account_row, at, group, "step_group"),
    FIELD_BEHIND(struct sql_account_row, at, is_slow, "is_slow"),
};
const struct record sql_account_record = RECORD(struct sql_account_row, account_fields);

/* ---- gaps ---- */

static const struct idle_piece *piece_of(const void *record)
{
    return ((const struct sql_gap_row *)record)->piece;
}

static struct field_value slice_value(const struct record_env *env, uint32_t slice)
{
    return slice != NO_SLICE ? value_int((int64_t)accounts_part_of(env)->base + slice)
                             : value_none();
}

static struct field_value gap_dur(const void *record, const struct record_env *env)
{
    (void)env;
    return value_int(piece_of(record)->at.end - piece_of(record)->at.begin);
}

static struct field_value gap_step(const void *record, const struct record_env *env)
{
    (void)env;
    return step_value(((const struct sql_gap_row *)record)->of, piece_of(record)->step);
}

static struct field_value gap_cause(const void *record, const struct record_env *env)
{
    (void)env;
    return value_text(str_of(idle_cause_name((enum idle_cause)piece_of(record)->cause)));
}

static struct field_value gap_state(const void *record, const struct record_env *env)
{
    (void)env;
    return value_text(str_of(gap_state_name((enum gap_state)piece_of(record)->state)));
}

static struct field_value gap_filled_by(const void *record, const struct record_env *env)
{
    return slice_value(env, piece_of(record)->filled_by);
}

static struct field_value gap_enabled_by(const void *record, const struct record_env *env)
{
    return slice_value(env, piece_of(record)->enabled_by);
}

static struct field_value gap_launch(const void *record, const struct record_env *env)
{
    return slice_value(env, piece_of(record)->launch);
}

static struct field_value gap_task(const void *record, const struct record_env *env)
{
    const struct sql_gap_row *r = record;
    uint32_t task = r->piece->task;

    return slice_value(env, task != UINT32_MAX ? r->of->tasks.at[task].slice : NO_SLICE);
}

static struct field_value gap_waits_for(const void *record, const struct record_env *env)
{
    return slice_value(env, piece_of(record)->waits_for);
}

static const struct field gap_fields[] = {
    FIELD_BEHIND(struct sql_gap_row, piece, gap, "gap"),
    FIELD_BEHIND(struct sql_gap_row, piece, at.begin, "ts"),
    FIELD_CALC(FIELD_I64, "dur", gap_dur),
    FIELD_BEHIND(struct sql_gap_row, piece, at.end, "end_ts"),
    FIELD_CALC(FIELD_I64, "step", gap_step, .missing = MISSING_EMPTY),
    FIELD_CALC(FIELD_STR, "cause", gap_cause),
    FIELD_CALC(FIELD_STR, "state", gap_state),
    FIELD_CALC(FIELD_I64, "filled_by", gap_filled_by, .missing = MISSING_EMPTY),
    FIELD_CALC(FIELD_I64, "enabled_by", gap_enabled_by, .missing = MISSING_EMPTY),
    FIELD_CALC(FIELD_I64, "launch", gap_launch, .missing = MISSING_EMPTY),
    FIELD_CALC(FIELD_I64, "task", gap_task, .missing = MISSING_EMPTY),
    FIELD_CALC(FIELD_I64, "waits_for", gap_waits_for, .missing = MISSING_EMPTY),
    DEVICE(sql_gap_row),
    RANK,
};
const struct record sql_gap_record = RECORD(struct sql_gap_row, gap_fields);

/* ---- critical path ---- */

static struct field_value path_slice(const void *record, const struct record_env *env)
{
    return slice_value(env, ((const struct sql_path_row *)record)->slice);
}

static struct field_value path_dur(const void *record, const struct record_env *env)
{
    struct interval at = ((const struct sql_path_row *)record)->at;

    (void)env;
    return value_int(at.end - at.begin);
}

static struct field_value path_step(const void *record, const struct record_env *env)
{
    const struct sql_path_row *r = record;

    (void)env;
    return step_value(r->of, r->step);
}

static const struct field path_fields[] = {
    FIELD_CALC(FIELD_I64, "slice", path_slice),
    FIELD(struct sql_path_row, part, "part"),
    FIELD(struct sql_path_row, reason, "reason"),
    FIELD(struct sql_path_row, at.begin, "ts"),
    FIELD_CALC(FIELD_I64, "dur", path_dur),
    FIELD(struct sql_path_row, at.end, "end_ts"),
    FIELD_CALC(FIELD_I64, "step", path_step, .missing = MISSING_EMPTY),
    DEVICE(sql_path_row),
    RANK,
};
const struct record sql_path_record = RECORD(struct sql_path_row, path_fields);

/* ---- gaps of streams ---- */

static const struct stream_gap *stream_gap_of(const void *record)
{
    return ((const struct sql_stream_gap_row *)record)->gap;
}

static const struct device_task *stream_task(const void *record)
{
    const struct sql_stream_gap_row *r = record;

    return &r->of->tasks.at[r->gap->task];
}

static struct field_value stream_lane(const void *record, const struct record_env *env)
{
    return value_int((int64_t)accounts_part_of(env)->lane_base + stream_gap_of(record)->lane);
}

static struct field_value stream_dur(const void *record, const struct record_env *env)
{
    struct interval at = stream_gap_of(record)->at;

    (void)env;
    return value_int(at.end - at.begin);
}

static struct field_value stream_step(const void *record, const struct record_env *env)
{
    (void)env;
    return step_value(((const struct sql_stream_gap_row *)record)->of, stream_task(record)->step);
}

static struct field_value stream_cause(const void *record, const struct record_env *env)
{
    (void)env;
    return value_text(str_of(idle_cause_name((enum idle_cause)stream_gap_of(record)->cause)));
}

static struct field_value stream_waits_for(const void *record, const struct record_env *env)
{
    return slice_value(env, stream_gap_of(record)->waits_for);
}

static struct field_value stream_launch(const void *record, const struct record_env *env)
{
    const struct sql_stream_gap_row *r = record;
    uint32_t call = stream_task(record)->call;

    return slice_value(env, call != NO_CALL ? r->of->host.calls[call].slice : NO_SLICE);
}

static struct field_value stream_slice(const void *record, const struct record_env *env)
{
    return slice_value(env, stream_task(record)->slice);
}

static const struct field stream_gap_fields[] = {
    FIELD_CALC(FIELD_I64, "lane", stream_lane),
    FIELD_BEHIND(struct sql_stream_gap_row, gap, at.begin, "ts"),
    FIELD_CALC(FIELD_I64, "dur", stream_dur),
    FIELD_BEHIND(struct sql_stream_gap_row, gap, at.end, "end_ts"),
    FIELD_BEHIND(struct sql_stream_gap_row, gap, busy, "busy"),
    FIELD_CALC(FIELD_I64, "step", stream_step, .missing = MISSING_EMPTY),
    FIELD_CALC(FIELD_STR, "cause", stream_cause),
    FIELD_CALC(FIELD_I64, "waits_for", stream_waits_for, .missing = MISSING_EMPTY),
    FIELD_CALC(FIELD_I64, "launch", stream_launch, .missing = MISSING_EMPTY),
    FIELD_CALC(FIELD_I64, "task", stream_slice),
    DEVICE(sql_stream_gap_row),
    RANK,
};
const struct record sql_stream_gap_record = RECORD(struct sql_stream_gap_row, stream_gap_fields);

static const struct field op_fields[] = {
    FIELD(struct op_stat, name, "name"),
    FIELD(struct op_stat, shapes, "input_shapes", .missing = MISSING_EMPTY),
    FIELD(struct op_stat, types, "input_dtypes", .missing = MISSING_EMPTY),
    FIELD(struct op_stat, calls, "calls"),
    FIELD(struct op_stat, kernels, "kernels"),
    FIELD(struct op_stat, own_kernels, "own_kernels"),
    FIELD(struct op_stat, device, "device_ns"),
    FIELD(struct op_stat, own_device, "own_device_ns"),
    FIELD(struct op_stat, host, "host_ns"),
    FIELD(struct op_stat, own_host, "own_host_ns"),
    RANK,
    FIELD(struct op_stat, flops, "flops", .missing = MISSING_ZERO),
    FIELD(struct op_stat, effort.bytes, "bytes", .missing = MISSING_ZERO),
    FIELD(struct op_stat, effort.known, "known_ns"),
    FIELD(struct op_stat, effort.rated, "rated_ns"),
    FIELD(struct op_stat, effort.roof, "roof_ns", .missing = MISSING_ZERO),
};
const struct record sql_op_record = RECORD(struct op_stat, op_fields);

static const struct field memory_fields[] = {
    FIELD(struct memory_event, at, "ts"),
    FIELD(struct memory_event, pool, "pool"),
    FIELD(struct memory_event, bytes, "bytes", .missing = MISSING_ZERO),
    FIELD(struct memory_event, allocated, "allocated_bytes", .missing = MISSING_NEGATIVE),
    FIELD(struct memory_event, reserved, "reserved_bytes", .missing = MISSING_NEGATIVE),
    FIELD(struct memory_event, address, "address", .missing = MISSING_ZERO),
    FIELD(struct memory_event, op, "op", .missing = MISSING_EMPTY),
    FIELD(struct memory_event, module, "module", .missing = MISSING_EMPTY),
    FIELD(struct memory_event, stack, "stack", .missing = MISSING_EMPTY),
    RANK,
};
const struct record sql_memory_record = RECORD(struct memory_event, memory_fields);

static const struct field module_fields[] = {
    FIELD_NAMED(struct module_node, name, "name"),
    FIELD(struct module_node, class, "class"),
    FIELD(struct module_node, calls, "calls"),
    FIELD(struct module_node, kernels, "kernels"),
    FIELD(struct module_node, own_kernels, "own_kernels"),
    FIELD(struct module_node, device, "device_ns"),
    FIELD(struct module_node, own_device, "own_device_ns"),
    FIELD(struct module_node, host, "host_ns"),
    RANK,
};
const struct record sql_module_record = RECORD(struct module_node, module_fields);
