/*
 * What each operator is made of on a GPU: kernels and products. See cuda_inside.h.
 */
#include <stdio.h>

#include "measure/cuda_inside.h"
#include "measure/op_inside.h"

#define CUDA_TRY(expression)                                                                       \
    do {                                                                                           \
        const char *try_problem_ = (expression);                                                   \
        if (try_problem_ != NULL)                                                                  \
            return try_problem_;                                                                   \
    } while (0)

enum { TYPES_TEXT = 128, ROW_THREADS = 256 };

/* A kernel of a file, by the types of two operands and the result. */
static const char *kernel(struct cuda *c, const char *file, const char *name, enum dtype a,
                          enum dtype b, enum dtype out, void **function)
{
    char text[TYPES_TEXT];

    snprintf(text, sizeof(text), "-DTI=%s -DTB=%s -DTO=%s", cuda_type(a), cuda_type(b),
             cuda_type(out));
    return cuda_function(c, file, text, name, function);
}

/* Blocks of threads that take sixteen bytes each. */
static int64_t wide_blocks(int64_t n, enum dtype type)
{
    int64_t each = ROW_THREADS * (16 / (int64_t)dtype_size(type));

    return (n + each - 1) / each;
}

/* Threads for a row of `n` elements in pieces of sixteen bytes. */
static unsigned row_threads(int64_t n, enum dtype type)
{
    int64_t pieces = n * (int64_t)dtype_size(type) / 16, threads = 64;

    while (threads < 1024 && threads * 4 < pieces)
        threads *= 2;
    return (unsigned)threads;
}

static const struct tensor *in_of(const struct cuda *c, size_t i)
{
    return &c->call->in[i].t;
}

static const struct tensor *out_of(const struct cuda *c, size_t i)
{
    return &c->call->out[i].t;
}

static void put_pointers(struct cuda_step *s, size_t n, const cuda_pointer *p)
{
    for (size_t i = 0; i < n; i++)
        cuda_put_pointer(s, p[i]);
}
#define PUT_POINTERS(s, ...)                                                                       \
    put_pointers(s, sizeof((cuda_pointer[]){__VA_ARGS__}) / sizeof(cuda_pointer),                  \
                 (const cuda_pointer[]){__VA_ARGS__})

static void put_sizes(struct cuda_step *s, size_t n, const int64_t *v)
{
    for (size_t i = 0; i < n; i++)
        cuda_put_i64(s, v[i]);
}
#define PUT_SIZES(s, ...)                                                                          \
    put_sizes(s, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (const int64_t[]){__VA_ARGS__})

/* ---- elementwise and copies ---- */

static const char *build_add(struct cuda *c)
{
    const struct op_call *o = c->call;
    bool is_two = o->n_in > 1;
    void *f;

    CUDA_TRY(kernel(c, "move", "add", in_of(c, 0)->dtype, in_of(c, is_two ? 1 : 0)->dtype,
                    out_of(c, 0)->dtype, &f));
    struct cuda_step *s = cuda_launch(c, f, wide_blocks(o->n, in_of(c, 0)->dtype), ROW_THREADS, 0);
    PUT_POINTERS(s, c->in[0], is_two ? c->in[1] : 0, c->out[0]);
    PUT_SIZES(s, o->n, is_two ? tensor_count(in_of(c, 1)) : 0);
    return NULL;
}

static const char *build_masked_fill(struct cuda *c)
{
    void *f;

    CUDA_TRY(
        kernel(c, "move", "masked_fill", in_of(c, 0)->dtype, DTYPE_I32, out_of(c, 0)->dtype, &f));
    struct cuda_step *s =
        cuda_launch(c, f, wide_blocks(c->call->n, in_of(c, 0)->dtype), ROW_THREADS, 0);
    PUT_POINTERS(s, c->in[0], c->in[1], c->out[0]);
    PUT_SIZES(s, c->call->n, tensor_count(in_of(c, 1)));
    return NULL;
}

