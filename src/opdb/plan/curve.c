/*
 * Times of calls along their sizes. See curve.h.
 */
#include "opdb/plan/curve_in.h"

#include <math.h>
#include <string.h>

#include "base/tables/ranked.h"
#include "base/text/num.h"
#include "opdb/rows/opset.h"

enum { KNOTS = 96, SIDE = 40, FEW = 3 };

/* Times over x (tokens, sequences, bytes) and, of attention, y (keys, queries); logarithms. */
struct curve {
    bool is_empty; /* nothing is known */
    size_t nx, ny; /* ny 1: of x alone */
    double *x, *y;
    double *us, *sigma; /* row after row: us[j * nx + i] at x[i], y[j] */
    uint8_t *source;
    struct model_call end; /* the call at the last knot, for what lies beyond */
};

/* ---- knots ---- */

/* The axis on which calls of the curve differ, and that of y; -1: none. */
static void axes_of(const struct model_call *c, int *x, int *y)
{
    *x = 0;
    *y = curve_is_attention(c) ? 2 : -1;
}

struct axis_values {
    VEC_OF(double) x, y;
};

/* Sizes of the rows that share all other axes with the call. */
static void rows_along(const struct curves *cs, const struct model_call *c, struct axis_values *out)
{
    struct opset *set;
    struct call_work w;
    int ax, ay;

    if (c->op == MODEL_COMM || !call_work(&cs->times, c, &set, &w) || set == NULL)
        return;
    const struct opset_regime *r = opset_find(set, &w);
    axes_of(c, &ax, &ay);
    for (size_t i = 0; r != NULL && i < r->points.n; i++) {
        const struct call_work *p = &r->points.at[i].work;
        bool is_same = p->kind == w.kind && p->n_axes == w.n_axes;
        for (unsigned k = 0; k < w.n_axes && is_same; k++) {
            bool is_free = (int)k == ax || (int)k == ay || (ay >= 0 && k == 1);
            is_same = is_free || p->axis[k] == w.axis[k];
        }
        if (!is_same)
            continue;
        vec_push(&out->x, p->axis[ax]);
        if (ay >= 0)
            vec_push(&out->y, p->axis[ay]);
    }
}

/* Sorted and each once, at most `most` of them. */
static size_t as_knots(double *values, size_t n, size_t most)
{
    size_t kept = 0;

    if (n == 0)
        return 0;
    ranked_sort(values, n);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || values[i] > values[kept - 1] * (1 + 1e-9))
            values[kept++] = values[i];
    for (; kept > most; kept = (kept + 1) / 2)
        for (size_t i = 0; 2 * i < kept; i++)
            values[i] = values[2 * i + 1 < kept && 2 * i + 2 >= kept ? 2 * i + 1 : 2 * i];
    return kept;
}

/* A step of a half power of two apart. */
static size_t even_knots(double *out, double first, double last)
{
    size_t n = 0;

    for (double x = first; x < last * 1.001 && n < KNOTS; x *= 2) {
        out[n++] = x;
        if (x >= 2 && x * 1.5 < last && n < KNOTS)
            out[n++] = x * 1.5;
    }
    return n;
}

static void add_knots(struct axis_values *v, bool is_y, double first, double last, double step)
{
    for (double x = first; x <= last; x *= step)
        if (is_y)
            vec_push(&v->y, x);
        else
            vec_push(&v->x, x);
}

/* Rows, and powers of two between and beyond them. */
static void knots_of(const struct curves *cs, const struct model_call *c, double *x, size_t *nx,
                     double *y, size_t *ny)
{
    struct axis_values rows = {0};

    *ny = 1;
    y[0] = 1;
    if (c->op == MODEL_COMM) {
        *nx = even_knots(x, 256, 1 << 29);
        return;
    }
    rows_along(cs, c, &rows);
    if (!curve_is_attention(c) && rows.x.n < FEW) {
        *nx = even_knots(x, 1, 65536);
    } else if (!curve_is_attention(c)) {
        *nx = as_knots(rows.x.at, rows.x.n, KNOTS);
        memcpy(x, rows.x.at, *nx * sizeof(*x));
    } else {
        add_knots(&rows, false, 1, 1024, 2);
        add_knots(&rows, true, 16, 1 << 18, 2);
        *nx = as_knots(rows.x.at, rows.x.n, SIDE);
        *ny = as_knots(rows.y.at, rows.y.n, SIDE);
        memcpy(x, rows.x.at, *nx * sizeof(*x));
        memcpy(y, rows.y.at, *ny * sizeof(*y));
    }
    vec_free(&rows.x);
    vec_free(&rows.y);
}

