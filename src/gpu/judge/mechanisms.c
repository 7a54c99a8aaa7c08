/*
 * What holds a kernel back, by the mechanism that the counters show. See opportunities.h.
 *
 * Every rule asks the same three questions: which part of the work is only there because of the
 * property, which part of the time goes with it, and what would be the next limit without it. The
 * gain is never more than the last one leaves.
 */
#include "gpu/judge/opportunities.h"

#include <math.h>

#include "text/gpu.h"

enum {
    LANES = 32,
    SECTOR = 32,
    LONG_SUM = 64,
    MUCH_REUSE = 16, /* multiply-adds for each byte of device memory */
    WIDE_BYTES = 16, /* most that a lane loads at once */
};

/* A polynomial in place of a special function takes about this many instructions; in the time that
 * one special function takes in its pipe, a scheduler issues eight. */
#define POLYNOMIAL 6.0
#define XU_ISSUES  8.0

/* How busy each unit is, from 0 to 1 of the time; 0 where not collected. */
struct unit_load {
    double dram, l2, l1, tensor, fma, alu, xu, fp64, lsu, issue;
};

static double part(double pct)
{
    return isnan(pct) ? 0 : fmin(1, pct / 100);
}

static double pipes(const struct unit_load *l)
{
    return fmax(fmax(fmax(l->fma, l->alu), fmax(l->xu, l->fp64)), fmax(l->issue, l->tensor));
}

/* Device memory cannot be busier than its reachable part. */
static double busiest(const struct unit_load *l)
{
    return fmax(fmax(fmax(fmin(1, l->dram / GPU_ETA_MEMORY), l->l2), fmax(l->l1, l->lsu)),
                pipes(l));
}

/* How surely a value is beyond a limit: 0 up to `from`, 1 from `to` on, between them in proportion.
 * A reading just beside a limit changes a gain a little, never from all to nothing. What was not
 * collected is beyond none. */
static double beyond(double value, double from, double to)
{
    double at = (value - from) / (to - from);

    return at > 1 ? 1 : at > 0 ? at : 0;
}

/* How surely a unit is the busiest one. */
static double top(double one, const struct unit_load *l)
{
    return fmin(beyond(one, 0.5, 0.55), beyond(one, 0.75 * busiest(l), 0.85 * busiest(l)));
}

/* How surely no unit is so busy that warps wait for it. */
static double idle_units(const struct gpu_kernel *k, const struct unit_load *l)
{
    bool is_seen = !isnan(k->m[GPU_M_DRAM_PCT] + gpu_l1_pct(k) + gpu_l2_pct(k));

    return is_seen ? beyond(busiest(l), 0.6, 0.55) : 0;
}

/* The share of the time of all warps that they spend waiting for these reasons, up to NULL. */
static double waits(const struct gpu_finder *f, const char *const *reasons)
{
    const struct gpu_kernel *k = f->c->kernel;
    double all = gpu_stall_time(k, f->c->occupancy), own = 0;

    for (; *reasons != NULL; reasons++)
        for (size_t i = 0; i < k->n_stalls; i++)
            if (str_equal(k->stalls[i].reason, str_of(*reasons)) && !isnan(k->stalls[i].ratio))
                own += k->stalls[i].ratio;
    return all > 0 ? own / all : 0;
}

#define WAITS(f, ...) waits((f), (const char *const[]){__VA_ARGS__, NULL})
/* How surely they wait for this more than for anything else. */
static double mostly(const struct gpu_finder *f, const char *reason, double share)
{
    const struct gpu_kernel *k = f->c->kernel;
    double other = gpu_stall_time(k, f->c->occupancy), most = 0;

    for (size_t i = 0; i < k->n_stalls; i++) {
        double ratio = isnan(k->stalls[i].ratio) ? 0 : k->stalls[i].ratio;
        struct str name = k->stalls[i].reason;
        other -= ratio;
        if (!str_equal(name, str_of(reason)) && !str_equal(name, S("selected")))
            most = fmax(most, ratio);
    }
    most = fmax(most, 0.9 * other) / gpu_stall_time(k, f->c->occupancy);
    return beyond(share, 0.85 * most, most);
}

