#include "opdb/measure/op.h"

#include <math.h>
#include <stdio.h>

#include "base/files/mapfile.h"
#include "base/tables/tree.h"
#include "base/testing_arena.h"
#include "opdb/measure/op_inside.h"

static const struct tree *read_tree(const char *path, struct mapfile *map)
{
    struct tree_error error;

    assert_int_equal(mapfile_open(map, path, &diag), ST_OK);
    const struct tree *all = tree_read_json(&arena, map->text, &error);
    assert_non_null(all);
    return all;
}

static size_t read_dims(const struct tree *list, int64_t *out)
{
    size_t n = 0;

    for (const struct tree *item = tree_items(list); item != NULL; item = item->next)
        assert_true(tree_int(item, &out[n++]));
    return n;
}

/* Which slot of a row an operand of the vectors is, and which one of the call: -1 none. Operands of
 * the call from 100 on are outputs that hold something before. */
struct operand_role {
    const char *op, *name;
    int slot, arg;
    enum dtype type;
};

static const struct operand_role roles[] = {
    {"QuantBatchMatmulV3", "x", 0, 0, DTYPE_I8},
    {"QuantBatchMatmulV3", "weight", 1, 1, DTYPE_I8},
    {"QuantBatchMatmulV3", "bias", 3, 3, DTYPE_I32},
    {"QuantBatchMatmulV3", "pertoken_scale", 3, 3, DTYPE_F32},
    {"QuantBatchMatmulV3", "offset", 3, 3, DTYPE_F32},
    {"GroupedMatmul", "group_list", 7, GROUPED_LIST, DTYPE_I64},
    {"GroupedMatmul", "scale", 3, GROUPED_SCALE, DTYPE_F32},
    {"GroupedMatmul", "per_token_scale", 8, GROUPED_PERTOKEN, DTYPE_F32},
    {"GroupedMatmulSwigluQuant", "weight_scale", 2, GROUPED_SCALE, DTYPE_F32},
    {"GroupedMatmulSwigluQuant", "x_scale", 3, GROUPED_PERTOKEN, DTYPE_F32},
    {"GroupedMatmulSwigluQuant", "group_list", 4, GROUPED_LIST, DTYPE_I64},
    {"MaskedFill", "mask", 1, 1, DTYPE_BOOL},
    {"GatherV2", "indices", 1, 1, DTYPE_I64},
    {"Index", "index", 3, 1, DTYPE_I64},
    {"ScatterNdUpdate", "data", 0, 100, DTYPE_F32},
    {"ScatterNdUpdate", "indices", 1, 0, DTYPE_I64},
    {"ScatterNdUpdate", "updates", 2, 1, DTYPE_F32},
    {"KvRmsNormRopeCache", "index", 4, KV_INDEX, DTYPE_I64},
    {"KvRmsNormRopeCache", "k_cache", 5, 100, DTYPE_F32},
    {"KvRmsNormRopeCache", "ckv_cache", 6, 101, DTYPE_F32},
    {"split_qkv_rmsnorm_rope_kernel", "positions", 2, SPLIT_POSITIONS, DTYPE_I64},
    {"split_qkv_rmsnorm_rope_kernel", "q_weight", -1, SPLIT_Q_WEIGHT, DTYPE_F32},
    {"split_qkv_rmsnorm_rope_kernel", "k_weight", -1, SPLIT_K_WEIGHT, DTYPE_F32},
    {"ReshapeAndCacheNdKernel", "key_cache", 2, 100, DTYPE_F32},
    {"ReshapeAndCacheNdKernel", "value_cache", 3, 101, DTYPE_F32},
    {"ReshapeAndCacheNdKernel", "slot_mapping", 4, 2, DTYPE_I32},
    {"MoeTokenPermute", "indices", 1, 1, DTYPE_I64},
    {"MoeTokenUnpermute", "sorted_indices", 1, 1, DTYPE_I32},
    {"DispatchFFNCombine", "expert_idx", 3, DISPATCH_INDEX, DTYPE_I32},
    {"DispatchFFNCombine", "probs", 6, DISPATCH_PROBS, DTYPE_F32},
    {"FusedInferAttentionScore", "actual_seq_lengths", FIA_LENGTHS, -1, DTYPE_I64},
    {"FusedInferAttentionScore", "actual_seq_lengths_kv", FIA_KV_LENGTHS, -1, DTYPE_I64},
    {"FusedInferAttentionScore", "block_table", FIA_TABLE, ATTN_TABLE, DTYPE_I32},
    {"FusedInferAttentionScore", "query_rope", FIA_QUERY_ROPE, ATTN_Q_ROPE, DTYPE_F32},
    {"FusedInferAttentionScore", "key_rope", FIA_KEY_ROPE, ATTN_K_ROPE, DTYPE_F32},
    {"RINGMLAPrefillBF16Kernel", "q_rope", 1, ATTN_Q_ROPE, DTYPE_F32},
    {"RINGMLAPrefillBF16Kernel", "k_nope", 2, ATTN_KEY, DTYPE_F32},
    {"RINGMLAPrefillBF16Kernel", "k_rope", 3, ATTN_K_ROPE, DTYPE_F32},
    {"RINGMLAPrefillBF16Kernel", "value", 4, ATTN_VALUE, DTYPE_F32},
    {"RINGMLAPrefillBF16Kernel", "pre_out", 13, ATTN_LIST, DTYPE_F32},
    {"RINGMLAPrefillBF16Kernel", "prev_lse", 14, ATTN_PREVIOUS, DTYPE_F32},
    {"LightningIndexer", "weights", 2, ATTN_LIST, DTYPE_F32},
    {"LightningIndexer", "actual_seq_lengths_query", 3, -1, DTYPE_I32},
    {"LightningIndexer", "actual_seq_lengths_key", 4, -1, DTYPE_I32},
    {"LightningIndexer", "block_table", 5, ATTN_TABLE, DTYPE_I32},
    {"SparseFlashAttention", "sparse_indices", 3, ATTN_LIST, DTYPE_I32},
    {"SparseFlashAttention", "block_table", 4, ATTN_TABLE, DTYPE_I32},
    {"SparseFlashAttention", "actual_seq_lengths_query", 5, -1, DTYPE_I32},
    {"SparseFlashAttention", "actual_seq_lengths_kv", 6, -1, DTYPE_I32},
    {"SparseFlashAttention", "query_rope", 7, ATTN_Q_ROPE, DTYPE_F32},
    {"SparseFlashAttention", "key_rope", 8, ATTN_K_ROPE, DTYPE_F32},
};

