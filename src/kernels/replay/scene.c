/*
 * Scenes: test modules and scene files, and the case that is meant.
 */
#include "kernels/replay/scene.h"

#include "base/files/fs.h"
#include "base/files/mapfile.h"
#include "base/limits.h"
#include "kernels/replay/lit_python.h"
#include "kernels/replay/paths.h"
#include "kernels/replay/py_eval.h"
#include "kernels/replay/slots.h"

struct loader {
    struct arena *arena;
    struct scene *scene;
    struct diag *diag;
};

static struct where at(const struct loader *l, const struct tree *value)
{
    return (struct where){.path = l->scene->file, .line = value != NULL ? value->line : 0};
}

/* A value that has to be computed cannot be used. */
static enum status reject(const struct loader *l, const struct tree *value, const char *what)
{
    if (value != NULL &&
        (value->kind == TREE_COMPUTED || value->kind == TREE_NAME || value->kind == TREE_HUGE)) {
        diag_hint(l->diag, "try", "a scene file in JSON with the values (docs/incore-replay.md)");
        return diag_fail(l->diag, ST_UNSUPPORTED, "replay.computed", at(l, value),
                         "%s is computed by the module, which is read but not run", what);
    }
    return diag_fail(l->diag, ST_FORMAT, "replay.bad-scene", at(l, value),
                     value == NULL ? "%s is missing" : "%s is invalid", what);
}

static enum status read_incore(const struct loader *l, const struct tree *entry,
                               struct scene_incore *out)
{
    const struct tree *source = tree_get(entry, S("source")), *id = tree_get(entry, S("func_id"));
    const struct tree *name = tree_get(entry, S("name")), *type = tree_get(entry, S("core_type"));

    if (entry->kind != TREE_MAP)
        return reject(l, entry, "an entry of incores");
    if (source == NULL || source->kind != TREE_TEXT || source->text.n == 0)
        return reject(l, source, "source of an entry of incores");
    out->func_id = -1;
    if (id != NULL && id->kind != TREE_NULL && !tree_int(id, &out->func_id))
        return reject(l, id, "func_id of an entry of incores");
    if (name != NULL && name->kind != TREE_TEXT && name->kind != TREE_NULL)
        return reject(l, name, "name of an entry of incores");
    if (memchr(source->text.at, '\0', source->text.n) != NULL)
        return reject(l, source, "source of an entry of incores, with a NUL byte,");
    out->source = source->text;
    out->name = name != NULL && name->kind == TREE_TEXT ? name->text : paths_stem(source->text);
    out->core_type = tree_text(type);
    const char *text = arena_cstr(l->arena, source->text);
    out->path = paths_absolute(l->arena, fs_join(l->arena, l->scene->folder, text));
    if (!fs_exists(out->path)) /* a scene file may stand beside the kernels, away from the module */
        out->path = paths_absolute(
            l->arena,
            fs_join(l->arena, paths_folder(l->arena, paths_absolute(l->arena, l->scene->file)),
                    text));
    return ST_OK;
}

static enum status read_incores(const struct loader *l, const struct tree *incores)
{
    if (incores == NULL || incores->kind != TREE_LIST)
        return reject(l, incores, "incores, the list of kernels,");
    l->scene->incores = ARENA_ARRAY(l->arena, struct scene_incore, incores->n);
    l->scene->n_incores = incores->n;
    struct scene_incore *out = l->scene->incores;
    for (const struct tree *one = incores->first; one != NULL; one = one->next)
        TRY(read_incore(l, one, out++));
    return ST_OK;
}

/* The kernels of a CALLABLE: its own, or those of all its callables together. */
static const struct tree *incores_of(const struct loader *l, const struct tree *callable)
{
    const struct tree *parts = tree_get(callable, S("callables"));
    struct tree *all = ARENA_NEW(l->arena, struct tree);

    if (tree_get(callable, S("incores")) != NULL || parts == NULL)
        return tree_get(callable, S("incores"));
    *all = (struct tree){.kind = TREE_LIST, .line = parts->line};
    for (const struct tree *one = tree_items(parts); one != NULL; one = one->next) {
        const struct tree *own = tree_get(one, S("incores"));
        if (own != NULL && own->kind != TREE_LIST)
            return own;
        if (own != NULL)
            py_eval_spread(l->arena, own, all);
    }
    return all;
}

