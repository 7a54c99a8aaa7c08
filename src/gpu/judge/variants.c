/*
 * Launches, their counters and the kernels that they are of. See variants.h.
 */
#include "gpu/judge/variants.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/tables/ranked.h"
#include "base/text/mangled.h"

/* ---- launches ---- */

/* Whether registers, static shared and local memory are known: activity records tell them, launch
 * callbacks (counters, timed runs) leave them 0. Every kernel has registers. */
static bool is_told(const uint64_t *launch)
{
    return launch[KERNEL_REGISTERS] > 0 && launch[KERNEL_REGISTERS] != UINT32_MAX;
}

static void variants_set(double *metric, uint64_t value)
{
    if (value != UINT32_MAX)
        *metric = (double)value;
}

void gpu_launch_resources(struct gpu_kernel *k, const uint64_t *launch)
{
    for (int i = 0; i < 3; i++) {
        k->grid[i] = (uint32_t)launch[KERNEL_GRID_X + i];
        k->block[i] = (uint32_t)launch[KERNEL_BLOCK_X + i];
        k->cluster[i] = (uint32_t)launch[KERNEL_CLUSTER_X + i];
    }
    variants_set(&k->m[GPU_M_SMEM_DYNAMIC], launch[KERNEL_DYNAMIC]);
    if (is_told(launch)) {
        variants_set(&k->m[GPU_M_REGS], launch[KERNEL_REGISTERS]);
        variants_set(&k->m[GPU_M_SMEM_STATIC], launch[KERNEL_STATIC]);
        variants_set(&k->m[GPU_M_LOCAL_PER_THREAD], launch[KERNEL_LOCAL]);
    }
    if (launch[KERNEL_SHARED_EXECUTED] > 0)
        variants_set(&k->m[GPU_M_SMEM_CONFIG], launch[KERNEL_SHARED_EXECUTED]);
}

/* ---- launches that take turns with the metrics ---- */

static bool is_same_kernel(const struct trace_counter *a, const struct trace_counter *b)
{
    return strcmp(a->name, b->name) == 0 &&
           a->launch[KERNEL_DYNAMIC] == b->launch[KERNEL_DYNAMIC] &&
           memcmp(a->launch + KERNEL_GRID_X, b->launch + KERNEL_GRID_X,
                  (KERNEL_BLOCK_Z + 1 - KERNEL_GRID_X) * sizeof(*a->launch)) == 0;
}

/* The value of the first counter that feeds a metric; NAN: none was measured. */
static double variants_value_of(const struct gpu_turns *r, const struct trace_counter *c,
                                enum gpu_metric metric)
{
    int rank;

    for (size_t i = 0; i < r->n_metrics; i++)
        if (!isnan(c->values[i]) &&
            gpu_metric_of_counter(str_of(r->metrics[i]), &rank) == (int)metric)
            return c->values[i];
    return NAN;
}

/* The joined record that a launch belongs to, the last of those that fit best; NULL: none. Both did
 * the same work: as many instructions, and in about the same time. What only one of them tells
 * decides nothing. A launch with instructions of CUPTI in it has no time; where warps wait for one
 * another in loops it also executes more of its own. */
static struct trace_counter *joined_with(const struct gpu_turns *r, size_t n,
                                         const struct trace_counter *one)
{
    enum { LOOK_BACK = 4096 };
    struct trace_counter *best = NULL;
    double least = INFINITY;

    if (strcmp(one->name, "?") == 0) /* nodes of graphs have no names to tell them by */
        return NULL;
    for (size_t k = n; k > 0 && n - k < LOOK_BACK && least > 0; k--) {
        struct trace_counter *other = &r->counters[k - 1];
        if (!is_same_kernel(other, one))
            continue;
        double inst =
            variants_value_of(r, other, GPU_M_INST) / variants_value_of(r, one, GPU_M_INST);
        double time =
            variants_value_of(r, other, GPU_M_DUR_NS) / variants_value_of(r, one, GPU_M_DUR_NS);
        double apart = isnan(inst) ? 0 : fabs(inst - 1);
        if (apart > (isnan(time) ? GPU_SAME_PATCHED : GPU_SAME_INST) ||
            fmax(time, 1 / time) > GPU_SAME_TIME || apart >= least)
            continue;
        best = other;
        least = apart;
    }
    return best;
}

