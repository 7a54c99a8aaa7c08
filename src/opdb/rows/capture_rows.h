/*
 * capture_rows - operators of captures as rows of tables: what `strata db parse` makes of anything
 * but kernel_details exports.
 *
 * A kernel belongs to the operator that launched it: the outermost one with a table of its own
 * (aten::mm, a fused operator of a serving engine), else the innermost with recorded shapes. The
 * time of a call is that of all its kernels. Kernels of an Ascend capture have their own type and
 * shapes. Collectives become rows of hcom tables where size and group are recorded.
 */
#ifndef STRATA_OPDB_ROWS_CAPTURE_ROWS_H
#define STRATA_OPDB_ROWS_CAPTURE_ROWS_H

#include "base/diag.h"
#include "report/record.h"

struct report;

struct capture_rows_count {
    const char *dir; /* as given */
    bool is_dry_run;
    uint64_t captures, unread; /* files that could and could not be read */
    uint64_t kernels, placed;  /* all; in rows */
    uint64_t misfits; /* left out: shapes that do not fit the operator, memory that is cleared */
    uint64_t calls, rows, tables;
};

/* Reads the capture at `path`, or every capture below a folder, and merges the rows into the tables
 * of `dir`: rows of the same call get the new figures. Files that cannot be read are told and left
 * out; an error when none can. */
enum status capture_rows(const char *path, const char *dir, bool is_dry_run,
                         struct capture_rows_count *out, struct diag *d);

/* Device time of each operator of one capture, largest first; texts and list in the arena. */
struct capture_op {
    struct str op;
    uint64_t calls;
    double us;
};

enum status capture_ops(const char *path, struct arena *arena, struct capture_op **out, size_t *n,
                        struct diag *d);

/* Of a struct capture_rows_count. */
void capture_rows_describe(const void *result, struct report *r);
extern const struct schema capture_rows_schema; /* strata.db-parse-captures/1 */

#endif