static void read_platforms(const struct loader *l, const struct tree *list)
{
    struct scene *scene = l->scene;

    scene->platforms = ARENA_ARRAY(l->arena, struct str, list != NULL ? list->n : 0);
    for (const struct tree *one = tree_items(list); one != NULL; one = one->next)
        scene->platforms[scene->n_platforms++] = tree_text(one);
}

/* The case that was asked for; `cases` is the first one. */
static enum status pick_case(const struct loader *l, const struct tree *cases)
{
    struct scene *scene = l->scene;

    for (const struct tree *one = cases; one != NULL; one = one->next) {
        const struct tree *name = tree_get(one, S("name"));
        if (name != NULL && name->kind == TREE_TEXT && str_equal(name->text, scene->case_name)) {
            scene->one_case = one;
            read_platforms(l, tree_get(one, S("platforms")));
            return ST_OK;
        }
    }
    VEC_OF(struct str) names = {0};
    for (const struct tree *one = cases; one != NULL; one = one->next) {
        struct str name = tree_text(tree_get(one, S("name")));
        vec_push(&names, name.n > 0 ? name : S("<unnamed>"));
    }
    struct str list = arena_join(l->arena, names.at, names.n, S(", "));
    vec_free(&names);
    return diag_fail(
        l->diag, ST_NOT_FOUND, "replay.unknown-case", (struct where){.path = scene->file},
        "Unknown case '%.*s'; available cases: %.*s", STR_ARGS(scene->case_name), STR_ARGS(list));
}

static enum status read_json(const struct loader *l, struct str text)
{
    struct scene *scene = l->scene;

    TRY(replay_read_json(l->arena, text, scene->file, &scene->doc, l->diag));
    const struct tree *doc = scene->doc;
    if (doc->kind != TREE_MAP)
        return reject(l, doc, "the document, which must be an object,");
    struct str module = tree_text(tree_get(doc, S("module")));
    if (module.n > 0 && memchr(module.at, '\0', module.n) == NULL) {
        const char *beside = paths_folder(l->arena, scene->module);
        scene->module =
            paths_absolute(l->arena, fs_join(l->arena, beside, arena_cstr(l->arena, module)));
    }
    scene->folder = paths_folder(l->arena, scene->module);
    scene->runtime = tree_text(tree_get(doc, S("runtime")));
    scene->signature = tree_get(tree_get(doc, S("orchestration")), S("signature"));
    const struct tree *one = tree_get(doc, S("case")), *cases = tree_get(doc, S("cases"));
    if (one != NULL && one->kind == TREE_MAP) {
        struct tree *alone = ARENA_NEW(l->arena, struct tree); /* its siblings are no cases */
        *alone = *one;
        alone->next = NULL;
        TRY(pick_case(l, alone));
    } else if (cases != NULL && cases->kind == TREE_LIST) {
        TRY(pick_case(l, cases->first));
    } else {
        return reject(l, one, "case");
    }
    return read_incores(l, tree_get(doc, S("incores")));
}

/* Of level 2, or of any level when `of_any`; with the case when it is given. */
static bool is_scene(const struct scene *scene, const struct py_class *c, bool of_any,
                     struct str with_case)
{
    const struct tree *cases = tree_get(&c->body, S("CASES")), *one = tree_items(cases);
    int64_t level;

    if (tree_get(&c->body, S("CALLABLE")) == NULL || cases == NULL ||
        (scene->class_name.n > 0 && !str_equal(c->name, scene->class_name)))
        return false;
    while (one != NULL && !str_equal(tree_text(tree_get(one, S("name"))), with_case))
        one = one->next;
    if (with_case.n > 0 && one == NULL)
        return false;
    return of_any || (tree_int(tree_get(&c->decorator, S("level")), &level) && level == 2);
}

static size_t count_scenes(const struct scene *scene, const struct py_module *module, bool of_any,
                           struct str with_case)
{
    size_t n = 0;

    for (size_t i = 0; i < module->n; i++)
        n += is_scene(scene, &module->at[i], of_any, with_case);
    return n;
}

