/*
 * noise - by how much the mean of one set of samples exceeds that of another, and how sure that is.
 *
 * The one rule by which two of anything are told apart. Samples are lengths of units in the order
 * of time, of one or several runs a side. Their means are compared, so that slow units count. How
 * far the ratio of the means may be from the truth comes from the data: blocks of neighbouring
 * units are drawn anew, as long as their correlation asks for, and the distances are stretched by
 * what few and correlated samples hide; on top comes what differs from run to run, measured from
 * NOISE_RUNS runs a side on, else allowed for. Where some units are much longer than others the
 * mean hides what all others do, so those without the slow ones are compared besides: they can call
 * a change, never excuse one. The draws are seeded by the samples: the same data give the same
 * answer anywhere. Formulas and how often it errs: docs/analyses/compare.md.
 */
#ifndef STRATA_ANALYSIS_COMPARE_NOISE_H
#define STRATA_ANALYSIS_COMPARE_NOISE_H

#include "base/arena.h"

enum {
    NOISE_UNITS = 5, /* of a side: fewer cannot be judged */
    NOISE_RUNS = 4,  /* of each side: their scatter is measured */
    NOISE_DRAWS = 4000,
};

#define NOISE_BETWEEN 0.01  /* standard deviation from run to run that is allowed for */
#define NOISE_LIMIT   0.05  /* slowdown that a gate allows */
#define NOISE_SURE    0.99  /* of the interval */
#define NOISE_TYPICAL 0.995 /* of that of the less disturbed units */

/* Which units are compared besides all: the part that scatters least, by both sides. */
enum noise_part {
    NOISE_MIDDLE, /* without a fifth at either end */
    NOISE_THREE_QUARTERS,
    NOISE_HALF,
    NOISE_THIRD,
    NOISE_QUARTER, /* the fastest quarter */
    NOISE_PARTS
};

/* Samples of one side: run r has those from first[r] to first[r + 1]. */
struct noise_side {
    const double *at;
    const size_t *first;
    size_t runs;
};

struct noise_options {
    double between; /* of two runs of the same program, relative */
    double limit;   /* 0.05: 5 % */
    bool by_mean;   /* alone: no part of the units is compared besides */
};

enum noise_verdict {
    NOISE_UNKNOWN, /* too few units, or they scatter so much that the limit could be exceeded */
    NOISE_NOTHING, /* the interval contains zero, and neither limit is exceeded */
    NOISE_SLOWER,
    NOISE_FASTER,
};

enum gate_verdict { GATE_PASS, GATE_FAIL, GATE_UNKNOWN };

/* A is 0, B is 1. */
struct noise_change {
    size_t units[2], runs[2];
    double mean[2];
    double spread[2]; /* within a run: 1.4826 times the median distance from the median */
    double fastest[2], slowest[2];
    double autocorrelation;    /* of neighbouring units */
    size_t block;              /* units that are drawn together */
    double between;            /* scatter from run to run that was allowed for or measured */
    bool is_measured;          /* measured */
    double relative;           /* of the mean, 0.05: B takes 5 % longer; NAN: the mean of A is 0 */
    double low, high;          /* its interval; NAN: too few units */
    double probability;        /* that it exceeds the limit; NAN: likewise */
    double probability_faster; /* that A exceeds B by as much */
    double limit;
    enum noise_part part;             /* of the units: which of them "typical" is about */
    double typical[2];                /* their mean; NAN: too few */
    double typical_relative;          /* as of the mean */
    double typical_low, typical_high; /* its interval */
    double typical_sure;              /* of that: 0.995 */
    bool is_typical;                  /* the verdict is theirs, not that of the mean */
    bool is_doubled;                  /* the fastest unit of B is over twice the slowest of A */
    size_t slow[2];                   /* units from 1.5 times the median on */
    double slow_chance;               /* that B has so many more by chance */
    enum noise_verdict verdict;
    enum gate_verdict gate;
    size_t needed; /* units a side that would decide; 0: more runs, or nothing, would */
};

/* `arena` is scratch. */
struct noise_change noise_judge(struct arena *arena, struct noise_side a, struct noise_side b,
                                struct noise_options options);

/* What a change of known interval says, and a gate of `limit` of it: as noise_judge() has it, for
 * sums of changes. Without an interval nothing. */
enum noise_verdict noise_verdict_of(double low, double high, double limit);
enum gate_verdict noise_gate_of(double relative, double low, double high, double limit);

/* A tail of slow units that grew. */
static inline bool noise_tail_grew(const struct noise_change *c)
{
    return c->slow_chance <= 0.005;
}

/* "faster half" */
const char *noise_part_name(enum noise_part part);

/* "cannot tell", "no change shown", "slower", "faster"; "pass", "fail", "cannot tell". */
const char *noise_verdict_name(enum noise_verdict verdict);
const char *gate_verdict_name(enum gate_verdict verdict);

#endif
