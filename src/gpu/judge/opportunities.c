/*
 * What would make a kernel faster. See rules.h.
 */
#include "gpu/judge/opportunities.h"

#include "text/gpu.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

enum { GAIN_MAX = 95, RULE_TEXT = 300 };

static double known(double value)
{
    return isnan(value) ? 0 : value;
}

static double clip(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

/* The most that can be gained, in percent. */
static double gain_cap(const struct gpu_case *c)
{
    double dur = c->kernel->m[GPU_M_DUR_NS];
    double floor_real =
        gpu_floor_ns(c->work, c->peak_tflops, c->peaks->gbps, GPU_ETA_COMPUTE, GPU_ETA_MEMORY);
    const char *name;

    if (!isnan(floor_real) && dur > 0 && floor_real > 0)
        return clip(100 * (1 - floor_real / dur), 0, GAIN_MAX);
    double busiest =
        fmax(fmax(known(gpu_compute_pct(c->kernel, &name)), known(c->kernel->m[GPU_M_DRAM_PCT])),
             known(gpu_chip_pct(c->kernel, &name)));
    return clip(100 - busiest, 0, GAIN_MAX);
}

static double confidence_of(int id)
{
    static const double table[] = {0,  1,  1,  1,  1,  .7, .7, 1,  1,  .7, .7, .6, .6,
                                   .6, .5, .7, .7, .7, .7, .7, .7, .7, .7, .5, .7, .6};

    assert((size_t)id < ARRAY_LEN(table));
    return table[id];
}

/* What a kernel that does nothing takes stays. */
static double most_gained(const struct gpu_kernel *k)
{
    double dur = k->m[GPU_M_DUR_NS];

    return isnan(dur) ? GAIN_MAX : 100 * (1 - GPU_EMPTY_NS / dur);
}

static void add_gain(struct gpu_finder *f, int id, const char *family, const char *name,
                     double sure, double gain, struct str trigger)
{
    vec_push(&f->out->all, ((struct gpu_opportunity){.id = id,
                                                     .family = family,
                                                     .name = str_of(name),
                                                     .trigger = trigger,
                                                     .gain = clip(gain * f->c->share, 0, GAIN_MAX),
                                                     .confidence = sure * confidence_of(id),
                                                     .is_ranked = true}));
}

/* `ratio` is the new duration over the old one. */
static void opportunities_add(struct gpu_finder *f, int id, const char *family, const char *name,
                              double ratio, struct str trigger)
{
    double gain = fmin(fmin(100 * (1 - ratio), f->cap), most_gained(f->c->kernel));

    if (gain > 0)
        add_gain(f, id, family, name, 1, gain, trigger);
}

void gpu_finder_add(struct gpu_finder *f, int id, const char *family, const char *name, double sure,
                    double ratio, struct str trigger)
{
    double gain = fmin(sure * clip(100 * (1 - ratio), 0, GAIN_MAX), most_gained(f->c->kernel));

    if (gain >= 3)
        add_gain(f, id, family, name, sure, gain, trigger);
}

/* O1 to O4: traffic, locality, tensor cores. */
static void rules_of_work(struct gpu_finder *f)
{
    const struct gpu_kernel *k = f->c->kernel;
    double traffic = f->c->roofline->traffic, compute = f->comp / 100 / GPU_ETA_COMPUTE;
    double l2_hit = k->m[GPU_M_L2_HIT], less = isnan(traffic) ? 0 : 1 / traffic;

    if (traffic > 1.25 && f->dram >= 45)
        opportunities_add(f, 1, "traffic", "cut DRAM traffic", fmax(1 / traffic, compute),
                          arena_format(f->arena, "traffic_ratio=%.2f", traffic));
    if (f->c->class->has_locality_issue && isnan(k->m[GPU_M_BUFFER_BYTES])) {
        opportunities_add(f, 2, "traffic", "raise L2 locality",
                          fmax(fmax((1 - 0.80) / (1 - fmin(l2_hit, 99) / 100), less), compute),
                          arena_format(f->arena, "l2_hit=%.1f%%", l2_hit));
        /* What is read once has a low rate, too. */
        if (isnan(traffic) && f->out->all.n > 0)
            f->out->all.at[f->out->all.n - 1].is_ranked = false;
    }
    if (!gpu_uses_tensor(k) && f->c->is_tensor_type && f->c->is_gemm &&
        !isnan(k->m[GPU_M_TC_PCT] + known(k->m[GPU_M_TC_INST]))) {
        double floor_real = gpu_floor_ns(f->c->work, f->c->peak_tflops, f->c->peaks->gbps,
                                         GPU_ETA_COMPUTE, GPU_ETA_MEMORY);
        opportunities_add(f, 3, "tensor", "use tensor cores", floor_real / k->m[GPU_M_DUR_NS],
                          arena_format(f->arena, "tc_pct=%.1f%%", k->m[GPU_M_TC_PCT]));
    }
    struct str cc = k->cc.n > 0 ? k->cc : f->c->peaks->cc;
    if (str_equal(cc, S("9.0")) && k->m[GPU_M_TC_HMMA] > 0 && k->m[GPU_M_TC_GMMA] == 0 &&
        k->m[GPU_M_TC_PCT] >= 40)
        opportunities_add(
            f, 4, "tensor", "use wgmma instead of mma.sync",
            fmax(2.0 / 3, f->dram / 100 / GPU_ETA_MEMORY),
            arena_format(f->arena, "tc_gmma_inst=0, tc_pct=%.1f%%", k->m[GPU_M_TC_PCT]));
}

/* "limited by registers: 8 fewer per thread" */
struct str gpu_finder_price(struct gpu_finder *f, double occ)
{
    const struct gpu_occupancy *o = f->c->occupancy;
    struct str what = {"", 0};

    if (o->regs_to_free > 0 && o->bytes_to_free > 0)
        what = MESSAGE(LANG_EN, f->arena, &gpu_text.free_both, PLACE("regs", o->regs_to_free),
                       PLACE("bytes", o->bytes_to_free));
    else if (o->regs_to_free > 0)
        what = MESSAGE(LANG_EN, f->arena, &gpu_text.free_regs, PLACE("regs", o->regs_to_free));
    else if (o->bytes_to_free > 0)
        what = MESSAGE(LANG_EN, f->arena, &gpu_text.free_bytes, PLACE("bytes", o->bytes_to_free));
    if (what.n == 0)
        return MESSAGE(LANG_EN, f->arena, &gpu_text.occ_limited, PLACE("occ", occ),
                       PLACE("limiter", o->limiter));
    return MESSAGE(LANG_EN, f->arena, &gpu_text.occ_free, PLACE("occ", occ),
                   PLACE("limiter", o->limiter), PLACE("what", what));
}

static double stall_share(const struct gpu_kernel *k, struct str reason)
{
    double total = 0, one = 0;

    for (size_t i = 0; i < k->n_stalls; i++) {
        total += known(k->stalls[i].ratio);
        if (str_equal(k->stalls[i].reason, reason))
            one = known(k->stalls[i].ratio);
    }
    return total > 0 ? one / total : (double)NAN;
}

/* Whether the instruction mix was collected: then the rules of mechanisms.c say more. */
static bool has_mix(const struct gpu_kernel *k)
{
    return !isnan(k->m[GPU_M_THREAD_INST_ON]);
}

/* O5 to O8: occupancy, spills, filling, the last wave. */
static void rules_of_launch(struct gpu_finder *f)
{
    const struct gpu_kernel *k = f->c->kernel;
    const struct gpu_occupancy *o = f->c->occupancy;
    double occ = k->m[GPU_M_OCC], waves = gpu_waves(k, o), local = gpu_local_sectors(k);
    double active = gpu_active_part(k);

    if (!has_mix(k) && f->c->class->bound == GPU_LATENCY && occ < 25 && o->is_known &&
        o->next_pct > occ)
        opportunities_add(f, 5, "occupancy", "raise occupancy",
                          fmax(occ / o->next_pct, f->saturation), gpu_finder_price(f, occ));
    if (!has_mix(k) && local > 0 && k->m[GPU_M_L1_SECT] > 0) {
        double s = stall_share(k, S("long_scoreboard"));
        double part = fmin(0.9, local / k->m[GPU_M_L1_SECT]);
        opportunities_add(f, 6, "spill", "remove spills", 1 - part * (isnan(s) ? 0.5 : s),
                          arena_format(f->arena, "local_bytes=%.0f", 32 * local));
    }
    /* Fewer blocks than multiprocessors: what those without one could do. */
    double filled = (double)gpu_kernel_blocks(k) / f->c->peaks->sm_count;
    bool is_short = waves < GPU_UNDERFILL_WAVES && active < 1 && filled > 0 && filled < 1;
    if (gpu_is_underfilled(k, o))
        opportunities_add(f, 7, "fill", "fill the GPU",
                          fmax(isnan(active) ? waves : active, f->saturation),
                          arena_format(f->arena, "waves=%.4g", waves));
    else if (is_short && gpu_kernel_took_turns(k))
        opportunities_add(f, 7, "fill", "fill the GPU", fmax(fmax(active, filled), f->saturation),
                          arena_format(f->arena, "waves=%.4g", waves));
    bool is_open = isnan(active) && gpu_kernel_took_turns(k); /* not seen whether they are idle */
    if (waves >= 1 && waves < 8 && 1 - waves / ceil(waves) > 0.05 && !(active > 0.95) && !is_open)
        opportunities_add(f, 8, "fill", "balance the last wave",
                          fmax(known(active), waves / ceil(waves)),
                          arena_format(f->arena, "waves=%.2f", waves));
}

/* O9 to O11: access patterns and stalls. */
static void rules_of_access(struct gpu_finder *f)
{
    const struct gpu_kernel *k = f->c->kernel;
    double ideal = k->m[GPU_M_SECT_IDEAL] / k->m[GPU_M_SECT_ACTUAL];
    double conflicts = k->m[GPU_M_CONFLICTS] / k->m[GPU_M_WAVEFRONTS], share;
    struct str reason;

    if (k->m[GPU_M_SECT_ACTUAL] > 0 && ideal < 0.8)
        opportunities_add(f, 9, "access", "coalesce global access", 1 - (1 - ideal) * f->chip / 100,
                          arena_format(f->arena, "sectors_ideal/actual=%.2f", ideal));
    if (!gpu_kernel_took_turns(k) && k->m[GPU_M_WAVEFRONTS] > 0 && conflicts > 0.1)
        opportunities_add(f, 10, "access", "remove bank conflicts",
                          1 - fmin(1, conflicts) * known(gpu_l1_pct(k)) / 100,
                          arena_format(f->arena, "conflicts/wavefronts=%.2f", conflicts));
    /* Where the mix shows a mechanism, that is why they wait. */
    bool is_explained =
        (has_mix(k) && f->out->all.n > 0) || gpu_kernel_lacks(k) != NULL; /* it may be one */
    if (!is_explained && f->c->class->bound == GPU_LATENCY &&
        gpu_kernel_top_stall(k, &reason, &share) && share > 0.30)
        opportunities_add(
            f, 11, "stalls", "shorten dependency stalls",
            1 - 0.5 * share * (1 - known(k->m[GPU_M_ISSUE_PCT]) / 100),
            arena_format(f->arena, "stall_%.*s=%.1f%%", STR_ARGS(reason), 100 * share));
}

/* Rules of one family repeat one another. */
static const char *rule_family(struct str name)
{
    static const struct {
        const char *part, *family;
    } table[] = {
        {"TheoreticalOccupancy", "occupancy"}, {"AchievedOccupancy", "occupancy"},
        {"LaunchConfiguration", "occupancy"},  {"CPIStall", "stalls"},
        {"IssueSlotUtilization", "stalls"},    {"MemoryCacheAccessPattern", "access"},
        {"UncoalescedGlobalAccess", "access"}, {"SharedMemoryConflicts", "access"},
        {"UncoalescedSharedAccess", "access"},
    };

    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (str_contains(name, str_of(table[i].part)))
            return table[i].family;
    return NULL;
}

/* O14: what the tool itself advises. */
static void rules_of_ncu(struct gpu_finder *f)
{
    const struct gpu_kernel *k = f->c->kernel;

    for (size_t i = 0; i < k->rules.n; i++) {
        const struct gpu_rule *rule = &k->rules.at[i];
        const char *family = rule_family(rule->name);
        if (!str_equal(rule->type, S("OPT")) || !(rule->speedup > 0))
            continue;
        if (str_equal(rule->name, S("MemoryL2Compression")))
            continue; /* nothing says that a program compresses */
        bool is_global = str_equal(rule->speedup_type, S("global"));
        double gain = is_global ? fmin(rule->speedup, f->cap) : rule->speedup;
        vec_push(
            &f->out->all,
            ((struct gpu_opportunity){
                .id = 14,
                .family = family != NULL ? family : arena_cstr(f->arena, rule->name),
                .name = MESSAGE(LANG_EN, f->arena, &gpu_text.tool_rule, PLACE("rule", rule->name)),
                .trigger = arena_format(f->arena, "%.*s speedup=%.4g%%%s%.*s",
                                        STR_ARGS(rule->speedup_type), rule->speedup,
                                        rule->text.n > 0 ? ": " : "",
                                        STR_ARGS(str_part(rule->text, 0, RULE_TEXT))),
                .gain = clip(gain * f->c->share, 0, GAIN_MAX),
                .confidence = confidence_of(14),
                .is_ranked = is_global && gain > 0}));
    }
}

/* Best first: by the gain that is printed, ties by id; those not ranked last. */
ORDER_BY(by_rank, struct gpu_opportunity,
         ORDER(y->is_ranked, x->is_ranked) ?: ORDER(y->gain, x->gain)
             ?: ORDER(x->id, y->id) ?: str_compare(x->name, y->name));

/* By gain, ties by id, the best of each family in front. */
static void rank(struct gpu_opportunities *list)
{
    if (list->all.n == 0)
        return;
    qsort(list->all.at, list->all.n, sizeof(*list->all.at), by_rank);
    for (size_t i = 0; i < list->all.n; i++)
        for (size_t k = 0; k < i; k++)
            if (list->all.at[k].is_ranked &&
                strcmp(list->all.at[k].family, list->all.at[i].family) == 0)
                list->all.at[i].is_ranked = false;
    qsort(list->all.at, list->all.n, sizeof(*list->all.at), by_rank);
}

void gpu_opportunities_find(struct arena *arena, const struct gpu_case *c,
                            struct gpu_opportunities *out)
{
    enum { CLEAR_LEAD = 10 }; /* percentage points of the gain */
    const char *name;
    struct gpu_finder f = {.arena = arena,
                           .c = c,
                           .out = out,
                           .comp = known(gpu_compute_pct(c->kernel, &name)),
                           .dram = known(c->kernel->m[GPU_M_DRAM_PCT]),
                           .chip = known(gpu_chip_pct(c->kernel, &name)),
                           .cap = gain_cap(c)};

    f.saturation = fmin(
        1, fmax(fmax(f.comp / 100 / GPU_ETA_COMPUTE, f.dram / 100 / GPU_ETA_MEMORY), f.chip / 100));
    rules_of_work(&f);
    rules_of_launch(&f);
    if (has_mix(c->kernel))
        gpu_finder_add_mechanisms(&f);
    rules_of_access(&f);
    rules_of_ncu(&f);
    rank(out);
    /* The first one of rules that compare counters is less certain the nearer the next one comes.
     */
    if (gpu_kernel_took_turns(c->kernel) && out->all.n > 1 && out->all.at[1].is_ranked) {
        double lead = out->all.at[0].gain - out->all.at[1].gain;
        out->all.at[0].confidence *= 0.5 + 0.5 * clip(lead / CLEAR_LEAD, 0, 1);
    }
}
