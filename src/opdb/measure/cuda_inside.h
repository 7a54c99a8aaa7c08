/*
 * cuda_inside - the CUDA back end from inside: functions of the driver, NVRTC and cuBLASLt that are
 * found at run time, and the steps that a call is made of.
 */
#ifndef STRATA_OPDB_MEASURE_CUDA_INSIDE_H
#define STRATA_OPDB_MEASURE_CUDA_INSIDE_H

#include "base/tables/vec.h"
#include "opdb/measure/backend.h"

/* Handles of the libraries; numbers of their enums are beside their use. */
typedef uint64_t cuda_pointer;

struct cuda_functions {
#define CUDA_CALL(name, symbol, ...) int (*name)(__VA_ARGS__);
#include "opdb/measure/cuda_calls.def"
#undef CUDA_CALL
};

/* Finds all functions; NULL, or which library or function is missing. */
const char *cuda_api_open(struct cuda_functions *api, const struct backend_libraries *libraries);

enum { CUDA_PARAMETERS = 1024 };

enum cuda_step_kind { STEP_KERNEL, STEP_PRODUCT, STEP_COPY };

struct cuda_product {
    void *description, *a, *b, *d; /* of the operation and the three operands */
    uint64_t algorithm[8];
    bool is_integer;
};

struct cuda_step {
    enum cuda_step_kind kind;
    void *function;
    unsigned grid[3], block, shared;
    size_t n;    /* bytes of the parameters, or of a copy */
    size_t maps; /* of tiles, which follow a single structure */
    _Alignas(16) char parameters[CUDA_PARAMETERS];
    struct cuda_product product;
    cuda_pointer a, b, d;
};

struct cuda_module {
    uint64_t key;
    void *module;
};

struct cuda_state {
    struct cuda_functions api;
    void *context, *stream, *begin, *end, *lt;
    cuda_pointer workspace;
    int cc, processors;
    char name[96], cache[512], problem[256];
    char bus[32]; /* its place on the PCI bus; empty: the driver does not tell */
    VEC_OF(struct cuda_module) modules;

    /* Of the call that is loaded. */
    const struct op_call *call;
    cuda_pointer in[OP_ARGS], out[OP_OUTPUTS];
    VEC_OF(cuda_pointer) blocks;
    VEC_OF(struct cuda_step) steps;
    void *graph;   /* of all steps, when they are several; NULL: none */
    size_t copies; /* runs of the call in the graph; 0: not known how long it takes */
};

