/*
 * A run of the simulator as a timeline.
 */
#include "kernels/pto/sim/sim.h"

#include <inttypes.h>
#include <math.h>

#include "base/files/bin_blocks.h"
#include "base/text/char.h"
#include "capture/capture.h"
#include "kernels/pto/judge/outcome.h"

/* What all runs of a site share; a flag or barrier at it is an instruction of its own. */
struct site_text {
    bool is_made;
    strid name, detail;
    attr_run set;
};

struct conversion {
    struct capture *cap;
    const struct pto_sim *sim;
    const char *path;
    struct arena scratch;
    struct site_text *sites[2];  /* of the cube and the vector program */
    uint32_t *slices[PTO_CORES]; /* by record */
    lane_id lanes[PTO_CORES][PTO_PIPE_COUNT];
    bool has_lane[PTO_CORES][PTO_PIPE_COUNT];
    strid key_detail, key_bytes, key_stall, key_for, key_cause;
};

static const char *const marks[] = {"",    "SET_FLAG",        "WAIT_FLAG",
                                    "BAR", "SET_INTRA_BLOCK", "WAIT_INTRA_BLOCK"};

enum { MARKS = 8 }; /* at least as many, and a power of two */

static const char *lane_name(uint8_t pipe)
{
    return pipe == PTO_PIPE_V ? "VECTOR" : pto_pipe_short((enum pto_pipe)pipe);
}

static lane_id capture_lane_of(struct conversion *c, uint32_t core, uint8_t pipe)
{
    static const char *const cores[] = {"core0.cubecore0", "core0.veccore0", "core0.veccore1"};

    if (!c->has_lane[core][pipe]) {
        c->has_lane[core][pipe] = true;
        c->lanes[core][pipe] = capture_lane(
            c->cap, (struct lane_key){.kind = LANE_PIPE,
                                      .device = -1,
                                      .process = capture_intern(c->cap, str_of(cores[core])),
                                      .name = capture_intern(c->cap, str_of(lane_name(pipe)))});
    }
    return c->lanes[core][pipe];
}

/* ---- texts of instructions ---- */

/* "Src:%a|%b,Dst:%d," */
static struct str operands_of(struct conversion *c, const struct pto_module *m,
                              const struct pto_site *s)
{
    const struct pto_op *op = &m->ops.at[s->op];
    const struct pto_function *f = pto_function_at(m, s->op);
    struct str src = {0}, dst = {0};

    for (uint32_t i = 0; f && i < op->operand_count && i < 16; i++) {
        const struct pto_operand *o = &pto_operands(m, op)[i];
        bool is_out = o->role == PTO_ROLE_OUT || o->role == PTO_ROLE_DST;
        struct str *to = is_out ? &dst : &src;
        struct str name = pto_value_text(m, f, &c->scratch, o->value);
        *to = arena_format(&c->scratch, "%.*s%s%.*s", STR_ARGS(*to), to->n > 0 ? "|" : "",
                           STR_ARGS(name));
    }
    if (f && op->result_count > 0) {
        struct str name = pto_value_text(m, f, &c->scratch, op->result_first);
        dst = dst.n > 0 ? dst : name;
    }
    return arena_format(&c->scratch, "%s%.*s%s%s%.*s%s", src.n > 0 ? "Src:" : "", STR_ARGS(src),
                        src.n > 0 ? "," : "", dst.n > 0 ? "Dst:" : "", STR_ARGS(dst),
                        dst.n > 0 ? "," : "");
}

/* Cube products and stores of the accumulator have the names that readers of traces look for;
 * others are called as in the text, in capitals. */
static struct str capture_name_of(struct conversion *c, const struct pto_site *s)
{
    struct str name = str_of(pto_op_name(s->code));

    if (s->n_phases > 0 && s->phases[0] == PTO_PIPE_M)
        return S("MMAD");
    if (s->n_phases > 0 && s->phases[0] == PTO_PIPE_FIX &&
        (s->code == PTO_TSTORE || s->code == PTO_TPUSH_TO_AIV))
        return S("FIX_L0C_TO_DST");
    str_skip(&name, S("pto."));
    char *text = arena_cstr(&c->scratch, name);
    for (size_t i = 0; i < name.n; i++)
        text[i] = char_upper(text[i]);
    return str_of(text);
}

/* The address is made up: one for each site, kind of core and mark, four bytes apart as
 * instructions are. */