/* ---- values ---- */

void curve_rise(double *values, size_t columns, size_t rows)
{
    size_t n = columns * rows;
    double *low = mem_grow(NULL, sizeof(*low), n), *high = mem_grow(NULL, sizeof(*high), n);

    for (size_t j = 0; j < rows; j++)
        for (size_t i = 0; i < columns; i++) {
            size_t at = j * columns + i;
            low[at] = values[at];
            if (i > 0)
                low[at] = fmax(low[at], low[at - 1]);
            if (j > 0)
                low[at] = fmax(low[at], low[at - columns]);
        }
    for (size_t j = rows; j-- > 0;)
        for (size_t i = columns; i-- > 0;) {
            size_t at = j * columns + i;
            high[at] = values[at];
            if (i + 1 < columns)
                high[at] = fmin(high[at], high[at + 1]);
            if (j + 1 < rows)
                high[at] = fmin(high[at], high[at + columns]);
        }
    for (size_t i = 0; i < n; i++)
        values[i] = (low[i] + high[i]) / 2;
    mem_free(low);
    mem_free(high);
}

/* Rows answer by themselves; nothing has to be fitted for them. */
static bool ask_row(const struct curves *cs, const struct model_call *c, double *us)
{
    struct opset *set;
    struct call_work w;
    uint32_t row;

    if (c->op == MODEL_COMM || !call_work(&cs->times, c, &set, &w) || set == NULL)
        return false;
    const struct estimate_point *p = opset_exact(set, &w, &row);
    if (p != NULL)
        *us = p->us;
    return p != NULL;
}

/* A measurement differs from the next one of the same call by some percent: the least that is
 * assumed of any answer. */
static const double least_sigma = 0.02;

static double sigma_of(const struct call_time *t)
{
    return fmax(least_sigma, log(t->high_us / fmax(t->low_us, 1e-9)) / 2 / 1.2816);
}

/* ---- quantised inputs ---- */

/* Rows of products of eight and four bits include the kernels that quantise their inputs, which
 * engines do as part of the norm or the activation before. What that takes is seen where the
 * product itself takes nothing: the narrowest one of that depth, against BF16. */
static double quantising_us(const struct curves *cs, const struct model_call *c, double m)
{
    double narrowest = INFINITY, us, plain;
    struct opset *set;
    struct call_work w;

    if (c->op != MODEL_PRODUCT || c->type->input_bytes >= 2 ||
        !call_work(&cs->times, c, &set, &w) || set == NULL)
        return 0;
    const struct opset_regime *r = opset_find(set, &w);
    for (size_t i = 0; r != NULL && i < r->points.n; i++) {
        const double *axis = r->points.at[i].work.axis;
        if (axis[0] == m && axis[1] == c->k)
            narrowest = fmin(narrowest, axis[2]);
    }
    struct model_call narrow = curve_call(c, m, 1);
    narrow.n = narrowest;
    if (!(narrowest < c->n) || !ask_row(cs, &narrow, &us))
        return 0;
    narrow.type = quant_bf16;
    return ask_row(cs, &narrow, &plain) ? fmax(0, us - plain) : 0;
}

