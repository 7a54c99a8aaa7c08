/* Instructions: what they wait for, when they run, what they leave behind. */
#include "kernels/pto/judge/race.h"
#include "kernels/pto/sim/core.h"

enum { STREAM_REPEATS = 16 }; /* of 256 bytes: as long as the vector pipe's latency */

static struct pto_touch touch_of(const struct pto_core *c, const struct pto_use *u,
                                 enum pto_pipe pipe)
{
    const struct pto_tile *t = &c->slots.tiles[u->slot];
    struct pto_touch touch = {.pipe = pipe,
                              .space = t->type.space,
                              .lo = t->addr,
                              .hi = t->addr + u->bytes,
                              .place = &c->places[u - c->program->uses.at]};
    struct pto_range ranges[PTO_RANGES];

    if (pipe == PTO_PIPE_V && u->is_read != u->is_written)
        touch.is_stream =
            u->is_read || (int64_t)t->v_row * t->v_col * u->element > (STREAM_REPEATS - 1) * 256;
    if (t->window.rows > 0) {
        size_t n = pto_tile_ranges(t, ranges);
        touch.lo = n > 0 ? ranges[0].begin : 0;
        touch.hi = n > 0 ? ranges[n - 1].end : 0;
    }
    return touch;
}

struct pto_gm_window pto_core_window(const struct pto_gm *g)
{
    const struct pto_view *v = &g->view;
    struct pto_range ranges[PTO_RANGES];
    size_t n = v->ndim > 0 ? pto_view_ranges(v, ranges) : 0;
    struct pto_gm_window w = {.root = g->root};
    int64_t size = pto_dtype_size(v->dtype);
    int32_t rows = -1,
            inner = v->layout == PTO_LAYOUT_DN && v->ndim > 1 ? v->ndim - 2 : v->ndim - 1;
    bool is_plain = v->ndim > 0 && v->stride[inner] == 1;

    if (n == 0)
        return w;
    w.at = ranges[0].begin;
    w.rows = 1;
    w.row_bytes = w.stride = ranges[n - 1].end - ranges[0].begin;
    for (int32_t i = 0; i < v->ndim; i++) {
        if (i == inner || v->shape[i] <= 1)
            continue;
        is_plain &= rows < 0 && v->stride[i] >= v->shape[inner];
        rows = i;
    }
    if (!is_plain)
        return w;
    w.is_exact = true;
    if (rows >= 0) {
        w.rows = v->shape[rows];
        w.stride = v->stride[rows] * size;
        w.row_bytes = v->shape[inner] * size;
    }
    return w;
}

bool pto_core_is_shared(const struct pto_core *c, int32_t root)
{
    return root < 0 || root >= 64 || (c->program->gm_shared >> root & 1) != 0;
}

int64_t pto_core_settled(const struct pto_core *c)
{
    static const uint8_t pipes[] = {PTO_PIPE_MTE2, PTO_PIPE_MTE3, PTO_PIPE_FIX, PTO_PIPE_V};
    int64_t scalar = c->queues.pipe[PTO_PIPE_S].free, least = INT64_MAX;

    if (c->program->has_scalar_gm)
        return scalar;
    for (size_t i = 0; i < sizeof(pipes); i++) {
        int64_t at = c->queues.pipe[pipes[i]].free;
        if (at < scalar)
            at = scalar;
        if (at < least)
            least = at;
    }
    return least;
}

bool pto_core_bytes_wait(const struct pto_core *c)
{
    return c->machine->options->is_dep && (!c->program->has_flags || c->machine->options->no_flags);
}

/* What the unit flag does: results of the cube wait for their store, and it for them. That they
 * take turns piece by piece is left out: a store begins when the product is over. */
static void meet_results(struct pto_core *c, const struct pto_site *s, enum pto_pipe pipe,
                         struct pto_moment *wait, const struct pto_moment *ready)
{
    for (uint32_t i = 0; i < s->use_count; i++) {
        const struct pto_use *u = &pto_core_uses(c, s)[i];
        if (u->kind != PTO_SLOT_TILE || c->slots.tiles[u->slot].type.space != PTO_ACC)
            continue;
        struct pto_touch t = touch_of(c, u, pipe);
        t.is_write = u->is_written;
        if (wait)
            pto_hazards_find(&c->hazards, &t, wait);
        else
            pto_hazards_note(&c->hazards, &t, *ready);
    }
}

/* Looks up what the bytes of an instruction wait for, or notes when they are ready. */
static inline void meet_bytes(struct pto_core *c, const struct pto_site *s, enum pto_pipe pipe,
                              struct pto_moment *wait, const struct pto_moment *ready)
{
    bool has_gm = wait || pto_core_bytes_wait(c);
    bool is_known = s->is_fixed || (ready && c->looked == s);

