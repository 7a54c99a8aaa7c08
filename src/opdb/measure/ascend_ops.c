/*
 * The operators as calls of aclnn in two phases: which function, and its operands in their order.
 * Each type below is that of the first phase. See ascend_inside.h.
 */
#include <stdio.h>
#include <stdlib.h>

#include "opdb/measure/ascend_inside.h"
#include "opdb/measure/op_inside.h"

typedef const void *T; /* a tensor, a list of them, numbers or a scalar */
#define PLAN(name, types, ...)                                                                     \
    static int name(const struct ascend *a, const struct ascend_step *s, uint64_t *bytes,          \
                    void **executor)                                                               \
    {                                                                                              \
        typedef int first_phase types;                                                             \
        const struct op_call *c = a->call;                                                         \
        (void)c;                                                                                   \
        return ((first_phase *)s->plan)(__VA_ARGS__, bytes, executor);                             \
    }                                                                                              \
    struct ascend_step

enum { KEEP_TYPES = 0, LAST_AXIS = -1 };

static const char *add_step(struct ascend *a, const char *symbol, ascend_plan *give, void *from,
                            void *to)
{
    struct ascend_step *s = ascend_add(a, symbol, give);

    if (s == NULL)
        return a->problem;
    s->from = from;
    s->to = to;
    return NULL;
}

static const char *one_step(struct ascend *a, const char *symbol, ascend_plan *give)
{
    return add_step(a, symbol, give, NULL, NULL);
}

/* ---- products ---- */

PLAN(plan_matmul, (T, T, T, int8_t, uint64_t *, void **), s->from, s->to, a->out[0], KEEP_TYPES);

/* Operands as matrices (m,k) and (k,n), whichever way they are stored. */
static const char *build_matmul(struct ascend *a)
{
    const struct op_call *c = a->call;
    bool is_nz = c->in[1].is_nz, is_stack = c->out[0].t.rank > 2;
    const char *symbol = is_stack ? (is_nz ? "aclnnBatchMatMulWeightNz" : "aclnnBatchMatMul")
                                  : (is_nz ? "aclnnMatmulWeightNz" : "aclnnMm");
    struct ascend_step *s = ascend_add(a, symbol, plan_matmul);

    if (s == NULL)
        return a->problem;
    if (is_nz && c->is_b_transposed)
        return "a transposed matrix in FRACTAL_NZ is not run on ascend";
    s->from = c->is_a_transposed ? ascend_turned(a, &c->in[0].t) : a->in[0];
    s->to = c->is_b_transposed ? ascend_turned(a, &c->in[1].t) : a->in[1];
    return NULL;
}

PLAN(plan_transpose_matmul, (T, T, T, T, T, T, T, int8_t, int32_t, T, uint64_t *, void **),
     a->in[0], a->in[1], NULL, NULL, s->from, s->from, s->to, KEEP_TYPES, 1, a->out[0]);

static const char *build_transpose_matmul(struct ascend *a)
{
    static const int64_t same[] = {0, 1, 2}, swapped[] = {1, 0, 2};
    void *from = ascend_integers(a, same, 3), *to = ascend_integers(a, swapped, 3);

    return add_step(
        a, a->call->in[1].is_nz ? "aclnnTransposeBatchMatMulWeightNz" : "aclnnTransposeBatchMatMul",
        plan_transpose_matmul, from, to);
}

PLAN(plan_scale, (T, T, T, uint64_t *, void **), a->in[2], c->has_offset ? a->in[3] : NULL, s->to);

PLAN(plan_quant_matmul, (T, T, T, T, T, T, T, T, T, bool, bool, int64_t, T, uint64_t *, void **),
     a->in[0], a->in[1], c->has_pertoken ? a->in[3] : NULL, s->from, NULL, NULL,
     c->has_offset && s->from == a->in[2] ? a->in[3] : NULL, NULL, c->has_bias ? a->in[3] : NULL,
     false, c->is_b_transposed, 0, a->out[0]);

/* Scales in fp32 of a result that is not bf16 are packed first, unless tokens have their own.
 */
