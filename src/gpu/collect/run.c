/*
 * What a run is judged by: times, shares, rules. See run.h.
 */
#include "gpu/collect/run.h"
#include "text/gpu.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void gpu_run_init(struct gpu_run *run)
{
    *run = (struct gpu_run){.version = S("base"), .runs = NAN, .warmup = NAN, .host_ns = NAN};
    arena_init(&run->arena);
}

void gpu_run_no_stages(struct gpu_run *run)
{
    for (size_t i = 0; i < run->stages.n; i++) {
        vec_free(&run->stages.at[i].opportunities.all);
        vec_free(&run->stages.at[i].kernels);
    }
    vec_free(&run->stages);
}

void gpu_run_free(struct gpu_run *run)
{
    for (size_t i = 0; i < run->kernels.n; i++)
        gpu_kernel_free(&run->kernels.at[i]);
    gpu_run_no_stages(run);
    gpu_params_free(&run->params);
    vec_free(&run->kernels);
    vec_free(&run->timings);
    vec_free(&run->notes);
    vec_free(&run->sections);
    vec_free(&run->changes);
    vec_free(&run->extra);
    vec_free(&run->info);
    arena_free(&run->arena);
}

void gpu_run_note(struct gpu_run *run, const char *format, ...)
{
    char text[LIMIT_CODE_TEXT];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    struct str note = arena_str(&run->arena, str_of(text));
    for (size_t i = 0; i < run->notes.n; i++)
        if (str_equal(run->notes.at[i], note))
            return; /* said already */
    vec_push(&run->notes, note);
}

bool gpu_run_info(struct gpu_run *run, const char *key, const char *json)
{
    struct tree_error error;
    const struct tree *node = tree_read_json(&run->arena, str_of(json), &error);

    if (node != NULL)
        vec_push(&run->info, ((struct gpu_info){arena_str(&run->arena, str_of(key)), node}));
    return node != NULL;
}

static void run_put_text(struct gpu_run *run, struct tree *node, struct str text)
{
    node->kind = TREE_TEXT;
    node->text = arena_str(&run->arena, text);
}

void gpu_run_info_text(struct gpu_run *run, const char *key, struct str text)
{
    for (size_t i = 0; i < run->info.n; i++)
        if (str_equal(run->info.at[i].key, str_of(key))) {
            struct tree *list = ARENA_NEW(&run->arena, struct tree);
            const struct tree *old = run->info.at[i].value;
            list->kind = TREE_LIST;
            for (const struct tree *m = old->kind == TREE_LIST ? old->first : old; m != NULL;
                 m = m->next) {
                struct tree *copy = tree_add(&run->arena, list);
                *copy = *m;
                copy->next = NULL;
            }
            run_put_text(run, tree_add(&run->arena, list), text);
            run->info.at[i].value = list;
            return;
        }
    struct tree *node = ARENA_NEW(&run->arena, struct tree);
    run_put_text(run, node, text);
    vec_push(&run->info, ((struct gpu_info){arena_str(&run->arena, str_of(key)), node}));
}

/* A launch, or launches that were measured together. */
struct launch_time {
    struct str name;
    double ns;
    uint64_t launches;
    size_t index;
};

ORDER_BY(by_launch, struct launch_time,
         str_compare(x->name, y->name) ?: ORDER(x->ns, y->ns) ?: ORDER(x->index, y->index));

/* The launch of that rank, from 0. */
static const struct launch_time *at_rank(const struct launch_time *t, uint64_t rank)
{
    for (; rank >= t->launches; t++)
        rank -= t->launches;
    return t;
}

/* The timing of one name, sorted; `main` is its median launch, or the one just below the median. */
static struct gpu_timing measure_name(struct gpu_run *run, const struct launch_time *t, size_t n,
                                      const struct launch_time **main)
{
    double *ns = ARENA_ARRAY(&run->arena, double, n);
    uint64_t launches = 0;

    for (size_t i = 0; i < n; i++) {
        ns[i] = t[i].ns;
        launches += t[i].launches;
    }
    struct gpu_timing timing = gpu_timing_of(ns, n);
    *main = at_rank(t, (launches - 1) / 2);
    timing.median = ((*main)->ns + at_rank(t, launches / 2)->ns) / 2;
    return timing;
}

/* The medians of the names of a stage, added; the longest name is what rules look at. */
struct stage_time {
    double sum; /* NAN: not known */
    struct gpu_timing timing;
    const struct launch_time *main; /* NULL: none */
};

