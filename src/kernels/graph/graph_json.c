/*
 * A graph as a document.
 */
#include "kernels/graph/graph.h"
#include "report/record.h"

ENUM_NAMES(graph_memory_name, enum graph_memory, "argument", "window", "context", "made")
ENUM_NAMES(graph_role_name, enum graph_role, "input", "output", "inout", "written", "no_dep")
ENUM_NAMES(graph_kind_name, enum graph_kind, "task", "dummy", "alloc")

/* ---- kernels ---- */

static const struct field incore_fields[] = {
    FIELD(struct graph_incore, func_id, "func_id"),
    FIELD(struct graph_incore, name, "name"),
    FIELD(struct graph_incore, core_type, "core_type"),
    FIELD(struct graph_incore, source, "source"),
};
static const struct record incore_record = RECORD(struct graph_incore, incore_fields);

static const struct field callable_fields[] = {
    FIELD(struct graph_callable, name, "name"),
    FIELD(struct graph_callable, source, "source"),
    FIELD(struct graph_callable, function, "function"),
    FIELD_LIST(struct graph_callable, incores, n_incores, "incores", &incore_record),
};
static const struct record callable_record = RECORD(struct graph_callable, callable_fields);

/* ---- memory ---- */

static struct field_value buffer_dtype(const void *record, const struct record_env *env)
{
    (void)env;
    return value_text(((const struct graph_buffer *)record)->dtype->name);
}

/* The value of every element, where the scene tells only one. */
static struct field_value buffer_fill(const void *record, const struct record_env *env)
{
    const struct graph_buffer *b = record;

    (void)env;
    return b->is_known && b->data.n == 0 ? value_real(b->fill) : value_none();
}

static const struct field buffer_fields[] = {
    FIELD(struct graph_buffer, name, "name"),
    FIELD_OF_ENUM(struct graph_buffer, kind, "kind", graph_memory_name, GRAPH_MADE + 1),
    FIELD(struct graph_buffer, bytes, "bytes"),
    FIELD_CALC(FIELD_STR, "dtype", buffer_dtype),
    FIELD(struct graph_buffer, is_known, "known"),
    FIELD_CALC(FIELD_F64, "fill", buffer_fill, .is_optional = true),
    FIELD(struct graph_buffer, maker, "maker", .missing = MISSING_NEGATIVE),
};
static const struct record buffer_record = RECORD(struct graph_buffer, buffer_fields);

static struct field_value tensor_dtype(const void *record, const struct record_env *env)
{
    (void)env;
    return value_text(((const struct graph_tensor *)record)->dtype->name);
}

static const struct field tensor_fields[] = {
    FIELD(struct graph_tensor, buffer, "buffer", .missing = MISSING_NEGATIVE),
    FIELD(struct graph_tensor, offset, "offset"),
    FIELD(struct graph_tensor, start, "start_offset"),
    FIELD_OF_ENUM(struct graph_tensor, role, "role", graph_role_name, GRAPH_NO_DEP + 1),
    FIELD_CALC(FIELD_STR, "dtype", tensor_dtype),
    FIELD_ROOM_VALUES(struct graph_tensor, shape, rank, "shape"),
    FIELD_ROOM_VALUES(struct graph_tensor, strides, rank, "strides"),
};
static const struct record tensor_record = RECORD(struct graph_tensor, tensor_fields);

static const struct field scalar_fields[] = {
    FIELD(struct graph_scalar, bits, "bits"),
    FIELD(struct graph_scalar, context, "context", .missing = MISSING_NEGATIVE),
};
static const struct record scalar_record = RECORD(struct graph_scalar, scalar_fields);

/* ---- tasks ---- */

static void write_reasons(struct json_writer *w, const void *record, const struct record_env *env)
{
    static const char *const names[] = {"named", "created", "wrote"};
    const struct graph_dep *dep = record;

    (void)env;
    json_write_array(w);
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if ((dep->reasons >> i & 1) != 0)
            json_write_string(w, str_of(names[i]));
    json_write_end(w);
}

static const struct field dep_fields[] = {
    FIELD(struct graph_dep, task, "task"),
    FIELD_WRITTEN("reasons", write_reasons),
};
static const struct record dep_record = RECORD(struct graph_dep, dep_fields);

#define PART_OF(name, list)                                                                        \
    static struct field_items name(const void *record, const struct record_env *env)               \
    {                                                                                              \
        const struct task_graph *g = env->user;                                                    \
        const struct graph_task *t = record;                                                       \
        return (struct field_items){t->name.n > 0 ? g->list.at + t->name.first : NULL, t->name.n}; \
    }
PART_OF(tensors, tensors)
PART_OF(scalars, scalars)
PART_OF(after, deps)
#undef PART_OF

static const struct field task_fields[] = {
    FIELD_OF_ENUM(struct graph_task, kind, "kind", graph_kind_name, GRAPH_ALLOC + 1),
    FIELD(struct graph_task, run, "run"),
    FIELD_ARRAY_VALUES(struct graph_task, kernels, "kernels"),
    FIELD(struct graph_task, blocks, "blocks"),
    FIELD(struct graph_task, is_early, "early"),
    FIELD(struct graph_task, is_sync_start, "sync_start"),
    FIELD(struct graph_task, is_manual_scope, "manual_scope"),
    FIELD(struct graph_task, reads_results, "after_reading_results"),
    FIELD_MADE(FIELD_OBJECT, "tensors", tensors, &tensor_record),
    FIELD_MADE(FIELD_OBJECT, "scalars", scalars, &scalar_record),
    FIELD_MADE(FIELD_OBJECT, "after", after, &dep_record),
    FIELD(struct graph_task, file, "file"),
    FIELD(struct graph_task, line, "line"),
};
static const struct record task_record = RECORD(struct graph_task, task_fields);

static const struct field run_fields[] = {
    FIELD(struct graph_called, callable, "callable"),
    FIELD(struct graph_called, worker, "worker"),
    FIELD(struct graph_called, tasks.first, "first_task"),
    FIELD(struct graph_called, tasks.n, "tasks"),
};
static const struct record run_record = RECORD(struct graph_called, run_fields);

static void write_tasks(struct json_writer *w, const void *record, const struct record_env *env)
{
    const struct task_graph *g = record;
    const struct record_env own = {.user = g};

    (void)env;
    json_write_array(w);
    for (size_t i = 0; i < g->tasks.n; i++)
        record_json(w, &task_record, &g->tasks.at[i], &own);
    json_write_end(w);
}

static struct field_value form_of(const void *record, const struct record_env *env)
{
    (void)record;
    (void)env;
    return value_text(str_of(graph_schema.name));
}

static const struct field graph_fields[] = {
    FIELD_CALC(FIELD_STR, "schema", form_of),
    FIELD(struct task_graph, scene, "scene"),
    FIELD(struct task_graph, case_name, "case"),
    FIELD(struct task_graph, runtime, "runtime"),
    FIELD(struct task_graph, level, "level"),
    FIELD_LIST(struct task_graph, callables, n_callables, "callables", &callable_record),
    FIELD_LIST(struct task_graph, buffers, n_buffers, "buffers", &buffer_record),
    FIELD_LIST(struct task_graph, runs.at, runs.n, "runs", &run_record),
    FIELD_WRITTEN("tasks", write_tasks),
};
static const struct record graph_record_fields = RECORD(struct task_graph, graph_fields);

const struct schema graph_schema = {
    .name = "strata.scene-graph/1",
    .title = "tasks that a scene submits",
    .record = &graph_record_fields,
};
