#include "perfdb/comm_model.h"

#include <math.h>
#include <stdlib.h>

#include "perfdb/cell.h"
#include "perfdb/table.h"

static const double efficiency = 0.7;

void comm_model_init(struct comm_model *model)
{
    *model = (struct comm_model){
        .links =
            {
                {true, 196e9, 5.5}, /* between pods */
                {true, 196e9, 0.5}, /* within a pod */
                {true, 224e9, 0.2}, /* between the dies of a chip */
            },
    };
}

void comm_model_free(struct comm_model *model)
{
    vec_free(&model->fits);
}

/* The column whose name is `word`, or `word_` and a unit. */
static int find_column(const struct table *t, struct str word)
{
    for (size_t i = 0; i < t->columns.n; i++) {
        struct str name = cell_trim(t->columns.at[i]);
        if (str_starts(name, word) && (name.n == word.n || name.at[word.n] == '_'))
            return (int)i;
    }
    return -1;
}

static enum status bad_row(const struct table *t, size_t row, struct diag *d, const char *problem)
{
    return diag_fail(d, ST_FORMAT, "perfdb.bad-link",
                     (struct where){.path = t->path, .line = t->lines.at[row]}, "%s", problem);
}

static enum status take_links(struct comm_model *model, const struct table *t, int tier,
                              int bandwidth, int latency, struct diag *d)
{
    model->source = COMM_FROM_LINKS;
    memset(model->links, 0, sizeof(model->links));
    for (size_t i = 0; i < t->n_rows; i++) {
        struct comm_link link = {.is_set = true};
        int64_t at;
        if (!cell_i64(table_cell(t, i, tier), &at) || at < 0 || at >= COMM_TIERS)
            return bad_row(t, i, d, "tier is not a whole number from 0 to 7");
        if (!cell_number(table_cell(t, i, bandwidth), &link.bandwidth) ||
            !isfinite(link.bandwidth) || link.bandwidth <= 0)
            return bad_row(t, i, d, "bandwidth is not a number above 0");
        if (!cell_number(table_cell(t, i, latency), &link.latency_us) ||
            !isfinite(link.latency_us) || link.latency_us < 0)
            return bad_row(t, i, d, "latency is not a number from 0 on");
        model->links[at] = link;
    }
    return ST_OK;
}

static enum status take_lines(struct comm_model *model, const struct table *t, int collective,
                              int alpha, int beta, struct diag *d)
{
    model->source = COMM_FROM_LINES;
    for (size_t i = 0; i < t->n_rows; i++) {
        struct comm_line line = {.is_set = true};
        enum collective op;
        if (!comm_find(cell_bare(table_cell(t, i, collective)), &op))
            return bad_row(t, i, d, "no collective of that name");
        if (!cell_number(table_cell(t, i, alpha), &line.alpha_us) || !isfinite(line.alpha_us) ||
            line.alpha_us < 0)
            return bad_row(t, i, d, "alpha is not a number from 0 on");
        if (!cell_number(table_cell(t, i, beta), &line.beta_us) || !isfinite(line.beta_us) ||
            line.beta_us < 0)
            return bad_row(t, i, d, "beta is not a number from 0 on");
        model->lines[op] = line;
    }
    return ST_OK;
}

static enum status take_table(struct comm_model *model, const struct table *t, struct diag *d)
{
    int tier = find_column(t, S("tier")), bandwidth = find_column(t, S("bandwidth"));
    int latency = find_column(t, S("latency")), collective = find_column(t, S("collective"));
    int alpha = find_column(t, S("alpha")), beta = find_column(t, S("beta"));

    if (tier >= 0 && bandwidth >= 0 && latency >= 0)
        return take_links(model, t, tier, bandwidth, latency, d);
    if (collective >= 0 && alpha >= 0 && beta >= 0)
        return take_lines(model, t, collective, alpha, beta, d);
    enum status st =
        diag_fail(d, ST_FORMAT, "perfdb.no-column", (struct where){.path = t->path, .line = 1},
                  "neither a table of links nor of lines");
    diag_hint(d, "try", "columns tier,bandwidth,latency or collective,alpha,beta");
    return st;
}

enum status comm_model_read(struct comm_model *model, const char *path, struct diag *d)
{
    struct table t;

    enum status st = table_read(&t, path, d);
    if (st == ST_OK)
        st = take_table(model, &t, d);
    table_free(&t);
    return st;
}

/* Sums over the points of one line: with x = 1/t and y = m/t the error is (a x + b y - 1)^2. */
struct sums {
    double xx, xy, yy, x, y;
};