/* The part of L1's sectors that registers without a place take. */
static double spilled(const struct gpu_finder *f)
{
    return gpu_local_sectors(f->c->kernel) / f->c->kernel->m[GPU_M_L1_SECT];
}

#define SAID(message, ...) MESSAGE(LANG_EN, f->arena, &(message), __VA_ARGS__)

/* ---- shared memory ---- */

/* All wavefronts of the unit that shared memory, the first-level cache and local memory share. */
static double wavefronts(const struct gpu_finder *f)
{
    const double *m = f->c->kernel->m;
    double all = part(m[GPU_M_L1_LSU_PCT]) * m[GPU_M_SM_CYCLES] * f->c->peaks->sm_count;

    return fmax(all, m[GPU_M_WAVEFRONTS]);
}

static void rule_conflicts(struct gpu_finder *f, struct unit_load l)
{
    const double *m = f->c->kernel->m;
    /* Those of atomics are counted, too. */
    double waves = m[GPU_M_SHARED_ATOM_WAVES] - m[GPU_M_SHARED_ATOM],
           atomics = waves < 0 ? 0 : waves;
    double conflicts = m[GPU_M_CONFLICTS] - atomics, shared = m[GPU_M_WAVEFRONTS] - atomics;
    double sure = beyond(conflicts / shared, 0.1, 0.15);

    if (!(sure > 0) || !(m[GPU_M_L1_LSU_PCT] > 0))
        return;
    double extra = fmin(1, conflicts / wavefronts(f));
    double weight = fmax(l.l1, WAITS(f, "mio_throttle", "short_scoreboard"));
    l.l1 *= 1 - extra;
    gpu_finder_add(f, 10, "access", "remove bank conflicts", sure,
                   fmax(1 - extra * weight, busiest(&l)),
                   SAID(gpu_text.why_conflicts, PLACE("share", 100 * conflicts / shared),
                        PLACE("ways", shared / fmax(1, shared - conflicts))));
}

static double lanes_of(const double *m)
{
    return m[GPU_M_THREAD_INST] / m[GPU_M_INST];
}

static void rule_shared_atomics(struct gpu_finder *f, struct unit_load l)
{
    const double *m = f->c->kernel->m;
    double all = wavefronts(f), waves = m[GPU_M_SHARED_ATOM_WAVES];

    if (!(m[GPU_M_SHARED_ATOM] > 0) || !(all > 0) || isnan(waves))
        return;
    /* Those made of a load and a comparison are tried again by the lanes that came too late: then
     * nearly all of them are. */
    bool is_loop = m[GPU_M_SHARED_LD] >= 0.8 * m[GPU_M_SHARED_ATOM] && lanes_of(m) < 0.75 * LANES;
    double extra = fmin(1, (is_loop ? waves : waves - m[GPU_M_SHARED_ATOM]) / all);
    double weight = fmax(l.l1, WAITS(f, "mio_throttle", "short_scoreboard"));
    struct unit_load without = {.dram = l.dram, .l2 = l.l2, .l1 = l.l1 * (1 - extra)};
    gpu_finder_add(f, 16, "atomics", "spread atomics", beyond(extra, 0.1, 0.15),
                   fmax(1 - extra * weight, busiest(&without)),
                   SAID(gpu_text.why_shared_atomics, PLACE("ways", waves / m[GPU_M_SHARED_ATOM]),
                        PLACE("share", 100 * extra)));
}

/* ---- global memory ---- */