static const char *build_quant_matmul(struct ascend *a)
{
    const struct op_call *c = a->call;
    struct tensor packed = {DTYPE_I64, 1, {tensor_count(&c->in[2].t)}, NULL};
    bool is_packing = c->in[2].t.dtype == DTYPE_F32 && !c->has_pertoken &&
                      c->out[0].t.dtype != DTYPE_BF16 && c->out[0].t.dtype != DTYPE_I32;
    void *scale = is_packing ? ascend_tensor(a, &packed, NULL) : a->in[2];
    struct ascend_step *s;

    if (is_packing) {
        if ((s = ascend_add(a, "aclnnTransQuantParamV2", plan_scale)) == NULL)
            return a->problem;
        s->to = scale;
        s->is_once = true;
    }
    s = ascend_add(a, c->in[1].is_nz ? "aclnnQuantMatmulWeightNz" : "aclnnQuantMatmulV5",
                   plan_quant_matmul);
    if (s == NULL)
        return a->problem;
    s->from = scale;
    return NULL;
}

/* Lists of one tensor each; the list of groups holds sums, rows go to one result. */
struct grouped_lists {
    void *x, *weight, *scale, *pertoken, *out;
};

static const struct grouped_lists *grouped_of(const struct ascend_step *s)
{
    return s->from;
}

enum { ONE_RESULT = 2, BY_ROWS = 0, SUMS = 0, NO_ACTIVATION = 0 };

PLAN(plan_grouped,
     (T, T, T, T, T, T, T, T, T, T, T, T, int64_t, int64_t, int64_t, int64_t, T, T, T, T,
      uint64_t *, void **),
     grouped_of(s)->x, grouped_of(s)->weight, NULL, grouped_of(s)->scale, NULL, NULL, NULL,
     grouped_of(s)->pertoken, a->in[GROUPED_LIST], NULL, NULL, NULL, ONE_RESULT, BY_ROWS, SUMS,
     NO_ACTIVATION, NULL, grouped_of(s)->out, NULL, NULL);

static const char *build_grouped(struct ascend *a)
{
    const struct op_call *c = a->call;
    struct grouped_lists *l = ARENA_NEW(c->arena, struct grouped_lists);

    l->x = ascend_list(a, a->in[GROUPED_X]);
    l->weight = ascend_list(a, a->in[GROUPED_WEIGHT]);
    l->scale = c->has_scale ? ascend_list(a, a->in[GROUPED_SCALE]) : NULL;
    l->pertoken = c->has_pertoken ? ascend_list(a, a->in[GROUPED_PERTOKEN]) : NULL;
    l->out = ascend_list(a, a->out[0]);
    return add_step(a, c->in[1].is_nz ? "aclnnGroupedMatmulWeightNz" : "aclnnGroupedMatmulV5",
                    plan_grouped, l, NULL);
}

PLAN(plan_grouped_swiglu, (T, T, T, T, T, T, T, T, T, T, uint64_t *, void **), a->in[GROUPED_X],
     a->in[GROUPED_WEIGHT], NULL, NULL, a->in[GROUPED_SCALE], a->in[GROUPED_PERTOKEN],
     a->in[GROUPED_LIST], a->out[0], a->out[1], s->to);

static const char *build_grouped_swiglu(struct ascend *a)
{
    struct tensor offset = {DTYPE_F32, 1, {a->call->m}, NULL}; /* an output nobody reads */

    return add_step(a,
                    a->call->in[1].is_nz ? "aclnnGroupedMatmulSwigluQuantWeightNZ"
                                         : "aclnnGroupedMatmulSwigluQuant",
                    plan_grouped_swiglu, NULL, ascend_tensor(a, &offset, NULL));
}

/* ---- attention ---- */

enum { ALL_TOKENS = 2147483647, MASK_SIDE = 2048, CAUSAL = 3 };

struct attention_lists {
    void *key, *value, *mask, *query_lengths, *kv_lengths;
    char layout[16];
};

static struct attention_lists *lists_of(const struct ascend_step *s)
{
    return s->from;
}

PLAN(plan_attention,
     (T, T, T, T, T, T, T, T, T, T, T, T, T, T, T, T, T, T, T, T, T, T, T, T, T, T, T, int64_t,
      double, int64_t, int64_t, char *, int64_t, int64_t, int64_t, int64_t, int64_t, bool, int64_t,
      int64_t, T, T, uint64_t *, void **),
     a->in[ATTN_QUERY], lists_of(s)->key, lists_of(s)->value, NULL, lists_of(s)->mask,
     lists_of(s)->query_lengths, lists_of(s)->kv_lengths, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
     a->in[ATTN_TABLE], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, a->in[ATTN_Q_ROPE],
     a->in[ATTN_K_ROPE], NULL, c->attention.heads, c->scale, ALL_TOKENS, ALL_TOKENS,
     lists_of(s)->layout, c->attention.kv_heads, c->attention.is_causal ? CAUSAL : 0, 0,
     c->attention.block, 0, c->attention.has_lse, 0, 0, a->out[0],
     c->attention.has_lse ? a->out[1] : NULL);