/* Of the launches whose time is known; `ns` has the times, by place in the run. */
static struct stage_time run_measure(struct gpu_run *run, const struct gpu_stage *s,
                                     const double *ns)
{
    struct stage_time out = {.sum = NAN, .timing = gpu_timing_of(NULL, 0)};
    struct launch_time *t = ARENA_ARRAY(&run->arena, struct launch_time, s->kernels.n + 1);
    size_t n = 0;

    for (size_t i = 0; i < s->kernels.n; i++) {
        size_t at = s->kernels.at[i];
        const struct gpu_kernel *k = &run->kernels.at[at];
        if (!isnan(ns[at]))
            t[n++] = (struct launch_time){k->name, ns[at], gpu_kernel_launches(k), at};
    }
    if (n > 0)
        qsort(t, n, sizeof(*t), by_launch);

    for (size_t i = 0, k; i < n; i = k) {
        const struct launch_time *main;
        for (k = i; k < n && str_equal(t[k].name, t[i].name);)
            k++;
        struct gpu_timing timing = measure_name(run, t + i, k - i, &main);
        out.sum = (isnan(out.sum) ? 0 : out.sum) + timing.median;
        if (out.main == NULL || timing.median > out.timing.median) {
            out.timing = timing;
            out.main = main;
        }
    }
    return out;
}

double gpu_run_stage_time(struct gpu_run *run, const struct gpu_stage *s, const double *ns)
{
    return run_measure(run, s, ns).sum;
}

/* What computes, and how fast it could. */
static void find_peak(const struct gpu_run *run, struct gpu_stage *s)
{
    enum peak peak = s->main != NULL && gpu_uses_tensor(s->main) ? PEAK_BF16 : PEAK_FP32;
    enum gpu_flop_type type = gpu_flops_main(&s->flops, &run->peaks);

    if (type != GPU_FLOP_TYPES && !isnan(s->flops.total))
        peak = gpu_flop_peak(type);
    gpu_peak_of_dtype(s->dtype, &peak);
    s->peak_tflops = run->peaks.tflops[peak];
    s->peak_name = peak_name(peak);
}

/* The order matters: work, then levels and occupancy, then the roofline from them, then class
 * and health from all of these, and opportunities last. A formula of the spec goes before
 * counted FLOP. */
static void judge_stage(struct gpu_run *run, struct gpu_stage *s)
{
    struct gpu_kernel none = gpu_kernel_none();
    const struct gpu_kernel *k = s->main != NULL ? s->main : &none;
    enum peak peak;

    s->flops = gpu_counted_flops(k);
    find_peak(run, s);
    if (s->work.flops_source != GPU_WORK_FORMULA && s->main != NULL) {
        s->work.flops = s->flops.total;
        s->work.flops_source = isnan(s->work.flops) ? GPU_WORK_NONE : GPU_WORK_COUNTER;
    }
    gpu_levels_of(k, s->work.flops, &run->peaks, s->levels);
    s->occupancy = gpu_occupancy_of(k, run->peaks.cc, run->peaks.sm_count);
    s->roofline =
        gpu_roofline_of(s->dur_ns, s->work, gpu_dram_bytes(k), s->peak_tflops, &run->peaks);
    s->class = gpu_classify(k, &s->occupancy, &s->roofline);
    bool is_tensor_type =
        gpu_peak_of_dtype(s->dtype, &peak) && peak != PEAK_FP32 && peak != PEAK_FP64;
    gpu_health_check(k, &s->occupancy, &s->roofline, is_tensor_type, s->health);
    struct gpu_case c = {
        .kernel = k,
        .occupancy = &s->occupancy,
        .roofline = &s->roofline,
        .class = &s->class,
        .peaks = &run->peaks,
        .work = s->work,
        .peak_tflops = s->peak_tflops,
        .is_tensor_type = is_tensor_type,
        .is_gemm = s->work.flops_source == GPU_WORK_FORMULA && s->roofline.ai >= s->roofline.ridge,
        .share = s->share,
    };
    s->opportunities.all.n = 0;
    gpu_opportunities_find(&run->arena, &c, &s->opportunities);
}

