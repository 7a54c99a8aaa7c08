/*
 * to_tables - the CSV and JSON files beside an Ascend timeline.
 */
#ifndef STRATA_SYNTH_TO_TABLES_H
#define STRATA_SYNTH_TO_TABLES_H

#include "synth/dialect.h"
#include "synth/truth.h"

enum table {
    TABLE_KERNELS,      /* kernel_details.csv */
    TABLE_COMM,         /* communication.json, Level1 and up */
    TABLE_MATRIX,       /* communication_matrix.json, likewise */
    TABLE_STEPS,        /* step_trace_time.csv */
    TABLE_OPERATORS,    /* operator_details.csv */
    TABLE_MEMORY,       /* memory_record.csv */
    TABLE_OP_STATISTIC, /* op_statistic.csv */
    TABLE_OP_SUMMARY,   /* op_summary_<time>.csv, of msprof */
    TABLE_COUNT,
};

struct to_tables {
    struct put put[TABLE_COUNT]; /* those that are open */
    uint64_t rows[TABLE_COUNT];
    struct dialect dialect;
    const struct sim *sim;
    const struct rank *rank;
    const struct truth *truth;
    struct arena scratch;
};

/* The file's name; `level` says whether there is one at all. */
const char *to_table_name(enum table table);
bool to_table_is_wanted(enum table table, int64_t level);

void to_tables_init(struct to_tables *t, const struct sim *s, const struct truth *truth);
void to_tables_fini(struct to_tables *t);

/* Opens a table and writes its head. `path` is kept. */
enum status to_tables_open(struct to_tables *t, enum table table, const char *path, struct diag *d);
void to_tables_step(struct to_tables *t);
void to_tables_end(struct to_tables *t); /* what comes after the last step; then put_close() each */

/* profiler_info_<rank>.json and profiler_metadata.json. */
void to_tables_info(struct put *p, const struct sim *s, const struct rank *r, int64_t steps);
void to_tables_metadata(struct put *p, const struct sim *s, const struct rank *r);

#endif