static struct operand_role role_of(struct str op, struct str name, int at)
{
    for (size_t i = 0; i < ARRAY_LEN(roles); i++)
        if (str_equal(op, str_of(roles[i].op)) && str_equal(name, str_of(roles[i].name)))
            return roles[i];
    return (struct operand_role){NULL, NULL, at, at, DTYPE_F32};
}

static void slot_of(struct op_slot *slot, const struct tree *value, enum dtype type)
{
    *slot = (struct op_slot){.is_given = true, .t.dtype = type};
    slot->t.rank = read_dims(tree_get(value, S("shape")), slot->t.dim);
}

static enum dtype output_type(const struct tree *v, struct str name)
{
    struct str type = tree_get_text(tree_get(v, S("attrs")), S("output_dtype"), S(""));
    struct str op = tree_get_text(v, S("op"), S(""));

    if (type.n == 0)
        type = tree_get_text(tree_get(v, S("attrs")), S("dst"), S("FLOAT"));
    if (str_contains(name, S("indices")) || str_equal(name, S("expert_token_nums")) ||
        str_equal(op, S("ArgMaxV2")))
        return DTYPE_I32;
    if (str_equal(op, S("GroupedMatmulSwigluQuant")) || str_equal(op, S("DynamicQuant")))
        return str_equal(name, S("out")) ? DTYPE_I8 : DTYPE_F32;
    return tensor_dtype_of(type);
}

