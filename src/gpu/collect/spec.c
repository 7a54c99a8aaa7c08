/*
 * Reading a plan. See spec.h.
 */
#include "gpu/collect/spec.h"

#include "base/files/mapfile.h"
#include "base/limits.h"

enum { STAGES_MAX = 1024 };

struct reading {
    struct arena *arena;
    struct gpu_spec *spec;
    struct diag *d;
    size_t groups;
};

static enum status spec_refuse(struct reading *r, const char *key, const char *what)
{
    return diag_fail(r->d, ST_FORMAT, "gpu.bad-spec", (struct where){.path = r->spec->path},
                     "\"%s\": %s", key, what);
}

static enum status spec_read_text(struct reading *r, const struct tree *node, const char *key,
                                  struct str *out)
{
    if (node->kind != TREE_TEXT && !tree_is_number(node))
        return spec_refuse(r, key, "a text is expected");
    *out = node->text;
    return ST_OK;
}

static enum status read_words(struct reading *r, const struct tree *node, const char *key,
                              struct gpu_words *out)
{
    size_t n = 0;

    if (node->kind != TREE_LIST)
        return spec_refuse(r, key, "an array of texts is expected");
    for (const struct tree *w = node->first; w != NULL; w = w->next)
        n++;
    struct str *at = ARENA_ARRAY(r->arena, struct str, n + 1);
    *out = (struct gpu_words){at, 0};
    for (const struct tree *w = node->first; w != NULL; w = w->next)
        TRY(spec_read_text(r, w, key, &at[out->n++]));
    return ST_OK;
}

static void unknown_key(struct reading *r, struct str key)
{
    diag_add(r->d, SEV_WARN, "gpu.spec-unknown-key", (struct where){.path = r->spec->path},
             "the key \"%.*s\" means nothing here", STR_ARGS(key));
}

static enum status read_stage_key(struct reading *r, const struct tree *m, struct gpu_spec_stage *s)
{
    const struct {
        struct str key;
        struct str *to;
    } texts[] = {
        {S("name"), &s->name},   {S("select"), &s->select}, {S("flops"), &s->flops},
        {S("bytes"), &s->bytes}, {S("dtype"), &s->dtype},   {S("autotuning"), &s->autotuning},
    };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (str_equal(m->key, texts[i].key))
            return spec_read_text(r, m, texts[i].key.at, texts[i].to);
    if (str_equal(m->key, S("compiled")))
        return read_words(r, m, "compiled", &s->compiled);
    if (str_equal(m->key, S("tiling"))) {
        if (m->kind != TREE_MAP)
            return spec_refuse(r, "tiling", "an object is expected");
        s->tiling = m;
        return ST_OK;
    }
    unknown_key(r, m->key);
    return ST_OK;
}

static enum status read_stage(struct reading *r, const struct tree *node, struct str group)
{
    struct gpu_spec_stage s = {.group = group};

    if (node->kind != TREE_MAP)
        return spec_refuse(r, "stages", "a stage is an object");
    for (const struct tree *m = node->first; m != NULL; m = m->next)
        TRY(read_stage_key(r, m, &s));
    if (s.name.n == 0)
        return spec_refuse(r, "stages", "a stage has no name");
    for (size_t i = 0; i < r->spec->stages.n; i++)
        if (str_equal(r->spec->stages.at[i].name, s.name))
            return spec_refuse(r, "stages", "two stages have the same name");
    if (r->spec->stages.n >= STAGES_MAX)
        return spec_refuse(r, "stages", "too many stages");
    vec_push(&r->spec->stages, s);
    return ST_OK;
}

static enum status read_stages(struct reading *r, const struct tree *node)
{
    if (node->kind != TREE_LIST)
        return spec_refuse(r, "stages", "an array is expected");
    for (const struct tree *s = node->first; s != NULL; s = s->next) {
        const struct tree *group = tree_get(s, S("concurrent"));
        if (group == NULL) {
            TRY(read_stage(r, s, (struct str){"", 0}));
            continue;
        }
        if (group->kind != TREE_LIST)
            return spec_refuse(r, "concurrent", "an array of stages is expected");
        struct str name = tree_word(tree_get(s, S("name")));
        r->groups++;
        if (name.n == 0)
            name = arena_format(r->arena, "group%zu", r->groups);
        for (const struct tree *m = group->first; m != NULL; m = m->next)
            TRY(read_stage(r, m, name));
    }
    return ST_OK;
}

static enum status read_key(struct reading *r, const struct tree *m)
{
    bool is_params = str_equal(m->key, S("params"));
    if (str_equal(m->key, S("kernel")))
        return spec_read_text(r, m, "kernel", &r->spec->kernel);
    if (str_equal(m->key, S("version")))
        return spec_read_text(r, m, "version", &r->spec->version);
    if (str_equal(m->key, S("command")))
        return read_words(r, m, "command", &r->spec->command);
    if (str_equal(m->key, S("check")))
        return read_words(r, m, "check", &r->spec->check);
    if (str_equal(m->key, S("stages")))
        return read_stages(r, m);
    if (is_params && m->kind != TREE_MAP)
        return spec_refuse(r, "params", "an object is expected");
    for (const struct tree *p = is_params ? m->first : NULL; p != NULL; p = p->next) {
        if (p->kind != TREE_TEXT && !tree_is_number(p))
            return spec_refuse(r, "params", "values are numbers or texts");
        TRY(gpu_params_set(&r->spec->params, r->arena, p->key, p->text, p->kind == TREE_TEXT,
                           r->d));
    }
    /* "expected": ranges that demo workloads note for themselves */
    if (!is_params && !str_equal(m->key, S("expected")))
        unknown_key(r, m->key);
    return ST_OK;
}

