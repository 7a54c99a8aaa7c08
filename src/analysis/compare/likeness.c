/*
 * Whether two runs do the same work.
 */
#include "analysis/compare/compare.h"

#include <math.h>
#include <stdlib.h>

/* Of what both do, to be the same work; docs/analyses/compare.md has what that was measured on. */
#define HALF_ALIKE    0.50 /* operators with the shapes of their inputs, and shapes; each once */
#define KERNELS_ALIKE 0.60 /* calls of a unit */

enum { SETUP_PARTS = 3 }; /* the others are shares of work in common */

ENUM_NAMES(likeness_state_name, enum likeness_state, "same", "different", "unknown")

/* What both sets have. */
struct shared {
    double both, smaller;
    double share; /* of what either has; NAN: one has nothing */
};

static struct shared keys_shared(const struct profile_keys *a, const struct profile_keys *b)
{
    struct shared out = {.smaller = (double)(a->n < b->n ? a->n : b->n), .share = NAN};

    for (size_t i = 0, j = 0; i < a->n && j < b->n;) {
        int64_t x = a->at[i], y = b->at[j];
        out.both += x == y;
        i += x <= y;
        j += y <= x;
    }
    if (a->n > 0 && b->n > 0)
        out.share = out.both / ((double)(a->n + b->n) - out.both);
    return out;
}

/* Of several shapes one may be in both by chance. */
static bool are_tensors_alike(const struct shared *t)
{
    return t->share >= HALF_ALIKE && t->both * t->share >= 1;
}

/* A repair may replace most operators, but leaves what they multiply. */
static bool are_tensors_within(const struct shared *t)
{
    return t->both >= 2 && t->both >= t->smaller;
}

/* `work` is the share of it in both. */
static bool is_same_program(const struct shared *operators, const struct shared *tensors,
                            double kernels, double work)
{
    if (work < PROFILE_SAME_WORK)
        return false;
    if (isnan(tensors->share)) /* no shapes: names of operators alone do not tell a batch */
        return kernels >= KERNELS_ALIKE;
    return operators->share >= HALF_ALIKE || are_tensors_alike(tensors) ||
           (kernels >= KERNELS_ALIKE && tensors->share >= HALF_ALIKE) ||
           (work >= PROFILE_SAME_WORK && are_tensors_within(tensors));
}

/* Calls of a unit of one kernel, whatever operator launched it. */
struct kernel_calls {
    struct str name;
    double calls;
};

ORDER_BY(calls_by_name, struct kernel_calls, str_compare(x->name, y->name));

static size_t list_calls(const struct profile_kind *kind, struct kernel_calls *list)
{
    size_t n = 0, kept = 0;

    for (size_t i = 0; i < kind->n_parts; i++)
        if (kind->parts[i].class != PART_IDLE && kind->parts[i].calls > 0)
            list[n++] = (struct kernel_calls){kind->parts[i].kernel,
                                              (double)kind->parts[i].calls / (double)kind->n};
    if (n > 1)
        qsort(list, n, sizeof(*list), calls_by_name);
    for (size_t i = 0; i < n; i++)
        if (kept > 0 && str_equal(list[kept - 1].name, list[i].name))
            list[kept - 1].calls += list[i].calls;
        else
            list[kept++] = list[i];
    return kept;
}

double likeness_of_kernels(const struct profile_kind *a, const struct profile_kind *b)
{
    struct kernel_calls *x = mem_grow(NULL, sizeof(*x), a->n_parts + 1),
                        *y = mem_grow(NULL, sizeof(*y), b->n_parts + 1);
    size_t n = a->n > 0 ? list_calls(a, x) : 0, m = b->n > 0 ? list_calls(b, y) : 0;
    double least = 0, most = 0;

    for (size_t i = 0, j = 0; i < n || j < m;) {
        int order = i == n ? 1 : j == m ? -1 : str_compare(x[i].name, y[j].name);
        double p = order <= 0 ? x[i].calls : 0, q = order >= 0 ? y[j].calls : 0;
        least += fmin(p, q);
        most += fmax(p, q);
        i += order <= 0;
        j += order >= 0;
    }
    mem_free(x);
    mem_free(y);
    return most > 0 ? least / most : NAN;
}

static struct likeness_part part_of_text(struct arena *arena, const char *name, struct str a,
                                         struct str b)
{
    bool is_known = a.n > 0 && b.n > 0;

    return (struct likeness_part){.name = name,
                                  .text = {arena_str(arena, a), arena_str(arena, b)},
                                  .share = NAN,
                                  .state = !is_known         ? LIKENESS_UNKNOWN
                                           : str_equal(a, b) ? LIKENESS_SAME
                                                             : LIKENESS_DIFFERENT};
}

static struct likeness_part part_of_share(const char *name, double share, double least)
{
    return (struct likeness_part){.name = name,
                                  .text = {S(""), S("")},
                                  .share = share,
                                  .state = isnan(share)     ? LIKENESS_UNKNOWN
                                           : share >= least ? LIKENESS_SAME
                                                            : LIKENESS_DIFFERENT};
}

struct likeness likeness_of(const struct profile *a, const struct profile *b,
                            const struct profile_kind *unit_a, const struct profile_kind *unit_b,
                            double work, struct arena *arena)
{
    struct shared operators = keys_shared(&a->operators, &b->operators);
    struct shared tensors = keys_shared(&a->tensors, &b->tensors);
    double kernels = unit_a != NULL && unit_b != NULL ? likeness_of_kernels(unit_a, unit_b) : NAN;
    double sum = 0, known = 0;
    struct likeness out = {
        .parts = {part_of_text(arena, "device", a->device, b->device),
                  part_of_text(arena, "software", a->software, b->software),
                  part_of_text(arena, "profiler options", a->options, b->options),
                  part_of_share("operators", operators.share, HALF_ALIKE),
                  part_of_share("shapes", tensors.share, HALF_ALIKE),
                  part_of_share("kernels", kernels, KERNELS_ALIKE),
                  part_of_share("work of a unit", work, PROFILE_SAME_WORK)},
        .work = work,
        .is_comparable = is_same_program(&operators, &tensors, kernels, work),
        .is_same_setup = true,
    };

    for (int i = 0; i < SETUP_PARTS; i++)
        out.is_same_setup = out.is_same_setup && out.parts[i].state != LIKENESS_DIFFERENT;
    for (int i = SETUP_PARTS; i < LIKENESS_PARTS; i++)
        if (!isnan(out.parts[i].share)) {
            sum += out.parts[i].share;
            known++;
        }
    out.score = num_share(sum, known);
    return out;
}