static const char *build_tensor_move(struct cuda *c)
{
    enum dtype from = in_of(c, 0)->dtype, to = out_of(c, 0)->dtype;
    struct cuda_step copy = {.kind = STEP_COPY, .a = c->in[0], .d = c->out[0]};
    void *f;

    if (from == to) {
        copy.n = (size_t)tensor_bytes(in_of(c, 0));
        vec_push(&c->steps, copy);
        return NULL;
    }
    CUDA_TRY(kernel(c, "move", "cast", from, DTYPE_I32, to, &f));
    enum dtype small = dtype_size(from) < dtype_size(to) ? from : to;
    struct cuda_step *s = cuda_launch(c, f, wide_blocks(c->call->n, small), ROW_THREADS, 0);
    PUT_POINTERS(s, c->in[0], c->out[0]);
    PUT_SIZES(s, c->call->n);
    return NULL;
}

/* A matrix of `rows` and `columns` the other way round, `batch` times. */
static const char *transpose_tiles(struct cuda *c, enum dtype type, cuda_pointer from,
                                   cuda_pointer to, int64_t batch, int64_t rows, int64_t columns)
{
    void *f;

    CUDA_TRY(kernel(c, "move", "transpose_tile", type, DTYPE_I32, type, &f));
    struct cuda_step *s =
        cuda_launch(c, f, ((rows + 31) / 32) * ((columns + 31) / 32), ROW_THREADS, 0);
    s->grid[1] = (unsigned)batch;
    PUT_POINTERS(s, from, to);
    PUT_SIZES(s, rows, columns);
    return NULL;
}

static const char *build_transpose(struct cuda *c)
{
    const struct tensor *t = in_of(c, 0);
    int64_t x = c->call->axis[0], y = c->call->axis[1], middle = 1, after = 1, before = 1;
    void *f;

    for (int64_t i = 0; i < x; i++)
        before *= t->dim[i];
    for (int64_t i = x + 1; i < y; i++)
        middle *= t->dim[i];
    for (int64_t i = y + 1; i < (int64_t)t->rank; i++)
        after *= t->dim[i];
    if (x != y && middle == 1 && after == 1 && before < 65536)
        return transpose_tiles(c, t->dtype, c->in[0], c->out[0], before, t->dim[x], t->dim[y]);
    CUDA_TRY(kernel(c, "move", "transpose", t->dtype, DTYPE_I32, t->dtype, &f));
    struct cuda_step *s = cuda_launch(c, f, c->processors * 16, ROW_THREADS, 0);
    PUT_POINTERS(s, c->in[0], c->out[0]);
    PUT_SIZES(s, c->call->n, x == y ? 1 : t->dim[x], middle, t->dim[y], after);
    return NULL;
}

static const char *build_part(struct cuda *c, bool is_pad)
{
    const struct tensor *part = out_of(c, 0), *whole = in_of(c, 0);
    struct {
        int64_t rank, part[TENSOR_RANK], whole[TENSOR_RANK];
    } shape = {.rank = (int64_t)part->rank};
    void *f;

    memcpy(shape.part, part->dim, sizeof(shape.part));
    memcpy(shape.whole, whole->dim, sizeof(shape.whole));
    CUDA_TRY(kernel(c, "move", "part_of", whole->dtype, DTYPE_I32, whole->dtype, &f));
    struct cuda_step *s =
        cuda_launch(c, f, c->call->units < 65535 ? c->call->units : 65535, ROW_THREADS, 0);
    PUT_POINTERS(s, c->in[0], c->out[0]);
    cuda_put(s, &shape, sizeof(shape), 8);
    PUT_SIZES(s, c->call->units);
    cuda_put_i32(s, is_pad);
    return NULL;
}

static const char *build_slice(struct cuda *c)
{
    return build_part(c, false);
}

static const char *build_pad(struct cuda *c)
{
    return build_part(c, true);
}

/* Rows from (or to) the places of a list; `share` rows of the list come from one row. */
static const char *rows_by(struct cuda *c, cuda_pointer from, cuda_pointer to, cuda_pointer list,
                           enum dtype list_type, int64_t n, int64_t bytes, bool is_scatter,
                           int64_t share)
{
    void *f;

    CUDA_TRY(kernel(c, "move", "rows_by", DTYPE_BF16, list_type, DTYPE_BF16, &f));
    unsigned threads = bytes >= 4096 ? 256 : bytes >= 1024 ? 64 : 32;
    struct cuda_step *s = cuda_launch(c, f, n < (1 << 30) ? n : 1 << 30, threads, 0);
    PUT_POINTERS(s, from, to, list);
    PUT_SIZES(s, n, bytes);
    cuda_put_i32(s, is_scatter);
    cuda_put_i64(s, share);
    return NULL;
}