/* A row by itself, else what the database answers. */
static bool fill_knot(struct curves *cs, const struct curve *v, const struct model_call *c,
                      size_t i, size_t j)
{
    size_t at = j * v->nx + i;
    struct model_call one = curve_call(c, exp(v->x[i]), exp(v->y[j]));
    struct call_time t;
    double us;

    double quantising = quantising_us(cs, c, exp(v->x[i]));
    double least = call_floor_us(cs->times.db->device, &one);
    if (ask_row(cs, &one, &us)) {
        v->us[at] = log(fmax(us - quantising, fmin(us, least)));
        v->sigma[at] = least_sigma;
        v->source[at] = QUERY_MEASURED;
        return true;
    }
    if (call_time(&cs->times, &one, false, &t) != ST_OK)
        cs->status = ST_IO;
    if (t.miss != NULL || !(t.us > 0))
        return false;
    v->us[at] = log(t.us);
    v->sigma[at] = sigma_of(&t);
    v->source[at] = (uint8_t)t.source;
    return true;
}

/* ---- experts that were measured on other cards ---- */

/* The rows of this model's experts, cut in another way, whose part of a card is most like this
 * one's; false: this way was measured, or none was. Rows have the width of a part and how many
 * experts a card holds. */
static bool other_cut(const struct curves *cs, const struct model_call *c, struct model_call *out)
{
    enum { TOKENS, HIDDEN, WIDTH, TOP, HELD, ALL };
    const struct model_experts_call *e = &c->experts;
    double best = INFINITY, width = (double)e->inter / (double)e->expert_tp;
    struct opset *set;
    struct call_work w;

    if (c->op != MODEL_MODULE || !call_work(&cs->times, c, &set, &w) || set == NULL)
        return false;
    const struct opset_regime *r = opset_find(set, &w);
    for (size_t i = 0; r != NULL && i < r->points.n; i++) {
        const double *axis = r->points.at[i].work.axis;
        if (axis[HIDDEN] != w.axis[HIDDEN] || axis[TOP] != w.axis[TOP] || axis[ALL] != w.axis[ALL])
            continue;
        double cut = fabs(log(axis[WIDTH] * axis[HELD] / (width * e->held)));
        double far = cut * 10 + fabs(log(axis[WIDTH] / width));
        if (far >= best)
            continue;
        best = far;
        *out = *c;
        out->experts.held = axis[HELD];
        out->experts.inter = (int64_t)axis[WIDTH];
        out->experts.expert_tp = 1;
        out->experts.ep = num_i64_of(round(axis[ALL] / axis[HELD]));
    }
    return best > 1e-9 && best < INFINITY;
}

/* The knots of that cut, and what the device allows of both. */
static void fill_from_cut(struct curves *cs, struct curve *v, const struct model_call *c,
                          const struct model_call *other)
{
    const struct device *d = cs->times.db->device;

    for (size_t i = 0; i < v->nx; i++) {
        double x = exp(v->x[i]);
        struct model_call here = curve_call(c, x, 1), there = curve_call(other, x, 1);
        struct call_time t;
        double us = 0, a = call_floor_us(d, &here), b = call_floor_us(d, &there);
        if (!ask_row(cs, &there, &us) && call_time(&cs->times, &there, false, &t) == ST_OK &&
            t.miss == NULL)
            us = t.us;
        v->is_empty = v->is_empty || !(us > 0);
        v->us[i] = log(us * (a > 0 && b > 0 ? a / b : 1));
        v->sigma[i] = 0.1;
        v->source[i] = QUERY_INTERPOLATED;
    }
    if (!v->is_empty)
        curve_rise(v->us, v->nx, v->ny);
}

/* Activations that meet weights in MXFP4 are the engine's choice, which is the faster one. */
static bool other_activations(const struct model_call *c, struct model_call *out)
{
    static const struct {
        struct str one, other;
    } pairs[] = {{S_INIT("w4a16_mxfp4"), S_INIT("w4a8_mxfp4_mxfp8")},
                 {S_INIT("w4a8_mxfp4_mxfp8"), S_INIT("w4a16_mxfp4")}};

    for (size_t i = 0; i < ARRAY_LEN(pairs) && c->op == MODEL_MODULE; i++)
        if (str_equal(c->type->name, pairs[i].one)) {
            *out = *c;
            out->type = quant_find(pairs[i].other);
            return true;
        }
    return false;
}

