/*
 * One core: its start, and the steps of its scalar unit.
 */
#include "kernels/pto/sim/core.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "kernels/pto/judge/race.h"
#include "kernels/pto/sim/pipes.h"

static void *copy_of(void *old, const void *from, size_t size, size_t n)
{
    void *to = mem_grow(old, size, n + 1);

    if (n > 0)
        memcpy(to, from, size * n);
    return to;
}

static void *zeros(void *old, size_t size, size_t n)
{
    return memset(mem_grow(old, size, n + 1), 0, size * n);
}

/* Buffers of arguments, and memory of tiles, under everything that refers to them. */
static void bind_memory(struct pto_core *c)
{
    const struct pto_program *p = c->program;
    size_t absent = c->machine->options->has_memory ? 0 : (size_t)INT64_MAX; /* of no buffer */

    for (size_t i = 0; i < p->gms.n; i++) {
        struct pto_gm *g = &c->slots.gms[i];
        const struct pto_binding *b = g->root >= 0 && (uint32_t)g->root < c->machine->n_bindings
                                          ? &c->machine->bindings[g->root]
                                          : NULL;
        g->view.base = b ? b->data : NULL;
        g->view.limit = b && b->data ? b->size : absent;
    }
    for (size_t s = 0; s < PTO_SPACE_COUNT; s++) {
        size_t size = pto_space_size(c->machine->options->arch, (enum pto_space)s);
        if (!c->machine->options->has_memory || size == 0)
            continue;
        c->space[s] = mem_grow(c->space[s], 1, size);
        memset(c->space[s], 0, size);
    }
    for (size_t i = 0; i < p->tiles.n; i++) {
        enum pto_space s = c->slots.tiles[i].type.space;
        c->slots.tiles[i].base = c->space[s];
        c->slots.tiles[i].limit = pto_space_size(c->machine->options->arch, s);
    }
}

static bool name_is(const struct pto_program *p, uint32_t arg, const char *name)
{
    strid id = pto_value_at(p->module, p->function, arg)->name;

    return str_equal(intern_get(&p->module->names, id), str_of(name));
}

/* A value that nobody gave is a guess; `taint` (the argument's number + 1) follows it through
 * the arithmetic. The numbers of the block are no guesses. */
static void bind_scalar(struct pto_core *c, uint32_t arg, const struct pto_type *type)
{
    const struct pto_program *p = c->program;
    struct pto_number *n = &c->slots.numbers[p->arg_slots.at[arg]];
    const struct pto_binding *b = arg < c->machine->n_bindings ? &c->machine->bindings[arg] : NULL;

    *n = (struct pto_number){.taint = arg + 1};
    int64_t assumed = c->machine->options->unknown + (b && !b->is_given ? b->number : 0);
    if (pto_dtype_is_float(type->dtype))
        n->v.f = pto_round_to((double)assumed, type->dtype);
    else
        n->v.i = pto_wrap(assumed, type->dtype);
    if (name_is(p, arg, "__pypto_spmd_block_idx"))
        *n = (struct pto_number){.v.i = c->machine->options->block};
    else if (name_is(p, arg, "__pypto_spmd_block_num"))
        *n = (struct pto_number){.v.i = c->machine->options->blocks};
    else if (name_is(p, arg, "__pypto_spmd_subblock_idx"))
        *n = (struct pto_number){.v.i = c->number == PTO_AIV1};
    if (!b || !b->is_given)
        return;
    n->taint = 0;
    if (pto_dtype_is_float(type->dtype))
        n->v.f = pto_round_to(b->real, type->dtype);
    else
        n->v.i = pto_wrap(b->number, type->dtype);
}

static int64_t core_whole(const struct pto_costs *costs, enum pto_cost_key key)
{
    return pto_whole_cycles(pto_costs_get(costs, key));
}

static int64_t scalar_cycles(const struct pto_machine *m, enum pto_cost_key key)
{
    double speed_up = m->options->speed_up[PTO_PIPE_S];

    return pto_whole_cycles(pto_costs_get(m->costs, key) / (speed_up > 0 ? speed_up : 1));
}

