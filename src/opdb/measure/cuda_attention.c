/*
 * Attention on a GPU: which kernel, and what it is given. See data/cuda/attention.cu.
 */
#include <stdio.h>

#include "opdb/measure/cuda_inside.h"
#include "opdb/measure/op_inside.h"

/* As the kernels have it. */
struct device_attention {
    cuda_pointer q, k, v, q_rope, k_rope, before, out, lse, part, before_lse;
    cuda_pointer table, list, q_row, q_len, kv_row, kv_len;
    struct op_view vq, vq_rope, vk, vk_rope, vv, vo, vl;
    int64_t heads, kv_heads, group, block, width, top_k, tiles;
    float scale;
    int32_t is_causal, splits, is_merging;
};

enum {
    TILE_ROWS = 16,
    TILE_KEYS = 16,
    DECODE_KEYS = 64,
    FLASH_ROWS = 128,
    FLASH_THREADS = 384,
    FLASH_SHARED = 5 * 32768 + 1024 + 128, /* tiles, their alignment, barriers */
};

static const char *upload(struct cuda_state *c, const int32_t *list, int64_t n, cuda_pointer *out)
{
    *out = 0;
    return list == NULL ? NULL : cuda_memory(c, 4 * n, list, out);
}

static int64_t longest(const int32_t *list, int64_t n)
{
    int64_t most = 0;

    for (int64_t i = 0; i < n; i++)
        most = list[i] > most ? list[i] : most;
    return most;
}

static const char *upload_lists(struct cuda_state *c, struct device_attention *d)
{
    const struct op_attention *a = &c->call->attention;

    CUDA_TRY(upload(c, a->q_row, a->seqs, &d->q_row));
    CUDA_TRY(upload(c, a->q_len, a->seqs, &d->q_len));
    CUDA_TRY(upload(c, a->kv_row, a->seqs, &d->kv_row));
    return upload(c, a->kv_len, a->seqs, &d->kv_len);
}

static const char *attention_fill(struct cuda_state *c, struct device_attention *d)
{
    const struct op_call *o = c->call;
    const struct op_attention *a = &o->attention;
    bool is_listed = a->top_k > 0;

    *d = (struct device_attention){.q = c->in[ATTN_QUERY],
                                   .k = c->in[ATTN_KEY],
                                   .v = c->in[ATTN_VALUE],
                                   .q_rope = c->in[ATTN_Q_ROPE],
                                   .k_rope = c->in[ATTN_K_ROPE],
                                   .out = c->out[0],
                                   .lse = a->has_lse ? c->out[1] : 0,
                                   .table = c->in[ATTN_TABLE],
                                   .list = is_listed ? c->in[ATTN_LIST] : 0,
                                   .before = a->is_merging ? c->in[ATTN_LIST] : 0,
                                   .before_lse = a->is_merging ? c->in[ATTN_PREVIOUS] : 0,
                                   .vq = a->q,
                                   .vq_rope = a->q_rope,
                                   .vk = a->k,
                                   .vk_rope = a->k_rope,
                                   .vv = a->v,
                                   .vo = a->out,
                                   .vl = a->lse,
                                   .heads = a->heads,
                                   .kv_heads = a->kv_heads,
                                   .group = a->heads / a->kv_heads,
                                   .block = a->block,
                                   .width = a->width,
                                   .top_k = a->top_k,
                                   .scale = (float)o->scale,
                                   .is_causal = a->is_causal,
                                   .splits = 1,
                                   .is_merging = a->is_merging};
    return upload_lists(c, d);
}

static bool is_half(const struct op_call *o)
{
    enum dtype type = o->in[ATTN_QUERY].t.dtype;

    return (type == DTYPE_BF16 || type == DTYPE_F16) && o->out[0].t.dtype == type &&
           o->in[ATTN_KEY].t.dtype == type && o->in[ATTN_VALUE].t.dtype == type;
}

/* Of an operand: how many positions and units of them its rows are. */
struct tile_shape {
    const struct op_view *view;
    int64_t dim, positions, heads, units;
    uint32_t rows; /* of a box */
};

static const char *make_map(struct cuda_state *c, cuda_pointer at, enum dtype type,
                            const struct tile_shape *s, struct cuda_tile_map *out)
{
    enum { RANK = 4, TYPE_F16 = 6, TYPE_BF16 = 9, SWIZZLE_128 = 3, PROMOTE_256 = 3, WIDE = 64 };
    const uint64_t size[RANK] = {(uint64_t)s->dim, (uint64_t)s->positions, (uint64_t)s->heads,
                                 (uint64_t)s->units};
    const uint64_t step[RANK - 1] = {2 * (uint64_t)s->view->pos, 2 * (uint64_t)s->view->head,
                                     2 * (uint64_t)s->view->unit};
    const uint32_t box[RANK] = {WIDE, s->rows, 1, 1}, each[RANK] = {1, 1, 1, 1};
    int code = c->api.tile_map(out, type == DTYPE_F16 ? TYPE_F16 : TYPE_BF16, RANK, (void *)at,
                               size, step, box, each, 0, SWIZZLE_128, PROMOTE_256, 0);

    return code == 0 ? NULL : cuda_fail(c, "the driver takes no tile: error %d", code);
}