static void *lengths_of(struct ascend *a, const int32_t *list, bool is_sums)
{
    int64_t n = a->call->attention.seqs, sum = 0;
    int64_t *out = ARENA_ARRAY(a->call->arena, int64_t, (size_t)n + 1);

    for (int64_t i = 0; i < n; i++) {
        sum = is_sums ? sum + list[i] : list[i];
        out[i] = sum;
    }
    return ascend_integers(a, out, (size_t)n);
}

/* Ones above the diagonal. */
static void *triangle(struct ascend *a)
{
    struct tensor t = {DTYPE_I8, 2, {MASK_SIDE, MASK_SIDE}, calloc(MASK_SIDE, MASK_SIDE)};
    char *at = t.data;

    for (size_t i = 0; at != NULL && i < MASK_SIDE; i++)
        memset(at + i * MASK_SIDE + i + 1, 1, MASK_SIDE - i - 1);
    void *mask = ascend_tensor(a, &t, NULL);
    free(at);
    return mask;
}

static const char *build_attention(struct ascend *a)
{
    const struct op_attention *n = &a->call->attention;
    bool is_3d = a->call->in[ATTN_QUERY].t.rank == 3;
    struct attention_lists *l = ARENA_NEW(a->call->arena, struct attention_lists);

    l->key = ascend_list(a, a->in[ATTN_KEY]);
    l->value = ascend_list(a, a->in[ATTN_VALUE]);
    l->mask = n->is_causal ? triangle(a) : NULL;
    l->query_lengths = lengths_of(a, n->q_len, is_3d);
    l->kv_lengths = lengths_of(a, n->kv_len, is_3d && n->block == 0);
    snprintf(l->layout, sizeof(l->layout), "%s", is_3d ? "TND" : "BNSD_NBSD");
    return add_step(a, "aclnnFusedInferAttentionScoreV3", plan_attention, l, NULL);
}

/* Lengths as tensors, for the operators that take them so. */
struct sparse_operands {
    void *query_lengths, *kv_lengths, *most, *sum;
    char query_layout[8], key_layout[8];
};

static void *lengths_tensor(struct ascend *a, const int32_t *list, bool is_sums)
{
    int64_t n = a->call->attention.seqs;
    int32_t *out = ARENA_ARRAY(a->call->arena, int32_t, (size_t)n + 1), sum = 0;
    struct tensor t = {DTYPE_I32, 1, {n}, out};

    for (int64_t i = 0; i < n; i++) {
        sum = is_sums ? sum + list[i] : list[i];
        out[i] = sum;
    }
    return ascend_tensor(a, &t, NULL);
}

static struct sparse_operands *sparse_operands(struct ascend *a)
{
    const struct op_attention *n = &a->call->attention;
    struct sparse_operands *l = ARENA_NEW(a->call->arena, struct sparse_operands);

    l->query_lengths = lengths_tensor(a, n->q_len, true);
    l->kv_lengths = lengths_tensor(a, n->kv_len, false);
    snprintf(l->query_layout, sizeof(l->query_layout), "TND");
    snprintf(l->key_layout, sizeof(l->key_layout), "PA_BSND");
    return l;
}

static struct sparse_operands *sparse_of(const struct ascend_step *s)
{
    return s->from;
}

PLAN(plan_indexer,
     (T, T, T, T, T, T, char *, char *, int64_t, int64_t, int64_t, int64_t, bool, T, T, uint64_t *,
      void **),
     a->in[ATTN_QUERY], a->in[ATTN_KEY], a->in[ATTN_LIST], sparse_of(s)->query_lengths,
     sparse_of(s)->kv_lengths, a->in[ATTN_TABLE], sparse_of(s)->query_layout,
     sparse_of(s)->key_layout, c->attention.top_k, CAUSAL, INT64_MAX, INT64_MAX, c->n_out > 1,
     a->out[0], s->to);

