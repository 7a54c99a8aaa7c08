/*
 * The files of a workspace: templates of data/replay filled with what is known of the launch, and
 * the record of it all.
 */
#include <inttypes.h>

#include "base/files/embedded.h"
#include "base/text/template.h"
#include "kernels/replay/workspace.h"

struct making {
    const struct workspace *ws;
    struct arena *arena;
    bool is_mix;
};

static struct str quantity(struct arena *arena, int64_t number)
{
    return arena_format(arena, "%" PRId64, number);
}

/* ---- words of other languages ---- */

/* `before` in front of each character of `special`, quotes around all. */
static struct str quoted(struct arena *arena, const char *text, const char *special, char quote,
                         struct str before, struct str after)
{
    struct text t = {0};

    text_char(&t, quote);
    for (; *text != '\0'; text++) {
        bool is_special = strchr(special, *text) != NULL;
        text_put(&t, is_special ? before : S(""));
        text_char(&t, *text);
        text_put(&t, is_special ? after : S(""));
    }
    text_char(&t, quote);
    struct str kept = arena_str(arena, text_view(&t));
    text_free(&t);
    return kept;
}

/* A quoted argument of CMake: only these characters mean something inside quotes. */
static struct str for_cmake(struct arena *arena, const char *text)
{
    return quoted(arena, text, "\"\\$;", '"', S("\\"), S(""));
}

/* 'it'\''s': one word of a shell. */
static struct str for_shell(struct arena *arena, const char *text)
{
    return quoted(arena, text, "'", '\'', S("'\\"), S("'"));
}

/* ---- names of tensors ---- */

/* "SijFifo" for sij_fifo. */
static struct str camel(struct str name, struct arena *arena)
{
    char *out = arena_alloc(arena, name.n + 1);
    size_t n = 0;
    bool is_first = true;

    for (size_t i = 0; i < name.n; i++) {
        char c = name.at[i];
        if (c != '_')
            out[n++] = (char)(is_first && c >= 'a' && c <= 'z' ? c - 32 : c);
        is_first = c == '_';
    }
    return (struct str){out, n};
}

/* Would another tensor have the same constants, or this one none? */
static bool is_taken(const struct slots *slots, size_t i, struct arena *arena)
{
    struct str own = camel(slots->at[i].name, arena);

    for (size_t k = 0; k < slots->n; k++)
        if (k != i && slots->at[k].is_tensor && str_equal(own, camel(slots->at[k].name, arena)))
            return true;
    return own.n == 0;
}

/* ---- values ---- */

/* Bytes of the queue in one hardware block; 0 when the tensor is none. */
static int64_t fifo_bytes(const struct making *m, const struct slot *s)
{
    static const struct str names[] = {S_INIT("sij_fifo"), S_INIT("pij_fifo"), S_INIT("oi_fifo")};

    for (size_t i = 0; m->is_mix && s->is_tensor && i < ARRAY_LEN(names); i++)
        if (str_equal(s->name, names[i]))
            return m->ws->spmd.fifo_bytes[i];
    return 0;
}

static bool is_filled(const struct slot *s)
{
    return s->is_tensor && !str_equal(s->fill, S("zero"));
}

static struct str numbers_text(const int64_t *at, size_t n, struct arena *arena)
{
    struct str out = S("");

    for (size_t k = 0; k < n; k++)
        out = arena_format(arena, "%.*s%s%" PRId64, STR_ARGS(out), k > 0 ? ", " : "", at[k]);
    return out;
}

/* The strides of a tensor that does not just lie there row by row; else empty. */
static struct str strides_text(const struct slot *s, struct arena *arena)
{
    int64_t own[SLOT_RANK], step = 1;

    if (s->memory == NULL && slot_is_plain(s) && s->bytes == 0)
        return S("");
    for (size_t i = s->rank; i-- > 0; step *= s->shape[i])
        own[i] = s->strides != NULL ? s->strides[i] : step;
    return numbers_text(own, s->rank, arena);
}

/* 'i', 'r' or 'c' for a rule that fills; empty for zeros and files. */
static struct str rule_text(struct str fill)
{
    return fill.n == 0 || str_equal(fill, S("zero")) || str_starts(fill, S("file:")) ? S("")
           : str_equal(fill, S("iota"))                                              ? S("i")
           : str_equal(fill, S("random"))                                            ? S("r")
                                                                                     : S("c");
}

