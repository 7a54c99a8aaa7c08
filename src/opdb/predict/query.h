/*
 * query - how long an operator takes, from the tables of a database.
 *
 * First a row that fits (query_match.h), then a value between rows that fit but for a few
 * dimensions, else a miss with its reason.
 */
#ifndef STRATA_OPDB_PREDICT_QUERY_H
#define STRATA_OPDB_PREDICT_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/formats/yaml.h"
#include "base/tables/vec.h"
#include "device/device.h"
#include "opdb/predict/query_match.h"
#include "report/record.h"

struct op_table;
struct opset;
struct call_work;
struct estimate_model;

enum comm_method { COMM_ALPHA_BETA, COMM_BRACKET_LINEAR };

struct comm_query {
    int64_t bytes, num_devices;
    int64_t tier; /* of the topology; negative: any */
    enum comm_method method;
};

struct comm_result {
    const char *miss; /* NULL: found; else the reason */
    double latency_us;
    bool is_interpolated;
};

/* Asks a table with message_bytes, num_devices and perhaps topology_tier. */
struct comm_result query_comm(const struct op_table *t, const struct comm_query *q);

/* "all_reduce" gives "hcom_allReduce_"; a name that begins with "hcom_" gives itself. Empty: no
 * such collective. */
struct str query_comm_kernel(struct str name);

/* The latency of a row: the first of the replayed, the profiled and the plain duration that is
 * finite and above 0. `column` tells which (0, 1 or 2). */
struct latency_columns {
    int at[3];
};
struct latency_columns latency_columns(const struct op_table *t);
bool latency_of(const struct op_table *t, size_t row, const struct latency_columns *c, double *out,
                int *column);

enum query_source {
    QUERY_MEASURED,
    QUERY_INTERPOLATED,
    QUERY_EXTRAPOLATED,
    QUERY_PARTIAL,
    QUERY_ANALYTIC, /* the roof of the device: no row is comparable */
};
enum { QUERY_SOURCES = QUERY_ANALYTIC + 1 };
const char *query_source_name(unsigned source);

struct query {
    const char *kernel;         /* or */
    const char *op_name;        /* through op_mapping.yaml, or */
    const char *comm;           /* a collective; the others are NULL */
    struct query_inputs inputs; /* without scalars */
    const struct str *formats;  /* of the inputs, for interpolation; NULL: any */
    size_t n_formats;
    struct cell_dims output; /* where the inputs do not tell it; n = 0: unknown */
    int64_t input_count;     /* compare only so many inputs; negative: what the mapping says */
    int64_t avg_seq, sparse_mode, kv_heads; /* attention; negative: not given */
    int64_t seqs;                           /* sequences of attention; 0: by the shapes */
    struct comm_query message;
    int64_t max_dims; /* of an interpolation: 1 to 3 */
    bool is_exact;    /* no interpolation */
    bool is_model;    /* by models (query_model.c); else by the rules of the public tool */
};

/* A row of a table that an answer came from, or that a miss nearly met. */
struct query_near {
    struct str kernel, shapes, dtypes;
    uint64_t line; /* of the file */
    double latency_us;
    double kernels;      /* of the call; 1 where the table does not tell */
    const char *differs; /* the first field that differs; NULL: of an answer */
};

enum { QUERY_NEAR = 10, QUERY_MISSED = 3 };

struct query_result {
    bool is_hit;
    const char *miss; /* NULL: found; else the reason */
    double latency_us, confidence;
    enum query_source source;
    struct str kernel, rule;
    bool is_composite;
    size_t n_hits, n_parts; /* of a composite operator */
    bool has_interval;
    double low_us, high_us; /* of an 80 % interval */
    struct query_near near[QUERY_NEAR];
    size_t n_near;
};

struct query_db {
    struct arena arena;
    const char *dir;
    const struct tree *map;            /* op_mapping.yaml; NULL: there is none */
    const struct tree *origin;         /* engine.yaml (opdb/aic/aic.h); NULL: there is none */
    VEC_OF(struct query_table) tables; /* those asked for so far */
    VEC_OF(struct query_set) sets;     /* the same as points */
    const struct device *device;       /* its roof; NULL: unknown */
};

/* One table that was asked for. */
struct query_table {
    struct str kernel;
    struct op_table *table; /* NULL: there is no such file */
};

/* The same for models. */
struct query_set {
    struct str kernel;
    struct opset *set; /* NULL: there is no such file */
};

enum status query_open(struct query_db *db, const char *dir, struct diag *d);
void query_close(struct query_db *db);

/* ST_OK also for a miss; an error is a table that cannot be read. Texts live with `db`. */
enum status query_run(struct query_db *db, const struct query *q, struct query_result *out,
                      struct diag *d);

/* For query_*.c: the table of a kernel, NULL when there is none. */
enum status query_table(struct query_db *db, struct str kernel, const struct op_table **out,
                        struct diag *d);

enum query_mode { MODE_COMPUTE, MODE_ATTENTION, MODE_ELEMENTWISE, MODE_MOE, MODE_MTP };