static struct site_text *site_text(struct conversion *c, const struct pto_core *core, uint32_t site,
                                   uint32_t mark)
{
    const struct pto_program *p = core->program;
    uint32_t which = core->number == PTO_AIC ? 0 : 1;
    struct site_text *t = &c->sites[which][site * MARKS + mark];
    const struct pto_site *s = &p->sites.at[site];

    if (t->is_made)
        return t;
    t->is_made = true;
    t->name = capture_intern(c->cap, mark == 0 ? capture_name_of(c, s) : str_of(marks[mark]));
    t->detail = mark == 0 ? capture_intern(c->cap, operands_of(c, p->module, s)) : 0;
    struct str pc =
        arena_format(&c->scratch, "0x%x", (which + 1) << 28 | (site * MARKS + mark) << 2);
    struct str code = arena_format(&c->scratch, "%s:%" PRIu32, c->path, s->line);
    struct attr set[5];
    size_t n = 0;
    set[n++] = attr_text(capture_intern(c->cap, S("pc_addr")), capture_intern(c->cap, pc));
    set[n++] = attr_text(capture_intern(c->cap, S("code")), capture_intern(c->cap, code));
    if (mark == 0)
        set[n++] = attr_text(capture_intern(c->cap, S("op")),
                             capture_intern(c->cap, str_of(pto_op_name(s->code))));
    if (mark == 0 && s->phases[0] == PTO_PIPE_V) {
        struct pto_vector_use use = pto_core_vector_use(core, site);
        set[n++] =
            attr_int(capture_intern(c->cap, S("vector_lanes_permille")), llround(use.lanes * 1000));
        set[n++] = attr_int(capture_intern(c->cap, S("ub_conflict_cycles")), use.conflict);
    }
    t->set = attrs_set(&c->cap->attrs, set, n);
    return t;
}

/* ---- slices ---- */

static attr_run own_of(struct conversion *c, const struct pto_core *core,
                       const struct pto_record *r, strid detail)
{
    struct attr own[5];
    size_t n = 0;
    const struct pto_site_cache *cache = &core->caches[r->site];
    uint32_t from = r->other > 0 ? r->other - 1U : core->number;

    if (detail != 0)
        own[n++] = attr_text(c->key_detail, detail);
    if (r->is_sync == PTO_MARK_NONE && cache->is_filled && cache->bytes > 0 &&
        (cache->path / PTO_SPACE_COUNT == PTO_GM || cache->path % PTO_SPACE_COUNT == PTO_GM))
        own[n++] = attr_int(c->key_bytes, cache->bytes);
    if (r->stall > 0 && r->cause != PTO_CAUSE_NONE) {
        struct str whom = arena_format(&c->scratch, "%s/%s", pto_core_name(from),
                                       pto_pipe_short((enum pto_pipe)r->from));
        own[n++] = attr_int(c->key_stall, r->stall);
        own[n++] = attr_text(
            c->key_cause, capture_intern(c->cap, str_of(pto_cause_name((enum pto_cause)r->cause))));
        own[n++] = attr_text(c->key_for, capture_intern(c->cap, whom));
    }
    return n > 0 ? attrs_own(&c->cap->attrs, own, n) : 0;
}

/* "PIPE:MTE2,TRIGGERPIPE:VECTOR,FLAGID:0,": producer, consumer, number. */
static strid flag_detail(struct conversion *c, const struct pto_record *r)
{
    uint8_t from = r->is_sync == PTO_MARK_SET ? r->pipe : r->peer;
    uint8_t to = r->is_sync == PTO_MARK_SET ? r->peer : r->pipe;

    if (r->is_sync >= PTO_MARK_BARRIER)
        return capture_intern(c->cap,
                              arena_format(&c->scratch, "PIPE:%s,",
                                           r->peer == PTO_PIPE_ALL ? "ALL" : lane_name(r->peer)));
    return capture_intern(c->cap, arena_format(&c->scratch, "PIPE:%s,TRIGGERPIPE:%s,FLAGID:%u,",
                                               lane_name(from), lane_name(to), r->id));
}

/* A wait is drawn from where it began to stall; a set takes no time and gets one cycle to be
 * seen. */
static uint32_t capture_add_slice(struct conversion *c, const struct pto_core *core,
                                  const struct pto_record *r)
{
    bool is_sync = r->is_sync != PTO_MARK_NONE;
    const struct site_text *t = site_text(c, core, r->site, r->is_sync);
    struct slice slice = {.begin = r->start,
                          .dur = r->ready - r->start,
                          .lane = capture_lane_of(c, core->number, r->pipe),
                          .name = t->name,
                          .set = t->set,
                          .own = own_of(c, core, r, is_sync ? flag_detail(c, r) : t->detail),
                          .kind = SLICE_INSTR};

    if (r->is_sync == PTO_MARK_WAIT || r->is_sync == PTO_MARK_AWAIT) {
        slice.begin = r->start > r->stall ? r->start - r->stall : 0;
        slice.dur = r->end - r->start + r->stall;
        slice.kind = SLICE_WAIT;
    } else if (is_sync) {
        slice.begin = r->end > 1 ? r->end - 1 : 0;
        slice.dur = 1;
        slice.kind = SLICE_CONTROL;
    }
    return capture_slice(c->cap, &slice);
}

/* Sets and waits of a flag meet in order. */
struct flag_queue {
    VEC_OF(uint32_t) sets;
    size_t waited;
};