static struct op_list op_list_of(const struct tree *v, struct str name)
{
    const struct tree *data = tree_get(tree_get(tree_get(v, S("inputs")), name), S("data"));
    int64_t *at = ARENA_ARRAY(&arena, int64_t, 64);

    return data != NULL ? (struct op_list){at, read_dims(data, at)} : (struct op_list){0};
}

static void op_row_of(struct op_row *row, const struct tree *v)
{
    struct str op = tree_get_text(v, S("op"), S(""));
    int at = 0;

    *row = (struct op_row){.runtime = {-1, -1, -1, -1, -1, .layout = S("")}};
    for (const struct tree *i = tree_get(v, S("inputs"))->first; i != NULL; i = i->next, at++) {
        struct operand_role role = role_of(op, i->key, at);
        enum dtype type = role.type;
        if (str_starts(op, S("GroupedMatmulSwiglu")) && at < 2)
            type = DTYPE_I8;
        if (role.slot < 0)
            continue;
        slot_of(&row->in[role.slot], i, type);
        if (row->n_in <= (size_t)role.slot)
            row->n_in = (size_t)role.slot + 1;
    }
    if (str_equal(op, S("Index")))
        row->in[1] = row->in[2] = row->in[3];
    if (str_equal(op, S("AddRmsNormBias")))
        row->n_in = 4;
    if (str_equal(op, S("DispatchFFNCombine"))) { /* scales of ones */
        row->in[4] = row->in[5] =
            (struct op_slot){.is_given = true, .t = {DTYPE_F32, 2, {0}, NULL}};
        for (int i = 0; i < 2; i++) {
            row->in[4 + i].t.dim[0] = row->in[1 + i].t.dim[0];
            row->in[4 + i].t.dim[1] = row->in[1 + i].t.dim[2];
        }
    }
    for (const struct tree *o = tree_get(v, S("outputs"))->first; o != NULL; o = o->next)
        slot_of(&row->out[row->n_out++], o, output_type(v, o->key));
    row->runtime.query = op_list_of(v, S("actual_seq_lengths"));
    row->runtime.kv = op_list_of(v, S("actual_seq_lengths_kv"));
    tree_int(tree_get(tree_get(v, S("attrs")), S("sparse_mode")), &row->runtime.sparse_mode);
    tree_int(tree_get(tree_get(v, S("attrs")), S("num_key_value_heads")), &row->runtime.kv_heads);
}

static void put_data(const struct tensor *t, const struct tree *value)
{
    int64_t n = 0;

    for (const struct tree *x = tree_items(tree_get(value, S("data"))); x != NULL; x = x->next)
        tensor_put(t, n++, tree_number(x));
    assert_int_equal(n, tensor_count(t));
}

/* Lengths that a row does not tell, but the vectors do. */
static void set_lengths(struct op_call *call, const struct tree *v)
{
    struct op_attention *a = &call->attention;
    struct op_list q = op_list_of(v, S("actual_seq_lengths_query"));
    struct op_list kv = op_list_of(v, S("actual_seq_lengths_key"));
    int32_t *q_len, *q_row, *kv_len;

    if (kv.at == NULL)
        kv = op_list_of(v, S("actual_seq_lengths_kv"));
    if (q.at == NULL || kv.n < q.n)
        return;
    q_len = ARENA_ARRAY(&arena, int32_t, q.n);
    q_row = ARENA_ARRAY(&arena, int32_t, q.n);
    kv_len = ARENA_ARRAY(&arena, int32_t, q.n);
    for (size_t i = 0; i < q.n; i++) {
        q_row[i] = i > 0 ? (int32_t)q.at[i - 1] : 0;
        q_len[i] = (int32_t)q.at[i] - q_row[i];
        kv_len[i] = (int32_t)kv.at[i];
    }
    a->q_len = q_len;
    a->q_row = a->q_first = q_row;
    a->kv_len = kv_len;
}