static void rule_atomics(struct gpu_finder *f, struct unit_load l)
{
    const double *m = f->c->kernel->m;
    double most = m[GPU_M_ATOMIC_MAX_PCT], mean = m[GPU_M_ATOMIC_PCT];
    double hot = fmin(beyond(most, 10, 25), beyond(most / mean, 4, 5));

    if (!(m[GPU_M_GLOBAL_RED] + m[GPU_M_GLOBAL_ATOM] > 0))
        return;
    double weight = fmax(part(most), WAITS(f, "long_scoreboard", "lg_throttle", "membar", "drain"));
    l.l2 = fmax(0, l.l2 - part(mean));
    gpu_finder_add(f, 16, "atomics", "spread atomics", fmax(hot, beyond(mean, 40, 45)),
                   fmax(1 - weight, busiest(&l)),
                   SAID(gpu_text.why_atomics, PLACE("most", most), PLACE("mean", mean)));
}

/* How much of the time goes to global memory: its units are busy, or warps wait for it. */
static double global_weight(struct gpu_finder *f, const struct unit_load *l)
{
    return fmax(fmax(l->dram, l->l2), WAITS(f, "long_scoreboard", "lg_throttle", "drain"));
}

/* A request needs one in any case, also when all lanes want the same word. */
static double unused_sectors(double sectors, double bytes, double requests)
{
    double needed = isnan(bytes + requests) ? (double)NAN : fmax(bytes / SECTOR, requests);

    return sectors <= needed ? 0 : sectors - needed;
}

static void rule_coalescing(struct gpu_finder *f, struct unit_load l)
{
    enum { WAVEFRONT = 128 }; /* bytes */
    const double *m = f->c->kernel->m;
    double bytes = m[GPU_M_GLOBAL_LD_BYTES] + m[GPU_M_GLOBAL_ST_BYTES];
    double loads = m[GPU_M_GLOBAL_LD_SECT], stores = m[GPU_M_GLOBAL_ST_SECT];
    double unread = unused_sectors(loads, m[GPU_M_GLOBAL_LD_BYTES], m[GPU_M_GLOBAL_LD]);
    double unwritten = unused_sectors(stores, m[GPU_M_GLOBAL_ST_BYTES], m[GPU_M_GLOBAL_ST]);
    double local = gpu_local_sectors(f->c->kernel), missed = 1 - part(m[GPU_M_L1_HIT]);
    double sectors = loads + stores, all = sectors + (local > 0 ? local : 0);

    if (!(unread + unwritten > 0) || isnan(sectors))
        return;
    /* Sectors that the cache still has when the other lanes' bytes are wanted cost only its time;
     * stores go through it. */
    double extra = (unread * missed + unwritten) / all;
    /* What L2 gives to the multiprocessors and no lane asked for: where it gives less than they
     * asked for, L1 has served the rest, and nothing is lost behind it. */
    double given = m[GPU_M_L2_HIT_SECT] + m[GPU_M_L2_MISS_SECT], asked = bytes / SECTOR;
    extra = fmin(extra, given > 0 && asked > 0 ? fmax(0, 1 - asked / given) : 1);
    /* The part of L1's wavefronts that requests take beyond those for their bytes. */
    double needed = fmax(m[GPU_M_GLOBAL_LD] + m[GPU_M_GLOBAL_ST], bytes / WAVEFRONT);
    double made = wavefronts(f), beside = needed + m[GPU_M_WAVEFRONTS];
    double own = top(l.l1, &l) * (made > 0 ? fmax(0, 1 - beside / made) : 0);
    double used = bytes / sectors;
    double ratio = fmin(1 - extra * global_weight(f, &l), 1 - own * l.l1);
    l.dram *= 1 - extra;
    l.l2 *= 1 - extra;
    l.l1 *= 1 - own;
    gpu_finder_add(f, 9, "access", "coalesce global access",
                   beyond((unread + unwritten) / sectors, 0.2, 0.25), fmax(ratio, busiest(&l)),
                   SAID(gpu_text.why_uncoalesced, PLACE("bytes", used)));
}