/* Two causes that measuring again may put in another order. */
static void warn_of_tie(struct gpu_run *run, const struct gpu_stage *s)
{
    enum { CLOSE = 5 }; /* percentage points */
    const struct gpu_opportunity *o = s->opportunities.all.at;

    if (s->main == NULL || !gpu_kernel_took_turns(s->main) || s->opportunities.all.n < 2 ||
        !o[1].is_ranked || !(o[0].gain - o[1].gain < CLOSE * s->share))
        return;
    gpu_run_note(run,
                 "%.*s: \"%.*s\" and \"%.*s\" promise nearly the same; which comes first is not "
                 "certain",
                 STR_ARGS(s->name), STR_ARGS(o[0].name), STR_ARGS(o[1].name));
}

static void warn_stage(struct gpu_run *run, const struct gpu_stage *s)
{
    enum peak peak;

    warn_of_tie(run, s);
    if (s->dtype.n > 0 && !gpu_peak_of_dtype(s->dtype, &peak))
        gpu_run_note(run, "%.*s: no roof is known for the type %.*s; that of %s is used",
                     STR_ARGS(s->name), STR_ARGS(s->dtype), s->peak_name);
    if (s->roofline.is_over_roof)
        gpu_run_note(run, "%.*s: %.1f%% of the roof: work formula or timing wrong",
                     STR_ARGS(s->name), s->roofline.pct_roof);
    if (s->roofline.is_over_dram)
        gpu_run_note(run, "%.*s: %.0f GB/s from DRAM is more than the device can move",
                     STR_ARGS(s->name), s->roofline.dram_gbps);
    if (s->roofline.is_too_fast)
        gpu_run_note(run,
                     "%.*s: under half of its floor: the formula overstates the work, or it "
                     "is L2-resident",
                     STR_ARGS(s->name));
    if (s->roofline.is_cached)
        gpu_run_note(run,
                     "%.*s: the working set fits in L2; if runs repeat it, it is "
                     "cache-resident and the DRAM roof does not apply",
                     STR_ARGS(s->name));
    if (s->class.is_model)
        gpu_run_note(run, "%.*s: no counters: only formulas and times speak for its class",
                     STR_ARGS(s->name));
    if (s->class.no_compute)
        gpu_run_note(run, "%.*s: compute pipes not collected", STR_ARGS(s->name));
    if (s->class.no_chip)
        gpu_run_note(run, "%.*s: L1/L2 not collected", STR_ARGS(s->name));
}

/* The time that decides about shares: one pass of a plan, all launches without one. */
static double weight(const struct gpu_run *run, const struct gpu_stage *s)
{
    double ns = run->has_auto_stages ? s->total_ns : s->dur_ns;

    return ns > 0 ? ns : 0;
}

bool gpu_stage_has(const struct gpu_run *run, const struct gpu_stage *s, struct str name)
{
    for (size_t i = 0; i < s->kernels.n; i++)
        if (s->kernels.at[i] < run->kernels.n &&
            str_equal(gpu_function_name(run->kernels.at[s->kernels.at[i]].name), name))
            return true;
    return false;
}

bool gpu_run_opens_group(const struct gpu_run *run, size_t stage)
{
    struct str group = run->stages.at[stage].group;

    for (size_t k = 0; k < stage; k++)
        if (str_equal(group, run->stages.at[k].group))
            return false;
    return group.n > 0;
}

void gpu_run_extra(struct gpu_run *run, struct gpu_opportunity o)
{
    o.gain = fmin(95, fmax(0, o.gain));
    o.confidence = 0.6;
    o.is_ranked = true;
    vec_push(&run->extra, o);
}

void gpu_run_overlap(struct gpu_run *run, struct str group, double e, size_t members, double gain)
{
    gpu_run_note(run, "group %.*s: efficiency of overlap E = %.3f over %zu stages", STR_ARGS(group),
                 e, members);
    if (e < 0.8 && gain > 0)
        gpu_run_extra(run, (struct gpu_opportunity){
                               .id = 13,
                               .family = "overlap",
                               .name = S("overlap independent stages"),
                               .trigger = MESSAGE(LANG_EN, &run->arena, &gpu_text.overlap_of,
                                                  PLACE("e", e), PLACE("group", group)),
                               .gain = gain});
}

static double run_sum_of(const struct gpu_run *run, bool by_weight)
{
    double total = 0;

    for (size_t i = 0; i < run->stages.n; i++) {
        double longest = 0;
        if (run->stages.at[i].group.n > 0 && !gpu_run_opens_group(run, i))
            continue;
        for (size_t k = i; k < run->stages.n; k++) {
            const struct gpu_stage *s = &run->stages.at[k];
            bool is_in = k == i || (s->group.n > 0 && str_equal(s->group, run->stages.at[i].group));
            if (is_in)
                longest = fmax(longest, by_weight ? weight(run, s) : s->dur_ns);
        }
        total += longest;
    }
    return total;
}

