/*
 * to_db - ascend_pytorch_profiler_<rank>.db: the run as the profiler's SQLite export.
 *
 * Holds the same kernels, host events, steps and connections as the text files. Written in one
 * transaction without a journal: the file is worth nothing before it is complete.
 */
#ifndef STRATA_SYNTH_TO_DB_H
#define STRATA_SYNTH_TO_DB_H

#include <sqlite3.h>

#include "base/hash.h"
#include "base/intern.h"
#include "synth/dialect.h"
#include "synth/truth.h"

enum db_statement {
    DB_TASK,
    DB_COMPUTE,
    DB_COMM_OP,
    DB_COMM_TASK,
    DB_CANN,
    DB_PYTORCH,
    DB_CONNECTION,
    DB_CALLCHAIN,
    DB_STEP,
    DB_COPY,
    DB_OVERLAP,
    DB_GC,
    DB_STRING,
    DB_STATEMENTS
};

struct to_db {
    sqlite3 *sqlite; /* NULL: closed */
    sqlite3_stmt *statements[DB_STATEMENTS];
    const char *path;
    struct dialect dialect;
    const struct sim *sim;
    const struct rank *rank;
    struct diag *diag;
    enum status status;              /* the first failure */
    struct intern device, framework; /* names; the framework's ids begin at 1 << 28 */
    struct hash chains;              /* call chain by operator and module */
    int64_t chains_n, tasks, comm_ops, connections, rows;
    struct arena scratch;
};

/* `path` is kept. An existing file is replaced. */
enum status to_db_open(struct to_db *b, const char *path, const struct sim *s, const struct rank *r,
                       struct diag *d);
void to_db_step(struct to_db *b, const struct step_sets *sets);
uint64_t to_db_size(const struct to_db *b); /* bytes so far */
enum status to_db_close(struct to_db *b);
void to_db_abort(struct to_db *b); /* removes the file; harmless when closed */

#endif
