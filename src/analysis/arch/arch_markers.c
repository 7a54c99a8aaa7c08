/*
 * The attention kernels that mark layers, and the phase of each.
 */
#include "analysis/arch/arch_markers.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/arch/arch_runs.h"
#include "analysis/arch/arch_shapes.h"
#include "analysis/study.h"
#include "base/tables/ranked.h"

/* Limits that hold for large models on Ascend devices. */
static const nanos prefill_above = 10000000, decode_below = 1000000;

enum { PREFILL_ROWS = 256, DECODE_ROWS = 64, TOKENS_PER_SEQUENCE = 4, EXCERPT = 1000 };

/* Standard deviation of a part, from running sums of values and squares. */
static double deviation(const double *sum, const double *square, size_t from, size_t to)
{
    double n = (double)(to - from), mean = (sum[to] - sum[from]) / n;
    double variance = (square[to] - square[from]) / n - mean * mean;

    return variance > 0 ? sqrt(variance) : 0;
}

bool arch_two_clusters(const double *sorted, size_t n, size_t *first)
{
    double best = INFINITY;
    size_t cut = 0;

    if (n < 2)
        return false;
    double *sum = mem_grow(NULL, sizeof(double), n + 1);
    double *square = mem_grow(NULL, sizeof(double), n + 1);
    double base = log(sorted[n / 2]); /* keeps the squares small */
    sum[0] = square[0] = 0;
    for (size_t i = 0; i < n; i++) {
        double x = log(sorted[i]) - base;
        sum[i + 1] = sum[i] + x;
        square[i + 1] = square[i] + x * x;
    }
    for (size_t i = 1; i < n; i++) {
        double low = deviation(sum, square, 0, i), high = deviation(sum, square, i, n);
        double within = low * low * (double)i + high * high * (double)(n - i);
        if (sorted[i] > sorted[i - 1] && within < best) {
            best = within;
            cut = i;
        }
    }
    bool apart = false;
    if (cut > 0) {
        double gap = log(sorted[cut]) - log(sorted[cut - 1]);
        double low = deviation(sum, square, 0, cut), high = deviation(sum, square, cut, n);
        apart =
            sorted[cut + (n - cut) / 2] >= 4 * sorted[cut / 2] && gap > 3 * low && gap > 3 * high;
        *first = cut;
    }
    mem_free(sum);
    mem_free(square);
    return apart;
}

struct finder {
    struct study *st;
    const struct arch_ops *ops;
    struct kernel_order kernels;
    const struct slices *s;
    struct arch_markers *m;
};

static const struct arch_op *markers_op_of(const struct finder *f, size_t kernel)
{
    return &f->ops->at[f->ops->of_kernel[kernel]];
}

/* The first class with a kernel (a user's or FIA) or with two on one stream. */
static enum marker_class choose_class(struct finder *f)
{
    size_t lanes = f->st->cap->lanes.n;
    uint32_t *count = mem_grow(NULL, sizeof(uint32_t), lanes * MARKER_CLASSES + 1);
    enum marker_class best = MARKER_NONE;

    memset(count, 0, sizeof(uint32_t) * (lanes * MARKER_CLASSES + 1));
    for (size_t i = 0; i < f->kernels.n; i++) {
        enum marker_class class = markers_op_of(f, i)->marker;
        if (class == MARKER_NONE)
            continue;
        uint32_t seen = ++count[f->s->lane[f->kernels.at[i]] * MARKER_CLASSES + (size_t) class];
        if (seen >= (class <= MARKER_FIA ? 1 : 2) && (best == MARKER_NONE || class < best))
            best = class;
    }
    mem_free(count);
    return best;
}

/* Of the kernels from `from` to `to`, does one do a layer's heavy work? */
static bool has_gemm(const struct finder *f, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        enum kernel_role family = markers_op_of(f, i)->family;
        if (family == KERNEL_ROLE_MATMUL || family == KERNEL_ROLE_MOE_GEMM ||
            family == KERNEL_ROLE_MOE_FUSED)
            return true;
    }
    return false;
}

/* Prefill and decode sequences of one batch may be served by two attention kernels of the same
 * layer: nothing but small work lies between them. */
static bool is_same_layer(const struct finder *f, size_t previous, size_t kernel)
{
    return f->m->class == MARKER_GPU &&
           f->s->lane[f->kernels.at[previous]] == f->s->lane[f->kernels.at[kernel]] &&
           !has_gemm(f, previous + 1, kernel);
}

/* When activations are recomputed, each backward attention kernel follows a second forward run of
 * its layer: there are more forward kernels than backward ones, and those to drop are the ones
 * whose next attention kernel runs backward. */
static void drop_recomputed(struct finder *f)
{
    struct arch_markers *m = f->m;
    size_t kept = 0, next = 0;

    if (m->backward == 0 || m->n <= m->backward)
        return;
    size_t surplus = m->n - m->backward;
    for (size_t i = 0; i < m->n; i++) {
        size_t end = i + 1 < m->n ? m->at[i + 1].kernel : f->kernels.n;
        if (next <= m->at[i].kernel)
            next = m->at[i].kernel + 1;
        while (next < end && !markers_op_of(f, next)->is_backward_attention)
            next++;
        if (next < end && m->recomputed < surplus)
            m->recomputed++;
        else
            m->at[kept++] = m->at[i];
    }
    m->n = kept;
}