static void compare_output(const struct op_call *call, size_t out, const struct tree *expected,
                           const struct tree *v)
{
    const struct tensor *t = &call->out[out].t;
    struct arena scratch;
    int64_t i = 0;

    arena_init(&scratch);
    for (const struct tree *x = tree_items(tree_get(expected, S("data"))); x != NULL;
         x = x->next, i++) {
        double want = tree_number(x), got = tensor_at(t, i);
        double most = t->dtype == DTYPE_I8 ? 1 : 1e-5 * fmax(1, fabs(want));
        bool is_place = call->op->worth != NULL && !dtype_is_float(t->dtype) && want >= 0;
        if (is_place && got != want) {
            int64_t width = tensor_count(t) / call->units;
            want = call->op->worth(call, i / width, (int64_t)want, &scratch);
            got = call->op->worth(call, i / width, (int64_t)got, &scratch);
        }
        if (!(fabs(got - want) <= most))
            print_error("%s %s output %zu element %lld: %g, not %g\n", call->op->name,
                        tree_get_text(v, S("case"), S("")).at, out, (long long)i, got, want);
        assert_true(fabs(got - want) <= most);
    }
    assert_int_equal(i, tensor_count(t));
    arena_free(&scratch);
}

static void check_vector(const struct tree *v)
{
    struct str name = tree_get_text(v, S("op"), S(""));
    struct op_call call;
    struct op_row row;
    int at = 0;
    size_t out = 0;

    op_row_of(&row, v);
    assert_non_null(op_find(name));
    const char *problem = op_prepare(&call, op_find(name), &row, &arena);
    /* The vectors of this one are smaller than the device takes. */
    if (problem != NULL && str_equal(S("K and N must be multiples of 128"), str_of(problem))) {
        OP_OUT(&call, &row, DTYPE_F32, call.m, call.batch, call.n);
        problem = NULL;
    }
    if (problem != NULL)
        print_error("%.*s: %s\n", STR_ARGS(name), problem);
    assert_null(problem);
    assert_true(op_make(&call, 1, NULL));
    for (const struct tree *i = tree_get(v, S("inputs"))->first; i != NULL; i = i->next, at++) {
        struct operand_role role = role_of(name, i->key, at);
        if (role.arg >= 0)
            put_data(role.arg < 100 ? &call.in[role.arg].t : &call.out[role.arg - 100].t, i);
    }
    if (str_equal(name, S("DispatchFFNCombine")))
        call.scale = 1; /* the probabilities are whole */
    set_lengths(&call, v);
    op_reference(&call, NULL);
    for (const struct tree *o = tree_get(v, S("outputs"))->first; o != NULL; o = o->next)
        compare_output(&call, out++, o, v);
    op_call_free(&call);
}

TEST(the_references_give_the_vectors)
{
    struct mapfile map;
    const struct tree *all = read_tree("tests/data/perfdb/op_numerics.json", &map);
    size_t n = 0;

    for (const struct tree *v = tree_items(all); v != NULL; v = v->next, n++)
        check_vector(v);
    assert_int_equal(n, 50);
    mapfile_close(&map);
}

static void tensor_of(struct tensor *t, const struct tree *dims, enum dtype type)
{
    *t = (struct tensor){.dtype = type};
    t->rank = read_dims(dims, t->dim);
}

static void check_numbers(const struct tree *expected, const int64_t *got, size_t n)
{
    int64_t want[64] = {0};

    assert_int_equal(read_dims(expected, want), n);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(got[i], want[i]);
}

static void check_function(struct str fn, const struct tree *in, const struct tree *out)
{
    const struct tree *a = tree_items(in), *b = a != NULL ? a->next : NULL;
    struct tensor x, y;
    int64_t n[3] = {0}, axes[2];

    if (str_equal(fn, S("head_dim"))) {
        read_dims(in, n);
        assert_true(op_head_dim(n[0], n[1], n[2]) == (out->kind == TREE_NULL ? 0 : out->i));
    } else if (str_equal(fn, S("quant_role"))) {
        static const char *const names[] = {"bias", "pertoken_scale", "offset", ""};
        tensor_of(&x, b, DTYPE_F32);
        tensor_of(&y, b->next, tensor_dtype_of(tree_text(b->next->next)));
        struct str role = str_of(names[op_quant_role(x.dim[0], x.dim[1], &y)]);
        assert_true(str_equal(role, tree_text(out)));
    } else if (str_equal(fn, S("transpose_dims"))) {
        tensor_of(&x, a, DTYPE_F32);
        tensor_of(&y, b, DTYPE_F32);
        op_transpose_axes(&x, &y, axes);
        check_numbers(out, axes, 2);
    }
}

