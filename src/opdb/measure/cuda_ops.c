/*
 * What each operator is made of on a GPU: elementwise, row by row, sorting. Products are in
 * cuda_products.c, attention in cuda_attention.c. See cuda_inside.h.
 */
#include <stdio.h>

#include "opdb/measure/cuda_inside.h"
#include "opdb/measure/op_inside.h"

const char *cuda_kernel(struct cuda_state *c, const char *file, const char *name, enum dtype a,
                        enum dtype b, enum dtype out, void **function)
{
    char text[CUDA_TYPES_TEXT];

    snprintf(text, sizeof(text), "-DTI=%s -DTB=%s -DTO=%s", cuda_type(a), cuda_type(b),
             cuda_type(out));
    return cuda_function(c, file, text, name, function);
}

int64_t cuda_wide_blocks(int64_t n, enum dtype type)
{
    int64_t each = CUDA_ROW_THREADS * (16 / (int64_t)tensor_element(type));

    return (n + each - 1) / each;
}

/* Threads for a row of `n` elements in pieces of sixteen bytes. */
static unsigned row_threads(int64_t n, enum dtype type)
{
    int64_t pieces = n * (int64_t)tensor_element(type) / 16, threads = 64;

    while (threads < 1024 && threads * 4 < pieces)
        threads *= 2;
    return (unsigned)threads;
}

void cuda_put_pointers(struct cuda_step *s, size_t n, const cuda_pointer *p)
{
    for (size_t i = 0; i < n; i++)
        cuda_put_pointer(s, p[i]);
}

void cuda_put_sizes(struct cuda_step *s, size_t n, const int64_t *v)
{
    for (size_t i = 0; i < n; i++)
        cuda_put_i64(s, v[i]);
}

/* ---- elementwise and copies ---- */

static const char *build_add(struct cuda_state *c)
{
    const struct op_call *o = c->call;
    bool is_two = o->n_in > 1;
    void *f;

    CUDA_TRY(cuda_kernel(c, "move", "add", cuda_in(c, 0)->dtype, cuda_in(c, is_two ? 1 : 0)->dtype,
                         cuda_out(c, 0)->dtype, &f));
    struct cuda_step *s =
        cuda_launch(c, f, cuda_wide_blocks(o->n, cuda_in(c, 0)->dtype), CUDA_ROW_THREADS, 0);
    PUT_POINTERS(s, c->in[0], is_two ? c->in[1] : 0, c->out[0]);
    PUT_SIZES(s, o->n, is_two ? tensor_count(cuda_in(c, 1)) : 0);
    return NULL;
}

static const char *build_masked_fill(struct cuda_state *c)
{
    void *f;

    CUDA_TRY(cuda_kernel(c, "move", "masked_fill", cuda_in(c, 0)->dtype, DTYPE_I32,
                         cuda_out(c, 0)->dtype, &f));
    struct cuda_step *s =
        cuda_launch(c, f, cuda_wide_blocks(c->call->n, cuda_in(c, 0)->dtype), CUDA_ROW_THREADS, 0);
    PUT_POINTERS(s, c->in[0], c->in[1], c->out[0]);
    PUT_SIZES(s, c->call->n, tensor_count(cuda_in(c, 1)));
    return NULL;
}

static const char *build_tensor_move(struct cuda_state *c)
{
    enum dtype from = cuda_in(c, 0)->dtype, to = cuda_out(c, 0)->dtype;
    struct cuda_step copy = {.kind = STEP_COPY, .a = c->in[0], .d = c->out[0]};
    void *f;

    if (from == to) {
        copy.n = (size_t)tensor_bytes(cuda_in(c, 0));
        vec_push(&c->steps, copy);
        return NULL;
    }
    CUDA_TRY(cuda_kernel(c, "move", "cast", from, DTYPE_I32, to, &f));
    enum dtype small = tensor_element(from) < tensor_element(to) ? from : to;
    struct cuda_step *s =
        cuda_launch(c, f, cuda_wide_blocks(c->call->n, small), CUDA_ROW_THREADS, 0);
    PUT_POINTERS(s, c->in[0], c->out[0]);
    PUT_SIZES(s, c->call->n);
    return NULL;
}

const char *cuda_transpose_tiles(struct cuda_state *c, enum dtype type, cuda_pointer from,
                                 cuda_pointer to, int64_t batch, int64_t rows, int64_t columns)
{
    void *f;

    CUDA_TRY(cuda_kernel(c, "move", "transpose_tile", type, DTYPE_I32, type, &f));
    struct cuda_step *s =
        cuda_launch(c, f, ((rows + 31) / 32) * ((columns + 31) / 32), CUDA_ROW_THREADS, 0);
    s->grid[1] = (unsigned)batch;
    PUT_POINTERS(s, from, to);
    PUT_SIZES(s, rows, columns);
    return NULL;
}

