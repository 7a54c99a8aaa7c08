/*
 * The pipes of each operation.
 */
#include "kernels/pto/sim/pipes.h"

enum rule {
    RULE_NONE,
    RULE_S,
    RULE_V,
    RULE_M,
    RULE_MTE2,
    RULE_FIX,
    RULE_MOVE,
    RULE_STORE,
    RULE_FIFO,
    RULE_OP,
};

static const unsigned char rules[] = {
    [PTO_OP_NONE] = RULE_NONE,
#define PTO_OP(code, name, pipe, ...) [PTO_##code] = RULE_##pipe,
#include "kernels/pto/text/ops.def"
#undef PTO_OP
};

static struct pto_phases one(enum pto_pipe pipe)
{
    return (struct pto_phases){.at = {pipe}, .n = 1};
}

static struct pto_phases two(enum pto_pipe a, enum pto_pipe b)
{
    return (struct pto_phases){.at = {a, b}, .n = 2};
}

static const struct pto_type *pipes_type_of(const struct pto_module *m,
                                            const struct pto_function *f, uint32_t value)
{
    static const struct pto_type none = {.kind = PTO_TYPE_OPAQUE};

    return value != PTO_NONE ? pto_value_type(m, f, value) : &none;
}

static enum pto_space space_of(const struct pto_module *m, const struct pto_function *f,
                               const struct pto_op *op, enum pto_role role)
{
    return pipes_type_of(m, f, pto_operand(m, op, role))->space;
}

enum pto_pipe pto_sync_pipe(int64_t sync_op_type)
{
    static const enum pto_pipe pipes[] = {
        PTO_PIPE_MTE2, PTO_PIPE_FIX,  PTO_PIPE_MTE3, PTO_PIPE_MTE1, PTO_PIPE_FIX, PTO_PIPE_MTE1,
        PTO_PIPE_MTE1, PTO_PIPE_MTE3, PTO_PIPE_M,    PTO_PIPE_V,    PTO_PIPE_V,
    };

    if (sync_op_type < 0 || (size_t)sync_op_type >= ARRAY_LEN(pipes))
        return PTO_PIPE_NONE;
    return pipes[sync_op_type];
}

/* tmov, textract, tinsert: by the way the data takes. */
static enum pto_pipe move(const struct pto_module *m, enum pto_opcode code,
                          const struct pto_type *src, const struct pto_type *dst)
{
    enum pto_space from = src->space, to = dst->space;

    if (from == PTO_VEC && to == PTO_VEC)
        return PTO_PIPE_V;
    if (from == PTO_ACC && (to == PTO_MAT || to == PTO_VEC))
        return PTO_PIPE_FIX;
    if (from == PTO_MAT && (to == PTO_LEFT || to == PTO_RIGHT || to == PTO_BIAS))
        return PTO_PIPE_MTE1;
    if (from == PTO_MAT && to == PTO_SCALING)
        return code == PTO_TEXTRACT || src->dtype == PTO_F8E8M0 ? PTO_PIPE_MTE1 : PTO_PIPE_FIX;
    if (from == PTO_VEC && to == PTO_MAT) {
        if (code == PTO_TMOV)
            return m->arch == PTO_A5 ? PTO_PIPE_MTE3 : PTO_PIPE_V;
        return code == PTO_TINSERT && m->arch == PTO_A5 ? PTO_PIPE_MTE3 : PTO_PIPE_FIX;
    }
    return code == PTO_TINSERT ? PTO_PIPE_FIX : PTO_PIPE_V;
}

static struct pto_phases fifo(const struct pto_module *m, const struct pto_function *f,
                              const struct pto_op *op)
{
    switch (op->code) {
    case PTO_TPUSH_TO_AIV:
        return one(PTO_PIPE_FIX);
    case PTO_TPUSH_TO_AIC:
        return one(PTO_PIPE_MTE3);
    case PTO_TPUSH:
        return one(space_of(m, f, op, PTO_ROLE_IN) == PTO_ACC ? PTO_PIPE_FIX : PTO_PIPE_MTE3);
    case PTO_TPOP_FROM_AIC:
    case PTO_TPOP_FROM_AIV:
    case PTO_TPOP:
        return one(m->arch == PTO_A5 ? PTO_PIPE_S : PTO_PIPE_MTE2);
    default: /* talloc, tfree: credits are counted by the scalar unit */
        return one(PTO_PIPE_S);
    }
}

static struct pto_phases gather_memory(const struct pto_module *m, const struct pto_function *f,
                                       const struct pto_op *op)
{
    bool is_mat = space_of(m, f, op, PTO_ROLE_OUT) == PTO_MAT;
    bool is_by_element = pto_op_int(m, op, PTO_KEY_COALESCE, 0) == 1;

    if (m->arch == PTO_A5 && !is_mat)
        return one(PTO_PIPE_V);
    if (m->arch == PTO_A2A3 && is_by_element && !is_mat)
        return one(PTO_PIPE_S);
    return two(PTO_PIPE_S, PTO_PIPE_MTE2);
}