void pto_core_start(struct pto_core *c, struct pto_machine *m, const struct pto_program *p,
                    uint32_t number)
{
    bool is_new = c->caches == NULL;
    size_t n_elements = 0;

    c->machine = m;
    c->program = p;
    c->number = number;
    c->state = PTO_RUNNING;
    c->at = 0;
    c->steps = c->macs = c->prints = 0;
    c->slots.numbers =
        copy_of(c->slots.numbers, p->numbers.at, sizeof(*p->numbers.at), p->numbers.n);
    c->slots.tiles = copy_of(c->slots.tiles, p->tiles.at, sizeof(*p->tiles.at), p->tiles.n);
    c->slots.gms = copy_of(c->slots.gms, p->gms.at, sizeof(*p->gms.at), p->gms.n);
    for (size_t i = 0; i < p->arrays.n; i++)
        n_elements += p->arrays.at[i].count;
    c->arrays = zeros(c->arrays, sizeof(*c->arrays), n_elements);
    c->caches = zeros(c->caches, sizeof(*c->caches), p->sites.n);
    if (m->options->counts_steps)
        c->step_counts = zeros(c->step_counts, sizeof(*c->step_counts), p->steps.n);
    c->places = zeros(c->places, sizeof(*c->places), p->uses.n);
    c->touches = zeros(c->touches, sizeof(*c->touches), p->uses.n);
    if (is_new) {
        pto_queues_init(&c->queues, m->options->max_records);
        pto_hazards_init(&c->hazards);
    } else {
        c->queues.max_records = m->options->max_records;
        pto_hazards_reset(&c->hazards);
        hash_clear(&c->stored);
        c->words.n = 0;
    }
    pto_queues_reset(&c->queues, m->options->start);
    c->queues.races = m->options->races;
    c->queues.core = number;
    c->queues.issue = core_whole(m->costs, PTO_COST_SYNC_ISSUE);
    c->queues.flag_latency = m->options->no_latency ? 0 : core_whole(m->costs, PTO_COST_SYNC_FLAG);
    c->queues.no_latency = m->options->no_latency;
    c->queues.slack = core_whole(m->costs, PTO_COST_HBM_SLACK);
    c->plain = scalar_cycles(m, PTO_COST_SCALAR_OP);
    c->division = scalar_cycles(m, PTO_COST_SCALAR_DIV);
    c->scalar_hit = scalar_cycles(m, PTO_COST_SCALAR_HIT);
    c->scalar_miss = scalar_cycles(m, PTO_COST_SCALAR_LOAD);
    c->hazards.keeps_vector_order = m->options->arch == PTO_A5;
    c->hazards.ignore_reuse = m->options->no_reuse_waits;
    memset(c->buffer, 0, sizeof(c->buffer));
    c->looked = NULL;
    pto_core_drop_backlog(c);
    c->is_in_sync_all = false;
    memset(c->line, 0xff, sizeof(c->line));
    memset(c->bytes, 0, sizeof(c->bytes));
    c->assumptions.n = 0;
    for (uint32_t i = 0; i < p->function->arg_count; i++) {
        const struct pto_type *type = pto_value_type(p->module, p->function, i);
        if (type->kind == PTO_TYPE_SCALAR)
            bind_scalar(c, i, type);
    }
    bind_memory(c);
}

void pto_core_free(struct pto_core *c)
{
    mem_free(c->slots.numbers);
    mem_free(c->slots.tiles);
    mem_free(c->slots.gms);
    mem_free(c->arrays);
    mem_free(c->caches);
    mem_free(c->step_counts);
    mem_free(c->places);
    mem_free(c->touches);
    for (size_t s = 0; s < PTO_SPACE_COUNT; s++)
        mem_free(c->space[s]);
    pto_queues_free(&c->queues);
    pto_hazards_free(&c->hazards);
    hash_free(&c->stored);
    vec_free(&c->words);
    vec_free(&c->assumptions);
    pto_core_drop_backlog(c);
    for (size_t p = 0; p < PTO_PIPE_COUNT; p++)
        vec_free(&c->backlog[p]);
    memset(c, 0, sizeof(*c));
}