static const char *build_indexer(struct ascend *a)
{
    struct sparse_operands *l = sparse_operands(a);
    struct tensor values = a->call->out[0].t;

    values.dtype = a->call->in[ATTN_QUERY].t.dtype; /* not asked for, but an operand all the same */
    values.data = NULL;
    return add_step(a, "aclnnLightningIndexer", plan_indexer, l,
                    a->call->n_out > 1 ? a->out[1] : ascend_tensor(a, &values, NULL));
}

enum { BLOCK_OF_ONE = 1, LATENT_KEYS = 2 };

PLAN(plan_sparse,
     (T, T, T, T, T, T, T, T, T, double, int64_t, char *, char *, int64_t, int64_t, int64_t,
      int64_t, bool, T, T, T, uint64_t *, void **),
     a->in[ATTN_QUERY], a->in[ATTN_KEY], a->in[ATTN_VALUE], a->in[ATTN_LIST], a->in[ATTN_TABLE],
     sparse_of(s)->query_lengths, sparse_of(s)->kv_lengths, a->in[ATTN_Q_ROPE], a->in[ATTN_K_ROPE],
     c->scale, BLOCK_OF_ONE, sparse_of(s)->query_layout, sparse_of(s)->key_layout, CAUSAL,
     INT64_MAX, INT64_MAX, LATENT_KEYS, false, a->out[0], sparse_of(s)->most, sparse_of(s)->sum);

static const char *build_sparse(struct ascend *a)
{
    struct tensor none = {DTYPE_F32, 1, {1}, NULL};
    struct sparse_operands *l = sparse_operands(a);

    l->most = ascend_tensor(a, &none, NULL);
    l->sum = ascend_tensor(a, &none, NULL);
    return add_step(a, "aclnnSparseFlashAttention", plan_sparse, l, NULL);
}

/* ---- rows ---- */

PLAN(plan_rms_norm, (T, T, double, T, T, uint64_t *, void **), a->in[0], a->in[1], c->eps,
     a->out[0], a->out[1]);

PLAN(plan_add_rms_norm_bias, (T, T, T, T, double, T, T, T, uint64_t *, void **), a->in[0], a->in[1],
     a->in[2], c->has_bias ? a->in[3] : NULL, c->eps, a->out[0], a->out[1], a->out[2]);

PLAN(plan_add_rms_norm, (T, T, T, double, T, T, T, uint64_t *, void **), a->in[0], a->in[1],
     a->in[2], c->eps, a->out[0], a->out[1], a->out[2]);

PLAN(plan_add, (T, T, T, T, uint64_t *, void **), s->from, s->to, a->in[OP_ARGS - 1], a->out[0]);

/* Two operands added, the second one times one. */
static const char *build_sum(struct ascend *a, const char *symbol, void *x, void *y)
{
    a->in[OP_ARGS - 1] = ascend_scalar(a, 1, a->call->in[0].t.dtype);
    return add_step(a, symbol, plan_add, x, y);
}

static const char *build_add(struct ascend *a)
{
    if (a->call->n_in > 1)
        return build_sum(a, "aclnnAdd", a->in[0], a->in[1]);
    return build_sum(a, "aclnnAdds", a->in[0], ascend_scalar(a, 1, a->call->in[0].t.dtype));
}

/* Where the custom operator is missing: without the bias, which is added afterwards. */
static const char *build_add_rms_norm(struct ascend *a)
{
    if (one_step(a, "aclnnAddRmsNormBias", plan_add_rms_norm_bias) == NULL)
        return NULL;
    a->problem[0] = 0;
    const char *problem = one_step(a, "aclnnAddRmsNorm", plan_add_rms_norm);
    if (problem != NULL || !a->call->has_bias)
        return problem;
    return build_sum(a, "aclnnAdd", a->out[0], a->in[3]);
}

PLAN(plan_by_axis, (T, int64_t, T, uint64_t *, void **), a->in[0], LAST_AXIS, a->out[0]);

PLAN(plan_quant, (T, T, T, bool, const char *, int32_t, int32_t, T, uint64_t *, void **), a->in[0],
     a->in[1], c->has_offset ? a->in[2] : NULL, false, "round", ascend_type(c->out[0].t.dtype),
     LAST_AXIS, a->out[0]);

PLAN(plan_dynamic_quant, (T, T, T, T, uint64_t *, void **), a->in[0], NULL, a->out[0], a->out[1]);

PLAN(plan_rope, (T, T, T, T, uint64_t *, void **), a->in[0], a->in[1], a->in[2], a->out[0]);

