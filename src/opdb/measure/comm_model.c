/*
 * How long collectives should take, and which configurations of ranks are measured.
 */
#include "opdb/measure/comm_model.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/files/fs.h"
#include "base/text/num.h"
#include "opdb/rows/cell.h"
#include "opdb/rows/columns.h"
#include "opdb/rows/table.h"

const struct comm_kind comm_kinds[COMM_COLLECTIVES] = {
    [COMM_ALL_REDUCE] = {S_INIT("all_reduce"), S_INIT("hcom_allReduce_"), "hcom_allReduce_.csv"},
    [COMM_ALL_GATHER] = {S_INIT("all_gather"), S_INIT("hcom_allGather_"), "hcom_allGather_.csv"},
    [COMM_REDUCE_SCATTER] = {S_INIT("reduce_scatter"), S_INIT("hcom_reduceScatter_"),
                             "hcom_reduceScatter_.csv"},
    [COMM_ALL_TO_ALL] = {S_INIT("all_to_all"), S_INIT("hcom_alltoallv_"), "hcom_alltoallv_.csv"},
    [COMM_BROADCAST] = {S_INIT("broadcast"), S_INIT("hcom_broadcast_"), "hcom_broadcast_.csv"},
    [COMM_SEND_RECV] = {S_INIT("send_recv"), S_INIT("hcom_send_"), "hcom_send_.csv"},
};

const char *comm_name(unsigned op)
{
    return comm_kinds[op].name.at;
}

bool comm_find(struct str name, enum collective *out)
{
    for (size_t i = 0; i < COMM_COLLECTIVES; i++)
        if (str_equal(comm_kinds[i].name, name)) {
            *out = (enum collective)i;
            return true;
        }
    return false;
}

bool comm_grid_set(struct comm_grid *grid, const int64_t *dims, size_t n)
{
    int64_t product = 1;

    if (n == 0 || n > COMM_DIMS)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (dims[i] < 1 || __builtin_mul_overflow(product, dims[i], &product))
            return false;
        grid->dims[i] = dims[i];
    }
    grid->n = n;
    return true;
}

/* Ranks from one coordinate of dimension `dim` to the next: the product of those further in. */
static int64_t stride(const struct comm_grid *grid, size_t dim)
{
    int64_t product = 1;

    for (size_t i = dim + 1; i < grid->n; i++)
        product *= grid->dims[i];
    return product;
}

void comm_coords(const struct comm_grid *grid, int64_t rank, int64_t *coords)
{
    for (size_t i = grid->n; i-- > 0;) {
        coords[i] = rank % grid->dims[i];
        rank /= grid->dims[i];
    }
}

size_t comm_tier(const struct comm_grid *grid, const int64_t *ranks, size_t n)
{
    int64_t first[COMM_DIMS] = {0}, other[COMM_DIMS] = {0};
    size_t tier = grid->n - 1;

    if (n > 0)
        comm_coords(grid, ranks[0], first);
    for (size_t i = 1; i < n; i++) {
        comm_coords(grid, ranks[i], other);
        for (size_t dim = 0; dim < tier; dim++)
            if (first[dim] != other[dim])
                tier = dim;
    }
    return tier;
}

size_t comm_tier_first(const struct comm_grid *grid, int64_t n)
{
    size_t dim = 0;

    while (dim + 1 < grid->n && n - 1 < stride(grid, dim))
        dim++;
    return dim;
}

static struct str grid_text(const struct comm_grid *grid, struct arena *arena)
{
    struct str text = S("");

    for (size_t i = 0; i < grid->n; i++)
        text =
            arena_format(arena, "%.*s%s%" PRId64, STR_ARGS(text), i > 0 ? ", " : "", grid->dims[i]);
    return arena_format(arena, "[%.*s]", STR_ARGS(text));
}

bool comm_group(const struct comm_grid *grid, int64_t rank, int64_t n, size_t tier,
                struct arena *arena, int64_t *base, struct str *why)
{
    int64_t coords[COMM_DIMS] = {0};