    for (uint32_t i = 0; i < s->use_count; i++) {
        const struct pto_use *u = &pto_core_uses(c, s)[i];
        bool is_gm =
            u->kind == PTO_SLOT_GM && has_gm && pto_core_is_shared(c, c->slots.gms[u->slot].root);
        struct pto_gm_window w;
        struct pto_touch *t = &c->touches[s->use_first + i];
        if (u->kind == PTO_SLOT_TILE) {
            if (!is_known || !t->place || t->pipe != pipe)
                *t = touch_of(c, u, pipe);
        } else if (is_gm)
            w = pto_core_window(&c->slots.gms[u->slot]);
        else
            continue;
        for (int is_write = 0; is_write < 2; is_write++) {
            if (is_write ? !u->is_written : !u->is_read)
                continue;
            t->is_write = is_write;
            if (is_gm && wait)
                pto_hazards_find_gm(&c->hazards, pipe, &w, is_write, wait);
            else if (is_gm)
                pto_hazards_note_gm(&c->hazards, pipe, &w, is_write, *ready, pto_core_settled(c));
            else if (wait)
                pto_hazards_find(&c->hazards, t, wait);
            else
                pto_hazards_note(&c->hazards, t, *ready);
        }
    }
}

void pto_core_find_hazards(struct pto_core *c, const struct pto_site *s, enum pto_pipe pipe,
                           struct pto_moment *wait)
{
    meet_bytes(c, s, pipe, wait, NULL);
    c->looked = s;
}

/* Bytes are watched when they wait, and in FIFOs, whose slots are free when nobody reads them. */
void pto_core_note(struct pto_core *c, const struct pto_site *s, enum pto_pipe pipe,
                   struct pto_moment ready)
{
    if (pto_core_bytes_wait(c) || c->program->has_fifos)
        meet_bytes(c, s, pipe, NULL, &ready);
    else if (s->has_unit_flag)
        meet_results(c, s, pipe, NULL, &ready);
    c->looked = NULL;
}

static void count_work(struct pto_core *c, const struct pto_site_cache *cost)
{
    c->macs += (uint64_t)cost->macs;
    if (cost->bytes > 0)
        c->bytes[cost->path] += (uint64_t)cost->bytes;
}

struct pto_moment pto_core_run_phases(struct pto_core *c, uint32_t site, struct pto_moment wait)
{
    const struct pto_site *s = &c->program->sites.at[site];
    const struct pto_site_cache *cost = pto_core_cost(c, site);

    for (uint8_t i = 0; i < s->n_phases; i++) {
        struct pto_issue issue = pto_core_issue(c, site, i, cost);
        wait = pto_queues_run(&c->queues, &issue, wait);
        wait.cause = PTO_CAUSE_RAW;
    }
    count_work(c, cost);
    return wait;
}

bool pto_core_plain_site(struct pto_core *c, uint32_t site)
{
    const struct pto_site *s = &c->program->sites.at[site];
    struct pto_moment wait = PTO_NO_MOMENT;

    if (c->queues.races)
        pto_race_run(c->queues.races, c, s);
    if (pto_core_bytes_wait(c))
        pto_core_find_hazards(c, s, (enum pto_pipe)s->phases[0], &wait);
    else if (s->has_unit_flag)
        meet_results(c, s, (enum pto_pipe)s->phases[0], &wait, NULL);
    struct pto_moment ready = pto_core_run_phases(c, site, wait);
    pto_core_note(c, s, (enum pto_pipe)s->phases[s->n_phases - 1], ready);
    return !c->machine->options->has_memory || pto_core_compute(c, s);
}

/* ---- flags, barriers, tokens of other cores ---- */

struct pto_number *pto_core_operand(struct pto_core *c, const struct pto_site *s,
                                    enum pto_role role)
{
    const struct pto_use *u =
        pto_use_find(pto_core_uses(c, s), s->use_count, PTO_SLOT_NUMBER, role, 0);

    return u ? &c->slots.numbers[u->slot] : NULL;
}

/* A number that the text gives as an operand or as an attribute. */
static int64_t event_number(struct pto_core *c, const struct pto_site *s, enum pto_key key)
{
    const struct pto_number *n = pto_core_operand(c, s, PTO_ROLE_EVENT);
    const struct pto_module *m = c->program->module;

    return n ? n->v.i : pto_op_int(m, &m->ops.at[s->op], key, 0);
}

