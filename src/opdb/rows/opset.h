/*
 * opset - the table of one operator as points that can be asked: exact calls by hash, others by a
 * model for each regime (types, layouts, kind of attention), which is fitted when first needed.
 *
 * Rows of one call become one point, their median. A regime that is fitted is only read.
 */
#ifndef STRATA_OPDB_ROWS_OPSET_H
#define STRATA_OPDB_ROWS_OPSET_H

#include "base/diag.h"
#include "base/tables/hash.h"
#include "device/device.h"
#include "opdb/predict/estimate.h"
#include "opdb/rows/table.h"

/* Points that may be compared. */
struct opset_regime {
    uint64_t key;
    VEC_OF(struct estimate_point) points;
    VEC_OF(uint32_t) rows; /* of the table, for each point its first */
    struct estimate_model model;
    bool is_fitted;
};

struct opset {
    struct str kernel;
    struct op_table table;
    const struct device *device; /* whose times they are; NULL: unknown */
    VEC_OF(struct opset_regime) regimes;
    struct hash regime_of; /* key to number */
    struct hash exact;     /* call to number of `calls` */
    VEC_OF(struct opset_call) calls;
    bool is_comm;
};

struct opset_call {
    uint32_t regime, point;
};

/* Reads the table at `path`. After a failure the set may be freed. */
enum status opset_read(struct opset *s, struct str kernel, const char *path, struct diag *d);
void opset_free(struct opset *s);

/* The call itself; NULL when no row has it. `row` of the table. */
const struct estimate_point *opset_exact(const struct opset *s, const struct call_work *w,
                                         uint32_t *row);

/* What the device can do at best with the type of a call. */
struct estimate_chip opset_chip(const struct opset *s, const struct call_work *w);

/* The regime of a call; NULL when no row is of it. Fitted, or as it is in a set that others read.
 */
struct opset_regime *opset_regime(struct opset *s, const struct call_work *w);
const struct opset_regime *opset_find(const struct opset *s, const struct call_work *w);

#endif
