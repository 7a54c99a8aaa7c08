/*
 * op_inside - the functions behind the table of op.c, by family: how a row becomes a call, and one
 * unit of its outputs.
 */
#ifndef STRATA_OPDB_MEASURE_OP_INSIDE_H
#define STRATA_OPDB_MEASURE_OP_INSIDE_H

#include "opdb/measure/op.h"

typedef const char *op_prepare_function(struct op_call *c, const struct op_row *row);
typedef size_t op_unit_function(const struct op_call *c, int64_t unit, struct op_span *spans,
                                struct arena *scratch);
typedef double op_worth_function(const struct op_call *c, int64_t unit, int64_t place,
                                 struct arena *scratch);

/* op_matmul.c */
op_prepare_function op_matmul_prepare, op_batch_matmul_prepare, op_transpose_matmul_prepare,
    op_quant_matmul_prepare, op_grouped_prepare, op_grouped_swiglu_prepare, op_dispatch_prepare;
op_unit_function op_matmul_unit, op_transpose_matmul_unit, op_quant_matmul_unit, op_grouped_unit,
    op_grouped_swiglu_unit, op_dispatch_unit;

/* op_norm.c */
op_prepare_function op_rms_norm_prepare, op_add_rms_norm_prepare, op_swiglu_prepare,
    op_softmax_prepare, op_quant_prepare, op_dynamic_quant_prepare, op_rope_prepare,
    op_kv_cache_prepare, op_split_qkv_prepare;
op_unit_function op_rms_norm_unit, op_add_rms_norm_unit, op_swiglu_unit, op_softmax_unit,
    op_quant_unit, op_dynamic_quant_unit, op_rope_unit, op_kv_cache_unit, op_split_qkv_unit;

/* op_move.c */
op_prepare_function op_add_prepare, op_masked_fill_prepare, op_tensor_move_prepare,
    op_transpose_prepare, op_slice_prepare, op_pad_prepare, op_gather_prepare, op_index_prepare,
    op_scatter_prepare, op_reshape_cache_prepare, op_sort_prepare, op_argmax_prepare,
    op_permute_prepare, op_unpermute_prepare;
op_unit_function op_add_unit, op_masked_fill_unit, op_tensor_move_unit, op_transpose_unit,
    op_slice_unit, op_pad_unit, op_gather_unit, op_scatter_unit, op_reshape_cache_unit,
    op_sort_unit, op_argmax_unit, op_permute_unit, op_unpermute_unit;
op_worth_function op_sort_worth;

/* op_attention.c, op_attention_unit.c */
op_prepare_function op_fia_prepare, op_ring_prepare, op_indexer_prepare, op_sparse_prepare;
op_unit_function op_attention_unit, op_indexer_unit;
op_worth_function op_indexer_worth;

/* The size of a head of q and k: the divisors of gcd(q, k) that are at least `rope`; `rope` itself
 * when it is one, else the smallest; 0: none. */
int64_t op_head_dim(int64_t q, int64_t k, int64_t rope);

enum op_quant_role { QUANT_BIAS, QUANT_PERTOKEN, QUANT_OFFSET, QUANT_NONE };
enum op_quant_role op_quant_role(int64_t m, int64_t n, const struct tensor *t);

/* The two axes that a transposition swaps. */
void op_transpose_axes(const struct tensor *in, const struct tensor *out, int64_t axis[2]);

/* Arguments of fused attention as far as a row tells them; `problem` is what stopped it. */
struct op_fia_args {
    struct str layout;
    int64_t heads, kv_heads, sparse_mode, block_size;
    double scale;
    struct op_list query, kv; /* NULL: there are none */
};
const char *op_fia_infer(struct arena *arena, const struct op_row *row, struct op_fia_args *out);

enum {
    FIA_QUERY = 0,
    FIA_KEY = 1,
    FIA_VALUE = 2,
    FIA_MASK = 4,
    FIA_LENGTHS = 5,
    FIA_KV_LENGTHS = 6,
    FIA_TABLE = 14,
    FIA_QUERY_ROPE = 24,
    FIA_KEY_ROPE = 25,
    FIA_SLOTS = 31,
};

/* Where inputs of a call are. */
enum { GROUPED_X, GROUPED_WEIGHT, GROUPED_LIST, GROUPED_SCALE, GROUPED_PERTOKEN };
enum { DISPATCH_X, DISPATCH_W1, DISPATCH_W2, DISPATCH_INDEX, DISPATCH_PROBS };
enum { KV_IN, KV_GAMMA, KV_COS, KV_SIN, KV_INDEX };
enum { SPLIT_IN, SPLIT_CACHE, SPLIT_POSITIONS, SPLIT_Q_WEIGHT, SPLIT_K_WEIGHT };
enum {
    ATTN_QUERY,
    ATTN_KEY,
    ATTN_VALUE,
    ATTN_TABLE, /* block table, or empty */
    ATTN_Q_ROPE,
    ATTN_K_ROPE,
    ATTN_LIST,     /* positions of a sparse call; weights of the indexer; output before a ring */
    ATTN_PREVIOUS, /* logarithms of sums before a ring */
    ATTN_INPUTS,
};

#endif