    if (tier >= grid->n) {
        *why = arena_format(arena, "tier=%zu is not a dimension of grid_shape=%.*s", tier,
                            STR_ARGS(grid_text(grid, arena)));
        return false;
    }
    int64_t span = stride(grid, tier) * grid->dims[tier];
    if (n > span) {
        *why = arena_format(arena,
                            "num_devices=%" PRId64 " exceeds span size %" PRId64
                            " for tier=%zu, grid_shape=%.*s",
                            n, span, tier, STR_ARGS(grid_text(grid, arena)));
        return false;
    }
    comm_coords(grid, rank, coords);
    *base = 0;
    for (size_t i = 0; i < tier; i++)
        *base += coords[i] * stride(grid, i);
    return true;
}

static void add_group(const struct comm_grid *grid, const struct comm_plan *plan,
                      struct comm_config config, struct arena *arena, struct comm_configs *out)
{
    struct str why;

    if (!comm_group(grid, 0, config.ranks, config.tier, arena, &config.base, &why)) {
        vec_push(&out->warnings,
                 arena_format(arena, "WARNING: skipping tier=%zu, num_devices=%" PRId64 ": %.*s",
                              config.tier, config.ranks, STR_ARGS(why)));
        return;
    }
    for (size_t i = 0; i < plan->n_bytes; i++) {
        config.bytes = plan->bytes[i];
        vec_push(&out->at, config);
    }
}

void comm_configs(const struct comm_grid *grid, const struct comm_plan *plan, struct arena *arena,
                  struct comm_configs *out)
{
    for (size_t o = 0; o < plan->n_ops; o++)
        for (size_t r = 0; r < plan->n_ranks; r++) {
            struct comm_config config = {.op = plan->ops[o], .ranks = plan->ranks[r]};
            config.tier = comm_tier_first(grid, config.ranks);
            if (plan->n_tiers == 0)
                add_group(grid, plan, config, arena, out);
            for (size_t t = 0; t < plan->n_tiers; t++) {
                config.tier = plan->tiers[t];
                add_group(grid, plan, config, arena, out);
            }
        }
}

/* message_bytes / (duration_us * 1e-6) / 1e9 */
static double bandwidth(double bytes, double us)
{
    return us > 0 ? bytes / (us * 1e-6) / 1e9 : 0;
}

void comm_add_dispatch(struct str device, enum collective op, int64_t ranks, double bytes,
                       double *us, double *gbps)
{
    static const struct overhead {
        enum collective op;
        int64_t ranks;
        double us;
    } table[] = {
        {COMM_ALL_REDUCE, 16, 7.7}, {COMM_ALL_GATHER, 16, 14.6},   {COMM_REDUCE_SCATTER, 16, 14.6},
        {COMM_ALL_GATHER, 8, 1.2},  {COMM_REDUCE_SCATTER, 8, 2.0},
    };

    for (size_t i = 0; i < ARRAY_LEN(table) && str_equal(device, COMM_CALIBRATED_DEVICE); i++)
        if (table[i].op == op && table[i].ranks == ranks) {
            *gbps = num_round(bandwidth(bytes, *us + table[i].us), 2);
            *us = num_round(*us + table[i].us, 2);
            return;
        }
}

static void read_durations(const struct op_table *t, enum collective op, struct comm_durations *out)
{
    int name = table_column(t, S("Name")), type = table_column(t, S("Type"));
    int duration = table_column(t, COL_DURATION);
    struct str doubled = S("AivKernel");

    for (size_t i = 0; i < t->n_rows; i++) {
        struct str called = table_cell(t, i, name);
        double us = cell_f64(table_cell(t, i, duration));
        if (str_starts(cell_trim(table_cell(t, i, type)), comm_kinds[op].prefix) &&
            !str_contains(called, doubled) && us > 0)
            vec_push(&out->us, us);
    }
}

enum status comm_durations(const char *dir, enum collective op, struct comm_durations *out,
                           struct diag *d)
{
    struct arena arena;
    struct fs_list list;
    struct op_table t;
    const char *path = NULL;