/* The error as a function of a and b is a bowl: when its lowest point has a negative part, the
 * lowest allowed one lies on an edge. */
static struct comm_line solve(struct sums s)
{
    double det = s.xx * s.yy - s.xy * s.xy;
    struct comm_line flat = {true, s.xx > 0 ? s.x / s.xx : 0, 0};
    struct comm_line steep = {true, 0, s.yy > 0 ? s.y / s.yy : 0};

    if (det > 1e-12 * s.xx * s.yy) {
        struct comm_line line = {true, (s.x * s.yy - s.y * s.xy) / det,
                                 (s.y * s.xx - s.x * s.xy) / det};
        if (line.alpha_us >= 0 && line.beta_us >= 0)
            return line;
        return line.alpha_us < 0 ? steep : flat;
    }
    return flat;
}

static int compare_fits(const void *a, const void *b)
{
    const struct comm_fit *x = a, *y = b;

    return ORDER(x->op, y->op) ?: ORDER(x->ranks, y->ranks) ?: ORDER(x->tier, y->tier);
}

static int by_group(const void *a, const void *b)
{
    const struct comm_point *x = a, *y = b;

    return ORDER(x->ranks, y->ranks) ?: ORDER(x->tier, y->tier);
}

static void add_point(struct sums *s, const struct comm_point *p)
{
    if (!(p->us > 0) || !isfinite(p->us))
        return;
    double x = 1 / p->us, y = (double)p->bytes / p->us;
    *s = (struct sums){s->xx + x * x, s->xy + x * y, s->yy + y * y, s->x + x, s->y + y};
}

void comm_model_fit(struct comm_model *model, enum collective op, const struct comm_point *points,
                    size_t n)
{
    struct comm_point *sorted = mem_grow(NULL, sizeof(*sorted), n + 1);

    model->source = COMM_FROM_FIT;
    if (n > 0) {
        memcpy(sorted, points, n * sizeof(*sorted));
        qsort(sorted, n, sizeof(*sorted), by_group);
    }
    for (size_t i = 0; i < n;) {
        const struct comm_point *first = &sorted[i];
        struct sums s = {0};
        for (; i < n && by_group(first, &sorted[i]) == 0; i++)
            add_point(&s, &sorted[i]);
        vec_push(&model->fits, ((struct comm_fit){op, first->ranks, first->tier, solve(s)}));
    }
    mem_free(sorted);
    if (model->fits.n > 0)
        qsort(model->fits.at, model->fits.n, sizeof(*model->fits.at), compare_fits);
}

static const struct comm_fit *find_fit(const struct comm_model *model, enum collective op,
                                       const struct comm_point *point)
{
    const struct comm_fit key = {.op = op, .ranks = point->ranks, .tier = point->tier};

    return model->fits.n == 0 ? NULL
                              : bsearch(&key, model->fits.at, model->fits.n,
                                        sizeof(*model->fits.at), compare_fits);
}

static double over_link(const struct comm_link *link, enum collective op, double n, double m)
{
    double latency = link->latency_us * 1e-6, rate = link->bandwidth * efficiency;
    double hops = fmin(n - 1, log2(n)) * latency;

    switch (op) {
    case COMM_ALL_REDUCE:
        return fmin(2 * (n - 1) * latency + 2 * (n - 1) * m / (n * rate),
                    2 * log2(n) * latency + 2 * m / rate);
    case COMM_ALL_GATHER:
        return hops + (n - 1) * m / rate;
    case COMM_REDUCE_SCATTER:
        return hops + (n - 1) * m / (n * rate);
    default:
        return hops + m / rate;
    }
}

static bool along(struct comm_line line, double bytes, double *us)
{
    *us = line.alpha_us + line.beta_us * bytes;
    return line.is_set;
}

bool comm_model_predict(const struct comm_model *model, enum collective op,
                        const struct comm_point *point, double *us)
{
    double n = (double)point->ranks, m = (double)point->bytes;

    bool has_tier = point->tier >= 0 && point->tier < COMM_TIERS;
    bool uses_links = model->source == COMM_FROM_PART || model->source == COMM_FROM_LINKS;
    if (uses_links && !(has_tier && model->links[point->tier].is_set))
        return false;
    *us = 0;
    if (point->ranks <= 1)
        return true;
    if (model->source == COMM_FROM_LINES)
        return along(model->lines[op], m, us);
    if (model->source == COMM_FROM_FIT) {
        const struct comm_fit *fit = find_fit(model, op, point);
        return fit != NULL && along(fit->line, m, us);
    }
    *us = over_link(&model->links[point->tier], op, n, m) * 1e6;
    return true;
}
