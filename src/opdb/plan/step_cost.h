/*
 * step_cost - the time of one step of an engine, with what it is made of and how sure it is.
 *
 * A step is the sum of its calls (curve.h), of the pauses between their kernels and of the host's
 * part, which nothing hides. Stages of a pipeline work side by side: the longest one counts.
 */
#ifndef STRATA_OPDB_PLAN_STEP_COST_H
#define STRATA_OPDB_PLAN_STEP_COST_H

#include "opdb/plan/curve.h"

/* Calls of one regime share its errors. */
enum step_regime { STEP_PRODUCTS, STEP_ATTENTION, STEP_EXPERTS, STEP_COMM, STEP_OTHER };
enum { STEP_REGIMES = STEP_OTHER + 1 };
const char *step_regime_name(unsigned regime);

/* What an engine adds to the times of its operators; measured, see calibration.h. */
struct step_engine {
    double host_us;    /* of a step, whatever is in it */
    double request_us; /* of each sequence in it */
    double gap_us;     /* between two kernels */
};

struct step_setup {
    const struct llm *model;
    struct model_layout layout;
    struct model_types types;
    struct step_engine engine;
};

struct step_cost {
    double us;       /* of the longest stage, the engine's part included */
    double floor_us; /* no device is faster */
    double regime_us[STEP_REGIMES];
    double regime_sigma[STEP_REGIMES]; /* of ln, over the calls of the regime */
    double source_us[QUERY_SOURCES];
    double engine_us; /* host and gaps */
    double kernels;
    const char *missed; /* a call without an answer, "MatMulV2 gate"; NULL: all have one */
};

/* One row of an explanation. */
struct step_part {
    const char *part, *what;
    enum model_op op;
    double calls, us; /* of all layers */
    enum query_source source;
};

struct step_list {
    VEC_OF(struct step_part) parts;
};

/* `list`, when it is not NULL, gets the calls of the longest stage. */
void step_cost(struct curves *cs, const struct step_setup *s, const struct model_load *load,
               struct step_list *list, struct step_cost *out);

/* Standard deviation of ln(us): calls of a regime err together, regimes with a correlation, and
 * all share what is common to a database. */
double step_sigma(const struct step_cost *c, double common);

#endif