static int64_t row_bytes(const struct cuda *c, int64_t n, enum dtype type)
{
    (void)c;
    return n * (int64_t)dtype_size(type);
}

static const char *build_gather(struct cuda *c)
{
    return rows_by(c, c->in[0], c->out[0], c->in[1], in_of(c, 1)->dtype, c->call->units,
                   row_bytes(c, c->call->n, in_of(c, 0)->dtype), false, 1);
}

static const char *build_scatter(struct cuda *c)
{
    return rows_by(c, c->in[1], c->out[0], c->in[0], in_of(c, 0)->dtype, c->call->units,
                   row_bytes(c, c->call->n, in_of(c, 1)->dtype), true, 1);
}

static const char *build_reshape_cache(struct cuda *c)
{
    const struct op_call *o = c->call;

    for (size_t i = 0; i < 2; i++)
        CUDA_TRY(rows_by(c, c->in[i], c->out[i], c->in[2], DTYPE_I32, o->m,
                         row_bytes(c, i == 0 ? o->n : o->k, in_of(c, i)->dtype), true, 1));
    return NULL;
}

/* ---- row by row ---- */

static const char *build_rms_norm(struct cuda *c, cuda_pointer second, cuda_pointer gamma,
                                  cuda_pointer beta, cuda_pointer sum)
{
    const struct op_call *o = c->call;
    void *f;

    CUDA_TRY(kernel(c, "norm", "rms_norm", in_of(c, 0)->dtype, in_of(c, second != 0 ? 2 : 1)->dtype,
                    out_of(c, 0)->dtype, &f));
    struct cuda_step *s = cuda_launch(c, f, o->m, row_threads(o->n, in_of(c, 0)->dtype), 0);
    PUT_POINTERS(s, c->in[0], second, gamma, beta, c->out[0], c->out[1], sum);
    cuda_put_i64(s, o->n);
    cuda_put_f32(s, o->eps);
    return NULL;
}

static const char *build_rms(struct cuda *c)
{
    return build_rms_norm(c, 0, c->in[1], 0, 0);
}

static const char *build_add_rms(struct cuda *c)
{
    return build_rms_norm(c, c->in[1], c->in[2], c->call->has_bias ? c->in[3] : 0, c->out[2]);
}

static const char *build_swiglu(struct cuda *c)
{
    const struct op_call *o = c->call;
    void *f;

    CUDA_TRY(kernel(c, "norm", "swiglu", in_of(c, 0)->dtype, DTYPE_F32, out_of(c, 0)->dtype, &f));
    struct cuda_step *s =
        cuda_launch(c, f, wide_blocks(o->m * o->n, in_of(c, 0)->dtype), ROW_THREADS, 0);
    PUT_POINTERS(s, c->in[0], c->out[0]);
    PUT_SIZES(s, o->m, o->n);
    return NULL;
}

static const char *build_softmax(struct cuda *c)
{
    const struct op_call *o = c->call;
    void *f;

    CUDA_TRY(kernel(c, "norm", "softmax", in_of(c, 0)->dtype, DTYPE_F32, out_of(c, 0)->dtype, &f));
    struct cuda_step *s = cuda_launch(c, f, o->m, o->n >= 4096 ? 1024 : ROW_THREADS, 0);
    PUT_POINTERS(s, c->in[0], c->out[0]);
    PUT_SIZES(s, o->n);
    return NULL;
}

static const char *build_quant(struct cuda *c)
{
    const struct op_call *o = c->call;
    void *f;

    CUDA_TRY(kernel(c, "norm", "quant", in_of(c, 0)->dtype, in_of(c, 1)->dtype, out_of(c, 0)->dtype,
                    &f));
    struct cuda_step *s =
        cuda_launch(c, f, wide_blocks(o->m * o->n, in_of(c, 0)->dtype), ROW_THREADS, 0);
    PUT_POINTERS(s, c->in[0], c->in[1], o->has_offset ? c->in[2] : 0, c->out[0]);
    PUT_SIZES(s, o->m * o->n, o->n, tensor_count(in_of(c, 1)));
    return NULL;
}

