/*
 * Rows of fused attention: prefill and decode scenes of each model, with what the kernel needs to
 * know at run time.
 */
#include "base/tables/intern.h"
#include "opdb/grid/grid_gen.h"
#include "opdb/rows/columns.h"

enum { SLOTS = 31, BLOCK = 128, LEAST_BLOCKS = 16, MASK = 2048 };
enum {
    SLOT_QUERY = 0,
    SLOT_KEY = 1,
    SLOT_VALUE = 2,
    SLOT_MASK = 4,
    SLOT_LENGTHS = 5,
    SLOT_KV_LENGTHS = 6,
    SLOT_BLOCK_TABLE = 14,
    SLOT_QUERY_ROPE = 24,
    SLOT_KEY_ROPE = 25,
};

/* One kind of rows: a model cut in one way, before or while it generates. */
struct attention_scene {
    struct grid_out *out;
    const struct grid_model *model;
    struct intern *seen;
    bool is_mla, is_decode;
    int64_t tp; /* dense only */
    int64_t heads, kv_heads;
};

/* "a,b,c": count numbers, from `first`, each `step` more than the one before. */
static struct str number_list(struct arena *arena, int64_t count, int64_t first, int64_t step)
{
    int64_t *values = ARENA_ARRAY(arena, int64_t, (size_t)count);
    struct grid_shape list = {values, (size_t)count};

    for (int64_t i = 0; i < count; i++)
        values[i] = first + i * step;
    return grid_shapes_text(arena, (struct grid_shapes){&list, 1});
}

static struct str attention_number(struct arena *arena, int64_t value)
{
    return number_list(arena, 1, value, 0);
}

static int64_t blocks_of(int64_t length)
{
    return length <= BLOCK ? 1 : (length + BLOCK - 1) / BLOCK;
}

/* MLA stores one latent vector a token and always in blocks; other models read whole keys in a
 * prefill and blocks of the cache in a decode. */
static void fill_slots(const struct attention_scene *s, int64_t b, int64_t length,
                       struct grid_shape *in, struct grid_shape *result)
{
    struct grid_out *out = s->out;
    const struct grid_model *m = s->model;
    int64_t blocks = blocks_of(length);
    int64_t all = b * blocks > LEAST_BLOCKS ? b * blocks : LEAST_BLOCKS;
    int64_t tokens = s->is_decode ? 1 : length;

    if (s->is_mla) {
        in[SLOT_QUERY] = GRID_SHAPE(out, b, s->heads, tokens, m->kv_lora);
        in[SLOT_KEY] = GRID_SHAPE(out, all, 1, BLOCK, m->kv_lora);
        in[SLOT_QUERY_ROPE] = GRID_SHAPE(out, b, s->heads, tokens, m->rope_dim);
        in[SLOT_KEY_ROPE] = GRID_SHAPE(out, all, 1, BLOCK, m->rope_dim);
        *result = GRID_SHAPE(out, s->heads, b, tokens, m->kv_lora);
    } else {
        in[SLOT_QUERY] = GRID_SHAPE(out, b * tokens, s->heads, m->head_dim);
        in[SLOT_KEY] = s->is_decode ? GRID_SHAPE(out, all, s->kv_heads, BLOCK, m->head_dim)
                                    : GRID_SHAPE(out, b * tokens, s->kv_heads, m->head_dim);
        *result = in[SLOT_QUERY];
    }
    in[SLOT_VALUE] = in[SLOT_KEY];
    if (!s->is_mla || !s->is_decode)
        in[SLOT_MASK] = GRID_SHAPE(out, MASK, MASK);
    in[SLOT_LENGTHS] = in[SLOT_KV_LENGTHS] = GRID_SHAPE(out, b);
    if (s->is_mla || s->is_decode)
        in[SLOT_BLOCK_TABLE] = GRID_SHAPE(out, b, blocks);
}

static void fill_types(struct arena *arena, const struct grid_shape *in, struct str *dtypes,
                       struct str *formats)
{
    static const struct str others[SLOTS] = {[SLOT_MASK] = S_INIT("INT8"),
                                             [SLOT_LENGTHS] = S_INIT("INT64"),
                                             [SLOT_KV_LENGTHS] = S_INIT("INT64"),
                                             [SLOT_BLOCK_TABLE] = S_INIT("INT32")};
    struct str types[SLOTS], layouts[SLOTS];

    for (size_t i = 0; i < SLOTS; i++) {
        types[i] = others[i].n > 0 ? others[i] : S("DT_BF16");
        if (in[i].n == 0)
            types[i] = S("DT_UNDEFINED");
        layouts[i] = in[i].n > 0 ? S("ND") : S("NULL");
    }
    *dtypes = arena_join(arena, types, SLOTS, S(";"));
    *formats = arena_join(arena, layouts, SLOTS, S(";"));
}

static struct str scene_name(const struct attention_scene *s)
{
    const char *phase = s->is_decode ? "decode" : "prefill";

    if (s->is_mla)
        return arena_format(&s->out->scratch, "%.*s_mla_%s", STR_ARGS(s->model->key), phase);
    return arena_format(&s->out->scratch, "%.*s_dense_%s_tp%lld", STR_ARGS(s->model->key), phase,
                        (long long)s->tp);
}

