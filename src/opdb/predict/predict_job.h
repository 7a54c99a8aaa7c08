/*
 * predict_job - the time of one step of a model from a database of its operators.
 *
 * The calls of a step (build_rows.h) are asked one by one (opdb/predict/query.h); equal ones are
 * added up. Kernels that follow one another cost a gap each. Collectives of tensor and expert
 * parallelism are exposed: they come from hcom tables, else from fitted links, else they are
 * counted as missing. The interval adds up the errors of an operator's calls, which share its
 * model, and joins those of different operators, of the gaps and of the step as a whole as
 * independent ones.
 */
#ifndef STRATA_OPDB_PREDICT_PREDICT_JOB_H
#define STRATA_OPDB_PREDICT_PREDICT_JOB_H

#include "opdb/predict/query.h"
#include "opdb/rows/build_rows.h"

struct predict_row {
    const char *part; /* embedding, layer or head */
    struct str op, shapes;
    uint64_t calls;
    double each_us, us, low_us, high_us; /* of one call; of all */
    const char *source;                  /* of the answer; NULL: a miss */
};

/* One operator of the step and of a capture. */
struct predict_op {
    struct str op;
    uint64_t calls, measured_calls; /* of one step */
    double us, measured_us, error;  /* nan: only one side has it */
};

struct predict_step {
    const char *phase; /* prefill or decode */
    int64_t batch, length;
    double us, low_us, high_us;         /* NAN: unknown, since calls are missed */
    double compute_us, comm_us, gap_us; /* parts of `us` */
    uint64_t calls, kernels, missed;    /* missed: calls without an answer */
    VEC_OF(struct predict_row) rows;
    bool has_measured;
    double measured_us, error; /* kernels of a step of the capture; relative error of theirs, NAN */
    uint64_t measured_steps;
    VEC_OF(struct predict_op) ops; /* where there is a capture */
};

struct predict_job {
    const struct grid_model *model;
    struct build_sizes sizes;
    struct build_step step;
    double gap_us;             /* between two kernels */
    double link_us, link_gbps; /* latency and bandwidth of a link; 0: unknown */
    const char *against;       /* a capture to compare with; NULL: none */
};

enum { PREDICT_STEPS = 2 };

struct predict {
    struct arena arena;
    struct str model;
    int64_t layers, tp, ep;
    struct predict_step steps[PREDICT_STEPS];
    size_t n_steps;
};

/* Adds the prediction of the job's step. */
enum status predict_run(struct predict *p, struct query_db *db, const struct predict_job *job,
                        struct diag *d);
void predict_init(struct predict *p, struct str model);
void predict_free(struct predict *p);

/* Of a struct predict. */
void predict_describe(const void *result, struct report *r);
extern const struct schema predict_schema; /* strata.db-predict/1 */

/* The steps as a timeline, a device each; capture_free() it. */
struct capture *predict_capture(const struct predict *p);

#endif
