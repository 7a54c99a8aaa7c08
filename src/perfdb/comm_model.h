/*
 * comm_model - how long a collective should take, from the latency and bandwidth of a link.
 *
 * For n ranks, m bytes, latency L and B = 0.7 of the bandwidth, the faster of two algorithms:
 *
 *   all_reduce      ring 2(n-1)L + 2(n-1)m/(nB)    tree 2 log2(n) L + 2m/B
 *   all_gather      (n-1)L + (n-1)m/B              log2(n) L + (n-1)m/B
 *   reduce_scatter  (n-1)L + (n-1)m/(nB)           log2(n) L + (n-1)m/(nB)
 *   all_to_all      (n-1)L + m/B                   log2(n) L + m/B
 *
 * all_gather of 1024 bytes on 8 ranks within a pod: 3 * 0.5 us + 7 * 1024 / 137.2e9 s = 1.55 us.
 * The links are those of one Ascend part unless a file gives others. A file may instead give each
 * collective a line, alpha + beta * m, and a fit finds such lines in the measured rows themselves.
 */
#ifndef STRATA_PERFDB_COMM_MODEL_H
#define STRATA_PERFDB_COMM_MODEL_H

#include "perfdb/comm_topology.h"

enum comm_source {
    COMM_FROM_PART,  /* the built-in links */
    COMM_FROM_LINKS, /* a file of links */
    COMM_FROM_LINES, /* a file of lines */
    COMM_FROM_FIT,   /* lines fitted to the rows */
};

struct comm_link {
    bool is_set;
    double bandwidth; /* bytes/s, one direction */
    double latency_us;
};

/* Time = alpha + beta * bytes. */
struct comm_line {
    bool is_set;
    double alpha_us, beta_us; /* beta: us for a byte */
};

/* One measured point. */
struct comm_point {
    int64_t bytes, ranks, tier;
    double us;
};

/* The line of one collective at one number of ranks and tier. */
struct comm_fit {
    enum collective op;
    int64_t ranks, tier;
    struct comm_line line;
};

enum { COMM_TIERS = COMM_DIMS };

struct comm_model {
    enum comm_source source;
    struct comm_link links[COMM_TIERS];
    struct comm_line lines[COMM_COLLECTIVES];
    VEC_OF(struct comm_fit) fits;
};

void comm_model_init(struct comm_model *model); /* the built-in links */
void comm_model_free(struct comm_model *model);

/* Takes the links or lines of a CSV: columns tier, bandwidth (bytes/s) and latency (us), or
 * collective, alpha (us) and beta (us a byte). Names may go on: "latency_us". */
enum status comm_model_read(struct comm_model *model, const char *path, struct diag *d);

/* Fits a line to the points of one collective for each number of ranks and tier: least squares of
 * the relative error, with neither part below 0. Points without a time above 0 do not count. */
void comm_model_fit(struct comm_model *model, enum collective op, const struct comm_point *points,
                    size_t n);

/* False when the model has no such tier or no line for the collective. One rank takes no time. */
bool comm_model_predict(const struct comm_model *model, enum collective op,
                        const struct comm_point *point, double *us);

#endif