static enum status spec_parse(struct reading *r, const struct tree *root)
{
    if (root->kind != TREE_MAP)
        return diag_fail(r->d, ST_FORMAT, "gpu.bad-spec", (struct where){.path = r->spec->path},
                         "an object is expected");
    for (const struct tree *m = root->first; m != NULL; m = m->next)
        TRY(read_key(r, m));
    if (r->spec->kernel.n == 0)
        return spec_refuse(r, "kernel", "missing");
    if (r->spec->stages.n == 0)
        return spec_refuse(r, "stages", "missing or empty");
    if (str_equal(r->spec->version, S("v0")))
        r->spec->version = S("base");
    return ST_OK;
}

static enum status read_json(struct arena *arena, const char *path, struct str text,
                             const struct tree **out, struct diag *d)
{
    struct tree_error error;

    *out = tree_read_json(arena, text, &error);
    if (*out != NULL)
        return ST_OK;
    if (error.status == ST_LIMIT)
        return diag_fail(d, ST_LIMIT, "gpu.json-too-deep", (struct where){.path = path},
                         "nested deeper than %d levels, or more than %d values", TREE_DEPTH,
                         TREE_NODES);
    return diag_fail(d, ST_FORMAT, "gpu.bad-json", (struct where){.path = path, .line = error.line},
                     "not JSON: %s", error.what);
}

enum status gpu_json_load(struct arena *arena, const char *path, const struct tree **out,
                          struct diag *d)
{
    struct mapfile map;

    TRY(mapfile_open(&map, path, d));
    enum status st = map.text.n > LIMIT_RECORD_BYTES
                         ? diag_fail(d, ST_LIMIT, "gpu.json-too-deep", (struct where){.path = path},
                                     "the file is too large")
                         : read_json(arena, path, map.text, out, d);
    mapfile_close(&map);
    return st;
}

enum status gpu_spec_read(struct arena *arena, const char *path, struct str text,
                          struct gpu_spec *spec, struct diag *d)
{
    const struct tree *root;

    *spec = (struct gpu_spec){.path = path, .version = S("base")};
    TRY(read_json(arena, path, text, &root, d));
    return spec_parse(&(struct reading){.arena = arena, .spec = spec, .d = d}, root);
}

enum status gpu_spec_load(struct arena *arena, const char *path, struct gpu_spec *spec,
                          struct diag *d)
{
    const struct tree *root;

    *spec = (struct gpu_spec){.path = path, .version = S("base")};
    TRY(gpu_json_load(arena, path, &root, d));
    return spec_parse(&(struct reading){.arena = arena, .spec = spec, .d = d}, root);
}

void gpu_spec_free(struct gpu_spec *spec)
{
    gpu_params_free(&spec->params);
    vec_free(&spec->stages);
}

enum status gpu_ask_params(const struct gpu_ask *ask, const struct gpu_params *spec,
                           struct gpu_params *out, struct arena *arena, struct diag *d)
{
    for (size_t i = 0; spec != NULL && i < spec->list.n; i++)
        vec_push(&out->list, spec->list.at[i]);
    for (size_t i = 0; i < ask->params.n; i++)
        TRY(gpu_params_assign(out, arena, ask->params.at[i], d));
    if (ask->dtype != NULL)
        TRY(gpu_params_set(out, arena, S("dtype"), str_of(ask->dtype), true, d));
    return ST_OK;
}

enum status gpu_spec_substitute(struct arena *arena, struct str text,
                                const struct gpu_params *params, struct str version,
                                struct str *out, struct diag *d)
{
    struct str rest = text, made = {"", 0};

    for (;;) {
        size_t at = str_find(rest, S("${"));
        struct str head = str_part(rest, 0, at);
        if (at == rest.n) {
            *out = arena_format(arena, "%.*s%.*s", STR_ARGS(made), STR_ARGS(head));
            return ST_OK;
        }
        struct str tail = str_part(rest, at + 2, rest.n);
        size_t close = str_find_char(tail, '}');
        struct str name = str_part(tail, 0, close);
        const struct gpu_param *p = gpu_params_get(params, arena_cstr(arena, name));
        bool is_version = p == NULL && str_equal(name, S("version"));
        if (close == tail.n || (p == NULL && !is_version))
            return diag_fail(d, ST_FORMAT, "gpu.unknown-param", (struct where){0},
                             "no parameter \"%.*s\" for \"%.*s\"", STR_ARGS(name), STR_ARGS(text));
        made = arena_format(arena, "%.*s%.*s%.*s", STR_ARGS(made), STR_ARGS(head),
                            STR_ARGS(is_version ? version : p->text));
        rest = str_part(tail, close + 1, tail.n);
    }
}