static void fill_type(struct curves *cs, struct curve *v, const struct model_call *c)
{
    struct model_call other;

    if (other_cut(cs, c, &other)) {
        fill_from_cut(cs, v, c, &other);
        return;
    }
    for (size_t j = 0; j < v->ny && !v->is_empty; j++)
        for (size_t i = 0; i < v->nx && !v->is_empty; i++)
            v->is_empty = !fill_knot(cs, v, c, i, j);
    if (!v->is_empty)
        curve_rise(v->us, v->nx, v->ny);
}

/* Engines quantise activations when it pays: the faster of the measured ways is theirs. */
static void fill_curve(struct curves *cs, struct curve *v, const struct model_call *c)
{
    struct model_call other;

    fill_type(cs, v, c);
    if (!other_activations(c, &other))
        return;
    struct curve second = *v;
    size_t n = v->nx * v->ny;
    second.is_empty = false;
    second.us = mem_grow(NULL, sizeof(*second.us), n);
    second.sigma = mem_grow(NULL, sizeof(*second.sigma), n);
    second.source = mem_grow(NULL, sizeof(*second.source), n);
    fill_type(cs, &second, &other);
    for (size_t i = 0; i < n && !second.is_empty; i++)
        if (v->is_empty || second.us[i] < v->us[i]) {
            v->us[i] = second.us[i];
            v->sigma[i] = second.sigma[i];
            v->source[i] = second.source[i];
        }
    v->is_empty = v->is_empty && second.is_empty;
    mem_free(second.us);
    mem_free(second.sigma);
    mem_free(second.source);
}

static struct curve *curve_new(struct curves *cs, const struct model_call *c)
{
    struct curve *v = ARENA_NEW(&cs->arena, struct curve);
    double x[KNOTS], y[KNOTS];
    struct arena scratch;

    arena_init(&scratch);
    cs->times.arena = &scratch;
    knots_of(cs, c, x, &v->nx, y, &v->ny);
    v->x = ARENA_ARRAY(&cs->arena, double, v->nx);
    v->y = ARENA_ARRAY(&cs->arena, double, v->ny);
    v->us = ARENA_ARRAY(&cs->arena, double, v->nx * v->ny);
    v->sigma = ARENA_ARRAY(&cs->arena, double, v->nx * v->ny);
    v->source = ARENA_ARRAY(&cs->arena, uint8_t, v->nx * v->ny);
    for (size_t i = 0; i < v->nx; i++)
        v->x[i] = log(x[i]);
    for (size_t j = 0; j < v->ny; j++)
        v->y[j] = log(y[j]);
    fill_curve(cs, v, c);
    if (!v->is_empty)
        v->end = curve_call(c, x[v->nx - 1], y[v->ny - 1]);
    cs->times.arena = NULL;
    arena_free(&scratch);
    return v;
}

static struct curve *curve_of(struct curves *cs, const struct model_call *c)
{
    uint32_t place = hash_add(&cs->places, curve_key(c), (uint32_t)cs->at.n);

    if (place == cs->at.n) {
        vec_push(&cs->at, NULL);
        cs->at.at[place] = curve_new(cs, c);
    }
    return cs->at.at[place];
}

/* ---- answers ---- */

/* The knot at or before a place, and how far it is to the next, 0 to 1. */
static size_t knot_before(const double *at, size_t n, double place, double *share)
{
    size_t i;

    if (n < 2 || place <= at[0]) {
        *share = 0;
        return 0;
    }
    if (place >= at[n - 1]) {
        *share = 1;
        return n - 2;
    }
    vec_bisect(i, n, k, at[k] <= place);
    *share = (place - at[i - 1]) / (at[i] - at[i - 1]);
    return i - 1;
}

static double mixed(const double *values, const struct curve *v, size_t i, size_t j, double u,
                    double w)
{
    size_t right = v->nx > 1 ? 1 : 0, up = v->ny > 1 ? v->nx : 0;
    const double *p = values + j * v->nx + i;
    double low = p[0] + u * (p[right] - p[0]), high = p[up] + u * (p[up + right] - p[up]);

    return low + w * (high - low);
}