static struct str element_of(const struct slot_type *dtype)
{
    if (!dtype->is_float)
        return S("Integer");
    if (dtype->bytes == 4)
        return S("Float32");
    return str_equal(dtype->name, S("FLOAT16")) ? S("Float16") : S("BFloat16");
}

enum { TENSOR_VALUES = 21, MEMORY_VALUES = 8, CONTEXT_VALUES = 5 };

static void tensor_values(const struct making *m, size_t i, size_t number,
                          struct template_value *out)
{
    const struct slots *slots = m->ws->slots;
    const struct slot *s = &slots->at[i];
    struct arena *a = m->arena;
    int64_t bytes = 0, room = 0, queue = fifo_bytes(m, s);
    struct str name = s->name, own = camel(s->name, a);
    bool is_file = str_starts(s->fill, S("file:")), is_const = str_starts(s->fill, S("const:"));
    struct str strides = queue > 0 ? S("") : strides_text(s, a);

    slot_bytes(s, &bytes);
    slot_room(s, &room);
    if (is_taken(slots, i, a)) {
        name = arena_format(a, "slot%" PRId64 "_%.*s", s->index, STR_ARGS(name));
        own = arena_format(a, "Slot%" PRId64 "%.*s", s->index, STR_ARGS(own));
    }
    const struct template_value values[TENSOR_VALUES] = {
        {.name = "name", .text = name},
        {.name = "camel", .text = own},
        {.name = "queue", .text = queue > 0 ? quantity(a, queue) : S("")},
        {.name = "width", .text = quantity(a, s->dtype->bytes)},
        {.name = "bytes", .text = quantity(a, strides.n > 0 ? room : bytes)},
        template_flag("own", s->memory == NULL),
        {.name = "memory", .text = s->memory != NULL ? s->memory->name : S("")},
        {.name = "offset", .text = quantity(a, s->offset)},
        {.name = "strides", .text = strides},
        {.name = "start", .text = quantity(a, s->start)},
        {.name = "room", .text = quantity(a, room)},
        {.name = "rank", .text = quantity(a, (int64_t)s->rank)},
        {.name = "shape", .text = numbers_text(s->shape, s->rank, a)},
        {.name = "index", .text = quantity(a, s->index)},
        {.name = "number", .text = quantity(a, (int64_t)number)},
        {.name = "file", .text = is_file ? str_part(s->fill, 5, s->fill.n) : S("")},
        {.name = "rule", .text = rule_text(s->fill)},
        {.name = "element", .text = element_of(s->dtype)},
        {.name = "constant", .text = is_const ? str_part(s->fill, 6, s->fill.n) : S("1")},
        {.name = "drawn_rank", .text = quantity(a, queue > 0 ? 1 : (int64_t)s->rank)},
        {.name = "dtype", .text = s->dtype->name},
    };
    memcpy(out, values, sizeof(values));
}

/* Tensors by slot, or in the order of their descriptors: queues behind the others. */
static struct template_value tensors_of(const struct making *m, const char *name, bool is_ordered)
{
    const struct slots *slots = m->ws->slots;
    struct template_value *items =
        ARENA_ARRAY(m->arena, struct template_value, slots->n * TENSOR_VALUES);
    size_t n = 0;

    for (int pass = 0; pass < (is_ordered ? 2 : 1); pass++)
        for (size_t i = 0; i < slots->n; i++) {
            bool is_queue = fifo_bytes(m, &slots->at[i]) > 0;
            if (slots->at[i].is_tensor && (!is_ordered || is_queue == pass)) {
                tensor_values(m, i, n, items + n * TENSOR_VALUES);
                n++;
            }
        }
    return (struct template_value){.name = name, .items = items, .n = n, .width = TENSOR_VALUES};
}

static struct str text_value_of(const struct slot *s, struct arena *arena)
{
    if (s->is_unsigned)
        return arena_format(arena, "static_cast<int64_t>(UINT64_C(%" PRIu64 "))",
                            (uint64_t)s->value);
    if (s->value == INT64_MIN)
        return S("INT64_MIN");
    return arena_format(arena, "static_cast<int64_t>(%" PRId64 ")", s->value);
}

static struct template_value scalars_of(const struct making *m)
{
    const struct slots *slots = m->ws->slots;
    struct template_value *items = ARENA_ARRAY(m->arena, struct template_value, slots->n * 2);
    size_t n = 0;

