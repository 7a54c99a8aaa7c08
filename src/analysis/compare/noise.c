/*
 * The rule: means, blocks, draws. See noise.h.
 */
#include "analysis/compare/noise.h"

#include <math.h>
#include <stdint.h>

#include "base/tables/ranked.h"
#include "report/record.h"

#define Z_SURE      2.5758293 /* normal, two-sided NOISE_SURE */
#define Z_TYPICAL   2.8070338 /* NOISE_TYPICAL */
#define FAIL_SHARE  0.5       /* of the limit: a change that fails is at least as much */
#define PASS_CHANCE 0.005     /* of a slowdown by the limit in spite of a pass */
#define SLOW_UNIT   1.5       /* of the median */
#define OFF_BY      0.75      /* of the standard error of a correlation, to be safe */
#define CORRELATED  0.1       /* less is taken for none */

enum { LONG_BLOCKS = 64, LONG_SERIES = 8 };

#define LEAST_LEFT 2.9 /* units of a side that a cut leaves: three of five */

ENUM_NAMES(noise_verdict_name, enum noise_verdict, "cannot tell", "no change shown", "slower",
           "faster")
ENUM_NAMES(noise_part_name, enum noise_part, "middle three fifths", "faster three quarters",
           "faster half", "fastest third", "fastest quarter")
ENUM_NAMES(gate_verdict_name, enum gate_verdict, "pass", "fail", "cannot tell")

/* ---- numbers by chance, the same everywhere ---- */

struct draws {
    uint64_t state;
};

static uint64_t draws_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static uint64_t draws_next(struct draws *d)
{
    d->state += UINT64_C(0x9e3779b97f4a7c15);
    return draws_mix(d->state);
}

static size_t draws_below(struct draws *d, size_t n)
{
    return (size_t)(((draws_next(d) >> 32) * (uint64_t)n) >> 32);
}

static double draws_unit(struct draws *d)
{
    return ((double)(draws_next(d) >> 11) + 0.5) * 0x1p-53;
}

static double draws_normal(struct draws *d)
{
    double r = sqrt(-2 * log(draws_unit(d)));

    return r * cos(6.283185307179586 * draws_unit(d));
}

/* Seeded by the samples of both sides. */
static struct draws draws_of(const struct noise_side *sides)
{
    struct draws d = {.state = UINT64_C(0x5354524154410001)};

    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < sides[side].first[sides[side].runs]; i++) {
            union {
                double real;
                uint64_t bits;
            } u = {.real = sides[side].at[i]};
            d.state = draws_mix(d.state ^ u.bits) + i;
        }
    return d;
}

/* ---- what the samples look like ---- */

static double mean_of(const double *at, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += at[i];
    return n > 0 ? sum / (double)n : 0;
}

/* What the samples of a side look like, before anything is judged. */
static void describe_side(struct arena *arena, const struct noise_side *s, int side,
                          struct noise_change *out)
{
    size_t n = s->first[s->runs];
    double *sorted = ARENA_ARRAY(arena, double, n + 1), all = 0;

    out->units[side] = n;
    out->runs[side] = s->runs;
    out->mean[side] = mean_of(s->at, n);
    if (n == 0)
        return;
    memcpy(sorted, s->at, n * sizeof(*sorted));
    ranked_sort(sorted, n);
    double median = ranked_middle(sorted, n);
    out->fastest[side] = sorted[0];
    out->slowest[side] = sorted[n - 1];
    for (size_t i = 0; i < n; i++)
        out->slow[side] += sorted[i] >= SLOW_UNIT * median && sorted[i] > median;
    for (size_t r = 0; r < s->runs; r++) {
        size_t from = s->first[r], many = s->first[r + 1] - from;
        memcpy(sorted, s->at + from, many * sizeof(*sorted));
        ranked_sort(sorted, many);
        double middle = many > 0 ? ranked_middle(sorted, many) : 0;
        for (size_t i = 0; i < many; i++)
            sorted[i] = fabs(sorted[i] - middle);
        ranked_sort(sorted, many);
        all += (many > 0 ? 1.4826 * ranked_middle(sorted, many) : 0) * (double)many;
    }
    out->spread[side] = all / (double)n;
}

