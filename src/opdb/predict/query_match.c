/*
 * Rows that answer a question, by rules that have names.
 */
#include "opdb/predict/query_match.h"

#define IN_LIST(name, ...)                                                                         \
    str_is_one_of(name, (const struct str[]){__VA_ARGS__},                                         \
                  sizeof((const struct str[]){__VA_ARGS__}) / sizeof(struct str))

bool query_is_matmul(struct str kernel)
{
    return IN_LIST(kernel, S("MatMulV2"), S("MatMulV3"), S("MatMulCommon"), S("MatMul"),
                   S("QuantBatchMatmulV3"), S("BatchMatMulV2"), S("TransposeBatchMatMul"),
                   S("GroupedMatmul"), S("GroupedMatmulSwigluQuant"));
}

static bool is_rope(struct str kernel)
{
    return IN_LIST(kernel, S("ApplyRotaryPosEmb"), S("_triton_rope"),
                   S("split_qkv_rmsnorm_rope_kernel"));
}

bool query_is_cache_write(struct str kernel)
{
    return IN_LIST(kernel, S("ReshapeAndCacheNdKernel"), S("reshape_and_cache_200000000"));
}

/* (B,M,D) of the model is (B*M,D) of the kernel. */
static bool may_flatten(struct str kernel)
{
    return IN_LIST(kernel, S("AscendQuantV2"), S("DynamicQuant"), S("RmsNorm"), S("AddRmsNormBias"),
                   S("AddRmsNorm"), S("DispatchFFNCombine"));
}

enum dtype query_type(struct str cell)
{
    return dtype_of(cell_bare(cell));
}

struct str query_dtype(struct str name)
{
    enum dtype type = query_type(name);

    switch (type) {
    case DTYPE_BF16:
    case DTYPE_F16:
        return dtype_ascend(DTYPE_BF16);
    case DTYPE_F32:
    case DTYPE_I8:
    case DTYPE_I32:
    case DTYPE_I64:
    case DTYPE_BOOL:
        return dtype_ascend(type);
    default:
        return S("");
    }
}

static bool is_float(struct str dtype)
{
    return str_equal(dtype, S("DT_BF16")) || str_equal(dtype, S("FLOAT"));
}

bool query_same_dtype(struct str kernel, struct str a, struct str b)
{
    if (a.n == 0 || b.n == 0)
        return false;
    /* bf16 and fp32 are as good as each other for these kernels. */
    return str_equal(a, b) || (is_float(a) && is_float(b) &&
                               (is_rope(kernel) || IN_LIST(kernel, S("MatMulV2"), S("PadV3"),
                                                           S("PadV3AiCore"), S("MoeGatingTopK"))));
}

static bool dims_equal(struct cell_dims a, struct cell_dims b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.at, b.at, a.n * sizeof(*a.at)) == 0);
}

/* (..., H, W, bh, bw) in FRACTAL_NZ is (..., H*bw, W*bh). */
static bool unfold(struct cell_dims *dims)
{
    if (dims->n < 4)
        return true;
    int64_t *last = dims->at + dims->n - 4;
    int64_t height, width;
    if (__builtin_mul_overflow(last[0], last[3], &height) ||
        __builtin_mul_overflow(last[1], last[2], &width))
        return false;
    last[0] = height;
    last[1] = width;
    dims->n -= 2;
    return true;
}

static struct cell_slots without_empty(struct cell_slots slots)
{
    size_t n = 0;

    for (size_t i = 0; i < slots.n; i++)
        if (slots.at[i].n > 0)
            slots.at[n++] = slots.at[i];
    slots.n = n;
    return slots;
}

bool query_row_read(struct arena *arena, struct str shapes, struct str dtypes, struct str formats,
                    int64_t count, struct query_row *out)
{
    struct cell_slots s = without_empty(cell_slots(arena, shapes));
    struct cell_slots t = without_empty(cell_slots(arena, dtypes));
    struct cell_slots f = without_empty(cell_slots(arena, formats));

    if (count >= 0 && s.n > (size_t)count)
        s.n = (size_t)count;
    *out = (struct query_row){{ARENA_ARRAY(arena, struct query_input, s.n), s.n},
                              ARENA_ARRAY(arena, struct str, s.n)};
    for (size_t i = 0; i < s.n; i++) {
        struct query_input *in = &out->inputs.at[i];
        if (!cell_dims(arena, s.at[i], &in->dims))
            return false;
        in->dtype = i < t.n ? t.at[i] : S("");
        out->formats[i] = i < f.n ? f.at[i] : S("ND");
        if (str_equal(out->formats[i], S("FRACTAL_NZ")) && !unfold(&in->dims))
            return false;
    }
    return true;
}

