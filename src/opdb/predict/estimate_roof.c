/*
 * Roofs that are fitted to points: launch time, rates, tiles and waves.
 */
#include "opdb/predict/estimate_in.h"

#include <math.h>

#include "base/tables/ranked.h"

/* Sides of tiles of matrix kernels; numbers of cores, beside that of the device. */
static const double sides[] = {32, 64, 96, 128, 192, 256, 512};
enum { SIDES = ARRAY_LEN(sides), TILE_LEAST = 64 * 64, TILE_MOST = 256 * 256 };
/* Rows and keys of one part of attention. */
static const double parts[][2] = {{64, INFINITY}, {128, INFINITY}, {256, INFINITY}, {128, 64},
                                  {128, 128},     {128, 256},      {128, 512},      {128, 1024}};
static const double coarse[] = {0.4, 0.16, 0.064}; /* steps of a first search */
static const double core_counts[] = {20, 24,  25,  32,  40,  48,  56,  64,  72,  80,
                                     96, 108, 112, 114, 120, 128, 132, 144, 148, 160};

/* Operations including those of unused parts of tiles and of cores that wait for the last wave.
 * Keys of attention are split evenly; its last rows have the most of them. */
static double tiled(const struct estimate_roof *r, const struct call_work *w)
{
    double flops = r->fill > 0 ? w->flops * (1 + r->fill / w->depth) : w->flops;

    if (r->cores <= 0 || w->rows <= 0)
        return flops;
    double down = ceil(w->rows / r->tile_rows),
           across = fmax(1, ceil(w->columns / r->tile_columns));
    double all = down * across * w->units, waste = r->is_cut ? 1 : down * r->tile_rows / w->rows;
    if (w->kind == WORK_MATMUL && !r->is_cut)
        waste *= across * r->tile_columns / w->columns;
    double longest = waste * flops / all * w->peak;
    return fmin((ceil(all / r->cores) + r->ramp) * longest * r->cores,
                waste * flops + (1 + r->ramp) * longest * r->cores);
}

/* All bytes come from the cache while they fit, ever fewer up to twice its size, then none: the
 * last ones drive out those that come next. */
static double moved(const struct estimate_roof *r, double bytes)
{
    if (r->cache <= 0)
        return bytes / r->speed;
    double hit = fmin(1, fmax(0, 2 - bytes / r->cache));
    return bytes * (hit / r->fast + (1 - hit) / r->speed);
}

double estimate_roof_us(const struct estimate_roof *r, const struct call_work *w)
{
    double latency = r->launch_us + r->deep_us * w->depth;
    double work = fmax(tiled(r, w) / r->rate, moved(r, w->bytes));
    double a = latency * latency, b = work * work;

    switch (r->overlap) {
    case ESTIMATE_SQUARES:
        return sqrt(a + b);
    case ESTIMATE_FOURTH:
        return sqrt(sqrt(a * a + b * b));
    default:
        return latency + work;
    }
}

/* How far a rate is from what kernels usually reach of the chip; rates that the points hardly tell
 * stay near it. */
static double strangeness(double rate, double usual, double peak)
{
    if (usual <= 0)
        return 0;
    return rate > peak ? log(rate / peak) : fmax(0, log(usual / rate));
}

/* What kernels reach of the memory of a chip, by the bytes that they cannot do without: products
 * and attention stream, others read and write some bytes twice. */
static double usual_speed(const struct estimate_chip *chip, enum work_kind kind)
{
    bool is_stream = kind == WORK_MATMUL || kind == WORK_ATTENTION;

    return (is_stream ? 0.85 : kind == WORK_PICK ? 0.5 : 0.6) * chip->speed;
}

void estimate_beyond_cache(struct estimate_roof *r, const struct estimate_chip *chip,
                           enum work_kind kind, double most_bytes)
{
    double usual = usual_speed(chip, kind);

    if (chip->cache <= 0 || usual <= 0 || r->cache > 0 || r->speed <= usual ||
        most_bytes > 2 * chip->cache)
        return;
    r->cache = chip->cache;
    r->fast = r->speed;
    r->speed = sqrt(usual * r->speed);
}