static void rule_spills(struct gpu_finder *f, struct unit_load l)
{
    const double *m = f->c->kernel->m;
    double local = gpu_local_sectors(f->c->kernel), all = m[GPU_M_L1_SECT];

    if (!(local > 0.05 * all))
        return;
    double extra = fmin(1, local / all), weight = fmax(l.l1, global_weight(f, &l));
    l.dram *= 1 - extra;
    l.l2 *= 1 - extra;
    l.l1 *= 1 - extra;
    l.lsu *= 1 - extra;
    gpu_finder_add(
        f, 6, "spill", "remove spills", 1, fmax(1 - extra * weight, busiest(&l)),
        SAID(gpu_text.why_spills, PLACE("bytes", SECTOR * local), PLACE("share", 100 * extra)));
}

/* Memory is read again: more comes from it than the buffers hold that the kernel was given. */
static void rule_reuse(struct gpu_finder *f, struct unit_load l)
{
    const double *m = f->c->kernel->m;
    double again = gpu_dram_bytes(f->c->kernel) / m[GPU_M_BUFFER_BYTES];

    double sure = fmin(beyond(again, 1.5, 1.65),
                       fmin(beyond(m[GPU_M_L2_HIT], 80, 75), beyond(l.dram, 0.4, 0.45)));
    if (!(sure > 0) || !(spilled(f) <= 0.05))
        return;
    double weight = fmax(l.dram / GPU_ETA_MEMORY, WAITS(f, "long_scoreboard"));
    double ratio = 1 - (1 - 1 / again) * fmin(1, weight);
    l.dram /= again;
    gpu_finder_add(f, 2, "traffic", "raise L2 locality", sure, fmax(ratio, busiest(&l)),
                   SAID(gpu_text.why_reread, PLACE("again", again), PLACE("hit", m[GPU_M_L2_HIT])));
}

/* ---- pipes ---- */

static void rule_divergence(struct gpu_finder *f, struct unit_load l)
{
    const double *m = f->c->kernel->m;
    double lanes = lanes_of(m), on = m[GPU_M_THREAD_INST_ON] / m[GPU_M_INST];
    double few = beyond(lanes, 24, 22), masked = beyond(on, 20, 18);

    /* Short branches are no branches: their instructions are issued for all lanes, and masked. */
    if (masked > few)
        lanes = on;
    double extra = 1 - lanes / LANES, weight = pipes(&l);
    struct unit_load without = {.dram = l.dram, .l2 = l.l2, .l1 = l.l1};
    double sure =
        fmin(fmax(few, masked), beyond(weight, busiest(&without), 1.1 * busiest(&without)));
    if (!(sure > 0))
        return;
    gpu_finder_add(f, 15, "divergence", "avoid divergence", sure,
                   fmax(1 - extra * weight, busiest(&without)),
                   SAID(gpu_text.why_divergence, PLACE("lanes", lanes)));
}

/* Whether values in single precision are converted when they come and go. */
static bool is_accident(const double *m)
{
    double moved = LANES * (m[GPU_M_GLOBAL_LD] + m[GPU_M_GLOBAL_ST]);

    return m[GPU_M_CONVERSION] > 0.3 * m[GPU_M_DOUBLE_OPS] ||
           (moved > 0 && m[GPU_M_CONVERSION] > 0.5 * moved);
}

/* What remains when that is gone and the rest runs in the pipe for single precision, which is twice
 * as wide. Values in single precision are converted when they come and go. */
