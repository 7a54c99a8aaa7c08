/*
 * Latency of collectives between measured message sizes.
 */
#include "opdb/predict/query.h"
#include "opdb/rows/table.h"

#include <math.h>

#include "opdb/rows/cell.h"
#include "opdb/rows/columns.h"

struct latency_columns latency_columns(const struct op_table *t)
{
    return (struct latency_columns){{table_column(t, COL_AVERAGE), table_column(t, COL_PROFILED),
                                     table_column(t, COL_DURATION)}};
}

bool latency_of(const struct op_table *t, size_t row, const struct latency_columns *c, double *out,
                int *column)
{
    for (int i = 0; i < 3; i++) {
        double value;
        if (cell_number(table_cell(t, row, c->at[i]), &value) && isfinite(value) && value > 0) {
            *out = value;
            *column = i;
            return true;
        }
    }
    return false;
}

struct str query_comm_kernel(struct str name)
{
    static const struct {
        struct str name, kernel;
    } names[] = {
        {S_INIT("all_reduce"), S_INIT("hcom_allReduce_")},
        {S_INIT("all_gather"), S_INIT("hcom_allGather_")},
        {S_INIT("reduce_scatter"), S_INIT("hcom_reduceScatter_")},
        {S_INIT("all_to_all"), S_INIT("hcom_alltoall_")},
        {S_INIT("all_to_all_v"), S_INIT("hcom_alltoallv_")},
        {S_INIT("broadcast"), S_INIT("hcom_broadcast_")},
        {S_INIT("reduce"), S_INIT("hcom_reduce_")},
        {S_INIT("send"), S_INIT("hcom_send_")},
        {S_INIT("receive"), S_INIT("hcom_receive_")},
    };

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_equal_nocase(name, names[i].name))
            return names[i].kernel;
    return str_starts(name, S("hcom_")) ? name : S("");
}

struct point {
    double bytes, latency;
};

/* Rows of the right number of devices and tier that have a latency. */
struct points {
    VEC_OF(struct point) at;
};

static bool is_number(const struct op_table *t, size_t row, int column, int64_t wanted)
{
    double value;

    return cell_number(table_cell(t, row, column), &value) && value == (double)wanted;
}

/* Latency = a + b * bytes, least squares over all points. */
static double fit(const struct points *points, double bytes)
{
    double n = (double)points->at.n, x = 0, y = 0, xx = 0, xy = 0;

    for (size_t i = 0; i < points->at.n; i++) {
        x += points->at.at[i].bytes / n;
        y += points->at.at[i].latency / n;
    }
    for (size_t i = 0; i < points->at.n; i++) {
        double dx = points->at.at[i].bytes - x;
        xx += dx * dx;
        xy += dx * (points->at.at[i].latency - y);
    }
    return y + (xx > 0 ? xy / xx * (bytes - x) : 0);
}

/* A fit over all sizes may miss its neighbours; the result stays between the two around the
 * size. */
static struct comm_result between(const struct points *points, const struct comm_query *q)
{
    const struct point *low = NULL, *high = NULL;
    double bytes = (double)q->bytes;

    for (size_t i = 0; i < points->at.n; i++) {
        const struct point *p = &points->at.at[i];
        if (p->bytes <= bytes && (low == NULL || p->bytes > low->bytes))
            low = p;
        if (p->bytes >= bytes && (high == NULL || p->bytes < high->bytes))
            high = p;
    }
    if (low == NULL || high == NULL)
        return (struct comm_result){.miss = "shape_mismatch"};
    if (low->bytes == high->bytes)
        return (struct comm_result){.latency_us = low->latency};
    double least = fmin(low->latency, high->latency), most = fmax(low->latency, high->latency);
    double share = (bytes - low->bytes) / (high->bytes - low->bytes);
    double latency = q->method == COMM_BRACKET_LINEAR
                         ? low->latency + share * (high->latency - low->latency)
                         : fit(points, bytes);
    return (struct comm_result){.latency_us = fmax(least, fmin(latency, most)),
                                .is_interpolated = true};
}

struct comm_result query_comm(const struct op_table *t, const struct comm_query *q)
{
    struct latency_columns lat = latency_columns(t);
    int bytes = table_column(t, S("message_bytes")), devices = table_column(t, S("num_devices"));
    int tier = table_column(t, S("topology_tier")), column;
    struct points points = {0};

    if (bytes < 0 || devices < 0)
        return (struct comm_result){.miss = "csv_format_raw"};
    for (size_t row = 0; row < t->n_rows; row++) {
        struct point p;
        if (is_number(t, row, devices, q->num_devices) &&
            (tier < 0 || q->tier < 0 || is_number(t, row, tier, q->tier)) &&
            cell_number(table_cell(t, row, bytes), &p.bytes) && isfinite(p.bytes) &&
            latency_of(t, row, &lat, &p.latency, &column))
            vec_push(&points.at, p);
    }
    struct comm_result result = between(&points, q);
    vec_free(&points.at);
    return result;
}