/* Of neighbours, over all runs of both sides, each about its own mean. What short series hide of it
 * is put back, and most of its standard error on top: too little makes false alarms. From 0 to 0.9.
 */
static double autocorrelation_of(const struct noise_side *sides)
{
    double with = 0, own = 0, lengths = 0, runs = 0;

    for (int side = 0; side < 2; side++) {
        const struct noise_side *s = &sides[side];
        for (size_t r = 0; r < s->runs; r++) {
            const double *x = s->at + s->first[r];
            size_t n = s->first[r + 1] - s->first[r];
            double mean = mean_of(x, n);
            if (n < 3 || mean <= 0)
                continue;
            runs++;
            lengths += (double)n;
            for (size_t i = 0; i < n; i++) {
                own += (x[i] - mean) * (x[i] - mean) / (mean * mean);
                if (i + 1 < n)
                    with += (x[i] - mean) * (x[i + 1] - mean) / (mean * mean);
            }
        }
    }
    if (own <= 0)
        return 0;
    double rho = with / own, n = lengths / runs;
    if (n >= LONG_SERIES)
        rho = (rho + 1 / n) / (1 - 3 / n);
    if (rho > CORRELATED && rho < 1)
        rho += OFF_BY * (1 - rho * rho) / sqrt(lengths);
    return rho < 0 ? 0 : rho > 0.9 ? 0.9 : rho;
}

/* How much more the mean of many correlated samples scatters than that of independent ones: its
 * variance. */
static double inflation(double rho)
{
    return (1 + rho) / (1 - rho);
}

/* The length that serves the mean of a series of first order best (Carlstein). */
static size_t block_of(double rho, size_t n)
{
    double length =
        rho > CORRELATED ? pow(2 * rho / (1 - rho * rho), 2.0 / 3) * cbrt((double)n) : 1;
    size_t block = (size_t)ceil(length), least = (n + LONG_BLOCKS - 1) / LONG_BLOCKS;

    block = block > n / 4 ? n / 4 : block;
    block = block < least ? least : block;
    return block > 0 ? block : 1;
}

/* Student's t of `df` degrees of freedom where the normal has z (Cornish and Fisher; from 3 on). */
static double student_of(double z, double df)
{
    double v = df < 3 ? 3 : df, z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;

    return z + (z3 + z) / (4 * v) + (5 * z5 + 16 * z3 + 3 * z) / (96 * v * v) +
           (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * v * v * v);
}

/* Degrees of freedom of a variance of correlated units of both sides; what their correlation may be
 * off by, estimated from `all` neighbours, counts too. */
static double freedom_of(double n_a, double n_b, double rho, double all)
{
    double f = (1 + rho * rho) / (1 - rho * rho);
    double df = fmax(1, n_a / f - 1) + fmax(1, n_b / f - 1), of_rho = (1 - rho * rho) * all / 2;

    return rho > CORRELATED ? df * of_rho / (df + of_rho) : df;
}

/* ---- draws ---- */

/* Sums of the samples before each, twice around, so that blocks go over the end. */
struct noise_series {
    const double *before;
    size_t n, block;
};

static struct noise_series series_of(struct arena *arena, const double *at, size_t n, size_t block)
{
    double *before = ARENA_ARRAY(arena, double, 2 * n + 1);

    for (size_t i = 0; i < 2 * n; i++)
        before[i + 1] = before[i] + at[i % n];
    return (struct noise_series){before, n, block};
}

/* The sum of as many samples as there are, drawn by blocks. */
static double series_draw(const struct noise_series *s, struct draws *d)
{
    double sum = 0;

    for (size_t left = s->n; left > 0;) {
        size_t from = draws_below(d, s->n), many = left < s->block ? left : s->block;
        sum += s->before[from + many] - s->before[from];
        left -= many;
    }
    return sum;
}

struct noise_drawn {
    const struct noise_series *at;
    size_t n;
    double samples;
};