PLAN(plan_kv_cache,
     (T, T, T, T, T, T, T, T, T, T, T, double, const char *, bool, T, T, uint64_t *, void **),
     a->in[KV_IN], a->in[KV_GAMMA], a->in[KV_COS], a->in[KV_SIN], a->in[KV_INDEX], a->out[0],
     a->out[1], NULL, NULL, NULL, NULL, c->eps, "PA_BNSD", true, a->out[2], a->out[3]);

/* ---- moves ---- */

PLAN(plan_three, (T, T, T, uint64_t *, void **), a->in[0], a->in[1], a->out[0]);

PLAN(plan_scatter, (T, T, T, uint64_t *, void **), a->out[0], a->in[0], a->in[1]);

PLAN(plan_index, (T, T, T, uint64_t *, void **), a->in[0], s->from, a->out[0]);

static const char *build_index(struct ascend *a)
{
    return add_step(a, "aclnnIndex", plan_index, ascend_list(a, a->in[1]), NULL);
}

PLAN(plan_copy, (T, T, uint64_t *, void **), a->out[0], a->in[0]);

PLAN(plan_masked_fill, (T, T, T, uint64_t *, void **), a->out[0], a->in[1], s->from);

/* In place: the result is a copy of the operand before. */
static const char *build_masked_fill(struct ascend *a)
{
    struct ascend_step *s = ascend_add(a, "aclnnInplaceCopy", plan_copy);

    if (s == NULL)
        return a->problem;
    s->is_once = true;
    return add_step(a, "aclnnInplaceMaskedFillScalar", plan_masked_fill,
                    ascend_scalar(a, 0, a->call->in[0].t.dtype), NULL);
}

PLAN(plan_permute, (T, T, T, uint64_t *, void **), a->in[0], s->from, a->out[0]);

static const char *build_transpose(struct ascend *a)
{
    const struct op_call *c = a->call;
    int64_t dims[TENSOR_RANK];

    for (size_t i = 0; i < c->in[0].t.rank; i++)
        dims[i] = (int64_t)i;
    dims[c->axis[0]] = c->axis[1];
    dims[c->axis[1]] = c->axis[0];
    return add_step(a, "aclnnPermute", plan_permute, ascend_integers(a, dims, c->in[0].t.rank),
                    NULL);
}

PLAN(plan_slice, (T, int64_t, int64_t, int64_t, int64_t, T, uint64_t *, void **), s->from, s->axis,
     0, s->end, 1, s->to);

/* One step for each axis that is shortened; those between have memory of their own. */
static const char *build_slice(struct ascend *a)
{
    const struct tensor *in = &a->call->in[0].t, *out = &a->call->out[0].t;
    struct tensor now = *in;
    void *from = a->in[0];
    size_t last = 0;

    for (size_t i = 0; i < in->rank; i++)
        if (in->dim[i] != out->dim[i])
            last = i;
    now.data = NULL;
    for (size_t i = 0; i <= last; i++) {
        if (i < last && in->dim[i] == out->dim[i])
            continue;
        struct ascend_step *s = ascend_add(a, "aclnnSlice", plan_slice);
        if (s == NULL)
            return a->problem;
        now.dim[i] = out->dim[i];
        s->from = from;
        s->axis = (int64_t)i;
        s->end = out->dim[i];
        s->to = from = i == last ? a->out[0] : ascend_tensor(a, &now, NULL);
    }
    return NULL;
}

PLAN(plan_pad, (T, T, T, T, uint64_t *, void **), a->in[0], s->from, s->to, a->out[0]);

/* Pairs of numbers, before and after, from the last axis on. */
static const char *build_pad(struct ascend *a)
{
    const struct tensor *in = &a->call->in[0].t, *out = &a->call->out[0].t;
    int64_t pairs[2 * TENSOR_RANK] = {0};

    for (size_t i = 0; i < in->rank; i++)
        pairs[2 * i + 1] = tensor_back(out, i) - tensor_back(in, i);
    void *from = ascend_integers(a, pairs, 2 * in->rank), *to = ascend_scalar(a, 0, in->dtype);
    return add_step(a, "aclnnConstantPadNd", plan_pad, from, to);
}

PLAN(plan_sort, (T, bool, int64_t, bool, T, T, uint64_t *, void **), a->in[0], true, LAST_AXIS,
     true, a->out[0], a->out[1]);

