/*
 * What a run says: pipes, transfers, what was assumed, and what sets the pace.
 */
#include "kernels/pto/judge/outcome.h"

#include "base/text/num.h"

const char *pto_pipe_short(enum pto_pipe pipe)
{
    static const char *const names[PTO_PIPE_COUNT] = {
#define PTO_PIPE(code, name, shown, bound) shown,
#include "kernels/pto/text/words.def"
#undef PTO_PIPE
    };

    return (int)pipe < PTO_PIPE_COUNT ? names[pipe] : "?";
}

const char *pto_assumed_kind(unsigned kind)
{
    static const char *const names[] = {"branch", "loop bound", "divisor", "wait"};

    return names[kind];
}

void pto_outcome_init(struct pto_outcome *o)
{
    memset(o, 0, sizeof(*o));
    arena_init(&o->arena);
}

void pto_outcome_free(struct pto_outcome *o)
{
    vec_free(&o->units);
    vec_free(&o->stalls);
    vec_free(&o->path);
    vec_free(&o->flows);
    vec_free(&o->assumed);
    arena_free(&o->arena);
    memset(o, 0, sizeof(*o));
}

static void clear(struct pto_outcome *o)
{
    arena_free(&o->arena);
    arena_init(&o->arena);
    o->units.n = o->stalls.n = o->path.n = o->flows.n = o->assumed.n = 0;
    o->instructions = o->records = o->unrecorded = o->macs = 0;
    o->n_reasons = 0;
    o->inserted_barriers = 0;
    o->peak_macs = 0;
    o->is_degenerate = false;
}

static void add_units(struct pto_outcome *o, const struct pto_core *c)
{
    static const uint8_t order[] = {PTO_PIPE_S,    PTO_PIPE_MTE2, PTO_PIPE_MTE1, PTO_PIPE_M,
                                    PTO_PIPE_V,    PTO_PIPE_FIX,  PTO_PIPE_MTE3, PTO_PIPE_MTE4,
                                    PTO_PIPE_MTE5, PTO_PIPE_V2};

    for (size_t i = 0; i < ARRAY_LEN(order); i++) {
        const struct pto_queue *q = &c->queues.pipe[order[i]];
        if (q->count == 0 && q->busy == 0)
            continue;
        struct pto_unit u = {.core = c->number,
                             .pipe = (enum pto_pipe)order[i],
                             .busy = q->busy + q->burst_latency,
                             .count = q->count,
                             .first = q->first == INT64_MAX ? 0 : q->first,
                             .until = q->until};
        memcpy(u.stall, q->stall, sizeof(u.stall));
        u.stall[PTO_CAUSE_NONE] = 0;
        o->instructions += q->count;
        vec_push(&o->units, u);
    }
}

static void add_flows(struct pto_outcome *o, const struct pto_sim *sim)
{
    for (uint32_t path = 0; path < PTO_PATHS; path++) {
        struct pto_flow f = {.src = (enum pto_space)(path / PTO_SPACE_COUNT),
                             .dst = (enum pto_space)(path % PTO_SPACE_COUNT)};
        for (uint32_t i = 0; i < PTO_CORES; i++) {
            if ((sim->present >> i & 1) != 0)
                f.bytes += sim->cores[i].bytes[path];
        }
        if (f.bytes > 0)
            vec_push(&o->flows, f);
    }
}

/* Multiplications a cycle: of the fastest type among the matrix products of the program. */
static double peak_of(const struct pto_program *p, const struct pto_costs *costs)
{
    double peak = 0;

    for (size_t i = 0; i < p->sites.n; i++) {
        const struct pto_site *s = &p->sites.at[i];
        if (s->n_phases == 0 || s->phases[0] != PTO_PIPE_M)
            continue;
        for (uint32_t k = 0; k < s->use_count; k++) {
            const struct pto_use *u = &p->uses.at[s->use_first + k];
            if (u->kind != PTO_SLOT_TILE || p->tiles.at[u->slot].type.space != PTO_LEFT)
                continue;
            enum pto_dtype type = p->tiles.at[u->slot].type.dtype;
            uint32_t size = pto_dtype_size(type);
            double macs = size == 1 ? 8192 : size == 4 ? 1024 : 4096;
            if (type == PTO_F4E2M1X2 || type == PTO_F4E1M2X2)
                macs *= 2 / fmax(pto_costs_get(costs, PTO_COST_CUBE_FP4), 1);
            peak = macs > peak ? macs : peak;
        }
    }
    return peak;
}

