/*
 * probe_job - which sizes of an operand an operator takes: strata db probe.
 */
#ifndef STRATA_OPDB_MEASURE_PROBE_JOB_H
#define STRATA_OPDB_MEASURE_PROBE_JOB_H

#include "opdb/measure/measure_job.h"

struct probe_job {
    const struct op_rule *op;
    struct str shapes, types, formats, outputs, output_types; /* cells of a row */
    struct str axis; /* "0.1+1.1=16,32,48": input 0 dimension 1 and input 1 dimension 1; "o0.1" */
    struct measure_db_job measure;
};

struct probed_size {
    int64_t value;
    enum measure_state state;
    double us; /* the shortest; 0: none */
    struct str why;
};

struct probed_sizes {
    struct arena arena;
    struct str op, axis;
    const char *backend;
    VEC_OF(struct probed_size) at;
    const char *conclusion;
    int64_t largest; /* value that ran; 0: none */
};

/* strata.db-probe/1, over a struct probed_sizes. */
extern const struct schema probed_sizes_schema;

/* ST_FORMAT: the axis or a shape is wrong. */
enum status probe_run(const struct probe_job *job, struct probed_sizes *out, struct diag *d);
void probed_sizes_free(struct probed_sizes *p);
/* Of a struct probed_sizes. */
void probed_sizes_describe(const void *result, struct report *report);

#endif