static uint32_t flag_id(struct pto_core *c, const struct pto_site *s)
{
    int64_t id = event_number(c, s, PTO_KEY_EVENT_ID);

    return id >= 0 && id < PTO_FLAG_IDS ? (uint32_t)id : PTO_FLAG_IDS;
}

/* A pipe that stands at a wait takes no more; nor does the scalar unit behind all of them. */
static bool is_held(const struct pto_core *c, uint8_t pipe)
{
    return pipe == PTO_PIPE_ALL ? c->held_pipes != 0 : (c->held_pipes >> pipe & 1) != 0;
}

/* A wait that nothing has satisfied yet holds back its own pipe alone; on the
 * scalar unit, which issues everything, that is a deadlock. */
static bool flag_site(struct pto_core *c, uint32_t site)
{
    const struct pto_site *s = &c->program->sites.at[site];
    enum pto_pipe a = (enum pto_pipe)s->phases[0], b = (enum pto_pipe)s->phases[1];
    uint32_t id = flag_id(c, s);

    if (id >= PTO_EVENT_IDS)
        return pto_core_fail(c, s->line, "pto-run.event", "%s: no such event",
                             pto_op_name(s->code));
    if (s->code == PTO_SET_FLAG || s->code == PTO_SET_FLAG_DYN || s->code == PTO_RECORD_EVENT) {
        if (is_held(c, (uint8_t)a))
            return pto_core_hold_back(
                c, a, (struct pto_held){.kind = PTO_HELD_SET, .peer = b, .id = id, .site = site});
        pto_queues_set(&c->queues, site, a, b, id);
        return pto_core_settle(c);
    }
    if (!is_held(c, (uint8_t)b) && pto_queues_wait(&c->queues, site, a, b, id))
        return true;
    if (b != PTO_PIPE_S && b != PTO_PIPE_ALL)
        return pto_core_hold_back(
            c, b, (struct pto_held){.kind = PTO_HELD_WAIT, .peer = a, .id = id, .site = site});
    (void)pto_core_report_blocked(c);
    return pto_core_fail(c, s->line, "pto-run.deadlock",
                         "%s waits for event %u from %s, which nothing before it sets",
                         pto_pipe_name(b), id, pto_pipe_name(a));
}

/* An instruction whose pipe stands at a wait. */
static bool held_site(struct pto_core *c, uint32_t site)
{
    const struct pto_site *s = &c->program->sites.at[site];
    struct pto_held h = {.kind = PTO_HELD_RUN, .site = site};

    if (s->phases[0] == PTO_PIPE_ALL)
        return pto_core_report_blocked(c); /* a barrier that never ends */
    enum pto_class class = pto_class_of(s->code);
    if (class == PTO_CLASS_BARRIER) {
        h.kind = PTO_HELD_BARRIER;
        return pto_core_hold_back(c, (enum pto_pipe)s->phases[0], h);
    }
    if (s->n_phases > 1 || class == PTO_CLASS_FIFO || class > PTO_CLASS_BARRIER)
        return pto_core_fail(c, s->line, "pto-run.unsupported",
                             "%s behind a wait on %s whose flag is set later in the program",
                             pto_op_name(s->code), pto_pipe_name((enum pto_pipe)s->phases[0]));
    const struct pto_site_cache *cost = pto_core_cost(c, site);
    h.issue = pto_core_issue(c, site, 0, cost);
    count_work(c, cost);
    return pto_core_hold_back(c, (enum pto_pipe)s->phases[0], h);
}

static bool is_behind_wait(const struct pto_core *c, const struct pto_site *s)
{
    enum pto_class class = pto_class_of(s->code);

    if (c->held_pipes == 0 || class == PTO_CLASS_FLAG || class == PTO_CLASS_FLAG_DYN)
        return false;
    for (uint8_t i = 0; i < s->n_phases; i++) {
        if (is_held(c, s->phases[i]))
            return true;
    }
    return false;
}

uint32_t pto_paired_flag(uint32_t core, uint32_t id, uint32_t *peer)
{
    enum { OF_A_CORE = 16 };

    *peer = core != PTO_AIC ? PTO_AIC : id < OF_A_CORE ? PTO_AIV0 : PTO_AIV1;
    return core == PTO_AIV1 && id < OF_A_CORE ? id + OF_A_CORE : id;
}