static void markers_collect(struct finder *f)
{
    struct arch_markers *m = f->m;
    VEC_OF(struct arch_marker) found = {0};
    bool any_gemm = has_gemm(f, 0, f->kernels.n);

    for (size_t i = 0; i < f->kernels.n; i++) {
        const struct arch_op *op = markers_op_of(f, i);
        m->backward += op->is_backward_attention && op->marker == MARKER_NONE &&
                       !str_contains_nocase(op->name, S("dot_do")) &&
                       !str_contains_nocase(op->name, S("convert"));
        if (op->marker != m->class || m->class == MARKER_NONE)
            continue;
        if (any_gemm && found.n > 0 && is_same_layer(f, found.at[found.n - 1].kernel, i)) {
            m->merged++;
            continue;
        }
        vec_push(&found, ((struct arch_marker){(uint32_t)i, op->hint}));
    }
    m->n = found.n;
    m->at = STUDY_KEEP(&f->st->scratch, found);
    vec_free(&found);
    drop_recomputed(f);
    m->joined = arch_runs_join(f->st, f->ops, m);
    m->merged += m->joined;
}

/* The stream of most markers, of most compute time on a tie. */
static void choose_main(struct finder *f)
{
    size_t lanes = f->st->cap->lanes.n;
    size_t *marked = ARENA_ARRAY(&f->st->scratch, size_t, lanes);
    nanos *compute = ARENA_ARRAY(&f->st->scratch, nanos, lanes);
    uint32_t best = 0;

    for (size_t i = 0; i < f->m->n; i++)
        marked[f->s->lane[f->kernels.at[f->m->at[i].kernel]]]++;
    for (size_t i = 0; i < f->kernels.n; i++) {
        size_t slice = f->kernels.at[i];
        if (f->s->kind[slice] == SLICE_COMPUTE)
            compute[f->s->lane[slice]] = nanos_add(compute[f->s->lane[slice]], f->s->dur[slice]);
    }
    for (uint32_t i = 1; i < lanes; i++)
        if (marked[i] > marked[best] || (marked[i] == marked[best] && compute[i] > compute[best]))
            best = i;
    f->m->main_lane = best;
    f->m->main_markers = lanes > 0 ? marked[best] : 0;
}

static nanos duration_of(const struct finder *f, size_t marker)
{
    return f->s->dur[f->kernels.at[f->m->at[marker].kernel]];
}

static size_t undecided(const struct finder *f)
{
    size_t n = 0;

    for (size_t i = 0; i < f->m->n; i++)
        n += f->m->at[i].phase == PHASE_UNKNOWN;
    return n;
}

/* By the fixed limits, which say nothing when no marker is above the upper one. */
static bool by_limits(struct finder *f)
{
    size_t prefill = 0;

    for (size_t i = 0; i < f->m->n; i++)
        prefill += duration_of(f, i) > prefill_above;
    if (prefill == 0)
        return false;
    for (size_t i = 0; i < f->m->n; i++)
        if (duration_of(f, i) > prefill_above)
            f->m->at[i].phase = PHASE_PREFILL;
        else if (duration_of(f, i) < decode_below)
            f->m->at[i].phase = PHASE_DECODE;
    return true;
}

static void by_query_length(struct finder *f)
{
    struct arch_queries queries = arch_queries_of(f->st, f->m);

    for (size_t i = 0; i < f->m->n; i++)
        if (f->m->at[i].phase == PHASE_UNKNOWN && queries.at[i].sequences > 0)
            f->m->at[i].phase = queries.at[i].tokens > TOKENS_PER_SEQUENCE * queries.at[i].sequences
                                    ? PHASE_PREFILL
                                    : PHASE_DECODE;
}

static void by_clusters(struct finder *f)
{
    struct arena_mark mark = arena_mark(&f->st->scratch);
    double *sorted = ARENA_ARRAY(&f->st->scratch, double, f->m->n);
    size_t n = 0, first;

    for (size_t i = 0; i < f->m->n; i++)
        if (duration_of(f, i) > 0)
            sorted[n++] = (double)duration_of(f, i);
    ranked_sort(sorted, n);
    if (arch_two_clusters(sorted, n, &first))
        for (size_t i = 0; i < f->m->n; i++)
            if (f->m->at[i].phase == PHASE_UNKNOWN)
                f->m->at[i].phase =
                    (double)duration_of(f, i) >= sorted[first] ? PHASE_PREFILL : PHASE_DECODE;
    arena_rewind(&f->st->scratch, mark);
}

static void set_rest(struct finder *f, enum arch_phase phase)
{
    for (size_t i = 0; i < f->m->n; i++)
        if (f->m->at[i].phase == PHASE_UNKNOWN)
            f->m->at[i].phase = phase;
}

