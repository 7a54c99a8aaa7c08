#include <string.h>

#include "pto/program_in.h"

/* ---- which pipes ---- */

/* Space of the nth tile operand with that role; PTO_ZERO when there is none. */
static enum pto_space tile_space(const struct compiler *c, const struct pto_op *op,
                                 enum pto_role role)
{
    const struct pto_operand *operands = pto_operands(c->m, op);

    for (uint32_t i = 0; i < op->operand_count; i++) {
        const struct pto_type *t = pto_value_type(c->m, c->frame->f, operands[i].value);
        if (operands[i].role == role && t->kind == PTO_TYPE_TILE)
            return t->tile.space;
        if (operands[i].role == role && (t->kind == PTO_TYPE_PART || t->kind == PTO_TYPE_VIEW))
            return PTO_GM;
    }
    return PTO_ZERO;
}

static uint32_t tile_count(const struct compiler *c, const struct pto_op *op, enum pto_role role)
{
    const struct pto_operand *operands = pto_operands(c->m, op);
    uint32_t n = 0;

    for (uint32_t i = 0; i < op->operand_count; i++)
        n += operands[i].role == role && slot_of(c, operands[i].value).kind == PTO_SLOT_TILE;
    return n;
}

static enum pto_form form_of(const struct compiler *c, const struct pto_op *op)
{
    if (op->code != PTO_TGATHER && op->code != PTO_TSCATTER)
        return PTO_FORM_PLAIN;
    if (pto_op_attr(c->m, op, PTO_KEY_MASK_PATTERN))
        return PTO_FORM_MASK;
    return pto_op_attr(c->m, op, PTO_KEY_CMP_MODE) ? PTO_FORM_COMPARE : PTO_FORM_PLAIN;
}

static void phase(struct pto_site *s, enum pto_pipe pipe)
{
    s->phases[s->n_phases++] = (uint8_t)pipe;
}

/* tmov, textract and tinsert run where their spaces say. */
static enum pto_pipe move_pipe(enum pto_opcode code, enum pto_arch arch, enum pto_space from,
                               enum pto_space to, enum pto_dtype dtype)
{
    if (from == PTO_MAT && (to == PTO_LEFT || to == PTO_RIGHT || to == PTO_BIAS))
        return PTO_PIPE_MTE1;
    if (from == PTO_MAT && to == PTO_SCALING)
        return code == PTO_TMOV && dtype != PTO_F8E8M0 ? PTO_PIPE_FIX : PTO_PIPE_MTE1;
    if (from == PTO_ACC && (to == PTO_MAT || to == PTO_VEC))
        return PTO_PIPE_FIX;
    if (from == PTO_VEC && to == PTO_MAT) {
        if (code == PTO_TMOV)
            return arch == PTO_A5 ? PTO_PIPE_MTE3 : PTO_PIPE_V;
        return code == PTO_TINSERT && arch == PTO_A5 ? PTO_PIPE_MTE3 : PTO_PIPE_FIX;
    }
    return code == PTO_TINSERT && !(from == PTO_VEC && to == PTO_VEC) ? PTO_PIPE_FIX : PTO_PIPE_V;
}

static void fifo_phases(struct pto_site *s, enum pto_arch arch)
{
    switch (s->code) {
    case PTO_TPUSH_TO_AIV:
        phase(s, PTO_PIPE_FIX);
        break;
    case PTO_TPUSH_TO_AIC:
        phase(s, PTO_PIPE_MTE3);
        break;
    case PTO_TPOP_FROM_AIC:
    case PTO_TPOP_FROM_AIV:
        phase(s, arch == PTO_A5 ? PTO_PIPE_S : PTO_PIPE_MTE2);
        break;
    default: /* free: a token, no work */
        phase(s, PTO_PIPE_S);
        break;
    }
}

