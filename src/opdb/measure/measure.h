/*
 * measure - durations of operators: one row of a table after the other on a back end, in a process
 * of its own.
 *
 * A child runs the rows and tells of each; the parent waits with a limit. A child that hangs, is
 * killed or loses its device costs one row: it is marked, and a new child goes on with the next.
 */
#ifndef STRATA_OPDB_MEASURE_MEASURE_H
#define STRATA_OPDB_MEASURE_MEASURE_H

#include "base/diag.h"
#include "base/text/num.h"
#include "opdb/measure/backend.h"
#include "report/record.h"

enum measure_state {
    MEASURE_DONE,
    MEASURE_REFUSED,   /* no device takes the row: its shapes or types contradict each other */
    MEASURE_NO_MEMORY, /* its operands need more than there is */
    MEASURE_WRONG,     /* ran, but differs from the reference */
    MEASURE_FAILED,    /* the back end reported an error */
    MEASURE_HUNG,      /* no answer within the limit */
    MEASURE_KILLED,    /* the process ended by a signal or without an answer */
    MEASURE_NOT_RUN,   /* stopped before */
    MEASURE_NOT_HERE,  /* this machine, or strata, cannot run the row */
};
const char *measure_state_name(enum measure_state state);

/* Figures of the repeats, in microseconds. */
struct measure_stats {
    double shortest, median, mean, deviation;
    uint32_t n,
        outliers; /* repeats; those beyond five deviations (by the median) from the median */
};
struct measure_stats measure_stats(double *us, size_t n); /* sorts */

enum { MEASURE_TEXT = 224 };
struct measure_result {
    enum measure_state state;
    struct measure_stats stats;
    struct op_cost cost;
    double worst; /* error, as a share of what is allowed; NAN: not checked */
    bool is_logical;
    char text[MEASURE_TEXT]; /* why not */
};

struct measure_options {
    const struct backend_entry *backend;
    struct backend_libraries libraries;
    size_t repeats;
    bool is_unchecked;  /* no comparison with the reference */
    int64_t check_work; /* operations that a check may take on one row; 0: a default */
    int64_t memory;     /* bytes that a row may take; 0: what the back end says */
    int64_t limit_ms;   /* for one row; 0: a default */
    uint64_t seed;
};

enum { MEASURE_LIMIT_MS = 60000 };

/* One row in this process. */
struct measure_result measure_row(void *state, const struct measure_options *o,
                                  const struct op_rule *op, const struct op_row *row,
                                  struct pool *pool);

/* Where rows run: a fault in this process ends the command. */
enum measure_execution { MEASURE_IN_CHILD, MEASURE_HERE };

/* Gives row `i`; false: it is left out. Called in the parent, before the child is made. */
struct measure_job {
    const struct op_rule *op;
    const struct op_row *rows;
    size_t n;
    struct measure_options options;
    enum measure_execution execution;
    bool was_there; /* the device answered before: one that is gone costs the row, not the job */
    /* Called for each row when it is done, in their order; false ends the job. */
    bool (*done)(void *ctx, size_t i, const struct measure_result *result);
    /* Called a few times a second; false ends the job. May be NULL. */
    bool (*tick)(void *ctx);
    void *ctx;
};

/* ST_TOOL when the back end cannot be opened; ST_CANCELLED when somebody ended it. */
enum status measure_run(const struct measure_job *job, struct diag *d);

/* What the device can do, asked in a child. */
enum status measure_facts(const struct measure_options *o, struct backend_facts *out,
                          struct diag *d);

/* How a measured row stands to what the device could do at best. */
enum measure_bound { BOUND_UNKNOWN, BOUND_MEMORY, BOUND_MATRIX };
const char *measure_bound_name(enum measure_bound bound);

struct measure_roof {
    double us;    /* the shortest time possible; NAN: not known */
    double share; /* of it in the measured time */
    enum measure_bound bound;
    bool is_slow; /* more than ten times as long */
};
struct measure_roof measure_roof(const struct op_cost *cost, double us, double gbps,
                                 double matrix_tflops);

#endif
