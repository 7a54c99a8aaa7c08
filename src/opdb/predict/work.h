/*
 * work - one call of an operator in numbers: what it computes and moves, how its result is cut, and
 * its place among other calls of the same kind.
 *
 * Rows of a table and questions go through the same function, so that they meet. Outputs are not
 * looked at: a question seldom names them.
 */
#ifndef STRATA_OPDB_PREDICT_WORK_H
#define STRATA_OPDB_PREDICT_WORK_H

#include "opdb/predict/query_match.h"

enum work_kind {
    WORK_PLAIN,     /* rows, width, elements of the other inputs */
    WORK_MATMUL,    /* M, K, N, batch or experts */
    WORK_ATTENTION, /* sequences, queries and keys of each, heads, key/value heads, head size */
    WORK_PICK,      /* elements picked, width: of the source only that is read */
    WORK_COMM,      /* bytes, devices */
    WORK_EXPERTS,   /* tokens, hidden, width, experts of a token, of this card, of all */
};

enum { WORK_AXES = 6 };

struct call_work {
    enum work_kind kind;
    enum dtype type; /* of the first input */
    unsigned n_axes;
    double axis[WORK_AXES]; /* all above 0 */
    double flops, bytes;
    double rows, columns;   /* of the result of one unit, cut into tiles; 0: not a product */
    double units;           /* independent parts */
    double peak;            /* the longest part over the mean one */
    double depth;           /* steps of one part that follow one another: elements of a row, K */
    uint64_t regime, exact; /* equal for calls that may be compared; for the same call */
};

/* What attention runs over. */
struct work_lengths {
    double seqs, queries, keys, pairs; /* sequences; totals over them; query-key pairs */
    int64_t kv_heads;                  /* 0: by the key */
    int64_t sparse;
};

bool work_is_attention(struct str kernel);

/* `formats` may be NULL; `lengths` is needed for attention alone; `extra` is hashed into the regime
 * (EP size, a variant). False for what cannot be placed: no inputs, dimensions below 1. */
bool work_of(struct arena *arena, struct str kernel, struct query_inputs in,
             const struct str *formats, const struct work_lengths *lengths, struct str extra,
             struct call_work *out);

/* Whether the first two inputs are factors of a product that makes so many elements (0: any);
 * either may be stored transposed. Vectors fit anything. */
bool work_is_product(struct query_inputs in, double made);

/* A collective, and the regime of a tier of the network; a negative one stands for none. */
void work_of_comm(double bytes, double devices, uint64_t regime, struct call_work *out);
uint64_t work_comm_regime(int64_t tier, struct str variant);

/* Lengths of `seqs` equal sequences: `queries` and `keys` of each; `is_causal` halves the square.
 */
struct work_lengths work_lengths(double seqs, double queries, double keys, bool is_causal);

/* "2048,4096" as it stands in a table: totals (`is_sums`) or each; false when it is no such list.
 */
bool work_lengths_read(struct str queries, struct str keys, bool is_paged, bool is_causal,
                       struct work_lengths *out);

#endif
