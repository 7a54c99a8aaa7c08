/*
 * estimate - the time of a call from the times of others, with an interval.
 *
 * Two steps. A roof: launch time plus the longer of operations and bytes at rates that are fitted,
 * where products are cut into tiles and tiles run in waves over the cores, and where bytes that fit
 * into a cache move faster. What the roof leaves (the utilisation) is interpolated between the
 * nearest calls by kriging on the logarithms of the axes. So steps of tiles and waves stay steps.
 *
 * Outside of the points (their convex hull) another roof takes over: the kind that predicted the
 * longest points best when these were left out. Where the chip is known no answer is below what it
 * can do.
 *
 * The interval is conformal: each point is predicted without itself, by parameters that were fitted
 * without its fold; the quantile of these errors, in units of the predicted spread, widens the
 * interval of a new call. Outside it grows with the distance, as much as it did for the points that
 * were left out by cuts. docs/perfdb.md has the formulas.
 */
#ifndef STRATA_OPDB_PREDICT_ESTIMATE_H
#define STRATA_OPDB_PREDICT_ESTIMATE_H

#include "base/tables/vec.h"
#include "opdb/predict/work.h"

struct estimate_point {
    struct call_work work;
    double us;
};

/* What the device can do at best with the type of the points; 0: unknown. */
struct estimate_chip {
    double cores;
    double rate, speed; /* operations and bytes by microsecond */
    double cache;       /* bytes; those that fit may move faster */
};

/* A latency, launch + depth of the call, and a throughput, max(operations / rate, bytes / speed),
 * rate and speed by microsecond: us = latency + throughput, or less where both overlap. */
enum estimate_overlap { ESTIMATE_SUM, ESTIMATE_SQUARES, ESTIMATE_FOURTH, ESTIMATE_OVERLAPS };
struct estimate_roof {
    double launch_us, rate, speed;
    double deep_us; /* of latency, for each unit of depth */
    double fill;    /* depth that every part of a product takes besides its own */
    enum estimate_overlap overlap;
    double tile_rows, tile_columns, cores; /* 0: not in tiles */
    bool is_cut;                           /* tiles at the edge take what they hold, not all */
    double ramp;                           /* waves that begin and end take more than others */
    double cache, fast;                    /* bytes that move at this speed; 0: no cache */
};

/* How alike the utilisation of two calls is, by their distance on the axes. */
struct estimate_kriging {
    double scale[WORK_AXES]; /* one over the length, which is in units of ln */
    double noise;            /* variance of one measurement, in units of the spread */
    bool is_smooth;          /* Matérn 3/2; else exponential, linear between neighbours */
};

/* A roof with kriging over what it leaves. */
enum { ESTIMATE_MEMBERS = 4 };
struct estimate_member {
    struct estimate_roof roof;
    struct estimate_kriging kriging;
    double spread; /* of the logarithm of the utilisation */
    double weight; /* all sum up to 1 */
    double error;  /* of points that are left out */
    double *rest;  /* ln(us / roof) of each point; NULL: not kept */
};

/* Beyond the points: roofs that fit the points about as well, and their weights, which sum up to 1.
 * How far they are apart is part of the interval. */
enum { ESTIMATE_FITS = 16 };
struct estimate_far {
    struct estimate_roof roof[ESTIMATE_FITS];
    double weight[ESTIMATE_FITS];
    unsigned n;
    double hold;   /* share of what the roof leaves of the nearest points that is kept */
    double growth; /* half of an 80 % interval in ln, for each unit of distance */
};

enum { ESTIMATE_NEAR = 8 };

struct estimate_tree; /* points by place, to find the nearest */

/* Points on the convex hull, or so many of them that it is hardly smaller. */
struct estimate_hull {
    const double (*place)[WORK_AXES];
    uint32_t *at;
    size_t n;
};

struct estimate_model {
    const struct estimate_point *points;
    size_t n;
    struct estimate_chip chip;
    struct estimate_member member[ESTIMATE_MEMBERS]; /* those that predict best, best first */
    unsigned n_members;
    struct estimate_far far;
    unsigned far_kind;
    double inside; /* factor of an 80 % interval between points */
    struct estimate_tree *tree;
    struct estimate_hull hull;
};

struct estimate {
    double us, low_us, high_us;
    double error;    /* half of the interval, of ln(us) */
    double distance; /* to the hull of the points, in ln of the axes */
    bool is_inside;
    unsigned n_near;
    uint32_t near[ESTIMATE_NEAR]; /* points it came from, nearest first */
};

enum { ESTIMATE_NONE = UINT32_MAX };

/* Fits a model to points of one regime, which must outlive it. */
void estimate_fit(struct estimate_model *m, const struct estimate_point *points, size_t n,
                  const struct estimate_chip *chip);
void estimate_free(struct estimate_model *m);

/* `without`: a point that is left out, or ESTIMATE_NONE. */
void estimate_call(const struct estimate_model *m, const struct call_work *w, uint32_t without,
                   struct estimate *out);

double estimate_roof_us(const struct estimate_roof *r, const struct call_work *w);

/* The least time that the chip allows; 0: unknown. */
double estimate_floor_us(const struct estimate_chip *chip, const struct call_work *w);

/* One judged prediction: a point without itself (or without its block). */
struct estimate_trial {
    double us;       /* predicted */
    double error;    /* ln(predicted / measured) */
    double sigma;    /* what was predicted of it */
    double apart;    /* of what far roofs tell */
    double distance; /* to the hull of the other points */
    double low_us, high_us;
    uint32_t point;
    bool is_covered, is_inside;
};

/* Every point once: left out alone, and left out with its block (a fifth of the range of an axis).
 * Arrays of `n`, in order of the points. Parameters are fitted without the point's fold; intervals
 * without the point. At most ESTIMATE_TRIALS of more points are tried, evenly. Returns how many. */
enum { ESTIMATE_TRIALS = 400 };
size_t estimate_leave_one_out(const struct estimate_point *points, size_t n,
                              const struct estimate_chip *chip, struct estimate_trial *out);
size_t estimate_leave_block_out(const struct estimate_point *points, size_t n,
                                const struct estimate_chip *chip, struct estimate_trial *out);

#endif
