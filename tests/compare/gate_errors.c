/*
 * gate_errors TRIALS [SEED [SET-UP]] - how often the rule of analysis/compare/noise errs.
 *
 * Each trial makes lengths of units for two sides and judges them: without a change (a false alarm
 * is a gate that fails), with one of 5 % (a miss is a gate that passes; found is one that fails)
 * and of 10 %. Lengths are drawn from those that captures have (step_lengths.h), so that tails are
 * real, and from distributions with a formula; independent or with neighbours correlated by 0.6,
 * with and without a scatter of whole runs. "best" is what any test of the means could find at most
 * (with heavy tails and few long units a typical unit finds more). Ends with 1 when a rate is
 * beyond what the rule promises. Below 1 000 trials only what captures have and a heavy tail are
 * tried. Results of 10 000 trials: docs/analyses/compare.md.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/compare/noise.h"
#include "base/tables/ranked.h"
#include "step_lengths.h"

enum { MOST_UNITS = 64, MOST_RUNS = 8, FORMULAS = 4 };

static uint64_t state;

static uint64_t next(void)
{
    uint64_t x = state += UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static double unit(void)
{
    return ((double)(next() >> 11) + 0.5) * 0x1p-53;
}

static double normal(void)
{
    return sqrt(-2 * log(unit())) * cos(6.283185307179586 * unit());
}

/* Student's t with three degrees of freedom, of variance 1. */
static double heavy(void)
{
    double sum = 0, x = normal();

    for (int i = 0; i < 3; i++) {
        double y = normal();
        sum += y * y;
    }
    return x / sqrt(sum / 3) / sqrt(3.0);
}

struct shape {
    const char *name;
    const struct step_lengths *real; /* NULL: by formula */
    double (*draw)(void);
    double scale;
};

/* A value of the list for a normal number: its rank. So neighbours can be correlated. */
static double by_rank(const struct step_lengths *l, double z)
{
    double p = 0.5 * erfc(-z / sqrt(2.0));
    size_t at = (size_t)(p * (double)l->n);

    return l->at[at < l->n ? at : l->n - 1];
}

enum { KERNELS = 16 }; /* of a step that is made of kernels */

/* The mean length of kernels that are half as slow as the step, half by themselves. */
static double of_kernels(const struct step_lengths *l, double z)
{
    double sum = 0;

    for (int i = 0; i < KERNELS; i++)
        sum += by_rank(l, sqrt(0.5) * (z + normal()));
    return sum / KERNELS;
}

static double length_of(const struct shape *s, double rho, double *last, size_t i)
{
    if (s->real == NULL && rho == 0)
        return exp(s->scale * s->draw());
    double z = normal();
    z = i > 0 ? rho * *last + sqrt(1 - rho * rho) * z : z;
    *last = z;
    if (s->real != NULL)
        return s->real->is_kernels ? of_kernels(s->real, z) : by_rank(s->real, z);
    return exp(s->scale * z);
}

struct set_up {
    const char *name;
    size_t runs, units;
    double rho;
    double run_noise;                       /* of the runs that are made */
    double between;                         /* that the rule allows for */
    double alarms, misses, found5, found10; /* what is promised; 1 and 0: nothing */
};

static void make_side(const struct set_up *u, const struct shape *s, double factor, double *at,
                      size_t *first)
{
    size_t n = 0;

    for (size_t r = 0; r < u->runs; r++) {
        double last = 0, run = exp(u->run_noise * normal());
        first[r] = n;
        for (size_t i = 0; i < u->units; i++)
            at[n++] = 1e6 * factor * run * length_of(s, u->rho, &last, i);
    }
    first[u->runs] = n;
}

static struct noise_change trial(struct arena *arena, const struct set_up *u, const struct shape *s,
                                 double change)
{
    static double a[MOST_UNITS * MOST_RUNS], b[MOST_UNITS * MOST_RUNS];
    size_t first_a[MOST_RUNS + 1], first_b[MOST_RUNS + 1];

    make_side(u, s, 1, a, first_a);
    make_side(u, s, 1 + change, b, first_b);
    return noise_judge(arena, (struct noise_side){a, first_a, u->runs},
                       (struct noise_side){b, first_b, u->runs},
                       (struct noise_options){u->between, NOISE_LIMIT, false});
}