/* Mean absolute error of the logarithm; far points count no more than others. */
static double misfit(const struct estimate_roof *r, const struct estimate_sample *s)
{
    const double prior = 0.15; /* of a point, for a factor of e */
    double sum = 0;

    for (size_t i = 0; i < s->n; i++) {
        const struct estimate_point *p = &s->points[s->at[i]];
        double weight = s->weight != NULL ? s->weight[i] : 1;
        sum += weight * fmin(1, fabs(log(p->us / estimate_roof_us(r, &p->work))));
    }
    const struct call_work *first = &s->points[s->at[0]].work;
    sum += prior * strangeness(r->speed, usual_speed(s->chip, first->kind), s->chip->speed);
    if (first->flops > 0)
        sum += prior * strangeness(r->rate, 0.75 * s->chip->rate, s->chip->rate);
    return sum / (double)s->n;
}

/* Tries larger and smaller values of one parameter in ever finer steps. */
static double descend(struct estimate_roof *r, double *parameter, const struct estimate_sample *s,
                      double best, double step)
{
    for (int sign = -1; sign <= 1; sign += 2)
        for (int tries = 0; tries < 8; tries++) {
            double before = *parameter;
            *parameter = before * exp(sign * step);
            double now = misfit(r, s);
            if (now >= best - 1e-12) {
                *parameter = before;
                break;
            }
            best = now;
        }
    return best;
}

/* The least that the tiles of `r` allow: nothing is faster than its roof. */
static void first_guess(struct estimate_roof *r, const struct estimate_sample *s)
{
    r->launch_us = INFINITY;
    r->rate = r->speed = 1e-9;
    for (size_t i = 0; i < s->n; i++) {
        const struct estimate_point *p = &s->points[s->at[i]];
        r->launch_us = fmin(r->launch_us, p->us);
        r->rate = fmax(r->rate, tiled(r, &p->work) / p->us);
        r->speed = fmax(r->speed, p->work.bytes / p->us);
    }
    r->launch_us *= s->n < 4 ? 0.3 : 0.8;
}

/* The best from several launch times to begin with. */
static double refine(struct estimate_roof *r, const struct estimate_sample *s)
{
    static const double steps[] = {0.7, 0.3, 0.12, 0.05, 0.02, 0.3, 0.05, 0.01};
    static const double shares[] = {1, 0.5, 0.15};
    struct estimate_roof start = *r;
    double least = INFINITY;

    for (size_t k = 0; k < ARRAY_LEN(shares); k++) {
        struct estimate_roof one = start;
        one.launch_us *= shares[k];
        double best = misfit(&one, s);
        for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
            best = descend(&one, &one.rate, s, best, steps[i]);
            best = descend(&one, &one.speed, s, best, steps[i]);
            best = descend(&one, &one.launch_us, s, best, steps[i]);
            if (one.deep_us > 0)
                best = descend(&one, &one.deep_us, s, best, steps[i]);
            if (one.fill > 0)
                best = descend(&one, &one.fill, s, best, steps[i]);
            if (one.cache > 0)
                best = descend(&one, &one.fast, s, best, steps[i]);
            if (one.ramp > 0)
                best = descend(&one, &one.ramp, s, best, steps[i]);
        }
        if (best < least) {
            least = best;
            *r = one;
        }
    }
    return least;
}

/* The middle depth of the points. */
static double usual_depth(const struct estimate_sample *s)
{
    double sum = 0;

    for (size_t i = 0; i < s->n; i++)
        sum += log(fmax(1, s->points[s->at[i]].work.depth));
    return exp(sum / (double)s->n);
}

/* Refines `one`, which joins the family, and takes it when it fits better by more than chance. */
static void keep_if_better(struct estimate_roof *r, double *least, struct estimate_roof *one,
                           struct estimate_fits *f, const struct estimate_sample *s)
{
    const double gain = 0.9;
    double now = refine(one, s);

    if (f != NULL && f->n < ESTIMATE_FITS) {
        f->at[f->n] = *one;
        f->misfit[f->n++] = now;
    }
    if (now < gain * *least) {
        *least = now;
        *r = *one;
    }
}

/* The same with latency and throughput overlapping, with a latency that grows with depth, with
 * parts that take a while to fill. All that were tried are the family (NULL: nobody asks). */