static void rule_double(struct gpu_finder *f, struct unit_load l)
{
    enum { FUNCTION = 4 }; /* operations for each value converted */
    const double *m = f->c->kernel->m;
    double wide = m[GPU_M_DOUBLE_OPS], converted = fmax(0, m[GPU_M_CONVERSION]);
    bool is_meant = !is_accident(m); /* conversions run in the pipe of special functions */
    double share = wide / m[GPU_M_THREAD_INST_ON];
    double much = is_meant ? 0 : fmin(beyond(share, 0.1, 0.12), top(l.issue, &l));
    double pipe = top(is_meant ? l.fp64 : fmax(l.fp64, l.xu), &l);
    double sure = fmin(beyond(share, 0.02, 0.025), fmax(much, pipe));

    if (!(sure > 0))
        return;
    /* The part of the instructions that single precision does not need: conversions to double and
     * back; and of functions, which are made of many instructions and of constants of two words
     * each, three quarters of what is not memory or control. */
    double on = m[GPU_M_THREAD_INST_ON], rest = m[GPU_M_MEMORY_INST] + m[GPU_M_CONTROL];
    bool is_function = wide > FUNCTION * converted && wide > 0.1 * on && rest < on;
    double gone = is_function ? 0.75 * (1 - rest / on) : converted / on;
    if (is_meant)
        gone = 0;
    l.fma += (1 - gone) * l.fp64 / 2;
    l.fp64 = 0;
    if (!is_meant)
        l.xu = 0;
    l.issue *= 1 - gone;
    l.alu *= 1 - gone;
    gpu_finder_add(f, 19, "pipe", "keep to single precision", sure, busiest(&l),
                   is_meant ? SAID(gpu_text.why_double, PLACE("busy", m[GPU_M_FP64_PCT]))
                            : SAID(gpu_text.why_double_accident, PLACE("ops", wide),
                                   PLACE("converted", converted)));
}

static void rule_special(struct gpu_finder *f, struct unit_load l)
{
    const double *m = f->c->kernel->m;
    double wide = m[GPU_M_DOUBLE_OPS] / m[GPU_M_THREAD_INST_ON];
    bool is_other = isnan(wide + m[GPU_M_CONVERSION]) || (wide > 0.02 && is_accident(m));
    double sure = is_other ? 0 : top(l.xu, &l);

    if (!(sure > 0))
        return;
    /* So many stay that both pipes end at the same time. */
    double price = POLYNOMIAL / XU_ISSUES;
    double kept = fmin(1, (l.issue + price * l.xu) / ((1 + price) * l.xu));
    double ratio = kept * l.xu;
    l.xu = l.issue = l.fma = 0;
    gpu_finder_add(f, 18, "pipe", "relieve the special-function pipe", sure,
                   fmax(ratio, busiest(&l)),
                   SAID(gpu_text.why_special, PLACE("busy", m[GPU_M_XU_PCT])));
}

/* Integer work and branches around the work itself. Where lanes are idle, instructions are issued
 * for few of them: that part is a matter of the branches. */
static void rule_instructions(struct gpu_finder *f, struct unit_load l)
{
    const double *m = f->c->kernel->m;
    double share = (m[GPU_M_INTEGER] + m[GPU_M_CONTROL]) / m[GPU_M_THREAD_INST_ON];
    double slots = fmax(l.issue, l.alu), lanes = lanes_of(m);
    double sure = fmin(beyond(share, 0.4, 0.43), fmin(beyond(slots, 0.7, 0.73), top(slots, &l)));

    if (!(sure > 0) || isnan(lanes + m[GPU_M_ISSUE_PCT]))
        return;
    double gone = share * (lanes < 0.75 * LANES ? lanes / LANES : 1);
    l.issue *= 1 - gone;
    l.alu *= 1 - gone;
    gpu_finder_add(f, 20, "pipe", "issue fewer instructions", sure,
                   fmax(1 - gone * slots, busiest(&l)),
                   SAID(gpu_text.why_instructions, PLACE("issue", m[GPU_M_ISSUE_PCT]),
                        PLACE("share", 100 * share)));
}

/* Long sums of products whose operands come from memory, as those of matrices do, outside the
 * tensor cores. A tile of 16 by 8 values a thread loads 6 times (four values each) for 128
 * products; with fewer loads it is no product of matrices. */