struct rates {
    double fail, pass, covered;
};

static struct rates rates_of(const struct set_up *u, const struct shape *s, double change,
                             size_t trials)
{
    struct rates out = {0};
    struct arena arena;

    for (size_t i = 0; i < trials; i++) {
        arena_init(&arena);
        struct noise_change c = trial(&arena, u, s, change);
        out.fail += c.gate == GATE_FAIL;
        out.pass += c.gate == GATE_PASS;
        out.covered += c.low <= change && change <= c.high;
        arena_free(&arena);
    }
    out.fail /= (double)trials;
    out.pass /= (double)trials;
    out.covered /= (double)trials;
    return out;
}

/* Beyond a promise by more than three standard deviations of the count. */
static bool is_over(double rate, double promise, size_t trials)
{
    return rate > promise + 3 * sqrt(promise * (1 - promise) / (double)trials);
}

static bool is_under(double rate, double promise, size_t trials)
{
    return is_over(1 - rate, 1 - promise, trials);
}

static const struct set_up set_ups[] = {
    {"one run, allowance 1 %", 1, 30, 0, 0, 0.01, 0.01, 0.01, 0, 0.90},
    {"one run, runs differ by 1 %", 1, 30, 0, 0.01, 0.01, 0.01, 0.01, 0, 0.90},
    {"one run, correlated 0.6", 1, 30, 0.6, 0, 0.01, 0.01, 0.01, 0, 0.90},
    {"one run, --noise 0", 1, 30, 0, 0, 0, 0.01, 0.01, 0.95, 0.95},
    {"four runs that differ by 1 %", 4, 30, 0, 0.01, 0.01, 0.01, 0.01, 0.95, 0.95},
    {"six units, allowance 1 %", 1, 6, 0, 0, 0.01, 0.01, 0.01, 0, 0},
};

/* Standard deviation of the lengths over their mean. */
static double variation_of(const struct shape *s)
{
    enum { DRAWS = 20000 };
    double sum = 0, square = 0, last = 0;

    for (size_t i = 0; i < DRAWS; i++) {
        double x = length_of(s, 0, &last, i);
        sum += x / DRAWS;
        square += x * x / DRAWS;
    }
    return sqrt(square - sum * sum) / sum;
}

/* How far the logarithm of the ratio of two means is off, as a standard deviation: what two thirds
 * are within, as the tail of some lengths has no variance. */
static double scatter_of(const struct set_up *u, const struct shape *s)
{
    enum { PAIRS = 4000 };
    static double off[PAIRS], a[MOST_UNITS * MOST_RUNS], b[MOST_UNITS * MOST_RUNS];
    size_t first[MOST_RUNS + 1];
    struct set_up still = *u;

    still.run_noise = 0;
    for (size_t k = 0; k < PAIRS; k++) {
        double sum_a = 0, sum_b = 0;
        make_side(&still, s, 1, a, first);
        make_side(&still, s, 1, b, first);
        for (size_t i = 0; i < u->runs * u->units; i++) {
            sum_a += a[i];
            sum_b += b[i];
        }
        off[k] = fabs(log(sum_b / sum_a));
    }
    ranked_sort(off, PAIRS);
    return ranked_at(off, PAIRS, 0.6827);
}

/* The share of changes by `shift` that Student's test of eight runs finds, alarming in 1 %. */
static double found_of_runs(double shift)
{
    enum { DRAWS = 20000, FREEDOM = 6 };
    const double least = 3.1426684;
    size_t found = 0;

    for (size_t i = 0; i < DRAWS; i++) {
        double sum = 0, z = normal() + shift;
        for (int k = 0; k < FREEDOM; k++) {
            double y = normal();
            sum += y * y;
        }
        found += z > least * sqrt(sum / FREEDOM);
    }
    return (double)found / DRAWS;
}

