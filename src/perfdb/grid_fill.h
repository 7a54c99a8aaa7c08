/*
 * grid_fill - generated rows for one operator table.
 *
 * The first row of the table is the template: new rows copy its identity, get generated shapes and
 * zeros in place of measurements. Rows that are in the table already, that occur twice or that
 * take more device memory than allowed are left out.
 */
#ifndef STRATA_PERFDB_GRID_FILL_H
#define STRATA_PERFDB_GRID_FILL_H

#include "perfdb/grid_gen.h"
#include "perfdb/table.h"

struct grid_fill {
    bool is_usable;  /* the table has rows and input shapes */
    size_t made;     /* rows that came from the generator */
    size_t too_big;  /* of these, left out for their memory */
    size_t appended; /* rows added to the table */
};

/* Adds the rows of `pattern` to `t`, sorted by their input shapes, after those it has. A table
 * without rows or without input shapes stays as it is. `budget` is in bytes; 0: no limit. */
enum status grid_fill(struct table *t, const struct grid_job *job,
                      const struct grid_pattern *pattern, int64_t budget, struct grid_fill *out,
                      struct diag *d);

#endif