/* Rows that follow each other over all sequences, or units of rows. */
static struct tile_shape attention_shape_of(const struct tensor *t, const struct op_view *view,
                                            int64_t dim, int64_t heads, uint32_t rows)
{
    int64_t all = tensor_count(t) / (dim * heads);
    bool is_flat = view->unit == view->pos;
    int64_t units = is_flat ? 1 : t->dim[0];

    return (struct tile_shape){view, dim, all / units, heads, units, rows};
}

/* Keys and values in tiles of `rows`: a page is a part of a tile, or some tiles are a page. */
static const char *key_maps(struct cuda_state *c, uint32_t rows, struct cuda_tile_map out[2])
{
    const struct op_attention *a = &c->call->attention;
    enum dtype type = cuda_in(c, ATTN_KEY)->dtype;
    uint32_t box = a->block > 0 && a->block < rows ? (uint32_t)a->block : rows;
    struct tile_shape k = attention_shape_of(cuda_in(c, ATTN_KEY), &a->k, a->dim, a->kv_heads, box);
    struct tile_shape v =
        attention_shape_of(cuda_in(c, ATTN_VALUE), &a->v, a->value, a->kv_heads, box);

    CUDA_TRY(make_map(c, c->in[ATTN_KEY], type, &k, &out[0]));
    return make_map(c, c->in[ATTN_VALUE], type, &v, &out[1]);
}

/* Whether the memory unit can bring the keys in tiles of `rows`. */
static bool has_tiles(const struct cuda_state *c, int64_t rows)
{
    enum { SWIZZLED = 8 }; /* rows of a pattern */
    const struct op_attention *a = &c->call->attention;
    int64_t page = a->block;

    return c->cc == 90 && c->api.tile_map != NULL && a->rope == 0 && a->top_k == 0 &&
           a->dim == a->value &&
           (page == 0 || page % rows == 0 || (rows % page == 0 && page % SWIZZLED == 0));
}

/* Long sequences of queries in heads of 128: the large tiles. */
static const char *build_flash(struct cuda_state *c, struct device_attention *d)
{
    const struct op_attention *a = &c->call->attention;
    enum dtype type = cuda_in(c, ATTN_QUERY)->dtype;
    int64_t most = longest(a->q_len, a->seqs);
    struct tile_shape q =
        attention_shape_of(cuda_in(c, ATTN_QUERY), &a->q, a->dim, a->heads, FLASH_ROWS);
    struct cuda_tile_map map[3];
    void *f;

    CUDA_TRY(make_map(c, c->in[ATTN_QUERY], type, &q, &map[0]));
    CUDA_TRY(key_maps(c, FLASH_ROWS, map + 1));
    CUDA_TRY(cuda_function(c, "flash", type == DTYPE_F16 ? "-DIS_F16=1" : "", "flash", &f));
    struct cuda_step *s = cuda_launch(c, f, a->heads * a->seqs, FLASH_THREADS, FLASH_SHARED);
    s->grid[1] = (unsigned)((most + FLASH_ROWS - 1) / FLASH_ROWS);
    cuda_put(s, d, sizeof(*d), 8);
    cuda_put_maps(s, map, ARRAY_LEN(map));
    return NULL;
}

/* So many parts that the processors are even in their work, but none shorter than some tiles. */
static int32_t splits_for(const struct cuda_state *c, int64_t blocks, int64_t keys,
                          int64_t per_processor)
{
    enum { KEYS_LEAST = 256, MOST = 64 };
    int64_t places = c->processors * per_processor, can = keys / KEYS_LEAST;
    int32_t best = 1;
    double share = 0;

    for (int32_t n = 1; n <= MOST && (n == 1 || n <= can); n++) {
        int64_t all = blocks * n, waves = (all + places - 1) / places;
        double now = (double)all / (double)(waves * places);
        if (now > share * 1.1) { /* more parts must pay */
            share = now;
            best = n;
        }
    }
    return best;
}

/* Parts of rows, and the kernel that joins them. */
static const char *part_memory(struct cuda_state *c, struct device_attention *d)
{
    const struct op_attention *a = &c->call->attention;
    int64_t rows = a->seqs * a->kv_heads * d->tiles * d->splits * TILE_ROWS;

    return d->splits == 1 ? NULL : cuda_memory(c, 4 * rows * (a->value + 2), NULL, &d->part);
}