PLAN(plan_argmax, (T, int64_t, bool, T, uint64_t *, void **), a->in[0], LAST_AXIS, false,
     a->out[0]);

PLAN(plan_token_permute, (T, T, int64_t, bool, T, T, uint64_t *, void **), a->in[0], a->in[1],
     tensor_count(&c->in[1].t), false, a->out[0], a->out[1]);

PLAN(plan_token_unpermute, (T, T, T, bool, T, T, uint64_t *, void **), a->in[0], a->in[1],
     c->has_scale ? a->in[2] : NULL, false, s->from, a->out[0]);

static const char *build_unpermute(struct ascend *a)
{
    static const int64_t restored[] = {1};

    return add_step(a, "aclnnMoeTokenUnpermute", plan_token_unpermute,
                    ascend_integers(a, restored, 1), NULL);
}

/* An operator is one call of a function, some of them, or has no function in C. */
static const struct ascend_op {
    const char *op, *symbol;
    ascend_plan *plan;
    const char *(*build)(struct ascend *a);
    const char *why_not;
} operators[] = {
    {"Add", .build = build_add},
    {"AddRmsNormBias", .build = build_add_rms_norm},
    {"ArgMaxV2", .symbol = "aclnnArgMax", .plan = plan_argmax},
    {"AscendQuantV2", .symbol = "aclnnAscendQuantV3", .plan = plan_quant},
    {"BatchMatMulV2", .build = build_matmul},
    {"DispatchFFNCombine", .why_not = "needs several ranks with HCCL"},
    {"DynamicQuant", .symbol = "aclnnDynamicQuant", .plan = plan_dynamic_quant},
    {"FusedInferAttentionScore", .build = build_attention},
    {"GatherV2", .symbol = "aclnnEmbedding", .plan = plan_three},
    {"GroupedMatmul", .build = build_grouped},
    {"GroupedMatmulSwigluQuant", .build = build_grouped_swiglu},
    {"Index", .build = build_index},
    {"InterleaveRope", .symbol = "aclnnInterleaveRope", .plan = plan_rope},
    {"KvRmsNormRopeCache", .symbol = "aclnnKvRmsNormRopeCache", .plan = plan_kv_cache},
    {"LightningIndexer", .build = build_indexer},
    {"MaskedFill", .build = build_masked_fill},
    {"MatMulCommon", .build = build_matmul},
    {"MatMulV2", .build = build_matmul},
    {"MatMulV3", .build = build_matmul},
    {"MoeTokenPermute", .symbol = "aclnnMoeTokenPermute", .plan = plan_token_permute},
    {"MoeTokenUnpermute", .build = build_unpermute},
    {"PadV3", .build = build_pad},
    {"QuantBatchMatmulV3", .build = build_quant_matmul},
    {"RINGMLAPrefillBF16Kernel", .why_not = "is an operation of ATB, which has no interface in C"},
    {"ReshapeAndCacheNdKernel", .why_not = "is an operation of ATB, which has no interface in C"},
    {"RmsNorm", .symbol = "aclnnRmsNorm", .plan = plan_rms_norm},
    {"ScatterNdUpdate", .symbol = "aclnnScatterNdUpdate", .plan = plan_scatter},
    {"Slice", .build = build_slice},
    {"SoftmaxV2", .symbol = "aclnnSoftmax", .plan = plan_by_axis},
    {"Sort", .symbol = "aclnnSort", .plan = plan_sort},
    {"SparseFlashAttention", .build = build_sparse},
    {"SwiGlu", .symbol = "aclnnSwiGlu", .plan = plan_by_axis},
    {"TensorMove", .symbol = "aclnnInplaceCopy", .plan = plan_copy},
    {"Transpose", .build = build_transpose},
    {"TransposeBatchMatMul", .build = build_transpose_matmul},
    {"split_qkv_rmsnorm_rope_kernel", .why_not = "is a Triton kernel, which has no interface in C"},
};

const char *ascend_build(struct ascend *a)
{
    for (size_t i = 0; i < ARRAY_LEN(operators); i++) {
        const struct ascend_op *o = &operators[i];
        if (strcmp(o->op, a->call->op->name) != 0)
            continue;
        if (o->why_not != NULL)
            return ascend_fail(a, "unsupported on ascend: %s %s", o->op, o->why_not);
        return o->build != NULL ? o->build(a) : one_step(a, o->symbol, o->plan);
    }
    return "not on ascend";
}
