/*
 * The fits: weighted least squares for each operation and path; and what they found as a cost file
 * and for programs.
 */
#include "kernels/pto/cost/calibrate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/tables/ranked.h"
#include "kernels/pto/cost/cost_data.h"
#include "report/record.h"

enum { BIAS = PTO_RATE_COUNT, INVERSE_RATE = 0, LATENCY = 1, ROUNDS = 25 };

/* A measurement in the words of the fit: cycles = fixed + sum of part[j] * unknown j. */
struct point {
    double part[PTO_REFIT_KEYS];
    double fixed, cycles;
};

struct fit {
    struct point *points;
    double *weights, *sizes;
    size_t n, unknowns;
    double base[PTO_REFIT_KEYS]; /* where the fit starts, and where it stays without evidence */
    double now[PTO_REFIT_KEYS];
    bool is_slope[PTO_REFIT_KEYS]; /* must not be negative */
    bool is_held[PTO_REFIT_KEYS];  /* keeps the base value */
};

/* (model - measured) / measured */
static double error_of(const double unknown[], const struct point *p)
{
    double sum = p->fixed;

    for (size_t j = 0; j < PTO_REFIT_KEYS; j++)
        sum += p->part[j] * unknown[j];
    return fmax(sum, 0) / p->cycles - 1;
}

static struct pto_residual residual_of(const struct fit *f, const double unknown[])
{
    struct pto_residual r = {0, 0};

    for (size_t i = 0; i < f->n; i++) {
        double percent = 100 * fabs(error_of(unknown, &f->points[i]));
        r.mean += percent / (double)f->n;
        r.worst = fmax(r.worst, percent);
    }
    return r;
}

/* Gauss-Jordan on a positive definite system; the last column is the right side and the answer. */
static void solve(double a[PTO_REFIT_KEYS][PTO_REFIT_KEYS + 1], size_t n)
{
    for (size_t pivot = 0; pivot < n; pivot++) {
        double scale = a[pivot][pivot];
        for (size_t j = 0; j <= n; j++)
            a[pivot][j] /= scale;
        for (size_t row = 0; row < n; row++) {
            double ratio = a[row][pivot];
            for (size_t j = 0; row != pivot && j <= n; j++)
                a[row][j] -= ratio * a[pivot][j];
        }
    }
}

/* Weighted least squares of the relative error, as a step from the base values. The small term on
 * the diagonal keeps what the points do not settle where it was. */
static void fit_once(struct fit *f)
{
    double a[PTO_REFIT_KEYS][PTO_REFIT_KEYS + 1] = {{0}};
    size_t n = f->unknowns;

    for (size_t i = 0; i < f->n; i++) {
        const struct point *p = &f->points[i];
        double miss = -error_of(f->base, p), w = f->weights[i] / (p->cycles * p->cycles);
        for (size_t j = 0; j < n; j++) {
            for (size_t k = 0; k < n; k++)
                a[j][k] += w * p->part[j] * p->part[k];
            a[j][n] += w * p->part[j] * miss * p->cycles;
        }
    }
    for (size_t j = 0; j < n; j++)
        a[j][j] = a[j][j] * (1 + 1e-6) + 1e-12;
    for (size_t j = 0; j < n; j++) {
        if (!f->is_held[j])
            continue;
        for (size_t k = 0; k < n; k++)
            a[j][k] = a[k][j] = 0;
        a[j][j] = 1;
        a[j][n] = 0;
    }
    solve(a, n);
    for (size_t j = 0; j < n; j++)
        f->now[j] = f->base[j] + a[j][n];
}