static const char *join_parts(struct cuda_state *c, const struct device_attention *d,
                              const char *file, const char *defines)
{
    const struct op_attention *a = &c->call->attention;
    void *f;

    if (d->splits == 1)
        return NULL;
    CUDA_TRY(cuda_function(c, file, defines, "join_parts", &f));
    struct cuda_step *s = cuda_launch(c, f, d->tiles * TILE_ROWS, 128, 0);
    s->grid[1] = (unsigned)a->kv_heads;
    s->grid[2] = (unsigned)a->seqs;
    cuda_put(s, d, sizeof(*d), 8);
    return NULL;
}

/* Few queries in heads of 64 or 128: the keys are brought and read once. */
static const char *build_decode(struct cuda_state *c, struct device_attention *d)
{
    enum { PER_PROCESSOR = 2, STAGES = 3, THREADS = 160, ALIGNED = 1024 };
    const struct op_attention *a = &c->call->attention;
    struct cuda_tile_map map[2];
    char text[64];
    void *f;

    d->tiles = (longest(a->q_len, a->seqs) * d->group + TILE_ROWS - 1) / TILE_ROWS;
    d->splits =
        splits_for(c, d->tiles * a->kv_heads * a->seqs, longest(a->kv_len, a->seqs), PER_PROCESSOR);
    CUDA_TRY(part_memory(c, d));
    CUDA_TRY(key_maps(c, DECODE_KEYS, map));
    snprintf(text, sizeof(text), "-DHEAD_SIZE=%lld%s", (long long)a->dim,
             cuda_in(c, ATTN_QUERY)->dtype == DTYPE_F16 ? " -DIS_F16=1" : "");
    CUDA_TRY(cuda_function(c, "decode", text, "decode", &f));
    int64_t tile = DECODE_KEYS * a->dim * 2;
    struct cuda_step *s =
        cuda_launch(c, f, d->tiles, THREADS, (unsigned)(STAGES * 2 * tile + ALIGNED));
    s->grid[1] = (unsigned)a->kv_heads;
    s->grid[2] = (unsigned)(a->seqs * d->splits);
    cuda_put(s, d, sizeof(*d), 8);
    cuda_put_maps(s, map, ARRAY_LEN(map));
    return join_parts(c, d, "decode", text);
}

static const char *build_split(struct cuda_state *c, struct device_attention *d, bool is_latent)
{
    enum { PER_PROCESSOR = 4 };
    const struct op_attention *a = &c->call->attention;
    int64_t rows = a->top_k > 0 ? (d->group + TILE_ROWS - 1) / TILE_ROWS * TILE_ROWS : d->group;
    int64_t keys = a->top_k > 0 ? a->top_k : longest(a->kv_len, a->seqs);
    int64_t row = a->dim + a->rope + (is_latent ? 0 : a->value);
    bool is_shared = a->value > 256;
    char text[160];
    void *f;

    d->tiles = (longest(a->q_len, a->seqs) * rows + TILE_ROWS - 1) / TILE_ROWS;
    d->splits = splits_for(c, d->tiles * a->kv_heads * a->seqs, keys, PER_PROCESSOR);
    CUDA_TRY(part_memory(c, d));
    snprintf(text, sizeof(text), "-DDQ=%lld -DDR=%lld -DDV=%lld -DLATENT=%d%s", (long long)a->dim,
             (long long)a->rope, (long long)a->value, is_latent,
             c->call->in[0].t.dtype == DTYPE_F16 ? " -DIS_F16=1" : "");
    CUDA_TRY(cuda_function(c, "attention", text, "attend", &f));
    int64_t stage = TILE_KEYS * row * 2, queries = TILE_ROWS * (a->dim + a->rope) * 2;
    int64_t shared = queries + (is_shared ? 3 : 16) * stage;
    struct cuda_step *s = cuda_launch(c, f, d->tiles, 128, (unsigned)shared);
    s->grid[1] = (unsigned)a->kv_heads;
    s->grid[2] = (unsigned)(a->seqs * d->splits);
    cuda_put(s, d, sizeof(*d), 8);
    return join_parts(c, d, "attention", text);
}