static void add_assumed(struct pto_outcome *o, const struct pto_core *c)
{
    const struct pto_program *p = c->program;

    for (size_t i = 0; i < c->assumptions.n; i++) {
        const struct pto_assumption *a = &c->assumptions.at[i];
        struct pto_assumed x = {.line = a->line, .kind = (int)a->kind};
        bool is_known = false;
        if (a->origin != 0 && (a->origin & PTO_ORIGIN_TILE) == 0 &&
            a->origin <= p->function->arg_count) {
            uint32_t arg = a->origin - 1;
            x.name =
                arena_str(&o->arena, intern_get(&p->module->names,
                                                pto_value_at(p->module, p->function, arg)->name));
            x.is_pointer = pto_value_type(p->module, p->function, arg)->kind == PTO_TYPE_PTR;
        }
        x.is_data = x.is_pointer || x.name.n == 0;
        for (size_t k = 0; k < o->assumed.n && !is_known; k++) {
            const struct pto_assumed *y = &o->assumed.at[k];
            is_known = y->line == x.line && y->kind == x.kind && str_equal(y->name, x.name);
        }
        if (!is_known)
            vec_push(&o->assumed, x);
    }
}

/* ---- what bounds it ---- */

enum limit pto_pipe_limit(enum pto_pipe pipe)
{
    static const uint8_t limits[PTO_PIPE_COUNT] = {
#define PTO_PIPE(code, name, shown, bound) LIMIT_##bound,
#include "kernels/pto/text/words.def"
#undef PTO_PIPE
    };

    return (int)pipe < PTO_PIPE_COUNT ? (enum limit)limits[pipe] : LIMIT_NOTHING;
}

/* What a part of the critical path is charged to. */
static enum limit path_limit(const struct pto_path_part *part)
{
    if (part->cause == PTO_CAUSE_START)
        return LIMIT_LAUNCH;
    if (part->pipe == PTO_PIPE_S || part->cause == PTO_CAUSE_SCALAR)
        return LIMIT_SCALAR;
    if (part->sort == PTO_PATH_WORK)
        return pto_pipe_limit(part->pipe);
    return LIMIT_LATENCY;
}

/* The parts of what can be done without. Waits have none of their own: theirs is the time that the
 * path goes through them. */
static void add_limits(struct pto_outcome *o)
{
    o->limits = (struct limit_list){.total = o->total};
    for (size_t i = 0; i < o->path.n; i++)
        limits_add(&o->limits, path_limit(&o->path.at[i]), o->path.at[i].cycles);
    for (size_t i = 0; i < o->n_reasons; i++) {
        if (o->reasons[i].reason == PTO_REASON_REUSE)
            limits_add(&o->limits, LIMIT_BUFFERS, o->reasons[i].cycles);
        if (o->reasons[i].reason == PTO_REASON_DISTANCE)
            limits_add(&o->limits, LIMIT_SYNC, o->reasons[i].cycles);
    }
    if (o->instructions == 0)
        o->limits.n = 0;
    for (size_t i = 0; i < o->units.n && o->unrecorded > 0; i++) /* most of the path is unknown */
        limits_add(&o->limits, pto_pipe_limit(o->units.at[i].pipe), o->units.at[i].busy);
}

