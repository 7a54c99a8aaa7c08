/*
 * The Python part of a scene: what it gives its orchestrations. Or a scene file, which says so.
 */
#include <stdlib.h>

#include "base/files/fs.h"
#include "base/files/mapfile.h"
#include "base/limits.h"
#include "base/run/now.h"
#include "driver/boxed.h"
#include "kernels/graph/graph_in.h"
#include "kernels/replay/args.h"
#include "kernels/replay/paths.h"

enum { MOST_CALLS = 256, MOST_BUFFERS = 1 << 16 };
#define MOST_BYTES ((uint64_t)1 << 45) /* of a buffer: it is reserved, not used */

struct scene_reader {
    const struct graph_job *job;
    struct task_graph *g;
    struct graph_calls *out;
    struct str data;
    const char *path; /* of the document, for messages */
};

static enum status wrong(const struct scene_reader *r, const char *what, struct diag *d)
{
    return diag_fail(d, ST_FORMAT, "replay.bad-scene", (struct where){.path = r->path},
                     "%s is missing or not of the expected form", what);
}

static struct str text_in(struct arena *arena, const struct tree *of, struct str key)
{
    return arena_str(arena, tree_text(tree_get(of, key)));
}

/* A list of whole numbers; false when it is none, or longer than `most`. */
static bool read_numbers(const struct tree *list, int64_t *out, size_t most, size_t *n)
{
    const struct tree *one = tree_items(list);

    *n = 0;
    if (list == NULL || list->kind != TREE_LIST || list->n > most)
        return false;
    for (; one != NULL; one = one->next)
        if (!tree_int(one, &out[(*n)++]))
            return false;
    return true;
}

/* ---- kernels ---- */

static enum status read_incore(struct scene_reader *r, const struct tree *one,
                               struct graph_incore *out, struct diag *d)
{
    struct arena *a = &r->g->arena;
    const struct tree *dirs = tree_get(one, S("include_dirs"));

    out->func_id = -1;
    (void)tree_int(tree_get(one, S("func_id")), &out->func_id);
    out->name = text_in(a, one, S("name"));
    out->core_type = text_in(a, one, S("core_type"));
    struct str source = text_in(a, one, S("source"));
    if (source.n == 0 || memchr(source.at, '\0', source.n) != NULL)
        return wrong(r, "the source of a kernel", d);
    out->source = arena_cstr(a, source);
    out->include_dirs = ARENA_ARRAY(a, struct str, dirs != NULL ? dirs->n : 0);
    for (const struct tree *dir = tree_items(dirs); dir != NULL; dir = dir->next)
        out->include_dirs[out->n_include_dirs++] = arena_str(a, tree_text(dir));
    return ST_OK;
}

static enum status read_callable(struct scene_reader *r, const struct tree *one,
                                 struct graph_callable *out, struct diag *d)
{
    struct arena *a = &r->g->arena;
    const struct tree *incores = tree_get(one, S("incores"));
    struct str source = text_in(a, one, S("source"));

    out->name = text_in(a, one, S("name"));
    out->function = text_in(a, one, S("function"));
    out->source =
        source.n > 0 && memchr(source.at, '\0', source.n) == NULL ? arena_cstr(a, source) : NULL;
    out->incores = ARENA_ARRAY(a, struct graph_incore, incores != NULL ? incores->n : 0);
    for (const struct tree *i = tree_items(incores); i != NULL; i = i->next)
        TRY(read_incore(r, i, &out->incores[out->n_incores++], d));
    return ST_OK;
}

/* ---- memory ---- */

static enum status read_buffer(struct scene_reader *r, const struct tree *one,
                               struct graph_buffer *out, struct diag *d)
{
    struct str kind = tree_text(tree_get(one, S("kind")));
    const struct tree *fill = tree_get(one, S("fill")), *data = tree_get(one, S("data"));
    int64_t bytes, part[2];
    size_t n;

    out->name = text_in(&r->g->arena, one, S("name"));
    out->dtype = slot_type_find(tree_text(tree_get(one, S("dtype"))));
    if (!tree_int(tree_get(one, S("bytes")), &bytes) || bytes < 0 || (uint64_t)bytes > MOST_BYTES ||
        out->dtype == NULL)
        return wrong(r, "a buffer", d);
    out->bytes = (uint64_t)bytes;
    out->kind = str_equal(kind, S("window")) ? GRAPH_WINDOW : GRAPH_ARGUMENT;
    out->maker = GRAPH_NONE;
    if (fill != NULL) {
        out->fill = tree_number(fill);
        out->is_known = out->fill == out->fill; /* a NaN is no filling */
        out->fill = out->is_known ? out->fill : 0;
    } else if (data != NULL) {
        if (!read_numbers(data, part, 2, &n) || n != 2 || part[0] < 0 || part[1] < 0 ||
            (uint64_t)part[0] > r->data.n || (uint64_t)part[1] > r->data.n - (uint64_t)part[0] ||
            part[1] > bytes)
            return wrong(r, "the data of a buffer", d);
        out->data = arena_str(&r->g->arena, str_part(r->data, (size_t)part[0], (size_t)part[1]));
        out->is_known = true;
    }
    return ST_OK;
}