static const char *build_plain(struct cuda_state *c, struct device_attention *d)
{
    const struct op_attention *a = &c->call->attention;
    char text[96];
    cuda_pointer first;
    void *f;
    const char *problem = upload(c, a->q_first, a->seqs, &first);

    if (problem != NULL)
        return problem;
    if (a->value > 1024)
        return "heads of more than 1024 values are not run on cuda";
    snprintf(text, sizeof(text), "-DTI=%s", cuda_type(c->call->in[ATTN_QUERY].t.dtype));
    if ((problem = cuda_function(c, "plain", text, "attend_plain", &f)) != NULL)
        return problem;
    struct cuda_step *s =
        cuda_launch(c, f, c->call->units, 128, (unsigned)(4 * (a->dim + a->rope)));
    cuda_put(s, d, sizeof(*d), 8);
    cuda_put_i64(s, a->dim);
    cuda_put_i64(s, a->rope);
    cuda_put_i64(s, a->value);
    cuda_put_pointer(s, first);
    cuda_put_i64(s, a->seqs);
    return NULL;
}

const char *cuda_build_attention(struct cuda_state *c)
{
    enum { FLASH_QUERIES = 64 }; /* fewer are left to the small tiles */
    const struct op_call *o = c->call;
    const struct op_attention *a = &o->attention;
    struct device_attention d;
    const char *problem = attention_fill(c, &d);
    bool is_even = a->dim % 64 == 0 && a->rope % 64 == 0 && a->value % 64 == 0 && a->dim > 0;
    bool is_latent = o->in[ATTN_VALUE].t.data == o->in[ATTN_KEY].t.data && a->value == a->dim;

    if (problem != NULL)
        return problem;
    if (o->in[ATTN_QUERY].t.dtype != o->out[0].t.dtype)
        return "another type of results than of queries is not run on cuda";
    if (is_half(o) && a->dim == 128 && !a->is_merging && has_tiles(c, FLASH_ROWS) &&
        longest(a->q_len, a->seqs) >= FLASH_QUERIES)
        return build_flash(c, &d);
    if (is_half(o) && (a->dim == 64 || a->dim == 128) && has_tiles(c, DECODE_KEYS))
        return build_decode(c, &d);
    if (is_half(o) && c->cc >= 80 && is_even && a->dim + a->rope <= 1024 &&
        (a->value <= 256 || (is_latent && a->value == 512)))
        return build_split(c, &d, is_latent);
    return build_plain(c, &d);
}

/* As the kernels have it. */
struct device_indexer {
    int64_t heads, dim, block, width, unit, seqs, top_k, stride;
};

/* The scores of all keys, in the form that is sorted. */
static const char *indexer_scores(struct cuda_state *c, const char *types,
                                  const struct device_indexer *shape, cuda_pointer room)
{
    const struct op_attention *a = &c->call->attention;
    cuda_pointer first, q_len, kv_len;
    void *f;

    CUDA_TRY(upload(c, a->q_first, a->seqs, &first));
    CUDA_TRY(upload(c, a->q_len, a->seqs, &q_len));
    CUDA_TRY(upload(c, a->kv_len, a->seqs, &kv_len));
    CUDA_TRY(cuda_function(c, "sort", types, "indexer_scores", &f));
    struct cuda_step *s =
        cuda_launch(c, f, c->call->units, CUDA_ROW_THREADS, (unsigned)(4 * a->heads * a->dim));
    PUT_POINTERS(s, c->in[ATTN_QUERY], c->in[ATTN_KEY], c->in[ATTN_LIST], c->in[ATTN_TABLE], first,
                 q_len, kv_len, room);
    cuda_put_i64(s, c->call->units);
    cuda_put(s, shape, sizeof(*shape), 8);
    return NULL;
}

const char *cuda_build_indexer(struct cuda_state *c)
{
    enum { DIM_MOST = 256, SORT_THREADS = 512 };
    const struct op_call *o = c->call;
    const struct op_attention *a = &o->attention;
    struct device_indexer shape = {a->heads,  a->dim,  a->block, a->width,
                                   a->k.unit, a->seqs, a->top_k, longest(a->kv_len, a->seqs)};
    char types[CUDA_TYPES_TEXT];
    cuda_pointer room;
    void *f;

    if (a->dim > DIM_MOST)
        return "keys of more than 256 numbers are not run on cuda";
    CUDA_TRY(cuda_memory(c, 16 * o->units * shape.stride, NULL, &room));
    snprintf(types, sizeof(types), "-DTI=%s -DTB=int -DTO=float -DTP=%s",
             cuda_type(o->in[ATTN_QUERY].t.dtype), cuda_type(o->in[ATTN_LIST].t.dtype));
    CUDA_TRY(indexer_scores(c, types, &shape, room));
    CUDA_TRY(cuda_function(c, "sort", types, "indexer_top", &f));
    struct cuda_step *s = cuda_launch(c, f, o->units, SORT_THREADS, 0);
    PUT_POINTERS(s, room, c->out[0], o->n_out > 1 ? c->out[1] : 0);
    cuda_put_i64(s, o->units);
    cuda_put(s, &shape, sizeof(shape), 8);
    return NULL;
}