/* Operations with phases on several pipes, and those that depend on more than their name. */
static bool special_phases(struct compiler *c, const struct pto_op *op, struct pto_site *s)
{
    enum pto_arch arch = c->p->arch;
    enum pto_space from = tile_space(c, op, PTO_ROLE_IN), to = tile_space(c, op, PTO_ROLE_OUT);

    switch (op->code) {
    case PTO_TSTORE:
        phase(s, from == PTO_ACC ? PTO_PIPE_FIX : PTO_PIPE_MTE3);
        return true;
    case PTO_TMOV:
    case PTO_TEXTRACT:
    case PTO_TINSERT:
        phase(s, move_pipe(op->code, arch, from, to,
                           c->p->tiles.at[kind_slot(c, op, PTO_SLOT_TILE, 0).at].type.dtype));
        return true;
    case PTO_TFILLPAD:
    case PTO_TFILLPAD_INPLACE:
    case PTO_TFILLPAD_EXPAND:
        phase(s, to == PTO_MAT ? PTO_PIPE_MTE1 : PTO_PIPE_V);
        return true;
    case PTO_TCI:
        phase(s, tile_count(c, op, PTO_ROLE_IN) > 0 ? PTO_PIPE_V : PTO_PIPE_S);
        return true;
    case PTO_MGATHER:
        if (arch == PTO_A5 && to != PTO_MAT) {
            phase(s, PTO_PIPE_V);
            return true;
        }
        phase(s, PTO_PIPE_S);
        if (arch == PTO_A5 || pto_op_int(c->m, op, PTO_KEY_COALESCE, 0) == 0)
            phase(s, PTO_PIPE_MTE2);
        return true;
    case PTO_MSCATTER:
        phase(s, arch == PTO_A5 ? PTO_PIPE_V : PTO_PIPE_MTE3);
        return true;
    case PTO_TSCATTER:
        phase(s, PTO_PIPE_V);
        if (arch == PTO_A2A3 && s->form == PTO_FORM_PLAIN)
            phase(s, PTO_PIPE_S);
        return true;
    case PTO_TGATHER:
        phase(s, PTO_PIPE_V);
        if (arch == PTO_A2A3 && s->form == PTO_FORM_COMPARE) {
            phase(s, PTO_PIPE_S);
            phase(s, PTO_PIPE_V);
            phase(s, PTO_PIPE_S);
        }
        return true;
    case PTO_COMM_TREDUCE:
        phase(s, PTO_PIPE_MTE2);
        phase(s, PTO_PIPE_V);
        phase(s, PTO_PIPE_MTE3);
        return true;
    case PTO_COMM_TPUT:
    case PTO_COMM_TGET:
    case PTO_COMM_TBROADCAST:
    case PTO_COMM_TGATHER:
    case PTO_COMM_TSCATTER:
        phase(s, PTO_PIPE_MTE2);
        phase(s, PTO_PIPE_MTE3);
        return true;
    default:
        return false;
    }
}

enum pipe_rule { RULE_NONE = 20, RULE_MOVE, RULE_STORE, RULE_FIFO, RULE_OP };

static uint8_t rule_of(enum pto_opcode code)
{
    enum {
        S = PTO_PIPE_S,
        V = PTO_PIPE_V,
        M = PTO_PIPE_M,
        MTE2 = PTO_PIPE_MTE2,
        FIX = PTO_PIPE_FIX,
        NONE = RULE_NONE,
        MOVE = RULE_MOVE,
        STORE = RULE_STORE,
        FIFO = RULE_FIFO,
        OP = RULE_OP
    };
    static const uint8_t rules[] = {
        NONE,
#define PTO_OP(code, name, form, pipe) pipe,
#include "pto/ops.def"
#undef PTO_OP
    };

    return rules[code];
}

/* ---- which bytes ---- */

/* The operand of ins(..) that is scratch: read and written. UINT32_MAX: none. */
static uint32_t scratch_of(enum pto_opcode code, uint32_t n_tiles)
{
    switch (code) {
    case PTO_TTRANS:
    case PTO_TROWSUM:
    case PTO_TROWMAX:
    case PTO_TROWMIN:
    case PTO_TROWPROD:
    case PTO_TROWARGMAX:
    case PTO_TROWARGMIN:
    case PTO_TCOLSUM:
    case PTO_TCOLARGMAX:
    case PTO_TCOLARGMIN:
    case PTO_TRSQRT:
        return 1;
    case PTO_TCI:
        return 0;
    case PTO_TGATHER:
    case PTO_TSORT32:
    case PTO_TREM:
    case PTO_TFMOD:
    case PTO_TXOR:
    case PTO_TDIV:
    case PTO_TPRELU:
    case PTO_TSELS:
    case PTO_MGATHER:
        return 2;
    case PTO_TSEL:
        return 3;
    default:
        if (code >= PTO_TROWEXPANDADD && code <= PTO_TROWEXPANDEXPDIF)
            return n_tiles > 2 ? 2 : UINT32_MAX;
        return UINT32_MAX;
    }
}