    arena_init(&arena);
    enum status st = fs_walk(&arena, dir, NULL, 0, &list, d);
    for (size_t i = 0; st == ST_OK && path == NULL && i < list.n; i++)
        if (list.at[i].kind == FS_FILE && str_equal(list.at[i].name, S("kernel_details.csv")))
            path = list.at[i].path;
    if (path != NULL) {
        st = table_read(&t, path, d);
        if (st == ST_OK)
            read_durations(&t, op, out);
        table_free(&t);
    }
    arena_free(&arena);
    return st;
}

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
static int find_column(const struct op_table *t, struct str word)
{
    for (size_t i = 0; i < t->columns.n; i++) {
        struct str name = cell_trim(t->columns.at[i]);
        if (str_starts(name, word) && (name.n == word.n || name.at[word.n] == '_'))
            return (int)i;
    }
    return -1;
}

static enum status bad_row(const struct op_table *t, size_t row, struct diag *d,
                           const char *problem)
{
    return diag_fail(d, ST_FORMAT, "perfdb.bad-link",
                     (struct where){.path = t->path, .line = t->lines.at[row]}, "%s", problem);
}

/* A finite number from 0 on. */
static bool read_amount(const struct op_table *t, size_t row, int column, double *out)
{
    return cell_number(table_cell(t, row, column), out) && isfinite(*out) && *out >= 0;
}

static enum status read_links(struct comm_model *model, const struct op_table *t, int tier,
                              int bandwidth, int latency, struct diag *d)
{
    model->source = COMM_FROM_LINKS;
    memset(model->links, 0, sizeof(model->links));
    for (size_t i = 0; i < t->n_rows; i++) {
        struct topology_link link = {.is_set = true};
        int64_t at;
        if (!cell_i64(table_cell(t, i, tier), &at) || at < 0 || at >= COMM_TIERS)
            return bad_row(t, i, d, "tier is not a whole number from 0 to 7");
        if (!read_amount(t, i, bandwidth, &link.bandwidth) || link.bandwidth == 0)
            return bad_row(t, i, d, "bandwidth is not a number above 0");
        if (!read_amount(t, i, latency, &link.latency_us))
            return bad_row(t, i, d, "latency is not a number of at least 0");
        model->links[at] = link;
    }
    return ST_OK;
}

static enum status read_lines(struct comm_model *model, const struct op_table *t, int collective,
                              int alpha, int beta, struct diag *d)
{
    model->source = COMM_FROM_LINES;
    for (size_t i = 0; i < t->n_rows; i++) {
        struct comm_line line = {.is_set = true};
        enum collective op;
        if (!comm_find(cell_bare(table_cell(t, i, collective)), &op))
            return bad_row(t, i, d, "unknown collective");
        if (!read_amount(t, i, alpha, &line.alpha_us))
            return bad_row(t, i, d, "alpha is not a number of at least 0");
        if (!read_amount(t, i, beta, &line.beta_us))
            return bad_row(t, i, d, "beta is not a number of at least 0");
        model->lines[op] = line;
    }
    return ST_OK;
}

static enum status read_table(struct comm_model *model, const struct op_table *t, struct diag *d)
{
    int tier = find_column(t, S("tier")), bandwidth = find_column(t, S("bandwidth"));
    int latency = find_column(t, S("latency")), collective = find_column(t, S("collective"));
    int alpha = find_column(t, S("alpha")), beta = find_column(t, S("beta"));

    if (tier >= 0 && bandwidth >= 0 && latency >= 0)
        return read_links(model, t, tier, bandwidth, latency, d);
    if (collective >= 0 && alpha >= 0 && beta >= 0)
        return read_lines(model, t, collective, alpha, beta, d);
    enum status st =
        diag_fail(d, ST_FORMAT, "perfdb.no-column", (struct where){.path = t->path, .line = 1},
                  "neither a table of links nor of lines");
    diag_hint(d, "try", "columns tier,bandwidth,latency or collective,alpha,beta");
    return st;
}

enum status comm_model_read(struct comm_model *model, const char *path, struct diag *d)
{
    struct op_table t;

    enum status st = table_read(&t, path, d);
    if (st == ST_OK)
        st = read_table(model, &t, d);
    table_free(&t);
    return st;
}

/* A time of ten times the line is as far off as a tenth: the line that solve() finds, which is
 * drawn to the short times, is refined by the logarithm of the ratio. */
