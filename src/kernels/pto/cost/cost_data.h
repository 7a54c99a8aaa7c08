/*
 * cost_data - the constants of the cost model in memory, and the laws that read them (cost.c,
 * cost_vector.c, cost_a5.c).
 *
 * For cost*.c and calibrate.c only; everyone else uses kernels/pto/cost/cost.h.
 */
#ifndef STRATA_KERNELS_PTO_COST_COST_DATA_H
#define STRATA_KERNELS_PTO_COST_COST_DATA_H

#include "base/tables/hash.h"
#include "base/tables/vec.h"
#include "kernels/pto/cost/cost.h"

enum { PTO_ARCH_COUNT = PTO_A5 + 1 };

/* Element types with a slope of their own; one-byte types count as i16 with more elements a repeat.
 */
enum pto_rate { PTO_RATE_F32, PTO_RATE_F16, PTO_RATE_I32, PTO_RATE_I16, PTO_RATE_COUNT };

extern const char *const pto_rate_names[PTO_RATE_COUNT];
enum pto_rate pto_rate_of(enum pto_dtype t);

/* How the work of a vector operation grows with its tile: the `shape` column of the tables. */
enum pto_shape {
    PTO_SHAPE_NONE, /* not a vector operation */
#define PTO_COST_SHAPE(code, name) PTO_SHAPE_##code,
#include "kernels/pto/cost/cost_shapes.def"
#undef PTO_COST_SHAPE
    PTO_SHAPE_COUNT
};
extern const struct str pto_shape_names[PTO_SHAPE_COUNT];

/* cycles = slope * units + busy + fixed + bias, with units, busy and fixed from the tile. */
struct pto_law {
    enum pto_shape shape;
    double slope[PTO_RATE_COUNT];
    double bias;
    bool is_replaced; /* by a cost file: the fitted table no longer speaks for it */
};

struct pto_terms {
    double units, fixed;
    double busy; /* occupies the queue whatever the slope */
};

/* The register program of one loop iteration of an A5 vector function. */
struct pto_vf_program {
    double loads, stores;
    double chain[2]; /* cycles from load to store, 4-byte and 2-byte elements */
    double unit[2];  /* cycles one of the two execution units is taken */
};

struct pto_path {
    double latency, rate, issue;    /* rate in bytes a cycle; 0: there is no such path */
    double miss_latency, miss_rate; /* of bytes that L2 does not hold; 0: as of others */
};

struct pto_fit {
    double per_element, fixed;
};

struct pto_curve {
    double per_iteration, per_row, fixed;
};

struct pto_costs {
    double value[PTO_COST_KEY_COUNT];
    struct pto_law law[PTO_ARCH_COUNT][PTO_OP_COUNT];
    struct pto_vf_program program[PTO_OP_COUNT];
    struct pto_path path[PTO_ARCH_COUNT][PTO_SPACE_COUNT][PTO_SPACE_COUNT];
    struct hash fit_index, curve_index; /* by packed key, see cost.c and cost_a5.c */
    VEC_OF(struct pto_fit) fits;
    VEC_OF(struct pto_curve) curves;
    bool use_table; /* the fitted A2/A3 table before the law */
};

/* The operation that the tables call `name` ("tadd"); PTO_OP_NONE when there is none. */
enum pto_opcode pto_cost_op(struct str name);

/* Reads data/pto/a2a3_fit.csv; false when a row does not make sense. */
bool pto_table_load(struct pto_costs *c, struct str text);

/* The row for this tile; false when there is none, or when its rows do not join. */
bool pto_table_find(const struct pto_costs *c, const struct pto_work *w, struct pto_fit *out);

/* Elements in the 256 bytes of one vector repeat. */
double pto_repeat_elements(enum pto_dtype t);

/* units and fixed part of the law of `w->op` for this tile. */
struct pto_terms pto_vector_terms(const struct pto_costs *c, const struct pto_work *w);

struct pto_loops {
    bool is_flat;
    double inner, outer; /* iterations; outer is 1 for a flat loop */
};

/* Reads data/pto/a5_curves.csv; false when a row does not make sense. */
bool pto_curves_load(struct pto_costs *c, struct str text);

struct pto_loops pto_a5_loops(const struct pto_work *w);

struct pto_terms pto_a5_terms(const struct pto_costs *c, const struct pto_work *w);

struct pto_terms pto_vf_terms(const struct pto_costs *c, const struct pto_work *w);

#endif