    for (size_t i = 0; i < slots->n; i++) {
        const struct slot *s = &slots->at[i];
        if (s->is_tensor || s->context != NULL)
            continue;
        items[n++] = (struct template_value){.name = "index", .text = quantity(m->arena, s->index)};
        items[n++] = (struct template_value){.name = "value", .text = text_value_of(s, m->arena)};
    }
    return (struct template_value){.name = "scalars", .items = items, .n = n / 2, .width = 2};
}

/* Memory that tensors share, with what fills it. */
static struct template_value memories_of(const struct making *m)
{
    const struct slots *slots = m->ws->slots;
    struct template_value *items =
        ARENA_ARRAY(m->arena, struct template_value, slots->n_memories * MEMORY_VALUES + 1);

    for (size_t i = 0; i < slots->n_memories; i++) {
        const struct slot_memory *one = &slots->memories[i];
        bool has_data = one->data.n > 0, is_file = str_starts(one->fill, S("file:"));
        struct str file = has_data  ? arena_format(m->arena, "%.*s.bin", STR_ARGS(one->name))
                          : is_file ? str_part(one->fill, 5, one->fill.n)
                                    : S("");
        const struct template_value values[MEMORY_VALUES] = {
            {.name = "memory", .text = one->name},
            {.name = "bytes", .text = quantity(m->arena, one->bytes)},
            {.name = "file", .text = file},
            {.name = "size",
             .text = quantity(m->arena, has_data ? (int64_t)one->data.n : one->bytes)},
            {.name = "rule", .text = has_data ? S("") : rule_text(one->fill)},
            {.name = "width", .text = quantity(m->arena, one->dtype->bytes)},
            {.name = "element", .text = element_of(one->dtype)},
            {.name = "constant",
             .text =
                 str_starts(one->fill, S("const:")) ? str_part(one->fill, 6, one->fill.n) : S("1")},
        };
        memcpy(items + i * MEMORY_VALUES, values, sizeof(values));
    }
    return (struct template_value){
        .name = "memories", .items = items, .n = slots->n_memories, .width = MEMORY_VALUES};
}

/* What the template of the host writes for each communication context. */
static struct template_value contexts_of(const struct making *m)
{
    const struct slots *slots = m->ws->slots;
    struct template_value *items =
        ARENA_ARRAY(m->arena, struct template_value, slots->n * CONTEXT_VALUES + 1);
    size_t n = 0;

    for (size_t i = 0; i < slots->n; i++) {
        const struct slot_context *c = slots->at[i].context;
        struct str windows = S("");
        if (c == NULL)
            continue;
        for (size_t k = 0; k < c->n; k++)
            windows = arena_format(m->arena, "%.*s%sreinterpret_cast<uint64_t>(m_%.*s)",
                                   STR_ARGS(windows), k > 0 ? ", " : "", STR_ARGS(c->names[k]));
        const struct template_value values[CONTEXT_VALUES] = {
            {.name = "index", .text = quantity(m->arena, slots->at[i].index)},
            {.name = "rank", .text = quantity(m->arena, c->rank)},
            {.name = "ranks", .text = quantity(m->arena, (int64_t)c->n)},
            {.name = "window_bytes", .text = quantity(m->arena, c->windows[0]->bytes)},
            {.name = "windows", .text = windows},
        };
        memcpy(items + n++ * CONTEXT_VALUES, values, sizeof(values));
    }
    return (struct template_value){
        .name = "contexts_of", .items = items, .n = n, .width = CONTEXT_VALUES};
}

static struct template_value dispatches_of(const struct making *m)
{
    const struct spmd *spmd = &m->ws->spmd;
    struct template_value *items =
        ARENA_ARRAY(m->arena, struct template_value, spmd->n_dispatches * 3);

    for (size_t i = 0; i < spmd->n_dispatches; i++) {
        const struct dispatch *d = &spmd->dispatches[i];
        struct template_value *v = &items[i * 3];
        v[0] = (struct template_value){.name = "dispatched", .text = quantity(m->arena, d->blocks)};
        v[1] = (struct template_value){.name = "slot", .text = quantity(m->arena, d->slot)};
        v[2] = (struct template_value){.name = "value", .text = quantity(m->arena, d->value)};
    }
    return (struct template_value){
        .name = "dispatches", .items = items, .n = spmd->n_dispatches, .width = 3};
}