double gpu_run_duration(const struct gpu_run *run)
{
    return run_sum_of(run, false);
}

double gpu_run_whole(const struct gpu_run *run)
{
    return run_sum_of(run, true);
}

void gpu_run_judge(struct gpu_run *run)
{
    double *ns = ARENA_ARRAY(&run->arena, double, run->kernels.n + 1);

    for (size_t i = 0; i < run->kernels.n; i++)
        ns[i] = run->kernels.at[i].m[GPU_M_DUR_NS];
    for (size_t k = 0; k < run->stages.n; k++) {
        struct gpu_stage *s = &run->stages.at[k];
        struct stage_time time = run_measure(run, s, ns);
        s->timing = time.timing;
        s->dur_ns = time.sum > 0 ? time.sum : NAN;
        s->total_ns = 0;
        for (size_t i = 0; i < s->kernels.n; i++)
            s->total_ns += gpu_kernel_total(&run->kernels.at[s->kernels.at[i]]);
        /* Without a duration the first kernel is looked at. */
        s->main = time.main != NULL  ? &run->kernels.at[time.main->index]
                  : s->kernels.n > 0 ? &run->kernels.at[s->kernels.at[0]]
                                     : NULL;
    }
    double total = gpu_run_whole(run);
    for (size_t i = 0; i < run->stages.n; i++) {
        struct gpu_stage *s = &run->stages.at[i];
        s->share = total > 0 ? fmin(1, weight(run, s) / total) : 1.0 / (double)run->stages.n;
        judge_stage(run, s);
        warn_stage(run, s);
    }
}

const struct gpu_stage *gpu_run_main_stage(const struct gpu_run *run, bool *is_mixed)
{
    const struct gpu_stage *best = NULL;

    for (size_t i = 0; i < run->stages.n; i++)
        if (best == NULL || run->stages.at[i].share > best->share)
            best = &run->stages.at[i];
    if (is_mixed != NULL)
        *is_mixed = best != NULL && run->stages.n > 1 && !(best->share > 0.5);
    return best;
}

double gpu_stage_limit(const struct gpu_stage *s, const char **unit)
{
    const struct gpu_opportunities *o = &s->opportunities;
    bool has_gain = o->all.n > 0 && o->all.at[0].is_ranked;

    *unit = "";
    if (has_gain || s->main == NULL || s->class.bound == GPU_UNPROVEN || s->class.is_weak ||
        gpu_kernel_lacks(s->main) != NULL)
        return NAN;
    double busy = gpu_kernel_limit(s->main, unit);
    return busy >= GPU_AT_LIMIT ? busy : (double)NAN;
}

static bool goes_before(const struct gpu_opportunity *a, const struct gpu_opportunity *b)
{
    double p = a->gain, q = b->gain;

    return p != q ? p > q : a->id < b->id;
}

/* Puts one in its place. Of a family only the best stays: the line does not name the stage. */
static size_t insert(struct gpu_opportunity *out, size_t n, size_t most, struct gpu_opportunity o)
{
    size_t at = n;

    for (size_t i = 0; i < n; i++)
        if (strcmp(out[i].family, o.family) == 0) {
            if (!goes_before(&o, &out[i]))
                return n;
            memmove(out + i, out + i + 1, (n - i - 1) * sizeof(*out));
            at = --n;
            break;
        }
    while (at > 0 && goes_before(&o, &out[at - 1]))
        at--;
    if (at >= most)
        return n;
    n = n < most ? n + 1 : most;
    memmove(out + at + 1, out + at, (n - 1 - at) * sizeof(*out));
    out[at] = o;
    return n;
}

size_t gpu_run_top(const struct gpu_run *run, struct gpu_opportunity *out, size_t most)
{
    size_t n = 0;

    for (size_t i = 0; i < run->stages.n; i++) {
        const struct gpu_opportunities *all = &run->stages.at[i].opportunities;
        for (size_t k = 0; k < all->all.n; k++)
            if (all->all.at[k].is_ranked && all->all.at[k].gain >= GPU_GAIN_SHOWN)
                n = insert(out, n, most, all->all.at[k]);
    }
    for (size_t i = 0; i < run->extra.n; i++)
        n = insert(out, n, most, run->extra.at[i]);
    return n;
}
