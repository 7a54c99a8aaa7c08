/*
 * Roofs that are fitted to points: launch time, rates, tiles and waves.
 */
#include "perfdb/estimate_in.h"

#include <math.h>

/* Tiles of matrix kernels, and numbers of cores where the device is unknown. */
static const double tiles[][2] = {{64, 64},   {64, 128},  {128, 64},  {128, 128},
                                  {128, 256}, {256, 128}, {256, 256}, {64, 256}};
/* Rows and keys of one part of attention. */
static const double parts[][2] = {{64, INFINITY}, {128, INFINITY}, {256, INFINITY}, {128, 64},
                                  {128, 128},     {128, 256},      {128, 512},      {128, 1024}};
static const double core_counts[] = {20, 24, 25, 32, 40, 48, 64, 80, 96, 108, 114, 132, 144, 148};

/* Operations including those of unused parts of tiles and of cores that wait for the last wave.
 * Keys of attention are split evenly; its last rows have the most of them. */
static double tiled(const struct estimate_roof *r, const struct call_work *w)
{
    if (r->cores <= 0 || w->rows <= 0)
        return w->flops;
    double down = ceil(w->rows / r->tile_rows),
           across = fmax(1, ceil(w->columns / r->tile_columns));
    double all = down * across * w->units, waste = down * r->tile_rows / w->rows;
    if (w->kind == WORK_MATMUL)
        waste *= across * r->tile_columns / w->columns;
    double longest = waste * w->flops / all * w->peak;
    return fmin(ceil(all / r->cores) * longest * r->cores, waste * w->flops + longest * r->cores);
}

double estimate_roof_us(const struct estimate_roof *r, const struct call_work *w)
{
    return r->launch_us + fmax(tiled(r, w) / r->rate, w->bytes / r->speed);
}

/* Mean absolute error of the logarithm; far points count no more than others. */
static double misfit(const struct estimate_roof *r, const struct estimate_sample *s)
{
    double sum = 0;

    for (size_t i = 0; i < s->n; i++) {
        const struct estimate_point *p = &s->points[s->at[i]];
        sum += fmin(1, fabs(log(p->us / estimate_roof_us(r, &p->work))));
    }
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
        }
        if (best < least) {
            least = best;
            *r = one;
        }
    }
    return least;
}

/* The tiles and numbers of cores that fit best. */
static void choose_tiles(struct estimate_roof *top, size_t n, const struct estimate_sample *s,
                         double cores)
{
    double score[ESTIMATE_ROOFS];
    size_t n_counts = cores > 0 ? 1 : ARRAY_LEN(core_counts);
    bool is_attention = s->points[s->at[0]].work.kind == WORK_ATTENTION;
    const double(*shapes)[2] = is_attention ? parts : tiles;

    for (size_t k = 0; k < n; k++)
        score[k] = INFINITY;
    for (size_t i = 0; i < ARRAY_LEN(tiles) * n_counts; i++) {
        struct estimate_roof one = {.tile_rows = shapes[i / n_counts][0],
                                    .tile_columns = shapes[i / n_counts][1],
                                    .cores = cores > 0 ? cores : core_counts[i % n_counts]};
        first_guess(&one, s);
        double now = misfit(&one, s);
        static const double steps[] = {0.4, 0.16, 0.064};
        for (size_t t = 0; t < ARRAY_LEN(steps); t++) {
            const double step = steps[t];
            now = descend(&one, &one.rate, s, now, step);
            now = descend(&one, &one.launch_us, s, now, step);
        }
        size_t place = n;
        for (; place > 0 && now < score[place - 1]; place--)
            if (place < n) {
                score[place] = score[place - 1];
                top[place] = top[place - 1];
            }
        if (place < n) {
            score[place] = now;
            top[place] = one;
        }
    }
    for (size_t k = 0; k < n; k++)
        refine(&top[k], s);
}

size_t estimate_roofs(struct estimate_roof *out, const struct estimate_sample *s, double cores)
{
    enum { FEW = 4, TILED_FROM = 8 };
    _Static_assert(ARRAY_LEN(tiles) == ARRAY_LEN(parts), "as many of both");

    out[0] = (struct estimate_roof){0};
    first_guess(&out[0], s);
    if (s->n < FEW)
        return 1;
    refine(&out[0], s);
    if (s->n < TILED_FROM || s->points[s->at[0]].work.rows <= 0)
        return 1;
    choose_tiles(out + 1, ESTIMATE_ROOFS - 1, s, cores);
    return ESTIMATE_ROOFS;
}
