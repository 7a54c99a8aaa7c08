/*
 * Products on a GPU: plain, quantised, by groups, and the feed-forward of experts. See
 * cuda_inside.h.
 */
#include <stdio.h>

#include "opdb/measure/cuda_inside.h"
#include "opdb/measure/op_inside.h"

/* A product that the library takes, else one of our own. */
static const char *multiply(struct cuda_state *c, const struct cuda_matmul *m, enum dtype b_type)
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
    char text[CUDA_TYPES_TEXT];
    void *f;

    if (m->type == b_type && cuda_matmul(c, m) == NULL)
        return NULL;
    snprintf(text, sizeof(text), "-DTI=%s -DTB=%s -DTO=%s -DTACC=%s", cuda_type(m->type),
             cuda_type(b_type), cuda_type(m->out), m->type == DTYPE_I8 ? "int" : "float");
    CUDA_TRY(cuda_function(c, "scale", text, "multiply", &f));
    struct cuda_step *s =
        cuda_launch(c, f, ((m->m + 31) / 32) * ((m->n + 31) / 32), CUDA_ROW_THREADS, 0);
    s->grid[1] = (unsigned)m->batch;
    PUT_POINTERS(s, m->a, m->b, m->d);
    cuda_put(s, &p, sizeof(p), 8);
    return NULL;
}

static struct cuda_matmul matmul_of(const struct cuda_state *c)
{
    const struct op_call *o = c->call;

