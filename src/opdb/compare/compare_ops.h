/*
 * compare_ops - predicted against measured time of every kernel, for one forward pass.
 *
 * A scenario is a predicted trace, a measured trace and, optionally, an M6 document that says how
 * many forward passes the measured trace holds. The mapping of the database (op_mapping.yaml)
 * tells which operators cost nothing and under which kernel a prediction without one is counted.
 */
#ifndef STRATA_OPDB_COMPARE_COMPARE_OPS_H
#define STRATA_OPDB_COMPARE_COMPARE_OPS_H

#include "base/formats/yaml.h"
#include "opdb/compare/compare_trace.h"
#include "report/record.h"

enum { OPS_NAMES = 3 }; /* operators that are named in a row */

struct ops_row {
    struct str kernel;
    struct str names[OPS_NAMES]; /* the first operators that use it, without torch.ops. */
    size_t n_names;
    /* Set when the rows are sorted: the names joined, and "HIT", "MISS" and so on. */
    struct str operators;
    const char *status;
    int64_t measured_count;
    double predicted_us, measured_us; /* of one forward pass */
    uint64_t predicted_n, hits, misses;
    double measured_n; /* a pass may hold a part of a kernel when passes differ */
};

struct ops_rows {
    struct arena arena;
    struct intern kernels; /* the row of id k is the k-th until they are sorted */
    VEC_OF(struct ops_row) at;
    double predicted_us, measured_us; /* sums of the times as written; set when they are sorted */
};

void ops_rows_init(struct ops_rows *rows);
void ops_rows_free(struct ops_rows *rows);

/* The forward passes of an M6 document: 1 when it does not say. */
enum status ops_passes(const char *path, double *passes, struct diag *d);

/* The measured side first. Texts are copied. */
void ops_rows_measure(struct ops_rows *rows, const struct measured *m, double passes);

/* `mapping` is the root of op_mapping.yaml or NULL; entries are looked up in operator_mappings,
 * then on the top level. Fails, naming the processes, when the trace does not say which of several
 * is the prediction. */
enum status ops_rows_predict(struct ops_rows *rows, const struct predicted *p,
                             const struct tree *mapping, struct diag *d);

/* By the larger of the two times as written (one decimal), falling; the kernel's name decides
 * between equals. */
void ops_rows_sort(struct ops_rows *rows);

/* Deviation in percent; 0 when nothing was measured. */
double ops_error(double predicted, double measured);

/* One row of the documents. */
extern const struct record ops_row_record;

/* The first 15 rows as a table for people, with the totals of all. */
bool ops_rows_print(const struct ops_rows *rows, const char *scenario, struct sink sink);

#endif
