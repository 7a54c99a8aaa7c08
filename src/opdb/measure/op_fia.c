/*
 * Fused attention: its arguments, as far as a row of its table tells them.
 */
#include <math.h>
#include <stdio.h>

#include "opdb/measure/op_inside.h"

/* "(5, 16, 1, 512)", or "None". */
static struct str numbers_text(struct arena *arena, const int64_t *at, size_t n)
{
    struct str text = S("");

    for (size_t i = 0; i < n; i++)
        text =
            arena_format(arena, "%.*s%s%lld", STR_ARGS(text), i > 0 ? ", " : "", (long long)at[i]);
    return text;
}

/* "(5, 16, 1, 512)", or "None". */
static const char *shape_text(struct arena *arena, const struct op_slot *slot)
{
    if (!slot->is_given)
        return "None";
    return arena_printf(arena, "(%.*s%s)", STR_ARGS(numbers_text(arena, slot->t.dim, slot->t.rank)),
                        slot->t.rank == 1 ? "," : "");
}

static int64_t known(int64_t value, int64_t otherwise)
{
    return value >= 0 ? value : otherwise;
}

static struct op_list repeated(struct arena *arena, int64_t value, int64_t n)
{
    int64_t *list = ARENA_ARRAY(arena, int64_t, (size_t)n + 1);

    for (int64_t i = 0; i < n; i++)
        list[i] = value;
    return (struct op_list){list, (size_t)n};
}

/* How many sequences a slot of lengths tells; 0: none. */
static int64_t sequences(const struct op_slot *slot)
{
    enum { MOST = 1 << 20 };
    int64_t n = slot->is_given && slot->t.rank > 0 ? slot->t.dim[0] : 0;

    return n < MOST ? n : MOST;
}

static const char *query_lengths(struct arena *arena, const struct op_row *row,
                                 struct op_fia_args *out)
{
    const struct op_slot *query = &row->in[FIA_QUERY];
    int64_t n = sequences(&row->in[FIA_LENGTHS]);

    out->query = row->runtime.query;
    if (out->query.at != NULL || n == 0)
        return NULL;
    if (query->t.rank == 4) {
        if (query->t.dim[0] != n)
            return arena_printf(arena,
                                "Batch size mismatch between query=%s and actual_seq_lengths=%lld",
                                shape_text(arena, query), (long long)n);
        out->query = repeated(arena, query->t.dim[2], n);
        return NULL;
    }
    out->query = (struct op_list){op_split_sums(arena, query->t.dim[0], n, 1), (size_t)n};
    return out->query.at != NULL ? NULL
                                 : arena_printf(arena, "%lld tokens are too few for %lld sequences",
                                                (long long)query->t.dim[0], (long long)n);
}

static const char *kv_lengths(struct arena *arena, const struct op_row *row,
                              struct op_fia_args *out)
{
    const struct op_slot *key = &row->in[FIA_KEY];
    struct op_list valid = row->runtime.valid_blocks;
    int64_t n = sequences(&row->in[FIA_KV_LENGTHS]);

    out->kv = row->runtime.kv;
    if (out->kv.at != NULL || n == 0)
        return NULL;
    if (row->in[FIA_TABLE].is_given && valid.at != NULL) {
        if ((int64_t)valid.n != n)
            return arena_printf(arena,
                                "Runtime block_table_valid_blocks length does not match batch "
                                "size: values=[%s], batch_size=%lld",
                                numbers_text(arena, valid.at, valid.n).at, (long long)n);
        int64_t *list = ARENA_ARRAY(arena, int64_t, valid.n);
        for (size_t i = 0; i < valid.n; i++)
            list[i] = (valid.at[i] > 1 ? valid.at[i] : 1) * out->block_size;
        out->kv = (struct op_list){list, valid.n};
    } else if (row->in[FIA_TABLE].is_given) {
        out->kv = repeated(arena, out->block_size, n);
    } else if (row->in[FIA_QUERY].t.rank == 4) {
        out->kv = repeated(arena, tensor_back(&key->t, 1), n);
    } else {
        out->kv = (struct op_list){op_split_sums(arena, key->t.dim[0], n, 1), (size_t)n};
        if (out->kv.at == NULL)
            return arena_printf(arena, "%lld keys are too few for %lld sequences",
                                (long long)key->t.dim[0], (long long)n);
    }
    return NULL;
}

/* What the row does not say follows from the shapes: four dimensions with a rope part are MLA,
 * whose keys have one head, and a mask means causal (mode 3). */
const char *op_fia_infer(struct arena *arena, const struct op_row *row, struct op_fia_args *out)
{
    const struct op_slot *query = &row->in[FIA_QUERY], *key = &row->in[FIA_KEY];
    const struct op_slot *table = &row->in[FIA_TABLE], *rope = &row->in[FIA_QUERY_ROPE];
    const struct op_runtime *r = &row->runtime;
    bool is_mla = query->t.rank == 4 && rope->is_given;

    *out = (struct op_fia_args){0};
    if (query->t.rank != 3 && !is_mla)
        return arena_printf(arena,
                            "Unsupported FusedInferAttentionScore shape pattern: query=%s, key=%s, "
                            "block_table=%s, query_rope=%s",
                            shape_text(arena, query), shape_text(arena, key),
                            shape_text(arena, table), shape_text(arena, rope));
    int64_t depth = tensor_back(&query->t, 0) + (is_mla ? tensor_back(&rope->t, 0) : 0);
    out->layout = r->layout.n > 0 ? r->layout : is_mla ? S("BNSD_NBSD") : S("TND");
    out->heads = known(r->heads, query->t.dim[1]);
    out->kv_heads = known(r->kv_heads, is_mla || table->is_given ? 1 : key->t.dim[1]);
    out->scale = 1 / sqrt((double)depth);
    out->sparse_mode = known(r->sparse_mode, row->in[FIA_MASK].is_given ? 3 : 0);
    out->block_size = known(r->block_size, !table->is_given   ? 0
                                           : key->t.rank == 3 ? key->t.dim[1]
                                                              : key->t.dim[2]);
    const char *problem = query_lengths(arena, row, out);
    return problem != NULL ? problem : kv_lengths(arena, row, out);
}
