/*
 * A kernel in C++ under way: what it calls, and the cores taking turns.
 */
#include "kernels/pto/sim/host_in.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>

#include "base/run/mem.h"
#include "kernels/pto/text/ir.h"

enum { STACK_BYTES = 8 << 20, STACK_GUARD = 16 << 20, CALL_OPERANDS = 8 };

#define PTO_DTYPE(code, ...)                                                                       \
    _Static_assert((int)PTO_##code == (int)STRATA_PTO_##code || (int)PTO_##code > 19, #code);
#define STRATA_PTO_HIF8X2 20
#define STRATA_PTO_BF16X2 21
#include "kernels/pto/text/words.def"
#undef PTO_DTYPE

void pto_host_fail(struct pto_host_core *c, const char *code, struct strata_pto_place place,
                   const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    c->host->setup.fail(c->host->setup.ctx, code, place, text);
    __builtin_unreachable();
}

/* A message of the engine becomes that of the run. */
static void host_check(struct pto_host_core *c, enum status status, struct strata_pto_place place)
{
    struct diag *d = &c->host->diag;

    if (status == ST_OK)
        return;
    for (size_t i = 0; i < d->entries.n; i++) {
        const struct diag_entry *e = &d->entries.at[i];
        if (e->severity == SEV_ERROR)
            pto_host_fail(c, e->code, place, "%s", e->first[0].text);
    }
    pto_host_fail(c, "pto-cpp.call", place, "an instruction failed");
}

void pto_host_mark_call(struct pto_host_core *c, const char *op, struct strata_pto_place place)
{
    struct pto_host_mark *m = c->host->setup.mark;

    pto_host_settle(c);
    snprintf(m->op, sizeof(m->op), "%s", op);
    snprintf(m->file, sizeof(m->file), "%s", place.file);
    m->line = place.line;
    m->core = (int32_t)c->number;
    pto_host_count(c, place);
}

void pto_host_count(struct pto_host_core *c, struct strata_pto_place place)
{
    struct pto_host *h = c->host;

    h->clock += 100;
    h->setup.mark->calls = ++h->calls;
    if (h->calls > h->setup.max_calls)
        pto_host_fail(c, "pto-cpp.calls", place,
                      "the kernel has issued %llu instructions, which is the limit",
                      (unsigned long long)h->setup.max_calls);
}

/* ---- operands ---- */

struct pto_tile pto_host_tile(struct pto_host_core *c, const struct strata_pto_tile *t,
                              struct strata_pto_place place, const char *op)
{
    struct pto_tile_type type = {
        .space = (enum pto_space)t->space,
        .dtype = (enum pto_dtype)t->dtype,
        .blayout = (enum pto_blayout)t->blayout,
        .slayout = (enum pto_slayout)t->slayout,
        .rows = t->rows,
        .cols = t->cols,
        .v_row = t->v_row,
        .v_col = t->v_col,
        .fractal = t->fractal,
        .compact = t->compact,
        .pad = t->pad,
    };

    if (t->space <= PTO_GM || t->space >= PTO_SPACE_COUNT || t->dtype <= PTO_NO_DTYPE ||
        t->dtype >= PTO_DTYPE_COUNT)
        pto_host_fail(c, "pto-cpp.operand", place, "%s: not a tile", op);
    if (t->addr < 0)
        pto_host_fail(
            c, "pto-cpp.address", place,
            "%s: a tile has no address: TASSIGN is missing (tiles that the compiler places "
            "are not offered)",
            op);
    c->has_vector = c->has_vector || type.space == PTO_VEC;
    if (pto_host_has_pairs(type.dtype, op))
        pto_host_pair_tile(c, &type, t->addr, place, op);
    return pto_tile_make(&type, c->space[t->space], pto_space_size(c->host->setup.arch, type.space),
                         t->addr);
}

size_t pto_host_buffer_at(const struct pto_host_core *c, const void *data)
{
    const struct pto_host_setup *s = &c->host->setup;
    uintptr_t at = (uintptr_t)data;

    for (size_t i = 0; i < s->n_buffers; i++)
        if (at >= (uintptr_t)s->buffers[i].data &&
            at - (uintptr_t)s->buffers[i].data < s->buffers[i].size)
            return i;
    return SIZE_MAX;
}

static struct pto_view view_of(struct pto_host_core *c, const struct strata_pto_view *v,
                               struct strata_pto_place place, const char *op, size_t *buffer)
{
    struct pto_view out = {.dtype = (enum pto_dtype)v->dtype,
                           .layout = (enum pto_layout)v->layout,
                           .ndim = PTO_VIEW_RANK};
    struct pto_range ranges[PTO_RANGES];

    *buffer = pto_host_buffer_at(c, v->data);
    if (v->layout < 0 || v->layout > STRATA_PTO_MX_B)
        pto_host_fail(c, "pto-cpp.refused", place,
                      "%s: views are ND, DN, NZ, MX_A_ZZ or MX_B_NN here, this one has another "
                      "layout",
                      op);
    if (*buffer == SIZE_MAX)
        pto_host_fail(c, "pto-cpp.gm", place, "%s: the view starts outside of every tensor", op);
    struct pto_host_buffer *b = &c->host->setup.buffers[*buffer];
    size_t size = pto_dtype_size(out.dtype), offset = (size_t)((unsigned char *)v->data - b->data);
    if (size == 0 || offset % size != 0)
        pto_host_fail(c, "pto-cpp.gm", place, "%s: the view is not aligned to its elements", op);
    out.base = b->data;
    out.limit = b->size;
    out.offset = (int64_t)(offset / size);
    memcpy(out.shape, v->shape, sizeof(out.shape));
    memcpy(out.stride, v->stride, sizeof(out.stride));
    if (pto_host_has_pairs(out.dtype, op))
        pto_host_pair_view(c, &out, place, op);
    struct where where = {place.file, (uint64_t)place.line, 0};
    host_check(c, pto_view_check(&out, where, &c->host->diag), place);
    size_t n = pto_view_ranges(&out, ranges);
    if (n > 0 && (size_t)ranges[n - 1].end > b->reached)
        b->reached = (size_t)ranges[n - 1].end;
    return out;
}

/* One call's operands, for the engine and for the text. */
struct call_operands {
    struct pto_arg args[CALL_OPERANDS];
    struct pto_tile tiles[CALL_OPERANDS];
    struct pto_view views[CALL_OPERANDS];
    struct pto_scalar scalars[CALL_OPERANDS];
    struct text names, types;
};

static void host_read_operands(struct pto_host_core *c, const struct strata_pto_call *call,
                               const struct strata_pto_operand *from, int32_t n,
                               struct call_operands *o)
{
    bool is_comm = str_starts(str_of(call->op), S("pto.comm."));
    bool is_part = strcmp(call->op, "pto.textract") == 0 || strcmp(call->op, "pto.tinsert") == 0;

    if (n > CALL_OPERANDS)
        pto_host_fail(c, "pto-cpp.operand", call->place, "%s: too many operands", call->op);
    for (int32_t i = 0; i < n; i++) {
        struct str name, type;
        size_t buffer;
        switch (from[i].kind) {
        case STRATA_PTO_TILE:
            o->tiles[i] = pto_host_tile(c, from[i].u.tile, call->place, call->op);
            o->args[i] = (struct pto_arg){.kind = PTO_OPERAND_TILE, .u.tile = &o->tiles[i]};
            name = pto_host_tile_name(c, &o->tiles[i]);
            type = pto_host_tile_type(c, &o->tiles[i]);
            break;
        case STRATA_PTO_VIEW:
            o->views[i] = view_of(c, from[i].u.view, call->place, call->op, &buffer);
            o->args[i] = (struct pto_arg){.kind = PTO_OPERAND_VIEW, .u.view = &o->views[i]};
            name = pto_host_view_name(c, &o->views[i], buffer, &type);
            break;
        case STRATA_PTO_VALUE:
            o->scalars[i] = (struct pto_scalar){(enum pto_dtype)from[i].dtype, from[i].u.bits};
            if (is_part && i > 0 && pto_host_has_pairs(o->tiles[0].type.dtype, call->op))
                pto_host_pair_index(c, &o->tiles[0], i == 1, &o->scalars[i].bits, call->place,
                                    call->op);
            o->args[i] = (struct pto_arg){.kind = PTO_OPERAND_VALUE, .u.value = &o->scalars[i]};
            name = pto_host_value_name(c, o->scalars[i].dtype, o->scalars[i].bits);
            type = str_of(pto_dtype_name(o->scalars[i].dtype));
            break;
        default:
            o->args[i] = (struct pto_arg){.kind = PTO_OPERAND_VALUE, .u.value = &o->scalars[i]};
            continue;
        }
        /* Staging tiles between ranks are in one bracket. */
        if (is_comm && from[i].kind == STRATA_PTO_TILE)
            name = arena_format(&c->host->arena, "%s%.*s%s", i == 2 ? "buf(" : "", STR_ARGS(name),
                                i == n - 1 ? ")" : "");
        text_format(&o->names, "%s%.*s", o->names.n > 0 ? ", " : "", STR_ARGS(name));
        text_format(&o->types, "%s%.*s", o->types.n > 0 ? ", " : "", STR_ARGS(type));
    }
}

static void host_release(struct call_operands *o)
{
    text_free(&o->names);
    text_free(&o->types);
}

static void read_attrs(const struct strata_pto_call *call, struct pto_attrs *attrs,
                       struct text *out)
{
    for (int32_t i = 0; i < call->n_attrs; i++) {
        const struct strata_pto_attr *a = &call->attrs[i];
        bool is_flag = strcmp(a->key, "exhausted") == 0 || strcmp(a->key, "descending") == 0 ||
                       strcmp(a->key, "isBinary") == 0;
#define PTO_ATTR(member, type, code)                                                               \
    if (strcmp(a->key, pto_key_names[PTO_KEY_##code]) == 0)                                        \
        attrs->member = (type)a->value;
#include "kernels/pto/text/attrs.def"
#undef PTO_ATTR
        text_format(out, "%s%s = ", out->n > 0 ? ", " : "", a->key);
        if (is_flag)
            text_put(out, a->value ? S("true") : S("false"));
        else
            text_format(out, "%lld", (long long)a->value);
    }
}

/* ---- the table ---- */

static void execute(struct pto_host_core *c, enum pto_opcode code,
                    const struct strata_pto_call *call, struct call_operands *ins,
                    struct call_operands *outs, const struct pto_attrs *attrs)
{
    struct pto_args args = {.ins = ins->args,
                            .outs = outs->args,
                            .n_ins = (size_t)call->n_ins,
                            .n_outs = (size_t)call->n_outs,
                            .attrs = attrs,
                            .where = {call->place.file, (uint64_t)call->place.line, 0}};

    if (pto_func_knows(code))
        host_check(c, pto_func(code, &args, &c->host->diag), call->place);
    for (int32_t i = 0; i < call->n_outs; i++)
        if (call->outs[i].kind == STRATA_PTO_RESULT)
            *call->outs[i].u.result = outs->scalars[i].bits;
}

/* These take their attributes between the operands and the types. */
static const char *attrs_inside(enum pto_opcode code, const struct pto_attrs *attrs)
{
    switch (code) {
    case PTO_TCVT:
    case PTO_TTRI:
    case PTO_TMRGSORT:
        return " ";
    case PTO_TGATHER:
        return attrs->mask_pattern != 0 ? ", " : NULL;
    default:
        return NULL;
    }
}

static void write_down(struct pto_host_core *c, enum pto_opcode code,
                       const struct strata_pto_call *call, struct call_operands *ins,
                       struct call_operands *outs, const struct pto_attrs *attrs, struct str told)
{
    const char *inside = told.n > 0 ? attrs_inside(code, attrs) : NULL;
    struct str in_names = text_view(&ins->names), in_types = text_view(&ins->types);
    struct str out_names = text_view(&outs->names), out_types = text_view(&outs->types);
    bool has_result = call->n_outs > 0 && call->outs[call->n_outs - 1].kind == STRATA_PTO_RESULT;

    if (code == PTO_TRESHAPE) {
        pto_host_line(c, call->place, "%%v.%u = %s %.*s : %.*s -> %.*s",
                      (unsigned)c->script.n_values++, call->op, STR_ARGS(in_names),
                      STR_ARGS(in_types), STR_ARGS(out_types));
        return;
    }
    if (code >= PTO_COMM_TNOTIFY) {
        if (has_result)
            pto_host_line(c, call->place, "%%v.%u = %s(%.*s : %.*s) {%.*s} -> i1",
                          (unsigned)c->script.n_values++, call->op, STR_ARGS(in_names),
                          STR_ARGS(in_types), STR_ARGS(told));
        else
            pto_host_line(c, call->place, "%s(%.*s : %.*s) {%.*s}", call->op, STR_ARGS(in_names),
                          STR_ARGS(in_types), STR_ARGS(told));
        return;
    }
    c->host->has_counts = c->host->has_counts || has_result;
    pto_host_line(c, call->place, "%s ins(%.*s%s%s%.*s%s : %.*s) outs(%.*s%s : %.*s%s)%s%.*s%s",
                  call->op, STR_ARGS(in_names), inside ? inside : "", inside ? "{" : "",
                  inside ? (int)told.n : 0, told.n > 0 ? told.at : "", inside ? "}" : "",
                  STR_ARGS(in_types), STR_ARGS(out_names), has_result ? ", %.counts" : "",
                  STR_ARGS(out_types), has_result ? ", vector<4xi16>" : "",
                  told.n > 0 && !inside ? " {" : "", inside ? 0 : (int)told.n,
                  told.n > 0 ? told.at : "", told.n > 0 && !inside ? "}" : "");
}

static void on_call(void *core, const struct strata_pto_call *call)
{
    struct pto_host_core *c = core;
    struct call_operands ins = {0}, outs = {0};
    struct pto_attrs attrs = PTO_ATTRS;
    struct text told = {0};
    enum pto_opcode code = pto_op_find(str_of(call->op));
    struct arena_mark mark = arena_mark(&c->host->arena); /* names are needed for this line only */

    pto_host_mark_call(c, call->op, call->place);
    if (code == PTO_OP_NONE)
        pto_host_fail(c, "pto-cpp.call", call->place, "no such instruction: %s", call->op);
    if (code >= PTO_COMM_TNOTIFY && c->host->setup.mark->between_ranks++ == 0)
        c->host->setup.mark->rank_line = call->place.line;
    host_read_operands(c, call, call->ins, call->n_ins, &ins);
    if (call->n_ins > 0 && call->ins[0].kind == STRATA_PTO_TILE && call->n_outs > 0 &&
        call->outs[0].kind == STRATA_PTO_TILE && call->outs[0].u.tile->space == STRATA_PTO_RIGHT &&
        pto_host_has_pairs(ins.tiles[0].type.dtype, call->op))
        pto_host_pair_right(c, &ins.tiles[0], call->outs[0].u.tile);
    host_read_operands(c, call, call->outs, call->n_outs, &outs);
    read_attrs(call, &attrs, &told);
    execute(c, code, call, &ins, &outs, &attrs);
    write_down(c, code, call, &ins, &outs, &attrs, text_view(&told));
    text_free(&told);
    host_release(&ins);
    host_release(&outs);
    arena_rewind(&c->host->arena, mark);
}

static uint64_t on_get(void *core, const struct strata_pto_tile *tile, int64_t index,
                       struct strata_pto_place place)
{
    struct pto_host_core *c = core;
    struct pto_tile t = pto_host_tile(c, tile, place, "GetValue");
    struct pto_scalar at = {PTO_INDEX, (uint64_t)index}, result = {t.type.dtype, 0};
    struct pto_arg ins[] = {{.kind = PTO_OPERAND_TILE, .u.tile = &t},
                            {.kind = PTO_OPERAND_VALUE, .u.value = &at}};
    struct pto_arg out = {.kind = PTO_OPERAND_VALUE, .u.value = &result};
    struct pto_args args = {.ins = ins,
                            .outs = &out,
                            .n_ins = 2,
                            .n_outs = 1,
                            .where = {place.file, (uint64_t)place.line, 0}};

    pto_host_mark_call(c, "pto.tgetval", place);
    host_check(c, pto_func(PTO_TGETVAL, &args, &c->host->diag), place);
    struct str name = pto_host_tile_name(c, &t);
    struct str number = pto_host_value_name(c, PTO_INDEX, (uint64_t)index);
    pto_host_line(c, place, "%%v.%u = pto.tgetval ins(%.*s, %.*s : %.*s, index) outs : %s",
                  (unsigned)c->script.n_values++, STR_ARGS(name), STR_ARGS(number),
                  STR_ARGS(pto_host_tile_type(c, &t)), pto_dtype_name(t.type.dtype));
    return result.bits;
}

static const char *pipe_word(struct pto_host_core *c, int pipe, struct strata_pto_place place)
{
    if (pipe < 0 || pipe >= PTO_PIPE_COUNT)
        pto_host_fail(c, "pto-cpp.operand", place, "there is no pipe %d", pipe);
    return pto_pipe_name((enum pto_pipe)pipe);
}

static void on_flag(void *core, int is_wait, int from, int to, int64_t id,
                    struct strata_pto_place place)
{
    struct pto_host_core *c = core;

    pto_host_mark_call(c, is_wait ? "wait_flag" : "set_flag", place);
    if (id < 0 || id >= PTO_EVENT_IDS)
        pto_host_fail(c, "pto-cpp.operand", place, "event %lld is not one of 0 to 7",
                      (long long)id);
    c->has_vector = c->has_vector || from == PTO_PIPE_V || to == PTO_PIPE_V;
    pto_host_line(c, place, "pto.%s[<%s>, <%s>, <EVENT_ID%d>]", is_wait ? "wait_flag" : "set_flag",
                  pipe_word(c, from, place), pipe_word(c, to, place), (int)id);
}

static void on_barrier(void *core, int pipe, struct strata_pto_place place)
{
    struct pto_host_core *c = core;

    pto_host_mark_call(c, "pipe_barrier", place);
    pto_host_line(c, place, "pto.barrier <%s>", pipe_word(c, pipe, place));
}

static uint64_t on_clock(void *core)
{
    struct pto_host_core *c = core;

    pto_host_mark_call(c, "get_sys_cnt", (struct strata_pto_place){"", 0});
    pto_host_yield(c, false, (struct strata_pto_place){"", 0}); /* whoever looks may wait */
    return c->host->clock;
}

static void on_stop(void *core, const char *reason, struct strata_pto_place place)
{
    const struct pto_host_core *c = core;
    const struct pto_host_mark *m = c->host->setup.mark;

    if (place.line == 0)
        place = (struct strata_pto_place){m->file, m->line};
    pto_host_fail(core, "pto-cpp.refused", place, "%s", reason);
}

/* ---- cores ---- */

struct pto_host *pto_host_new(const struct pto_host_setup *setup)
{
    struct pto_host *h = mem_grow(NULL, sizeof(*h), 1);

    memset(h, 0, sizeof(*h));
    h->setup = *setup;
    diag_init(&h->diag);
    arena_init(&h->arena);
    return h;
}

/* Where the tensors are. */
static void fill_span(const struct pto_host *h, struct strata_pto_host *table)
{
    uintptr_t begin = UINTPTR_MAX, end = 0;

    for (size_t i = 0; i < h->setup.n_buffers; i++) {
        uintptr_t at = (uintptr_t)h->setup.buffers[i].data;
        begin = at < begin ? at : begin;
        end = at + h->setup.buffers[i].size > end ? at + h->setup.buffers[i].size : end;
    }
    table->gm_begin = begin;
    table->gm_bytes = end > begin ? end - begin : 0;
}

/* On-chip memory where the low half of a pointer is the address on the chip: kernels take the
 * address of a tile and reckon with it, in 32 bits, too. Where that place is taken, or the machine
 * has shorter addresses, such pointers cannot be followed. */
static void place_spaces(struct pto_host *h, struct pto_host_core *c)
{
    for (uintptr_t try = 0; try < 16 && c->table.chip == 0; try++) {
        uintptr_t base =
            ((uintptr_t)1 << 45) + ((try * PTO_CORES + c->number) << STRATA_PTO_CHIP_BITS);
        c->table.chip = base;
        for (size_t s = PTO_GM + 1; s < PTO_SPACE_COUNT && c->table.chip != 0; s++) {
            void *at = (void *)(base + ((uintptr_t)s << 32));
            size_t size = pto_space_size(h->setup.arch, (enum pto_space)s);
            c->space[s] = mmap(at, size + 1, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
            if (c->space[s] != at) /* an old system takes the place as a wish */
                c->table.chip = 0;
        }
    }
    for (size_t s = PTO_GM + 1; s < PTO_SPACE_COUNT && c->table.chip == 0; s++) {
        size_t size = pto_space_size(h->setup.arch, (enum pto_space)s);
        c->space[s] = mem_grow(NULL, 1, size + 1);
        memset(c->space[s], 0, size);
    }
}

void pto_host_add(struct pto_host *h, uint32_t core, const struct pto_host_object *object,
                  int64_t *args)
{
    struct pto_host_core *c = mem_grow(NULL, sizeof(*c), 1);

    memset(c, 0, sizeof(*c));
    h->cores[core] = c;
    c->host = h;
    c->number = core;
    c->object = *object;
    c->args = args;
    intern_init(&c->script.names);
    c->table = (struct strata_pto_host){.version = STRATA_PTO_HOST_VERSION,
                                        .sub_block = core == PTO_AIV1,
                                        .block = h->setup.block,
                                        .blocks = h->setup.blocks,
                                        .core = c,
                                        .call = on_call,
                                        .get = on_get,
                                        .flag = on_flag,
                                        .barrier = on_barrier,
                                        .fifo = pto_host_fifo,
                                        .push = pto_host_push,
                                        .pop = pto_host_pop,
                                        .release = pto_host_release,
                                        .entry = pto_host_slot,
                                        .cross = pto_host_cross,
                                        .clock = on_clock,
                                        .access = pto_host_access,
                                        .stop = on_stop};
    place_spaces(h, c);
    fill_span(h, &c->table);
    object->attach(&c->table);
}

void pto_host_yield(struct pto_host_core *c, bool is_waiting, struct strata_pto_place place)
{
    struct pto_host *h = c->host;
    bool others = false;

    c->is_waiting = is_waiting;
    for (size_t i = 0; i < PTO_CORES; i++)
        others = others || (h->cores[i] && !h->cores[i]->is_done && !h->cores[i]->is_waiting);
    if (is_waiting && !others)
        pto_host_fail(c, "pto-cpp.deadlock", place, "the cores wait for each other");
    swapcontext(&c->context, &h->main);
    c->is_waiting = false;
}

static void host_enter(unsigned low, unsigned high)
{
    struct pto_host_core *c = (struct pto_host_core *)((uintptr_t)low | (uintptr_t)high << 32);

    c->object.enter(c->object.entry, c->args);
    pto_host_settle(c);
    c->is_done = true;
    swapcontext(&c->context, &c->host->main);
}

static void host_begin(struct pto_host_core *c)
{
    unsigned char *stack = mmap(NULL, STACK_GUARD + STACK_BYTES, PROT_NONE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (stack == MAP_FAILED ||
        mprotect(stack + STACK_GUARD, STACK_BYTES, PROT_READ | PROT_WRITE) != 0)
        pto_host_fail(c, "pto-cpp.memory", (struct strata_pto_place){"", 0},
                      "no memory for the stack of a core");
    c->stack = stack;
    getcontext(&c->context);
    c->context.uc_stack.ss_sp = c->stack + STACK_GUARD;
    c->context.uc_stack.ss_size = STACK_BYTES;
    c->context.uc_link = NULL;
    makecontext(&c->context, (void (*)(void))host_enter, 2, (unsigned)(uintptr_t)c,
                (unsigned)((uintptr_t)c >> 32));
}

bool pto_host_is_below_stack(const struct pto_host *h, const void *at)
{
    for (size_t i = 0; i < PTO_CORES; i++)
        if (h->cores[i] && h->cores[i]->stack &&
            (uintptr_t)at - (uintptr_t)h->cores[i]->stack < STACK_GUARD)
            return true;
    return false;
}

/* Cores that wait are asked again whenever another one has moved. */
void pto_host_run(struct pto_host *h)
{
    bool is_left = true;

    for (size_t i = 0; i < PTO_CORES; i++)
        if (h->cores[i])
            host_begin(h->cores[i]);
    while (is_left) {
        is_left = false;
        for (uint32_t i = 0; i < PTO_CORES; i++) {
            struct pto_host_core *c = h->cores[i];
            if (!c || c->is_done)
                continue;
            uint64_t calls = h->calls;
            swapcontext(&h->main, &c->context);
            for (size_t k = 0; k < PTO_CORES && h->calls > calls; k++)
                if (h->cores[k] && k != i)
                    h->cores[k]->is_waiting = false;
            is_left = true;
        }
    }
}