/* The destination is also read. */
static bool reads_destination(enum pto_opcode code, const struct pto_attrs *attrs)
{
    return code == PTO_TAXPY || (code == PTO_TSTORE && attrs->atomic != 0) ||
           code == PTO_TFILLPAD_INPLACE;
}

static void add_access(struct compiler *c, struct pto_site *s, const struct pto_use *u,
                       bool is_write, bool is_scratch)
{
    struct pto_access a = {.is_write = is_write, .is_scratch = is_scratch, .root = -1};

    if (u->kind == PTO_SLOT_TILE) {
        const struct tile_fact *f = &c->tiles.at[u->slot];
        a.space = (uint8_t)c->p->tiles.at[u->slot].type.space;
        a.is_known = f->is_known;
        a.lo = f->lo;
        a.hi = f->hi;
    } else if (u->kind == PTO_SLOT_GM) {
        struct pto_range ranges[PTO_RANGES];
        const struct pto_gm *g = &c->p->gms.at[u->slot];
        a.space = PTO_GM;
        a.root = g->root;
        if (c->gms.at[u->slot].is_known && g->view.ndim > 0) {
            size_t n = pto_view_ranges(&g->view, ranges);
            a.is_known = n > 0;
            a.lo = n > 0 ? ranges[0].begin : 0;
            a.hi = n > 0 ? ranges[n - 1].end : 0;
        }
    } else {
        return;
    }
    vec_push(&c->p->accesses, a);
    s->access_count++;
}

static void add_accesses(struct compiler *c, const struct pto_op *op, struct pto_site *s)
{
    uint32_t tile = 0, scratch = scratch_of(op->code, tile_count(c, op, PTO_ROLE_IN));

    s->access_first = (uint32_t)c->p->accesses.n;
    for (uint32_t i = 0; i < s->use_count; i++) {
        struct pto_use *u = &c->p->uses.at[s->use_first + i];
        bool is_scratch = false;
        if (u->role == PTO_ROLE_IN && u->kind == PTO_SLOT_TILE)
            is_scratch = tile++ == scratch;
        is_scratch |= u->role == PTO_ROLE_BUF;
        u->is_written |= is_scratch;
        if (u->role == PTO_ROLE_OUT && reads_destination(op->code, &s->attrs))
            u->is_read = true;
        if (u->is_read)
            add_access(c, s, u, false, is_scratch);
        if (u->is_written)
            add_access(c, s, u, true, is_scratch);
    }
}

/* 256-byte repeats of the destination, where its valid shape is known. */
static void count_repeats(struct compiler *c, const struct pto_op *op, struct pto_site *s)
{
    struct slot out = role_slot(c, op, PTO_ROLE_OUT, 0);

    if (out.kind != PTO_SLOT_TILE)
        return;
    const struct pto_tile *t = &c->p->tiles.at[out.at];
    int64_t bytes = (int64_t)t->v_row * t->v_col * pto_dtype_size(t->type.dtype);
    s->is_known_repeat = c->tiles.at[out.at].is_valid_known;
    s->repeat = (bytes + 255) / 256;
}

