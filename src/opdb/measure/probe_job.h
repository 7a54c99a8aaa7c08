/*
 * flow_probe - which sizes of an operand an operator takes: strata db probe.
 */
#ifndef STRATA_FLOW_FLOW_PROBE_H
#define STRATA_FLOW_FLOW_PROBE_H

#include "opdb/measure/measure_job.h"

struct flow_probe_job {
    const struct op_rule *op;
    struct str shapes, types, formats, outputs, output_types; /* cells of a row */
    struct str axis; /* "0.1+1.1=16,32,48": input 0 dimension 1 and input 1 dimension 1; "o0.1" */
    struct flow_measure_job measure;
};

struct flow_probed {
    int64_t value;
    enum measure_state state;
    double us; /* the shortest; 0: none */
    struct str why;
};

struct flow_probe {
    struct arena arena;
    struct str op, axis;
    const char *backend;
    VEC_OF(struct flow_probed) at;
    const char *conclusion;
    int64_t largest; /* value that ran; 0: none */
};

/* strata.db-probe/1, over a struct flow_probe. */
extern const struct schema flow_probe_schema;

/* ST_FORMAT: the axis or a shape is wrong. */
enum status flow_probe(const struct flow_probe_job *job, struct flow_probe *out, struct diag *d);
void flow_probe_free(struct flow_probe *p);
void flow_probe_describe(const struct flow_probe *p, struct report *report);

#endif
