/*
 * predict_job - the time of one step of a model from a database of its operators.
 *
 * The calls of a step (ops/model_calls.h) are asked one by one (call_time.h); equal ones are added
 * up. Kernels that follow one another cost a gap each. Collectives are exposed. A call without an
 * answer is listed as missing, and the step then takes more than the sum. Of several stages the one
 * that takes longest is listed. The interval adds up the errors of an operator's calls, which share
 * its model, and joins those of different operators, of the gaps and of the step as a whole as
 * independent ones.
 */
#ifndef STRATA_OPDB_PREDICT_PREDICT_JOB_H
#define STRATA_OPDB_PREDICT_PREDICT_JOB_H

#include "opdb/predict/call_time.h"

struct predict_row {
    const char *part; /* embedding, layer or head */
    struct str op, shapes;
    uint64_t calls;
    double each_us, us, low_us, high_us; /* of one call; of all */
    const char *source;                  /* of the answer; NULL: a miss */
    double weights;                      /* parameters that the card keeps for one of them */
};

/* One operator of the step and of a capture. */
struct predict_op {
    struct str op;
    uint64_t calls, measured_calls; /* of one step */
    double us, measured_us, error;  /* nan: only one side has it */
};

struct predict_step {
    const char *phase;                  /* prefill or decode */
    int64_t batch, length, prompt;      /* prompt: tokens of a prompt beside the decodes */
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
    const struct llm *model;
    struct model_layout layout;
    struct model_types types;
    int64_t batch, length, prompt; /* of each data-parallel group */
    bool is_decode;
    double gap_us; /* between two kernels */
    struct links links;
    const char *against; /* a capture to compare with; NULL: none */
};

/* What a card stores, and whether the device of the database has room for it. */
struct predict_memory {
    double weight_bytes, cache_bytes, work_bytes, device_bytes; /* device: 0 when not known */
    double token_bytes, sequence_bytes; /* of the cache: of a token, of a sequence */
};

double predict_memory_needed(const struct predict_memory *m);

enum { PREDICT_STEPS = 2 };

struct predict {
    struct arena arena;
    struct str model;
    int64_t layers, tp, pp, dp, ep, expert_tp;
    struct str gemm, experts, cache; /* types of weights and cache */
    struct predict_memory memory;    /* of the larger step */
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