/* The class that is a scene: of level 2, else any with the case; of several the one with it. */
static enum status pick_class(const struct loader *l, const struct py_module *module,
                              const struct py_class **out)
{
    struct str names = {"", 0}, with_case = l->scene->case_name;
    const struct scene *scene = l->scene;
    bool of_any = count_scenes(scene, module, false, (struct str){0}) == 0;
    size_t n = 0;

    if (!of_any && count_scenes(scene, module, of_any, with_case) != 1)
        with_case = (struct str){0};
    for (size_t i = 0; i < module->n; i++) {
        const struct py_class *c = &module->at[i];
        if (!is_scene(scene, c, of_any, with_case))
            continue;
        *out = c;
        if (n++ < 16)
            names = arena_format(l->arena, "%.*s%s%.*s", STR_ARGS(names), n > 1 ? ", " : "",
                                 STR_ARGS(c->name));
    }
    if (n == 0)
        return diag_fail(l->diag, ST_NOT_FOUND, "replay.no-scene",
                         (struct where){.path = l->scene->file},
                         "No level-2 SceneTestCase class found");
    if (n > 1) {
        diag_hint(l->diag, "try", "--case CLASS::CASE for one of them");
        return diag_fail(l->diag, ST_FORMAT, "replay.several-scenes",
                         (struct where){.path = l->scene->file},
                         "Multiple SceneTestCase classes found: %.*s", STR_ARGS(names));
    }
    return ST_OK;
}

static enum status read_python(const struct loader *l, struct str text)
{
    struct scene *scene = l->scene;
    const struct py_class *c = NULL;
    struct py_module module;

    size_t colons = str_find(scene->case_name, S("::"));
    if (colons < scene->case_name.n) {
        scene->class_name = str_part(scene->case_name, 0, colons);
        scene->case_name = str_part(scene->case_name, colons + 2, scene->case_name.n);
    }
    TRY(py_module_read(l->arena, text, scene->file, &module, l->diag));
    TRY(pick_class(l, &module, &c));
    const struct tree *callable = tree_get(&c->body, S("CALLABLE"));
    const struct tree *cases = tree_get(&c->body, S("CASES"));
    scene->folder = paths_folder(l->arena, scene->module);
    scene->runtime = tree_text(tree_get(&c->decorator, S("runtime")));
    if (cases->kind != TREE_LIST)
        return reject(l, cases, "CASES");
    TRY(pick_case(l, cases->first));
    if (callable->kind != TREE_MAP)
        return reject(l, callable, "CALLABLE");
    scene->signature = tree_get(tree_get(callable, S("orchestration")), S("signature"));
    return read_incores(l, incores_of(l, callable));
}

enum status scene_read(struct arena *arena, const char *path, struct str case_name,
                       struct scene *out, struct diag *d)
{
    struct loader l = {arena, out, d};
    struct mapfile map;

    *out = (struct scene){.file = path, .case_name = case_name};
    TRY(mapfile_open(&map, path, d));
    out->module = paths_absolute(arena, path);
    enum status st = ST_OK;
    if (map.text.n > LIMIT_SCENE_BYTES)
        st = diag_fail(d, ST_LIMIT, "replay.bad-scene", (struct where){.path = path},
                       "larger than %d bytes", LIMIT_SCENE_BYTES);
    else if (str_ends(str_of(path), S(".json")))
        st = read_json(&l, arena_str(arena, map.text));
    else
        st = read_python(&l, arena_str(arena, map.text));
    mapfile_close(&map);
    return st;
}

bool scene_param(const struct scene *scene, struct str name, int64_t *out)
{
    return tree_int(tree_get(tree_get(scene->one_case, S("params")), name), out);
}

const struct tree *scene_scalar(const struct scene *scene, struct str name)
{
    const struct tree *one = tree_items(tree_get(scene->doc, S("scalars")));

    for (; one != NULL; one = one->next)
        if (str_equal(tree_text(tree_get(one, S("name"))), name))
            return tree_get(one, S("value"));
    return NULL;
}

enum status scene_check_platform(const struct scene *scene, struct str family, struct arena *arena,
                                 struct diag *d)
{
    struct str names = {"", 0};

    for (size_t i = 0; i < scene->n_platforms; i++) {
        if (str_starts(scene->platforms[i], family))
            return ST_OK;
        if (i < 16)
            names = arena_format(arena, "%.*s%s'%.*s'", STR_ARGS(names), i > 0 ? ", " : "",
                                 STR_ARGS(scene->platforms[i]));
    }
    if (scene->n_platforms == 0)
        return ST_OK;
    return diag_fail(d, ST_UNSUPPORTED, "replay.platform", (struct where){.path = scene->file},
                     "Platform family '%.*s' does not match case platforms [%.*s]",
                     STR_ARGS(family), STR_ARGS(names));
}
