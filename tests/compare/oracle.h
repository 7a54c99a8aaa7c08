/*
 * oracle - how much any test of two series of lengths can find.
 *
 * The density of the logarithm of a length is known (of a list of them, smoothed), and so are the
 * correlation of neighbours, the scatter of runs and the change that is looked for; how long a unit
 * takes is not, as nobody knows that of a program. Of all tests that do not depend on it none finds
 * more than the ratio of the likelihoods with and without the change, each averaged over all
 * lengths, from a limit on that it exceeds in 1 % without a change (Hunt and Stein). Where what
 * runs differ by is to be measured, by the runs, it is Student's test of the shift of each run.
 */
#ifndef STRATA_TESTS_ORACLE_H
#define STRATA_TESTS_ORACLE_H

#include <math.h>
#include <stddef.h>

enum { DENSITY_POINTS = 4001, ORACLE_SHIFTS = 301 };

#define ORACLE_STEP 0.0025 /* between shifts of a logarithm */

struct density {
    double low, step;
    double log_of[DENSITY_POINTS]; /* of the density */
    double normal[DENSITY_POINTS]; /* the normal number of the same rank */
};

static inline double density_look(const struct density *d, const double *table, double x)
{
    double place = (x - d->low) / d->step;
    size_t at = place <= 0                        ? 0
                : place >= DENSITY_POINTS - 1.001 ? DENSITY_POINTS - 2
                                                  : (size_t)place;
    double part = place <= 0 ? 0 : place >= DENSITY_POINTS - 1.001 ? 1 : place - (double)at;

    return table[at] + part * (table[at + 1] - table[at]);
}

/* The value whose rank is that of a normal number. */
static inline double density_at(const struct density *d, double z)
{
    size_t low = 0, high = DENSITY_POINTS - 1;

    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (d->normal[middle] <= z)
            low = middle;
        else
            high = middle;
    }
    double width = d->normal[high] - d->normal[low];
    double part = width > 0 ? (z - d->normal[low]) / width : 0;
    part = part < 0 ? 0 : part > 1 ? 1 : part;
    return d->low + d->step * ((double)low + part);
}

/* The normal number below which a share of `p` lies, by Newton's steps. */
static inline double density_normal(double p)
{
    double z = 0;

    p = p < 1e-9 ? 1e-9 : p > 1 - 1e-9 ? 1 - 1e-9 : p;
    for (int i = 0; i < 60; i++) {
        double off = 0.5 * erfc(-z / sqrt(2.0)) - p, slope = exp(-z * z / 2) / 2.5066282746310002;
        double by = off / slope;
        z -= by > 0.5 ? 0.5 : by < -0.5 ? -0.5 : by;
    }
    return z;
}

/* Smoothed by normal curves as wide as Silverman's rule has it; `at` ascends. */
static inline void density_make(struct density *d, const double *at, size_t n)
{
    double mean = 0, square = 0, sum = 0, below = 0;

    for (size_t i = 0; i < n; i++)
        mean += at[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        square += (at[i] - mean) * (at[i] - mean) / (double)n;
    double middle = (at[n * 3 / 4] - at[n / 4]) / 1.349, spread = sqrt(square);
    double width = 0.9 * (middle > 0 && middle < spread ? middle : spread) * pow((double)n, -0.2);
    d->low = at[0] - 6 * width;
    d->step = (at[n - 1] + 6 * width - d->low) / (DENSITY_POINTS - 1);
    for (size_t k = 0; k < DENSITY_POINTS; k++) {
        double x = d->low + d->step * (double)k, f = 0;
        size_t every = n > 5000 ? 8 : 1;
        for (size_t i = 0; i < n; i += every)
            f += exp(-0.5 * (x - at[i]) * (x - at[i]) / (width * width));
        d->log_of[k] = f + 1e-6; /* what lies far out is no proof */
        sum += d->log_of[k];
    }
    for (size_t k = 0; k < DENSITY_POINTS; k++) {
        double f = d->log_of[k];
        d->normal[k] = density_normal((below + f / 2) / sum);
        d->log_of[k] = log(f / sum / d->step);
        below += f;
    }
}

/* Adds to out[j] the logarithm of the likelihood of a run whose lengths are shifted by j steps. */
static inline void oracle_add_run(const struct density *d, const double *logs, size_t n, double rho,
                                  double between, double *out)
{
    double plain[ORACLE_SHIFTS], most = -INFINITY;

    for (int j = 0; j < ORACLE_SHIFTS; j++) {
        double shift = (j - ORACLE_SHIFTS / 2) * ORACLE_STEP, sum = 0, last = 0;
        for (size_t i = 0; i < n; i++) {
            sum += density_look(d, d->log_of, logs[i] - shift);
            if (rho <= 0)
                continue;
            double z = density_look(d, d->normal, logs[i] - shift), off = z - rho * last;
            if (i > 0)
                sum += z * z / 2 - off * off / (1 - rho * rho) / 2;
            last = z;
        }
        plain[j] = sum;
        most = fmax(most, sum);
    }
    for (int j = 0; j < ORACLE_SHIFTS; j++) {
        double sum = exp(plain[j] - most), weight = 1;
        for (int k = 1; between > 0 && k * ORACLE_STEP < 4 * between; k++) {
            double w = exp(-0.5 * pow(k * ORACLE_STEP / between, 2));
            sum += j >= k ? w * exp(plain[j - k] - most) : 0;
            sum += j + k < ORACLE_SHIFTS ? w * exp(plain[j + k] - most) : 0;
            weight += 2 * w;
        }
        out[j] += most + log(sum / weight + 1e-300);
    }
}

/* The logarithm of the ratio of the likelihoods of a change by `change` and of none. */
static inline double oracle_ratio(const double *a, const double *b, double change)
{
    double most_a = -INFINITY, most_b = -INFINITY, with = 0, without = 0;
    double steps = change / ORACLE_STEP;
    int whole = (int)floor(steps);

    for (int j = 0; j < ORACLE_SHIFTS; j++) {
        most_a = fmax(most_a, a[j]);
        most_b = fmax(most_b, b[j]);
    }
    for (int j = 0; j + whole + 1 < ORACLE_SHIFTS; j++) {
        double before = exp(a[j] - most_a), part = steps - whole;
        without += before * exp(b[j] - most_b);
        with += before *
                ((1 - part) * exp(b[j + whole] - most_b) + part * exp(b[j + whole + 1] - most_b));
    }
    return log(with + 1e-300) - log(without + 1e-300);
}

/* The shift that the likelihoods are the centre of: no estimate scatters less (Pitman). */
static inline double oracle_shift(const double *likely)
{
    double most = -INFINITY, sum = 0, weight = 0;

    for (int j = 0; j < ORACLE_SHIFTS; j++)
        most = fmax(most, likely[j]);
    for (int j = 0; j < ORACLE_SHIFTS; j++) {
        double w = exp(likely[j] - most);
        weight += w;
        sum += w * (j - ORACLE_SHIFTS / 2) * ORACLE_STEP;
    }
    return sum / weight;
}

#endif