static struct pto_phases between_ranks(const struct pto_op *op)
{
    switch (op->code) {
    case PTO_COMM_TNOTIFY:
        return one(PTO_PIPE_ALL);
    case PTO_COMM_TWAIT:
    case PTO_COMM_TTEST:
    case PTO_COMM_WAIT_ASYNC_EVENT:
        return one(PTO_PIPE_S);
    case PTO_COMM_TREDUCE:
        return (struct pto_phases){.at = {PTO_PIPE_MTE2, PTO_PIPE_V, PTO_PIPE_MTE3}, .n = 3};
    default:
        return two(PTO_PIPE_MTE2, PTO_PIPE_MTE3);
    }
}

/* Where the operation names its pipe; barrier, sync.set and their kin do with PTO_KEY_PIPE. */
static const struct {
    enum pto_opcode code;
    enum pto_key key;
} named_by[] = {
    {PTO_SET_FLAG, PTO_KEY_SRC_PIPE},    {PTO_SET_FLAG_DYN, PTO_KEY_SRC_PIPE},
    {PTO_WAIT_FLAG, PTO_KEY_DST_PIPE},   {PTO_WAIT_FLAG_DYN, PTO_KEY_DST_PIPE},
    {PTO_RECORD_EVENT, PTO_KEY_SRC_OP},  {PTO_WAIT_EVENT, PTO_KEY_DST_OP},
    {PTO_BARRIER_SYNC, PTO_KEY_OP_TYPE}, {PTO_GET_BUF, PTO_KEY_OP_TYPE},
    {PTO_RLS_BUF, PTO_KEY_OP_TYPE},      {PTO_GET_BUF_DYN, PTO_KEY_OP_TYPE},
    {PTO_RLS_BUF_DYN, PTO_KEY_OP_TYPE},
};

static struct pto_phases sync(const struct pto_module *m, const struct pto_op *op)
{
    enum pto_key key = PTO_KEY_PIPE;

    if (op->code == PTO_FENCE_BARRIER_ALL || op->code == PTO_SYNCALL)
        return one(PTO_PIPE_ALL);
    if (op->code == PTO_TSYNC)
        return one(PTO_PIPE_S);
    for (size_t i = 0; i < ARRAY_LEN(named_by); i++)
        key = named_by[i].code == op->code ? named_by[i].key : key;
    /* A pipe as such, or the one of a sync op type. */
    const struct pto_attr *a = pto_op_attr(m, op, key);
    if (a == NULL)
        return (struct pto_phases){.n = 0};
    if (a->kind == PTO_ATTR_ENUM && a->enums == PTO_ENUM_SYNC_OP_TYPE)
        return one(pto_sync_pipe(a->i));
    int64_t pipe = pto_op_int(m, op, key, PTO_PIPE_NONE);
    if (pipe < 0 || pipe >= PTO_PIPE_NONE)
        return (struct pto_phases){.n = 0};
    return one((enum pto_pipe)pipe);
}

/* Operations with a rule of their own. */
static struct pto_phases by_op(const struct pto_module *m, const struct pto_function *f,
                               const struct pto_op *op)
{
    switch (op->code) {
    case PTO_TFILLPAD:
    case PTO_TFILLPAD_INPLACE:
    case PTO_TFILLPAD_EXPAND:
        return one(space_of(m, f, op, PTO_ROLE_IN) == PTO_MAT ? PTO_PIPE_MTE1 : PTO_PIPE_V);
    case PTO_TEXPANDS:
        return one(space_of(m, f, op, PTO_ROLE_OUT) == PTO_MAT ? PTO_PIPE_MTE2 : PTO_PIPE_V);
    case PTO_MGATHER:
        return gather_memory(m, f, op);
    case PTO_MSCATTER:
        return one(m->arch == PTO_A5 ? PTO_PIPE_V : PTO_PIPE_MTE3);
    case PTO_TSCATTER:
        return m->arch == PTO_A2A3 && pto_op_attr(m, op, PTO_KEY_MASK_PATTERN) == NULL
                   ? two(PTO_PIPE_V, PTO_PIPE_S)
                   : one(PTO_PIPE_V);
    case PTO_TCI: /* with a scratch tile the vector unit counts */
        return one(pto_operand_total(m, op, PTO_ROLE_IN) > 1 ? PTO_PIPE_V : PTO_PIPE_S);
    default:
        if (op->code >= PTO_COMM_TNOTIFY)
            return between_ranks(op);
        return sync(m, op);
    }
}

