/*
 * Matrix products by cuBLASLt. See cuda_inside.h.
 */
#include "opdb/measure/cuda_inside.h"

/* Numbers of the library's enums. */
enum {
    LT_R_32F = 0,
    LT_R_16F = 2,
    LT_R_8I = 3,
    LT_R_32I = 10,
    LT_R_16BF = 14,
    LT_R_8F = 28,
    LT_COMPUTE_32F = 68,
    LT_COMPUTE_32I = 72,
    LT_DESC_TRANSA = 3,
    LT_DESC_TRANSB = 4,
    LT_LAYOUT_BATCH = 5,
    LT_LAYOUT_STEP = 6,
    LT_PREFERENCE_WORKSPACE = 1,
    LT_TRANSPOSED = 1,
    LT_WORKSPACE = 64 << 20,
};

/* What the library tells of a choice. */
struct lt_choice {
    uint64_t algorithm[8];
    size_t workspace;
    int state;
    float waves;
    int reserved[4];
};

static int lt_type(enum dtype type)
{
    switch (type) {
    case DTYPE_F16:
        return LT_R_16F;
    case DTYPE_BF16:
        return LT_R_16BF;
    case DTYPE_I8:
        return LT_R_8I;
    case DTYPE_I32:
        return LT_R_32I;
    case DTYPE_F8E4M3:
        return LT_R_8F;
    default:
        return LT_R_32F;
    }
}

/* A matrix of ours, in rows, is one of theirs, in columns, the other way round. */
static int layout(struct cuda_state *c, void **out, enum dtype type, int64_t rows, int64_t columns,
                  int64_t ld, int64_t batch, int64_t step)
{
    int32_t n = (int32_t)batch;
    int code = c->api.lt_layout(out, lt_type(type), (uint64_t)columns, (uint64_t)rows, ld);

    if (code == 0 && batch > 1)
        code = c->api.lt_layout_set(*out, LT_LAYOUT_BATCH, &n, sizeof(n));
    if (code == 0 && batch > 1)
        code = c->api.lt_layout_set(*out, LT_LAYOUT_STEP, &step, sizeof(step));
    return code;
}

void cuda_product_free(struct cuda_state *c, struct cuda_product *p)
{
    if (p->description != NULL)
        c->api.lt_describe_free(p->description);
    if (p->a != NULL)
        c->api.lt_layout_free(p->a);
    if (p->b != NULL)
        c->api.lt_layout_free(p->b);
    if (p->d != NULL)
        c->api.lt_layout_free(p->d);
}

/* cuBLASLt counts along columns: D = A B in rows is D' = B' A' there, so our b is its A and our
 * a its B. */
static int gemm_describe(struct cuda_state *c, const struct cuda_matmul *m, struct cuda_product *p)
{
    int32_t transposed = LT_TRANSPOSED;
    bool ta = m->is_a_transposed, tb = m->is_b_transposed;
    int code;

    p->is_integer = m->type == DTYPE_I8;
    code = c->api.lt_describe(&p->description, p->is_integer ? LT_COMPUTE_32I : LT_COMPUTE_32F,
                              p->is_integer ? LT_R_32I : LT_R_32F);
    if (code == 0 && tb)
        code = c->api.lt_describe_set(p->description, LT_DESC_TRANSA, &transposed, 4);
    if (code == 0 && ta)
        code = c->api.lt_describe_set(p->description, LT_DESC_TRANSB, &transposed, 4);
    if (code == 0)
        code = layout(c, &p->a, m->type, ta ? m->k : m->m, ta ? m->m : m->k, m->lda, m->batch,
                      m->a_step);
    if (code == 0)
        code = layout(c, &p->b, m->type, tb ? m->n : m->k, tb ? m->k : m->n, m->ldb, m->batch,
                      m->b_step);
    if (code == 0)
        code = layout(c, &p->d, m->out, m->m, m->n, m->ldd, m->batch, m->d_step);
    return code;
}

static int gemm_choose(struct cuda_state *c, struct cuda_product *p)
{
    size_t workspace = LT_WORKSPACE;
    struct lt_choice choice = {0};
    void *preference = NULL;
    int n = 0, code = c->api.lt_preference(&preference);

    if (code == 0)
        code = c->api.lt_preference_set(preference, LT_PREFERENCE_WORKSPACE, &workspace,
                                        sizeof(workspace));
    if (code == 0)
        code = c->api.lt_choose(c->lt, p->description, p->b, p->a, p->d, p->d, preference, 1,
                                &choice, &n);
    if (preference != NULL)
        c->api.lt_preference_free(preference);
    memcpy(p->algorithm, choice.algorithm, sizeof(p->algorithm));
    return code != 0 ? code : n < 1;
}

const char *cuda_matmul(struct cuda_state *c, const struct cuda_matmul *m)
{
    struct cuda_step step = {.kind = STEP_PRODUCT, .a = m->a, .b = m->b, .d = m->d};
    int code = gemm_describe(c, m, &step.product);

    if (code == 0)
        code = gemm_choose(c, &step.product);
    if (code != 0) {
        cuda_product_free(c, &step.product);
        return cuda_fail(c, "cuBLASLt has no product for these shapes and types (status %d)", code);
    }
    vec_push(&c->steps, step);
    return NULL;
}
