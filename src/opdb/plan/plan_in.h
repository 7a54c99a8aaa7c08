/*
 * plan_in - of plan.h: the database of a system and engine that a plan asks, and one configuration
 * on it: what it stores, and what it reaches for a number of clients or a rate.
 */
#ifndef STRATA_OPDB_PLAN_PLAN_IN_H
#define STRATA_OPDB_PLAN_PLAN_IN_H

#include "opdb/plan/plan.h"

struct plan_base {
    struct str system, engine, version;
    const char *dir;
    struct query_db db;
    struct curves curves;
    struct calibration_engine engine_cost;
};

/* Opens the databases of the request: for each system its engine, in the version that is asked for,
 * else in the newest one that has rows of this model. */
enum status plan_bases_open(struct plan *p, struct diag *d);
void plan_bases_close(struct plan *p);

/* A configuration with its step as a function. */
struct plan_machine {
    const struct plan_request *request;
    struct plan_base *base;
    struct step_setup setup;
    struct serve_load load;
    double floor_share; /* of the step that was asked last: floor over time */
    double sigma;       /* of ln(time) of a decoding step */
    const char *missed; /* a call without rows; NULL: none */
    struct step_cost last;
};

void plan_machine_init(struct plan_machine *m, const struct plan_request *r, struct plan_base *b,
                       const struct model_layout *layout);

/* Sequences of one data-parallel group that the memory of its cards holds; 0: not even one, and
 * `why` says what is too much. `memory_gb` of a card with its cache full. */
double plan_slots(const struct plan_machine *m, struct arena *arena, double *memory_gb,
                  struct str *why);

/* The time of a decoding step with so many sequences: sets `last`, `sigma` and `floor_share`. */
double plan_decode_ms(struct plan_machine *m, double sequences);

/* Why a machine may not answer; empty: it may. After plan_decode_ms(). */
struct str plan_doubt(const struct plan_machine *m, struct arena *arena);

/* Factors by which times may be lower and higher, 80 %. */
void plan_spread(const struct plan_machine *m, bool is_first, double *low, double *high);

#endif