bool pto_core_fail(struct pto_core *c, uint32_t line, const char *code, const char *format, ...)
{
    char text[300];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    (void)diag_fail(c->machine->diag, ST_FORMAT, code, (struct where){c->machine->path, line, 0},
                    "%s", text);
    c->state = PTO_FAILED;
    return false;
}

void pto_core_assume(struct pto_core *c, uint32_t origin, uint32_t line, int kind)
{
    for (size_t i = 0; i < c->assumptions.n; i++) {
        const struct pto_assumption *a = &c->assumptions.at[i];
        if (a->origin == origin && a->line == line && (int)a->kind == kind)
            return;
    }
    struct pto_assumption a = {.origin = origin, .line = line};
    a.kind = kind;
    if (c->assumptions.n < 1000)
        vec_push(&c->assumptions, a);
}

static const struct pto_op *core_op_of(const struct pto_core *c, const struct pto_step *s)
{
    return &c->program->module->ops.at[s->op];
}

/* ---- steps that are no arithmetic ---- */

/* The first operand of a step that is of that kind and role. */
static const struct pto_use *use_of(const struct pto_core *c, const struct pto_step *s,
                                    enum pto_slot_kind kind, enum pto_role role)
{
    return pto_use_find(c->program->uses.at + s->a, s->b, kind, role, 0);
}

/* The element of a local array, struct or event array that a step names. */
static struct pto_number *element(struct pto_core *c, const struct pto_step *s)
{
    const struct pto_use *base = use_of(c, s, PTO_SLOT_ARRAY, PTO_ROLE_COUNT);
    int64_t at = pto_op_int(c->program->module, core_op_of(c, s), PTO_KEY_FIELD, 0);
    uint32_t dim = 0;

    if (!base)
        return NULL;
    const struct pto_array *a = &c->program->arrays.at[base->slot];
    for (uint32_t i = 0; i < s->b; i++) {
        const struct pto_use *u = &c->program->uses.at[s->a + i];
        if (u->role != PTO_ROLE_INDEX || u->kind != PTO_SLOT_NUMBER || dim >= a->rank)
            continue;
        int64_t n = c->slots.numbers[u->slot].v.i;
        if (n < 0 || n >= a->dims[dim])
            return NULL;
        at = at * a->dims[dim++] + n;
    }
    return at >= 0 && at < a->count ? &c->arrays[a->first + at] : NULL;
}

static bool array_step(struct pto_core *c, const struct pto_step *s)
{
    struct pto_number *e = element(c, s);
    bool is_set = s->code == PTO_LOCAL_ARRAY_SET || s->code == PTO_STRUCT_SET ||
                  s->code == PTO_EVENTID_ARRAY_SET;

    if (!e)
        return pto_core_fail(c, core_op_of(c, s)->line, "pto-run.index-range",
                             "%s: the index is outside the array",
                             pto_op_name((enum pto_opcode)s->code));
    const struct pto_use *value = use_of(c, s, PTO_SLOT_NUMBER, PTO_ROLE_VALUE);
    if (!is_set)
        c->slots.numbers[s->dst] = *e;
    else if (value)
        *e = c->slots.numbers[value->slot];
    return true;
}

static void view_number(struct pto_core *c, const struct pto_step *s)
{
    const struct pto_use *from = use_of(c, s, PTO_SLOT_GM, PTO_ROLE_COUNT);
    const struct pto_use *which = use_of(c, s, PTO_SLOT_NUMBER, PTO_ROLE_COUNT);
    int64_t dim = which ? c->slots.numbers[which->slot].v.i : 0;
    struct pto_number n = {0};

    if (from && dim >= 0 && dim < c->slots.gms[from->slot].view.ndim) {
        const struct pto_view *v = &c->slots.gms[from->slot].view;
        n.v.i = s->code == PTO_GET_TENSOR_VIEW_DIM ? v->shape[dim] : v->stride[dim];
    }
    c->slots.numbers[s->dst] = n;
}