enum { REFINEMENTS = 30 };

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

ORDER_BY(compare_fits, struct comm_fit,
         ORDER(x->op, y->op) ?: ORDER(x->ranks, y->ranks) ?: ORDER(x->tier, y->tier));

ORDER_BY(by_group, struct comm_point, ORDER(x->ranks, y->ranks) ?: ORDER(x->tier, y->tier));

/* One step of Gauss and Newton for the sum of squares of log(line / time), in the logarithms of
 * both parts, so that these stay above 0. */
static struct comm_line refine_once(struct comm_line line, const struct comm_point *points,
                                    size_t n)
{
    double aa = 0, ab = 0, bb = 0, a = 0, b = 0;

    for (size_t i = 0; i < n; i++) {
        double per_bytes = line.beta_us * (double)points[i].bytes, us = points[i].us;
        double sum = line.alpha_us + per_bytes;
        if (!(us > 0) || !isfinite(us) || !(sum > 0))
            continue;
        double x = line.alpha_us / sum, y = per_bytes / sum, off = log(sum / us);
        aa += x * x;
        ab += x * y;
        bb += y * y;
        a += x * off;
        b += y * off;
    }
    double det = aa * bb - ab * ab;
    double by_alpha = line.beta_us == 0 && aa > 0 ? a / aa : 0;
    double by_beta = line.alpha_us == 0 && bb > 0 ? b / bb : 0;
    if (line.alpha_us > 0 && line.beta_us > 0 && det > 1e-12 * aa * bb) {
        by_alpha = (a * bb - b * ab) / det;
        by_beta = (b * aa - a * ab) / det;
    }
    line.alpha_us *= exp(-fmax(-1, fmin(1, by_alpha)));
    line.beta_us *= exp(-fmax(-1, fmin(1, by_beta)));
    return line;
}

/* 1 - residual / total sum of squares, over the points that count. */
static double r_squared(const struct comm_line *line, const struct comm_point *points, size_t n)
{
    double sum = 0, total = 0, residual = 0;
    size_t used = 0;

    for (size_t i = 0; i < n; i++) {
        sum += points[i].us > 0 && isfinite(points[i].us) ? points[i].us : 0;
        used += points[i].us > 0 && isfinite(points[i].us);
    }
    double mean = used > 0 ? sum / (double)used : 0;
    for (size_t i = 0; i < n; i++) {
        double us = points[i].us;
        if (!(us > 0) || !isfinite(us))
            continue;
        double off = us - (line->alpha_us + line->beta_us * (double)points[i].bytes);
        residual += off * off;
        total += (us - mean) * (us - mean);
    }
    return total > 0 ? 1 - residual / total : NAN;
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
        struct comm_fit fit = {.op = op, .ranks = first->ranks, .tier = first->tier};
        struct sums s = {0};
        for (; i < n && by_group(first, &sorted[i]) == 0; i++) {
            double us = sorted[i].us, x = 1 / us, y = (double)sorted[i].bytes / us;
            if (us > 0 && isfinite(us))
                s = (struct sums){s.xx + x * x, s.xy + x * y, s.yy + y * y, s.x + x, s.y + y};
        }
        fit.line = solve(s);
        for (size_t k = 0; k < REFINEMENTS; k++)
            fit.line = refine_once(fit.line, first, i - (size_t)(first - sorted));
        fit.r2 = r_squared(&fit.line, first, i - (size_t)(first - sorted));
        vec_push(&model->fits, fit);
    }
    mem_free(sorted);
    if (model->fits.n > 0)
        qsort(model->fits.at, model->fits.n, sizeof(*model->fits.at), compare_fits);
}

static double over_link(const struct topology_link *link, enum collective op, double n, double m)
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
        const struct comm_fit key = {.op = op, .ranks = point->ranks, .tier = point->tier};
        const struct comm_fit *fit = model->fits.n == 0
                                         ? NULL
                                         : bsearch(&key, model->fits.at, model->fits.n,
                                                   sizeof(*model->fits.at), compare_fits);
        return fit != NULL && along(fit->line, m, us);
    }
    *us = over_link(&model->links[point->tier], op, n, m) * 1e6;
    return true;
}