/* Later values stand for earlier ones: the first launches find cold caches. */
static void add_turn(struct trace_counter *c, const struct trace_counter *from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isnan(from->values[i]))
            c->values[i] = from->values[i];
    c->passes += from->passes;
}

/* The only other sort of a kernel's launches that has a time; NULL: none or several. Of the records
 * before `at` the first `kept` are left. */
static struct trace_counter *only_sort(const struct gpu_turns *r, size_t kept, size_t at)
{
    struct trace_counter *only = NULL;

    for (size_t i = 0; i < r->n; i++) {
        struct trace_counter *other = &r->counters[i];
        if ((i >= kept && i <= at) || !is_same_kernel(other, &r->counters[at]) ||
            isnan(variants_value_of(r, other, GPU_M_DUR_NS)))
            continue;
        if (only != NULL)
            return NULL;
        only = other;
    }
    return only;
}

void gpu_turns_join(struct gpu_turns *r)
{
    size_t n = 0;

    for (size_t i = 0; i < r->n; i++) {
        struct trace_counter *one = &r->counters[i], *before = joined_with(r, n, one);
        if (before == NULL)
            r->counters[n++] = *one;
        else
            add_turn(before, one, r->n_metrics);
    }
    r->n = n;
    n = 0;
    /* In loops that wait for other warps, a launch with instructions of CUPTI in it executes
     * another number of its own. Where all other launches did the same work, it did that too. */
    for (size_t i = 0; i < r->n; i++) {
        struct trace_counter *one = &r->counters[i];
        bool is_patched =
            strcmp(one->name, "?") != 0 && isnan(variants_value_of(r, one, GPU_M_DUR_NS));
        struct trace_counter *only = is_patched ? only_sort(r, n, i) : NULL;
        if (only != NULL)
            add_turn(only, one, r->n_metrics);
        else
            r->counters[n++] = *one;
    }
    r->n = n;
}

/* As a percentage. */
static double share_of(double one, double other)
{
    return one + other > 0 ? 100 * one / (one + other) : (double)NAN;
}

/* Counters of tensor cores come for kernels that have use for them. */
static bool is_counted(struct str counter)
{
    return !str_starts(counter, S("launch__")) && !str_contains(counter, S("_path_tensor_")) &&
           !str_contains(counter, S("_executed_pipe_tensor"));
}

/* By this name or by another one for the same. */
static bool has_value(const struct gpu_turns *r, const struct trace_counter *c, int metric,
                      size_t at)
{
    return !isnan(metric >= 0 ? variants_value_of(r, c, (enum gpu_metric)metric) : c->values[at]);
}

/* Makes ratios of sums: divides by "selected", the warps that issued. */
static void stalls_per_issue(struct gpu_kernel *k)
{
    double issued = NAN;

    for (size_t i = 0; i < k->n_stalls; i++)
        if (str_equal(k->stalls[i].reason, S("selected")))
            issued = k->stalls[i].ratio;
    for (size_t i = 0; i < k->n_stalls; i++)
        k->stalls[i].ratio /= issued;
}

struct gpu_counted gpu_counted_of(const struct gpu_turns *r, size_t at, uint64_t id)
{
    const struct trace_counter *c = &r->counters[at];
    struct gpu_counted out = {
        .kernel = gpu_kernel_none(), .mangled = str_of(c->name), .passes = c->passes};
    int best[GPU_METRICS];
    bool has_sums = false, is_met[GPU_METRICS] = {false};