/* The last two axes are a plain matrix, for which tiles read and write whole rows. */
static const char *build_transpose(struct cuda_state *c)
{
    const struct tensor *t = cuda_in(c, 0);
    int64_t x = c->call->axis[0], y = c->call->axis[1], middle = 1, after = 1, before = 1;
    void *f;

    for (int64_t i = 0; i < x; i++)
        before *= t->dim[i];
    for (int64_t i = x + 1; i < y; i++)
        middle *= t->dim[i];
    for (int64_t i = y + 1; i < (int64_t)t->rank; i++)
        after *= t->dim[i];
    if (x != y && middle == 1 && after == 1 && before < 65536)
        return cuda_transpose_tiles(c, t->dtype, c->in[0], c->out[0], before, t->dim[x], t->dim[y]);
    CUDA_TRY(cuda_kernel(c, "move", "transpose", t->dtype, DTYPE_I32, t->dtype, &f));
    struct cuda_step *s = cuda_launch(c, f, c->processors * 16, CUDA_ROW_THREADS, 0);
    PUT_POINTERS(s, c->in[0], c->out[0]);
    PUT_SIZES(s, c->call->n, x == y ? 1 : t->dim[x], middle, t->dim[y], after);
    return NULL;
}

static const char *build_part(struct cuda_state *c, bool is_pad)
{
    const struct tensor *part = cuda_out(c, 0), *whole = cuda_in(c, 0);
    struct {
        int64_t rank, part[TENSOR_RANK], whole[TENSOR_RANK];
    } shape = {.rank = (int64_t)part->rank};
    void *f;

    memcpy(shape.part, part->dim, sizeof(shape.part));
    memcpy(shape.whole, whole->dim, sizeof(shape.whole));
    CUDA_TRY(cuda_kernel(c, "move", "part_of", whole->dtype, DTYPE_I32, whole->dtype, &f));
    struct cuda_step *s =
        cuda_launch(c, f, c->call->units < 65535 ? c->call->units : 65535, CUDA_ROW_THREADS, 0);
    PUT_POINTERS(s, c->in[0], c->out[0]);
    cuda_put(s, &shape, sizeof(shape), 8);
    PUT_SIZES(s, c->call->units);
    cuda_put_i32(s, is_pad);
    return NULL;
}

static const char *build_slice(struct cuda_state *c)
{
    return build_part(c, false);
}

static const char *build_pad(struct cuda_state *c)
{
    return build_part(c, true);
}

static unsigned copy_threads(int64_t bytes)
{
    return bytes >= 4096 ? 256 : bytes >= 1024 ? 64 : 32;
}

const char *cuda_rows_by(struct cuda_state *c, cuda_pointer from, cuda_pointer to,
                         cuda_pointer list, enum dtype list_type, int64_t n, int64_t bytes,
                         bool is_scatter, int64_t share)
{
    void *f;

    CUDA_TRY(cuda_kernel(c, "move", "rows_by", DTYPE_BF16, list_type, DTYPE_BF16, &f));
    struct cuda_step *s = cuda_launch(c, f, n < (1 << 30) ? n : 1 << 30, copy_threads(bytes), 0);
    PUT_POINTERS(s, from, to, list);
    PUT_SIZES(s, n, bytes);
    cuda_put_i32(s, is_scatter);
    cuda_put_i64(s, share);
    return NULL;
}

static int64_t row_bytes(int64_t n, enum dtype type)
{
    return n * (int64_t)tensor_element(type);
}

static const char *build_gather(struct cuda_state *c)
{
    return cuda_rows_by(c, c->in[0], c->out[0], c->in[1], cuda_in(c, 1)->dtype, c->call->units,
                        row_bytes(c->call->n, cuda_in(c, 0)->dtype), false, 1);
}

static const char *build_scatter(struct cuda_state *c)
{
    return cuda_rows_by(c, c->in[1], c->out[0], c->in[0], cuda_in(c, 0)->dtype, c->call->units,
                        row_bytes(c->call->n, cuda_in(c, 1)->dtype), true, 1);
}