/* One token of each of the peers, or none of any. */
static bool consume_tokens(struct pto_core *c, uint32_t id, uint32_t peers, enum pto_pipe pipe,
                           struct pto_moment *until)
{
    for (uint32_t from = 0; from < PTO_CORES; from++) {
        const struct pto_tokens *t = &c->machine->token[id][from][c->number];
        if ((peers >> from & 1) != 0 && t->waited == t->set.n) {
            c->state = PTO_WAITING;
            return false;
        }
    }
    for (uint32_t from = 0; from < PTO_CORES; from++) {
        struct pto_tokens *t = &c->machine->token[id][from][c->number];
        if ((peers >> from & 1) == 0)
            continue;
        if (c->queues.races)
            pto_race_token_wait(c->queues.races, c->number, pipe, id, from, t->waited);
        pto_moment_join(until, t->set.at[t->waited++]);
    }
    return true;
}

int64_t pto_core_cross_latency(const struct pto_core *c)
{
    return c->machine->options->no_latency
               ? 0
               : pto_whole_cycles(pto_costs_get(c->machine->costs, PTO_COST_SYNC_CROSS));
}

/* A token for each of `cores` but this one. */
static void give_tokens(struct pto_core *c, uint32_t id, uint32_t cores, enum pto_pipe pipe,
                        struct pto_moment m)
{
    int64_t latency = pto_core_cross_latency(c);

    if (c->queues.races)
        pto_race_give(c->queues.races, c->number, pipe, id, cores);
    for (uint32_t to = 0; to < PTO_CORES; to++) {
        if (to != c->number && (cores >> to & 1) != 0)
            vec_push(&c->machine->token[id][c->number][to].set,
                     ((struct pto_moment){m.at + latency, m.record, PTO_CAUSE_SEMAPHORE, m.from,
                                          (uint8_t)(c->number + 1)}));
    }
}

static bool semaphore_site(struct pto_core *c, uint32_t site)
{
    const struct pto_site *s = &c->program->sites.at[site];
    enum pto_pipe pipe = (enum pto_pipe)s->phases[0];
    struct pto_moment until = PTO_NO_MOMENT;
    uint32_t id = flag_id(c, s), to = UINT32_MAX, peer = 0;
    bool is_paired = c->machine->options->arch == PTO_A5 &&
                     (s->code == PTO_SET_INTRA_BLOCK || s->code == PTO_WAIT_INTRA_BLOCK);

    /* Flags are 0 to 15; A5 has twice as many. */
    if (id >= (c->machine->options->arch == PTO_A5 ? 32 : 16))
        return pto_core_fail(c, s->line, "pto-run.event", "%s: no such flag", pto_op_name(s->code));
    if (is_paired) {
        id = pto_paired_flag(c->number, id, &peer);
        to = 1U << peer;
    }
    if (pto_class_of(s->code) == PTO_CLASS_TOKEN_SET) {
        give_tokens(c, id, to, pipe, pto_queues_signal(&c->queues, site, pipe));
        return true;
    }
    /* Flags come from the vector cores for the cube core, which they wait for. */
    uint32_t peers = c->machine->present & ~(1U << c->number) & to;
    if (c->number != PTO_AIC)
        peers &= 1U << PTO_AIC;
    if (peers == 0 && c->program->kind != PTO_KIND_NONE) /* a core that is alone meets nobody */
        pto_core_assume(c, 0, s->line, PTO_ASSUMED_WAIT);
    if (!consume_tokens(c, id, peers, pipe, &until))
        return false;
    pto_queues_await(&c->queues, site, pipe, until);
    return true;
}

/* The cores meet: each tells the others that it is there and waits for all. */
static bool sync_all(struct pto_core *c, uint32_t site)
{
    static const uint32_t taking_part[] = {1U << PTO_AIV0 | 1U << PTO_AIV1, 1U << PTO_AIC,
                                           UINT32_MAX};
    const struct pto_module *m = c->program->module;
    const struct pto_op *op = &m->ops.at[c->program->sites.at[site].op];
    struct pto_moment until = PTO_NO_MOMENT;
    int64_t told = pto_op_int(m, op, PTO_KEY_CORE_TYPE, 2);
    uint32_t type = told >= 0 && told < 2 ? (uint32_t)told : 2, id = PTO_SEMAPHORES - 3 + type;
    uint32_t cores = taking_part[type] & c->machine->present;

    if ((cores >> c->number & 1) == 0)
        return true;
    if (!c->is_in_sync_all) {
        pto_queues_barrier(&c->queues, site, PTO_PIPE_ALL);
        give_tokens(c, id, UINT32_MAX, PTO_PIPE_ALL, pto_queues_end(&c->queues));
        c->is_in_sync_all = true;
    }
    if (!consume_tokens(c, id, cores & ~(1U << c->number), PTO_PIPE_ALL, &until))
        return false;
    c->is_in_sync_all = false;
    for (int p = 0; p < PTO_PIPE_COUNT; p++)
        pto_queues_hold(&c->queues, (enum pto_pipe)p, until);
    return true;
}