static void rule_products(struct gpu_finder *f, struct unit_load l)
{
    const double *m = f->c->kernel->m;
    double fused = m[GPU_M_FFMA] + m[GPU_M_HFMA], threads = m[GPU_M_THREAD_INST_ON];
    double loads = LANES * (m[GPU_M_SHARED_LD] + m[GPU_M_GLOBAL_LD]) / fused;
    /* Memory is used often, and the loads are those of a product. */
    double reused = fused / gpu_dram_bytes(f->c->kernel) / MUCH_REUSE;
    double summed = fused / (LANES * m[GPU_M_GLOBAL_ST]) / LONG_SUM;
    double conflicts = m[GPU_M_CONFLICTS] / fmax(1, m[GPU_M_WAVEFRONTS]);
    double sure = fmin(fmin(beyond(reused, 0.85, 1), beyond(summed, 0.85, 1)),
                       fmin(beyond(conflicts, 0.55, 0.5), beyond(loads, 1.0 / 40, 1.0 / 32)));

    sure = fmin(fmin(sure, beyond(loads, 4.5, 4)),
                fmin(beyond(fused / threads, 0.13, 0.15), beyond(fmax(l.fma, l.l1), 0.35, 0.4)));
    if (!(sure > 0) || gpu_uses_tensor(f->c->kernel))
        return;
    double tflops = f->c->peaks->tflops[PEAK_TF32];
    double ratio = 2 * fused / (GPU_ETA_COMPUTE * tflops * 1e3) / m[GPU_M_DUR_NS];
    if (!(tflops > 0))
        return;
    gpu_finder_add(f, 3, "tensor", "use tensor cores", sure, fmax(fmax(ratio, l.dram), l.l2),
                   SAID(gpu_text.why_products, PLACE("fused", fused), PLACE("loads", loads)));
}

/* Warps wait for memory that is far from busy, and each lane asks for a few bytes at a time: more
 * of them in one instruction keep more on the way. */
static void rule_width(struct gpu_finder *f, struct unit_load l)
{
    const double *m = f->c->kernel->m;
    double loads = m[GPU_M_GLOBAL_LD] + m[GPU_M_GLOBAL_ST];
    double bytes = (m[GPU_M_GLOBAL_LD_BYTES] + m[GPU_M_GLOBAL_ST_BYTES]) / (LANES * loads);
    double used = (m[GPU_M_GLOBAL_LD_BYTES] + m[GPU_M_GLOBAL_ST_BYTES]) /
                  (m[GPU_M_GLOBAL_LD_SECT] + m[GPU_M_GLOBAL_ST_SECT]);
    double waited = WAITS(f, "long_scoreboard", "lg_throttle");
    double sure = fmin(fmin(beyond(bytes, 8, 4), beyond(used / SECTOR, 0.75, 0.85)),
                       fmin(beyond(waited, 0.5, 0.55), beyond(m[GPU_M_OCC], 50, 55)));

    sure = fmin(sure, idle_units(f->c->kernel, &l));
    if (!(sure > 0) || !(m[GPU_M_GLOBAL_RED] + m[GPU_M_GLOBAL_ATOM] == 0))
        return;
    gpu_finder_add(f, 25, "stalls", "access more bytes at once", sure,
                   fmax(1 - waited * (1 - bytes / WIDE_BYTES), busiest(&l)),
                   SAID(gpu_text.why_narrow, PLACE("bytes", bytes), PLACE("share", 100 * waited)));
}

/* Each lane asks for less than a word, and the first-level cache or the pipe to it is full of such
 * requests. */