/* Without one leading 1, when there is more than that. */
static struct cell_dims strip(struct cell_dims dims)
{
    if (dims.n > 1 && dims.at[0] == 1)
        return (struct cell_dims){dims.at + 1, dims.n - 1};
    return dims;
}

static struct cell_dims make_dims(struct arena *arena, size_t n, const int64_t *values)
{
    struct cell_dims dims = {ARENA_ARRAY(arena, int64_t, n), n};

    memcpy(dims.at, values, n * sizeof(*values));
    return dims;
}

/* Gate and up are one tensor for the kernel. */
static struct query_inputs join_swiglu(struct arena *arena, struct query_inputs in)
{
    struct cell_dims a = strip(in.at[0].dims), b = strip(in.at[1].dims);

    if (a.n != b.n || a.n == 0 || !str_equal(in.at[0].dtype, in.at[1].dtype) ||
        !dims_equal((struct cell_dims){a.at, a.n - 1}, (struct cell_dims){b.at, b.n - 1}))
        return in;
    struct query_input *one = ARENA_NEW(arena, struct query_input);
    *one = (struct query_input){make_dims(arena, a.n, a.at), in.at[0].dtype};
    if (__builtin_add_overflow(a.at[a.n - 1], b.at[b.n - 1], &one->dims.at[a.n - 1]))
        return in;
    return (struct query_inputs){one, 1};
}

/* Heads behind the sequence: (B,H,S,D) to (B,S,H,D). */
static struct cell_dims heads_last(struct arena *arena, struct cell_dims d)
{
    if (d.n != 4)
        return d;
    return make_dims(arena, 4, (const int64_t[]){d.at[0], d.at[2], d.at[1], d.at[3]});
}

/* Q, K, cos, sin of the model are K, Q, cos, sin of the kernel. */
static struct query_inputs turn_rope(struct arena *arena, struct query_inputs in)
{
    size_t n = in.n >= 4 ? 4 : 2;
    struct query_inputs out = {ARENA_ARRAY(arena, struct query_input, n), n};

    out.at[0] = (struct query_input){heads_last(arena, in.at[1].dims), in.at[1].dtype};
    out.at[1] = (struct query_input){heads_last(arena, in.at[0].dims), in.at[0].dtype};
    for (size_t i = 2; i < n; i++) {
        struct cell_dims d = in.at[i].dims;
        if (d.n == 3) /* a head axis of 1: (1,S,D) to (1,S,1,D) */
            d = make_dims(arena, 4, (const int64_t[]){d.at[0], d.at[1], 1, d.at[2]});
        out.at[i] = (struct query_input){d, in.at[i].dtype};
    }
    return out;
}

/* Key and value get a head axis, the joint cache becomes two. */
static struct query_inputs split_cache(struct arena *arena, struct query_inputs in)
{
    struct cell_dims key = in.at[0].dims, value = in.at[1].dims, cache = in.at[2].dims;

    if (key.n != 2 || value.n != 2 || cache.n < 2 || cache.at[0] != 2)
        return in;
    struct query_inputs out = {ARENA_ARRAY(arena, struct query_input, 5), 5};
    struct cell_dims single = {cache.at + 1, cache.n - 1};
    out.at[0] = (struct query_input){
        make_dims(arena, 3, (const int64_t[]){key.at[0], 1, key.at[1]}), in.at[0].dtype};
    out.at[1] = (struct query_input){
        make_dims(arena, 3, (const int64_t[]){value.at[0], 1, value.at[1]}), in.at[1].dtype};
    out.at[2] = (struct query_input){single, in.at[2].dtype};
    out.at[3] = out.at[2];
    out.at[4] = in.at[3];
    return out;
}

struct query_inputs query_normal(struct arena *arena, struct str kernel, struct query_inputs in,
                                 size_t n_row)
{
    if (is_rope(kernel) && in.n >= 2 && n_row >= 2)
        return turn_rope(arena, in);
    if (str_equal(kernel, S("SwiGlu")) && in.n == 2 && n_row == 1)
        return join_swiglu(arena, in);
    if (query_is_cache_write(kernel) && in.n == 4 && n_row == 5)
        return split_cache(arena, in);
    return in;
}

static bool is_rounded(int64_t asked, int64_t stored, int64_t tile)
{
    int64_t up;

    return stored >= 0 && !__builtin_add_overflow(stored, tile - 1, &up) &&
           asked == up / tile * tile;
}

