#include "replay/recipe.h"

#include <inttypes.h>

struct builder {
    struct arena *arena;
    const struct scene *scene;
    const struct kernel *kernel;
    struct slots *out;
    struct diag *diag;
    enum status status;
};

enum { WORK_MAX = 2000 }; /* units of work that are worth waiting for */

bool recipe_is_known(const struct scene *scene)
{
    struct str folder = str_of(scene->folder);

    return str_contains(folder, S("paged_attention")) ||
           str_contains(folder, S("spmd_multiblock_mix"));
}

/* A dimension of 0 ends the list. */
static void tensor(struct builder *b, int64_t index, const char *name, const char *dtype,
                   const int64_t *shape)
{
    struct slot s = {.is_tensor = true,
                     .index = index,
                     .name = str_of(name),
                     .dtype = dtype_find(str_of(dtype)),
                     .fill = S("zero")};

    s.shape = ARENA_ARRAY(b->arena, int64_t, 4);
    while (s.rank < 4 && shape[s.rank] != 0) {
        s.shape[s.rank] = shape[s.rank];
        s.rank++;
    }
    vec_push(b->out, s);
}

#define DIMS(...) ((const int64_t[5]){__VA_ARGS__})

static void number(struct builder *b, int64_t index, const char *name, int64_t value)
{
    vec_push(b->out, ((struct slot){.index = index,
                                    .name = str_of(name),
                                    .dtype = dtype_find(S("UINT64")),
                                    .value = value}));
}