static void fit_robustly(struct fit *f)
{
    for (size_t i = 0; i < f->n; i++)
        f->weights[i] = 1;
    for (int round = 0; round < ROUNDS; round++) {
        fit_once(f);
        /* Points far off the rest (against the median distance) pull no harder than near ones. */
        for (size_t i = 0; i < f->n; i++)
            f->sizes[i] = fabs(error_of(f->now, &f->points[i]));
        ranked_sort(f->sizes, f->n);
        double near = fmax(1.345 * 1.4826 * f->sizes[f->n / 2], 1e-4);
        for (size_t i = 0; i < f->n; i++) {
            double size = fabs(error_of(f->now, &f->points[i]));
            f->weights[i] = size > near ? near / size : 1;
        }
    }
}

/* A slope that comes out negative is held at nothing, and the rest fitted once more. */
static void fit_all(struct fit *f)
{
    bool is_done = false;

    for (size_t tries = 0; !is_done && tries <= f->unknowns; tries++) {
        is_done = true;
        fit_robustly(f);
        for (size_t j = 0; j < f->unknowns; j++) {
            if (f->is_slope[j] && f->now[j] < 0) {
                f->base[j] = 0;
                f->is_held[j] = true;
                is_done = false;
            }
        }
    }
    /* What a cost file may hold. */
    for (size_t j = 0; j < f->unknowns; j++)
        f->now[j] = fmin(fmax(f->now[j], f->is_slope[j] ? 0 : -1e6), 1e9);
}

/* Which fit a measurement belongs to: 0 none, else ordered as the results are. */
static uint32_t calibrate_group_of(const struct pto_costs *c, const struct pto_work *w)
{
    enum { PATHS = 1 << 16, ARCH = 1 << 20 };
    uint32_t arch = (uint32_t)w->arch * ARCH;

    if (w->bytes > 0)
        return c->path[w->arch][w->src_space][w->dst_space].rate > 0
                   ? arch + PATHS + (uint32_t)w->src_space * PTO_SPACE_COUNT + w->dst_space
                   : 0;
    if (c->law[w->arch][w->op].shape == PTO_SHAPE_NONE || w->v_row <= 0 || w->v_col <= 0)
        return 0;
    return arch + (uint32_t)w->op;
}

static struct point point_of(const struct pto_costs *c, const struct pto_measure *m)
{
    const struct pto_work *w = &m->work;
    struct point p = {.cycles = m->cycles};

    if (w->bytes > 0) {
        p.part[INVERSE_RATE] = (double)w->bytes;
        p.part[LATENCY] = 1;
        p.fixed = c->path[w->arch][w->src_space][w->dst_space].issue;
        return p;
    }
    struct pto_terms t = w->arch == PTO_A5 ? pto_a5_terms(c, w) : pto_vector_terms(c, w);
    p.part[pto_rate_of(w->src_dtype)] = t.units;
    p.part[BIAS] = 1;
    p.fixed = t.fixed + t.busy;
    return p;
}

/* Six digits: more would be noise, and differ between machines. */
static double rounded(double value)
{
    if (value == 0 || !isfinite(value))
        return value;
    double digits = 5 - floor(log10(fabs(value)));
    double scale = pow(10, fabs(digits));
    return digits >= 0 ? round(value * scale) / scale : round(value / scale) * scale;
}

static void name_key(struct pto_refit *r, const char *field, double before, double after)
{
    struct pto_refit_key key = {.before = before, .after = rounded(after)};

    (void)snprintf(key.name, sizeof(key.name), "%s.%s", r->name, field);
    r->keys[r->n_keys++] = key;
}

static void refit_path(const struct pto_costs *c, const struct pto_work *w, struct fit *f,
                       struct pto_refit *r)
{
    const struct pto_path *path = &c->path[w->arch][w->src_space][w->dst_space];

    f->unknowns = 2;
    f->base[INVERSE_RATE] = 1 / path->rate;
    f->base[LATENCY] = path->latency;
    f->is_slope[INVERSE_RATE] = f->is_slope[LATENCY] = true;
    r->before = residual_of(f, f->base);
    fit_all(f);
    (void)snprintf(r->name, sizeof(r->name), "%s.%s.%s", pto_arch_name(w->arch),
                   pto_space_name(w->src_space), pto_space_name(w->dst_space));
    name_key(r, "rate", path->rate, fmax(1 / fmax(f->now[INVERSE_RATE], 1e-9), 1e-3));
    name_key(r, "latency", path->latency, f->now[LATENCY]);
}