static void text_fill(const struct making *m, struct str text, struct text *out)
{
    static const char *const guards[] = {[SHAPE_AIC] = "defined(__DAV_CUBE__)",
                                         [SHAPE_AIV] = "defined(__DAV_VEC__)",
                                         [SHAPE_MIX] =
                                             "defined(__DAV_CUBE__) || defined(__DAV_VEC__)"};
    const struct workspace *ws = m->ws;
    const struct platform *p = ws->platform;
    struct arena *a = m->arena;
    struct template_value contexts = contexts_of(m);
    bool has_fills = false, has_views = false;
    bool is_apart = ws->has_cores &&
                    (ws->cores.cube == NULL || ws->cores.vector == NULL ||
                     ws->cores.second != NULL || strcmp(ws->cores.cube, ws->cores.vector) != 0);

    for (size_t i = 0; i < ws->slots->n; i++) {
        has_fills = has_fills || is_filled(&ws->slots->at[i]);
        has_views =
            has_views || (ws->slots->at[i].is_tensor && strides_text(&ws->slots->at[i], a).n > 0);
    }
    for (size_t i = 0; i < ws->slots->n_memories; i++)
        has_fills = has_fills || ws->slots->memories[i].data.n > 0 ||
                    !str_equal(ws->slots->memories[i].fill, S("zero"));
    const char *vector = is_apart && ws->cores.vector != NULL ? ws->cores.vector : "";
    const char *second = is_apart && ws->cores.second != NULL ? ws->cores.second : "";
    const struct template_value values[] = {
        template_flag("mix", m->is_mix),
        template_flag("contexts", m->is_mix && ws->spmd.has_meta),
        template_flag("fills", has_fills),
        template_flag("viewed", has_views),
        template_flag("together", !is_apart),
        template_flag("apart", is_apart),
        {.name = "cube", .text = str_of(is_apart && ws->cores.cube ? ws->cores.cube : "")},
        template_flag("no_cube", ws->cores.cube == NULL),
        {.name = "vector", .text = str_of(vector)},
        {.name = "second", .text = str_of(second)},
        template_flag("one_vector", vector[0] != '\0' && second[0] == '\0'),
        template_flag("two_vectors", vector[0] != '\0' && second[0] != '\0'),
        template_flag("no_vector", vector[0] == '\0'),
        template_flag("comm", contexts.n > 0),
        memories_of(m),
        contexts,
        template_flag("one_dispatch", ws->spmd.n_dispatches == 0),
        tensors_of(m, "tensors", false),
        tensors_of(m, "ordered", true),
        scalars_of(m),
        dispatches_of(m),
        {.name = "row", .text = m->is_mix ? S("row") : S("args")},
        {.name = "blocks", .text = quantity(a, ws->blocks)},
        {.name = "lanes", .text = quantity(a, ws->spmd.lanes)},
        {.name = "shape", .text = str_of(shape_name(ws->kernel->shape))},
        {.name = "guard", .text = str_of(guards[ws->kernel->shape])},
        {.name = "chip", .text = quantity(a, p->number)},
        {.name = "macro", .text = str_of(p->macro)},
        {.name = "scope", .text = str_of(p->scope)},
        {.name = "path", .text = str_of(ws->kernel->incore.path)},
        {.name = "family", .text = str_of(p->family)},
        {.name = "runtime", .text = str_of(ws->runtime)},
        {.name = "cmake_cann", .text = for_cmake(a, ws->cann_home)},
        {.name = "cmake_isa", .text = for_cmake(a, ws->pto_isa_root)},
        {.name = "cmake_repo", .text = for_cmake(a, ws->repo_root)},
        {.name = "cmake_soc", .text = for_cmake(a, ws->soc)},
        {.name = "cmake_arch", .text = for_cmake(a, p->arch)},
        {.name = "shell_cann", .text = for_shell(a, ws->cann_home)},
        {.name = "shell_isa", .text = for_shell(a, ws->pto_isa_root)},
        {.name = "shell_repo", .text = for_shell(a, ws->repo_root)},
        {.name = "shell_soc", .text = for_shell(a, ws->soc)},
        {.name = "device", .text = quantity(a, ws->device)},
        {.name = "launch_count", .text = quantity(a, ws->launch_count)},
        {.name = "sim_minutes", .text = quantity(a, ws->sim_minutes)},
    };
    template_fill(out, text, values, ARRAY_LEN(values));
}