    for (size_t i = 0; i < GPU_METRICS; i++)
        best[i] = INT32_MAX;
    out.kernel.id = id;
    out.kernel.name = mangled_plain(out.mangled);
    gpu_launch_resources(&out.kernel, c->launch);
    for (size_t i = 0; i < r->n_metrics; i++) {
        struct str counter = str_of(r->metrics[i]), reason;
        int rank = 0, metric = gpu_metric_of_counter(counter, &rank);
        if (is_counted(counter) && !(metric >= 0 && is_met[metric])) {
            out.metrics++;
            out.values += has_value(r, c, metric, i);
        }
        if (metric >= 0)
            is_met[metric] = true;
        if (gpu_stall_of_counter(counter, &reason) && !isnan(c->values[i])) {
            gpu_kernel_stall(&out.kernel, reason, c->values[i]);
            has_sums |= str_ends(counter, S(".sum"));
        }
        if (metric < 0 || rank >= best[metric] || c->values[i] != c->values[i])
            continue;
        best[metric] = rank;
        out.kernel.m[metric] = c->values[i];
    }
    /* The clock fits into no pass of its own: cycles over nanoseconds. */
    double *m = out.kernel.m;
    if (isnan(m[GPU_M_L2_HIT]))
        m[GPU_M_L2_HIT] = share_of(m[GPU_M_L2_HIT_SECT], m[GPU_M_L2_MISS_SECT]);
    if (isnan(m[GPU_M_L1_HIT]) && m[GPU_M_L1_SECT] > 0)
        m[GPU_M_L1_HIT] = fmin(100, 100 * m[GPU_M_L1_HIT_SECT] / m[GPU_M_L1_SECT]);
    if (has_sums)
        stalls_per_issue(&out.kernel);
    if (m[GPU_M_SM_CLOCK_HZ] != m[GPU_M_SM_CLOCK_HZ] && m[GPU_M_DUR_NS] > 0)
        m[GPU_M_SM_CLOCK_HZ] = m[GPU_M_SM_CYCLES] / m[GPU_M_DUR_NS] * 1e9;
    return out;
}

/* ---- variants ---- */

static bool is_same(const struct gpu_variant *v, struct str mangled, const uint64_t *launch)
{
    if (v->launch == launch)
        return true;
    for (unsigned i = KERNEL_GRID_X; i <= KERNEL_BLOCK_Z; i++)
        if (v->launch[i] != launch[i])
            return false;
    return str_equal(v->mangled, mangled);
}

/* Programs repeat themselves: the search begins behind the last one found. */
static struct gpu_variant *variant_of(struct gpu_variants *v, struct str name, struct str mangled,
                                      const uint64_t *launch, int stage)
{
    for (size_t i = 0; i < v->at.n; i++) {
        size_t k = (v->last + i) % v->at.n;
        if (v->at.at[k].stage == stage && is_same(&v->at.at[k], mangled, launch)) {
            v->last = k;
            return &v->at.at[k];
        }
    }
    vec_push(
        &v->at,
        ((struct gpu_variant){
            .name = name, .mangled = mangled, .launch = launch, .median_ns = NAN, .stage = stage}));
    v->last = v->at.n - 1;
    return &v->at.at[v->last];
}

void gpu_variants_time(struct gpu_variants *v, const struct gpu_launch *launches, size_t n,
                       int stage)
{
    for (size_t i = 0; i < n; i++) {
        struct gpu_variant *x =
            variant_of(v, launches[i].name, launches[i].mangled, launches[i].launch, stage);
        vec_push(&x->durations, (double)launches[i].duration_ns);
        x->total_ns += (double)launches[i].duration_ns;
    }
}