/* A rate that no measurement depends on is held: a fit would give it any value. */
static void refit_law(const struct pto_costs *c, const struct pto_work *w, struct fit *f,
                      struct pto_refit *r)
{
    const struct pto_law *law = &c->law[w->arch][w->op];

    f->unknowns = PTO_REFIT_KEYS;
    f->base[BIAS] = law->bias;
    for (size_t j = 0; j < PTO_RATE_COUNT; j++) {
        f->base[j] = law->slope[j];
        f->is_slope[j] = f->is_held[j] = true;
    }
    for (size_t i = 0; i < f->n; i++)
        for (size_t j = 0; j < PTO_RATE_COUNT; j++)
            f->is_held[j] = f->is_held[j] && f->points[i].part[j] == 0;
    bool is_given[PTO_RATE_COUNT];
    for (size_t j = 0; j < PTO_RATE_COUNT; j++)
        is_given[j] = !f->is_held[j];
    r->before = residual_of(f, f->base);
    fit_all(f);
    (void)snprintf(r->name, sizeof(r->name), "%s.%s", pto_arch_name(w->arch),
                   pto_op_name(w->op) + sizeof("pto.") - 1);
    for (size_t j = 0; j < PTO_RATE_COUNT; j++)
        if (is_given[j])
            name_key(r, pto_rate_names[j], law->slope[j], f->now[j]);
    name_key(r, "bias", law->bias, f->now[BIAS]);
}

struct member {
    uint32_t group, index;
};

ORDER_BY(by_group, struct member, ORDER(x->group, y->group) ?: ORDER(x->index, y->index));

static struct pto_refit refit_group(const struct pto_costs *c, const struct pto_measures *measures,
                                    const struct member *members, size_t n, struct arena *scratch)
{
    struct fit f = {.points = ARENA_ARRAY(scratch, struct point, n),
                    .weights = ARENA_ARRAY(scratch, double, n),
                    .sizes = ARENA_ARRAY(scratch, double, n),
                    .n = n};
    const struct pto_work *w = &measures->rows.at[members[0].index].work;
    struct pto_refit r = {.points = n};

    for (size_t i = 0; i < n; i++)
        f.points[i] = point_of(c, &measures->rows.at[members[i].index]);
    if (w->bytes > 0)
        refit_path(c, w, &f, &r);
    else
        refit_law(c, w, &f, &r);
    /* A fit that does not lower the mean error is not worth a change. */
    r.after = residual_of(&f, f.now);
    if (r.after.mean > r.before.mean) {
        r.after = r.before;
        for (size_t k = 0; k < r.n_keys; k++)
            r.keys[k].after = r.keys[k].before;
    }
    return r;
}

static void add_residual(struct pto_residual *sum, struct pto_residual part, size_t n)
{
    sum->mean += part.mean * (double)n;
    sum->worst = fmax(sum->worst, part.worst);
}

void pto_calibrate(const struct pto_costs *costs, const struct pto_measures *measures,
                   struct pto_calibration *out)
{
    struct arena scratch;
    size_t n = 0;

    arena_init(&scratch);
    struct member *members = ARENA_ARRAY(&scratch, struct member, measures->rows.n);
    for (size_t i = 0; i < measures->rows.n; i++) {
        uint32_t group = calibrate_group_of(costs, &measures->rows.at[i].work);
        if (group != 0)
            members[n++] = (struct member){group, (uint32_t)i};
    }
    if (n > 0)
        qsort(members, n, sizeof(members[0]), by_group);
    for (size_t from = 0, to = 0; from < n; from = to) {
        while (to < n && members[to].group == members[from].group)
            to++;
        struct pto_refit r = refit_group(costs, measures, &members[from], to - from, &scratch);
        add_residual(&out->before, r.before, to - from);
        add_residual(&out->after, r.after, to - from);
        vec_push(&out->refits, r);
    }
    out->points = n;
    out->unused = measures->rows.n - n;
    if (n > 0) {
        out->before.mean /= (double)n;
        out->after.mean /= (double)n;
    }
    arena_free(&scratch);
}