bool query_is_padded(int64_t asked, int64_t stored)
{
    if (asked <= stored)
        return false;
    return is_rounded(asked, stored, 16) || is_rounded(asked, stored, 32) ||
           is_rounded(asked, stored, 64) || (stored >= 64 && is_rounded(asked, stored, 8));
}

static bool is_padded(struct cell_dims asked, struct cell_dims stored)
{
    bool has_padding = false;

    if (asked.n != stored.n)
        return false;
    for (size_t i = 0; i < asked.n; i++) {
        if (asked.at[i] == stored.at[i])
            continue;
        if (!query_is_padded(asked.at[i], stored.at[i]))
            return false;
        has_padding = true;
    }
    return has_padding;
}

static bool is_transposed(struct cell_dims asked, struct cell_dims stored)
{
    return asked.n == 2 && stored.n == 2 && asked.at[0] == stored.at[1] &&
           asked.at[1] == stored.at[0];
}

static bool is_batch_transposed(struct cell_dims asked, struct cell_dims stored)
{
    return asked.n == 3 && stored.n == 3 && asked.at[0] == stored.at[0] &&
           asked.at[1] == stored.at[2] && asked.at[2] == stored.at[1];
}

/* Two of three dimensions in one. */
static const char *match_folded(struct str kernel, struct cell_dims asked, struct cell_dims stored)
{
    struct cell_dims stripped = strip(asked);
    struct cell_dims d = stripped.n == 3 ? stripped : asked;
    int64_t flat[2], merged[2];

    if (!may_flatten(kernel) || stored.n != 2 || d.n != 3 ||
        __builtin_mul_overflow(d.at[0], d.at[1], &flat[0]) ||
        __builtin_mul_overflow(d.at[1], d.at[2], &merged[1]))
        return NULL;
    flat[1] = d.at[2];
    merged[0] = d.at[0];
    if (dims_equal((struct cell_dims){flat, 2}, stored))
        return "flatten_3d";
    if (is_padded((struct cell_dims){flat, 2}, stored))
        return "flatten_3d+padding";
    /* (T,H,D) of the model is (T,H*D) of these kernels. */
    if (!IN_LIST(kernel, S("AscendQuantV2"), S("DynamicQuant")))
        return NULL;
    if (dims_equal((struct cell_dims){merged, 2}, stored))
        return "merge_last_dims";
    return is_padded((struct cell_dims){merged, 2}, stored) ? "merge_last_dims+padding" : NULL;
}

static const char *match_input(struct str kernel, size_t i, struct cell_dims asked,
                               struct cell_dims stored)
{
    struct cell_dims a = strip(asked), b = strip(stored);
    bool is_weight = query_is_matmul(kernel) && i >= 1;

    if (dims_equal(asked, stored))
        return "identity";
    if (dims_equal(a, b) || dims_equal(a, stored))
        return "batch_strip";
    if (str_equal(kernel, S("Index")) && is_transposed(asked, stored) && asked.at[0] == 1)
        return "singleton_axis_transpose";
    if (is_weight && is_transposed(a, stored))
        return "transpose";
    if (is_weight && is_batch_transposed(a, stored))
        return "batched_transpose";
    if (is_padded(a, stored))
        return "padding";
    if (is_padded(a, b))
        return "batch_strip+padding";
    return match_folded(kernel, asked, stored);
}

/* What one more input makes of the rule so far: padding never hides a rewriting of the shape. */
static const char *join_rules(const char *so_far, const char *rule)
{
    bool is_identity = strcmp(so_far, "identity") == 0;

    if (strcmp(rule, "identity") == 0)
        return so_far;
    if (strcmp(rule, "padding") == 0 && !is_identity)
        return so_far;
    if (strcmp(rule, "batch_strip+padding") == 0 && !is_identity &&
        strcmp(so_far, "batch_strip") != 0)
        return so_far;
    return rule;
}

const char *query_match(struct arena *arena, struct str kernel, struct query_inputs inputs,
                        const struct query_row *row)
{
    struct query_inputs in = query_normal(arena, kernel, inputs, row->inputs.n);
    const char *rule = "identity";

    if (in.n != row->inputs.n)
        return NULL;
    for (size_t i = 0; i < in.n; i++) {
        if (!query_same_dtype(kernel, in.at[i].dtype, row->inputs.at[i].dtype))
            return NULL;
        const char *one = match_input(kernel, i, in.at[i].dims, row->inputs.at[i].dims);
        if (one == NULL)
            return NULL;
        rule = join_rules(rule, one);
    }
    return rule;
}