static void tile_number(struct pto_core *c, const struct pto_step *s)
{
    const struct pto_use *from = use_of(c, s, PTO_SLOT_TILE, PTO_ROLE_COUNT);
    struct pto_number row = {0}, col = {0};

    if (from) {
        row.v.i = c->slots.tiles[from->slot].v_row;
        col.v.i = c->slots.tiles[from->slot].v_col;
    }
    c->slots.numbers[s->dst] = s->code == PTO_TILE_VALID_COLS ? col : row;
    if (s->code == PTO_GET_VALIDSHAPE && core_op_of(c, s)->result_count > 1)
        c->slots.numbers[s->dst + 1] = col;
}

/* dir_mask: 1 to the vector cores, 2 to the cube, 3 both, which share the eight slots. */
static bool init_fifo(struct pto_core *c, const struct pto_step *s)
{
    const struct pto_module *m = c->program->module;
    const struct pto_op *op = core_op_of(c, s);
    int64_t id = pto_fifo_number(m, op), mask = pto_op_int(m, op, PTO_KEY_DIR_MASK, 1);
    int64_t slots = pto_op_int(m, op, PTO_KEY_SLOT_NUM, mask == 3 ? 4 : 8);
    int64_t local = pto_op_int(m, op, PTO_KEY_LOCAL_SLOT_NUM, slots);
    int64_t size = pto_op_int(m, op, PTO_KEY_SLOT_SIZE, 0);

    if (id < 0 || id >= PTO_FIFOS || slots < 1 || slots > 1024 || local < 1 || local > 1024 ||
        size < 0 || size > 1 << 24)
        return pto_core_fail(c, op->line, "pto-run.fifo", "%s: a number is out of range",
                             pto_op_name(op->code));
    for (int to_vector = 0; to_vector < 2; to_vector++) {
        struct pto_fifo *f = &c->machine->fifo[id][to_vector];
        if ((mask & (to_vector ? 1 : 2)) == 0)
            continue;
        f->is_set[c->number] = true;
        f->ring.slot_size = size;
        f->ring.slots = slots;
        f->local_slots = local;
        const struct pto_use *base =
            pto_class_of(op->code) == PTO_CLASS_INIT_FIFO
                ? use_of(c, s, PTO_SLOT_NUMBER, to_vector ? PTO_ROLE_C2V : PTO_ROLE_V2C)
                : pto_use_find(c->program->uses.at + s->a, s->b, PTO_SLOT_NUMBER, PTO_ROLE_IN,
                               mask == 3 && !to_vector);
        if (base)
            f->base = c->slots.numbers[base->slot].v.i;
        const struct pto_use *slots_at = use_of(c, s, PTO_SLOT_GM, PTO_ROLE_COUNT);
        if (slots_at)
            f->slots = c->slots.gms[slots_at->slot];
    }
    return true;
}

static bool other_step(struct pto_core *c, const struct pto_step *s)
{
    struct pto_number *dst = &c->slots.numbers[s->dst];

    enum pto_opcode code = (enum pto_opcode)s->code;

    switch (pto_class_of(code)) {
    case PTO_CLASS_VIEW:
    case PTO_CLASS_PART:
    case PTO_CLASS_POINTER:
        if (!pto_step_view(c->program, s, c->slots))
            return pto_core_fail(c, core_op_of(c, s)->line, "pto-run.view-shape",
                                 "%s: a size or offset is negative or too large",
                                 pto_op_name(code));
        return true;
    case PTO_CLASS_ALLOC:
    case PTO_CLASS_SUBVIEW:
    case PTO_CLASS_VALID:
    case PTO_CLASS_SLOT:
    case PTO_CLASS_RETYPE:
    case PTO_CLASS_ASSIGN:
        if (!pto_step_tile(c->program, s, c->slots))
            return pto_core_fail(c, core_op_of(c, s)->line, "pto-run.tile-range",
                                 "%s: the tile leaves its space, or its valid part the tile",
                                 pto_op_name(code));
        return true;
    case PTO_CLASS_ARRAY_GET:
    case PTO_CLASS_ARRAY_SET:
    case PTO_CLASS_MEMBER:
        return array_step(c, s);
    case PTO_CLASS_INIT_FIFO:
    case PTO_CLASS_FOREIGN_FIFO:
        return init_fifo(c, s);
    default:
        break;
    }
    switch (code) {
    case PTO_GET_TENSOR_VIEW_DIM:
    case PTO_GET_TENSOR_VIEW_STRIDE:
        view_number(c, s);
        return true;
    case PTO_GET_VALIDSHAPE:
    case PTO_TILE_VALID_ROWS:
    case PTO_TILE_VALID_COLS:
        tile_number(c, s);
        return true;
    case PTO_GET_BLOCK_IDX:
        *dst = (struct pto_number){.v.i = c->machine->options->block};
        return true;
    case PTO_GET_BLOCK_NUM:
        *dst = (struct pto_number){.v.i = c->machine->options->blocks};
        return true;
    case PTO_GET_SUBBLOCK_IDX:
        *dst = (struct pto_number){.v.i = c->number == PTO_AIV1};
        return true;
    case PTO_GET_SUBBLOCK_NUM:
        *dst = (struct pto_number){.v.i = 2};
        return true;
    case PTO_TRAP:
        return pto_core_fail(c, core_op_of(c, s)->line, "pto-run.trap", "the program trapped");
    case PTO_PRINT:
    case PTO_TPRINT:
        c->prints++;
        return true;
    default:
        return true; /* declarations; prefetches into L2 */
    }
}