static const char *build_reshape_cache(struct cuda_state *c)
{
    const struct op_call *o = c->call;
    int64_t key = row_bytes(o->n, cuda_in(c, 0)->dtype),
            value = row_bytes(o->k, cuda_in(c, 1)->dtype);
    void *f;

    CUDA_TRY(
        cuda_kernel(c, "move", "cache_rows", DTYPE_BF16, cuda_in(c, 2)->dtype, DTYPE_BF16, &f));
    struct cuda_step *s =
        cuda_launch(c, f, o->m < (1 << 30) ? o->m : 1 << 30, copy_threads(key), 0);
    s->grid[1] = 2;
    PUT_POINTERS(s, c->in[0], c->in[1], c->out[0], c->out[1], c->in[2]);
    PUT_SIZES(s, o->m, key, value);
    return NULL;
}

/* ---- row by row ---- */

static const char *build_rms_norm(struct cuda_state *c, cuda_pointer second, cuda_pointer gamma,
                                  cuda_pointer beta, cuda_pointer sum)
{
    const struct op_call *o = c->call;
    void *f;

    CUDA_TRY(cuda_kernel(c, "norm", "rms_norm", cuda_in(c, 0)->dtype,
                         cuda_in(c, second != 0 ? 2 : 1)->dtype, cuda_out(c, 0)->dtype, &f));
    struct cuda_step *s = cuda_launch(c, f, o->m, row_threads(o->n, cuda_in(c, 0)->dtype), 0);
    PUT_POINTERS(s, c->in[0], second, gamma, beta, c->out[0], c->out[1], sum);
    cuda_put_i64(s, o->n);
    cuda_put_f32(s, o->eps);
    return NULL;
}

static const char *build_rms(struct cuda_state *c)
{
    return build_rms_norm(c, 0, c->in[1], 0, 0);
}

static const char *build_add_rms(struct cuda_state *c)
{
    return build_rms_norm(c, c->in[1], c->in[2], c->call->has_bias ? c->in[3] : 0, c->out[2]);
}

static const char *build_swiglu(struct cuda_state *c)
{
    const struct op_call *o = c->call;
    void *f;

    CUDA_TRY(cuda_kernel(c, "norm", "swiglu", cuda_in(c, 0)->dtype, DTYPE_F32,
                         cuda_out(c, 0)->dtype, &f));
    struct cuda_step *s =
        cuda_launch(c, f, cuda_wide_blocks(o->m * o->n, cuda_in(c, 0)->dtype), CUDA_ROW_THREADS, 0);
    PUT_POINTERS(s, c->in[0], c->out[0]);
    PUT_SIZES(s, o->m, o->n);
    return NULL;
}

static const char *build_softmax(struct cuda_state *c)
{
    const struct op_call *o = c->call;
    void *f;

    CUDA_TRY(cuda_kernel(c, "norm", "softmax", cuda_in(c, 0)->dtype, DTYPE_F32,
                         cuda_out(c, 0)->dtype, &f));
    struct cuda_step *s = cuda_launch(c, f, o->m, o->n >= 4096 ? 1024 : CUDA_ROW_THREADS, 0);
    PUT_POINTERS(s, c->in[0], c->out[0]);
    PUT_SIZES(s, o->n);
    return NULL;
}

static const char *build_quant(struct cuda_state *c)
{
    const struct op_call *o = c->call;
    void *f;

    CUDA_TRY(cuda_kernel(c, "norm", "quant", cuda_in(c, 0)->dtype, cuda_in(c, 1)->dtype,
                         cuda_out(c, 0)->dtype, &f));
    struct cuda_step *s =
        cuda_launch(c, f, cuda_wide_blocks(o->m * o->n, cuda_in(c, 0)->dtype), CUDA_ROW_THREADS, 0);
    PUT_POINTERS(s, c->in[0], c->in[1], o->has_offset ? c->in[2] : 0, c->out[0]);
    PUT_SIZES(s, o->m * o->n, o->n, tensor_count(cuda_in(c, 1)));
    return NULL;
}

static const char *build_dynamic_quant(struct cuda_state *c)
{
    const struct op_call *o = c->call;
    void *f;

    if (cuda_out(c, 0)->dtype != DTYPE_I8)
        return "only INT8 results on cuda";
    CUDA_TRY(
        cuda_kernel(c, "norm", "dynamic_quant", cuda_in(c, 0)->dtype, DTYPE_F32, DTYPE_F32, &f));
    struct cuda_step *s = cuda_launch(c, f, o->m, row_threads(o->n, cuda_in(c, 0)->dtype), 0);
    PUT_POINTERS(s, c->in[0], c->out[0], c->out[1]);
    PUT_SIZES(s, o->n);
    return NULL;
}