/* Remembers a sentence; its text. */
const char *cuda_fail(struct cuda_state *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Memory that lives until the call is unloaded; contents from the host unless `from` is NULL. */
const char *cuda_memory(struct cuda_state *c, int64_t bytes, const void *from, cuda_pointer *out);

/* A kernel of data/cuda/FILE.cu, compiled with these definitions ("-DTI=bf16 -DTO=f16"). */
const char *cuda_function(struct cuda_state *c, const char *file, const char *defines,
                          const char *name, void **out);
const char *cuda_type(enum dtype type); /* the name of a type in the kernels */

/* The next step: a kernel, whose parameters follow by cuda_put_*(). */
struct cuda_step *cuda_launch(struct cuda_state *c, void *function, int64_t grid, unsigned block,
                              unsigned shared);
void cuda_put(struct cuda_step *s, const void *value, size_t size, size_t align);
/* Tiles, after the only other parameter: the driver knows how they are aligned. */
struct cuda_tile_map {
    _Alignas(64) uint64_t word[16];
};
void cuda_put_maps(struct cuda_step *s, const struct cuda_tile_map *maps, size_t n);
void cuda_put_pointer(struct cuda_step *s, cuda_pointer p);
void cuda_put_i64(struct cuda_step *s, int64_t v);
void cuda_put_i32(struct cuda_step *s, int32_t v);
void cuda_put_f32(struct cuda_step *s, double v);

/* d (m,n) = a * b for each of a batch: rows of the operands are `lda`, `ldb` and `ldd` elements
 * apart. An operand that is transposed is stored (k,m) or (n,k). */
struct cuda_matmul {
    enum dtype type, out; /* int8 gives int32 */
    int64_t batch, m, n, k, lda, ldb, ldd, a_step, b_step, d_step;
    bool is_a_transposed, is_b_transposed;
    cuda_pointer a, b, d;
};
const char *cuda_matmul(struct cuda_state *c, const struct cuda_matmul *m);
void cuda_product_free(struct cuda_state *c, struct cuda_product *p);

/* Makes the steps of a call. */
const char *cuda_build(struct cuda_state *c);
const char *cuda_build_attention(struct cuda_state *c);
const char *cuda_build_indexer(struct cuda_state *c);

/* All steps once, in order. */
const char *cuda_run(struct cuda_state *c);
const char *cuda_wait(struct cuda_state *c);

/* For the builders of cuda_ops.c and cuda_products.c. */
#define CUDA_TRY(expression)                                                                       \
    do {                                                                                           \
        const char *try_problem_ = (expression);                                                   \
        if (try_problem_ != NULL)                                                                  \
            return try_problem_;                                                                   \
    } while (0)

enum { CUDA_ROW_THREADS = 256, CUDA_TYPES_TEXT = 128 };

/* A kernel of a file, by the types of two operands and the result. */
const char *cuda_kernel(struct cuda_state *c, const char *file, const char *name, enum dtype a,
                        enum dtype b, enum dtype out, void **function);

/* Blocks of threads that take sixteen bytes each. */
int64_t cuda_wide_blocks(int64_t n, enum dtype type);

static inline const struct tensor *cuda_in(const struct cuda_state *c, size_t i)
{
    return &c->call->in[i].t;
}

static inline const struct tensor *cuda_out(const struct cuda_state *c, size_t i)
{
    return &c->call->out[i].t;
}

void cuda_put_pointers(struct cuda_step *s, size_t n, const cuda_pointer *p);
#define PUT_POINTERS(s, ...)                                                                       \
    cuda_put_pointers(s, sizeof((cuda_pointer[]){__VA_ARGS__}) / sizeof(cuda_pointer),             \
                      (const cuda_pointer[]){__VA_ARGS__})
void cuda_put_sizes(struct cuda_step *s, size_t n, const int64_t *v);
#define PUT_SIZES(s, ...)                                                                          \
    cuda_put_sizes(s, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t),                          \
                   (const int64_t[]){__VA_ARGS__})

/* A matrix of `rows` and `columns` the other way round, `batch` times. */
const char *cuda_transpose_tiles(struct cuda_state *c, enum dtype type, cuda_pointer from,
                                 cuda_pointer to, int64_t batch, int64_t rows, int64_t columns);

/* Rows from (or to) the places of a list; `share` rows of the list come from one row. */
const char *cuda_rows_by(struct cuda_state *c, cuda_pointer from, cuda_pointer to,
                         cuda_pointer list, enum dtype list_type, int64_t n, int64_t bytes,
                         bool is_scatter, int64_t share);

/* The places of `n` indices below `below` in the order of their values. */
const char *cuda_rank_tokens(struct cuda_state *c, cuda_pointer index, enum dtype type, int64_t n,
                             int64_t below, cuda_pointer rank);

/* Rows of `x` gathered, weighted and summed. */
struct cuda_unpermute {
    enum dtype type, probs_type, out;
    cuda_pointer x, sorted, probs, to;
    int64_t rows, n, k;
    double scale;
};
const char *cuda_unpermute(struct cuda_state *c, const struct cuda_unpermute *u);

/* Products of cuda_products.c. */
const char *cuda_build_matmul(struct cuda_state *c);
const char *cuda_build_transpose_matmul(struct cuda_state *c);
const char *cuda_build_quant_matmul(struct cuda_state *c);
const char *cuda_build_grouped(struct cuda_state *c);
const char *cuda_build_grouped_swiglu(struct cuda_state *c);
const char *cuda_build_dispatch(struct cuda_state *c);

#endif
