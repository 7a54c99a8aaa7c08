/*
 * Arguments that strata knows by itself: data/replay/recipes.json.in filled with the case's values.
 */
#include <inttypes.h>
#include <math.h>

#include "base/files/embedded.h"
#include "base/text/template.h"
#include "kernels/replay/args.h"

/* What the recipes are filled with. */
struct numbers {
    int64_t block_size, head_dim, scale, batch, heads, kv_heads, per_request, total, q_tile, q_loop,
        logical;
};

struct builder {
    struct arena *arena;
    const struct scene *scene;
    struct diag *diag;
    enum status status;
    struct numbers v;
};

enum { WORK_MAX = 2000 }; /* units of work that are worth waiting for */

bool args_has_recipe(const struct scene *scene)
{
    struct str folder = str_of(scene->folder);

    return str_contains(folder, S("paged_attention")) ||
           str_contains(folder, S("spmd_multiblock_mix"));
}

/* A parameter of the case, at least 1 and small enough that products of a few fit. */
static int64_t param(struct builder *b, struct str name)
{
    int64_t value = 0;

    if (b->status != ST_OK)
        return 1;
    if (!scene_param(b->scene, name, &value) || value < 1 || value > UINT32_MAX) {
        b->status =
            diag_fail(b->diag, ST_FORMAT, "replay.param", (struct where){.path = b->scene->file},
                      "case %.*s: parameter %.*s is missing or not in 1 to 4294967295",
                      STR_ARGS(b->scene->case_name), STR_ARGS(name));
        return 1;
    }
    return value;
}

/* The bits of the argument `scale`, 1.0 unless the scene says otherwise. */
static int64_t scale_bits(struct builder *b)
{
    const struct tree *given = scene_scalar(b->scene, S("scale"));
    double scale = given != NULL && given->kind != TREE_HUGE ? tree_number(given) : NAN;
    int64_t out = 0;

    if (isnan(scale))
        scale = 1.0;
    if (!slot_f32_bits(scale, &out) && b->status == ST_OK)
        b->status = diag_fail(b->diag, ST_FORMAT, "replay.bad-value",
                              (struct where){.path = b->scene->file},
                              "the argument scale does not fit a float32");
    return out;
}

/* A block and an iteration are one unit of work; a few hundred are simulated in minutes. */
static void warn_of_work(struct builder *b, int64_t blocks, int64_t iterations)
{
    struct where where = {.path = b->scene->file};

    if (blocks > WORK_MAX / iterations)
        diag_add(b->diag, SEV_WARN, "replay.long-run", where,
                 "%" PRId64 " blocks of %" PRId64
                 " iterations take hours on a cycle simulator: choose a case with fewer requests "
                 "or a shorter context, not smaller tiles",
                 blocks, iterations);
    if (iterations < 3)
        diag_add(b->diag, SEV_WARN, "replay.few-iterations", where,
                 "%" PRId64 " iterations are too few to show double buffering; use 4", iterations);
}

/* All requests in one launch, cube and vector cores together. */
static void take_parallel(struct builder *b)
{
    struct numbers *v = &b->v;

    v->batch = param(b, S("batch"));
    v->heads = param(b, S("num_heads"));
    v->kv_heads = param(b, S("kv_head_num"));
    int64_t context = param(b, S("context_len"));
    int64_t rounds = (context + v->block_size - 1) / v->block_size;
    v->per_request = param(b, S("max_model_len")) / v->block_size;
    v->q_tile = v->heads <= 16 ? 16 : 64;
    v->q_loop = (v->heads + v->q_tile - 1) / v->q_tile;
    if (b->status == ST_OK &&
        (v->per_request < 1 || __builtin_mul_overflow(v->batch, rounds, &v->total) ||
         __builtin_mul_overflow(v->batch, v->q_loop, &v->logical)))
        b->status =
            diag_fail(b->diag, ST_LIMIT, "replay.param", (struct where){.path = b->scene->file},
                      "max_model_len is smaller than block_size, or the products overflow");
    if (b->status != ST_OK)
        return;
    warn_of_work(b, v->logical, rounds);
    v->scale = scale_bits(b);
}

/* The recipe of a paged-attention kernel, its numbers filled in; NULL: none. */
static const char *take_attention(struct builder *b, const struct kernel *kernel)
{
    static const char *const names[][2] = {{"QK", "qk"}, {"SF", "sf"}, {"PV", "pv"}, {"UP", "up"}};

    b->v.block_size = param(b, S("block_size"));
    b->v.head_dim = param(b, S("head_dim"));
    if (kernel->shape == SHAPE_MIX) {
        take_parallel(b);
        return "parallel";
    }
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_equal(str_of(names[i][0]), kernel->incore.name)) {
            if (i == 1)
                b->v.scale = scale_bits(b);
            return names[i][1];
        }
    if (b->status == ST_OK)
        b->status = diag_fail(
            b->diag, ST_NOT_FOUND, "replay.no-recipe", (struct where){.path = b->scene->file},
            "No paged_attention recipe for kernel %.*s", STR_ARGS(kernel->incore.name));
    return NULL;
}

static struct template_value value(struct builder *b, const char *name, int64_t number)
{
    return (struct template_value){.name = name,
                                   .text = arena_format(b->arena, "%" PRId64, number)};
}

static enum status recipe_fill(struct builder *b, const char *recipe, struct slots *out)
{
    static const char *const recipes[] = {"multiblock", "qk", "sf", "pv", "up", "parallel"};
    const struct numbers *v = &b->v;
    struct template_value values[] = {
        value(b, "block_size", v->block_size),
        value(b, "head_dim", v->head_dim),
        value(b, "scale", v->scale),
        value(b, "batch", v->batch),
        value(b, "heads", v->heads),
        value(b, "kv_heads", v->kv_heads),
        value(b, "per_request", v->per_request),
        value(b, "total", v->total),
        value(b, "q_tile", v->q_tile),
        value(b, "q_loop", v->q_loop),
        value(b, "logical", v->logical),
        [11 + ARRAY_LEN(recipes) - 1] = {0},
    };
    struct text text = {0};

    for (size_t i = 0; i < ARRAY_LEN(recipes); i++)
        values[11 + i] = template_flag(recipes[i], strcmp(recipes[i], recipe) == 0);
    template_fill(&text, embedded_file("replay/recipes.json.in"), values, ARRAY_LEN(values));
    struct str kept = arena_str(b->arena, text_view(&text)); /* slots hold on to it */
    text_free(&text);
    return args_parse(b->arena, kept, b->scene->file, out, b->diag);
}

enum status args_recipe(struct arena *arena, const struct scene *scene, const struct kernel *kernel,
                        struct slots *out, struct diag *d)
{
    struct builder b = {.arena = arena, .scene = scene, .diag = d};
    struct str folder = str_of(scene->folder);
    const char *recipe = "multiblock";

    if (!args_has_recipe(scene))
        return diag_fail(d, ST_NOT_FOUND, "replay.no-recipe", (struct where){.path = scene->file},
                         "No built-in insight trace recipe for this test module; pass --arg-spec");
    if (!str_contains(folder, S("spmd_multiblock_mix")))
        recipe = take_attention(&b, kernel);
    TRY(b.status);
    TRY(recipe_fill(&b, recipe, out));
    struct str missing = slots_missing(out, kernel, arena);
    if (missing.n > 0)
        return diag_fail(d, ST_FORMAT, "replay.not-covered", (struct where){.path = scene->file},
                         "Argument recipe for %.*s does not cover args indices: %.*s",
                         STR_ARGS(kernel->incore.name), STR_ARGS(missing));
    return ST_OK;
}