/* What the kernel gets besides its operands. */
static size_t fill_runtime(const struct attention_scene *s, int64_t b, int64_t length,
                           struct str raw, struct grid_cell *cells)
{
    struct arena *arena = &s->out->scratch;
    bool has_table = s->is_mla || s->is_decode;
    bool is_cumulative = !s->is_mla && !s->is_decode;
    int64_t blocks = blocks_of(length);
    struct str queries = is_cumulative   ? number_list(arena, b, length, length)
                         : !s->is_decode ? number_list(arena, b, length, 0)
                         : s->is_mla     ? number_list(arena, b, 1, 0)
                                         : number_list(arena, b, 1, 1);
    struct str keys = number_list(arena, b, length, is_cumulative ? length : 0);
    const struct {
        enum runtime column;
        struct str text;
    } values[] = {
        {RT_SOURCE_PROFILE, scene_name(s)},
        {RT_SEQ_SHAPE, attention_number(arena, b)},
        {RT_SEQ_VALUES, queries},
        {RT_SEQ_KV_SHAPE, attention_number(arena, b)},
        {RT_SEQ_KV_VALUES, keys},
        {RT_AVG_SEQ_LEN, arena_format(arena, "%lld.000000", (long long)length)},
        {RT_BLOCK_TABLE_SHAPE,
         has_table ? arena_format(arena, "%lld,%lld", (long long)b, (long long)blocks) : S("")},
        {RT_VALID_BLOCKS, has_table ? number_list(arena, b, blocks, 0) : S("")},
        {RT_NUM_HEADS, attention_number(arena, s->heads)},
        {RT_NUM_KV_HEADS, attention_number(arena, s->kv_heads)},
        {RT_SPARSE_MODE, s->is_mla && s->is_decode ? S("0") : S("3")},
        {RT_INPUT_LAYOUT, s->is_mla ? S("BNSD_NBSD") : S("TND")},
        {RT_BLOCK_SIZE, attention_number(arena, BLOCK)},
        {RT_COMPLETENESS, S("shape_grid_scene_generated")},
    };

    for (size_t i = 0; i < ARRAY_LEN(values); i++)
        cells[i] = (struct grid_cell){column_runtime[values[i].column], values[i].text};
    cells[ARRAY_LEN(values)] = (struct grid_cell){GRID_COL_RAW_SHAPES, raw};
    return ARRAY_LEN(values) + 1;
}

static enum status scene_row(const struct attention_scene *s, int64_t b, int64_t length)
{
    struct arena *arena = &s->out->scratch;
    struct arena_mark mark = arena_mark(arena);
    struct grid_shape in[SLOTS] = {0}, result;
    struct grid_cell cells[RUNTIME_N + 3];
    struct grid_row row = {.in = {in, SLOTS}, .out = {&result, 1}, .cells = cells};
    enum status st = ST_OK;

    fill_slots(s, b, length, in, &result);
    struct str raw = grid_shapes_text(arena, row.in);
    struct str out = grid_shapes_text(arena, row.out);
    /* Data types and formats follow from the shapes. */
    struct str key = arena_format(arena, "%.*s>%.*s", STR_ARGS(raw), STR_ARGS(out));
    size_t before = s->seen->strings.n;
    intern_put(s->seen, key);
    if (s->seen->strings.n > before) {
        cells[0].column = COL_INPUT_DTYPES;
        cells[1].column = COL_INPUT_FORMATS;
        fill_types(arena, in, &cells[0].text, &cells[1].text);
        row.cells_n = 2 + fill_runtime(s, b, length, raw, cells + 2);
        st = grid_add_row(s->out, &row);
    }
    arena_rewind(arena, mark);
    return st;
}

static enum status scene_rows(const struct attention_scene *s, struct grid_list batches,
                              struct grid_list lengths)
{
    for (size_t i = 0; i < batches.n; i++)
        for (size_t k = 0; k < lengths.n; k++)
            TRY(scene_row(s, batches.at[i], lengths.at[k]));
    return ST_OK;
}

/* Prefill, then decode. */
static enum status variant_rows(struct attention_scene *s)
{
    const struct grid_scene *grid = grid_rules_scene(s->out->job->rules, s->model->key);

    if (grid == NULL)
        return ST_OK;
    s->is_decode = false;
    TRY(scene_rows(s, grid->prefill_batches, grid->prefill_lengths));
    s->is_decode = true;
    return scene_rows(s, grid->decode_batches, grid->decode_lengths);
}

static enum status dense_rows(struct attention_scene *s)
{
    const struct grid_model *m = s->model;
    int64_t *done = ARENA_ARRAY(&s->out->scratch, int64_t, 2 * m->tp_sizes.n);
    size_t n = 0;

    for (size_t i = 0; i < m->tp_sizes.n; i++) {
        s->tp = m->tp_sizes.at[i];
        s->heads = m->heads / s->tp;
        bool is_cut = m->kv_heads >= s->tp; /* else cards share key heads */
        s->kv_heads = is_cut ? m->kv_heads / s->tp : 1;
        if (m->heads % s->tp != 0 || (is_cut ? m->kv_heads % s->tp : s->tp % m->kv_heads) != 0)
            continue;
        size_t k = 0;
        while (k < n && (done[2 * k] != s->heads || done[2 * k + 1] != s->kv_heads))
            k++;
        if (k < n)
            continue;
        done[2 * n] = s->heads;
        done[2 * n + 1] = s->kv_heads;
        n++;
        TRY(variant_rows(s));
    }
    return ST_OK;
}

enum status grid_make_attention(struct grid_out *out)
{
    struct intern seen;
    enum status st = ST_OK;

    intern_init(&seen);
    for (size_t i = 0; st == ST_OK && i < out->job->models.n; i++) {
        const struct grid_model *m = &out->job->models.at[i];
        struct attention_scene s = {
            .out = out, .model = m, .seen = &seen, .is_mla = grid_model_is_mla(m)};
        s.heads = m->heads;
        s.kv_heads = 1;
        st = s.is_mla ? variant_rows(&s) : dense_rows(&s);
    }
    intern_fini(&seen);
    return st;
}