static struct op_list values_of(const struct tree *runtime, struct str name)
{
    struct str rest = tree_get_text(runtime, name, S("")), part;
    int64_t *at = ARENA_ARRAY(&arena, int64_t, 64);
    size_t n = 0;

    if (rest.n == 0)
        return (struct op_list){0};
    for (char separator = str_contains(rest, S(";")) ? ';' : ',';
         str_split(&rest, separator, &part);)
        assert_true(num_i64(part, &at[n++]));
    return (struct op_list){at, n};
}

static int64_t op_number_of(const struct tree *runtime, struct str name)
{
    int64_t value = -1;

    num_i64(tree_get_text(runtime, name, S("")), &value);
    return value;
}

static void check_list(const struct tree *expected, struct op_list got)
{
    if (expected == NULL || expected->kind == TREE_NULL)
        assert_null(got.at);
    else
        check_numbers(expected, got.at, got.n);
}

static void check_fia(const struct tree *item)
{
    const struct tree *runtime = tree_get(item, S("runtime")), *out = tree_get(item, S("out"));
    const struct tree *args = tree_get(out, S("args")), *error = tree_get(out, S("error"));
    struct op_row row = {.n_in = FIA_SLOTS};
    struct op_fia_args got;
    int64_t slot, value;

    for (const struct tree *s = tree_get(item, S("slots"))->first; s != NULL; s = s->next) {
        assert_true(num_i64(s->key, &slot));
        row.in[slot].is_given = true;
        tensor_of(&row.in[slot].t, s, DTYPE_BF16);
    }
    row.runtime = (struct op_runtime){
        .heads = -1,
        .kv_heads = op_number_of(runtime, S("Runtime num_key_value_heads")),
        .sparse_mode = op_number_of(runtime, S("Runtime sparse_mode")),
        .block_size = op_number_of(runtime, S("Runtime block_size")),
        .layout = tree_get_text(runtime, S("Runtime input_layout"), S("")),
        .query = values_of(runtime, S("Runtime actual_seq_lengths_values")),
        .kv = values_of(runtime, S("Runtime actual_seq_lengths_kv_values")),
        .valid_blocks = values_of(runtime, S("Runtime block_table_valid_blocks")),
    };
    const char *problem = op_fia_infer(&arena, &row, &got);
    assert_int_equal(problem != NULL, error != NULL);
    if (problem != NULL)
        assert_string_equal(problem, tree_text(error).at);
    assert_int_equal(got.layout.n > 0, args != NULL);
    if (args == NULL)
        return;
    assert_true(str_equal(got.layout, tree_get_text(args, S("input_layout"), S(""))));
    assert_true(tree_int(tree_get(args, S("num_heads")), &value) && got.heads == value);
    assert_true(tree_int(tree_get(args, S("num_key_value_heads")), &value) &&
                got.kv_heads == value);
    assert_true(got.scale == tree_number(tree_get(args, S("scale"))));
    assert_true(tree_int(tree_get(out, S("sparse_mode")), &value) && got.sparse_mode == value);
    assert_true(tree_int(tree_get(out, S("block_size")), &value) && got.block_size == value);
    if (error == NULL) {
        check_list(tree_get(out, S("query_lens")), got.query);
        check_list(tree_get(out, S("kv_lens")), got.kv);
    }
}