/* How many changes a test of the means finds at best that alarms falsely in 1 %: it knows how units
 * scatter, and how runs do unless it has them to measure. */
static double best_of(const struct set_up *u, const struct shape *s, double change)
{
    const double z = 2.3263479, runs = 2 / (double)u->runs;
    double units = scatter_of(u, s), shift = log(1 + change);
    double scatter = sqrt(units * units + runs * u->run_noise * u->run_noise);
    double least = z * sqrt(units * units + runs * u->between * u->between);

    return u->runs == NOISE_RUNS ? found_of_runs(shift / scatter)
                                 : 0.5 * erfc((least - shift) / scatter / sqrt(2.0));
}

/* What a test of the means could find nearly always is found as often as promised. */
#define NEARLY_ALWAYS 0.995

/* One line of the table; true when a promise is broken. */
static bool try_one(const struct set_up *u, const struct shape *s, size_t trials)
{
    double variation = variation_of(s), best5 = best_of(u, s, 0.05), best10 = best_of(u, s, 0.10);
    struct rates none = rates_of(u, s, 0, trials), five = rates_of(u, s, 0.05, trials),
                 ten = rates_of(u, s, 0.10, trials);
    bool is_bad = is_over(none.fail, u->alarms, trials) || is_over(five.pass, u->misses, trials) ||
                  (best5 >= NEARLY_ALWAYS && is_under(five.fail, u->found5, trials)) ||
                  (best10 >= NEARLY_ALWAYS && is_under(ten.fail, u->found10, trials));

    printf("%-29s %-24s %5.1f%% %6.2f%% %6.2f%% %6.2f%% %6.2f%% (%5.1f%%) %6.2f%% (%5.1f%%) "
           "%6.2f%%%s\n",
           u->name, s->name, 100 * variation, 100 * none.fail, 100 * none.pass, 100 * five.pass,
           100 * five.fail, 100 * best5, 100 * ten.fail, 100 * best10, 100 * none.covered,
           is_bad ? "  <--" : "");
    fflush(stdout);
    return is_bad;
}

int main(int argc, char **argv)
{
    enum { FEW = 1000, FIRST_OF_FEW = 2, SET_UPS_OF_FEW = 5 };
    size_t trials = argc > 1 ? (size_t)atol(argv[1]) : 0, broken = 0;
    uint64_t seed = argc > 2 ? (uint64_t)strtoull(argv[2], NULL, 10) : 20261118;
    size_t only = argc > 3 ? (size_t)atol(argv[3]) : SIZE_MAX;
    struct shape shapes[FORMULAS + STEP_LENGTHS] = {
        {"normal, 1 %", NULL, normal, 0.01},
        {"normal, 3 %", NULL, normal, 0.03},
        {"heavy tail, 3 %", NULL, heavy, 0.03},
        {"heavy tail, 1 %", NULL, heavy, 0.01},
    };

    if (trials == 0) {
        fprintf(stderr, "usage: gate_errors TRIALS [SEED [SET-UP]]\n");
        return 2;
    }
    for (size_t i = 0; i < STEP_LENGTHS; i++)
        shapes[FORMULAS + i] = (struct shape){step_lengths[i].name, &step_lengths[i], NULL, 0};
    printf("%zu trials each, seed %llu; limit 5 %%\n", trials, (unsigned long long)seed);
    printf("%-29s %-24s %6s %7s %7s %7s %7s %8s %7s %8s %7s\n", "set-up", "lengths", "vary",
           "0 fail", "0 pass", "5 pass", "5 fail", "best", "10 fail", "best", "cover");
    for (size_t k = 0; k < sizeof(set_ups) / sizeof(*set_ups); k++)
        for (size_t i = trials < FEW ? FIRST_OF_FEW : 0; i < FORMULAS + STEP_LENGTHS; i++) {
            if ((only != SIZE_MAX && k != only) || (trials < FEW && k >= SET_UPS_OF_FEW) ||
                (trials < FEW && i == FORMULAS - 1))
                continue;
            state = seed + 1000 * k + i;
            broken += try_one(&set_ups[k], &shapes[i], trials);
        }
    return broken > 0;
}