static void rule_bytes(struct gpu_finder *f, struct unit_load l)
{
    const double *m = f->c->kernel->m;
    double requests = m[GPU_M_GLOBAL_LD] + m[GPU_M_GLOBAL_ST];
    double moved = m[GPU_M_GLOBAL_LD_BYTES] + m[GPU_M_GLOBAL_ST_BYTES];
    double bytes = moved / (LANES * requests), busy = fmax(l.l1, l.lsu);
    double used = moved / (m[GPU_M_GLOBAL_LD_SECT] + m[GPU_M_GLOBAL_ST_SECT]) / SECTOR;
    double sure = fmin(fmin(beyond(bytes, 3, 2), beyond(used, 0.75, 0.85)), top(busy, &l));

    if (!(sure > 0) || !(lanes_of(m) > 0.75 * LANES))
        return;
    double extra = fmin(1, requests / wavefronts(f)) * (1 - bytes / sizeof(float));
    double ratio = 1 - extra * busy;
    l.l1 *= 1 - extra;
    l.lsu *= 1 - extra;
    gpu_finder_add(f, 25, "stalls", "access more bytes at once", sure, fmax(ratio, busiest(&l)),
                   SAID(gpu_text.why_bytes, PLACE("bytes", bytes), PLACE("busy", 100 * busy)));
}

/* ---- constants and code ---- */

/* The cache of constants serves one address at a time: lanes that read different ones wait for each
 * other. Its requests for each load say how many addresses a warp has. */
static void rule_constants(struct gpu_finder *f, struct unit_load l)
{
    const double *m = f->c->kernel->m;
    double busy = part(m[GPU_M_CONSTANT_PCT]);
    double ways = m[GPU_M_CONSTANT_REQ] / m[GPU_M_CONSTANT_LD];

    double sure = fmin(beyond(busy, 0.3, 0.35), beyond(ways, 4, 5));

    if (!(sure > 0))
        return;
    double weight = fmax(busy, WAITS(f, "mio_throttle", "short_scoreboard", "imc_miss"));
    gpu_finder_add(f, 22, "constants", "read constants uniformly", sure,
                   fmax(1 - (1 - 1 / ways) * weight, busiest(&l)),
                   SAID(gpu_text.why_constants, PLACE("busy", 100 * busy), PLACE("ways", ways)));
}

/* Code that does not fit the caches of instructions, or is left by jumps all the time. */
static void rule_code(struct gpu_finder *f, struct unit_load l)
{
    double share = WAITS(f, "no_instruction");
    double sure = fmin(beyond(share, 0.3, 0.35), mostly(f, "no_instruction", share));

    gpu_finder_add(f, 23, "code", "shorten the code", sure, fmax(1 - share, busiest(&l)),
                   SAID(gpu_text.why_code, PLACE("share", 100 * share)));
}

/* ---- how the grid fills the device ---- */

static void rule_barriers(struct gpu_finder *f, struct unit_load l)
{
    double share = WAITS(f, "barrier");
    /* Where most wait for something else, they do so at the barrier, too. */
    double sure = fmin(beyond(share, 0.25, 0.3), mostly(f, "barrier", share));

    gpu_finder_add(f, 17, "barrier", "wait less at barriers", sure, fmax(1 - share, busiest(&l)),
                   SAID(gpu_text.why_barriers, PLACE("share", 100 * share)));
}

static void rule_occupancy(struct gpu_finder *f, struct unit_load l)
{
    const struct gpu_occupancy *o = f->c->occupancy;
    double occ = f->c->kernel->m[GPU_M_OCC];
    double part_spilled = spilled(f);
    /* Waiting for spilled registers is a matter of those. */
    double hidden = WAITS(f, "long_scoreboard", "short_scoreboard", "wait") *
                    (part_spilled > 0.05 ? 1 - fmin(1, part_spilled) : 1);
    /* Larger blocks help where warps allow no more. */
    bool is_limited = strcmp(o->limiter, "warps") != 0 && strcmp(o->limiter, "barriers") != 0;

    double sure = fmin(fmin(beyond(occ / o->theory_pct, 0.45, 0.55), beyond(hidden, 0.5, 0.55)),
                       idle_units(f->c->kernel, &l));

    if (!o->is_known || !is_limited || !(o->theory_pct <= 50) || !(sure > 0))
        return;
    gpu_finder_add(f, 5, "occupancy", "raise occupancy", sure,
                   fmax(1 - hidden * (1 - occ / gpu_occupancy_roomy(o)), busiest(&l)),
                   gpu_finder_price(f, occ));
}