TEST(arguments_are_inferred_from_rows)
{
    struct mapfile map;
    const struct tree *all = read_tree("tests/data/perfdb/op_arguments.json", &map);

    for (const struct tree *item = tree_items(all); item != NULL; item = item->next) {
        const struct tree *out = tree_get(item, S("out"));
        int64_t n[3] = {0};
        if (tree_get(item, S("fn")) != NULL) {
            check_function(tree_get_text(item, S("fn"), S("")), tree_get(item, S("in")), out);
        } else if (tree_get(item, S("slots")) != NULL) {
            check_fia(item);
        } else {
            read_dims(tree_get(item, S("in")), n);
            int64_t *list = op_split(&arena, n[0], n[1], n[2]);
            assert_int_equal(list == NULL, out->kind == TREE_NULL);
            if (list != NULL)
                check_numbers(out, list, (size_t)n[1]);
        }
    }
    mapfile_close(&map);
}

/* A row with two matrices of floats. */
static struct op_row matrices(int64_t m, int64_t n, int64_t k)
{
    struct op_row row = {.n_in = 2, .n_out = 1};

    row.in[0] = (struct op_slot){.is_given = true, .t = {DTYPE_F32, 2, {m, k}, NULL}};
    row.in[1] = (struct op_slot){.is_given = true, .t = {DTYPE_F32, 2, {n, k}, NULL}};
    row.out[0] = (struct op_slot){.is_given = true, .t = {DTYPE_F32, 2, {m, n}, NULL}};
    return row;
}

TEST(a_result_is_checked_on_a_sample)
{
    struct op_row row = matrices(9, 5, 33);
    struct op_call call, other;
    double wrong = 1000;

    assert_null(op_prepare(&call, op_find(S("MatMulV2")), &row, &arena));
    assert_null(op_prepare(&other, op_find(S("MatMulV2")), &row, &arena));
    assert_true(op_make(&call, 7, NULL) && op_make(&other, 7, NULL));
    op_reference(&other, NULL);
    struct op_check check = op_check(&call, &other, 4);
    assert_true(check.is_equal && check.units == 4);
    tensor_store(&other.out[0].t, 8 * 5 + 2, 1, &wrong);
    check = op_check(&call, &other, 4);
    assert_false(check.is_equal);
    assert_int_equal(check.unit, 8);
    assert_true(check.got == 1000);
    wrong = NAN;
    tensor_store(&other.out[0].t, 8 * 5 + 2, 1, &wrong);
    assert_false(op_check(&call, &other, 4).is_equal);
    op_call_free(&call);
    op_call_free(&other);
}

TEST(rows_that_cannot_run_say_why)
{
    struct op_row row = matrices(4, 5, 6);
    struct op_call call;

    row.in[1].t.dim[1] = 7;
    assert_string_equal(op_prepare(&call, op_find(S("MatMulV2")), &row, &arena),
                        "(4,6) and (5,7) do not give (4,5)");
    row.in[1].is_unknown = true;
    assert_string_equal(op_prepare(&call, op_find(S("MatMulV2")), &row, &arena),
                        "Unsupported dtype");
    row = matrices(INT64_C(1) << 40, INT64_C(1) << 40, 1);
    assert_non_null(op_prepare(&call, op_find(S("MatMulV2")), &row, &arena));
    row.n_in = 1;
    assert_string_equal(op_prepare(&call, op_find(S("MatMulV2")), &row, &arena),
                        "MatMulV2 expects exactly 2 inputs, not 1");
    assert_null(op_find(S("Bogus")));
}

TEST(the_table_is_sorted_and_whole)
{
    for (size_t i = 0; i < OPS; i++) {
        assert_non_null(op_table[i].name);
        assert_non_null(op_table[i].prepare);
        assert_non_null(op_table[i].unit);
        assert_true(i == 0 || strcmp(op_table[i - 1].name, op_table[i].name) < 0);
    }
}

TEST_MAIN("opdb/measure/op", TA(the_references_give_the_vectors),
          TA(arguments_are_inferred_from_rows), TA(a_result_is_checked_on_a_sample),
          TA(rows_that_cannot_run_say_why), T(the_table_is_sorted_and_whole))