void gpu_variants_count(struct gpu_variants *v, const struct gpu_counted *counted, size_t n,
                        int stage, struct arena *arena)
{
    for (size_t i = 0; i < n; i++) {
        const struct gpu_kernel *k = &counted[i].kernel;
        uint64_t *launch = ARENA_ARRAY(arena, uint64_t, KERNEL_FIELDS);
        for (int axis = 0; axis < 3; axis++) {
            launch[KERNEL_GRID_X + axis] = k->grid[axis];
            launch[KERNEL_BLOCK_X + axis] = k->block[axis];
            launch[KERNEL_CLUSTER_X + axis] = k->cluster[axis];
        }
        launch[KERNEL_DYNAMIC] = UINT32_MAX; /* the counted kernel knows it */
        struct gpu_variant *x = variant_of(v, k->name, counted[i].mangled, launch, stage);
        if (x->counted == NULL || counted[i].values >= x->counted->values)
            x->counted = &counted[i];
        vec_push(&x->sorts, &counted[i]);
        x->problems++;
    }
}

static double time_of(const struct gpu_counted *c)
{
    return c->kernel.m[GPU_M_DUR_NS];
}

/* Longest first. */
static int by_time(const void *a, const void *b)
{
    const struct gpu_counted *const *x = a, *const *y = b;

    return ORDER(time_of(*y), time_of(*x));
}

/* Leaves the sorts that have a time, longest first; false when two are too near. */
static bool order_sorts(struct gpu_variant *x)
{
    size_t n = 0;

    for (size_t i = 0; i < x->sorts.n; i++)
        if (time_of(x->sorts.at[i]) > 0)
            x->sorts.at[n++] = x->sorts.at[i];
    x->sorts.n = n;
    qsort(x->sorts.at, n, sizeof(*x->sorts.at), by_time);
    for (size_t i = 1; i < n; i++)
        if (time_of(x->sorts.at[i - 1]) < GPU_SORTS_APART * time_of(x->sorts.at[i]))
            return false;
    return n > 1;
}

/* The launches of one sort, as a variant. */
static struct gpu_variant variant_of_sort(const struct gpu_variant *x, size_t sort)
{
    struct gpu_variant one = {
        .name = x->name,
        .mangled = x->mangled,
        .launch = x->launch,
        .median_ns = NAN,
        .counted = x->sorts.at[sort],
        .problems = 1,
        .sort = (unsigned)sort + 1,
        .stage = x->stage,
    };

    for (size_t i = 0; i < x->durations.n; i++) {
        double ns = x->durations.at[i];
        size_t nearest = 0;
        for (size_t k = 1; k < x->sorts.n; k++)
            if (fabs(log(ns / time_of(x->sorts.at[k]))) <
                fabs(log(ns / time_of(x->sorts.at[nearest]))))
                nearest = k;
        if (nearest != sort)
            continue;
        vec_push(&one.durations, ns);
        one.total_ns += ns;
    }
    one.median_ns = ranked_middle(one.durations.at, one.durations.n);
    return one;
}

static void free_variant(struct gpu_variant *x)
{
    vec_free(&x->durations);
    vec_free(&x->sorts);
}

void gpu_variants_split(struct gpu_variants *v)
{
    size_t before = v->at.n;

    for (size_t i = 0; i < before; i++) {
        if (v->at.at[i].problems < 2 || !order_sorts(&v->at.at[i]))
            continue;
        for (size_t k = v->at.at[i].sorts.n; k > 1; k--) {
            struct gpu_variant one = variant_of_sort(&v->at.at[i], k - 1);
            vec_push(&v->at, one);
        }
        struct gpu_variant first = variant_of_sort(&v->at.at[i], 0);
        free_variant(&v->at.at[i]);
        v->at.at[i] = first;
    }
}

const uint64_t *gpu_variants_launch(const struct gpu_variants *v, const struct gpu_variant *one)
{
    if (is_told(one->launch))
        return one->launch;
    for (size_t i = 0; i < v->at.n; i++)
        if (is_told(v->at.at[i].launch) && is_same(&v->at.at[i], one->mangled, one->launch))
            return v->at.at[i].launch;
    return one->launch;
}

enum status gpu_regex_compile(const char *regex, struct pattern **out, struct diag *d)
{
    char why[PATTERN_WHY];