/* ---- arithmetic ---- */

static bool slow_arith(struct pto_core *c, const struct pto_step *s)
{
    struct pto_number *n = c->slots.numbers, high = {0}, one = {.v.i = 1};
    const struct pto_number *b = &n[s->b];
    enum pto_opcode code = (enum pto_opcode)s->code;
    enum pto_arith_result result =
        pto_arith(code, (enum pto_dtype)s->from, (enum pto_dtype)s->dtype, s->flag, &n[s->a], b,
                  &n[s->c], &n[s->dst], &high);

    if (result == PTO_ARITH_DIV_ZERO && b->taint != 0) { /* read from an input nobody supplied */
        pto_core_assume(c, b->taint, core_op_of(c, s)->line, PTO_ASSUMED_DIVISOR);
        one.taint = b->taint;
        result = pto_arith(code, (enum pto_dtype)s->from, (enum pto_dtype)s->dtype, s->flag,
                           &n[s->a], &one, &n[s->c], &n[s->dst], &high);
    }
    if (result == PTO_ARITH_DIV_ZERO)
        return pto_core_fail(c, core_op_of(c, s)->line, "pto-run.div-zero", "%s: division by zero",
                             pto_op_name(code));
    if (pto_class_of(code) == PTO_CLASS_EXTENDED)
        n[s->target] = high;
    return true;
}

/* Nearly all scalar work is on index and i64. Signed overflow wraps, as on the core: hence
 * unsigned. */
static inline bool arith(struct pto_core *c, const struct pto_step *s)
{
    struct pto_number *n = c->slots.numbers;
    const struct pto_number a = n[s->a], b = n[s->b];
    struct pto_number *out = &n[s->dst];

    if (s->from != PTO_INDEX && s->from != PTO_I64)
        return slow_arith(c, s);
    switch (s->code) {
    case PTO_ADDI:
        out->v.i = (int64_t)((uint64_t)a.v.i + (uint64_t)b.v.i);
        break;
    case PTO_SUBI:
        out->v.i = (int64_t)((uint64_t)a.v.i - (uint64_t)b.v.i);
        break;
    case PTO_MULI:
        out->v.i = (int64_t)((uint64_t)a.v.i * (uint64_t)b.v.i);
        break;
    case PTO_MAXSI:
        out->v.i = a.v.i > b.v.i ? a.v.i : b.v.i;
        break;
    case PTO_MINSI:
        out->v.i = a.v.i < b.v.i ? a.v.i : b.v.i;
        break;
    default:
        return slow_arith(c, s);
    }
    out->taint = a.taint != 0 ? a.taint : b.taint;
    return true;
}

static void note_branch(struct pto_core *c, const struct pto_step *s, uint32_t taint, int kind)
{
    if (taint != 0)
        pto_core_assume(c, taint, core_op_of(c, s)->line, kind);
}