static void read_attrs(const struct compiler *c, const struct pto_op *op, struct pto_site *s)
{
    const struct pto_module *m = c->m;
    struct pto_attrs *a = &s->attrs;

    *a = PTO_ATTRS;
    a->round = (enum pto_round)pto_op_int(m, op, PTO_KEY_RMODE, a->round);
    a->saturation = (enum pto_saturation)pto_op_int(m, op, PTO_KEY_SAT_MODE, a->saturation);
    a->cmp = (enum pto_cmp)pto_op_int(m, op, PTO_KEY_CMP_MODE, a->cmp);
    a->mask_pattern = (int32_t)pto_op_int(m, op, PTO_KEY_MASK_PATTERN, 0);
    a->atomic = (int32_t)pto_op_int(m, op, PTO_KEY_ATOMIC_TYPE, 0);
    a->relu = (enum pto_relu)pto_op_int(m, op, PTO_KEY_RELU_PRE_MODE, 0);
    a->acc_to_vec = (int32_t)pto_op_int(m, op, PTO_KEY_ACC_TO_VEC_MODE, 0);
    a->gather_oob = (enum pto_gather_oob)pto_op_int(m, op, PTO_KEY_GATHER_OOB, a->gather_oob);
    a->scatter_oob = (enum pto_scatter_oob)pto_op_int(m, op, PTO_KEY_SCATTER_OOB, a->scatter_oob);
    a->scatter_op = (enum pto_scatter_op)pto_op_int(m, op, PTO_KEY_SCATTER_ATOMIC_OP, 0);
    a->coalesce = (enum pto_coalesce)pto_op_int(m, op, PTO_KEY_COALESCE, a->coalesce);
    a->quant = (enum pto_quant)pto_op_int(m, op, PTO_KEY_QUANT_TYPE, 0);
    a->pad_mode = (enum pto_pad_mode)pto_op_int(m, op, PTO_KEY_PAD_MODE, 0);
    a->offset = pto_op_int(m, op, PTO_KEY_OFFSET, 0);
    a->rounds = pto_op_int(m, op, PTO_KEY_ROUNDS, a->rounds);
    a->root = pto_op_int(m, op, PTO_KEY_ROOT, 0);
    a->notify = (enum pto_notify)pto_op_int(m, op, PTO_KEY_NOTIFY_OP, 0);
    a->wait_cmp = (enum pto_wait_cmp)pto_op_int(m, op, PTO_KEY_CMP, 0);
    a->reduce = (enum pto_reduce)pto_op_int(m, op, PTO_KEY_REDUCE_OP, 0);
    a->descending = pto_op_int(m, op, PTO_KEY_DESCENDING, 0) != 0;
    a->upper = pto_op_int(m, op, PTO_KEY_UPPER_OR_LOWER, 0) != 0;
    a->exhausted = pto_op_int(m, op, PTO_KEY_EXHAUSTED, 0) != 0;
    s->is_scalar_first = op->code == PTO_TDIVS && op->operand_count > 0 &&
                         slot_of(c, pto_operands(m, op)[0].value).kind == PTO_SLOT_NUMBER;
}

/* ---- flags and barriers of the text ---- */

static enum pto_pipe sync_op_pipe(int64_t type)
{
    static const uint8_t pipes[] = {PTO_PIPE_MTE2, PTO_PIPE_FIX,  PTO_PIPE_MTE3, PTO_PIPE_MTE1,
                                    PTO_PIPE_FIX,  PTO_PIPE_MTE1, PTO_PIPE_MTE1, PTO_PIPE_MTE3,
                                    PTO_PIPE_M,    PTO_PIPE_V,    PTO_PIPE_V};

    return type >= 0 && type < (int64_t)sizeof(pipes) ? (enum pto_pipe)pipes[type] : PTO_PIPE_S;
}

static bool is_flag(enum pto_opcode code)
{
    return code >= PTO_SET_FLAG && code <= PTO_WAIT_EVENT;
}

/* The two pipes of a flag, or the one of a barrier, become the phases. */
static bool sync_phases(struct compiler *c, const struct pto_op *op, struct pto_site *s)
{
    const struct pto_module *m = c->m;

    switch (op->code) {
    case PTO_SET_FLAG:
    case PTO_WAIT_FLAG:
    case PTO_SET_FLAG_DYN:
    case PTO_WAIT_FLAG_DYN:
        phase(s, (enum pto_pipe)pto_op_int(m, op, PTO_KEY_SRC_PIPE, 0));
        phase(s, (enum pto_pipe)pto_op_int(m, op, PTO_KEY_DST_PIPE, 0));
        return true;
    case PTO_RECORD_EVENT:
    case PTO_WAIT_EVENT:
        phase(s, sync_op_pipe(pto_op_int(m, op, PTO_KEY_SRC_OP, 0)));
        phase(s, sync_op_pipe(pto_op_int(m, op, PTO_KEY_DST_OP, 0)));
        return true;
    case PTO_BARRIER:
    case PTO_SYNC_SET:
    case PTO_SYNC_WAIT:
    case PTO_SET_INTRA_BLOCK:
    case PTO_WAIT_INTRA_BLOCK:
    case PTO_SET_CROSS_BLOCK:
    case PTO_WAIT_CROSS_BLOCK:
        phase(s, (enum pto_pipe)pto_op_int(m, op, PTO_KEY_PIPE, PTO_PIPE_ALL));
        return true;
    case PTO_BARRIER_SYNC:
    case PTO_GET_BUF:
    case PTO_RLS_BUF:
    case PTO_GET_BUF_DYN:
    case PTO_RLS_BUF_DYN:
        phase(s, sync_op_pipe(pto_op_int(m, op, PTO_KEY_OP_TYPE, 0)));
        return true;
    case PTO_TSYNC:
    case PTO_FENCE_BARRIER_ALL:
    case PTO_SYNCALL:
    case PTO_COMM_TNOTIFY:
    case PTO_COMM_TWAIT:
    case PTO_COMM_TTEST:
        phase(s, PTO_PIPE_ALL);
        return true;
    default:
        return false;
    }
}

