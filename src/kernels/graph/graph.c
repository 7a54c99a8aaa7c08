/*
 * A scene recorded: its Python part, its orchestrations compiled, each submission run.
 */
#include "kernels/graph/graph.h"

#include <stdio.h>

#include "base/files/mapfile.h"
#include "base/run/now.h"
#include "base/text/char.h"
#include "driver/cxx.h"
#include "kernels/graph/graph_in.h"
#include "kernels/pto/pto_buffers.h"
#include "kernels/replay/paths.h"

/* In the order of the runtime's DataType. */
static const char *const dtypes[] = {"FLOAT32", "FLOAT16",  "INT32",     "INT16",   "INT8",
                                     "UINT8",   "BFLOAT16", "INT64",     "UINT64",  "UINT16",
                                     "UINT32",  "BOOL",     "FP8E4M3FN", "FP8E8M0", "FP4E2M1"};

const struct slot_type *graph_dtype(uint64_t number)
{
    return number < ARRAY_LEN(dtypes) ? slot_type_find(str_of(dtypes[number])) : NULL;
}

uint64_t graph_dtype_number(const struct slot_type *type)
{
    uint64_t i = 0;

    while (i + 1 < ARRAY_LEN(dtypes) && !str_equal(str_of(dtypes[i]), type->name))
        i++;
    return i;
}

void graph_fill(const struct graph_buffer *b, unsigned char *at)
{
    enum pto_dtype type = b->dtype->type == DTYPE_BOOL ? PTO_I8 : pto_dtype_of(b->dtype->type);
    char rule[64];

    if (type == PTO_NO_DTYPE)
        return;
    snprintf(rule, sizeof(rule), "const:%.17g", b->fill);
    (void)pto_buffer_fill(at, b->bytes, type, str_of(rule), 0, 0, NULL);
}

/* ---- orchestrations ---- */

static bool has_both(const char *source)
{
    struct mapfile map;

    if (mapfile_open(&map, source, NULL) != ST_OK)
        return false;
    bool has =
        str_contains(map.text, S("set_block_num")) && str_contains(map.text, S("set_core_num"));
    mapfile_close(&map);
    return has;
}

/* Of the runtime's header with its types: by it sources tell chips and runtimes apart. */
static const char *guard_of(const struct graph_job *job, struct task_graph *g)
{
    struct str text = arena_format(&g->arena, "SRC_%.*s_RUNTIME_%.*s_RUNTIME_PTO_TYPES_H_",
                                   STR_ARGS(job->arch), STR_ARGS(g->runtime));
    char *guard = ARENA_ARRAY(&g->arena, char, text.n + 1);

    for (size_t i = 0; i < text.n; i++)
        guard[i] = char_is_word(text.at[i]) ? char_upper(text.at[i]) : '_';
    guard[text.n] = '\0';
    return guard;
}

static enum status compile_callable(const struct graph_job *job, struct task_graph *g,
                                    size_t number, const char **object, struct diag *d)
{
    const struct graph_callable *c = &g->callables[number];
    struct cxx_job cxx = {.source = c->source,
                          .limit_ms = job->limit_ms,
                          .is_trusted = job->is_trusted,
                          .is_plain = true};
    struct cxx_object made;

    if (c->source == NULL)
        return diag_fail(d, ST_UNSUPPORTED, "replay.no-orchestration",
                         (struct where){.path = job->module},
                         "%.*s names no source of its orchestration", STR_ARGS(c->name));
    /* Each runtime has one of the two, and sources look which. */
    bool is_core =
        str_equal(job->arch, S("a5")) && str_equal(g->runtime, S("tensormap_and_ringbuffer"));
    if (has_both(c->source))
        vec_push(&cxx.defines, is_core ? "STRATA_SCENE_CORE_NUM" : "STRATA_SCENE_BLOCK_NUM");
    vec_push(&cxx.defines, guard_of(job, g));
    enum status status = cxx_compile(&cxx, &g->arena, &made, d);
    vec_free(&cxx.defines);
    TRY(status);
    *object = made.path;
    g->compile_ms += (double)made.took / 1e6;
    return ST_OK;
}

static enum status record_calls(const struct graph_job *job, struct task_graph *g,
                                const struct graph_calls *calls, struct diag *d)
{
    const char **objects = ARENA_ARRAY(&g->arena, const char *, g->n_callables + 1);
    nanos begin = now_ns();

    for (size_t i = 0; i < calls->n; i++) {
        size_t number = (size_t)calls->at[i].callable;
        if (objects[number] == NULL)
            TRY(compile_callable(job, g, number, &objects[number], d));
        TRY(graph_run_call(job, g, &calls->at[i], objects[number], d));
    }
    g->run_ms = (double)(now_ns() - begin) / 1e6 - g->compile_ms;
    return ST_OK;
}

enum status graph_record(const struct graph_job *job, struct task_graph *g, struct diag *d)
{
    struct graph_calls calls;

    *g = (struct task_graph){0};
    arena_init(&g->arena);
    TRY(graph_scene(job, g, &calls, d));
    TRY(record_calls(job, g, &calls, d));
    graph_order(g);
    return ST_OK;
}

void graph_free(struct task_graph *g)
{
    vec_free(&g->runs);
    vec_free(&g->tasks);
    vec_free(&g->tensors);
    vec_free(&g->scalars);
    vec_free(&g->deps);
    arena_free(&g->arena);
}
