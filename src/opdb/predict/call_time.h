/*
 * call_time - how long a call of a model takes, by a database: the one way from a call to a time.
 *
 * A row of the same call, else a value between rows, else the roof of the device; collectives come
 * from their own tables, else from links. What is a call of a table and how it is written there is
 * call_cells.h for texts, call_work() for numbers.
 */
#ifndef STRATA_OPDB_PREDICT_CALL_TIME_H
#define STRATA_OPDB_PREDICT_CALL_TIME_H

#include "opdb/predict/links.h"
#include "opdb/predict/query.h"
#include "ops/model_calls.h"

struct call_times {
    struct query_db *db;
    struct links links; /* where the database has no rows of so many cards */
    struct str
        spread; /* of tokens over experts: "balanced", "power_law_1.2"; empty: as rows have it */
    struct diag *d;
    struct arena *arena; /* of the texts of answers */
};

struct call_time {
    struct str op, shapes;      /* shapes: only with `is_told` */
    double us, low_us, high_us; /* of one call; 80 % interval */
    enum query_source source;
    const char *miss; /* NULL: an answer */
    double kernels;
};

/* ST_OK also for a miss. A module without rows of its own is a miss: its calls are asked. */
enum status call_time(const struct call_times *t, const struct model_call *c, bool is_told,
                      struct call_time *out);

/* The least time that the device allows; 0: not known. */
double call_floor_us(const struct device *d, const struct model_call *c);

/* The table of a call, and the call in numbers; false for what has no table. `set` is NULL when
 * the database has none. */
bool call_work(const struct call_times *t, const struct model_call *c, struct opset **set,
               struct call_work *out);

#endif