static bool is_fifo(enum pto_opcode code)
{
    return code >= PTO_TPUSH_TO_AIV && code <= PTO_TFREE_FROM_AIV;
}

static enum status find_phases(struct compiler *c, const struct pto_op *op, struct pto_site *s)
{
    uint8_t rule = rule_of(op->code);

    if (is_fifo(op->code)) {
        s->to_vector = op->code == PTO_TPUSH_TO_AIV || op->code == PTO_TPOP_FROM_AIC ||
                       op->code == PTO_TFREE_FROM_AIC;
        int64_t id = pto_op_int(c->m, op, PTO_KEY_ID, 0);
        if (id < 0 || id >= PTO_FIFOS)
            return compile_fail(c, op, "pto.fifo", "the number of a FIFO is 0 to %d", PTO_FIFOS - 1);
        s->fifo = (uint8_t)id;
        s->split = (uint8_t)pto_op_int(c->m, op, PTO_KEY_SPLIT, 0);
        fifo_phases(s, c->p->arch);
    } else if (sync_phases(c, op, s)) {
        c->p->has_flags |= is_flag(op->code);
    } else if (!special_phases(c, op, s)) {
        if (rule >= PTO_PIPE_COUNT)
            return compile_fail(c, op, "pto.unsupported", "the simulator does not execute it");
        phase(s, (enum pto_pipe)rule);
    }
    for (uint8_t i = 0; i < s->n_phases; i++) {
        if (s->phases[i] >= PTO_PIPE_COUNT)
            return compile_fail(c, op, "pto.operand", "names a pipe that does not exist");
    }
    return ST_OK;
}

/* Synchronisation of the text hangs on no bytes and is no node of the tree: the inserter does not
 * look at it. */
static bool is_sync(enum pto_opcode code)
{
    return code >= PTO_SET_FLAG && code <= PTO_COMM_TTEST && code != PTO_CACHEINVALID &&
           code != PTO_SET_FFTS;
}

bool compile_site(struct compiler *c, const struct pto_op *op, enum status *status)
{
    struct pto_site s = {.code = op->code, .op = (uint32_t)(op - c->m->ops.at), .line = op->line,
                         .col = op->col, .result = PTO_NONE};

    if (rule_of(op->code) == RULE_NONE)
        return false;
    for (uint32_t i = 0; i < op->result_count; i++)
        result_slot(c, op, i);
    if (op->result_count > 0) {
        s.result = result_slot(c, op, 0).at;
        s.result_dtype = (uint8_t)result_type(c, op, 0)->dtype;
    }
    s.form = form_of(c, op);
    read_attrs(c, op, &s);
    *status = find_phases(c, op, &s);
    if (*status != ST_OK)
        return true;
    s.use_first = add_uses(c, op, &s.use_count);
    add_accesses(c, op, &s);
    if (op->code == PTO_TPOP_FROM_AIC || op->code == PTO_TPOP_FROM_AIV) {
        c->tiles.at[s.result] = c->fifo[s.fifo][s.to_vector];
        struct pto_use made = {s.result, PTO_SLOT_TILE, PTO_ROLE_OUT, false, true, 0};
        add_access(c, &s, &made, true, false);
    }
    count_repeats(c, op, &s);
    uint32_t node = is_sync(op->code) ? PTO_NONE : open_node(c, PTO_NODE_SITE);
    if (node != PTO_NONE)
        c->p->nodes.at[node].site = (uint32_t)c->p->sites.n;
    emit(c, (struct pto_step){.code = PTO_STEP_SITE, .a = (uint32_t)c->p->sites.n, .op = s.op});
    vec_push(&c->p->sites, s);
    if (node != PTO_NONE)
        close_node(c, node);
    return true;
}
