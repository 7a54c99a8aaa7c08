/*
 * comm_validate - measured collectives against a model of the links.
 *
 * Reads the tables of the four collectives in a folder (with given links or a fit also those of
 * broadcast and send/receive) and gives each row a verdict by the ratio
 * of measured to predicted time: within the tolerance, within twice the tolerance, or beyond.
 */
#ifndef STRATA_OPDB_MEASURE_COMM_VALIDATE_H
#define STRATA_OPDB_MEASURE_COMM_VALIDATE_H

#include "opdb/measure/comm_model.h"
#include "report/record.h"

enum comm_verdict { COMM_PASS, COMM_WARN, COMM_FAIL, COMM_VERDICTS };

struct comm_row {
    struct comm_point point; /* as measured */
    double predicted_us;
    double ratio; /* measured / predicted; infinite when nothing was predicted */
    enum comm_verdict verdict;
};

struct comm_check {
    enum collective op;
    bool was_visited, is_there; /* a validation that failed has not visited all */
    uint64_t rows_read;         /* of the table */
    uint64_t dropped;           /* those that do not parse */
    VEC_OF(struct comm_row) rows;
    uint64_t counts[COMM_VERDICTS];
    double mean, min, max; /* of the ratios; not a number without rows */
};

struct comm_job {
    const char *dir;
    double tolerance;   /* above 0 */
    const char *links;  /* NULL: the built-in ones; "fit"; else a file */
    bool scatter_total; /* reduce_scatter: the model's m is the total, so rows count n times */
    bool lists_all;     /* print rows that pass, too */
};

struct comm_validation {
    struct comm_job job;
    struct comm_model model;
    struct comm_check checks[COMM_COLLECTIVES];
    size_t n_checks; /* COMM_VALIDATED, or all where --links covers more tables that are there */
    uint64_t rows, counts[COMM_VERDICTS];
    bool is_complete; /* false after a failure */
};

/* Reads and judges. On failure it may be printed as far as it went, and is freed as always. */
enum status comm_validate(struct comm_validation *v, const struct comm_job *job, struct diag *d);
void comm_validation_free(struct comm_validation *v);

/* The report of fixed shape, of a struct comm_validation. */
bool comm_validation_print(const void *result, struct sink sink);

/* strata.comm-validate/1. */
extern const struct schema comm_validation_schema;

#endif
