/*
 * Which kernel of a scene is meant, and its shape.
 */
#include "kernels/replay/shape.h"

#include <stdio.h>

#include "base/files/mapfile.h"
#include "base/limits.h"
#include "base/text/char.h"
#include "kernels/replay/entry.h"

enum { HEADERS = 64, HEADERS_DEEP = 8 }; /* that are looked into for the instructions */

ENUM_NAMES(shape_name, enum shape, "aic-only", "aiv-only", "spmd-mix")

bool shape_classify(struct str path, struct str text, struct str core_type, enum shape *out)
{
    static const struct str marks[] = {
        S_INIT("SPMD_LOCAL_CONTEXT_INDEX"),
        S_INIT("SPMD_GLOBAL_CONTEXT_INDEX"),
        S_INIT("get_block_idx(args)"),
        S_INIT("get_sub_block_id(args)"),
        S_INIT("get_block_num(args)"),
        S_INIT("args[48]"),
        S_INIT("args[49]"),
    };
    bool is_vector = str_equal(core_type, S("aiv"));

    *out = SHAPE_MIX;
    if (str_contains(path, S("/kernels/mix/")) || STR_ANY(str_contains, text, marks))
        return true;
    *out = SHAPE_AIC;
    if (!is_vector && (str_equal(core_type, S("aic")) || str_contains(path, S("/kernels/aic/"))))
        return true;
    *out = SHAPE_AIV;
    return is_vector || str_contains(path, S("/kernels/aiv/"));
}

static bool is_chosen(const struct scene_incore *k, const struct kernel_choice *choice,
                      bool is_exact)
{
    struct str wanted = str_of(choice->source);

    if (choice->name != NULL)
        return str_equal(k->name, str_of(choice->name));
    if (choice->source == NULL)
        return k->func_id == choice->func_id;
    while (str_starts(wanted, S("./")))
        wanted = str_part(wanted, 2, wanted.n);
    if (is_exact)
        return str_equal(str_of(k->path), wanted);
    /* Equal, of the same file name, or the end of the path; nothing is the end of every one. */
    return wanted.n > 0 && (str_equal(str_basename(k->source), str_basename(wanted)) ||
                            str_ends(k->source, wanted));
}

/* Does the text include the instructions, or a header beside it that does? */
static bool includes_instructions(const char *path, struct str text, size_t *n_left, int depth)
{
    static const struct str include = S_INIT("#include");

    if (str_contains(text, S("pto/pto-inst.hpp")))
        return true;
    if (depth == HEADERS_DEEP)
        return false;
    for (struct str rest = text; rest.n > 0;) {
        rest = str_part(rest, str_find(rest, include), rest.n);
        rest = str_trim(str_part(rest, include.n, rest.n));
        size_t quote = rest.n > 1 && rest.at[0] == '"'
                           ? str_find_char(str_part(rest, 1, rest.n), '"')
                           : rest.n;
        if (quote >= rest.n || quote > 200 || *n_left == 0)
            continue;
        --*n_left;
        struct str folder = str_part(str_of(path), 0, strlen(path) - str_basename(str_of(path)).n);
        struct str name = str_part(rest, 1, quote);
        char header[4096];
        struct mapfile map;
        if (snprintf(header, sizeof(header), "%.*s%.*s", STR_ARGS(folder), STR_ARGS(name)) >=
                (int)sizeof(header) ||
            memchr(name.at, '\0', name.n) != NULL || mapfile_open(&map, header, NULL) != ST_OK)
            continue;
        bool has = map.text.n <= LIMIT_SOURCE_BYTES &&
                   includes_instructions(header, map.text, n_left, depth + 1);
        mapfile_close(&map);
        if (has)
            return true;
    }
    return false;
}

static enum status examine(struct kernel *k, struct str text, struct diag *d)
{
    const char *path = k->incore.path;

    if (text.n > LIMIT_SOURCE_BYTES)
        return diag_fail(d, ST_LIMIT, "replay.not-a-kernel", (struct where){.path = path},
                         "larger than %d bytes", LIMIT_SOURCE_BYTES);
    if (!shape_classify(str_of(path), text, k->incore.core_type, &k->shape))
        return diag_fail(d, ST_FORMAT, "replay.unclassified", (struct where){.path = path},
                         "Cannot classify kernel core type: '%.*s'", STR_ARGS(k->incore.core_type));
    if (!str_contains(text, S("kernel_entry")) || !str_contains(text, S("int64_t *args")))
        return diag_fail(d, ST_FORMAT, "replay.not-a-kernel", (struct where){.path = path},
                         "Kernel does not look like kernel_entry(args): %s", path);
    struct arena arena;
    arena_init(&arena);
    struct str rest = entry_without_comments(&arena, text);
    while (rest.n > 0) {
        rest = str_part(rest, str_find(rest, S("args[")), rest.n);
        rest = str_part(rest, 5, rest.n);
        size_t i = 0, value = 0;
        while (i < rest.n && char_is_digit(rest.at[i]) && value < SLOT_COUNT)
            value = value * 10 + (size_t)(rest.at[i++] - '0');
        if (i > 0 && i < rest.n && rest.at[i] == ']' && value < SLOT_COUNT)
            k->reads[value] = true;
    }
    arena_free(&arena);
    size_t n_left = HEADERS;
    k->is_runnable = includes_instructions(path, text, &n_left, 0);
    return ST_OK;
}

enum status kernel_select(const struct scene *scene, const struct kernel_choice *choice,
                          struct kernel *out, struct diag *d)
{
    struct where where = {.path = scene->file};
    const struct scene_incore *hit = NULL;
    struct mapfile map;
    bool is_exact = false;
    size_t n = 0;

    *out = (struct kernel){0};
    if ((choice->name != NULL) + (choice->source != NULL) + choice->has_func_id != 1)
        return diag_fail(d, ST_NOT_FOUND, "replay.selector", where,
                         "Exactly one of --kernel, --func-id, or --kernel-source is required");
    for (size_t i = 0; choice->source != NULL && i < scene->n_incores; i++)
        is_exact = is_exact || is_chosen(&scene->incores[i], choice, true);
    for (size_t i = 0; i < scene->n_incores; i++) {
        if (!is_chosen(&scene->incores[i], choice, is_exact))
            continue;
        hit = hit != NULL ? hit : &scene->incores[i];
        n++;
    }
    if (hit == NULL)
        return diag_fail(d, ST_NOT_FOUND, "replay.selector", where,
                         "Kernel selector did not match any CALLABLE['incores'] entry");
    if (n > 1)
        diag_add(d, SEV_WARN, "replay.several-kernels", where,
                 "%zu kernels match; using the first, %.*s; --func-id or --kernel selects another",
                 n, STR_ARGS(hit->source));
    out->incore = *hit;
    TRY(mapfile_open(&map, hit->path, d));
    enum status st = examine(out, map.text, d);
    mapfile_close(&map);
    return st;
}