static bool next_round(struct pto_core *c, const struct pto_step *s)
{
    struct pto_number *iv = &c->slots.numbers[s->a];
    const struct pto_number *by = &c->slots.numbers[s->c];

    if (by->v.i <= 0)
        return pto_core_fail(c, core_op_of(c, s)->line, "pto-run.endless",
                             "the step of the loop is %lld: it never ends", (long long)by->v.i);
    if (__builtin_add_overflow(iv->v.i, by->v.i, &iv->v.i))
        iv->v.i = INT64_MAX;
    return true;
}

static void insert_sync(struct pto_core *c, const struct pto_sync *s)
{
    struct pto_queues *q = &c->queues;

    if (s->kind == PTO_INSERT_SET)
        pto_queues_set(q, s->site, (enum pto_pipe)s->a, (enum pto_pipe)s->b, s->id);
    else if (s->kind == PTO_INSERT_BARRIER)
        pto_queues_barrier(q, s->site, (enum pto_pipe)s->a);
    else if (!pto_queues_wait(q, s->site, (enum pto_pipe)s->a, (enum pto_pipe)s->b, s->id) &&
             q->races)
        pto_race_unset(q->races, q->core, s->site, (enum pto_pipe)s->a, (enum pto_pipe)s->b, s->id);
}

static inline void charge(struct pto_core *c, const struct pto_step *s)
{
    if (s->cycles == PTO_CYCLES_PLAIN)
        pto_queues_scalar(&c->queues, c->plain);
    else if (s->cycles == PTO_CYCLES_DIVISION)
        pto_queues_scalar(&c->queues, c->division);
}

/* One step; the core may stop at it. */
static bool step(struct pto_core *c, const struct pto_step *s)
{
    struct pto_number *n = c->slots.numbers;

    switch (s->code) {
    case PTO_STEP_END:
        if (c->held_pipes != 0)
            return pto_core_report_blocked(c);
        c->state = PTO_FINISHED;
        return true;
    case PTO_STEP_JUMP:
        c->at = s->target;
        return true;
    case PTO_STEP_UNLESS:
        note_branch(c, s, n[s->a].taint, PTO_ASSUMED_BRANCH);
        c->at = n[s->a].v.i == 0 ? s->target : c->at + 1;
        return true;
    case PTO_STEP_FOR:
        note_branch(c, s, n[s->a].taint, PTO_ASSUMED_BOUND);
        note_branch(c, s, n[s->b].taint, PTO_ASSUMED_BOUND);
        c->at = n[s->a].v.i < n[s->b].v.i ? c->at + 1 : s->target;
        return true;
    case PTO_STEP_NEXT:
        c->at = s->target;
        return next_round(c, s);
    case PTO_STEP_COPY:
        n[s->dst] = n[s->a];
        break;
    case PTO_STEP_COPY_TILE:
        c->slots.tiles[s->dst] = c->slots.tiles[s->a];
        break;
    case PTO_STEP_COPY_GM:
        c->slots.gms[s->dst] = c->slots.gms[s->a];
        break;
    case PTO_STEP_SITE:
        if (!pto_core_site(c, s->a))
            return false;
        break;
    case PTO_STEP_SYNC:
        insert_sync(c, &c->program->syncs.at[s->a]);
        break;
    default:
        charge(c, s);
        if (s->code >= PTO_ADDI && s->code <= PTO_CONVERSION_CAST ? !arith(c, s)
                                                                  : !other_step(c, s))
            return false;
        break;
    }
    c->at++;
    return true;
}

bool pto_core_run(struct pto_core *c)
{
    uint64_t before = c->steps;

    if (c->state == PTO_WAITING)
        c->state = PTO_RUNNING;
    while (c->state == PTO_RUNNING) {
        if (c->steps >= c->machine->options->max_steps) {
            c->state = PTO_STOPPED;
            break;
        }
        uint32_t at = c->at;
        if (!step(c, &c->program->steps.at[at]))
            break;
        if (c->machine->options->counts_steps)
            c->step_counts[at]++;
        c->steps++;
    }
    return c->steps != before;
}