/* ---- the record ---- */

static const struct field kernel_fields[] = {
    FIELD(struct kernel, incore.name, "name"),
    FIELD(struct kernel, incore.func_id, "func_id"),
    FIELD(struct kernel, incore.core_type, "core_type"),
    FIELD(struct kernel, incore.path, "source"),
    FIELD_OF_ENUM(struct kernel, shape, "shape", shape_name, 3),
};
static const struct record kernel_record = RECORD(struct kernel, kernel_fields);

static struct field_value family_of(const void *record, const struct record_env *env)
{
    (void)env;
    return value_text(str_of(((const struct workspace *)record)->platform->family));
}

static const struct field launch_fields[] = {
    FIELD(struct workspace, blocks, "hw_block_num"),
    FIELD(struct workspace, soc, "soc_version"),
    FIELD_CALC(FIELD_STR, "platform", family_of),
    FIELD(struct workspace, timeout_s, "timeout"),
    FIELD(struct workspace, launch_count, "launch_count"),
    FIELD(struct workspace, sim_minutes, "sim_minutes"),
};
static const struct record launch_record = RECORD(struct workspace, launch_fields);

static struct field_items fifos_of(const void *record, const struct record_env *env)
{
    const struct spmd *spmd = record;
    size_t n = 0;

    (void)env;
    while (n < ARRAY_LEN(spmd->fifo_bytes) && spmd->fifo_bytes[n] > 0)
        n++;
    return (struct field_items){spmd->fifo_bytes, n};
}

/* [[slot, value]] */
static void write_overrides(struct json_writer *w, const void *record, const struct record_env *env)
{
    const struct dispatch *d = record;

    (void)env;
    json_write_array(w);
    json_write_array(w);
    json_write_i64(w, d->slot);
    json_write_i64(w, d->value);
    json_write_end(w);
    json_write_end(w);
}

static const struct field dispatch_fields[] = {
    FIELD(struct dispatch, blocks, "logical_block_num"),
    FIELD_WRITTEN("scalar_overrides", write_overrides),
};
static const struct record dispatch_record = RECORD(struct dispatch, dispatch_fields);

static const struct field spmd_fields[] = {
    FIELD(struct spmd, block_dim, "hw_block_dim"),
    FIELD(struct spmd, lanes, "aiv_lanes_per_core"),
    FIELD_MADE(FIELD_I64, "fifo_sizes", fifos_of, NULL),
    FIELD_LIST(struct spmd, dispatches, n_dispatches, "dispatches", &dispatch_record),
};
static const struct record spmd_record = RECORD(struct spmd, spmd_fields);

static struct field_items args_of(const void *record, const struct record_env *env)
{
    const struct workspace *ws = record;

    (void)env;
    return (struct field_items){ws->slots->at, ws->slots->n};
}

static const struct field workspace_fields[] = {
    FIELD_FIXED("backend", "simpler"),
    FIELD(struct workspace, module, "test_module"),
    FIELD(struct workspace, case_name, "case"),
    FIELD_POINTER(struct workspace, kernel, "kernel", &kernel_record),
    FIELD_GROUP("replay", &launch_record),
    FIELD_MADE(FIELD_OBJECT, "args", args_of, &slot_record),
    FIELD_INSIDE(struct workspace, spmd, "spmd", &spmd_record, .is_optional = true,
                 WHEN(struct workspace, spmd.has_meta)),
};
static const struct record workspace_record = RECORD(struct workspace, workspace_fields);

struct str workspace_text(const struct workspace *ws, const char *name, struct arena *arena)
{
    struct making m = {ws, arena, ws->kernel->shape == SHAPE_MIX};
    struct text out = {0};
    struct json_writer w;

    if (strcmp(name, "insight_trace_config.json") == 0) {
        json_write_init(&w, text_sink(&out), JSON_INDENTED);
        record_json(&w, &workspace_record, ws, NULL);
        json_write_finish(&w);
    } else {
        text_fill(&m, embedded_file(arena_printf(arena, "replay/%s.in", name)), &out);
    }
    struct str kept = arena_str(arena, text_view(&out));
    text_free(&out);
    return kept;
}
