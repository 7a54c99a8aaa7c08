/* Rows of the kernel that splits q, k and v, normalises and rotates them. */
#include "base/intern.h"
#include "perfdb/columns.h"
#include "perfdb/grid_make.h"

static enum status split_row(struct grid_out *out, int64_t t, int64_t q, int64_t k, int64_t dim)
{
    static const struct grid_cell cells[] = {
        {S_INIT("Input Data Types"), S_INIT("DT_BF16;DT_BF16")},
        {S_INIT("Input Formats"), S_INIT("ND;ND")},
        {S_INIT("Output Data Types"), S_INIT("DT_BF16;DT_BF16;DT_BF16")},
        {S_INIT("Output Formats"), S_INIT("ND;ND;ND")},
    };
    struct arena_mark mark = arena_mark(&out->scratch);
    struct grid_shape in[] = {GRID_SHAPE(out, t, q + 2 * k), GRID_SHAPE(out, dim)};
    struct grid_shape results[] = {GRID_SHAPE(out, t, q), GRID_SHAPE(out, t, k),
                                   GRID_SHAPE(out, t, k)};

    enum status st = grid_take(out, &(struct grid_row){.in = {in, ARRAY_LEN(in)},
                                                       .out = {results, ARRAY_LEN(results)},
                                                       .cells = cells,
                                                       .cells_n = ARRAY_LEN(cells)});
    arena_rewind(&out->scratch, mark);
    return st;
}

/* Key heads of one card; 0 when they cannot be cut that way. */
static int64_t local_kv_heads(int64_t kv_heads, int64_t tp)
{
    if (kv_heads >= tp)
        return kv_heads / tp;
    return tp % kv_heads == 0 ? 1 : 0;
}

static enum status split_model(struct grid_out *out, const struct grid_model *m,
                               struct intern *seen)
{
    struct grid_list tokens = grid_make_tokens(out, S("ELEM_TOKENS_GRID"));

    for (size_t i = 0; i < m->tp_sizes.n; i++) {
        int64_t tp = m->tp_sizes.at[i], kv = local_kv_heads(m->kv_heads, tp);
        if (m->heads % tp != 0 || kv == 0)
            continue;
        int64_t q = m->heads / tp * m->head_dim, k = kv * m->head_dim;
        for (size_t t = 0; t < tokens.n; t++) {
            int64_t key[] = {tokens.at[t], q, k, m->head_dim};
            size_t before = seen->strings.n;
            intern_put(seen, (struct str){(const char *)key, sizeof(key)});
            if (seen->strings.n > before)
                TRY(split_row(out, tokens.at[t], q, k, m->head_dim));
        }
    }
    return ST_OK;
}

enum status grid_make_split_qkv(struct grid_out *out)
{
    struct intern seen;
    enum status st = ST_OK;

    intern_init(&seen);
    for (size_t i = 0; st == ST_OK && i < out->job->models.n; i++)
        if (!grid_model_is_mla(&out->job->models.at[i]))
            st = split_model(out, &out->job->models.at[i], &seen);
    intern_fini(&seen);
    return st;
}