/* Multiprocessors without work although there were blocks enough: some took much longer. What the
 * start and the end of a short kernel leave idle is no matter of its blocks. */
static void rule_balance(struct gpu_finder *f, struct unit_load l)
{
    enum { SHORT_NS = 20000, LONG_NS = 25000 };
    const struct gpu_kernel *k = f->c->kernel;
    double waves = gpu_waves(k, f->c->occupancy), active = gpu_active_part(k);
    double even = waves >= 1 ? waves / ceil(waves) : waves * f->c->occupancy->blocks_per_sm;

    double sure = fmin(beyond(k->m[GPU_M_DUR_NS], SHORT_NS, LONG_NS),
                       beyond(active / fmin(1, even), 0.8, 0.75));

    gpu_finder_add(f, 24, "fill", "balance the blocks", sure, fmax(active, busiest(&l)),
                   SAID(gpu_text.why_unbalanced, PLACE("active", 100 * active),
                        PLACE("even", 100 * fmin(1, even))));
}

/* Every multiprocessor has work, but a few warps of the many it has room for, and those wait for
 * memory: the grid is too small. */
static void rule_grid(struct gpu_finder *f, struct unit_load l)
{
    const struct gpu_kernel *k = f->c->kernel;
    double waves = gpu_waves(k, f->c->occupancy), waited = WAITS(f, "long_scoreboard");
    double sure = fmin(fmin(beyond(waves, GPU_UNDERFILL_WAVES, 0.4), beyond(waited, 0.5, 0.55)),
                       fmin(beyond(gpu_active_part(k), 0.8, 0.85), idle_units(k, &l)));

    if (!(sure > 0) || !(spilled(f) <= 0.05))
        return;
    gpu_finder_add(f, 7, "fill", "fill the GPU", sure, fmax(1 - waited * (1 - waves), busiest(&l)),
                   SAID(gpu_text.why_small_grid, PLACE("waves", waves),
                        PLACE("room", f->c->occupancy->blocks_per_sm),
                        PLACE("share", 100 * waited)));
}

void gpu_finder_add_mechanisms(struct gpu_finder *f)
{
    static void (*const rules[])(struct gpu_finder *, struct unit_load) = {
        rule_conflicts, rule_shared_atomics, rule_atomics,  rule_coalescing, rule_spills,
        rule_reuse,     rule_width,          rule_bytes,    rule_divergence, rule_double,
        rule_special,   rule_instructions,   rule_products, rule_constants,  rule_code,
        rule_barriers,  rule_occupancy,      rule_balance,  rule_grid};
    const struct gpu_kernel *k = f->c->kernel;
    double active = gpu_active_part(k);
    struct unit_load l = {
        .dram = part(k->m[GPU_M_DRAM_PCT]),
        .l2 = part(gpu_l2_pct(k)),
        .l1 = part(gpu_l1_pct(k)),
        .tensor = gpu_uses_tensor(k) ? part(k->m[GPU_M_TC_PCT]) : 0,
        .fma = part(k->m[GPU_M_FMA_PCT]),
        .alu = part(k->m[GPU_M_ALU_PCT]),
        .xu = part(k->m[GPU_M_XU_PCT]),
        .fp64 = part(k->m[GPU_M_FP64_PCT]),
        .lsu = part(k->m[GPU_M_LSU_PCT]),
        .issue = part(k->m[GPU_M_ISSUE_PCT]) * (isnan(active) ? 1 : fmin(1, active)),
    };

    for (size_t i = 0; i < ARRAY_LEN(rules); i++)
        rules[i](f, l);
}