static const char *build_rope(struct cuda_state *c)
{
    const struct tensor *x = cuda_in(c, 0);
    int64_t total = tensor_count(x);
    void *f;

    CUDA_TRY(cuda_kernel(c, "norm", "rope", x->dtype, DTYPE_F32, cuda_out(c, 0)->dtype, &f));
    struct cuda_step *s = cuda_launch(c, f, (total + 255) / 256, CUDA_ROW_THREADS, 0);
    PUT_POINTERS(s, c->in[0], c->in[1], c->in[2], c->out[0]);
    PUT_SIZES(s, total, x->dim[1], x->dim[2], cuda_in(c, 1)->dim[2], x->dim[3]);
    return NULL;
}

static const char *build_kv_cache(struct cuda_state *c)
{
    const struct op_call *o = c->call;
    void *f;

    CUDA_TRY(cuda_kernel(c, "norm", "kv_cache", cuda_in(c, 0)->dtype, DTYPE_F32,
                         cuda_out(c, 0)->dtype, &f));
    struct cuda_step *s = cuda_launch(c, f, o->m, 128, 0);
    PUT_POINTERS(s, c->in[KV_IN], c->in[KV_GAMMA], c->in[KV_COS], c->in[KV_SIN], c->in[KV_INDEX],
                 c->out[0], c->out[1], c->out[2], c->out[3]);
    PUT_SIZES(s, o->n, o->rotary);
    cuda_put_f32(s, o->eps);
    return NULL;
}

static const char *build_split_qkv(struct cuda_state *c)
{
    const struct op_call *o = c->call;
    void *f;

    CUDA_TRY(cuda_kernel(c, "norm", "split_qkv", cuda_in(c, 0)->dtype, DTYPE_F32,
                         cuda_out(c, 0)->dtype, &f));
    struct cuda_step *s = cuda_launch(c, f, o->m, CUDA_ROW_THREADS, 0);
    PUT_POINTERS(s, c->in[SPLIT_IN], c->in[SPLIT_CACHE], c->in[SPLIT_POSITIONS],
                 c->in[SPLIT_Q_WEIGHT], c->in[SPLIT_K_WEIGHT], c->out[0], c->out[1], c->out[2]);
    PUT_SIZES(s, o->n, o->k, o->head, o->rotary);
    cuda_put_f32(s, o->eps);
    return NULL;
}

/* ---- sorting and experts ---- */

enum { SORT_THREADS = 512 };

static const char *build_sort(struct cuda_state *c)
{
    const struct op_call *o = c->call;
    cuda_pointer room;
    void *f;

    CUDA_TRY(cuda_memory(c, 16 * o->units * o->n, NULL, &room));
    CUDA_TRY(cuda_kernel(c, "sort", "sort", cuda_in(c, 0)->dtype, cuda_out(c, 1)->dtype,
                         cuda_out(c, 0)->dtype, &f));
    struct cuda_step *s = cuda_launch(c, f, o->units, SORT_THREADS, 0);
    PUT_POINTERS(s, c->in[0], c->out[0], c->out[1], room);
    PUT_SIZES(s, o->units, o->n);
    cuda_put_i32(s, cuda_in(c, 0)->dtype == DTYPE_BF16 ? 16 : 32);
    return NULL;
}

static const char *build_argmax(struct cuda_state *c)
{
    void *f;

    CUDA_TRY(cuda_kernel(c, "sort", "argmax", cuda_in(c, 0)->dtype, cuda_out(c, 0)->dtype,
                         DTYPE_F32, &f));
    struct cuda_step *s =
        cuda_launch(c, f, c->call->units, c->call->n >= 4096 ? 1024 : CUDA_ROW_THREADS, 0);
    PUT_POINTERS(s, c->in[0], c->out[0]);
    PUT_SIZES(s, c->call->n);
    return NULL;
}

const char *cuda_rank_tokens(struct cuda_state *c, cuda_pointer index, enum dtype type, int64_t n,
                             int64_t below, cuda_pointer rank)
{
    cuda_pointer room;
    int bits = 8; /* two passes of four at least: an even number of them */
    void *f;

    while (bits < 32 && below > (INT64_C(1) << bits))
        bits += 8;
    CUDA_TRY(cuda_memory(c, 16 * n, NULL, &room));
    CUDA_TRY(cuda_kernel(c, "sort", "rank_tokens", type, DTYPE_I32, DTYPE_F32, &f));
    struct cuda_step *s = cuda_launch(c, f, 1, SORT_THREADS, 0);
    PUT_POINTERS(s, index, rank, room);
    cuda_put_i64(s, n);
    cuda_put_i32(s, bits);
    return NULL;
}

static int64_t largest(const struct tensor *t)
{
    int64_t n = tensor_count(t), most = 0;

    for (int64_t i = 0; i < n; i++) {
        int64_t v = (int64_t)tensor_at(t, i);
        most = v > most ? v : most;
    }
    return most;
}