static const char *build_dynamic_quant(struct cuda *c)
{
    const struct op_call *o = c->call;
    void *f;

    if (out_of(c, 0)->dtype != DTYPE_I8)
        return "only INT8 results on cuda";
    CUDA_TRY(kernel(c, "norm", "dynamic_quant", in_of(c, 0)->dtype, DTYPE_F32, DTYPE_F32, &f));
    struct cuda_step *s = cuda_launch(c, f, o->m, row_threads(o->n, in_of(c, 0)->dtype), 0);
    PUT_POINTERS(s, c->in[0], c->out[0], c->out[1]);
    PUT_SIZES(s, o->n);
    return NULL;
}

static const char *build_rope(struct cuda *c)
{
    const struct tensor *x = in_of(c, 0);
    int64_t total = tensor_count(x);
    void *f;

    CUDA_TRY(kernel(c, "norm", "rope", x->dtype, DTYPE_F32, out_of(c, 0)->dtype, &f));
    struct cuda_step *s = cuda_launch(c, f, (total + 255) / 256, ROW_THREADS, 0);
    PUT_POINTERS(s, c->in[0], c->in[1], c->in[2], c->out[0]);
    PUT_SIZES(s, total, x->dim[1], x->dim[2], in_of(c, 1)->dim[2], x->dim[3]);
    return NULL;
}

static const char *build_kv_cache(struct cuda *c)
{
    const struct op_call *o = c->call;
    void *f;

    CUDA_TRY(kernel(c, "norm", "kv_cache", in_of(c, 0)->dtype, DTYPE_F32, out_of(c, 0)->dtype, &f));
    struct cuda_step *s = cuda_launch(c, f, o->m, 128, 0);
    PUT_POINTERS(s, c->in[KV_IN], c->in[KV_GAMMA], c->in[KV_COS], c->in[KV_SIN], c->in[KV_INDEX],
                 c->out[0], c->out[1], c->out[2], c->out[3]);
    PUT_SIZES(s, o->n, o->rotary);
    cuda_put_f32(s, o->eps);
    return NULL;
}

static const char *build_split_qkv(struct cuda *c)
{
    const struct op_call *o = c->call;
    void *f;

    CUDA_TRY(
        kernel(c, "norm", "split_qkv", in_of(c, 0)->dtype, DTYPE_F32, out_of(c, 0)->dtype, &f));
    struct cuda_step *s = cuda_launch(c, f, o->m, ROW_THREADS, 0);
    PUT_POINTERS(s, c->in[SPLIT_IN], c->in[SPLIT_CACHE], c->in[SPLIT_POSITIONS],
                 c->in[SPLIT_Q_WEIGHT], c->in[SPLIT_K_WEIGHT], c->out[0], c->out[1], c->out[2]);
    PUT_SIZES(s, o->n, o->k, o->top_k, o->rotary);
    cuda_put_f32(s, o->eps);
    return NULL;
}

/* ---- sorting and experts ---- */

enum { SORT_THREADS = 512 };

static int key_bits(enum dtype type)
{
    return type == DTYPE_BF16 ? 16 : 32;
}

static const char *build_sort(struct cuda *c)
{
    const struct op_call *o = c->call;
    cuda_pointer room;
    void *f;

    CUDA_TRY(cuda_memory(c, 16 * o->units * o->n, NULL, &room));
    CUDA_TRY(kernel(c, "sort", "sort", in_of(c, 0)->dtype, out_of(c, 1)->dtype, out_of(c, 0)->dtype,
                    &f));
    struct cuda_step *s = cuda_launch(c, f, o->units, SORT_THREADS, 0);
    PUT_POINTERS(s, c->in[0], c->out[0], c->out[1], room);
    PUT_SIZES(s, o->units, o->n);
    cuda_put_i32(s, key_bits(in_of(c, 0)->dtype));
    return NULL;
}

static const char *build_argmax(struct cuda *c)
{
    void *f;

    CUDA_TRY(kernel(c, "sort", "argmax", in_of(c, 0)->dtype, out_of(c, 0)->dtype, DTYPE_F32, &f));
    struct cuda_step *s =
        cuda_launch(c, f, c->call->units, c->call->n >= 4096 ? 1024 : ROW_THREADS, 0);
    PUT_POINTERS(s, c->in[0], c->out[0]);
    PUT_SIZES(s, c->call->n);
    return NULL;
}