static struct noise_drawn drawn_of(struct arena *arena, const struct noise_side *s, double rho,
                                   size_t *block)
{
    struct noise_series *list = ARENA_ARRAY(arena, struct noise_series, s->runs);
    struct noise_drawn out = {list, 0, (double)s->first[s->runs]};

    for (size_t r = 0; r < s->runs; r++) {
        size_t n = s->first[r + 1] - s->first[r], each = block_of(rho, n);
        if (n == 0)
            continue;
        *block = each > *block ? each : *block;
        list[out.n++] = series_of(arena, s->at + s->first[r], n, each);
    }
    return out;
}

static double drawn_mean(const struct noise_drawn *side, struct draws *d)
{
    double sum = 0;

    for (size_t r = 0; r < side->n; r++)
        sum += series_draw(&side->at[r], d);
    return sum / side->samples;
}

/* Means of the runs, as samples of one series of their own. */
static struct noise_side means_of(struct arena *arena, const struct noise_side *s)
{
    double *means = ARENA_ARRAY(arena, double, s->runs);
    size_t *first = ARENA_ARRAY(arena, size_t, 2);

    for (size_t r = 0; r < s->runs; r++)
        means[r] = mean_of(s->at + s->first[r], s->first[r + 1] - s->first[r]);
    first[1] = s->runs;
    return (struct noise_side){means, first, 1};
}

static double deviation_of(const struct noise_side *s)
{
    double mean = mean_of(s->at, s->first[1]), sum = 0;

    for (size_t i = 0; i < s->first[1]; i++)
        sum += (s->at[i] - mean) * (s->at[i] - mean);
    return mean > 0 ? sqrt(sum / (double)(s->first[1] - 1)) / mean : 0;
}

/* Variances of the mean of a side, relative: if its units are independent, and of its draws. */
static void add_variances(const struct noise_side *s, const struct noise_drawn *drawn,
                          double *independent, double *of_draws)
{
    double n = (double)s->first[s->runs], mean = mean_of(s->at, s->first[s->runs]);
    double whole = n * n * mean * mean;

    for (size_t r = 0; r < drawn->n; r++) {
        const struct noise_series *x = &drawn->at[r];
        double many = (double)x->n, centre = x->before[x->n] / many, units = 0, blocks = 0;
        for (size_t i = 0; i < x->n; i++) {
            double unit = x->before[i + 1] - x->before[i] - centre;
            double sum = x->before[i + x->block] - x->before[i] - (double)x->block * centre;
            units += unit * unit;
            blocks += sum * sum / (double)x->block;
        }
        *independent += many > 1 ? units * many / (many - 1) / whole : 0;
        *of_draws += blocks / whole;
    }
}

/* Logarithms of the ratio of the means in each draw, ascending. Their distances from that of the
 * data are stretched until they scatter as much as means of few and correlated units do. */
static double *draw_ratios(struct arena *arena, const struct noise_side *sides,
                           struct noise_change *out, double between)
{
    double *list = ARENA_ARRAY(arena, double, NOISE_DRAWS), rho = out->autocorrelation;
    struct draws d = draws_of(sides);
    struct noise_drawn a = drawn_of(arena, &sides[0], rho, &out->block),
                       b = drawn_of(arena, &sides[1], rho, &out->block);
    double n_a = a.samples, n_b = b.samples, independent = 0, of_draws = 0;
    double centre = log(mean_of(sides[1].at, sides[1].first[sides[1].runs]) /
                        mean_of(sides[0].at, sides[0].first[sides[0].runs]));

    add_variances(&sides[0], &a, &independent, &of_draws);
    add_variances(&sides[1], &b, &independent, &of_draws);
    double stretch = of_draws > 0 ? sqrt(fmax(1, inflation(rho) * independent / of_draws)) : 1;
    stretch *= student_of(Z_SURE, freedom_of(n_a, n_b, rho, n_a + n_b)) / Z_SURE;
    for (size_t i = 0; i < NOISE_DRAWS; i++) {
        double ratio = log(drawn_mean(&b, &d) / drawn_mean(&a, &d));
        list[i] = centre + stretch * (ratio - centre) + between * draws_normal(&d);
    }
    ranked_sort(list, NOISE_DRAWS);
    return list;
}

