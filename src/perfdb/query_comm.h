/*
 * query_comm - how long a collective takes, from measured message sizes.
 */
#ifndef STRATA_PERFDB_QUERY_COMM_H
#define STRATA_PERFDB_QUERY_COMM_H

#include "perfdb/table.h"

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

#endif
