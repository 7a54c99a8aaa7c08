/*
 * What bounds a kernel. See rules.h.
 */
#include "gpu/judge/rules.h"

#include <math.h>

struct view {
    double comp, dram, chip, issue;
    const char *pipe, *level;
};

ENUM_NAMES(gpu_bound_name, enum gpu_bound, "Memory", "Compute", "Latency", "Unknown")

double gpu_waves(const struct gpu_kernel *k, const struct gpu_occupancy *o)
{
    return isnan(o->waves) ? k->m[GPU_M_WAVES] : o->waves;
}

bool gpu_is_underfilled(const struct gpu_kernel *k, const struct gpu_occupancy *o)
{
    double waves = gpu_waves(k, o), active = gpu_active_part(k);

    if (isnan(active) && o->blocks_per_sm > 0)
        active = waves * o->blocks_per_sm; /* blocks for each multiprocessor */
    return waves < GPU_UNDERFILL_WAVES && active < GPU_UNDERFILL_ACTIVE;
}

double gpu_stall_time(const struct gpu_kernel *k, const struct gpu_occupancy *o)
{
    enum { SCHEDULERS = 4, USUAL_WARPS = 64 };
    double warps = k->m[GPU_M_OCC] / 100 * (o->max_warps > 0 ? o->max_warps : USUAL_WARPS);
    double all = 0;

    for (size_t i = 0; i < k->n_stalls; i++)
        all += isnan(k->stalls[i].ratio) ? 0 : k->stalls[i].ratio;
    if (k->m[GPU_M_ISSUE_PCT] > 0)
        all = fmax(all, warps / SCHEDULERS / (k->m[GPU_M_ISSUE_PCT] / 100));
    return all;
}

/* Whether a reason that was not collected may be a longer one than this. */
static bool may_hide_longer(const struct gpu_kernel *k, const struct gpu_occupancy *o,
                            struct str top)
{
    double hidden = 0.9 * gpu_stall_time(k, o), most = 0;

    for (size_t i = 0; i < k->n_stalls; i++) {
        double ratio = isnan(k->stalls[i].ratio) ? 0 : k->stalls[i].ratio;
        hidden -= ratio;
        most = str_equal(k->stalls[i].reason, top) ? ratio : most;
    }
    return gpu_kernel_took_turns(k) && hidden > most;
}

/* A last wave that leaves many of them idle, as far as that was looked at. */
static bool has_tail(const struct gpu_kernel *k, const struct gpu_occupancy *o)
{
    double waves = gpu_waves(k, o);

    return waves >= 1 && waves < 4 && waves / ceil(waves) < 0.75 && !(gpu_active_part(k) > 0.9);
}

static const char *latency_class(const struct gpu_kernel *k, const struct gpu_occupancy *o)
{
    double local = gpu_local_sectors(k), all = k->m[GPU_M_L1_SECT], share;
    struct str reason;
    if (gpu_is_underfilled(k, o))
        return "underfill";
    if (k->m[GPU_M_DUR_NS] < 5000)
        return "launch";
    if (has_tail(k, o))
        return "tail";
    if (isnan(all) ? local > 0 && k->m[GPU_M_LOCAL_PER_THREAD] > 0 : local > 0.05 * all)
        return "spill";
    if (k->m[GPU_M_OCC] < 25)
        return "occupancy";
    /* Why warps wait, in two words: at a barrier, or for the result of another instruction. */
    if (!gpu_kernel_top_stall(k, &reason, &share) || may_hide_longer(k, o, reason))
        return "unknown";
    return str_equal(reason, S("barrier")) || str_equal(reason, S("membar")) ? "barrier"
                                                                             : "dependency";
}

/* Distance to a boundary; what is not known is far away. */
static double away(double value, double boundary)
{
    return isnan(value) ? INFINITY : fabs(value - boundary);
}

/* Percentage points to the nearest boundary that would have led elsewhere. */
static double margin(const struct view *v, int rule)
{
    double m = fmin(away(v->comp, GPU_COMPUTE_HIGH), away(v->dram, GPU_DRAM_HIGH));

    if (rule >= 4)
        m = fmin(m, away(v->chip, GPU_CHIP_HIGH));
    if (rule >= 5)
        m = fmin(m, away(v->issue, GPU_ISSUE_HIGH));
    if (rule >= 6) {
        m = fmin(m, away(v->comp, GPU_WEAK * GPU_COMPUTE_HIGH));
        m = fmin(m, away(v->dram, GPU_WEAK * GPU_DRAM_HIGH));
        m = fmin(m, away(v->chip, GPU_WEAK * GPU_CHIP_HIGH));
    }
    return m;
}