/* A rank's view of the windows: memory of its own, which the child fills. */
static enum status read_context(struct scene_reader *r, const struct tree *one, size_t n_buffers,
                                struct graph_buffer *out, struct diag *d)
{
    int64_t *windows = ARENA_ARRAY(&r->g->arena, int64_t, 64), rank = 0;

    *out = (struct graph_buffer){.kind = GRAPH_CONTEXT,
                                 .bytes = 1056,
                                 .dtype = slot_type_find(S("UINT64")),
                                 .maker = GRAPH_NONE,
                                 .windows = windows};
    if (!tree_int(tree_get(one, S("rank")), &rank) ||
        !read_numbers(tree_get(one, S("windows")), windows, 64, &out->n_windows) || rank < 0 ||
        (uint64_t)rank >= out->n_windows)
        return wrong(r, "a context", d);
    for (size_t i = 0; i < out->n_windows; i++)
        if (windows[i] < 0 || (uint64_t)windows[i] >= n_buffers)
            return wrong(r, "a window", d);
    out->rank = rank;
    out->name = arena_format(&r->g->arena, "context_%lld", (long long)rank);
    return ST_OK;
}

static enum status read_buffers(struct scene_reader *r, const struct tree *doc, struct diag *d)
{
    const struct tree *list = tree_get(doc, S("buffers")), *contexts = tree_get(doc, S("contexts"));
    size_t n = list != NULL && list->kind == TREE_LIST ? list->n : 0;
    size_t more = contexts != NULL && contexts->kind == TREE_LIST ? contexts->n : 0;
    struct task_graph *g = r->g;

    if (n + more > MOST_BUFFERS)
        return wrong(r, "the list of buffers", d);
    g->buffers = ARENA_ARRAY(&g->arena, struct graph_buffer, n + more);
    for (const struct tree *one = tree_items(list); one != NULL; one = one->next)
        TRY(read_buffer(r, one, &g->buffers[g->n_buffers++], d));
    for (const struct tree *one = tree_items(contexts); one != NULL; one = one->next)
        TRY(read_context(r, one, n, &g->buffers[g->n_buffers++], d));
    return ST_OK;
}

/* ---- calls ---- */

/* A tensor or a scalar that the scene gives an orchestration. */
static enum status read_given(struct scene_reader *r, const struct tree *one,
                              struct graph_given *out, struct diag *d)
{
    static const struct str roles[] = {S_INIT("INPUT"), S_INIT("OUTPUT"), S_INIT("INOUT"),
                                       S_INIT("OUTPUT_EXISTING"), S_INIT("NO_DEP")};
    struct str role = tree_text(tree_get(one, S("role")));
    int64_t offset = 0;
    size_t n;

    out->dtype = slot_type_find(tree_text(tree_get(one, S("dtype"))));
    (void)tree_int(tree_get(one, S("offset")), &offset);
    if (out->dtype == NULL || !tree_int(tree_get(one, S("buffer")), &out->buffer) ||
        out->buffer < 0 || (uint64_t)out->buffer >= r->g->n_buffers || offset < 0 ||
        (uint64_t)offset > r->g->buffers[out->buffer].bytes ||
        !read_numbers(tree_get(one, S("shape")), out->shape, GRAPH_DIMS, &out->rank) ||
        !read_numbers(tree_get(one, S("strides")), out->strides, GRAPH_DIMS, &n) || n != out->rank)
        return wrong(r, "a tensor of at most 5 dimensions", d);
    out->offset = (uint64_t)offset;
    for (size_t i = 0; i < ARRAY_LEN(roles); i++)
        if (str_equal(role, roles[i]))
            out->role = (enum graph_role)i;
    for (size_t i = 0; i < n; i++)
        if (out->shape[i] < 0 || out->shape[i] > UINT32_MAX || out->strides[i] < 0 ||
            out->strides[i] > UINT32_MAX)
            return wrong(r, "the shape of a tensor", d);
    return ST_OK;
}

static enum status read_scalar(struct scene_reader *r, const struct tree *one, size_t n_contexts,
                               struct graph_scalar *out, struct diag *d)
{
    const struct tree *bits = tree_get(one, S("bits"));
    int64_t context;

    out->context = GRAPH_NONE;
    if (bits != NULL && bits->kind == TREE_INT) {
        out->bits = (uint64_t)bits->i;
        return ST_OK;
    }
    if (!tree_int(tree_get(one, S("context")), &context) || context < 0 ||
        (uint64_t)context >= n_contexts)
        return wrong(r, "a scalar", d);
    out->context = (int64_t)(r->g->n_buffers - n_contexts) + context;
    return ST_OK;
}

