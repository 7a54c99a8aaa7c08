/*
 * estimate_in - for estimate_*.c alone.
 */
#ifndef STRATA_OPDB_PREDICT_ESTIMATE_IN_H
#define STRATA_OPDB_PREDICT_ESTIMATE_IN_H

#include "opdb/predict/estimate.h"

/* Some of the points, by number. */
struct estimate_sample {
    const struct estimate_point *points;
    const uint32_t *at;
    size_t n;
    const struct estimate_chip *chip;
    const double *weight; /* of each; NULL: 1 */
};

/* Roofs of one kind with their misfits. */
struct estimate_fits {
    struct estimate_roof at[ESTIMATE_FITS];
    double misfit[ESTIMATE_FITS];
    unsigned n;
    double points; /* that they were fitted to */
};

/* Roofs that fit: the plain one, one with a cache, and with the tiles that fit best, where there
 * are any. */
enum { ESTIMATE_TILED = 3, ESTIMATE_ROOFS = 2 + ESTIMATE_TILED };
size_t estimate_roofs(struct estimate_roof *out, struct estimate_fits *family,
                      const struct estimate_sample *s);

/* Fits the roofs of a family again, with the weights of the sample, and adds them to it. */
void estimate_refit(struct estimate_fits *f, const struct estimate_sample *s);

/* Where no point tells how fast bytes move that fit into no cache, the far roof takes what is usual
 * for the chip. */
void estimate_beyond_cache(struct estimate_roof *r, const struct estimate_chip *chip,
                           enum work_kind kind, double most_bytes);

/* The kinds of roofs. */
enum estimate_kind { ESTIMATE_PLAIN, ESTIMATE_CACHED, ESTIMATE_CUT, ESTIMATE_KINDS };
enum estimate_kind estimate_kind_of(const struct estimate_roof *r);

/* What is fitted to some points: the roof and kriging that predict points best that are left out,
 * and the best roof of each kind. */
struct estimate_fitted {
    struct estimate_member member[ESTIMATE_MEMBERS];
    unsigned n_members;
    struct estimate_fits of_kind[ESTIMATE_KINDS]; /* empty: none of that kind */
};
void estimate_fit_points(const struct estimate_point *points, size_t n, const bool *is_out,
                         const struct estimate_chip *chip, struct estimate_fitted *out);

/* The nearest points so far, nearest first. */
struct estimate_near {
    uint32_t at[ESTIMATE_NEAR];
    double far[ESTIMATE_NEAR]; /* squared distance */
    unsigned n;
};

/* Logarithms of the axes: where a call lies. */
void estimate_place(const struct call_work *w, double *out);

/* The points in order of a k-d tree: the middle of each range splits it. */
struct estimate_tree {
    double (*place)[WORK_AXES]; /* by number of the point */
    uint32_t *order;
    uint8_t *split; /* axis at each place of `order` */
    double low[WORK_AXES], high[WORK_AXES];
};

/* What predictions are made from: points in places, with what the roof leaves of them. */
struct estimate_field {
    const struct estimate_kriging *kriging;
    const double (*place)[WORK_AXES];
    const double *rest; /* of each point; NULL: by the two that follow */
    const struct estimate_point *points;
    const struct estimate_roof *roof;
    const bool *is_out; /* points that do not take part; NULL: all do */
    size_t n;
    const struct estimate_tree *tree; /* NULL: a few points, all are looked at */
};

/* The nearest points of a field but one, and the mean at a place between them, with its variance
 * in units of the spread. */
struct estimate_near estimate_nearest(const struct estimate_field *f, const double *at,
                                      uint32_t without);
double estimate_krige(const struct estimate_field *f, const struct estimate_near *near,
                      double *variance);

/* The lengths only steer where ranges are split: the tree serves any of them. */
struct estimate_tree *estimate_tree_new(const struct estimate_kriging *k,
                                        const struct estimate_point *points, size_t n);
void estimate_tree_free(struct estimate_tree *t);

/* Nearer than this to the hull is in it: 2 % on an axis. */
#define ESTIMATE_TOUCH 0.02
void estimate_hull_make(struct estimate_hull *h, const double (*place)[WORK_AXES], size_t n,
                        const bool *is_out);
void estimate_hull_free(struct estimate_hull *h);
double estimate_hull_distance(const struct estimate_hull *h, const double *at, uint32_t without);

/* A prediction, made of what was fitted: between the points by `roof` and kriging, beyond them ever
 * more by the far roof. `us` is not below the floor of the chip. */
struct estimate_guess {
    double us, sigma; /* of ln(us), from kriging alone */
    double apart;     /* deviation of what the far roofs tell */
    double distance;
    struct estimate_near near;
};
void estimate_guess(const struct estimate_field *f, const struct estimate_member *members,
                    unsigned n_members, const struct estimate_hull *hull,
                    const struct estimate_far *far, const struct estimate_chip *chip,
                    const struct call_work *w, uint32_t without, struct estimate_guess *out);

/* All points of a model. */
struct estimate_field estimate_field_of(const struct estimate_model *m);

/* Half of an 80 % interval in ln(us). */
double estimate_half(double inside, const struct estimate_far *far, const struct estimate_guess *g);

/* The roofs of a family that fit about as well as the best, for predictions beyond the points. */
void estimate_far_of(struct estimate_far *far, const struct estimate_fits *f,
                     const struct estimate_chip *chip, enum work_kind kind, double most_bytes);

/* The factor of intervals between the points, and the model beyond them, from points left out. */
void estimate_calibrate(struct estimate_model *m, const struct estimate_fitted *whole);

#endif
