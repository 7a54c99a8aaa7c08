/*
 * db_handle - a database that is asked many times, by many threads.
 *
 * Tables are read and models fitted when an operator is first asked for, one at a time; after that
 * questions only read. Not thread-safe by itself are db_handle_open() and db_handle_close().
 */
#ifndef STRATA_FLOW_DB_HANDLE_H
#define STRATA_FLOW_DB_HANDLE_H

#include "base/diag.h"
#include "report/record.h"

struct db_handle;

struct db_question {
    struct str kernel;
    struct str shapes, dtypes;       /* "64,4096;4096,4096", "bfloat16": as options of db query */
    int64_t avg_seq, seqs, kv_heads; /* attention; 0: not given */
};

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
