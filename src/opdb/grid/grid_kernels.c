/* Rows of grouped matrix products and of their dispatch over cards, for models with experts. */
#include <stdlib.h>

#include "base/tables/intern.h"
#include "opdb/grid/grid_gen.h"
#include "opdb/rows/columns.h"

/* The weights of a grouped product. As stored they cannot be replayed: replay expects (e,h,n), or
 * the blocks of FRACTAL_NZ for the variant that quantises. */
static struct grid_shape grouped_weights(struct grid_out *out, int64_t e, int64_t h, int64_t n)
{
    if (!out->job->is_replayable)
        return GRID_SHAPE(out, e, h, grid_share(n, 16), 16);
    if (str_equal(out->kernel, S("GroupedMatmulSwigluQuant")))
        return GRID_SHAPE(out, e, grid_share(n, 32), grid_share(h, 16), 16, 32);
    return GRID_SHAPE(out, e, h, n);
}

static enum status grouped_row(struct grid_out *out, int64_t t, int64_t h, int64_t n, int64_t e)
{
    struct arena_mark mark = arena_mark(&out->scratch);
    struct grid_shape in[9] = {GRID_SHAPE(out, t, h), grouped_weights(out, e, h, n)};
    struct grid_shape result = GRID_SHAPE(out, t, n);

    in[3] = GRID_SHAPE(out, e, n);
    in[7] = GRID_SHAPE(out, e);
    in[8] = GRID_SHAPE(out, t);
    enum status st =
        grid_add_row(out, &(struct grid_row){.in = {in, ARRAY_LEN(in)}, .out = {&result, 1}});
    arena_rewind(&out->scratch, mark);
    return st;
}

static enum status grouped_model(struct grid_out *out, const struct grid_model *m)
{
    struct grid_list tokens = grid_make_tokens(out, S("MOE_TOKENS_GRID"));

    for (size_t i = 0; i < m->ep_sizes.n; i++)
        for (size_t k = 0; k < m->tp_sizes.n; k++) {
            int64_t tp = m->tp_sizes.at[k];
            for (size_t t = 0; t < tokens.n; t++)
                TRY(grouped_row(out, tokens.at[t], grid_share(m->hidden, tp),
                                grid_share(m->expert_inter, tp),
                                grid_share(m->experts_per_card, m->ep_sizes.at[i])));
        }
    return ST_OK;
}

enum status grid_make_grouped(struct grid_out *out)
{
    for (size_t i = 0; i < out->job->models.n; i++)
        if (grid_model_is_moe(&out->job->models.at[i]))
            TRY(grouped_model(out, &out->job->models.at[i]));
    return ST_OK;
}

/* Experts that one rank can hold, at most; and elements that a rank's buffer takes. */
enum { RANK_EXPERTS = 17, RANK_ELEMENTS = 58 * 1024 * 1024 };

/* How many experts a rank holds when the model lies on 8 to 64 cards. */
static void mark_rank_experts(const struct grid_model *m, bool *is_used)
{
    for (int64_t cards = 8; cards <= 64 && cards <= m->experts; cards *= 2) {
        int64_t per_card = m->experts / cards;
        for (size_t i = 0; i < m->ep_sizes.n; i++) {
            int64_t ep = m->ep_sizes.at[i];
            if (ep <= per_card && grid_share(per_card, ep) <= RANK_EXPERTS)
                is_used[grid_share(per_card, ep)] = true;
        }
    }
}

struct moe_dispatch {
    int64_t m, hidden, n, experts, top_k;
};

/* The first weights hold gate and up side by side (n), the second take the n/2 that SwiGLU
 * leaves. */
static enum status dispatch_row(struct grid_out *out, struct moe_dispatch x, int64_t ranks)
{
    struct arena_mark mark = arena_mark(&out->scratch);
    struct grid_shape in[] = {
        GRID_SHAPE(out, x.m, x.hidden),
        GRID_SHAPE(out, x.experts, x.hidden, x.n),
        GRID_SHAPE(out, x.experts, x.n / 2, x.hidden),
        GRID_SHAPE(out, x.m, x.top_k),
        GRID_SHAPE(out, x.experts * x.n),
        GRID_SHAPE(out, x.experts * x.hidden),
        GRID_SHAPE(out, x.m, x.top_k),
    };
    struct grid_shape results[] = {GRID_SHAPE(out, x.m, x.hidden), GRID_SHAPE(out, x.experts)};
    struct grid_cell ep = {COL_EP_SIZE, arena_format(&out->scratch, "%lld", (long long)ranks)};

    enum status st = grid_add_row(out, &(struct grid_row){.in = {in, ARRAY_LEN(in)},
                                                          .out = {results, ARRAY_LEN(results)},
                                                          .cells = &ep,
                                                          .cells_n = 1});
    arena_rewind(&out->scratch, mark);
    return st;
}

/* Shapes that come twice in one model count once; another model has other ranks for them. */
static enum status dispatch_model(struct grid_out *out, const struct grid_model *m,
                                  struct intern *seen)
{
    struct grid_list tokens = grid_make_tokens(out, S("MOE_TOKENS_GRID"));
    bool is_used[RANK_EXPERTS + 1] = {false};

    mark_rank_experts(m, is_used);
    for (int64_t experts = 1; experts <= RANK_EXPERTS; experts++)
        for (size_t k = 0; is_used[experts] && k < m->tp_sizes.n; k++) {
            int64_t n = 2 * grid_share(m->expert_inter, m->tp_sizes.at[k]);
            for (size_t t = 0; t < tokens.n; t++) {
                struct moe_dispatch x = {tokens.at[t], m->hidden, n, experts, m->top_k};
                size_t before = seen->strings.n;
                /* Within the buffer, without multiplying what may be large. */
                if (x.m > RANK_ELEMENTS || x.m * x.hidden > RANK_ELEMENTS ||
                    x.m * x.hidden * x.top_k > RANK_ELEMENTS)
                    continue;
                intern_put(seen, (struct str){(const char *)&x, sizeof(x)});
                if (seen->strings.n > before)
                    TRY(dispatch_row(out, x, m->experts / experts));
            }
        }
    return ST_OK;
}

enum status grid_make_dispatch(struct grid_out *out)
{
    enum status st = ST_OK;

    for (size_t i = 0; st == ST_OK && i < out->job->models.n; i++) {
        struct intern seen;
        if (!grid_model_is_moe(&out->job->models.at[i]))
            continue;
        intern_init(&seen);
        st = dispatch_model(out, &out->job->models.at[i], &seen);
        intern_fini(&seen);
    }
    return st;
}

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

    enum status st = grid_add_row(out, &(struct grid_row){.in = {in, ARRAY_LEN(in)},
                                                          .out = {results, ARRAY_LEN(results)},
                                                          .cells = cells,
                                                          .cells_n = ARRAY_LEN(cells)});
    arena_rewind(&out->scratch, mark);
    return st;
}

static enum status split_model(struct grid_out *out, const struct grid_model *m,
                               struct intern *seen)
{
    struct grid_list tokens = grid_make_tokens(out, S("ELEM_TOKENS_GRID"));

    for (size_t i = 0; i < m->tp_sizes.n; i++) {
        int64_t tp = m->tp_sizes.at[i];
        int64_t kv = m->kv_heads >= tp ? m->kv_heads / tp : tp % m->kv_heads == 0;
        if (m->heads % tp != 0 || kv == 0) /* heads that cannot be cut that way */
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