/* Rules 6 and 7. */
static void judge_low(struct gpu_class *c, const struct view *v, const struct gpu_kernel *k,
                      const struct gpu_occupancy *o)
{
    double comp = v->comp / GPU_COMPUTE_HIGH, dram = v->dram / GPU_DRAM_HIGH,
           chip = v->chip / GPU_CHIP_HIGH, n = fmax(fmax(comp, dram), chip);

    /* Units that do nothing for want of blocks come before one that is nearly busy. */
    bool is_empty = !isnan(gpu_active_part(k)) && (gpu_is_underfilled(k, o) || has_tail(k, o));
    if (!(n >= GPU_WEAK) || is_empty) {
        *c = (struct gpu_class){.bound = GPU_LATENCY, .sub = latency_class(k, o), .rule = 7};
        /* Nothing is high, or nobody looked; some reasons are seen all the same. */
        bool is_seen = !isnan(v->dram) && !(isnan(v->comp) && isnan(v->issue));
        if (!is_seen && strcmp(c->sub, "underfill") != 0 && strcmp(c->sub, "launch") != 0 &&
            strcmp(c->sub, "spill") != 0) {
            c->bound = GPU_UNPROVEN;
            c->sub = "few counters";
        }
        return;
    }
    c->rule = 6;
    c->is_weak = true;
    if (comp >= n) {
        c->bound = GPU_COMPUTE;
        c->sub = v->pipe;
    } else {
        c->bound = GPU_MEMORY;
        c->sub = dram >= n ? "dram" : v->level;
    }
}

static void classify_judge(struct gpu_class *c, const struct view *v, const struct gpu_kernel *k,
                           const struct gpu_occupancy *o, const struct gpu_roofline *r)
{
    bool computes = v->comp >= GPU_COMPUTE_HIGH, moves = v->dram >= GPU_DRAM_HIGH;
    /* Of both the work or the larger excess decides. */
    bool computes_more = !isnan(r->ai) && !isnan(r->ridge)
                             ? r->ai >= r->ridge
                             : v->comp / GPU_COMPUTE_HIGH >= v->dram / GPU_DRAM_HIGH;

    if (moves && !computes)
        *c = (struct gpu_class){.bound = GPU_MEMORY, .sub = "dram", .rule = 1};
    else if (computes && !moves)
        *c = (struct gpu_class){.bound = GPU_COMPUTE, .sub = v->pipe, .rule = 2};
    else if (computes && moves)
        *c = (struct gpu_class){
            .bound = computes_more ? GPU_COMPUTE : GPU_MEMORY, .sub = "balanced", .rule = 3};
    else if (v->chip >= GPU_CHIP_HIGH)
        *c = (struct gpu_class){.bound = GPU_MEMORY, .sub = v->level, .rule = 4};
    else if (v->issue >= GPU_ISSUE_HIGH)
        *c = (struct gpu_class){.bound = GPU_COMPUTE, .sub = "issue", .rule = 5};
    else
        judge_low(c, v, k, o);
}

/* Without counters: a stage near the roof of its formulas is bound by it, and one of a few
 * microseconds by its launch. Nothing else is proven. */
static void judge_by_model(struct gpu_class *c, const struct gpu_kernel *k,
                           const struct gpu_roofline *r)
{
    *c = (struct gpu_class){
        .bound = GPU_UNPROVEN, .sub = "no counters", .rule = 7, .is_model = true};
    if (r->bound[0] != '\0' && r->pct_roof >= GPU_MODEL_PROVEN) {
        c->bound = r->bound[0] == 'm' ? GPU_MEMORY : GPU_COMPUTE;
        c->sub = "model";
        c->confidence = 0.5; /* as a weak class */
    } else if (k->m[GPU_M_DUR_NS] < 5000) {
        c->bound = GPU_LATENCY;
        c->sub = "launch";
        c->confidence = 0.5;
    }
}

struct gpu_class gpu_class_shown(const struct gpu_class *c)
{
    struct gpu_class shown = *c;

    if (c->bound != GPU_UNPROVEN && c->confidence < 0.005) {
        shown.bound = GPU_UNPROVEN;
        shown.sub = "borderline";
    }
    return shown;
}

struct gpu_class gpu_classify(const struct gpu_kernel *k, const struct gpu_occupancy *o,
                              const struct gpu_roofline *r)
{
    double active = gpu_active_part(k);
    /* Slots of multiprocessors without work are free. */
    struct view v = {.dram = k->m[GPU_M_DRAM_PCT],
                     .issue = k->m[GPU_M_ISSUE_PCT] * (active < 1 ? active : 1)};
    double l2_hit = k->m[GPU_M_L2_HIT];
    struct gpu_class c = {0};

    v.comp = gpu_compute_pct(k, &v.pipe);
    v.chip = gpu_chip_pct(k, &v.level);
    if (isnan(v.dram) && isnan(v.comp) && isnan(v.chip) && isnan(v.issue)) {
        judge_by_model(&c, k, r);
    } else {
        classify_judge(&c, &v, k, o, r);
        c.no_compute = isnan(v.comp);
        c.no_chip = isnan(v.chip);
        c.confidence = fmin(1, margin(&v, c.rule) / 10);
        if (c.no_compute || c.no_chip)
            c.confidence = fmin(c.confidence, 0.7);
        if (c.is_weak)
            c.confidence = fmin(c.confidence, 0.5);
    }
    /* More than the buffers hold that the kernel was given: it is read again. */
    double again = gpu_dram_bytes(k) / k->m[GPU_M_BUFFER_BYTES];
    bool is_reread = isnan(again) || again > 1.25;
    c.has_locality_issue =
        l2_hit < 80 && (isnan(r->traffic) ? v.dram >= 30 && is_reread : r->traffic > 1.25);
    return c;
}