void pto_calibration_free(struct pto_calibration *cal)
{
    vec_free(&cal->refits);
}

/* ---- what was found ---- */

/* A row of a cost file. */
struct cost_row {
    const char *key;
    double value;
    const char *error, *origin;
};

static const struct field row_fields[] = {
    FIELD(struct cost_row, key, "key"),
    FIELD(struct cost_row, value, "value"),
    FIELD(struct cost_row, error, "error_percent"),
    FIELD(struct cost_row, origin, "origin"),
};
static const struct record row_record = RECORD(struct cost_row, row_fields);

bool pto_calibration_write(const struct pto_calibration *cal, struct sink sink)
{
    struct csv_write out;
    char error[32], origin[96];

    csv_write_open(&out, sink);
    record_csv_heads(&out, &row_record);
    for (size_t i = 0; i < cal->refits.n; i++) {
        const struct pto_refit *r = &cal->refits.at[i];
        for (size_t k = 0; k < r->n_keys; k++) {
            struct cost_row row = {r->keys[k].name, r->keys[k].after, error, origin};
            (void)snprintf(error, sizeof(error), "%.2f", r->after.mean);
            (void)snprintf(origin, sizeof(origin), "fitted to %zu points; was %g", r->points,
                           r->keys[k].before);
            record_csv_row(&out, &row_record, &row, NULL);
        }
    }
    return csv_write_close(&out);
}

static const struct field residual_fields[] = {
    FIELD(struct pto_residual, mean, "mean_percent"),
    FIELD(struct pto_residual, worst, "worst_percent"),
};
static const struct record residual_record = RECORD(struct pto_residual, residual_fields);

static struct field_value calibrate_name_of(const void *record, const struct record_env *env)
{
    (void)env;
    return value_text(str_of(record)); /* the name is the first member of both */
}

static const struct field key_fields[] = {
    FIELD_CALC(FIELD_STR, "key", calibrate_name_of, .about = "as in a cost file"),
    FIELD(struct pto_refit_key, before, "before"),
    FIELD(struct pto_refit_key, after, "after"),
};
static const struct record key_record = RECORD(struct pto_refit_key, key_fields);

static const struct field refit_fields[] = {
    FIELD_CALC(FIELD_STR, "name", calibrate_name_of, .about = "an operation or a path"),
    FIELD(struct pto_refit, points, "points"),
    FIELD_INSIDE(struct pto_refit, before, "before", &residual_record),
    FIELD_INSIDE(struct pto_refit, after, "after", &residual_record),
    FIELD_ROOM(struct pto_refit, keys, n_keys, "constants", &key_record),
};
static const struct record refit_record = RECORD(struct pto_refit, refit_fields);

static const struct field calibration_fields[] = {
    FIELD(struct pto_calibration, points, "points"),
    FIELD(struct pto_calibration, unused, "unused", .about = "measurements of no law"),
    FIELD_INSIDE(struct pto_calibration, before, "before", &residual_record),
    FIELD_INSIDE(struct pto_calibration, after, "after", &residual_record),
    FIELD_LIST(struct pto_calibration, refits.at, refits.n, "laws", &refit_record),
};
static const struct record calibration_record = RECORD(struct pto_calibration, calibration_fields);

const struct schema pto_calibration_schema = {
    .name = "strata.pto-calibrate/1",
    .title = "constants of the PTO cost model fitted to measurements",
    .record = &calibration_record,
};