/* ---- a typical unit ---- */

/* Shares of the units that are cut off: the fastest and the slowest of a side. */
struct noise_cut {
    double fast, slow;
};

/* What most disturbs units makes them slower, so most cuts are at that end. */
static const struct noise_cut cuts[NOISE_PARTS] = {
    [NOISE_MIDDLE] = {0.2, 0.2},        [NOISE_THREE_QUARTERS] = {0, 0.25}, [NOISE_HALF] = {0, 0.5},
    [NOISE_THIRD] = {0, 0.66666666667}, [NOISE_QUARTER] = {0, 0.75},
};

/* The mean of what a cut leaves; a unit on its edge counts in part. */
static double mean_left(const double *sorted, size_t n, const struct noise_cut *cut)
{
    double from = cut->fast * (double)n, to = (1 - cut->slow) * (double)n, sum = 0;

    for (size_t i = 0; i < n; i++) {
        double part = fmin(to, (double)i + 1) - fmax(from, (double)i);
        sum += part > 0 ? part * sorted[i] : 0;
    }
    return sum / (to - from);
}

/* A side of which each run's ends are cut off to what is left (Winsor), in the order of time. */
struct noise_left {
    struct noise_side side;
    struct noise_side means; /* of what is left of each run, as samples */
    double mean;             /* of what is left */
    double variance;         /* of that mean, relative, of independent units (Yuen) */
    double kept;             /* units that are left */
};

/* Fills at[] of a run and its mean; the variance of that mean. */
static double cut_run(struct arena *arena, const double *from, size_t n,
                      const struct noise_cut *cut, double *at, double *mean)
{
    size_t low = (size_t)(cut->fast * (double)n),
           high = (size_t)ceil((1 - cut->slow) * (double)n) - 1;
    double *sorted = ARENA_ARRAY(arena, double, n), square = 0;
    double kept = (double)n * (1 - cut->fast - cut->slow);

    memcpy(sorted, from, n * sizeof(*sorted));
    ranked_sort(sorted, n);
    *mean = mean_left(sorted, n, cut);
    for (size_t i = 0; i < n; i++)
        at[i] = fmin(fmax(from[i], sorted[low]), sorted[high]);
    double centre = mean_of(at, n);
    for (size_t i = 0; i < n; i++)
        square += (at[i] - centre) * (at[i] - centre);
    return square / (kept * (kept - 1));
}

/* False: too few are left. */
static bool cut_side(struct arena *arena, const struct noise_side *s, const struct noise_cut *cut,
                     struct noise_left *out)
{
    size_t n = s->first[s->runs], *first = ARENA_ARRAY(arena, size_t, 2);
    double *at = ARENA_ARRAY(arena, double, n), *means = ARENA_ARRAY(arena, double, s->runs);
    double left = 1 - cut->fast - cut->slow, square = 0;

    *out = (struct noise_left){{at, s->first, s->runs}, {means, first, 1}, 0, 0, left * (double)n};
    first[1] = s->runs;
    if (out->kept < LEAST_LEFT)
        return false;
    for (size_t r = 0; r < s->runs; r++) {
        size_t from = s->first[r], many = s->first[r + 1] - from;
        double share = (double)many / (double)n;
        if (left * (double)many < 2)
            return false;
        square += share * share * cut_run(arena, s->at + from, many, cut, at + from, &means[r]);
        out->mean += share * means[r];
    }
    out->variance = square / (out->mean * out->mean);
    return out->mean > 0;
}

/* What a cut leaves of both sides; half the interval of the logarithm of their ratio. */
struct noise_ratio {
    struct noise_left left[2];
    double half;
};

static bool cut_both(struct arena *arena, const struct noise_side *sides,
                     const struct noise_cut *cut, struct noise_ratio *out)
{
    struct noise_left *a = &out->left[0], *b = &out->left[1];

    if (!cut_side(arena, &sides[0], cut, a) || !cut_side(arena, &sides[1], cut, b))
        return false;
    struct noise_side series[] = {a->side, b->side};
    size_t n = a->side.first[a->side.runs] + b->side.first[b->side.runs];
    double rho = autocorrelation_of(series), df = freedom_of(a->kept, b->kept, rho, (double)n);
    out->half = student_of(Z_TYPICAL, df) * sqrt(inflation(rho) * (a->variance + b->variance));
    return true;
}