static bool buffer_site(struct pto_core *c, uint32_t site)
{
    const struct pto_site *s = &c->program->sites.at[site];
    enum pto_pipe pipe = (enum pto_pipe)s->phases[0];
    int64_t id = event_number(c, s, PTO_KEY_ID);

    if (id < 0 || id >= (int64_t)ARRAY_LEN(c->buffer))
        return pto_core_fail(c, s->line, "pto-run.event", "%s: no such buffer",
                             pto_op_name(s->code));
    if (s->code == PTO_GET_BUF || s->code == PTO_GET_BUF_DYN) {
        pto_queues_hold(&c->queues, pipe, c->buffer[id]);
        if (c->queues.races)
            pto_race_get_buffer(c->queues.races, c->number, pipe, (uint32_t)id);
        return true;
    }
    if (c->queues.races)
        pto_race_rls_buffer(c->queues.races, c->number, pipe, (uint32_t)id);
    struct pto_moment done = {c->queues.pipe[pipe].done, c->queues.pipe[pipe].slowest,
                              PTO_CAUSE_FLAG, (uint8_t)pipe, 0};
    pto_moment_join(&c->buffer[id], done);
    return true;
}

static bool barrier_site(struct pto_core *c, uint32_t site)
{
    pto_queues_barrier(&c->queues, site, (enum pto_pipe)c->program->sites.at[site].phases[0]);
    return true;
}

/* Who synchronises by hand has no hazards that tell the producers. */
static bool tsync_site(struct pto_core *c, uint32_t site)
{
    if (!c->program->has_flags || c->machine->options->no_flags)
        return pto_core_plain_site(c, site);
    if (c->held_pipes != 0)
        return pto_core_report_blocked(c);
    pto_queues_barrier(&c->queues, site, PTO_PIPE_ALL);
    return true;
}

static bool notify_site(struct pto_core *c, uint32_t site)
{
    pto_queues_barrier(&c->queues, site, PTO_PIPE_ALL);
    return !c->machine->options->has_memory || pto_core_compute(c, &c->program->sites.at[site]);
}

static bool rank_wait_site(struct pto_core *c, uint32_t site)
{
    const struct pto_site *s = &c->program->sites.at[site];

    pto_core_assume(c, 0, s->line, PTO_ASSUMED_WAIT);
    pto_queues_scalar(&c->queues,
                      pto_whole_cycles(pto_costs_get(c->machine->costs, PTO_COST_COMM_WAIT)));
    if (s->result != PTO_NONE)
        c->slots.numbers[s->result] = (struct pto_number){.v.i = 1};
    return true;
}

typedef bool site_fn(struct pto_core *c, uint32_t site);

/* Instructions that do not just wait for their bytes, by class. */
static site_fn *const runners[PTO_CLASS_COUNT] = {
    [PTO_CLASS_LOAD_SCALAR] = pto_core_load_scalar,
    [PTO_CLASS_STORE_SCALAR] = pto_core_store_scalar,
    [PTO_CLASS_GETVAL] = pto_core_get_value,
    [PTO_CLASS_FLAG] = flag_site,
    [PTO_CLASS_FLAG_DYN] = flag_site,
    [PTO_CLASS_BARRIER] = barrier_site,
    [PTO_CLASS_FENCE] = barrier_site,
    [PTO_CLASS_TSYNC] = tsync_site,
    [PTO_CLASS_BUFFER] = buffer_site,
    [PTO_CLASS_TOKEN_SET] = semaphore_site,
    [PTO_CLASS_TOKEN_WAIT] = semaphore_site,
    [PTO_CLASS_SYNCALL] = sync_all,
    [PTO_CLASS_NOTIFY] = notify_site,
    [PTO_CLASS_RANK_WAIT] = rank_wait_site,
    [PTO_CLASS_FIFO] = pto_core_fifo_site,
};

bool pto_core_site(struct pto_core *c, uint32_t site)
{
    const struct pto_site *s = &c->program->sites.at[site];
    enum pto_class class = pto_class_of(s->code);
    site_fn *run = runners[class];

    if (c->machine->options->no_flags &&
        (class == PTO_CLASS_FLAG || class == PTO_CLASS_FLAG_DYN || class == PTO_CLASS_BARRIER ||
         class == PTO_CLASS_BUFFER)) /* between the pipes of this core */
        return true;
    if (is_behind_wait(c, s))
        return held_site(c, site);
    return run ? run(c, site) : pto_core_plain_site(c, site);
}
