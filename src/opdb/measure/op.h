/*
 * op - the operators that can be replayed: how a row of a table becomes a call, what the call
 * costs, and what it computes.
 *
 *     TRY_TEXT(op_prepare(&call, op, &row, arena));   why not, or NULL
 *     op_make(&call, seed);                           operands with contents, outputs
 *     op_reference(&call, pool);                      all outputs
 *     op_call_free(&call);
 *
 * An operator is one entry of the table in op.c. Its outputs fall into units (rows of a matrix, one
 * head of one token), and the reference computes any one of them alone: a result on a device is
 * checked on a sample of units, and threads share the rest.
 */
#ifndef STRATA_OPDB_MEASURE_OP_H
#define STRATA_OPDB_MEASURE_OP_H

#include "base/run/pool.h"
#include "opdb/measure/tensor.h"

enum { OP_SLOTS = 32, OP_ARGS = 16, OP_OUTPUTS = 4 };

/* A slot of a row; rank 0: not there. */
struct op_slot {
    struct tensor t;
    bool is_given;
    bool is_nz;      /* FRACTAL_NZ: the shape is that of the stored form */
    bool is_unknown; /* its type is none of ours */
};

struct op_list {
    const int64_t *at; /* NULL: not known */
    size_t n;
};

/* What the runtime columns say; -1 and NULL: nothing. */
struct op_runtime {
    int64_t heads, kv_heads, sparse_mode, block_size, ep_size;
    struct str layout;
    struct op_list query, kv; /* lengths, as they stand in the table */
    struct op_list valid_blocks;
};

struct op_row {
    struct op_slot in[OP_SLOTS], out[OP_OUTPUTS];
    size_t n_in, n_out; /* slots that the cells have, empty ones included */
    struct op_runtime runtime;
    bool is_random_routing; /* DispatchFFNCombine: --no-balanced */
};

struct op_cost {
    int64_t cube, vector;  /* operations of matrix and vector units */
    int64_t read, written; /* compulsory bytes */
};

enum op_fill {
    FILL_RANDOM, /* see tensor_fill() */
    FILL_ONE,
    FILL_ZERO,
    FILL_VALUES,   /* `values`, one for each element */
    FILL_COUNT,    /* 0, 1, 2, ... modulo `below` */
    FILL_DISTINCT, /* different numbers below `below` */
};

struct op_arg {
    struct tensor t;
    enum op_fill fill;
    int64_t below;
    const int64_t *values;
    size_t alias; /* 1 + the input whose memory this is; 0: its own */
    bool is_nz;   /* stored in FRACTAL_NZ; `t` is the matrix */
};

/* Where the rows of an attention operand are: element `unit` times the row a sequence begins at
 * (or the block of a paged cache), `pos` for each position and `head` for each head. */
struct op_view {
    int64_t unit, pos, head;
};

struct op_attention {
    int64_t seqs, heads, kv_heads;
    int64_t dim, rope, value; /* of a head: scores without and with rotation, values */
    int64_t block, blocks,
        width; /* of a paged cache: positions, blocks of a cache, of a sequence */
    struct op_view q, q_rope, k, k_rope, v, out, lse;
    const int32_t *q_row, *q_len, *kv_row, *kv_len; /* by sequence */
    const int32_t *q_first;                         /* tokens of the sequences before */
    int64_t top_k;                                  /* places of a sparse list; 0: none */
    bool is_causal;
    bool has_lse, is_merging; /* logarithms of sums are an output; results join earlier ones */
};

struct op_rule;

struct op_call {
    const struct op_rule *op;
    struct arena *arena;
    struct op_arg in[OP_ARGS], out[OP_OUTPUTS];
    size_t n_in, n_out;
    int64_t units;
    int64_t depth; /* elements that a result is summed up from; 1: none */
    struct op_cost cost;
    bool is_logical;  /* FRACTAL_NZ run as the matrix it stands for */
    bool is_not_here; /* refused for what strata or this machine lacks: the row may be right */

    /* What the operators need to know; each uses some of it. */
    int64_t batch, m, n, k, experts, top_k, rotary;
    int64_t head; /* size of an attention head */
    int64_t axis[2];
    bool is_a_transposed, is_b_transposed, has_scale, has_bias, has_pertoken, has_offset;
    double eps, scale;
    struct op_attention attention;