static enum arch_phase phase_of_rows(int64_t rows)
{
    if (rows >= PREFILL_ROWS)
        return PHASE_PREFILL;
    return rows > 0 && rows <= DECODE_ROWS ? PHASE_DECODE : PHASE_UNKNOWN;
}

/* Each marker by the matmul after it; what is left by the middle of all. */
static void by_matmul_rows(struct finder *f)
{
    for (size_t i = 0; i < f->m->n; i++) {
        size_t end = i + 1 < f->m->n ? f->m->at[i + 1].kernel : f->kernels.n;
        if (f->m->at[i].phase == PHASE_UNKNOWN)
            f->m->at[i].phase =
                phase_of_rows(arch_rows_between(f->st, f->ops, f->m->at[i].kernel, end));
    }
    if (undecided(f) == f->m->n)
        set_rest(f, phase_of_rows(arch_matmul_rows(f->st, f->ops)));
}

/* One name for all markers is weak: libraries serve both phases with one kernel. Shapes overrule
 * it. */
static void doubt_names(struct finder *f)
{
    enum arch_phase hint = f->m->at[0].phase;

    if (hint == PHASE_UNKNOWN)
        return;
    for (size_t i = 0; i < f->m->n; i++)
        if (f->m->at[i].phase != hint)
            return;
    for (size_t i = 0; i < f->m->n; i++)
        f->m->at[i].phase = PHASE_UNKNOWN;
    by_query_length(f);
    if (undecided(f) < f->m->n)
        f->m->phase_rule = "query length of the attention inputs";
    set_rest(f, hint);
}

/* Each rule fills in what the ones before left open; the one that decided most is reported. */
static void find_phases(struct finder *f)
{
    static const struct {
        const char *name;
        void (*decide)(struct finder *f);
    } rules[] = {
        {"query length of the attention inputs", by_query_length},
        {"two clusters of marker duration", by_clusters},
        {"rows of the neighbouring matmuls", by_matmul_rows},
    };
    size_t left = undecided(f), most = 0;

    f->m->phase_rule = "no rule applies";
    if (left < f->m->n) {
        f->m->phase_rule = "kernel names";
        most = f->m->n - left;
        doubt_names(f);
        left = undecided(f);
    }
    if (capture_is_ascend(f->st->cap) && left > 0 && by_limits(f) && left - undecided(f) > most) {
        most = left - undecided(f);
        f->m->phase_rule = "duration limits: above 10 ms prefill, below 1 ms decode";
    }
    for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
        left = undecided(f);
        if (left == 0)
            return;
        rules[i].decide(f);
        if (left - undecided(f) > most) {
            most = left - undecided(f);
            f->m->phase_rule = rules[i].name;
        }
    }
    left = undecided(f);
    if (left == f->m->n && capture_is_ascend(f->st->cap)) {
        for (size_t i = 0; i < f->m->n; i++)
            if (duration_of(f, i) < decode_below)
                f->m->at[i].phase = PHASE_DECODE;
        if (undecided(f) < left)
            f->m->phase_rule = "duration limit: decode below 1 ms, no other evidence";
    }
}

static struct str markers_name_of(struct finder *f)
{
    size_t best = 0;

    if (f->m->n == 0)
        return (struct str){0};
    if (f->m->class == MARKER_FIA)
        return S("FusedInferAttentionScore");
    const struct arch_op *chosen = NULL;
    for (size_t i = 0; i < f->ops->n; i++)
        if (f->ops->at[i].marker == f->m->class && f->ops->at[i].calls > best) {
            chosen = &f->ops->at[i];
            best = chosen->calls;
        }
    return chosen != NULL ? chosen->label : (struct str){0};
}

const struct arch_markers *arch_markers_find(struct study *st, const struct arch_ops *ops)
{
    struct arch_markers *m = ARENA_NEW(&st->scratch, struct arch_markers);
    struct finder f = {st, ops, study_kernels(st), &st->cap->slices, m};

    m->class = choose_class(&f);
    markers_collect(&f);
    /* A layer is more than its attention: where little else runs, and not only in a short excerpt,
     * the names mark no layers. */
    if (m->n > EXCERPT && f.kernels.n * 2 < m->n * 3)
        m->n = 0;
    choose_main(&f);
    m->name = markers_name_of(&f);
    m->phase_rule = "no markers";
    for (size_t i = 0; i < m->n && m->backward > 0; i++)
        m->at[i].phase = PHASE_UNKNOWN; /* whatever its name says */
    if (m->n > 0 && m->backward > 0)
        m->phase_rule = "a training run has no phases";
    else if (m->n > 0)
        find_phases(&f);
    for (size_t i = 0; i < m->n; i++) {
        m->prefill += m->at[i].phase == PHASE_PREFILL;
        m->decode += m->at[i].phase == PHASE_DECODE;
        m->unknown += m->at[i].phase == PHASE_UNKNOWN;
    }
    return m;
}
