/*
 * What holds a kernel back, by the mechanism that the counters show. See opportunities.h.
 *
 * Every rule asks the same three questions: which part of the work is only there because of the
 * property, which part of the time goes with it, and what would be the next limit without it. The
 * gain is never more than the last one leaves.
 */
#include "gpu/opportunities.h"

#include <math.h>

#include "text/gpu.h"

enum {
    LANES = 32,
    SECTOR = 32,
    SCHEDULERS = 4,
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

/* Of the time in which multiprocessors had work. */
static double active_share(const struct gpu_kernel *k)
{
    return k->m[GPU_M_SM_ACTIVE] / k->m[GPU_M_SM_CYCLES];
}

static struct unit_load load_of(const struct gpu_kernel *k)
{
    double active = active_share(k);

    return (struct unit_load){
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

static bool is_top(double one, const struct unit_load *l)
{
    return one >= 0.5 && one >= 0.8 * busiest(l);
}

/* The share of the time of all warps that they spend waiting for these reasons, up to NULL. Their
 * whole time is known from how many there are, even when not every reason was collected. */
static double waits(const struct gpu_finder *f, const char *const *reasons)
{
    const struct gpu_kernel *k = f->c->kernel;
    const struct gpu_occupancy *o = f->c->occupancy;
    double warps = part(k->m[GPU_M_OCC]) * (o->max_warps > 0 ? o->max_warps : 64) / SCHEDULERS;
    double all = 0, own = 0;

    for (size_t i = 0; i < k->n_stalls; i++)
        all += isnan(k->stalls[i].ratio) ? 0 : k->stalls[i].ratio;
    if (k->m[GPU_M_ISSUE_PCT] > 0)
        all = fmax(all, warps / part(k->m[GPU_M_ISSUE_PCT]));
    for (; *reasons != NULL; reasons++)
        for (size_t i = 0; i < k->n_stalls; i++)
            if (str_equal(k->stalls[i].reason, str_of(*reasons)) && !isnan(k->stalls[i].ratio))
                own += k->stalls[i].ratio;
    return all > 0 ? own / all : 0;
}

#define WAITS(f, ...)      waits((f), (const char *const[]){__VA_ARGS__, NULL})
#define SAID(message, ...) MESSAGE(LANG_EN, f->arena, &(message), __VA_ARGS__)

/* ---- shared memory ---- */

/* All wavefronts of the unit that shared memory, the first-level cache and local memory share. */
static double wavefronts(const struct gpu_finder *f)
{
    const double *m = f->c->kernel->m;
    double all = part(m[GPU_M_L1_LSU_PCT]) * m[GPU_M_SM_CYCLES] * f->c->peaks->sm_count;

    return fmax(all, m[GPU_M_WAVEFRONTS]);
}

static void look_at_conflicts(struct gpu_finder *f, struct unit_load l)
{
    const double *m = f->c->kernel->m;
    double conflicts = m[GPU_M_CONFLICTS], shared = m[GPU_M_WAVEFRONTS];

    if (!(conflicts > 0.1 * shared) || !(m[GPU_M_L1_LSU_PCT] > 0) || m[GPU_M_SHARED_ATOM] > 0)
        return;
    double extra = fmin(1, conflicts / wavefronts(f));
    double weight = fmax(l.l1, WAITS(f, "mio_throttle", "short_scoreboard"));
    l.l1 *= 1 - extra;
    gpu_finder_add(f, 10, "access", "remove bank conflicts", fmax(1 - extra * weight, busiest(&l)),
                   SAID(gpu_text.why_conflicts, PLACE("share", 100 * conflicts / shared),
                        PLACE("ways", shared / fmax(1, shared - conflicts))));
}

static double lanes_of(const double *m)
{
    return m[GPU_M_THREAD_INST] / m[GPU_M_INST];
}

static void look_at_shared_atomics(struct gpu_finder *f, struct unit_load l)
{
    const double *m = f->c->kernel->m;
    double all = wavefronts(f), waves = m[GPU_M_SHARED_ATOM_WAVES];

    if (!(m[GPU_M_SHARED_ATOM] > 0) || !(all > 0))
        return;
    /* Those made of a load and a comparison are tried again by the lanes that came too late: then
     * nearly all of them are. */
    bool is_loop = m[GPU_M_SHARED_LD] >= 0.8 * m[GPU_M_SHARED_ATOM] && lanes_of(m) < 0.75 * LANES;
    double extra = fmin(1, (is_loop ? waves : waves - m[GPU_M_SHARED_ATOM]) / all);
    double weight = fmax(l.l1, WAITS(f, "mio_throttle", "short_scoreboard"));
    if (!(extra > 0.1))
        return;
    struct unit_load without = {.dram = l.dram, .l2 = l.l2, .l1 = l.l1 * (1 - extra)};
    gpu_finder_add(f, 16, "atomics", "spread atomics", fmax(1 - extra * weight, busiest(&without)),
                   SAID(gpu_text.why_shared_atomics, PLACE("ways", waves / m[GPU_M_SHARED_ATOM]),
                        PLACE("share", 100 * extra)));
}

/* ---- global memory ---- */

static void look_at_atomics(struct gpu_finder *f, struct unit_load l)
{
    const double *m = f->c->kernel->m;
    double most = m[GPU_M_ATOMIC_MAX_PCT], mean = m[GPU_M_ATOMIC_PCT];
    bool is_hot = most >= 10 && most >= 4 * mean;

    if (!(m[GPU_M_GLOBAL_RED] + m[GPU_M_GLOBAL_ATOM] > 0) || !(is_hot || mean >= 40))
        return;
    double weight = fmax(part(most), WAITS(f, "long_scoreboard", "lg_throttle", "membar", "drain"));
    l.l2 = fmax(0, l.l2 - part(mean));
    gpu_finder_add(f, 16, "atomics", "spread atomics", fmax(1 - weight, busiest(&l)),
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
    return sectors > 0 ? fmax(0, sectors - fmax(bytes / SECTOR, requests)) : 0;
}

/* The part of L1's wavefronts that requests of global memory take beyond those for their bytes. */
static double extra_wavefronts(const struct gpu_finder *f)
{
    enum { WAVEFRONT = 128 }; /* bytes */
    const double *m = f->c->kernel->m;
    double all = wavefronts(f), requests = m[GPU_M_GLOBAL_LD] + m[GPU_M_GLOBAL_ST];
    double moved = (m[GPU_M_GLOBAL_LD_BYTES] + m[GPU_M_GLOBAL_ST_BYTES]) / WAVEFRONT;

    return all > 0 ? fmax(0, 1 - (fmax(requests, moved) + m[GPU_M_WAVEFRONTS]) / all) : 0;
}

/* The part of what L2 gives to the multiprocessors that no lane asked for. Where it gives less than
 * they asked for, L1 has served the rest, and nothing is lost behind it. */
static double unasked(const struct gpu_finder *f)
{
    const double *m = f->c->kernel->m;
    double given = m[GPU_M_L2_HIT_SECT] + m[GPU_M_L2_MISS_SECT];
    double asked = (m[GPU_M_GLOBAL_LD_BYTES] + m[GPU_M_GLOBAL_ST_BYTES]) / SECTOR;

    return given > 0 && asked > 0 ? fmax(0, 1 - asked / given) : 1;
}

static void look_at_coalescing(struct gpu_finder *f, struct unit_load l)
{
    const double *m = f->c->kernel->m;
    double loads = fmax(0, m[GPU_M_GLOBAL_LD_SECT]), stores = fmax(0, m[GPU_M_GLOBAL_ST_SECT]);
    double unread = unused_sectors(loads, m[GPU_M_GLOBAL_LD_BYTES], m[GPU_M_GLOBAL_LD]);
    double unwritten = unused_sectors(stores, m[GPU_M_GLOBAL_ST_BYTES], m[GPU_M_GLOBAL_ST]);
    double local = gpu_local_sectors(f->c->kernel), missed = 1 - part(m[GPU_M_L1_HIT]);
    double sectors = loads + stores, all = sectors + (local > 0 ? local : 0);

    if (!(unread + unwritten > 0.2 * sectors))
        return;
    /* Sectors that the cache still has when the other lanes' bytes are wanted cost only its time;
     * stores go through it. */
    double extra = fmin((unread * missed + unwritten) / all, unasked(f));
    double own = is_top(l.l1, &l) ? extra_wavefronts(f) : 0;
    double used = (m[GPU_M_GLOBAL_LD_BYTES] + m[GPU_M_GLOBAL_ST_BYTES]) / sectors;
    double ratio = fmin(1 - extra * global_weight(f, &l), 1 - own * l.l1);
    l.dram *= 1 - extra;
    l.l2 *= 1 - extra;
    l.l1 *= 1 - own;
    gpu_finder_add(f, 9, "access", "coalesce global access", fmax(ratio, busiest(&l)),
                   SAID(gpu_text.why_uncoalesced, PLACE("bytes", used)));
}

static void look_at_spills(struct gpu_finder *f, struct unit_load l)
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
        f, 6, "spill", "remove spills", fmax(1 - extra * weight, busiest(&l)),
        SAID(gpu_text.why_spills, PLACE("bytes", SECTOR * local), PLACE("share", 100 * extra)));
}

/* Memory is read again: more comes from it than the buffers hold that the kernel was given. */
static void look_at_reuse(struct gpu_finder *f, struct unit_load l)
{
    const double *m = f->c->kernel->m;
    double again = gpu_dram_bytes(f->c->kernel) / m[GPU_M_BUFFER_BYTES];

    if (!(again > 1.5) || !(m[GPU_M_L2_HIT] < 80) || !(l.dram >= 0.4) ||
        gpu_local_sectors(f->c->kernel) > 0.05 * m[GPU_M_L1_SECT])
        return;
    double weight = fmax(l.dram / GPU_ETA_MEMORY, WAITS(f, "long_scoreboard"));
    double ratio = 1 - (1 - 1 / again) * fmin(1, weight);
    l.dram /= again;
    gpu_finder_add(f, 2, "traffic", "raise L2 locality", fmax(ratio, busiest(&l)),
                   SAID(gpu_text.why_reread, PLACE("again", again), PLACE("hit", m[GPU_M_L2_HIT])));
}

/* ---- pipes ---- */

static void look_at_divergence(struct gpu_finder *f, struct unit_load l)
{
    const double *m = f->c->kernel->m;
    double lanes = lanes_of(m);

    if (!(lanes < 0.75 * LANES))
        return;
    double extra = 1 - lanes / LANES, weight = pipes(&l);
    struct unit_load without = {.dram = l.dram, .l2 = l.l2, .l1 = l.l1};
    if (weight < busiest(&without))
        return;
    gpu_finder_add(f, 15, "divergence", "avoid divergence",
                   fmax(1 - extra * weight, busiest(&without)),
                   SAID(gpu_text.why_divergence, PLACE("lanes", lanes)));
}

/* The part of the instructions that single precision does not need: conversions to double and back;
 * and of functions, which are made of many instructions and of constants of two words each, three
 * quarters of what is not memory or control. */
static double gone_with_double(const double *m, double wide, double converted)
{
    enum { FUNCTION = 4 }; /* operations for each value converted */
    double on = m[GPU_M_THREAD_INST_ON], rest = m[GPU_M_MEMORY_INST] + m[GPU_M_CONTROL];

    if (wide > FUNCTION * converted && wide > 0.1 * on && rest < on)
        return 0.75 * (1 - rest / on);
    return converted / on;
}

/* What remains when that is gone and the rest runs in the pipe for single precision, which is twice
 * as wide. Values in single precision are converted when they come and go. */
static void look_at_double(struct gpu_finder *f, struct unit_load l)
{
    const double *m = f->c->kernel->m;
    double wide = m[GPU_M_DOUBLE_OPS], converted = fmax(0, m[GPU_M_CONVERSION]);
    double moved = LANES * (m[GPU_M_GLOBAL_LD] + m[GPU_M_GLOBAL_ST]);
    bool is_accident = converted > 0.3 * wide || (moved > 0 && converted > 0.5 * moved);
    bool is_much = is_accident && wide > 0.1 * m[GPU_M_THREAD_INST_ON] && is_top(l.issue, &l);

    if (!(wide > 0.02 * m[GPU_M_THREAD_INST_ON]) || !(is_much || is_top(fmax(l.fp64, l.xu), &l)))
        return;
    double gone = is_accident ? gone_with_double(m, wide, converted) : 0;
    l.fma += (1 - gone) * l.fp64 / 2;
    l.fp64 = 0;
    if (is_accident)
        l.xu = 0;
    l.issue *= 1 - gone;
    l.alu *= 1 - gone;
    gpu_finder_add(f, 19, "pipe", "keep to single precision", busiest(&l),
                   is_accident ? SAID(gpu_text.why_double_accident, PLACE("ops", wide),
                                      PLACE("converted", converted))
                               : SAID(gpu_text.why_double, PLACE("busy", m[GPU_M_FP64_PCT])));
}

static void look_at_special(struct gpu_finder *f, struct unit_load l)
{
    const double *m = f->c->kernel->m;

    if (!is_top(l.xu, &l) || m[GPU_M_DOUBLE_OPS] > 0.02 * m[GPU_M_THREAD_INST_ON])
        return;
    /* So many stay that both pipes end at the same time. */
    double price = POLYNOMIAL / XU_ISSUES;
    double kept = fmin(1, (l.issue + price * l.xu) / ((1 + price) * l.xu));
    double ratio = kept * l.xu;
    l.xu = l.issue = l.fma = 0;
    gpu_finder_add(f, 18, "pipe", "relieve the special-function pipe", fmax(ratio, busiest(&l)),
                   SAID(gpu_text.why_special, PLACE("busy", m[GPU_M_XU_PCT])));
}

/* Integer work and branches around the work itself. Where lanes are idle, instructions are issued
 * for few of them: that part is a matter of the branches. */
static void look_at_instructions(struct gpu_finder *f, struct unit_load l)
{
    const double *m = f->c->kernel->m;
    double share = (m[GPU_M_INTEGER] + m[GPU_M_CONTROL]) / m[GPU_M_THREAD_INST_ON];
    double top = fmax(l.issue, l.alu), lanes = lanes_of(m);

    if (!(share > 0.4) || !is_top(top, &l) || top < 0.7)
        return;
    double gone = share * (lanes < 0.75 * LANES ? lanes / LANES : 1);
    l.issue *= 1 - gone;
    l.alu *= 1 - gone;
    gpu_finder_add(f, 20, "pipe", "issue fewer instructions", fmax(1 - gone * top, busiest(&l)),
                   SAID(gpu_text.why_instructions, PLACE("issue", m[GPU_M_ISSUE_PCT]),
                        PLACE("share", 100 * share)));
}

/* Long sums of products whose operands come from memory, as those of matrices do, outside the
 * tensor cores. A tile of 16 by 8 values a thread loads 6 times (four values each) for 128
 * products; with fewer loads it is no product of matrices. */
static void look_at_products(struct gpu_finder *f, struct unit_load l)
{
    const double *m = f->c->kernel->m;
    double fused = m[GPU_M_FFMA] + m[GPU_M_HFMA], threads = m[GPU_M_THREAD_INST_ON];
    double loads = LANES * (m[GPU_M_SHARED_LD] + m[GPU_M_GLOBAL_LD]) / fused;

    if (fused < MUCH_REUSE * gpu_dram_bytes(f->c->kernel) ||
        m[GPU_M_CONFLICTS] > 0.5 * m[GPU_M_WAVEFRONTS])
        return; /* memory is used a few times only, or the loads are not those of a product */
    if (gpu_uses_tensor(f->c->kernel) || !(fused > 0.15 * threads) || !(loads >= 1.0 / 32) ||
        loads > 4 || fused < LONG_SUM * LANES * m[GPU_M_GLOBAL_ST] || fmax(l.fma, l.l1) < 0.4)
        return;
    double tflops = f->c->peaks->tflops[PEAK_TF32];
    double ratio = 2 * fused / (GPU_ETA_COMPUTE * tflops * 1e3) / m[GPU_M_DUR_NS];
    if (!(tflops > 0))
        return;
    gpu_finder_add(f, 3, "tensor", "use tensor cores", fmax(fmax(ratio, l.dram), l.l2),
                   SAID(gpu_text.why_products, PLACE("fused", fused), PLACE("loads", loads)));
}

/* Warps wait for memory that is far from busy, and each lane asks for a few bytes at a time: more
 * of them in one instruction keep more on the way. */
static void look_at_width(struct gpu_finder *f, struct unit_load l)
{
    const double *m = f->c->kernel->m;
    double loads = m[GPU_M_GLOBAL_LD] + m[GPU_M_GLOBAL_ST], most;
    double bytes = (m[GPU_M_GLOBAL_LD_BYTES] + m[GPU_M_GLOBAL_ST_BYTES]) / (LANES * loads);
    double used = (m[GPU_M_GLOBAL_LD_BYTES] + m[GPU_M_GLOBAL_ST_BYTES]) /
                  (m[GPU_M_GLOBAL_LD_SECT] + m[GPU_M_GLOBAL_ST_SECT]);
    double waited = WAITS(f, "long_scoreboard", "lg_throttle");
    struct str reason;

    if (m[GPU_M_GLOBAL_RED] + m[GPU_M_GLOBAL_ATOM] > 0 || !(bytes <= 4) ||
        !(used >= 0.8 * SECTOR) || !(waited > 0.5) || !(m[GPU_M_OCC] >= 50) || busiest(&l) > 0.6 ||
        !gpu_kernel_top_stall(f->c->kernel, &reason, &most) ||
        !(str_equal(reason, S("long_scoreboard")) || str_equal(reason, S("lg_throttle"))))
        return;
    gpu_finder_add(f, 25, "stalls", "access more bytes at once",
                   fmax(1 - waited * (1 - bytes / WIDE_BYTES), busiest(&l)),
                   SAID(gpu_text.why_narrow, PLACE("bytes", bytes), PLACE("share", 100 * waited)));
}

/* ---- constants and code ---- */

/* The cache of constants serves one address at a time: lanes that read different ones wait for each
 * other. Its requests for each load say how many addresses a warp has. */
static void look_at_constants(struct gpu_finder *f, struct unit_load l)
{
    const double *m = f->c->kernel->m;
    double busy = part(m[GPU_M_CONSTANT_PCT]);
    double ways = m[GPU_M_CONSTANT_REQ] / m[GPU_M_CONSTANT_LD];

    if (!(busy >= 0.3) || !(ways > 4))
        return;
    double weight = fmax(busy, WAITS(f, "mio_throttle", "short_scoreboard", "imc_miss"));
    gpu_finder_add(f, 22, "constants", "read constants uniformly",
                   fmax(1 - (1 - 1 / ways) * weight, busiest(&l)),
                   SAID(gpu_text.why_constants, PLACE("busy", 100 * busy), PLACE("ways", ways)));
}

/* Code that does not fit the caches of instructions, or is left by jumps all the time. */
static void look_at_code(struct gpu_finder *f, struct unit_load l)
{
    double share = WAITS(f, "no_instruction"), most;
    struct str reason;

    if (!(share > 0.3) || !gpu_kernel_top_stall(f->c->kernel, &reason, &most) ||
        !str_equal(reason, S("no_instruction")))
        return;
    gpu_finder_add(f, 23, "code", "shorten the code", fmax(1 - share, busiest(&l)),
                   SAID(gpu_text.why_code, PLACE("share", 100 * share)));
}

/* ---- how the grid fills the device ---- */

static void look_at_barriers(struct gpu_finder *f, struct unit_load l)
{
    double share = WAITS(f, "barrier"), most;
    struct str reason;

    /* Where most wait for something else, they do so at the barrier, too. */
    if (!(share > 0.25) || !gpu_kernel_top_stall(f->c->kernel, &reason, &most) ||
        !str_equal(reason, S("barrier")))
        return;
    gpu_finder_add(f, 17, "barrier", "wait less at barriers", fmax(1 - share, busiest(&l)),
                   SAID(gpu_text.why_barriers, PLACE("share", 100 * share)));
}

/* Occupancy if the resource that limits it did not. */
static double roomy_pct(const struct gpu_occupancy *o)
{
    /* What a block takes of shared memory by itself is less of a larger block. */
    bool is_small = strcmp(o->limiter, "blocks") == 0;
    const struct {
        const char *name;
        uint32_t blocks;
    } limits[] = {{"registers", o->lim_regs},
                  {"shared memory", is_small ? 0 : o->lim_smem},
                  {"blocks", o->lim_blocks}};
    uint32_t blocks = o->lim_warps;

    for (size_t i = 0; i < ARRAY_LEN(limits); i++)
        if (strcmp(o->limiter, limits[i].name) != 0 && limits[i].blocks > 0 &&
            limits[i].blocks < blocks)
            blocks = limits[i].blocks;
    return 100.0 * blocks * o->warps_per_block / o->max_warps;
}

static void look_at_occupancy(struct gpu_finder *f, struct unit_load l)
{
    const struct gpu_occupancy *o = f->c->occupancy;
    double occ = f->c->kernel->m[GPU_M_OCC];
    double hidden = WAITS(f, "long_scoreboard", "short_scoreboard", "wait");
    /* Larger blocks help where warps allow no more. */
    bool is_limited = strcmp(o->limiter, "warps") != 0 && strcmp(o->limiter, "barriers") != 0;

    if (!o->is_known || !is_limited || !(o->theory_pct <= 50) || !(occ >= 0.5 * o->theory_pct) ||
        !(hidden > 0.5) || busiest(&l) > 0.6)
        return;
    gpu_finder_add(f, 5, "occupancy", "raise occupancy",
                   fmax(1 - hidden * (1 - occ / roomy_pct(o)), busiest(&l)),
                   gpu_finder_price(f, occ));
}

/* Multiprocessors without work although there were blocks enough: some took much longer. What the
 * start and the end of a short kernel leave idle is no matter of its blocks. */
static void look_at_balance(struct gpu_finder *f, struct unit_load l)
{
    enum { SHORT_NS = 20000 };
    const struct gpu_kernel *k = f->c->kernel;
    double waves = gpu_waves(k, f->c->occupancy), active = active_share(k);
    double even = waves >= 1 ? waves / ceil(waves) : waves * f->c->occupancy->blocks_per_sm;

    if (!(k->m[GPU_M_DUR_NS] >= SHORT_NS) || !(active < 0.8 * fmin(1, even)))
        return;
    gpu_finder_add(f, 24, "fill", "balance the blocks", fmax(active, busiest(&l)),
                   SAID(gpu_text.why_unbalanced, PLACE("active", 100 * active),
                        PLACE("even", 100 * fmin(1, even))));
}

void gpu_finder_look_at_mechanisms(struct gpu_finder *f)
{
    struct unit_load l = load_of(f->c->kernel);

    look_at_conflicts(f, l);
    look_at_shared_atomics(f, l);
    look_at_atomics(f, l);
    look_at_coalescing(f, l);
    look_at_spills(f, l);
    look_at_reuse(f, l);
    look_at_width(f, l);
    look_at_divergence(f, l);
    look_at_double(f, l);
    look_at_special(f, l);
    look_at_instructions(f, l);
    look_at_products(f, l);
    look_at_constants(f, l);
    look_at_code(f, l);
    look_at_barriers(f, l);
    look_at_occupancy(f, l);
    look_at_balance(f, l);
}