struct pto_phases pto_phases_of(const struct pto_module *m, const struct pto_function *f,
                                const struct pto_op *op)
{
    switch ((enum rule)rules[op->code]) {
    case RULE_NONE:
        break;
    case RULE_S:
        return one(PTO_PIPE_S);
    case RULE_V:
        if (op->code != PTO_TGATHER || m->arch != PTO_A2A3 ||
            pto_operand_total(m, op, PTO_ROLE_OUT) != 2)
            return one(PTO_PIPE_V);
        return (struct pto_phases){.at = {PTO_PIPE_V, PTO_PIPE_S, PTO_PIPE_V, PTO_PIPE_S}, .n = 4};
    case RULE_M:
        return one(PTO_PIPE_M);
    case RULE_MTE2:
        return one(PTO_PIPE_MTE2);
    case RULE_FIX:
        return one(PTO_PIPE_FIX);
    case RULE_MOVE:
        return one(move(m, op->code, pipes_type_of(m, f, pto_operand(m, op, PTO_ROLE_IN)),
                        pipes_type_of(m, f, pto_operand(m, op, PTO_ROLE_OUT))));
    case RULE_STORE:
        return one(space_of(m, f, op, PTO_ROLE_IN) == PTO_ACC ? PTO_PIPE_FIX : PTO_PIPE_MTE3);
    case RULE_FIFO:
        return fifo(m, f, op);
    case RULE_OP:
        return by_op(m, f, op);
    }
    return (struct pto_phases){.n = 0};
}

static const char *sync_words(enum pto_opcode op)
{
    switch (op) {
    case PTO_FENCE_BARRIER_ALL:
    case PTO_SYNCALL:
    case PTO_COMM_TNOTIFY:
        return "all pipes";
    case PTO_TSYNC:
    case PTO_COMM_TWAIT:
    case PTO_COMM_TTEST:
    case PTO_COMM_WAIT_ASYNC_EVENT:
        return "S";
    case PTO_COMM_TREDUCE:
        return "MTE2, V, MTE3";
    default:
        return op > PTO_COMM_TNOTIFY ? "MTE2, MTE3" : "the pipe it names";
    }
}

const char *pto_pipe_words(enum pto_opcode op)
{
    static const char *const words[] = {
        [RULE_NONE] = "",
        [RULE_S] = "S",
        [RULE_V] = "V",
        [RULE_M] = "M",
        [RULE_MTE2] = "MTE2",
        [RULE_FIX] = "FIX",
        [RULE_STORE] = "MTE3; from acc FIX",
        [RULE_MOVE] = "vec to vec V; mat to left, right, bias MTE1; from acc FIX; vec to mat MTE3",
    };

    switch (op) {
    case PTO_TPUSH_TO_AIV:
        return "FIX";
    case PTO_TPUSH_TO_AIC:
        return "MTE3";
    case PTO_TPUSH:
        return "FIX from acc, else MTE3";
    case PTO_TPOP_FROM_AIC:
    case PTO_TPOP_FROM_AIV:
    case PTO_TPOP:
        return "MTE2; A5 S";
    case PTO_TFILLPAD:
    case PTO_TFILLPAD_INPLACE:
    case PTO_TFILLPAD_EXPAND:
        return "V; mat MTE1";
    case PTO_TEXPANDS:
        return "V; mat MTE2";
    case PTO_MGATHER:
        return "S, MTE2; A5 to vec V";
    case PTO_MSCATTER:
        return "MTE3; A5 V";
    case PTO_TSCATTER:
        return "V, S; A5 or by mask V";
    case PTO_TCI:
        return "S; with scratch V";
    case PTO_TGATHER:
        return "V; A2/A3 by comparison V, S, V, S";
    default:
        break;
    }
    enum rule rule = (enum rule)rules[op];
    return rule == RULE_OP ? sync_words(op) : rule == RULE_FIFO ? "S" : words[rule];
}

static bool is_lowered_init(enum pto_opcode code)
{
    return code == PTO_INITIALIZE_L2G2L_PIPE || code == PTO_INITIALIZE_L2L_PIPE;
}

int64_t pto_fifo_number(const struct pto_module *m, const struct pto_op *op)
{
    uint32_t at = (uint32_t)(op - m->ops.at);
    int64_t n = 0;

    if (pto_op_attr(m, op, PTO_KEY_ID) || !is_lowered_init(op->code))
        return pto_op_int(m, op, PTO_KEY_ID, 0);
    for (size_t i = 0; i < m->functions.n; i++) {
        const struct pto_function *f = &m->functions.at[i];
        for (uint32_t k = f->op_first; at < f->op_end && k < at; k++)
            n += is_lowered_init(m->ops.at[k].code);
        if (at < f->op_end)
            break;
    }
    return n;
}

struct pto_phases pto_flag_pipes(const struct pto_module *m, const struct pto_op *op)
{
    bool is_event = op->code == PTO_RECORD_EVENT || op->code == PTO_WAIT_EVENT;
    int64_t from = pto_op_int(m, op, is_event ? PTO_KEY_SRC_OP : PTO_KEY_SRC_PIPE, PTO_PIPE_NONE);
    int64_t to = pto_op_int(m, op, is_event ? PTO_KEY_DST_OP : PTO_KEY_DST_PIPE, PTO_PIPE_NONE);

    return (struct pto_phases){.at = {is_event ? pto_sync_pipe(from) : (enum pto_pipe)from,
                                      is_event ? pto_sync_pipe(to) : (enum pto_pipe)to},
                               .n = 2};
}
