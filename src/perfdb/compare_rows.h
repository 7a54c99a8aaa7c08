/*
 * compare_rows - the measured side of a comparison: the kernels of one forward pass.
 *
 * A CSV with the columns of kernel_details.csv, of which Type, Start Time(us), Duration(us) and
 * Input Shapes count. Two habits of the profiler matter to every sum over it:
 *
 * - Each collective (`hcom_*`) is listed twice, once as itself and once as the hardware stream's
 *   row, with nearly the same start and duration. Rows of one type whose starts agree to the
 *   microsecond are one collective, and the longest of them is its duration.
 * - Rows of type `*AicpuKernel` are the host's helpers of collectives and are not added.
 */
#ifndef STRATA_PERFDB_COMPARE_ROWS_H
#define STRATA_PERFDB_COMPARE_ROWS_H

#include "base/intern.h"
#include "perfdb/table.h"

struct measured {
    struct table table;
    int type, start, duration, shapes; /* columns; -1: the file has none */
};

/* One row; texts are trimmed. */
struct measured_row {
    struct str type, start, duration, shapes;
    uint64_t line;
};

/* Refused with a place: an empty file, a Git LFS pointer, no column Type or Duration(us). After a
 * failure it may be freed. */
enum status measured_read(struct measured *m, const char *path, struct diag *d);
enum status measured_parse(struct measured *m, const char *path, struct str text, struct diag *d);
void measured_free(struct measured *m);

struct measured_row measured_row(const struct measured *m, size_t i);

bool measured_is_collective(struct str type);
bool measured_is_helper(struct str type);

/* A time cell: 0 when it is empty, false when it is no finite number. */
bool measured_time(struct str text, double *us);

/* Collectives that were listed several times, in order of first appearance. */
struct twin {
    struct str type, key;
    double us; /* of the longest */
};

struct twins {
    struct intern names;
    VEC_OF(struct twin) at;
};

void twins_init(struct twins *t);
void twins_free(struct twins *t);

/* `type` and `key` must outlive the twins. */
void twins_put(struct twins *t, double start, struct str type, struct str key, double us);

#endif