static void refine_latency(struct estimate_roof *r, struct estimate_fits *f,
                           const struct estimate_sample *s)
{
    double least = INFINITY, depth = usual_depth(s);
    struct estimate_roof start = *r, one = *r;

    keep_if_better(r, &least, &one, f, s);
    start = *r;
    for (unsigned i = 1; i < 2 * ESTIMATE_OVERLAPS; i++) {
        one = start;
        one.overlap = (enum estimate_overlap)(i % ESTIMATE_OVERLAPS);
        if (i >= ESTIMATE_OVERLAPS) {
            one.launch_us /= 2;
            one.deep_us = one.launch_us / depth;
        }
        keep_if_better(r, &least, &one, f, s);
    }
    if (s->points[s->at[0]].work.flops <= 0)
        return;
    one = *r;
    one.fill = depth / 4;
    keep_if_better(r, &least, &one, f, s);
}

void estimate_refit(struct estimate_fits *f, const struct estimate_sample *s)
{
    unsigned n = f->n;

    f->points = (double)s->n;
    for (unsigned i = 0; i < n && f->n < ESTIMATE_FITS; i++, f->n++) {
        f->at[f->n] = f->at[i];
        refine(&f->at[f->n], s);
    }
    for (unsigned i = 0; i < f->n; i++)
        f->misfit[i] = misfit(&f->at[i], s);
}

/* The size of a cache that fits best, when there are points on both sides of it. */
static bool choose_cache(struct estimate_roof *out, struct estimate_fits *f,
                         const struct estimate_roof *plain, const struct estimate_sample *s)
{
    enum { SIDE = 4, SIZES = 16 }; /* 8 to 227 MB */
    double least = INFINITY;

    double size = 8e6;
    for (int tries = 0; tries < SIZES; tries++, size *= 1.25) {
        struct estimate_roof one = *plain;
        size_t inside = 0, outside = 0;
        for (size_t i = 0; i < s->n; i++) {
            inside += s->points[s->at[i]].work.bytes < size;
            outside += s->points[s->at[i]].work.bytes > 2 * size;
        }
        if (inside < SIDE || outside < SIDE)
            continue;
        one.cache = size;
        one.fast = 2 * one.speed;
        double now = misfit(&one, s);
        for (size_t i = 0; i < ARRAY_LEN(coarse); i++) {
            now = descend(&one, &one.fast, s, now, coarse[i]);
            now = descend(&one, &one.speed, s, now, coarse[i]);
            now = descend(&one, &one.launch_us, s, now, coarse[i]);
        }
        if (now < least) {
            least = now;
            *out = one;
        }
    }
    if (least == INFINITY)
        return false;
    f->at[0] = *out;
    f->misfit[0] = refine(&f->at[0], s);
    *out = f->at[0];
    f->n = out->fast > out->speed;
    return f->n > 0;
}

/* Roofs in order of their misfit, the best of them. */
struct ranking {
    struct estimate_roof *at;
    double *misfit;
    size_t n, room;
};

static void rank(struct ranking *r, const struct estimate_roof *one, double misfit)
{
    size_t place = r->n < r->room ? r->n++ : r->room;

    for (; place > 0 && misfit < r->misfit[place - 1]; place--)
        if (place < r->room) {
            r->misfit[place] = r->misfit[place - 1];
            r->at[place] = r->at[place - 1];
        }
    if (place < r->room) {
        r->misfit[place] = misfit;
        r->at[place] = *one;
    }
}

/* Another number of cores than the device has must fit better by more than chance. */
static double handicap(const struct estimate_roof *r, double cores)
{
    return cores <= 0 || r->cores == cores ? 1 : 1.2;
}

enum { GLANCE = 24, MANY_FROM = 32 }; /* points from which on more is left open */

/* The misfit of tiles at a glance: a few points, a few launch times and rates; sets the best. */
static double glance(struct estimate_roof *r, const struct estimate_sample *s)
{
    static const double launches[] = {0.8, 0.3}, places[] = {0.6, 0.9};
    double work[GLANCE] = {0}, memory[GLANCE] = {0}, us[GLANCE] = {0}, rates[GLANCE] = {0};
    double least = INFINITY;
    struct estimate_roof start = *r;

    for (size_t i = 0; i < s->n; i++) {
        const struct estimate_point *p = &s->points[s->at[i]];
        work[i] = tiled(r, &p->work);
        memory[i] = p->work.bytes / r->speed;
        us[i] = p->us;
    }
    for (size_t l = 0; l < ARRAY_LEN(launches); l++) {
        double launch = launches[l] * start.launch_us;
        for (size_t i = 0; i < s->n; i++)
            rates[i] = work[i] / fmax(us[i] - launch, 0.01 * us[i]);
        ranked_sort(rates, s->n);
        for (size_t k = 0; k < ARRAY_LEN(places); k++) {
            double rate = fmax(rates[(size_t)(places[k] * (double)(s->n - 1))], 1e-9), sum = 0;
            for (size_t i = 0; i < s->n; i++)
                sum += fmin(1, fabs(log(us[i] / (launch + fmax(work[i] / rate, memory[i])))));
            if (sum < least) {
                least = sum;
                r->launch_us = launch;
                r->rate = rate;
            }
        }
    }
    return least;
}

