/*
 * Runs of attention kernels by form: name and launch parameters, or shapes.
 */
#include "analysis/arch/arch_runs.h"

#include "analysis/study.h"
#include "base/tables/ranked.h"

enum { FORMS_MOST = 64, LOOP_LEAST = 8, LOOP_MOST = 512, LOOP_LAYERS = 16384 };

struct form {
    uint64_t key;
    size_t first, last;
};

/* Forms of the markers of a pass by first place; 0 when there are too many. */
static size_t list_forms(struct study *st, const struct arch_markers *m,
                         const struct arch_pass *pass, struct form *forms)
{
    const struct slices *s = &st->cap->slices;
    size_t n = 0;

    for (size_t i = 0; i < pass->markers; i++) {
        uint32_t slice = study_kernels(st).at[m->at[pass->marker_first + i].kernel];
        uint64_t key = (uint64_t)s->name[slice] << 32 | s->set[slice];
        size_t at = 0;
        while (at < n && forms[at].key != key)
            at++;
        if (at == FORMS_MOST)
            return 0;
        if (at == n)
            forms[n++] = (struct form){.key = key, .first = i};
        forms[at].last = i;
    }
    return n;
}

static size_t runs_of(struct study *st, const struct arch_markers *m, const struct arch_pass *pass,
                      size_t *runs)
{
    struct form forms[FORMS_MOST];
    size_t n = list_forms(st, m, pass, forms), count = 0, begin = 0, last = 0;

    for (size_t i = 0; i < n; i++) {
        if (i > 0 && forms[i].first > last) {
            if (count == ARCH_RUNS)
                return 0;
            runs[count++] = forms[i].first - begin;
            begin = forms[i].first;
        }
        if (forms[i].last > last)
            last = forms[i].last;
    }
    if (n == 0 || count == ARCH_RUNS)
        return 0;
    runs[count++] = pass->markers - begin;
    for (size_t i = 0; i < count; i++)
        if (runs[i] < 2)
            return 1; /* a first or last layer of its own kind */
    return count;
}

void arch_runs_find(struct study *st, const struct arch_markers *markers, struct arch_layers *out)
{
    size_t own[ARCH_RUNS] = {0};

    for (size_t i = 0; i < out->n_passes; i++) {
        const struct arch_pass *pass = &out->passes[i];
        if (pass->is_partial || pass->markers == 0)
            continue;
        size_t n = runs_of(st, markers, pass, out->n_runs == 0 ? out->runs : own);
        if (out->n_runs == 0) {
            out->n_runs = n;
            continue;
        }
        if (n != out->n_runs || memcmp(own, out->runs, sizeof(*own) * n) != 0) {
            out->n_runs = 0;
            return;
        }
    }
}

/* ---- loops ---- */

/* Share of layers from `from` on that look like the one `period` later. */
static double match(const uint64_t *signatures, size_t from, size_t to, size_t period)
{
    size_t same = 0, n = 0;

    for (size_t i = from; i + period + 1 < to && n < LOOP_LAYERS; i++, n++)
        same += signatures[i] == signatures[i + period];
    return n > 0 ? (double)same / (double)n : 0;
}

static size_t loop_of(const uint64_t *signatures, size_t from, size_t to)
{
    size_t n = to - from;
    double next = match(signatures, from, to, 1);

    for (size_t p = 2; p <= n / 2 && p <= LOOP_MOST; p++) {
        double share = match(signatures, from, to, p);
        if (share >= 0.97 && share - next >= 1.0 / (double)p)
            return p > LOOP_LEAST && n % p == 0 ? p : 0;
    }
    return 0;
}

size_t arch_runs_loop(struct study *st, const struct arch_markers *markers,
                      const uint64_t *signatures, size_t from, size_t to, size_t *begin)
{
    struct arch_pass pass = {.marker_first = from, .markers = to - from};
    size_t runs[ARCH_RUNS], n = runs_of(st, markers, &pass, runs), most = 0;

    *begin = from;
    if (n == 0)
        return 0;
    if (n == 1)
        runs[0] = to - from;
    for (size_t i = 1; i < n; i++)
        if (runs[i] > runs[most])
            most = i;
    for (size_t i = 0; i < most; i++)
        *begin += runs[i];
    return loop_of(signatures, *begin, *begin + runs[most]);
}

/* ---- self-attention and cross-attention ---- */

struct part {
    size_t activations, products;
    bool has_experts;
    nanos device;
};

static struct part runs_part_of(struct study *st, const struct arch_ops *ops, size_t from,
                                size_t to)
{
    struct part p = {0};

    for (size_t i = from; i < to; i++) {
        const struct arch_op *op = &ops->at[ops->of_kernel[i]];
        p.activations += op->family == KERNEL_ROLE_ACTIVATION;
        p.products += op->family == KERNEL_ROLE_MATMUL;
        p.has_experts |= op->family == KERNEL_ROLE_MOE_GATE || op->family == KERNEL_ROLE_MOE_GEMM ||
                         op->family == KERNEL_ROLE_MOE_FUSED;
        p.device = nanos_add(p.device, st->cap->slices.dur[study_kernels(st).at[i]]);
    }
    return p;
}

/* A part between two markers that holds projections alone, before one that holds the rest of a
 * layer. */
static bool is_half(const struct part *p, const struct part *next)
{
    return p->activations == 0 && !p->has_experts && p->products > 0 &&
           p->products < next->products && p->device <= next->device / 4 * 3 &&
           (next->activations > 0 || p->products * 3 <= next->products * 2);
}

size_t arch_runs_join(struct study *st, const struct arch_ops *ops, struct arch_markers *markers)
{
    size_t n = markers->n, kept = 0, halves = 0;
    bool *is_joined = ARENA_ARRAY(&st->scratch, bool, n + 1);

    if (markers->class != MARKER_GPU || n < 4)
        return 0;
    for (size_t i = 0; i + 1 < n; i++) {
        size_t end = i + 2 < n ? markers->at[i + 2].kernel : study_kernels(st).n;
        struct part own =
            runs_part_of(st, ops, markers->at[i].kernel + 1, markers->at[i + 1].kernel);
        struct part next = runs_part_of(st, ops, markers->at[i + 1].kernel + 1, end);
        is_joined[i + 1] = is_half(&own, &next) && !is_joined[i];
    }
    for (size_t i = 0; i < n; i++)
        halves += is_joined[i];
    if (halves < 2)
        return 0;
    for (size_t i = 0; i < n; i++)
        if (!is_joined[i])
            markers->at[kept++] = markers->at[i];
    markers->n = kept;
    return halves;
}

size_t arch_runs_products(struct study *st, const struct arch_ops *ops,
                          const struct arch_layers *layers)
{
    struct arena_mark mark = arena_mark(&st->scratch);
    double *counts = ARENA_ARRAY(&st->scratch, double, layers->n);
    size_t n = 0;

    for (size_t i = 0; i < layers->n; i++) {
        const struct arch_layer *l = &layers->at[i];
        struct part p = runs_part_of(st, ops, l->first, l->end);
        if (!p.has_experts && !layers->passes[l->pass].is_partial)
            counts[n++] = (double)p.products;
    }
    ranked_sort(counts, n);
    size_t middle = n > 0 ? (size_t)counts[n / 2] : 0;
    arena_rewind(&st->scratch, mark);
    return middle;
}