/* As a cut leaves it, but of the means of runs, whose scatter is measured. */
static void measure_runs(struct noise_ratio *of)
{
    double variance = 0, df = -2;

    for (int side = 0; side < 2; side++) {
        struct noise_left *left = &of->left[side];
        double runs = (double)left->means.first[1], deviation = deviation_of(&left->means);
        left->mean = mean_of(left->means.at, left->means.first[1]);
        variance += deviation * deviation / runs;
        df += runs;
    }
    of->half = student_of(Z_SURE, df) * sqrt(variance);
}

/* Of the cuts the one with the narrowest interval; it is chosen by the scatter of both sides alone,
 * so it favours neither. */
static void judge_typical(struct arena *arena, const struct noise_side *sides, double between,
                          struct noise_change *out)
{
    struct noise_ratio best = {.half = INFINITY}, one;

    for (int part = 0; part < NOISE_PARTS; part++)
        if (cut_both(arena, sides, &cuts[part], &one) && one.half < best.half) {
            best = one;
            out->part = (enum noise_part)part;
        }
    if (isinf(best.half))
        return;
    best.half = hypot(best.half, Z_TYPICAL * between);
    out->typical_sure = NOISE_TYPICAL;
    if (out->is_measured) {
        measure_runs(&best);
        out->typical_sure = NOISE_SURE;
    }
    for (int side = 0; side < 2; side++)
        out->typical[side] = best.left[side].mean;
    double centre = log(out->typical[1] / out->typical[0]);
    out->typical_relative = exp(centre) - 1;
    out->typical_low = exp(centre - best.half) - 1;
    out->typical_high = exp(centre + best.half) - 1;
}

/* ---- slow units ---- */

/* The chance that B has at least as many of all slow units as it has (hypergeometric). */
static double chance_of_slow(const struct noise_change *c)
{
    size_t n_a = c->units[0], n_b = c->units[1], slow = c->slow[0] + c->slow[1];
    double sum = 0;

    for (size_t k = c->slow[1]; k <= slow && k <= n_b; k++) {
        if (slow - k > n_a)
            continue;
        double x = lgamma((double)n_b + 1) - lgamma((double)k + 1) - lgamma((double)(n_b - k) + 1) +
                   lgamma((double)n_a + 1) - lgamma((double)(slow - k) + 1) -
                   lgamma((double)(n_a - (slow - k)) + 1) - lgamma((double)(n_a + n_b) + 1) +
                   lgamma((double)slow + 1) + lgamma((double)(n_a + n_b - slow) + 1);
        sum += exp(x);
    }
    return sum > 1 ? 1 : sum;
}

/* ---- the verdict ---- */

/* Of a typical unit only what the mean does not contradict: that changed the same way. */
static enum noise_verdict verdict_of(const struct noise_change *c)
{
    if (c->low > 0 || c->high < 0)
        return c->low > 0 ? NOISE_SLOWER : NOISE_FASTER;
    if (c->typical_low > 0 && c->relative > 0)
        return NOISE_SLOWER;
    if (c->typical_high < 0 && c->relative < 0)
        return NOISE_FASTER;
    return fmax(c->probability, c->probability_faster) <= PASS_CHANCE ? NOISE_NOTHING
                                                                      : NOISE_UNKNOWN;
}

