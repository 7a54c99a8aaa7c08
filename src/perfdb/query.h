/*
 * query - how long an operator takes, from the tables of a database.
 *
 * First a row that fits (query_match.h), then a value between rows that fit but for a few
 * dimensions, else a miss with its reason.
 */
#ifndef STRATA_PERFDB_QUERY_H
#define STRATA_PERFDB_QUERY_H

#include "base/yaml.h"
#include "perfdb/query_comm.h"
#include "perfdb/query_match.h"
#include "report/record.h"

enum op_mode { OP_COMPUTE, OP_ATTENTION, OP_ELEMENTWISE, OP_MOE, OP_MTP };

struct op_entry {
    const struct str *kernels; /* the primary one, then the alternates, each once */
    size_t n_kernels;
    const struct str *sub_kernels;
    size_t n_sub_kernels;
    bool is_communication, is_composite, is_zero_cost;
    struct str accepted_miss; /* empty: none */
    enum op_mode mode;
    int64_t input_count; /* negative: all */
};

struct op_map {
    const struct tree *root; /* NULL: there is no mapping */
};

/* Reads <dir>/op_mapping.yaml; a folder without one has an empty map. The tree lives in `arena`. */
enum status op_map_read(struct op_map *map, struct arena *arena, const char *dir, struct diag *d);

/* The entry of an operator such as "aten.mm.default" ("torch.ops." in front does not count). Keys
 * may stand under operator_mappings or at the top. False: unmapped. */
bool op_map_find(const struct op_map *map, struct arena *arena, struct str op,
                 struct op_entry *out);

/* Policies of a kernel; negative or empty when the file says nothing. */
double op_map_core_ratio(const struct op_map *map, struct str kernel);
bool op_map_prefers_profiling(const struct op_map *map, struct str kernel);
bool op_map_wants_unique(const struct op_map *map, struct str kernel);
int64_t op_map_max_dims(const struct op_map *map, struct str kernel);
struct str op_map_axis_transform(const struct op_map *map, struct str kernel);
struct str op_map_axis(const struct op_map *map, struct str kernel); /* "output_numel" */

/* communication_data_ref, relative to the file; empty: none. */
struct str op_map_comm_ref(const struct op_map *map);

enum query_source { QUERY_MEASURED, QUERY_INTERPOLATED, QUERY_EXTRAPOLATED, QUERY_PARTIAL };
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
    struct comm_query message;
    int64_t max_dims; /* of an interpolation: 1 to 3 */
    bool is_exact;    /* no interpolation */
};

struct query_result {
    bool is_hit;
    const char *miss; /* NULL: found; else the reason */
    double latency_us, confidence;
    enum query_source source;
    struct str kernel, rule;
    bool is_composite;
    size_t n_hits, n_parts; /* of a composite operator */
};

struct query_db {
    struct arena arena;
    const char *dir;
    struct op_map map;
    VEC_OF(struct query_table) tables; /* those asked for so far */
};

/* One table that was asked for; empty when there is no such file. */
struct query_table {
    struct str kernel;
    bool is_there;
    struct op_table *table;
};

enum status query_open(struct query_db *db, const char *dir, struct diag *d);
void query_close(struct query_db *db);

/* ST_OK also for a miss; an error is a table that cannot be read. Texts live with `db`. */
enum status query_run(struct query_db *db, const struct query *q, struct query_result *out,
                      struct diag *d);

/* For query_*.c: the table of a kernel, NULL when there is none. */
enum status query_table(struct query_db *db, struct str kernel, const struct op_table **out,
                        struct diag *d);

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

/* strata.db-query/1, over a struct query_result. */
extern const struct schema query_schema;

#endif