    return (struct cuda_matmul){.type = cuda_in(c, 0)->dtype,
                                .out = cuda_out(c, 0)->dtype,
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

const char *cuda_build_matmul(struct cuda_state *c)
{
    struct cuda_matmul m = matmul_of(c);

    return multiply(c, &m, cuda_in(c, 1)->dtype);
}

const char *cuda_build_transpose_matmul(struct cuda_state *c)
{
    struct cuda_matmul m = matmul_of(c);

    m.ldd = m.batch * m.n;
    m.d_step = m.n;
    return multiply(c, &m, cuda_in(c, 1)->dtype);
}

/* Matrices of whole numbers must lie along k; done once, before anything is timed. */
static const char *along_k(struct cuda_state *c, cuda_pointer from, int64_t batch, int64_t k,
                           int64_t n, cuda_pointer *to)
{
    size_t before = c->steps.n;

    CUDA_TRY(cuda_memory(c, batch * k * n, NULL, to));
    CUDA_TRY(cuda_transpose_tiles(c, DTYPE_I8, from, *to, batch, k, n));
    CUDA_TRY(cuda_run(c));
    CUDA_TRY(cuda_wait(c));
    c->steps.n = before;
    return NULL;
}

/* INT8 products of cuBLASLt want both operands along k: another second operand is turned first. */
const char *cuda_build_quant_matmul(struct cuda_state *c)
{
    const struct op_call *o = c->call;
    struct cuda_matmul m = matmul_of(c);
    cuda_pointer sums;
    void *f;

    if (m.type != DTYPE_I8 || cuda_in(c, 1)->dtype != DTYPE_I8)
        return "only INT8 operands on cuda";
    CUDA_TRY(cuda_memory(c, 4 * o->m * o->n, NULL, &sums));
    if (!o->is_b_transposed)
        CUDA_TRY(along_k(c, c->in[1], 1, o->k, o->n, &m.b));
    m.is_b_transposed = true;
    m.ldb = o->k;
    m.out = DTYPE_I32;
    m.d = sums;
    CUDA_TRY(multiply(c, &m, DTYPE_I8));
    CUDA_TRY(cuda_kernel(c, "scale", "quant_epilogue", DTYPE_I32, cuda_in(c, 2)->dtype,
                         cuda_out(c, 0)->dtype, &f));
    struct cuda_step *s = cuda_launch(c, f, (o->m * o->n + 255) / 256, CUDA_ROW_THREADS, 0);
    PUT_POINTERS(s, sums, c->in[2], o->n_in > 3 ? c->in[3] : 0, c->out[0]);
    PUT_SIZES(s, o->m, o->n, tensor_count(cuda_in(c, 2)),
              o->n_in > 3 ? tensor_count(cuda_in(c, 3)) : 0);
    cuda_put_i32(s, o->has_bias ? 1 : o->has_pertoken ? 2 : o->has_offset ? 3 : 0);
    return NULL;
}

/* One product for each group that has tokens: rows of x by a matrix of the stack. */
static const char *group_products(struct cuda_state *c, const int64_t *ends, int64_t groups,
                                  struct cuda_matmul m, enum dtype b_type)
{
    cuda_pointer a = m.a, b = m.b, d = m.d;
    int64_t e = (int64_t)tensor_element(m.type), eb = (int64_t)tensor_element(b_type);

    for (int64_t g = 0, from = 0; g < groups; from = ends[g], g++) {
        if (ends[g] <= from)
            continue;
        m.batch = 1;
        m.m = ends[g] - from;
        m.a = a + (cuda_pointer)(from * m.lda * e);
        m.b = b + (cuda_pointer)(g * m.n * m.k * eb);
        m.d = d + (cuda_pointer)(from * m.ldd * (int64_t)tensor_element(m.out));
        CUDA_TRY(multiply(c, &m, b_type));
    }
    return NULL;
}

/* The products of all groups, their sums in `sums` of type `type`. */
static const char *build_groups(struct cuda_state *c, cuda_pointer sums, enum dtype type)
{
    const struct op_call *o = c->call;
    struct cuda_matmul m = matmul_of(c);

    m.out = type;
    m.d = sums;
    if (m.type == DTYPE_I8 && cuda_in(c, 1)->dtype == DTYPE_I8) {
        CUDA_TRY(along_k(c, c->in[1], o->experts, o->k, o->n, &m.b));
        m.is_b_transposed = true;
        m.ldb = o->k;
    }
    return group_products(c, o->in[GROUPED_LIST].values, o->experts, m, cuda_in(c, 1)->dtype);
}

const char *cuda_build_grouped(struct cuda_state *c)
{
    const struct op_call *o = c->call;
    bool is_int = cuda_in(c, 0)->dtype == DTYPE_I8;
    enum dtype type = is_int ? DTYPE_I32 : cuda_out(c, 0)->dtype;
    cuda_pointer sums = c->out[0];
    void *f;

    if (!is_int && !o->has_scale && !o->has_pertoken)
        return build_groups(c, sums, type);
    type = is_int ? DTYPE_I32 : DTYPE_F32;
    CUDA_TRY(cuda_memory(c, 4 * o->m * o->n, NULL, &sums));
    CUDA_TRY(build_groups(c, sums, type));
    CUDA_TRY(cuda_kernel(c, "scale", "group_epilogue", type, DTYPE_F32, cuda_out(c, 0)->dtype, &f));
    struct cuda_step *s = cuda_launch(c, f, o->m, CUDA_ROW_THREADS, 0);
    PUT_POINTERS(s, sums, c->in[GROUPED_LIST], o->has_scale ? c->in[GROUPED_SCALE] : 0,
                 o->has_pertoken ? c->in[GROUPED_PERTOKEN] : 0, c->out[0]);
    PUT_SIZES(s, o->experts, o->m, o->n);
    return NULL;
}

const char *cuda_build_grouped_swiglu(struct cuda_state *c)
{
    const struct op_call *o = c->call;
    enum dtype type = cuda_in(c, 0)->dtype == DTYPE_I8 ? DTYPE_I32 : DTYPE_F32;
    cuda_pointer sums;
    void *f;

    CUDA_TRY(cuda_memory(c, 4 * o->m * o->n, NULL, &sums));
    CUDA_TRY(build_groups(c, sums, type));
    CUDA_TRY(cuda_kernel(c, "scale", "group_swiglu_quant", type, DTYPE_F32, DTYPE_F32, &f));
    struct cuda_step *s = cuda_launch(c, f, o->m, CUDA_ROW_THREADS, (unsigned)(o->n / 2 * 4));
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

/* Tokens on their way through the experts, in their order. */
struct dispatched {
    cuda_pointer rank, sorted, up, inner, down;
    enum dtype type;
    int64_t slots;
};

static const char *dispatch_memory(struct cuda_state *c, struct dispatched *t)
{
    const struct op_call *o = c->call;
    int64_t e = (int64_t)tensor_element(t->type);

    CUDA_TRY(cuda_memory(c, 4 * t->slots, NULL, &t->rank));
    CUDA_TRY(cuda_memory(c, t->slots * o->k * e, NULL, &t->sorted));
    CUDA_TRY(cuda_memory(c, t->slots * o->n * e, NULL, &t->up));
    CUDA_TRY(cuda_memory(c, t->slots * (o->n / 2) * e, NULL, &t->inner));
    return cuda_memory(c, t->slots * o->k * e, NULL, &t->down);
}

/* Both products of each expert with the activation between them. */
static const char *dispatch_products(struct cuda_state *c, const struct dispatched *t)
{
    const struct op_call *o = c->call;
    int64_t half = o->n / 2, *ends = expert_ends(o);
    struct cuda_matmul m = {.type = t->type,
                            .out = t->type,
                            .n = o->n,
                            .k = o->k,
                            .lda = o->k,
                            .ldb = o->n,
                            .ldd = o->n,
                            .a = t->sorted,
                            .b = c->in[DISPATCH_W1],
                            .d = t->up};
    void *f;

    CUDA_TRY(group_products(c, ends, o->experts, m, t->type));
    CUDA_TRY(cuda_kernel(c, "norm", "swiglu", t->type, DTYPE_F32, t->type, &f));
    struct cuda_step *s =
        cuda_launch(c, f, cuda_wide_blocks(t->slots * half, t->type), CUDA_ROW_THREADS, 0);
    PUT_POINTERS(s, t->up, t->inner);
    PUT_SIZES(s, t->slots, half);
    m = (struct cuda_matmul){.type = t->type,
                             .out = t->type,
                             .n = o->k,
                             .k = half,
                             .lda = half,
                             .ldb = o->k,
                             .ldd = o->k,
                             .a = t->inner,
                             .b = c->in[DISPATCH_W2],
                             .d = t->down};
    return group_products(c, ends, o->experts, m, t->type);
}

/* Tokens sorted by expert, through them, and back. */
const char *cuda_build_dispatch(struct cuda_state *c)
{
    const struct op_call *o = c->call;
    struct dispatched t = {.type = cuda_in(c, DISPATCH_X)->dtype, .slots = o->m * o->top_k};
    void *f;

    if (cuda_in(c, DISPATCH_W1)->dtype != t.type || cuda_in(c, DISPATCH_W2)->dtype != t.type)
        return "weights of another type than the tokens are not run on cuda";
    CUDA_TRY(dispatch_memory(c, &t));
    CUDA_TRY(cuda_rank_tokens(c, c->in[DISPATCH_INDEX], DTYPE_I32, t.slots, o->experts, t.rank));
    CUDA_TRY(cuda_rows_by(c, c->in[DISPATCH_X], t.sorted, t.rank, DTYPE_I32, t.slots,
                          o->k * (int64_t)tensor_element(t.type), true, o->top_k));
    CUDA_TRY(dispatch_products(c, &t));
    struct cuda_unpermute u = {.type = t.type,
                               .probs_type = DTYPE_F32,
                               .out = cuda_out(c, 0)->dtype,
                               .x = t.down,
                               .sorted = t.rank,
                               .probs = c->in[DISPATCH_PROBS],
                               .to = c->out[0],
                               .rows = o->m,
                               .n = o->k,
                               .k = o->top_k,
                               .scale = o->scale};
    CUDA_TRY(cuda_unpermute(c, &u));
    CUDA_TRY(cuda_kernel(c, "sort", "count_tokens", DTYPE_F32, DTYPE_I32, DTYPE_F32, &f));
    struct cuda_step *s = cuda_launch(c, f, o->experts, CUDA_ROW_THREADS, 0);
    PUT_POINTERS(s, c->in[DISPATCH_INDEX], c->out[1]);
    PUT_SIZES(s, t.slots);
    return NULL;
}
