/*
 * db_handle - a database that is asked many times, by many threads.
 *
 * Tables are read when an operator is first asked for, and a model is fitted when one of its types
 * is, one at a time; after that questions only read. Not thread-safe by itself are db_handle_open()
 * and db_handle_close().
 */
#ifndef STRATA_OPDB_ROWS_DB_HANDLE_H
#define STRATA_OPDB_ROWS_DB_HANDLE_H

#include "base/diag.h"
#include "report/record.h"

struct db_handle;

/* As the options of db query; one of the first three names is given, the others are empty. */
struct db_question {
    struct str kernel, op_name, comm;
    struct str shapes, dtypes;                    /* "64,4096;4096,4096", "bfloat16" */
    int64_t avg_seq, seqs, kv_heads, sparse_mode; /* attention; 0: not given, sparse mode: -1 */
    int64_t bytes, num_devices, tier;             /* collectives; tier -1: any */
};
#define DB_QUESTION_INIT                                                                           \
    {                                                                                              \
        .sparse_mode = -1, .bytes = -1, .tier = -1                                                 \
    }

struct db_reply {
    double us, low_us, high_us; /* nan: a miss */
    const char *source;         /* NULL: a miss */
    const char *miss;           /* NULL: an answer */
};

enum status db_handle_open(struct db_handle **out, const char *dir, struct diag *d);
void db_handle_close(struct db_handle *h);

/* ST_OK also for a miss. Memory is taken for the first question on an operator alone. */
enum status db_handle_ask(struct db_handle *h, const struct db_question *q, struct db_reply *out,
                          struct diag *d);

/* One object of JSON: {"kernel": ..., "shapes": ..., "dtypes": ...}; false for anything else. Texts
 * are views of `line`. */
bool db_question_read(struct str line, struct db_question *out);

extern const struct record db_reply_record;

#endif