/* The places of `n` indices below `below` in the order of their values. */
static const char *rank_tokens(struct cuda *c, cuda_pointer index, enum dtype type, int64_t n,
                               int64_t below, cuda_pointer rank)
{
    cuda_pointer room;
    int bits = 8; /* two passes of four at least: an even number of them */
    void *f;

    while (bits < 32 && below > (INT64_C(1) << bits))
        bits += 8;
    CUDA_TRY(cuda_memory(c, 16 * n, NULL, &room));
    CUDA_TRY(kernel(c, "sort", "rank_tokens", type, DTYPE_I32, DTYPE_F32, &f));
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

static const char *build_permute(struct cuda *c)
{
    const struct op_call *o = c->call;

    if (out_of(c, 1)->dtype != DTYPE_I32)
        return "sorted indices must be INT32 on cuda";
    CUDA_TRY(
        rank_tokens(c, c->in[1], in_of(c, 1)->dtype, o->m, largest(in_of(c, 1)) + 1, c->out[1]));
    return rows_by(c, c->in[0], c->out[0], c->out[1], DTYPE_I32, o->m,
                   row_bytes(c, o->n, in_of(c, 0)->dtype), true, o->top_k);
}

static const char *unpermute(struct cuda *c, enum dtype type, cuda_pointer x, cuda_pointer sorted,
                             cuda_pointer probs, enum dtype probs_type, enum dtype out,
                             cuda_pointer to, int64_t rows, int64_t n, int64_t k, double scale)
{
    char text[TYPES_TEXT];
    void *f;

    snprintf(text, sizeof(text), "-DTI=%s -DTB=int -DTO=%s -DTP=%s", cuda_type(type),
             cuda_type(out), cuda_type(probs_type));
    CUDA_TRY(cuda_function(c, "sort", text, "unpermute", &f));
    struct cuda_step *s = cuda_launch(c, f, rows, ROW_THREADS, 0);
    PUT_POINTERS(s, x, sorted, probs, to);
    PUT_SIZES(s, n, k);
    cuda_put_f32(s, scale);
    return NULL;
}

static const char *build_unpermute(struct cuda *c)
{
    const struct op_call *o = c->call;
    bool has = o->has_scale;

    if (in_of(c, 1)->dtype != DTYPE_I32)
        return "sorted indices must be INT32 on cuda";
    return unpermute(c, in_of(c, 0)->dtype, c->in[0], c->in[1], has ? c->in[2] : 0,
                     has ? in_of(c, 2)->dtype : DTYPE_F32, out_of(c, 0)->dtype, c->out[0], o->units,
                     o->n, o->top_k, 1);
}

/* ---- products ---- */

/* A product that the library takes, else one of our own. */
static const char *multiply(struct cuda *c, const struct cuda_matmul *m, enum dtype b_type)
{
    struct {
        int64_t m, n, k, a_row, a_column, b_row, b_column, o_row, a_batch, b_batch, o_batch;
    } p = {m->m,
           m->n,
           m->k,
           m->is_a_transposed ? 1 : m->lda,
           m->is_a_transposed ? m->lda : 1,
           m->is_b_transposed ? 1 : m->ldb,
           m->is_b_transposed ? m->ldb : 1,
           m->ldd,
           m->a_step,
           m->b_step,
           m->d_step};
    char text[TYPES_TEXT];
    void *f;

    if (m->type == b_type && cuda_matmul(c, m) == NULL)
        return NULL;
    snprintf(text, sizeof(text), "-DTI=%s -DTB=%s -DTO=%s -DTACC=%s", cuda_type(m->type),
             cuda_type(b_type), cuda_type(m->out), m->type == DTYPE_I8 ? "int" : "float");
    CUDA_TRY(cuda_function(c, "scale", text, "multiply", &f));
    struct cuda_step *s =
        cuda_launch(c, f, ((m->m + 31) / 32) * ((m->n + 31) / 32), ROW_THREADS, 0);
    s->grid[1] = (unsigned)m->batch;
    PUT_POINTERS(s, m->a, m->b, m->d);
    cuda_put(s, &p, sizeof(p), 8);
    return NULL;
}

static struct cuda_matmul matmul_of(const struct cuda *c)
{
    const struct op_call *o = c->call;

    return (struct cuda_matmul){.type = in_of(c, 0)->dtype,
                                .out = out_of(c, 0)->dtype,
                                .batch = o->batch,
                                .m = o->m,
                                .n = o->n,
                                .k = o->k,
                                .lda = o->is_a_transposed ? o->m : o->k,
                                .ldb = o->is_b_transposed ? o->k : o->n,
                                .ldd = o->n,
                                .a_step = o->m * o->k,
                                .b_step = o->n * o->k,
                                .d_step = o->m * o->n,
                                .is_a_transposed = o->is_a_transposed,
                                .is_b_transposed = o->is_b_transposed,
                                .a = c->in[0],
                                .b = c->in[1],
                                .d = c->out[0]};
}

static const char *build_matmul(struct cuda *c)
{
    struct cuda_matmul m = matmul_of(c);

    return multiply(c, &m, in_of(c, 1)->dtype);
}

static const char *build_transpose_matmul(struct cuda *c)
{
    struct cuda_matmul m = matmul_of(c);

    m.ldd = m.batch * m.n;
    m.d_step = m.n;
    return multiply(c, &m, in_of(c, 1)->dtype);
}

/* Matrices of whole numbers must lie along k; done once, before anything is timed. */
static const char *along_k(struct cuda *c, cuda_pointer from, int64_t batch, int64_t k, int64_t n,
                           cuda_pointer *to)
{
    size_t before = c->steps.n;

    CUDA_TRY(cuda_memory(c, batch * k * n, NULL, to));
    CUDA_TRY(transpose_tiles(c, DTYPE_I8, from, *to, batch, k, n));
    CUDA_TRY(cuda_run(c));
    CUDA_TRY(cuda_wait(c));
    c->steps.n = before;
    return NULL;
}

static const char *build_quant_matmul(struct cuda *c)
{
    const struct op_call *o = c->call;
    struct cuda_matmul m = matmul_of(c);
    cuda_pointer sums;
    void *f;

    if (m.type != DTYPE_I8 || in_of(c, 1)->dtype != DTYPE_I8)
        return "only INT8 operands on cuda";
    CUDA_TRY(cuda_memory(c, 4 * o->m * o->n, NULL, &sums));
    if (!o->is_b_transposed)
        CUDA_TRY(along_k(c, c->in[1], 1, o->k, o->n, &m.b));
    m.is_b_transposed = true;
    m.ldb = o->k;
    m.out = DTYPE_I32;
    m.d = sums;
    CUDA_TRY(multiply(c, &m, DTYPE_I8));
    CUDA_TRY(kernel(c, "scale", "quant_epilogue", DTYPE_I32, in_of(c, 2)->dtype,
                    out_of(c, 0)->dtype, &f));
    struct cuda_step *s = cuda_launch(c, f, (o->m * o->n + 255) / 256, ROW_THREADS, 0);
    PUT_POINTERS(s, sums, c->in[2], o->n_in > 3 ? c->in[3] : 0, c->out[0]);
    PUT_SIZES(s, o->m, o->n, tensor_count(in_of(c, 2)),
              o->n_in > 3 ? tensor_count(in_of(c, 3)) : 0);
    cuda_put_i32(s, o->has_bias ? 1 : o->has_pertoken ? 2 : o->has_offset ? 3 : 0);
    return NULL;
}

/* One product for each group that has tokens: rows of x by a matrix of the stack. */
static const char *group_products(struct cuda *c, const int64_t *ends, int64_t groups,
                                  struct cuda_matmul m, enum dtype b_type)
{
    cuda_pointer a = m.a, b = m.b, d = m.d;
    int64_t e = (int64_t)dtype_size(m.type), eb = (int64_t)dtype_size(b_type);

    for (int64_t g = 0, from = 0; g < groups; from = ends[g], g++) {
        if (ends[g] <= from)
            continue;
        m.batch = 1;
        m.m = ends[g] - from;
        m.a = a + (cuda_pointer)(from * m.lda * e);
        m.b = b + (cuda_pointer)(g * m.n * m.k * eb);
        m.d = d + (cuda_pointer)(from * m.ldd * (int64_t)dtype_size(m.out));
        CUDA_TRY(multiply(c, &m, b_type));
    }
    return NULL;
}

/* The products of all groups, their sums in `sums` of type `type`. */
static const char *build_groups(struct cuda *c, cuda_pointer sums, enum dtype type)
{
    const struct op_call *o = c->call;
    struct cuda_matmul m = matmul_of(c);

    m.out = type;
    m.d = sums;
    if (m.type == DTYPE_I8 && in_of(c, 1)->dtype == DTYPE_I8) {
        CUDA_TRY(along_k(c, c->in[1], o->experts, o->k, o->n, &m.b));
        m.is_b_transposed = true;
        m.ldb = o->k;
    }
    return group_products(c, o->in[GROUPED_LIST].values, o->experts, m, in_of(c, 1)->dtype);
}

static const char *build_grouped(struct cuda *c)
{
    const struct op_call *o = c->call;
    bool is_int = in_of(c, 0)->dtype == DTYPE_I8;
    enum dtype type = is_int ? DTYPE_I32 : out_of(c, 0)->dtype;
    cuda_pointer sums = c->out[0];
    void *f;

    if (!is_int && !o->has_scale && !o->has_pertoken)
        return build_groups(c, sums, type);
    type = is_int ? DTYPE_I32 : DTYPE_F32;
    CUDA_TRY(cuda_memory(c, 4 * o->m * o->n, NULL, &sums));
    CUDA_TRY(build_groups(c, sums, type));
    CUDA_TRY(kernel(c, "scale", "group_epilogue", type, DTYPE_F32, out_of(c, 0)->dtype, &f));
    struct cuda_step *s = cuda_launch(c, f, o->m, ROW_THREADS, 0);
    PUT_POINTERS(s, sums, c->in[GROUPED_LIST], o->has_scale ? c->in[GROUPED_SCALE] : 0,
                 o->has_pertoken ? c->in[GROUPED_PERTOKEN] : 0, c->out[0]);
    PUT_SIZES(s, o->experts, o->m, o->n);
    return NULL;
}

static const char *build_grouped_swiglu(struct cuda *c)
{
    const struct op_call *o = c->call;
    enum dtype type = in_of(c, 0)->dtype == DTYPE_I8 ? DTYPE_I32 : DTYPE_F32;
    cuda_pointer sums;
    void *f;

    CUDA_TRY(cuda_memory(c, 4 * o->m * o->n, NULL, &sums));
    CUDA_TRY(build_groups(c, sums, type));
    CUDA_TRY(kernel(c, "scale", "group_swiglu_quant", type, DTYPE_F32, DTYPE_F32, &f));
    struct cuda_step *s = cuda_launch(c, f, o->m, ROW_THREADS, (unsigned)(o->n / 2 * 4));
    PUT_POINTERS(s, sums, c->in[GROUPED_LIST], c->in[GROUPED_SCALE], c->in[GROUPED_PERTOKEN],
                 c->out[0], c->out[1]);
    PUT_SIZES(s, o->experts, o->n);
    return NULL;
}

/* Where the tokens of each expert end, when they are sorted by it. */
static int64_t *expert_ends(const struct op_call *o)
{
    int64_t *ends = ARENA_ARRAY(o->arena, int64_t, (size_t)o->experts + 1);

    for (int64_t i = 0; i < o->m * o->top_k; i++) {
        int64_t e = (int64_t)tensor_at(&o->in[DISPATCH_INDEX].t, i);
        if (e >= 0 && e < o->experts)
            ends[e]++;
    }
    for (int64_t e = 1; e < o->experts; e++)
        ends[e] += ends[e - 1];
    return ends;
}

/* Tokens sorted by expert, both products of each, and back. */
static const char *build_dispatch(struct cuda *c)
{
    const struct op_call *o = c->call;
    int64_t slots = o->m * o->top_k, half = o->n / 2, *ends = expert_ends(o);
    enum dtype type = in_of(c, DISPATCH_X)->dtype;
    int64_t e = (int64_t)dtype_size(type);
    cuda_pointer rank, sorted, up, inner, down;
    void *f;

    if (in_of(c, DISPATCH_W1)->dtype != type || in_of(c, DISPATCH_W2)->dtype != type)
        return "weights of another type than the tokens are not run on cuda";
    CUDA_TRY(cuda_memory(c, 4 * slots, NULL, &rank));
    CUDA_TRY(cuda_memory(c, slots * o->k * e, NULL, &sorted));
    CUDA_TRY(cuda_memory(c, slots * o->n * e, NULL, &up));
    CUDA_TRY(cuda_memory(c, slots * half * e, NULL, &inner));
    CUDA_TRY(cuda_memory(c, slots * o->k * e, NULL, &down));
    CUDA_TRY(rank_tokens(c, c->in[DISPATCH_INDEX], DTYPE_I32, slots, o->experts, rank));
    CUDA_TRY(
        rows_by(c, c->in[DISPATCH_X], sorted, rank, DTYPE_I32, slots, o->k * e, true, o->top_k));
    struct cuda_matmul m = {.type = type,
                            .out = type,
                            .n = o->n,
                            .k = o->k,
                            .lda = o->k,
                            .ldb = o->n,
                            .ldd = o->n,
                            .a = sorted,
                            .b = c->in[DISPATCH_W1],
                            .d = up};
    CUDA_TRY(group_products(c, ends, o->experts, m, type));
    CUDA_TRY(kernel(c, "norm", "swiglu", type, DTYPE_F32, type, &f));
    struct cuda_step *s = cuda_launch(c, f, wide_blocks(slots * half, type), ROW_THREADS, 0);
    PUT_POINTERS(s, up, inner);
    PUT_SIZES(s, slots, half);
    m = (struct cuda_matmul){.type = type,
                             .out = type,
                             .n = o->k,
                             .k = half,
                             .lda = half,
                             .ldb = o->k,
                             .ldd = o->k,
                             .a = inner,
                             .b = c->in[DISPATCH_W2],
                             .d = down};
    CUDA_TRY(group_products(c, ends, o->experts, m, type));
    CUDA_TRY(unpermute(c, type, down, rank, c->in[DISPATCH_PROBS], DTYPE_F32, out_of(c, 0)->dtype,
                       c->out[0], o->m, o->k, o->top_k, o->scale));
    CUDA_TRY(kernel(c, "sort", "count_tokens", DTYPE_F32, DTYPE_I32, DTYPE_F32, &f));
    s = cuda_launch(c, f, o->experts, ROW_THREADS, 0);
    PUT_POINTERS(s, c->in[DISPATCH_INDEX], c->out[1]);
    PUT_SIZES(s, slots);
    return NULL;
}

struct builder {
    const char *op;
    const char *(*build)(struct cuda *c);
};

static const struct builder builders[] = {
    {"Add", build_add},
    {"AddRmsNormBias", build_add_rms},
    {"ArgMaxV2", build_argmax},
    {"AscendQuantV2", build_quant},
    {"BatchMatMulV2", build_matmul},
    {"DispatchFFNCombine", build_dispatch},
    {"DynamicQuant", build_dynamic_quant},
    {"FusedInferAttentionScore", cuda_build_attention},
    {"GatherV2", build_gather},
    {"GroupedMatmul", build_grouped},
    {"GroupedMatmulSwigluQuant", build_grouped_swiglu},
    {"Index", build_gather},
    {"InterleaveRope", build_rope},
    {"KvRmsNormRopeCache", build_kv_cache},
    {"LightningIndexer", cuda_build_indexer},
    {"MaskedFill", build_masked_fill},
    {"MatMulCommon", build_matmul},
    {"MatMulV2", build_matmul},
    {"MatMulV3", build_matmul},
    {"MoeTokenPermute", build_permute},
    {"MoeTokenUnpermute", build_unpermute},
    {"PadV3", build_pad},
    {"QuantBatchMatmulV3", build_quant_matmul},
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
    {"TransposeBatchMatMul", build_transpose_matmul},
    {"split_qkv_rmsnorm_rope_kernel", build_split_qkv},
};

const char *cuda_build(struct cuda *c)
{
    if (c->call->units == 0)
        return "the row has no work";
    for (size_t i = 0; i < ARRAY_LEN(builders); i++)
        if (strcmp(builders[i].op, c->call->op->name) == 0)
            return builders[i].build(c);
    return "not on cuda";
}