void pto_outcome_judge(struct pto_outcome *o)
{
    int64_t most = 0;

    limits_judge(&o->limits);
    o->has_bound_pipe = false;
    o->bound_share = limits_first(&o->limits) ? limits_first(&o->limits)->path_share : 0;
    for (size_t i = 0; i < o->path.n; i++) {
        const struct pto_path_part *p = &o->path.at[i];
        if (path_limit(p) != o->limits.bound || p->cycles <= most)
            continue;
        most = p->cycles;
        o->has_bound_pipe = true;
        o->bound_core = p->core;
        o->bound_pipe = p->pipe;
    }
}

static void add_shares(struct pto_outcome *o)
{
    o->us = pto_outcome_us(o, o->total);
    o->us_with_launch = pto_outcome_us(o, o->total + o->launch);
    o->peak_share = num_ratio((double)o->macs, o->peak_macs * (double)o->total);
    for (size_t i = 0; i < o->units.n; i++)
        o->units.at[i].share = num_share(o->units.at[i].busy, o->total);
    for (size_t i = 0; i < o->path.n; i++)
        o->path.at[i].share = num_share(o->path.at[i].cycles, o->total);
    for (size_t i = 0; i < o->n_reasons; i++)
        o->reasons[i].share = num_share(o->reasons[i].cycles, o->total);
}

bool pto_outcome_is_idle(const struct pto_outcome *o)
{
    int64_t cube = 0, vector = 0;

    for (size_t i = 0; i < o->units.n; i++) {
        cube += o->units.at[i].pipe == PTO_PIPE_M ? o->units.at[i].busy : 0;
        vector += o->units.at[i].pipe == PTO_PIPE_V ? o->units.at[i].busy : 0;
    }
    return cube == 0 && vector < 1000;
}

/* Control flow followed data that nobody supplied, and next to nothing was computed. */
static void find_degenerate(struct pto_outcome *o)
{
    for (size_t i = 0; i < o->assumed.n; i++)
        if (o->assumed.at[i].kind != PTO_ASSUMED_WAIT && pto_outcome_is_idle(o))
            o->is_degenerate = true;
}

/* Both vector cores run one program: its inserted barriers count once. */
void pto_outcome_fill(struct pto_outcome *o, const struct pto_sim *sim, const struct pto_chip *chip)
{
    const struct pto_function *f = sim->function[0] ? sim->function[0] : sim->function[1];

    clear(o);
    o->kernel = arena_str(&o->arena, pto_sim_kernel_name(sim->module, f));
    o->chip = *chip;
    o->arch = sim->machine.options->arch;
    o->sync = sim->is_flagged ? "source" : sim->machine.options->is_dep ? "dep" : "ptoas";
    o->is_complete = sim->is_complete;
    o->present = sim->present;
    o->total = sim->total;
    o->start = sim->machine.options->start;
    o->launch = num_i64_of(pto_costs_get(sim->machine.costs,
                                         o->arch == PTO_A5 ? PTO_COST_A5_LAUNCH : PTO_COST_LAUNCH));
    o->steps = sim->steps;
    o->cores = sim->machine.options->cores;
    o->gm_read = sim->machine.l2.asked;
    o->l2_hit = num_ratio(o->gm_read - sim->machine.l2.missed, o->gm_read);
    o->is_l2_assumed = sim->machine.options->l2_hit >= 0;
    for (uint32_t i = 0; i < PTO_CORES; i++) {
        const struct pto_core *c = &sim->cores[i];
        if ((sim->present >> i & 1) == 0)
            continue;
        add_units(o, c);
        add_assumed(o, c);
        o->macs += c->macs;
        o->records += c->queues.records.n;
        o->unrecorded += c->queues.n_records - c->queues.records.n;
        double peak = peak_of(c->program, sim->machine.costs);
        o->peak_macs = peak > o->peak_macs ? peak : o->peak_macs;
        if (i != PTO_AIV1)
            o->inserted_barriers += c->program->n_unfilled;
    }
    add_flows(o, sim);
    pto_outcome_walk(o, sim);
    add_shares(o);
    add_limits(o);
    pto_outcome_judge(o);
    find_degenerate(o);
}