/* What op_mapping.yaml says of an operator of a framework. */
struct query_entry {
    const struct str *kernels; /* the primary one, then the alternates, each once */
    size_t n_kernels;
    const struct str *sub_kernels;
    size_t n_sub_kernels;
    bool is_communication, is_composite, is_zero_cost;
    struct str accepted_miss; /* empty: none */
    enum query_mode mode;
    int64_t input_count; /* negative: all */
};

/* The entry of an operator such as "aten.mm.default" ("torch.ops." in front does not count). Keys
 * may stand under operator_mappings or at the top. False: unmapped. */
bool query_entry(struct query_db *db, struct str op, struct query_entry *out);

/* It takes no time: a view, or a miss that the mapping accepts. */
bool query_entry_is_free(const struct query_entry *e);

/* The same as points; and an answer by a model or, with `is_exact`, by an equal row alone. Of
 * several kernels, a row of any comes before a model of the first, and both before the roof. */
enum status query_set(struct query_db *db, struct str kernel, struct opset **out, struct diag *d);
enum status query_models(struct query_db *db, const struct query *q, const struct str *kernels,
                         size_t n, int64_t count, struct query_result *out, struct diag *d);
enum status query_model_comm(struct query_db *db, const struct query *q, struct str kernel,
                             struct query_result *out, struct diag *d);
void query_answer(struct opset *set, const struct call_work *w, bool is_exact,
                  struct query_result *out);

/* The longer of operations and bytes at the peaks of the device. Kernels reach between the whole of
 * it and a third. `out` stays a miss where the peaks or a type are unknown. */
bool query_has_roof(const char *miss, struct str kernel); /* operators that are known */
void query_analytic(const struct device *device, const struct query *q, struct str kernel,
                    const struct call_work *w, struct query_result *out);

/* TFLOP/s of products of a type; 0: unknown. */
double query_peak(const struct device *device, enum dtype type);

/* How far a row may be from a second measurement of its call, as a factor of an 80 % interval. */
double query_noise(const struct estimate_model *m);

/* Six digits: no estimate has more, and machines differ in the last of sixteen. */
double query_six_digits(double value);

/* The work of a collective; a negative tier is that of the first row. */
void query_comm_work(const struct opset *set, const struct comm_query *q, struct call_work *out);

/* The work of a question; false when it cannot be placed. */
bool query_work(struct query_db *db, const struct query *q, struct str kernel, int64_t count,
                struct call_work *out);

/* A setting of a kernel in op_mapping.yaml, "" when the file says nothing: "policy.a.b" stands
 * under <policy>, kernel_overrides, <kernel>, a, b. */
struct str query_policy(const struct query_db *db, struct str kernel, const char *path);

/* A value between rows that differ in so many dimensions. */
struct query_result query_interpolated(struct str kernel, double latency, int dims);

/* The latency of a row under the policies of its kernel, and how good its source is (0 is best). */
bool query_latency(const struct query_db *db, struct str kernel, const struct op_table *t,
                   size_t row, const struct latency_columns *c, double *out, int *rank);

/* Interpolation between rows of compute kernels (query_compute.c) and of attention
 * (query_attention.c). `out` is untouched when there is no answer. */
enum status query_between(struct query_db *db, const struct query *q, struct str kernel,
                          bool is_elementwise, int64_t count, struct query_result *out,
                          struct diag *d);
enum status query_attention(struct query_db *db, const struct query *q, const struct str *kernels,
                            size_t n, struct query_result *out, struct diag *d);

/* strata.db-query/1, over a struct query_result; and one of its rows. */
extern const struct schema query_schema;
extern const struct record query_near_record;

/*
 * Values between measured points (query_points.c). Points share everything but their coordinates
 * on a few axes. Those that agree with the target on all axes but the chosen ones are used; several
 * at one place count as their median. There is no extrapolation.
 */
enum { HULL_DIMS = 3 };

/* Linear, on the simplex of the Delaunay triangulation around the target. None is built: of all
 * simplices around it the Delaunay one minimises the weighted sum of squared distances of its
 * corners, a small linear program that is solved for each target anew.
 *
 * The value at `target` between `n` points of `dims` (1 to 3) coordinates each, row after row.
 * False when the target is outside their hull, or the points lie in fewer dimensions. */
bool query_hull(size_t dims, const double *points, const double *values, size_t n,
                const double *target, double *out);

enum { POINT_AXES = 4 };

struct query_point {
    double at[POINT_AXES];
    double latency;
};

struct query_points {
    VEC_OF(struct query_point) points;
};

/* Which axes may vary, as bits; the others must agree. */
struct query_axes {
    unsigned mask;
    size_t n_axes; /* in all */
};

/* The latency at `target`. One axis: on the line between the nearest points below and above. Two
 * and three: on the Delaunay simplex around the target. False: no answer. */
bool query_points_value(const struct query_points *p, struct query_axes axes, const double *target,
                        double *out);

#endif
