/*
 * Operations of a kernel in another order: two loads, a flag.
 */
#include "kernels/pto/judge/rewrite_in.h"
#include "kernels/pto/sim/pipes.h"

enum { MOST_SWAPS = 8, MOST_FLAGS = 16 };

/* The text with line `from` moved behind line `to`, or before it when that comes first. */
static void put_moved(struct rewriter *w, size_t from, size_t to, struct pto_rewrite change)
{
    struct rewrite_lines text = {0};

    if (from < to) {
        rewrite_put_lines(w, &text, 1, from - 1);
        rewrite_put_lines(w, &text, from + 1, to);
        vec_push(&text, w->lines[from]);
        rewrite_put_lines(w, &text, to + 1, w->n_lines);
    } else {
        rewrite_put_lines(w, &text, 1, to - 1);
        vec_push(&text, w->lines[from]);
        rewrite_put_lines(w, &text, to, from - 1);
        rewrite_put_lines(w, &text, from + 1, w->n_lines);
    }
    rewrite_propose(w, change, &text);
}

/* ---- loads in the other order ---- */

static const struct rewrite_place *loaded_place(const struct rewriter *w, const struct pto_op *op)
{
    for (uint32_t k = 0; k < op->operand_count; k++)
        for (size_t i = 0; i < w->places.n; i++)
            if (pto_operands(w->m, op)[k].role == PTO_ROLE_OUT &&
                w->places.at[i].value == pto_operands(w->m, op)[k].value)
                return &w->places.at[i];
    return NULL;
}

/* The load that follows in the same block with nothing but scalars and views between; PTO_NONE. */
static uint32_t next_load(const struct rewriter *w, uint32_t at)
{
    const struct pto_op *ops = w->m->ops.at;
    uint32_t i = at + 1;

    while (i < w->f->op_end && ops[i].parent == ops[at].parent &&
           pto_class_of(ops[i].code) >= PTO_CLASS_CONSTANT &&
           pto_class_of(ops[i].code) <= PTO_CLASS_POINTER)
        i++;
    bool is_load = i < w->f->op_end && ops[i].parent == ops[at].parent && ops[i].code == PTO_TLOAD;
    return is_load && ops[i].line <= w->n_lines ? i : PTO_NONE;
}

void rewrite_swaps(struct rewriter *w)
{
    size_t tried = 0;

    for (uint32_t i = w->f->op_first; i < w->f->op_end && tried < MOST_SWAPS; i++) {
        const struct pto_op *a = &w->m->ops.at[i];
        uint32_t next = a->code == PTO_TLOAD ? next_load(w, i) : PTO_NONE;
        if (next == PTO_NONE)
            continue;
        const struct pto_op *b = &w->m->ops.at[next];
        const struct rewrite_place *x = loaded_place(w, a), *y = loaded_place(w, b);
        if (x == NULL || y == NULL || rewrite_overlap(x, y) || x == y)
            continue;
        put_moved(w, a->line, b->line,
                  (struct pto_rewrite){.kind = PTO_REWRITE_SWAP,
                                       .line = a->line,
                                       .last_line = b->line,
                                       .name = rewrite_name_of(w, x->value),
                                       .tiles = 2});
        tried++;
    }
}

/* ---- flags ---- */

/* The instruction of the pipe next to a flag, before a set or behind a wait, with only what other
 * pipes do between; PTO_NONE when a loop, a branch or another flag of the pipe comes first. */
static uint32_t neighbour(const struct rewriter *w, uint32_t at, enum pto_pipe pipe, bool is_set)
{
    const struct pto_op *ops = w->m->ops.at;
    uint32_t i = at;

    for (;;) {
        if (is_set ? i-- == w->f->op_first : ++i >= w->f->op_end)
            return PTO_NONE;
        if (ops[i].parent != ops[at].parent || ops[i].next != i + 1 ||
            pto_class_of(ops[i].code) < PTO_CLASS_CONSTANT)
            return PTO_NONE;
        struct pto_phases p = pto_phases_of(w->m, w->f, &ops[i]);
        for (uint32_t k = 0; k < p.n; k++)
            if (p.at[k] == pipe || p.at[k] == PTO_PIPE_ALL)
                return pto_class_of(ops[i].code) < PTO_CLASS_FLAG ? i : PTO_NONE;
    }
}

/* A flag that comes one instruction of its pipe too late, or is waited for one too early. Whether
 * the data allows it is for the race checker to say. */
void rewrite_flags(struct rewriter *w)
{
    size_t tried = 0;

    for (uint32_t i = w->f->op_first; i < w->f->op_end && tried < MOST_FLAGS; i++) {
        const struct pto_op *op = &w->m->ops.at[i];
        bool is_set = op->code == PTO_SET_FLAG;
        if (!is_set && op->code != PTO_WAIT_FLAG)
            continue;
        struct pto_phases p = pto_phases_of(w->m, w->f, op);
        uint32_t other = p.n == 1 ? neighbour(w, i, p.at[0], is_set) : PTO_NONE;
        if (other == PTO_NONE)
            continue;
        uint32_t to = w->m->ops.at[other].line;
        put_moved(w, op->line, to,
                  (struct pto_rewrite){.kind = is_set ? PTO_REWRITE_SET : PTO_REWRITE_WAIT,
                                       .line = op->line,
                                       .use_line = to,
                                       .name = S("")});
        tried++;
    }
}