static const char *build_permute(struct cuda_state *c)
{
    const struct op_call *o = c->call;

    if (cuda_out(c, 1)->dtype != DTYPE_I32)
        return "sorted indices must be INT32 on cuda";
    CUDA_TRY(cuda_rank_tokens(c, c->in[1], cuda_in(c, 1)->dtype, o->m, largest(cuda_in(c, 1)) + 1,
                              c->out[1]));
    return cuda_rows_by(c, c->in[0], c->out[0], c->out[1], DTYPE_I32, o->m,
                        row_bytes(o->n, cuda_in(c, 0)->dtype), true, o->top_k);
}

const char *cuda_unpermute(struct cuda_state *c, const struct cuda_unpermute *u)
{
    char text[CUDA_TYPES_TEXT];
    void *f;

    snprintf(text, sizeof(text), "-DTI=%s -DTB=int -DTO=%s -DTP=%s", cuda_type(u->type),
             cuda_type(u->out), cuda_type(u->probs_type));
    CUDA_TRY(cuda_function(c, "sort", text, "unpermute", &f));
    struct cuda_step *s = cuda_launch(c, f, u->rows, CUDA_ROW_THREADS, 0);
    PUT_POINTERS(s, u->x, u->sorted, u->probs, u->to);
    PUT_SIZES(s, u->n, u->k);
    cuda_put_f32(s, u->scale);
    return NULL;
}

static const char *build_unpermute(struct cuda_state *c)
{
    const struct op_call *o = c->call;
    bool has = o->has_scale;
    struct cuda_unpermute u = {.type = cuda_in(c, 0)->dtype,
                               .probs_type = has ? cuda_in(c, 2)->dtype : DTYPE_F32,
                               .out = cuda_out(c, 0)->dtype,
                               .x = c->in[0],
                               .sorted = c->in[1],
                               .probs = has ? c->in[2] : 0,
                               .to = c->out[0],
                               .rows = o->units,
                               .n = o->n,
                               .k = o->top_k,
                               .scale = 1};

    if (cuda_in(c, 1)->dtype != DTYPE_I32)
        return "sorted indices must be INT32 on cuda";
    return cuda_unpermute(c, &u);
}

struct cuda_builder {
    const char *op;
    const char *(*build)(struct cuda_state *c);
};

static const struct cuda_builder builders[] = {
    {"Add", build_add},
    {"AddRmsNormBias", build_add_rms},
    {"ArgMaxV2", build_argmax},
    {"AscendQuantV2", build_quant},
    {"BatchMatMulV2", cuda_build_matmul},
    {"DispatchFFNCombine", cuda_build_dispatch},
    {"DynamicQuant", build_dynamic_quant},
    {"FusedInferAttentionScore", cuda_build_attention},
    {"GatherV2", build_gather},
    {"GroupedMatmul", cuda_build_grouped},
    {"GroupedMatmulSwigluQuant", cuda_build_grouped_swiglu},
    {"Index", build_gather},
    {"InterleaveRope", build_rope},
    {"KvRmsNormRopeCache", build_kv_cache},
    {"LightningIndexer", cuda_build_indexer},
    {"MaskedFill", build_masked_fill},
    {"MatMulCommon", cuda_build_matmul},
    {"MatMulV2", cuda_build_matmul},
    {"MatMulV3", cuda_build_matmul},
    {"MoeTokenPermute", build_permute},
    {"MoeTokenUnpermute", build_unpermute},
    {"PadV3", build_pad},
    {"QuantBatchMatmulV3", cuda_build_quant_matmul},
    {"RINGMLAPrefillBF16Kernel", cuda_build_attention},
    {"ReshapeAndCacheNdKernel", build_reshape_cache},
    {"RmsNorm", build_rms},
    {"ScatterNdUpdate", build_scatter},
    {"Slice", build_slice},
    {"SoftmaxV2", build_softmax},
    {"Sort", build_sort},
    {"SparseFlashAttention", cuda_build_attention},
    {"SwiGlu", build_swiglu},
    {"TensorMove", build_tensor_move},
    {"Transpose", build_transpose},
    {"TransposeBatchMatMul", cuda_build_transpose_matmul},
    {"split_qkv_rmsnorm_rope_kernel", build_split_qkv},
};

const char *cuda_build(struct cuda_state *c)
{
    if (c->call->units == 0)
        return "the row has no work";
    for (size_t i = 0; i < ARRAY_LEN(builders); i++)
        if (strcmp(builders[i].op, c->call->op->name) == 0)
            return builders[i].build(c);
    return "not on cuda";
}
