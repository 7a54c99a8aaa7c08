#include "perfdb/compare_plot.h"

#include <math.h>
#include <stdlib.h>

#include "perfdb/compare_text.h"

/* Borders of the histogram in percent; narrow where good models live. */
static const double borders[] = {-75, -50, -25, -10, -5, 5, 10, 25, 50, 100, 200};

enum { BINS = ARRAY_LEN(borders) + 1 };

static bool has_both(const struct plot_point *p)
{
    return p->measured_us > 0 && p->modelled_us > 0;
}

static double error_pct(const struct plot_point *p)
{
    return (p->modelled_us - p->measured_us) / p->measured_us * 100;
}

static void put_point(struct json_writer *j, const struct plot_point *p)
{
    json_write_object(j);
    json_put_str(j, "kernel_type", p->kernel);
    json_put_str(j, "shape_key", p->shapes);
    decimal_json(j, S("measured_us"), p->measured_us, DECIMALS_ALL);
    decimal_json(j, S("modelled_us"), p->modelled_us, DECIMALS_ALL);
    decimal_json(j, S("error_pct"), p->measured_us > 0 ? error_pct(p) : NAN, DECIMALS_ALL);
    json_write_end(j);
}

static void put_histogram(struct json_writer *j, const struct plot_point *points, size_t n)
{
    uint64_t counts[BINS] = {0};

    for (size_t i = 0; i < n; i++) {
        size_t bin = 0;
        if (!has_both(&points[i]))
            continue;
        while (bin < BINS - 1 && error_pct(&points[i]) >= borders[bin])
            bin++;
        counts[bin]++;
    }
    json_write_array(j);
    for (size_t bin = 0; bin < BINS; bin++) {
        json_write_object(j);
        decimal_json(j, S("from_pct"), bin > 0 ? borders[bin - 1] : -INFINITY, DECIMALS_ALL);
        decimal_json(j, S("to_pct"), bin < BINS - 1 ? borders[bin] : INFINITY, DECIMALS_ALL);
        json_put_u64(j, "count", counts[bin]);
        json_write_end(j);
    }
    json_write_end(j);
}

static int by_distance(const void *a, const void *b)
{
    const struct plot_point *x = a, *y = b;
    double left = fabs(x->modelled_us - x->measured_us);
    double right = fabs(y->modelled_us - y->measured_us);

    if (left != right)
        return left < right ? 1 : -1;
    int order = str_compare(x->kernel, y->kernel);
    return order != 0 ? order : str_compare(x->shapes, y->shapes);
}

void plot_json(struct json_writer *j, struct plot_point *points, size_t n)
{
    if (n > 0)
        qsort(points, n, sizeof(*points), by_distance);
    json_put_array(j, "scatter");
    for (size_t i = 0; i < n; i++)
        if (has_both(&points[i]))
            put_point(j, &points[i]);
    json_write_end(j);
    json_write_key(j, S("error_histogram"));
    put_histogram(j, points, n);
    json_put_array(j, "worst");
    for (size_t i = 0; i < n && i < PLOT_WORST; i++)
        put_point(j, &points[i]);
    json_write_end(j);
}
