/*
 * plan - which configuration serves a model: layouts, batches and splits that fit, what each of
 * them reaches in the steady state, and how sure that is.
 *
 *     plan_init(&p, &request);
 *     TRY(plan_run(&p, d));        p.rows: all that were answered, best first; p.refused: why not
 *     plan_free(&p);
 *
 * A configuration is a database (system, engine, version), a layout and a number of sequences. Its
 * time of a step is step_cost.h, what follows of it serve.h. An answer is never given where the
 * model does not fit, where calls have no rows, or where more than a quarter of the time is only
 * derived from peaks; the reason is listed instead.
 */
#ifndef STRATA_OPDB_PLAN_PLAN_H
#define STRATA_OPDB_PLAN_PLAN_H

#include "base/files/sink.h"
#include "opdb/plan/calibration.h"
#include "opdb/plan/serve.h"
#include "opdb/plan/step_cost.h"
#include "report/record.h"

struct plan_list {
    const int64_t *at;
    size_t n; /* 0: what divides the model */
};

struct plan_limit {
    double ms;   /* 0: none */
    bool is_p99; /* else the mean */
};

enum plan_modes { PLAN_AGGREGATED = 1, PLAN_DISAGGREGATED = 2 };

struct plan_request {
    const struct llm *model;
    const char *databases; /* folder with a folder for each system, or a database */
    const struct str *systems;
    size_t n_systems;                /* 0: `databases` is one database */
    struct str engine, version;      /* empty: the only engine; the newest version that has rows */
    int64_t cards;                   /* 0: as few as serve it */
    double prompt, output, cached;   /* tokens */
    double vary_prompt, vary_output; /* standard deviation over mean */
    bool is_equal;                   /* all requests are alike */
    double rate;                     /* requests by second; 0: not given */
    double clients;                  /* at a time; 0: not given */
    double burst;                    /* requests of a benchmark that starts at once; 0: steady */
    struct plan_limit first, token, latency;
    unsigned modes;
    struct plan_list tp, pp, dp, ep, expert_tp;
    int64_t redundant;
    double batch_tokens, seqs; /* of a step; seqs 0: as memory allows */
    double memory_share, reserve_gb;
    bool admits_prompts;           /* without room for the whole answer */
    double host_us;                /* of a step; negative: as calibrated */
    double drafts, accepted;       /* tokens drafted, and accepted of them, for each step */
    struct str spread;             /* of tokens over experts; empty: as rows have it */
    struct links links;            /* n 0: those of the system, where there are any */
    double transfer_gbps, overlap; /* of keys and values between instances */
    bool allows_analytic;
    struct calibration calibration;
    size_t top;
};

/* An estimate and its 80 % interval. */
struct plan_value {
    double value, low, high;
};

/* One kind of instance: a database, how a model lies on it, how many there are. */
struct plan_instance {
    struct str system, engine, version;
    struct model_layout layout;
    int64_t cards, replicas;
    double sequences; /* of each data-parallel group of each replica */
    double memory_gb; /* of a card, with its cache full */
    double slots;     /* sequences that fit */
};

struct plan_row {
    const char *mode; /* "agg" or "disagg" */
    bool is_split;    /* disagg */
    struct plan_instance main,
        prefill;    /* main: decodes, too; prefill of disaggregated ones alone */
    int64_t cards;  /* of all instances */
    double clients; /* at a time, over all instances */
    struct plan_value tokens_card, tokens_user; /* output tokens by second */
    struct plan_value first_ms, token_ms, latency_ms;
    double rate;                 /* requests by second, over all instances */
    double share[QUERY_SOURCES]; /* of the time of a decoding step */
    struct str limit;            /* what keeps it from more: "memory", "tpot", ... */
    bool meets;                  /* the limits, at the centre */
    bool meets_low;              /* and at the pessimistic end of the interval */
    bool is_front;               /* no other has more of one and as much of the other */
    size_t setup;                /* for explanations */
};

struct plan_refusal {
    struct str what, why; /* "h200_sxm tp 1" */
    uint64_t n;           /* configurations */
};

struct plan {
    struct arena arena;
    const struct plan_request *request;
    VEC_OF(struct plan_row) rows;
    VEC_OF(struct plan_refusal) refused;
    VEC_OF(struct plan_base *) bases;
    VEC_OF(struct step_setup) setups; /* by plan_row.setup */
    VEC_OF(size_t) setup_base;
    uint64_t tried, answered, configurations;
    int64_t least_cards,
        sure_cards; /* that serve the load: at the centre, at the pessimistic end */
};

void plan_init(struct plan *p, const struct plan_request *request);
enum status plan_run(struct plan *p, struct diag *d);
void plan_free(struct plan *p);

/* Calls of a decoding step of a row. */
void plan_explain(struct plan *p, const struct plan_row *row, struct step_list *list,
                  struct step_cost *cost);

/* ---- as it is shown: document, report, table of all points ---- */

/* The calls of a step of one row of the top. */
struct plan_explained {
    uint64_t rank;
    struct step_list list;
    struct step_cost cost;
};

struct plan_result {
    struct plan *plan;
    struct str model, calibration;
    double prompt, output;
    uint64_t configurations, answered;
    int64_t least_cards, sure_cards;
    struct plan_row *top, *front;
    size_t n_top, n_front;
    struct plan_refusal *refused;
    size_t n_refused;
    struct plan_explained explained;
    bool is_explained;
};

/* The best rows of a plan, at most one of each layout. */
void plan_result_set(struct plan_result *r, struct plan *p, size_t top);

extern const struct schema plan_schema; /* strata.db-plan/1, of a struct plan_result */
struct report;
void plan_describe(const void *result, struct report *r);

/* All points as CSV, with the names of columns that AIConfigurator has; the front is marked. */
bool plan_front_csv(const void *result, struct sink sink);

#endif