/* Flags are counted: the n-th wait of a (from, to, id) takes the n-th set. */
static void join_flags(struct conversion *c, const struct pto_core *core)
{
    size_t n = (size_t)PTO_PIPE_COUNT * PTO_PIPE_COUNT * PTO_FLAG_IDS;
    struct flag_queue *queues = mem_grow(NULL, sizeof(*queues), n);

    memset(queues, 0, sizeof(*queues) * n);
    for (size_t i = 0; i < core->queues.records.n; i++) {
        const struct pto_record *r = &core->queues.records.at[i];
        if ((r->is_sync != PTO_MARK_SET && r->is_sync != PTO_MARK_WAIT) ||
            r->pipe >= PTO_PIPE_COUNT || r->peer >= PTO_PIPE_COUNT || r->id >= PTO_FLAG_IDS)
            continue;
        bool is_set = r->is_sync == PTO_MARK_SET;
        size_t from = is_set ? r->pipe : r->peer, to = is_set ? r->peer : r->pipe;
        struct flag_queue *q = &queues[(from * PTO_PIPE_COUNT + to) * PTO_FLAG_IDS + r->id];
        if (is_set)
            vec_push(&q->sets, c->slices[core->number][i]);
        else if (q->waited < q->sets.n)
            capture_flow(c->cap, FLOW_FLAG, q->sets.at[q->waited++], c->slices[core->number][i]);
    }
    for (size_t i = 0; i < n; i++)
        vec_free(&queues[i].sets);
    mem_free(queues);
}

/* Waits without a flag: for bytes, and for tokens of another core. */
static void join_others(struct conversion *c, const struct pto_core *core)
{
    for (size_t i = 0; i < core->queues.records.n; i++) {
        const struct pto_record *r = &core->queues.records.at[i];
        uint32_t from = r->other > 0 ? r->other - 1U : core->number;
        bool is_told = r->other > 0 || r->cause == PTO_CAUSE_RAW || r->cause == PTO_CAUSE_WAR ||
                       r->cause == PTO_CAUSE_WAW;
        if (r->stall > 0 && is_told && r->before < c->sim->cores[from].queues.records.n)
            capture_flow(c->cap, FLOW_FLAG, c->slices[from][r->before], c->slices[core->number][i]);
    }
}

static void add_slices(struct conversion *c, const struct pto_core *core)
{
    uint32_t which = core->number == PTO_AIC ? 0 : 1;

    if (!c->sites[which]) {
        size_t n = core->program->sites.n * MARKS + 1;
        c->sites[which] = mem_grow(NULL, sizeof(*c->sites[which]), n);
        memset(c->sites[which], 0, sizeof(*c->sites[which]) * n);
    }
    c->slices[core->number] = mem_grow(NULL, sizeof(uint32_t), core->queues.records.n + 1);
    for (size_t i = 0; i < core->queues.records.n; i++) {
        const struct pto_record *r = &core->queues.records.at[i];
        struct arena_mark mark = arena_mark(&c->scratch);
        c->slices[core->number][i] = capture_add_slice(c, core, r);
        arena_rewind(&c->scratch, mark);
    }
}

struct capture *pto_to_capture(const struct pto_sim *sim, const struct pto_chip *chip,
                               const char *path, struct str text)
{
    struct conversion c = {.cap = capture_new(), .sim = sim, .path = path};

    arena_init(&c.scratch);
    c.key_detail = capture_intern(c.cap, S("detail"));
    c.key_bytes = capture_intern(c.cap, S("process_bytes"));
    c.key_stall = capture_intern(c.cap, S("stall_cycles"));
    c.key_cause = capture_intern(c.cap, S("stall_cause"));
    c.key_for = capture_intern(c.cap, S("waited_for"));
    for (uint32_t i = 0; i < PTO_CORES; i++) {
        if ((sim->present >> i & 1) != 0)
            add_slices(&c, &sim->cores[i]);
    }
    for (uint32_t i = 0; i < PTO_CORES; i++) {
        if ((sim->present >> i & 1) == 0)
            continue;
        join_flags(&c, &sim->cores[i]);
        join_others(&c, &sim->cores[i]);
    }
    c.cap->clock.hz = num_i64_of(chip->trace_mhz * 1e6);
    capture_set_incore(c.cap);
    c.cap->facts.device_name = capture_intern(c.cap, chip->name);
    c.cap->facts.producer = capture_intern(c.cap, S("strata " STRATA_VERSION));
    c.cap->origin = ORIGIN_SIMULATED;
    if (text.n > 0)
        capture_document_add(c.cap, (struct document){.type = BIN_SOURCE,
                                                      .version = BIN_MARK,
                                                      .path = str_of(path),
                                                      .text = text});
    capture_seal(c.cap);
    for (uint32_t i = 0; i < PTO_CORES; i++)
        mem_free(c.slices[i]);
    mem_free(c.sites[0]);
    mem_free(c.sites[1]);
    arena_free(&c.scratch);
    return c.cap;
}