static void bits(struct builder *b, int64_t index, const char *name, int64_t value)
{
    vec_push(b->out, ((struct slot){.index = index,
                                    .name = str_of(name),
                                    .dtype = dtype_find(S("FLOAT32_BITS")),
                                    .value = value,
                                    .is_packed = true}));
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
                      "case %.*s has no parameter %.*s from 1 to 4294967295",
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

static void build_qk(struct builder *b, int64_t bs, int64_t hd)
{
    tensor(b, 0, "qi", "BFLOAT16", DIMS(16, hd));
    tensor(b, 1, "kj", "BFLOAT16", DIMS(bs, hd));
    tensor(b, 2, "sij", "FLOAT32", DIMS(16, bs));
    number(b, 4, "head_dim", hd);
    number(b, 5, "block_size", bs);
}

static void build_sf(struct builder *b, int64_t bs, int64_t hd)
{
    (void)hd;
    tensor(b, 0, "sij", "FLOAT32", DIMS(16, bs));
    tensor(b, 1, "pij", "BFLOAT16", DIMS(16, bs));
    tensor(b, 2, "mij", "FLOAT32", DIMS(16));
    tensor(b, 3, "lij", "FLOAT32", DIMS(16));
    bits(b, 4, "scale", scale_bits(b));
}

static void build_pv(struct builder *b, int64_t bs, int64_t hd)
{
    tensor(b, 0, "pij", "BFLOAT16", DIMS(16, bs));
    tensor(b, 1, "vj", "BFLOAT16", DIMS(bs, hd));
    tensor(b, 2, "oi_new", "FLOAT32", DIMS(16, hd));
    number(b, 4, "block_size", bs);
    number(b, 5, "head_dim", hd);
}

static void build_up(struct builder *b, int64_t bs, int64_t hd)
{
    (void)bs;
    tensor(b, 0, "mij", "FLOAT32", DIMS(16));
    tensor(b, 1, "lij", "FLOAT32", DIMS(16));
    tensor(b, 2, "oi_new", "FLOAT32", DIMS(16, hd));
    tensor(b, 3, "mi", "FLOAT32", DIMS(16));
    tensor(b, 4, "li", "FLOAT32", DIMS(16));
    tensor(b, 5, "oi", "FLOAT32", DIMS(16, hd));
    tensor(b, 6, "dst", "FLOAT32", DIMS(16, hd));
    number(b, 7, "is_first", 1);
    number(b, 8, "is_last", 1);
    number(b, 10, "head_dim", hd);
}

/* A block and an iteration are one unit of work; a few hundred are simulated in minutes. */
static void warn_of_work(struct builder *b, int64_t blocks, int64_t iterations)
{
    struct where where = {.path = b->scene->file};

    if (blocks > WORK_MAX / iterations)
        diag_add(b->diag, SEV_WARN, "replay.long-run", where,
                 "%" PRId64 " blocks of %" PRId64
                 " iterations take a cycle simulator hours: choose a case with fewer requests or a "
                 "shorter context, not smaller tiles",
                 blocks, iterations);
    if (iterations < 3)
        diag_add(b->diag, SEV_WARN, "replay.few-iterations", where,
                 "%" PRId64 " iterations hide double buffering; 4 show it", iterations);
}

/* All requests in one launch, cube and vector cores together. */
static void build_parallel(struct builder *b, int64_t bs, int64_t hd)
{
    int64_t batch = param(b, S("batch")), heads = param(b, S("num_heads"));
    int64_t kv = param(b, S("kv_head_num")), context = param(b, S("context_len"));
    int64_t per_request = param(b, S("max_model_len")) / bs;
    int64_t q_tile = heads <= 16 ? 16 : 64, q_loop = (heads + q_tile - 1) / q_tile;
    int64_t total = 0, logical = 0;

    if (b->status == ST_OK &&
        (per_request < 1 || __builtin_mul_overflow(batch, (context + bs - 1) / bs, &total) ||
         __builtin_mul_overflow(batch, q_loop, &logical)))
        b->status =
            diag_fail(b->diag, ST_LIMIT, "replay.param", (struct where){.path = b->scene->file},
                      "max_model_len is smaller than block_size, or the products are huge");
    if (b->status != ST_OK)
        return;
    warn_of_work(b, logical, (context + bs - 1) / bs);
    tensor(b, 0, "query", "BFLOAT16", DIMS(batch, heads, hd));
    tensor(b, 1, "key_cache", "BFLOAT16", DIMS(total, bs, kv, hd));
    tensor(b, 2, "value_cache", "BFLOAT16", DIMS(total, bs, kv, hd));
    tensor(b, 3, "block_table", "INT32", DIMS(batch, per_request));
    tensor(b, 4, "context_lens", "INT32", DIMS(batch));
    tensor(b, 5, "out", "FLOAT32", DIMS(batch, heads, hd));
    tensor(b, 6, "sij_fifo", "FLOAT32", DIMS(1));
    tensor(b, 7, "pij_fifo", "BFLOAT16", DIMS(1));
    tensor(b, 8, "oi_fifo", "FLOAT32", DIMS(1));
    bits(b, 9, "scale_value", scale_bits(b));
    number(b, 10, "num_heads", heads);
    number(b, 11, "head_dim", hd);
    number(b, 12, "block_size", bs);
    number(b, 13, "max_num_blocks_per_req", per_request);
    number(b, 14, "q_loop", q_loop);
    number(b, 15, "total_logical_blocks", logical);
    number(b, 16, "q_tile", q_tile);
}

static void build_attention(struct builder *b)
{
    static const struct {
        struct str name;
        void (*build)(struct builder *b, int64_t bs, int64_t hd);
    } kernels[] = {{S_INIT("QK"), build_qk},
                   {S_INIT("SF"), build_sf},
                   {S_INIT("PV"), build_pv},
                   {S_INIT("UP"), build_up}};
    int64_t bs = param(b, S("block_size")), hd = param(b, S("head_dim"));

    if (b->kernel->shape == SHAPE_MIX) {
        build_parallel(b, bs, hd);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(kernels); i++) {
        if (str_equal(kernels[i].name, b->kernel->incore.name)) {
            kernels[i].build(b, bs, hd);
            return;
        }
    }
    if (b->status == ST_OK)
        b->status = diag_fail(
            b->diag, ST_NOT_FOUND, "replay.no-recipe", (struct where){.path = b->scene->file},
            "No paged_attention recipe for kernel %.*s", STR_ARGS(b->kernel->incore.name));
}

enum status recipe_build(struct arena *arena, const struct scene *scene,
                         const struct kernel *kernel, struct slots *out, struct diag *d)
{
    struct builder b = {arena, scene, kernel, out, d, ST_OK};
    struct str folder = str_of(scene->folder);

    if (str_contains(folder, S("spmd_multiblock_mix"))) {
        tensor(&b, 0, "output", "FLOAT32", DIMS(4512)); /* 16 floats, 3 rows, 94 blocks */
        out->at[out->n - 1].role = ROLE_INOUT;
        number(&b, 1, "base_cl", 0);
    } else if (str_contains(folder, S("paged_attention"))) {
        build_attention(&b);
    } else {
        return diag_fail(d, ST_NOT_FOUND, "replay.no-recipe", (struct where){.path = scene->file},
                         "No built-in insight trace recipe for this test module; pass --arg-spec");
    }
    if (b.status != ST_OK)
        return b.status;
    struct str missing = slots_missing(out, kernel, arena);
    if (missing.n > 0)
        return diag_fail(d, ST_FORMAT, "replay.not-covered", (struct where){.path = scene->file},
                         "Argument recipe for %.*s does not cover args indices: %.*s",
                         STR_ARGS(kernel->incore.name), STR_ARGS(missing));
    return ST_OK;
}