static void decide(struct noise_change *c)
{
    c->verdict = verdict_of(c);
    bool is_told = c->verdict == NOISE_SLOWER || c->verdict == NOISE_FASTER;
    bool is_pass = c->probability <= PASS_CHANCE || c->verdict == NOISE_FASTER;
    c->is_typical = is_told && c->low <= 0 && c->high >= 0;
    double by = c->is_typical ? c->typical_relative : c->relative;
    c->gate = is_pass                                                     ? GATE_PASS
              : c->verdict == NOISE_SLOWER && by >= FAIL_SHARE * c->limit ? GATE_FAIL
                                                                          : GATE_UNKNOWN;
    if (c->gate != GATE_UNKNOWN)
        return;
    /* The interval shrinks with the root of the units, down to what differs between runs. */
    double half = (c->high - c->low) / 2, runs = Z_SURE * c->between * sqrt(2.0);
    double wanted = fmax(fabs(c->limit - c->relative), fabs(c->relative)), n = (double)c->units[0];
    double within = half * half - runs * runs, room = wanted * wanted - runs * runs;
    n = n < (double)c->units[1] ? n : (double)c->units[1];
    if (within > 0 && room > 0)
        c->needed = (size_t)ceil(n * fmax(2, within / room));
}

enum noise_verdict noise_verdict_of(double low, double high, double limit)
{
    if (low > 0 || high < 0)
        return low > 0 ? NOISE_SLOWER : NOISE_FASTER;
    return low > 1 / (1 + limit) - 1 && high <= limit ? NOISE_NOTHING : NOISE_UNKNOWN;
}

enum gate_verdict noise_gate_of(double relative, double low, double high, double limit)
{
    if (high <= limit)
        return GATE_PASS;
    return low > 0 && relative >= FAIL_SHARE * limit ? GATE_FAIL : GATE_UNKNOWN;
}

static bool has_units(const struct noise_change *c)
{
    return c->units[0] >= NOISE_UNITS && c->units[1] >= NOISE_UNITS && c->mean[0] > 0 &&
           c->mean[1] > 0;
}

struct noise_change noise_judge(struct arena *arena, struct noise_side a, struct noise_side b,
                                struct noise_options options)
{
    struct noise_side sides[] = {a, b};
    struct noise_change out = {
        .limit = options.limit,
        .low = NAN,
        .high = NAN,
        .probability = NAN,
        .probability_faster = NAN,
        .block = 1,
        .typical = {NAN, NAN},
        .typical_relative = NAN,
        .typical_low = NAN,
        .typical_high = NAN,
        .typical_sure = NAN,
    };

    for (int side = 0; side < 2; side++)
        describe_side(arena, &sides[side], side, &out);
    out.relative = out.mean[0] > 0 ? out.mean[1] / out.mean[0] - 1 : out.mean[1] > 0 ? NAN : 0;
    out.slow_chance = out.slow[1] > out.slow[0] ? chance_of_slow(&out) : 1;
    out.is_doubled = out.units[0] > 0 && out.units[1] > 0 && out.fastest[1] > 2 * out.slowest[0];
    out.between = options.between;
    out.gate = out.is_doubled ? GATE_FAIL : GATE_UNKNOWN;
    if (!has_units(&out)) {
        out.needed = NOISE_UNITS;
        return out;
    }
    out.autocorrelation = autocorrelation_of(sides);
    double between = options.between * sqrt(1 / (double)a.runs + 1 / (double)b.runs);
    out.is_measured = a.runs >= NOISE_RUNS && b.runs >= NOISE_RUNS;
    if (!options.by_mean)
        judge_typical(arena, sides, between, &out);
    if (out.is_measured) {
        sides[0] = means_of(arena, &a);
        sides[1] = means_of(arena, &b);
        out.between = (deviation_of(&sides[0]) + deviation_of(&sides[1])) / 2;
        out.autocorrelation = between = 0;
    }
    double *ratios = draw_ratios(arena, sides, &out, between), over = log(1 + options.limit);
    size_t above = 0, below = 0;
    for (size_t i = 0; i < NOISE_DRAWS; i++) {
        above += ratios[i] > over;
        below += ratios[i] < -over;
    }
    out.low = exp(ranked_at(ratios, NOISE_DRAWS, (1 - NOISE_SURE) / 2)) - 1;
    out.high = exp(ranked_at(ratios, NOISE_DRAWS, (1 + NOISE_SURE) / 2)) - 1;
    out.probability = (double)above / NOISE_DRAWS;
    out.probability_faster = (double)below / NOISE_DRAWS;
    decide(&out);
    return out;
}