    void *memory; /* of op_make() */
    int64_t memory_bytes;
};

/* Elements of an output that a unit wrote. */
struct op_span {
    size_t out;
    int64_t from, n;
};
enum { OP_SPANS = 8 };

struct op_rule {
    const char *name;
    uint8_t min_in, max_in; /* slots, or inputs that are there; max 0: any */
    bool has_slots;         /* empty slots keep their place */
    /* Fills the call; NULL, or why the row cannot run, in the arena. Bytes of the cost are those of
     * all operands before it is called. */
    const char *(*prepare)(struct op_call *c, const struct op_row *row);
    /* Computes one unit; how many spans it wrote. */
    size_t (*unit)(const struct op_call *c, int64_t unit, struct op_span *spans,
                   struct arena *scratch);
    /* For outputs that are places in an operand: what element `i` of a unit stands for. Two places
     * of one worth are as good. NULL: they are compared as numbers. */
    double (*worth)(const struct op_call *c, int64_t unit, int64_t place, struct arena *scratch);
};

enum { OPS = 36 };
extern const struct op_rule op_table[OPS]; /* by name */

const struct op_rule *op_find(struct str name);

/* Fills `call`, whose lists live in the arena. Returns NULL or why the row cannot run. */
const char *op_prepare(struct op_call *call, const struct op_rule *op, const struct op_row *row,
                       struct arena *arena);

/* Bytes of all operands and outputs. */
int64_t op_bytes(const struct op_call *call);

/* Gives every operand its memory and contents, every output zeros. False when there is not so much
 * memory. */
bool op_make(struct op_call *call, uint64_t seed, struct pool *pool);
void op_call_free(struct op_call *call);

/* All units of the outputs. */
void op_reference(const struct op_call *call, struct pool *pool);

/* How far the outputs of `got` are from the reference, over at most `most` units spread evenly. */
struct op_check {
    int64_t units; /* compared */
    double worst;  /* largest error, as a share of what is allowed */
    bool is_equal; /* worst <= 1 */
    int64_t unit;  /* of the worst */
    double got, expected;
};
struct op_check op_check(const struct op_call *call, const struct op_call *got, int64_t most);

/*
 * For the operators.
 */

/* The next input, from a slot of the row; its contents random. */
struct op_arg *op_in(struct op_call *c, const struct op_slot *slot);

/* An operand that the row does not have. */
struct op_arg *op_made(struct op_call *c, enum dtype type, size_t rank, const int64_t *dim);
#define OP_MADE(c, type, ...)                                                                      \
    op_made(c, type, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t),                     \
            (const int64_t[]){__VA_ARGS__})

/* The next output with this shape; its type is that of the row's output in this place, else
 * `otherwise`. */
struct op_arg *op_out(struct op_call *c, const struct op_row *row, enum dtype otherwise,
                      size_t rank, const int64_t *dim);
#define OP_OUT(c, row, otherwise, ...)                                                             \
    op_out(c, row, otherwise, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t),            \
           (const int64_t[]){__VA_ARGS__})
struct op_arg *op_out_like(struct op_call *c, const struct op_row *row, const struct tensor *t);

/* "MatMulV2 expects 2-D inputs, not 3-D": the text of a refusal. */
const char *op_refuse(struct op_call *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same for a row that may be right: strata or one machine alone cannot run it. */
const char *op_refuse_here(struct op_call *c, const char *text);

/* A list of `parts` numbers as even as can be, which sum up to `total`, the first ones larger by
 * one; NULL when one would be below `least`. Cumulative: each is the sum so far. */
int64_t *op_split(struct arena *arena, int64_t total, int64_t parts, int64_t least);
int64_t *op_split_sums(struct arena *arena, int64_t total, int64_t parts, int64_t least);

/* The span of a unit in one of its outputs, after those in the outputs before it: how many there
 * are then. And what it holds is stored. */
size_t op_wrote(struct op_span *spans, size_t out, int64_t from, int64_t count);
size_t op_store(const struct op_call *c, struct op_span *spans, size_t out, int64_t from,
                int64_t count, const double *x);

/* A row of doubles. */
double *op_load(const struct tensor *t, int64_t from, int64_t n, struct arena *scratch);

#endif