static enum status read_call(struct scene_reader *r, const struct tree *one, size_t n_contexts,
                             struct graph_call *out, struct diag *d)
{
    const struct tree *tensors = tree_get(one, S("tensors")),
                      *scalars = tree_get(one, S("scalars"));
    struct arena *a = &r->g->arena;

    if (!tree_int(tree_get(one, S("callable")), &out->callable) || out->callable < 0 ||
        (uint64_t)out->callable >= r->g->n_callables)
        return wrong(r, "the callable of a submission", d);
    (void)tree_int(tree_get(one, S("worker")), &out->worker);
    out->tensors = ARENA_ARRAY(a, struct graph_given, tensors != NULL ? tensors->n : 0);
    out->scalars = ARENA_ARRAY(a, struct graph_scalar, scalars != NULL ? scalars->n : 0);
    for (const struct tree *t = tree_items(tensors); t != NULL; t = t->next)
        TRY(read_given(r, t, &out->tensors[out->n_tensors++], d));
    for (const struct tree *s = tree_items(scalars); s != NULL; s = s->next)
        TRY(read_scalar(r, s, n_contexts, &out->scalars[out->n_scalars++], d));
    return ST_OK;
}

/* The document of record.py, or one of the same form. */
static enum status read_document(struct scene_reader *r, const struct tree *doc, struct diag *d)
{
    const struct tree *callables = tree_get(doc, S("callables")), *runs = tree_get(doc, S("runs"));
    const struct tree *contexts = tree_get(doc, S("contexts"));
    struct task_graph *g = r->g;
    size_t n_contexts = contexts != NULL && contexts->kind == TREE_LIST ? contexts->n : 0;

    g->runtime = text_in(&g->arena, doc, S("runtime"));
    g->scene = text_in(&g->arena, doc, S("class"));
    g->case_name = text_in(&g->arena, tree_get(doc, S("case")), S("name"));
    (void)tree_int(tree_get(doc, S("level")), &g->level);
    const struct tree *platforms = tree_get(tree_get(doc, S("case")), S("platforms"));
    g->platforms = ARENA_ARRAY(&g->arena, struct str, platforms != NULL ? platforms->n : 0);
    for (const struct tree *one = tree_items(platforms); one != NULL; one = one->next)
        g->platforms[g->n_platforms++] = arena_str(&g->arena, tree_text(one));
    if (callables == NULL || callables->kind != TREE_LIST || runs == NULL ||
        runs->kind != TREE_LIST || runs->n > MOST_CALLS)
        return wrong(r, "the list of callables or runs", d);
    g->callables = ARENA_ARRAY(&g->arena, struct graph_callable, callables->n);
    for (const struct tree *one = callables->first; one != NULL; one = one->next)
        TRY(read_callable(r, one, &g->callables[g->n_callables++], d));
    TRY(read_buffers(r, doc, d));
    r->out->at = ARENA_ARRAY(&g->arena, struct graph_call, runs->n);
    for (const struct tree *one = runs->first; one != NULL; one = one->next)
        TRY(read_call(r, one, n_contexts, &r->out->at[r->out->n++], d));
    return ST_OK;
}

/* ---- Python ---- */

/* What python wrote: the document, and the values of tensors beside it. */
static enum status take_scene(void *ctx, const char *folder, struct diag *d)
{
    struct scene_reader *r = ctx;
    struct arena *a = &r->g->arena;
    struct mapfile doc, data;
    const struct tree *tree;

    r->path = r->job->module;
    if (mapfile_open(&doc, fs_join(a, folder, "scene.json"), NULL) != ST_OK)
        return diag_fail(d, ST_FORMAT, "replay.scene-failed", (struct where){.path = r->path},
                         "the Python part of the scene ends before its case is known");
    enum status status =
        doc.text.n > (size_t)LIMIT_SCENE_BYTES * 16
            ? diag_fail(d, ST_LIMIT, "replay.bad-scene", (struct where){.path = r->path},
                        "the scene has more than %d bytes of arguments", LIMIT_SCENE_BYTES * 16)
            : replay_read_json(a, arena_str(a, doc.text), r->path, &tree, d);
    mapfile_close(&doc);
    TRY(status);
    if (fs_exists(fs_join(a, folder, "data.bin")) &&
        mapfile_open(&data, fs_join(a, folder, "data.bin"), NULL) == ST_OK) {
        r->data = data.text;
        status = read_document(r, tree, d);
        mapfile_close(&data);
        r->data = S("");
        return status;
    }
    return read_document(r, tree, d);
}