/* Every tile on every number of cores, at a glance. */
static void glance_all(struct ranking *out, const struct estimate_sample *s, double cores)
{
    uint32_t few[GLANCE];
    size_t n = s->n < GLANCE ? s->n : GLANCE;
    struct estimate_sample sample = {s->points, few, n, s->chip, NULL};
    struct estimate_roof plain = {0};
    bool is_attention = s->points[s->at[0]].work.kind == WORK_ATTENTION;
    size_t n_tiles = is_attention ? ARRAY_LEN(parts) : (size_t)SIDES * SIDES;

    for (size_t i = 0; i < n; i++)
        few[i] = s->at[i * s->n / n];
    first_guess(&plain, s);
    for (size_t i = 0; i < (is_attention ? 1 : 2) * n_tiles; i++) {
        size_t tile = i % n_tiles;
        plain.is_cut = i >= n_tiles;
        plain.tile_rows = is_attention ? parts[tile][0] : sides[tile / SIDES];
        plain.tile_columns = is_attention ? parts[tile][1] : sides[tile % SIDES];
        double area = plain.tile_rows * plain.tile_columns;
        if (!is_attention && (area < TILE_LEAST || area > TILE_MOST))
            continue;
        size_t n_counts = cores > 0 && s->n < MANY_FROM ? 0 : ARRAY_LEN(core_counts);
        for (size_t k = cores > 0 ? 0 : 1; k <= n_counts; k++) {
            struct estimate_roof one = plain;
            one.cores = k == 0 ? cores : core_counts[k - 1];
            double seen = glance(&one, &sample);
            rank(out, &one, seen * handicap(&one, cores));
        }
    }
}

/* The tiles and numbers of cores that fit best. */
static void choose_tiles(struct estimate_roof *top, size_t n, struct estimate_fits *f,
                         const struct estimate_sample *s, double cores)
{
    enum { LIKELY = 40 };
    struct estimate_roof likely[LIKELY];
    double misfits[LIKELY], best[ESTIMATE_TILED];
    struct ranking glanced = {likely, misfits, 0, LIKELY}, chosen = {top, best, 0, n};

    glance_all(&glanced, s, cores);
    for (size_t i = 0; i < (s->n < MANY_FROM ? 1 : 2) * glanced.n; i++) {
        struct estimate_roof one = likely[i % glanced.n];
        one.ramp = i < glanced.n ? 0 : 0.3;
        double now = misfit(&one, s);
        for (size_t t = 0; t < ARRAY_LEN(coarse); t++) {
            now = descend(&one, &one.rate, s, now, coarse[t]);
            now = descend(&one, &one.launch_us, s, now, coarse[t]);
            if (one.ramp > 0)
                now = descend(&one, &one.ramp, s, now, coarse[t]);
        }
        rank(&chosen, &one, now * handicap(&one, cores));
    }
    for (size_t k = 0; k < n; k++)
        refine_latency(&top[k], k == 0 ? f : NULL, s);
}

size_t estimate_roofs(struct estimate_roof *out, struct estimate_fits *family,
                      const struct estimate_sample *s)
{
    enum { FEW = 4, TILED_FROM = 8, CACHED_FROM = 12 };

    out[0] = (struct estimate_roof){0};
    first_guess(&out[0], s);
    family[ESTIMATE_PLAIN].at[0] = out[0];
    family[ESTIMATE_PLAIN].n = 1;
    if (s->n < FEW)
        return 1;
    family[ESTIMATE_PLAIN].n = 0;
    refine_latency(&out[0], &family[ESTIMATE_PLAIN], s);
    size_t n = 1;
    n += s->n >= CACHED_FROM && choose_cache(&out[1], &family[ESTIMATE_CACHED], &out[0], s);
    if (s->n < TILED_FROM || s->points[s->at[0]].work.rows <= 0)
        return n;
    choose_tiles(out + n, ESTIMATE_TILED, &family[ESTIMATE_CUT], s, s->chip->cores);
    return n + ESTIMATE_TILED;
}