    *out = pattern_new(regex, PATTERN_EXACT, why);
    if (*out != NULL)
        return ST_OK;
    return diag_fail(d, ST_FORMAT, "gpu.bad-regex", (struct where){0},
                     "\"%s\" is no regular expression: %s", regex, why);
}

static bool finds(const struct pattern *regex, struct str name)
{
    return name.n > 0 && pattern_finds(regex, name);
}

enum status gpu_variants_sort(struct gpu_variants *v, const struct gpu_selection *selections,
                              size_t n, struct diag *d)
{
    for (size_t i = 0; i < v->at.n; i++) {
        struct gpu_variant *one = &v->at.at[i];
        ranked_sort(one->durations.at, one->durations.n);
        one->median_ns = ranked_middle(one->durations.at, one->durations.n);
    }
    for (size_t k = 0; k < n; k++) {
        struct pattern *regex;
        if (selections[k].regex == NULL)
            continue;
        TRY(gpu_regex_compile(selections[k].regex, &regex, d));
        for (size_t i = 0; i < v->at.n; i++)
            if (v->at.at[i].stage < 0 &&
                (finds(regex, v->at.at[i].name) || finds(regex, v->at.at[i].mangled)))
                v->at.at[i].stage = (int)k;
        pattern_free(regex);
    }
    return ST_OK;
}

size_t gpu_variants_make_stages(struct gpu_variants *v, struct arena *arena, struct str **names)
{
    double total = 0;
    size_t n = 0;

    *names = ARENA_ARRAY(arena, struct str, v->at.n);
    for (size_t i = 0; i < v->at.n; i++)
        total += v->at.at[i].total_ns;
    for (size_t i = 0; i < v->at.n; i++) {
        double mine = 0;
        if (v->at.at[i].stage >= 0)
            continue;
        for (size_t k = i; k < v->at.n; k++)
            if (str_equal(v->at.at[k].name, v->at.at[i].name))
                mine += v->at.at[k].total_ns;
        if (total > 0 && mine < 0.01 * total)
            continue;
        for (size_t k = i; k < v->at.n; k++)
            if (str_equal(v->at.at[k].name, v->at.at[i].name))
                v->at.at[k].stage = (int)n;
        (*names)[n++] = v->at.at[i].name;
    }
    return n;
}

const struct gpu_variant *gpu_variants_main(const struct gpu_variants *v, int stage)
{
    const struct gpu_variant *best = NULL;

    for (size_t i = 0; i < v->at.n; i++) {
        const struct gpu_variant *x = &v->at.at[i];
        if (x->stage != stage)
            continue;
        bool has_more = best != NULL && (x->counted != NULL) != (best->counted != NULL)
                            ? x->counted != NULL
                            : best == NULL || x->total_ns > best->total_ns;
        if (has_more)
            best = x;
    }
    return best;
}

void gpu_variants_free(struct gpu_variants *v)
{
    for (size_t i = 0; i < v->at.n; i++)
        free_variant(&v->at.at[i]);
    vec_free(&v->at);
}

const char *gpu_regex_of_name(struct str name, struct arena *arena)
{
    char *text = arena_alloc(arena, 2 * name.n + 3);
    size_t n = 0;

    text[n++] = '^';
    for (size_t i = 0; i < name.n; i++) {
        if (strchr("^$.[]|()?*+{}\\", name.at[i]) != NULL && name.at[i] != 0)
            text[n++] = '\\';
        text[n++] = name.at[i];
    }
    text[n++] = '$';
    return text;
}

const char *gpu_selections_regex(const struct gpu_selection *selections, size_t n,
                                 struct arena *arena)
{
    struct str all = S("");

    for (size_t i = 0; i < n; i++)
        if (selections[i].regex != NULL)
            all = arena_format(arena, "%.*s%s(%s)", STR_ARGS(all), all.n > 0 ? "|" : "",
                               selections[i].regex);
    return all.n > 0 ? all.at : NULL;
}