/* The worst of the knots around a place. */
static enum query_source source_at(const struct curve *v, size_t i, size_t j, double u, double w)
{
    unsigned worst = QUERY_MEASURED;
    bool is_knot = (u == 0 || u == 1) && (w == 0 || w == 1);

    for (size_t b = 0; b < (v->ny > 1 ? 2U : 1U); b++)
        for (size_t a = 0; a < (v->nx > 1 ? 2U : 1U); a++) {
            if ((a == 1 && u == 0) || (a == 0 && u == 1) || (b == 1 && w == 0) ||
                (b == 0 && w == 1))
                continue;
            unsigned one = v->source[(j + b) * v->nx + i + a];
            worst = one > worst ? one : worst;
        }
    return worst == QUERY_MEASURED && !is_knot ? QUERY_INTERPOLATED : (enum query_source)worst;
}

/* Beyond the last knot the call takes as much longer as the device needs for it. */
static double beyond(const struct curves *cs, const struct curve *v, const struct model_call *c,
                     double x, double y)
{
    double inside_x = fmin(x, exp(v->x[v->nx - 1])), inside_y = fmin(y, exp(v->y[v->ny - 1]));
    struct model_call there = curve_call(c, inside_x, inside_y), here = curve_call(c, x, y);
    double a = call_floor_us(cs->times.db->device, &here);
    double b = call_floor_us(cs->times.db->device, &there);

    if (c->op == MODEL_COMM || !(a > 0 && b > 0))
        return fmax(1, x / inside_x) * fmax(1, y / inside_y);
    return fmax(1, a / b);
}

/* Without rows at all: what the device allows. */
static struct curve_point by_roof(struct curves *cs, const struct model_call *c)
{
    struct call_time t;
    struct arena scratch;

    arena_init(&scratch);
    cs->times.arena = &scratch;
    bool is_known = call_time(&cs->times, c, false, &t) == ST_OK && t.miss == NULL;
    cs->times.arena = NULL;
    arena_free(&scratch);
    return (struct curve_point){.us = is_known ? t.us : 0,
                                .sigma = is_known ? sigma_of(&t) : 0,
                                .source = t.source,
                                .is_known = is_known};
}

struct curve_point curve_time(struct curves *cs, const struct model_call *c)
{
    double x, y, u, w;

    curve_place(c, &x, &y);
    if (!(x > 0) || !(y > 0))
        return (struct curve_point){.is_known = true, .sigma = least_sigma};
    if (!curve_exists(c))
        return by_roof(cs, c);
    const struct curve *v = curve_of(cs, c);
    if (v->is_empty)
        return (struct curve_point){.is_known = false};
    /* Less than one sequence is a part of one. */
    double part = curve_is_attention(c) ? fmin(1, x) : 1, lx = log(x / part), ly = log(y);
    size_t i = knot_before(v->x, v->nx, lx, &u), j = knot_before(v->y, v->ny, ly, &w);
    struct curve_point out = {.us = part * exp(mixed(v->us, v, i, j, u, w)),
                              .sigma = mixed(v->sigma, v, i, j, u, w),
                              .source = source_at(v, i, j, u, w),
                              .is_known = true};
    bool is_beyond = lx > v->x[v->nx - 1] + 1e-9 || ly > v->y[v->ny - 1] + 1e-9;
    if (is_beyond) {
        double more = beyond(cs, v, c, x / part, y);
        out.us *= more;
        out.sigma += 0.1 * log(fmax(1, more));
        if (out.source < QUERY_EXTRAPOLATED)
            out.source = QUERY_EXTRAPOLATED;
    }
    return out;
}

void curves_init(struct curves *c, struct query_db *db, struct diag *d)
{
    *c = (struct curves){.times = {.db = db, .d = d}, .status = ST_OK};
    arena_init(&c->arena);
}

void curves_free(struct curves *c)
{
    hash_free(&c->places);
    vec_free(&c->at);
    arena_free(&c->arena);
}