static enum status run_python(struct scene_reader *r, struct diag *d)
{
    struct arena *a = &r->g->arena;
    const char *module = paths_absolute(a, r->job->module);
    const char *root = boxed_repository(a, module);
    const char *args[] = {module, arena_cstr(a, r->job->case_name),
                          root != NULL ? root : paths_folder(a, module), NULL};
    struct boxed_python job = {.part = "scene",
                               .program = "record.py",
                               .source = module,
                               .args = args,
                               .limit_ms = r->job->limit_ms,
                               .is_trusted = r->job->is_trusted,
                               .take = take_scene,
                               .ctx = r};

    return boxed_python_run(&job, a, d);
}

/* ---- scene files ---- */

/* The tensors of a scene file are arguments, each with memory of its own. */
static enum status read_scene_file(struct scene_reader *r, struct diag *d)
{
    struct task_graph *g = r->g;
    struct arena *a = &g->arena;
    struct slots slots = {0};
    struct scene scene = {0};

    TRY(scene_read(a, r->job->module, r->job->case_name, &scene, d));
    struct str source = tree_text(tree_get(tree_get(scene.doc, S("orchestration")), S("source")));
    struct str function =
        tree_text(tree_get(tree_get(scene.doc, S("orchestration")), S("function_name")));
    if (source.n == 0 || memchr(source.at, '\0', source.n) != NULL)
        return diag_fail(d, ST_UNSUPPORTED, "replay.no-orchestration",
                         (struct where){.path = r->job->module},
                         "the scene names no source of its orchestration");
    enum status status = args_in_scene(&scene) ? args_scene(a, &scene, &slots, d) : ST_OK;
    g->runtime = scene.runtime;
    g->case_name = scene.case_name;
    g->level = 2;
    g->n_callables = 1;
    g->callables = ARENA_NEW(a, struct graph_callable);
    *g->callables = (struct graph_callable){
        .name = S("scene"),
        .function = function.n > 0 ? function : S("aicpu_orchestration_entry"),
        .source = fs_join(a, scene.folder, arena_cstr(a, source)),
        .incores = ARENA_ARRAY(a, struct graph_incore, scene.n_incores),
        .n_incores = scene.n_incores};
    for (size_t i = 0; i < scene.n_incores; i++)
        g->callables->incores[i] = (struct graph_incore){.func_id = scene.incores[i].func_id,
                                                         .name = scene.incores[i].name,
                                                         .core_type = scene.incores[i].core_type,
                                                         .source = scene.incores[i].path};
    g->buffers = ARENA_ARRAY(a, struct graph_buffer, slots.n);
    struct graph_call *call = ARENA_NEW(a, struct graph_call);
    *call = (struct graph_call){.tensors = ARENA_ARRAY(a, struct graph_given, slots.n),
                                .scalars = ARENA_ARRAY(a, struct graph_scalar, slots.n)};
    for (size_t i = 0; status == ST_OK && i < slots.n; i++) {
        const struct slot *s = &slots.at[i];
        int64_t bytes = 0, step = 1;
        if (!s->is_tensor) {
            call->scalars[call->n_scalars++] =
                (struct graph_scalar){(uint64_t)s->value, GRAPH_NONE};
            continue;
        }
        if (!slot_bytes(s, &bytes) || (uint64_t)bytes > MOST_BYTES || s->rank > GRAPH_DIMS) {
            status = wrong(r, "a tensor of at most 5 dimensions", d);
            break;
        }
        struct graph_given *t = &call->tensors[call->n_tensors++];
        *t = (struct graph_given){.buffer = (int64_t)g->n_buffers,
                                  .dtype = s->dtype,
                                  .role = s->role == ROLE_OUTPUT  ? GRAPH_WRITTEN
                                          : s->role == ROLE_INOUT ? GRAPH_INOUT
                                                                  : GRAPH_INPUT,
                                  .rank = s->rank};
        for (size_t k = s->rank; k-- > 0; step *= s->shape[k]) {
            t->shape[k] = s->shape[k];
            t->strides[k] = step;
        }
        g->buffers[g->n_buffers++] = (struct graph_buffer){
            .name = s->name, .bytes = (uint64_t)bytes, .dtype = s->dtype, .maker = GRAPH_NONE};
    }
    vec_free(&slots);
    *r->out = (struct graph_calls){call, 1};
    return status;
}

enum status graph_scene(const struct graph_job *job, struct task_graph *g, struct graph_calls *out,
                        struct diag *d)
{
    struct scene_reader r = {.job = job, .g = g, .out = out, .path = job->module};
    nanos begin = now_ns();

    *out = (struct graph_calls){0};
    enum status status =
        str_ends(str_of(job->module), S(".json")) ? read_scene_file(&r, d) : run_python(&r, d);
    g->n_given = g->n_buffers;
    g->python_ms = (double)(now_ns() - begin) / 1e6;
    return status;
}
